"""takt simulate: Simulate a model."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated, Any

import takt_native
from takt import documents, files, inputs, pipeline
from takt.arguments import Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.documents import Model, Simulation
from takt.documents.names import labels as short_names
from takt.errors import UserError
from takt.exports import perfetto
from takt.planning import gantt
from takt.recordings import labels
from takt.shaping import gates, plans
from takt.text import console
from takt.text.formatting import NONE, count, goal_of, grouped, printable
from takt.text.formatting import duration as readable
from takt.text.terminal import Table, show, styled, width

EXAMPLES = """
takt simulate model.json                             worst-case execution times, all timers together
takt simulate model.json --seed 1 --duration 60      random phases, jitters and execution times
takt simulate model.json --executor edf              what another executor would do
takt simulate model.json --cores 4                   executors' threads share four cores
takt simulate model.json --seed 1 --plan plan.json   with the gates of takt shape
takt simulate model.json --perfetto trace.json       every instance, for ui.perfetto.dev
takt simulate model.json --seed 1 -o run1/           a recording of it, for every other command
takt simulate model.json --replay trace/             do executors decide as recorded ones did?
"""

DEFAULT_SECONDS = 10
"""Simulated time."""

LONGEST_TIMELINE = 1_000_000
"""Instances listed one by one."""


def simulate(
    models: inputs.Models,
    duration: Annotated[
        float | None,
        Option(
            metavar="SECONDS",
            min=1e-9,
            max=1e6,
            help=f"Simulated time. {DEFAULT_SECONDS} unless given.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        Option(
            metavar="N",
            min=0,
            max=2**64 - 1,
            help="Random releases (but with --plan) and execution times; else the worst case.",
        ),
    ] = None,
    executor: Annotated[
        str | None,
        Option(metavar="KIND", help="Use executors of this kind instead of the model's."),
    ] = None,
    cores: Annotated[
        int | None,
        Option(
            metavar="N", min=1, help="Cores that all threads share; else each has its own supply."
        ),
    ] = None,
    plan_file: Annotated[
        str | None,
        Option("--plan", metavar="FILE", help="Add the gates of a takt/shaping plan."),
    ] = None,
    options: Annotated[
        str | None,
        Option(metavar="FILE", help="More options, as a JSON object; see docs/simulation.md."),
    ] = None,
    json: Annotated[bool, Option("--json", help="Print the takt/simulation document.")] = False,
    output: Annotated[
        str | None,
        Option(
            "--output",
            "-o",
            metavar="TRACE|FILE.json",
            help="Also write a recording of the run to this folder, as if a robot had been "
            "recorded; or, to a name that ends in .json, the document.",
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        Option(
            metavar="KEY=VALUE",
            help="Keep this with the recording, as takt record does; may be repeated.",
            show_default=False,
        ),
    ] = None,
    perfetto_file: Annotated[
        str | None,
        Option("--perfetto", metavar="FILE", help="Write the timeline as a Perfetto trace."),
    ] = None,
    replay: Annotated[
        str | None,
        Option(
            metavar="TRACE", help="Repeat a recorded takt run and compare the order of callbacks."
        ),
    ] = None,
    goals: inputs.Goals = None,
) -> None:
    """Simulate a model: its executors' decisions on threads that Linux schedules.

    A simulation is one legal schedule, so what it shows is never above the bounds of takt analyze.
    Exit status 1 if a chain is seen to miss its goal, or if an order of --replay differs. A chain
    that never completed misses nothing, but a warning says that its goal was not tested.

    A recording is of the nodes that takt run would make of the model. What the model has that it
    cannot say is a warning.
    """
    recording = output if output is not None and _is_recording(output) else None
    if label and recording is None:
        raise UserError("--label: only a recording keeps labels; name its folder with -o")
    model = inputs.model(models, goals)
    text, source = model
    if replay is not None:
        if recording is not None:
            raise UserError(
                f"-o {output}: --replay makes no recording; name a file that ends in .json"
            )
        others = (seed, executor, cores, plan_file, options, perfetto_file)
        if any(other is not None for other in others):
            raise UserError(
                "--replay takes releases, durations and kinds of executors from the trace; "
                "leave out --seed, --executor, --cores, --plan, --options and --perfetto"
            )
        _replay(replay, text, source, json, output)
        return
    given: dict[str, Any] = files.read_object(options) if options is not None else {}
    wanted = dict(given)
    if plan_file is not None:
        gated, _ = plans.enacted(model.parsed(), plan_file, executor, simulated=True)
        model = inputs.ModelText(documents.to_json(gated), source)
        text = model.text
        # Gates take as long as planned, whatever else is random.
        times = gates.publish_times(gated) | wanted.get("execution_times", {})
        wanted["execution_times"] = times
    if duration is not None or "duration" not in wanted:
        wanted["duration"] = round((duration or DEFAULT_SECONDS) * 1e9)
    if seed is not None:
        wanted |= {"seed": seed, "execution": "random", "order": "random"}
        # A plan's cycles begin when its chains do.
        wanted |= {"releases": "random"} if plan_file is None else {}
    if executor is not None:
        wanted["executor"] = executor
    if cores is not None:
        wanted["cores"] = cores
    people_read = not json and output != files.STANDARD_STREAM
    if perfetto_file is not None:
        wanted["timeline"] = LONGEST_TIMELINE
    elif people_read:
        wanted.setdefault("timeline", gantt.MOST_INSTANCES)
    from_file = [name for name, value in given.items() if wanted[name] == value]
    with inputs.options_from(options, from_file):
        simulation = _simulate(text, source, wanted, recording, label or [])
    simulated_text = documents.to_json(simulation)
    valid = model.parsed()
    for warning in simulation.warnings:
        console.say(f"takt: warning: {warning}")
    for chain in filter(_untested, simulation.chains):
        console.say(
            f"takt: warning: chain {printable(chain.id)} never completed, so its goal of "
            f"{readable(chain.goal)} was not tested; try a longer --duration, or other phases by "
            "--seed"
        )
    if output is not None and output != files.STANDARD_STREAM and recording is None:
        files.write_text(output, simulated_text)
    if perfetto_file is not None:
        files.write_text(perfetto_file, perfetto.trace(valid, simulation.timeline))
        if simulation.timeline_is_partial:
            console.say(
                f"takt: warning: {perfetto_file} holds the first "
                f"{grouped(LONGEST_TIMELINE)} instances only; simulate a shorter --duration"
            )
    if people_read:
        before = None
        if executor is not None:
            own = {name: value for name, value in wanted.items() if name != "executor"}
            before = pipeline.simulate(text, source, own)
        _print(valid, simulation, before)
    else:
        console.print_json(simulated_text)
    if any(_missed(chain) for chain in simulation.chains):
        raise Exit(ANSWER_IS_NO)


def _is_recording(output: str) -> bool:
    """Whether what is to be written there is a recording and no document."""
    path = Path(output)
    is_file = path.exists() and not path.is_dir()  # a device or a pipe, or a former document
    return output != files.STANDARD_STREAM and path.suffix != ".json" and not is_file


def _simulate(
    text: str, source: str, options: dict[str, Any], recording: str | None, told: list[str]
) -> Simulation:
    if recording is None:
        return pipeline.simulate(text, source, options)
    kept = labels.document(labels.given(told))
    with files.replacement_folder(recording) as folder:
        try:
            simulation = pipeline.simulate(text, source, options, str(folder))
            labels.write(folder, kept)
        except (UserError, takt_native.InputError) as error:  # the folder is not there any more
            raise UserError(str(error).replace(str(folder), recording)) from error
    return simulation


def _replay(trace: str, text: str, source: str, json: bool, output: str | None) -> None:
    document = pipeline.replay([trace], text, source)
    replayed = json_format.dumps(document, indent=1) + "\n"
    if output is not None and output != files.STANDARD_STREAM:
        files.write_text(output, replayed)
    if not document["executors"]:
        raise UserError(f"{trace}: no callback of {source} ran in it; is it of this model?")
    if json or output == files.STANDARD_STREAM:
        console.print_json(replayed)
    else:
        show(_decisions(document))
        for executor in document["executors"]:
            _explain(executor)
    if any(_differs(executor) for executor in document["executors"]):
        raise Exit(ANSWER_IS_NO)


def _differs(executor: dict[str, Any]) -> bool:
    """Whether its order is not known to be the same."""
    return bool(
        executor["not_compared"]
        or executor["without_release"]
        or executor["agreeing"] < executor["decisions"]
    )


def _decisions(document: dict[str, Any]) -> Table:
    table = _table(
        "Executor", "Kind", "Decisions", "Agreeing", "At end of slot", "Withdrawn", "No release"
    )
    for executor in document["executors"]:
        numbers = ("decisions", "agreeing", "at_end_of_slot", "withdrawn", "without_release")
        values = [grouped(executor[number]) for number in numbers]
        table.add_row(printable(executor["id"]), executor["kind"], *values)
    return table


def _explain(executor: dict[str, Any]) -> None:
    first = executor["first_difference"]
    if executor["not_compared"]:
        console.say(f"takt: {executor['id']}: not compared: {executor['not_compared']}")
    if first is not None:
        console.say(
            f"takt: {executor['id']}: decision {first['decision']} at {first['time']} ns: "
            f"recorded {first['recorded']}, simulated {first['simulated'] or 'nothing'}"
        )


def _missed(chain: documents.SimulatedChain) -> bool:
    return chain.goal is not None and chain.max is not None and chain.max > chain.goal


def _untested(chain: documents.SimulatedChain) -> bool:
    return chain.goal is not None and chain.max is None


def _print(model: Model, simulation: Simulation, before: Simulation | None) -> None:
    """`before`: the same with the model's own executors, if others took their place."""
    show(gantt.chart(model, simulation.timeline, width()), "")
    show(_callbacks(model, simulation, before))
    if simulation.unfinished:
        unfinished = count(simulation.unfinished, "instance was", "instances were")
        show(f"{unfinished} unfinished at the end.")
    if simulation.chains:
        show("", _chains(simulation, before))


