"""The same exchange by Fast DDS, over UDP alone: a process for each end of each stream."""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from takt import loopback
from takt.errors import UserError

from .namespaces import ADDRESSES, PATIENCE, Arrival, Stream, inside

FAST_DDS = "http://www.eprosima.com"
"""The name space of its profiles."""
PROGRAM = Path(__file__).with_name("dds_end.py")
GRACE = 2.0
"""Seconds for messages to arrive that are still under way when their senders have ended."""


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
    """The environment of a node that speaks by the link alone. Its profile is the loopback one with
    the link's addresses.
    """
    ElementTree.register_namespace("", FAST_DDS)
    document = ElementTree.parse(loopback.PROFILE)
    for own in document.iter(f"{{{FAST_DDS}}}address"):
        own.text = address
    peers = next(document.iter(f"{{{FAST_DDS}}}initialPeersList"))
    for other in set(ADDRESSES) - {address}:
        peer = copy.deepcopy(peers[0])
        next(peer.iter(f"{{{FAST_DDS}}}address")).text = other
        peers.append(peer)
    profile = folder / f"{address}.xml"
    document.write(profile, encoding="utf-8", xml_declaration=True)
    environment = loopback.environment(os.environ)
    for name in ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"):
        if name in environment:
            environment[name] = str(profile)
    return environment
