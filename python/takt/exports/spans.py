"""The worst instances of chains as spans of OpenTelemetry, in OTLP's JSON encoding.

Each instance is a trace of its own: a span for the chain, and below it one for each part of its
latency, which follow each other without a gap. The encoding is that of the OTLP specification
(opentelemetry.io, "OTLP Specification", JSON Protobuf Encoding): identifiers in hexadecimal, 64-bit
numbers as texts, enumerations as numbers. The library for it would bring protobuf for these lines,
and its own mapping to JSON is another one (identifiers in base64).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import takt
from takt import files, inputs
from takt.recordings import labels, recording
from takt.text.parts import PARTS

Json = dict[str, Any]

WORST = 10
"""Instances of each chain, unless somebody asks for another number."""

_INTERNAL = 1
"""SPAN_KIND_INTERNAL."""
_ERROR = 2
"""STATUS_CODE_ERROR."""


def write(traces: list[str], output: str, goals: str | None, worst: int) -> tuple[Json, int]:
    """Writes the file: one line, a TracesData. Returns the takt/info document and how many
    instances were written. Raises takt_native.InputError, UserError.
    """
    read = recording.read(traces, goals)
    goal_of = {chain["id"]: chain.get("goal") for chain in json.loads(read.model.text)["chains"]}
    flows = _worst(read.tables["flows"].to_pylist(), worst)
    parts = _parts(read.tables, {flow["flow"] for flow in flows})
    callbacks = {row["callback"]: row for row in read.tables["callbacks"].to_pylist()}
    origin = hashlib.sha256(json.dumps(read.info["inputs"], sort_keys=True).encode()).digest()
    spans: list[Json] = []
    for flow in flows:
        spans += _spans(flow, parts.get(flow["flow"], []), callbacks, goal_of, origin)
    document = {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(_resource(traces, read.info))},
                "scopeSpans": [
                    {"scope": {"name": "takt", "version": takt.__version__}, "spans": spans}
                ],
            }
        ]
    }
    files.write_text(output, json.dumps(document, ensure_ascii=False) + "\n")
    return read.info, len(flows)


def _worst(flows: list[Json], most: int) -> list[Json]:
    """The slowest complete instances of each chain, chain by chain, the slowest first."""
    by_chain: dict[str, list[Json]] = {}
    for flow in flows:
        if flow["complete"]:
            by_chain.setdefault(flow["chain"], []).append(flow)
    return [
        flow
        for of_chain in by_chain.values()
        for flow in sorted(of_chain, key=lambda each: (-each["latency"], each["start"]))[:most]
    ]


def _parts(tables: Mapping[str, Any], wanted: set[int]) -> dict[int, list[Json]]:
    """The parts of some flows, in order of time, each with the callback whose run it is of."""
    runs = tables["runs"]["callback"].to_pylist()
    found: dict[int, list[Json]] = {}
    for part in tables["parts"].to_pylist():
        if part["flow"] in wanted:
            callback = None if part["run"] is None else runs[part["run"]]
            found.setdefault(part["flow"], []).append({**part, "callback": callback})
    return found


def _spans(
    flow: Json,
    parts: list[Json],
    callbacks: Mapping[int, Json],
    goal_of: Mapping[str, int | None],
    origin: bytes,
) -> Iterator[Json]:
    """The spans of an instance. The same recording gives the same identifiers."""

    def identifier(size: int, *what: object) -> str:
        text = json.dumps([flow["chain"], flow["start"], flow["flow"], *what])
        return hashlib.sha256(origin + text.encode()).hexdigest()[: 2 * size]

    def span(name: str, start: int, end: int, attributes: Json, *what: object) -> Json:
        return {
            "traceId": identifier(16),
            "spanId": identifier(8, "span", *what),
            "name": name,
            "kind": _INTERNAL,
            "startTimeUnixNano": str(start),
            "endTimeUnixNano": str(end),
            "attributes": _attributes(attributes),
        }

    chain, start, goal = flow["chain"], flow["start"], goal_of.get(flow["chain"])
    root = span(chain, start, start + flow["latency"], {"takt.chain": chain, "takt.goal_ns": goal})
    if goal is not None and flow["latency"] > goal:
        root["status"] = {"code": _ERROR, "message": f"above the goal of {goal / 1e6:g} ms"}
    yield root
    for number, part in enumerate(parts):
        callback = callbacks.get(part["callback"])
        behind = callbacks.get(part["behind"])
        name = PARTS[part["kind"]] + (f": {callback['name']}" if callback else "")
        yield {
            **span(
                name,
                start,
                start + part["duration"],
                {
                    "takt.kind": part["kind"],
                    "takt.step": part["step"],
                    "takt.callback": callback and callback["name"],
                    "takt.node": callback and callback["node"],
                    "takt.topic": callback and callback["topic"],
                    "takt.behind": behind and behind["name"],
                    "takt.preempted_by": part["preempted_by"],
                },
                number,
            ),
            "parentSpanId": root["spanId"],
        }
        start += part["duration"]


def _resource(traces: list[str], info: Json) -> Json:
    """What the recording says of itself: its name, its hosts, its labels."""
    told: Json = {"service.name": inputs.title(traces)}
    hosts = [host["name"] for host in info["hosts"] if host.get("name")]
    if len(hosts) == 1:
        told["host.name"] = hosts[0]
    given = labels.agreed(labels.read(traces))
    return told | {f"takt.label.{key}": value for key, value in given.items()}


def _attributes(values: Mapping[str, Any]) -> list[Json]:
    """Those that are known, as OTLP has them."""
    kinds = {int: "intValue", str: "stringValue"}
    return [
        {"key": key, "value": {kinds[type(value)]: str(value)}}
        for key, value in values.items()
        if value is not None
    ]
