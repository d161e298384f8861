"""Traces as babeltrace2 reads them: the judge of what was recorded."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Event:
    clock: int
    """The trace clock, CLOCK_MONOTONIC, in nanoseconds."""
    name: str
    process: int
    thread: int
    program: str
    """Empty and 0 for events of the kernel."""
    fields: dict[str, Any]
    processor: int | None
    """None: the event does not say where it happened."""


def events(trace: Path, *, lossy: bool = False) -> list[Event]:
    """All events in the order of their times. Fails if babeltrace2 has anything to complain of,
    unless it is of events that the tracer says it has lost.
    """
    done = subprocess.run(
        ["babeltrace2", "--clock-cycles", "--no-delta", str(trace)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    complaints = [x for x in done.stderr.splitlines() if x]
    if lossy:
        complaints = [x for x in complaints if "discarded" not in x]
    assert not complaints, done.stderr
    return [_event(line) for line in done.stdout.splitlines()]


TICKED = "ros2:rclcpp_executor_wait_for_work"
"""The event that programs of the tests number, in its timeout."""


def ticks(trace: Path, process: int | None = None, *, lossy: bool = False) -> list[int]:
    """The numbers of the ticks of a process, or of all, in the order of their times."""
    return [
        event.fields["timeout"]
        for event in events(trace, lossy=lossy)
        if event.name == TICKED and process in (None, event.process)
    ]


def layouts(trace: Path) -> dict[str, list[str]]:
    """For each event in the trace's metadata, the declarations of its fields."""
    found: dict[str, list[str]] = {}
    for metadata in trace.rglob("metadata"):
        text = subprocess.run(
            ["babeltrace2", "-o", "ctf-metadata", str(metadata.parent)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name, body in re.findall(
            r'event \{\s*name = "([^"]+)";.*?fields := struct \{(.*?)\n\t\};', text, re.S
        ):
            found[name] = [" ".join(line.split()) for line in body.strip().splitlines()]
    return found


_LINE = re.compile(r"\[(\d+)\] \S+ (\S+): (.*)")


def _event(line: str) -> Event:
    matched = _LINE.fullmatch(line)
    assert matched, line
    clock, name, rest = matched.groups()
    structures = list(_structures(rest))
    # What comes before the fields: the processor, or process and thread, or both. An event without
    # fields has no structure of its own.
    context: dict[str, Any] = {}
    while structures and ("vpid" in structures[0] or "cpu_id" in structures[0]):
        context.update(structures.pop(0))
    fields = structures[0] if structures else {}
    process, thread = context.get("vpid", 0), context.get("vtid", 0)
    program = context.get("procname", "")
    return Event(int(clock), name, process, thread, program, fields, context.get("cpu_id"))


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],=]|[^\s{}\[\],="]+')


def _structures(text: str) -> Iterator[dict[str, Any]]:
    tokens = _TOKEN.findall(text)
    position = 0

    def value() -> Any:
        nonlocal position
        token = tokens[position]
        position += 1
        if token == "{":
            return structure()
        if token == "[":
            return array()
        if token.startswith('"'):
            return re.sub(r"\\(.)", r"\1", token[1:-1])
        return int(token, 0)

    def structure() -> dict[str, Any]:
        nonlocal position
        result = {}
        while tokens[position] != "}":
            if tokens[position] == ",":
                position += 1
            name = tokens[position]
            position += 2  # the name and "="
            result[name] = value()
        position += 1
        return result

    def array() -> list[Any]:
        nonlocal position
        result = []
        while tokens[position] != "]":
            if tokens[position] == ",":
                position += 1
            position += 4  # "[", the index, "]" and "="
            result.append(value())
        position += 1
        return result

    while position < len(tokens):
        if tokens[position] == ",":
            position += 1
        yield value()
