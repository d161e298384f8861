"""takt analyze: response-time bounds of a model."""

from __future__ import annotations

import json as json_format
from enum import Enum
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
takt analyze model.json --sensitivity            what may grow or shrink until a goal is missed
takt analyze model.json --json -o bounds.json    the takt/bounds document, printed and in a file
takt model trace/ -o - | takt analyze -          straight from a trace
"""


class Analysis(str, Enum):
    ROUND_ROBIN = "round_robin"
    BUSY_WINDOW = "busy_window"
    COMBINED = "combined"
    EDF_PAPER = "edf_paper"


def analyze(
    model: Annotated[str, typer.Argument(help='A takt/model document; "-": standard input.')],
    analysis: Annotated[
        Analysis,
        typer.Option(
            help="Which analysis; combined takes the better of the first two. edf_paper: "
            "deadline-based executors by the formula as printed, which is not safe."
        ),
    ] = Analysis.COMBINED,
    json: Annotated[bool, typer.Option("--json", help="Print the takt/bounds document.")] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Also write the document to this file.")
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
        _print_sensitivity(pipeline.sensitivity(text, source, analysis.value), json)
        return
    document = json_format.dumps(pipeline.analyze(text, source, analysis.value), indent=1)
    if output is not None and output != files.STANDARD_STREAM:
        files.write_text(output, document + "\n")
    bounds = documents.parse(Bounds, document, "bounds")
    valid = documents.parse(Model, json_format.dumps(pipeline.validate(text, source)), source)
    verdicts = verdict.judge(valid, bounds, None)
    if json or output == files.STANDARD_STREAM:
        console.print_json(document)
    else:
        for executor in valid.executors:
            console.output().print(tables.callbacks(valid, executor, bounds), "")
        if verdicts:
            console.output().print(tables.chains(verdicts))
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
