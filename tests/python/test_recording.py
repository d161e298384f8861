"""takt.load and the tables of takt export: they join, and say what measurements say."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow
import pyarrow.csv
import pytest

import takt
from robot import run_takt
from takt import inputs, pipeline
from takt.commands.info import headline
from takt.errors import UserError
from takt.exports import export
from takt.recordings import recording, trace
from takt.recordings.recording import Recording
from takt.testing import Recorded

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "tests" / "recordings"
PIPELINE = str(RECORDINGS / "pipeline-ebpf.tar.xz")
AUTOWARE = str(RECORDINGS / "autoware.tar.xz")
RING = str(RECORDINGS / "pipeline-ring.tar.xz")


@pytest.fixture(scope="module")
def autoware() -> Recording:
    return Recording(AUTOWARE)


def test_what_a_recording_lost_is_said_whatever_it_was() -> None:
    info = takt.open(AUTOWARE).info()
    assert "none lost" in headline(info)
    damaged = {**info, "discarded_packets": 2}
    assert "2 packets lost" in headline(damaged)
    run = Recorded(Path(AUTOWARE))
    assert run.lost() == 0
    run.__dict__["_info"] = damaged
    assert run.lost() == 2


@pytest.mark.parametrize("kept", [0, 1, 4])
def test_a_copy_that_ends_between_two_packets_has_lost_the_others(
    tmp_path: Path, kept: int
) -> None:
    """In a recording by LTTng: its index lists the packets of each file."""
    with tarfile.open(AUTOWARE) as archive:
        archive.extractall(tmp_path, filter="data")
    (stream,) = tmp_path.rglob("takt_0")
    index = (stream.parent / "index" / "takt_0.idx").read_bytes()
    packets = [struct.unpack_from(">QQQ", index, at) for at in range(16, len(index), 72)]
    if kept == 0:
        stream.unlink()
    else:
        os.truncate(stream, packets[kept][0])
    info = takt.open(tmp_path / "autoware").info()
    assert info["unreadable_bytes"] == sum(content // 8 for _, _, content in packets[kept:])
    missing = f"takt_0: its index lists {len(packets) - kept} packets with "
    assert sum(warning.startswith(missing) for warning in info["warnings"]) == 1
    assert "none lost" not in headline(info)


def test_a_copy_of_which_a_file_is_empty_has_lost_its_events(tmp_path: Path) -> None:
    """In a recording by the ring, which has no index."""
    with tarfile.open(RING) as archive:
        archive.extractall(tmp_path, filter="data")
    stream = max(tmp_path.rglob("thread_*"), key=lambda file: file.stat().st_size)
    os.truncate(stream, 0)
    (recording,) = tmp_path.iterdir()
    info = takt.open(recording).info()
    assert f"{stream.name}: the file is empty: its events are missing" in info["warnings"]
    assert "none lost" not in headline(info)


def test_exported_columns_do_not_depend_on_the_first_row() -> None:
    never: dict[str, Any] = {"id": "a", "execution_time": None}
    ran: dict[str, Any] = {"id": "b", "execution_time": {"max": 3}}
    for rows in ([never, ran], [ran, never]):
        flat = sorted(export._flat(rows), key=lambda row: str(row["id"]))
        assert flat == [
            {"id": "a", "execution_time.max": None},
            {"id": "b", "execution_time.max": 3},
        ]


def test_a_recording_without_callbacks_is_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {"callbacks": pyarrow.Table.from_pylist([])}
    monkeypatch.setattr(recording, "tables", lambda traces: made)
    monkeypatch.setattr(trace, "objects", lambda info: {"callbacks": []})
    export.csv([PIPELINE], str(tmp_path / "tables"))
    assert (tmp_path / "tables" / "info.json").exists()


def test_every_run_is_of_a_callback_that_counts_it(autoware: Recording) -> None:
    counted = autoware.runs.group_by("callback").len().join(autoware.callbacks, on="callback")
    assert counted["len"].sum() == autoware.runs.height == 2208
    assert (counted["len"] == counted["count"]).all()
    assert autoware.callbacks["callback"].is_unique().all()
    assert autoware.callbacks["pid"].null_count() == 0


def test_takes_join_their_publications_and_runs(autoware: Recording) -> None:
    joined = autoware.takes.join(autoware.publications, on="publication")
    assert joined.height == autoware.takes.height
    assert (joined["topic"] == joined["topic_right"]).all()
    taken = joined.filter(pl.col("fate") == "taken")
    assert (taken["taken"] >= taken["sent"]).all()
    # A message is handled by a callback of its topic.
    callbacks = autoware.callbacks.select("callback", heard=pl.col("topic"))
    handled = taken.join(autoware.runs, left_on="run", right_on="run").join(
        callbacks, on="callback"
    )
    assert handled.height == taken.height
    assert (handled["topic"] == handled["heard"]).all()


def test_parts_add_up_to_latencies_that_were_measured(autoware: Recording) -> None:
    sums = autoware.parts.group_by("flow").agg(pl.col("duration").sum())
    joined = autoware.flows.join(sums, on="flow")
    assert joined.height == autoware.flows.height
    assert (joined["duration"] == joined["latency"]).all()
    model = inputs.model([AUTOWARE])
    measured = pipeline.measure([AUTOWARE], model.text, model.source)
    complete = autoware.flows.filter(pl.col("complete"))
    for chain in measured.chains:
        latencies = complete.filter(pl.col("chain") == chain.id)["latency"]
        assert len(latencies) == chain.count
        assert latencies.max() == chain.max


def test_data_wait_for_the_timer_that_reads_them_until_it_is_due(autoware: Recording) -> None:
    """The planner reads every 100 ms what subscriptions keep; timers keep to the grid of rcl."""
    until = pl.col("start").cast(pl.Int64) + pl.col("duration").cum_sum().over("flow")
    parts = autoware.parts.join(
        autoware.flows.select("flow", "start"), on="flow", maintain_order="left"
    ).with_columns(until=until)
    due = parts.filter(pl.col("kind") == "timer")["until"]
    assert due.n_unique() > 30
    assert ((due - due[0]) % 100_000_000 == 0).all()


def test_preemption_names_who_ran_instead() -> None:
    parts = takt.load(PIPELINE).parts
    kinds = set(parts["kind"])
    assert {"running", "executor", "transport", "sending"} <= kinds
    assert "reservation" in kinds  # the model's motor has one, which it uses up


def test_the_object_model_reads_like_the_robot(autoware: Recording) -> None:
    planner = autoware.application.node("/BehaviorPlanner")
    assert {callback.kind for callback in planner.callbacks} == {"timer", "subscription"}
    runs = planner.callbacks[0].runs
    assert set(runs["callback"]) == {planner.callbacks[0].number}
    path = autoware.application.paths[0]
    assert path.latencies.height == path.flows["complete"].sum()
    assert autoware.path(path.name) == path
    with pytest.raises(UserError, match="no node '/nobody'; there are: "):
        autoware.application.node("/nobody")


def test_objects_are_printed_in_a_line_that_names_them(autoware: Recording) -> None:
    assert repr(autoware) == f"takt.load({AUTOWARE!r})"
    (printed, *_) = autoware.application.node("/MPCController").callbacks
    assert "recording" not in repr(printed)
    assert "/MPCController" in repr(printed)


def test_what_is_not_there_is_said_at_once() -> None:
    for given, missing in ((["nowhere"], None), ([AUTOWARE], "no-goals.yaml")):
        with pytest.raises(UserError, match=f"^{missing or given[0]}: no such file or directory$"):
            takt.load(*given, goals=missing)


def test_a_reader_that_a_script_still_holds_is_no_leak() -> None:
    held = f"import takt; held = takt.open({AUTOWARE!r}).events('ros2:callback_start')"
    done = subprocess.run(
        [sys.executable, "-c", held], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_documented_example_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "autoware.tar.xz").symlink_to(AUTOWARE)
    monkeypatch.chdir(tmp_path)
    labels = ("--label", "robot=r1", "--label", "version=1.2")
    assert run_takt("fleet", "add", "store", AUTOWARE, *labels).returncode == 0
    page = (ROOT / "docs" / "notebook.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, "docs/notebook.md", "exec"), names)
    where = names["where"]
    assert isinstance(where, pl.DataFrame)
    assert where.height > 0
    slowest = names["slowest"]
    assert isinstance(slowest, pl.DataFrame)
    assert slowest.height > 0


def test_exported_tables_share_the_keys_of_objects(tmp_path: Path) -> None:
    done = run_takt("export", PIPELINE, "--format", "csv", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    read = pyarrow.csv.read_csv
    callbacks = read(tmp_path / "out" / "objects" / "callbacks.csv").to_pylist()
    runs = read(tmp_path / "out" / "happened" / "runs.csv").to_pylist()
    assert len({callback["pid"] for callback in callbacks}) == 2
    for callback in callbacks:
        mine = [run for run in runs if run["callback"] == callback["callback"]]
        assert len(mine) == callback["count"]
    for table in ("publications", "takes", "flows", "parts"):
        assert read(tmp_path / "out" / "happened" / f"{table}.csv").num_rows > 0


@pytest.mark.parametrize("name", ["node-respawned", "node-anew"])
def test_nodes_that_were_started_again_are_in_the_tables_once(name: str, tmp_path: Path) -> None:
    archive = str(RECORDINGS / "times" / f"{name}.tar.xz")
    tables = recording.tables([archive])
    rows = tables["callbacks"].to_pylist()
    told = pipeline.info([archive])["callbacks"]
    assert [row["id"] for row in rows] == [callback["id"] for callback in told]
    assert [row["count"] for row in rows] == [callback["count"] for callback in told]
    model = inputs.model([archive])
    index, _ = pipeline.view([archive], *model)
    former = [i for i, entry in enumerate(index["callbacks"]) if "continues" in entry]
    assert former
    assert not set(former) & {row["callback"] for row in rows}
    used = {run["callback"] for run in tables["runs"].to_pylist()}
    assert not used & set(former)
    assert run_takt("export", archive, "-o", tmp_path / "tables", "--format", "csv").returncode == 0
