"""Traces as columns: the events of a recording for pyarrow, polars, pandas and the like.

    import takt

    starts = takt.open("trace/").events("ros2:callback_start")   # a pyarrow.RecordBatchReader
    polars.from_arrow(starts)                                    # or .read_pandas(), …

Events land in Arrow's columns without an object for each, and are read in bounded memory.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import takt_native
from takt import built, libraries
from takt.recordings import foreign

if TYPE_CHECKING:
    import pyarrow

    import takt_export

Json = dict[str, Any]

ROWS = 1 << 16
"""Rows of a batch; the last batch of an event and batches with long texts differ."""


class Trace:
    """The recording at `paths`: CTF directories or archives of them, read as one. Every method
    reads it from its start.
    """

    def __init__(self, *paths: str | os.PathLike[str]) -> None:
        self.paths = [os.fspath(path) for path in paths]

    def info(self) -> Json:
        """What is in it: the `takt/info` document. Raises takt_native.InputError."""
        document: Json = json.loads(takt_native.info(self.paths))
        return document

    def events(self, name: str) -> pyarrow.RecordBatchReader:
        """The events of one name in the order of their times, of any that the trace has; `time` is
        in nanoseconds of the first host's CLOCK_MONOTONIC. Raises takt_native.InputError.
        """
        pyarrow = arrow()
        if not foreign.is_known(name):
            return foreign.events(self._reader([foreign.TABLE]), name)
        reader = self._reader([name])
        schema = pyarrow.schema(reader.empty(name))
        batches = (pyarrow.record_batch(table) for table in iter(reader.read, None))
        return pyarrow.RecordBatchReader.from_batches(schema, batches)

    def all_events(
        self,
        progress: Callable[[int, int], None] | None = None,
        at_end: Callable[[Json], None] | None = None,
    ) -> Iterator[tuple[str, pyarrow.RecordBatch]]:
        """Event names with batches of their events, in one pass; the batches of a name are in the
        order of their times. `at_end` is given the `takt/info` document.
        """
        pyarrow = arrow()
        reader = self._reader([])
        others = foreign.Tables()
        while (table := reader.read(progress)) is not None:
            batch = pyarrow.record_batch(table)
            if table.name() == foreign.TABLE:
                yield from others.split(batch)
            else:
                yield table.name(), batch
        if at_end is not None:
            at_end(json.loads(reader.info()))

    def _reader(self, names: list[str]) -> takt_export.EventReader:
        built.path("takt_export")
        import takt_export

        return takt_export.EventReader(self.paths, names, ROWS)


def arrow() -> Any:
    """The package pyarrow. UserError if it is not installed."""
    libraries.optional("pyarrow.compute", "tables")
    return libraries.optional("pyarrow", "tables")


def objects(info: Mapping[str, Any]) -> dict[str, list[Json]]:
    """The lists of a `takt/info` document that say what the recorded system consists of."""
    kinds = (
        "hosts",
        "processes",
        "nodes",
        "topics",
        "publishers",
        "subscriptions",
        "timers",
        "services",
        "clients",
        "callbacks",
        "executors",
    )
    return {kind: info[kind] for kind in kinds}
