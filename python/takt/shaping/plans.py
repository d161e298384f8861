"""Shaping plans (`takt/shaping`): slots for the outputs of chains, and what they do to them."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from takt import documents, files
from takt.documents import (
    Chain,
    GatePhase,
    Model,
    OvershootOutcome,
    ServerSlot,
    ShapedChain,
    ShapedGate,
    Shaping,
    ShapingBand,
    ShapingBaseline,
    ShapingMethod,
    ShapingServer,
)
from takt.errors import UserError
from takt.shaping import gates, profile, supplies
from takt.text import console
from takt.text.formatting import duration

Json = dict[str, Any]

POLICIES = ("skip", "defer", "degrade")

STRESS_SHARE = 0.01
"""What share of executions is too long when overshoot policies are tried."""
STRESS_FACTOR = 1.25
"""How much longer than the longest that was observed those executions take at most."""


@dataclass(frozen=True)
class Request:
    """Requirements on the slots. Times in ns."""

    bands: int = 1
    freshness: int | None = None
    objective: str = "mean"
    tail: float = 0.95
    confidence: float | None = None
    grid: int = 100_000
    slack: int | None = None
    """None: a hundredth of the longest latency, on the grid."""
    publish_time: int = 100_000
    overshoot: str = "degrade"
    phase: GatePhase = field(default_factory=GatePhase)
    logical: str | None = None
    """Not the best slots, but the logical execution time of the "chain" or of every "callback"."""

    def slack_for(self, latencies: Sequence[int], bound: int | None = None) -> int:
        """`bound`: the last slot waits for it, unless the slack was chosen."""
        if self.slack is not None:
            return self.slack
        longest = max(latencies)
        usual = _up(longest // 100, self.grid)
        return usual if bound is None else max(usual, _up(bound - longest, self.grid))

    def covered(self, bounds: dict[str, int], chain: str, period: int) -> int | None:
        """The chain's bound if it has one for which a slot of its period can wait."""
        bound = bounds.get(chain)
        if bound is None or _up(bound, self.grid) + self.grid + self.slot_length > period:
            return None
        return bound

    @property
    def slot_length(self) -> int:
        return _up(self.publish_time, self.grid)

    def placement(self, period: int, slack: int) -> Json:
        """The options of the solver (takt/shaping/placement.hpp)."""
        wanted: Json = {
            "cycle": period,
            "bands": self.bands,
            "grid": self.grid,
            "slot_length": self.slot_length,
            "slack": slack,
            "publish_time": self.publish_time,
            "tail": self.tail if self.objective == "cvar" else 0.0,
        }
        if self.freshness is not None:
            wanted["freshness"] = self.freshness
        if self.confidence is not None:
            wanted["confidence"] = self.confidence
        return wanted


def make(
    model: Model,
    latencies: dict[str, list[int]],
    source: str,
    request: Request,
    topic: str | None = None,
    bounds: dict[str, int] | None = None,
) -> Shaping:
    """The plan of the chains that have latencies, which are those of each alone at high priority.
    Those that share a core are given one joint table. `source`: simulation or trace. `bounds` of
    these latencies (supplies.bounds()): the last slots wait for them. Raises UserError or
    takt_native.InputError.
    """
    chains = list(latencies)
    bounds = bounds or {}
    if request.logical == "callback":
        return _logical(model, latencies, source, request, bounds)
    periods = [gates.period_of(model, chain) for chain in chains]
    lengths = [profile.of_chain(latencies, chain) for chain in chains]
    within, cycle, servers = _tables(model, chains, periods, lengths, request, bounds)
    shaped = tuple(
        _shape(model, chain, period, seen, source, request, topic, bounds)
        for chain, period, seen in zip(chains, periods, within, strict=True)
    )
    return _document(model, lengths, source, request, cycle, shaped, servers)


def _logical(
    model: Model,
    latencies: dict[str, list[int]],
    source: str,
    request: Request,
    bounds: dict[str, int],
) -> Shaping:
    """A gate behind every callback, by its latencies (alone()) as those of a chain."""
    shaped: list[ShapedChain] = []
    servers: list[ShapingServer] = []
    cycle = _cycle([gates.period_of(model, chain.id) for chain in _led(model, latencies)])
    for chain in _led(model, latencies):
        steps = {step: one for step, one in alone(chain).items() if step in latencies}
        period = gates.period_of(model, chain.id)
        gated = {one.gate.callback for one in shaped}
        for step, callback in steps.items():
            # Another chain leads through it, too.
            if callback in gated:
                continue
            seen = profile.of_chain(latencies, step)
            shaped.append(
                _shape(model, step, period, seen, source, request, None, bounds, [callback])
            )
            cores = gates.cores_of(model, [callback])
            slots = _repeated((ServerSlot(start=0, end=period),), period, cycle)
            servers.append(ShapingServer(chain=step, cores=cores, slots=slots))
    lengths = [profile.of_chain(latencies, one.id) for one in shaped]
    return _document(model, lengths, source, request, cycle, tuple(shaped), tuple(servers))


