"""takt export and takt.open hand over what the recordings hold, as babeltrace2 and the published
definition of Perfetto's traces read it.

The recordings lie beside the project, not in it: without them these tests are skipped.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

import babeltrace
import takt
import takt_native
from test_traces import archive

Json = dict[str, Any]


def export(path: str, format_: str, output: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "takt", "export", path, "--format", format_, "-o", str(output)],
        capture_output=True,
        text=True,
    )


def unpacked(name: str, folder: Path) -> Path:
    with tarfile.open(archive(name)) as tar:
        tar.extractall(folder)
    return folder / name


def as_babeltrace_reads(trace: Path) -> dict[str, list[Json]]:
    """Rows by event, with the columns that Takt gives them."""
    rows: dict[str, list[Json]] = defaultdict(list)
    for event in babeltrace.events(trace):
        fields = {
            name: value for name, value in event.fields.items() if not name.endswith("_length")
        }
        if "gid" in fields:
            fields["gid"] = bytes(fields["gid"][:16]).hex()
        context = {"vpid": event.process, "vtid": event.thread, "procname": event.program}
        rows[event.name].append({"time": event.clock} | context | fields)
    return rows


def unsigned(row: Json) -> Json:
    """Handles are unsigned here and, with a base of 16, in babeltrace2's text as well."""
    return {name: value for name, value in row.items() if name not in ("host", "cpu_id")}


# The decoder's own tests compare all recordings; these test the columns made of its events.
@pytest.mark.parametrize("name", ["robot-multiprocess"])
def test_columns_hold_every_field_as_babeltrace_reads_it(name: str, tmp_path: Path) -> None:
    trace = unpacked(name, tmp_path)
    expected = as_babeltrace_reads(trace)
    found: dict[str, list[Json]] = defaultdict(list)
    for event, batch in takt.open(trace).all_events():
        found[event] += map(unsigned, batch.to_pylist())
    assert found.keys() == expected.keys()
    for event, rows in expected.items():
        # Simultaneous events of two processors may come in another order.
        key = json.dumps
        assert sorted(found[event], key=key) == sorted(rows, key=key), event


def test_events_of_one_name_are_a_stream_of_batches_for_other_libraries(tmp_path: Path) -> None:
    counts = json.loads(takt_native.info([archive("autoware")]))["by_name"]
    reader = takt.open(archive("autoware")).events("ros2:rcl_publish")
    assert isinstance(reader, pyarrow.RecordBatchReader)
    table = reader.read_all()
    table.validate(full=True)
    assert table.num_rows == counts["ros2:rcl_publish"] > 0
    assert table.schema.names[-2:] == ["publisher_handle", "message"]
    times = table["time"].to_pylist()
    assert times == sorted(times)


def test_an_unknown_event_gets_one_line() -> None:
    with pytest.raises(takt_native.InputError, match="no event 'my:event' is in the recording"):
        takt.open(archive("pipeline-lttng")).events("my:event")


@pytest.mark.parametrize("format_", ["parquet", "csv"])
def test_tables_hold_the_events_and_objects_that_info_counts(format_: str, tmp_path: Path) -> None:
    output = tmp_path / "tables"
    done = export(archive("autoware"), format_, output)
    assert (done.returncode, done.stderr) == (0, "")
    info = json.loads(takt_native.info([archive("autoware")]))
    read = pyarrow.parquet.read_table if format_ == "parquet" else pyarrow.csv.read_csv
    rows = {file.stem: read(file).num_rows for file in output.glob(f"*.{format_}")}
    assert rows == {name.replace(":", "_"): count for name, count in info["by_name"].items()}
    callbacks = read(output / "objects" / f"callbacks.{format_}").to_pylist()
    assert [row["id"] for row in callbacks] == [callback["id"] for callback in info["callbacks"]]
    assert json.loads((output / "info.json").read_text())["by_name"] == info["by_name"]
    again = export(archive("autoware"), format_, output)
    assert again.returncode == 2
    assert again.stderr == f"takt: {output}: exists; remove it, or name another folder\n"


@pytest.mark.parametrize("format_", ["parquet", "csv"])
def test_a_trace_in_which_no_callback_ran_has_tables_of_its_events(
    format_: str, tmp_path: Path
) -> None:
    """Such as one of a program whose callbacks the recorder does not see."""
    trace = unpacked("pipeline-ring", tmp_path)
    ran = takt.open(str(trace)).events("ros2:callback_start").read_all()
    for thread in ran.column("vtid").unique().to_pylist():
        for stream in trace.rglob(f"thread_{thread}"):
            stream.unlink()
    folder = tmp_path / "tables"
    done = export(str(trace), format_, folder)
    assert done.returncode == 0, done.stderr
    assert "no callback ran, so there are no tables of what happened" in done.stderr
    info = json.loads((folder / "info.json").read_text())
    assert sum(info["by_name"].values()) > 0
    names = {name.replace(":", "_") for name in info["by_name"]}
    assert {file.stem for file in folder.glob(f"*.{format_}")} == names
    assert (folder / "objects" / f"nodes.{format_}").exists()
    assert not (folder / "happened").exists()


