"""The closed list of causes that a verdict may name, each with what it means and what to do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """Why a trial or a proof did not pass. `is_error`: it could not be judged, so it is no score."""

    name: str
    is_error: bool
    meaning: str
    hint: str
    harbor: str | None = None  # the exception that Harbor records in the same case


_ALL = (
    # --- the task could not start
    Cause("contamination", True, "the source changed while it was proved",
          "find what writes to the task's directory; nothing else in this proof counts"),
    Cause("task-vanished", True, "the task's directory was removed or changed midway", "run it again"),
    Cause("task-invalid", True, "Harbor would not load the task", "run 'author validate' on the task"),
    Cause("byte-order-mark", True, "task.toml begins with a byte-order mark",
          "save task.toml as UTF-8 without the mark"),
    Cause("crlf-script", True, "a script has CRLF line endings, so Linux cannot run it",
          "convert the script to LF (and set 'text eol=lf' in .gitattributes)", "RewardFileNotFoundError"),
    Cause("env-missing", True, "task.toml asks for a host variable that is not set",
          "export the variable, or give a default: ${NAME:-default}"),
    Cause("unsupported-here", True, "this engine cannot run the task as Harbor would",
          "prove it with '--runner harbor'"),
    Cause("image-missing", True, "the task's image could not be pulled", "check the image's name and the network"),
    Cause("build-failed", True, "the image could not be built", "read the end of the build's log", "RuntimeError"),
    Cause("build-timeout", True, "the build took longer than [environment] build_timeout_sec",
          "raise it in task.toml, or make the image smaller"),
    Cause("engine-failed", True, "the container engine failed", "see whether it still runs, then try again"),
    Cause("disk-full", True, "the disk is full", "make room; 'author clean' removes our cached images"),
    Cause("environment-failed", True, "the container did not come up as Harbor needs it",
          "the image needs bash, the working directory, and an entrypoint that keeps it running", "RuntimeError"),
    Cause("healthcheck-failed", True, "the environment's health check failed",
          "run the check's command in a container of the image", "HealthcheckError"),
    Cause("baseline-drifted", True, "the untouched fixture's own tests do not give what [metadata.baseline] declares",
          "mend the fixture, or declare what it gives"),
    # --- the submission
    Cause("solution-missing", True, "there is no solution/solve.sh", "write the reference solution",
          "FileNotFoundError"),
    Cause("agent-timeout", False, "the submission ran out of [agent] timeout_sec",
          "raise it in task.toml, or make solve.sh faster", "AgentTimeoutError"),
    Cause("solve-failed", False, "solve.sh ended with a failure, although nobody looked at its status",
          "read what solve.sh printed"),
    Cause("step-setup-failed", True, "a step's workdir/setup.sh failed", "read what setup.sh printed", "RuntimeError"),
    # --- the judge
    Cause("test-missing", True, "there is no tests/test.sh", "write the judge", "FileNotFoundError"),
    Cause("reward-missing", True, "the judge wrote no reward",
          "write reward.txt on every path, also when the judge crashes", "RewardFileNotFoundError"),
    Cause("reward-empty", True, "the reward file is empty", "write a number into the file", "RewardFileEmptyError"),
    Cause("reward-unparsable", True, "the reward file does not hold finite numbers", "write a number into the file",
          "VerifierOutputParseError"),
    Cause("reward-unnamed", True, "reward.json has no key named reward",
          "write the task's reward as \"reward\": a number, beside whatever else is counted"),
    Cause("judge-timeout", True, "the judge ran out of [verifier] timeout_sec",
          "raise it in task.toml, or bound each step of the judge", "VerifierTimeoutError"),
    Cause("judge-killed", True, "the judge was killed by a signal",
          "look for a broad pkill, or for too little memory", "RewardFileNotFoundError"),
    Cause("judge-error", True, "the judge says that it could not judge", "see the reason that the judge gives"),
    Cause("judge-line-unparsable", True, "the judge's last output line is not its JSON verdict",
          "print the JSON line last"),
    Cause("judge-disagrees", True, "the judge's score and the written reward differ",
          "let test.sh divide the score by max"),
    # --- limits
    Cause("memory-limit", True, "the container ran out of [environment] memory_mb",
          "raise it in task.toml, or use less",
          "RewardFileNotFoundError"),
    Cause("pids-limit", True, "the container reached its limit of processes", "look for a fork bomb"),
    Cause("disk-limit", True, "the container wrote more than its limit, or than there was room for",
          "look for what fills the disk; where the task needs that much, make room ('author clean' does)"),
    Cause("output-limit", True, "a script printed more than its limit", "look for an endless loop that prints"),
    Cause("new-privileges", True, "a setuid program such as sudo was denied its rights, as the task declares no need",
          "where it is needed, write new_privileges = true into [metadata.author] of task.toml"),
    # --- the judge separates badly
    Cause("reward-too-high", False, "a submission that should fall short scored more than it may",
          "the submission did not do the task: see what gave it points, and let the judge look at what was done"),
    Cause("reward-too-low", False, "a submission that should score full marks did not",
          "see the reasons and the tails of both logs"),
    Cause("reward-unexpected", False, "the reward is not the declared one", "see the reasons"),
    Cause("flaky", False, "the same submission got different rewards or checks",
          "look for time, order of files, host names, ports, randomness"),
    Cause("blind-spot", False, "the judge does not notice a change of the reference solution",
          "add a check, or list the change in SOLUTION.md as not graded"),
    Cause("fixture-changed", False, "the judge itself changed the fixture", "let it work on a copy"),
    Cause("not-applicable", False, "the submission has nothing to act on here", "nothing is wrong"),
    Cause("interrupted", True, "the proof was interrupted", "run it again"),
)  # fmt: skip

CAUSES: dict[str, Cause] = {cause.name: cause for cause in _ALL}


#: Causes that are this machine's fault and not the task's.
NOT_THE_TASK = frozenset({"image-missing", "engine-failed", "disk-full", "task-vanished", "interrupted"})


def is_error(cause: str | None) -> bool:
    """Whether a cause means that nothing could be judged."""
    return cause is not None and CAUSES[cause].is_error
