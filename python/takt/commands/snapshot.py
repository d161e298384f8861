"""takt snapshot: Have a running snapshot recording written."""

from __future__ import annotations

import os
import signal
import time
from json import loads
from pathlib import Path
from typing import Annotated, Any

import typer

from takt import console
from takt.errors import UserError
from takt.recorder import snapshot_files

EXAMPLES = """
takt snapshot            when something happened: a recorder in another terminal writes robot-1
takt snapshot 4711       if several record

Such a recorder keeps the newest events in memory: takt record --snapshot -o robot
"""

LOOK = 0.02  # seconds between two looks whether the trace is there


def snapshot(
    recorder: Annotated[
        int | None,
        typer.Argument(metavar="[PID]", help="The recorder, if several run.", show_default=False),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document that names the trace.")
    ] = False,
) -> None:
    """Have a running `takt record --snapshot` write what it holds; it goes on recording."""
    file = _find(recorder)
    asked = _state(file)["asked"]
    os.kill(int(file.stem), signal.SIGUSR1)
    state = _state(file)
    while state["asked"] == asked:
        time.sleep(LOOK)
        state = _state(file)
    if state["error"]:
        raise UserError(state["error"])
    console.say(f"Next: takt info {state['snapshots'][-1]}")
    trace = state["snapshots"][-1]
    if json:
        console.print_json({"format": "takt/snapshot", "version": 1, "trace": trace})
    else:
        console.output().print(trace, soft_wrap=True, highlight=False)


def _find(recorder: int | None) -> Path:
    files = [file for file in snapshot_files().glob("*.json") if file.stat().st_uid == os.geteuid()]
    running = [file for file in files if _runs(int(file.stem))]
    chosen = [file for file in running if recorder is None or int(file.stem) == recorder]
    if not chosen:
        which = f" with process id {recorder}" if recorder else ""
        raise UserError(
            f"no snapshot recording{which} runs: start one with 'takt record --snapshot'"
        )
    if len(chosen) > 1:
        numbers = ", ".join(sorted(file.stem for file in chosen))
        raise UserError(f"several snapshot recordings run ({numbers}): say which")
    return chosen[0]


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _state(file: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = loads(file.read_text())
    except FileNotFoundError:
        raise UserError("the recording has ended before it could write anything") from None
    return state
