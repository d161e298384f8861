"""takt analyze: response-time bounds of a model."""

from __future__ import annotations

import json as json_format
from typing import Annotated, Any

import typer
from rich.table import Table

from takt import console, documents, files, pipeline, tables, verdict
from takt.cli import ANSWER_IS_NO
from takt.documents import Bounds, Model
from takt.formatting import duration

EXAMPLES = """
takt analyze model.json                          tables for people
takt analyze model.json --analysis round_robin   one analysis alone
takt analyze model.json --explain pilot          what the bound of chain "pilot" is made of
takt analyze model.json --sensitivity            what may grow or shrink until a goal is missed
takt analyze model.json --json -o bounds.json    the takt/bounds document, printed and in a file
takt model trace/ -o - | takt analyze -          straight from a trace
"""


ANALYSES = "|".join(pipeline.ANALYSES)


def known_analysis(name: str) -> str:
    """The name of an analysis, as an option's value."""
    if name not in pipeline.ANALYSES:
        known = ", ".join(map(repr, pipeline.ANALYSES))
        raise typer.BadParameter(f"{name!r} is not one of {known}")
    return name


def analyze(
    model: Annotated[str, typer.Argument(help='A takt/model document; "-": standard input.')],
    analysis: Annotated[
        str,
        typer.Option(
            metavar=ANALYSES,
            callback=known_analysis,
            help="Which analysis; combined takes the better of the first two. edf_paper: "
            "deadline-based executors by the formula as printed, which is not safe.",
        ),
    ] = pipeline.DEFAULT_ANALYSIS,
    json: Annotated[bool, typer.Option("--json", help="Print the takt/bounds document.")] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Also write the document to this file.")
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="CHAIN",
            help="Break the bound of this chain down: who interferes, how often and for how long, "
            "supply, blocking, overhead and delays.",
        ),
    ] = None,
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Say instead how much each execution time may grow, and how small each budget "
            "may be, until a goal is missed.",
        ),
    ] = False,
) -> None:
    """Bound the response time of every callback and chain of a model.

    Exit status 1 if a chain's bound is above its goal or the analysis diverges.
    """
    text, source = files.read_document(model), files.source_name(model)
    if sensitivity:
        _print_sensitivity(pipeline.sensitivity(text, source, analysis), json)
        return
    found = pipeline.analyze(text, source, analysis)
    if explain is not None:
        found["explanation"] = pipeline.explain(text, source, explain, analysis)
    document = json_format.dumps(found, indent=1)
    if output is not None and output != files.STANDARD_STREAM:
        files.write_text(output, document + "\n")
    bounds = documents.parse(Bounds, document, "bounds")
    valid = documents.parse(Model, json_format.dumps(pipeline.validate(text, source)), source)
    verdicts = verdict.judge(valid, bounds, None)
    if json or output == files.STANDARD_STREAM:
        console.print_json(document)
    elif bounds.explanation is not None:
        for table in tables.explanation(bounds.explanation):
            console.output().print(table, "")
    else:
        for executor in valid.executors:
            console.output().print(tables.callbacks(valid, executor, bounds), "")
        if verdicts:
            console.output().print(tables.chains(verdicts), "")
            console.output().print(tables.end_to_end(bounds))
    diverged = any(callback.bound is None for callback in bounds.callbacks)
    if diverged or not all(judged.good for judged in verdicts):
        raise typer.Exit(ANSWER_IS_NO)


def _print_sensitivity(document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        console.print_json(json_format.dumps(document, indent=1))
    elif document["met"]:
        callbacks = Table("Callback", "May run longer by", box=None, pad_edge=False)
        for callback in document["callbacks"]:
            callbacks.add_row(tables.cell(callback["id"]), duration(callback["growth"]))
        console.output().print(callbacks)
        executors = Table("Executor", "Budget", "Smallest budget", box=None, pad_edge=False)
        for executor in document["executors"]:
            executors.add_row(
                tables.cell(executor["id"]),
                duration(executor["budget"]),
                duration(executor["smallest_budget"]),
            )
        if executors.row_count:
            console.output().print(executors)
    else:
        console.output().print("A goal is missed already: see takt analyze without --sensitivity.")
    if not document["met"]:
        raise typer.Exit(ANSWER_IS_NO)
