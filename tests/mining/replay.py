"""A plugin's life in one repository: four commits that the host forced, among everything else that happens.

Every state after a forced commit boots on dsh 0.1.2-alpha.3; the state before it does not, or not whole.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tests.mining.history import History

LICENSE = """MIT License

Copyright (c) 2026 The board developers

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND.
"""

README = """# board

Shows what the agent works on.

## Use

Install it into a profile and open the web page.
"""


def manifest(**changes: object) -> str:
    fields: dict[str, object] = {
        "name": "board",
        "version": "0.3.0",
        "description": "Shows what the agent works on",
        "type": "module",
        "license": "MIT",
        "repository": "github:example/board",
        "main": "./.dsh-plugin/index.js",
        "dsh": {"entry": "./.dsh-plugin/index.js"},
        "peerDependencies": {"@deepseek-ai/dsh-base": "^0.1.0"},
    }
    fields.update(changes)
    return json.dumps({key: value for key, value in fields.items() if value is not None}, indent=2) + "\n"


def entry(*, inject: list[str] | None = None, body: str = "", helper: str = "./format.js") -> str:
    lines = [f"import {{ line }} from '{helper}'", "", "export const name = 'board'"]
    if inject is not None:
        lines.append("export const inject = [" + ", ".join(f"'{service}'" for service in inject) + "]")
    lines += [
        "",
        "// Called once by the host.",
        "export function apply(ctx) {",
        "  const lines = [line('board', 'ready')]",
    ]
    lines += [f"  {row}" for row in body.splitlines()]
    lines += ["  return () => lines.splice(0)", "}", ""]
    return "\n".join(lines)


FORMAT = "export function line(title, text) {\n  return `${title}: ${text}`\n}\n"
FORMAT_REFORMATTED = "export function line(title, text)\n{\n    return `${title}: ${text}`;\n}\n"
FORMAT_REFACTORED = (
    "const join = (...parts) => parts.join(': ')\n\nexport const line = (title, text) => join(title, text)\n"
)
PATCH = "- insert:\n    - id: board\n      name: board\n"
OLD_MANIFEST = '{\n  "name": "board",\n  "version": "0.3.0",\n  "type": "module"\n}\n'

USE_LLM = "lines.push(line('model', typeof ctx.llm))"
USE_OLD = (
    USE_LLM
    + "\nlines.push(line('tasks', typeof ctx.tasks))\nlines.push(line('server', typeof ctx.httpServer))"
)
USE_NEW = (
    USE_LLM + "\nlines.push(line('tasks', typeof ctx.jobs))\nlines.push(line('server', typeof ctx.webServer))"
)
CLIENT = "export const name = 'board-client'\nexport function apply() {}\n"

BUNDLE = {"bundle": {"patch": "cordis.patch.yml"}}
EXPORTS = {".": "./.dsh-plugin/index.js"}


@dataclass(frozen=True)
class Replay:
    """The repository and its forced commits, by what happened."""

    path: Path
    bundle: str
    strict: str
    renamed: str
    layout: str

    @property
    def forced(self) -> tuple[str, str, str, str]:
        return (self.bundle, self.strict, self.renamed, self.layout)


def make_replay(path: Path, *, noise: int = 12) -> Replay:
    """Write the repository to `path` (bare), with `noise` further harmless commits between each two steps."""
    history = History(path)
    counter = 0

    def hum() -> None:
        nonlocal counter
        for _ in range(noise):
            counter += 1
            kind = counter % 6
            if kind == 0:
                history.commit(
                    f"docs: explain option {counter}",
                    {"README.md": README + f"\nOption {counter}.\n"},
                    days=9,
                )
            elif kind == 1:
                history.commit(
                    f"feat: theme {counter}",
                    {f"src/theme{counter}.js": f"export const theme = {counter}\n"},
                    days=9,
                )
            elif kind == 2:
                history.commit("style: format", {".dsh-plugin/format.js": FORMAT_REFORMATTED}, days=9)
            elif kind == 3:
                history.commit("refactor: join parts", {".dsh-plugin/format.js": FORMAT_REFACTORED}, days=9)
            elif kind == 4:
                history.commit(
                    f"chore: bump tools {counter}",
                    {"tools/package.json": f'{{"devDependencies": {{"esbuild": "0.{counter}.0"}}}}\n'},
                    days=9,
                )
            else:
                history.commit(
                    "test: cover formatting", {"tests/format.test.js": f"// case {counter}\n"}, days=9
                )

    history.commit(
        "Initial plugin",
        {
            "LICENSE": LICENSE,
            "README.md": README,
            "package.json": manifest(),
            ".github/workflows/ci.yml": "on: push\n",
            ".dsh-plugin/package.json": OLD_MANIFEST,
            ".dsh-plugin/index.js": entry(),
            ".dsh-plugin/format.js": FORMAT,
            "tests/format.test.js": "// first\n",
        },
    )
    hum()
    bundle = history.commit(
        "feat!: become a bundle, repository plugins are gone in the new host",
        {
            "package.json": manifest(
                version="0.4.0",
                main=None,
                exports=EXPORTS,
                dsh=BUNDLE,
                peerDependencies={"@deepseek-ai/dsh-base": "^0.1.1-rc.1"},
            ),
            "cordis.patch.yml": PATCH,
        },
        days=9,
    )
    hum()
    history.commit("feat: show the model", {".dsh-plugin/index.js": entry(body=USE_LLM)}, days=9)
    hum()
    strict = history.commit(
        "fix: 适配宿主的严格注入", {".dsh-plugin/index.js": entry(inject=["llm"], body=USE_LLM)}, days=9
    )
    hum()
    history.commit(
        "feat: show tasks and the address",
        {".dsh-plugin/index.js": entry(inject=["llm", "tasks", "httpServer"], body=USE_OLD)},
        days=9,
    )
    hum()
    renamed = history.commit(
        "fix: follow the host's renamed services",
        {
            ".dsh-plugin/index.js": entry(inject=["llm", "jobs", "webServer"], body=USE_NEW),
            "package.json": manifest(
                version="0.5.0",
                main=None,
                exports=EXPORTS,
                dsh=BUNDLE,
                peerDependencies={"@deepseek-ai/dsh-base": "^0.1.2-alpha.1"},
            ),
        },
        days=9,
    )
    hum()
    with_client = {**BUNDLE, "client": {"platform": "web"}}
    history.commit(
        "feat: a browser half",
        {
            "client/index.js": CLIENT,
            "package.json": manifest(
                version="0.6.0",
                main=None,
                exports={**EXPORTS, "./client": "./client/index.js"},
                dsh=with_client,
                peerDependencies={"@deepseek-ai/dsh-base": "^0.1.2-alpha.1"},
            ),
        },
        days=9,
    )
    hum()
    layout = history.commit(
        "fix: move out of .dsh-plugin, whose manifest hides the browser half from the host",
        {
            ".dsh-plugin/package.json": None,
            ".dsh-plugin/index.js": None,
            ".dsh-plugin/format.js": None,
            "src/index.js": entry(inject=["llm", "jobs", "webServer"], body=USE_NEW),
            "src/format.js": FORMAT,
            "package.json": manifest(
                version="0.6.1",
                main=None,
                exports={".": "./src/index.js", "./client": "./client/index.js"},
                dsh=with_client,
                peerDependencies={"@deepseek-ai/dsh-base": "^0.1.2-alpha.1"},
            ),
        },
        days=9,
    )
    hum()
    marks = history.write()
    return Replay(
        path=path, bundle=marks[bundle], strict=marks[strict], renamed=marks[renamed], layout=marks[layout]
    )
