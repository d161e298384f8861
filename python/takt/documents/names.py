"""What people call callbacks and executors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import takt_native
from takt.documents import Callback, Model
from takt.text.formatting import printable


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
    """What people call each executor, by id (takt/model/labels.hpp). Printable."""
    # By executor, in their order; a dict finds a node at once.
    nodes: dict[str, dict[str, None]] = {executor.id: {} for executor in model.executors}
    for callback in model.callbacks:
        if callback.node and callback.executor in nodes:
            nodes[callback.executor][callback.node] = None
    return {
        executor.id: printable(
            takt_native.executor_label(executor.id, executor.name or "", list(nodes[executor.id]))
        )
        for executor in model.executors
    }
