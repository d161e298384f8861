"""Tables for the terminal."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from takt.assumptions import label
from takt.documents import Bounds, Executor, Model
from takt.formatting import NONE, duration, grouped, printable
from takt.verdict import Status, Verdict

COLOURS = {
    Status.MET: "green",
    Status.BOUNDED: "default",
    Status.NOT_GUARANTEED: "yellow",
    Status.MISSED: "red",
    Status.VIOLATED: "red",
    Status.UNBOUNDED: "yellow",
}


def chains(verdicts: list[Verdict]) -> Table:
    """Chain, what was measured of it if anything was, its bound, goal and verdict."""
    measured = any(verdict.measured for verdict in verdicts)
    table = Table(box=None, pad_edge=False)
    table.add_column("Chain")
    for column in (*(("Messages", "p50", "p99", "Max") if measured else ()), "Bound", "Goal"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("Verdict")
    for verdict in verdicts:
        numbers = []
        if measured:
            found = verdict.measured
            numbers.append(grouped(found.count) if found else NONE)
            values = (found.p50, found.p99, found.max) if found else (None, None, None)
            numbers += map(duration, values)
        numbers.append(duration(verdict.bound.bound if verdict.bound else None))
        numbers.append(duration(verdict.chain.goal))
        words = f"[{COLOURS[verdict.status]}]{verdict.summary}[/]"
        if verdict.explanation:
            words += f": {cell(verdict.explanation)}"
        table.add_row(cell(verdict.chain.id), *numbers, words)
    return table


def callbacks(model: Model, executor: Executor, bounds: Bounds) -> Table:
    """The callbacks of one executor with ET(1), bound, and which analysis gave it or why none
    did.
    """
    bound_of = {bound.id: bound for bound in bounds.callbacks}
    title = f"Executor {cell(executor.name or executor.id)}"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("Callback")
    table.add_column("ET(1)", justify="right", no_wrap=True)
    table.add_column("Bound", justify="right", no_wrap=True)
    table.add_column("By")
    for callback in model.callbacks:
        if callback.executor != executor.id:
            continue
        bound = bound_of.get(callback.id)
        curve = callback.execution_time.curve
        table.add_row(
            cell(label(callback)),
            duration(curve[0] if curve else None),
            duration(bound.bound if bound else None),
            cell((bound and (bound.by or bound.reason)) or NONE),
        )
    return table


def cell(text: str) -> str:
    """A name from anywhere, for a table that reads brackets as markup."""
    return escape(printable(text))
