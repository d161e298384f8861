"""takt graph: Draw the callback graph of a model."""

from __future__ import annotations

import html
import json
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from takt import files, inputs
from takt import graph as drawings
from takt.documents import Model
from takt.errors import UserError
from takt.formatting import count, printable

FORMATS = ("svg", "html", "dot")

EXAMPLES = """
takt graph model.json -o graph.svg                   a picture
takt graph trace/ -o graph.html                      a page on which chains can be picked out
takt graph model.json --chain pilot -o graph.svg     one chain in colour
takt graph model.json | dot -Tpdf -o graph.pdf       any other format of Graphviz
"""


def graph(
    models: inputs.Models,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help='Where to write; its ending says what: .svg, .html or .dot. "-": the dot text on '
            "standard output.",
        ),
    ] = files.STANDARD_STREAM,
    chains: Annotated[
        list[str] | None,
        typer.Option(
            "--chain",
            metavar="ID",
            help="Draw this chain in colour, and others likewise; else those that have a goal.",
        ),
    ] = None,
    goals: inputs.Goals = None,
) -> None:
    """Draw the callback graph: executors as boxes, callbacks in them, chains in colour.

    A callback that waits for several inputs is drawn as a reader for each and the vertex "&".
    Dashed: what a timer samples, and what was inferred from a recording. Needs Graphviz, except for
    dot.
    """
    kind = "dot" if output == files.STANDARD_STREAM else Path(output).suffix.lower().lstrip(".")
    if kind not in FORMATS:
        endings = ", ".join(f".{format_}" for format_ in FORMATS)
        raise UserError(f"{output}: ends in none of {endings}, so what to write is not known")
    model = inputs.model(models, goals).parsed()
    shown = drawings.highlighted(model, chains or [])
    if kind == "dot":
        text = drawings.dot(model, shown)
    elif kind == "svg":
        text = drawings.svg(model, shown)
    else:
        text = page(model, drawings.svg(model, shown))
    files.write_text(output, text)
    if output != files.STANDARD_STREAM:
        vertices = count(len(model.callbacks), "callback")
        print(f"{output}: {vertices}, {count(len(model.edges), 'edge')}")


def page(model: Model, drawing: str) -> str:
    """A page without any reference to others, that shows the drawing and picks out chains."""
    parts = drawings.Drawing(model)
    chains = []
    for chain in model.chains:
        nodes, arrows = parts.on_chain(chain)
        ids = sorted(nodes) + [f"edge{i}" for i in sorted(arrows)]
        chains.append({"id": printable(chain.id), "parts": ids})
    template = resources.files("takt").joinpath("graph.html").read_text("utf-8")
    # "</" would end the script.
    data = json.dumps(chains, ensure_ascii=True).replace("</", "<\\/")
    return (
        template.replace("{{title}}", html.escape(printable(model.name or "Callback graph")))
        .replace("{{drawing}}", drawing[drawing.index("<svg") :])
        .replace("{{chains}}", data)
    )
