"""Executors of several runs under one name each.

Executors that no program has announced are numbered in the order in which their callbacks were
made, which differs from run to run. They are the same if they run the same callbacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from takt.errors import UserError

Json = dict[str, Any]


def aligned(models: Sequence[Json]) -> list[Json]:
    """The models with each executor under the name that it has in the first run that shows one of
    its callbacks. UserError if two callbacks share an executor in some runs and not in others.
    """
    executor_of: dict[str, str] = {}
    result = []
    for model in models:
        names = _names(model, executor_of)
        result.append(_renamed(model, names))
        for callback in result[-1]["callbacks"]:
            executor_of.setdefault(callback["id"], callback["executor"])
    return result


def _names(model: Json, executor_of: dict[str, str]) -> dict[str, str]:
    """What the executors of this run are called in the earlier ones, by their ids."""
    names: dict[str, str] = {}
    witness: dict[str, str] = {}  # the callback that showed it
    for callback in model["callbacks"]:
        if (known := executor_of.get(callback["id"])) is None:
            continue
        own = callback["executor"]
        if names.setdefault(own, known) != known:
            raise _differ(witness[own], callback["id"])
        witness.setdefault(own, callback["id"])
    here: dict[str, str] = {}
    for own, name in names.items():
        if (other := here.setdefault(name, own)) != own:
            raise _differ(witness[other], witness[own])
    for executor in model["executors"]:
        own = name = executor["id"]
        if own in names:
            continue
        number = 1
        while name in here:
            number += 1
            name = f"{own}#{number}"
        names[own] = name
        here[name] = own
    return names


def _differ(one: str, other: str) -> UserError:
    return UserError(
        f'--merge: the executor of callbacks "{one}" and "{other}" is the same in some runs and '
        "not in others; merge runs of one composition"
    )


def _renamed(model: Json, names: dict[str, str]) -> Json:
    def rename(part: Sequence[Json], field: str) -> list[Json]:
        return [{**one, field: names.get(one[field], one[field])} for one in part]

    provenance = dict(model["provenance"])
    if "unnamed_work" in provenance:
        provenance["unnamed_work"] = rename(provenance["unnamed_work"], "executor")
    return {
        **model,
        "executors": rename(model["executors"], "id"),
        "callbacks": rename(model["callbacks"], "executor"),
        "provenance": provenance,
    }
