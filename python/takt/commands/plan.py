"""takt plan: Plan the executors of a model for real nodes."""

from __future__ import annotations

import json as json_format
from typing import Annotated, Any

import takt_native
from takt import documents, files, inputs, pipeline
from takt.arguments import Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.documents import Model
from takt.errors import UserError
from takt.planning import bridge_plan, starvation, thread_plan
from takt.planning.starvation import Relief
from takt.text import console
from takt.text.formatting import count, duration, printable
from takt.text.terminal import show

EXAMPLES = """
takt plan model.json --executor edf -o plan.json     deadlines and chains for EDF executors
takt plan model.json --executor fixed_priority       to standard output
takt plan model.json --priorities best               those that guarantee the most chains
takt plan model.json --avoid-starvation              nothing loses messages or is late
takt plan model.json --same-executors                the same without a thread more
takt plan model.json --threads -o threads.yaml       reservations by nodes, for takt apply
takt plan model.json --link robot=10.0.0.1,base=10.0.0.2 -o bridge.yaml     for takt bridge
"""


FIXED_PRIORITY = "fixed_priority"
BEST = "best"
RULES = (BEST, "rate_monotonic", "deadline_monotonic", "chain_priority", "audsley")
"""Of priorities."""


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
    priorities: Annotated[
        str | None,
        Option(
            metavar="RULE",
            help="Fixed priorities by a rule, and what they guarantee: rate_monotonic, "
            "deadline_monotonic, chain_priority, audsley, or the best of these.",
        ),
    ] = None,
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
    threads: Annotated[
        bool,
        Option(
            "--threads",
            help="Write a takt/threads file for takt apply instead: the reservations of takt "
            "budget, by names of nodes, and say what they guarantee.",
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
        bool,
        Option("--json", help="Print the takt/plan or takt/threads document too."),
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
    if threads:
        others = (executor, options, priorities, avoid_starvation, same_executors)
        if any(others) or link is not None:
            raise UserError("--threads plans threads; only --goals, -o and --json go with it")
        _plan_threads(text, source, output, json)
        return
    if link is not None:
        if any((executor, options, priorities, avoid_starvation, same_executors, json)):
            raise UserError("--link plans messages, not executors; only --goals and -o go with it")
        files.write_text(output, bridge_plan.plan(text, source, link))
        return
    wanted: dict[str, Any] = files.read_object(options) if options is not None else {}
    if executor is not None:
        wanted["executor"] = executor
    keeps_all = True
    if priorities is not None:
        if executor not in (None, FIXED_PRIORITY):
            raise UserError(f"--priorities are for {FIXED_PRIORITY} executors, not for {executor}")
        wanted["executor"] = FIXED_PRIORITY
        text, keeps_all = _assign(text, source, priorities)
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
    if output != files.STANDARD_STREAM:
        if json:
            console.print_json(written)
        else:
            executors = document["executors"]
            callbacks = sum(len(executor["callbacks"]) for executor in executors)
            show(f"{output}: {count(len(executors), 'executor')}, {count(callbacks, 'callback')}")
    if not keeps_all:
        raise Exit(ANSWER_IS_NO)


def _assign(text: str, source: str, rule: str) -> tuple[str, bool]:
    """The model with fixed priorities by the rule, and whether they guarantee all goals; says what
    they guarantee.
    """
    if rule not in RULES:
        raise UserError(f'--priorities: "{printable(rule)}" is not one of {", ".join(RULES)}')
    found, model = pipeline.assign_priorities(text, source, rule="" if rule == BEST else rule)
    chosen = max(found, key=lambda one: one["guaranteed"] if rule == BEST else one["rule"] == rule)
    goals = sum(chain.goal is not None for chain in pipeline.read_model(text, source).chains)
    others = [f"{one['rule']} {one['guaranteed']}" for one in found if one is not chosen]
    console.say(
        f"takt: priorities by {chosen['rule']} guarantee {chosen['guaranteed']} of "
        f"{count(goals, 'chain')} with a goal ({', '.join(others)})"
    )
    return model, chosen["guaranteed"] == goals


def _plan_threads(text: str, source: str, output: str, json: bool) -> None:
    """Writes reservations of threads, and says the bounds under exactly these."""
    proposal = thread_plan.propose(text, source)
    if proposal.document["threads"]:
        files.write_text(output, proposal.yaml())
        if output != files.STANDARD_STREAM:
            if json:
                console.print_json(proposal.document)
            else:
                show(f"{output}: {count(len(proposal.budget['executors']), 'reservation')}")
    periods = [executor["period"] for executor in proposal.budget["executors"]]
    if short := inputs.why_period_is_short(min(periods, default=None)):
        console.say(f"takt: warning: {short}")
    bounds = {chain.id: chain.bound for chain in proposal.bounds.chains}
    for chain in proposal.budget["chains"]:
        bound, goal = duration(bounds[chain["id"]]), duration(chain["goal"])
        state = f"{chain['state']}: at most {bound}" if chain["met"] else chain["state"]
        console.say(f"takt: {printable(chain['id'])}: {state}, goal {goal}")
    if not proposal.document["threads"]:
        raise UserError(
            f"{source}: reservations guarantee no chain with a goal; 'takt budget' says what they "
            "would need"
        )
    if not proposal.budget["met"]:
        raise Exit(ANSWER_IS_NO)


def _reliefs(
    text: str, source: str, document: dict[str, Any], wanted: dict[str, Any]
) -> list[Relief]:
    """Warns of callbacks that the plan would starve, and returns plans that starve none, if any are
    known.
    """
    try:
        model = documents.parse(Model, text, source)
        starved = starvation.predict(model, source, document, wanted)
        for one in starved:
            console.say(f"takt: warning: {one}")
        reliefs = starvation.relieve(model, source, document, wanted) if starved else []
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
