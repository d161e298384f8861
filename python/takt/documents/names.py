"""What people call callbacks, executors and chains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import takt_native
from takt.documents import Callback, Chain, Model
from takt.errors import UserError
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


def chains_named(model: Model, chains: Sequence[str]) -> list[Chain]:
    """The chains of these ids. UserError if one is unknown."""
    known = {chain.id: chain for chain in model.chains}
    for chain in chains:
        if chain not in known:
            some = ", ".join(f'"{printable(name)}"' for name in list(known)[:5])
            more = ", …" if len(known) > 5 else ""
            raise UserError(f'there is no chain "{chain}"; the model has {some or "none"}{more}')
    return [known[chain] for chain in chains]
