"""A recording as tables that join, and as objects that read like the robot.

    import takt

    recording = takt.load("trace/", goals="goals.yaml")
    recording.flows.group_by("chain").agg(polars.col("latency").max())
    recording.application.node("/planner").callbacks
    recording.path("pilot").latencies.plot.line()

Rows are numbered, and a table names the rows of another one by that number: `runs.callback` is a
row of `callbacks`, `publications.run` and `takes.run` are rows of `runs`, `takes.publication` is
one of `publications`, `parts.flow` one of `flows`. A callback's number is unique in the recording,
whatever process it is in, and the same as in the tables of takt export. Times are nanoseconds since
the epoch, durations nanoseconds.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import takt_native
from takt import inputs, libraries, pipeline
from takt.errors import UserError
from takt.recordings.trace import arrow
from takt.text.parts import PARTS

if TYPE_CHECKING:
    import polars
    import pyarrow

Json = dict[str, Any]

FATES = ("taken", "lost", "unprocessed", "beyond the recording")


@dataclass(frozen=True)
class Read:
    """The content of recordings."""

    tables: dict[str, pyarrow.Table]
    """By name: callbacks, runs, publications, takes, flows, parts."""
    model: inputs.ModelText
    """Their timing model, with the goals."""
    info: Json
    """The takt/info document."""


def tables(traces: list[str], goals: str | None = None) -> dict[str, pyarrow.Table]:
    """The tables of recordings alone. Raises takt_native.InputError."""
    return read(traces, goals).tables


def read(traces: list[str], goals: str | None = None) -> Read:
    """Reads recordings. Raises takt_native.InputError."""
    pyarrow = arrow()
    model = inputs.model(traces, goals)
    info = pipeline.info(traces)
    with tempfile.TemporaryDirectory(prefix="takt-") as name:
        index, _ = pipeline.store_view(traces, model.text, model.source, name, all_chains=True)
        columns = _Columns(Path(name))
        threads = sum(track["kind"] == "thread" for track in index["tracks"])
        made = {
            "callbacks": pyarrow.Table.from_pylist(list(_callbacks(index, info))),
            "runs": _runs(columns, index, threads),
            **_messages(columns, index),
            **_flows(columns, index),
        }
        # One chunk for each column; filtering and joining made several.
        return Read({kind: table.combine_chunks() for kind, table in made.items()}, model, info)


class _Columns:
    """The columns that libtakt/viewer wrote (docs/viewer-data.md, "On disk")."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, table: str, *names: str) -> pyarrow.Table:
        pyarrow = arrow()
        columns = {}
        for name in names:
            data = takt_native.read_column(str(self._folder), table, name)
            columns[name] = pyarrow.Array.from_buffers(
                pyarrow.int64(), len(data) // 8, [None, pyarrow.py_buffer(data)]
            )
        return pyarrow.table(columns)


def _callbacks(index: Json, info: Json) -> Iterator[Json]:
    processes = index["processes"]
    numbered = [entry for entry in enumerate(index["callbacks"]) if "continues" not in entry[1]]
    for (number, callback), told in zip(numbered, info["callbacks"], strict=True):
        executor = index["executors"][callback["executor"]] if callback["executor"] >= 0 else None
        process = processes[executor["process"]] if executor else None
        yield {
            "callback": number,
            "id": told["id"],
            "name": callback["name"],
            "node": callback["node"],
            "kind": callback["kind"],
            "topic": _name(index["topics"], callback["topic"]),
            "period": callback["period"],
            "executor": executor["name"] if executor else None,
            "process": process["name"] if process else None,
            "pid": process["pid"] if process else None,
            "host": index["hosts"][process["host"]]["name"] if process else None,
            "count": callback["count"],
        }


def _name(list_: list[Json], number: int) -> str | None:
    return list_[number]["name"] if number >= 0 else None


