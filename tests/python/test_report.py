"""The page says what the documents say: of a model alone, of what was measured of it, and of a
recording. web/tests looks at such pages in a browser.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from robot import FIXTURES, Json, bounds, changed, measurement, model, raw, run_takt
from takt.report import modelled, view
from takt.text import glossary
from takt.verdicts import verdict

ROOT = Path(__file__).resolve().parents[2]
MODEL, BOUNDS, MEASUREMENT = raw("model"), raw("bounds"), raw("measurement")
MODELS = sorted((ROOT / "models").glob("*.json"))


def page(
    model_json: Json = MODEL, bounds_json: Json = BOUNDS, measured: Json | None = MEASUREMENT
) -> Json:
    """The index of the page of these documents."""
    known, bound = model(model_json), bounds(bounds_json)
    seen = None if measured is None else measurement(measured)
    index, _ = modelled.document(known, bound, seen)
    view.complete(index, known, bound, seen, verdict.judge(known, bound, seen), known.name)
    return index


def index_of(page_file: Path) -> Json:
    """The index within a page."""
    found = re.search(r'id="takt-index"[^>]*>([^<]*)<', page_file.read_text("utf-8"))
    assert found
    index: Json = json.loads(found[1])
    return index


def warnings(index: Json) -> dict[str, list[str]]:
    return {warning["title"]: warning["lines"] for warning in index["warnings"]}


def facts(callback: Json) -> dict[str, str]:
    return dict(callback["model"]["facts"])


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_the_page_of_a_model_says_what_takt_analyze_says(path: Path, tmp_path: Path) -> None:
    analyzed = run_takt("analyze", path, "--json")
    done = run_takt("report", path, "-o", tmp_path / "report.html")
    assert done.returncode == analyzed.returncode, done.stderr
    assert (tmp_path / "report.html").stat().st_size < 250_000
    index, said = index_of(tmp_path / "report.html"), json.loads(analyzed.stdout)
    assert [(c["name"], c["bound"], c["goal"]) for c in index["chains"]] == [
        (c["id"], c["bound"], c["goal"]) for c in said["chains"]
    ]
    assert [(c["id"], c["bound"]) for c in index["callbacks"]] == [
        (c["id"], c["bound"]) for c in said["callbacks"]
    ]
    document = json.loads(path.read_text("utf-8"))
    ids = [callback["id"] for callback in index["callbacks"]]
    assert [[ids[step] for step in chain["callbacks"]] for chain in index["chains"]] == [
        chain["callbacks"] for chain in document["chains"]
    ]
    assert [(ids[edge["from"]], ids[edge["to"]]) for edge in index["edges"]] == [
        (edge["from"], edge["to"]) for edge in document["edges"]
    ]
    assert [callback["model"]["assumed"] for callback in index["callbacks"]] == [
        callback["execution_time"]["curve"][0] for callback in document["callbacks"]
    ]
    for chain in index["chains"]:
        if chain["bound"] is not None and "time" not in chain:
            assert sum(term["time"] for term in chain["terms"]) == chain["bound"]


def test_a_model_alone_has_no_recording() -> None:
    alone = page(MODEL, BOUNDS, None)
    assert alone["origin"] is None
    assert (alone["tracks"], alone["duration"]) == ([], 0)
    assert [callback["count"] for callback in alone["callbacks"]] == [0, 0, 0, 0]
    assert alone["answer"][0]["text"] == "1 goal, guaranteed as far as the model is true."
    assert [chain["verdict"] for chain in alone["chains"]] == ["guaranteed", "bounded"]
    assert {assumption["standing"] for assumption in alone["assumptions"]} == {"not checked"}
    assert alone["facts"] == [
        "from a model, nothing measured",
        "combined analysis",
        "2 chains",
        "4 callbacks",
        "2 executors",
    ]


def test_a_goal_that_a_model_does_not_guarantee_is_said_first_with_the_remedy() -> None:
    tight = model(changed(MODEL, "chains", 0, "goal", value=60_000_000))
    judged = verdict.judge(tight, bounds(), None)
    judged[0] = replace(judged[0], remedy="guaranteed on Sundays")
    index, _ = modelled.document(tight, bounds(), None)
    view.complete(index, tight, bounds(), None, judged, "Monday")
    assert index["title"] == "Monday"
    assert [(line["tone"], line["text"]) for line in index["answer"]] == [
        ("warn", "1 of 1 goal not guaranteed."),
        (
            "warn",
            "stop: not guaranteed: the bound 64 ms is above the goal 60 ms; guaranteed on Sundays.",
        ),
    ]


def test_executors_are_shown_with_their_supply() -> None:
    slots = {"kind": "slots", "cycle": 10_000_000, "slots": [{"start": 0, "end": 2_500_000}]}
    document = changed(MODEL, "executors", 1, "supply", value=slots)
    assert [(e["name"], e["supply"]) for e in page(document)["executors"]] == [
        ("sensing", "reservation: 2 ms every 10 ms (20 %)"),
        ("driving", "slots: 2.50 ms every 10 ms (25 %)"),
    ]
    for supply, words in (
        ({"kind": "dedicated"}, "assumes a processor of its own"),
        ({"kind": "fixed_priority", "priority": 7}, "what others leave at priority 7"),
    ):
        document = changed(MODEL, "executors", 1, "supply", value=supply)
        assert page(document)["executors"][1]["supply"] == words


def test_callbacks_are_shown_with_curves_and_inputs() -> None:
    camera, detect, brake, log = page()["callbacks"]
    assert facts(camera) == {
        "activated": "every 50 ms (20 Hz)",
        "execution of 1, 2, … runs": "500 µs, 900 µs",
    }
    assert facts(detect)["from /camera"] == "/image, at most 2 ms under way"
    assert facts(log)["activated"] == "at least 1 s apart"
    assert [c["model"]["rate"] for c in (camera, detect, log)] == ["20 Hz", "", "≤ 1 Hz"]
    assert [c["model"]["by"] for c in (camera, brake)] == ["round robin", "busy window"]
    curve = {"kind": "min_distance", "values": [0, 10_000_000, 50_000_000]}
    dense = page(changed(MODEL, "callbacks", 0, "activation", value=curve))["callbacks"][0]
    assert facts(dense)["activated"] == "2, 3, … within 10 ms, 50 ms at least"
    both = changed(MODEL, "edges", value=[*MODEL["edges"], {"from": "camera", "to": "brake"}])
    joins = [{"callback": "brake", "kind": "newest", "inputs": ["detect", "camera"]}]
    joined = page(changed(both, "joins", value=joins))["callbacks"][2]
    assert (joined["model"]["join"], facts(joined)["joins its inputs"]) == ("newest of 2",) * 2


def test_what_a_timer_finds_is_stored_and_services_are_told_apart() -> None:
    edges = [*MODEL["edges"], {"from": "brake", "to": "log"}]
    kinds = [edge["kind"] for edge in page(changed(MODEL, "edges", value=edges))["edges"]]
    assert kinds == ["message", "message", "stored"]
    calls = page(json.loads((ROOT / "models" / "service_call.json").read_text()), BOUNDS, None)
    assert {edge["kind"] for edge in calls["edges"]} == {"service"}


def test_what_was_measured_stands_beside_the_model() -> None:
    index = page()
    stop = index["chains"][0]
    assert [stop[name] for name in ("count", "incomplete", "p50", "p99", "max", "bound")] == [
        *(199, 1, 6_030_000, 8_470_000, 9_380_000, 64_000_000)
    ]
    assert stop["latencies"] == [5_120_000, 6_030_000, 9_380_000]
    detect = index["callbacks"][1]
    assert detect["count"] == 200
    assert detect["execution"] == {"p50": 3_500_000, "p99": 3_900_000, "max": 3_950_000}
    assert (detect["response"]["max"], detect["bound"]) == (6_500_000, 21_000_000)
    assert index["facts"] == ["recorded on robot-7", "2026-11-20T10:31:02Z", "combined analysis"]


def test_the_runs_of_a_measurement_are_its_timeline() -> None:
    index, tables = modelled.document(model(), bounds(), measurement())
    assert [track["executor"] for track in index["tracks"]] == [0, 1]
    assert index["duration"] == 5_100_000
    assert list(tables) == ["spans"]
    nested = [
        {"executor": "e1", "callback": "detect", "start": 0, "end": 100},
        {"executor": "e1", "callback": "brake", "start": 20, "end": 60},
        {"executor": "e1", "callback": "brake", "start": 70, "end": 90},
    ]
    measured = measurement(changed(MEASUREMENT, "timeline", value=nested))
    index, _ = modelled.document(model(), bounds(), measured)
    assert len(index["tracks"]) == 2


def test_the_ways_of_messages_are_told_if_they_were_recorded() -> None:
    times = {"min": 1000, "mean": 2000.0, "p50": 2000, "p99": 3000, "max": 3000}
    way = {"count": 40, "sending": times, "transport": {**times, "p50": 35000}, "waiting": times}
    index = page(MODEL, BOUNDS, changed(MEASUREMENT, "edges", 0, "way", value=way))
    assert facts(index["callbacks"][1])["from /camera"] == (
        "/image, at most 2 ms under way, 40 messages, sending p50 2 µs, max 3 µs, "
        "transport p50 35 µs, max 3 µs, waiting p50 2 µs, max 3 µs"
    )


def test_a_violated_assumption_is_named_at_the_top() -> None:
    measured = changed(MEASUREMENT, "chains", 0, "max", value=65_000_000)
    measured = changed(measured, "edges", 0, "delay", "max", value=3_000_000)
    assert warnings(page(MODEL, BOUNDS, measured))[
        "Chain stop: 65 ms was measured, the bound is 64 ms"
    ] == [
        "The bound rests on this:",
        "a message from /camera to /detector (/image) took 3 ms, longer than the 2 ms of the model",
    ]


def test_a_callback_above_its_bound_is_named_at_the_top() -> None:
    measured = changed(MEASUREMENT, "callbacks", 2, "response_time", "max", value=27_000_000)
    assert warnings(page(MODEL, BOUNDS, measured))["Callbacks above their bounds"] == [
        "/brake (/obstacle): 27 ms was measured, the bound is 26 ms"
    ]


def test_conditions_losses_and_divergence_are_told() -> None:
    measured = changed(MEASUREMENT, "executors", 0, "policy", value="other")
    measured = changed(measured, "losses", value={"discarded": 12, "unmatched_publications": 3})
    diverged = changed(BOUNDS, "callbacks", 3, "bound", value=None)
    diverged = changed(diverged, "callbacks", 3, "reason", value="utilisation 1.2")
    index = page(MODEL, diverged, measured)
    told = warnings(index)
    conditions = " ".join(told["The bounds are conditional"])
    assert "executor sensing is assumed to get 2 ms every 10 ms" in conditions
    assert "12 events of the recording were lost" in conditions
    assert told["Not everything recorded could be used"] == ["unmatched publications: 3"]
    assert told["No bound for 1 callback"] == ["utilisation 1.2"]
    assert index["callbacks"][3]["model"]["by"] == "utilisation 1.2"


def unfounded() -> Json:
    """A measurement in which a callback ran longer than its curve."""
    return changed(MEASUREMENT, "callbacks", 0, "execution_time", "max", value=1_500_000_000)


SLOW_CAMERA = "callback /camera ran for 1.50 s, longer than the 500 µs of its execution-time curve"


def test_the_page_of_a_recording_begins_with_what_no_bound_promises() -> None:
    index = page()
    (first, *others) = index["answer"]
    assert (first["tone"], others) == ("good", [])
    assert list(warnings(index)) == ["The timeline shows 5.10 ms of the recording"]
    index = page(MODEL, BOUNDS, unfounded())
    first, stop, see = index["answer"]
    assert first["tone"] == "warn"
    assert first["text"] == "1 goal, none missed in this recording, but 1 not guaranteed."
    assert [stop["tone"], see["tone"]] == ["warn", "warn"]
    assert stop["text"] == (
        f"stop: 9.38 ms of 80 ms: met, bound refuted. What failed: {SLOW_CAMERA}."
    )
    assert warnings(index)["The recording refutes what the bounds rest on"] == [SLOW_CAMERA]
    missed = page(changed(MODEL, "chains", 0, "goal", value=9_000_000))["answer"][0]
    assert (missed["tone"], missed["text"]) == ("bad", "1 of 1 goal missed.")


def test_without_bounds_there_is_nothing_conditional() -> None:
    measured = changed(MEASUREMENT, "executors", 0, "policy", value="other")
    unbounded = changed(BOUNDS, "chains", value=[])
    unbounded["callbacks"] = [{"id": "camera", "bound": None, "reason": "no analysis"}]
    told = warnings(page(MODEL, unbounded, measured))
    assert told["No bound for 1 callback"] == ["no analysis"]
    assert "The bounds are conditional" not in told


def test_assumptions_are_held_against_the_recording() -> None:
    standing = {each["name"]: each["standing"] for each in page()["assumptions"]}
    assert standing["Supply"] == "guaranteed by the kernel"
    assert standing["Execution times"] == "held in the recording"


def test_that_times_are_wall_times_is_told() -> None:
    title = "Execution times are wall times"
    assert title not in warnings(page())
    wall = changed(MEASUREMENT, "provenance", "execution_time", value="wall_time")
    assert title in warnings(page(MODEL, BOUNDS, wall))


def test_an_empty_model_makes_a_page(tmp_path: Path) -> None:
    empty = {"format": "takt/model", "version": 1, "executors": [], "callbacks": []}
    (tmp_path / "model.json").write_text(json.dumps(empty))
    done = run_takt("report", tmp_path / "model.json", "-o", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
    assert index_of(tmp_path / "report.html")["callbacks"] == []


def test_documents_become_a_report_on_the_command_line(tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    inputs = [FIXTURES / f"{name}.json" for name in ("measurement", "model", "bounds")]
    done = run_takt("report", *inputs, "-o", output)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"wrote {output}\n")
    assert "Camera robot" in output.read_text()


def test_a_second_document_of_a_kind_is_refused() -> None:
    path = FIXTURES / "bounds.json"
    done = run_takt("report", FIXTURES / "model.json", path, path)
    assert done.returncode == 2
    assert done.stderr == f"takt: {path}: a second takt/bounds document; give one\n"


def test_documents_without_a_model_are_refused() -> None:
    done = run_takt("report", FIXTURES / "bounds.json")
    assert done.returncode == 2
    assert done.stderr == "takt: no model: add the takt/model document, or a trace\n"


def test_times_of_origins_are_told_to_people_and_long_lists_are_cut() -> None:
    origin = {
        "duration": 11_400_000_000,
        "left_out": ["/a:timer-1s", "/b:timer-1s", "/c:timer-1s", "/d:timer-1s", "/e:timer-1s"],
    }
    told = page(changed(MODEL, "provenance", value=origin), BOUNDS, None)["provenance"]
    assert ["\u2003duration", "11.4 s"] in told
    assert ["\u2003left out", "/a:timer-1s, /b:timer-1s, /c:timer-1s and 2 others"] in told


def test_the_glossary_explains_the_words_of_the_page() -> None:
    explained = glossary.entries()
    assert {"activation", "conditional", "supply", "release", "ET(1), ET(n)"} <= set(explained)
    assert page()["glossary"] == [[word, meaning] for word, meaning in explained.items()]
    for meaning in explained.values():
        assert not re.search(r"[*`\[\]]", meaning), meaning


def test_bounds_that_were_made_in_another_way_are_not_explained(tmp_path: Path) -> None:
    others = changed(BOUNDS, "chains", 1, "id", value="of another model")
    (tmp_path / "bounds.json").write_text(json.dumps(others))
    inputs = [FIXTURES / "model.json", tmp_path / "bounds.json"]
    done = run_takt("report", *inputs, "-o", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
    stop, see = index_of(tmp_path / "report.html")["chains"]
    assert (stop["bound"], "terms" in stop) == (64_000_000, False)
    assert (see["bound"], see["verdict"]) == (None, "no bound")


def test_the_terms_of_a_bound_stand_beside_the_measured_instances(tmp_path: Path) -> None:
    page_file = tmp_path / "report.html"
    recording = ROOT / "tests" / "recordings" / "pipeline-ring.tar.xz"
    result = run_takt("report", recording, ROOT / "models" / "pipeline.json", "-o", page_file)
    assert result.returncode == 0, result.stderr
    chains = [c for c in index_of(page_file)["chains"] if c["count"] and c["bound"] is not None]
    assert chains
    for chain in chains:
        assert sum(term["time"] for term in chain["terms"]) == chain["bound"]
        assert any(term["part"] == "running" for term in chain["terms"])


def test_the_page_of_a_recording_speaks_in_sentences_and_names_commands(tmp_path: Path) -> None:
    recordings = ROOT / "tests" / "recordings"
    goals, page_file = tmp_path / "goals.yaml", tmp_path / "page.html"
    goals.write_text(
        "chains: [{name: pilot, from: /EuclideanClusterSettings, to: /IntersectionOutput, "
        "latency: 4ms}]"
    )
    given = (recordings / "autoware.tar.xz", "-o", page_file)
    assert run_takt("report", *given, "--goals", goals).returncode == 1
    index = index_of(page_file)
    assert index["chains"][0]["asking"] == "takt flow TRACE --goals FILE --why"
    (told,) = (line["text"] for line in index["answer"] if line["chain"] == 0)
    assert told.endswith(".")
    assert not re.search(r"\. [a-z]", told)
    assert run_takt("report", *given).returncode == 0
    for chain in index_of(page_file)["chains"]:
        assert shlex.split(chain["asking"]) == [
            *("takt", "flow", "TRACE", "--chain", chain["name"], "--why")
        ]
