"""A bridge file from a model: which topics cross its links, how urgent they are, how often they are
sent and how large chunks are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from takt import documents, pipeline
from takt.documents import Link, Model
from takt.errors import UserError
from takt.text.formatting import duration, printable

PORT = 7500
OVERHEAD_SHARE = 0.05
"""The share of a link's time that may go into the costs of chunks beyond their bits."""
LARGEST_CHUNK = 8 << 20
LEAST_ROOM = 64_000
MORE_ROOM = 1.1
"""Serialised messages are larger than their payload."""
DEPTH = 10


@dataclass
class _Topic:
    """What one host sends on a topic."""

    name: str
    sender: int
    receivers: set[int] = field(default_factory=set)
    edges: list[int] = field(default_factory=list)
    goal: int | None = None
    """The shortest goal of the chains that its messages belong to; None: none has one."""
    chains: dict[str, None] = field(default_factory=dict)


def plan(text: str, source: str, hosts: str) -> str:
    """The bridge file, YAML. `hosts`: "robot=10.0.0.1,base=10.0.0.2", in the order in which the
    model's hosts come. UserError if they do not fit.
    """
    model = pipeline.read_model(text, source)
    crossing = [number for number, edge in enumerate(model.edges) if edge.link is not None]
    if not crossing:
        raise UserError(f"{source}: no edge takes a link, so there is nothing to bridge")
    host_of = _hosts(model, source)
    named = _named(hosts, model, host_of, source)
    topics = _topics(model, crossing, host_of, source)
    priorities = _priorities(model, topics)
    links = [link for link in model.links if any(model.edges[n].link == link.id for n in crossing)]
    numbers = _numbers(links)
    bounds = _bounds(model, source, topics, priorities, numbers)
    lines = [
        f"# Of {_remark(source)} by takt plan --link; made for `takt bridge` on each of the hosts.",
        "key: bridge.key  # made by: takt bridge --make-key bridge.key",
        "hosts:",
        *(
            f"  {name}: {{address: {json.dumps(address)}, port: {port}}}"
            f"  # {_remark(_nodes(model, host_of, host))}"
            for host, ((name, address), port) in enumerate(zip(named, _ports(named), strict=True))
        ),
        f"link: {{bandwidth: {numbers.bandwidth}bit/s"
        + (f", overhead: {numbers.overhead}ns" if numbers.overhead else "")
        + f", chunk: {numbers.chunk_bytes}}}",
        "topics:",
    ]
    for topic, priority, bound in zip(topics, priorities, bounds, strict=True):
        to = ", ".join(named[host][0] for host in sorted(topic.receivers))
        fields = [
            f"topic: {json.dumps(topic.name, ensure_ascii=False)}",
            f"from: {named[topic.sender][0]}",
            f"to: [{to}]",
            f"priority: {priority}",
            *([f"latency: {bound}ns"] if bound else []),
            *([f"period: {period}ns"] if (period := _period(model, topic)) else []),
            f"depth: {_depth(model, topic)}",
            f"largest_message: {_room(model, topic)}",
        ]
        lines.append(f"  - {{{', '.join(fields)}}}{_goal(topic)}")
    return "\n".join(lines) + "\n"


def _hosts(model: Model, source: str) -> dict[str, int]:
    """The host number of each executor on a host with a link. Executors are on one host if they
    exchange messages without a link, share a node, or send over the same link.
    """
    parent = {one.id: one.id for one in model.executors}

    def root(executor: str) -> str:
        while parent[executor] != executor:
            executor = parent[executor]
        return executor

    def together(executors: Iterable[str]) -> None:
        first, *others = executors
        for other in others:
            parent[root(other)] = root(first)

    executor_of = {one.id: one.executor for one in model.callbacks}
    for edge in model.edges:
        if edge.link is None:
            together((executor_of[edge.source], executor_of[edge.target]))
    nodes: dict[str, list[str]] = {}
    for callback in model.callbacks:
        if callback.node:
            nodes.setdefault(callback.node, []).append(callback.executor)
    for executors in nodes.values():
        together(executors)
    for link in model.links:
        senders = [executor_of[edge.source] for edge in model.edges if edge.link == link.id]
        if senders:
            together(senders)
    linked = set()
    for edge in model.edges:
        if edge.link is None:
            continue
        ends = (executor_of[edge.source], executor_of[edge.target])
        if root(ends[0]) == root(ends[1]):
            raise UserError(
                f'{source}: {edge.source} -> {edge.target} takes the link "{edge.link}", but other '
                "edges without a link, or nodes, join both ends on one host"
            )
        linked |= {root(end) for end in ends}
    numbers: dict[str, int] = {}
    for executor in model.executors:
        if root(executor.id) in linked:
            numbers.setdefault(root(executor.id), len(numbers))
    return {
        executor.id: numbers[root(executor.id)]
        for executor in model.executors
        if root(executor.id) in linked
    }


def _nodes(model: Model, host_of: dict[str, int], host: int) -> str:
    """The names of a few nodes on a host, for people."""
    nodes = dict.fromkeys(
        callback.node or callback.id
        for callback in model.callbacks
        if host_of.get(callback.executor) == host
    )
    shown = list(nodes)[:4]
    return ", ".join(shown) + (" …" if len(nodes) > len(shown) else "")


