"""The viewer's page: what happened, or what a model says, with bounds, goals and verdicts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import takt_native
from takt import pipeline
from takt.documents import Bounds, Explanation, Measurement, Model, Term
from takt.documents.names import labels
from takt.inputs import Evaluation, Given
from takt.report import modelled, page, viewer
from takt.text import glossary
from takt.text.formatting import count, duration
from takt.verdicts import assumptions, tables
from takt.verdicts.verdict import Guaranteed, Status, Verdict

Json = dict[str, Any]

NEARLY = 0.8
"""Share of a goal from which a latency nearly misses it."""

MOST_EXPLAINED = 50
"""The bounds of so many chains are explained."""

PARTS = {
    "execution": "running",
    "earlier": "executor",
    "interference": "executor",
    "blocking": "executor",
    "overhead": "executor",
    "releases": "executor",
    "supply": "reservation",
    "delay": "transport",
    "sampling": "timer",
}
"""The part of a measured instance that a term of a bound limits."""


def page_of(
    traces: Sequence[str],
    evaluation: Evaluation,
    verdicts: list[Verdict],
    title: str,
    comparison: Json | None = None,
    asking: tables.Asking | None = None,
) -> str:
    """One HTML page that loads nothing: of the recording, or of the documents where there is none.
    `comparison` is a table of takt/viewer documents; `asking` says how takt flow tells of the
    page's instances, if it can. Raises takt_native.InputError.
    """
    model, bounds, measurement = evaluation.model, evaluation.bounds, evaluation.measurement
    if traces:
        index, columns = pipeline.view(traces, evaluation.text.text, evaluation.text.source)
    else:
        index, columns = modelled.document(model, bounds, measurement)
    if comparison is not None:
        index["comparison"] = comparison
    explained = explanations(evaluation)
    complete(index, model, bounds, measurement, verdicts, title, explained, asking)
    return viewer.page(index, columns)


def asking(given: Given, goals: str | None) -> tables.Asking:
    """For a page, which does not know what its inputs are called where it is read."""
    return tables.Asking("TRACE" if given.model is None else "TRACE MODEL", goals and "FILE")


def explanations(evaluation: Evaluation) -> dict[str, Explanation]:
    """Explanations of the bounds of latencies, of the first chains, by chain; of a recording, of
    the first that it has instances of. Where bounds were made in another way, there is none.
    """
    seen = evaluation.measurement.chains if evaluation.measurement else ()
    measured = {chain.id for chain in seen if chain.count}
    text, source = evaluation.text
    wanted = [
        chain
        for chain in evaluation.bounds.chains
        if chain.bound is not None
        and chain.kind == "latency"
        and (evaluation.measurement is None or chain.id in measured)
    ]
    explained = {}
    for chain in wanted[:MOST_EXPLAINED]:
        with contextlib.suppress(takt_native.InputError):
            found = pipeline.explain(text, source, chain.id, evaluation.analysis)
            if found.bound == chain.bound:
                explained[chain.id] = found
    return explained


def complete(
    index: Json,
    model: Model,
    bounds: Bounds,
    measurement: Measurement | None,
    verdicts: list[Verdict],
    title: str,
    explained: Mapping[str, Explanation] | None = None,
    asking: tables.Asking | None = None,
) -> None:
    """Adds to the index of a recording or a model what bounds, goals and verdicts say of it."""
    findings = assumptions.examine(model, bounds, measurement)
    index["title"] = title
    index["facts"] = page.facts(model, bounds, measurement)
    _add_bounds(index, bounds)
    _add_verdicts(index, verdicts)
    if asking is not None:
        for chain in index["chains"]:
            chain["asking"] = asking.command(chain["name"], len(verdicts))
    _add_terms(index, model, verdicts, explained or {})
    index["answer"] = list(_answer(index, verdicts, measurement is not None))
    notices = page.notices(verdicts, findings, bounds, model, measurement)
    index["warnings"] = [*notices, *index["warnings"]]
    index["assumptions"] = list(page.assumption_rows(findings, measurement))
    index["glossary"] = [[word, meaning] for word, meaning in glossary.entries().items()]
    given = (model, bounds, measurement)
    documents = [document for document in given if document is not None]
    index["provenance"] = [[name, value] for name, value in page.origin(documents)]


def _add_bounds(index: Json, bounds: Bounds) -> None:
    bound_of = {bound.id: bound.bound for bound in bounds.callbacks}
    for callback in index["callbacks"]:
        callback["bound"] = bound_of.get(callback["id"])


def _add_verdicts(index: Json, verdicts: list[Verdict]) -> None:
    for chain, judged in zip(index["chains"], verdicts, strict=True):
        chain["bound"] = judged.bound.bound if judged.bound else None
        chain["verdict"] = judged.summary
        chain["late"] = judged.late
        chain["tone"] = page.tone(judged)
        if chain["tone"] == "good" and _nearly(judged):
            chain["tone"] = "warn"
            chain["verdict"] = "nearly missed"


def _add_terms(
    index: Json, model: Model, verdicts: list[Verdict], explained: Mapping[str, Explanation]
) -> None:
    names = labels(model.callbacks)
    for chain, judged in zip(index["chains"], verdicts, strict=True):
        explanation = explained.get(judged.chain.id)
        if explanation is None:
            continue
        chain["terms"] = [
            {
                "part": PARTS.get(term.kind, ""),
                "text": _words(term, names),
                "time": term.time,
            }
            for segment in explanation.segments
            for term in segment.terms
        ]


def _words(term: Term, names: Mapping[str, str]) -> str:
    callback = names.get(term.callback or "", term.callback or "")
    often = f", {term.instances} times" if (term.instances or 0) > 1 else ""
    return f"{tables.term_in_words(term.kind, callback)}{often}"


def _nearly(judged: Verdict) -> bool:
    goal, measured = judged.chain.goal, judged.measured
    if goal is None or measured is None or measured.max is None:
        return False
    return measured.max > NEARLY * goal


def _answer(index: Json, verdicts: list[Verdict], measured: bool) -> Iterator[Json]:
    """First how many goals were kept, then each chain that misses or nearly misses, worst first.
    Where nothing was measured: how many are guaranteed, and each that is not.
    """
    goals = [judged for judged in verdicts if judged.chain.goal is not None]
    missed = sum(judged.missed for judged in goals) if measured else 0
    unpromised = sum(judged.unpromised for judged in goals)
    if goals:
        number = count(len(goals), "goal")
        if missed:
            tone, text = "bad", f"{missed} of {number} missed."
        elif unpromised:
            tone = "warn"
            text = (
                f"{number}, none missed in this recording, but {unpromised} not guaranteed."
                if measured
                else f"{unpromised} of {number} not guaranteed."
            )
        elif measured:
            tone, text = "good", f"{number}, none missed in this recording."
        else:
            tone, text = "good", f"{number}, guaranteed as far as the model is true."
        yield {"tone": tone, "text": text, "chain": -1}
    else:
        told = "missed" if measured else "guaranteed"
        text = f"No chain has a goal: give them with --goals, and the page says which are {told}."
        yield {"tone": "none", "text": text, "chain": -1}
    if idle := sum(judged.idle for judged in verdicts):
        text = f"No instance of {count(idle, 'chain')} was seen from end to end; none has a goal."
        yield {"tone": "none", "text": text, "chain": -1}
    longest = "max" if measured else "bound"
    order = sorted(
        range(len(verdicts)),
        key=lambda i: (index["chains"][i]["tone"] != "bad", -(index["chains"][i][longest] or 0)),
    )
    for i in order:
        chain, judged = index["chains"][i], verdicts[i]
        if chain["tone"] not in ("bad", "warn") or judged.status is Status.UNBOUNDED:
            continue
        if not measured:
            text = "; ".join(filter(None, (judged.explanation, *judged.advice)))
            text = f"{chain['name']}: {chain['verdict']}: {text}."
            yield {"tone": chain["tone"], "text": text, "chain": i}
            continue
        longest_seen = duration(chain["max"])
        limit = f" of {duration(chain['goal'])}" if chain["goal"] is not None else ""
        late = f", {judged.late} of {chain['count']} late" if judged.late else ""
        text = f"{chain['name']}: {longest_seen}{limit}{late}: {chain['verdict']}. {chain['cause']}"
        remedy = "".join(f" {advice[:1].upper()}{advice[1:]}." for advice in judged.advice)
        if judged.guaranteed is Guaranteed.REFUTED:
            # The others are among the warnings.
            first, *more = judged.reasons
            others = f", and {count(len(more), 'other')}" if more else ""
            remedy = f" What failed: {first}{others}.{remedy}"
        yield {"tone": chain["tone"], "text": f"{text.strip()}{remedy}", "chain": i}
