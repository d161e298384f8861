"""Plans: read from a file, or made of what an executor was told."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from rclpy.logging import get_logger

# After rclpy, whose libraries it shares.
import takt_executors
from takt.executors.kinds import Entity, Json


def planned_callbacks(
    schedule: Sequence[tuple[Entity, Json]], describe: Callable[[Entity, Json], Json | None]
) -> list[Json]:
    """A plan's callbacks for all entities except those for which `describe` returns None."""
    alike: dict[str, int] = {}
    callbacks = []
    for number, (entity, address) in enumerate(schedule):
        key = json.dumps(address)
        ordinal = alike.setdefault(key, 0)
        alike[key] += 1
        described = describe(entity, address)
        if described is None:
            continue
        found = {name: value for name, value in address.items() if name != "topic"}
        if "topic" in address:
            found["topics"] = [address["topic"]]
        callbacks.append({"id": str(number), **found, "ordinal": ordinal, **described})
    return callbacks


def read_plan(path: Path, executor: str) -> Json:
    """The plan's executor of that id, or its only one. Logs what the plan has that nobody knows.
    ValueError if there is none.
    """
    text, warnings = takt_executors.read_plan(str(path), executor)
    for warning in warnings:
        get_logger("takt").warning(warning)
    planned: Json
    (planned,) = json.loads(text)["executors"]
    if planned["rule"] == "table":
        raise ValueError(f"{path}: rclpy has no table-driven executors; plan another kind")
    return planned
