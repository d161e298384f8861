"""Allocations and page faults after start-up, in words (takt info --active-phase)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from takt.errors import UserError
from takt.text.formatting import NONE, count, duration, grouped, printable
from takt.text.terminal import Table

Json = dict[str, Any]

MOST_SHOWN = 40
MOST_NAMED = 5

_ALLOCATIONS = "takt record --event 'ros2:*' --event 'takt:*' --event 'lttng_ust_libc:*' -- COMMAND"
_PAGE_FAULTS = "takt record --kernel -- COMMAND (as root)"


def lines(document: Json) -> Iterator[str]:
    """What was found in all, and what the recording cannot say. UserError if that is everything."""
    names = document["by_name"]
    has_allocations = any(name.startswith("lttng_ust_libc:") for name in names)
    has_faults = any("page_fault" in name for name in names)
    if not (has_allocations or has_faults):
        raise UserError(
            "neither allocations nor page faults are in the recording; allocations: "
            f"{_ALLOCATIONS}; page faults: {_PAGE_FAULTS}"
        )
    if document["since"] is None:
        raise UserError(
            "start-up had not ended when the recording did: objects were made until less than a "
            "second before; record for longer"
        )
    calls = document["calls"]
    faults = sum(call["count"] for call in calls if call["what"] == "page fault")
    frees = sum(call["count"] for call in calls if call["what"] == "free")
    allocations = sum(call["count"] for call in calls) - faults - frees
    in_start_up = sum(document["in_start_up"].values())
    found = []
    if has_allocations:
        found += [count(allocations, "allocation"), count(frees, "release")]
    if has_faults:
        found.append(count(faults, "page fault"))
    yield (
        f"{', '.join(found)} in the {duration(document['duration'])} after start-up "
        f"({grouped(in_start_up)} of all kinds before)"
    )
    if others := document["elsewhere"]:
        most = sorted(others, key=lambda other: -other["count"])[:MOST_NAMED]
        named = ", ".join(
            f"{other['thread'] or 'unknown'} {other['tid'] or ''}".rstrip()
            + f" ({grouped(other['count'])})"
            for other in most
        )
        total = sum(other["count"] for other in others)
        more = f" and {len(others) - len(most)} more" if len(others) > len(most) else ""
        yield f"{count(total, 'page fault')} more of threads without events of ROS 2: {named}{more}"
    if not has_allocations:
        yield f"Allocations are not in the recording: {_ALLOCATIONS}"
    if not has_faults:
        yield f"Page faults are not in the recording: {_PAGE_FAULTS}"


def table(document: Json) -> Table:
    """Who did it, in which callback, the most frequent first."""
    shown = Table()
    for column in ("What", "Callback", "Process", "Thread"):
        shown.add_column(column)
    for column in ("Times", "Bytes", "First", "Most at"):
        shown.add_column(column, right=True)
    for call in document["calls"][:MOST_SHOWN]:
        shown.add_row(
            call["what"],
            printable(call["callback"] or NONE),
            printable(f"{call['process']} {call['pid']}"),
            printable(f"{call['thread']} {call['tid']}"),
            grouped(call["count"]),
            grouped(call["bytes"]) if call["bytes"] else NONE,
            duration(call["first"]),
            call["places"][0]["address"] if call["places"] else NONE,
        )
    return shown
