"""takt flow: the command line on recordings of the repository."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from robot import run_takt
from takt.flow import cause, chains
from takt.testing import Recorded

RECORDINGS = Path(__file__).resolve().parents[1] / "recordings"
PIPELINE = RECORDINGS / "pipeline-lttng.tar.xz"

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
    assert line.startswith("takt: --to: no topic, node or callback is called ")
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
    assert way == f"/camera → /motor, sink instance {flow['worst'][0]['instance']}:"
    assert parts[-1].endswith("/motor:/image begins")
    number = str(flow["worst"][3]["instance"])
    assert f"sink instance {number}:" in run_takt("flow", PIPELINE, "--why", number).stdout
    assert run_takt("flow", PIPELINE, "--why", "123456").returncode == 2


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
    shown = run_takt("flow", RECORDINGS / "autoware.tar.xz")
    assert shown.returncode == 0
    found = document(RECORDINGS / "autoware.tar.xz")["flows"]
    assert [flow["max"] for flow in found] == sorted((f["max"] for f in found), reverse=True)
    assert found[0]["from"] in shown.stdout.splitlines()[1]


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


def test_flows_are_offered_to_tests() -> None:
    (flow,) = Recorded(PIPELINE).flows("camera", "motor")
    assert len(flow.latencies) == 80
    assert flow.latency("max") == max(flow.latencies)
    assert flow.path[-1] == "/motor:/image"
    assert flow.why().startswith(cause(flow.document, flow.document["worst"][0]))


def test_flows_along_messages_are_chains_of_a_model() -> None:
    steps = [{"callback": name} for name in ("a", "b", "c")]
    model = {"edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}]}
    direct = {"from": "x", "to": "y", "path": steps}
    stored = {"from": "x", "to": "z", "path": [steps[0], steps[2]]}
    assert chains([direct, stored], model) == [{"id": "x → y", "callbacks": ["a", "b", "c"]}]
