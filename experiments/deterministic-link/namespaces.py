"""Two network namespaces joined by a link of limited rate, and programs that talk over it."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from takt import built
from takt.errors import UserError

ADDRESSES = ("10.77.0.1", "10.77.0.2")
FRAGMENTS = ("net.ipv4.ipfrag_time=3", "net.ipv4.ipfrag_high_thresh=134217728")
# Above everything that computes on the machine, and the same for the programs of all methods.
PRIORITY = 30
# How long programs may take beyond what they send.
PATIENCE = 900


@dataclass(frozen=True)
class Arrival:
    """A message that came; times in ns of the one clock."""

    stream: int
    number: int
    size: int
    sent: int
    arrived: int

    @property
    def milliseconds(self) -> float:
        return (self.arrived - self.sent) / 1e6


@dataclass(frozen=True)
class Stream:
    """Messages of one size: `count`, one every `interval` microseconds, or without a count as many
    as possible until the others are sent."""

    priority: int
    size: int
    count: int = 0
    interval: int = 0

    def __str__(self) -> str:
        return f"{self.priority}:{self.size}:{self.count}:{self.interval}"


def program() -> Path:
    """The program. UserError if it is not built, or this user may not make namespaces."""
    found = built.path("link_experiment")
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise UserError("network namespaces need root and the program ip")
    return found


def _call(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(f"{' '.join(words)}: {done.stderr.strip()}")


def _wait_for_carrier(name: str) -> None:
    """Waits until the link is up for programs that look for running interfaces."""
    show = ["ip", "-n", name, "-o", "link", "show", "dev", "link0"]
    while " state UP " not in subprocess.run(show, capture_output=True, text=True).stdout:
        time.sleep(0.01)


@contextlib.contextmanager
def link(megabits: int | None) -> Iterator[tuple[str, str]]:
    """Yields the names of the namespaces. A token bucket limits both directions; None: no limit."""
    names = (f"takt-{os.getpid()}-a", f"takt-{os.getpid()}-b")
    try:
        for name in names:
            _call("ip", "netns", "add", name)
        end, other = (["name", "link0", "netns", name] for name in names)
        _call("ip", "link", "add", *end, "type", "veth", "peer", *other)
        for name, address in zip(names, ADDRESSES, strict=True):
            _call("ip", "-n", name, "addr", "add", f"{address}/24", "dev", "link0")
            # The documentation of ROS 2 advises this for large messages: the kernel soon gives up
            # datagrams that lack a part.
            _call("ip", "netns", "exec", name, "sysctl", "-qw", *FRAGMENTS)
            _call("ip", "-n", name, "link", "set", "lo", "up")
            _call("ip", "-n", name, "link", "set", "link0", "up")
            if megabits is not None:
                bucket = ["tbf", "rate", f"{megabits}mbit", "burst", "32kb", "limit", "4mb"]
                _call("tc", "-n", name, "qdisc", "add", "dev", "link0", "root", *bucket)
        for name in names:
            _wait_for_carrier(name)
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def exchange(
    names: tuple[str, str],
    method: str,
    streams: Sequence[Stream],
    chunk: int = 64 << 10,
    burst: int = 0,
) -> list[Arrival]:
    """What arrived, in its order, when `method` (takt, shared, tcp, udp) sent these streams."""
    words = [str(chunk), str(burst), *map(str, streams)]
    here, there = ADDRESSES
    one_host = method == "shared"

    def command(name: str, action: str, local: str, remote: str) -> list[str]:
        run = [*inside(name, names, one_host), str(program())]
        return [*run, action, method, local, remote, *words]

    with subprocess.Popen(
        command(names[1], "receive", there, here),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as receiver:
        try:
            _wait_for_socket(receiver, names[0 if one_host else 1])
            send = command(names[0], "send", here, there)
            subprocess.run(send, stdout=subprocess.DEVNULL, check=True, timeout=PATIENCE)
            output, _ = receiver.communicate(input="", timeout=PATIENCE)
        finally:
            receiver.kill()
    return [Arrival(*map(int, line.split())) for line in output.splitlines()]


def inside(name: str, names: tuple[str, str], one_host: bool = False) -> list[str]:
    """The command prefix for a program on one of the hosts. Each host has its own processors,
    because the kernel does the work of the wire on the sender's side, and that is more urgent than
    all threads there. `one_host`: both programs are on the first host, on the same processors as
    otherwise.
    """
    processors = sorted(os.sched_getaffinity(0))
    half = max(1, len(processors) // 2)
    own = processors[:half] if name == names[0] else processors[-half:]
    pinned = ["taskset", "-c", ",".join(map(str, own))]
    network = names[0] if one_host else name
    return ["ip", "netns", "exec", network, *pinned, "chrt", "-f", str(PRIORITY)]


@contextlib.contextmanager
def watched() -> Iterator[list[Arrival]]:
    """Yields a list that is filled at the end: when a processor (`stream`) did not run the most
    urgent thread.
    """
    stalls: list[Arrival] = []
    watcher = subprocess.Popen(
        [str(program()), "watch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with watcher:
        try:
            yield stalls
            output, _ = watcher.communicate(input="", timeout=PATIENCE)
        finally:
            watcher.kill()
    stalls += [Arrival(*map(int, line.split())) for line in output.splitlines()]


def _wait_for_socket(receiver: subprocess.Popen[str], name: str) -> None:
    """Waits until the receiver accepts connections."""
    sockets = ["ip", "netns", "exec", name, "ss", "-Htuxan"]
    while receiver.poll() is None:
        if subprocess.run(sockets, capture_output=True, text=True, check=True).stdout.strip():
            return
    raise UserError("the receiver ended; its message is above")
