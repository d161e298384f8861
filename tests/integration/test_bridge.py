"""takt bridge between two hosts, which are network namespaces joined by a cable: ROS 2 is on the
loopback interface of each, and the bridge alone uses the cable.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bridged import End, Json, Network, digests, joined, needs_hosts, write_files
from recording import TAKT, until
from takt.live import bridging

MEGABYTE = 1_000_000

Make = Callable[..., contextlib.AbstractContextManager[Network]]


@pytest.fixture
def network(tmp_path: Path) -> Make:
    @contextlib.contextmanager
    def make(
        topics: list[Json], megabits: int | None = None, one_machine: bool = False
    ) -> Iterator[Network]:
        write_files(tmp_path, topics, one_machine)
        with joined(tmp_path, megabits, one_machine) as made:
            yield made

    return make


# Over a network, and through shared memory.
places = pytest.mark.parametrize("one_machine", [False, True], ids=["two machines", "one machine"])


def _discovered(end: End, topic: str, count: int = 1) -> None:
    """Waits until a topic has so many publishers, and a moment for those to find subscriptions."""
    until(lambda: len(end.offers(topic)) >= count)


@needs_hosts
@places
def test_messages_come_whole_and_once_in_both_directions(network: Make, one_machine: bool) -> None:
    topics = [
        {"topic": "/there", "from": "robot", "largest_message": "2MB"},
        {"topic": "/both", "from": "robot"},
        {"topic": "/both", "from": "base"},
    ]
    with network(topics, one_machine=one_machine) as net:
        robot, base = net.ends
        for end in net.ends:
            end.ask("subscribe", "/both")
        base.ask("subscribe", "/there")
        robot.ask("advertise", "/there")
        for end in net.ends:
            end.ask("advertise", "/both")
        bridges = net.bridges()
        # The bridge and, of /both, the node itself.
        robot.ask("matched", "/there", count=1)
        for end in net.ends:
            end.ask("matched", "/both", count=2)
        texts = ["a", "", "ü" * 100]
        robot.publish("/there", texts)
        robot.ask("fill", "/there", letters="xyz", length=MEGABYTE)
        whole = digests("xyz", MEGABYTE)
        base.hears("/there", [*texts, *whole])
        robot.publish("/both", ["from robot"])
        base.hears("/both", ["from robot"])
        base.publish("/both", ["from base"])
        robot.hears("/both", ["from robot", "from base"])
        base.hears("/both", ["from robot", "from base"])
        time.sleep(0.5)  # for messages that would come twice, or back
        assert len(robot.heard["/both"]) == len(base.heard["/both"]) == 2
        reports = [one.stop() for one in bridges]
        assert [len(end.heard["/both"]) for end in net.ends] == [2, 2]
    there = reports[0]["sent"][0]
    assert (there["topic"], there["taken"], there["delivered"]) == ("/there", 6, 6)
    assert there["dropped"] == there["waiting"] == there["too_large"] == 0
    assert 0 < there["latency"]["p50"] <= there["latency"]["max"]
    assert reports[1]["received"][0]["published"] == 6
    assert reports[0]["peers"][0]["connections"] == 1


@needs_hosts
def test_urgent_messages_overtake_a_large_transfer(network: Make) -> None:
    topics = [
        {"topic": "/map", "from": "robot", "priority": 1, "largest_message": "2MB"},
        {"topic": "/stop", "from": "robot", "priority": 2, "depth": 100},
    ]
    # A map takes 0.8 s.
    with network(topics, 10) as net:
        robot, base = net.ends
        for topic in ("/map", "/stop"):
            base.ask("subscribe", topic)
            robot.ask("advertise", topic)
        net.bridges()
        for topic in ("/map", "/stop"):
            robot.ask("matched", topic, count=1)
        robot.publish("/stop", ["first"])
        base.hears("/stop", ["first"])
        robot.ask("fill", "/map", letters="abcde", length=MEGABYTE)
        robot.publish("/stop", [str(n) for n in range(20)])
        base.hears("/map", digests("abcde", MEGABYTE))
        base.hears("/stop", ["first", *(str(n) for n in range(20))])
        last = base.order.index(("/stop", "19"))
        after = [topic for topic, _ in base.order[last + 1 :]]
        assert after, "the maps came first"


@needs_hosts
def test_late_joiners_get_the_last_messages_whatever_is_killed(network: Make) -> None:
    topics = [{"topic": "/map", "from": "robot", "depth": 2}]
    with network(topics) as net:
        robot, base = net.ends
        base.ask("subscribe", "/map", latched=True)
        robot.ask("advertise", "/map", latched=True, depth=2)
        robot.publish("/map", ["1", "2", "3"])
        bridges = net.bridges()
        base.hears("/map", ["2", "3"])
        assert base.offers("/map") == [["std_msgs/msg/String", "RELIABLE", "TRANSIENT_LOCAL"]]
        robot.publish("/map", ["4"])
        base.hears("/map", ["2", "3", "4"])
        late = End(net.names[1])
        net.ends.append(late)
        late.ask("subscribe", "/map", latched=True)
        late.hears("/map", ["3", "4"])

        # A restarted receiving bridge gets the messages that late joiners get.
        bridges[1].kill()
        anew = net.bridge("base")
        anew.says("robot: connected")
        later = End(net.names[1])
        net.ends.append(later)
        later.ask("subscribe", "/map", latched=True)
        later.hears("/map", ["3", "4"])

        # The node gives them to the restarted sending bridge again, and nobody gets them twice.
        bridges[0].kill()
        anew.says("robot: lost")
        net.bridge("robot").says("base: connected")
        robot.ask("matched", "/map", count=1)
        robot.publish("/map", ["5"])
        later.hears("/map", ["3", "4", "5"])
        report = anew.stop()
        assert report["received"][0]["published"] == 3


@needs_hosts
@places
def test_what_waits_for_a_killed_bridge_comes_once_and_in_order(
    network: Make, one_machine: bool
) -> None:
    topics = [{"topic": "/count", "from": "robot", "depth": 1000}]
    with network(topics, one_machine=one_machine) as net:
        robot, base = net.ends
        base.ask("subscribe", "/count")
        robot.ask("advertise", "/count")
        sender, receiver = net.bridges()
        robot.ask("matched", "/count", count=1)
        robot.publish("/count", [str(n) for n in range(50)])
        base.hears("/count", [str(n) for n in range(50)])
        receiver.kill()
        robot.publish("/count", [str(n) for n in range(50, 100)])
        sender.says("base: lost")
        receiver = net.bridge("base")
        receiver.says("robot: connected")
        robot.publish("/count", [str(n) for n in range(100, 150)])
        base.hears("/count", [str(n) for n in range(150)])
        sent = sender.stop()["sent"][0]
        # It may have ended before it learned that the last one came.
        assert (sent["taken"], sent["delivered"] + sent["waiting"]) == (150, 150)
        assert sent["waiting"] <= 1
        assert sent["dropped"] == 0
        assert receiver.stop()["received"][0]["published"] == 100


@needs_hosts
def test_a_cut_link_loses_nothing_that_has_room(network: Make) -> None:
    topics = [
        {"topic": "/all", "from": "robot", "depth": 1000},
        {"topic": "/newest", "from": "robot", "depth": 3},
    ]
    with network(topics) as net:
        robot, base = net.ends
        for topic in ("/all", "/newest"):
            base.ask("subscribe", topic)
            robot.ask("advertise", topic)
        bridges = net.bridges()
        for topic in ("/all", "/newest"):
            robot.ask("matched", topic, count=1)
            robot.publish(topic, ["0"])
            base.hears(topic, ["0"])
        cable = ["ip", "-n", net.names[0], "link", "set", "link0"]
        subprocess.run([*cable, "down"], check=True)
        for n in range(1, 21):
            robot.publish("/all", [str(n)])
            robot.publish("/newest", [str(n)])
            time.sleep(0.1)
        bridges[0].says("base: lost")
        subprocess.run([*cable, "up"], check=True)
        base.hears("/all", [str(n) for n in range(21)])
        until(lambda: base.heard["/newest"][-1] == "20")
        newest = [int(text) for text in base.heard["/newest"]]
        assert newest == sorted(set(newest))
        report = bridges[0].stop()
        dropped = {one["topic"]: one["dropped"] + one["missed"] for one in report["sent"]}
        assert dropped == {"/all": 0, "/newest": 21 - len(newest)}


@needs_hosts
def test_a_period_thins_a_topic_out_and_quality_is_as_offered(network: Make) -> None:
    topics = [{"topic": "/scan", "from": "robot", "period": "300ms", "latency": "1ns"}]
    with network(topics) as net:
        robot, base = net.ends
        robot.ask("advertise", "/scan", reliable=False)
        bridges = net.bridges()
        _discovered(base, "/scan")
        assert base.offers("/scan") == [["std_msgs/msg/String", "BEST_EFFORT", "VOLATILE"]]
        base.ask("subscribe", "/scan", reliable=False)
        robot.ask("matched", "/scan", count=1)
        begin = time.monotonic()
        for n in range(100):
            robot.publish("/scan", [str(n)])
            time.sleep(0.01)
        until(lambda: base.heard.get("/scan", [""])[-1] == "99")
        assert len(base.heard["/scan"]) <= (time.monotonic() - begin) / 0.3 + 2
        sent = bridges[0].stop()["sent"][0]
        assert sent["delivered"] == sent["late"] < sent["taken"]


@needs_hosts
def test_who_has_another_key_is_nobody(network: Make, tmp_path: Path) -> None:
    topics = [{"topic": "/a", "from": "robot"}]
    with network(topics) as net:
        robot = net.bridge("robot")
        robot.says("MB for messages")
        (tmp_path / "bridge.key").unlink()
        bridging.make_key(str(tmp_path / "bridge.key"))
        base = net.bridge("base")
        base.says("MB for messages")
        time.sleep(3)  # for many attempts of each
        reports = [robot.stop(), base.stop()]
        assert not any("connected" in line for line in robot.said + base.said)
    for report in reports:
        assert report["peers"][0]["connections"] == 0
        assert report["peers"][0]["refused"] > 0


def _complaint(*arguments: str) -> str:
    done = subprocess.run([*TAKT, "bridge", *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("takt: ")
    return line.removeprefix("takt: ")


FILE = """
key: bridge.key
hosts:
  a: {address: 127.0.0.1, port: 7500}
  b: {address: 127.0.0.1, port: 7501}
topics:
  - {topic: /a, from: a}
"""


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    file, key = tmp_path / "bridge.yaml", tmp_path / "bridge.key"
    assert "docs/link.md" in _complaint()
    assert _complaint(str(file), "--host", "a") == f"{file}: cannot be read"
    file.write_text(FILE.replace("from: a", "from: c"))
    assert _complaint(str(file), "--host", "a") == (
        f'{file}: topics[0].from: there is no host "c"; hosts has a, b'
    )
    file.write_text(FILE)
    assert "say with --host which of a, b this is" in _complaint(str(file), "--host", "c")
    assert str(key) in _complaint(str(file), "--host", "a")
    bridging.make_key(str(key))
    assert "is not overwritten" in _complaint("--make-key", str(key))
    key.chmod(0o644)
    assert "chmod 600" in _complaint(str(file), "--host", "a")
    key.chmod(0o600)
    file.write_text(FILE.replace("from: a", "from: a, type: nowhere_msgs/msg/Nothing"))
    assert "source the workspace that has the package" in _complaint(str(file), "--host", "a")
    file.write_text(FILE.replace("127.0.0.1", "192.0.2.1"))
    assert "192.0.2.1" in _complaint(str(file), "--host", "a")
