"""From traces and models to documents, by libtakt. Each function returns one document."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import takt_native
from takt import __version__, documents
from takt.documents import Bounds, Explanation, Measurement, Model, Simulation
from takt.documents.typed import AnyDocument
from takt.processors import Processors
from takt.text import console

Json = dict[str, Any]

ANALYSES: tuple[str, ...] = tuple(takt_native.ANALYSES.split(", "))
EFFORT: int = takt_native.EFFORT
"""The default number of steps that an analysis may take."""
EFFORT_PER_CALLBACK: int = takt_native.EFFORT_PER_CALLBACK
"""The default number of steps of a search for reservations, for each callback of the model."""
DEFAULT_ANALYSIS = "combined"


def read_model(model_text: str, source: str) -> Model:
    """The model with all defaults filled in; what looks wrong but is accepted is said on standard
    error. UserError if it is not a valid `takt/model` document.
    """
    model, warnings = documents.parse_model(model_text, source)
    for warning in warnings:
        console.say(f"takt: warning: {warning}")
    return model


def info(traces: Sequence[str]) -> Json:
    """What is in the traces (`takt/info`). Raises takt_native.InputError."""
    with console.progress("Reading the trace") as progress:
        return _document(takt_native.info(list(traces), progress))


def active_phase(traces: Sequence[str]) -> Json:
    """Allocations and page faults after start-up (`takt/active_phase`). Raises
    takt_native.InputError.
    """
    with console.progress("Reading the trace") as progress:
        return _document(takt_native.active_phase(list(traces), progress))


def synthesize(traces: Sequence[str], options: Json | None = None) -> Json:
    """The timing model of what was recorded (`takt/model`). Raises takt_native.InputError."""
    with console.progress("Building the timing model") as progress:
        made = _document(takt_native.synthesize(list(traces), json.dumps(options or {}), progress))
    if len(traces) > 1:
        from takt.documents import runs

        if warning := runs.in_a_row((trace, info([trace])) for trace in traces):
            made["provenance"].setdefault("warnings", []).append(warning)
    return made


def analyze(
    model_text: str, source: str, analysis: str = DEFAULT_ANALYSIS, effort: int = EFFORT
) -> Bounds:
    """Response-time bounds of a model, with at most `effort` steps of search. Raises
    takt_native.InputError.
    """
    with console.progress("Bounding response times"):
        text = takt_native.analyze(model_text, source, analysis, effort)
    return with_origin(documents.parse(Bounds, text, "bounds"), model_text, source)


def explain(
    model_text: str,
    source: str,
    chain: str,
    analysis: str = DEFAULT_ANALYSIS,
    effort: int = EFFORT,
) -> Explanation:
    """What the bound of a chain is made of. Raises takt_native.InputError."""
    text = takt_native.explain(model_text, source, analysis, chain, effort)
    return documents.parse(Explanation, text, "explanation")


def budget(
    model_text: str,
    source: str,
    *,
    analysis: str = DEFAULT_ANALYSIS,
    available: Processors,
    margin: int = 0,
    period: int | None = None,
    best_period: bool = False,
    effort: int | None = None,
    leave_core: bool = False,
) -> tuple[Json, str]:
    """The smallest reservations that guarantee a model's goals (`takt/budget`), and the model with
    them (`takt/model`). Their period is the model's, or `period`, or the best. The search takes
    about `effort` steps at most; by default EFFORT_PER_CALLBACK for each callback. `leave_core`:
    none is pinned to the first core, as `takt manage` and `takt apply` leave it to the system.
    Raises takt_native.InputError.
    """
    cores, capacity = list(range(available.cores)), available.capacity / 100
    with console.progress("Looking for reservations"):
        found, planned = takt_native.budget(
            model_text,
            source,
            analysis,
            margin,
            cores,
            capacity,
            period,
            best_period,
            effort,
            leave_core,
        )
    document = _document(found)
    document["provenance"] |= _origin(model_text, source)
    return document, planned


def assign_priorities(
    model_text: str, source: str, *, rule: str = "", analysis: str = DEFAULT_ANALYSIS
) -> tuple[list[Json], str]:
    """Fixed priorities that keep a model's goals: of each rule what it guarantees, and the model
    with those of `rule`, or of the one that guarantees the most chains. Raises
    takt_native.InputError.
    """
    with console.progress("Looking for priorities"):
        found, model = takt_native.assign_priorities(model_text, source, analysis, rule)
    assignments: list[Json] = json.loads(found)
    return assignments, model


def advise(model_text: str, source: str, analysis: str, available: Processors, effort: int) -> Json:
    """What would guarantee the missed goals of a model, as takt_native.advise() describes it.
    Raises takt_native.InputError.
    """
    cores, capacity = list(range(available.cores)), available.capacity / 100
    with console.progress("Looking for what would guarantee the goals"):
        found = takt_native.advise(model_text, source, analysis, cores, capacity, effort)
    return _document(found)


def own_executors(
    model_text: str, source: str, chain: str, analysis: str = DEFAULT_ANALYSIS
) -> list[Json]:
    """The executors of their own that lower a chain's bound, as takt_native.own_executors()
    describes them. Raises takt_native.InputError.
    """
    found: list[Json] = json.loads(takt_native.own_executors(model_text, source, chain, analysis))
    return found


def sensitivity(model_text: str, source: str, analysis: str = DEFAULT_ANALYSIS) -> Json:
    """How far a model is from missing a goal (`takt/sensitivity`). Raises
    takt_native.InputError.
    """
    return _document(takt_native.sensitivity(model_text, source, analysis))


def change(model_text: str, source: str, changes: str) -> str:
    """The model with changes like "executor=edf, budget(e1)=3ms" made to it. Raises
    takt_native.InputError.
    """
    return takt_native.change(model_text, source, changes)


def measure(traces: Sequence[str], model_text: str, source: str) -> Measurement:
    """What the traces say of the model's callbacks and chains. Raises takt_native.InputError."""
    with console.progress("Measuring callbacks and chains") as progress:
        text = takt_native.measure(list(traces), model_text, source, progress)
    return documents.parse(Measurement, text, "measurement")


