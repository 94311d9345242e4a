"""Templates -> a task directory."""

from harbor_author.scaffold.errors import ScaffoldError
from harbor_author.scaffold.init import ImportedSuite, import_suite, init_suite
from harbor_author.scaffold.new import (
    DEFAULT_SLUG,
    NewTask,
    TaskRequest,
    check_request,
    new_task,
    parse_host,
    task_files,
    task_words,
)
from harbor_author.scaffold.rename import Renaming, rename_task
from harbor_author.scaffold.render import RenderedFile, one_line, pypi_version, render, templates_dir

__all__ = [
    "DEFAULT_SLUG",
    "ImportedSuite",
    "NewTask",
    "Renaming",
    "RenderedFile",
    "ScaffoldError",
    "TaskRequest",
    "check_request",
    "import_suite",
    "init_suite",
    "new_task",
    "one_line",
    "parse_host",
    "pypi_version",
    "rename_task",
    "render",
    "task_files",
    "task_words",
    "templates_dir",
]