def _runs(columns: _Columns, index: Json, threads: int) -> pyarrow.Table:
    pyarrow = arrow()
    spans = columns.read("spans", "track", "start", "duration", "subject")
    # The tracks of threads come first, then those of processors.
    spans = spans.filter(pyarrow.compute.less(spans["track"], threads))
    names = [track["name"] for track in index["tracks"]]
    return pyarrow.table(
        {
            "run": _numbers(len(spans)),
            "callback": spans["subject"],
            "thread": _words(spans["track"], names),
            "start": _since_epoch(spans["start"], index),
            "duration": spans["duration"],
        }
    )


def _messages(columns: _Columns, index: Json) -> dict[str, pyarrow.Table]:
    """Publications, and for each of them a take for every subscription, including those that did
    not get it.
    """
    pyarrow = arrow()
    rows = columns.read("messages", "topic", "source", "sent", "taken", "target", "fate")
    topics = [topic["name"] for topic in index["topics"]]
    keys = rows.select(["topic", "source", "sent"])
    distinct = keys.group_by(["topic", "source", "sent"], use_threads=False).aggregate([])
    distinct = distinct.append_column("publication", _numbers(len(distinct)))
    numbered = keys.append_column("row", _numbers(len(keys)))
    joined = numbered.join(distinct, ["topic", "source", "sent"]).sort_by("row")
    publications = pyarrow.table(
        {
            "publication": distinct["publication"],
            "topic": _words(distinct["topic"], topics),
            "run": _known(distinct["source"]),
            "sent": _since_epoch(distinct["sent"], index),
        }
    )
    takes = pyarrow.table(
        {
            "publication": joined["publication"],
            "topic": _words(rows["topic"], topics),
            "run": _known(rows["target"]),
            "taken": _since_epoch(_known(rows["taken"]), index),
            "fate": _words(rows["fate"], list(FATES)),
        }
    )
    return {"publications": publications, "takes": takes}


def _flows(columns: _Columns, index: Json) -> dict[str, pyarrow.Table]:
    pyarrow = arrow()
    rows = columns.read("instances", "chain", "start", "ending", "parts", "run", "latency")
    chains = index["chains"]
    endings = [
        chains[chain]["endings"][ending]["reason"] if ending >= 0 else None
        for chain, ending in zip(rows["chain"].to_pylist(), rows["ending"].to_pylist(), strict=True)
    ]
    flows = pyarrow.table(
        {
            "flow": _numbers(len(rows)),
            "chain": _words(rows["chain"], [chain["name"] for chain in chains]),
            "start": _since_epoch(rows["start"], index),
            "latency": rows["latency"],
            "complete": pyarrow.compute.equal(rows["ending"], -1),
            "ended": pyarrow.array(endings, pyarrow.string()),
            "instance": _known(rows["run"]),
        }
    )
    parts = columns.read("parts", "step", "kind", "duration", "span", "callback", "actor")
    owners = [
        number for number, count in enumerate(rows["parts"].to_pylist()) for _ in range(count)
    ]
    parts = pyarrow.table(
        {
            "flow": pyarrow.array(owners, pyarrow.int64()),
            "step": parts["step"],
            "kind": _words(parts["kind"], list(PARTS)),
            "duration": parts["duration"],
            "run": _known(parts["span"]),
            "behind": _known(parts["callback"]),
            "preempted_by": _words(_known(parts["actor"]), index["actors"]),
        }
    )
    return {"flows": flows, "parts": parts}


def _numbers(count: int) -> pyarrow.Array:
    return arrow().array(range(count), arrow().int64())


def _known(column: Any) -> Any:
    """Numbers of rows, with null for -1."""
    compute = arrow().compute
    return compute.if_else(compute.less(column, 0), None, column)


def _words(column: Any, words: list[str]) -> Any:
    """The words that numbers stand for."""
    return arrow().compute.take(arrow().array(words, arrow().string()), column)


def _since_epoch(column: Any, index: Json) -> Any:
    return arrow().compute.add(column, int(index["origin"] or 0))


