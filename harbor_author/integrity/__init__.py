"""Tree hashes, Harbor's package digest, working copies, atomic writes, locks and owners.

The source of a fixture is never handed to anyone: hashes tell that it did not change, copies are thrown away.
`load_benchmark_task` and `with_fixture_copy` are the general interface; docs/integrity.md shows them at work.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harbor_author.integrity.artefacts import ArtefactFolder
    from harbor_author.integrity.baseline import Baseline, Observed, deviations, observe, read_baseline
    from harbor_author.integrity.benchmark_run import RunReport, TaskReport, comparable, run_tasks
    from harbor_author.integrity.benchmark_task import BenchmarkTask, load_benchmark_task
    from harbor_author.integrity.copying import copy_tree
    from harbor_author.integrity.environment import toolchain, workspace_environment
    from harbor_author.integrity.errors import (
        CleanupError,
        ContaminationError,
        CopyError,
        IntegrityError,
        TaskDefinitionError,
        printable,
    )
    from harbor_author.integrity.files import reap_siblings, replace_dir, temporary_sibling, write_atomic
    from harbor_author.integrity.fixture import Evidence, reap_orphans, tally, with_fixture_copy
    from harbor_author.integrity.grading import Grade, probe_baseline, run_grader
    from harbor_author.integrity.locks import directory_lock
    from harbor_author.integrity.owner import is_orphan, owner_alive, owner_token
    from harbor_author.integrity.package import check_plain, package_digest, package_files
    from harbor_author.integrity.ports import PortAllocator
    from harbor_author.integrity.redaction import redact, truncate
    from harbor_author.integrity.removal import remove_tree
    from harbor_author.integrity.temporary import (
        abandoned_folders,
        owned_folder,
        reap_folders,
        temporary_folder,
    )
    from harbor_author.integrity.tree import walk
    from harbor_author.integrity.treehash import tree_hash

#: name -> its module. Imported when asked for: most commands need one or two of them, and start-up counts.
_MODULES = {
    "ArtefactFolder": "artefacts",
    "Baseline": "baseline",
    "BenchmarkTask": "benchmark_task",
    "CleanupError": "errors",
    "ContaminationError": "errors",
    "CopyError": "errors",
    "Evidence": "fixture",
    "Grade": "grading",
    "IntegrityError": "errors",
    "Observed": "baseline",
    "PortAllocator": "ports",
    "RunReport": "benchmark_run",
    "TaskDefinitionError": "errors",
    "TaskReport": "benchmark_run",
    "abandoned_folders": "temporary",
    "check_plain": "package",
    "comparable": "benchmark_run",
    "copy_tree": "copying",
    "deviations": "baseline",
    "directory_lock": "locks",
    "is_orphan": "owner",
    "load_benchmark_task": "benchmark_task",
    "observe": "baseline",
    "owned_folder": "temporary",
    "owner_alive": "owner",
    "owner_token": "owner",
    "package_digest": "package",
    "package_files": "package",
    "printable": "errors",
    "probe_baseline": "grading",
    "read_baseline": "baseline",
    "reap_folders": "temporary",
    "reap_orphans": "fixture",
    "reap_siblings": "files",
    "redact": "redaction",
    "remove_tree": "removal",
    "replace_dir": "files",
    "run_grader": "grading",
    "run_tasks": "benchmark_run",
    "tally": "fixture",
    "temporary_folder": "temporary",
    "temporary_sibling": "files",
    "toolchain": "environment",
    "tree_hash": "treehash",
    "truncate": "redaction",
    "walk": "tree",
    "with_fixture_copy": "fixture",
    "workspace_environment": "environment",
    "write_atomic": "files",
}

__all__ = [
    "ArtefactFolder",
    "Baseline",
    "BenchmarkTask",
    "CleanupError",
    "ContaminationError",
    "CopyError",
    "Evidence",
    "Grade",
    "IntegrityError",
    "Observed",
    "PortAllocator",
    "RunReport",
    "TaskDefinitionError",
    "TaskReport",
    "abandoned_folders",
    "check_plain",
    "comparable",
    "copy_tree",
    "deviations",
    "directory_lock",
    "is_orphan",
    "load_benchmark_task",
    "observe",
    "owned_folder",
    "owner_alive",
    "owner_token",
    "package_digest",
    "package_files",
    "printable",
    "probe_baseline",
    "read_baseline",
    "reap_folders",
    "reap_orphans",
    "reap_siblings",
    "redact",
    "remove_tree",
    "replace_dir",
    "run_grader",
    "run_tasks",
    "tally",
    "temporary_folder",
    "temporary_sibling",
    "toolchain",
    "tree_hash",
    "truncate",
    "walk",
    "with_fixture_copy",
    "workspace_environment",
    "write_atomic",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
