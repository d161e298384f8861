"""takt run: Execute a model as real ROS 2 nodes."""

from __future__ import annotations

import json as json_format
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from takt import documents, files, inputs
from takt.arguments import Option
from takt.processes import sharing
from takt.shaping import plans
from takt.text import console
from takt.text.formatting import duration as readable
from takt.text.formatting import grouped, printable
from takt.text.terminal import Table, show, styled
from takt.trials import runner

EXAMPLES = """
takt run models/autoware_reference_system.json                 until Ctrl-C
takt run models/pipeline.json --duration 10 --json
takt record --duration 10 -- takt run models/pipeline.json     recorded
takt run trace/ --executor edf                                 what a trace shows, run anew
takt run model.json --plan plan.json --priority 50             with the gates of takt shape
takt run model.json --duration 5 --log nodes.jsonl             with what the nodes received and sent
takt run models/pipeline.json --share                          its topics in shared memory
takt run model.json --surge track=3@20-40                      a callback is slow for a while
"""


MIDDLEWARE_ABOVE = 10
"""takt-workload adds it to the priority of its executors."""
PUNCTUAL_ABOVE = 20
"""Gates and timers that act when a slot or a period begins must not wait for others' messages."""


def run(
    models: inputs.Models,
    duration: Annotated[
        float | None,
        Option(metavar="SECONDS", min=0.001, help="End after this time; else on Ctrl-C."),
    ] = None,
    executor: Annotated[
        str | None,
        Option(metavar="KIND", help="Use executors of this kind instead of the model's."),
    ] = None,
    plan_file: Annotated[
        str | None,
        Option("--plan", metavar="FILE", help="Add the gates of a takt/shaping plan, as nodes."),
    ] = None,
    priority: Annotated[
        int | None,
        Option(
            metavar="N",
            min=1,
            max=69,
            help="SCHED_FIFO priority of executors without a reservation; what delivers messages "
            f"is {MIDDLEWARE_ABOVE} above, a plan's gates and executors that run nothing but the "
            f"first callbacks of its chains {PUNCTUAL_ABOVE}. Without it: best effort.",
        ),
    ] = None,
    log: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Write what the nodes themselves say of each message that they handled and sent, "
            "a JSON object a line.",
        ),
    ] = None,
    goals: inputs.Goals = None,
    surge: Annotated[
        list[str] | None,
        Option(
            metavar="SURGE",
            help="CALLBACK=FACTOR@FROM-TO: the callback takes so many times its execution time "
            "from one second of the run to another. May be repeated.",
        ),
    ] = None,
    share: sharing.Share = False,
    share_topics: sharing.Topics = None,
    json: Annotated[bool, Option("--json", help="Print the takt/run document.")] = False,
) -> None:
    """Execute a model as real ROS 2 nodes.

    Starts one process for each executor, or for each group of executors that the model puts into
    one process. Their nodes send each other real messages over the loopback interface, and their
    callbacks take the processor time that the model gives them. Executors whose supply is a
    reservation get it from the kernel (SCHED_DEADLINE) if this user may ask for that.
    """
    surges = [runner.Surge.parse(text) for text in surge or ()]
    with _model_file(models, goals, plan_file, executor) as (path, source, punctual):
        plan = runner.plan(path, executor)
        for warning in plan.warnings:
            console.say(f"takt: warning: {warning}")
        conditions = plan.conditions()
        for condition in conditions:
            console.say(f"takt: warning: {condition}; bounds are conditional in this run")
        with _display(len(plan.processes), duration) as watch:
            result = runner.run(
                path,
                plan,
                executor,
                duration,
                watch,
                surges,
                log=log is not None,
                priorities=_priorities(plan, priority, punctual),
                share=sharing.asked(share_topics, share=share, command=models),
            )
    if log is not None:
        lines = [json_format.dumps(entry, ensure_ascii=False) + "\n" for entry in result.log]
        files.write_text(log, "".join(lines))
    if json:
        console.print_json(_document(source, plan, result, conditions))
        return
    show(_executors(plan, result, priority), "", _callbacks(plan, result))


