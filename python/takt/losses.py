"""What a recording is known to lack, whichever document tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from takt.formatting import count

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


def in_words(document: Mapping[str, Any]) -> str:
    """ "3 events, 1 packet"; empty if nothing is missing."""
    return ", ".join(count(number, KINDS[kind]) for kind, number in missing(document).items())
