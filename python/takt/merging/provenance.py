"""What merging reads of a run's provenance, which anybody may have edited."""

from __future__ import annotations

from typing import Any

from takt.documents import Model
from takt.documents.typed import EMPTY, Document, FieldError
from takt.errors import UserError

Json = dict[str, Any]


class Observed(Document):
    count: int
    min: int
    mean: float
    max: int


class Growth(Document):
    longest: tuple[int, ...]


class UnnamedWork(Document):
    executor: str


class Provenance(Document):
    tool: str | None = None
    recorded: Any = None
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
    unnamed_work: tuple[UnnamedWork, ...] = ()
    filters: tuple[Json, ...] = ()
    runs: tuple[Json, ...] = ()
    convergence: dict[str, Growth] = EMPTY


def of(model: Model) -> Provenance:
    """UserError if it is one that no Takt writes."""
    try:
        return Provenance.read(model.provenance)
    except FieldError as error:
        raise UserError(
            f'--merge: "{model.name}": {error.inside(".provenance")}; remove it, or make the '
            "model anew"
        ) from None
