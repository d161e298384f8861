"""Models with gates: what a chain looks like when its outputs are let out in slots only.

A gate is a subscription of an executor of its own that goes by a table (`table_driven`). So the
simulator, the analyses and `takt run` need to know nothing of gates.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from takt.errors import UserError

Json = dict[str, Any]
Slots = Sequence[tuple[int, int]]

INPUT = "/unshaped"
"""What the topic is called before the gate: /cmd/unshaped."""
NODE = "/takt_gate"
SUFFIX = "/gate"


def chain_of(model: Json, chain: str) -> Json:
    """The chain of that id. UserError if there is none."""
    chains: list[Json] = model.get("chains", [])
    for one in chains:
        if one["id"] == chain:
            return one
    known = ", ".join(f'"{one["id"]}"' for one in chains) or "none"
    raise UserError(f'there is no chain "{chain}"; the model has {known}')


def callback_of(model: Json, callback: str) -> Json:
    found: Json = next(one for one in model["callbacks"] if one["id"] == callback)
    return found


def period_of(model: Json, chain: str) -> int:
    """The period of the chain's activation. UserError unless it is periodic."""
    first = callback_of(model, chain_of(model, chain)["callbacks"][0])
    activation = first.get("activation") or {}
    if activation.get("kind") != "periodic":
        raise UserError(
            f'chain "{chain}" cannot be shaped: its first callback, {first["id"]}, is not '
            "activated periodically; shape a chain that begins with a timer or a periodic source"
        )
    return int(activation["period"])


def cores_of(model: Json, callbacks: Sequence[str]) -> tuple[int, ...]:
    """The processors of callbacks and of all that they wait for; empty: not all are pinned."""
    needed, left = set(callbacks), list(callbacks)
    while left:
        at = left.pop()
        before = {edge["from"] for edge in model.get("edges", []) if edge["to"] == at} - needed
        needed |= before
        left += before
    pinned = {one["id"]: one.get("cpu") for one in model.get("executors", [])}
    cores = [pinned.get(callback_of(model, one)["executor"]) for one in needed]
    known = {core for core in cores if core is not None}
    return tuple(sorted(known)) if None not in cores else ()


def output_topics(model: Json, callback: str) -> list[str]:
    """The topics on which a callback publishes, as far as the model has them."""
    topics = (edge.get("topic") for edge in model.get("edges", []) if edge["from"] == callback)
    return sorted({topic for topic in topics if topic})


def insert(
    model: Json,
    callback: str,
    slots: Slots,
    cycle: int,
    publish_time: int,
    topic: str | None = None,
    number: int = 0,
) -> Json:
    """The model with a gate behind a callback, on its topic of that name (None: on all), and
    on the callback's processor. A message leaves `publish_time` after the gate has begun to run,
    which is within a slot.
    """
    result = copy.deepcopy(model)
    result.setdefault("edges", [])
    gate = callback + SUFFIX
    node = f"{NODE}_{number}" if number else NODE
    moved = [
        edge
        for edge in result["edges"]
        if edge["from"] == callback and topic in (None, edge.get("topic"))
    ]
    feeding: Json = {"from": callback, "to": gate}
    gate_topic = (topic or callback) + INPUT
    feeding["topic"] = gate_topic if gate_topic.startswith("/") else f"/{gate_topic}"
    for edge in moved:
        edge["from"] = gate
        # What makes the callback publish makes it publish for the gate.
        if (triggers := edge.pop("triggered_by", None)) is not None:
            feeding["triggered_by"] = triggers
        feeding["message_size"] = max(feeding.get("message_size", 0), edge.get("message_size", 0))
    result["edges"].append(feeding)
    table = [{"start": start, "end": end, "callback": gate} for start, end in slots]
    executor = {"id": gate, "kind": "table_driven", "table": {"cycle": cycle, "slots": table}}
    follows = callback_of(model, callback)["executor"]
    for one in model["executors"]:
        if one["id"] == follows and one.get("cpu") is not None:
            executor["cpu"] = one["cpu"]
    result["executors"].append(executor)
    result["callbacks"].append(
        {
            "id": gate,
            "node": node,
            "executor": gate,
            "kind": "subscription",
            "topic": feeding["topic"],
            "registration": 0,
            "execution_time": {"curve": [publish_time]},
            "activation": None,
        }
    )
    reached = {edge["to"] for edge in moved}
    _redirect(result, callback, gate, reached)
    return result


def _redirect(model: Json, callback: str, gate: str, reached: set[str]) -> None:
    """What named `callback` as the sender to one of `reached` now names the gate."""

    def renamed(callbacks: list[str]) -> list[str]:
        return [gate if one == callback else one for one in callbacks]

    for join in model.get("joins", []):
        if join["callback"] in reached:
            for senders in join.keys() & {"inputs", "completed_by"}:
                join[senders] = renamed(join[senders])
    for edge in model["edges"]:
        if edge["from"] in reached and edge.get("triggered_by"):
            edge["triggered_by"] = renamed(edge["triggered_by"])
    for chain in model.get("chains", []):
        path = chain["callbacks"]
        at = path.index(callback) if callback in path else None
        if at is not None and (at == len(path) - 1 or path[at + 1] in reached):
            path.insert(at + 1, gate)


def trimmed(slots: Slots, publish_time: int) -> list[tuple[int, int]]:
    """Slots in which a publication that begins also ends."""
    return [(start, max(end - publish_time, start) + 1) for start, end in slots]


GRACE = 500_000
"""Nanoseconds. An executor that wakes up later than that after the start of a slot misses it."""


def with_grace(slots: Slots, cycle: int) -> list[tuple[int, int]]:
    """The slots, each at least GRACE long, if need be into the next cycle, as far as the next slot
    allows.
    """
    first = slots[0][0]
    starts = [start for start, _ in slots[1:]] + [cycle + first]
    longer = [
        (start, min(max(end, start + GRACE), following))
        for (start, end), following in zip(slots, starts, strict=True)
    ]
    start, end = longer[-1]
    if end <= cycle:
        return longer
    return [(0, end - cycle), *longer[:-1], (start, cycle)]


def publish_times(model: Json) -> dict[str, list[int]]:
    """How long each gate takes, which does not vary (an option of the simulator)."""
    return {
        one["id"]: one["execution_time"]["curve"]
        for one in model["callbacks"]
        if one["id"].endswith(SUFFIX)
    }


def let_per_chain(model: Json, chain: str, publish_time: int) -> Json:
    """Logical execution time of the whole chain: its output leaves when its next period begins
    (performance-engineering 3.11).
    """
    last = chain_of(model, chain)["callbacks"][-1]
    period = period_of(model, chain)
    return insert(model, last, [(0, 1)], period, publish_time)


def let_per_callback(model: Json, chain: str, publish_time: int) -> Json:
    """Logical execution time of every callback: each output leaves when the next period begins."""
    period = period_of(model, chain)
    for number, callback in enumerate(chain_of(model, chain)["callbacks"]):
        model = insert(model, callback, [(0, 1)], period, publish_time, number=number)
    return model
