"""takt record --include and --exclude: what a recording has, and how it says what it lacks."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from recording import PROGRAMS, TAKT, Run, info, takt, until

Json = dict[str, Any]

COUNT = 20
PROGRAM = [sys.executable, str(PROGRAMS / "selected.py"), str(COUNT)]
BACKENDS = pytest.mark.parametrize("backend", ["ring", "lttng"])


def traffic(document: Json) -> dict[str, tuple[int, int]]:
    """How many messages were sent and received, by topic."""
    return {
        topic["name"]: (topic["publications"], topic["takes"])
        for topic in document["topics"]
        if topic["name"] not in ("/rosout", "/parameter_events")
    }


def runs(document: Json) -> dict[str, int]:
    """How often each callback ran, except those that every node has."""
    return {
        callback["id"]: callback["count"]
        for callback in document["callbacks"]
        if re.search(r"/(kept|dropped|answered)|timer", callback["id"])
    }


@BACKENDS
def test_without_a_selection_everything_is_recorded(backend: str, tmp_path: Path) -> None:
    run = Run.of(tmp_path / "trace", PROGRAM, backend=backend)
    said = json.loads(run.output)
    document = info(run.trace)
    assert traffic(document) == {
        "/kept": (COUNT, COUNT),
        "/dropped": (COUNT, COUNT),
        "/answered": (COUNT, COUNT),
    }
    assert runs(document)["/sink:/dropped"] == said["dropped"]
    assert document["selection"] == {"include": [], "exclude": []}


@BACKENDS
def test_an_excluded_topic_has_its_entities_and_nothing_that_they_do(
    backend: str, tmp_path: Path
) -> None:
    run = Run.of(tmp_path / "trace", PROGRAM, backend=backend, options=["--exclude", "/dropped"])
    document = info(run.trace)
    assert traffic(document) == {
        "/kept": (COUNT, COUNT),
        "/dropped": (0, 0),
        "/answered": (COUNT, COUNT),
    }
    ran = runs(document)
    assert ran["/sink:/dropped"] == 0
    assert ran["/sink:/kept"] == ran["/source:/answered"] == COUNT
    assert ran["/source:timer-10ms"] >= COUNT
    # It lost nothing, and says what it lacks.
    assert not any(run.document["losses"].values())
    assert document["selection"] == {"include": [], "exclude": ["/dropped"]}
    (said,) = (text for text in document["warnings"] if "--exclude" in text)
    assert "--exclude /dropped: 1 callbacks and 1 publishers are left out" in said
    assert {t["name"]: t["left_out"] for t in document["topics"]}["/dropped"] == 2
    assert [c["id"] for c in document["callbacks"] if c["left_out"]] == ["/sink:/dropped"]


@BACKENDS
def test_patterns_name_nodes_topics_and_topics_of_nodes(backend: str, tmp_path: Path) -> None:
    included = Run.of(tmp_path / "one", PROGRAM, backend=backend, options=["--include", "sink:/k*"])
    document = info(included.trace)
    assert traffic(document) == {"/kept": (0, COUNT), "/dropped": (0, 0), "/answered": (0, 0)}
    assert {id_: n for id_, n in runs(document).items() if n} == {"/sink:/kept": COUNT}
    # A sender that was left out by wish is no process that nobody recorded.
    assert not any("was not recorded" in warning for warning in document["warnings"])

    both = ["--include", "/sink", "--exclude", "/dropped"]
    narrowed = info(Run.of(tmp_path / "two", PROGRAM, backend=backend, options=both).trace)
    assert traffic(narrowed) == {"/kept": (0, COUNT), "/dropped": (0, 0), "/answered": (COUNT, 0)}


@BACKENDS
def test_of_a_process_that_is_left_out_nothing_runs(backend: str, tmp_path: Path) -> None:
    run = Run.of(tmp_path / "trace", PROGRAM, backend=backend, options=["--exclude", "/s*"])
    names = set(info(run.trace)["by_name"])
    assert "ros2:rcl_node_init" in names
    assert not names & {
        "ros2:callback_start",
        "ros2:callback_end",
        "ros2:rcl_publish",
        "ros2:rcl_take",
        "ros2:rclcpp_executor_wait_for_work",
    }


@BACKENDS
def test_a_forked_child_goes_by_the_same_selection(backend: str, tmp_path: Path) -> None:
    run = Run.of(
        tmp_path / "trace", [*PROGRAM, "fork"], backend=backend, options=["--exclude", "/drop*"]
    )
    found = traffic(info(run.trace))
    assert found["/kept_of_child"] == found["/kept"] == (COUNT, COUNT)
    assert found["/dropped_of_child"] == found["/dropped"] == (0, 0)


def test_a_program_that_runs_is_selected_from_too(tmp_path: Path) -> None:
    """Its entities are older than the selection."""
    endless = [sys.executable, str(PROGRAMS / "selected.py"), str(10**6)]
    program = subprocess.Popen(
        ["env", f"LD_PRELOAD={_library()}", *endless],
        env={**os.environ, "PYTHONPATH": f"{_hook()}:{os.environ.get('PYTHONPATH', '')}"},
    )
    try:
        trace = tmp_path / "trace"
        options = ["--backend", "ring", "--exclude", "/dropped", "--duration", "2"]
        until(lambda: b"takt-ring" in Path(f"/proc/{program.pid}/maps").read_bytes())
        done = takt("record", *options, "-o", str(trace))
        assert done.returncode == 0, done.stderr
    finally:
        program.send_signal(signal.SIGKILL)
        program.wait()
    found = traffic(info(trace))
    assert found["/dropped"] == (0, 0)
    assert found["/kept"][0] > 0
    assert found["/answered"][0] > 0


def _library() -> str:
    from takt.processes import runtime

    return str(runtime.tracetools())


def _hook() -> str:
    from takt.recordings.recorder import RCLPY_TRACING

    return str(RCLPY_TRACING)


def test_flows_that_end_at_what_is_left_out_say_so(tmp_path: Path) -> None:
    def found(name: str, pattern: str) -> dict[tuple[str, str], Json]:
        options = ["--exclude", pattern]
        run = Run.of(tmp_path / name, PROGRAM, backend="ring", options=options)
        said = json.loads(takt("flow", str(run.trace), "--json").stdout)
        shown = takt("flow", str(run.trace)).stdout
        assert "left out)" in shown
        return {(flow["from"], flow["to"]): flow["left_out"] for flow in said["flows"]}

    # The message is sent, and its receiver was left out.
    sent = found("receiver", "source:/answered")
    assert sent["/source:/dropped", "/sink:/answered"] == {"before": False, "after": True}
    # What the receiver sends was left out, too.
    unsent = found("both", "/answered")
    assert unsent["/source:/dropped", "/sink:/dropped"] == {"before": False, "after": True}
    assert unsent["/source:/kept", "/sink:/kept"] == {"before": False, "after": True}
    # What is received was sent by what was left out.
    unknown = found("sender", "source:/[kd]*")
    assert all(ends["before"] for ends in unknown.values())


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--backend", "ebpf", "--exclude", "/tf"], "not with --backend ebpf"),
        (["--backend", "lttng", "--exclude", "/tf", "--duration", "1"], "only for a command"),
        (["--backend", "ring", "--exclude", "/t" * 3000, "--duration", "1"], "longer than 4096"),
    ],
)
def test_what_a_backend_cannot_select_is_one_line(
    options: list[str], complaint: str, tmp_path: Path
) -> None:
    command = ["--", "true"] if options[1] == "ebpf" else []
    done = takt("record", *options, "-o", str(tmp_path / "trace"), *command)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.strip().count("\n") == 1  # after "Recording …"


@pytest.mark.parametrize("megabytes", ["0.25", "32"])
@BACKENDS
def test_buffers_have_the_size_that_was_asked_for(
    backend: str, megabytes: str, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    options = ["--buffer", megabytes]
    command = ["sh", "-c", f"{' '.join(PROGRAM)}; cat /proc/self/environ | tr '\\0' '\\n'"]
    run = Run.of(trace, command, backend=backend, options=options)
    assert traffic(info(trace))["/kept"] == (COUNT, COUNT)
    if backend == "ring":
        assert f"TAKT_BUFFER={int(float(megabytes) * 2**20)}" in run.output


def test_labels_are_there_when_the_recorder_is_killed(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    options = ["--backend", "ring", "--label", "robot=r7", "--exclude", "/dropped"]
    endless = [sys.executable, str(PROGRAMS / "selected.py"), str(10**6)]
    recorder = subprocess.Popen(
        [*TAKT, "record", *options, "-o", str(trace), "--", *endless], start_new_session=True
    )
    partial = Path(f"{trace}.partial")
    until(lambda: bool(list(partial.glob("selection/metadata"))))
    until(lambda: any(file.stat().st_size for file in partial.glob("ring/*/thread_*")))
    recorder.kill()
    recorder.wait()
    os.killpg(recorder.pid, signal.SIGKILL)
    document = info(partial)
    assert document["labels"][0]["labels"] == {"robot": "r7"}
    assert document["selection"]["exclude"] == ["/dropped"]


def test_joined_recordings_are_read_as_together(tmp_path: Path) -> None:
    traces = []
    for i in (1, 2):
        inner = ["unshare", "--uts", "sh", "-c"]
        if os.geteuid() != 0:
            pytest.skip("another host name needs root")
        trace = tmp_path / f"trace-{i}"
        done = subprocess.run(
            [
                *inner,
                f"hostname robot-{i} && exec {' '.join(TAKT)} record --backend ring "
                f"--label host=r{i} -o {trace} -- {' '.join(PROGRAM)}",
            ],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        traces.append(str(trace))
    together = json.loads(takt("info", *traces, "--json").stdout)
    packed = tmp_path / "second.tar.xz"
    with tarfile.open(packed, "w:xz") as archive:
        archive.add(traces[1], "trace-2")
    for output in (tmp_path / "joined", tmp_path / "joined.tar.xz"):
        done = takt("record", "--join", traces[0], str(packed), "-o", str(output))
        assert done.returncode == 0, done.stderr
        joined = info(output)
        for key in ("events", "by_name", "hosts", "processes", "nodes", "topics", "callbacks"):
            assert joined[key] == together[key], key
        assert [told["labels"] for told in joined["labels"]] == [{"host": "r1"}, {"host": "r2"}]
        flows = [takt("flow", "--json", *place).stdout for place in ([str(output)], traces)]
        assert json.loads(flows[0])["flows"] == json.loads(flows[1])["flows"]
        assert json.loads(flows[0])["clocks"] == json.loads(flows[1])["clocks"]
    again = takt("record", "--join", *traces, "-o", str(tmp_path / "joined"))
    assert again.returncode == 2
    assert "exists" in again.stderr
