"""takt help: Explain a command, as COMMAND --help does."""

from __future__ import annotations

from typing import Annotated

import click

from takt import cli
from takt.arguments import Argument, Option
from takt.text import console

EXAMPLES = """
takt help               all commands
takt help latency       one of them
"""


def help(  # noqa: A001
    command: Annotated[
        str | None, Argument(metavar="[COMMAND]", help="Which command; else all.")
    ] = None,
    json: Annotated[bool, Option("--json", help="Print the help in one JSON document.")] = False,
) -> None:
    """Explain a command, or list all."""
    if command is not None:
        cli.check_name(command)
    described = cli.command_group() if command is None else cli.load(command)
    name = "takt" if command is None else f"takt {command}"
    with click.Context(described, info_name=name, **described.context_settings) as context:
        text = described.get_help(context)
    if json:
        console.print_json({"format": "takt/help", "version": 1, "help": text})
    else:
        print(text)
