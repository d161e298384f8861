"""takt demo: Show the whole way on a real ROS 2 system."""

from __future__ import annotations

import json as json_format
import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

from takt import (
    beside_load,
    console,
    documents,
    files,
    inputs,
    pipeline,
    recorder,
    remedies,
    runner,
    tables,
    verdict,
)
from takt.arguments import Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.doctor import scheduling
from takt.doctor.check import State
from takt.documents import Model
from takt.errors import UserError
from takt.terminal import show

EXAMPLES = """
takt demo                                         the Autoware reference system, ten seconds
takt demo --duration 30 --model models/pipeline.json -o /tmp/pipeline
"""

ROOT = Path(__file__).resolve().parents[3]
IS_SOURCE_TREE = (ROOT / "models").exists()
# An installation has the models in the package.
MODELS = (ROOT if IS_SOURCE_TREE else Path(__file__).resolve().parents[1]) / "models"
REFERENCE_SYSTEM = MODELS / "autoware_reference_system.json"
OUTPUT = ROOT / "build" / "demo" if IS_SOURCE_TREE else Path("takt-demo")


def demo(
    model: Annotated[
        Path,
        Option(metavar="MODEL", help="The timing model to execute.", show_default=False),
    ] = REFERENCE_SYSTEM,
    duration: Annotated[
        float, Option(metavar="SECONDS", min=1.0, help="How long to record.")
    ] = 10.0,
    output: Annotated[
        Path,
        Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Where the results go; default: build/demo of a source tree, else takt-demo.",
        ),
    ] = OUTPUT,
    manage: Annotated[
        bool,
        Option(
            help="Run it twice more beside a load that fills all cores: by the default scheduler, "
            "and under takt manage. Needs root."
        ),
    ] = True,
    json: Annotated[bool, Option("--json", help="Print the takt/latency document.")] = False,
) -> None:
    """Run a model as real ROS 2 processes, record them, and bound and report what was seen.

    Executes the Autoware reference system, unless another model is named: C++ nodes on rcl with
    Fast DDS in several processes. Records it with LTTng, builds its timing model from that trace
    alone, bounds every callback and chain, and compares the bounds with what was measured. Then
    shows what the latency manager is for: the same system beside processes that fill all cores.

    Exit status 1 if a measured latency is above its bound although every assumption held.
    """
    if not model.exists():
        raise UserError(f"{model}: no such model; name one with --model")
    trace = output / "trace"
    _clear(trace)
    _record(model, duration, trace)

    text = files.read_document(str(model))
    given_model = pipeline.read_model(text, str(model))
    name = given_model.name
    console.say("Building the timing model from the trace, bounding it, and writing the report")
    options = {"chains_from": text, "name": f"{name}, as recorded"}
    synthesized = json_format.dumps(pipeline.synthesize([str(trace)], options), indent=1)
    given = inputs.Given(traces=[str(trace)], model=inputs.ModelText(synthesized, "model.json"))
    evaluation = inputs.evaluate(given, pipeline.DEFAULT_ANALYSIS)
    assert evaluation.measurement is not None
    judged = verdict.judge(evaluation.model, evaluation.bounds, evaluation.measurement)
    verdicts = remedies.with_remedies(evaluation, judged)
    found = verdict.document(evaluation.model.name, pipeline.DEFAULT_ANALYSIS, verdicts)
    compared = _compare(given_model, duration) if manage and not json else []
    page = _page(given.traces, evaluation, verdicts, compared)
    for file, content in (
        ("model.json", synthesized + "\n"),
        ("bounds.json", documents.to_json(evaluation.bounds)),
        ("measurement.json", documents.to_json(evaluation.measurement)),
        *([("report.html", page)] if page else []),
    ):
        files.write_text(str(output / file), content)

    if json:
        console.print_json(found)
    else:
        console.say("")
        show(tables.chains(verdicts))
        for line in tables.conditions(verdicts):
            console.say(line)
        if compared:
            show("", beside_load.table(compared))
        console.say("")
    console.say(f"Trace, model.json, bounds.json and measurement.json are in {_relative(output)}.")
    if page:
        console.say(f"Next: open {_relative(output / 'report.html')}")
    command = "./takt" if IS_SOURCE_TREE else "takt"
    console.say(f"      {command} latency {_relative(trace)} {_relative(output / 'model.json')}")
    if any(judged.inexplicable for judged in verdicts):
        raise Exit(ANSWER_IS_NO)


def _compare(model: Model, seconds: float) -> list[beside_load.Comparison]:
    """Compares the model with and without `takt manage` beside a load; empty where that cannot be
    shown.
    """
    possible = scheduling.deadline()
    if possible.state is not State.OK:
        console.say(f"What takt manage does is not shown: {possible.detail}")
        return []
    try:
        return beside_load.compare(model, seconds, console.say)
    except UserError as reason:
        console.say(f"What takt manage does could not be shown: {reason}")
        return []


def _page(
    traces: list[str],
    evaluation: inputs.Evaluation,
    verdicts: list[verdict.Verdict],
    compared: list[beside_load.Comparison],
) -> str | None:
    """The report. Where its libraries or Graphviz are missing the demo goes on without it."""
    try:
        from takt.report import view

        comparison = beside_load.document(compared) if compared else None
        return view.page_of(traces, evaluation, verdicts, evaluation.model.name, comparison)
    except UserError as reason:
        console.say(f"No report.html is written: {reason}")
        return None


def _clear(trace: Path) -> None:
    """Removes the trace of an earlier demo, and nothing else that may be in its place."""
    if not trace.exists():
        return
    # LTTng's domains are folders of a trace that takt record wrote.
    if not any((trace / "ust").rglob("metadata")):
        raise UserError(f"{trace}: exists and is no trace; name another place with --output")
    shutil.rmtree(trace)


def _record(model: Path, duration: float, trace: Path) -> None:
    processes = runner.plan(str(model)).processes
    executors = sum(len(process["executors"]) for process in processes)
    console.say(
        f"Running {_relative(model)} as {len(processes)} ROS 2 processes with {executors} "
        f"executors, and recording them for {duration:g} s"
    )
    command = (sys.executable, "-m", "takt", "run", str(model), "--duration", f"{duration:g}")
    trace.parent.mkdir(parents=True, exist_ok=True)
    with Path(os.devnull).open("w") as nowhere:
        request = recorder.Request("lttng", trace, command=command, command_output=nowhere.fileno())
        recorded = recorder.record(request, lambda *_: None)
    if recorded.command_status:
        raise UserError(
            f"takt run {_relative(model)} ended with status {recorded.command_status}; "
            "its messages are above"
        )
    lost = sum(recorded.losses.values())
    console.say(f"Recorded {recorded.bytes / 1e6:.1f} MB, {lost or 'nothing'} lost")


def _relative(path: Path) -> Path:
    """The path as a person would type it here."""
    try:
        return path.resolve().relative_to(Path.cwd())
    except ValueError:
        return path
