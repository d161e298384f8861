"""Bad input never gives a traceback or a crash: one line that names the mistake, status 2, and
nothing on standard output; what is accepted with a reservation says which.

Mistakes of one command alone are tested beside it (test_record.py, test_run.py, tests/python).
"""

from __future__ import annotations

import copy
import io
import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from recording import PROGRAMS, TAKT, Run, is_gone, until

MODELS = Path(__file__).resolve().parents[2] / "models"

Json = dict[str, Any]
Done = subprocess.CompletedProcess[str]


def takt(
    *arguments: str | Path, before: Sequence[str] = (), stdin: str = "", stdout: Any = None
) -> Done:
    return subprocess.run(
        [*before, *TAKT, *map(str, arguments)],
        input=stdin,
        stdout=subprocess.PIPE if stdout is None else stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


def refusal(done: Done) -> str:
    """What the one line says, without the program's name."""
    assert done.returncode == 2, done.stderr
    assert not done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("takt: ")
    return line.removeprefix("takt: ")


def warnings(done: Done) -> list[str]:
    """The warnings about input that was accepted all the same."""
    assert "Traceback" not in done.stderr
    return [
        line.removeprefix("takt: warning: ")
        for line in done.stderr.splitlines()
        if line.startswith("takt: warning: ")
    ]


# Traces


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small recording: a program that emits a thousand events."""
    path = tmp_path_factory.mktemp("recorded") / "trace"
    emit = [["ros_trace_rcl_take", [["void *", number]]] for number in range(1, 1001)]
    Run.of(path, [sys.executable, str(PROGRAMS / "emit.py")], text=json.dumps(emit))
    return path


def part_of(trace: Path, name: str) -> Path:
    """The largest file of that name in a trace."""
    return max(trace.rglob(name), key=lambda path: path.stat().st_size)


def cut(file: Path, parts: float) -> None:
    os.truncate(file, int(file.stat().st_size * parts))


def packed(trace: Path, archive: Path, *extra: tarfile.TarInfo) -> Path:
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(trace, "trace")
        for entry in extra:
            tar.addfile(entry, io.BytesIO(bytes(entry.size)))
    return archive


def text_file(place: Path, _: Path) -> Path:
    (place / "notes.txt").write_text("Dear diary, today I recorded a trace.")
    return place / "notes.txt"


def picture(place: Path, _: Path) -> Path:
    (place / "robot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    return place / "robot.png"


def empty_file(place: Path, _: Path) -> Path:
    (place / "trace.tar.xz").touch()
    return place / "trace.tar.xz"


def empty_directory(place: Path, _: Path) -> Path:
    return place


def directory_of_other_things(place: Path, _: Path) -> Path:
    text_file(place, place)
    (place / "src").mkdir()
    return place


def no_such_path(place: Path, _: Path) -> Path:
    return place / "nowhere"


def device(_: Path, __: Path) -> Path:
    return Path("/dev/zero")


def named_pipe(place: Path, _: Path) -> Path:
    os.mkfifo(place / "pipe")
    return place / "pipe"


def without_metadata(place: Path, trace: Path) -> Path:
    shutil.copytree(trace, place / "trace")
    part_of(place, "metadata").unlink()
    return place / "trace"


def with_cut_metadata(place: Path, trace: Path) -> Path:
    shutil.copytree(trace, place / "trace")
    metadata = part_of(place, "metadata")
    # Cuts in the middle of the first packet's content, whose length its header gives in bits.
    (content,) = struct.unpack_from("=I", metadata.read_bytes(), 24)
    os.truncate(metadata, content // 8 // 2)
    return place / "trace"


def cut_archive(place: Path, trace: Path) -> Path:
    archive = packed(trace, place / "trace.tar.gz")
    cut(archive, 0.6)
    return archive


def archive_that_climbs(place: Path, trace: Path) -> Path:
    return packed(trace, place / "a.tar.gz", tarfile.TarInfo("../../evil"))


def archive_with_a_link(place: Path, trace: Path) -> Path:
    link = tarfile.TarInfo("trace/link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return packed(trace, place / "a.tar.gz", link)


NOT_TRACES: list[tuple[Callable[[Path, Path], Path], str]] = [
    (text_file, "not a trace: neither a CTF directory nor a tar archive"),
    (picture, "not a trace: neither a CTF directory nor a tar archive"),
    (empty_file, "not a trace: the file is empty"),
    (empty_directory, "not a trace: no file named 'metadata' in it or below"),
    (directory_of_other_things, "not a trace: no file named 'metadata' in it or below"),
    (no_such_path, "No such file or directory"),
    (device, "not a trace: neither a directory nor a file"),
    (named_pipe, "not a trace: neither a directory nor a file"),
    (without_metadata, "not a trace: no file named 'metadata' in it or below"),
    (with_cut_metadata, "metadata is truncated: it ends in the middle of a packet"),
    (cut_archive, "damaged archive: "),
    (archive_that_climbs, "refused: its entry '../../evil' lies outside of the archive"),
    (archive_with_a_link, "refused: its entry 'trace/link' is neither a file nor a directory"),
]


@pytest.mark.parametrize(("make", "message"), NOT_TRACES)
def test_what_is_no_whole_trace_is_refused(
    tmp_path: Path, trace: Path, make: Callable[[Path, Path], Path], message: str
) -> None:
    place = tmp_path / "input"
    place.mkdir()
    path = make(place, trace)
    for command in (["info"], ["info", "--json"], ["model"], ["report", "-o", tmp_path / "page"]):
        said = refusal(takt(*command, path))
        assert said.startswith(str(path))
        assert message in said
    assert sorted(tmp_path.iterdir()) == [place]


def test_a_large_archive_of_nothing_is_no_burden(tmp_path: Path, trace: Path) -> None:
    """64 MiB of zeros beside the trace's streams: no packets, and said to be none."""
    zeros = tarfile.TarInfo(f"trace/{part_of(trace, 'metadata').parent.relative_to(trace)}/zeros")
    zeros.size = 64 << 20
    archive = packed(trace, tmp_path / "bomb.tar.gz", zeros)
    assert archive.stat().st_size < 1 << 20
    done = takt("info", "--json", archive)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["by_name"] == {"ros2:rcl_take": 1000}
    assert document["unreadable_bytes"] == zeros.size
    assert any("zeros" in line for line in warnings(done))


def test_a_cut_stream_gives_its_readable_part_and_says_so(tmp_path: Path, trace: Path) -> None:
    copied = tmp_path / "trace"
    shutil.copytree(trace, copied)
    stream = part_of(copied, "*_[0-9]*")
    # Packets are whole pages, so this is not the end of one.
    os.truncate(stream, stream.stat().st_size // 2 // 4096 * 4096 + 2048)
    done = takt("info", "--json", copied)
    assert done.returncode == 0, done.stderr
    assert 0 < json.loads(done.stdout)["events"] < 1000
    assert any("ends in the middle of a packet" in line for line in warnings(done))


def test_events_that_are_not_known_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    event = ["--event", "lttng_ust_tracef:*", "--event", "ros2:*"]
    say = "import ctypes; f = ctypes.CDLL('liblttng-ust.so.1').lttng_ust__tracef; "
    say += "ctypes.CDLL('libtracetools.so').ros_trace_rcl_take(None); f(b'one'); f(b'two')"
    Run.of(path, [sys.executable, "-c", say], options=event)
    counted = json.loads(takt("info", "--json", path).stdout)["by_name"]
    assert counted == {"ros2:rcl_take": 1, "lttng_ust_tracef:event": 2}


def test_programs_that_ran_before_are_known_by_their_names(tmp_path: Path) -> None:
    path = tmp_path / "late"
    before = subprocess.Popen(
        [*TAKT, "run", str(MODELS / "pipeline.json")], stdout=subprocess.DEVNULL
    )
    until(lambda: len(list(below(before.pid))) == 2)
    programs = list(below(before.pid))
    until(lambda: all(map(burnt, programs)))
    recorder = subprocess.Popen(
        [*TAKT, "record", "-o", str(path)], stderr=subprocess.PIPE, text=True
    )
    try:
        streams = Path(f"{path}.partial")
        until(lambda: any(file.stat().st_size for file in streams.rglob("takt_*[0-9]")))
        # Wait for some more callbacks.
        earlier = {program: burnt(program) for program in programs}
        until(lambda: all(burnt(program) > earlier[program] + 20 for program in programs))
    finally:
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate()
        before.send_signal(signal.SIGINT)
        before.communicate()
    assert recorder.returncode == 0, said
    done = takt("info", "--json", path)
    document = json.loads(done.stdout)
    here = {process["pid"]: process["name"] for process in document["processes"]}
    assert {here[program] for program in programs} == {"takt-workload"}
    # Other programs of the machine may be in the trace as well.
    nodes = {callback["node"] for callback in document["callbacks"] if callback["count"]}
    assert nodes >= {"/camera", "/motor"}
    made = takt("model", path)
    assert made.returncode == 0, made.stderr


def burnt(program: int) -> int:
    """Processor time of a process, in ticks of the kernel."""
    fields = Path(f"/proc/{program}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


# Models

PIPELINE: Json = json.loads((MODELS / "pipeline.json").read_text())


def pipeline(*path: str | int, value: Any) -> str:
    """The model of the pipeline with one field set, as text."""
    document = copy.deepcopy(PIPELINE)
    target: Any = document
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    return json.dumps(document)


CYCLE = [
    {"from": "camera", "to": "motor", "topic": "/image"},
    {"from": "motor", "to": "motor", "topic": "/again"},
]

NOT_MODELS = [
    ("", "not valid JSON"),
    ('{"format": "takt/model", ', "not valid JSON"),
    ("[" * 200_000, "nest"),
    ("[]", "object"),
    (pipeline("format", value="takt/plan"), "format"),
    (pipeline("version", value=2), "version"),
    (pipeline("edges", value=CYCLE), "cyclic trigger relation"),
    (
        pipeline("callbacks", 1, "executor", value="e9"),
        'callbacks[1].executor: there is no executor "e9"',
    ),
    (
        pipeline("callbacks", 0, "execution_time", "curve", value=[-1]),
        "callbacks[0].execution_time.curve[0]",
    ),
    (
        pipeline("callbacks", 0, "execution_time", "curve", value="fast"),
        "callbacks[0].execution_time.curve",
    ),
    (pipeline("callbacks", 0, "activation", "period", value=-5), "callbacks[0].activation.period"),
    (
        pipeline("callbacks", 0, "activation", "period", value=1e300),
        "callbacks[0].activation.period",
    ),
    (pipeline("callbacks", 0, "id", value="motor"), '"camera"'),
    (pipeline("edges", 0, "to", value="wheel"), "edges[0].to"),
    (pipeline("chains", 0, "callbacks", value=["motor", "camera"]), "chains[0]"),
]


@pytest.mark.parametrize(("text", "message"), NOT_MODELS)
@pytest.mark.parametrize("command", ["analyze", "report"])
def test_what_is_no_valid_model_is_refused(
    tmp_path: Path, text: str, message: str, command: str
) -> None:
    path = tmp_path / "model.json"
    path.write_text(text)
    output = ["-o", str(tmp_path / "report.html")] if command == "report" else []
    said = refusal(takt(command, path, *output))
    assert said.startswith(f"{path}: ")
    # The report also reads other documents, so its message about other formats differs.
    if command != "report":
        assert message in said
    assert list(tmp_path.iterdir()) == [path]


def test_unknown_fields_are_kept_and_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(pipeline("callbacks", 0, "colour", value="red"))
    for command in (["analyze"], ["simulate", "--duration", "1"]):
        done = takt(*command, path)
        assert done.returncode == 0, done.stderr
        (said,) = warnings(done)
        assert "callbacks[0].colour" in said


def test_more_work_than_supply_diverges_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(pipeline("callbacks", 0, "execution_time", "curve", value=[60_000_000]))
    shown = takt("analyze", path)
    assert shown.returncode == 1
    assert "needs 1.20 of a processor, its supply gives 0.30" in shown.stdout
    done = takt("analyze", "--json", path)
    assert done.returncode == 1
    bounds = json.loads(done.stdout)
    assert bounds["converged"] is False
    camera, _ = bounds["callbacks"]
    assert camera["bound"] is None
    assert "of a processor" in camera["reason"]
    assert bounds["chains"][0]["bound"] is None
    assert bounds["chains"][0]["reason"]


# Outputs

MODEL = MODELS / "pipeline.json"
WRITERS = [
    ["analyze", MODEL, "--json", "-o"],
    ["report", MODEL, "-o"],
]


@pytest.mark.parametrize("command", WRITERS, ids=lambda command: command[0])
def test_an_output_that_cannot_be_written_is_named(tmp_path: Path, command: list[Any]) -> None:
    (tmp_path / "file").touch()
    for path, reason in (
        (tmp_path, "Is a directory"),
        (tmp_path / "file" / "document", "Not a directory"),
    ):
        assert refusal(takt(*command, path)) == f"{path}: cannot be written: {reason}"
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


@pytest.mark.parametrize("command", ["info", "analyze"])
def test_a_full_disk_is_one_line(trace: Path, command: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = takt(command, MODEL if command == "analyze" else trace, stdout=full)
    assert refusal(done) == "standard output: cannot be written: No space left on device"


@pytest.mark.parametrize("command", ["info", "analyze"])
def test_a_reader_that_has_seen_enough_is_no_mistake(trace: Path, command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = takt(command, MODEL if command == "analyze" else trace, stdout=writer)
    os.close(writer)
    assert done.returncode == 128 + signal.SIGPIPE
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


# An ordinary user


@pytest.fixture
def nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[str], Path]]:
    """What to put before a command so that it runs without any privilege, and a directory that
    such a user may write to, which is also the home; an LTTng daemon started there is ended.
    """
    home = tmp_path_factory.mktemp("home")
    user = ["unshare", "--user", "--map-user=65534", "--map-group=65534", "env", f"HOME={home}"]
    yield [*user, f"LTTNG_HOME={home}"], home
    number = home / ".lttng" / "lttng-sessiond.pid"
    if number.exists():
        os.kill(int(number.read_text()), signal.SIGTERM)
        until(lambda: not number.exists())


def test_without_privileges_everything_works_and_says_what_it_lacks(
    nobody: tuple[list[str], Path],
) -> None:
    before, home = nobody
    doctor = takt("doctor", "--json", before=before)
    checks = {check["id"]: check for check in json.loads(doctor.stdout)["checks"]}
    assert checks["sched_deadline"]["state"] == "missing"
    assert "CAP_SYS_NICE" in checks["sched_deadline"]["remedy"]
    assert not doctor.stderr

    path, model, page = home / "trace", home / "model.json", home / "report.html"
    run = [*TAKT, "run", str(MODEL), "--duration", "3"]
    recorded = takt("record", "-o", path, "--", *run, before=before)
    assert recorded.returncode == 0, recorded.stderr
    assert any(
        "CAP_SYS_NICE" in said and "bounds are conditional" in said for said in warnings(recorded)
    )
    for command in (
        ["info", str(path)],
        ["model", str(path), "-o", str(model)],
        ["analyze", str(model)],
        ["report", str(path), str(model), "-o", str(page)],
    ):
        done = takt(*command, before=before)
        assert done.returncode == 0, done.stderr
    supplies = [
        executor["supply"]["kind"] for executor in json.loads(model.read_text())["executors"]
    ]
    assert set(supplies) == {"dedicated"}
    assert "conditional" in page.read_text()


# Ctrl-C


def test_control_c_at_a_terminal_ends_a_recorded_run_and_all_its_processes(tmp_path: Path) -> None:
    """The terminal signals the whole foreground group at once: takt record, takt run, no child."""
    pid, terminal = pty.fork()
    if pid == 0:
        record = [*TAKT, "record", "-o", str(tmp_path / "trace"), "--", *TAKT, "run", str(MODEL)]
        os.execv(record[0], record)
    descendants: list[int] = []

    def runs() -> bool:
        descendants[:] = list(below(pid))
        return sum(name_of(descendant) == "takt-workload" for descendant in descendants) == 2

    until(runs)
    os.write(terminal, b"\x03")
    said = b""
    try:
        while data := os.read(terminal, 4096):
            said += data
    except OSError:  # the terminal's last user has gone
        pass
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, said.decode()
    assert b"Traceback" not in said
    assert (tmp_path / "trace").is_dir()
    until(lambda: all(is_gone(descendant) for descendant in descendants))


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def below(pid: int) -> Iterator[int]:
    """The processes that a process has started, and those that they have."""
    children: list[int] = []
    with suppress(OSError):  # it, or a thread of it, has just ended
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            children += map(int, task.read_text().split())
    for child in children:
        yield child
        yield from below(child)
