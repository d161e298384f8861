"""The stamps of messages that begin with a header are recorded with these messages alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import babeltrace
from recording import PROGRAMS, Run


@pytest.mark.parametrize("backend", ["lttng", "ring"])
def test_each_message_with_a_header_has_its_stamp(tmp_path: Path, backend: str) -> None:
    command = [sys.executable, str(PROGRAMS / "stamped.py")]
    run = Run.of(tmp_path / "trace", command, backend=backend)
    stamps = [int(line) for line in run.output.split()]
    topics: dict[int, str] = {}
    waiting: dict[int, int] = {}
    told = []
    for event in babeltrace.events(run.trace):
        if event.name == "ros2:rcl_publisher_init":
            topics[event.fields["rmw_publisher_handle"]] = event.fields["topic_name"]
        elif event.name == "takt:message_stamp":
            waiting[event.fields["rmw_publisher_handle"]] = event.fields["stamp"]
        elif event.name == "ros2:rmw_publish":
            handle = event.fields["rmw_publisher_handle"]
            told.append((topics.get(handle), waiting.pop(handle, None)))
    assert [stamp for topic, stamp in told if topic == "/joints" and stamp] == stamps
    # The same messages, serialised before.
    assert [topic for topic, _ in told].count("/joints") == 2 * len(stamps)
    assert [stamp for topic, stamp in told if topic == "/text"] == [None] * len(stamps)
    assert not waiting
