"""takt info: Say what is in a trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from takt import console, losses, pipeline
from takt.arguments import Argument, Option
from takt.formatting import NONE, count, duration, grouped
from takt.tables import cell
from takt.terminal import Table, show

EXAMPLES = """
takt info trace/                    hosts, nodes, callbacks, topics and executors
takt info trace/ --all              also callbacks that never ran and unused topics
takt info laptop.tar.xz robot/      several hosts, or parts of one recording, as one
takt info trace/ --json             the takt/info document, with the count of every event
"""

Json = dict[str, Any]


def info(
    traces: Annotated[
        list[str], Argument(metavar="TRACE...", help="CTF directories or archives of them.")
    ],
    everything: Annotated[
        bool, Option("--all", help="Also callbacks that never ran and unused topics.")
    ] = False,
    json: Annotated[bool, Option("--json", help="Print the takt/info document.")] = False,
) -> None:
    """Say what is in a trace: nodes, callbacks, topics, executors, and what is missing."""
    document = pipeline.info(traces)
    for warning in document["warnings"]:
        console.say(f"takt: warning: {warning}")
    if json:
        console.print_json(document)
        return
    show(headline(document))
    tables = (_processes, _executors_and_callbacks, _topics)
    for table in (table for make in tables for table in make(document, everything)):
        show(table, "")


def headline(document: Json) -> str:
    """One line: how much, how long, what is missing."""
    lost = losses.in_words(document) or "none"
    return ", ".join(
        (
            count(document["events"], "event"),
            f"{duration(document['duration'])} long",
            f"{lost} lost",
            count(len(document["nodes"]), "node"),
            count(len(document["executors"]), "executor"),
        )
    )


def _table(title: str, *columns: str) -> Table:
    """The first column is text, the others are numbers."""
    table = Table(title=title)
    for i, column in enumerate(columns):
        table.add_column(column, right=i > 0)
    return table


def _processes(document: Json, everything: bool) -> Iterator[Table]:
    table = _table("Processes", "Process", "PID", "Threads", "Nodes")
    if several := len(document["hosts"]) > 1:
        table.add_column("Host")
    for process in document["processes"]:
        place = _place(process, "name")
        # Process ids are unique neither between hosts nor between containers of one.
        nodes = [node for node in document["nodes"] if _place(node, "process") == place]
        row = [
            cell(process["name"] or NONE),
            str(process["pid"]),
            str(process["threads"]),
            str(len(nodes)),
        ]
        table.add_row(*row, *([cell(process["host"])] if several else []))
    yield table


def _place(thing: Json, name: str) -> tuple[Any, ...]:
    return thing.get("host"), thing["pid"], thing[name]


def _executors_and_callbacks(document: Json, everything: bool) -> Iterator[Table]:
    executors = {executor["id"]: executor for executor in document["executors"]}
    groups: dict[str | None, list[Json]] = {executor: [] for executor in executors}
    for callback in document["callbacks"]:
        groups.setdefault(callback["executor"], []).append(callback)
    for name, callbacks in groups.items():
        shown = [callback for callback in callbacks if callback["count"] or everything]
        if not shown:
            continue
        title = "Callbacks that never ran"
        if name is not None:
            executor = executors[name]
            threads = count(len(executor["threads"]), "thread")
            title = f"Executor {cell(name)} ({executor['kind'].replace('_', ' ')}, {threads})"
        table = _table(title, "Callback", "Kind", "Period", "Runs", "Mean", "p99", "Max")
        for callback in shown:
            times = callback["execution_time"] or {}
            table.add_row(
                cell(callback["id"]),
                callback["kind"],
                duration(callback["period"]) if callback["period"] else NONE,
                grouped(callback["count"]),
                *(duration(times.get(value)) for value in ("mean", "p99", "max")),
            )
        yield table


def _topics(document: Json, everything: bool) -> Iterator[Table]:
    table = _table("Topics", "Topic", "Publishers", "Subscriptions", "Published", "Received")
    for topic in document["topics"]:
        if everything or (topic["publications"] and topic["subscriptions"]):
            numbers = ("publishers", "subscriptions", "publications", "takes")
            table.add_row(cell(topic["name"]), *(grouped(topic[name]) for name in numbers))
    if table.row_count:
        yield table
