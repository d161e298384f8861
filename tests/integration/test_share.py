"""Topics in shared memory: stock programs of rclpy that say what they sent and heard."""

from __future__ import annotations

import fcntl
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from recording import PROGRAMS, TAKT, until

SHARE = [*TAKT, "share", "--"]
RCLCPP = Path(__file__).resolve().parents[2] / "build/release/tests/programs/rclcpp_sharing"
needs_rclcpp = pytest.mark.skipif(
    not RCLCPP.exists(), reason="CMake found no rclcpp, so its programs are not built"
)
EXECUTORS = [pytest.param(name, marks=needs_rclcpp) for name in ("single", "multi", "events")]
"""Of stock rclcpp."""
libraries = pytest.mark.parametrize("library", ["rclpy", *EXECUTORS], indirect=True)
"""Programs of rclpy, or of an executor of rclcpp."""
ALL_SEALS = 0x17  # F_SEAL_SEAL, _SHRINK, _GROW, _FUTURE_WRITE


@pytest.fixture
def meeting() -> Iterator[Path]:
    """A folder of its own for the sockets, with a short name, that must be empty at the end."""
    before = set(Path("/dev/shm").iterdir())
    with tempfile.TemporaryDirectory(prefix="takt-") as name:
        yield Path(name)
        left = [str(path) for path in Path(name).rglob("*") if not path.is_dir()]
        assert left == []
    # What other programs have there comes and goes.
    assert not [path for path in set(Path("/dev/shm").iterdir()) - before if "takt" in path.name]


class Program:
    """A running program, and the lines that it has printed."""

    def __init__(self, meeting: Path, *words: str, shared: bool = True) -> None:
        command = [*(SHARE if shared else []), *words]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"XDG_RUNTIME_DIR": str(meeting), "ROS_DOMAIN_ID": "86"},
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.strip())

    def tell(self, line: str) -> None:
        """Has a talker do something, and waits until it is done."""
        known = self.lines.count(line)
        self.write(line)
        until(lambda: self.lines.count(line) > known)

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def heard(self, topic: str, name: str) -> list[int]:
        """The numbers of the messages that a listener has heard, in its order; all are whole."""
        lines = [line.split() for line in self.lines if line.startswith(f"{topic} {name} ")]
        assert all(line[3] == "whole" for line in lines)
        return [int(line[2]) for line in lines]

    def hears(self, name: str, last: int) -> list[int]:
        """Waits until it has heard message `last` on both topics; returns what it heard of both,
        which is the same.
        """
        for topic in ("text", "image"):
            until(lambda topic=topic: last in self.heard(topic, name)[-1:])  # type: ignore[misc]
        assert self.heard("text", name) == self.heard("image", name)
        return self.heard("image", name)

    def end(self, how: int = signal.SIGTERM) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait()
        self._reader.join()


@pytest.fixture
def library(request: pytest.FixtureRequest) -> str:
    chosen: str = getattr(request, "param", "rclpy")
    return chosen


def command(library: str, program: str, *words: str) -> list[str]:
    if library == "rclpy":
        return [sys.executable, str(PROGRAMS / program), *words]
    if program == "sharing_listen.py":
        return [str(RCLCPP), "listen", library, *words[1:]]
    return [str(RCLCPP), "talk", *words]


@pytest.fixture
def start(meeting: Path, library: str) -> Iterator[Any]:
    with ExitStack() as started:

        def run(*words: str, shared: bool = True, of: str = library) -> Program:
            program = Program(meeting, *command(of, *words), shared=shared)
            started.callback(program.end)
            if words[0] == "sharing_listen.py":
                until(lambda: "ready" in program.lines)
            return program

        yield run


def sharing(meeting: Path) -> dict[str, list[dict[str, Any]]]:
    """The ends of each topic, as takt share --status says."""
    done = subprocess.run(
        [*TAKT, "share", "--status", "--json"],
        env=os.environ | {"XDG_RUNTIME_DIR": str(meeting)},
        stdout=subprocess.PIPE,
        check=True,
    )
    return {topic["topic"]: topic["ends"] for topic in json.loads(done.stdout)["topics"]}


def publishers(meeting: Path, topic: str = "/image") -> list[dict[str, Any]]:
    return [end for end in sharing(meeting)[topic] if end["end"] == "publisher"]


def publisher(meeting: Path, topic: str = "/image") -> dict[str, Any]:
    (found,) = publishers(meeting, topic)
    return found


def taken(meeting: Path, topic: str = "/image") -> int:
    """How many messages came through shared memory."""
    ends = sharing(meeting)[topic]
    return sum(end["taken"] for end in ends if end["end"] == "subscription")


def through(first: int, last: int) -> list[int]:
    return list(range(first, last + 1))


