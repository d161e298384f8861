"""Events that Takt does not know, such as those of LTTng's helper libraries or of other programs.

takt_export gives them as one table, with the fields of each event as a JSON object. Here they
become a table for each event, with a column for each field.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import takt_native
from takt import built
from takt.errors import UserError

if TYPE_CHECKING:
    import pyarrow

    import takt_export

TABLE = "foreign"
"""The table of these events in takt_export, with the columns `event` and `fields`."""

MOST = 2**63
"""Whole numbers from here on are shown as negative ones, as 64 bits of the other sign."""


def is_known(name: str) -> bool:
    """Whether Takt knows the event."""
    built.path("takt_export")
    import takt_export

    return name in takt_export.event_names()


def events(reader: takt_export.EventReader, name: str) -> pyarrow.RecordBatchReader:
    """The events of one name. takt_native.InputError if there are none."""
    import pyarrow

    tables = Tables()
    batches = [
        batch
        for table in iter(reader.read, None)
        for found, batch in tables.split(pyarrow.record_batch(table))
        if found == name
    ]
    if not batches:
        raise takt_native.InputError(
            f"no event {name!r} is in the recording; takt info --json lists those that are"
        )
    return pyarrow.RecordBatchReader.from_batches(batches[0].schema, batches)


class Tables:
    """Splits the table of all such events; the columns of an event are the same each time."""

    def __init__(self) -> None:
        self._types: dict[str, dict[str, Any]] = {}

    def split(self, batch: pyarrow.RecordBatch) -> Iterator[tuple[str, pyarrow.RecordBatch]]:
        """Names of events with their rows, in the order of time."""
        import pyarrow
        from pyarrow import compute

        for name in compute.unique(batch["event"]).to_pylist():
            rows = batch.filter(compute.equal(batch["event"], name))
            values = [json.loads(text) for text in rows["fields"].to_pylist()]
            types = self._types.setdefault(name, {k: _type(v) for k, v in values[0].items()})
            own = [column for column in rows.schema.names if column not in ("event", "fields")]
            columns = {column: rows[column] for column in own}
            for field, kind in types.items():
                column = f"{field}_" if field in columns else field
                columns[column] = _array(
                    [_value(row.get(field)) for row in values], kind, name, field
                )
            yield name, pyarrow.record_batch(columns)


def _type(value: Any) -> Any:
    import pyarrow

    if isinstance(value, int):
        return pyarrow.int64()
    return pyarrow.float64() if isinstance(value, float) or value is None else pyarrow.string()


def _array(values: list[Any], kind: Any, event: str, field: str) -> Any:
    import pyarrow

    try:
        return pyarrow.array(values, kind)
    except pyarrow.ArrowException:
        raise UserError(
            f"{event}: the field {field} has values of several types, which no table can hold; "
            "export its recordings one by one"
        ) from None


def _value(value: Any) -> Any:
    """Lists and structures as JSON."""
    if isinstance(value, int):
        return value - 2 * MOST if value >= MOST else value
    return json.dumps(value) if isinstance(value, (list, dict)) else value
