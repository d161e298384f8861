"""takt model: the timing model of what was recorded."""

from __future__ import annotations

import json as json_format
from typing import Annotated, Any

import typer

from takt import console, files, pipeline
from takt.formatting import count

EXAMPLES = """
takt model trace/ -o model.json                         the model of one recording
takt model laptop.tar.xz robot/ -o model.json           of several hosts
takt model trace/ --chains-from goals.json -o m.json    chains and goals of another model
takt model trace/ | takt analyze -                      straight to the bounds
"""


def model(
    traces: Annotated[
        list[str], typer.Argument(metavar="TRACE...", help="CTF directories or archives of them.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help='Where to write the model; "-": standard output.')
    ] = files.STANDARD_STREAM,
    name: Annotated[str | None, typer.Option(help="The model's name.")] = None,
    chains_from: Annotated[
        str | None,
        typer.Option(help="Take the chains with their goals, and executors' names, of this model."),
    ] = None,
    supplies_from: Annotated[
        str | None,
        typer.Option(help="Take supplies that the trace does not tell from this model."),
    ] = None,
) -> None:
    """Build the timing model: callbacks, executors, edges, execution times, activations, chains.

    What happened during start-up is left out: until no object had been made for a second.
    """
    options = {"name": name}
    for option, path in (("chains_from", chains_from), ("supplies_from", supplies_from)):
        options[option] = files.read_document(path) if path is not None else None
    document = pipeline.synthesize(
        traces, {option: value for option, value in options.items() if value is not None}
    )
    for line in warnings(document["provenance"]):
        console.say(f"takt: warning: {line}")
    files.write_text(output, json_format.dumps(document, indent=1, ensure_ascii=False) + "\n")
    if output != files.STANDARD_STREAM:
        print(f"{output}: {summary(document)}")


def warnings(provenance: dict[str, Any]) -> list[str]:
    """What a person should know before trusting the model."""
    lines = list(provenance["warnings"])
    if missing := provenance.get("chains_not_found"):
        lines.append("not in the trace: " + count(len(missing), "chain") + " " + ", ".join(missing))
    return lines


def summary(document: dict[str, Any]) -> str:
    """What the model consists of, in a line."""
    parts = ("executor", "callback", "edge", "join", "chain")
    return ", ".join(count(len(document[part + "s"]), part) for part in parts)
