"""takt shape: Give a chain the same latency every time."""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import Annotated, Any

from takt import documents, files, inputs, pipeline
from takt.arguments import Option
from takt.documents import Chain, Model, ShapedChain, Shaping
from takt.errors import UserError
from takt.shaping import gates, loops, picture, plans, profile, supplies
from takt.text import console, times
from takt.text.formatting import count, duration, printable
from takt.text.terminal import Table, show

EXAMPLES = """
takt shape model.json --chain pilot                         one slot: the same latency every time
takt shape trace/ --chain pilot --bands 3 -o plan.json      three latencies, a shorter mean
takt shape model.json --chain pilot --objective cvar        the longest latencies matter most
takt shape model.json --chain a --chain b -o plan.html      a joint table for one core; a picture
takt shape model.json --chain pilot --let chain             logical execution time, to compare
takt shape trace/ --chain pilot --confidence 0.95           for what the recording may have missed
takt shape model.json --chain pilot --phase-of udp:7400     in step with a loop outside of ROS 2
"""


class Objective(str, Enum):
    MEAN = "mean"
    CVAR = "cvar"


class Logical(str, Enum):
    CHAIN = "chain"
    CALLBACK = "callback"


class Overshoot(str, Enum):
    SKIP = "skip"
    DEFER = "defer"
    DEGRADE = "degrade"


