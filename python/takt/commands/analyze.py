"""takt analyze: Bound the response times of a model."""

from __future__ import annotations

import json as json_format
from collections.abc import Sequence
from typing import Annotated, Any

from takt import documents, files, inputs, pipeline, processors
from takt.arguments import Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.documents.names import executor_labels, labels
from takt.errors import UserError
from takt.text import console
from takt.text.formatting import duration, printable
from takt.text.terminal import Table, show
from takt.verdicts import differences, remedies, tables, verdict

EXAMPLES = """
takt analyze model.json                          tables for people
takt analyze model.json --analysis round_robin   one analysis alone
takt analyze model.json --analysis exact         all schedules, where there are not too many
takt analyze model.json --explain pilot          what the bound of chain "pilot" is made of
takt analyze model.json --what-if "executor=edf, budget(e1)=3ms, split(/node)"   with these changes
takt analyze model.json --sensitivity            what may grow or shrink until a goal is missed
takt analyze model.json --json -o bounds.json    the takt/bounds document, printed and in a file
takt analyze trace/ --goals goals.yaml           the model that a trace shows, and goals for it
"""

MOST_NAMED = 3
"""Executors that one line names."""

NO_LIMIT = 100 * 10**9
"""Growth, in nanoseconds, up to which the analysis looks for a limit (its horizon)."""


def analyze(
    models: inputs.Models,
    analysis: inputs.Analysis = pipeline.DEFAULT_ANALYSIS,
    goals: inputs.Goals = None,
    effort: Annotated[
        int | None,
        Option(
            min=1,
            metavar="STEPS",
            help="How many steps the searches may take, some nanoseconds each; beyond, bounds are "
            f"coarser, or missing, and the executors are named. {pipeline.EFFORT:,} unless given.",
        ),
    ] = None,
    json: Annotated[bool, Option("--json", help="Print the takt/bounds document.")] = False,
    output: Annotated[
        str | None,
        Option("--output", "-o", metavar="FILE", help="Also write the document to this file."),
    ] = None,
    explain: Annotated[
        str | None,
        Option(
            metavar="CHAIN",
            help="Break the bound of this chain down: who interferes, how often and for how long, "
            "supply, blocking, overhead and delays.",
        ),
    ] = None,
    sensitivity: Annotated[
        bool,
        Option(
            "--sensitivity",
            help="Say instead how much each execution time may grow, and how small each budget "
            "may be, until a goal is missed.",
        ),
    ] = False,
    what_if: inputs.WhatIf = None,
    cores: processors.Cores = None,
) -> None:
    """Bound the response time of every callback and chain of a model.

    For goals that are not guaranteed it proposes what would guarantee them on the machine's cores:
    changes, or reservations. With --what-if it compares with the model as it is.

    The verdicts are on the model: they take its assumptions for granted. takt latency TRACE says
    whether a recording supports them.

    Exit status 1 if a chain's bound is above its goal, the analysis diverges, or the bound leaves
    out what the recording shows ("refuted").
    """
    given = inputs.model(models, goals)
    model = inputs.what_if(given, what_if)
    text, source = model
    if sensitivity and effort is not None:
        raise UserError("--effort: of no use to --sensitivity, which bounds the model many times")
    if sensitivity and explain is not None:
        raise UserError("--explain: of no use to --sensitivity, which shows no bounds")
    steps = effort or pipeline.EFFORT
    if sensitivity:
        found = pipeline.sensitivity(text, source, analysis)
        if not _hand_out(json_format.dumps(found, indent=1) + "\n", json, output):
            _print_sensitivity(found, model)
        if not found["met"]:
            raise Exit(ANSWER_IS_NO)
        return
    bounds = pipeline.analyze(text, source, analysis, steps)
    if explain is not None:
        explanation = pipeline.explain(text, source, explain, analysis, steps)
        bounds = bounds.replace(explanation=explanation)
    valid = model.parsed()
    verdicts = verdict.judge(valid, bounds, None)
    advice = None
    printed = _hand_out(documents.to_json(bounds), json, output)
    if not printed and bounds.explanation is not None:
        for table in tables.explanation(bounds.explanation):
            show(table, "")
        about = next(chain.kind for chain in valid.chains if chain.id == explain)
        if about != "latency":
            console.say(f"takt: this is its latency; the goal of {explain} is about its {about}")
    elif not printed:
        for table in tables.callbacks(valid, bounds):
            show(table, "")
        if verdicts:
            advice = remedies.find(model, valid, verdicts, analysis, cores)
            chains = tables.chains(advice.verdicts), *tables.reasons(advice.verdicts)
            show(*chains, "", tables.end_to_end(bounds))
            for line in (*tables.kinds(valid.chains), *tables.conditions(advice.verdicts)):
                console.say(line)
        if what_if is not None:
            _print_differences(pipeline.analyze(*given, analysis, steps), bounds)
        for line in advice.lines(models, goals, analysis, what_if) if advice else ():
            console.say(line)
    if bounds.coarse:
        console.say(
            f"takt: after {bounds.steps:,} steps, bounds of executor "
            f"{_some(bounds.coarse, executor_labels(valid))} are coarser than they might be, or "
            "missing; --effort allows more"
        )
    if bounds.unexplored:
        names = executor_labels(valid)
        for unexplored in bounds.unexplored[:MOST_NAMED]:
            console.say(
                f"takt: executor {names[unexplored.executor]} was not explored, so its bounds are "
                f"those of tight: {unexplored.reason}"
            )
        if (more := len(bounds.unexplored) - MOST_NAMED) > 0:
            console.say(f"takt: nor were {more} more executors")
    if bounds.depends_on_phases:
        console.say("takt: these bounds hold for the phases of timers in the model, and no others")
    if bounds.queueing_joins:
        console.say(
            "takt: messages may wait side by side at "
            f"{_some(bounds.queueing_joins, labels(valid.callbacks))}: it joins the newest of each "
            "input, and its executor takes them one by one, so more sets may be complete than "
            "these bounds count. Give the subscriptions a queue of one message (queue_depth), or "
            "the join a confidence"
        )
    diverged = any(callback.bound is None for callback in bounds.callbacks)
    if diverged or not all(judged.good for judged in verdicts):
        raise Exit(ANSWER_IS_NO)


