"""What people call callbacks and executors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from takt.documents import Callback, Model
from takt.formatting import count, printable


def label(callback: Callback) -> str:
    """How people call a callback: its node, and its topic where it has one. Printable."""
    node = callback.node or callback.name or callback.id
    return printable(f"{node} ({callback.topic})" if callback.topic else node)


def labels(callbacks: Iterable[Callback]) -> dict[str, str]:
    """The names that people use, by id; equal names have the id added."""
    names = {callback.id: label(callback) for callback in callbacks}
    shared = Counter(names.values())
    return {
        id_: name if shared[name] == 1 else f"{name} [{printable(id_)}]"
        for id_, name in names.items()
    }


def executor_labels(model: Model) -> dict[str, str]:
    """What people call each executor, by id: the name that somebody gave it, else its nodes, with
    the id that messages use.
    """
    # By executor, in their order; a dict finds a node at once.
    nodes: dict[str, dict[str, None]] = {executor.id: {} for executor in model.executors}
    for callback in model.callbacks:
        if callback.node and callback.executor in nodes:
            nodes[callback.executor][callback.node] = None
    names = {}
    for executor in model.executors:
        own = list(nodes[executor.id])
        if (executor.name and executor.name != executor.id) or not own:
            names[executor.id] = printable(executor.name or executor.id)
            continue
        others = f" and {count(len(own) - 1, 'more node')}" if len(own) > 1 else ""
        names[executor.id] = printable(f"{own[0]}{others} [{executor.id}]")
    return names
