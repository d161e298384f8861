"""DDS of what Takt starts: found by other processes of this machine, bound to nothing outside."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from takt import loopback

EXCHANGE = Path(__file__).parent / "programs" / "exchange.py"
LOOPBACK = ipaddress.ip_address("127.0.0.1")


def bound_addresses(pid: int) -> Iterator[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Local addresses of the internet sockets of a process (proc(5): /proc/pid/net/udp …)."""
    inodes = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed
            if match := re.fullmatch(r"socket:\[(\d+)\]", str(descriptor.readlink())):
                inodes.add(match[1])
    for table in ("udp", "udp6", "tcp", "tcp6", "raw", "raw6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            columns = line.split()
            if columns[9] in inodes:
                # Words of four bytes, each in the machine's byte order.
                words = re.findall("." * 8, columns[1].partition(":")[0])
                packed = b"".join(socket.htonl(int(word, 16)).to_bytes(4, "big") for word in words)
                yield ipaddress.ip_address(packed)


@pytest.fixture
def exchange(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """Two processes, one publishing what the other subscribes to."""
    # Settings that a user may have must have no effect.
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
    monkeypatch.setenv("ROS_STATIC_PEERS", "192.0.2.1")
    processes = {
        role: subprocess.Popen(
            [sys.executable, EXCHANGE, role],
            env=loopback.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for role in ("say", "hear")
    }
    yield processes
    for process in processes.values():
        process.communicate()


def test_processes_meet_on_the_loopback_interface_alone(
    exchange: dict[str, subprocess.Popen[str]],
) -> None:
    hear = exchange["hear"].stdout
    assert hear
    assert hear.readline() == "here\n"

    for role, process in exchange.items():
        addresses = set(bound_addresses(process.pid))
        assert addresses == {LOOPBACK}, role


def test_reader_of_bound_addresses_sees_other_interfaces() -> None:
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as everywhere:
        everywhere.bind(("::", 0))
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as here:
            here.bind(("127.0.0.1", 0))
            here.listen()
            found = {str(address) for address in bound_addresses(os.getpid())}
    assert {"::", "127.0.0.1"} <= found
