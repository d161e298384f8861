"""What a takt/status document becomes on /diagnostics."""

from __future__ import annotations

from typing import Any

from takt.live import alerts, diagnostics
from takt.text.terminal import plain

Json = dict[str, Any]


def chain(name: str, state: str, reason: str = "") -> Json:
    return {
        "id": name,
        "state": state,
        "reason": reason,
        "goal": 50_000_000,
        "bound": 40_000_000 if state == "guaranteed" else None,
        "measured": {"count": 3, "total": 9, "missed": 1, "p50": 20_000_000, "max": 60_500_000},
        "promises": {"kept": 8, "broken": 0, "by_host": 0, "breach": None},
    }


def status(*chains: Json, alerts: list[Json] | None = None) -> Json:
    return {
        "chains": list(chains),
        "alerts": alerts or [],
        "decisions": 4,
        "lost_events": 0,
        "cpu_seconds": 0.25,
    }


def alert(kind: str, chain: str = "") -> Json:
    return {"kind": kind, "chain": chain, "since": 1}


def levels(document: Json) -> dict[str, tuple[int, str]]:
    return {name: (level, text) for name, level, text, _ in diagnostics.statuses(document)}


def test_what_is_guaranteed_is_well_and_what_is_not_is_a_warning() -> None:
    found = levels(status(chain("pilot", "guaranteed"), chain("tracker", "degraded", "no room")))
    assert found == {
        "takt: chain pilot": (diagnostics.OK, "guaranteed"),
        "takt: chain tracker": (diagnostics.WARN, "degraded: no room"),
        "takt: manager": (diagnostics.OK, "running"),
    }


def test_an_alert_of_a_chain_is_an_error_and_a_loss_a_warning() -> None:
    document = status(
        chain("pilot", "guaranteed"),
        chain("tracker", "guaranteed"),
        alerts=[alert("goal", "pilot"), alert("gap", "tracker"), alert("loss")],
    )
    assert levels(document) == {
        "takt: chain pilot": (diagnostics.ERROR, "missed its goal"),
        "takt: chain tracker": (diagnostics.ERROR, "is not completed any more"),
        "takt: manager": (diagnostics.WARN, "events were lost"),
    }


def test_a_broken_promise_is_an_error_until_there_is_a_new_one() -> None:
    reason = "took 60 ms, at most 40 ms were promised"
    broken = chain("pilot", "prepared", reason)
    broken["promises"] = {"kept": 8, "broken": 1, "by_host": 0, "breach": {"latency": 60_000_000}}
    assert levels(status(broken))["takt: chain pilot"] == (
        diagnostics.ERROR,
        f"broke its promise: {reason}",
    )
    again = {**broken, "state": "guaranteed", "bound": 70_000_000, "reason": ""}
    assert levels(status(again))["takt: chain pilot"] == (diagnostics.OK, "guaranteed")


def test_figures_are_milliseconds() -> None:
    *_, values = diagnostics.statuses(status(chain("pilot", "guaranteed")))[0]
    assert values == {
        "goal (ms)": "50.000",
        "bound (ms)": "40.000",
        "p50 (ms)": "20.000",
        "max (ms)": "60.500",
        "missed": "1",
        "promises kept": "8",
        "promises broken": "0",
        "held up by the host": "0",
    }


def test_names_of_chains_are_no_markup() -> None:
    (line,) = alerts.lines([alert("goal", "[red]x")])
    assert plain(line) == "Alert: chain [red]x missed its goal lately"
