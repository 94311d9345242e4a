"""What of task.toml a trial obeys."""

from __future__ import annotations

from pathlib import Path

import pytest

from harbor_author.proof.config import load_config, resolve_env
from harbor_author.proof.errors import TaskRefusedError


def config_of(tmp_path: Path, text: str):
    (tmp_path / "task.toml").write_text(text)
    return load_config(tmp_path)


def test_the_defaults_are_harbors(tmp_path: Path) -> None:
    config = config_of(tmp_path, "")
    assert config.agent.timeout_s is None
    assert config.verifier.timeout_s is None
    assert config.environment.network_mode == "public"
    assert config.environment.build_timeout_s == 600
    assert not config.separate_verifier()


def test_legacy_keys_are_read(tmp_path: Path) -> None:
    config = config_of(tmp_path, '[environment]\nmemory = "2G"\nstorage = "512M"\nallow_internet = false\n')
    assert config.environment.memory_mb == 2048
    assert config.environment.storage_mb == 512
    assert config.environment.network_mode == "no-network"


def test_a_verifier_environment_means_a_separate_judge_and_a_step_may_say_otherwise(tmp_path: Path) -> None:
    config = config_of(
        tmp_path,
        '[verifier.environment]\ncpus = 1\n[[steps]]\nname = "a"\n[[steps]]\nname = "b"\n'
        'verifier.environment_mode = "shared"\nmin_reward = 0.5\n',
    )
    assert [config.separate_verifier(step) for step in config.steps] == [True, False]
    assert config.steps[1].min_reward == {"reward": 0.5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[environment]\ncpus = "many"', "environment.cpus is not a number"),
        ("agent = 3", "agent is not a table"),
        ("[environment.env]\nA = 1", "environment.env.A is not a string"),
        ('[environment]\nnetwork_mode = "off"', "environment.network_mode is none of"),
        ('[verifier]\nenvironment_mode = "shared"\n[verifier.environment]\ncpus = 1', "cannot stand beside"),
        ('[[steps]]\nname = "../x"', "not a directory's name"),
        ("[environment]\nmemory_mb = inf", "is not finite"),
        ("[task]\nname = 5", "task.name is not a name"),
        ("[task]\ndescription = 'x'", "task.name is not a name"),
        ("[task]\nname = 'no-organisation'", "task.name is not a name"),
    ],
)
def test_what_harbor_would_not_load_is_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TaskRefusedError, match=message) as caught:
        config_of(tmp_path, text)
    assert caught.value.cause == "task-invalid"


def test_syntax_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(TaskRefusedError) as caught:
        config_of(tmp_path, '[task]\nname = "a\\s"\n')
    assert (caught.value.cause, caught.value.line) == ("task-invalid", 2)


def test_a_byte_order_mark_is_named(tmp_path: Path) -> None:
    (tmp_path / "task.toml").write_bytes(b"\xef\xbb\xbf[task]\n")
    with pytest.raises(TaskRefusedError) as caught:
        load_config(tmp_path)
    assert caught.value.cause == "byte-order-mark"


def test_a_task_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(TaskRefusedError) as caught:
        load_config(tmp_path / "gone")
    assert caught.value.cause == "task-vanished"


def test_variables_come_from_this_machine() -> None:
    env = {"A": "${X}", "B": "${Y:-b}", "C": "${Y:-}", "D": "pre${X}", "E": "plain"}
    assert resolve_env(env, "[x]", {"X": "x"}) == {"A": "x", "B": "b", "C": "", "D": "pre${X}", "E": "plain"}
    with pytest.raises(TaskRefusedError, match="host variable Z"):
        resolve_env({"A": "${Z}"}, "[x]", {})
