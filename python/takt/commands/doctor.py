"""takt doctor: Say what this machine offers and how to get what is missing."""

from __future__ import annotations

import platform
from dataclasses import asdict
from typing import Annotated, Any

from takt import __version__
from takt.arguments import Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.doctor import examine, healthy
from takt.doctor import executors as executor_properties
from takt.doctor.check import Check, State
from takt.text import console
from takt.text.formatting import printable
from takt.text.terminal import Table, show, styled

EXAMPLES = """
takt doctor                                      a table for people
takt doctor --json | jq '.checks[] | select(.state != "ok")'
takt doctor --executors                          does rclpy run callbacks as bounds assume?
"""

MARKS = {
    State.OK: styled("✓", "green"),
    State.LIMITED: styled("~", "yellow"),
    State.MISSING: styled("✗", "red"),
}


def doctor(
    executors: Annotated[
        bool,
        Option(
            "--executors",
            help="Run executors of the installed client libraries, and say which properties of the "
            "timing model they have.",
        ),
    ] = False,
    json: Annotated[bool, Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say what this machine offers: ROS 2, LTTng, BPF, real-time scheduling, privileges, clocks.

    Real-time policies are tried in a thread that ends at once; nothing on the machine changes.
    Exit status 1 if something is missing without which nothing can be recorded, modelled and
    reported (marked "required"); other gaps only limit what Takt can do. With --executors, exit
    status 1 if an executor lacks a property on which bounds rest.
    """
    checks = executor_properties.examine() if executors else examine()
    if json:
        console.print_json(_document(checks))
    else:
        _print_table(checks)
    if not healthy(checks):
        raise Exit(ANSWER_IS_NO)


def _document(checks: list[Check]) -> dict[str, Any]:
    return {
        "format": "takt/doctor",
        "version": 1,
        "takt": __version__,
        "host": {"system": platform.platform(), "machine": platform.machine()},
        "healthy": healthy(checks),
        "checks": [{**asdict(check), "state": check.state.value} for check in checks],
    }


def _print_table(checks: list[Check]) -> None:
    table = Table()
    table.add_column()
    table.add_column(wrap=False)
    table.add_column()
    for check in checks:
        detail = printable(check.detail)
        if check.remedy:
            required = "required; " if check.required else ""
            detail += "\n" + styled(f"{required}→ {printable(check.remedy)}", "dim")
        table.add_row(MARKS[check.state], styled(check.name, "bold"), detail)
    show(table)
