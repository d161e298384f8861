"""The callback graph of a model in Graphviz's language: executors as clusters, chains in colour.

A callback that joins m inputs is drawn as m + 1 vertices: a reader for each input, and the vertex
"&" that is activated when all have a message. A service is drawn once for each of its callers, so
that no path leads from one caller to another's response (performance-engineering 2.9).
"""

from __future__ import annotations

import html
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from takt.documents import Activation, Callback, Chain, Edge, Join, Model
from takt.documents.names import chains_named, executor_labels
from takt.errors import UserError
from takt.text.formatting import duration, frequency, printable

LAYOUT_SECONDS = 120
LONGEST_NAME = 34

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2")
"""The colours of chains, one after the other."""

SHAPES = {"timer": "ellipse", "event_source": "ellipse"}


@dataclass(frozen=True)
class Vertex:
    name: str
    """In the drawing: node0, node1_2 …"""
    lines: tuple[str, ...]
    shape: str
    callback: Callback
    uncertain: bool = False


@dataclass(frozen=True)
class Arrow:
    source: str
    target: str
    label: str
    sampled: bool
    step: tuple[str, str]
    """The ids of the callbacks that it connects: the same twice within a join."""
    uncertain: bool = False
    caller: str | None = None
    """The caller that it is drawn for, if it leaves a service with several callers."""


class Drawing:
    """Vertices and arrows of a model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._position = {callback.id: i for i, callback in enumerate(model.callbacks)}
        self._joins = {join.callback: join for join in model.joins}
        self._edges_to: dict[str, list[Edge]] = defaultdict(list)
        for edge in model.edges:
            self._edges_to[edge.target].append(edge)
        self._readers: dict[tuple[str, str], str] = {}
        self._served: dict[str, dict[str, str]] = {}
        """For each service with several callers, the vertex drawn for each caller."""
        self.vertices = [v for callback in model.callbacks for v in self._vertices(callback)]
        drawn = (arrow for edge in model.edges for arrow in self._arrows(edge))
        self.arrows = [*self._within_joins(), *drawn]
        self._arrows_of: dict[tuple[str, str], list[int]] = defaultdict(list)
        for i, arrow in enumerate(self.arrows):
            self._arrows_of[arrow.step].append(i)

    def _vertices(self, callback: Callback) -> Iterator[Vertex]:
        name = f"node{self._position[callback.id]}"
        join = self._joins.get(callback.id)
        if join is None:
            shape = SHAPES.get(callback.kind, "box")
            lines = (_title(callback), *_details(callback))
            callers = self._callers(callback)
            if len(callers) < 2:
                yield Vertex(name, lines, shape, callback)
                return
            self._served[callback.id] = {c: f"{name}_{i}" for i, c in enumerate(callers)}
            for copy in self._served[callback.id].values():
                yield Vertex(copy, lines, shape, callback)
            return
        for i, source in enumerate(join.inputs):
            self._readers[callback.id, source] = reader = f"{name}_{i}"
            topics = [e.topic for e in self._edges_between(source, callback.id) if e.topic]
            lines = (_title(callback), *(short(topic) for topic in topics[:1]))
            yield Vertex(reader, lines, "box", callback)
        sure = "" if join.confidence is None else f", {join.confidence} % sure"
        lines = ("&", _title(callback), join.kind + sure, *_details(callback))
        yield Vertex(name, lines, "diamond", callback, join.confidence is not None)

    def _callers(self, callback: Callback) -> list[str]:
        """The callers of a service that nothing else activates; empty for other callbacks."""
        if callback.kind != "service" or callback.activation is not None:
            return []
        return list(dict.fromkeys(edge.source for edge in self._edges_to[callback.id]))

    def _edges_between(self, source: str, target: str) -> list[Edge]:
        return [edge for edge in self._edges_to[target] if edge.source == source]

    def _within_joins(self) -> Iterator[Arrow]:
        for (callback, _), reader in self._readers.items():
            join: Join = self._joins[callback]
            target = f"node{self._position[callback]}"
            uncertain = join.confidence is not None
            yield Arrow(reader, target, "", False, (callback, callback), uncertain)

    def _arrows(self, edge: Edge) -> Iterator[Arrow]:
        """One arrow; from a service with several callers, one for each that makes it send."""
        callers = self._served.get(edge.source)
        if callers is None:
            yield self._arrow(edge, f"node{self._position[edge.source]}")
            return
        for caller, copy in callers.items():
            if edge.triggered_by is None or caller in edge.triggered_by:
                yield self._arrow(edge, copy, caller)

    def _arrow(self, edge: Edge, source: str, caller: str | None = None) -> Arrow:
        target = self._readers.get((edge.target, edge.source), f"node{self._position[edge.target]}")
        target = self._served.get(edge.target, {}).get(edge.source, target)
        sampled = self.model.callbacks[self._position[edge.target]].kind in SHAPES
        label = _edge_label(edge)
        if edge.confidence is not None:
            label = f"{edge.confidence} % sure"
        step = (edge.source, edge.target)
        return Arrow(source, target, label, sampled, step, edge.confidence is not None, caller)

    def on_chain(self, chain: Chain) -> tuple[set[str], set[int]]:
        """The vertices of a chain, and the positions of its arrows."""
        steps = set(zip(chain.callbacks, chain.callbacks[1:], strict=False))
        nodes = {f"node{self._position[c]}" for c in chain.callbacks if c not in self._served}
        arrows = {
            i
            for step in steps
            for i in self._arrows_of[step]
            if (caller := self.arrows[i].caller) is None or (caller, step[0]) in steps
        }
        readers = {self.arrows[i].target for i in arrows} - nodes
        within = (i for callback in chain.callbacks for i in self._arrows_of[callback, callback])
        arrows |= {i for i in within if self.arrows[i].source in readers}
        return nodes | readers, arrows


def highlighted(model: Model, chains: Sequence[str]) -> list[Chain]:
    """The chains of these ids; if none are named, those with a goal. UserError if one is
    unknown.
    """
    return chains_named(model, chains) or [
        chain for chain in model.chains if chain.goal is not None
    ]


def dot(model: Model, chains: Sequence[Chain] = ()) -> str:
    """The graph in Graphviz's language; vertices and arrows have the ids of Drawing."""
    return "\n".join(_dot(Drawing(model), chains)) + "\n"


