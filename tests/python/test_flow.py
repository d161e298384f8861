"""takt flow: the command line on recordings of the repository."""

from __future__ import annotations

import json
import re
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from robot import run_takt
from takt import pipeline
from takt.documents import Callback, Edge, Model
from takt.flows.flow import MOST_CHAINS, cause, chains, left_out, names, story
from takt.recordings import recording
from takt.testing import Recorded
from takt.text.formatting import duration

ROOT = Path(__file__).resolve().parents[2]
RECORDINGS = ROOT / "tests/recordings"
PIPELINE = RECORDINGS / "pipeline-lttng.tar.xz"
AUTOWARE = RECORDINGS / "autoware.tar.xz"
AUTOWARE_MODEL = ROOT / "models/autoware_reference_system.json"
"""The model that ran in AUTOWARE: its callbacks have other ids, and its joins are declared."""
LIDAR, ESTIMATOR = "/RearLidarDriver", "/ObjectCollisionEstimator"

Json = dict[str, Any]


def document(*arguments: str | Path) -> Json:
    done = run_takt("flow", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    parsed: Json = json.loads(done.stdout)
    return parsed


@pytest.mark.parametrize("name", ["pipeline-lttng", "pipeline-ebpf"])
def test_one_document_whose_parts_add_up(name: str) -> None:
    found = document(RECORDINGS / f"{name}.tar.xz", "--instances")
    assert (found["format"], found["version"]) == ("takt/flow", 1)
    (flow,) = found["flows"]
    assert (flow["from"], flow["to"], flow["count"]) == ("/camera:/image", "/motor:/image", 80)
    assert [step["node"] for step in flow["path"]] == ["/camera", "/motor"]
    latencies = sorted(instance["latency"] for instance in flow["instances"])
    assert (latencies[0], latencies[-1]) == (flow["min"], flow["max"])
    assert latencies[39] == flow["p50"]
    assert sum(flow["breakdown"].values()) == flow["mean"]
    for worst in flow["worst"]:
        assert sum(part["duration"] for part in worst["parts"]) == worst["latency"]


def test_names_with_and_without_slash_mean_the_same() -> None:
    found = [
        document(PIPELINE, "--from", source, "--to", sink)["flows"]
        for source, sink in (("/image", "/motor"), ("camera", "image"))
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 1


def test_an_unknown_name_is_a_mistake_in_one_line() -> None:
    done = run_takt("flow", PIPELINE, "--to", "/moto")
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith('takt: --to: no topic, node or callback is called "/moto"; ')
    assert 'did you mean "/motor"' in line


def test_max_answers_by_its_exit_status() -> None:
    worst = document(PIPELINE)["flows"][0]["max"]
    assert run_takt("flow", PIPELINE, "--max", f"{worst}ns").returncode == 0
    late = run_takt("flow", PIPELINE, "--max", f"{worst - 1}ns")
    assert late.returncode == 1
    assert "/camera:/image → /motor:/image" in late.stderr
    assert run_takt("flow", PIPELINE, "--max", "soon").returncode == 2


def test_why_names_the_cause_in_its_first_line() -> None:
    flow = document(PIPELINE)["flows"][0]
    told = run_takt("flow", PIPELINE, "--why", "worst")
    assert told.returncode == 0
    first, _, way, *parts = told.stdout.splitlines()
    longest = max(flow["worst"][0]["parts"], key=lambda part: int(part["duration"]))
    words = {"in_transport": "in transport", "waiting_in_executor": "waited in its executor"}
    assert words.get(longest["stage"], "ran") in first
    number = flow["worst"][0]["instance"]
    assert way.startswith(f"/camera → /motor, sink instance {number}, {_moment(flow, 0)}")
    assert parts[-1].endswith("/motor:/image begins")
    number = str(flow["worst"][3]["instance"])
    told = run_takt("flow", PIPELINE, "--why", number)
    assert f"sink instance {number}, {_moment(flow, 3)}" in told.stdout
    assert run_takt("flow", PIPELINE, "--why", "123456").returncode == 2


def _moment(flow: dict[str, Any], worst: int) -> str:
    """When an instance began, as its story says it."""
    found = flow["worst"][worst]
    moment = datetime.fromisoformat(found["time"].replace("Z", "+00:00"))
    begin = f"{found['begin'] / 1e9:.3f} s after the start"
    return f"{begin} ({moment:%H:%M:%S}.{moment.microsecond // 1000:03} UTC), from the publication "


GOALS = """chains:
  - {name: drive, from: /RearLidarDriver, to: /PointCloudFusion, latency: 1s}
  - {name: sensed, from: /FrontLidarDriver, to: /PointsTransformerFront:/PointsTransformerFront,
     latency: 1s}
  - {name: seen, from: /FrontLidarDriver, to: /PointsTransformerFront, kind: reaction, latency: 1s}
"""


def test_flow_latency_report_and_tables_are_one_account(tmp_path: Path) -> None:
    """The same chains have the same longest instance, as long, from and until the same moments."""
    goals = tmp_path / "goals.yaml"
    goals.write_text(GOALS)
    told = document(AUTOWARE, "--goals", goals)
    schema = (resources.files("takt") / "schemas" / "flow.schema.json").read_text("utf-8")
    Draft202012Validator(json.loads(schema)).validate(told)
    done = run_takt("latency", AUTOWARE, "--goals", goals, "--json")
    judged = {chain["id"]: chain for chain in json.loads(done.stdout)["chains"] if chain["count"]}
    flows = {flow["chain"]: flow for flow in told["flows"]}
    assert flows.keys() == judged.keys()
    assert len(flows) > 2
    read = recording.read([str(AUTOWARE)], str(goals))
    rows = {row["flow"]: row for row in read.tables["flows"].to_pylist()}
    index, _ = pipeline.view([str(AUTOWARE)], *read.model)
    shown = {chain["name"]: chain for chain in index["chains"]}
    for name, flow in flows.items():
        figures = ("count", "min", "mean", "p50", "p99", "max")
        assert [flow[each] for each in figures] == [judged[name][each] for each in figures]
        assert flow["measured"]["until"] == judged[name]["end"]
        worst = flow["worst"][0]
        assert worst["latency"] == flow["max"]
        assert sum(part["duration"] for part in worst["parts"]) == worst["latency"]
        assert sum(flow["breakdown"].values()) == flow["mean"]
        row = rows[shown[name]["worst"]]
        assert (row["chain"], row["latency"]) == (name, flow["max"])
        assert row["instance"] == worst["instance"] == judged[name]["worst"]["instance"]
    assert flows["sensed"]["measured"] == {"from": "activation", "until": "publication"}
    assert {flow["measured"]["from"] for flow in flows.values()} == {"activation", "input"}


def test_the_tour_asks_why_the_longest_message_of_takt_latency_was_long(tmp_path: Path) -> None:
    goals = tmp_path / "goals.yaml"
    goals.write_text("chains: [{name: pilot, from: /camera, to: /motor, latency: 125ms}]\n")
    (chain,) = json.loads(run_takt("latency", PIPELINE, "--goals", goals, "--json").stdout)[
        "chains"
    ]
    told = run_takt("flow", PIPELINE, "--goals", goals, "--why", "worst").stdout.splitlines()
    whole = f"of the {duration(chain['max'])} from the activation of /camera:timer-50ms until "
    assert whole + "/motor:/image completes: " in " ".join(told)
    assert told[-1].split() == [*duration(chain["max"]).split(), "/motor:/image", "completes"]
    table = run_takt("flow", PIPELINE, "--goals", goals)
    assert duration(chain["max"]) in table.stdout
    assert table.stderr.startswith("takt: as takt latency: from the activation of the first ")
    tour = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "./takt flow run1 --goals goals.yaml --why worst" in tour
    assert "./takt latency run1 --goals goals.yaml" in tour
    wrong = run_takt("flow", PIPELINE, "--goals", goals, "--to", "/motor")
    assert (wrong.returncode, wrong.stderr) == (
        2,
        "takt: --to: not with --goals, which names chains and links; leave it out\n",
    )


def test_that_nothing_leads_there_is_said_in_a_line() -> None:
    ends: list[str | Path] = ["flow", PIPELINE, "--from", "/motor", "--to", "/camera"]
    told = run_takt(*ends)
    assert told.returncode == 0
    assert told.stderr == "takt: no message leads from /motor to /camera in this recording\n"
    told = run_takt(*ends, "--why", "worst")
    assert told.returncode == 2
    assert "no message leads from /motor to /camera in this recording" in told.stderr
    assert "no flow has this instance" not in told.stderr


def test_the_table_has_the_worst_path_first() -> None:
    shown = run_takt("flow", AUTOWARE)
    assert shown.returncode == 0
    found = document(AUTOWARE)["flows"]
    assert [flow["max"] for flow in found] == sorted((f["max"] for f in found), reverse=True)
    _, *rows = (line for line in shown.stdout.splitlines() if not line.startswith(" "))
    # A name that is too long for the table goes on in the next line.
    node, colon, _ = found[0]["from"].partition(":")
    assert rows[0].startswith(node + colon)


@pytest.mark.parametrize("name", ["autoware"])
def test_documents_are_as_the_schema_says(name: str) -> None:
    text = (resources.files("takt") / "schemas" / "flow.schema.json").read_text("utf-8")
    schema = json.loads(text)
    Draft202012Validator.check_schema(schema)
    found = document(RECORDINGS / f"{name}.tar.xz", "--instances")
    Draft202012Validator(schema).validate(found)


def test_a_recording_with_the_scheduler_tells_who_ran_instead() -> None:
    worst = document(RECORDINGS / "pipeline-ebpf.tar.xz")["flows"][0]["worst"]
    stages = {part["stage"] for instance in worst for part in instance["parts"]}
    assert {"sending", "in_transport"} <= stages  # of Fast DDS's events
    assert all(
        (part["by"] is not None) == (part["stage"] == "preempted")
        for instance in worst
        for part in instance["parts"]
        if part["stage"] not in ("waiting_for_reservation",)
    )


def test_what_was_seen_stands_beside_the_terms_of_the_bound(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    assert run_takt("model", PIPELINE, "-o", model).returncode == 0
    compared = document(PIPELINE, "--bound", model)["bound"]
    assert compared["bound"] == sum(term["bound"] for term in compared["terms"])
    assert compared["max"] <= compared["bound"]
    other = run_takt("flow", RECORDINGS / "talk-rclpy.tar.xz", "--bound", model)
    assert other.returncode == 2


def test_a_chain_over_inferred_joins_has_its_bound_beside_what_was_seen(tmp_path: Path) -> None:
    goals, model = tmp_path / "goals.yaml", tmp_path / "model.json"
    goal = {"name": "estimate", "from": LIDAR, "to": ESTIMATOR, "latency": "1s"}
    goals.write_text(json.dumps({"chains": [goal]}))
    assert run_takt("model", AUTOWARE, "--goals", goals, "-o", model).returncode == 0
    ends = ("--from", LIDAR, "--to", ESTIMATOR)
    compared = document(AUTOWARE, *ends, "--bound", model)["bound"]
    assert compared["chain"] == "estimate"
    # The inputs of a join do not stand beside it, nor the callbacks of the chain twice.
    assert all(term["bound"] > 0 for term in compared["terms"] if term["callback"])
    seen = {term["callback"]: term["observed"] for term in compared["terms"]}
    assert seen["/PointCloudFusion:/PointsTransformerFront+/PointsTransformerRear"] > 1_000_000


def test_callbacks_of_a_recording_are_found_in_the_model_that_ran() -> None:
    ends = ("--from", LIDAR, "--to", ESTIMATOR)
    found = document(AUTOWARE, *ends, "--bound", AUTOWARE_MODEL)
    ids = found["in_model"]
    model = Model.read(json.loads(AUTOWARE_MODEL.read_text()))
    callbacks = {callback.id for callback in model.callbacks}
    assert set(ids.values()) == callbacks
    assert ids["/VehicleInterface:/MPCController"] == "VehicleInterface"
    assert ids["/VehicleInterface:/BehaviorPlanner"] == "VehicleInterface"
    assert ids["/BehaviorPlanner:timer-100ms"] == "BehaviorPlanner"
    compared = found["bound"]
    assert compared["chain"] == "lidar to collision estimate"
    assert {term["callback"] for term in compared["terms"]} <= {None, *callbacks}


def test_that_there_is_no_flow_to_compare_is_said_in_a_line() -> None:
    ends = ("--from", "/IntersectionOutput", "--to", "/VoxelGridDownsampler")
    told = run_takt("flow", AUTOWARE, *ends, "--bound", AUTOWARE_MODEL)
    assert told.returncode == 2
    assert told.stderr == (
        "takt: --bound: no message leads from /IntersectionOutput to /VoxelGridDownsampler in this "
        "recording\n"
    )


def test_the_page_has_the_flows_or_says_which_it_lacks(tmp_path: Path) -> None:
    page = tmp_path / "flow.html"
    done = run_takt("flow", AUTOWARE, "--from", LIDAR, "-o", page)
    assert done.returncode == 0, done.stderr
    index = re.search(r'id="takt-index">(.*?)</script>', page.read_text())
    assert index is not None
    shown = [chain["name"] for chain in json.loads(index[1])["chains"]]
    flows = names(document(AUTOWARE, "--from", LIDAR)["flows"])
    assert len(flows) == 12
    # Messages of the lidars wait for those of the map, which complete the localizer's set.
    assert shown == [name for name in flows if "ObjectCollisionEstimator, /MPC" in name]
    measures, guess, *missing, written = done.stderr.splitlines()
    assert guess.startswith("takt: ?: guessed")
    assert measures.startswith("takt: from the call of publish to the start of the last callback")
    assert written == f"wrote {page}"
    assert [line.partition(": at ")[2] for line in missing] == [
        "/NDTLocalizer the messages of /VoxelGridDownsampler (/PointCloudFusion) always waited for "
        "those of another input, whose chain goes on",
        "/VehicleInterface the messages of /BehaviorPlanner always waited for those of another "
        "input, whose chain goes on",
    ]
    assert missing[0].startswith(f"takt: not in {page}: {flows[0]} and 9 other flows: ")


def test_each_way_that_took_too_long_is_named() -> None:
    late = run_takt("flow", AUTOWARE, "--from", "/FrontLidarDriver", "--max", "1ms")
    assert late.returncode == 1
    _, guess, *lines = late.stderr.splitlines()
    assert guess.startswith("takt: ?: guessed")
    ways = [line.split(": ")[1] for line in lines]
    assert len(ways) == len(set(ways)) == 12
    assert "→ /VehicleDBWSystem:/VehicleInterface via /VoxelGridDownsampler, /NDT" in ways[0]


def path(*nodes: str) -> Json:
    steps = [{"callback": f"{node}:in", "node": node} for node in nodes]
    measured = {"from": "publication", "until": "start"}
    return {"from": nodes[0], "to": nodes[-1], "measured": measured, "path": steps}


def test_names_have_the_nodes_that_distinguish_ways() -> None:
    flows = [path("/a", "/b", "/d"), path("/a", "/c", "/d"), path("/a", "/d"), path("/a", "/e")]
    assert names(flows) == ["/a → /d via /b", "/a → /d via /c", "/a → /d", "/a → /e"]
    assert names([path("/a", "/d"), path("/a", "/d")]) == ["/a → /d", "/a → /d #2"]


INSTANCE = {"instance": 5, "begin": 0, "time": None}
FUSION = path("/front", "/fusion", "/filter")
"""A way over a join, whose set another input completes."""


def part(stage: str, step: int, duration: int, callback: str | None = None) -> Json:
    return {"stage": stage, "step": step, "duration": duration, "callback": callback, "by": None}


def test_the_message_that_completes_a_set_goes_to_the_callback_that_runs() -> None:
    parts = [
        part("in_transport", 1, 1),
        part("waiting_in_executor", 1, 40, "/rear:in"),
        part("waiting_in_executor", 1, 30, "/planner:in"),
        part("waiting_in_executor", 1, 30, "/rear:in"),
        part("running", 1, 2, "/fusion:in"),
        part("waiting_for_input", 1, 7),
        part("sending", 1, 1),
        part("in_transport", 1, 4),
        part("waiting_in_executor", 1, 50, "/rear:in"),
        part("running", 1, 20, "/fusion:other"),
        part("in_transport", 2, 3),
    ]
    told = list(story(FUSION, INSTANCE | {"latency": 188, "parts": parts}))
    assert told[0] == (
        "100 ns of the 188 ns from the publication by /front:in until /filter:in begins: "
        "/fusion:in waited in its executor, 70 ns of it behind /rear:in."
    )
    assert [line.split(" ns  ")[-1].strip() for line in told[3:]] == [
        "the message to /fusion:in was in transport",
        "/fusion:in waited in its executor behind /rear:in",
        "/fusion:in waited in its executor behind /planner:in",
        "/fusion:in waited in its executor behind /rear:in",
        "/fusion:in ran",
        "stored by /fusion:in until the message to /fusion:other was sent",
        "the message to /fusion:other was being sent",
        "the message to /fusion:other was in transport",
        "/fusion:other waited in its executor behind /rear:in",
        "/fusion:other ran",
        "the message to /filter:in was in transport",
        "/filter:in begins",
    ]


def test_many_waits_in_a_row_are_one_line() -> None:
    parts = [
        part("waiting_in_executor", 1, 5, None),
        part("waiting_in_executor", 1, 50, "/rear:in"),
    ]
    parts = [*parts, *parts, part("running", 1, 2, "/fusion:in")]
    told = list(story(FUSION, INSTANCE | {"latency": 112, "parts": parts}))
    assert told[3:] == [
        "         0    110 ns  /fusion:in waited in its executor, 100 ns of it behind /rear:in",
        "    110 ns      2 ns  /fusion:in ran",
        "    112 ns  /filter:in begins",
    ]


def test_a_wait_behind_one_callback_alone_is_its_cause() -> None:
    parts = [part("waiting_in_executor", 1, 40, "/rear:in"), part("in_transport", 1, 10)]
    told = cause(FUSION, {"instance": 5, "begin": 0, "time": None, "latency": 50, "parts": parts})
    assert told == (
        "40 ns of the 50 ns from the publication by /front:in until /filter:in begins: /fusion:in "
        "waited in its executor behind /rear:in."
    )


def test_flows_are_offered_to_tests() -> None:
    (flow,) = Recorded(PIPELINE).flows("camera", "motor")
    assert len(flow.latencies) == 80
    assert flow.latency("max") == max(flow.latencies)
    assert flow.path[-1] == "/motor:/image"
    assert flow.why().startswith(cause(flow.document, flow.document["worst"][0]))


def model_of(edges: dict[str, list[str]]) -> Model:
    """A model whose nodes have one subscription each; topics have the names of their senders."""
    ends = [(source, target) for source, targets in edges.items() for target in targets]
    nodes = dict.fromkeys(node for pair in ends for node in pair)
    return Model(
        format="takt/model",
        version=1,
        callbacks=tuple(
            Callback(id=f"{node}:in", node=node, executor="e", kind="subscription")
            for node in nodes
        ),
        edges=tuple(
            Edge(source=f"{source}:in", target=f"{target}:in", topic=source)
            for source, target in ends
        ),
    )


def test_flows_are_chains_of_a_model_where_it_has_their_edges() -> None:
    model = model_of({"/a": ["/b"], "/b": ["/c"]})
    flows = [path("/a", "/b", "/c"), path("/a", "/c"), path("/a")]
    found = chains({"flows": flows, "in_model": {}}, model)
    callbacks = ["/a:in", "/b:in", "/c:in"]
    assert found.chains == [{"id": "/a → /c via /b", "callbacks": callbacks}]
    assert found.missing == {
        "/a → /c": "the model has no edge from /a:in to /c:in",
        "/a → /a": "a chain of the page has at least two callbacks",
    }


def test_the_inputs_of_a_join_are_its_callback_in_a_model() -> None:
    model = model_of({"/a": ["/join"], "/b": ["/join"]})
    flows = [path("/a", "/join"), path("/b", "/join")]
    ids = {}
    for flow, topic in zip(flows, ("/a", "/b"), strict=True):
        flow["path"][1]["callback"] = f"/join:{topic}"
        ids[f"/join:{topic}"] = "/join:in"
    found = chains({"flows": flows, "in_model": ids}, model)
    assert [chain["callbacks"] for chain in found.chains] == [
        ["/a:in", "/join:in"],
        ["/b:in", "/join:in"],
    ]


def test_more_flows_than_chains_are_told() -> None:
    ways = [f"/{number}" for number in range(MOST_CHAINS + 3)]
    model = model_of({"/a": ways})
    found = chains({"flows": [path("/a", way) for way in ways], "in_model": {}}, model)
    assert len(found.chains) == MOST_CHAINS
    assert list(left_out(found.missing)) == [
        "/a → /1000 and 2 other flows: the page has the 1000 worst flows at most"
    ]


@pytest.mark.parametrize("command", ["flow", "latency"])
def test_what_rests_on_a_guess_is_marked_and_the_guess_is_named(
    tmp_path: Path, command: str
) -> None:
    """A timer of the middle reads what another callback keeps, which no event shows; a message that
    a callback passes on is no guess.
    """
    recording = Path(__file__).parents[1] / "recordings" / "links" / "transforms-together.tar.xz"
    done = run_takt(command, recording)
    assert done.returncode == 0, done.stderr
    marked = [line for line in done.stdout.splitlines() if " ?  " in line]
    (told,) = (line for line in done.stderr.splitlines() if line.startswith("takt: ?: "))
    assert marked
    assert "/planner:/objects → /planner:timer-50ms" in told
    links = tmp_path / "links.yaml"
    links.write_text(
        "chains: [{from: /detector, to: /base, latency: 1s}]\n"
        "links: [{node: /planner, timer: 50ms, uses: /objects}]\n"
    )
    declared = {"flow": "--links", "latency": "--goals"}[command]
    done = run_takt(command, recording, declared, links)
    assert done.returncode == 0, done.stderr
    assert "/base" in done.stdout
    assert "takt: ?: " not in done.stderr, done.stderr
