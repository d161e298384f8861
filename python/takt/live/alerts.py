"""Alerts of takt/watch and takt/status documents, in words."""

from __future__ import annotations

from typing import Any

from takt.text.formatting import printable
from takt.text.terminal import styled

Json = dict[str, Any]

WORDS = {
    "goal": "chain {chain} missed its goal lately",
    "gap": "chain {chain} is not completed any more, or comes with gaps",
    "loss": "events were lost lately: the figures may lack the worst",
}


def lines(alerts: list[Json]) -> list[str]:
    """One line for each alert, with colours for the terminal."""
    return [
        f"{styled('Alert:', 'red')} {WORDS[alert['kind']].format(chain=printable(alert['chain']))}"
        for alert in alerts
    ]