@contextmanager
def _model_file(
    models: list[str], goals: str | None, plan_file: str | None, executor: str | None
) -> Iterator[tuple[str, str, set[str]]]:
    """The model as a file, with the gates of the plan; how messages call it; the executors on whose
    instants the plan depends.
    """
    if plan_file is None:
        with inputs.model_file(models, goals) as (path, source):
            yield path, source, set()
        return
    text = inputs.model(models, goals)
    model = text.parsed()
    gated, plan = plans.enacted(model, plan_file, executor, simulated=False)
    with tempfile.TemporaryDirectory(prefix="takt-") as folder:
        file = Path(folder) / "model.json"
        file.write_text(documents.to_json(gated), encoding="utf-8")
        yield str(file), text.source, plans.punctual_executors(model, plan)


def _priorities(plan: runner.Plan, priority: int | None, punctual: set[str]) -> dict[str, int]:
    """The SCHED_FIFO priority of each process's executors."""
    if priority is None:
        return {}
    return {
        process["name"]: priority
        + (PUNCTUAL_ABOVE if all(one["id"] in punctual for one in process["executors"]) else 0)
        for process in plan.processes
    }


@contextmanager
def _display(processes: int, duration: float | None) -> Iterator[runner.Watch]:
    """Says what is going on; on a terminal with a line that moves."""
    until = f"for {duration:g} s" if duration is not None else "until Ctrl-C"
    what = f"Running {processes} process{'es' if processes > 1 else ''} {until}"
    if not sys.stderr.isatty():
        console.say(what)
        yield lambda seconds, callbacks: None
        return
    with console.moving_line(what) as set_text:
        yield lambda seconds, callbacks: set_text(
            f"{what}: {seconds:.0f} s, {grouped(callbacks)} callbacks"
        )


def _document(
    model: str, plan: runner.Plan, result: runner.Result, conditions: list[str]
) -> dict[str, Any]:
    return {
        "format": "takt/run",
        "version": 1,
        "model": model,
        "seconds": round(result.seconds, 3),
        "conditions": conditions,
        "executors": [
            {
                "id": executor["id"],
                "process": process["name"],
                "supply": executor["supply"],
                "granted": result.granted(executor["id"]),
                "refusal": result.refusals.get(executor["id"]),
            }
            for process in plan.processes
            for executor in process["executors"]
        ],
        "callbacks": result.counts,
    }


def _executors(plan: runner.Plan, result: runner.Result, priority: int | None) -> Table:
    table = Table()
    for column in ("Executor", "Process", "Supply", "Granted"):
        table.add_column(column)
    for process in plan.processes:
        for executor in process["executors"]:
            supply = executor["supply"]
            if supply["kind"] == "reservation":
                asked = f"{readable(supply['budget'])} every {readable(supply['period'])}"
                given = styled("yes", "green")
            elif supply["kind"] == "fixed_priority":
                asked = f"SCHED_FIFO {supply['priority']}"
                given = styled("yes", "green")
            else:
                asked = "a whole processor"
                given = "best effort" if priority is None else styled("SCHED_FIFO", "green")
            granted = result.granted(executor["id"])
            if granted is None:
                given = "not started"
            elif not granted:
                given = (
                    styled("no", "yellow") + ": " + printable(result.refusals[executor["id"]] or "")
                )
            table.add_row(
                printable(executor["name"] or executor["id"]),
                printable(process["name"]),
                asked,
                given,
            )
    return table


def _callbacks(plan: runner.Plan, result: runner.Result) -> Table:
    counts = {count["id"]: count for count in result.counts}
    table = Table()
    table.add_column("Callback")
    table.add_column("Executor")
    for column in ("Instances", "ET(1)", "Longest", "Overruns"):
        table.add_column(column, right=True)
    for process in plan.processes:
        for executor in process["executors"]:
            for callback in executor["callbacks"]:
                count = counts.get(callback["id"], {"count": 0, "longest": None, "overruns": 0})
                table.add_row(
                    printable(callback["name"] or callback["id"]),
                    printable(executor["name"] or executor["id"]),
                    grouped(count["count"]),
                    readable(callback["execution_time"]),
                    readable(count["longest"]) if count["count"] else "",
                    styled(str(count["overruns"]), "yellow") if count["overruns"] else "",
                )
    return table
