"""Threads by a file (`takt/threads`): the program `takt-threads`, and the command whose threads it
schedules.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import takt_native
from takt.processes import runtime
from takt.processes.companion import Companion
from takt.recordings import recorder
from takt.text.formatting import count, printable
from takt.text.terminal import Table

Json = dict[str, Any]

FORMAT = "takt/threads"
TICK = 0.2
"""Seconds between two looks at what the program says."""


@dataclass(frozen=True)
class Request:
    """How which threads are to be scheduled."""

    text: str
    """A takt/threads document, as YAML or JSON."""
    source: str
    command: tuple[str, ...] = ()
    """Empty: the programs that already run."""
    duration: float | None = None
    command_output: int | None = None


class Scheduled(NamedTuple):
    """How it ended."""

    document: Json
    """Of the format takt/scheduled."""
    command_status: int | None
    failed: bool
    """It ended early, and has said why."""


def is_document(text: str) -> bool:
    """Whether a text says that it is a takt/threads document."""
    return takt_native.yaml_format(text) == FORMAT


def apply(request: Request, say: Callable[[str], None]) -> Scheduled:
    """Has threads scheduled until the command, the duration or a signal ends it; `say` is called
    with each thread. UserError if the document is refused, with the reason on standard error.
    """
    libraries = recorder.preloaded("ring") if request.command else []
    settings = {
        "text": request.text,
        "source": request.source,
        "only_started": bool(request.command),
    }

    def hear(said: Json) -> None:
        for change in said["changes"]:
            say(change)

    program = Companion(runtime.threads(), settings, hear)
    try:
        environment = recorder.traced(os.environ, program, libraries) if request.command else {}
        status = recorder.supervise(request, environment, program.listen, TICK)
    finally:
        program.end()
    document = {**program.last_word(), "command_status": status}
    return Scheduled(document, status, program.status != 0)


def faults(document: Json) -> Iterator[str]:
    """A line for each row of a takt/scheduled document that was not applied as it says."""
    for number, row in enumerate(document["rows"]):
        name = f"threads[{number}] ({row['subject']})"
        if any(thread["refused"] for thread in row["threads"]):
            refused = sum(thread["refused"] is not None for thread in row["threads"])
            yield f"{name}: refused for {count(refused, 'thread')}"
        if not row["threads"] and not row["problems"]:
            ran = ", ".join(document["nodes"]) or "none"
            there = row["node"] in document["nodes"]
            yield f"{name}: fitted no thread; " + (
                "its node ran, but no such thread of it" if there else f"nodes that ran: {ran}"
            )


def view(document: Json) -> Table:
    """A takt/scheduled document for people."""
    table = Table()
    for column in ("Row", "Settings", "Threads"):
        table.add_column(column)
    for row in document["rows"]:
        threads = [
            f"{thread['thread']} ({thread['name']})"
            for thread in row["threads"]
            if thread["refused"] is None
        ]
        words = ", ".join(threads) or "none"
        table.add_row(*map(printable, (row["subject"], row["settings"], words)))
    return table
