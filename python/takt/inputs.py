"""The inputs of commands: traces and documents, told apart by their content.

Where a command reads a model it takes traces too, and synthesises the model from them.
"""

from __future__ import annotations

import codecs
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

import takt_native
from takt import documents, files, pipeline, processors
from takt.arguments import Argument, BadParameter, Option
from takt.documents import Bounds, Measurement, Model
from takt.errors import UserError
from takt.text import console, times

SHELL_PIPES = "/dev/fd/"

MODEL_HELP = 'A takt/model document ("-": standard input), or traces to make one of.'


def _known_analysis(name: str) -> str:
    if name not in pipeline.ANALYSES:
        known = ", ".join(map(repr, pipeline.ANALYSES))
        raise BadParameter(f"{name!r} is not one of {known}")
    return name


BEST_PERIOD = "auto"
"""The word for the best period of reservations, in place of a number of milliseconds."""


def period(text: str) -> int | None:
    """The period of reservations in ns; None: the best. Raises BadParameter."""
    if text == BEST_PERIOD:
        return None
    value = times.nanoseconds(text)
    try:
        milliseconds = float(text) if value is None else value / 1e6
    except ValueError:
        milliseconds = math.nan
    if not 0.1 <= milliseconds <= 10_000:
        raise BadParameter(
            f"{text!r} is neither {BEST_PERIOD!r} nor from 0.1 to 10000 milliseconds",
            param_hint="--period",
        )
    return round(milliseconds * 1e6)


def why_period_is_short(period: int | None) -> str | None:
    """Why no bound holds with reservations of this period (ns) here; none: it is long enough."""
    tick = processors.tick()
    if period is None or period >= tick:
        return None
    return (
        f"this kernel enforces budgets at its ticks, every {tick / 1e6:g} ms: with a period of "
        f"{period / 1e6:g} ms, reservations may get their time that much later than bounds say"
    )


def cores(text: str) -> list[int]:
    """Processor numbers like "1-3,5"; "none": none. Raises BadParameter."""
    if text == "none":
        return []
    numbers: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal() and len(part) <= 9):
            raise BadParameter(f"{text!r} is not like 1-3,5, nor 'none'", param_hint="--pin")
        if int(last or first) < int(first):
            raise BadParameter(f"{part!r} ends before it begins", param_hint="--pin")
        numbers |= set(range(int(first), int(last or first) + 1))
    return sorted(numbers)


# Options that many commands have.
Models = Annotated[list[str], Argument(metavar="MODEL|TRACE...", help=MODEL_HELP)]
Goals = Annotated[
    str | None,
    Option(
        "--goals",
        metavar="FILE",
        help="Take chains and goals of this YAML file, which names them by topics and nodes; see "
        "docs/goals.md.",
    ),
]
Analysis = Annotated[
    str,
    Option(
        metavar="|".join(pipeline.ANALYSES),
        callback=_known_analysis,
        help="Which analysis; combined takes the better of the first two. tight: lower where "
        "callbacks send to each other, and slower. exact: also "
        "explores all schedules, where that is possible. edf_paper: "
        "deadline-based executors by the formula as printed, which is not safe.",
    ),
]


WhatIf = Annotated[
    str | None,
    Option(
        "--what-if",
        metavar="CHANGES",
        help="Change the model before, with commas between: time(CALLBACK or NODE)=3ms, "
        "reserve(EXECUTOR or NODE)=3ms/5ms, move(CALLBACK or NODE)=EXECUTOR or NODE, "
        "split(CALLBACK or NODE): an executor of its own, on another processor; "
        "executor(EXECUTOR)=KIND, order(EXECUTOR)=ORDER, both also for all: executor=KIND; "
        "budget(EXECUTOR)=3ms, priority(CALLBACK)=7, execution_time(CALLBACK or NODE)=66%, "
        "suspension(CALLBACK or NODE)=0%, period(CALLBACK)=12ms, delay=2ms: no message takes "
        "longer; goal(CHAIN)=90ms.",
    ),
]


