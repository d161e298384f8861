"""Two hosts, as two network namespaces with a cable between them, of which one has another clock:
it is off, and it drifts. takt flow recovers both within the uncertainty that it states.

The tracing library and the recorder read the skewed clock; the programs stamp their messages by the
true one, so the test knows what happened when.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import takt
from recording import PROGRAMS, TAKT

SHIM = Path(__file__).resolve().parents[2] / "build/release/tests/programs/skewed_clock.so"
COUNT = 60
OFFSET = 300_000_000
PPM = 1000

Json = dict[str, Any]

needs_hosts = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None,
    reason="network namespaces need root and the program ip",
)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[str, str]]:
    """The names of two namespaces, in one network of their own."""
    names = (f"takt-a-{os.getpid()}", f"takt-b-{os.getpid()}")
    made: list[str] = []
    try:
        for name in names:
            try:
                _run("ip", "netns", "add", name)
            except subprocess.CalledProcessError as error:
                pytest.skip(f"no network namespace can be made: {error.stderr.decode().strip()}")
            made.append(name)
        cable = ["type", "veth", "peer", "name", "eth0", "netns", names[1]]
        _run("ip", "link", "add", "eth0", "netns", names[0], *cable)
        for number, name in enumerate(names, 1):
            inside = ("ip", "-n", name)
            _run(*inside, "address", "add", f"10.77.0.{number}/24", "dev", "eth0")
            for link in ("lo", "eth0"):
                _run(*inside, "link", "set", link, "up")
            _run(*inside, "route", "add", "239.0.0.0/8", "dev", "eth0")
        yield names
    finally:
        for name in made:
            _run("ip", "netns", "delete", name)


def record(
    host: str, trace: Path, program: list[str], *, ends_with: int | None, skewed: bool
) -> subprocess.Popen[bytes]:
    """Records a program on a host, with shared memory and a name of its own."""
    environment = dict(os.environ)
    for name in ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"):
        environment.pop(name, None)
    environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SUBNET"
    if skewed:
        environment |= {
            "LD_PRELOAD": str(SHIM),
            "TAKT_SKEW_OFFSET": str(OFFSET),
            "TAKT_SKEW_PPM": str(PPM),
            "TAKT_SKEW_BEGIN": str(time.monotonic_ns()),
        }
    start = 'hostname "$0"; mount -t tmpfs tmpfs /dev/shm; out=$1; shift; exec "$@" > "$out"'
    inside = ["ip", "netns", "exec", host, "unshare", "--uts", "--ipc", "--mount"]
    takt_record = [*TAKT, "record", "--backend", "ring", "-o", str(trace), "--", *program]
    output = str(trace.with_suffix(".output"))
    return subprocess.Popen(
        [*inside, "sh", "-c", start, host, output, *takt_record],
        stdin=ends_with,
        stderr=subprocess.PIPE,
        env=environment,
    )


@dataclass(frozen=True)
class Recorded:
    document: Json
    """The takt/flow document of the flows from one host to the other."""
    begin: int
    """When the first event happened, by the clock of the first host."""
    sent: list[list[int]]
    """When each message was about to be sent, had been sent, and had come back."""
    handled: dict[int, int]
    """When the other host handled each message, by when it was about to be sent."""


@pytest.fixture(scope="module")
def recorded(hosts: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    if not SHIM.exists():
        pytest.skip("the library that skews clocks is not built")
    folder = tmp_path_factory.mktemp("hosts")
    python = shutil.which("python") or "python3"
    program = [python, str(PROGRAMS / "ping.py")]
    reading, writing = os.pipe()
    pong = record(hosts[1], folder / "b", [*program, "pong"], ends_with=reading, skewed=True)
    os.close(reading)
    ping = record(
        hosts[0], folder / "a", [*program, "ping", str(COUNT)], ends_with=None, skewed=False
    )
    told = ping.communicate()[1]
    os.close(writing)
    also_told = pong.communicate()[1]
    assert ping.returncode == 0, told.decode()
    assert pong.returncode == 0, also_told.decode()
    traces = [str(folder / name) for name in ("a", "b")]
    done = subprocess.run(
        [*TAKT, "flow", *traces, "--json", "--instances", "--to", "/pong"],
        capture_output=True,
        check=True,
    )
    events = takt.open(*traces).all_events()
    begin = min(int(batch.column("time")[0].as_py()) for _name, batch in events)
    sent = json.loads((folder / "a.output").read_text().splitlines()[0])
    handled = json.loads((folder / "b.output").read_text().splitlines()[0])
    return Recorded(json.loads(done.stdout), begin, sent, dict(handled))


@needs_hosts
def test_the_clocks_are_estimated(recorded: Recorded, hosts: tuple[str, str]) -> None:
    reference, other = recorded.document["clocks"]
    assert (reference["host"], other["host"]) == hosts
    assert reference["quality"] == "reference"
    assert other["quality"] == "accurate"
    assert other["messages"] == 2 * COUNT
    # The stated uncertainty is smaller than the injected offset; otherwise the test would prove
    # nothing.
    assert other["uncertainty"] < OFFSET


@needs_hosts
def test_every_message_is_placed_within_the_stated_uncertainty(recorded: Recorded) -> None:
    (flow,) = (f for f in recorded.document["flows"] if f["to"].startswith("/pong:/there"))
    assert flow["count"] == COUNT
    assert flow["path"][0]["node"] == "/ping"
    for instance, (before, after, _back) in zip(flow["instances"], recorded.sent, strict=True):
        uncertainty = instance["uncertainty"]
        assert 0 < uncertainty < OFFSET
        # The sender's clock is the reference, so this is exact.
        begin = recorded.begin + instance["begin"]
        assert before <= begin <= after
        # The receiver's is not: its callback ran around the moment that it tells.
        start, end = (recorded.begin + time for time in instance["times"][-1])
        assert start == begin + instance["latency"]
        assert start - uncertainty <= recorded.handled[before] <= end + uncertainty
