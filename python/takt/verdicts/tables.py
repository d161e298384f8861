"""Tables for the terminal."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from takt.documents import Bounds, Chain, Explanation, Measurement, Model, Term
from takt.documents.names import executor_labels, labels
from takt.text.formatting import NONE, count, duration, goal_of, grouped, printable, since_start
from takt.text.terminal import Part, Table, styled
from takt.verdicts.verdict import Guaranteed, Status, Verdict
from takt_native import GOAL_KINDS

ANSWERS = {"met": "green", "missed": "red"}
"""Colours of what was measured of a goal."""

GUARANTEES = {
    Guaranteed.YES: "green",
    Guaranteed.CONDITIONAL: "",
    Guaranteed.NO: "yellow",
    Guaranteed.REFUTED: "yellow",
}


def chains(verdicts: list[Verdict], marks: Mapping[str, str] | None = None) -> Table:
    """Each chain with its measured latencies, if any, its goal and what was measured of it, its
    bound and what that is worth. Idle chains are left to idle_chains(), words to reasons().
    `marks`: what stands behind the name of a chain.
    """
    verdicts = [verdict for verdict in verdicts if not verdict.idle]
    measured = any(verdict.measured for verdict in verdicts)
    named = any(verdict.measured and verdict.measured.worst for verdict in verdicts)
    table = Table()
    table.add_column("Chain")
    counted = any(verdict.late is not None for verdict in verdicts)
    figures = ("Messages", *(("Late",) if counted else ()), "p50", "p99", "Max") if measured else ()
    for column in (*figures, *(("Worst",) if named else ()), "Goal"):
        table.add_column(column, right=True, optional=column in ("p50", "Worst"))
    if measured:
        table.add_column("Verdict")
    table.add_column("Bound", right=True)
    table.add_column("Guaranteed")
    for verdict in verdicts:
        cells = []
        if measured:
            found = verdict.measured
            cells.append(grouped(found.count) if found else NONE)
            if counted:
                late = verdict.late
                cells.append(NONE if late is None else styled(grouped(late), "red" if late else ""))
            values = (found.p50, found.p99, found.max) if found else (None, None, None)
            cells += map(duration, values)
            if named:
                cells.append(str(found.worst.instance) if found and found.worst else NONE)
        cells.append(goal_of(verdict.chain.goal, verdict.chain.kind))
        if measured:
            answer = verdict.answer or NONE
            cells.append(styled(answer, ANSWERS.get(answer, "")))
        cells.append(duration(verdict.bound.bound if verdict.bound else None))
        cells.append(styled(verdict.guaranteed.value, GUARANTEES[verdict.guaranteed]))
        name = " ".join(filter(None, (verdict.chain.id, (marks or {}).get(verdict.chain.id))))
        table.add_row(printable(name), *cells)
    return table


BECAUSE = {
    Status.VIOLATED: "a measured latency is above the bound, which rests on this:",
    Status.UNFOUNDED: "no measured latency is above the bound, but the recording refutes this:",
    Status.NOT_GUARANTEED: "not guaranteed:",
    Status.UNBOUNDED: "no bound:",
    Status.MISSED: "missed:",
    Status.UNSEEN: "never completed:",
}
"""What the reasons of a verdict say."""


def reasons(verdicts: Iterable[Verdict]) -> Iterator[Part]:
    """Why goals are not guaranteed and bounds do not hold, and what would help. Chains with the
    same reasons share them.
    """
    told: dict[tuple[str, ...], list[str]] = {}
    for verdict in verdicts:
        told_by_table = verdict.status is Status.MISSED
        lines = (*(() if told_by_table else verdict.reasons), *verdict.advice)
        if lines and not verdict.idle:
            heading = BECAUSE.get(verdict.status, "what makes its bound:")
            told.setdefault((heading, *lines), []).append(verdict.chain.id)
    for (heading, *texts), names in told.items():
        yield from ("", f"{printable(', '.join(names))}: {heading}")
        indented = Table("", "")
        for text in texts:
            indented.add_row("", printable(text))
        yield indented


GUESSED = "?"
"""Stands behind what leads over a link that is only inferred: a timer that seems to use what a
callback stores. Only the program knows whether it does.
"""
MOST_GUESSES = 3
Guess = tuple[str, str]
"""The callback that stores, and the timer."""


def guesses_of(model: Model, chain: Chain) -> list[Guess]:
    """The guesses over which a chain of a model leads. What waits for something else than a timer
    is none.
    """
    steps = {*itertools.pairwise(chain.callbacks)}
    timers = {callback.id for callback in model.callbacks if callback.kind == "timer"}
    edges = (edge for edge in model.edges if edge.confidence is not None and edge.target in timers)
    return [ends for edge in edges if (ends := (edge.source, edge.target)) in steps]


def guesses(found: Iterable[Guess]) -> Iterator[str]:
    """A line for people that explains the mark; none if there is nothing to explain."""
    named = [
        f"{printable(source)} → {printable(target)}" for source, target in dict.fromkeys(found)
    ]
    if named:
        others = len(named) - MOST_GUESSES
        more = f" and {count(others, 'other')}" if others > 0 else ""
        yield (
            f"takt: {GUESSED}: guessed from behaviour, as no event shows what a timer reads: "
            f"{', '.join(named[:MOST_GUESSES])}{more}; declare or deny it under links "
            "(docs/goals.md)"
        )


class Asking(NamedTuple):
    """How takt flow is asked about an instance of a chain, as takt latency measures it."""

    inputs: str
    """The traces, and the model if one is given, as in a shell."""
    goals: str | None
    """The goals file, if there is one."""

    def command(self, chain: str, chains: int) -> str:
        """What the instance's number is added to; `chains`: how many there are."""
        by_goals = f" --goals {shlex.quote(self.goals)}" if self.goals else ""
        # A run may end instances of several chains. Without goals the chain says what is measured.
        by_chain = f" --chain {shlex.quote(chain)}" if chains > 1 or not self.goals else ""
        return f"takt flow {self.inputs}{by_goals}{by_chain} --why"