class ModelText(NamedTuple):
    """A takt/model document as it was read or made."""

    text: str
    source: str
    """How messages call it."""

    def parsed(self) -> Model:
        """The model with its defaults filled in; warnings are said. UserError if it is none."""
        return pipeline.read_model(self.text, self.source)


class GoalsFile(NamedTuple):
    """A goals file, which may also say what links there are within nodes."""

    text: str
    source: str
    """How messages call it."""

    @property
    def links(self) -> dict[str, str]:
        """The option of takt_native for what it says of links."""
        return {"text": self.text, "source": self.source}

    @property
    def tolerance(self) -> float | None:
        """By how many percent a time may grow; None: it does not say. Raises InputError."""
        return takt_native.goals_tolerance(self.text, self.source)


def goals_file(path: str) -> GoalsFile:
    """Reads it, once: it may be a pipe."""
    return GoalsFile(files.read_document(path), files.source_name(path))


@dataclass
class Given:
    """The inputs of a command."""

    traces: list[str] = field(default_factory=list)
    model: ModelText | None = None
    model_path: str | None = None
    bounds: Bounds | None = None
    measurement: Measurement | None = None


@dataclass(frozen=True)
class Evaluation:
    """A model with its bounds, and what was measured of it."""

    text: ModelText
    model: Model
    bounds: Bounds
    measurement: Measurement | None
    analysis: str
    """Which one the bounds are of."""
    title: str
    """The name of the recording, else of the model."""
    warnings: tuple[str, ...]
    """They say what the traces lost, and whether the documents fit together; each line once."""


def sort(paths: Sequence[str]) -> Given:
    """Tells documents from traces. UserError if there are two of one kind of document."""
    given = Given()
    for path in paths:
        if not is_document(path):
            given.traces.append(path)
            continue
        text, source = files.read_document(path), files.source_name(path)
        document = documents.parse_any(text, source)
        kind = document.format.removeprefix("takt/")
        if getattr(given, kind) is not None:
            raise UserError(f"{source}: a second {document.format} document; give one")
        setattr(given, kind, ModelText(text, source) if isinstance(document, Model) else document)
        if isinstance(document, Model):
            given.model_path = path
    return given


def model(paths: Sequence[str], goals: str | None = None) -> ModelText:
    """The given model, or the model made from the traces, with the chains of `goals` if a file is
    named. UserError if several are given.
    """
    read = goals_file(goals) if goals is not None else None
    if any(is_document(path) for path in paths):
        if len(paths) > 1:
            raise UserError(f"{paths[1]}: give one model, or traces alone")
        found = ModelText(files.read_document(paths[0]), files.source_name(paths[0]))
    else:
        found = _synthesized(paths, read)
    return with_goals(found, read)


@contextmanager
def model_file(paths: Sequence[str], goals: str | None = None) -> Iterator[tuple[str, str]]:
    """The path of a file with that model, for another program, and its name for messages."""
    if goals is None and len(paths) == 1 and Path(paths[0]).is_file() and is_document(paths[0]):
        yield paths[0], paths[0]
        return
    text, source = model(paths, goals)
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="takt-") as folder:
        path = Path(folder) / "model.json"
        path.write_text(text, encoding="utf-8")
        yield str(path), source


@contextmanager
def options_from(path: str | None, names: Iterable[str]) -> Iterator[None]:
    """Has a complaint about one of the options `names` name the file that holds them. Raises
    UserError in place of that takt_native.InputError.
    """
    try:
        yield
    except takt_native.InputError as error:
        complaint = str(error).removeprefix("options: ")
        name = re.match(r"\w*", complaint)
        if path is not None and name is not None and name[0] in names:
            raise UserError(f"{files.source_name(path)}: {complaint}") from error
        raise


def with_goals(model: ModelText, goals: GoalsFile | None) -> ModelText:
    """The model with the chains of a goals file in place of its own; None: as it is. If the goals
    do not fit, what its recording lacks may be why: that is said first. Raises
    takt_native.InputError.
    """
    if goals is None:
        return model
    try:
        text, warnings = takt_native.apply_goals(model.text, model.source, *goals)
    except takt_native.InputError:
        for warning in model.parsed().provenance.get("warnings", []):
            console.say(f"takt: warning: {warning}")
        raise
    for warning in warnings:
        console.say(f"takt: warning: {warning}")
    return ModelText(text, model.source)