def flow(traces: Sequence[str], options: Json) -> Json:
    """The flows of messages in the traces (`takt/flow`); `options` as takt_native.flow() names
    them. Raises takt_native.InputError.
    """
    with console.progress("Following the messages") as progress:
        return _document(takt_native.flow(list(traces), json.dumps(options), progress))


def view(traces: Sequence[str], model_text: str, source: str) -> tuple[Json, dict[str, bytes]]:
    """What happened in the traces, for the viewer: the index of a `takt/viewer` document, without
    verdicts, and its tables. Raises takt_native.InputError.
    """
    with console.progress("Following the messages") as progress:
        index, tables = takt_native.view(list(traces), model_text, source, progress)
    return _document(index), tables


def store_view(
    traces: Sequence[str], model_text: str, source: str, folder: str, *, all_chains: bool = False
) -> tuple[Json, Measurement]:
    """As view(), for traces of any size: returns the index and the measurement of the same pass.
    The tables become files of the folder, which takt_native.StoredView reads. Instances of chains
    that would take more room than the recording are left out, unless `all_chains`. Raises
    takt_native.InputError.
    """
    with console.progress("Indexing the trace") as progress:
        index, measured = takt_native.store_view(
            list(traces), model_text, source, folder, all_chains, progress
        )
    return _document(index), documents.parse(Measurement, measured, "measurement")


def simulate(model_text: str, source: str, options: Json, recording: str = "") -> Simulation:
    """What a simulation of the model shows; `options` as libtakt's
    takt/simulation/options.hpp names them, times in nanoseconds. `recording`: an empty folder for a
    recording of the run, if there is to be one. Raises takt_native.InputError.
    """
    import takt_design

    with console.progress("Simulating") as progress:
        text = takt_design.simulate(model_text, source, json.dumps(options), recording, progress)
    return with_origin(documents.parse(Simulation, text, "simulation"), model_text, source)


def replay(traces: Sequence[str], model_text: str, source: str) -> Json:
    """Whether simulated executors decide as those recorded in the traces did (`takt/replay`).
    Raises takt_native.InputError.
    """
    import takt_design

    with console.progress("Replaying the trace") as progress:
        return _document(takt_design.replay(list(traces), model_text, source, progress))


def plan(model_text: str, source: str, options: Json) -> Json:
    """The plan of the model's executors (`takt/plan`); `options`: those of simulate() that concern
    policies. Raises takt_native.InputError.
    """
    import takt_design

    document = _document(takt_design.plan(model_text, source, json.dumps(options)))
    document["provenance"] |= _origin(model_text, source)
    return document


def with_origin(document: AnyDocument, model_text: str, source: str) -> AnyDocument:
    """The document, with this model named as its origin."""
    provenance = {**getattr(document, "provenance"), **_origin(model_text, source)}  # noqa: B009
    return document.replace(provenance=provenance)


def digest(model_text: str) -> str:
    """What tells a model from others in the documents that were made of it."""
    import hashlib

    return hashlib.sha256(model_text.encode()).hexdigest()


def _origin(model_text: str, source: str) -> Json:
    return made_of([{"path": source, "sha256": digest(model_text)}])


def made_of(inputs: list[Json]) -> Json:
    """Where a document came from: from these inputs, by this version on this host now."""
    return {
        "takt": __version__,
        "host": os.uname().nodename,
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "inputs": inputs,
    }


def _document(text: str) -> Json:
    document: Json = json.loads(text)
    return document
