"""takt plan: Plan the executors of a model for real nodes."""

from __future__ import annotations

import json as json_format
from typing import Annotated, Any

import takt_native
from takt import bridge_plan, console, files, inputs, pipeline, starvation
from takt.arguments import Option
from takt.errors import UserError
from takt.formatting import count, duration
from takt.starvation import Relief

EXAMPLES = """
takt plan model.json --executor edf -o plan.json     deadlines and chains for EDF executors
takt plan model.json --executor fixed_priority       to standard output
takt plan model.json --avoid-starvation              nothing loses messages or is late
takt plan model.json --same-executors                the same without a thread more
takt plan model.json --link robot=10.0.0.1,base=10.0.0.2 -o bridge.yaml     for takt bridge
"""


def plan(
    models: inputs.Models,
    executor: Annotated[
        str | None,
        Option(metavar="KIND", help="Use executors of this kind instead of the model's."),
    ] = None,
    options: Annotated[
        str | None,
        Option(metavar="FILE", help="edf_deadlines, root_order or tables; see docs/simulation.md."),
    ] = None,
    output: Annotated[
        str,
        Option(
            "--output", "-o", metavar="FILE", help='Where to write the plan; "-": standard output.'
        ),
    ] = files.STANDARD_STREAM,
    avoid_starvation: Annotated[
        bool,
        Option(
            "--avoid-starvation",
            help="Raise callbacks that would lose messages or be late, as far as they need it. "
            "Where that makes a chain longer by more than a tenth, give nodes of such callbacks "
            "executors of their own.",
        ),
    ] = False,
    same_executors: Annotated[
        bool,
        Option(
            "--same-executors",
            help="The same by priorities alone, however long chains become.",
        ),
    ] = False,
    link: Annotated[
        str | None,
        Option(
            "--link",
            metavar="HOSTS",
            help="Write a file for takt bridge instead: what crosses the model's links. HOSTS are "
            "NAME=ADDRESS,NAME=ADDRESS, in the model's order; see docs/link.md.",
        ),
    ] = None,
    goals: inputs.Goals = None,
    json: Annotated[
        bool, Option("--json", help="Print the takt/plan document, wherever it is written.")
    ] = False,
) -> None:
    """Plan a model's executors: priorities, deadlines, chains and groups of real nodes' callbacks.

    The executors of takt (C++ and Python, see docs/executors.md) read the plan. It names callbacks
    by node and topic, service or period, so that node code stays as it is.

    Simulations of the plan tell which callbacks it would starve: those that lose messages or end
    late where they do not under the default executor. --avoid-starvation raises their priorities,
    and spends a thread more where chains would have to wait too long for what is raised.
    """
    text, source = inputs.model(models, goals)
    if link is not None:
        if executor or options or avoid_starvation or same_executors or json:
            raise UserError("--link plans messages, not executors; only --goals and -o go with it")
        files.write_text(output, bridge_plan.plan(text, source, link))
        return
    wanted: dict[str, Any] = files.read_object(options) if options is not None else {}
    if executor is not None:
        wanted["executor"] = executor
    document = pipeline.plan(text, source, wanted)
    for warning in document.pop("warnings", []):
        console.say(f"takt: warning: {warning}")
    reliefs = _reliefs(text, source, document, wanted)
    taken = reliefs[:1] if same_executors else reliefs[-1:] if avoid_starvation else []
    options_of = ("--same-executors", "--avoid-starvation")[-len(reliefs) :]
    for option, relief in zip(options_of, reliefs, strict=False):
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
    """Warns of callbacks that the plan would starve, and returns plans that starve none, if any are
    known.
    """
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
    """Says what the plan changes, or would change with the option."""
    give, raise_ = ("gives", "raises") if option else ("given", "raised")
    parts = []
    if relief.apart:
        own = "executors of their own" if len(relief.apart) > 1 else "an executor of its own"
        parts.append(f"{give} {', '.join(relief.apart)} {own}")
    if relief.raised:
        parts.append(f"{raise_} {', '.join(relief.raised)}")
    if option:
        parts[0] = f"{option} {parts[0]}"
    latencies = ", ".join(
        f"{chain} {duration(before)} → {duration(after)}"
        for chain, (before, after) in relief.chains.items()
    )
    end = f"; longest latencies: {latencies}" if latencies else ""
    console.say(f"takt: {' and '.join(parts)}, and nothing starves{end}")
