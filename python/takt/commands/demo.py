"""takt demo: the whole way, from running nodes to a report, on a real ROS 2 system."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from takt import console, documents, files, pipeline, recorder, runner, tables, verdict
from takt import report as html_report
from takt.cli import ANSWER_IS_NO
from takt.documents import Bounds, Measurement, Model
from takt.errors import UserError

EXAMPLES = """
takt demo                                         the Autoware reference system, ten seconds
takt demo --duration 30 --model models/pipeline.json -o /tmp/pipeline
"""

ROOT = Path(__file__).resolve().parents[3]
REFERENCE_SYSTEM = ROOT / "models" / "autoware_reference_system.json"


def demo(
    model: Annotated[
        Path, typer.Option(help="The timing model to execute.", show_default=False)
    ] = REFERENCE_SYSTEM,
    duration: Annotated[
        float, typer.Option(metavar="SECONDS", min=1.0, help="How long to record.")
    ] = 10.0,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Where the results go.")
    ] = ROOT / "build" / "demo",
) -> None:
    """Run a model as real ROS 2 processes, record them, and bound and report what was seen.

    Executes the Autoware reference system, unless another model is named: C++ nodes on rcl with
    Fast DDS in several processes. Records it with LTTng, builds its timing model from that trace
    alone, bounds every callback and chain, and compares the bounds with what was measured.

    Exit status 1 if a measured latency is above its bound, or a goal is not met.
    """
    if not model.exists():
        raise UserError(f"{model}: no such model; name one with --model")
    trace = output / "trace"
    _clear(trace)
    _record(model, duration, trace)

    text = files.read_document(str(model))
    name = pipeline.validate(text, str(model))["name"]
    options = {"chains_from": text, "name": f"{name}, as recorded"}
    synthesized = json.dumps(pipeline.synthesize([str(trace)], options), indent=1)
    bounds = json.dumps(pipeline.analyze(synthesized, "model.json"), indent=1)
    measured = json.dumps(pipeline.measure([str(trace)], synthesized, "model.json"), indent=1)

    documented = documents.parse(Model, synthesized, "model.json")
    bounded = documents.parse(Bounds, bounds, "bounds.json")
    measurement = documents.parse(Measurement, measured, "measurement.json")
    verdicts = verdict.judge(documented, bounded, measurement)
    for name, text in (
        ("model.json", synthesized + "\n"),
        ("bounds.json", bounds + "\n"),
        ("measurement.json", measured + "\n"),
        ("report.html", html_report.render(documented, bounded, measurement)),
    ):
        files.write_text(str(output / name), text)

    console.say("")
    console.output().print(tables.chains(verdicts))
    console.say("")
    console.say(f"Trace, model.json, bounds.json and measurement.json are in {_relative(output)}.")
    console.say(f"Next: open {_relative(output / 'report.html')}")
    if not all(judged.good for judged in verdicts):
        raise typer.Exit(ANSWER_IS_NO)


def _clear(trace: Path) -> None:
    """Removes the trace of an earlier demo, and nothing else that may be in its place."""
    if not trace.exists():
        return
    if not any(trace.rglob("metadata")):
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
