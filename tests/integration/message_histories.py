"""Computes the sources of every message of a recording, forwards in time, by what the description
of the recorded system says its nodes do. This is the ground truth for `takt flow`, which goes
backwards.

It shares nothing with libtakt's interpreter but the decoding of events.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import takt

Event = dict[str, Any]
Way = tuple[str, ...]
"""The topics that a message's content passed on its way, from its source's."""

History = dict[Way, int]
"""When the source of each way that led to a message called publish."""

EVENTS = {
    "rcl_node_init",
    "rcl_publisher_init",
    "rcl_subscription_init",
    "rclcpp_subscription_init",
    "rclcpp_subscription_callback_added",
    "rcl_timer_init",
    "rclcpp_timer_callback_added",
    "rclcpp_timer_link_node",
    "rclcpp_publish",
    "rcl_publish",
    "rmw_publish",
    "rclcpp_intra_publish",
    "rmw_take",
    "callback_start",
    "callback_end",
    "rclcpp_buffer_to_ipb",
    "rclcpp_ipb_to_subscription",
    "rclcpp_ring_buffer_enqueue",
    "rclcpp_ring_buffer_dequeue",
}


@dataclass(frozen=True)
class System:
    """How nodes make messages from messages; nodes that are not named here pass on what they
    handle.
    """

    joins: frozenset[str] = frozenset()
    """Publish when each input is new, and use all of them up."""
    periodic: frozenset[str] = frozenset()
    """Store the newest of each input, for their timer."""


@dataclass
class Running:
    """The callback that runs on a thread."""

    node: str
    topic: str | None
    start: int
    received: History = field(default_factory=dict)


class Teller:
    """Goes through the events of a recording in the order of their times."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.latencies: dict[tuple[str, Way], list[int]] = defaultdict(list)
        """(node, way) → from each source's call of publish to the start of the node's callback."""
        self._objects: dict[tuple[int, str, int], Any] = {}
        self._sent: dict[tuple[str, int], History] = {}
        self._began: dict[int, int] = {}
        self._publisher: dict[int, int] = {}
        self._taken: dict[int, tuple[str, History]] = {}
        self._running: dict[int, Running] = {}
        self._stored: dict[str, dict[str, History]] = defaultdict(dict)
        self._within: dict[int, History] = {}
        self._buffers: dict[tuple[int, int, int], History] = {}

    def tell(self, name: str, event: Event) -> None:
        getattr(self, name)(event, event["vpid"], event["vtid"])

    def _put(self, process: int, kind: str, handle: int, value: Any) -> None:
        self._objects[process, kind, handle] = value

    def _get(self, process: int, kind: str, handle: int) -> Any:
        return self._objects.get((process, kind, handle))

    def rcl_node_init(self, event: Event, process: int, _thread: int) -> None:
        name = event["namespace"].rstrip("/") + "/" + event["node_name"]
        self._put(process, "node", event["node_handle"], name)

    def rcl_publisher_init(self, event: Event, process: int, _thread: int) -> None:
        topic = event["topic_name"]
        self._put(process, "publisher", event["publisher_handle"], topic)
        self._put(process, "rmw_publisher", event["rmw_publisher_handle"], topic)

    def rcl_subscription_init(self, event: Event, process: int, _thread: int) -> None:
        node = self._get(process, "node", event["node_handle"])
        self._put(
            process, "subscription", event["subscription_handle"], (node, event["topic_name"])
        )
        self._put(
            process, "rmw_subscription", event["rmw_subscription_handle"], event["topic_name"]
        )

    def rclcpp_subscription_init(self, event: Event, process: int, _thread: int) -> None:
        self._put(process, "object", event["subscription"], event["subscription_handle"])

    def rclcpp_subscription_callback_added(self, event: Event, process: int, _thread: int) -> None:
        self._put(process, "subscriber", event["callback"], event["subscription"])

    def rcl_timer_init(self, event: Event, process: int, thread: int) -> None:
        pass

    def rclcpp_timer_callback_added(self, event: Event, process: int, _thread: int) -> None:
        self._put(process, "timer", event["timer_handle"], event["callback"])

    def rclcpp_timer_link_node(self, event: Event, process: int, _thread: int) -> None:
        callback = self._get(process, "timer", event["timer_handle"])
        node = self._get(process, "node", event["node_handle"])
        self._put(process, "callback", callback, (node, None))

    def rclcpp_buffer_to_ipb(self, event: Event, process: int, _thread: int) -> None:
        self._put(process, "buffer", event["buffer"], event["ipb"])

    def rclcpp_ipb_to_subscription(self, event: Event, process: int, _thread: int) -> None:
        self._put(process, "ipb", event["ipb"], event["subscription"])

    def rclcpp_publish(self, event: Event, _process: int, thread: int) -> None:
        self._began[thread] = event["time"]

    def rcl_publish(self, event: Event, _process: int, thread: int) -> None:
        self._began.setdefault(thread, event["time"])

    def rmw_publish(self, event: Event, process: int, thread: int) -> None:
        topic = self._get(process, "rmw_publisher", event["rmw_publisher_handle"])
        began = self._began.pop(thread, event["time"])
        if topic is not None:
            self._sent[topic, event["timestamp"]] = self._content(thread, topic, began)

    def rclcpp_intra_publish(self, event: Event, process: int, thread: int) -> None:
        topic = self._get(process, "publisher", event["publisher_handle"])
        self._within[thread] = self._content(thread, topic, event["time"])

    def rclcpp_ring_buffer_enqueue(self, event: Event, process: int, thread: int) -> None:
        self._buffers[process, event["buffer"], event["index"]] = self._within[thread]

    def rclcpp_ring_buffer_dequeue(self, event: Event, process: int, thread: int) -> None:
        ipb = self._get(process, "buffer", event["buffer"])
        handle = self._get(process, "object", self._get(process, "ipb", ipb))
        _node, topic = self._get(process, "subscription", handle)
        history = self._buffers.pop((process, event["buffer"], event["index"]))
        self._taken[thread] = (topic, history)

    def _content(self, thread: int, topic: str, began: int) -> History:
        """The sources of a message that is sent now."""
        running = self._running.get(thread)
        if running is None:
            return {(topic,): began}
        if running.topic is None:
            history: History = {(topic,): began}
            if running.node in self.system.periodic:
                for stored in self._stored[running.node].values():
                    history |= {(*way, topic): start for way, start in stored.items()}
            return history
        received = running.received
        if running.node in self.system.joins:
            for stored in self._stored.pop(running.node, {}).values():
                received = received | stored
        return {(*way, topic): start for way, start in received.items()}

    def rmw_take(self, event: Event, process: int, thread: int) -> None:
        topic = self._get(process, "rmw_subscription", event["rmw_subscription_handle"])
        if event["taken"] and topic is not None:
            history = self._sent.get((topic, event["source_timestamp"]))
            if history is not None:
                self._taken[thread] = (topic, history)

    def callback_start(self, event: Event, process: int, thread: int) -> None:
        handle = self._get(
            process, "object", self._get(process, "subscriber", event["callback"]) or 0
        )
        node, topic = (
            self._get(process, "subscription", handle or 0)
            or self._get(process, "callback", event["callback"])
            or ("unknown", None)
        )
        running = Running(node, topic, event["time"])
        if topic is not None and thread in self._taken and self._taken[thread][0] == topic:
            running.received = self._taken.pop(thread)[1]
            for way, began in running.received.items():
                self.latencies[node, way].append(event["time"] - began)
            if node in self.system.joins and topic != "/parameter_events":
                self._stored[node][topic] = running.received
        self._running[thread] = running

    def callback_end(self, _event: Event, _process: int, thread: int) -> None:
        running = self._running.pop(thread, None)
        if (
            running is not None
            and running.topic is not None
            and running.node in self.system.periodic
            and running.topic != "/parameter_events"
        ):
            self._stored[running.node][running.topic] = running.received


def latencies(trace: Path, system: System) -> dict[tuple[str, Way], list[int]]:
    """For each node and each way that led to one of its callbacks, every latency in nanoseconds."""
    events: list[tuple[int, int, str, Event]] = []
    for name, batch in takt.open(str(trace)).all_events():
        if (short := name.removeprefix("ros2:")) in EVENTS:
            for event in batch.to_pylist():
                events.append((event["time"], len(events), short, event))
    teller = Teller(system)
    for _time, _number, name, event in sorted(events, key=lambda entry: entry[:2]):
        teller.tell(name, event)
    return dict(teller.latencies)
