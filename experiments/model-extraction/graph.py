"""What the extracted graph has of what the document says of its two applications: Table 3.2, case
by case, and Figure 3.8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from takt.trials.experiments import Row, Rows

Json = dict[str, Any]

NODES = {
    "n1": ("sc1", "cl1"),
    "n2": ("T2", "T3", "cl2", "cl4"),
    "n3": ("sc3", "cl3"),
    "n4": ("sv1", "sv2"),
    "n5": ("T1", "sv3", "sv4"),
    "n6": ("sc2", "sc4"),
}
"""The nodes of the synthetic application, as the text prints them beside Figure 3.8."""
PARKING = ("rear_filter", "front_filter", "fusion", "voxel_grid", "localizer")
FIGURE = "section 3.7, with Figure 3.8"
NOTHING = "nothing"


def rows(found: Json, ran: Json) -> Rows:
    """`found`: the extracted model; `ran`: the one that was run, with the same names."""
    graph = _Graph(found)
    return [*_scenarios(graph), *_nodes(graph), *_parking(graph), _edges(graph, ran)]


class _Graph:
    """The callbacks of an extracted model by their names. A name such as sc2+sc4 is that of two
    subscriptions that one callback handles.
    """

    def __init__(self, model: Json) -> None:
        names = {callback["id"]: callback["name"] for callback in model["callbacks"]}
        self.callbacks = {callback["name"]: callback for callback in model["callbacks"]}
        self.edges = {(names[edge["from"]], names[edge["to"]]) for edge in model["edges"]}
        self.joins = {
            names[join["callback"]]: [names[one] for one in join["inputs"]]
            for join in model["joins"]
            if join["kind"] == "and"
        }

    def parts(self, node: str) -> list[str]:
        return [
            part
            for name, callback in self.callbacks.items()
            if callback["node"] == f"/{node}"
            for part in name.split("+")
        ]

    def nodes_with(self, kinds: Iterable[str], fewest: int) -> str:
        """The synthetic nodes that have so many callbacks of each kind."""
        return _listed(
            node
            for node in NODES
            if all(
                sum(
                    len(name.split("+"))
                    for name, callback in self.callbacks.items()
                    if callback["node"] == f"/{node}" and callback["kind"] == kind
                )
                >= fewest
                for kind in kinds
            )
        )

    def of_synthetic(self, is_meant: Callable[[str], bool]) -> list[str]:
        nodes = {f"/{node}" for node in NODES}
        return [
            name
            for name, callback in self.callbacks.items()
            if callback["node"] in nodes and is_meant(name)
        ]

    def targets(self, name: str) -> list[str]:
        return sorted(target for source, target in self.edges if source == name)

    def sources(self, name: str) -> list[str]:
        return sorted(source for source, target in self.edges if target == name)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or NOTHING


def _scenarios(graph: _Graph) -> Rows:
    """Table 3.2: where the extracted graph has each scenario."""

    def is_shared(name: str) -> bool:
        kind = graph.callbacks[name]["kind"]
        return bool(kind == "service" and len(graph.sources(name)) > 1)

    def diverges(name: str) -> bool:
        # A service that answers several clients does not diverge: each call has one answer.
        is_service = graph.callbacks[name]["kind"] == "service"
        return not is_service and len(graph.targets(name)) > 1

    shared = [
        part
        for service in graph.of_synthetic(is_shared)
        for part in (*graph.sources(service), service)
    ]
    joined = graph.of_synthetic(lambda name: name in graph.joins)
    found = (
        ("several timers in a node", "n2", graph.nodes_with(["timer"], 2)),
        ("several subscriptions in a node", "n6", graph.nodes_with(["subscription"], 2)),
        ("several services in a node", "n4", graph.nodes_with(["service"], 2)),
        ("several clients in a node", "n2", graph.nodes_with(["client"], 2)),
        ("several clients of one service", "cl2, sc3, sv3", _listed(shared)),
        (
            "timer, subscription and service in a node",
            "n5",
            graph.nodes_with(["timer", "subscription", "service"], 1),
        ),
        ("synchronisation", "sc2", _listed(name.split("+")[0] for name in joined)),
        ("divergence", "cl3", _listed(graph.of_synthetic(diverges))),
    )
    return [Row(what, published, ours, place="Table 3.2") for what, published, ours in found]


def _nodes(graph: _Graph) -> Rows:
    return [
        Row(f"callbacks of {node}", ", ".join(published), _in_order(graph, node), place=FIGURE)
        for node, published in NODES.items()
    ]


def _in_order(graph: _Graph, node: str) -> str:
    """As printed, what is not printed behind it."""
    found = graph.parts(node)
    printed = [name for name in NODES[node] if name in found]
    return _listed([*printed, *sorted(set(found) - set(printed))])


def _parking(graph: _Graph) -> Rows:
    """The localisation: what the text says of Figure 3.8b."""
    rear, front, fusion, voxel, localizer = PARKING
    inputs = graph.joins.get(fusion, [])
    return [
        Row(
            "the fusion synchronises",
            "front_filter, rear_filter",
            _listed(sorted(one for one in inputs if one in (rear, front))),
            place=FIGURE,
        ),
        Row("the fusion leads to", voxel, _listed(graph.targets(fusion)), place=FIGURE),
        Row("the voxel grid leads to", localizer, _listed(graph.targets(voxel)), place=FIGURE),
    ]


def _edges(graph: _Graph, ran: Json) -> Row:
    """The edges of what was run, all and no others."""
    wanted = {(edge["from"], edge["to"]) for edge in ran["edges"]}
    right, more = len(graph.edges & wanted), len(graph.edges - wanted)
    what = "edges of the models that ran, found / not of them"
    return Row(what, None, f"{right} / {more}", expected=f"{len(wanted)} / 0")
