"""takt status: Say what the latency manager does and why."""

from __future__ import annotations

import time
from typing import Annotated

from takt.arguments import Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.errors import UserError
from takt.live import managing
from takt.processes import control
from takt.text import console
from takt.text.terminal import renewed, show

EXAMPLES = """
takt status                  chains, goals, bounds, what was measured, and reservations
takt status --watch          renewed every second, until Ctrl-C
takt status --json           for scripts; the exit status says whether all goals are guaranteed
takt status --reload         has the goals file read again
"""


def status(
    watch: Annotated[bool, Option("--watch", help="Renew it every second.")] = False,
    reload: Annotated[
        bool, Option("--reload", help="Have the manager read its goals file again.")
    ] = False,
    json: Annotated[bool, Option("--json", help="Print the takt/status document.")] = False,
) -> None:
    """Print what the running takt manage of this user does.

    Which chains are guaranteed, degraded or left alone and why, measured latencies, reservations.

    Exit status 1 if a goal is not guaranteed.
    """
    if watch and (json or reload):
        raise UserError("--watch goes with neither --json nor --reload")
    if reload:
        chains = control.request("reload")["reloaded"]
        console.say(f"takt: the manager goes by {chains} goals from now on")
        return
    if watch:
        _watch()
        return
    document = control.request("status")
    if json:
        console.print_json(document)
    else:
        show(*managing.view(document))
    chains = document["chains"]  # none before the first decision
    if not chains or any(chain["state"] != "guaranteed" for chain in chains):
        raise Exit(ANSWER_IS_NO)


def _watch() -> None:
    with renewed() as renew:
        while True:
            renew(managing.view(control.request("status")))
            time.sleep(1)
