"""Latencies over time as MCAP, which Foxglove and PlotJuggler show.

Each chain has a topic, `/takt/latency/CHAIN`. It has a message for each instance at the time at
which the instance ended, with its latency and the parts of it, in milliseconds. Once a second
`/diagnostics` summarises the instances of each chain since the second before, as a
`diagnostic_msgs/msg/DiagnosticArray`. Messages are JSON with their schemas in the file, so no
viewer needs to know Takt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import takt
from takt import files, libraries
from takt.documents import losses
from takt.recordings import recording
from takt.text.parts import PARTS

Json = dict[str, Any]

SECOND = 1_000_000_000
DIAGNOSTICS = "/diagnostics"

_NUMBER = {"type": "number"}
_STRING = {"type": "string"}
_TIME = {
    "type": "object",
    "properties": {"sec": {"type": "integer"}, "nanosec": {"type": "integer"}},
}
_LATENCY = {
    "type": "object",
    "title": "takt/Latency",
    "properties": {
        "stamp": _TIME,
        "latency_ms": {**_NUMBER, "description": "from the start of the chain's first callback"},
        "goal_ms": {"type": ["number", "null"]},
        "parts_ms": {
            "type": "object",
            "description": "what the latency went into; they add up to it",
            "properties": dict.fromkeys(PARTS, _NUMBER),
        },
    },
}
_DIAGNOSTICS = {
    "type": "object",
    "title": "diagnostic_msgs/msg/DiagnosticArray",
    "properties": {
        "header": {"type": "object", "properties": {"stamp": _TIME, "frame_id": _STRING}},
        "status": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "level": {"type": "integer"},
                    "name": _STRING,
                    "message": _STRING,
                    "hardware_id": _STRING,
                    "values": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"key": _STRING, "value": _STRING},
                        },
                    },
                },
            },
        },
    },
}
OK, WARN, ERROR = range(3)
"""Levels of a diagnostic status."""


@dataclass
class _Second:
    """What happened to the instances of a chain within a second."""

    latencies: list[int] = field(default_factory=list)
    incomplete: int = 0


def write(traces: list[str], output: str, goals: str | None) -> Json:
    """Writes the file. Returns the takt/info document. Raises takt_native.InputError, UserError."""
    writer_of = _library()
    read = recording.read(traces, goals)
    model = json.loads(read.model.text)
    goal_of = {chain["id"]: chain.get("goal") for chain in model["chains"]}
    with files.replacement(output) as temporary, temporary.open("wb") as stream:
        writer = writer_of(stream)
        writer.start(profile="", library=f"takt {takt.__version__}")
        latency = writer.register_schema(
            "takt/Latency", "jsonschema", json.dumps(_LATENCY).encode()
        )
        diagnostics = writer.register_schema(
            _DIAGNOSTICS["title"], "jsonschema", json.dumps(_DIAGNOSTICS).encode()
        )
        channels = {
            name: writer.register_channel(topic, "json", latency)
            for name, topic in topics(goal_of).items()
        }
        status = writer.register_channel(DIAGNOSTICS, "json", diagnostics)
        rows = sorted(_instances(read.tables), key=lambda row: row["end"])
        for time, name, message in _messages(rows, goal_of):
            channel = status if name is None else channels[name]
            data = json.dumps(message, ensure_ascii=False).encode()
            writer.add_message(channel, log_time=time, publish_time=time, data=data)
        writer.add_metadata(
            "takt",
            {
                **{kind: str(read.info.get(kind, 0)) for kind in losses.KINDS},
                "warnings": "\n".join(read.info["warnings"]),
            },
        )
        writer.finish()
    return read.info


def topics(chains: Mapping[str, Any]) -> dict[str, str]:
    """A topic for each chain, made of the words of its name; a number is added where topics would
    be equal.
    """
    found: dict[str, str] = {}
    for name in chains:
        words = "_".join(re.findall(r"\w+", name, re.ASCII)) or "chain"
        topic = f"/takt/latency/{words}"
        number = 1
        while topic in found.values():
            number += 1
            topic = f"/takt/latency/{words}_{number}"
        found[name] = topic
    return found


def _library() -> Any:
    return libraries.optional("mcap.writer", "mcap,tables").Writer


def _instances(tables: Mapping[str, Any]) -> Iterator[Json]:
    """The instances of chains, each with its end and the sums of its parts."""
    parts: dict[int, dict[str, int]] = {}
    for part in tables["parts"].select(["flow", "kind", "duration"]).to_pylist():
        sums = parts.setdefault(part["flow"], dict.fromkeys(PARTS, 0))
        sums[part["kind"]] += part["duration"]
    for flow in tables["flows"].to_pylist():
        yield {
            **flow,
            "end": flow["start"] + flow["latency"],
            "parts": parts.get(flow["flow"], dict.fromkeys(PARTS, 0)),
        }


def _messages(
    rows: list[Json], goal_of: Mapping[str, int | None]
) -> Iterator[tuple[int, str | None, Json]]:
    """(time, chain, message) in the order of times; the chain of a diagnostic is None."""
    seconds = {name: _Second() for name in goal_of}
    due = rows[0]["end"] + SECOND if rows else 0
    for row in rows:
        while row["end"] >= due:
            yield due, None, _diagnostics(due, seconds, goal_of)
            was_empty = not any(one.latencies or one.incomplete for one in seconds.values())
            seconds = {name: _Second() for name in goal_of}
            # A gap may last for years: it has one diagnostic.
            due += SECOND * ((row["end"] - due) // SECOND + 1 if was_empty else 1)
        second = seconds[row["chain"]]
        if not row["complete"]:
            second.incomplete += 1
            continue
        second.latencies.append(row["latency"])
        goal = goal_of[row["chain"]]
        yield (
            row["end"],
            row["chain"],
            {
                "stamp": _stamp(row["end"]),
                "latency_ms": row["latency"] / 1e6,
                "goal_ms": None if goal is None else goal / 1e6,
                "parts_ms": {kind: time / 1e6 for kind, time in row["parts"].items()},
            },
        )
    if rows:
        yield due, None, _diagnostics(due, seconds, goal_of)


def _stamp(time: int) -> Json:
    return {"sec": time // SECOND, "nanosec": time % SECOND}


def _diagnostics(
    time: int, seconds: Mapping[str, _Second], goal_of: Mapping[str, int | None]
) -> Json:
    return {
        "header": {"stamp": _stamp(time), "frame_id": ""},
        "status": [_status(name, second, goal_of[name]) for name, second in seconds.items()],
    }


def _status(name: str, second: _Second, goal: int | None) -> Json:
    count = len(second.latencies)
    longest = max(second.latencies, default=0)
    late = 0 if goal is None else sum(latency > goal for latency in second.latencies)
    level, message = OK, "no instance" if count == 0 else f"longest {longest / 1e6:.3f} ms"
    if late:
        assert goal is not None
        level, message = ERROR, f"{late} of {count} above {goal / 1e6:.3f} ms, {message}"
    elif count == 0:
        level = WARN
    values = {
        "instances": count,
        "incomplete": second.incomplete,
        "longest_ms": f"{longest / 1e6:.6f}",
        "late": late,
    }
    return {
        "level": level,
        "name": f"takt: {name}",
        "message": message,
        "hardware_id": "",
        "values": [{"key": key, "value": str(value)} for key, value in values.items()],
    }
