"""takt apply with a takt/threads file: threads of unmodified programs are scheduled as it says, for
as long as they run and again when they come back. The programs log how they are scheduled.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from children import Child
from recording import PROGRAMS, TAKT
from takt import loopback

Json = dict[str, Any]

pytestmark = pytest.mark.alone
SCHEDULED = [sys.executable, str(PROGRAMS / "scheduled.py")]
MS = 1_000_000
CORES = sorted(os.sched_getaffinity(0))


def rows(folder: Path, *lines: str) -> str:
    path = folder / "threads.yaml"
    path.write_text("format: takt/threads\nthreads:\n" + "".join(f"  - {{{x}}}\n" for x in lines))
    return str(path)


def apply(
    plan: str, *command: str, options: tuple[str, ...] = (), before: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, *TAKT, "apply", plan, *options, "--", *command],
        env={**os.environ, **loopback.environment()},
        capture_output=True,
        text=True,
        check=False,
    )


def logged(text: str) -> list[Json]:
    return [json.loads(line) for line in text.splitlines() if line.startswith('{"process"')]


def seen(lines: list[Json], node: str) -> list[Json]:
    """The settings that the thread of a node had, one after the other."""
    return [
        {k: v for k, v in line.items() if k not in ("process", "node", "thread")}
        for line in lines
        if line.get("node") == node
    ]


@pytest.fixture(autouse=True)
def _may_reserve() -> None:
    done = subprocess.run(["chrt", "-d", "-T", "100000", "-P", "100000000", "0", "true"])
    if done.returncode:
        pytest.skip("this user may not use SCHED_DEADLINE")


def test_each_node_gets_what_its_row_says(tmp_path: Path) -> None:
    plan = rows(
        tmp_path,
        "node: /a, policy: deadline, reservation: 2ms/10ms",
        f"node: b, policy: fifo, priority: 41, cores: {CORES[-1]}",
        "executor: /c, policy: rr, priority: 7",
        "middleware: /a, policy: fifo, priority: 50",
    )
    done = apply(plan, *SCHEDULED, "each", "0", "a", "b", "c", options=("--json",))
    assert done.returncode == 0, done.stderr
    lines = logged(done.stderr)  # standard output is for the document alone
    times = [2 * MS, 10 * MS, 10 * MS]
    assert seen(lines, "a")[-1] == {"policy": "deadline", "times": times, "cores": CORES}
    assert seen(lines, "b")[-1] == {"policy": "fifo", "priority": 41, "cores": CORES[-1:]}
    assert seen(lines, "c")[-1] == {"policy": "rr", "priority": 7, "cores": CORES}
    threads = lines[-1]["threads"]
    dds = [one for one in threads if one["name"].startswith("dds.")]
    assert dds
    assert {(one["policy"], one.get("priority")) for one in dds} == {("fifo", 50)}
    # The main thread is nobody's.
    assert [one["policy"] for one in threads if one["thread"] == lines[-1]["process"]] == ["other"]
    document = json.loads(done.stdout)
    assert document["format"] == "takt/scheduled"
    assert document["command_status"] == 0
    by_node = {line["node"]: line["thread"] for line in lines if "node" in line}
    for row, name in zip(document["rows"], "abc", strict=False):
        assert [thread["thread"] for thread in row["threads"]] == [by_node[name]]
        assert row["threads"][0]["refused"] is None
        assert row["threads"][0]["nodes"] == [f"/{name}"]
    for name in "abc":
        assert f"thread {by_node[name]} " in done.stderr


def test_all_threads_of_an_executor(tmp_path: Path) -> None:
    plan = rows(tmp_path, "executor: /a, policy: fifo, priority: 12")
    done = apply(plan, *SCHEDULED, "many", "0", "a", "b")
    assert done.returncode == 0, done.stderr
    assert {"policy": "fifo", "priority": 12, "cores": CORES} in seen(logged(done.stdout), "a")


def test_a_node_that_comes_back_is_scheduled_again(tmp_path: Path) -> None:
    plan = rows(tmp_path, "node: /a, policy: deadline, reservation: 1ms/10ms")
    once = f"{sys.executable} {PROGRAMS / 'scheduled.py'} each 0 a"
    done = apply(plan, "sh", "-c", f"{once}; {once}; {once}", options=("--json",))
    assert done.returncode == 0, done.stderr
    lines = logged(done.stderr)
    assert len({line["process"] for line in lines}) == 3
    for process in {line["process"] for line in lines}:
        of_it = [line for line in lines if line["process"] == process]
        assert seen(of_it, "a")[-1]["policy"] == "deadline"
    (row,) = json.loads(done.stdout)["rows"]
    assert {thread["process"] for thread in row["threads"]} == {line["process"] for line in lines}


def test_rows_that_contradict_leave_the_thread_alone(tmp_path: Path) -> None:
    plan = rows(
        tmp_path, "node: /a, policy: fifo, priority: 80", "node: /b, policy: fifo, priority: 70"
    )
    done = apply(plan, *SCHEDULED, "one", "300", "a", "b")
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if "is not applied" in line]
    assert line.startswith("takt: threads[1] (node /b) is not applied: it wants fifo 70")
    assert "threads[0] (node /a) wants fifo 80" in line
    assert "fitted no thread" not in done.stderr
    # Until /b has run, too, nothing contradicts the row of /a: what it got is taken back.
    assert [line.split()[-1] for line in done.stdout.splitlines() if "fifo" in line] == [
        "none",
        "none",
    ]
    assert seen(logged(done.stdout), "a")[-1]["policy"] == "other"


def test_a_node_on_no_executor_claims_no_thread(tmp_path: Path) -> None:
    plan = rows(
        tmp_path, "node: /quiet, policy: fifo, priority: 80", "node: /a, policy: fifo, priority: 7"
    )
    done = apply(plan, *SCHEDULED, "beside", "300", "a")
    assert seen(logged(done.stdout), "a")[-1]["priority"] == 7
    assert "is not applied" not in done.stderr
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "takt: threads[0] (node /quiet): fitted no thread; its node ran, but no such thread of it"
    )


def test_a_group_without_a_thread_of_its_own(tmp_path: Path) -> None:
    plan = rows(tmp_path, "node: /a, group: timer-10ms, policy: fifo, priority: 80")
    done = apply(plan, *SCHEDULED, "many", "300", "a")
    assert done.returncode == 1
    assert "threads[0] (group timer-10ms of /a) is not applied: it shares the" in done.stderr
    assert "write 'executor: /a'" in done.stderr
    alone = apply(plan, *SCHEDULED, "each", "0", "a")
    assert alone.returncode == 0, alone.stderr
    assert seen(logged(alone.stdout), "a")[-1]["policy"] == "fifo"


def test_a_row_that_fits_nothing_is_named(tmp_path: Path) -> None:
    plan = rows(
        tmp_path,
        "node: /a, policy: fifo, priority: 3",
        "node: /detecter, policy: fifo, priority: 3",
        "node: /a, group: /scan, policy: fifo, priority: 3",
    )
    done = apply(plan, *SCHEDULED, "each", "0", "a")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-2:] == [
        "takt: threads[1] (node /detecter): fitted no thread; nodes that ran: /a",
        "takt: threads[2] (group /scan of /a): fitted no thread; its node ran, but no such thread "
        "of it",
    ]


def test_the_status_is_that_of_the_command(tmp_path: Path) -> None:
    plan = rows(tmp_path, "node: /a, policy: fifo, priority: 3")
    done = apply(plan, "sh", "-c", "exit 7")
    assert done.returncode == 7
    assert "takt: sh ended with status 7" in done.stderr


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("node: /a, policy: fifo, priority: 100", 'priority: "100" is no priority'),
        ("node: /a, policy: fifo", "priority: missing"),
        ("node: /a, policy: other, cores: 7777", "there is no core 7777"),
        ("node: /a, policy: deadline, reservation: 6ms/5ms", "budget <= deadline <= period"),
        ("node: /a, policy: fifo, prio: 4", "threads[0].prio: unknown field"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_starts(tmp_path: Path, row: str, reason: str) -> None:
    plan = rows(tmp_path, row)
    done = apply(plan, "touch", str(tmp_path / "started"))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"takt: {plan}: threads[0]")
    assert reason.replace("missing", "") in line
    assert not done.stdout
    assert not (tmp_path / "started").exists()


def test_more_than_the_machine_admits(tmp_path: Path) -> None:
    lines = [f"node: /n{n}, policy: deadline, reservation: 9ms/10ms" for n in range(2 * len(CORES))]
    done = apply(rows(tmp_path, *lines), "true")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "of a processor together, and this machine grants" in line


def test_a_refused_privilege_is_one_line(tmp_path: Path) -> None:
    if shutil.which("setpriv") is None:
        pytest.skip("there is no setpriv, which would take the privilege away")
    plan = rows(tmp_path, "node: /a, policy: fifo, priority: 80")
    done = apply(
        plan, "touch", str(tmp_path / "started"), before=("setpriv", "--bounding-set=-sys_nice")
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"takt: {plan}: threads[0] (node /a): ")
    assert "not permitted: run as root, give the program CAP_SYS_NICE" in line
    assert not (tmp_path / "started").exists()


def test_other_files_and_options_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("chains: []\n")
    done = apply(str(other), "true")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "begins with 'format: takt/threads'" in done.stderr
    plan = rows(tmp_path, "node: /a, policy: other")
    done = apply(plan, "true", options=("--dispatch",))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "for shaping plans" in done.stderr


def test_what_runs_already_is_as_it_was_afterwards(tmp_path: Path) -> None:
    """With the library preloaded by hand, as programs have it that run for long."""
    from takt.processes import runtime
    from takt.recordings import recorder

    class Nothing:
        def environment(self) -> dict[str, str]:
            return {}

    environment = recorder.traced(
        {**os.environ, **loopback.environment()}, Nothing(), [runtime.tracetools()]
    )
    plan = rows(tmp_path, f"node: /a, policy: fifo, priority: 9, cores: {CORES[0]}")
    with Child(
        [*SCHEDULED, "each", "1000000", "a"], env=environment, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        before = json.loads(program.stdout.readline())
        with Child([*TAKT, "apply", plan], stdout=subprocess.DEVNULL) as applied:
            during = json.loads(program.stdout.readline())
            while during["policy"] == "other":  # the cores came first
                during = json.loads(program.stdout.readline())
            applied.terminate()
        after = json.loads(program.stdout.readline())
        while after["policy"] != "other" or after["cores"] != before["cores"]:
            after = json.loads(program.stdout.readline())
        program.kill()
    assert applied.returncode == 0
    assert (during["policy"], during["priority"], during["cores"]) == ("fifo", 9, CORES[:1])
