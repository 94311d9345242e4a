"""Faults in a suite's task: name, contract, cards, host, fixture, judge and solution."""

import shutil

from harbor_author.suite import contract_block
from tests.checks.cases import Draft, bad, near
from tests.checks.support import SUITE_INSTRUCTION

JUDGE = "tests/judge.mjs"
SOLUTION = "solution/SOLUTION.md"
FIXTURE = "environment/fixture"

# ---------------------------------------------------------------- names


@bad("task-directory-name", inside=True)
def underscore(t: Draft) -> None:
    t.root.rename(t.root.parent / "h9_trap")


@bad("task-directory-name", "task-name-mismatch", "stale-task-id", inside=True)
def reserved_number(t: Draft) -> None:
    t.root.rename(t.root.parent / "H3-trap")


@bad("task-directory-name", inside=True)
def number_twice(t: Draft) -> None:
    (t.root.parent / "H9-a-second").mkdir()


@near("task-directory-name", inside=True)
def other_tasks_beside(t: Draft) -> None:
    (t.root.parent / "S1-other").mkdir()
    (t.root.parent / "M1-other").mkdir()


@bad("task-name-mismatch", inside=True, where="task.toml", line=4)
def name_of_another(t: Draft) -> None:
    t.change("task.toml", "demo-suite/h9", "demo-suite/h8")


@near("task-name-mismatch", inside=True)
def name_quoted_otherwise(t: Draft) -> None:
    t.change("task.toml", '"demo-suite/h9"', "'demo-suite/h9'")


@bad("stale-task-id", inside=True, where=JUDGE, line=8)
def old_profile(t: Draft) -> None:
    t.change(JUDGE, "bench-h9-trap", "bench-h8-trap")


@bad("stale-task-id", inside=True, where="README.md", line=1)
def old_title(t: Draft) -> None:
    t.change("README.md", "# H9:", "# H8:")


@bad("stale-task-id", inside=True, where="solution/solve.sh", line=2)
def old_comment(t: Draft) -> None:
    t.change("solution/solve.sh", "set -eu", "# H8: removes the old file\nset -eu")


@bad("stale-task-id", inside=True, where=JUDGE, line=1)
def reserved_in_code(t: Draft) -> None:
    t.change(JUDGE, "what the boot graph holds", "as in H3, what the boot graph holds")


@near("stale-task-id", inside=True)
def not_ids(t: Draft) -> None:
    (t.root.parent / "M1-other").mkdir()
    t.append(
        "README.md",
        "\nAn <h1>, an S3 bucket's url and `M1-other`; harder than M1.\n".replace("`M1-other`; ", ""),
    )
    t.append(JUDGE, "// profile bench-h9-trap-web; utf-8, H264, x.H8, sha H8f\n")


@bad("unknown-mode", inside=True, where="task.toml", line=9)
def hyphenated_mode(t: Draft) -> None:
    t.change("task.toml", '"mutable"', '"mut-able"')


@near("unknown-mode", inside=True)
def mode_of_series(t: Draft) -> None:
    t.change("task.toml", 'mode = "mutable"\n', "")


@bad("judge-mode-mismatch", inside=True, where=JUDGE, line=11)
def gate_of_another_mode(t: Draft) -> None:
    t.append(
        JUDGE,
        'export const spec = defineJudge({ task: "H9-trap", mode: "readonly" });\nfunction defineJudge(it) { return it; }\n',
    )


@near("judge-mode-mismatch", inside=True)
def gate_of_the_mode(t: Draft) -> None:
    t.append(
        JUDGE,
        'export const spec = defineJudge({ task: "H9-trap", mode: "mutable" });\nfunction defineJudge(it) { return it; }\n',
    )
    t.append(JUDGE, 'export const other = { mode: "readonly" };\n')


# ---------------------------------------------------------------- contract


@bad("contract-incomplete", inside=True, where="instruction.md")
def no_contract(t: Draft) -> None:
    t.write("instruction.md", SUITE_INSTRUCTION)


@bad("invalid-task-files", inside=True, where="instruction.md", line=1)
def no_instruction(t: Draft) -> None:
    t.write("instruction.md", "\n")


@bad("contract-incomplete", inside=True)
def contract_of_another_mode(t: Draft) -> None:
    t.write("instruction.md", f"{SUITE_INSTRUCTION}\n{contract_block('readonly')}")


@bad("contract-incomplete", inside=True)
def contract_in_a_fence(t: Draft) -> None:
    t.write("instruction.md", f"{SUITE_INSTRUCTION}\n```\n{contract_block('mutable')}```\n")


@bad("contract-incomplete", inside=True)
def contract_twice(t: Draft) -> None:
    t.append("instruction.md", f"\n{contract_block('mutable')}")


