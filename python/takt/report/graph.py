"""The callback graph as an SVG, laid out by Graphviz.

Names come from traces and may be anything: they reach Graphviz only as escaped text, and of its
output only the elements and attributes of a drawing are kept.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from xml.etree import ElementTree

from takt.documents import Activation, Callback, Chain, Edge, Model
from takt.errors import UserError
from takt.formatting import duration, frequency, printable
from takt.names import executor_labels

LARGEST_GRAPH = 400
"""The most callbacks of a drawing: a larger one helps nobody, and its layout takes minutes."""
LAYOUT_SECONDS = 60
LONGEST_NAME = 34
SMALLEST_WIDTH = 540
"""Points to which a wide drawing may shrink."""

SVG = "http://www.w3.org/2000/svg"
KEPT_ELEMENTS = {"svg", "g", "path", "polygon", "polyline", "ellipse", "text", "title"}
KEPT_ATTRIBUTES = {
    *("id", "class", "d", "points", "x", "y", "cx", "cy", "rx", "ry", "transform", "viewBox"),
    *("width", "height", "text-anchor", "font-size", "font-weight"),
}


def drawn_callbacks(model: Model) -> list[Callback]:
    """The callbacks worth drawing: those of a chain or with a neighbour, and, if there are none,
    all.
    """
    connected = {end for edge in model.edges for end in (edge.source, edge.target)}
    connected |= {callback for chain in model.chains for callback in chain.callbacks}
    return [c for c in model.callbacks if c.id in connected] or list(model.callbacks)


def draw(model: Model) -> str | None:
    """The graph as an SVG element; None if there is nothing to draw or too much.

    Nodes have the ids node0, node1, … by their callback's position in the model, edges edge0, …
    UserError if Graphviz is not installed.
    """
    callbacks = drawn_callbacks(model)
    if not callbacks or len(callbacks) > LARGEST_GRAPH:
        return None
    try:
        drawing = laid_out("\n".join(_dot(model, callbacks)), LAYOUT_SECONDS)
    except FileNotFoundError as error:
        raise UserError(
            "Graphviz draws the callback graph, but 'dot' is not installed: apt install graphviz"
        ) from error
    except subprocess.SubprocessError:
        return None
    return _clean(drawing, model)


def laid_out(graph: str, seconds: int) -> str:
    """The SVG that Graphviz makes of a graph. Raises FileNotFoundError if it is not installed,
    subprocess.SubprocessError if it gives up.
    """
    dot = ["dot", "-Tsvg"]
    return subprocess.run(
        dot, input=graph, capture_output=True, encoding="utf-8", timeout=seconds, check=True
    ).stdout


def chain_parts(model: Model, chain: Chain) -> list[str]:
    """Ids of the nodes and edges of a chain in the drawing."""
    position = {callback.id: i for i, callback in enumerate(model.callbacks)}
    steps = set(zip(chain.callbacks, chain.callbacks[1:], strict=False))
    nodes = [f"node{position[c]}" for c in chain.callbacks if c in position]
    edges = [f"edge{i}" for i, e in enumerate(model.edges) if (e.source, e.target) in steps]
    return nodes + edges


def short(name: str) -> str:
    """A name of bounded length; long ones lose their middle."""
    if len(name) <= LONGEST_NAME:
        return name
    half = LONGEST_NAME // 2
    return f"{name[:half]}…{name[-half:]}"


def rate(activation: Activation | None) -> str | None:
    """How often a callback is activated at most, or None where that follows from its inputs."""
    if activation is None:
        return None
    if activation.kind == "periodic" and activation.period:
        return frequency(activation.period)
    if activation.min_separation:
        return f"≤ {frequency(activation.min_separation)}"
    gaps = len(activation.values) - 1
    if gaps > 0 and activation.values[-1] > 0:
        return f"≤ {frequency(activation.values[-1] // gaps or 1)}"
    return None


def _dot(model: Model, callbacks: list[Callback]) -> Iterator[str]:
    position = {callback.id: i for i, callback in enumerate(model.callbacks)}
    joins = {join.callback: join for join in model.joins}
    drawn = {callback.id for callback in callbacks}
    executors = executor_labels(model)
    yield "digraph {"
    yield "  graph [rankdir=TB, fontname=Helvetica, fontsize=11, nodesep=0.14, ranksep=0.3,"
    yield "         compound=true, pad=0.1]"
    yield "  node [shape=box, style=rounded, fontname=Helvetica, fontsize=10, height=0.36,"
    yield '        margin="0.1,0.045"]'
    yield "  edge [fontname=Helvetica, fontsize=7.5, arrowsize=0.55]"
    for i, executor in enumerate(model.executors):
        members = [callback for callback in callbacks if callback.executor == executor.id]
        if not members:
            continue
        title = _escape(short(executors[executor.id]))
        yield f"  subgraph cluster{i} {{"
        yield f'    id="executor{i}"; class="executor hue{i % 8}"; style=rounded; margin=12;'
        yield f"    labeljust=l; label=<<B>{title}</B>>;"
        for callback in members:
            classes = f"callback {'timer' if callback.kind == 'timer' else 'message'} hue{i % 8}"
            lines = f"<B>{_escape(_title(callback))}</B>"
            details = _details(callback)
            if callback.id in joins:
                join = joins[callback.id]
                details.append(f"{join.kind} of {len(join.inputs)}")
            if details:
                lines += f'<BR/><FONT POINT-SIZE="8">{_escape(" · ".join(details))}</FONT>'
            n = position[callback.id]
            yield f'    node{n} [id="node{n}", class="{classes}", label=<{lines}>];'
        yield "  }"
    for i, edge in enumerate(model.edges):
        if edge.source in drawn and edge.target in drawn:
            ends = f"node{position[edge.source]} -> node{position[edge.target]}"
            yield f"  {ends} [{_arrow(i, edge)}];"
    yield "}"


def _arrow(i: int, edge: Edge) -> str:
    # The space keeps the label off the line.
    text = edge_label(edge)
    label = f", label=<&#160;{_escape(text)}>" if text else ""
    return f'id="edge{i}"{label}'


def edge_label(edge: Edge) -> str:
    """The topic, and how its messages go if that is not by the middleware."""
    topic = short(edge.topic) if edge.topic else ""
    way = f"({edge.transport.replace('_', ' ')})" if edge.transport else ""
    return f"{topic} {way}".strip()


def _title(callback: Callback) -> str:
    return short((callback.node or callback.name or callback.id).lstrip("/") or callback.id)


def _details(callback: Callback) -> list[str]:
    curve = callback.execution_time.curve
    parts = [
        callback.kind if callback.kind != "subscription" else None,
        rate(callback.activation),
        f"{duration(curve[0])}" if curve else None,
    ]
    return [part for part in parts if part]


def _escape(text: str) -> str:
    """Text for a label in Graphviz's HTML, which knows neither empty text nor what XML cannot
    hold: everything but plain characters becomes a reference.
    """

    def escaped(character: str) -> str:
        if character.isalnum() or character in " -_./:,":
            return character
        return f"&#{ord(character)};"

    return "".join(escaped(character) for character in printable(text).replace("\n", " ")) or " "


def _clean(svg: str, model: Model) -> str | None:
    """The drawing without Graphviz's colours and fonts (the style sheet gives them), with titles
    that people understand.
    """
    try:
        root = ElementTree.fromstring(svg[svg.index("<svg") :].replace("xlink:", ""))
    except (ValueError, ElementTree.ParseError):
        return None
    # A large graph shrinks to the page, but on a narrow one it is scrolled rather than unreadable.
    natural = float(root.get("width", "0").removesuffix("pt"))
    titles = {f"node{i}": _tooltip(callback) for i, callback in enumerate(model.callbacks)}
    _strip(root, titles)
    root.set("style", f"min-width: {min(natural, SMALLEST_WIDTH):.0f}pt")
    root.set("role", "img")
    root.set("aria-label", "Callback graph; executors are boxes, callbacks their nodes")
    ElementTree.register_namespace("", SVG)
    return ElementTree.tostring(root, encoding="unicode")


def _strip(element: ElementTree.Element, titles: dict[str, str]) -> None:
    for name in [name for name in element.attrib if name not in KEPT_ATTRIBUTES]:
        del element.attrib[name]
    for child in list(element):
        tag = child.tag.removeprefix(f"{{{SVG}}}") if isinstance(child.tag, str) else ""
        is_title = tag == "title"
        if tag not in KEPT_ELEMENTS or (is_title and element.get("id") not in titles):
            element.remove(child)
            continue
        if is_title:
            child.text = titles[element.get("id", "")]
        _strip(child, titles)


def _tooltip(callback: Callback) -> str:
    lines = [callback.node, callback.name, callback.topic, f"id {callback.id}"]
    return printable("\n".join(line for line in lines if line))
