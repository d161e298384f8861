"""takt fleet: a store keeps each run once, whatever dies, and finds what was planted in a fleet."""

from __future__ import annotations

import gzip
import itertools
import json
import math
import os
import pickle
import random
import signal
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy
import polars
import pytest

import takt as package
from generated_runs import PATH, a_run
from robot import changed, run_takt
from takt.documents.types import Summary
from takt.errors import UserError
from takt.fleet import (
    change_points,
    commands,
    fleet_page,
    ingestion,
    outliers,
    queries,
    sample,
    tables,
)
from takt.fleet.comparison import Figure, Subject
from takt.fleet.store import Entry, Selection, Store
from test_schemas import schema

Json = dict[str, Any]

RECORDING = Path(__file__).parents[1] / "recordings" / "pipeline-ring.tar.xz"
DAY = 86_400 * 10**9
VERSIONS = ("1.0", "1.1", "1.2", "1.3")
ROBOTS = ("r1", "r2", "r3", "r4", "r5", "r6")
SLOWER_SINCE = "1.2"
UNLIKE = "r4"


def write_runs(folder: Path, robots: tuple[str, ...] = ROBOTS) -> None:
    """Summaries of a fleet: since SLOWER_SINCE /detector takes half as long again, and the messages
    of UNLIKE are three times as long on their way to /motor.
    """
    random = numpy.random.default_rng(1)
    folder.mkdir()
    for number, version in enumerate(VERSIONS):
        for robot in robots:
            planted = {}
            if version >= SLOWER_SINCE:
                planted["/detector", "running"] = 1.5
            if robot == UNLIKE:
                planted["/motor", "transport"] = 3.0
            run = a_run(random, planted)
            name = f"{robot}-{version}"
            run["labels"] = {"robot": robot, "version": version}
            run["begin"] = (20_000 + number) * DAY
            run["provenance"] = {"inputs": [{"path": name, "fingerprint": name}]}
            (folder / f"{name}.json").write_text(json.dumps(run))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    write_runs(folder / "runs")
    done = run_takt("fleet", "add", folder / "store", folder / "runs")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Added 24 runs\n", "")
    return folder / "store"