@bad("contract-incomplete", inside=True)
def clause_removed(t: Draft) -> None:
    t.change("instruction.md", "there will be no follow-up user messages", "nobody will answer")


@near("contract-incomplete", inside=True)
def chinese_contract(t: Draft) -> None:
    t.write("instruction.md", f"升级之后插件失效了，请修复。\n\n{contract_block('mutable', 'zh')}")


@near("contract-incomplete", inside=True)
def readonly_contract(t: Draft) -> None:
    t.change("task.toml", '"mutable"', '"readonly"')
    t.write("instruction.md", f"{SUITE_INSTRUCTION}\n{contract_block('readonly')}".replace(" ", "\n", 3))


@bad("contract-not-declared", inside=True, where="task.toml")
def undeclared(t: Draft) -> None:
    t.change("task.toml", 'execution_contract = "BENCHMARK-AUTH-v1"\n', "")


@near("contract-not-declared", inside=True)
def declared_with_comment(t: Draft) -> None:
    t.change("task.toml", '"BENCHMARK-AUTH-v1"', '"BENCHMARK-AUTH-v1" # as always')


# ---------------------------------------------------------------- cards and links


@bad("card-citation-short", inside=True, where=SOLUTION, line=5)
def slash_form(t: Draft) -> None:
    t.change(SOLUTION, "DSH-0.1.2-A1-01", "DSH-0.1.2-A1-01/02")


@bad("card-citation-short", inside=True, where=SOLUTION, line=5)
def range_form(t: Draft) -> None:
    t.change(SOLUTION, "DSH-0.1.2-A1-01", "DSH-0.1.2-A1-01..04")


@bad("card-citation-short", inside=True, where=JUDGE, line=1)
def wildcard_in_code(t: Draft) -> None:
    t.change(JUDGE, "what the boot graph holds", "DSH-0.1.2-A1-*")


@bad("card-citation-short", inside=True)
def tail_form(t: Draft) -> None:
    t.change(SOLUTION, "DSH-0.1.2-A1-01", "DSH-0.1.2-A1-01 / A1-02")


@bad("card-citation-short", inside=True)
def retired_form(t: Draft) -> None:
    t.change(SOLUTION, "DSH-0.1.2-A1-01", "ALPHA1-01")


@near("card-citation-short", inside=True)
def full_forms(t: Draft) -> None:
    t.change(
        SOLUTION,
        "DSH-0.1.2-A1-01",
        "(DSH-0.1.2-A1-01), [DSH-0.1.2-A1-02](../../../references/v0.1.2-alpha.1.md)",
    )
    t.append(JUDGE, "// paper formats: A4-21, R2-02 in a schematic\n")


@bad("card-unknown", inside=True, where=SOLUTION, line=5)
def gap_in_the_file(t: Draft) -> None:
    t.change(SOLUTION, "DSH-0.1.2-A1-01", "DSH-0.1.2-A1-03")


@bad("card-unknown", inside=True, where="tests/truth.json")
def unknown_in_json(t: Draft) -> None:
    t.write("tests/truth.json", '{"card": "DSH-0.1.1-R1-09"}\n')


@near("card-unknown", inside=True)
def last_card(t: Draft) -> None:
    t.change(SOLUTION, "DSH-0.1.2-A1-01", "DSH-0.1.2-A1-04")


@bad("card-leak", inside=True, where=f"{FIXTURE}/README.md", line=4)
def card_in_fixture(t: Draft) -> None:
    t.append(f"{FIXTURE}/README.md", "See DSH-0.1.2-A1-01.\n")


@bad("card-leak", inside=True, where="instruction.md")
def card_in_instruction(t: Draft) -> None:
    t.append("instruction.md", "\nHint: DSH-0.1.2-A1-02\n")


@near("card-leak", inside=True)
def card_in_judge(t: Draft) -> None:
    t.append(JUDGE, "// DSH-0.1.2-A1-02\n")
    t.append(f"{FIXTURE}/README.md", "Runs on dsh 0.1.2 and reads A1-01 of a sheet.\n")


@bad("card-set-invalid", inside=True, where="task.toml", line=10)
def prefix_in_list(t: Draft) -> None:
    t.change("task.toml", '["DSH-0.1.2-A1-01"]', '["DSH-0.1.2-A1"]')


@near("card-set-invalid", inside=True)
def empty_list(t: Draft) -> None:
    t.change("task.toml", '["DSH-0.1.2-A1-01"]', "[]")


@bad("broken-link", inside=True, where="README.md", line=3)
def link_gone(t: Draft) -> None:
    t.change("README.md", "v0.1.2-alpha.1.md", "v0.1.2-alpha.9.md")


