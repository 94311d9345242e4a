"""Images, compose files and judges' programs in the words of other authors."""

from __future__ import annotations

from collections.abc import Callable

from tests.checks.cases import Draft, bad, near

RW = "/logs/verifier/reward.txt"
SETUP = "#!/bin/sh\nexit 0\n"
COMPOSE = "services:\n  main:\n    build: .\n"
Register = Callable[[Callable[[Draft], None]], object]


def _image(register: Register, name: str, lines: str, **files: str) -> None:
    """A task whose Dockerfile goes on with `lines`; `files` go to environment/, `__` for the dot."""

    def mutate(t: Draft) -> None:
        t.append("environment/Dockerfile", lines)
        for file, text in files.items():
            t.write(f"environment/{file.replace('__', '.')}", text)

    mutate.__name__ = name
    register(mutate)


def _compose(register: Register, name: str, lines: str) -> None:
    def mutate(t: Draft) -> None:
        t.write("environment/docker-compose.yaml", COMPOSE + lines)

    mutate.__name__ = name
    register(mutate)


def _program(register: Register, name: str, file: str, text: str) -> None:
    """A judge that asks a program of its own."""

    def mutate(t: Draft) -> None:
        t.write(f"tests/{file}", text)
        runs = "python3" if file.endswith(".py") else "node"
        t.judge(f"if {runs} /tests/{file}; then echo 1 > {RW}; else echo 0 > {RW}; fi\n")

    mutate.__name__ = name
    register(mutate)


NO_BIT = "run-not-executable"
_image(bad(NO_BIT), "found_on_path", "COPY setup.sh /usr/local/bin/\nRUN setup.sh\n", setup__sh=SETUP)
_image(
    bad(NO_BIT), "place_from_env", "ENV APP=/opt\nCOPY setup.sh $APP/\nRUN $APP/setup.sh\n", setup__sh=SETUP
)
_image(
    near(NO_BIT),
    "bits_by_find",
    "COPY setup.sh /opt/\nRUN find /opt -name '*.sh' -exec chmod +x {} +\nRUN /opt/setup.sh\n",
    setup__sh=SETUP,
)

FLOATING = "floating-image"
_image(bad(FLOATING), "copied_from_latest", "COPY --from=ghcr.io/astral-sh/uv:latest /uv /usr/local/bin/uv\n")
_image(
    near(FLOATING), "copied_from_a_version", "COPY --from=ghcr.io/astral-sh/uv:0.9.7 /uv /usr/local/bin/uv\n"
)
_compose(bad(FLOATING), "service_without_a_tag", "  db:\n    image: redis\n")
_compose(
    near(FLOATING),
    "service_with_a_tag",
    "  db:\n    image: redis:7.4\n  own:\n    build: .\n    image: own\n",
)
_compose(bad("platform-pinned"), "service_of_one_platform", "    platform: linux/amd64\n")
_compose(near("platform-pinned"), "service_of_a_variable_platform", "    platform: ${PLATFORM}\n")
CAPABILITIES = "compose-additional-capabilities"
_compose(bad(CAPABILITIES), "unconfined", "    security_opt:\n      - seccomp:unconfined\n")
_compose(bad(CAPABILITIES), "machine_device", "    devices:\n      - /dev/kvm:/dev/kvm\n")
_compose(near(CAPABILITIES), "more_confined", "    security_opt:\n      - no-new-privileges:true\n")

LOOSE = "unpinned-python-dependency"
_image(bad(LOOSE), "lower_bound", "RUN pip install 'pandas>=2'\n")
_image(
    near(LOOSE),
    "exact_with_extras",
    "RUN pip install 'uvicorn[standard]==0.32.0' 'x @ https://example.org/x.whl'\n",
)
LISTED = "COPY requirements.txt /tmp/\nRUN pip install -r /tmp/requirements.txt\n"
_image(
    bad(LOOSE, where="environment/requirements.txt", line=2),
    "listed_loosely",
    LISTED,
    requirements__txt="a==1\nb\nc>2\n",
)
_image(
    near(LOOSE), "listed_exactly", LISTED, requirements__txt="# of the suite\n-c other.txt\na==1.0  # why\n"
)


@bad("broad-kill", where="tests/test.sh", line=3)
def found_and_killed(t: Draft) -> None:
    t.before("kill $(pgrep -f sh)")


@bad("broad-kill", where="tests/test.sh", line=3)
def listed_and_killed(t: Draft) -> None:
    t.before("ps aux | grep python | awk '{print $2}' | xargs kill -9")


@near("broad-kill")
def found_and_told(t: Draft) -> None:
    t.before(
        'pgrep -f node > /tmp/processes || true; kill "$(pgrep -f word-count-server)" 2>/dev/null || true'
    )


_program(
    bad("broad-kill"),
    "program_kills",
    "c.py",
    "import os\nos.system('pkill -f python')\nassert open('/app/counts.txt').read()\n",
)

INSTALL = "verifier-runtime-install"
_program(
    bad(INSTALL, where="tests/c.py", line=2),
    "program_installs",
    "c.py",
    "import subprocess, sys\nsubprocess.check_call([sys.executable, '-m', 'pip', 'install', 'x==1'])\nopen('/app/counts.txt')\n",
)
_program(
    near(INSTALL),
    "program_tests_an_install",
    "c.py",
    "TEXT = 'run pip install to install it'\nassert TEXT\nopen('/app/counts.txt')\n",
)
DOWNLOAD = "verifier-network-download"
_program(
    bad(DOWNLOAD, where="tests/c.py", line=2),
    "program_retrieves",
    "c.py",
    "import urllib.request\nurllib.request.urlretrieve('https://example.org/g.csv', '/tmp/g.csv')\nopen('/app/counts.txt')\n",
)
_program(
    bad(DOWNLOAD, where="tests/c.py", line=2),
    "program_asks_a_hub",
    "c.py",
    "from datasets import load_dataset\ngold = load_dataset('org/gold')\nopen('/app/counts.txt')\n",
)
_program(
    near(DOWNLOAD),
    "program_reads_a_local_set",
    "c.py",
    "from datasets import load_dataset\ngold = load_dataset('/app/gold')\n",
)
_program(
    bad("step-budget", where="tests/c.py", line=2),
    "program_waits_longer",
    "c.py",
    "import subprocess\nsubprocess.run(['/app/count'], timeout=900, check=True)\n",
)
_program(
    near("step-budget"),
    "program_waits_shorter",
    "c.py",
    "import subprocess\nsubprocess.run(['/app/count'], timeout=90, check=True)\n",
)
