"""Whether the terms of a repository let its files travel into a task."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from harbor_author.mining.errors import MiningError
from harbor_author.mining.states import Tree

PERMISSIVE: Final = frozenset(
    {
        "0BSD", "Apache-2.0", "BlueOak-1.0.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT",
        "MIT-0", "MulanPSL-2.0", "PostgreSQL", "Python-2.0", "Unlicense", "WTFPL", "Zlib",
    }
)  # fmt: skip
_NAME: Final = re.compile(r"(?i)^(un)?(licen[cs]e|copying)([-_.][\w.-]+)?$")
#: Texts by a phrase that only they hold; the first that fits decides, so narrower ones stand first.
_PHRASES: Final = (
    ("AGPL-3.0", r"GNU AFFERO GENERAL PUBLIC LICENSE"),
    ("LGPL", r"GNU (LESSER|LIBRARY) GENERAL PUBLIC LICENSE"),
    ("GPL", r"GNU GENERAL PUBLIC LICENSE"),
    ("MPL-2.0", r"Mozilla Public License"),
    ("EPL", r"Eclipse Public License"),
    ("BUSL-1.1", r"Business Source License"),
    ("SSPL-1.0", r"Server Side Public License"),
    ("Elastic-2.0", r"Elastic License"),
    ("PolyForm", r"PolyForm"),
    ("CC-BY-NC", r"Attribution-NonCommercial"),
    ("Commons-Clause", r"Commons Clause"),
    ("Apache-2.0", r"Apache License\s+Version 2\.0"),
    ("BSD-3-Clause", r"Redistribution and use in source and binary forms.*Neither the name"),
    ("BSD-2-Clause", r"Redistribution and use in source and binary forms"),
    (
        "ISC",
        r"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee",
    ),
    ("MIT", r"Permission is hereby granted, free of charge, to any person obtaining a copy"),
    ("Unlicense", r"This is free and unencumbered software released into the public domain"),
    ("CC0-1.0", r"CC0 1\.0 Universal"),
    ("BSL-1.0", r"Boost Software License"),
    ("MulanPSL-2.0", r"Mulan Permissive Software License|木兰宽松许可证"),
    ("Zlib", r"This software is provided 'as-is', without any express or implied warranty"),
)


@dataclass(frozen=True)
class Licence:
    """What was found: the manifest's expression, the file and what its text is, and who accepted it otherwise."""

    declared: str | None
    path: str | None
    text_is: str | None
    text: bytes | None
    accepted_by: str | None = None
    accepted_why: str | None = None

    @property
    def permissive(self) -> bool:
        """Every statement that was found lets the files travel, and at least one was found."""
        statements = [
            _permissive_expression(self.declared) if self.declared else None,
            self.text_is in PERMISSIVE if self.path else None,
        ]
        known = [statement for statement in statements if statement is not None]
        return bool(known) and all(known)

    def describe(self) -> str:
        declared = f"package.json says {self.declared}" if self.declared else "package.json names no licence"
        if self.path is None:
            return f"{declared}; there is no licence file"
        return f"{declared}; {self.path} is {self.text_is or 'a text that is not recognised'}"


def find_licence(tree: Tree, manifest: dict[str, Any] | None, root: Tree) -> Licence:
    """The licence of a state: of the extracted folder, else of the repository's root.

    Args:
        root: licence files at the repository's root, when `tree` is a folder of it.
    """
    declared = manifest.get("license") if manifest else None
    if isinstance(declared, dict):
        declared = declared.get("type")
    for files in (tree, root):
        paths = sorted(path for path in files if "/" not in path and _NAME.match(path))
        for path in paths:
            text = files[path].data
            return Licence(
                declared=declared if isinstance(declared, str) else None,
                path=path,
                text_is=identify(text),
                text=text,
            )
    return Licence(
        declared=declared if isinstance(declared, str) else None, path=None, text_is=None, text=None
    )


def is_licence_file(path: str) -> bool:
    return "/" not in path and _NAME.match(path) is not None


def identify(text: bytes) -> str | None:
    """The SPDX name (or family) of a licence text."""
    flat = re.sub(r"\s+", " ", text.decode("utf-8", "replace"))
    return next((name for name, phrase in _PHRASES if re.search(phrase, flat, re.IGNORECASE)), None)


def _permissive_expression(expression: str) -> bool:
    """An SPDX expression of which some alternative holds permissive terms only."""
    words = re.sub(r"[()]", " ", expression)
    alternatives = re.split(r"\s+OR\s+", words.strip())
    return any(
        all(
            term.strip().split(" WITH ")[0].rstrip("+") in PERMISSIVE
            for term in re.split(r"\s+AND\s+", alternative)
        )
        for alternative in alternatives
    )


def gate(licence: Licence, accepted: str | None) -> Licence:
    """Let a permissive licence pass, and another only when somebody takes it on: `WHO:WHY`.

    Raises:
        MiningError: not permissive, or none found, and nobody accepted it.
    """
    if accepted is None:
        if licence.permissive:
            return licence
        raise MiningError(
            f"the licence does not let these files travel: {licence.describe()}",
            hint="Ask the authors; when the terms allow it, --accept-licence 'WHO:WHY' records who decided and why.",
        )
    who, colon, why = accepted.partition(":")
    if not colon or not who.strip() or not why.strip():
        raise MiningError("--accept-licence takes WHO:WHY, as in 'Kim Lee:written permission of 3 March'")
    return Licence(
        declared=licence.declared,
        path=licence.path,
        text_is=licence.text_is,
        text=licence.text,
        accepted_by=who.strip(),
        accepted_why=why.strip(),
    )
