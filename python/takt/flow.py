"""A `takt/flow` document for people: tables, and the story of one message."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from rich.table import Table

from takt.formatting import NONE, count, duration, grouped
from takt.tables import cell

Json = dict[str, Any]

STAGES = {
    "running": "running",
    "preempted": "preempted",
    "blocked": "blocked",
    "waiting_in_executor": "waiting in the executor",
    "waiting_for_timer": "waiting for the timer",
    "waiting_for_input": "waiting for the other input",
    "sending": "being sent",
    "in_transport": "in transport",
    "waiting_for_reservation": "waiting for the reservation",
}
"""The stages of a breakdown, in words."""

MOST_SHOWN = 30
"""The most paths that a table shows; the document has all."""


def table(flows: list[Json]) -> Table:
    """Latencies and what their means consist of, the worst first. With several pairs of ends it
    shows the worst path of each pair, with a single pair every path.
    """
    of_pair: dict[tuple[str, str], list[Json]] = {}
    for flow in flows:
        of_pair.setdefault((flow["from"], flow["to"]), []).append(flow)
    alone = len(of_pair) == 1
    shown = Table(box=None, pad_edge=False)
    for column in ("By way of",) if alone and len(flows) > 1 else ("From", "To"):
        shown.add_column(column)
    for column in ("Messages", "Min", "p50", "p99", "Max", "Worst"):
        shown.add_column(column, justify="right", no_wrap=True)
    shown.add_column("Of the mean")
    rows = flows if alone else [paths[0] for paths in of_pair.values()]
    for flow in rows[:MOST_SHOWN]:
        others = len(of_pair[flow["from"], flow["to"]]) - 1
        ends = [
            flow["from"],
            flow["to"] + (f" (and {count(others, 'other way')})" if others else ""),
        ]
        shown.add_row(
            *map(cell, [ways(flow)] if alone and len(flows) > 1 else ends),
            grouped(flow["count"]),
            *(duration(flow[figure]) for figure in ("min", "p50", "p99", "max")),
            str(flow["worst"][0]["instance"]) if flow["worst"] else NONE,
            shares(flow),
        )
    return shown


def chains(flows: list[Json], model: Json) -> list[Json]:
    """The flows as chains of a timing model of the same trace, the worst first. Flows that store
    data for a timer or another input are left out, because the model has no edge for that.
    """
    edges = {(edge["from"], edge["to"]) for edge in model["edges"]}
    found: dict[tuple[str, ...], Json] = {}
    for flow in flows:
        callbacks = tuple(step["callback"] for step in flow["path"])
        if len(callbacks) > 1 and edges.issuperset(itertools.pairwise(callbacks)):
            name = f"{flow['from']} → {flow['to']}"
            number = sum(chain["id"].partition(" #")[0] == name for chain in found.values()) + 1
            chain = {"id": name if number == 1 else f"{name} #{number}", "callbacks": [*callbacks]}
            found.setdefault(callbacks, chain)
    return list(found.values())[:MOST_SHOWN]


def shares(flow: Json) -> str:
    """The stages that make up the mean latency of a path, the largest share first; stages below 5 %
    are left out.
    """
    total = sum(flow["breakdown"].values())
    parts = sorted(flow["breakdown"].items(), key=lambda entry: -entry[1])
    return ", ".join(
        f"{100 * share / total:.0f} % {STAGES[stage]}"
        for stage, share in parts
        if total > 0 and share >= total / 20
    )


def ways(flow: Json) -> str:
    """The nodes that a path passes."""
    nodes = [step["node"] or "unknown" for step in flow["path"]]
    return " → ".join(node for i, node in enumerate(nodes) if i == 0 or nodes[i - 1] != node)


def nothing(source: str | None, sink: str | None) -> str:
    """The sentence that no flow leads from one name to the other."""
    ends = [f" {word} {name}" for word, name in (("from", source), ("to", sink)) if name]
    return f"no message leads{''.join(ends) or ' from a source to a sink'} in this recording"


def find_instance(document: Json, wanted: str) -> tuple[Json, Json] | None:
    """The flow and the record of an instance: the one of this number, or the worst."""
    if wanted == "worst":
        return next(((flow, flow["worst"][0]) for flow in document["flows"] if flow["worst"]), None)
    told = ((flow, flow["asked"]) for flow in document["flows"] if flow.get("asked"))
    return max(told, key=lambda pair: int(pair[1]["latency"]), default=None)


def story(flow: Json, instance: Json) -> Iterator[str]:
    """What happened to one message, a line each; the first names the cause."""
    yield cause(flow, instance)
    yield ""
    yield f"{ways(flow)}, sink instance {instance['instance']}:"
    now = 0
    for part in instance["parts"]:
        yield f"  {duration(now):>8}  {duration(part['duration']):>8}  {words(flow, part)}"
        now += part["duration"]
    yield f"  {duration(now):>8}  {_name(flow['path'][-1])} begins"


def cause(flow: Json, instance: Json) -> str:
    """The one thing that took most of an instance's time, in a sentence."""
    parts = instance["parts"]
    sums: dict[tuple[str, int], int] = {}
    for part in parts:
        key = (part["stage"], part["step"])
        sums[key] = sums.get(key, 0) + part["duration"]
    whole = duration(instance["latency"])
    if not sums:
        return f"{flow['to']} was reached after {whole}."
    key = max(sums, key=lambda entry: sums[entry])
    longest = max(
        (part for part in parts if (part["stage"], part["step"]) == key),
        key=lambda part: int(part["duration"]),
    )
    return f"{duration(sums[key])} of {whole}: {words(flow, longest)}."


def words(flow: Json, part: Json) -> str:
    """What a part's time went into, in words."""
    name = _name(flow["path"][part["step"]])
    behind = part["callback"]
    other = f" ({part['by']} ran instead)" if part["by"] else ""
    match part["stage"]:
        case "running":
            return f"{behind or name} ran"
        case "preempted":
            return f"{behind or name} was preempted{other}"
        case "blocked":
            return f"{behind or name} was blocked"
        case "waiting_in_executor":
            return f"{name} waited in its executor" + (f" behind {behind}" if behind else other)
        case "waiting_for_timer":
            return f"stored until {name} was due"
        case "waiting_for_input":
            return f"stored by {name} until its other input came"
        case "sending":
            return f"the message to {name} was being sent"
        case "in_transport":
            return f"the message to {name} was in transport"
        case _:
            return f"{behind or name} had used up its reservation{other}"


def _name(step: Json) -> str:
    return str(step["callback"] or step["node"] or "a program outside the trace")
