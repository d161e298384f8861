"""Recordings of kinds that users of tracers have reported: read right, or refused in one line."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

import takt
import takt_native
from robot import run_takt
from takt import pipeline

RECORDINGS = Path(__file__).parents[1] / "recordings" / "field"

Json = dict[str, Any]


def recording(name: str) -> str:
    return str(RECORDINGS / f"{name}.tar.xz")


def info(*names: str) -> Json:
    return pipeline.info([recording(name) for name in names])


def edges(model: Path) -> list[tuple[str, str]]:
    return [(edge["from"], edge["to"]) for edge in json.loads(model.read_text())["edges"]]


def test_messages_of_humble_are_followed_and_the_ground_is_said(tmp_path: Path) -> None:
    document = info("humble")
    assert document["anomalies"]["takes_without_publication"] == 0
    assert document["anomalies"]["takes_matched_by_time"] == 120
    assert [line for line in document["warnings"] if "by order and time" in line]
    model = tmp_path / "model.json"
    assert run_takt("model", recording("humble"), "-o", model).returncode == 0
    assert len(edges(model)) == 2
    flows = json.loads(run_takt("flow", recording("humble"), "--json").stdout)["flows"]
    assert [(flow["from"], flow["to"], flow["count"]) for flow in flows] == [
        ("/camera:/scan", "/motor:/cmd_vel", 60)
    ]
    # Published 1.95 ms after the camera's callback began, taken 3 ms and 9 ms after that.
    assert flows[0]["min"] == flows[0]["max"] == pytest.approx(7_020_000, abs=1_000)


def test_without_contexts_a_recording_is_refused_with_the_command_that_adds_them() -> None:
    for command in ("info", "model", "flow"):
        done = run_takt(command, recording("vpid-only"))
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "without the contexts vtid, procname" in done.stderr
        assert "lttng add-context -u -t vpid -t vtid -t procname" in done.stderr


def test_snapshots_that_overlap_count_each_event_once(tmp_path: Path) -> None:
    document = info("two-snapshots")
    assert [node["name"] for node in document["nodes"]] == ["/camera", "/planner", "/motor"]
    assert document["anomalies"]["orphan_starts"] == document["anomalies"]["orphan_ends"] == 0
    assert document["anomalies"]["ambiguous_takes"] == 0
    assert document["repeated"]["packets"] > 0
    model = tmp_path / "model.json"
    assert run_takt("model", recording("two-snapshots"), "-o", model).returncode == 0
    assert len(edges(model)) == 2


def test_one_recording_given_twice_is_read_once(tmp_path: Path) -> None:
    """A copy in another place is the same trace; one with another UUID is another session."""
    with tarfile.open(recording("humble")) as archive:
        archive.extractall(tmp_path / "one", filter="data")
    with tarfile.open(recording("humble")) as archive:
        archive.extractall(tmp_path / "two", filter="data")
    alone = info("humble")
    paths = [str(tmp_path / "one"), str(tmp_path / "two")]
    for _ in ("the same trace", "another session"):
        both = pipeline.info(paths)
        for key in ("by_name", "nodes", "callbacks", "topics", "anomalies"):
            assert both[key] == alone[key]
        (metadata,) = (tmp_path / "two").rglob("metadata")
        text = metadata.read_text()
        uuid = text.split('uuid = "')[1].split('"')[0]
        metadata.write_text(text.replace(uuid, "0" * 8 + uuid[8:], 1))


def test_two_recorders_of_one_program_count_each_event_once() -> None:
    """A ring, and a session of LTTng at the same time."""
    alone = info("two-recorders-ring")
    both = info("two-recorders-ring", "two-recorders-lttng")
    for key in ("nodes", "callbacks", "topics", "anomalies"):
        assert both[key] == alone[key]
    assert not [line for line in both["warnings"] if "pid_ns" in line]


def test_a_timer_is_in_the_group_of_one_that_waits_for_a_service() -> None:
    """Two threads of rclpy; by the program's clock the timer of 40 ms took 33.8 ms at most from its
    expiry to its end, behind the one of 150 ms in its group, which calls a service and waits.
    """
    model: Json = pipeline.synthesize([recording("waiting-call")])
    bounds = pipeline.analyze(json.dumps(model), "waiting-call")
    groups = {c["id"]: c["callback_group"] for c in model["callbacks"]}
    assert groups["/client:timer-40ms"] == groups["/client:timer-150ms"]
    assert groups["/client:/job:response"] != groups["/client:timer-150ms"]
    (bound,) = (c.bound for c in bounds.callbacks if c.id == "/client:timer-40ms")
    assert bound is not None
    assert 33_800_000 < bound < 60_000_000


def test_rclpy_runs_actions_and_what_waits_for_responses_in_its_own_order() -> None:
    """A server and a client of an action, each beside a timer."""
    model: Json = pipeline.synthesize([recording("rclpy-action")])
    assert {executor["order"] for executor in model["executors"]} == {"by_node"}
    assert not [line for line in model["provenance"]["warnings"] if "order" in line]


def test_bursts_of_humble_are_followed_though_some_are_lost() -> None:
    """Eight messages at once to a queue of five; their source timestamps alone tell which came."""
    document = info("humble-bursts")
    assert document["anomalies"]["ambiguous_takes"] == 0
    assert document["anomalies"]["takes_without_publication"] == 0
    flows = json.loads(run_takt("flow", recording("humble-bursts"), "--json").stdout)["flows"]
    counts = {(flow["from"], flow["to"]): flow["count"] for flow in flows}
    assert counts["/src:/a", "/n:/a"] == 65


def test_processes_with_the_same_number_are_named() -> None:
    lines = [line for line in info("same-addresses")["warnings"] if "pid_ns" in line]
    assert len(lines) == 3
    assert lines[0].startswith("process 101 (camera) ")


def test_what_a_recording_lacks_is_said_without_a_census() -> None:
    lines = info("untraced-process")["warnings"]
    assert [line for line in lines if "a process that publishes /t was not recorded" in line]
    shown = run_takt("info", recording("untraced-process")).stdout
    rows = {line.split()[0]: line for line in shown.splitlines() if line.startswith("/")}
    assert rows["/t"].rstrip().endswith("no publisher recorded")
    assert rows["/s"].rstrip().endswith("no subscription recorded")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the metadata is empty"),
        (b'\x1e{"type": "preamble", "version": 2}', "CTF 2"),
    ],
)
def test_metadata_that_cannot_be_read_is_one_line_with_a_remedy(
    tmp_path: Path, content: bytes, words: str
) -> None:
    (tmp_path / "metadata").write_bytes(content)
    done = run_takt("info", tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


def test_a_live_session_is_one_line_with_a_remedy() -> None:
    done = run_takt("info", "net://localhost/host/robot/session")
    assert done.returncode == 2
    assert "record to disk" in done.stderr


def test_a_zip_is_read(tmp_path: Path) -> None:
    import zipfile

    with tarfile.open(recording("humble")) as archive:
        archive.extractall(tmp_path, filter="data")
    packed = tmp_path / "robot.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in tmp_path.rglob("*"):
            if path.is_file() and path != packed:
                archive.write(path, path.relative_to(tmp_path))
    assert pipeline.info([str(packed)])["by_name"] == info("humble")["by_name"]


def test_events_that_takt_does_not_know_are_tables(tmp_path: Path) -> None:
    """A known event under another name has the same times and fields."""
    with tarfile.open(recording("humble")) as archive:
        archive.extractall(tmp_path / "renamed", filter="data")
    (metadata,) = (tmp_path / "renamed").rglob("metadata")
    metadata.write_text(metadata.read_text().replace('"ros2:rcl_take"', '"robot:took"'))
    known = takt.open(recording("humble")).events("ros2:rcl_take").read_all()
    renamed = takt.open(tmp_path / "renamed")
    found = renamed.events("robot:took").read_all()
    assert found.num_rows == renamed.info()["by_name"]["robot:took"] == 120
    for column in ("time", "vpid", "vtid", "procname", "cpu_id", "message"):
        assert found[column].to_pylist() == known[column].to_pylist()
    with pytest.raises(takt_native.InputError, match="no event 'robot:gave' is in the recording"):
        renamed.events("robot:gave")


@pytest.mark.parametrize(("kind", "left_out"), [("csv", 0), ("parquet", 0), ("perfetto", 120)])
def test_what_an_export_counts_is_what_it_wrote(tmp_path: Path, kind: str, left_out: int) -> None:
    with tarfile.open(recording("humble")) as archive:
        archive.extractall(tmp_path / "renamed", filter="data")
    (metadata,) = (tmp_path / "renamed").rglob("metadata")
    metadata.write_text(metadata.read_text().replace('"ros2:rcl_take"', '"robot:took"'))
    output = tmp_path / "out"
    done = run_takt("export", "--format", kind, "-o", output, tmp_path / "renamed", "--json")
    assert done.returncode == 0
    events = json.loads(done.stdout)["events"]
    assert events == info("humble")["events"] - left_out
    assert ("120 events are not of ROS 2, left out: robot:took" in done.stderr) == bool(left_out)
    if kind == "csv":
        rows = sum(len(file.read_text().splitlines()) - 1 for file in output.glob("*.csv"))
        assert rows == events
