"""takt export: Hand a recording over to other tools."""

from __future__ import annotations

import json as json_format
from enum import Enum
from typing import TYPE_CHECKING, Annotated, NamedTuple

from takt import files, inputs
from takt.arguments import Argument, Option
from takt.errors import UserError
from takt.exports import export as exports
from takt.exports import latency_series, openmetrics, spans
from takt.text import console
from takt.text.formatting import count
from takt.text.terminal import show

if TYPE_CHECKING:
    from takt.documents.types import Summary

EXAMPLES = """
takt export trace/ --format perfetto -o robot.pftrace   for ui.perfetto.dev
takt export trace/ --format parquet -o tables           for pandas, polars, DuckDB and the like
takt export trace/ --format csv -o tables               for everything else
takt export trace/ --format mcap -o robot.mcap          latencies for Foxglove and PlotJuggler
takt export trace/ --format otlp -o worst.json          the worst instances as OpenTelemetry spans
takt export summary.json --format openmetrics -o robot.prom   distributions for Prometheus
"""


class Format(str, Enum):
    PERFETTO = "perfetto"
    PARQUET = "parquet"
    CSV = "csv"
    MCAP = "mcap"
    OTLP = "otlp"
    OPENMETRICS = "openmetrics"


TEXTS = (Format.OTLP, Format.OPENMETRICS)
WITH_GOALS = (Format.MCAP, Format.OTLP, Format.OPENMETRICS)


def export(
    traces: Annotated[
        list[str],
        Argument(
            metavar="TRACE...",
            help="CTF directories or archives of them; for openmetrics also a takt/summary.",
        ),
    ],
    output: Annotated[
        str,
        Option(
            "--output", "-o", metavar="PATH", help="The file or (parquet, csv) folder to write."
        ),
    ],
    format_: Annotated[
        Format,
        Option("--format", metavar="|".join(kind.value for kind in Format), help="What to write."),
    ],
    goals: Annotated[
        str | None,
        Option(
            "--goals",
            metavar="FILE",
            help="Chains and their goals (mcap, otlp, openmetrics), as takt latency's.",
        ),
    ] = None,
    worst: Annotated[
        int | None,
        Option(
            "--worst",
            min=1,
            help=f"Instances of each chain, the slowest (otlp); {spans.WORST} otherwise.",
        ),
    ] = None,
    json: Annotated[
        bool, Option("--json", help="Print one JSON document that says what was written.")
    ] = False,
) -> None:
    """Hand a recording over to other tools.

    perfetto: a track for each thread with its callbacks, an arrow for each message, and what the
    processors did if the kernel was recorded too. parquet, csv: a folder with a table for each
    event (times are nanoseconds of CLOCK_MONOTONIC), in objects/ for each kind of object, and in
    happened/ tables of runs, publications, takes, flows along chains and their parts, which name
    each other and the callbacks by number (times are nanoseconds since the epoch). mcap: for each
    chain of --goals, or of the model that the trace shows, the latency of each instance and what it
    went into, at the time at which it ended, and a diagnostic status that says how the chain is.
    otlp: a line of OpenTelemetry's JSON, for each chain its slowest instances with a span for each
    part. openmetrics: text for Prometheus, histograms of chains, callbacks and links, of a trace or
    of what takt summarize wrote.
    """
    if goals is not None and format_ not in WITH_GOALS:
        names = ", ".join(kind.value for kind in WITH_GOALS)
        raise UserError(f"--goals: of no use to --format {format_.value}, only to {names}")
    if worst is not None and format_ is not Format.OTLP:
        raise UserError(f"--worst: of no use to --format {format_.value}, only to otlp")
    if output == files.STANDARD_STREAM and format_ not in TEXTS:
        raise UserError("-o -: name a file (perfetto, mcap) or a folder (parquet, csv)")
    if output == files.STANDARD_STREAM and json:
        raise UserError("--json: -o - writes to standard output as well; name a file")
    written = _write(traces, output, format_, goals, worst or spans.WORST)
    for warning in written.warnings:
        console.say(f"takt: warning: {warning}")
    if json:
        console.print_json(
            {
                "format": "takt/export",
                "version": 1,
                "path": output,
                "kind": format_.value,
                "events": written.events,
                "warnings": written.warnings,
            }
        )
    elif output != files.STANDARD_STREAM:
        show(f"{output}: {written.words}")


class _Written(NamedTuple):
    events: int
    """Of the recording, as far as they are in the export."""
    warnings: list[str]
    words: str


def _write(
    traces: list[str], output: str, format_: Format, goals: str | None, worst: int
) -> _Written:
    if format_ is Format.OPENMETRICS:
        summary = _summary(traces, goals)
        files.write_text(output, openmetrics.text(summary))
        return _Written(summary.events, list(summary.warnings), count(len(summary.chains), "chain"))
    if format_ is Format.OTLP:
        info, instances = spans.write(traces, output, goals, worst)
        return _Written(
            exports.written(info),
            info["warnings"],
            count(instances, "instance of a chain", "instances of chains"),
        )
    if format_ is Format.MCAP:
        info = latency_series.write(traces, output, goals)
        warnings = info["warnings"]
    else:
        write = {
            Format.PERFETTO: exports.perfetto,
            Format.PARQUET: exports.parquet,
            Format.CSV: exports.csv,
        }[format_]
        info = write(traces, output)
        warnings = [*info["warnings"], *exports.left_out(info)]
    events = exports.written(info)
    return _Written(events, warnings, count(events, "event"))


def _summary(paths: list[str], goals: str | None) -> Summary:
    """The summary that is given, or that of the traces."""
    from takt.fleet import summary

    if not any(map(inputs.is_document, paths)):
        return summary.parse(json_format.dumps(summary.of(paths, goals)), inputs.title(paths))
    if len(paths) > 1:
        raise UserError(f"{paths[1]}: give one summary, or traces alone")
    if goals is not None:
        raise UserError("--goals: a summary has its chains already; name the traces")
    return summary.parse(files.read_document(paths[0]), files.source_name(paths[0]))
