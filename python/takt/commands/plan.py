"""takt plan: Plan the executors of a model for real nodes."""

from __future__ import annotations

import json as json_format
from typing import Annotated, Any

import typer

import takt_native
from takt import console, files, inputs, pipeline, starvation
from takt.formatting import count, duration
from takt.starvation import Relief

EXAMPLES = """
takt plan model.json --executor edf -o plan.json     deadlines and chains for EDF executors
takt plan model.json --executor fixed_priority       to standard output
takt plan model.json --avoid-starvation              raises what would lose messages
takt plan model.json --own-executors                 a thread of its own for what makes chains late
"""


def plan(
    models: inputs.Models,
    executor: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Use executors of this kind instead of the model's."),
    ] = None,
    options: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="edf_deadlines, root_order or tables; see docs/simulation.md."
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help='Where to write the plan; "-": standard output.'
        ),
    ] = files.STANDARD_STREAM,
    avoid_starvation: Annotated[
        bool,
        typer.Option(
            "--avoid-starvation",
            help="Raise callbacks that would lose messages or be late, as far as they need it.",
        ),
    ] = False,
    own_executors: Annotated[
        bool,
        typer.Option(
            "--own-executors",
            help="The same, and where that makes a chain longer by a tenth or more, give nodes of "
            "such callbacks executors of their own.",
        ),
    ] = False,
    goals: inputs.Goals = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the takt/plan document, wherever it is written.")
    ] = False,
) -> None:
    """Plan a model's executors: priorities, deadlines, chains and groups of real nodes' callbacks.

    The executors of takt (C++ and Python, see docs/executors.md) read the plan. It names callbacks
    by node and topic, service or period, so that node code stays as it is.

    Simulations of the plan tell which callbacks it would starve: those that lose messages or end
    late where they do not under the default executor. --avoid-starvation raises their priorities,
    --own-executors spends a thread more where chains would have to wait for what is raised.
    """
    text, source = inputs.model(models, goals)
    wanted: dict[str, Any] = files.read_object(options) if options is not None else {}
    if executor is not None:
        wanted["executor"] = executor
    document = pipeline.plan(text, source, wanted)
    for warning in document.pop("warnings", []):
        console.say(f"takt: warning: {warning}")
    reliefs = _reliefs(text, source, document, wanted)
    wished = {"--avoid-starvation": reliefs[:1], "--own-executors": reliefs[1:]}
    taken = reliefs[-1:] if own_executors else reliefs[:1] if avoid_starvation else []
    for option, offered in wished.items():
        for relief in offered:
            _say(relief, None if relief in taken else option)
    for relief in taken:
        document = relief.plan
        document.pop("warnings", None)
    written = json_format.dumps(document, indent=1, ensure_ascii=False) + "\n"
    files.write_text(output, written)
    if output == files.STANDARD_STREAM:
        return
    if json:
        console.print_json(written)
    else:
        executors = document["executors"]
        callbacks = sum(len(executor["callbacks"]) for executor in executors)
        print(f"{output}: {count(len(executors), 'executor')}, {count(callbacks, 'callback')}")


def _reliefs(
    text: str, source: str, document: dict[str, Any], wanted: dict[str, Any]
) -> list[Relief]:
    """Says what the plan would starve. Plans that do not, if any are known."""
    try:
        starved = starvation.predict(text, source, document, wanted)
        for one in starved:
            console.say(f"takt: warning: {one}")
        reliefs = starvation.relieve(text, source, document, wanted) if starved else []
    except takt_native.InputError as error:
        console.say(f"takt: warning: what the plan would starve is not known: {error}")
        return []
    if starved and not reliefs:
        console.say(
            "takt: raising priorities does not help this plan; "
            "try --executor fixed_priority --avoid-starvation, or deeper queues"
        )
    return reliefs


def _say(relief: Relief, option: str | None) -> None:
    """What the plan is, or would be with the option."""
    parts = []
    if relief.raised:
        verb = f"{option} raises" if option and not relief.apart else "raised"
        parts.append(f"{verb} {', '.join(relief.raised)}")
    if relief.apart:
        verb = f"{option} gives" if option else "given"
        parts.insert(0, f"{verb} executors of their own to {', '.join(relief.apart)}")
    latencies = ", ".join(
        f"{chain} {duration(before)} → {duration(after)}"
        for chain, (before, after) in relief.chains.items()
    )
    end = f"; longest latencies: {latencies}" if latencies else ""
    console.say(f"takt: {' and '.join(parts)}, and nothing starves{end}")
