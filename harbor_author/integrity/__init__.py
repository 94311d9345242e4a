"""Tree hashes, Harbor's package digest, working copies, atomic writes, locks and owners.

The source of a fixture is never handed to anyone: hashes tell that it did not change, copies are thrown away.
`load_benchmark_task` and `with_fixture_copy` are the general interface; docs/integrity.md shows them at work.
"""

from __future__ import annotations

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
from harbor_author.integrity.tree import walk
from harbor_author.integrity.treehash import tree_hash

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
    "check_plain",
    "comparable",
    "copy_tree",
    "deviations",
    "directory_lock",
    "is_orphan",
    "load_benchmark_task",
    "observe",
    "owner_alive",
    "owner_token",
    "package_digest",
    "package_files",
    "printable",
    "probe_baseline",
    "read_baseline",
    "reap_orphans",
    "reap_siblings",
    "redact",
    "remove_tree",
    "replace_dir",
    "run_grader",
    "run_tasks",
    "tally",
    "temporary_sibling",
    "toolchain",
    "tree_hash",
    "truncate",
    "walk",
    "with_fixture_copy",
    "workspace_environment",
    "write_atomic",
]
