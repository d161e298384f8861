"""takt man: Print a manual page."""

from __future__ import annotations

from typing import Annotated

from takt import cli, console, share
from takt.arguments import Argument, Option
from takt.errors import UserError

EXAMPLES = """
takt man analyze | man -l -     read it
takt man > takt.1               the page of all commands
"""


def man(
    command: Annotated[
        str | None, Argument(metavar="[COMMAND]", help="Of which command; else of takt.")
    ] = None,
    json: Annotated[bool, Option("--json", help="Print the page in one JSON document.")] = False,
) -> None:
    """Print the manual page of a command, in the form that man reads.

    Packages of Takt install all pages: man takt, man takt-analyze.
    """
    if command is not None and command not in cli.commands():
        raise UserError(f"{command}: no such command; one of {', '.join(cli.commands())}")
    known = {described.name: described for described in share.commands()}
    page = share.manual(known[command] if command is not None else None)
    if json:
        console.print_json({"format": "takt/manual", "version": 1, "page": page})
    else:
        print(page, end="")
