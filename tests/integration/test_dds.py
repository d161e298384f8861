"""Fast DDS's moments of sending and receiving: they split the way of a message."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import babeltrace
from recording import PROGRAMS, TAKT, Run, needs_privileges
from takt import pipeline

PIPELINE = Path(__file__).resolve().parents[2] / "models" / "pipeline.json"


@needs_privileges
def test_messages_are_sent_and_received_between_publication_and_take(tmp_path: Path) -> None:
    talk = [sys.executable, str(PROGRAMS / "talk.py"), "50"]
    run = Run.of(tmp_path / "trace", talk, backend="ebpf")
    recorded = babeltrace.events(run.trace)
    (writer,) = (
        e.fields["rmw_publisher_handle"]
        for e in recorded
        if e.name == "ros2:rcl_publisher_init" and e.fields["topic_name"] == "/chatter"
    )
    (gid,) = (
        e.fields["gid"]
        for e in recorded
        if e.name == "ros2:rmw_publisher_init" and e.fields["rmw_publisher_handle"] == writer
    )
    published = {
        e.fields["timestamp"]: e.clock
        for e in recorded
        if e.name == "ros2:rmw_publish" and e.fields["rmw_publisher_handle"] == writer
    }
    ways = {
        name: {e.fields["timestamp"]: e.clock for e in recorded if e.name == name and _of(e, gid)}
        for name in ("dds:write", "dds:receive")
    }
    taken = {
        e.fields["source_timestamp"]: e.clock
        for e in recorded
        if e.name == "ros2:rmw_take" and e.fields["taken"]
    }
    assert len(published) == json.loads(run.output)["published"] == 50
    assert set(published) <= set(ways["dds:write"])
    for message, begin in published.items():
        written, received = ways["dds:write"][message], ways["dds:receive"][message]
        assert begin <= written <= received <= taken[message]


@needs_privileges
def test_the_way_of_messages_is_measured(tmp_path: Path) -> None:
    """Messages between two processes have a way of three parts."""
    system = [*TAKT, "run", str(PIPELINE), "--duration", "3"]
    run = Run.of(tmp_path / "trace", system, backend="ebpf")
    (edge,) = pipeline.measure([str(run.trace)], PIPELINE.read_text(), "pipeline").edges
    way = edge.way
    assert way is not None
    assert 0 < way.count <= edge.count
    shortest = [part.min for part in (way.sending, way.transport, way.waiting)]
    assert all(time is not None and time >= 0 for time in shortest)
    assert way.transport.min


def _of(event: babeltrace.Event, gid: list[int]) -> bool:
    return bool(event.fields["writer"] == gid)
