"""From traces to documents, by libtakt. Each function returns one document as parsed JSON."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import takt_native
from takt import __version__, console

Json = dict[str, Any]

ANALYSES: tuple[str, ...] = tuple(takt_native.ANALYSES.split(", "))
DEFAULT_ANALYSIS = "combined"


def validate(model_text: str, source: str) -> Json:
    """The model with all defaults filled in; what looks wrong but is accepted is said on standard
    error. Raises takt_native.InputError if it is not a valid `takt/model` document.
    """
    parsed = json.loads(takt_native.parse_model(model_text, source))
    for warning in parsed["warnings"]:
        console.say(f"takt: warning: {warning}")
    model: Json = parsed["model"]
    return model


def info(traces: Sequence[str]) -> Json:
    """What is in the traces (`takt/info`). Raises takt_native.InputError."""
    with console.progress("Reading the trace") as progress:
        return _document(takt_native.info(list(traces), progress))


def synthesize(traces: Sequence[str], options: Json | None = None) -> Json:
    """The timing model of what was recorded (`takt/model`). Raises takt_native.InputError."""
    with console.progress("Building the timing model") as progress:
        return _document(takt_native.synthesize(list(traces), json.dumps(options or {}), progress))


def analyze(model_text: str, source: str, analysis: str = DEFAULT_ANALYSIS) -> Json:
    """Response-time bounds of a model (`takt/bounds`). Raises takt_native.InputError."""
    return _derived(takt_native.analyze(model_text, source, analysis), model_text, source)


def explain(model_text: str, source: str, chain: str, analysis: str = DEFAULT_ANALYSIS) -> Json:
    """What the bound of a chain is made of (`explanation` of `takt/bounds`). Raises
    takt_native.InputError.
    """
    explanation: Json = json.loads(takt_native.explain(model_text, source, analysis, chain))
    return explanation


def sensitivity(model_text: str, source: str, analysis: str = DEFAULT_ANALYSIS) -> Json:
    """How far a model is from missing a goal (`takt/sensitivity`). Raises
    takt_native.InputError.
    """
    return _document(takt_native.sensitivity(model_text, source, analysis))


def measure(traces: Sequence[str], model_text: str, source: str) -> Json:
    """What the traces say of the model's callbacks and chains (`takt/measurement`). Raises
    takt_native.InputError.
    """
    with console.progress("Measuring callbacks and chains") as progress:
        return _document(takt_native.measure(list(traces), model_text, source, progress))


def simulate(model_text: str, source: str, options: Json) -> Json:
    """What a simulation of the model shows (`takt/simulation`); `options` as libtakt's
    takt/simulation/options.hpp names them, times in nanoseconds. Raises takt_native.InputError.
    """
    with console.progress("Simulating") as progress:
        text = takt_native.simulate(model_text, source, json.dumps(options), progress)
    return _derived(text, model_text, source)


def replay(traces: Sequence[str], model_text: str, source: str) -> Json:
    """Whether simulated executors decide as those recorded in the traces did (`takt/replay`).
    Raises takt_native.InputError.
    """
    with console.progress("Replaying the trace") as progress:
        return _document(takt_native.replay(list(traces), model_text, source, progress))


def plan(model_text: str, source: str, options: Json) -> Json:
    """What the model's executors decide by (`takt/plan`); `options` as of simulate() that concern
    policies. Raises takt_native.InputError.
    """
    return _derived(takt_native.plan(model_text, source, json.dumps(options)), model_text, source)


def _derived(text: str, model_text: str, source: str) -> Json:
    """The document, saying where it came from: a model by this version on this host now."""
    document = _document(text)
    digest = hashlib.sha256(model_text.encode()).hexdigest()
    document["provenance"] |= {
        "takt": __version__,
        "host": platform.node(),
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "inputs": [{"path": source, "sha256": digest}],
    }
    return document


def _document(text: str) -> Json:
    document: Json = json.loads(text)
    return document
