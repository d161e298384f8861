"""takt export: a recording for other tools."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from takt import console
from takt import export as exports

EXAMPLES = """
takt export trace/ --format perfetto -o robot.pftrace   for ui.perfetto.dev
takt export trace/ --format parquet -o tables           for pandas, polars, DuckDB and the like
takt export trace/ --format csv -o tables               for everything else
"""


class Format(str, Enum):
    PERFETTO = "perfetto"
    PARQUET = "parquet"
    CSV = "csv"


def export(
    traces: Annotated[
        list[str], typer.Argument(metavar="TRACE...", help="CTF directories or archives of them.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="The file (perfetto) or folder to write.")
    ],
    format_: Annotated[Format, typer.Option("--format", help="What to write.")],
) -> None:
    """Hand a recording over to other tools.

    perfetto: a track for each thread with its callbacks, an arrow for each message, and what the
    processors did if the kernel was recorded too. parquet, csv: a folder with a table for each
    event and each kind of object; times are nanoseconds of CLOCK_MONOTONIC.
    """
    write = {
        Format.PERFETTO: exports.perfetto,
        Format.PARQUET: exports.parquet,
        Format.CSV: exports.csv,
    }[format_]
    info = write(traces, output)
    for warning in [*info["warnings"], *exports.left_out(info)]:
        console.say(f"takt: warning: {warning}")
    print(f"{output}: {info['events']} events")
