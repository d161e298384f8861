"""Observed waits of a flow beside the terms of a bound: which part of the bound was never used."""

from __future__ import annotations

from typing import Any

from takt import pipeline
from takt.documents import Explanation, Model
from takt.errors import UserError
from takt.flows import flow as flows
from takt.inputs import ModelText
from takt.text.formatting import NONE, duration, printable
from takt.text.terminal import Table
from takt.verdicts.tables import TERMS

Json = dict[str, Any]
Key = tuple[str, str | None]

KINDS = {
    "earlier": "interference",
    "blocking": "interference",
    "releases": "overhead",
    "elapsed": "rounding",
    "limit": "rounding",
    "parallel": "rounding",
}
"""Kinds of terms that a recording cannot tell apart, by the kind that they are counted as."""

STAGES = {
    "waiting_in_executor": "interference",
    "in_transport": "delay",
    "in_shared_memory": "delay",
    "sending": "delay",
    "waiting_for_timer": "sampling",
    "waiting_for_input": "input",
    "waiting_for_reservation": "supply",
    "preempted": "supply",
    "blocked": "execution",
    "running": "execution",
}
"""The term that bounds the time in a stage."""

WORDS = {
    **TERMS,
    "interference": "{} runs before",
    "input": "other input of {}",
    "rounding": "of the analysis itself",
}


def compare(document: Json, model: ModelText, analysis: str) -> Json:
    """The model's chain that one of the flows followed, with each term of its bound and the most
    that an instance of the flow spent on it. UserError if no chain matches.
    """
    parsed = model.parsed()
    ids = document["in_model"]
    chain, flow = _matching(document, parsed, model.source)
    explanation = pipeline.explain(model.text, model.source, chain, analysis)
    terms = _terms(explanation, {executor.id for executor in parsed.executors})
    observed = _observed(flow, ids, terms)
    keys = sorted(dict.fromkeys([*terms, *observed]), key=lambda key: -terms.get(key, 0))
    return {
        "chain": chain,
        "bound": explanation.bound,
        "max": flow["max"],
        "terms": [
            {
                "kind": kind,
                "callback": callback,
                "bound": terms.get((kind, callback), 0),
                "observed": observed.get((kind, callback), 0),
            }
            for kind, callback in keys
        ],
    }


def table(compared: Json) -> Table:
    """Each term, its share of the bound and the most that was seen of it."""
    title = (
        f"{printable(compared['chain'])}: {duration(compared['max'])} at most, the bound is "
        f"{duration(compared['bound'])}"
    )
    shown = Table(title=title)
    shown.add_column("Part")
    for column in ("Bound", "Seen", "Used"):
        shown.add_column(column, right=True)
    for term in compared["terms"]:
        words = WORDS.get(term["kind"], term["kind"]).format(printable(term["callback"] or ""))
        used = f"{100 * term['observed'] / term['bound']:.0f} %" if term["bound"] > 0 else NONE
        shown.add_row(words, duration(term["bound"]), duration(term["observed"]), used)
    return shown


def _matching(document: Json, model: Model, source: str) -> tuple[str, Json]:
    """A chain of the model and the worst flow whose callbacks are the chain's."""
    if not document["flows"]:
        raise UserError(f"--bound: {flows.nothing(document)}")
    for flow in document["flows"]:
        callbacks = tuple(document["in_model"].get(step["callback"]) for step in flow["path"])
        for chain in model.chains:
            if chain.callbacks == callbacks:
                return chain.id, flow
    raise UserError(
        f"{source}: no chain goes the way of one of the flows; name its ends with --from and "
        "--to, or add it to the model with a goals file (takt model --goals)"
    )


def _terms(explanation: Explanation, executors: set[str]) -> dict[Key, int]:
    terms: dict[Key, int] = {}
    for segment in explanation.segments:
        if segment.executor not in executors:  # a link: all of it is seen as transport
            terms[("delay", None)] = terms.get(("delay", None), 0) + segment.bound
            continue
        for term in segment.terms:
            kind = KINDS.get(term.kind, term.kind)
            named = kind in ("execution", "interference", "sampling")
            key = (kind, term.callback if named else None)
            terms[key] = terms.get(key, 0) + term.time
    return terms


def _observed(flow: Json, ids: dict[str, str], terms: dict[Key, int]) -> dict[Key, int]:
    """The longest time of each term in any of the worst instances, with the model's callbacks."""
    most: dict[Key, int] = {}
    for instance in flow["worst"]:
        spent: dict[Key, int] = {}
        for part in instance["parts"]:
            kind = STAGES[part["stage"]]
            name = part["callback"] or flow["path"][part["step"]]["callback"]
            callback = ids.get(name, name)
            if kind == "interference" and part["callback"] is None:
                kind = "overhead"
            if kind == "execution" and (kind, callback) not in terms:
                # The bound of a segment counts its callbacks before the last as interference.
                kind = "interference"
            named = kind in ("execution", "interference", "sampling", "input")
            key = (kind, callback if named else None)
            spent[key] = spent.get(key, 0) + part["duration"]
        for key, time in spent.items():
            most[key] = max(most.get(key, 0), time)
    return most
