"""Models with gates: what a chain looks like when its outputs are let out in slots only.

A gate is a subscription of an executor of its own that goes by a table (`table_driven`). So the
simulator, the analyses and `takt run` need to know nothing of gates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from takt.documents import Callback, Chain, Edge, ExecutionTime, Executor, Model, Table, TableSlot
from takt.errors import UserError

Slots = Sequence[tuple[int, int]]

INPUT = "/unshaped"
"""What the topic is called before the gate: /cmd/unshaped."""
NODE = "/takt_gate"
SUFFIX = "/gate"


def chain_of(model: Model, chain: str) -> Chain:
    """The chain of that id. UserError if there is none."""
    for one in model.chains:
        if one.id == chain:
            return one
    known = ", ".join(f'"{one.id}"' for one in model.chains) or "none"
    raise UserError(f'there is no chain "{chain}"; the model has {known}')


def callback_of(model: Model, callback: str) -> Callback:
    return next(one for one in model.callbacks if one.id == callback)


def period_of(model: Model, chain: str) -> int:
    """The period of the chain's activation. UserError unless it is periodic."""
    first = callback_of(model, chain_of(model, chain).callbacks[0])
    period = first.activation.period if first.activation else None
    if period is None:
        raise UserError(
            f'chain "{chain}" cannot be shaped: its first callback, {first.id}, is not '
            "activated periodically; shape a chain that begins with a timer or a periodic source"
        )
    return period


def cores_of(model: Model, callbacks: Sequence[str]) -> tuple[int, ...]:
    """The processors of callbacks and of all that they wait for; empty: not all are pinned."""
    needed, left = set(callbacks), list(callbacks)
    while left:
        at = left.pop()
        before = {edge.source for edge in model.edges if edge.target == at} - needed
        needed |= before
        left += before
    pinned = {one.id: one.cpu for one in model.executors}
    cores = [pinned.get(callback_of(model, one).executor) for one in needed]
    known = {core for core in cores if core is not None}
    return tuple(sorted(known)) if None not in cores else ()


def output_topics(model: Model, callback: str) -> list[str]:
    """The topics on which a callback publishes, as far as the model has them."""
    return sorted({edge.topic for edge in model.edges if edge.source == callback and edge.topic})


def insert(
    model: Model,
    callback: str,
    slots: Slots,
    cycle: int,
    publish_time: int,
    topic: str | None = None,
    number: int = 0,
) -> Model:
    """The model with a gate behind a callback, on its topic of that name (None: on all), and
    on the callback's processor. A message leaves `publish_time` after the gate has begun to run,
    which is within a slot.
    """
    gate = callback + SUFFIX

    def leads_through(edge: Edge) -> bool:
        return edge.source == callback and topic in (None, edge.topic)

    moved = [edge for edge in model.edges if leads_through(edge)]
    reached = {edge.target for edge in moved}
    gate_topic = (topic or callback) + INPUT
    gate_topic = gate_topic if gate_topic.startswith("/") else f"/{gate_topic}"
    triggers = [edge.triggered_by for edge in moved if edge.triggered_by is not None]
    feeding = Edge(
        source=callback,
        target=gate,
        topic=gate_topic,
        message_size=max((edge.message_size for edge in moved), default=0),
        # What makes the callback publish makes it publish for the gate.
        triggered_by=triggers[-1] if triggers else None,
    )
    table = tuple(TableSlot(start=start, end=end, callback=gate) for start, end in slots)
    follows = callback_of(model, callback).executor
    executor = Executor(
        id=gate,
        kind="table_driven",
        table=Table(cycle=cycle, slots=table),
        cpu=next(one.cpu for one in model.executors if one.id == follows),
    )
    subscription = Callback(
        id=gate,
        node=f"{NODE}_{number}" if number else NODE,
        executor=gate,
        kind="subscription",
        topic=gate_topic,
        execution_time=ExecutionTime(curve=(publish_time,)),
    )

    def redirected(edge: Edge) -> Edge:
        if leads_through(edge):
            return edge.replace(source=gate, triggered_by=None)
        if edge.source in reached and edge.triggered_by:
            return edge.replace(triggered_by=_renamed(edge.triggered_by, callback, gate))
        return edge

    return model.replace(
        executors=(*model.executors, executor),
        callbacks=(*model.callbacks, subscription),
        edges=(*map(redirected, model.edges), feeding),
        joins=tuple(
            one.replace(
                inputs=_renamed(one.inputs, callback, gate),
                completed_by=_renamed(one.completed_by, callback, gate),
            )
            if one.callback in reached
            else one
            for one in model.joins
        ),
        chains=tuple(
            one.replace(callbacks=_through(one.callbacks, callback, gate, reached))
            for one in model.chains
        ),
    )


def _renamed(callbacks: Iterable[str], callback: str, gate: str) -> tuple[str, ...]:
    """What named `callback` as a sender now names the gate."""
    return tuple(gate if one == callback else one for one in callbacks)


def _through(path: tuple[str, ...], callback: str, gate: str, reached: set[str]) -> tuple[str, ...]:
    """The path with the gate behind the callback, if the path goes on to one of `reached`."""
    at = path.index(callback) if callback in path else None
    if at is None or (at < len(path) - 1 and path[at + 1] not in reached):
        return path
    return (*path[: at + 1], gate, *path[at + 1 :])


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


def publish_times(model: Model) -> dict[str, list[int]]:
    """How long each gate takes, which does not vary (an option of the simulator)."""
    gates = (one for one in model.callbacks if one.id.endswith(SUFFIX))
    return {one.id: list(one.execution_time.curve) for one in gates}


def let_per_chain(model: Model, chain: str, publish_time: int) -> Model:
    """Logical execution time of the whole chain: its output leaves when its next period begins
    (performance-engineering 3.11).
    """
    last = chain_of(model, chain).callbacks[-1]
    return insert(model, last, [(0, 1)], period_of(model, chain), publish_time)


def let_per_callback(model: Model, chain: str, publish_time: int) -> Model:
    """Logical execution time of every callback: each output leaves when the next period begins."""
    period = period_of(model, chain)
    for number, callback in enumerate(chain_of(model, chain).callbacks):
        model = insert(model, callback, [(0, 1)], period, publish_time, number=number)
    return model