@libraries
def test_messages_come_once_in_order_and_whole(meeting: Path, start: Any) -> None:
    listener, talker = start("sharing_listen.py"), start("sharing_talk.py", "a", "300000")
    talker.tell("matched 1")
    talker.tell("publish 100")
    assert listener.hears("a", 100) == through(1, 100)
    for topic in ("/text", "/image"):
        assert publisher(meeting, topic)["shared"]
        assert taken(meeting, topic) > 50  # the first ones come by the middleware


@pytest.mark.parametrize(
    "executor", ["rclpy.executors.MultiThreadedExecutor", "takt.executors.EventsExecutor"]
)
def test_other_executors_are_woken(meeting: Path, start: Any, executor: str) -> None:
    listener, talker = start("sharing_listen.py", executor), start("sharing_talk.py", "a", "10000")
    hears_each(meeting, listener, talker)


@pytest.mark.parametrize("library", EXECUTORS, indirect=True)
def test_executors_of_rclcpp_are_woken(meeting: Path, start: Any) -> None:
    hears_each(meeting, start("sharing_listen.py"), start("sharing_talk.py", "a", "10000"))


@pytest.mark.parametrize("library", EXECUTORS, indirect=True)
def test_rclcpp_and_rclpy_share_with_each_other(meeting: Path, start: Any) -> None:
    listener, other = start("sharing_listen.py"), start("sharing_listen.py", of="rclpy")
    talkers = {
        "a": start("sharing_talk.py", "a", "10000"),
        "b": start("sharing_talk.py", "b", "10000", of="rclpy"),
    }
    for talker in talkers.values():
        talker.tell("matched 2")
        talker.tell("publish 50")
    for name in talkers:
        assert listener.hears(name, 50) == other.hears(name, 50) == through(1, 50)
    assert all(end["shared"] for end in publishers(meeting))


def hears_each(meeting: Path, listener: Program, talker: Program) -> None:
    talker.tell("matched 1")
    talker.tell("publish 20")
    listener.hears("a", 20)
    for number in range(21, 51):  # nothing comes after it that would make up for a lost wake-up
        talker.tell("publish 1")
        assert listener.hears("a", number) == through(1, number)
    for topic in ("/text", "/image"):
        assert publisher(meeting, topic)["shared"]
        assert taken(meeting, topic) > 30


@libraries
def test_a_foreign_subscription_comes_and_goes(meeting: Path, start: Any) -> None:
    listener, talker = start("sharing_listen.py"), start("sharing_talk.py", "a", "1000")
    talker.tell("matched 1")
    talker.tell("publish 20")
    last = 20
    for _ in range(3):
        foreign = start("sharing_listen.py", shared=False)
        talker.tell("matched 2")
        talker.tell("publish 20")
        assert foreign.hears("a", last + 20) == through(last + 1, last + 20)
        assert not publisher(meeting)["shared"]
        foreign.end()
        talker.tell("matched 1")
        talker.tell("publish 20")
        last += 40
    assert listener.hears("a", last) == through(1, last)
    assert publisher(meeting)["shared"]


@libraries
def test_two_publishers_and_two_subscriptions(meeting: Path, start: Any) -> None:
    listeners = [start("sharing_listen.py"), start("sharing_listen.py")]
    talkers = {name: start("sharing_talk.py", name, "50000") for name in "ab"}
    for _ in range(2):
        for talker in talkers.values():
            talker.tell("matched 2")
            talker.tell("publish 25")
    for listener in listeners:
        for name in talkers:
            assert listener.hears(name, 50) == through(1, 50)
    ends = sharing(meeting)["/image"]
    assert all(end["shared"] for end in ends if end["end"] == "publisher")
    assert [end["shared"] for end in ends if end["end"] == "subscription"] == [2, 2]


@libraries
def test_a_killed_publisher_has_said_what_it_said(meeting: Path, start: Any) -> None:
    listener = start("sharing_listen.py")
    for name in "abc":
        talker = start("sharing_talk.py", name, "100000")
        talker.tell("matched 1")
        talker.tell("publish 30")
        talker.end(signal.SIGKILL)
        assert listener.hears(name, 30) == through(1, 30)
    until(lambda: [end["joined"] for end in sharing(meeting)["/image"]] == [0])
    # Whoever looks for publishers removes the files of the killed ones.
    start("sharing_listen.py")


def test_a_killed_publisher_is_forgotten_where_nobody_waits(meeting: Path, start: Any) -> None:
    """This executor is told of messages: it never asks whether there is one, as a wait does."""
    listener = start("sharing_listen.py", "takt.executors.EventsExecutor")
    talker = start("sharing_talk.py", "a", "10000")
    hears_each(meeting, listener, talker)
    talker.end(signal.SIGKILL)
    until(lambda: [end["joined"] for end in sharing(meeting)["/image"]] == [0])
    # Whoever looks for publishers removes the files of the killed one.
    start("sharing_listen.py")