@dataclass(frozen=True)
class Callback:
    number: int
    """In `Recording.callbacks`."""
    name: str
    kind: str
    topic: str | None
    node: str
    recording: Recording = field(repr=False)

    @property
    def runs(self) -> polars.DataFrame:
        """Its rows of `Recording.runs`."""
        runs = self.recording.runs
        return runs.filter(runs["callback"] == self.number)


@dataclass(frozen=True)
class Node:
    name: str
    callbacks: list[Callback]


@dataclass(frozen=True)
class Chain:
    """A path through callbacks, with what was measured of it."""

    name: str
    recording: Recording = field(repr=False)

    @property
    def flows(self) -> polars.DataFrame:
        """Its rows of `Recording.flows`."""
        flows = self.recording.flows
        return flows.filter(flows["chain"] == self.name)

    @property
    def latencies(self) -> polars.DataFrame:
        """Start and latency of its complete instances."""
        flows = self.flows
        return flows.filter(flows["complete"]).select("start", "latency")


@dataclass(frozen=True)
class Application:
    nodes: list[Node]
    paths: list[Chain]

    def node(self, name: str) -> Node:
        """UserError if there is none of that name."""
        node: Node = _named(self.nodes, name, "node")
        return node


class Recording:
    """Recordings, read as one; tables are made when they are first asked for."""

    def __init__(self, *traces: str | os.PathLike[str], goals: str | None = None) -> None:
        self.traces = [os.fspath(trace) for trace in traces]
        if not self.traces:
            raise UserError("no trace: name a recording")
        self._goals = goals
        # Said where the name stands, and not where a table is asked for.
        for path in (*self.traces, *([goals] if goals else [])):
            if not Path(path).exists():
                raise UserError(f"{path}: no such file or directory")

    def __repr__(self) -> str:
        goals = f", goals={self._goals!r}" if self._goals else ""
        return f"takt.load({', '.join(map(repr, self.traces))}{goals})"

    @cached_property
    def _tables(self) -> dict[str, polars.DataFrame]:
        polars = libraries.optional("polars", "tables")
        made = tables(self.traces, self._goals)
        return {name: polars.DataFrame(table) for name, table in made.items()}

    @property
    def callbacks(self) -> polars.DataFrame:
        return self._tables["callbacks"]

    @property
    def runs(self) -> polars.DataFrame:
        """Every run of a callback."""
        return self._tables["runs"]

    @property
    def publications(self) -> polars.DataFrame:
        return self._tables["publications"]

    @property
    def takes(self) -> polars.DataFrame:
        """The fate of each publication at each subscription."""
        return self._tables["takes"]

    @property
    def flows(self) -> polars.DataFrame:
        """Every instance of a chain, from its activation to its end."""
        return self._tables["flows"]

    @property
    def parts(self) -> polars.DataFrame:
        """What each flow spent its time on: the parts of a flow add up to its latency."""
        return self._tables["parts"]

    @cached_property
    def application(self) -> Application:
        nodes: dict[str, list[Callback]] = {}
        for row in self.callbacks.iter_rows(named=True):
            callback = Callback(
                row["callback"], row["name"], row["kind"], row["topic"], row["node"], self
            )
            nodes.setdefault(callback.node, []).append(callback)
        names = self.flows["chain"].unique(maintain_order=True).to_list()
        return Application(
            [Node(name, callbacks) for name, callbacks in nodes.items()],
            [Chain(name, self) for name in names],
        )

    def path(self, name: str) -> Chain:
        """The chain of that name. UserError if there is none."""
        path: Chain = _named(self.application.paths, name, "chain")
        return path


def _named(items: list[Any], name: str, kind: str) -> Any:
    for item in items:
        if item.name == name:
            return item
    known = ", ".join(item.name for item in items)
    raise UserError(f"no {kind} {name!r}; there are: {known}")
