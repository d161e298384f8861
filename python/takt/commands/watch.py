"""takt watch: Watch the chains of running programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Annotated, Any

from takt import inputs
from takt.arguments import Argument, Exit, Option
from takt.errors import UserError
from takt.live import hearing, watching
from takt.processes import readers
from takt.text import console
from takt.text.terminal import renewed, show

Json = dict[str, Any]

EXAMPLES = """
takt watch                                        what runs, until Ctrl-C
takt watch --goals goals.yaml                     the chains of a goals file, and what misses goals
takt watch -- ros2 launch demo robot.launch.py    a command, until it ends
takt watch --backend ebpf                         what runs without Takt's library, as root
takt watch --duration 10 --json                   one document after ten seconds, for scripts
"""


def watch(
    command: Annotated[
        list[str] | None,
        Argument(metavar="[-- COMMAND...]", help="What to start and watch.", show_default=False),
    ] = None,
    goals: inputs.Goals = None,
    backend: Annotated[
        hearing.Backend | None, Option(metavar=hearing.METAVAR, help=hearing.HELP)
    ] = None,
    duration: Annotated[
        float | None,
        Option(metavar="SECONDS", min=0.001, help="End after this time."),
    ] = None,
    window: Annotated[
        float,
        Option(metavar="SECONDS", min=1, max=3600, help="Latencies of how long are shown."),
    ] = 10,
    json: Annotated[
        bool, Option("--json", help="Print the takt/watch document at the end.")
    ] = False,
) -> None:
    """Show the latencies of chains as they are now, with bounds, goals and what was lost.

    Programs with Takt's libtracetools.so tell of themselves through shared memory, those started by
    the COMMAND or by this user; that needs no privileges. Others, which run already perhaps, are
    heard by probes in the kernel, which root may place; what these cannot see is listed. On a
    terminal the table is renewed every second; else it is printed once, at the end. Nothing is
    written to disk.
    """
    live = sys.stdout.isatty() and not json
    with ExitStack() as stack:
        renew, output = _shown(stack, live, json)
        document, status = watching.watch(
            goals, tuple(command or ()), duration, window, renew, output, backend
        )
    if json:
        console.print_json(document)
    else:
        show(*watching.view(document))
    if status:
        raise Exit(status)
    if not document["events"] and (found := readers.others()):
        raise UserError(readers.in_words(found))


def _shown(stack: ExitStack, live: bool, json: bool) -> tuple[Callable[[Json], None], int | None]:
    """What to call with each document, and where the command's output goes."""
    if not live:
        return (lambda _document: None), sys.stderr.fileno() if json else None
    # Output of the command would garble the table.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    stack.callback(os.close, nowhere)
    screen = stack.enter_context(renewed(screen=True))
    return (lambda document: screen(watching.view(document))), nowhere
