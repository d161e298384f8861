"""takt info: Say what is in a trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from takt import pipeline
from takt.arguments import Argument, Option
from takt.documents import losses
from takt.errors import UserError
from takt.recordings import activity, labels
from takt.text import console
from takt.text.formatting import NONE, count, duration, grouped, printable
from takt.text.terminal import Table, show

EXAMPLES = """
takt info trace/                    hosts, nodes, callbacks, topics and executors
takt info trace/ --all              also callbacks that never ran and unused topics
takt info laptop.tar.xz robot/      several hosts, or parts of one recording, as one
takt info trace/ --active-phase     allocations and page faults after start-up: by whom, where
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
    active_phase: Annotated[
        bool,
        Option(
            "--active-phase",
            help="Who allocated memory and had page faults after start-up, in which callback.",
        ),
    ] = False,
    json: Annotated[bool, Option("--json", help="Print the takt/info document.")] = False,
) -> None:
    """Say what is in a trace: nodes, callbacks, topics, executors, and what is missing."""
    if active_phase and everything:
        raise UserError("--all: of no use with --active-phase")
    if active_phase:
        _active_phase(traces, json)
        return
    document = pipeline.info(traces)
    document["labels"] = [told.json() for told in labels.read(traces)]
    for warning in document["warnings"]:
        console.say(f"takt: warning: {warning}")
    if json:
        console.print_json(document)
        return
    show(headline(document))
    for line in map(_labels, document["labels"]):
        show(line)
    tables = (_processes, _executors_and_callbacks, _topics)
    for table in (table for make in tables for table in make(document, everything)):
        show(table, "")
    for line in _measured(document):
        console.say(line)


def _measured(document: Json) -> Iterator[str]:
    """A line for people on what the times of callbacks are."""
    times = (each["execution_time"] for each in document["callbacks"])
    sources = {each["source"] for each in times if each}
    if sources == {"wall_time"}:
        yield "takt: times of callbacks are from their start to their end"
    elif sources and not sources & {"wall_time", "mixed"}:
        yield "takt: times of callbacks are processor time, without waits within them"


def _active_phase(traces: list[str], json: bool) -> None:
    document = pipeline.active_phase(traces)
    lines = [*activity.lines(document)]
    for warning in document["warnings"]:
        console.say(f"takt: warning: {warning}")
    if json:
        console.print_json(document)
        return
    show(*map(printable, lines))
    if document["calls"]:
        show(activity.table(document), "")


def headline(document: Json) -> str:
    """One line: how much, how long, what is missing."""
    lost = losses.in_words(document)
    is_partial = any(each.get("partial") for each in document["inputs"])
    missing = document.get("unrecorded", [])
    unrecorded = [f"{count(len(missing), 'process', 'processes')} not recorded"] if missing else []
    return ", ".join(
        (
            count(document["events"], "event"),
            f"{duration(document['duration'])} long",
            *([f"{lost or 'none'} lost"] if lost or not is_partial else []),
            *(["not complete"] if is_partial else []),
            *unrecorded,
            count(len(document["nodes"]), "node"),
            count(len(document["executors"]), "executor"),
        )
    )


def _labels(told: Json) -> str:
    """One line: the labels of a recording, and where it was made."""
    given = [f"{key}={value}" for key, value in told["labels"].items()]
    ros = [f"ROS 2 {told['ros']}"] if told.get("ros") else []
    packages = [count(len(told["packages"]), "package")] if told.get("packages") else []
    place = (told.get("host"), told.get("kernel"))
    return printable(", ".join([*given, *(str(each) for each in place if each), *ros, *packages]))


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
        row = [
            printable(process["name"] or NONE),
            str(process["pid"]),
            str(process["threads"]),
            str(process["nodes"]),
        ]
        table.add_row(*row, *([printable(process["host"])] if several else []))
    yield table


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
            title = f"Executor {printable(name)} ({executor['kind'].replace('_', ' ')}, {threads})"
        table = _table(title, "Callback", "Kind", "Period", "Runs", "Mean", "p99", "Max")
        for callback in shown:
            times = callback["execution_time"] or {}
            table.add_row(
                printable(callback["id"]),
                callback["kind"],
                duration(callback["period"]) if callback["period"] else NONE,
                grouped(callback["count"]),
                *(duration(times.get(value)) for value in ("mean", "p99", "max")),
            )
        yield table


def _topics(document: Json, everything: bool) -> Iterator[Table]:
    table = _table("Topics", "Topic", "Publishers", "Subscriptions", "Published", "Received")
    numbers = ("publishers", "subscriptions", "publications", "takes")
    for topic in document["topics"]:
        if everything or _is_of_interest(topic):
            row = [printable(topic["name"]), *(grouped(topic[name]) for name in numbers)]
            table.add_row(*row, *filter(None, [_missing_side(topic)]))
    if table.row_count:
        yield table


OF_EVERY_NODE = ("/rosout", "/parameter_events")
"""Every node publishes there, and mostly nobody listens."""


def _is_of_interest(topic: Json) -> bool:
    if topic["left_out"]:
        return True
    if topic["publications"] and not topic["subscriptions"]:
        return topic["name"] not in OF_EVERY_NODE
    return bool(topic["publications"] or topic["takes"])


def _missing_side(topic: Json) -> str:
    """What of the topic is not in the recording, if messages show that it is there."""
    if topic["left_out"]:
        sides = topic["publishers"] + topic["subscriptions"]
        return "left out" if topic["left_out"] == sides else f"{topic['left_out']} left out"
    if topic["takes"] and not topic["publishers"]:
        return "no publisher recorded"
    if topic["publications"] and not topic["subscriptions"]:
        return "no subscription recorded"
    return ""