def damaged(folder: Path) -> Path:
    trace = unpacked("autoware", folder)
    stream = max(trace.rglob("takt_*[0-9]"), key=lambda path: path.stat().st_size)
    with stream.open("r+b") as file:
        file.truncate(stream.stat().st_size * 6 // 10)
    return trace


def test_losses_are_in_every_document_made_of_a_trace(tmp_path: Path) -> None:
    trace = str(damaged(tmp_path))
    info = json.loads(takt_native.info([trace]))
    [warning] = [line for line in info["warnings"] if "ends in the middle of a packet" in line]
    model_text = takt_native.synthesize([trace], "{}")
    assert warning in json.loads(model_text)["provenance"]["warnings"]
    measurement = json.loads(takt_native.measure([trace], model_text, "model"))
    assert warning in measurement["provenance"]["warnings"]
    lost = {json.loads(model_text)["provenance"]["losses"]["unreadable_bytes"]}
    assert lost | {measurement["losses"]["unreadable_bytes"]} == {info["unreadable_bytes"]}

    done = export(trace, "parquet", tmp_path / "tables")
    assert f"takt: warning: {warning}" in done.stderr
    file = tmp_path / "tables" / "ros2_rcl_publish.parquet"
    metadata = pyarrow.parquet.read_metadata(file).metadata
    assert warning in json.loads(metadata[b"takt"])["warnings"]
    assert warning in json.loads((tmp_path / "tables" / "info.json").read_text())["warnings"]
    assert export(trace, "perfetto", tmp_path / "p").returncode == 0
    assert warning in Perfetto(tmp_path / "p").names["losses"]

    report = [sys.executable, "-m", "takt", "report", trace, "-o", str(tmp_path / "report.html")]
    shown = subprocess.run(report, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert shown.stderr.count(f"takt: warning: {warning}\n") == 1


class Perfetto:
    """A Perfetto trace by its published definition."""

    def __init__(self, path: Path) -> None:
        trace = perfetto_trace_pb2.Trace()
        trace.ParseFromString(path.read_bytes())
        self.threads: dict[int, Any] = {}
        self.processes: dict[int, str] = {}
        self.names: dict[str, list[str]] = defaultdict(list)
        self.flows: dict[int, list[tuple[str, int]]] = defaultdict(list)
        self.slices: list[tuple[int, int, str, int]] = []
        """Track, begin, name, end."""
        event_names: dict[int, str] = {}
        categories: dict[int, str] = {}
        losses: set[int] = set()
        events = []
        for packet in trace.packet:
            descriptor = packet.track_descriptor
            if descriptor.HasField("thread"):
                self.threads[descriptor.uuid] = descriptor.thread
            elif descriptor.HasField("process"):
                self.processes[descriptor.process.pid] = descriptor.process.process_name
            elif packet.HasField("track_descriptor"):
                losses.add(descriptor.uuid)
            event_names |= {name.iid: name.name for name in packet.interned_data.event_names}
            categories |= {name.iid: name.name for name in packet.interned_data.event_categories}
            if packet.HasField("track_event"):
                events.append((packet.timestamp, packet.track_event))
        begin, end, instant = (
            perfetto_trace_pb2.TrackEvent.TYPE_SLICE_BEGIN,
            perfetto_trace_pb2.TrackEvent.TYPE_SLICE_END,
            perfetto_trace_pb2.TrackEvent.TYPE_INSTANT,
        )
        open_slices: dict[int, list[tuple[int, str]]] = defaultdict(list)
        # In the order of the trace processor: by time, and equal times as they stand in the file.
        for time, event in sorted(events, key=lambda one: one[0]):
            if event.track_uuid in losses:
                self.names["losses"].append(event.name)
                continue
            name = event_names.get(event.name_iid, "")
            if event.type in (begin, instant):
                self.names[categories[event.category_iids[0]]].append(name)
            if event.type == begin:
                open_slices[event.track_uuid].append((time, name))
            elif event.type == end:
                started, opened = open_slices[event.track_uuid].pop()
                self.slices.append((event.track_uuid, started, opened, time))
            for flow in event.flow_ids:
                self.flows[flow].insert(0, (name, time))
            for flow in event.terminating_flow_ids:
                self.flows[flow].append((name, time))
        self.unfinished = sum(map(len, open_slices.values()))


@pytest.mark.parametrize("name", ["autoware", "pipeline-ring"])
def test_perfetto_shows_every_callback_publication_and_message(name: str, tmp_path: Path) -> None:
    done = export(archive(name), "perfetto", tmp_path / "trace")
    assert (done.returncode, done.stderr) == (0, "")
    info = json.loads(takt_native.info([archive(name)]))
    shown = Perfetto(tmp_path / "trace")
    callbacks = {one["id"]: one["count"] for one in info["callbacks"] if one["count"]}
    callbacks_with_open = Counter(shown.names["callback"])
    assert callbacks_with_open.total() == sum(callbacks.values()) + shown.unfinished
    assert shown.unfinished == info["anomalies"]["open_instances"]
    if not shown.unfinished:
        assert callbacks_with_open == callbacks
    published = Counter(shown.names["publication"])
    assert published.keys() <= {f"publish {topic['name']}" for topic in info["topics"]}
    # Every arrow has both ends, and goes forward in time.
    assert all(len(ends) == 2 and ends[0][1] <= ends[1][1] for ends in shown.flows.values())
    assert {thread.pid for thread in shown.threads.values()} == shown.processes.keys()


def test_perfetto_links_a_publication_to_who_takes_it(tmp_path: Path) -> None:
    assert export(archive("pipeline-lttng"), "perfetto", tmp_path / "trace").returncode == 0
    shown = Perfetto(tmp_path / "trace")
    info = json.loads(takt_native.info([archive("pipeline-lttng")]))
    links = Counter((ends[0][0], ends[1][0]) for ends in shown.flows.values())
    taken = {one["name"]: one["takes"] for one in info["topics"]}
    assert links["publish /image", "/motor:/image"] == taken["/image"] > 0
