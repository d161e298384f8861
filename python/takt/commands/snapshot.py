"""takt snapshot: Have a running snapshot recording written."""

from __future__ import annotations

import os
import signal
import time
from json import loads
from pathlib import Path
from typing import Annotated, Any

from takt.arguments import Argument, Option
from takt.errors import UserError
from takt.recordings.recorder import began, snapshot_files
from takt.text import console
from takt.text.terminal import show

EXAMPLES = """
takt snapshot            when something happened: a recorder in another terminal writes robot-1
takt snapshot 4711       if several record

Such a recorder keeps the newest events in memory: takt record --snapshot -o robot
"""

ENDED = "the recording has ended before it could write anything"
LOOK = 0.02  # seconds between two looks whether the trace is there
PATIENCE = 300.0  # seconds that a recorder may take to write what it holds


def snapshot(
    recorder: Annotated[
        int | None,
        Argument(metavar="[PID]", help="The recorder, if several run.", show_default=False),
    ] = None,
    json: Annotated[
        bool, Option("--json", help="Print one JSON document that names the trace.")
    ] = False,
) -> None:
    """Have a running `takt record --snapshot` write what it holds; it goes on recording."""
    state = _ask(_find(recorder))
    if state["error"]:
        raise UserError(state["error"])
    console.say(f"Next: takt info {state['snapshots'][-1]}")
    trace = state["snapshots"][-1]
    if json:
        console.print_json({"format": "takt/snapshot", "version": 1, "trace": trace})
    else:
        show(trace)


def _ask(file: Path) -> dict[str, Any]:
    """Asks the recorder that announces itself in this file, and returns its state when it has
    answered. UserError if it does not.
    """
    asked = _state(file)["asked"]
    recorder = int(file.stem)
    try:
        process = os.pidfd_open(recorder)
    except ProcessLookupError:
        raise UserError(ENDED) from None
    try:
        # The descriptor stands for this one process, even if its id is used again from here on.
        if not _runs(file):
            raise UserError(ENDED)
        signal.pidfd_send_signal(process, signal.SIGUSR1)
    finally:
        os.close(process)
    end = time.monotonic() + PATIENCE
    while (state := _state(file))["asked"] == asked:
        if not _runs(file):
            raise UserError(ENDED)
        if time.monotonic() > end:
            raise UserError(f"the recorder {recorder} has not answered for {PATIENCE:.0f} s")
        time.sleep(LOOK)
    return state


def _find(recorder: int | None) -> Path:
    files = [file for file in snapshot_files().glob("*.json") if file.stat().st_uid == os.geteuid()]
    running = [file for file in files if _runs(file)]
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


def _runs(file: Path) -> bool:
    """Whether the recorder runs that wrote the file; a killed one leaves its file, and its process
    id may be another program's now.
    """
    try:
        known = _state(file).get("began")
    except UserError:
        return False
    return known is not None and known == began(int(file.stem))


def _state(file: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = loads(file.read_text())
    except FileNotFoundError:
        raise UserError(ENDED) from None
    return state