def _named(hosts: str, model: Model, host_of: dict[str, int], source: str) -> list[tuple[str, str]]:
    """The name and address of each host."""
    count = max(host_of.values()) + 1
    found = []
    for part in hosts.split(","):
        name, _, address = part.strip().partition("=")
        if not re.fullmatch(r"[A-Za-z0-9_]+", name) or not address:
            raise UserError(f'--link: "{part}" is not like robot=192.168.1.2')
        found.append((name, address))
    if len(found) != count or len({name for name, _ in found}) != count:
        those = "; ".join(f"{host + 1}: {_nodes(model, host_of, host)}" for host in range(count))
        raise UserError(f"--link: {source} has {count} hosts, name each of them once: {those}")
    return found


def _ports(named: Sequence[tuple[str, str]]) -> list[int]:
    """The first port of each host. It has one for each other host, and those of hosts with the same
    address differ.
    """
    addresses = [address for _, address in named]
    return [
        PORT + addresses[:host].count(address) * (len(named) - 1)
        for host, address in enumerate(addresses)
    ]


def _topics(
    model: Model, crossing: Sequence[int], host_of: dict[str, int], source: str
) -> list[_Topic]:
    callbacks = {one.id: one for one in model.callbacks}
    topics: dict[tuple[str, int], _Topic] = {}
    for number in crossing:
        edge = model.edges[number]
        name = edge.topic or callbacks[edge.target].topic
        if name is None:
            raise UserError(f"{source}: {edge.source} -> {edge.target} has a link but no topic")
        sender = host_of[callbacks[edge.source].executor]
        topic = topics.setdefault((name, sender), _Topic(name, sender))
        topic.receivers.add(host_of[callbacks[edge.target].executor])
        topic.edges.append(number)
        for chain in model.chains:
            steps = zip(chain.callbacks, chain.callbacks[1:], strict=False)
            if (edge.source, edge.target) in steps and chain.goal is not None:
                topic.chains[chain.id] = None
                topic.goal = min(topic.goal or chain.goal, chain.goal)
    return list(topics.values())


def _priorities(model: Model, topics: Sequence[_Topic]) -> list[int]:
    """The priorities of the edges if any is given, else by goals: the shorter, the more urgent."""
    given = [max(model.edges[n].priority for n in topic.edges) for topic in topics]
    if any(given):
        return given
    goals = sorted({topic.goal for topic in topics if topic.goal is not None}, reverse=True)
    return [0 if topic.goal is None else 1 + goals.index(topic.goal) for topic in topics]


def _numbers(links: Sequence[Link]) -> Link:
    """A link with the lowest bandwidth and the highest overhead of these, and the smallest chunk
    that wastes little of its time.
    """
    bandwidth = min(link.bandwidth for link in links)
    overhead = max(link.overhead for link in links)
    chunk = min(link.chunk_bytes for link in links)
    if overhead:
        import takt_design

        chunk = takt_design.choose_chunk(bandwidth, overhead, OVERHEAD_SHARE)
    return Link(
        id="", bandwidth=bandwidth, overhead=overhead, chunk_bytes=min(chunk, LARGEST_CHUNK)
    )


def _bounds(
    model: Model, source: str, topics: Sequence[_Topic], priorities: Sequence[int], numbers: Link
) -> list[int | None]:
    """The longest time of a message of each topic under these priorities and chunks; None: no
    bound.
    """
    edges = list(model.edges)
    for topic, priority in zip(topics, priorities, strict=True):
        for number in topic.edges:
            edges[number] = edges[number].replace(priority=priority)
    links = tuple(link.replace(chunk_bytes=numbers.chunk_bytes) for link in model.links)
    planned = model.replace(links=links, edges=tuple(edges))
    found = pipeline.analyze(documents.to_json(planned), source).links
    bounds: list[int | None] = []
    for topic in topics:
        of_edges = [edges[n] for n in topic.edges]
        of_topic = [
            bound.bound
            for bound in found
            if any(bound.source == e.source and e.target in bound.target for e in of_edges)
        ]
        known = [bound for bound in of_topic if bound is not None]
        bounds.append(max(known) if known and len(known) == len(of_topic) else None)
    return bounds


def _period(model: Model, topic: _Topic) -> int | None:
    """The least period that keeps a topic without a goal from filling the link: half of the period
    at which the model sends it, so that jitter loses no message.
    """
    callbacks = {one.id: one for one in model.callbacks}
    senders = {model.edges[number].source for number in topic.edges}
    if topic.goal is not None or len(senders) != 1:
        return None
    activation = callbacks[senders.pop()].activation
    if activation is None or activation.period is None or activation.kind != "periodic":
        return None
    return activation.period // 2


def _depth(model: Model, topic: _Topic) -> int:
    callbacks = {one.id: one for one in model.callbacks}
    depths = [callbacks[model.edges[number].target].queue_depth for number in topic.edges]
    return max(depth or DEPTH for depth in depths)


def _room(model: Model, topic: _Topic) -> int:
    largest = max(model.edges[number].message_size for number in topic.edges)
    return max(LEAST_ROOM, round(MORE_ROOM * largest))


def _goal(topic: _Topic) -> str:
    if topic.goal is None:
        return ""
    return f"  # {_remark(', '.join(topic.chains))}: {duration(topic.goal)}"


def _remark(text: str) -> str:
    """Names of the model on one line, which they must not leave."""
    return printable(text).replace("\n", " ")
