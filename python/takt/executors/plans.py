"""Plans: read from a file, or made of what an executor was told."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

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
    """The executor of that id."""
    try:
        plan = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read as a plan: {error}") from error
    if not isinstance(plan, dict) or plan.get("format") != "takt/plan":
        raise ValueError(f"{path}: no takt/plan; make one with `takt plan MODEL -o plan.json`")
    executors = plan.get("executors")
    if not isinstance(executors, list) or not all(
        isinstance(one, dict) and isinstance(one.get("id"), str) for one in executors
    ):
        raise ValueError(f"{path}: executors: must be a list of executors with their ids")
    found: list[Json] = [one for one in executors if executor in ("", one["id"])]
    if len(found) != 1:
        ids = ", ".join(f'"{one["id"]}"' for one in executors)
        raise ValueError(f'{path}: no single executor "{executor}"; name one of {ids}')
    if found[0].get("rule") == "table":
        raise ValueError(f"{path}: rclpy has no table-driven executors; plan another kind")
    return found[0]
