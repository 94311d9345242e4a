"""Tree hashes, Harbor's package digest, working copies, atomic writes, locks and owners.

The source of a fixture is never handed to anyone: hashes tell that it did not change, copies are thrown away.
"""

from __future__ import annotations

from harbor_author.integrity.errors import (
    CleanupError,
    ContaminationError,
    CopyError,
    IntegrityError,
    TaskDefinitionError,
    printable,
)
from harbor_author.integrity.files import reap_siblings, replace_dir, temporary_sibling, write_atomic
from harbor_author.integrity.locks import directory_lock
from harbor_author.integrity.owner import is_orphan, owner_alive, owner_token
from harbor_author.integrity.package import input_files, package_digest, package_files
from harbor_author.integrity.treehash import tree_hash

__all__ = [
    "CleanupError",
    "ContaminationError",
    "CopyError",
    "IntegrityError",
    "TaskDefinitionError",
    "directory_lock",
    "input_files",
    "is_orphan",
    "owner_alive",
    "owner_token",
    "package_digest",
    "package_files",
    "printable",
    "reap_siblings",
    "replace_dir",
    "temporary_sibling",
    "tree_hash",
    "write_atomic",
]
