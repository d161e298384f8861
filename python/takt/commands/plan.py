"""takt plan: what executors decide by, for nodes that know nothing of it."""

from __future__ import annotations

import json as json_format
from typing import Annotated, Any

import typer

from takt import console, files, pipeline
from takt.formatting import count

EXAMPLES = """
takt plan model.json --executor edf -o plan.json     deadlines and chains for EDF executors
takt plan model.json --executor fixed_priority       to standard output
"""


def plan(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help='A takt/model document; "-": standard input.')
    ],
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
        str, typer.Option("--output", "-o", help='Where to write the plan; "-": standard output.')
    ] = files.STANDARD_STREAM,
) -> None:
    """Plan a model's executors: priorities, deadlines, chains and groups of real nodes' callbacks.

    The executors of takt (C++ and Python, see docs/executors.md) read the plan. It names callbacks
    by node and topic, service or period, so that node code stays as it is.
    """
    source = files.source_name(model)
    wanted: dict[str, Any] = files.read_object(options) if options is not None else {}
    if executor is not None:
        wanted["executor"] = executor
    document = pipeline.plan(files.read_document(model), source, wanted)
    for warning in document.pop("warnings", []):
        console.say(f"takt: warning: {warning}")
    files.write_text(output, json_format.dumps(document, indent=1, ensure_ascii=False) + "\n")
    if output != files.STANDARD_STREAM:
        executors = document["executors"]
        callbacks = sum(len(executor["callbacks"]) for executor in executors)
        print(f"{output}: {count(len(executors), 'executor')}, {count(callbacks, 'callback')}")