def what_if(model: ModelText, changes: str | None) -> ModelText:
    """The model with changes as `--what-if` takes them; None: as it is. Raises
    takt_native.InputError.
    """
    if changes is None:
        return model
    return ModelText(pipeline.change(*model, changes), model.source)


def model_of(given: Given, goals: str | None = None) -> ModelText:
    """The model that is given, else that of the traces, with the chains of `goals` if a file is
    named. UserError if there is neither, or if bounds of another model are given.
    """
    if given.model is None and not given.traces:
        raise UserError("no model: add the takt/model document, or a trace")
    read = goals_file(goals) if goals is not None else None
    found = with_goals(given.model or _synthesized(given.traces, read), read)
    # A model that is made of traces depends on where they are.
    if given.model is not None and given.bounds is not None:
        _check_origin(given.bounds, found)
    return found


def evaluate(given: Given, analysis: str, goals: str | None = None) -> Evaluation:
    """What is not among the inputs is made from them: the model and the measurement from the
    traces, the bounds from the model.
    """
    return evaluate_model(given, model_of(given, goals), analysis)


def evaluate_model(given: Given, text: ModelText, analysis: str) -> Evaluation:
    """The same of a model that model_of() found."""
    bounds, measurement = given.bounds, given.measurement
    if bounds is None:
        bounds = pipeline.analyze(text.text, text.source, analysis)
    if measurement is None and given.traces:
        measurement = pipeline.measure(given.traces, text.text, text.source)
    parsed = text.parsed()
    origins = [parsed.provenance] + ([measurement.provenance] if measurement else [])
    warnings = [w for origin in origins for w in origin.get("warnings", [])]
    ran = [callback.count > 0 for callback in measurement.callbacks] if measurement else []
    if ran and not any(ran):
        warnings.append(
            f"no callback of {text.source} ran in the recording: is it a model of this system?"
        )
    return Evaluation(
        text,
        parsed,
        bounds,
        measurement,
        analysis=bounds.analysis if bounds.analysis in pipeline.ANALYSES else analysis,
        title=title(given.traces) or parsed.name or "Timing report",
        warnings=tuple(dict.fromkeys(warnings)),
    )


def paths_of_model(given: Given) -> list[str]:
    """What another command reads the same model from."""
    return given.traces if given.model_path is None else [given.model_path]


def _check_origin(bounds: Bounds, model: ModelText) -> None:
    """UserError if the bounds say that they are those of another model."""
    origins = bounds.provenance.get("inputs")
    known = {
        origin.get("sha256")
        for origin in (origins if isinstance(origins, list) else [])
        if isinstance(origin, dict)
    }
    if known and pipeline.digest(model.text) not in known:
        raise UserError(
            f"{model.source}: the bounds are those of another model; leave them out, or make them "
            "anew with takt analyze"
        )


def _synthesized(traces: Sequence[str], goals: GoalsFile | None = None) -> ModelText:
    links = {"links": goals.links} if goals is not None else {}
    made = pipeline.synthesize(traces, {"name": title(traces), **links})
    return ModelText(json.dumps(made), "the model of the traces")


def title(traces: Sequence[str]) -> str:
    """The name of a recording: the names of the traces without the endings of archives."""
    # Path.resolve would fail on a link to itself.
    return ", ".join(Path(os.path.realpath(trace)).name.split(".tar")[0] for trace in traces)


def is_lasting(path: str) -> bool:
    """Whether another command can read it: it is neither standard input nor a pipe of a shell."""
    return path != files.STANDARD_STREAM and not path.startswith(SHELL_PIPES)


def is_document(path: str) -> bool:
    """Whether it is a JSON document rather than a trace, by its name and its first bytes."""
    # A pipe from the shell can be read only once, so its first bytes cannot be inspected.
    if path.endswith(".json") or not is_lasting(path):
        return True
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return file.read(64).removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"{"
    except OSError:
        return False  # what reads it as a trace says why
