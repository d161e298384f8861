"""takt simulate: documents, options, refusals."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from robot import run_takt
from takt import documents
from takt.documents import Instance, Model
from takt.exports import perfetto
from takt.planning import gantt

ROOT = Path(__file__).resolve().parents[2]

Json = dict[str, Any]


def two_timers(**executor: Any) -> Json:
    """A quick timer and a slow one with a subscriber, on one executor, times in ms."""
    ms = 1_000_000
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": "e", **executor}],
        "callbacks": [
            {
                "id": "quick",
                "executor": "e",
                "kind": "timer",
                "execution_time": {"curve": [3 * ms]},
                "activation": {"kind": "periodic", "period": 10 * ms},
            },
            {
                "id": "slow",
                "executor": "e",
                "kind": "timer",
                "registration": 1,
                "execution_time": {"curve": [10 * ms]},
                "activation": {"kind": "periodic", "period": 30 * ms},
            },
            {
                "id": "after",
                "executor": "e",
                "kind": "subscription",
                "execution_time": {"curve": [ms]},
            },
        ],
        "edges": [{"from": "slow", "to": "after"}],
        "chains": [{"id": "c", "callbacks": ["slow", "after"], "goal": 17 * ms}],
    }


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(two_timers()), encoding="utf-8")
    return path


def test_document_has_the_statistics_of_every_callback_and_chain(model_file: Path) -> None:
    result = run_takt("simulate", model_file, "--json", "--duration", "0.3")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert (document["format"], document["version"]) == ("takt/simulation", 1)
    assert document["provenance"]["duration"] == 300_000_000
    quick, slow, after = document["callbacks"]
    # In every 30 ms: quick 0-3, slow 3-13, then quick (due at 10) 13-16, after 16-17, quick 20-23.
    assert (quick["count"], quick["min"], quick["max"]) == (30, 3_000_000, 6_000_000)
    assert (quick["p50"], quick["mean"]) == (3_000_000, 4_000_000)
    assert (slow["count"], slow["min"], slow["max"]) == (10, 13_000_000, 13_000_000)
    assert (after["count"], after["max"]) == (10, 4_000_000)
    (chain,) = document["chains"]
    assert (chain["id"], chain["count"], chain["max"]) == ("c", 10, 17_000_000)


def test_missed_goal_is_the_answer_no(tmp_path: Path) -> None:
    model = two_timers()
    model["chains"][0]["goal"] = 16_999_999
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model), encoding="utf-8")
    result = run_takt("simulate", path)
    assert result.returncode == 1
    assert "missed" in result.stdout


@pytest.mark.parametrize("goal", [100_000_000, None])
def test_a_goal_that_was_never_tested_is_warned_about(tmp_path: Path, goal: int | None) -> None:
    """The first instance of the chain ends at 17 ms."""
    model = two_timers()
    model["chains"][0]["goal"] = goal
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model), encoding="utf-8")
    warning = (
        "takt: warning: chain c never completed, so its goal of 100 ms was not tested; try a "
        "longer --duration, or other phases by --seed\n"
    )
    short = run_takt("simulate", path, "--duration", "0.015")
    assert (short.returncode, short.stderr) == (0, warning if goal else "")
    assert ("never completed" in short.stdout) == (goal is not None)
    as_json = run_takt("simulate", path, "--duration", "0.015", "--json")
    assert (as_json.returncode, as_json.stderr) == (0, short.stderr)
    assert json.loads(as_json.stdout)["chains"][0]["count"] == 0
    assert run_takt("simulate", path, "--duration", "0.02").stderr == ""


def test_same_seed_same_simulation(model_file: Path) -> None:
    first, again, other = (
        json.loads(run_takt("simulate", model_file, "--json", "--seed", seed).stdout)["callbacks"]
        for seed in ("1", "1", "2")
    )
    assert first == again
    assert first != other


def test_document_says_where_it_comes_from(model_file: Path) -> None:
    provenance = json.loads(run_takt("simulate", model_file, "--json").stdout)["provenance"]
    digest = hashlib.sha256(model_file.read_bytes()).hexdigest()
    assert provenance["inputs"] == [{"path": str(model_file), "sha256": digest}]
    assert (provenance["releases"], provenance["execution"]) == ("synchronous", "worst_case")


def test_a_recorded_run_is_repeated(tmp_path: Path) -> None:
    """Also where one polling point admits both inputs of a join, as it does here 29 times."""
    with tarfile.open(ROOT / "tests" / "recordings" / "autoware.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    model = ROOT / "models" / "autoware_reference_system.json"
    result = run_takt("simulate", model, "--replay", tmp_path / "autoware", "--json")
    executors = json.loads(result.stdout)["executors"]
    assert [executor["first_difference"] for executor in executors] == [None] * 4
    assert sum(executor["agreeing"] for executor in executors) == 2208
    assert result.returncode == 0


def test_executor_kind_is_replaced(model_file: Path) -> None:
    result = run_takt("simulate", model_file, "--json", "--executor", "chain_priority")
    document = json.loads(result.stdout)
    # The chain comes before the timer that is in none.
    assert document["chains"][0]["max"] == 14_000_000 - 3_000_000


def test_perfetto_trace_shows_every_instance(model_file: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    run_takt("simulate", model_file, "--duration", "0.03", "--perfetto", trace)
    slices = [e for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X"]
    assert [(s["name"], s["ts"], s["dur"]) for s in slices] == [
        ("quick", 0, 3000),
        ("slow", 3000, 10000),
        ("quick", 13000, 3000),
        ("after", 16000, 1000),
        ("quick", 20000, 3000),
    ]
    assert slices[2]["args"]["response_time_ns"] == 6_000_000


def test_gantt_chart_shows_running_and_waiting() -> None:
    model = documents.parse(Model, json.dumps(two_timers()), "model")
    timeline = [
        Instance(executor="e", callback="quick", activation=0, start=0, end=30),
        Instance(executor="e", callback="slow", activation=0, start=30, end=90),
    ]
    _, quick, slow = gantt.chart(model, timeline, width=37).splitlines()
    assert quick.split()[-1] == "█" * 10
    assert slow.split()[-1] == "░" * 10 + "█" * 20


def test_perfetto_names_executors() -> None:
    model = documents.parse(Model, json.dumps(two_timers(name="control")), "model")
    events = json.loads(perfetto.trace(model, []))["traceEvents"]
    assert events == [{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "control"}}]


def test_an_empty_list_of_releases_releases_nothing(model_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "options.json"
    path.write_text('{"release_times": {"quick": []}}', encoding="utf-8")
    simulated = run_takt("simulate", model_file, "--options", path, "--json")
    counts = {c["id"]: c["activations"] for c in json.loads(simulated.stdout)["callbacks"]}
    assert counts["quick"] == 0
    assert min(number for name, number in counts.items() if name != "quick") > 0


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ('{"seeds": 1}', "options.json: seeds: is not an option"),
        ('{"releases": "often"}', 'options.json: releases: "often" is none of synchronous, random'),
        ('{"offsets": {"nobody": 1}}', 'options.json: offsets: there is no callback "nobody"'),
        ('{"offsets": {"quick": -1}}', 'offsets["quick"]: -1 ns is not between'),
        ('{"release_times": {"quick": [5, 4]}}', 'release_times["quick"][1]'),
        ('{"execution_times": {"quick": []}}', 'execution_times["quick"]: needs at least one time'),
        ('{"threads": {"e": {"policy": "fifo"}}}', 'say how many cores there are: "cores"'),
        ('{"cores": 2, "threads": {"e": {"cpu": 2}}}', "cpu 2 does not exist on 2 cores"),
        ('{"shortest": 2}', "shortest: 2 is not between 0 and 1"),
        ("[1]", "must hold a JSON object"),
        ("{", "not a JSON document"),
    ],
)
def test_bad_options_are_one_line(
    model_file: Path, tmp_path: Path, options: str, complaint: str
) -> None:
    path = tmp_path / "options.json"
    path.write_text(options, encoding="utf-8")
    result = run_takt("simulate", model_file, "--options", path)
    assert result.returncode == 2
    assert result.stdout == ""
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_duration_in_the_file_counts_unless_another_is_given(
    model_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "options.json"
    path.write_text('{"duration": 30000000}', encoding="utf-8")
    for given, expected in (((), 30_000_000), (("--duration", "0.06"), 60_000_000)):
        done = run_takt("simulate", model_file, "--options", path, "--json", *given)
        assert json.loads(done.stdout)["provenance"]["duration"] == expected


def test_a_mistake_on_the_command_line_is_not_blamed_on_the_file(
    model_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "options.json"
    path.write_text('{"executor": "edf"}', encoding="utf-8")
    result = run_takt("simulate", model_file, "--options", path, "--executor", "quick")
    assert result.returncode == 2
    assert result.stderr.startswith('takt: options: executor: "quick" is none of ')


def test_tables_are_needed_by_table_driven_executors(model_file: Path, tmp_path: Path) -> None:
    result = run_takt("simulate", model_file, "--executor", "table_driven")
    assert result.returncode == 2
    assert "is table-driven: give its slots" in result.stderr
    options = tmp_path / "options.json"
    ms = 1_000_000
    slots = [
        {"start": 0, "end": 4 * ms, "callback": "quick"},
        {"start": 5 * ms, "end": 8 * ms, "callback": "slow"},
        {"start": 16 * ms, "end": 30 * ms, "callback": "after"},
    ]
    tables = {"tables": {"e": {"cycle": 30 * ms, "slots": slots}}}
    options.write_text(json.dumps(tables), encoding="utf-8")
    result = run_takt(
        "simulate", model_file, "--executor", "table_driven", "--options", options, "--json"
    )
    document = json.loads(result.stdout)
    # The second time, quick's slot is used twice, for an instance of the round before: slow starts
    # when it ends, at 6.
    assert document["callbacks"][1]["max"] == 16 * ms
    assert document["chains"][0]["min"] == 17 * ms
