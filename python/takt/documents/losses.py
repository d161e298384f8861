"""What a recording is known to lack, whichever document tells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from takt.text.formatting import count

KINDS = {
    "discarded": "event",
    "discarded_packets": "packet",
    "unreadable_bytes": "unreadable byte",
    "cut_elements": "list element",
}
"""The counts of a takt/info document, or of the losses of a takt/measurement, each with its noun.
The other counts there are of events that are in the recording but could not be used.
"""


def missing(document: Mapping[str, Any]) -> dict[str, int]:
    """The losses that are not 0, by kind. How many events a packet held, nobody knows."""
    return {kind: int(document[kind]) for kind in KINDS if document.get(kind)}


UNRECORDED = "unrecorded"
"""Processes with ROS 2 that the recorder found and could not record."""


def of_recording(info: Mapping[str, Any]) -> dict[str, int]:
    """All that a recording is known to lack, by its takt/info document: counts that are not 0."""
    processes = len(info["unrecorded"])
    return missing(info) | ({UNRECORDED: processes} if processes else {})


def in_words(document: Mapping[str, Any]) -> str:
    """ "3 events, 1 packet"; empty if nothing is missing."""
    words = [count(number, KINDS[kind]) for kind, number in missing(document).items()]
    if isinstance(number := document.get(UNRECORDED), int) and number:
        words.append(count(number, "unrecorded process", "unrecorded processes"))
    return ", ".join(words)


def total(of_runs: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The losses of several recordings, added up."""
    found: dict[str, int] = {}
    for lost in of_runs:
        for kind, number in lost.items():
            found[kind] = found.get(kind, 0) + number
    return found