def _some(ids: Sequence[str], names: dict[str, str]) -> str:
    """The names of the first few, and how many more there are."""
    few = ", ".join(names[id_] for id_ in ids[:MOST_NAMED])
    more = len(ids) - MOST_NAMED
    return f"{few} and {more} more" if more > 0 else few


def _hand_out(document: str, json: bool, output: str | None) -> bool:
    """Writes the document to its file and prints it, each if that is wanted. Returns whether it
    was printed.
    """
    if output is not None and output != files.STANDARD_STREAM:
        files.write_text(output, document)
    printed = json or output == files.STANDARD_STREAM
    if printed:
        console.print_json(document)
    return printed


def _print_differences(before: documents.Bounds, after: documents.Bounds) -> None:
    show("", "Beside the model as it is:")
    for title, old, new in (
        ("Callbacks", before.callbacks, after.callbacks),
        ("Chains", before.chains, after.chains),
    ):
        differences.print_changes(title, differences.changes(old, new))


def _print_sensitivity(document: dict[str, Any], text: inputs.ModelText) -> None:
    if document["met"]:
        model = text.parsed()
        names, executor_names = labels(model.callbacks), executor_labels(model)
        callbacks = Table("Callback", "May run longer by")
        for callback in document["callbacks"]:
            growth = callback["growth"]
            words = duration(growth) if growth < NO_LIMIT else "no limit found"
            callbacks.add_row(printable(names[callback["id"]]), words)
        show(callbacks, "")
        executors = Table("Executor", "Budget", "Smallest budget")
        for executor in document["executors"]:
            executors.add_row(
                printable(executor_names[executor["id"]]),
                duration(executor["budget"]),
                duration(executor["smallest_budget"]),
            )
        if executors.row_count:
            show(executors)
    else:
        show("A goal is missed already: see takt analyze without --sensitivity.")
