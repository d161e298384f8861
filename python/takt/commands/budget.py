"""takt budget: Find the smallest reservations that guarantee the goals."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

from takt import documents, files, inputs, pipeline, processors
from takt.arguments import Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.documents.names import executor_labels, labels
from takt.text import console
from takt.text.formatting import count, duration, goal_of, printable
from takt.text.terminal import Table, show, styled
from takt.verdicts import needs, remedies

EXAMPLES = """
takt budget model.json                                 tables for people
takt budget trace/ --goals goals.yaml -o planned.json  the model with the reservations
takt budget model.json --margin 20                     holds with execution times 20 % longer
takt budget model.json --cores 4 --period 10           on four cores, every 10 ms
takt budget model.json --period auto                   with the period that takes least
"""


def budget(
    models: inputs.Models,
    goals: inputs.Goals = None,
    margin: Annotated[
        int,
        Option(
            metavar="PERCENT", min=0, max=1000, help="Execution times may be longer by this much."
        ),
    ] = 0,
    cores: processors.Cores = None,
    period: Annotated[
        str | None,
        Option(
            metavar="MILLISECONDS|auto",
            help="Period of every reservation, or the best; default: the model's, and 5 ms where "
            "it has none.",
            show_default=False,
        ),
    ] = None,
    capacity: Annotated[
        int | None,
        Option(
            metavar="PERCENT",
            min=1,
            max=100,
            help=f"Share of a core that reservations may have; default: {processors.CAPACITY}, or "
            "less if this machine grants less.",
            show_default=False,
        ),
    ] = None,
    what_if: inputs.WhatIf = None,
    analysis: inputs.Analysis = pipeline.DEFAULT_ANALYSIS,
    effort: Annotated[
        int | None,
        Option(
            min=1,
            metavar="STEPS",
            help="How many steps the search may take, some nanoseconds each; then it ends with "
            f"what it has, and says so. {pipeline.EFFORT_PER_CALLBACK:,} for each callback "
            "unless given.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        Option(
            "--output", "-o", metavar="FILE", help="Write the model with the reservations there."
        ),
    ] = None,
    json: Annotated[bool, Option("--json", help="Print the takt/budget document.")] = False,
) -> None:
    """Find the smallest reservations under which every chain meets its goal.

    Each executor that a chain's bound depends on gets a budget in every period (SCHED_DEADLINE)
    and, where that is needed, a core. Chains are guaranteed by rank: the first one for which there
    are no reservations, or none were found, is degraded with all that are less important, and what
    it would need is said. Exit status 1 then.
    """
    model = inputs.what_if(inputs.model(models, goals), what_if)
    read, _ = documents.parse_model(*model)  # pipeline.budget says the warnings
    available = processors.find(read.provenance, cores)
    if capacity is not None:
        available = replace(available, capacity=capacity)
    chosen = inputs.period(period) if period is not None else None
    document, planned = pipeline.budget(
        model.text,
        model.source,
        analysis=analysis,
        margin=margin,
        available=available,
        period=chosen,
        best_period=period == inputs.BEST_PERIOD,
        effort=effort,
    )
    periods = [executor["period"] for executor in document["executors"]]
    if short := inputs.why_period_is_short(min(periods, default=chosen)):
        console.say(f"takt: warning: {short}")
    if output is not None:
        files.write_text(output, planned)
    if json and output != files.STANDARD_STREAM:
        console.print_json(document)
    elif output != files.STANDARD_STREAM:
        _print(model, document)
        if output is not None:
            what = "with these reservations" if document["executors"] else "without reservations"
            console.say(f"The model {what}: {output}")
        if document["gave_up"]:
            console.say(
                f"takt: after {document['steps']:,} steps, the search ended with this; smaller "
                "reservations, or some for more chains, may exist; --effort allows more"
            )
        same: dict[str, object] = {
            "--goals": goals,
            "--margin": margin or None,
            "--cores": cores,
            "--period": period,
            "--capacity": capacity,
            "--analysis": analysis if analysis != pipeline.DEFAULT_ANALYSIS else None,
            "--what-if": what_if,
            "--effort": effort,
        }
        if not document["met"]:
            for line in remedies.outliers(model, analysis, available):
                console.say(line)
        if all(map(inputs.is_lasting, [*models, goals or ""])):
            for line in _ways(document, models, same):
                console.say(line)
    if not document["met"]:
        raise Exit(ANSWER_IS_NO)


def _ways(document: dict[str, Any], models: list[str], options: dict[str, object]) -> Iterator[str]:
    """Lines with the commands that try what would guarantee the first chain that is not."""
    found = next((chain["needs"] for chain in document["chains"] if chain["needs"]), None)
    if found is None:
        return
    changes = [found["what_if"].get("goal"), found["what_if"].get("all_execution_times_percent")]
    kinds = ("execution_time", "suspension", "period")
    changes += [found[kind]["what_if"] for kind in kinds if found[kind]]
    before = [options["--what-if"]] if options["--what-if"] else []
    ways: list[dict[str, object]] = [
        {"--what-if": ", ".join(map(str, [*before, change]))} for change in changes if change
    ]
    if found["cores"]:
        ways.insert(0, {"--cores": found["cores"]})
    for way in ways:
        given = [
            text
            for name, value in (options | way).items()
            if value is not None
            for text in (name, str(value))
        ]
        yield f"takt: possible with: {shlex.join(['takt', 'budget', *models, *given])}"


def _print(text: inputs.ModelText, document: dict[str, Any]) -> None:
    model = text.parsed()
    names, executor_names = labels(model.callbacks), executor_labels(model)
    chains = Table()
    for column in ("Chain", "Bound", "Goal", "State"):
        right, words = column in ("Bound", "Goal"), column == "State"
        chains.add_column(column, right=right, words=words)
    for chain in document["chains"]:
        colour = "green" if chain["met"] else "red"
        chains.add_row(
            printable(chain["id"]),
            duration(chain["bound"]) if chain["met"] else duration(None),
            goal_of(chain["goal"], chain["kind"]),
            styled(chain["state"], colour) + printable(_needs(chain, names)),
        )
    show(chains, "")
    reservations = Table()
    for column in ("Executor", "Budget", "Period", "Share", "Core"):
        reservations.add_column(column, right=column != "Executor")
    for executor in document["executors"]:
        share = executor["bandwidth"] * executor["threads"]
        core = executor["core"]
        reservations.add_row(
            printable(executor_names[executor["id"]]),
            duration(executor["budget"]),
            duration(executor["period"]),
            f"{100 * share:.1f} %",
            "any" if core is None else str(core),
        )
    if document["executors"]:
        show(reservations, "")
        processors = document["processors"]
        console.say(
            f"{100 * processors['bandwidth']:.0f} % of a core in all, on "
            f"{count(len(processors['cores']), 'core')} "
            + (
                "without pinning (the test of Goossens, Funk and Baruah holds)"
                if processors["mapping"] == "global"
                else "with each reservation pinned to its core"
            )
        )
        if all(
            core["bandwidth"] for core in processors["cores"]
        ):  # none has a share if any core will do
            console.say(
                "takt: none of these cores is left to the system, as takt manage and takt apply "
                "leave the first: 'takt plan --threads' plans for them"
            )
    for callback in document["losing"]:
        console.say(
            f"takt: {names[callback]} gets more messages than it can handle with all that a core "
            "grants: its queue loses some, as few as possible with this budget. What is guaranteed "
            "holds for the others"
        )
    if document["best_effort"]:
        others = ", ".join(executor_names[executor] for executor in document["best_effort"])
        console.say(f"Best effort, as no guaranteed chain needs them: {others}")


def _needs(chain: dict[str, Any], names: dict[str, str]) -> str:
    """What would guarantee the goal of a chain, in words."""
    if chain["state"] == "degraded":
        return ": a more important chain comes first"
    possible = needs.words(chain["needs"], names)
    return f": {possible}" if possible else ""
