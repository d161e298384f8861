"""takt export: Hand a recording over to other tools."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from takt import console, files, latency_series
from takt import export as exports
from takt.arguments import Argument, Option
from takt.errors import UserError
from takt.formatting import count

EXAMPLES = """
takt export trace/ --format perfetto -o robot.pftrace   for ui.perfetto.dev
takt export trace/ --format parquet -o tables           for pandas, polars, DuckDB and the like
takt export trace/ --format csv -o tables               for everything else
takt export trace/ --format mcap -o robot.mcap          latencies for Foxglove and PlotJuggler
"""


class Format(str, Enum):
    PERFETTO = "perfetto"
    PARQUET = "parquet"
    CSV = "csv"
    MCAP = "mcap"


def export(
    traces: Annotated[
        list[str], Argument(metavar="TRACE...", help="CTF directories or archives of them.")
    ],
    output: Annotated[
        str,
        Option(
            "--output", "-o", metavar="PATH", help="The file (perfetto, mcap) or folder to write."
        ),
    ],
    format_: Annotated[
        Format,
        Option("--format", metavar="|".join(kind.value for kind in Format), help="What to write."),
    ],
    goals: Annotated[
        str | None,
        Option("--goals", metavar="FILE", help="Chains and their goals (mcap), as takt latency's."),
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
    """
    if goals is not None and format_ is not Format.MCAP:
        raise UserError(f"--goals: of no use to --format {format_.value}, only to mcap")
    if output == files.STANDARD_STREAM:
        raise UserError("-o -: name a file (perfetto, mcap) or a folder (parquet, csv)")
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
    for warning in warnings:
        console.say(f"takt: warning: {warning}")
    if json:
        console.print_json(
            {
                "format": "takt/export",
                "version": 1,
                "path": output,
                "kind": format_.value,
                "events": info["events"],
                "warnings": warnings,
            }
        )
    else:
        print(f"{output}: {count(info['events'], 'event')}")
