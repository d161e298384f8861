"""The bridge between hosts: the program `takt-bridge` (ros/bridge), and what it says."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from takt.errors import UserError
from takt.processes import runtime
from takt.processes.signals import wake_on_signals
from takt.text.formatting import count, duration, grouped, printable
from takt.text.terminal import Part, Table

Json = dict[str, Any]

PATIENCE = 10.0
"""Seconds for the bridge to end."""
COMPLAINT = "takt-bridge: "
KEY_BYTES = 32


@dataclass(frozen=True)
class Request:
    file: str
    host: str
    seconds: float | None = None
    """None: until a signal."""
    priority: int = 0


def make_key(path: str) -> None:
    """Writes a new key that only its owner may read. UserError if the file is there already."""
    try:
        key = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise UserError(f"{path}: is there already; a key is not overwritten") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(key, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(KEY_BYTES) + "\n")
    except OSError as error:
        Path(path).unlink()  # made above: an empty key would be respected for ever
        raise UserError(f"{path}: cannot be written: {error.strerror}") from error


def run(request: Request, say: Callable[[str], None]) -> Json:
    """Bridges until the time is over or a signal comes, and calls `say` with what happens
    meanwhile. Returns the takt/bridge document. UserError if the bridge fails.
    """
    begin = time.monotonic()
    with _program(request) as program, wake_on_signals() as signals:
        stopped, complaint = _follow(program, signals, request.seconds, say)
        status = program.wait()
    if stopped is None:
        raise UserError(complaint or f"takt-bridge ended with status {status}")
    seconds = round(time.monotonic() - begin, 3)
    return {"format": "takt/bridge", "version": 1, "host": request.host, "seconds": seconds} | {
        name: value for name, value in stopped.items() if name != "event"
    }


def _follow(
    program: subprocess.Popen[bytes],
    signals: int,
    seconds: float | None,
    say: Callable[[str], None],
) -> tuple[Json | None, str]:
    """Passes what the program says on to `say` until the program ends; a signal or the end of the
    time makes it end. Returns its "stopped" event, None without one, and its last complaint.
    """
    assert program.stdin is not None
    assert program.stdout is not None
    assert program.stderr is not None
    stopped: Json | None = None
    complaint = ""
    unread = {program.stdout: b"", program.stderr: b""}
    end = None if seconds is None else time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(signals, selectors.EVENT_READ)
        for stream in unread:
            selector.register(stream, selectors.EVENT_READ)
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            ready = [key.fileobj for key, _ in selector.select(left)]
            for stream in [stream for stream in unread if stream in ready]:
                data = os.read(stream.fileno(), 1 << 16)
                *lines, unread[stream] = (unread[stream] + data).split(b"\n")
                if stream is program.stderr:
                    complaint = _complaint(lines) or complaint
                    if not data:
                        selector.unregister(stream)
                    continue
                for event in map(json.loads, lines):
                    stopped = event if event["event"] == "stopped" else stopped
                    for words in _words(event):
                        say(words)
                if not data:
                    rest = program.stderr.read().splitlines()
                    return stopped, _complaint(rest) or complaint
            # However much the program says, it ends in time.
            if signals not in ready and (end is None or time.monotonic() < end):
                continue
            if program.stdin.closed:
                program.kill()
                return stopped, complaint
            # The program ends when its input is closed.
            selector.unregister(signals)
            program.stdin.close()
            end = time.monotonic() + PATIENCE


def _complaint(lines: list[bytes]) -> str:
    """The last message of the program itself; its libraries may have written other lines."""
    said = [line.decode(errors="replace") for line in lines]
    return "".join(
        [line.removeprefix(COMPLAINT) for line in said if line.startswith(COMPLAINT)][-1:]
    )


def view(document: Json) -> list[Part]:
    """A takt/bridge document as tables."""
    sent = Table()
    for column in ("Sent", "To"):
        sent.add_column(column)
    for column in ("Taken", "Delivered", "Waiting", "Dropped", "Late", "p50", "p99", "Worst"):
        sent.add_column(column, right=True)
    for one in document["sent"]:
        latency = one["latency"] or {}
        sent.add_row(
            printable(one["topic"]),
            printable(one["to"]),
            *map(grouped, (one["taken"], one["delivered"], one["waiting"], _lost(one))),
            "" if one["late"] is None else grouped(one["late"]),
            *(duration(latency.get(key)) for key in ("p50", "p99", "max")),
        )
    received = Table()
    for column in ("Received", "From"):
        received.add_column(column)
    for column in ("Messages", "Published", "Dropped"):
        received.add_column(column, right=True)
    for one in document["received"]:
        numbers = (one["received"], one["published"], one["dropped"] + one["refused"])
        received.add_row(printable(one["topic"]), printable(one["from"]), *map(grouped, numbers))
    parts: list[Part] = []
    for table in (sent, received):
        if table.row_count:
            parts += [table, ""]
    parts += [printable(line) for line in _peers(document["peers"])]
    return parts


def _lost(topic: Json) -> int:
    """How many messages of a topic will never arrive."""
    return int(topic["missed"] + topic["dropped"] + topic["rejected"] + topic["too_large"])


def _peers(peers: list[Json]) -> Iterator[str]:
    for peer in peers:
        if not peer["connections"]:
            yield f"{peer['host']}: never connected"
            continue
        repeated = f"{100 * peer['packets_repeated'] / max(peer['packets_sent'], 1):.2g} %"
        refused = f", {count(peer['refused'], 'packet')} refused" if peer["refused"] else ""
        state = "" if peer["connected"] else ", lost at the end"
        yield (
            f"{peer['host']}: {count(peer['connections'], 'connection')}{state}, "
            f"{count(peer['packets_sent'], 'packet')} sent, {repeated} of them again{refused}"
        )


def _words(event: Json) -> Iterator[str]:
    """An event in lines for people."""
    match event["event"]:
        case "started":
            blocking = ""
            if event["blocking"] is not None:
                blocking = (
                    f"; a message waits {duration(event['blocking'])} at most for less urgent ones"
                )
            yield (
                f"{event['host']}: chunks of {grouped(event['chunk_bytes'])} bytes{blocking}; "
                f"{event['memory'] / 1e6:.1f} MB for messages at most"
            )
            if event["refusal"] is not None:
                yield f"warning: {event['refusal']}; messages will take longer than planned"
        case "peer":
            yield f"{event['host']}: {'connected' if event['connected'] else 'lost'}"
        case "notice":
            yield f"warning: {event['text']}"


@contextlib.contextmanager
def _program(request: Request) -> Iterator[subprocess.Popen[bytes]]:
    """The program in its own session, so that Ctrl-C reaches only us. It ends with the body."""
    program = subprocess.Popen(
        [str(runtime.bridge()), request.file, request.host, str(request.priority)],
        # What ROS 2 logs must not come between the program's lines.
        env=runtime.environment() | {"RCUTILS_LOGGING_USE_STDOUT": "0"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with program:
        try:
            yield program
        finally:
            program.kill()
