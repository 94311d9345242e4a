"""Requirements 76 to 85: which error wins, and what is tried whatever happens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harbor_author.integrity import (
    CleanupError,
    ContaminationError,
    Evidence,
    IntegrityError,
    fixture,
    load_benchmark_task,
    reap_orphans,
    remove_tree,
    run_tasks,
    tally,
    with_fixture_copy,
)
from tests.integrity.support import PREFIX, leftovers, write_task


class OperationError(Exception):
    """What the operation raises in these tests."""


def fail(_: Path) -> None:
    raise OperationError("the operation failed")


@pytest.fixture
def removal_fails(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Removal fails until the returned function is called, which also removes what was left."""

    def failing(path: Path) -> None:
        raise OSError(16, "Device or resource busy", str(path))

    monkeypatch.setattr(fixture, "remove_tree", failing)

    def restore() -> None:
        monkeypatch.setattr(fixture, "remove_tree", remove_tree)
        for name in leftovers(temporary):
            remove_tree(temporary / name)

    return restore


@pytest.mark.parametrize("operation", [fail, lambda _: None])
def test_r76_hash_and_removal_are_both_tried(
    source: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, operation: Callable[[Path], None]
) -> None:
    tried = []
    real_hash = fixture.tree_hash

    def failing_hash(path: Path) -> str:
        tried.append("hash")
        if len(tried) > 1:
            raise IntegrityError("injected: the source cannot be hashed")
        return real_hash(path)

    def removing(path: Path) -> None:
        tried.append("remove")
        remove_tree(path)

    monkeypatch.setattr(fixture, "tree_hash", failing_hash)
    monkeypatch.setattr(fixture, "remove_tree", removing)
    with pytest.raises(ContaminationError):
        with_fixture_copy(source, operation, prefix=PREFIX)
    assert tried == ["hash", "hash", "remove"]


def test_r77_r78_contamination_outranks_the_operations_error_and_carries_it(
    source: Path, temporary: Path
) -> None:
    def contaminate(workspace: Path) -> None:
        (source / "src" / "main.py").write_text("polluted")
        fail(workspace)

    with pytest.raises(ContaminationError, match="源 fixture 被污染") as caught:
        with_fixture_copy(source, contaminate, prefix=PREFIX)
    assert isinstance(caught.value.__cause__, OperationError)
    assert caught.value.before != caught.value.after
    assert leftovers(temporary) == []


def test_r77_contamination_outranks_success(source: Path, temporary: Path) -> None:
    for pollute in (
        lambda: (source / "new").touch(),
        lambda: (source / "empty").rmdir(),
        lambda: (source / "run.sh").chmod(0o644),
        lambda: (source / "link").symlink_to("run.sh"),
    ):
        with pytest.raises(ContaminationError):
            with_fixture_copy(source, lambda _, change=pollute: change(), prefix=PREFIX)


def test_r77_a_source_that_is_gone_is_contaminated(source: Path, temporary: Path) -> None:
    with pytest.raises(ContaminationError, match="unreadable after") as caught:
        with_fixture_copy(source, lambda _: source.rename(source.with_name("gone")), prefix=PREFIX)
    assert caught.value.after is None
    assert isinstance(caught.value.__cause__, IntegrityError)


def test_r79_contamination_stops_all_later_tasks(tmp_path: Path, temporary: Path) -> None:
    tasks = []
    for id_ in ("one", "two", "three"):
        write_task(tmp_path, id_)
        tasks.append(load_benchmark_task(tmp_path, id_))
    started = []

    def operation(task: object, _: Path) -> None:
        started.append(task)
        if task is tasks[1]:
            (tasks[1].fixture / "sum.py").write_text("polluted")

    report = run_tasks(tasks, operation, prefix=PREFIX)
    assert [task.state for task in report.tasks] == ["done", "failed", "not-started"]
    assert started == tasks[:2]
    assert isinstance(report.contamination, ContaminationError)


def test_r80_an_operations_error_alone_is_raised_unchanged(source: Path, temporary: Path) -> None:
    error = OperationError("mine")

    def operation(_: Path) -> None:
        raise error

    with pytest.raises(OperationError) as caught:
        with_fixture_copy(source, operation, prefix=PREFIX)
    assert caught.value is error
    assert error.__cause__ is None
    assert error.__context__ is None


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_r80_interrupts_pass_and_clean_up(
    source: Path, temporary: Path, interrupt: type[BaseException]
) -> None:
    def operation(_: Path) -> None:
        raise interrupt

    with pytest.raises(interrupt):
        with_fixture_copy(source, operation, prefix=PREFIX)
    assert leftovers(temporary) == []


def test_r81_a_failed_removal_is_reported_and_left_to_the_reclaimer(
    source: Path, temporary: Path, removal_fails: Callable[[], None]
) -> None:
    count = tally()
    seen: list[Evidence] = []
    with pytest.raises(CleanupError, match="could not be removed") as caught:
        with_fixture_copy(source, lambda _: "value", prefix=PREFIX, evidence=seen.append)
    assert isinstance(caught.value.__cause__, OSError)
    assert leftovers(temporary) == [caught.value.label]
    assert (seen[0].outcome, seen[0].removed) == ("cleanup-failed", False)
    assert tally().failed == count.failed + 1
    assert reap_orphans(PREFIX, folder=temporary, ttl_s=0).removed == ()  # its owner, this process, is alive
    removal_fails()