def why(verdicts: Sequence[Verdict], asking: Asking) -> list[str]:
    """A line for people on how to ask about the longest instance of a chain: of one that
    missed its goal, if there is one.
    """
    told = [
        (not verdict.missed, -(measured.max or 0), worst.instance, worst.begin, verdict.chain.id)
        for verdict in verdicts
        if (measured := verdict.measured) and (worst := measured.worst)
    ]
    if not told:
        return []
    _, latency, number, begin, chain = min(told)
    command = f"{asking.command(chain, len(verdicts))} {number}"
    return [f"takt: why {chain} took {duration(-latency)}, {since_start(begin)}: {command}"]


def kinds(chains: Iterable[Chain]) -> list[str]:
    """A line for people for each kind of goals which are not about latencies."""
    used = {chain.kind for chain in chains} - {"latency"}
    return [f"takt: {kind}: {words}" for kind, words in GOAL_KINDS.items() if kind in used]


def ends(verdicts: Iterable[Verdict]) -> list[str]:
    """A line for people, if measured latencies end with publications."""
    topics = {chain.end_topic for chain in (verdict.chain for verdict in verdicts)} - {None}
    if not topics:
        return []
    return [
        f"takt: measured until the publication on {', '.join(sorted(map(str, topics)))}; bounds "
        "are until the completion of the callback that publishes"
    ]


def start_up(measurement: Measurement | None, verdicts: Iterable[Verdict]) -> Iterator[str]:
    """A line for people on what measured latencies leave out."""
    time = measurement.provenance.get("start_up") if measurement else None
    if not time:
        return
    told = [
        f"{count(left_out.count, 'message')} of {verdict.chain.id}, the longest "
        f"{duration(left_out.max)}"
        for verdict in verdicts
        if verdict.measured and (left_out := verdict.measured.start_up)
    ]
    others = len(told) - MOST_LEFT_OUT
    more = [f"and those of {count(others, 'other chain')}"] if others > 0 else []
    messages = "; ".join([*told[:MOST_LEFT_OUT], *more])
    yield printable(
        f"Start-up, the first {duration(time)}, is left out, as it is in models"
        f"{f' ({messages})' if messages else ''}; takt flow counts it, too"
    )


MOST_LEFT_OUT = 3
"""Chains whose messages of start-up are told."""


def idle_chains(verdicts: Iterable[Verdict]) -> list[str]:
    """Lines for people on chains of which no instance was seen and that have no goal; chains with
    the same reason share a line.
    """
    ids: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.idle:
            reason = verdict.reasons[-1]
            ids.setdefault(reason, []).append(verdict.chain.id)
    if not ids:
        return []
    lines = [
        f"  {count(len(of_reason), 'chain')}, as {of_reason[0]}: {reason}"
        for reason, of_reason in ids.items()
    ]
    heading = "Not in the table, as no instance was seen from end to end:"
    return ["", heading, *map(printable, lines)]


