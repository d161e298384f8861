"""What would guarantee a goal that is not guaranteed: faster messages, the cheapest change of one
budget, priority, kind of executor or executor of a callback, larger reservations, or shorter
callbacks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

import takt_native
from takt import pipeline
from takt.assumptions import influencing
from takt.documents import Bounds, Chain, Executor, Model
from takt.formatting import duration
from takt.inputs import Evaluation, ModelText
from takt.names import executor_labels
from takt.verdict import Status, Verdict

STEPS = 100
"""Budgets and execution times are tried in steps of a percent."""


def with_remedies(
    evaluation: Evaluation, verdicts: Iterable[Verdict], analysis: str = pipeline.DEFAULT_ANALYSIS
) -> list[Verdict]:
    """See of_model()."""
    return of_model(evaluation.text, evaluation.model, verdicts, analysis)


def of_model(
    text: ModelText,
    model: Model,
    verdicts: Iterable[Verdict],
    analysis: str = pipeline.DEFAULT_ANALYSIS,
) -> list[Verdict]:
    """The verdicts. Each verdict on a goal that is missed or not guaranteed gets a line about a
    change that would guarantee it, the first of these that suffices: shorter transport delays, the
    cheapest single change as `takt analyze --what-if` takes it, larger budgets of all executors
    that the bound depends on, shorter execution times on them.
    """
    return [
        replace(verdict, remedy=_Search(text, model, verdict.chain, analysis).answer())
        if verdict.status in (Status.NOT_GUARANTEED, Status.MISSED)
        else verdict
        for verdict in verdicts
    ]


def can_be_reserved(
    text: ModelText, model: Model, analysis: str = pipeline.DEFAULT_ANALYSIS
) -> bool:
    """Whether larger reservations guarantee all goals: those of whole processors do."""
    reservations = [e for e in model.executors if e.supply.kind == "reservation"]
    if not reservations:
        return False
    analyzer = takt_native.Analyzer(text.text, text.source, analysis)
    for executor in reservations:
        analyzer.set_budget(executor.id, _whole_processor(executor))
    bounds = Bounds.read(json.loads(analyzer.bounds()))
    return all(chain.met is not False for chain in bounds.chains)


def _whole_processor(executor: Executor) -> int:
    """The largest budget, in nanoseconds, that the executor's reservation can have."""
    return executor.supply.deadline or executor.supply.period or 0


class _Search:
    def __init__(self, text: ModelText, model: Model, chain: Chain, analysis: str) -> None:
        self._chain = chain
        self._goal = chain.goal or 0
        involved = influencing(model, chain.callbacks)
        self._executors = [executor for executor in model.executors if executor.id in involved]
        self._callbacks = [c for c in model.callbacks if c.executor in involved]
        self._names = executor_labels(model)
        self._text, self._analysis = text, analysis
        self._analyzer = takt_native.Analyzer(text.text, text.source, analysis)

    def answer(self) -> str:
        return (
            self._by_delays()
            or self._by_one_change()
            or self._by_budgets()
            or self._by_execution_times()
            or "no single change, larger reservations or shorter callbacks would guarantee it; "
            f"takt analyze --explain {json.dumps(self._chain.id)} says what the bound is made of"
        )

    def _by_delays(self) -> str | None:
        document = json.loads(self._text.text)
        given = document.get("edges") or []
        longest = max((edge.get("delay") or 0 for edge in given), default=0)

        def limit(step: int) -> int:
            return longest * (STEPS - step) // STEPS

        def holds(step: int) -> bool:
            edges = [{**edge, "delay": min(edge.get("delay") or 0, limit(step))} for edge in given]
            text = json.dumps({**document, "edges": edges})
            return self._is_within(takt_native.analyze(text, self._text.source, self._analysis))

        step = _first(holds) if longest else None
        # No message is delivered instantly, so that would be no remedy.
        if step is None or step == STEPS:
            return None
        return (
            f"guaranteed if no message took longer than {duration(limit(step))} between executors; "
            f"the longest took {duration(longest)}, as the middleware's threads have no reservation"
        )

    def _by_one_change(self) -> str | None:
        found = takt_native.remedy(
            self._text.text, self._text.source, self._analysis, self._chain.id
        )
        if found is None:
            return None
        change, bound = found
        return (
            f"guaranteed, with a bound of {duration(bound)}, by the change "
            f"{json.dumps(change, ensure_ascii=False)}, which takt analyze --what-if shows"
        )

    def _by_budgets(self) -> str | None:
        reservations = [e for e in self._executors if e.supply.kind == "reservation"]
        if not reservations:
            return None
        budgets = {e.id: e.supply.budget or 0 for e in reservations}
        # In the last step, each has a whole processor.
        whole = {e.id: _whole_processor(e) for e in reservations}

        def budget(executor: str, step: int) -> int:
            now = budgets[executor]
            return now + (whole[executor] - now) * step // STEPS

        def holds(step: int) -> bool:
            for executor in budgets:
                self._analyzer.set_budget(executor, budget(executor, step))
            return self._is_met()

        step = _first(holds)
        for executor, former in budgets.items():
            self._analyzer.set_budget(executor, former)
        if step is None:
            return None
        larger = ", ".join(
            f"{self._names[e.id]} {duration(budget(e.id, step))} instead of "
            f"{duration(budgets[e.id])} every {duration(e.supply.period)}"
            for e in reservations
        )
        return f"guaranteed with larger reservations: {larger}"

    def _by_execution_times(self) -> str | None:
        def holds(step: int) -> bool:
            for callback in self._callbacks:
                self._analyzer.scale_execution_time(callback.id, STEPS - step)
            return self._is_met()

        step = _first(holds)
        for callback in self._callbacks:
            self._analyzer.scale_execution_time(callback.id, STEPS)
        if step is None or step == STEPS:
            return None
        names = ", ".join(self._names[executor.id] for executor in self._executors)
        return f"guaranteed if the callbacks of {names} ran {step} % shorter"

    def _is_met(self) -> bool:
        return self._is_within(self._analyzer.bounds())

    def _is_within(self, text: str) -> bool:
        bounds = Bounds.read(json.loads(text))
        bound = next(b.bound for b in bounds.chains if b.id == self._chain.id)
        return bound is not None and bound <= self._goal


def _first(holds: Callable[[int], bool]) -> int | None:
    """The first step from 1 to STEPS at which it holds; it then holds at all later ones, as bounds
    grow with execution times and shrink with budgets (ros-llama fact 23).
    """
    if not holds(STEPS):
        return None
    low, high = 1, STEPS
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return high