def svg(model: Model, chains: Sequence[Chain] = ()) -> str:
    """The graph, laid out. UserError if Graphviz is not installed or gives up."""
    command = ["dot", "-Tsvg"]
    try:
        return subprocess.run(
            command,
            input=dot(model, chains),
            capture_output=True,
            encoding="utf-8",
            timeout=LAYOUT_SECONDS,
            check=True,
        ).stdout
    except FileNotFoundError as error:
        raise UserError(
            "Graphviz lays out the graph, but its program 'dot' is not installed: apt install "
            "graphviz, or write the graph to a file that ends in .dot"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise UserError(
            f"'dot' did not finish within {LAYOUT_SECONDS} s: the graph is too large to be drawn; "
            "write it to a file that ends in .dot"
        ) from error
    except subprocess.CalledProcessError as error:
        raise UserError(f"'dot' failed: {error.stderr.strip() or error.returncode}") from error


def page(model: Model, chains: Sequence[Chain] = ()) -> str:
    """The picture as an HTML page. As svg()."""
    picture = svg(model, chains)
    title = html.escape(printable(model.name) or "callback graph")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}</title>\n</head>\n<body>\n{picture[picture.index('<svg') :]}</body>\n"
        "</html>\n"
    )


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


def _dot(drawing: Drawing, chains: Sequence[Chain]) -> Iterator[str]:
    colours: dict[str, list[str]] = {}
    arrow_colours: dict[int, list[str]] = {}
    for i, chain in enumerate(chains):
        nodes, arrows = drawing.on_chain(chain)
        for node in sorted(nodes):
            colours.setdefault(node, []).append(COLOURS[i % len(COLOURS)])
        for number in sorted(arrows):
            arrow_colours.setdefault(number, []).append(COLOURS[i % len(COLOURS)])
    yield "digraph {"
    yield "  graph [rankdir=LR, fontname=Helvetica, fontsize=12, nodesep=0.18, ranksep=0.4]"
    yield '  node [fontname=Helvetica, fontsize=10, style="filled,rounded", fillcolor=white,'
    yield '        color="#555555", margin="0.1,0.05"]'
    yield '  edge [fontname=Helvetica, fontsize=8, arrowsize=0.6, color="#888888"]'
    titles = executor_labels(drawing.model)
    run_by: dict[str, list[Vertex]] = defaultdict(list)
    for vertex in drawing.vertices:
        run_by[vertex.callback.executor].append(vertex)
    for i, executor in enumerate(drawing.model.executors):
        members = run_by[executor.id]
        if not members:
            continue
        threads = f", {executor.threads} threads" if executor.threads > 1 else ""
        title = f"<B>{_text(short(titles[executor.id]))}</B> {_text(executor.kind + threads)}"
        style = 'style="filled,rounded"; color="#cccccc"'
        if executor.unclassifiable:
            title += f"<BR/>unclassifiable: {_text(executor.unclassifiable)}"
            style = 'style="filled,rounded,dashed"; color="#d62728"'
        yield f"  subgraph cluster{i} {{"
        yield f'    id="executor{i}"; {style}; fillcolor="#f5f5f5";'
        yield f"    labeljust=l; label=<{title}>;"
        actions: dict[str, list[Vertex]] = {}
        for vertex in members:
            actions.setdefault(_action(vertex.callback), []).append(vertex)
        for n, (action, parts) in enumerate(actions.items()):
            lines = [f"{v.name} [{_vertex(v, colours.get(v.name, []))}];" for v in parts]
            if action:
                title = f"action {_text(short(action))}"
                yield f"    subgraph cluster{i}_{n} {{"
                yield f'      color="#999999"; fillcolor="#ececec"; label=<{title}>;'
            yield from (f"    {line}" for line in lines)
            if action:
                yield "    }"
        yield "  }"
    for i, arrow in enumerate(drawing.arrows):
        attributes = _attributes(i, arrow, arrow_colours.get(i, []))
        yield f"  {arrow.source} -> {arrow.target} [{attributes}];"
    for i, chain in enumerate(chains):
        yield f"  // chain {i}: {_text(chain.id)}"
    yield "}"