def test_r82_a_later_error_never_hides_an_older_one(
    source: Path, temporary: Path, removal_fails: Callable[[], None]
) -> None:
    with pytest.raises(BaseExceptionGroup) as caught:
        with_fixture_copy(source, fail, prefix=PREFIX)
    assert [type(error) for error in caught.value.exceptions] == [OperationError, CleanupError]

    def contaminate(workspace: Path) -> None:
        (source / "new").touch()
        fail(workspace)

    with pytest.raises(ContaminationError, match="源 fixture") as contaminated:
        with_fixture_copy(source, contaminate, prefix=PREFIX)
    assert isinstance(contaminated.value.__cause__, OperationError)
    assert [type(error) for error in contaminated.value.others] == [CleanupError]
    assert "could not be removed" in "".join(contaminated.value.__notes__)
    removal_fails()


def test_r82_an_error_of_the_reporter_hides_nothing(source: Path, temporary: Path) -> None:
    def reporter(_: Evidence) -> None:
        raise RuntimeError("the reporter failed")

    with pytest.raises(RuntimeError, match="reporter"):
        with_fixture_copy(source, lambda _: None, prefix=PREFIX, evidence=reporter)
    with pytest.raises(BaseExceptionGroup) as caught:
        with_fixture_copy(source, fail, prefix=PREFIX, evidence=reporter)
    assert [type(error) for error in caught.value.exceptions] == [OperationError, RuntimeError]


def test_r83_errors_carry_no_content_and_no_path(
    source: Path, temporary: Path, removal_fails: Callable[[], None]
) -> None:
    (source / "secret.txt").write_text("TOP-SECRET")
    with pytest.raises(CleanupError) as cleanup:
        with_fixture_copy(source, lambda _: None, prefix=PREFIX)
    removal_fails()
    with pytest.raises(ContaminationError) as contamination:
        with_fixture_copy(source, lambda _: (source / "secret.txt").write_text("TOP-SECRET 2"), prefix=PREFIX)
    for error in (cleanup.value, contamination.value):
        text = str(error) + repr(error.__dict__)
        assert "TOP-SECRET" not in text
        assert str(temporary) not in text
        assert str(source) not in text


def test_r84_only_the_directory_just_made_is_removed(
    source: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed = []
    monkeypatch.setattr(fixture, "remove_tree", lambda path: removed.append(path) or remove_tree(path))
    workspace = with_fixture_copy(source, lambda path: path, prefix=PREFIX)
    assert removed == [workspace.parent]


def test_r84_links_in_a_copy_are_removed_and_not_followed(
    source: Path, temporary: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    (precious / "inner").mkdir(parents=True)
    (precious / "file").write_text("keep")

    def operation(workspace: Path) -> None:
        (workspace / "link").symlink_to(precious)
        (workspace / "src" / "up").symlink_to("../../..")
        (workspace / "empty").rmdir()
        (workspace / "empty").symlink_to(precious / "inner")
        (workspace / "file").symlink_to(precious / "file")

    with_fixture_copy(source, operation, prefix=PREFIX)
    assert (precious / "file").read_text() == "keep"
    assert (precious / "inner").is_dir()


def test_r84_a_copy_swapped_for_a_link_does_not_lead_removal_astray(
    source: Path, temporary: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("keep")

    def operation(workspace: Path) -> None:
        workspace.parent.rename(tmp_path / "moved")
        workspace.parent.symlink_to(precious)

    with pytest.raises(CleanupError):
        with_fixture_copy(source, operation, prefix=PREFIX)
    assert (precious / "file").read_text() == "keep"
    for name in leftovers(temporary):
        (temporary / name).unlink()


@pytest.mark.parametrize("contaminated", [False, True])
@pytest.mark.parametrize("operation_fails", [False, True])
@pytest.mark.parametrize("cleanup_fails", [False, True])
def test_r85_every_combination_of_failures(
    source: Path,
    temporary: Path,
    removal_fails: Callable[[], None],
    contaminated: bool,
    operation_fails: bool,
    cleanup_fails: bool,
) -> None:
    if not cleanup_fails:
        removal_fails()
    seen: list[Evidence] = []
    error: BaseException | None = None

    def operation(workspace: Path) -> str:
        if contaminated:
            (source / "new").touch()
        if operation_fails:
            fail(workspace)
        return "value"

    try:
        value = with_fixture_copy(source, operation, prefix=PREFIX, evidence=seen.append)
    except BaseException as caught:
        error = caught
    if contaminated:
        assert isinstance(error, ContaminationError)
        expected_cause = OperationError if operation_fails else CleanupError if cleanup_fails else type(None)
        assert isinstance(error.__cause__, expected_cause)
    elif operation_fails and cleanup_fails:
        assert isinstance(error, BaseExceptionGroup)
    elif operation_fails:
        assert isinstance(error, OperationError)
    elif cleanup_fails:
        assert isinstance(error, CleanupError)
    else:
        assert error is None
        assert value == "value"
    assert bool(leftovers(temporary)) is cleanup_fails
    assert seen[0].removed is not cleanup_fails
    assert seen[0].operation_error == ("OperationError" if operation_fails else None)
    removal_fails()