@bad("broken-link", inside=True)
def anchor_gone(t: Draft) -> None:
    t.change("README.md", "alpha.1.md", "alpha.1.md#no-such-card")


@near("broken-link", inside=True)
def anchor_there(t: Draft) -> None:
    t.change("README.md", "alpha.1.md", "alpha.1.md#dsh-012-a1-02--change-2")
    t.append(
        "README.md",
        "\n[web](https://example.org/x) [here](#h9-a-trap) `[x](gone.md)`\n\n```\n[y](gone.md)\n```\n",
    )
    t.change("README.md", "a1-02--change-2", "a1-02--change-02")


# ---------------------------------------------------------------- host and fixture


@bad("host-pin", inside=True, where="environment/Dockerfile", line=1)
def another_node(t: Draft) -> None:
    t.change("environment/Dockerfile", "node:24-bookworm", "node:22-bookworm")


@bad("host-pin", inside=True, where="environment/Dockerfile", line=2)
def another_host(t: Draft) -> None:
    t.change("environment/Dockerfile", "0.1.2-alpha.2", "0.1.5-rc.2")


@bad("host-pin", inside=True)
def another_pnpm(t: Draft) -> None:
    t.change("environment/Dockerfile", "pnpm@11.24.0", "pnpm@10.0.0")


@near("host-pin", inside=True)
def host_from_wheel(t: Draft) -> None:
    t.change("environment/Dockerfile", "node:24-bookworm", f"node:24-bookworm@sha256:{'0' * 64}")
    t.change(
        "environment/Dockerfile",
        "npm install --global @deepseek-ai/dsh@0.1.2-alpha.2",
        "pip install deepseek-harness-runtime-bin==0.1.2a2",
    )


@bad("fixture-missing", inside=True, where=FIXTURE)
def fixture_elsewhere(t: Draft) -> None:
    (t.root / FIXTURE).rename(t.root / "environment/before")
    t.change("environment/Dockerfile", "COPY fixture/", "COPY before/")


@near("fixture-missing", inside=True)
def fixture_without_package(t: Draft) -> None:
    t.remove(f"{FIXTURE}/package.json")


@bad("fixture-not-private", inside=True, where=f"{FIXTURE}/package.json")
def public_package(t: Draft) -> None:
    t.change(f"{FIXTURE}/package.json", "true", "false")


@near("fixture-not-private", inside=True)
def real_slice(t: Draft) -> None:
    t.change(f"{FIXTURE}/package.json", ',\n  "private": true', "")
    t.write(f"{FIXTURE}/LICENSE", "MIT\n")
    t.write(
        f"{FIXTURE}/provenance/SOURCE.md",
        "https://code.example.net/p\n" + "1a2b3c4d5e" * 4 + f"\n{_digest(t)}  package.json\n",
    )


def _digest(t: Draft) -> str:
    import hashlib

    return hashlib.sha256((t.root / FIXTURE / "package.json").read_bytes()).hexdigest()


@bad("fixture-readme", inside=True, where=f"{FIXTURE}/README.md", line=1)
def readme_like_a_product(t: Draft) -> None:
    t.write(f"{FIXTURE}/README.md", "# plugin\n\nExam material only; not to be published.\n")


@bad("fixture-readme", inside=True)
def no_readme(t: Draft) -> None:
    t.remove(f"{FIXTURE}/README.md")


@near("fixture-readme", inside=True)
def readme_in_chinese(t: Draft) -> None:
    t.write(f"{FIXTURE}/README.md", "> 仅供评测使用的考试材料，不得发布。\n\n# plugin\n")


@bad("publish-command-in-fixture", inside=True, where=f"{FIXTURE}/README.md", line=4)
def publish_by_force(t: Draft) -> None:
    t.append(f"{FIXTURE}/README.md", "Then: npm publish --force\n")


@near("publish-command-in-fixture", inside=True)
def publish_as_word(t: Draft) -> None:
    t.append(f"{FIXTURE}/README.md", "It must publish events to the bus.\n")


@bad("missing-baseline", inside=True, where="environment/Dockerfile")
def no_baseline(t: Draft) -> None:
    t.change("environment/Dockerfile", " && git -C /app commit --quiet -m baseline", "")


@near("missing-baseline", inside=True)
def baseline_in_heredoc(t: Draft) -> None:
    text = (t.root / "environment/Dockerfile").read_text().split("RUN git")[0]
    t.write(
        "environment/Dockerfile",
        text
        + "RUN <<END\nset -eu\ngit init /app\ncd /app\ngit add .\ngit -c user.name=x commit -m baseline\nEND\n",
    )


# ---------------------------------------------------------------- judge


