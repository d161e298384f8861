"""takt graph: Draw the callback graph of a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from takt import files, inputs
from takt.arguments import Option
from takt.documents import Chain, Model
from takt.errors import UserError
from takt.report import graph as drawings
from takt.text import console
from takt.text.formatting import count
from takt.text.terminal import show

FORMATS = {"svg": drawings.svg, "html": drawings.page, "dot": drawings.dot}

EXAMPLES = """
takt graph model.json -o graph.svg                   a picture
takt graph model.json --chain pilot -o graph.svg     one chain in colour
takt graph model.json | dot -Tpdf -o graph.pdf       any other format of Graphviz
takt graph model.json --json                         vertices, edges and chains, for scripts
"""


def graph(
    models: inputs.Models,
    output: Annotated[
        str,
        Option(
            "--output",
            "-o",
            metavar="FILE",
            help='Where to write; its ending says what: .svg, .html or .dot. "-": the dot '
            "text on standard output.",
        ),
    ] = files.STANDARD_STREAM,
    chains: Annotated[
        list[str] | None,
        Option(
            "--chain",
            metavar="ID",
            help="Draw this chain in colour, and others likewise; else those that have a goal.",
        ),
    ] = None,
    goals: inputs.Goals = None,
    json: Annotated[
        bool, Option("--json", help="Print the takt/graph document in place of the dot text.")
    ] = False,
) -> None:
    """Draw the callback graph: executors as boxes, callbacks in them, chains in colour.

    A callback that waits for several inputs is drawn as a reader for each and the vertex "&".
    Dashed: what a timer samples, and what was inferred from a recording. A picture needs Graphviz;
    dot and --json do not. takt report makes a page on which chains can be picked out.
    """
    kind = "dot" if output == files.STANDARD_STREAM else Path(output).suffix.lower().lstrip(".")
    if kind not in FORMATS:
        endings = ", ".join(f".{format_}" for format_ in FORMATS)
        raise UserError(f"{output}: ends in none of {endings}, so what to write is not known")
    model = inputs.model(models, goals).parsed()
    shown = drawings.highlighted(model, chains or [])
    if output != files.STANDARD_STREAM or not json:
        files.write_text(output, FORMATS[kind](model, shown))
    if json:
        console.print_json(document(model, shown))
    elif output != files.STANDARD_STREAM:
        vertices = count(len(model.callbacks), "callback")
        show(f"{output}: {vertices}, {count(len(model.edges), 'edge')}")


def document(model: Model, chains: Sequence[Chain]) -> dict[str, Any]:
    """The drawing as data (`takt/graph`), with the parts of these chains."""
    drawing = drawings.Drawing(model)
    vertices = [
        {
            "id": vertex.name,
            "callback": vertex.callback.id,
            "executor": vertex.callback.executor,
            "inferred": vertex.uncertain,
        }
        for vertex in drawing.vertices
    ]
    edges = [
        {
            "id": _edge_id(i),
            "from": arrow.source,
            "to": arrow.target,
            "sampled": arrow.sampled,
            "inferred": arrow.uncertain,
        }
        for i, arrow in enumerate(drawing.arrows)
    ]
    return {
        "format": "takt/graph",
        "version": 1,
        "name": model.name,
        "vertices": vertices,
        "edges": edges,
        "chains": [{"id": chain.id, "parts": _parts(drawing, chain)} for chain in chains],
    }


def _parts(drawing: drawings.Drawing, chain: Chain) -> list[str]:
    """The ids of a chain's vertices and edges."""
    vertices, edges = drawing.on_chain(chain)
    return sorted(vertices) + [_edge_id(i) for i in sorted(edges)]


def _edge_id(position: int) -> str:
    return f"edge{position}"
