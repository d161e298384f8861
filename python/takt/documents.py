"""The documents that reports and verdicts read, as typed values.

libtakt validates a model in full (takt_native.parse_model). What is checked here is what this side
of the house relies on: that a file from anywhere has the shape and the ranges of its format.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from takt.errors import UserError

LARGEST_TIME = 2**63 - 1

Time = Annotated[int, Field(ge=-LARGEST_TIME, le=LARGEST_TIME)]
"""Nanoseconds."""
Span = Annotated[int, Field(ge=0, le=LARGEST_TIME)]
"""Nanoseconds, not negative."""
Count = Annotated[int, Field(ge=0, le=LARGEST_TIME)]


class Document(BaseModel):
    """Part of a document. Fields that this version does not know are kept, not refused."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, populate_by_name=True)


# takt/model


class Supply(Document):
    kind: Literal["dedicated", "reservation"] = "dedicated"
    budget: Span | None = None
    period: Span | None = None
    deadline: Span | None = None


class Executor(Document):
    id: str
    name: str = ""
    kind: str = "single_threaded"
    timers: str = "polled"
    threads: Count = 1
    cpu: int | None = None
    supply: Supply = Supply()
    process: str | None = None


class Curve(Document):
    curve: tuple[Span, ...] = ()


class Activation(Document):
    kind: Literal["periodic", "sporadic", "min_distance"]
    period: Annotated[int, Field(gt=0, le=LARGEST_TIME)] | None = None
    min_separation: Annotated[int, Field(gt=0, le=LARGEST_TIME)] | None = None
    jitter: Span = 0
    values: tuple[Span, ...] = ()


class Callback(Document):
    id: str
    name: str = ""
    node: str = ""
    executor: str
    kind: str = "subscription"
    topic: str | None = None
    registration: int = 0
    execution_time: Curve = Curve()
    activation: Activation | None = None


class Edge(Document):
    source: str = Field(alias="from")
    target: str = Field(alias="to")
    topic: str | None = None
    delay: Span = 0


class Join(Document):
    callback: str
    kind: Literal["and", "newest"]
    inputs: tuple[str, ...]


class Chain(Document):
    id: str
    callbacks: tuple[str, ...]
    goal: Span | None = None
    rank: int | None = None


class Model(Document):
    format: Literal["takt/model"]
    version: Literal[1]
    name: str = ""
    provenance: dict[str, Any] = {}
    executors: tuple[Executor, ...] = ()
    callbacks: tuple[Callback, ...] = ()
    edges: tuple[Edge, ...] = ()
    joins: tuple[Join, ...] = ()
    chains: tuple[Chain, ...] = ()


# takt/bounds


class CallbackBound(Document):
    id: str
    bound: Span | None = None
    by: str | None = None
    reason: str | None = None


class ChainBound(Document):
    id: str
    bound: Span | None = None
    goal: Span | None = None
    met: bool | None = None
    reason: str | None = None
    reaction_time: Span | None = None
    reaction_time_reason: str | None = None
    data_age: Span | None = None
    data_age_reason: str | None = None


class Term(Document):
    """A part of a bound; see takt/analysis/explanation.hpp. Some kinds take time off."""

    kind: str
    callback: str | None = None
    instances: int | None = None
    time: int


class ExplainedSegment(Document):
    executor: str
    callbacks: tuple[str, ...]
    by: str
    bound: Span
    terms: tuple[Term, ...]


class Explanation(Document):
    chain: str
    bound: Span
    dominating: Term
    segments: tuple[ExplainedSegment, ...]


class Bounds(Document):
    format: Literal["takt/bounds"]
    version: Literal[1]
    analysis: str = ""
    converged: bool = True
    provenance: dict[str, Any] = {}
    callbacks: tuple[CallbackBound, ...] = ()
    chains: tuple[ChainBound, ...] = ()
    explanation: Explanation | None = None


# takt/measurement


class Statistics(Document):
    """Of a duration; the values are null where nothing was measured."""

    min: Time | None = None
    mean: float | None = None
    p50: Time | None = None
    p99: Time | None = None
    max: Time | None = None
    samples: tuple[Time, ...] = ()


class MeasuredCallback(Document):
    id: str
    count: Count
    execution_time: Statistics = Statistics()
    response_time: Statistics = Statistics()
    min_distance: tuple[Span, ...] = ()
    """min_distance[n - 1]: the shortest span that contained n consecutive activations."""


class MeasuredChain(Statistics):
    id: str
    count: Count
    incomplete: Count = 0


class Way(Document):
    """Of messages from rmw_publish to rmw_take, split by what Fast DDS does."""

    count: Count
    sending: Statistics
    transport: Statistics
    waiting: Statistics


class MeasuredEdge(Document):
    source: str = Field(alias="from")
    target: str = Field(alias="to")
    count: Count
    delay: Statistics = Statistics()
    way: Way | None = None


class ObservedThread(Document):
    """An executor's scheduling as it said itself when it began to spin."""

    id: str
    policy: Literal["other", "fifo", "rr", "deadline"]
    runtime: Span = 0
    deadline: Span = 0
    period: Span = 0
    priority: int = 0
    cpu: int = -1


class Instance(Document):
    executor: str
    thread: int = 0
    callback: str
    activation: Time | None = None
    start: Time
    end: Time


class Measurement(Document):
    format: Literal["takt/measurement"]
    version: Literal[1]
    provenance: dict[str, Any] = {}
    losses: dict[str, Count] = {}
    executors: tuple[ObservedThread, ...] = ()
    callbacks: tuple[MeasuredCallback, ...] = ()
    chains: tuple[MeasuredChain, ...] = ()
    edges: tuple[MeasuredEdge, ...] = ()
    timeline: tuple[Instance, ...] = ()


# takt/simulation


class SimulatedCallback(Statistics):
    """Of the response time of completed instances."""

    id: str
    count: Count
    activations: Count = 0
    skipped: Count = 0
    discarded: Count = 0


class SimulatedChain(Statistics):
    id: str
    count: Count
    goal: Span | None = None


class Simulation(Document):
    format: Literal["takt/simulation"]
    version: Literal[1]
    provenance: dict[str, Any] = {}
    events: Count = 0
    unfinished: Count = 0
    warnings: tuple[str, ...] = ()
    callbacks: tuple[SimulatedCallback, ...] = ()
    chains: tuple[SimulatedChain, ...] = ()
    timeline_is_partial: bool = False
    timeline: tuple[Instance, ...] = ()


class _Header(BaseModel):
    format: str
    version: int


KINDS: dict[str, type[Model] | type[Bounds] | type[Measurement]] = {
    "takt/model": Model,
    "takt/bounds": Bounds,
    "takt/measurement": Measurement,
}

AnyDocument = TypeVar("AnyDocument", bound=BaseModel)


def parse_any(text: str, source: str) -> Model | Bounds | Measurement:
    """Reads a document of whichever format it says it has. UserError names the field."""
    header = parse(_Header, text, source)
    if header.format not in KINDS:
        known = ", ".join(KINDS)
        raise UserError(f"{source}: format: {header.format!r} is not known; one of {known}")
    return parse(KINDS[header.format], text, source)


def parse(kind: type[AnyDocument], text: str, source: str) -> AnyDocument:
    """Reads a document of one format. UserError names the field."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = _path(first["loc"])
        raise UserError(f"{source}: {field}{': ' if field else ''}{first['msg']}") from error


def _path(location: tuple[int | str, ...]) -> str:
    """("chains", 2, "goal") as chains[2].goal."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).lstrip(".")