def _led(model: Model, latencies: dict[str, list[int]]) -> list[Chain]:
    """The chains whose callbacks have latencies of their own."""
    return [chain for chain in model.chains if not latencies.keys().isdisjoint(alone(chain))]


def alone(chain: Chain) -> dict[str, str]:
    """The names of chains that consist of one callback of this chain, with that callback."""
    return {f"{chain.id}: {callback}": callback for callback in chain.callbacks}


def _document(
    model: Model,
    alone: list[list[int]],
    source: str,
    request: Request,
    cycle: int,
    shaped: tuple[ShapedChain, ...],
    servers: tuple[ShapingServer, ...],
) -> Shaping:
    return Shaping(
        format="takt/shaping",
        version=1,
        name=model.name,
        provenance={},
        method=ShapingMethod.read(
            {
                "objective": request.objective,
                "tail": request.tail if request.objective == "cvar" else 0,
                "confidence": request.confidence,
                "bands": request.bands,
                "freshness": request.freshness,
                "grid": request.grid,
                "slack": max(request.slack_for(one) for one in alone),
                "source": source,
            }
        ),
        cycle=cycle,
        chains=shaped,
        servers=servers,
    )


def read(path: str) -> Shaping:
    """Reads a plan. UserError, which names the field, if it is none."""
    return parse(files.read_document(path), files.source_name(path))


def parse(text: str, source: str) -> Shaping:
    """The same for its text, which messages call `source`."""
    plan = documents.parse(Shaping, text, source)
    for number, chain in enumerate(plan.chains):
        end = 0
        for slot in chain.gate.slots:
            if not end <= slot.start < slot.end <= chain.period:
                raise UserError(
                    f"{source}: chains[{number}].gate.slots: must be in order, apart, and within "
                    f"the period of {chain.period} ns; make a plan with 'takt shape'"
                )
            end = slot.end
    return plan


def gated_model(model: Model, plan: Shaping, *, trimmed: bool = False) -> Model:
    """The model with the gates of the plan. `trimmed`: a publication ends within its slot. A real
    executor that wakes up late might never begin it; for those, slots are longer than planned.
    """
    for number, chain in enumerate(plan.chains):
        slots = [(slot.start, slot.end) for slot in chain.gate.slots]
        if trimmed:
            slots = gates.trimmed(slots, chain.gate.publish_time)
        if chain.gate.overshoot == "degrade":
            # A late output leaves at once and does not delay the next ones.
            slots[-1] = (slots[-1][0], chain.period)
        if not trimmed:
            slots = gates.with_grace(slots, chain.period)
        last = _publishes(model, chain)
        topic = chain.gate.topic if chain.gate.topic in gates.output_topics(model, last) else None
        model = gates.insert(
            model, last, slots, chain.period, chain.gate.publish_time, topic, number
        )
    return model


def enacted(
    model: Model, plan_file: str, executor: str | None, *, simulated: bool
) -> tuple[Model, Shaping]:
    """A model with the gates of a plan as table-driven executors, and the plan; what they do not do
    as planned is said. UserError if `executor` is to replace all executors.
    """
    if executor is not None:
        raise UserError("--plan's gates need their own executors; leave out --executor")
    plan = read(plan_file)
    gated = gated_model(model, plan, trimmed=simulated)
    for warning in table_warnings(plan):
        console.say(f"takt: warning: {warning}")
    return gated, plan


def table_warnings(plan: Shaping) -> list[str]:
    """Lines on how table-driven gates, as in gated_model(), differ from the plan."""
    found = []
    for chain in plan.chains:
        if chain.gate.overshoot == "skip":
            found.append(
                f'chain "{chain.id}": late outputs wait for the next slot here; a gate of takt '
                "apply drops them, as planned"
            )
        if chain.gate.phase.topic or chain.gate.phase.external:
            found.append(
                f'chain "{chain.id}": cycles begin at multiples of the period here; a gate of takt '
                "apply follows the loop of the plan"
            )
    return found