def shape(
    models: inputs.Models,
    chain: Annotated[
        list[str],
        Option(metavar="ID", help="The chain; several that share a core get one table."),
    ],
    bands: Annotated[
        int, Option(metavar="N", min=1, max=64, help="Slots for the output in each period.")
    ] = 1,
    freshness: Annotated[
        str | None,
        Option(metavar="TIME", help="The longest distance of successive slots."),
    ] = None,
    objective: Annotated[
        Objective,
        Option(
            metavar="|".join(kind.value for kind in Objective),
            help="Minimise the mean latency, or that of the share --tail leaves.",
        ),
    ] = Objective.MEAN,
    tail: Annotated[
        float | None,
        Option(
            metavar="SHARE",
            min=0,
            max=0.9999,
            help=f"Of --objective cvar; else {plans.Request.tail}.",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        Option(
            metavar="P",
            min=0.5,
            max=0.999999,
            help="Choose for the worst distribution within a band of this confidence.",
        ),
    ] = None,
    overshoot: Annotated[
        Overshoot,
        Option(
            metavar="|".join(kind.value for kind in Overshoot),
            help="An output that is late is dropped, waits for the next slot, or leaves.",
        ),
    ] = Overshoot.DEGRADE,
    grid: Annotated[str, Option(metavar="TIME", help="Slots start at multiples of it.")] = "0.1ms",
    slack: Annotated[
        str | None,
        Option(
            metavar="TIME",
            help="Between the longest latency and the last slot; else a hundredth of it.",
        ),
    ] = None,
    publish_time: Annotated[
        str, Option(metavar="TIME", help="How long the gate takes to publish.")
    ] = "0.1ms",
    let: Annotated[
        Logical | None,
        Option(
            metavar="|".join(kind.value for kind in Logical),
            help="No slots are chosen: outputs of the chain, or of each of its callbacks, leave at "
            "the end of the period (logical execution time).",
        ),
    ] = None,
    topic: Annotated[
        str | None,
        Option(metavar="TOPIC", help="The chain's output, if the model does not tell."),
    ] = None,
    phase_of: Annotated[
        str | None,
        Option(
            metavar="TOPIC|EXTERNAL",
            help="What tells when cycles begin: messages of a topic, or a loop outside of ROS 2 as "
            "udp:PORT, pipe:PATH, shm:NAME or clock:NAME; else multiples of the period.",
        ),
    ] = None,
    phase_delay: Annotated[
        str | None,
        Option(metavar="TIME", help="How long after the beginning that is told."),
    ] = None,
    cycles: Annotated[
        int,
        Option(metavar="N", min=1, max=10**6, help="Periods that a model is simulated for."),
    ] = 5000,
    seed: Annotated[int, Option(metavar="N", min=0, help="Of the simulation.")] = 0,
    options: Annotated[
        str | None,
        Option(metavar="FILE", help="More options of the simulation; docs/simulation.md."),
    ] = None,
    goals: inputs.Goals = None,
    json: Annotated[bool, Option("--json", help="Print the takt/shaping document.")] = False,
    output: Annotated[
        str | None,
        Option(
            "--output",
            "-o",
            metavar="FILE",
            help='Where to write the plan; a name that ends in .html: the picture; "-": standard '
            "output.",
        ),
    ] = None,
    picture_file: Annotated[
        str | None,
        Option("--picture", metavar="FILE", help="Also write the picture, .html or .svg."),
    ] = None,
) -> None:
    """Choose the slots in which the outputs of a chain leave, so that its latency hardly varies.

    The chain's latencies are measured in a trace, or simulated with random execution times. The
    plan says what they become, what they would be under logical execution time, and what a consumer
    sees when an execution takes longer than any observed; takt apply enacts it (docs/shaping.md).
    """
    if tail is not None and objective is not Objective.CVAR:
        raise UserError("--tail: of no use without --objective cvar; add that, or leave it out")
    if picture_file == files.STANDARD_STREAM:
        raise UserError("--picture -: name a file for the picture")
    text = inputs.model(models, goals)
    model = text.parsed()
    request = plans.Request(
        bands=bands,
        freshness=_time(freshness, "--freshness"),
        objective=objective.value,
        tail=plans.Request.tail if tail is None else tail,
        confidence=confidence,
        grid=times.parse(grid, "--grid"),
        slack=_time(slack, "--slack"),
        publish_time=times.parse(publish_time, "--publish-time"),
        overshoot=overshoot.value,
        phase=loops.parse(phase_of, _time(phase_delay, "--phase-delay")),
        logical=let.value if let else None,
    )
    chosen = bands > 1 or objective is Objective.CVAR or freshness or confidence
    if let is not None and chosen:
        raise UserError(
            "--let has one slot, at the end of the period; leave out --bands, --freshness, "
            "--objective and --confidence"
        )
    wanted = files.read_object(options) if options is not None else {}
    traces = [] if inputs.is_document(models[0]) else models
    if len(set(chain)) < len(chain):
        raise UserError("--chain: a chain is named twice")
    measured, ids = model, chain
    if let is Logical.CALLBACK:
        measured, ids = _callback_by_callback(model, chain)
    longest = max(gates.period_of(model, one) for one in chain)
    latencies = _latencies(measured, text.source, traces, ids, longest, cycles, seed, wanted)
    if traces and request.phase.topic is not None:
        request = _locked(request, traces, model, chain, _time(phase_delay, "--phase-delay"))
    source = "trace" if traces else "simulation"
    bounds = {} if traces else supplies.bounds(measured, text.source, list(latencies))
    plan = plans.make(model, latencies, source, request, _absolute(topic), bounds)
    if let is None:
        plan = plans.with_baselines(plan, model, text.source, min(cycles, 1000), seed)
    plan = pipeline.with_origin(plan, text.text, text.source)
    _write(plan, output, picture_file)
    if json or output == files.STANDARD_STREAM:
        console.print_json(documents.to_json(plan))
    else:
        _print(plan)


def _callback_by_callback(model: Model, chains: list[str]) -> tuple[Model, list[str]]:
    """The model with an additional chain for each callback of these chains, and the chains' ids."""
    steps: dict[str, str] = {}
    for chain in chains:
        steps |= plans.alone(gates.chain_of(model, chain))
    alone = (Chain(id=step, callbacks=(callback,)) for step, callback in steps.items())
    return model.replace(chains=(*model.chains, *alone)), list(steps)


def _locked(
    request: plans.Request,
    traces: list[str],
    model: Model,
    chains: list[str],
    delay: int | None,
) -> plans.Request:
    """The request with the loop's phase as the recording shows it beside the first chain."""
    seen = loops.observed(traces, request.phase, model, chains[0])
    phase = loops.locked(request.phase, seen, gates.period_of(model, chains[0]), delay)
    return dataclasses.replace(request, phase=phase)


def _time(text: str | None, option: str) -> int | None:
    return None if text is None else times.parse(text, option)


def _absolute(topic: str | None) -> str | None:
    return topic if topic is None or topic.startswith("/") else f"/{topic}"


def _latencies(
    model: Model,
    source: str,
    traces: list[str],
    chains: list[str],
    longest: int,
    cycles: int,
    seed: int,
    options: dict[str, Any],
) -> dict[str, list[int]]:
    """`longest`: the longest of their periods, of which `cycles` are simulated."""
    if traces:
        found = profile.measured(traces, documents.to_json(model), source)
    else:
        found = profile.simulated(model, source, cycles, longest, seed, options)
    return {chain: profile.of_chain(found, chain) for chain in chains}


def _write(plan: Shaping, output: str | None, picture_file: str | None) -> None:
    for path in (output, picture_file):
        if path is None or path == files.STANDARD_STREAM:
            continue
        if path.endswith(".html"):
            files.write_text(path, picture.page(plan))
        elif path.endswith(".svg") or path == picture_file:
            files.write_text(path, picture.svg(plan))
        else:
            files.write_text(path, documents.to_json(plan))
            _say_what_lacks(plan)


def _say_what_lacks(plan: Shaping) -> None:
    for chain in plan.chains:
        if chain.gate.topic is None:
            console.say(
                f'chain "{chain.id}": the model does not tell on which topic its output leaves; '
                "takt apply needs it: --topic"
            )


def _print(plan: Shaping) -> None:
    for chain in plan.chains:
        show(_latency_table(chain), "")
        if (loop := loops.text(chain.gate.phase)) is not None:
            show(loop, "")
        show(_slot_table(chain), "", _overshoot_table(chain))
        before, after = chain.profile, chain.after
        if before.max and after.max and before.mean and after.mean:
            longest = 100 * (after.max / before.max - 1)
            mean = 100 * (after.mean / before.mean - 1)
            show(
                f"\nThe longest latency becomes {longest:+.1f} %, the mean {mean:+.1f} %. None of "
                f"{count(before.count, 'execution')} took longer than {duration(before.max)}; with "
                f"95 % confidence, at most {100 * chain.unseen:.2g} % of all do."
                f"{supplies.sentence(chain)}\n"
            )


def _latency_table(chain: ShapedChain) -> Table:
    table = _table(chain.id, "Mean", "p50", "p99.9", "Longest", "Jitter")
    for name, one in picture.rows(chain):
        table.add_row(name, *map(duration, (one.mean, one.p50, one.p999, one.max, one.jitter)))
    return table


def _slot_table(chain: ShapedChain) -> Table:
    table = _table("Slot", "Start", "End", "Latency", "Share")
    for number, band in enumerate(chain.gate.slots, 1):
        values = map(duration, (band.start, band.end, band.latency))
        table.add_row(str(number), *values, f"{100 * band.share:.1f} %")
    return table


def _overshoot_table(chain: ShapedChain) -> Table:
    share = f"{100 * plans.STRESS_SHARE:.0f} % too long"
    table = _table(share, "Dropped", "Late", "Longest", "Longest gap")
    for outcome in chain.overshoots:
        name = outcome.policy + (" (chosen)" if outcome.policy == chain.gate.overshoot else "")
        times_ = map(duration, (outcome.max, outcome.longest_gap))
        table.add_row(name, str(outcome.dropped), str(outcome.late), *times_)
    return table


def _table(first: str, *columns: str) -> Table:
    table = Table()
    table.add_column(printable(first))
    for column in columns:
        table.add_column(column, right=True)
    return table
