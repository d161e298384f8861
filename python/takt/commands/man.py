"""takt man: Show a manual page."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Annotated

from takt import cli, installation
from takt.arguments import Argument, Option
from takt.text import console

EXAMPLES = """
takt man analyze                read it
takt man > takt.1               the page of all commands, in the form that man reads
"""


def man(
    command: Annotated[
        str | None, Argument(metavar="[COMMAND]", help="Of which command; else of takt.")
    ] = None,
    json: Annotated[bool, Option("--json", help="Print the page in one JSON document.")] = False,
) -> None:
    """Show the manual page of a command; to a file or a pipe, print it in the form that man reads.

    Packages of Takt install all pages: man takt, man takt-analyze.
    """
    if command is not None:
        cli.check_name(command)
    known = {described.name: described for described in installation.commands()}
    page = installation.manual(known[command] if command is not None else None)
    if json:
        console.print_json({"format": "takt/manual", "version": 1, "page": page})
    elif sys.stdout.isatty() and shutil.which("man") is not None:
        subprocess.run(["man", "-l", "-"], input=page, text=True, check=False)
    else:
        print(page, end="")