def document(*arguments: str | Path) -> Json:
    done = run_takt("fleet", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: Json = json.loads(done.stdout)
    return found


def rows(store: Path | str, sql: str) -> list[list[Any]]:
    found: list[list[Any]] = document("query", str(store), sql)["rows"]
    return found


def files_of(store: Path) -> dict[str, bytes]:
    """Hidden ones are those that a killed process was writing."""
    return {
        str(path.relative_to(store)): path.read_bytes()
        for path in sorted(store.rglob("*"))
        if path.is_file() and "sources" not in path.parts and not path.name.startswith(".")
    }


def test_a_run_that_is_added_twice_is_there_once_and_told(filled: Path, tmp_path: Path) -> None:
    before = files_of(filled)
    done = run_takt("fleet", "add", filled, filled.parent / "runs")
    assert done.stdout == "Added 0 runs; 24 runs already there\n"
    # The same runs from elsewhere, under other labels.
    write_runs(tmp_path / "copies")
    done = run_takt("fleet", "add", filled, tmp_path / "copies")
    assert (done.stdout, done.stderr) == ("Added 0 runs; 24 runs already there\n", "")
    for _ in range(2):  # when they are known by their content, and by their place
        given = ("--label", "robot=r1", "--label", "site=other")
        done = run_takt("fleet", "add", filled, tmp_path / "copies", *given)
        assert done.stdout == "Added 0 runs; 24 runs already there\n"
        told = [line.split(",")[0] for line in done.stderr.splitlines()]
        assert told == [
            "takt: 20 of the runs that are there already have another robot",
            "takt: 24 of the runs that are there already have another site",
        ]
    assert files_of(filled) == before


def test_status_says_what_is_there(filled: Path) -> None:
    status = document("status", filled)
    assert status["runs"] == 24
    assert status["bytes"] >= sum(map(len, files_of(filled).values()))
    assert [(each["robot"], each["version"]) for each in status["groups"]] == [
        (robot, version) for robot in ROBOTS for version in VERSIONS
    ]
    assert status["groups"][0]["first_day"] == "2024-10-04"
    selected = document("status", f"{filled}?version=1.1&robot=r2")
    assert selected["runs"] == 1
    (own,) = filled.glob("runs/robot=r2/version=1.1/*/*.json.gz")
    name = own.name.partition(".")[0]
    wanted = sum(len(data) for path, data in files_of(filled).items() if name in path)
    assert selected["bytes"] == wanted
    assert run_takt("fleet", "status", f"{filled}?robot=r2").stdout.startswith("4 runs, ")


def test_queries_are_answered_from_the_tables(filled: Path) -> None:
    assert rows(filled, "select count(*), count(distinct run) from runs") == [[24, 24]]
    found = rows(
        filled,
        "select version, count(*), avg(value) from figures where kind = 'chain' "
        f"and name = '{PATH}' and quantity = 'p50' group by version order by version",
    )
    assert [row[:2] for row in found] == [[version, 6] for version in VERSIONS]
    assert found[2][2] > found[1][2] + 1e6
    # What the tables say is what the summaries say.
    run = json.loads((filled.parent / "runs" / "r1-1.0.json").read_text())
    latency = run["chains"][0]["latency"]
    where = "robot = 'r1' and version = '1.0'"
    (parts,) = rows(filled, f"select sum(mean) from parts where {where}")
    assert parts[0] == pytest.approx(latency["total"] / sum(latency["counts"]), rel=1e-9)
    (counts,) = rows(
        filled, f"select sum(count), max(time) from histograms where kind = 'chain' and {where}"
    )
    assert counts[0] == sum(latency["counts"])
    assert counts[1] == pytest.approx(latency["max"], rel=0.0101)
    table = run_takt("fleet", "query", f"{filled}?robot=r1", "select robot, version from runs")
    assert table.stdout.split() == ["robot", "version", *(x for v in VERSIONS for x in ("r1", v))]


def test_values_that_json_lacks_are_null(filled: Path) -> None:
    sql = "select 'infinity'::double, '-infinity'::float, 'nan'::double, 1.5::decimal(3, 1)"
    assert rows(filled, sql) == [[None, None, None, 1.5]]


@pytest.mark.parametrize("data", [b"", b"x" * 1000, b"PAR1" + bytes(100) + b"PAR1"])
def test_a_damaged_table_is_one_line_with_its_place(tmp_path: Path, data: bytes) -> None:
    write_runs(tmp_path / "runs", ROBOTS[:1])
    store = tmp_path / "store"
    add_all(store, [*ingestion.candidates([str(tmp_path / "runs")])])
    for table in store.glob("tables/*/*/*/*/*.parquet"):
        table.write_bytes(data)
    done = run_takt("fleet", "query", store, "select count(*) from runs")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert ".parquet" in done.stderr


def test_a_notebook_has_the_tables_of_a_store(filled: Path) -> None:
    fleet = package.load_store(str(filled))
    for name, columns in tables.columns().items():
        frame = getattr(fleet, name)
        assert frame.columns == [*columns]
        assert frame["run"].n_unique() == 24
    (counted,) = fleet.query("select count(*) as number from runs")["number"]
    assert counted == 24
    assert fleet.report() == document("report", filled)
    one = package.load_store(f"{filled}?robot=r2&version=1.1")
    assert one.runs.select("robot", "version").rows() == [("r2", "1.1")]
    none = package.load_store(f"{filled}?robot=nobody")
    assert none.figures.schema == one.figures.schema
    assert repr(one) == f"takt.load_store('{filled}?robot=r2&version=1.1')"
    with pytest.raises(UserError, match="no store is here"):
        package.load_store(str(filled / "nowhere"))


def test_polars_reads_the_tables(filled: Path) -> None:
    frame = polars.read_parquet(f"{filled}/tables/figures/**/*.parquet", hive_partitioning=False)
    assert frame.columns == list(tables.columns()["figures"])
    assert frame["run"].n_unique() == 24


def test_the_report_names_the_version_the_cause_and_the_robot(filled: Path) -> None:
    page = filled.parent / "fleet.html"
    done = run_takt("fleet", "report", filled, "-o", page)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    since = [line for line in told if line.startswith(f"Since {SLOWER_SINCE}: ")]
    assert any(f"chain {PATH}, p50" in line for line in since)
    assert any("/detector running +2" in line for line in since)
    assert any("callback /detector, p50 +5" in line for line in since)
    assert not [line for line in told if line.startswith("Since") and line not in since]
    report = document("report", filled)
    schema("fleet").validate(report)
    assert report["changes"]
    assert {each["robot"] for each in report["robots_unlike_others"]} <= {UNLIKE}
    text = page.read_text()
    assert "default-src 'none'" in text
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")
    assert f"Since {SLOWER_SINCE}" in text


def test_a_hostile_name_is_text_on_the_page(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>\x1b[2J"
    run = a_run(numpy.random.default_rng(1))
    run["chains"][0]["callbacks"][0] = name
    run["provenance"] = {"inputs": [{"path": "a; rm b", "fingerprint": "1"}]}
    (tmp_path / "run.json").write_text(json.dumps(run))
    label = "version=<img src=x>"
    run_takt("fleet", "add", tmp_path / "store", tmp_path / "run.json", "--label", label)
    done = run_takt("fleet", "report", tmp_path / "store", "-o", "-")
    assert done.returncode == 0, done.stderr
    assert "&lt;script&gt;alert(1)" in done.stdout
    assert "&lt;img src=x" in done.stdout
    assert "takt report &#x27;a; rm b&#x27;" in done.stdout
    for forbidden in ("<script", "<img", "\x1b"):
        assert forbidden not in done.stdout


def test_a_selection_may_be_compared(filled: Path) -> None:
    done = run_takt("compare", f"{filled}?version=1.1", f"{filled}?version=1.2")
    assert done.returncode == 1, done.stderr
    assert "callback /detector, p50" in done.stdout
    same = run_takt("compare", f"{filled}?version=1.0", f"{filled}?version=1.1")
    assert same.returncode == 0, same.stdout
    none = run_takt("compare", f"{filled}?version=9", str(filled))
    assert (none.returncode, none.stderr.count("\n")) == (2, 1)


def test_a_selection_or_an_age_is_removed(tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", ROBOTS[:2])
    store = tmp_path / "store"
    run_takt("fleet", "add", store, tmp_path / "runs")
    assert run_takt("fleet", "remove", store).returncode == 2
    assert document("remove", f"{store}?version=1.3")["removed"] == 2
    assert document("status", store)["runs"] == 6
    assert rows(store, "select count(*) from runs where version = '1.3'") == [[0]]
    assert not list(store.glob("tables/*/*/version=1.3/*/*.parquet"))
    # What was removed may come back.
    assert document("add", store, tmp_path / "runs")["added"] == 2
    assert document("remove", store, "--older-than", "30")["removed"] == 8
    assert rows(store, "select count(*), max(version) from runs") == [[0, None]]


def test_what_cannot_be_added_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", ROBOTS[:1])
    (tmp_path / "runs" / "damaged.json").write_text("{")
    (tmp_path / "runs" / "cut.tar.xz").write_bytes(RECORDING.read_bytes()[:5000])
    os.mkfifo(tmp_path / "runs" / "pipe")
    store = tmp_path / "store"
    done = run_takt("fleet", "add", store, tmp_path / "runs", RECORDING)
    assert done.returncode == 1
    assert done.stdout == "Added 5 runs; 3 runs could not be added (takt fleet status)\n"
    for name in ("damaged.json", "cut.tar.xz", "pipe"):
        assert any(name in line for line in done.stderr.splitlines())
    assert done.stderr.count("no label robot") == 1
    assert done.stderr.count("no label version") == 1
    status = document("status", store)
    assert [each["robot"] for each in status["groups"]][-1] == "unknown"
    reasons = " ".join(each["reason"] for each in status["failures"])
    assert "damaged.json" in reasons
    assert "cut.tar.xz" in reasons
    assert document("status", f"{store}?robot=r1")["failures"] == []
    # Once it is mended, it is no failure any more.
    (tmp_path / "runs" / "damaged.json").write_text((tmp_path / "runs" / "r1-1.0.json").read_text())
    (tmp_path / "runs" / "cut.tar.xz").write_bytes(RECORDING.read_bytes())
    again = run_takt("fleet", "add", store, tmp_path / "runs")
    assert again.stdout.startswith("Added 0 runs; 6 runs already there; 1 run could not")
    assert document("status", store)["failures"] == []


def test_recordings_of_other_versions_are_added_or_said_in_a_line_each(tmp_path: Path) -> None:
    """One of ROS 2 Humble, one without what tells threads apart, labels and a summary of formats
    to come.
    """
    field = RECORDING.parent / "field"
    folder, store = tmp_path / "runs", tmp_path / "store"
    folder.mkdir()
    for name in ("humble", "vpid-only"):
        (folder / f"{name}.tar.xz").symlink_to(field / f"{name}.tar.xz")
    with tarfile.open(RECORDING) as archive:
        archive.extractall(folder, filter="data")
    labels = {"format": "takt/labels", "version": 99, "labels": {"robot": "r"}}
    (folder / "pipeline-ring" / "takt-labels.json").write_text(json.dumps(labels))
    (folder / "later.json").write_text(
        json.dumps(a_run(numpy.random.default_rng(1)) | {"version": 2})
    )
    (folder / "now.json").write_text(json.dumps(a_run(numpy.random.default_rng(2))))
    done = run_takt("fleet", "add", store, folder)
    assert done.returncode == 1
    refused = [line for line in done.stderr.splitlines() if line.startswith("takt: not added: ")]
    for line, (name, reason) in zip(
        refused,
        {"later.json": "version", "pipeline-ring": "version", "vpid-only": "contexts"}.items(),
        strict=True,
    ):
        assert name in line
        assert reason in line
    assert len(filed(store)) == 2
    callbacks = "select count(*) from figures where kind = 'callback' and name like '/motor%'"
    assert rows(store, callbacks)[0][0] > 0


def test_a_store_is_the_same_one_from_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers of a cluster get it as bytes, and are in other folders."""
    monkeypatch.chdir(tmp_path)
    write_runs(tmp_path / "runs", ROBOTS[:1])
    goal = "{name: pilot, from: /camera, to: /motor, latency: 9ms}"
    (tmp_path / "goals.yaml").write_text(f"chains: [{goal}]")
    job = commands.job("store", "goals.yaml", [])
    sent = pickle.dumps(job)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    received = pickle.loads(sent)
    assert received.add(str(tmp_path / "runs" / "r1-1.0.json")).state == "added"
    assert received.add(str(RECORDING)).state == "added"
    assert job.store.entries() == Store(str(tmp_path / "store")).entries()
    assert "pilot" in {
        chain.id for entry in job.store.entries() for chain in job.store.summary(entry).chains
    }
    assert [*Path().iterdir()] == []


def test_labels_given_at_add_win(tmp_path: Path) -> None:
    store = tmp_path / "store"
    done = run_takt(
        "fleet", "add", store, RECORDING, "--label", "robot=r/7", "--label", "version=a=b c"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert rows(store, "select robot, version from runs") == [["r/7", "a=b c"]]
    assert document("status", f"{store}?robot=r%2F7")["runs"] == 1


class Killed(BaseException):
    """Ends an addition as a signal would: nobody handles it."""


def test_a_store_is_the_same_wherever_an_addition_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_runs(tmp_path / "runs", ROBOTS[:1])
    candidates = [*ingestion.candidates([str(tmp_path / "runs")])]
    whole = Store._put
    left = 1_000

    def put(store: Store, path: str, data: bytes) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        whole(store, path, data)

    monkeypatch.setattr(Store, "_put", put)
    add_all(tmp_path / "whole", candidates)
    wanted = files_of(tmp_path / "whole")
    for writes in range(1_000 - left):
        folder = tmp_path / f"store{writes}"
        left = writes
        with pytest.raises(Killed):
            add_all(folder, candidates)
        left = 1_000
        if (folder / "takt-store.json").exists():
            selection = Selection(str(folder), {})
            sql = "select count(*), count(distinct run) from runs"
            ((number, different),) = queries.query(Store(str(folder)), selection, sql).rows
            assert number == different == len(Store(str(folder)).entries()) <= 4
        add_all(folder, candidates)
        assert files_of(folder) == wanted


def add_all(folder: Path, candidates: list[str]) -> None:
    for outcome in ingestion.add(ingestion.Job(Store(str(folder)).make()), candidates):
        assert outcome.state in ("added", "there")


def test_an_addition_goes_on_after_it_was_killed(tmp_path: Path) -> None:
    write_runs(tmp_path / "runs")
    store = tmp_path / "store"
    command = [sys.executable, "-m", "takt", "fleet", "add", str(store), str(tmp_path / "runs")]
    with subprocess.Popen(command) as adding:
        _wait_for(lambda: len([*store.glob("runs/*/*/*/*.json.gz")]) >= 3)
        adding.kill()
    assert document("add", store, tmp_path / "runs")["failed"] == 0
    assert rows(store, "select count(*), count(distinct run) from runs") == [[24, 24]]


def test_dask_gives_the_same_store(tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", ROBOTS[:1])
    (tmp_path / "runs" / "damaged.json").write_text("{")
    (tmp_path / "runs" / "recording.tar.xz").symlink_to(RECORDING)
    for name, options in (("one", []), ("two", ["--workers", "2"])):
        done = run_takt("fleet", "add", tmp_path / name, tmp_path / "runs", *options)
        assert (done.returncode, done.stdout.startswith("Added 5 runs; 1 run")) == (1, True)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    nobody = run_takt(
        "fleet", "add", tmp_path / "x", tmp_path / "runs", "--scheduler", "tcp://127.0.0.1:1"
    )
    assert nobody.returncode == 2
    assert "no scheduler of Dask answers there" in nobody.stderr


def dask(part: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Starts the scheduler or a worker of a cluster of Dask."""
    options = ["--host", "127.0.0.1", "--no-dashboard", *arguments]
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{part}", *options], stderr=subprocess.DEVNULL
    )


@pytest.mark.parametrize("killed", ["scheduler", "worker"])
def test_a_cluster_may_die_at_a_random_moment(tmp_path: Path, killed: str) -> None:
    """The next addition goes on, and the store is that of one process, byte for byte."""
    moment = random.Random(int(os.environ.get("TAKT_SEED", "1")))
    write_runs(tmp_path / "runs")
    runs, store = str(tmp_path / "runs"), tmp_path / "store"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    cluster = {
        "scheduler": dask("scheduler", "--port", port),
        "worker": dask("worker", address, "--no-nanny", "--nthreads", "1"),
    }
    command = [sys.executable, "-m", "takt", "fleet", "add", str(store), runs]
    try:
        with subprocess.Popen(
            [*command, "--scheduler", address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as adding:
            least = moment.randrange(1, 15)
            _wait_for(lambda: len(filed(store)) >= least or adding.poll() is not None)
            cluster[killed].kill()
            if killed == "worker":  # another one takes over what it had
                cluster["other"] = dask("worker", address, "--no-nanny", "--nthreads", "1")
            try:
                output, errors = adding.communicate(timeout=100)
            finally:
                adding.kill()
    finally:
        for process in cluster.values():
            process.kill()
            process.wait()
    if adding.returncode == 2:
        assert killed == "scheduler"
        assert errors.count("\n") == 1, errors
        assert "the scheduler of Dask went away; repeat the command" in errors
    else:  # a run whose worker died after it was filed counts as there
        assert (adding.returncode, errors) == (0, ""), output
    assert document("add", store, tmp_path / "runs")["failed"] == 0
    add_all(tmp_path / "whole", [*ingestion.candidates([runs])])
    assert files_of(store) == files_of(tmp_path / "whole")


def filed(store: Path) -> list[Path]:
    return [*store.glob("runs/*/*/*/[!.]*.json.gz")]


def test_without_dask_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UserError, match=r"pip install 'takt-ros\[fleet,cluster\]'"):
        next(ingestion.add(ingestion.Job(Store("/nowhere")), ["x"], workers=2))


def test_a_watched_folder_is_added_when_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    arguments = ["fleet", "watch", str(tmp_path / "store"), str(tmp_path / "runs")]
    options = ["--interval", "0.2", "--json", "--label", "version=2"]
    command = [sys.executable, "-m", "takt", *arguments, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watching:
        partial = tmp_path / "runs" / "r.json"
        run = json.dumps({**a_run(numpy.random.default_rng(1)), "labels": {"robot": "r"}})
        with partial.open("w") as file:
            for part in (run[:1000], run[1000:2000]):
                file.write(part)
                file.flush()
                time.sleep(0.05)
            file.write(run[2000:])
        _wait_for(lambda: list((tmp_path / "store").glob("runs/*/*/*/*.json.gz")))
        watching.send_signal(signal.SIGINT)
        output, errors = watching.communicate(timeout=60)
    assert watching.returncode == 0, errors
    assert json.loads(output)["added"] == 1
    assert rows(tmp_path / "store", "select robot, version from runs") == [["r", "2"]]


def test_a_watch_may_be_killed_at_any_moment(tmp_path: Path) -> None:
    """Afterwards the store is the one of a single addition, byte for byte."""
    random = numpy.random.default_rng(int(os.environ.get("TAKT_SEED", "1")))
    folder, store = tmp_path / "runs", tmp_path / "store"
    folder.mkdir()
    arguments = ["fleet", "watch", str(store), str(folder), "--interval", "0.1"]
    command = [sys.executable, "-m", "takt", *arguments]
    kills = int(os.environ.get("TAKT_KILLS", "5"))
    for number in range(kills):
        for one in (2 * number, 2 * number + 1):
            run = a_run(random) | {"labels": {"robot": f"r{one % 5}", "version": "1"}}
            (folder / f"{one}.json").write_text(json.dumps(run))
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as watching:
            time.sleep(random.uniform(0.3, 3))
            watching.kill()
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as last:
        _wait_for(lambda: len([*store.glob("runs/*/*/*/[!.]*.json.gz")]) == 2 * kills)
        last.kill()
    add_all(tmp_path / "whole", [*ingestion.candidates([str(folder)])])
    assert files_of(store) == files_of(tmp_path / "whole")


def test_a_watch_tries_again_when_the_store_or_the_folder_was_away(tmp_path: Path) -> None:
    folder, store = tmp_path / "runs", tmp_path / "store"
    folder.mkdir()
    run = json.dumps(a_run(numpy.random.default_rng(1)))
    arguments = ["fleet", "watch", str(store), str(folder), "--interval", "0.1", "--json"]
    command = [sys.executable, "-m", "takt", *arguments]
    errors = tmp_path / "errors"
    with (
        errors.open("w") as file,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True) as watching,
    ):
        _wait_for((store / "takt-store.json").exists)
        (store / "runs").write_text("no folder")
        (store / "tables").write_text("no folder")
        (folder / "1.json").write_text(run)
        _wait_for(lambda: errors.read_text().count("not added") >= 2)
        for name in ("runs", "tables"):
            (store / name).unlink()
        _wait_for(lambda: [*store.glob("runs/*/*/*/*.json.gz")])
        folder.rename(tmp_path / "away")
        _wait_for(lambda: "waiting" in errors.read_text())
        (tmp_path / "away" / "2.json").write_text(json.dumps(a_run(numpy.random.default_rng(2))))
        (tmp_path / "away").rename(folder)
        _wait_for(lambda: len([*store.glob("runs/*/*/*/*.json.gz")]) == 2)
        watching.send_signal(signal.SIGTERM)
        output, _ = watching.communicate(timeout=60)
    assert watching.returncode == 0, errors.read_text()
    found = json.loads(output)
    assert (found["added"], found["failed"]) == (2, 0)
    assert errors.read_text().count("waiting") == 1


def _wait_for(happened: Any) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_full_disk_is_a_line_for_each_run_and_the_next_addition_goes_on(tmp_path: Path) -> None:
    write_runs(tmp_path / "runs")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "none", str(disk)], check=True)
    try:
        store = disk / "store"
        done = run_takt("fleet", "add", store, tmp_path / "runs", "--json")
        told = json.loads(done.stdout)
        assert (done.returncode, told["added"] + told["failed"]) == (1, 24), done.stderr
        assert 0 < told["failed"] < 24
        lines = done.stderr.splitlines()
        assert len(lines) == told["failed"]
        assert all("No space left on device" in line for line in lines)
        # What is there is whole.
        assert rows(store, "select count(*), count(distinct run) from runs") == [
            [told["added"], told["added"]]
        ]
        subprocess.run(["mount", "-o", "remount,size=100m", str(disk)], check=True)
        assert document("add", store, tmp_path / "runs")["added"] == told["failed"]
        add_all(tmp_path / "whole", [*ingestion.candidates([str(tmp_path / "runs")])])
        assert files_of(store) == files_of(tmp_path / "whole")
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_store_may_be_behind_a_url(tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", ROBOTS[:1])
    store = f"file://{tmp_path}/store"
    assert document("add", store, tmp_path / "runs")["added"] == 4
    assert rows(store, "select count(*) from runs") == [[4]]
    assert document("status", f"{store}?version=1.0")["runs"] == 1
    compared = run_takt("compare", store, f"{store}?version=1.0")
    assert "Cannot tell: 4 and 1 runs" in compared.stdout


@pytest.fixture
def memory() -> Iterator[Store]:
    """A store that is no folder: fsspec's in memory."""
    import fsspec

    yield Store("memory://fleet")
    fsspec.filesystem("memory").rm("/fleet", recursive=True)


def test_a_store_needs_no_folder(memory: Store, tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", ROBOTS[:1])
    job = ingestion.Job(memory.make())
    states = [
        each.state for each in ingestion.add(job, ingestion.candidates([str(tmp_path / "runs")]))
    ]
    assert states == ["added"] * 4
    (entry,) = memory.entries(Selection("", {"version": "1.2"}))
    assert memory.summary(entry).labels["robot"] == "r1"
    memory.remove(entry, tables.columns())
    assert len(memory.entries()) == 3


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["status", "{here}/none"], "no store is here"),
        (["status", "{here}/store?host=x"], "select by robot, version and day"),
        (["status", "{here}/store", "x"], "give nothing after the store"),
        (["status", "{here}/store", "--workers", "2"], "has no option --workers"),
        (["add", "{here}/store"], "give recordings or summaries"),
        (["add", "{here}/store?robot=x", "y"], "as a whole"),
        (["add", "{here}/runs", "y"], "neither a store nor empty"),
        (["add", "nothing://x", "y"], "knows no stores of nothing://"),
        (["query", "{here}/store", "selec"], "the query: "),
        (["query", "{here}/store", "select * from nobody"], "the query: "),
        (["query", "{here}/store", ""], "the query: empty"),
        (["query", "{here}/store", " ; "], "the query: empty"),
        (["watch", "{here}/store", "{here}/none"], "no folder"),
        (["watch", "{here}/store", "{here}", "--goals", "-"], "--goals -: name a file"),
        (["report", "{here}/store?robot=x"], "no run of the store"),
    ],
)
def test_what_is_wrong_is_one_line(filled: Path, arguments: list[str], complaint: str) -> None:
    done = run_takt("fleet", *(each.format(here=filled.parent) for each in arguments))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert complaint in done.stderr


@pytest.mark.parametrize(
    "data", [b"", b"x", b"\x1f\x8b\x08\x00garbage", gzip.compress(b"{", mtime=0)]
)
def test_a_damaged_summary_is_one_line_with_its_place(tmp_path: Path, data: bytes) -> None:
    write_runs(tmp_path / "runs", ROBOTS[:1])
    store = tmp_path / "store"
    add_all(store, [*ingestion.candidates([str(tmp_path / "runs")])])
    (damaged, *_) = store.glob("runs/*/version=1.1/*/*.json.gz")
    damaged.write_bytes(data)
    (entry,) = Store(str(store)).entries(Selection("", {"version": "1.1"}))
    with pytest.raises(UserError, match=r"version=1\.1"):
        Store(str(store)).summary(entry)


HOSTILE: list[Any] = [
    10**400,
    2**63,
    -1,
    math.inf,
    "\ud800",
    "../x\0",
    None,
    [0],
    {"\ud800": "\ud800"},
    {"robot": "é" * 200},
]


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where the values of a document are; of an array only the first one's."""
    yield path
    fields = value.items() if isinstance(value, dict) else []
    for key, field in [*fields, *(enumerate(value[:1]) if isinstance(value, list) else [])]:
        yield from places(field, (*path, key))


def test_no_value_of_a_summary_is_a_fault_of_ours(tmp_path: Path) -> None:
    run = a_run(numpy.random.default_rng(1), blocker=10**6)
    labels = {"robot": "r", "version": "1"}
    run |= {
        "begin": 10**18,
        "labels": labels,
        "machines": [
            {"format": "takt/labels", "version": 1, "labels": labels, "host": "h", "boot": "b"}
        ],
        "provenance": {"inputs": [{"path": "p", "fingerprint": "f"}]},
        "losses": {"discarded_events": 1, "lost_packets": 1},
    }
    job = ingestion.Job(Store(str(tmp_path / "store")).make())
    file = tmp_path / "run.json"
    states = set()
    for number, place in enumerate([*places(run)][1:]):
        for other, value in enumerate(HOSTILE):
            run["provenance"]["inputs"][0]["fingerprint"] = f"{number}-{other}"
            file.write_text(json.dumps(changed(run, *place, value=value)))
            outcome = job.add(str(file))
            assert "\n" not in outcome.reason
            states.add(outcome.state)
    assert states >= {"added", "failed"}
    # What was let in can be read by everybody.
    assert document("status", tmp_path / "store")["runs"] > 10
    assert rows(tmp_path / "store", "select count(*) from histograms")[0][0] > 1000
    assert run_takt("fleet", "report", tmp_path / "store", "-o", "-").returncode == 0


@pytest.mark.parametrize("value", ["é" * 200, "x" * 256])
def test_a_label_that_is_no_name_of_a_folder_is_said(tmp_path: Path, value: str) -> None:
    (tmp_path / "run.json").write_text(json.dumps(a_run(numpy.random.default_rng(1))))
    label = f"version={value}"
    done = run_takt("fleet", "add", tmp_path / "store", tmp_path / "run.json", "--label", label)
    assert done.returncode == 1
    assert "run.json: label version: too long" in done.stderr


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "takt-store.json").write_text('{"format": "takt/store", "version": 2}')
    done = run_takt("fleet", "status", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_change_points_are_found_and_seldom_invented() -> None:
    """Six runs of each of eight versions, twenty figures; one grows by 25 % or by nothing."""
    found = alarms = 0
    for seed in range(10):
        values = numpy.random.default_rng(seed).normal(0, 0.1, (48, 20))
        alarms += bool(change_points.find(values, [6] * 8))
        values[30:, 7] += numpy.log(1.25)
        changes = change_points.find(values, [6] * 8)
        found += any((each.column, each.group) == (7, 5) for each in changes)
    print(f"change points: {found} of 10 found at their version, {alarms} of 10 invented")
    assert found >= 9
    assert alarms <= 3  # half of one is expected; more than 3 have a chance of 0.1 %


def test_a_change_of_many_figures_brings_no_others_with_it() -> None:
    """One release makes all of 30 figures slower."""
    extra = 0
    for seed in range(12):
        values = numpy.random.default_rng(seed).normal(0, 0.1, (24, 30))
        values[12:] += 1
        changes = [(each.column, each.group) for each in change_points.find(values, [6] * 4)]
        assert {(column, 2) for column in range(30)} <= {*changes}
        extra += len(changes) > 30
    print(f"change points beside one of 30 figures: in {extra} of 12")
    assert extra <= 3  # 0.6 are expected; more than 3 have a chance of 0.2 %


def test_two_changes_of_one_figure_are_two() -> None:
    values = numpy.random.default_rng(1).normal(0, 0.1, (60, 3))
    values[20:, 1] += 0.5
    values[40:, 1] += 0.5
    changes = change_points.find(values, [5] * 12)
    assert [(each.column, each.group) for each in changes] == [(1, 4), (1, 8)]


@pytest.mark.parametrize("sizes", [(2, 2), (3, 3), (3, 1, 3), (1, 3, 2, 1), (4, 4), (1, 6), (5, 2)])
def test_where_no_change_could_be_found_is_known(sizes: tuple[int, ...]) -> None:
    """By the share of all orders of the runs that divide the clearest change as well."""
    groups = numpy.repeat(range(len(sizes)), sizes)
    few = []
    for group in range(1, len(sizes)):
        values = numpy.arange(len(groups)) / 100 + (groups >= group)
        distances = change_points._distances(values)
        orders = {*itertools.permutations(groups.tolist())}
        largest = {
            order: change_points._energies(distances, numpy.array(order), len(sizes)).max()
            for order in orders
        }
        clearest = largest[tuple(groups.tolist())]
        alike = sum(energy >= clearest - 1e-9 for energy in largest.values())
        if not clearest or alike > change_points.ALARM * len(orders):
            few.append(group)
    assert change_points.too_few(sizes) == few


@pytest.mark.parametrize(
    ("numbers", "versions", "robots"),
    [
        ({("a", "1"): 9}, ["1"], ["a"]),
        ({("a", "1"): 9, ("b", "2"): 1}, ["2"], ["a", "b"]),
        ({("a", "1"): 8, ("b", "1"): 8}, ["1"], []),
        ({("a", "1"): 8, ("b", "1"): 8, ("c", "1"): 2, ("a", "2"): 2}, [], ["c"]),
        # Three of nine: 84 ways, which is too few for one of three robots.
        ({("a", "1"): 3, ("b", "1"): 3, ("c", "1"): 3}, ["1"], ["a", "b", "c"]),
        ({("unknown", "unknown"): 20}, ["unknown"], ["unknown"]),
    ],
)
def test_a_report_says_what_it_cannot_tell(
    tmp_path: Path, numbers: dict[tuple[str, str], int], versions: list[str], robots: list[str]
) -> None:
    random = numpy.random.default_rng(5)
    (tmp_path / "runs").mkdir()
    for (robot, version), number in numbers.items():
        for place in range(number):
            run = a_run(random) | {"begin": int(version.isdecimal() and version) * DAY}
            run["labels"] = {"robot": robot, "version": version}
            (tmp_path / "runs" / f"{robot}-{version}-{place}.json").write_text(json.dumps(run))
    run_takt("fleet", "add", tmp_path / "store", tmp_path / "runs")
    found = document("report", tmp_path / "store", "-o", str(tmp_path / "page.html"))
    assert found["cannot_tell"] == {"versions": versions, "robots": robots}
    told = fleet_page.lines(found)
    assert ("No version differs from those before" in told) == (not versions)
    assert ("No robot is unlike the others" in told) == (len(robots) < len({r for r, _ in numbers}))
    for kind, names in (("version", versions), ("robot", robots)):
        said = [line for line in told if line.startswith(f"Too few runs to compare {kind}")]
        assert len(said) == bool(names)
        assert all(f" {', '.join(names)} with " in line for line in said)
    page = (tmp_path / "page.html").read_text()
    for line in told:
        assert line in page


def test_the_energy_distance_is_that_of_its_definition() -> None:
    values = numpy.random.default_rng(2).normal(0, 1, 9)
    groups = numpy.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
    distances = numpy.abs(values[:, None] - values[None, :])
    for place, found in enumerate(change_points._energies(distances, groups, 3)):
        left, right = values[groups <= place], values[groups > place]
        across = numpy.mean([abs(x - y) for x in left for y in right])
        within = [
            numpy.mean([abs(x - y) for i, x in enumerate(side) for y in side[i + 1 :]])
            for side in (left, right)
        ]
        n, m = len(left), len(right)
        assert found == pytest.approx(n * m / (n + m) * (2 * across - sum(within)))


TIMES = [Figure(Subject("callback", f"/node{number}"), "p50") for number in range(5)]


def runs_of(
    random: numpy.random.Generator, numbers: dict[tuple[str, str], int], slow: str = ""
) -> list[sample.Run]:
    """So many runs of a robot and a version. `slow`: a robot that takes 40 % longer; then all vary
    little.
    """
    found = []
    for (robot, version), number in numbers.items():
        for place in range(number):
            factor = float(version) * (1.4 if robot == slow else 1)
            times = 1e6 * factor * random.lognormal(0, 0.02 if slow else 0.1, len(TIMES))
            entry = Entry(robot, version, "2026-11-28", f"{robot}{version}{place}")
            figures = dict(zip(TIMES, times.tolist(), strict=True))
            summary = Summary.read(a_run(random)) if slow else None
            found.append(sample.Run(entry, cast(Summary, summary), figures))
    return found


def test_a_robot_is_compared_with_the_others_of_its_versions_alone() -> None:
    """It has most of the runs of a version, and one to itself."""
    numbers = {("a", "1"): 8, ("b", "1"): 3, ("a", "2"): 2, ("b", "2"): 4, ("c", "2"): 4}
    runs = runs_of(numpy.random.default_rng(1), {**numbers, ("a", "9"): 7}, slow="a")
    told = [each for each in outliers.find(outliers.ROBOTS, TIMES, runs) if each["robot"] == "a"]
    assert len(told) == len(TIMES)
    for each in told:
        assert each["growth"] == pytest.approx(0.4, abs=0.08)
        assert each["runs"] == 10
    untold: Json = {"versions": [], "robots": []}
    none: dict[str, list[Json]] = {
        f"{grouping.noun}s_unlike_others": [] for grouping in outliers.OTHERS
    }
    report = {"changes": [], "robots_unlike_others": told[:1], "cannot_tell": untold, **none}
    lines = fleet_page.lines({**report, "versions": ["1", "2", "9"], "robots": ["a", "b", "c"]})
    assert lines[0].endswith("in 10 runs, against the others")


@pytest.mark.parametrize(
    "numbers",
    [
        {(robot, version): 4 for robot in "abcd" for version in "12"},
        {**{(robot, "1"): 2 for robot in "abc"}, ("d", "1"): 12, ("a", "2"): 9, ("d", "2"): 1},
    ],
)
def test_equal_robots_seldom_raise_an_alarm(numbers: dict[tuple[str, str], int]) -> None:
    random = numpy.random.default_rng(2)
    alarms = sum(
        bool(outliers.find(outliers.ROBOTS, TIMES, runs_of(random, numbers))) for _ in range(200)
    )
    print(f"equal robots: {alarms} of 200 fleets have an alarm")
    assert alarms <= 18  # 10 are expected at most; more than 18 have a chance of 0.5 %


def test_equal_hosts_boots_and_hours_seldom_raise_an_alarm() -> None:
    random = numpy.random.default_rng(4)
    alarms = 0
    for _ in range(100):
        runs = runs_of(random, {(robot, version): 12 for robot in "ab" for version in "12"})
        for number, run in enumerate(runs):
            machine = {"host": f"h{number % 3}", "boot": f"b{number // 4}"}
            begin = number % 4 * 3600 * 10**9
            summary = SimpleNamespace(machines=(machine,), begin=begin)
            runs[number] = run._replace(summary=cast(Summary, summary))
        alarms += any(outliers.find(grouping, TIMES, runs) for grouping in outliers.OTHERS)
    print(f"equal hosts, boots and hours: {alarms} of 100 fleets have an alarm")
    assert alarms <= 12  # 5 are expected at most; more than 12 have a chance of 0.2 %


def test_a_robot_of_a_large_fleet_can_be_found() -> None:
    random = numpy.random.default_rng(3)
    numbers = {(f"r{number}", "1"): 5 for number in range(110)}
    told = outliers.find(outliers.ROBOTS, TIMES[:1], runs_of(random, numbers, slow="r7"))
    assert "r7" in {each["robot"] for each in told}


def test_a_robot_that_is_unlike_the_others_is_named(tmp_path: Path) -> None:
    random = numpy.random.default_rng(3)
    (tmp_path / "runs").mkdir()
    for robot in ROBOTS:
        for number in range(6):
            planted = {("/motor", "transport"): 4.0, ("/motor", "running"): 2.0}
            run = a_run(random, planted if robot == UNLIKE else None)
            run["labels"] = {"robot": robot, "version": "1"}
            (tmp_path / "runs" / f"{robot}-{number}.json").write_text(json.dumps(run))
    run_takt("fleet", "add", tmp_path / "store", tmp_path / "runs")
    report = document("report", tmp_path / "store")
    schema("fleet").validate(report)
    assert {each["robot"] for each in report["robots_unlike_others"]} == {UNLIKE}
    assert ("callback", "/motor") in {
        (each["kind"], each["name"]) for each in report["robots_unlike_others"]
    }
    (worst,) = report["worst"]
    assert (worst["name"], worst["robot"]) == (PATH, UNLIKE)


PLANTED = ("host", "boot", "hour")


@pytest.mark.parametrize("planted", ["", *PLANTED])
def test_a_host_a_boot_and_an_hour_that_are_unlike_the_others_are_named(
    tmp_path: Path, planted: str
) -> None:
    """Two robots; the second is slow itself, which is no property of what it has to itself."""
    random = numpy.random.default_rng(6)
    (tmp_path / "runs").mkdir()
    slow = {"host": "h1", "boot": "b2", "hour": "14"}
    for robot, factor in (("a", 1.0), ("b", 1.5)):
        for number in range(40):
            own = {
                "host": f"h{number % 2}" if robot == "a" else "h9",
                "boot": f"b{number // 10}" if robot == "a" else "b9",
                "hour": ("08", "11", "14", "17")[number // 2 % 4],
            }
            times = factor * (1.6 if own.get(planted) == slow.get(planted, "") else 1)
            run = a_run(random, {("/detector", "running"): times})
            run["labels"] = {"robot": robot, "version": "1"}
            run["machines"] = [{"host": own["host"], "boot": own["boot"]}]
            run["begin"] = 20_000 * DAY + (int(own["hour"]) * 60 + number) * 60 * 10**9
            (tmp_path / "runs" / f"{robot}{number}.json").write_text(json.dumps(run))
    run_takt("fleet", "add", tmp_path / "store", tmp_path / "runs")
    report = document("report", tmp_path / "store", "-o", str(tmp_path / "page.html"))
    schema("fleet").validate(report)
    if not planted:
        assert {each["robot"] for each in report["robots_unlike_others"]} == {"a", "b"}
    for noun in PLANTED:
        found = report[f"{noun}s_unlike_others"]
        if noun != planted:
            assert found == []
            continue
        # Others look fast beside it.
        assert {each[noun][:2] for each in found if each["growth"] > 0} == {slow[noun]}
        assert ("callback", "/detector") in {(each["kind"], each["name"]) for each in found}
        chain = next(each for each in found if each["kind"] == "chain" and each["growth"] > 0)
        assert chain["causes"][0]["callback"] == "/detector"
        assert f"{noun.capitalize()} {chain[noun]}: " in (tmp_path / "page.html").read_text()
