"""`author doctor`: what this machine lacks."""

from __future__ import annotations

from pathlib import Path

import click

from harbor_author.cli.common import author_command, json_option, open_suite, print_json, say, suite_option

_MARKS = {"ok": "ok     ", "warning": "warning", "missing": "MISSING"}


@author_command("author doctor", "author doctor --host --json")
@suite_option
@json_option
@click.option("--host", "install_host", is_flag=True, help="Also install the suite's host in a container.")
def command(suite_dir: Path | None, as_json: bool, install_host: bool) -> int:
    """Check what this machine lacks for proving tasks, with the remedy for each.

    Exit status 1 when something is missing.
    """
    from harbor_author.proof.doctor import diagnose
    from harbor_author.suite import HostSettings, find_suite_or_none

    suite = open_suite(suite_dir) if suite_dir else find_suite_or_none()
    host = suite.settings.host if suite else HostSettings()
    found = diagnose(host, install_host=install_host)
    if as_json:
        print_json(
            {
                "schema": "author/doctor/1",
                "checks": [
                    {"name": item.name, "status": item.status, "found": item.found, "remedy": item.remedy}
                    for item in found
                ],
            }
        )
    else:
        width = max(len(item.name) for item in found)
        for item in found:
            say(f"{_MARKS[item.status]}  {item.name.ljust(width)}  {item.found}")
            if item.status != "ok" and item.remedy:
                say(f"         {' ' * width}  fix: {item.remedy}")
    return 1 if any(item.status == "missing" for item in found) else 0
