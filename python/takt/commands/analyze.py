"""takt analyze: response-time bounds of a model."""

from __future__ import annotations

import json as json_format
from enum import Enum
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from takt import console, documents, files, pipeline
from takt.assumptions import label
from takt.cli import ANSWER_IS_NO
from takt.documents import Bounds, Model
from takt.formatting import NONE, duration, printable

EXAMPLES = """
takt analyze model.json                          tables for people
takt analyze model.json --analysis round_robin   one analysis alone
takt analyze model.json --json -o bounds.json    the takt/bounds document in a file
takt model trace/ | takt analyze -               straight from a trace
"""


class Analysis(str, Enum):
    ROUND_ROBIN = "round_robin"
    BUSY_WINDOW = "busy_window"
    COMBINED = "combined"


def analyze(
    model: Annotated[str, typer.Argument(help='A takt/model document; "-": standard input.')],
    analysis: Annotated[
        Analysis, typer.Option(help="Which analysis; combined takes the better of the two.")
    ] = Analysis.COMBINED,
    json: Annotated[bool, typer.Option("--json", help="Print the takt/bounds document.")] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Also write the document to this file.")
    ] = None,
) -> None:
    """Bound the response time of every callback and chain of a model.

    Exit status 1 if a chain's bound is above its goal or the analysis diverges.
    """
    text = files.read_document(model)
    source = files.source_name(model)
    bounds_json = pipeline.analyze(text, source, analysis.value)
    bounds_text = json_format.dumps(bounds_json, indent=1) + "\n"
    if output is not None and output != files.STANDARD_STREAM:
        files.write_text(output, bounds_text)
    bounds = documents.parse(Bounds, bounds_text, "bounds")
    if json or output == files.STANDARD_STREAM:
        console.print_json(bounds_text)
    else:
        valid = json_format.dumps(pipeline.validate(text, source))
        _print_tables(documents.parse(Model, valid, source), bounds)
    if not _all_is_well(bounds):
        raise typer.Exit(ANSWER_IS_NO)


def _all_is_well(bounds: Bounds) -> bool:
    bounded = all(entry.bound is not None for entry in bounds.callbacks)
    return bounded and all(c.bound is not None and c.met is not False for c in bounds.chains)


def _print_tables(model: Model, bounds: Bounds) -> None:
    output = console.output()
    bound_of = {bound.id: bound for bound in bounds.callbacks}
    for executor in model.executors:
        table = _table(
            f"Executor {executor.name or executor.id}", "Callback", "ET(1)", "Bound", "By"
        )
        for callback in model.callbacks:
            if callback.executor != executor.id:
                continue
            bound = bound_of[callback.id]
            curve = callback.execution_time.curve
            table.add_row(
                _cell(label(callback)),
                duration(curve[0] if curve else None),
                duration(bound.bound),
                _cell(bound.by or bound.reason or NONE),
            )
        output.print(table)
    if not bounds.chains:
        return
    table = _table("Chains", "Chain", "Bound", "Goal", "Verdict")
    for chain in bounds.chains:
        verdict = f"[red]diverges[/]: {_cell(chain.reason or '')}"
        if chain.bound is not None:
            verdict = {True: "[green]met[/]", False: "[red]missed[/]", None: "no goal"}[chain.met]
        table.add_row(_cell(chain.id), duration(chain.bound), duration(chain.goal), verdict)
    output.print(table)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=_cell(title), title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column(
            column, justify="right" if column in ("ET(1)", "Bound", "Goal") else "left"
        )
    return table


def _cell(text: str) -> str:
    """A name for a table, which would read brackets as markup."""
    return escape(printable(text))