def _callbacks(model: Model, simulation: Simulation, before: Simulation | None) -> Table:
    names = short_names(model.callbacks)
    former = {entry.id: entry.max for entry in before.callbacks} if before else {}
    lost = any(callback.skipped or callback.discarded for callback in simulation.callbacks)
    columns = ("Instances", "Min", "p50", "p99", "Max") + (("Skipped", "Lost") if lost else ())
    columns += ("Max before", "Change") if before else ()
    table = _table("Callback", *columns)
    for callback in simulation.callbacks:
        values = map(readable, (callback.min, callback.p50, callback.p99, callback.max))
        row = [printable(names[callback.id]), grouped(callback.count), *values]
        if lost:
            row += [grouped(callback.skipped), grouped(callback.discarded)]
        if before:
            row += _change(former.get(callback.id), callback.max)
        table.add_row(*row)
    return table


def _chains(simulation: Simulation, before: Simulation | None) -> Table:
    former = {entry.id: entry.max for entry in before.chains} if before else {}
    comparison = ("Max before", "Change") if before else ()
    table = _table("Chain", "Instances", "Min", "p50", "p99", "Max", *comparison, "Goal")
    table.add_column("Verdict")
    for chain in simulation.chains:
        values = [readable(v) for v in (chain.min, chain.p50, chain.p99, chain.max)]
        values += _change(former.get(chain.id), chain.max) if before else []
        values.append(goal_of(chain.goal, chain.kind))
        verdict = NONE
        if _untested(chain):
            verdict = styled("never completed", "yellow")
        elif chain.goal is not None:
            verdict = styled("missed", "red") if _missed(chain) else styled("kept", "green")
        table.add_row(printable(chain.id), grouped(chain.count), *values, verdict)
    return table


def _change(before: int | None, after: int | None) -> list[str]:
    """The longest time with the model's own executors, and what became of it."""
    if before is None or after is None or before == 0:
        return [readable(before), NONE]
    percent = 100 * (after - before) / before
    colour = "green" if after < before else "red" if after > before else ""
    return [readable(before), styled(f"{percent:+.0f} %", colour)]


def _table(first: str, *columns: str) -> Table:
    table = Table()
    table.add_column(first)
    for column in columns:
        table.add_column(column, right=True)
    return table