@bad("points-not-100", inside=True, where=JUDGE, line=4)
def points_110(t: Draft) -> None:
    t.change(JUDGE, "points: 60", "points: 70")


@near("points-not-100", inside=True)
def points_computed(t: Draft) -> None:
    t.change(JUDGE, "points: 60", "points: 30 * 2")


@bad("judge-writes-fixture", inside=True, where=JUDGE, line=10)
def judge_repairs(t: Draft) -> None:
    t.change(JUDGE, "const gone", 'fs.writeFileSync("/app/fixture/package.json", "{}");\nconst gone')
    t.change(JUDGE, "fs.writeFileSync", "// first\nfs.writeFileSync")


@bad("judge-writes-fixture", inside=True, where="tests/test.sh")
def script_repairs(t: Draft) -> None:
    t.change("tests/test.sh", "set -u", "set -u\nrm -rf /app/fixture/node_modules")


@near("judge-writes-fixture", inside=True)
def judge_copies(t: Draft) -> None:
    t.change(
        JUDGE,
        "const gone",
        '// fs.rmSync("/app/fixture/x")\nfs.cpSync("/app/fixture", "/tmp/bench-h9-trap", { recursive: true });\nconst gone',
    )
    t.change("tests/test.sh", "set -u", "set -u\ncp -r /app/fixture /tmp/bench-h9-trap")


@bad("last-line-only", inside=True, where="tests/test.sh", line=4)
def greps_for_score(t: Draft) -> None:
    t.change("tests/test.sh", "tail -n 1", "grep '\"score\"'")


@near("last-line-only", inside=True)
def takes_last_line(t: Draft) -> None:
    t.change("tests/test.sh", "set -u", "set -u\ngrep -c processor /proc/cpuinfo >&2")


# ---------------------------------------------------------------- scripts and links


@bad("script-not-executable", inside=True, where="solution/solve.sh")
def bit_missing(t: Draft) -> None:
    (t.root / "solution/solve.sh").chmod(0o644)


@near("script-not-executable", inside=True)
def fixture_script(t: Draft) -> None:
    t.write(f"{FIXTURE}/build.sh", "echo built\n")


@bad("script-without-shebang", inside=True, where="tests/test.sh", line=1)
def no_shebang(t: Draft) -> None:
    t.change("tests/test.sh", "#!/bin/bash\n", "")


@near("script-without-shebang", inside=True)
def shebang_of_env(t: Draft) -> None:
    t.change("tests/test.sh", "#!/bin/bash", "#!/usr/bin/env bash")


@bad("symlink-in-task", inside=True, where=f"{FIXTURE}/current.json")
def link_in_fixture(t: Draft) -> None:
    t.link(f"{FIXTURE}/current.json", "old.json")


@near("symlink-in-task", inside=True)
def copy_in_fixture(t: Draft) -> None:
    shutil.copy(t.root / FIXTURE / "old.json", t.root / FIXTURE / "current.json")


# ---------------------------------------------------------------- solution


@bad("solution-headings", inside=True, where=SOLUTION)
def section_missing(t: Draft) -> None:
    t.change(SOLUTION, "## Grading Boundary", "Grading Boundary")


@bad("solution-headings", inside=True)
def no_explanation(t: Draft) -> None:
    t.remove(SOLUTION)


@near("solution-headings", inside=True)
def other_levels(t: Draft) -> None:
    t.change(SOLUTION, "## The Point (one sentence)", "### The point")
    t.change(SOLUTION, "## Warning", "#### Warning to authors")


@bad("placeholder", inside=True, where="README.md", line=4)
def todo_left(t: Draft) -> None:
    t.append("README.md", "TODO(author): in two sentences, what it is.\n")


@near("placeholder", inside=True)
def todo_of_the_plugin(t: Draft) -> None:
    t.write(f"{FIXTURE}/index.js", "// TODO: retry (author of the plugin)\nexport const name = 'x';\n")


@bad("oracle-keeps-removed-token", inside=True, where="solution/plugin/index.js", line=1)
def comment_names_it(t: Draft) -> None:
    t.append(JUDGE, 'const source = "";\nif (!source.includes("apiProxy")) console.error("gone");\n')
    t.write("solution/plugin/index.js", "// replaces apiProxy\nexport const name = 'plugin';\n")


@near("oracle-keeps-removed-token", inside=True)
def decoy_names_it(t: Draft) -> None:
    t.append(JUDGE, 'const source = "";\nif (!source.includes("apiProxy")) console.error("gone");\n')
    t.write("solution/plugin/index.js", "// talks to the service itself\nexport const name = 'plugin';\n")
    t.write("solution/decoys/comment/plugin/index.js", "// apiProxy\n")