def punctual_executors(model: Model, plan: Shaping) -> set[str]:
    """Executors of gated_model() on whose instants the latency of a shaped chain depends: those of
    gates, and those that run nothing but first callbacks of shaped chains.
    """
    begin = {gates.chain_of(model, chain.id).callbacks[0] for chain in plan.chains}
    others = {one.executor for one in model.callbacks if one.id not in begin}
    firsts = {gates.callback_of(model, one).executor for one in begin}
    return firsts - others | {_publishes(model, chain) + gates.SUFFIX for chain in plan.chains}


def _publishes(model: Model, chain: ShapedChain) -> str:
    if chain.gate.callback is None:
        return gates.chain_of(model, chain.id).callbacks[-1]
    if chain.gate.callback not in (one.id for one in model.callbacks):
        raise UserError(f'the model has no callback "{chain.gate.callback}" as the plan has')
    return chain.gate.callback


def with_baselines(plan: Shaping, model: Model, source: str, cycles: int, seed: int) -> Shaping:
    """The plan with simulated latencies of the same chains under logical execution time."""
    found = []
    for chain in plan.chains:
        variants = {
            "LET per chain": gates.let_per_chain(model, chain.id, chain.gate.publish_time),
            "LET per callback": gates.let_per_callback(model, chain.id, chain.gate.publish_time),
        }
        baselines = tuple(
            ShapingBaseline(
                name=name,
                latency=profile.statistics(
                    profile.simulated(variant, source, cycles, chain.period, seed)[chain.id]
                ),
            )
            for name, variant in variants.items()
        )
        found.append(chain.replace(baselines=baselines))
    return plan.replace(chains=tuple(found))


def _shape(
    model: Model,
    chain: str,
    period: int,
    latencies: list[int],
    source: str,
    request: Request,
    topic: str | None,
    bounds: dict[str, int],
    path: Sequence[str] | None = None,
) -> ShapedChain:
    """`path`: its callbacks, if it is no chain of the model."""
    slack = request.slack_for(latencies, request.covered(bounds, chain, period))
    placed = (
        _at_the_end(chain, period, latencies, request)
        if request.logical
        else _best(period, latencies, request, slack)
    )
    last = placed["bands"][-1]["start"]
    bound = bounds[chain] if bounds.get(chain, last + 1) <= last else None
    of_chain = path or gates.chain_of(model, chain).callbacks
    callbacks = [gates.callback_of(model, one) for one in of_chain]
    topic = topic or _only_topic(model, chain, of_chain[-1])
    gate = ShapedGate(
        topic=topic,
        input=topic + gates.INPUT if topic else None,
        node=callbacks[-1].node or None,
        callback=path[-1] if path else None,
        phase=request.phase,
        publish_time=request.publish_time,
        shortest=min(latencies),
        overshoot=request.overshoot,  # type: ignore[arg-type]
        slots=tuple(ShapingBand.read(band) for band in placed["bands"]),
    )
    return ShapedChain(
        id=chain,
        period=period,
        executors=tuple(dict.fromkeys(one.executor for one in callbacks)),
        profile=profile.statistics(latencies),
        unseen=placed["unseen"],
        bound=bound,
        presumes=supplies.presumed(model, source, bound),
        gate=gate,
        after=profile.statistics(deliver(gate, period, latencies)["latencies"]),
        overshoots=_overshoots(gate, period, latencies),
        histogram=profile.histogram(latencies),
    )


def deliver(gate: ShapedGate, period: int, latencies: list[int], policy: str | None = None) -> Json:
    """What a consumer sees of executions of these lengths behind the gate."""
    import takt_design

    slots = [(slot.start, slot.end) for slot in gate.slots]
    return takt_design.deliver(
        latencies, slots, period, gate.publish_time, gate.shortest, policy or gate.overshoot
    )


def _overshoots(
    gate: ShapedGate, period: int, latencies: list[int]
) -> tuple[OvershootOutcome, ...]:
    """The profile with some executions that take longer than the last slot allows, under each
    policy.
    """
    random_numbers = random.Random(0)
    last = gate.slots[-1].end
    stressed = [
        round(last + random_numbers.random() * (STRESS_FACTOR * last - last))
        if random_numbers.random() < STRESS_SHARE
        else latency
        for latency in latencies
    ]
    outcomes = []
    for policy in POLICIES:
        seen = deliver(gate, period, stressed, policy)
        outcomes.append(
            OvershootOutcome(
                policy=policy,  # type: ignore[arg-type]
                count=len(stressed),
                dropped=seen["dropped"],
                late=seen["late"],
                max=max(seen["latencies"], default=None),
                longest_gap=seen["longest_gap"],
            )
        )
    return tuple(outcomes)


