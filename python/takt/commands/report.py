"""takt report: the self-contained report."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from takt import console, documents, files, pipeline
from takt import report as html_report
from takt.commands.analyze import ANALYSES, known_analysis
from takt.documents import Bounds, Measurement, Model
from takt.errors import UserError

EXAMPLES = """
takt report trace/ -o report.html                          from a recording alone
takt report trace/ model.json                              how the recording compares to a model
takt report model.json                                     bounds of a model, nothing measured
takt report model.json bounds.json measurement.json        from documents made earlier
"""


def report(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACE|DOCUMENT...",
            help="Traces (folders or archives) and takt/model, bounds or measurement documents.",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where to write the page.")
    ] = "report.html",
    analysis: Annotated[
        str,
        typer.Option(
            metavar=ANALYSES,
            callback=known_analysis,
            help="Which analysis, if there is no takt/bounds among the inputs.",
        ),
    ] = pipeline.DEFAULT_ANALYSIS,
) -> None:
    """Write one HTML page that needs nothing else: graph, chains, latencies, bounds, timeline.

    What is not among the inputs is made from them: the model and the measurement from the traces,
    the bounds from the model.
    """
    given = _sort(inputs)
    model_text, source = _model(given)
    bounds = given.bounds
    if bounds is None:
        text = json.dumps(pipeline.analyze(model_text, source, analysis))
        bounds = documents.parse(Bounds, text, "bounds")
    measurement = given.measurement
    if measurement is None and given.traces:
        text = json.dumps(pipeline.measure(given.traces, model_text, source))
        measurement = documents.parse(Measurement, text, "measurement")
    for warning in _warnings(model_text, measurement):
        console.say(f"takt: warning: {warning}")
    model = documents.parse(Model, json.dumps(pipeline.validate(model_text, source)), source)
    files.write_text(output, html_report.render(model, bounds, measurement))
    if output != files.STANDARD_STREAM:
        console.say(f"wrote {output}")


def _warnings(model_text: str, measurement: Measurement | None) -> list[str]:
    """What the traces lost, as the documents made of them say; each line once."""
    origins = [json.loads(model_text).get("provenance", {})]
    origins += [measurement.provenance] if measurement is not None else []
    return list(dict.fromkeys(line for origin in origins for line in origin.get("warnings", [])))


@dataclass
class _Given:
    traces: list[str]
    model: tuple[str, str] | None = None
    """Text and source."""
    bounds: Bounds | None = None
    measurement: Measurement | None = None


def _sort(inputs: list[str]) -> _Given:
    """Tells documents from traces by what is in them."""
    given = _Given(traces=[])
    for path in inputs:
        if not _is_document(path):
            given.traces.append(path)
            continue
        text, source = files.read_document(path), files.source_name(path)
        document = documents.parse_any(text, source)
        slot = document.format.removeprefix("takt/")
        if getattr(given, slot) is not None:
            raise UserError(f"{source}: a second {document.format} document; give one")
        setattr(given, slot, (text, source) if isinstance(document, Model) else document)
    return given


def _is_document(path: str) -> bool:
    if path == files.STANDARD_STREAM:
        return True
    if not Path(path).is_file():
        return False
    if path.endswith(".json"):
        return True
    with Path(path).open("rb") as file:
        return file.read(64).lstrip()[:1] == b"{"


def _model(given: _Given) -> tuple[str, str]:
    if given.model is not None:
        return given.model
    if not given.traces:
        raise UserError("no model to report on: add the takt/model document, or a trace")
    return json.dumps(pipeline.synthesize(given.traces)), "the model of the traces"
