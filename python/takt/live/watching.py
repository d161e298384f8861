"""Running programs, watched as things happen: what `takt watch` shows."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import takt_native
from takt import files
from takt.live import alerts, hearing
from takt.recordings import recorder
from takt.text import console
from takt.text.formatting import NONE, count, duration, goal_of, printable, significant
from takt.text.terminal import Part, Table, styled

Json = dict[str, Any]

TICK = 0.1
"""Seconds between two looks at the events, of which there is room for ten times as long."""
SHOWN_EVERY = 1.0
MODEL_EVERY = 5.0
"""Seconds between two models of what runs, unless something starts or ends."""
BUSIEST = 8
"""Executors that are shown."""


def watch(
    goals: str | None,
    command: tuple[str, ...],
    duration: float | None,
    window: float,
    show: Callable[[Json], None],
    command_output: int | None = None,
    backend: hearing.Backend | None = None,
) -> tuple[Json, int | None]:
    """Watches a command, or what runs already, and calls `show` with a takt/watch document every
    second. Returns the last one and the command's status. UserError or takt_native.InputError if it
    cannot.
    """
    text = files.read_document(goals) if goals is not None else None
    source = files.source_name(goals) if goals is not None else ""

    def begin(tracer: str) -> tuple[takt_native.Watch, list[Path]]:
        libraries = recorder.preloaded(tracer) if command else []
        watched = takt_native.Watch(
            tracer, text, source, only_started=bool(command), window=round(window * 1e9)
        )
        return watched, libraries

    watched, libraries = hearing.start(backend, command, begin)
    for warning in watched.warnings():
        console.say(f"takt: warning: {warning}")
    clock = _Clock(watched, show)
    environment = recorder.traced(os.environ, watched, libraries) if command else {}
    request = recorder.Request(
        "ring", Path(), command=command, duration=duration, command_output=command_output
    )
    status = recorder.supervise(request, environment, clock.tick, TICK)
    clock.look()
    return clock.document(), status


class _Clock:
    """Does what is due at each look."""

    def __init__(self, watched: takt_native.Watch, show: Callable[[Json], None]) -> None:
        self._watched = watched
        self._show = show
        self._structure = -1
        self._next_model = 0.0
        self._next_show = time.monotonic() + SHOWN_EVERY

    def tick(self) -> bool:
        self._watched.poll()
        now = time.monotonic()
        if now >= self._next_show:
            self._next_show = now + SHOWN_EVERY
            self.look(now)
            self._show(self.document())
        return True

    def look(self, now: float = float("inf")) -> None:
        """Makes the model anew if that is due."""
        structure = self._watched.structure()
        if now >= self._next_model or structure != self._structure:
            self._structure = structure
            self._next_model = now + MODEL_EVERY
            self._watched.refresh()

    def document(self) -> Json:
        document: Json = json.loads(self._watched.document())
        return document


def view(document: Json) -> list[Part]:
    """The document as tables: chains in their order, then the busiest executors."""
    lost = document["lost"]
    heading = (
        f"{count(document['events'], 'event')} in {significant(document['seconds'])} s, "
        f"{count(lost['events'], 'event')} lost"
    )
    if lost["programs"]:
        heading += f", {count(lost['programs'], 'program')} not seen from the beginning"
    parts: list[Part] = [heading, ""]
    if not document["events"]:
        parts.append(f"No chain yet: {hearing.nobody_heard(document['backend'])}")
    elif not document["chains"] and not document["goals_not_found"]:
        parts.append("No chain yet: start ROS 2 programs, or wait until they are up")
    else:
        parts.append(_chains(document["chains"]))
        parts += _above_bounds(document["chains"])
    parts += [
        printable(f"{goal['name']}: {goal['reason']}") for goal in document["goals_not_found"]
    ]
    parts += alerts.lines(document["alerts"])
    parts += ["", _executors(document["executors"])]
    unseen = [f"Not seen: {line}" for line in document["unseen"]]
    return [*parts, "", *map(printable, unseen)] if unseen else parts


def _is_above_bound(chain: Json) -> bool:
    return None not in (chain["max"], chain["bound"]) and chain["max"] > chain["bound"]


def _above_bounds(chains: list[Json]) -> Iterator[str]:
    """A line for each chain that took longer than its bound."""
    for chain in filter(_is_above_bound, chains):
        yield printable(
            f"{chain['id']}: {duration(chain['max'])} is above the bound, "
            f"{duration(chain['bound'])}: something that the bound rests on does not hold, such as "
            "a processor for each executor; takt record, then takt latency, says what"
        )


def _chains(chains: list[Json]) -> Table:
    table = Table()
    table.add_column("Chain")
    for column in ("Rate", "p50", "p99", "Max", "Worst", "Bound", "Goal", "Missed"):
        table.add_column(column, right=True)
    for chain in chains:
        colour = "red" if chain["missed"] else ""
        longest = styled(duration(chain["max"]), "red" if _is_above_bound(chain) else "")
        table.add_row(
            printable(chain["id"]),
            f"{chain['rate']:.1f} Hz",
            *map(duration, (chain["p50"], chain["p99"])),
            longest,
            *map(duration, (chain["worst"], chain["bound"])),
            goal_of(chain["goal"], chain["kind"]),
            styled(str(chain["missed"]) if chain["goal"] is not None else NONE, colour),
        )
    return table


def _executors(executors: list[Json]) -> Table:
    table = Table()
    table.add_column("Busiest executors")
    table.add_column("Busy", right=True)
    table.add_column("Process", right=True)
    busiest = sorted(executors, key=lambda executor: -executor["busy"])[:BUSIEST]
    for executor in busiest:
        table.add_row(
            printable(executor["name"]),
            f"{100 * executor['busy']:.1f} %",
            str(executor["process"]),
        )
    return table
