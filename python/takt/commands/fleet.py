"""takt fleet: Keep many recordings, and say since when something is slower, and where."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

from takt import files, inputs
from takt.arguments import Argument, Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.errors import UserError
from takt.text import console
from takt.text.formatting import count, data_size
from takt.text.terminal import Table, show

Json = dict[str, Any]

EXAMPLES = """
takt fleet add store/ run1/ run2/ --label version=1.4   recordings, summaries, or folders of them
takt fleet add s3://bucket/fleet runs/ --workers 4      by Dask; again after a failure, it goes on
takt fleet status store/                                robots, versions, runs, size, failures
takt fleet query store/ "select version, count(*) from runs group by all"
takt fleet report store/ -o fleet.html                  since which version, and which robots
takt fleet report 'store/?robot=r7' -o r7.html          of one robot
takt fleet watch store/ recordings/                     add what appears in a folder
takt fleet remove store/ --older-than 90                days
takt fleet remove 'store/?version=1.3'
"""


class Action(str, Enum):
    ADD = "add"
    REMOVE = "remove"
    STATUS = "status"
    QUERY = "query"
    REPORT = "report"
    WATCH = "watch"


OPTIONS = {
    Action.ADD: {"label", "goals", "workers", "scheduler"},
    Action.REMOVE: {"older_than"},
    Action.STATUS: set(),
    Action.QUERY: set(),
    Action.REPORT: {"output"},
    Action.WATCH: {"label", "goals", "duration", "interval"},
}
"""What each action has, beside --json."""
OPERANDS = {
    Action.ADD: (1, None, "recordings or summaries"),
    Action.QUERY: (1, 1, "one query of SQL"),
    Action.WATCH: (1, 1, "one folder"),
}
"""How many arguments after the store, at least and at most, and what they are; none otherwise."""


def fleet(
    action: Annotated[
        Action, Argument(metavar="ACTION", help="|".join(each.value for each in Action))
    ],
    store: Annotated[
        str,
        Argument(
            metavar="STORE",
            help="A folder or a URL of fsspec (s3://bucket/fleet). STORE?robot=r7&version=1.4 "
            "means those of its runs.",
        ),
    ],
    operands: Annotated[
        list[str] | None,
        Argument(metavar="[RUN...|SQL|FOLDER]", help="What is added, asked or watched."),
    ] = None,
    label: Annotated[
        list[str] | None,
        Option("--label", metavar="KEY=VALUE", help="add, watch: a label of these runs."),
    ] = None,
    goals: inputs.Goals = None,
    workers: Annotated[
        int | None,
        Option(metavar="NUMBER", min=1, max=1000, help="add: processes that read recordings."),
    ] = None,
    scheduler: Annotated[
        str | None,
        Option(metavar="ADDRESS", help="add: that of a cluster of Dask, instead of --workers."),
    ] = None,
    older_than: Annotated[
        int | None,
        Option(metavar="DAYS", min=0, help="remove: only runs that are older."),
    ] = None,
    output: Annotated[
        str | None, Option("--output", "-o", metavar="FILE", help="report: where the page goes.")
    ] = None,
    duration: Annotated[
        float | None,
        Option(metavar="SECONDS", min=0.001, help="watch: end after this time."),
    ] = None,
    interval: Annotated[
        float | None,
        Option(metavar="SECONDS", min=0.1, help="watch: how often it looks, 10 otherwise."),
    ] = None,
    json: Annotated[bool, Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Keep the summaries of many recordings in a store, ask it, and compare robots and versions.

    add files the summary of each recording under its labels robot and version, and its day; a run
    that is there already is left alone. remove deletes runs: a selection, those of some age, or
    both. status says what is there, and what could not be added. query answers SQL over the tables
    runs, figures, parts and histograms. report writes a page: chains over versions, since which
    version something is slower and why, robots that are unlike the others. watch adds what appears
    in a folder.

    Exit status 1 if a run could not be added. 'takt compare' takes selections of a store, too.
    """
    given = {
        "label": label,
        "goals": goals,
        "workers": workers,
        "scheduler": scheduler,
        "older_than": older_than,
        "output": output,
        "duration": duration,
        "interval": interval,
    }
    _check(action, given, operands or [])
    from takt.fleet import commands

    if action is Action.ADD:
        document = commands.add(store, operands or [], label or [], goals, workers or 1, scheduler)
        _added(document, json)
    elif action is Action.WATCH:
        document = commands.watch(
            store, (operands or [""])[0], label or [], goals, duration, interval or 10.0
        )
        _added(document, json)
    elif action is Action.REMOVE:
        document = commands.remove(store, older_than)
        _print(document, json, f"Removed {count(document['removed'], 'run')}")
    elif action is Action.STATUS:
        document = commands.status(store)
        _print(document, json, *_status(document))
    elif action is Action.QUERY:
        document = commands.query(store, (operands or [""])[0])
        _print(document, json, _rows(document))
    else:
        _report(commands.report(store), store, output, json)


def _check(action: Action, given: Json, operands: list[str]) -> None:
    for name, value in given.items():
        if value is not None and value != [] and name not in OPTIONS[action]:
            option = "-o" if name == "output" else f"--{name.replace('_', '-')}"
            raise UserError(f"takt fleet {action.value}: has no option {option}")
    least, most, what = OPERANDS.get(action, (0, 0, "nothing"))
    if len(operands) < least or (most is not None and len(operands) > most):
        raise UserError(f"takt fleet {action.value}: give {what} after the store")


def _print(document: Json, json: bool, *parts: str | Table) -> None:
    if json:
        console.print_json(document)
    else:
        show(*parts)


def _added(document: Json, json: bool) -> None:
    text = f"Added {count(document['added'], 'run')}"
    if document["there"]:
        text += f"; {count(document['there'], 'run')} already there"
    if document["failed"]:
        text += f"; {count(document['failed'], 'run')} could not be added (takt fleet status)"
    _print(document, json, text)
    if document["failed"]:
        raise Exit(ANSWER_IS_NO)


def _status(document: Json) -> list[str | Table]:
    robots = Table()
    for title in ("Robot", "Version", "Runs", "First day", "Last day"):
        robots.add_column(title, right=title == "Runs")
    for group in document["groups"]:
        robots.add_row(
            group["robot"],
            group["version"],
            str(group["runs"]),
            group["first_day"],
            group["last_day"],
        )
    head = f"{count(document['runs'], 'run')}, {data_size(document['bytes'])}"
    failures = [f"Not added: {each['reason']}" for each in document["failures"]]
    return [head, *([robots] if robots.row_count else []), *failures]


def _rows(document: Json) -> Table:
    table = Table(*document["columns"])
    for row in document["rows"]:
        table.add_row(*("" if value is None else str(value) for value in row))
    return table


def _report(document: Json, store: str, output: str | None, json: bool) -> None:
    from takt.fleet import fleet_page

    if json and output == files.STANDARD_STREAM:
        raise UserError("--json and -o - both want standard output; name a file for the page")
    if output is None and not json:
        output = "fleet.html"
    if output is not None:
        files.write_text(output, fleet_page.render(document, f"Fleet {store}"))
        if output != files.STANDARD_STREAM:
            console.say(f"wrote {output}")
    if json:
        console.print_json(document)
    elif output != files.STANDARD_STREAM:
        show(*fleet_page.lines(document))