def conditions(verdicts: Iterable[Verdict]) -> list[str]:
    """Lines for people on why bounds are marked as conditional. What is said of several executors
    is said once.
    """
    marked = [verdict for verdict in verdicts if verdict.good and verdict.conditional]
    told: dict[str, dict[str, None]] = {}  # by what is said, the executors in order
    for finding in (finding for verdict in marked for finding in verdict.conditions):
        executor, said = finding.said_of or ("", finding.text)
        told.setdefault(said, {})[executor] = None
    if not told:
        return []
    lines = (f"  {_of(list(executors))}{said}" for said, executors in told.items())
    return ["", "Bounds are conditional for these reasons:", *lines]


def _of(executors: list[str]) -> str:
    """The subject of what is said of these executors; nothing if none is named."""
    *others, last = executors
    if others:
        return f"executors {', '.join(others)} and {last}: each "
    return f"executor {last} " if last else ""


def end_to_end(bounds: Bounds) -> Table:
    """How long each chain takes to react to an input, and how old its data can be."""
    table = Table()
    table.add_column("Chain")
    table.add_column("Reaction time", right=True)
    table.add_column("Data age", right=True)
    table.add_column("", words=True)
    for chain in bounds.chains:
        reasons = (chain.reaction_time_reason, chain.data_age_reason)
        words = "; ".join(dict.fromkeys(reason for reason in reasons if reason))
        table.add_row(
            printable(chain.id),
            duration(chain.reaction_time),
            duration(chain.data_age),
            printable(words),
        )
    return table


def shared_memory(model: Model, measurement: Measurement | None) -> Iterator[str]:
    """A line for each edge with messages through shared memory."""
    names = labels(model.callbacks)
    for edge in measurement.edges if measurement else ():
        if edge.by_shared_memory:
            ends = " → ".join(printable(names.get(end, end)) for end in (edge.source, edge.target))
            number = f"{grouped(edge.by_shared_memory)} of {count(edge.count, 'message')}"
            yield f"{ends}: {number} came through shared memory"


TERMS = {
    "execution": "{} itself",
    "earlier": "{}, earlier instances",
    "interference": "{} runs before",
    "blocking": "{} has begun already",
    "overhead": "executor overhead",
    "releases": "releases of timers and messages",
    "supply": "no processor time supplied",
    "parallel": "threads work side by side",
    "elapsed": "done before the activation",
    "rounding": "until the busy window ends",
    "limit": "limited by another bound",
    "delay": "message on its way",
    "sampling": "data waits until {} reads it",
}


def explanation(found: Explanation) -> list[Table]:
    """What a chain's bound is made of, segment by segment, and which term dominates."""
    result = []
    for segment in found.segments:
        path = " → ".join(segment.callbacks)
        title = f"{printable(path)} on {printable(segment.executor)}, by {printable(segment.by)}"
        table = Table(title=title)
        table.add_column("Part")
        for column in ("Times", "Duration", "Share"):
            table.add_column(column, right=True)
        for term in segment.terms:
            words = _words(term)
            table.add_row(
                styled(words, "bold" if term == found.dominating else ""),
                str(term.instances or ""),
                duration(term.time),
                f"{100 * term.time / found.bound:.0f} %" if found.bound else NONE,
            )
        table.add_row("together", "", duration(segment.bound), "", style="bold")
        result.append(table)
    total = Table()
    total.add_row(f"Bound of {printable(found.chain)}", duration(found.bound))
    dominating = f"{_words(found.dominating)}: {duration(found.dominating.time)}"
    total.add_row("Longest part", dominating)
    return [*result, total]


def _words(term: Term) -> str:
    return printable(term_in_words(term.kind, term.callback or ""))


def term_in_words(kind: str, callback: str) -> str:
    """What a term of an explanation stands for; kinds of later versions keep their names."""
    return TERMS[kind].format(callback) if kind in TERMS else kind


def callbacks(model: Model, bounds: Bounds) -> Iterator[Table]:
    """For each executor that has callbacks these with ET(1), bound, and which analysis gave it or
    why none did. In the time of the model's size.
    """
    bound_of = {bound.id: bound for bound in bounds.callbacks}
    names, executor_names = labels(model.callbacks), executor_labels(model)
    tables = {}
    used = {callback.executor for callback in model.callbacks}
    for executor in (executor for executor in model.executors if executor.id in used):
        table = Table(title=f"Executor {printable(executor_names[executor.id])}")
        table.add_column("Callback")
        table.add_column("ET(1)", right=True)
        table.add_column("Bound", right=True)
        table.add_column("By")
        tables[executor.id] = table
    for callback in model.callbacks:
        bound = bound_of.get(callback.id)
        curve = callback.execution_time.curve
        tables[callback.executor].add_row(
            printable(names[callback.id]),
            duration(curve[0] if curve else None),
            duration(bound.bound if bound else None),
            printable((bound and (bound.by or bound.reason)) or NONE),
        )
    yield from tables.values()
