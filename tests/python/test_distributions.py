"""Recordings in the layout of each distribution of ROS 2, whose truth is known.

A driver publishes /points by a timer, a filter publishes /objects for each, a planner receives
these. A second driver, unrelated, publishes on /points, too, at times that nearly coincide.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from ctf_writer import EPOCH, Writer
from robot import run_takt
from takt import pipeline
from tracepoint_lists import DISTRIBUTIONS, Version

MS = 1_000_000
PERIOD = 20 * MS
COUNT = 200


class Node:
    """A process with one node."""

    def __init__(self, writer: Writer, process: int, name: str) -> None:
        self.writer = writer
        self.process = process
        self.name = name
        self.base = process << 20
        self.add(process, "rcl_init", context_handle=self.base + 1, version="")
        self.add(
            process + 1,
            "rcl_node_init",
            node_handle=self.base + 2,
            node_name=name,
            namespace="/",
        )

    def add(self, time: int, event: str, **values: int | str | bytes) -> None:
        self.writer.add(time, self.process, self.name, event, **values)

    def publisher(self, topic: str) -> None:
        gid = bytes([self.process % 256] * 16)
        self.add(
            self.process + 2, "rmw_publisher_init", rmw_publisher_handle=self.base + 3, gid=gid
        )
        self.add(
            self.process + 3,
            "rcl_publisher_init",
            publisher_handle=self.base + 4,
            node_handle=self.base + 2,
            rmw_publisher_handle=self.base + 3,
            topic_name=topic,
            queue_depth=10,
        )

    def subscription(self, topic: str) -> None:
        own = self.base
        self.add(self.process + 4, "rmw_subscription_init", rmw_subscription_handle=own + 5)
        self.add(
            self.process + 5,
            "rcl_subscription_init",
            subscription_handle=own + 6,
            node_handle=own + 2,
            rmw_subscription_handle=own + 5,
            topic_name=topic,
            queue_depth=10,
        )
        self.add(
            self.process + 6,
            "rclcpp_subscription_init",
            subscription_handle=own + 6,
            subscription=own + 7,
        )
        self.add(
            self.process + 7,
            "rclcpp_subscription_callback_added",
            subscription=own + 7,
            callback=own + 8,
        )
        self.add(self.process + 8, "rclcpp_callback_register", callback=own + 8, symbol="f()")

    def timer(self, period: int) -> None:
        own = self.base
        self.add(self.process + 4, "rcl_timer_init", timer_handle=own + 9, period=period)
        self.add(
            self.process + 5,
            "rclcpp_timer_callback_added",
            timer_handle=own + 9,
            callback=own + 8,
        )
        self.add(
            self.process + 6, "rclcpp_timer_link_node", timer_handle=own + 9, node_handle=own + 2
        )
        self.add(self.process + 7, "rclcpp_callback_register", callback=own + 8, symbol="g()")

    def publish(self, time: int) -> int:
        """Returns the source timestamp."""
        own = self.base
        self.add(time, "rclcpp_publish", message=own + 10)
        self.add(time + 500, "rcl_publish", publisher_handle=own + 4, message=own + 10)
        stamp = EPOCH + time + 1500
        self.add(
            time + 1000,
            "rmw_publish",
            rmw_publisher_handle=own + 3,
            message=own + 10,
            timestamp=stamp,
        )
        return stamp

    def take(self, time: int, stamp: int) -> None:
        own = self.base
        self.add(
            time,
            "rmw_take",
            rmw_subscription_handle=own + 5,
            message=own + 11,
            source_timestamp=stamp,
            taken=1,
        )
        self.add(time + 500, "rcl_take", message=own + 11)

    def begin(self, time: int) -> None:
        self.add(time, "callback_start", callback=self.base + 8)

    def end(self, time: int) -> None:
        self.add(time, "callback_end", callback=self.base + 8)
        self.add(time + 1000, "rclcpp_executor_wait_for_work", timeout=-1)


def write(folder: Path, version: Version) -> tuple[list[int], int]:
    """Writes the recording. Returns the latencies from the driver to the planner, and how many
    messages of the other driver the filter received.
    """
    chance = random.Random(1)
    writer = Writer(version)
    driver, other, filter_, planner = (
        Node(writer, 100 + 10 * i, name)
        for i, name in enumerate(("driver", "other", "filter", "planner"))
    )
    driver.publisher("/points")
    driver.timer(PERIOD)
    other.publisher("/points")
    other.timer(2 * PERIOD)
    filter_.subscription("/points")
    filter_.publisher("/objects")
    planner.subscription("/objects")
    latencies = []
    foreign = 0
    for number in range(COUNT):
        time = 100 * MS + number * PERIOD
        sent = time + 300_000 + chance.randrange(100_000)
        driver.begin(time)
        stamp = driver.publish(sent)
        driver.end(sent + 20_000)
        if number % 2 == 0:  # within 60 µs of the driver's, but not during its call
            moment = sent + 30_000 + chance.randrange(30_000)
            other.begin(moment - 10_000)
            its = other.publish(moment)
            other.end(moment + 15_000)
            begin = time + 10 * MS
            filter_.take(begin, its)
            filter_.begin(begin + 1000)
            filter_.end(begin + 200_000)
            foreign += 1
        begin = sent + 400_000 + chance.randrange(1 * MS)
        filter_.take(begin, stamp)
        filter_.begin(begin + 1000)
        second = filter_.publish(begin + 700_000)
        filter_.end(begin + 800_000)
        if number % 10 == 9:
            continue  # the planner does not get it
        begin += 1 * MS + chance.randrange(1 * MS)
        planner.take(begin, second)
        planner.begin(begin + 1000)
        planner.end(begin + 100_000)
        latencies.append(begin + 1000 - sent)
    writer.write(folder)
    return latencies, foreign


@pytest.mark.parametrize(("distribution", "version"), DISTRIBUTIONS.items())
def test_nodes_callbacks_edges_and_latencies_are_the_truth(
    tmp_path: Path, distribution: str, version: Version
) -> None:
    latencies, foreign = write(tmp_path / "trace", version)
    trace = str(tmp_path / "trace")
    document = pipeline.info([trace])
    assert {node["name"] for node in document["nodes"]} == {
        "/driver",
        "/other",
        "/filter",
        "/planner",
    }
    assert {callback["node"]: callback["count"] for callback in document["callbacks"]} == {
        "/driver": COUNT,
        "/other": COUNT // 2,
        "/filter": COUNT + foreign,
        "/planner": len(latencies),
    }
    anomalies = document["anomalies"]
    assert anomalies["takes_without_publication"] == anomalies["ambiguous_takes"] == 0
    by_time = 0 if version >= (8, 0) else COUNT + foreign + len(latencies)
    assert anomalies["takes_matched_by_time"] == by_time
    assert any("by order and time" in line for line in document["warnings"]) == bool(by_time)
    model = tmp_path / "model.json"
    assert run_takt("model", trace, "-o", model).returncode == 0
    edges = {(edge["from"], edge["to"]) for edge in json.loads(model.read_text())["edges"]}
    assert edges == {
        ("/driver:timer-20ms", "/filter:/points"),
        ("/other:timer-40ms", "/filter:/points"),
        ("/filter:/points", "/planner:/objects"),
    }
    done = run_takt("flow", trace, "--from", "/driver", "--to", "/planner", "--json")
    (flow,) = json.loads(done.stdout)["flows"]
    assert flow["count"] == len(latencies)
    assert (flow["min"], flow["max"]) == (min(latencies), max(latencies))
