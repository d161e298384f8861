"""The same exchange by Fast DDS, over UDP alone: a process for each end of each stream."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from takt import loopback
from takt.errors import UserError

from .namespaces import ADDRESSES, PATIENCE, Arrival, Stream, inside

PROGRAM = Path(__file__).with_name("dds_end.py")
# What is under way when the senders have ended.
GRACE = 2.0


def is_there() -> bool:
    return importlib.util.find_spec("rclpy") is not None


def exchange(names: tuple[str, str], streams: Sequence[Stream]) -> list[Arrival]:
    """What arrived, in its order."""
    with tempfile.TemporaryDirectory(prefix="takt-dds-") as folder, contextlib.ExitStack() as stack:
        environments = [_environment(Path(folder), address) for address in ADDRESSES]

        def start(end: int, action: str, *words: object) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [
                    *inside(names[end], names),
                    *(sys.executable, str(PROGRAM), action, *map(str, words)),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environments[end],
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        receivers = [start(1, "receive", number) for number in range(len(streams))]
        for receiver in receivers:
            assert receiver.stdout is not None
            said = receiver.stdout.readline().strip()
            if said != "ready":
                raise UserError(f"a node did not start: {said}")
        senders = [
            start(0, "send", number, stream.size, stream.count, stream.interval)
            for number, stream in enumerate(streams)
        ]
        limited = [s for s, stream in zip(senders, streams, strict=True) if stream.count > 0]
        for sender in limited:
            sender.wait(timeout=PATIENCE)
        time.sleep(GRACE)
        for sender in senders:
            if sender not in limited:
                sender.communicate(input="", timeout=PATIENCE)
        outputs = [receiver.communicate(input="", timeout=PATIENCE)[0] for receiver in receivers]
    lines = [line for output in outputs for line in output.splitlines()]
    arrivals = [Arrival(*map(int, line.split())) for line in lines]
    return sorted(arrivals, key=lambda arrival: arrival.arrived)


def _environment(folder: Path, address: str) -> dict[str, str]:
    """Of a node that speaks by the link alone: loopback's profile, with the link in its place."""
    profile = folder / f"{address}.xml"
    text = loopback.PROFILE.read_text(encoding="utf-8")
    white = f"<interfaceWhiteList><address>{address}</address></interfaceWhiteList>"
    locators = [f"<locator><udpv4><address>{one}</address></udpv4></locator>" for one in ADDRESSES]
    own = locators[ADDRESSES.index(address)]
    begin, rest = text.split("<interfaceWhiteList>", 1)
    rest = rest.split("</interfaceWhiteList>", 1)[1]
    middle, rest = rest.split("<metatrafficUnicastLocatorList>", 1)
    rest = rest.split("</initialPeersList>", 1)[1]
    profile.write_text(
        f"{begin}{white}{middle}<metatrafficUnicastLocatorList>{own}"
        f"</metatrafficUnicastLocatorList><initialPeersList>{''.join(locators)}"
        f"</initialPeersList>{rest}",
        encoding="utf-8",
    )
    environment = loopback.environment(os.environ)
    for name in ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"):
        if name in environment:
            environment[name] = str(profile)
    return environment
