"""The tables of a store: the rows that a run has in each, as Parquet.

Their columns are those of schemas/tables.schema.json. The same summary gives the same bytes.
"""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

from takt import libraries
from takt.documents.typed import LARGEST
from takt.documents.types import Summary, SummaryDurations
from takt.fleet import comparison
from takt.fleet.store import Entry
from takt.histogram import GROWTH
from takt.text.formatting import printable

Json = dict[str, Any]

_TYPES = {"string": "string", "integer": "int64", "number": "float64"}


@functools.cache
def columns() -> dict[str, dict[str, str]]:
    """The columns of each table with their types in JSON."""
    text = (resources.files("takt") / "schemas" / "tables.schema.json").read_text("utf-8")
    schema = json.loads(text)
    return {
        name: {
            column: field["type"]
            for column, field in schema["$defs"][table["items"]["$ref"].rpartition("/")[2]][
                "properties"
            ].items()
        }
        for name, table in schema["properties"].items()
    }


def parquet(run: Summary, entry: Entry) -> dict[str, bytes]:
    """The file of each table with the rows of a run."""
    pyarrow = libraries.optional("pyarrow", "fleet")
    written = libraries.optional("pyarrow.parquet", "fleet")
    rows: dict[str, Iterator[Json]] = {
        "runs": iter([_run(run)]),
        "figures": _figures(run),
        "parts": _parts(run),
        "histograms": _buckets(run),
    }
    common = {
        "run": entry.key,
        "robot": entry.robot,
        "version": entry.version,
        "day": entry.day,
    }
    found = {}
    for name, fields in columns().items():
        schema = pyarrow.schema(
            [(column, getattr(pyarrow, _TYPES[kind])()) for column, kind in fields.items()]
        )
        table = pyarrow.Table.from_pylist([common | row for row in rows[name]], schema=schema)
        file = io.BytesIO()
        written.write_table(table, file, compression="zstd")
        found[name] = file.getvalue()
    return found


def _run(run: Summary) -> Json:
    machine = run.machines[0] if run.machines else {}
    inputs = run.provenance.inputs
    return {
        "begin": run.begin,
        "duration": run.duration,
        "events": run.events,
        "lost": min(sum(run.losses.values()), LARGEST),
        **{name: _text(machine.get(name)) for name in ("host", "boot", "kernel", "ros")},
        "labels": json.dumps(dict(run.labels), sort_keys=True),
        "path": inputs[0].path if inputs else None,
    }


def _text(value: object) -> str | None:
    """The labels of a recording may be of another version."""
    return printable(value) if isinstance(value, str) else None


def _figures(run: Summary) -> Iterator[Json]:
    for (subject, quantity), value in comparison.figures(run).items():
        yield {
            "kind": subject.kind,
            "name": subject.key,
            "quantity": quantity,
            "value": float(value),
        }


def _parts(run: Summary) -> Iterator[Json]:
    for chain in run.chains:
        path = comparison.path_of(chain)
        for part, mean in (comparison.parts(run, path) or {}).items():
            yield {"chain": path, **part._asdict(), "mean": mean}


def _buckets(run: Summary) -> Iterator[Json]:
    distributions: list[tuple[str, str, SummaryDurations]] = [
        *(("chain", comparison.path_of(each), each.latency) for each in run.chains),
        *(("callback", each.id, each.duration) for each in run.callbacks),
        *(("link", f"{each.topic} -> {each.target}", each.latency) for each in run.links),
    ]
    for kind, name, values in distributions:
        if values.zeros:
            yield {"kind": kind, "name": name, "time": 0.0, "count": values.zeros}
        for bucket, count in sorted(zip(values.buckets, values.counts, strict=True)):
            time = 2 * GROWTH**bucket / (GROWTH + 1)
            yield {"kind": kind, "name": name, "time": time, "count": count}
