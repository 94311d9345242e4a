"""`author manifest`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, open_suite, print_json, say, suite_option
from harbor_author.integrity import directory_lock, reap_siblings, write_atomic
from harbor_author.integrity.manifest import compare, manifest_text, plan_manifest, read_manifest
from harbor_author.output.text import printable


@author_command(
    "author manifest --check", "author manifest", "author manifest --compare old/manifest.json --json"
)
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 when the manifest is not true.")
@click.option(
    "--compare",
    "other",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Tell which tasks of another manifest and this one may be compared.",
)
@suite_option
@json_option
def command(check: bool, other: Path | None, suite_dir: Path | None, as_json: bool) -> int:
    """Record each task's version in manifest.json: definition, environment, fixture, package, expected baseline.

    A version that changed enters only with a new entry in the task's CHANGES.md that tells Intent:, Grading: and
    Comparability:. Retired tasks keep the entry of their last valid version.
    """
    suite = open_suite(suite_dir)
    with directory_lock(suite.root):
        plan = plan_manifest(suite)
        if other is not None:
            return _compare(other, plan.path, as_json)
        text = manifest_text(plan.after)
        write = not check and (plan.after != plan.before or not plan.path.exists())
        if write:
            reap_siblings(suite.root)
            write_atomic(plan.path, text)
    left = [finding for finding in plan.findings if check or not finding.writable]
    if as_json:
        print_json(
            {
                "schema": "author/manifest-check/1",
                "findings": [asdict(finding) for finding in left],
                "tasks": {id_: asdict(entry) for id_, entry in plan.after.items()},
                "written": write,
            }
        )
    else:
        for finding in left:
            place = f"{finding.path}:{finding.line}" if finding.line else finding.path
            click.echo(
                f"{printable(place)}: {finding.task}: {printable(finding.message)}\n  fix: {printable(finding.fix)}"
            )
        active = sum(not entry.retired for entry in plan.after.values())
        done = "written" if write else "true" if not left else "not written" if not check else "not true"
        click.echo(f"manifest.json: {active} tasks, {len(plan.after) - active} retired; {done}")
    return 1 if left else 0


def _compare(other: Path, path: Path, as_json: bool) -> int:
    found = compare(read_manifest(other), read_manifest(path))
    if as_json:
        print_json(
            {
                "schema": "author/manifest-compare/1",
                "common": list(found.common),
                "excluded": dict(found.excluded),
            }
        )
        return 0
    say(f"comparable: {', '.join(found.common) or 'none'}")
    for id_, why in found.excluded.items():
        say(f"{id_}: {why}")
    return 0