def _action(callback: Callback) -> str:
    """The action that the callback is a part of; empty: none."""
    name, part, _ = (callback.topic or "").partition("/_action/")
    return name if part else ""


def _vertex(vertex: Vertex, colours: list[str]) -> str:
    first, *rest = map(_text, vertex.lines)
    small = "".join(f'<BR/><FONT POINT-SIZE="8">{line}</FONT>' for line in rest)
    parts = [f'id="{vertex.name}"', f"shape={vertex.shape}", f"label=<<B>{first}</B>{small}>"]
    if vertex.uncertain:
        parts.append('style="filled,dashed"')
    if colours:
        parts += [f'color="{colours[0]}"', "penwidth=2.5"]
    return ", ".join(parts)


def _attributes(i: int, arrow: Arrow, colours: list[str]) -> str:
    parts = [f'id="edge{i}"']
    if arrow.label:
        parts.append(f"label=<&#160;{_text(arrow.label)}>")
    if arrow.sampled or arrow.uncertain:
        parts.append("style=dashed")
    if colours:
        parts += [f'color="{":".join(colours[:4])}"', "penwidth=2"]
    return ", ".join(parts)


def _title(callback: Callback) -> str:
    return short((callback.node or callback.name or callback.id).lstrip("/") or callback.id)


def _details(callback: Callback) -> tuple[str, ...]:
    curve = callback.execution_time.curve
    often = rate(callback.activation)
    about: str = callback.kind if callback.kind != "subscription" else ""
    if callback.kind in ("service", "client") and callback.topic:
        about = f"{callback.kind} {short(callback.topic)}"
    return tuple(part for part in (about, often or "", duration(curve[0]) if curve else "") if part)


def _edge_label(edge: Edge) -> str:
    """The topic, and how its messages go if that is not by the middleware."""
    topic = short(edge.topic) if edge.topic else ""
    way = f"({edge.transport.replace('_', ' ')})" if edge.transport else ""
    return f"{topic} {way}".strip()


def _text(text: str) -> str:
    """Text within markup or a comment; a line break would end the comment, and alone it is no
    text.
    """
    return html.escape(printable(text).replace("\n", " ")) or " "