@libraries
def test_a_killed_subscription_is_no_loss_for_others(meeting: Path, start: Any) -> None:
    listener, talker = start("sharing_listen.py"), start("sharing_talk.py", "a", "100000")
    talker.tell("matched 1")  # or all may be sent before they have found each other
    last = 0
    for _ in range(2):
        other = start("sharing_listen.py")
        talker.tell("publish 20")
        other.end(signal.SIGKILL)
        talker.tell("publish 20")
        last += 40
    assert listener.hears("a", last) == through(1, last)
    assert publisher(meeting)["joined"] == 1


@pytest.mark.parametrize("victim", ["sharing_talk.py", "sharing_listen.py"])
def test_whoever_is_killed_at_any_moment_leaves_the_others_whole(
    meeting: Path, start: Any, victim: str
) -> None:
    """Also while it meets the others. What is heard of it has no gap, and nothing twice."""
    dice = random.Random(os.environ.get("TAKT_SEED", "1"))
    listener, talker = start("sharing_listen.py"), start("sharing_talk.py", "a", "100000")
    talker.tell("matched 1")
    for number in range(1, 1 + int(os.environ.get("TAKT_KILLS", "5"))):
        if victim == "sharing_talk.py":
            other = start(victim, f"v{number}", "50000")
            other.tell("matched 1")
            other.write("publish 900")
        else:
            other = start(victim)
        talker.tell("publish 10")
        time.sleep(dice.uniform(0, 0.3))
        other.end(signal.SIGKILL)
        talker.tell("publish 10")
        assert listener.hears("a", 20 * number) == through(1, 20 * number)
        for topic in ("text", "image"):
            heard = listener.heard(topic, f"v{number}")
            assert heard == through(1, len(heard))
    until(lambda: publisher(meeting)["joined"] == 1)
    start("sharing_listen.py")  # removes what the killed ones left


def test_a_message_that_cannot_be_sent_changes_nothing(meeting: Path, start: Any) -> None:
    program = start("sharing_refused.py")
    until(lambda: sum(end["joined"] for end in sharing(meeting).get("/numbers", [])) == 2)
    program.write("begin")
    until(lambda: len(program.lines) > 0)
    assert [int(number) for number in program.lines[0].split()] == through(1, 60)
    assert taken(meeting, "/numbers") > 50


def test_a_publisher_that_writes_nonsense_keeps_nobody_from_the_middleware(
    meeting: Path, start: Any
) -> None:
    """It stands in the place of a publisher, and says that it has published without end."""
    talker = start("sharing_talk.py", "a", "1000")
    talker.tell("matched 0")
    places = sharing_places(meeting)
    assert len(places) == 2
    with ExitStack() as made:
        listening = [made.enter_context(standing_in(path)) for path in places]
        listener = start("sharing_listen.py")
        for one in listening:
            made.enter_context(endless_ring(one))
        until(lambda: {end["joined"] for end in listening_ends(meeting)} == {1})
        talker.tell("matched 1")
        talker.tell("publish 20")
        assert listener.hears("a", 20) == through(1, 20)


@contextmanager
def standing_in(path: Path) -> Iterator[socket.socket]:
    """A socket in the place of another one, until the end."""
    moved = path.rename(path.with_name("moved." + path.name))
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(path))
        listening.listen()
        yield listening
    moved.rename(path)


