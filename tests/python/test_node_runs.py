"""What nodes say of a run is read as it happened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from takt.trials.node_runs import Log, Machine, Missed, Span

Json = dict[str, Any]


def entry(callback: str | None, begin: int, end: int, **more: Any) -> Json:
    return {"callback": callback, "begin": begin, "end": end, "received": None, "used": []} | {
        "sent": [],
        **more,
    }


def sent(topic: str, source: str, number: int, end: int) -> Json:
    return {"message": [topic, source, number], "begin": end - 1, "end": end}


def test_a_latency_goes_on_through_what_a_run_received_and_used(tmp_path: Path) -> None:
    """The second message comes to the sink by a join, at the earliest run that had it."""
    entries = [
        entry("sink", 40, 45, received=["/b", "relay", 1]),
        entry("source", 0, 4, sent=[sent("/a", "source", 1, 3)]),
        entry("source", 10, 14, sent=[sent("/a", "source", 2, 13)]),
        entry("relay", 20, 24, received=["/a", "source", 1], sent=[sent("/b", "relay", 1, 23)]),
        entry(
            "relay",
            25,
            29,
            received=["/other", None, 7],
            used=[{"callback": "relay", "message": ["/a", "source", 2]}],
            sent=[sent("/b", "relay", 2, 28)],
        ),
        entry("sink", 60, 66, used=[{"callback": "sink", "message": ["/b", "relay", 2]}]),
        entry("sink", 70, 77, used=[{"callback": "sink", "message": ["/b", "relay", 2]}]),
        entry("source", 30, 34, sent=[sent("/a", "source", 3, 33)]),
        entry(None, 1, 1),
    ]
    file = tmp_path / "nodes.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in entries))
    for log in (Log.of(entries), Log.read(file)):
        assert log.latencies(["source", "relay", "sink"]) == [Span(0, 45), Span(10, 66)]
        assert log.latencies(["source"]) == [Span(0, 4), Span(10, 14), Span(30, 34)]
        assert log.delays("source", "relay") == [Span(3, 20), Span(13, 25)]
        assert log.deliveries("source", "relay") == [Span(2, 20), Span(12, 25)]
        assert log.begin() == 0


def timer(*begins: int) -> Log:
    return Log.of([entry("timer", begin, begin + 2) for begin in begins])


def test_every_expiry_is_served_if_none_is_skipped() -> None:
    log = timer(10, 35, 37, 40)
    assert log.origin({"timer": 10}) == 0
    served, skipped = log.responses(["timer"], 10, 0, Missed.KEPT)
    assert [span.begin for span in served] == [10, 20, 30, 40]
    assert [span.end - span.begin for span in served] == [2, 17, 9, 2]
    assert skipped == 0


def test_a_late_timer_of_the_default_executor_skips_expiries() -> None:
    """The running example of component-cps: that at 10 is served at 23, that at 20 is lost."""
    log = timer(0, 23, 30, 40)
    served, skipped = log.responses(["timer"], 10, -10, Missed.SKIPPED)
    assert [span.begin for span in served] == [0, 10, 30, 40]
    assert skipped == 1


def test_the_newest_expiry_replaces_those_that_wait() -> None:
    served, unserved = timer(0, 23, 30, 40).responses(["timer"], 10, -10, Missed.REPLACED)
    assert [span.begin for span in served] == [0, 20, 30, 40]
    assert unserved == 1


def test_the_origin_is_that_of_the_earliest_run() -> None:
    """The first run was late by 4, the third by 1."""
    assert timer(14, 23, 31).origin({"timer": 10}) == 1


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (Machine(), "not watched"),
        (Machine(200, [2_500_000, 1_000_000]), "stood still for up to 2.5 ms, in 1.00 % of"),
    ],
)
def test_the_machine_says_how_noisy_it_was(machine: Machine, words: str) -> None:
    assert words in str(machine.row("a").ours)