def _tables(
    model: Model,
    chains: list[str],
    periods: list[int],
    lengths: list[list[int]],
    request: Request,
    bounds: dict[str, int],
) -> tuple[list[list[int]], int, tuple[ShapingServer, ...]]:
    """The latencies of the chains within tables, their common cycle, and the tables. Chains that
    share a core, directly or by way of others, have one table.
    """
    import takt_design

    paths = [gates.chain_of(model, chain).callbacks for chain in chains]
    cores = [gates.cores_of(model, path) for path in paths]
    within = list(lengths)
    cycle = _cycle(periods)
    slots: list[tuple[ServerSlot, ...]] = [()] * len(chains)
    for group in _sharing(cores):
        if len(group) == 1:
            (one,) = group
            bound = request.covered(bounds, chains[one], periods[one])
            end = _up(max(lengths[one]), request.grid) + request.slack_for(lengths[one], bound)
            slots[one] = _repeated((ServerSlot(start=0, end=end),), periods[one], cycle)
            continue
        slack = max(request.slack_for(lengths[one]) for one in group)
        table = takt_design.joint_table(
            [chains[one] for one in group],
            [periods[one] for one in group],
            [lengths[one] for one in group],
            request.grid,
            slack,
        )
        found = json.loads(table["slots"])
        for one, seen, listed in zip(group, table["latencies"], found, strict=True):
            within[one] = seen
            served = tuple(ServerSlot.read(slot) for slot in listed)
            slots[one] = _repeated(served, table["cycle"], cycle)
    servers = tuple(
        ShapingServer(chain=chain, cores=core, slots=served)
        for chain, core, served in zip(chains, cores, slots, strict=True)
    )
    return within, cycle, servers


def _cycle(periods: Sequence[int]) -> int:
    """After which the tables of chains with these periods repeat. UserError if that is too long."""
    import takt_design

    cycle = math.lcm(*periods)
    most = takt_design.MOST_RELEASES
    if sum(cycle // period for period in periods) > most:
        raise UserError(
            f"the periods of the chains have more than {most} releases before they meet "
            "again; choose periods that divide each other, or a plan for each chain"
        )
    return cycle


def _sharing(cores: Sequence[tuple[int, ...]]) -> list[list[int]]:
    """Numbers of chains in groups that share a core. A chain without cores may share any."""
    groups: list[list[int]] = []
    for number, own in enumerate(cores):
        joined = [number]
        for group in list(groups):
            if any(not own or not cores[one] or set(own) & set(cores[one]) for one in group):
                groups.remove(group)
                joined += group
        groups.append(sorted(joined))
    return groups


def _repeated(slots: tuple[ServerSlot, ...], own: int, cycle: int) -> tuple[ServerSlot, ...]:
    """The slots of a table of another cycle, a multiple of its own."""
    return tuple(
        ServerSlot(start=begin + slot.start, end=begin + slot.end)
        for begin in range(0, cycle, own)
        for slot in slots
    )


def _best(period: int, latencies: list[int], request: Request, slack: int) -> Json:
    import takt_design

    options = json.dumps(request.placement(period, slack))
    placed: Json = json.loads(takt_design.place_slots(latencies, options))
    return placed


def _at_the_end(chain: str, period: int, latencies: list[int], request: Request) -> Json:
    """One slot, at the end of the period: logical execution time."""
    start = period - request.slot_length
    if max(latencies) > start:
        raise UserError(
            f'chain "{chain}" takes up to {duration(max(latencies))} of its period of '
            f"{duration(period)}: logical execution time has no room for it"
        )
    band = {"start": start, "end": period, "latency": start + request.publish_time, "share": 1}
    # With 95 % confidence, at most this share of executions takes longer.
    return {"bands": [band], "unseen": 1 - 0.05 ** (1 / len(latencies))}


def _only_topic(model: Model, chain: str, callback: str) -> str | None:
    topics = gates.output_topics(model, callback)
    if len(topics) > 1:
        raise UserError(
            f'chain "{chain}" ends with a callback that publishes on {", ".join(topics)}; say '
            "which with --topic"
        )
    return topics[0] if topics else None


def _up(time: int, grid: int) -> int:
    return max(-(-time // grid), 1) * grid
