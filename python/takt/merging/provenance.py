"""What merging reads of a run's provenance, which anybody may have edited."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from takt.errors import UserError

Json = dict[str, Any]


class Observed(BaseModel):
    count: int
    min: int
    mean: float
    max: int


class Growth(BaseModel):
    longest: list[int]


class Provenance(BaseModel):
    model_config = ConfigDict(extra="allow")

    inputs: list[Json] = []
    hosts: list[str] = []
    cores: int = 0
    execution_time: str = "wall_time"
    duration: int = 0
    start_up: int = 0
    losses: dict[str, int] = {}
    left_out: list[str] = []
    chains_not_found: list[str] | None = None
    warnings: list[str] = []
    observed: dict[str, Observed] = {}
    threads: list[Json] = []
    unnamed_work: list[Json] = []
    runs: list[Json] = []
    convergence: dict[str, Growth] = {}


def check(model: Json) -> None:
    """UserError if it has a provenance that no Takt writes."""
    try:
        Provenance.model_validate(model["provenance"])
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in ("provenance", *first["loc"]))
        raise UserError(
            f'--merge: {where} of "{model["name"]}": {first["msg"].lower()}; remove it, or make '
            "the model anew"
        ) from None
