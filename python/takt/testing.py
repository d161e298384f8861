"""For tests of ROS 2 programs: run them, and assert on what they did.

In conftest.py: pytest_plugins = ["takt.testing"]. Then

    def test_talker_publishes_ten_messages(recorded):
        run = recorded("python3", "talker.py", "--count", "10")
        assert run.count("ros2:rcl_publish") == 10
        assert "/chatter" in run.topics()
        (flow,) = run.flows("/chatter", "/listener")
        assert flow.latency("p99") < 0.050, flow.why()
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import takt
import takt_native
from takt import pipeline
from takt.documents import losses
from takt.errors import UserError
from takt.flows import flow as flow_words
from takt.recordings.recorder import DEFAULT_EVENTS, Request, Running, record

Event = dict[str, Any]


@dataclass(frozen=True)
class Recorded:
    """What has been recorded. Events are dictionaries of their fields and of `time` (ns), `vpid`,
    `vtid` and `procname`.
    """

    trace: Path
    status: int | None = None
    """Exit status of the command, if there was one."""

    def events(self, name: str, **fields: Any) -> list[Event]:
        """The events of this name that have these fields, in order of time."""
        table = takt.open(str(self.trace)).events(name).read_all()
        wanted = fields.items()
        return [event for event in table.to_pylist() if wanted <= event.items()]

    def count(self, name: str, **fields: Any) -> int:
        return len(self.events(name, **fields))

    def nodes(self) -> set[str]:
        """Full names of the nodes."""
        return {node["name"] for node in self._info["nodes"]}

    def topics(self) -> set[str]:
        return {topic["name"] for topic in self._info["topics"]}

    def lost(self) -> int:
        """0 if nothing is missing, which a test that counts should assert; otherwise events,
        packets of events and unreadable bytes.
        """
        return sum(losses.missing(self._info).values())

    @cached_property
    def _info(self) -> dict[str, Any]:
        return pipeline.info([str(self.trace)])

    def flows(self, source: str | None = None, sink: str | None = None) -> list[Flow]:
        """The ways that messages took from a topic, node, node:topic or callback to another, the
        one with the largest latency first; as `takt flow --from SOURCE --to SINK`.
        """
        ends = (("from", source), ("to", sink))
        options = {name: value for name, value in ends if value is not None}
        found = pipeline.flow([str(self.trace)], {**options, "instances": True})["flows"]
        return [Flow(flow) for flow in found]


@dataclass(frozen=True)
class Flow:
    """A way that messages took from a source to a sink: an entry of a takt/flow document."""

    document: dict[str, Any]

    @property
    def path(self) -> list[str]:
        """The callbacks on the way."""
        return [str(step["callback"]) for step in self.document["path"]]

    @property
    def latencies(self) -> list[float]:
        """Seconds from each call of publish to the start of the sink's callback."""
        return [instance["latency"] / 1e9 for instance in self.document["instances"]]

    def latency(self, figure: str) -> float:
        """The min, mean, p50, p99 or max of these, in seconds."""
        return float(self.document[figure]) / 1e9

    def why(self) -> str:
        """What happened to the slowest message, in words; the first line names the cause."""
        return "\n".join(flow_words.story(self.document, self.document["worst"][0]))


@contextmanager
def recording(output: Path, *, backend: str = "ring") -> Iterator[Recorded]:
    """Records what runs, this process included, while the block is executed. The ring and LTTng see
    processes that have loaded Takt's libtracetools.so (takt.processes.runtime.tracetools()), ebpf
    all. UserError at the block's end if the recording has failed meanwhile, because the disk was
    full for instance.
    """
    started = takt_native.Recording(
        backend, str(output), list(DEFAULT_EVENTS), kernel=False, only_started=False
    )
    running = Running(started, output)
    running.look_by_itself()
    try:
        yield Recorded(output)
    except BaseException:
        running.discard()
        raise
    running.stop()


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[..., Recorded]:
    """A function that runs a command, records it from its first event to its end, and returns what
    it did. Options: backend ("ring", "lttng", "ebpf"), kernel, duration (seconds after which the
    command is told to end), check (fail if the command does).
    """
    numbers = itertools.count(1)

    def run(
        *command: str,
        backend: str = "ring",
        kernel: bool = False,
        duration: float | None = None,
        check: bool = True,
    ) -> Recorded:
        request = Request(
            backend,
            tmp_path / f"trace-{next(numbers)}",
            command=command,
            kernel=kernel,
            duration=duration,
        )
        done = record(request, lambda seconds, size, losses: None)
        if check and done.command_status:
            raise UserError(f"{command[0]}: ended with status {done.command_status}")
        return Recorded(done.trace, done.command_status)

    return run