@contextmanager
def endless_ring(listening: socket.socket) -> Iterator[None]:
    """Hands the ring of a publisher (libtakt/memory) to the subscription that connects: its newest
    message has the largest number.
    """
    packet, hello = struct.Struct("=IIQ"), 0x74616B31
    connection, _ = listening.accept()
    kind, _, depth = packet.unpack(connection.recv(packet.size))
    assert kind == hello
    ring = os.memfd_create("ring", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.posix_fallocate(ring, 0, 64 * (2 + depth + 1))
    os.pwrite(ring, b"\xff" * 8, 0)
    fcntl.fcntl(ring, fcntl.F_ADD_SEALS, ALL_SEALS)
    socket.send_fds(connection, [packet.pack(hello + 1, 0, depth)], [ring])
    with connection, os.fdopen(ring):
        yield


def listening_ends(meeting: Path) -> list[dict[str, Any]]:
    ends = (end for ends in sharing(meeting).values() for end in ends)
    return [end for end in ends if end["end"] == "subscription" and "joined" in end]


def test_a_publisher_that_could_not_be_reached_is_tried_again(meeting: Path, start: Any) -> None:
    """It is stopped, and others wait until it accepts them. Messages of another come meanwhile."""
    talker = start("sharing_talk.py", "a", "1000")
    talker.tell("matched 0")
    places = sharing_places(meeting)
    busy = start("sharing_talk.py", "b", "1000")
    busy.tell("matched 0")
    talker.process.send_signal(signal.SIGSTOP)
    with ExitStack() as waiting:
        for path in places:
            with suppress(BlockingIOError):
                while True:
                    other = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                    waiting.enter_context(other).setblocking(False)
                    other.connect(str(path))
        listener = start("sharing_listen.py")
        busy.tell("matched 1")
        busy.write("publish 1000000")
        until(lambda: len(listener.heard("image", "b")) > 100)
    talker.process.send_signal(signal.SIGCONT)
    talker.tell("matched 1")
    until(lambda: {end["joined"] for end in publishers(meeting)} == {1})
    busy.end(signal.SIGKILL)
    talker.tell("publish 20")
    assert listener.hears("a", 20) == through(1, 20)
    start("sharing_listen.py")  # removes what the killed one left


def sharing_places(meeting: Path) -> list[Path]:
    """The sockets of the publishers."""
    places = (meeting / "takt" / "share").iterdir()
    return [path for path in places if not path.name.startswith("status")]


def test_the_status_is_that_of_now(meeting: Path, start: Any) -> None:
    """Also where nothing is published since somebody came or went."""
    start("sharing_listen.py")
    talker = start("sharing_talk.py", "a", "1000")
    talker.tell("matched 1")
    talker.tell("publish 20")
    assert publisher(meeting)["shared"]
    foreign = start("sharing_listen.py", shared=False)
    talker.tell("matched 2")
    assert (publisher(meeting)["shared"], publisher(meeting)["matched"]) == (False, 2)
    foreign.end()
    talker.tell("matched 1")
    assert publisher(meeting)["matched"] == 1


def test_the_status_has_all_ends(meeting: Path, start: Any) -> None:
    many = start("sharing_many.py", "500")
    until(lambda: "ready" in many.lines)
    found = sharing(meeting)
    assert {f"/topic_{number}" for number in range(500)} <= set(found)


@libraries
def test_what_is_not_shared_says_why(meeting: Path, start: Any) -> None:
    listener = start("sharing_listen.py")
    talker = start("sharing_talk.py", "a", "1000", "keep_all")
    talker.tell("matched 1")
    talker.tell("publish 10")
    assert listener.hears("a", 10) == through(1, 10)
    assert publisher(meeting)["why_not"] == "it keeps all messages"
    assert taken(meeting) == 0


@libraries
def test_transient_local_topics_are_shared_and_late_joiners_get_what_was_before(
    meeting: Path, start: Any
) -> None:
    executor = "rclpy.executors.SingleThreadedExecutor"
    talker = start("sharing_talk.py", "a", "50000", "transient_local")
    talker.tell("publish 20")
    listener = start("sharing_listen.py", executor, "transient_local")
    assert listener.hears("a", 20) == through(1, 20)
    until(lambda: publisher(meeting)["joined"] == 1)
    volatile = start("sharing_listen.py")
    until(lambda: publisher(meeting)["joined"] == 2)
    talker.tell("matched 2")
    talker.tell("publish 20")
    assert listener.hears("a", 40) == through(1, 40)
    assert volatile.hears("a", 40) == through(21, 40)
    assert taken(meeting) > 20  # the first of each proves that it is matched
    assert (publisher(meeting)["shared"], publisher(meeting)["latched"]) == (True, True)
    foreign = start("sharing_listen.py", executor, "transient_local", shared=False)
    assert foreign.hears("a", 40) == through(1, 40)
    late = start("sharing_listen.py", executor, "transient_local")
    assert late.hears("a", 40) == through(1, 40)
    talker.tell("publish 10")
    for one in (listener, foreign, late):
        assert one.hears("a", 50) == through(1, 50)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "give either a command, after --, or --status"),
        (["--status", "--", "true"], "give either a command, after --, or --status"),
        (["--json", "--", "true"], "--json goes with --status"),
        (["--status", "--topics", "x"], "--topics goes with a command"),
        (["--", "/no/such/program"], "/no/such/program: No such file or directory"),
    ],
)
def test_mistakes(meeting: Path, arguments: list[str], says: str) -> None:
    done = subprocess.run(
        [*TAKT, "share", *arguments],
        env=os.environ | {"XDG_RUNTIME_DIR": str(meeting)},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, f"takt: {says}\n")


def test_other_programs_are_left_alone(meeting: Path) -> None:
    done = subprocess.run(
        [*SHARE, "sh", "-c", "echo out; exit 3"],
        env=os.environ | {"XDG_RUNTIME_DIR": str(meeting)},
        stdout=subprocess.PIPE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, b"out\n")
