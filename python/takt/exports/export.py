"""Recordings for other tools: Perfetto, and tables as Parquet or CSV."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import takt_native
from takt import files
from takt.documents import losses
from takt.recordings import foreign, recording, trace
from takt.text import console

Json = dict[str, Any]

INFO = "info.json"
OBJECTS = "objects"
HAPPENED = "happened"
WRITTEN = "written"
"""In the document that _tables returns: how many events are in the tables."""


def perfetto(traces: list[str], output: str) -> Json:
    """Writes a trace for ui.perfetto.dev. Returns the takt/info document."""
    import takt_export  # the help of takt export does without

    with (
        console.progress("Writing the Perfetto trace") as progress,
        files.replacement(output) as temporary,
    ):
        document: Json = json.loads(takt_export.export_perfetto(traces, str(temporary), progress))
    return document


def parquet(traces: list[str], output: str) -> Json:
    """Writes a folder of Parquet files, see `_tables`."""
    return _tables(traces, output, ".parquet", _ParquetFile)


def csv(traces: list[str], output: str) -> Json:
    """Writes a folder of CSV files, see `_tables`."""
    return _tables(traces, output, ".csv", _CsvFile)


def left_out(info: Json) -> list[str]:
    """A line on the events that the export left out, if there are any."""
    missing = info["events"] - written(info)
    if not missing:
        return []
    others = (name for name in info["by_name"] if not foreign.is_known(name))
    return [f"{missing} events are not of ROS 2, left out: {', '.join(others)}"]


def written(info: Json) -> int:
    """How many events of the recording are in the export."""
    if WRITTEN in info:
        return int(info[WRITTEN])
    return sum(number for name, number in info["by_name"].items() if foreign.is_known(name))


class _TableFile(Protocol):
    def write(self, table: Any) -> None: ...
    def close(self, info: Json) -> None: ...


def _tables(
    traces: list[str],
    output: str,
    suffix: str,
    new_file: Callable[[Path, Any], _TableFile],
) -> Json:
    """Writes a folder with a table for each event that occurs, one for each kind of object, those
    of takt.recordings.recording (runs, publications, takes, flows and their parts, which name each
    other and the callbacks by number; none if no callback ran), and info.json with what the trace
    lost.
    Returns the takt/info document.
    """
    pyarrow = trace.arrow()
    happened, failure = _happened(traces)
    callbacks = [
        {key: row[key] for key in ("callback", "process", "pid", "host")}
        for row in (happened.pop("callbacks").to_pylist() if happened else ())
    ]
    info: Json = {}
    tables: dict[str, _TableFile] = {}
    rows_written = 0
    with (
        console.progress("Exporting the events") as progress,
        files.replacement_folder(output) as folder,
    ):
        for name, batch in trace.Trace(*traces).all_events(progress, info.update):
            if name not in tables:
                tables[name] = new_file(folder / (_file_name(name) + suffix), batch.schema)
            tables[name].write(batch)
            rows_written += batch.num_rows
        if failure is not None:
            if any(callback["count"] for callback in info["callbacks"]):
                raise failure
            info["warnings"].append("no callback ran, so there are no tables of what happened")
        (folder / OBJECTS).mkdir()
        for kind, objects in trace.objects(info).items():
            if objects:
                flat = _flat(objects)
                if kind == "callbacks" and happened:
                    flat = [key | row for key, row in zip(callbacks, flat, strict=True)]
                rows = pyarrow.Table.from_pylist(flat)
                tables[kind] = new_file(folder / OBJECTS / (kind + suffix), rows.schema)
                tables[kind].write(rows)
        if happened:
            (folder / HAPPENED).mkdir()
        for kind, rows in happened.items():
            tables[kind] = new_file(folder / HAPPENED / (kind + suffix), rows.schema)
            tables[kind].write(rows)
        for table in tables.values():
            table.close(info)
        (folder / INFO).write_text(json.dumps(info, ensure_ascii=False), encoding="utf-8")
    return {**info, WRITTEN: rows_written}


def _happened(traces: list[str]) -> tuple[dict[str, Any], takt_native.InputError | None]:
    """The tables of takt.recordings.recording, or none and why there are none."""
    try:
        return recording.tables(traces), None
    except takt_native.InputError as error:
        return {}, error


def _file_name(event: str) -> str:
    """ "ros2:callback_start" → "ros2_callback_start", which is a file name everywhere."""
    return event.replace(":", "_")


def _flat(things: list[Json]) -> list[Json]:
    """Rows that all have the same columns: parts of structures, "execution_time.max", which are
    null where the structure is; lists as JSON.
    """
    parts: dict[str, dict[str, None]] = {}
    """By structure; dictionaries, as sets that keep their order."""
    for thing in things:
        for key, value in thing.items():
            if isinstance(value, dict):
                parts.setdefault(key, {}).update(dict.fromkeys(value))
    keys = dict.fromkeys(key for thing in things for key in thing)

    def row(thing: Json) -> Json:
        made: Json = {}
        for key in keys:
            value = thing.get(key)
            if key in parts:
                made |= {f"{key}.{part}": (value or {}).get(part) for part in parts[key]}
            else:
                made[key] = json.dumps(value) if isinstance(value, list) else value
        return made

    return list(map(row, things))


class _ParquetFile:
    """A Parquet file whose metadata hold the trace's losses, under the key takt."""

    def __init__(self, path: Path, schema: Any) -> None:
        from pyarrow import parquet

        self._writer = parquet.ParquetWriter(path, schema, compression="zstd", compression_level=1)

    def write(self, table: Any) -> None:
        self._writer.write(table)

    def close(self, info: Json) -> None:
        keys = ("inputs", *losses.KINDS, "warnings")
        origin = {key: info[key] for key in keys if key in info}
        self._writer.add_key_value_metadata({"takt": json.dumps(origin, ensure_ascii=False)})
        self._writer.close()


class _CsvFile:
    def __init__(self, path: Path, schema: Any) -> None:
        from pyarrow import csv

        self._writer = csv.CSVWriter(path, _without_lists(schema.empty_table()).schema)

    def write(self, table: Any) -> None:
        self._writer.write(_with_harmless_texts(_without_lists(table)))

    def close(self, info: Json) -> None:
        self._writer.close()


def _with_harmless_texts(table: Any) -> Any:
    """Texts without characters that a terminal obeys or hides, and, where a spreadsheet would take
    one for a formula, with an apostrophe in front, as spreadsheets mark texts.
    """
    from pyarrow import compute, types

    for i, field in enumerate(table.schema):
        texts = table.column(i)
        if types.is_dictionary(field.type):
            texts = texts.cast(field.type.value_type)
        if types.is_string(texts.type) or types.is_large_string(texts.type):
            texts = compute.replace_substring_regex(
                texts, r"[\p{C}\p{Zl}\p{Zp}]", "\N{REPLACEMENT CHARACTER}"
            )
            texts = compute.replace_substring_regex(texts, r"^([=+\-@])", r"'\1")
            table = table.set_column(i, field.name, texts.cast(field.type))
    return table


def _without_lists(table: Any) -> Any:
    """Lists as texts, "1 2 3"; only few initialisation events have any."""
    pyarrow = trace.arrow()
    for i, field in enumerate(table.schema):
        if pyarrow.types.is_large_list(field.type):
            lists = table.column(i).to_pylist()
            texts = pyarrow.array([" ".join(map(str, one)) for one in lists], pyarrow.string())
            table = table.set_column(i, field.name, texts)
    return table
