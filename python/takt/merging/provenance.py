"""What merging reads of a run's provenance, which anybody may have edited."""

from __future__ import annotations

from typing import Any

from takt.errors import UserError
from takt.typed import EMPTY, Document, FieldError

Json = dict[str, Any]


class Observed(Document):
    count: int
    min: int
    mean: float
    max: int


class Growth(Document):
    longest: tuple[int, ...]


class Provenance(Document):
    inputs: tuple[Json, ...] = ()
    hosts: tuple[str, ...] = ()
    cores: int = 0
    execution_time: str = "wall_time"
    suspension: str = "unknown"
    duration: int = 0
    start_up: int = 0
    losses: dict[str, int] = EMPTY
    left_out: tuple[str, ...] = ()
    chains_not_found: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()
    observed: dict[str, Observed] = EMPTY
    threads: tuple[Json, ...] = ()
    unnamed_work: tuple[Json, ...] = ()
    filters: tuple[Json, ...] = ()
    runs: tuple[Json, ...] = ()
    convergence: dict[str, Growth] = EMPTY


def check(model: Json) -> None:
    """UserError if it has a provenance that no Takt writes."""
    try:
        Provenance.read(model["provenance"])
    except FieldError as error:
        raise UserError(
            f'--merge: "{model["name"]}": {error.inside(".provenance")}; remove it, or make the '
            "model anew"
        ) from None
