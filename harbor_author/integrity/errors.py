"""The room's error, and how a hostile name is shown in a message."""

from __future__ import annotations

from collections.abc import Sequence

from harbor_author.errors import AuthorError


class IntegrityError(AuthorError):
    """A tree cannot be hashed, copied, locked or replaced as promised."""


class TaskDefinitionError(IntegrityError):
    """A benchmark task's id, location or manifest is wrong.

    Attributes:
        code: `id`, `outside`, `missing`, `link` or `schema`.
        field: the manifest's field at fault, such as `budgets.tokens`; None when it is not about one field.
    """

    def __init__(self, code: str, message: str, *, field: str | None = None, hint: str | None = None) -> None:
        super().__init__(message if field is None else f"{message}: {field}", hint=hint)
        self.code = code
        self.field = field


class CopyError(IntegrityError):
    """The working copy could not be made, or does not equal its source; the operation was not started."""


class CleanupError(IntegrityError):
    """A working copy could not be removed; it is left to `reap_orphans`.

    Attributes:
        label: the directory's own name, without the way to it.
    """

    def __init__(self, label: str, reason: str) -> None:
        super().__init__(
            f"the working copy {label} could not be removed ({reason})",
            hint="the next run, or 'author clean', removes it",
        )
        self.label = label


class ContaminationError(IntegrityError):
    """The source changed while an operation ran on its copy. Outranks every other error, which is its cause.

    Attributes:
        before, after: tree hashes; `after` is None when the source could no longer be hashed.
        others: what went wrong beside the cause, such as a working copy that could not be removed.
    """

    def __init__(
        self, task: str, before: str, after: str | None, others: Sequence[BaseException] = ()
    ) -> None:
        super().__init__(
            f"源 fixture 被污染 (the source fixture of {task} changed: "
            f"{before} before, {after or 'unreadable'} after)",
            hint="restore the source from version control; no later task was started",
        )
        self.before = before
        self.after = after
        self.others = tuple(others)
        for other in self.others:
            self.add_note(f"also: {other}")


def printable(name: str) -> str:
    """`name` with control, format and undecodable characters escaped, so that a terminal cannot be driven."""
    if name.isprintable():
        return name
    return "".join(char if char.isprintable() else _escape(char) for char in name)


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # surrogateescape: a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return char.encode("unicode_escape", "backslashreplace").decode("ascii")
