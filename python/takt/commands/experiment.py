"""takt experiment: Reproduce a published experiment."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from takt import files
from takt.arguments import Argument, Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.errors import UserError
from takt.processes import supervision
from takt.text import console
from takt.text.formatting import NONE, printable, significant
from takt.text.terminal import Table, show
from takt.trials import experiments

EXAMPLES = """
takt experiment --list
takt experiment edf-case-study
takt experiment edf-case-study --json
takt experiment tracing-overhead --full     hours, as published
takt experiment all -o page.html            every table and figure of the documents, on one page
takt experiment all --runs 3 -o page.html   with the spread of three runs
"""

ALL = "all"
LONGEST_WORDS = 40
"""Longer texts become notes below the table."""


def experiment(
    name: Annotated[
        str | None, Argument(metavar="NAME|all", help="Which one; --list names them.")
    ] = None,
    list_all: Annotated[bool, Option("--list", help="Name all experiments.")] = False,
    full: Annotated[
        bool, Option("--full", help="As long as published, where the default is shorter.")
    ] = False,
    output: Annotated[
        str | None, Option("-o", "--output", metavar="FILE", help="Write the page here (all).")
    ] = None,
    runs: Annotated[int, Option("--runs", min=1, help="Runs of each experiment (all).")] = 1,
    json: Annotated[bool, Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Reproduce a published experiment and print its numbers beside ours.

    "Published" is only what the document prints, at the place that is named. "Expected" is what
    ours must be near, or the limit that it must keep, by another way: an exact value, a bound, a
    figure computed from printed parameters.
    What is compared, and what differs and why, is in experiments/NAME/README.md.

    "all" runs all of them and writes a page with every table and figure of the documents: what came
    out beside what is published, a verdict that follows from the results, and what is missing or
    cannot be here, with the reason. Exit status 1 if an experiment did not run.
    """
    if name != ALL and (output is not None or runs != 1):
        raise UserError("-o, --runs: for 'takt experiment all'")
    if list_all:
        _list(json)
    elif name is None:
        raise UserError("say which experiment; takt experiment --list names them")
    elif name == ALL:
        _run_all(full, runs, output, json)
    else:
        _run(experiments.find(name), full, json)


def _run_all(full: bool, times: int, output: str | None, json: bool) -> None:
    if output is None and not json:
        raise UserError("-o: name the file for the page")
    if output == files.STANDARD_STREAM and json:
        raise UserError("--json and -o - both want standard output; name a file for the page")
    if output is not None:
        files.check_output(output)  # not after hours
    from takt.reproduction import catalogue, document, judged, page
    from takt.reproduction import runs as reproduction_runs

    results = [reproduction_runs.run(each, full, times) for each in experiments.all_experiments()]
    told = document.origin(full, times)
    found = judged.judge(catalogue.read(), results)
    if output is not None:
        files.write_text(output, page.render(told, found, results))
    if json:
        console.print_json(document.document(told, found, results))
    else:
        verdicts = Counter(item.verdict for each in found for item in each.items)
        table = _table("Tables and figures")
        table.add_column("", right=True)
        for kind, number in verdicts.most_common():
            table.add_row(kind.value if kind else "nothing to reproduce", str(number))
        show(table)
    if any(result.failure for result in results):
        raise Exit(ANSWER_IS_NO)


def _list(json: bool) -> None:
    found = experiments.all_experiments()
    if json:
        entries = [{"name": e.name, "title": e.title} for e in found]
        console.print_json({"format": "takt/experiments", "version": 1, "experiments": entries})
        return
    table = _table("Experiment", "Title")
    for experiment in found:
        table.add_row(printable(experiment.name), printable(experiment.title))
    show(table)


def _run(experiment: experiments.Experiment, full: bool, json: bool) -> None:
    console.say(f"Running {experiment.name}; it is described in {experiment.folder}/README.md")
    with supervision.nothing_left_running():
        rows = experiment.run(full)
    if json:
        console.print_json(
            {
                "format": "takt/experiment",
                "version": 1,
                "name": experiment.name,
                "title": experiment.title,
                "rows": [vars(row) for row in rows],
            }
        )
        return
    table = _table(experiment.title)
    for column in ("Published", "Expected", "Ours", "Difference"):
        table.add_column(column, right=True)
    table.add_column("Place")
    for row in rows:
        if _is_a_note(row):
            continue
        table.add_row(
            printable(row.what),
            _value(row.published, row.unit),
            _value(row.expected, row.unit),
            _value(row.ours, row.unit),
            _difference(row),
            printable(row.place),
        )
    show(table)
    for row in filter(_is_a_note, rows):
        show(f"{row.what}: {row.ours}")


def _is_a_note(row: experiments.Row) -> bool:
    """Whether our value is text too long for the table."""
    return isinstance(row.ours, str) and len(row.ours) > LONGEST_WORDS


def _value(value: float | str | None, unit: str) -> str:
    if value is None:
        return NONE
    return printable(value) if isinstance(value, str) else f"{value:.4g} {unit}".rstrip()


def _difference(row: experiments.Row) -> str:
    """To what is published, otherwise to what is expected."""
    other = row.expected if row.published is None else row.published
    if isinstance(other, float | int) and isinstance(row.ours, float | int):
        if other:
            return f"{100 * (row.ours - other) / other:+.1f} %"
        return "0" if row.ours == 0 else significant(row.ours)
    return ""


def _table(*columns: str) -> Table:
    table = Table()
    for column in columns:
        table.add_column(column)
    return table
