"""Acceptance facts of the message flow specification that recordings prove."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any

import pytest

import takt
from recordings import archive

SEND = {"rclcpp_publish", "rcl_publish", "rmw_publish"}
RECEIVE = {
    "rclcpp_executor_wait_for_work",
    "rclcpp_executor_get_next_ready",
    "rclcpp_executor_execute",
    "rmw_take",
    "rcl_take",
    "rclcpp_take",
    "callback_start",
}
MOST_EVENTS = 13
"""The most events of a message from publisher to callback, with those of the middleware."""


def by_thread(name: str) -> dict[tuple[str, int], list[tuple[int, str]]]:
    """The names of events by host and thread, in the order of their times."""
    events: dict[tuple[str, int], list[tuple[int, int, str]]] = defaultdict(list)
    number = itertools.count()
    for event, batch in takt.open(str(archive(name))).all_events():
        columns = (batch.column(key).to_pylist() for key in ("time", "host", "vtid"))
        for time, host, thread in zip(*columns, strict=True):
            events[host, thread].append((time, next(number), event.partition(":")[2]))
    return {
        thread: [(time, event) for time, _number, event in sorted(rows)]
        for thread, rows in events.items()
    }


def ways(names: list[str], first: str, last: str) -> list[list[str]]:
    """The names from each last `first` before a `last` to that `last`, with both."""
    found = []
    begin: int | None = None
    for i, name in enumerate(names):
        if name == first:
            begin = i
        elif name == last and begin is not None:
            found.append(names[begin : i + 1])
            begin = None
    return found


def test_fact_2_three_events_send_a_message_and_seven_receive_it() -> None:
    sent: set[frozenset[str]] = set()
    received: list[frozenset[str]] = []
    for events in by_thread("mf-trivial").values():
        names = [name for _time, name in events]
        sent |= {frozenset(way) for way in ways(names, "rclcpp_publish", "rmw_publish")}
        waits = ways(names, "rclcpp_executor_wait_for_work", "callback_start")
        received += [frozenset(way) for way in waits if "rclcpp_take" in way]
    assert sent == {frozenset(SEND)}
    assert received
    # After a wait the executor may run something else first; most often it does not.
    assert received.count(frozenset(RECEIVE)) > len(received) / 2
    assert len(SEND) + len(RECEIVE) == 10


def test_fact_45_a_message_passes_at_most_thirteen_events() -> None:
    longest = 0
    for events in by_thread("pipeline-lttng").values():
        # What the project's own tracing adds to ROS 2's, on both sides of one message.
        names = [name for _time, name in events if not name.startswith("callback_end")]
        for first, last in (("rclcpp_publish", "rmw_publish"), ("rcl_publish", "rmw_publish")):
            for way in ways(names, first, last):
                longest = max(longest, len(way))
    assert 0 < longest <= 3 + 3
    assert longest + len(RECEIVE) <= MOST_EVENTS


def overlaps(recording: Any) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Pairs of runs of different threads that overlap, within a process."""
    callbacks = {row["callback"]: row for row in recording.callbacks.iter_rows(named=True)}
    runs = recording.runs.sort("start").iter_rows(named=True)
    open_runs: list[dict[str, Any]] = []
    found = []
    for run in runs:
        process = callbacks[run["callback"]]["pid"]
        open_runs = [other for other in open_runs if other["end"] > run["start"]]
        found += [
            (other, run)
            for other in open_runs
            if other["thread"] != run["thread"] and callbacks[other["callback"]]["pid"] == process
        ]
        open_runs.append({**run, "end": run["start"] + run["duration"]})
    return found


@pytest.mark.parametrize(
    ("name", "threads"), [("autoware-singlethreaded", 1), ("autoware-multithreaded", 2)]
)
def test_fact_35_callbacks_overlap_only_on_several_threads(name: str, threads: int) -> None:
    recording = takt.load(str(archive(name)))
    found = overlaps(recording)
    assert bool(found) == (threads > 1)
    if found:
        taken = {row["run"]: row["publication"] for row in recording.takes.iter_rows(named=True)}
        # Two that received the same message.
        assert any(
            taken.get(a["run"]) is not None and taken.get(a["run"]) == taken.get(b["run"])
            for a, b in found
        )
