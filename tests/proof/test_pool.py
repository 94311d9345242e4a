"""One queue for all trials."""

from __future__ import annotations

import threading

import pytest

from harbor_author.proof.pool import Job, Pool
from harbor_author.proof.session import Cancellation


def pool(jobs: int = 2, memory_mb: int = 1000) -> Pool:
    return Pool(jobs=jobs, memory_mb=memory_mb, cancellation=Cancellation())


def test_jobs_may_add_jobs_and_all_are_done() -> None:
    made, done = pool(), []
    made.add(Job(lambda: [made.add(Job(lambda n=n: done.append(n))) for n in range(20)] and None))
    made.run()
    assert sorted(done) == list(range(20))


def test_what_is_begun_is_finished_before_more_is_begun() -> None:
    made, order = pool(jobs=1), []

    def begin(task: int) -> None:
        order.append(f"begin {task}")
        made.add(Job(lambda: order.append(f"trial {task}")))

    for task in range(3):
        made.add(Job(lambda task=task: begin(task), rank=1))
    made.run()
    assert order == [word for task in range(3) for word in (f"begin {task}", f"trial {task}")]


def test_memory_is_not_overcommitted_but_a_job_too_large_runs_alone() -> None:
    made, lock = pool(jobs=4, memory_mb=1000), threading.Lock()
    taken, most = [], []

    def work(memory: int) -> None:
        with lock:
            taken.append(memory)
            most.append(sum(taken))
        barrier.wait(0.05) if memory < 0 else None
        with lock:
            taken.remove(memory)

    barrier = threading.Event()
    for memory in (600, 600, 5000, 300, 600):
        made.add(Job(lambda memory=memory: work(memory), memory))
    made.run()
    assert all(total <= 1000 or total == 5000 for total in most)


def test_after_an_error_no_further_job_is_begun() -> None:
    made, begun = pool(jobs=1), []

    def fail() -> None:
        raise KeyboardInterrupt

    made.add(Job(fail))
    for number in range(1000):
        made.add(Job(lambda number=number: begun.append(number)))
    with pytest.raises(KeyboardInterrupt):
        made.run()
    assert begun == []


def test_an_error_of_a_job_ends_the_pool_with_it() -> None:
    made = pool()

    def fail() -> None:
        raise RuntimeError("broken")

    made.add(Job(fail))
    with pytest.raises(RuntimeError, match="broken"):
        made.run()
