"""takt graph: the callback graph as a picture and text."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from robot import run_takt

MODELS = Path(__file__).parents[2] / "models"
REFERENCE = MODELS / "autoware_reference_system.json"


def dot(*arguments: str) -> str:
    done = run_takt("graph", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def vertices_and_edges(text: str) -> tuple[int, int]:
    return len(re.findall(r"^    node\w+ \[", text, re.M)), len(re.findall(r" -> ", text))


def callback(name: str, kind: str, topic: str | None = None) -> dict[str, Any]:
    return {
        "id": name,
        "node": f"/{name}",
        "executor": "e",
        "kind": kind,
        "topic": topic,
        "execution_time": {"curve": [1000]},
        "activation": {"kind": "periodic", "period": 100_000_000} if kind == "timer" else None,
    }


def model(tmp_path: Path, callbacks: list[dict[str, Any]], **parts: Any) -> str:
    document = {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": "e"}],
        "callbacks": callbacks,
        **parts,
    }
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    return str(path)


def test_p08_a_join_is_a_reader_for_each_input_and_a_vertex_that_all_activate(
    tmp_path: Path,
) -> None:
    given = model(
        tmp_path,
        [
            callback("a", "timer"),
            callback("b", "timer"),
            callback("fuse", "subscription"),
            callback("sink", "subscription", "/out"),
        ],
        edges=[
            {"from": "a", "to": "fuse", "topic": "/a"},
            {"from": "b", "to": "fuse", "topic": "/b"},
            {"from": "fuse", "to": "sink", "topic": "/out"},
        ],
        joins=[{"callback": "fuse", "inputs": ["a", "b"], "confidence": 90}],
    )
    text = dot(given)
    assert vertices_and_edges(text) == (6, 5)
    assert re.search(r"node0 -> node2_0 ", text)
    assert re.search(r"node2_0 -> node2 ", text)
    assert not re.search(r"node2_\d -> node3 ", text)
    assert "90 % sure" in text


def test_executors_are_clusters_and_chains_are_coloured(tmp_path: Path) -> None:
    text = dot(str(REFERENCE))
    assert text.count("subgraph cluster") == 4
    assert "penwidth" in text  # the model's chains have goals
    one = dot(str(REFERENCE), "--chain", "map to localization")
    assert one.count("penwidth") < text.count("penwidth")


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
def test_a_picture_is_written(tmp_path: Path) -> None:
    picture = tmp_path / "graph.svg"
    done = run_takt("graph", str(REFERENCE), "-o", str(picture))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{picture}: 31 callbacks, 29 edges")
    assert "PointCloudFusion" in picture.read_text()


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
def test_a_page_has_the_picture_and_no_markup_of_the_model(tmp_path: Path) -> None:
    model = json.loads(REFERENCE.read_text())
    model["name"] = model["executors"][0]["name"] = "</title><script>alert(1)</script>"
    given, page = tmp_path / "model.json", tmp_path / "graph.html"
    given.write_text(json.dumps(model))
    done = run_takt("graph", given, "-o", page)
    assert (done.returncode, done.stderr) == (0, "")
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert (text.count("<svg"), text.count("</svg>"), text.count("<?xml")) == (1, 1, 0)
    assert "PointCloudFusion" in text
    assert "<script" not in text


def test_without_graphviz_the_message_says_how_to_get_it(tmp_path: Path) -> None:
    done = run_takt("graph", str(REFERENCE), "-o", tmp_path / "graph.svg", PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "apt install graphviz" in done.stderr


def test_the_document_is_what_is_drawn(tmp_path: Path) -> None:
    text = dot(syn(tmp_path))
    document = json.loads(dot(syn(tmp_path), "--json"))
    assert (document["format"], document["version"]) == ("takt/graph", 1)
    assert sorted(one["id"] for one in document["vertices"]) == sorted(
        re.findall(r"^    (node\w+) \[", text, re.M)
    )
    assert [f'{one["from"]} -> {one["to"]} [id="{one["id"]}"' for one in document["edges"]] == (
        re.findall(r"^  (\w+ -> \w+ \[id=\"\w+\")", text, re.M)
    )
    (chain,) = document["chains"]
    assert chain["id"] == "T2"
    callbacks = {one["id"]: one["callback"] for one in document["vertices"]}
    on_chain = [callbacks[part] for part in chain["parts"] if part in callbacks]
    assert sorted(on_chain) == ["T2", "cl2", "cl4", "sv2", "sv3"]
    assert len(chain["parts"]) == 5 + 4


def test_the_document_is_printed_beside_a_file(tmp_path: Path) -> None:
    file = tmp_path / "graph.dot"
    assert dot(syn(tmp_path), "-o", str(file), "--json") == dot(syn(tmp_path), "--json")
    assert file.read_text() == dot(syn(tmp_path))


def test_an_action_is_one_box_of_its_parts_on_each_side(tmp_path: Path) -> None:
    parts = [callback("t", "timer")]
    for part in ("service send_goal", "service get_result", "client send_goal"):
        kind, name = part.split()
        parts.append(callback(part, kind) | {"topic": f"/move/_action/{name}"})
    edges = [
        {"from": "t", "to": "service send_goal"},
        {"from": "t", "to": "service get_result"},
        {"from": "service send_goal", "to": "client send_goal"},
    ]
    text = dot(model(tmp_path, parts, edges=edges))
    box = re.search(r"subgraph cluster\d+_\d+ \{(.*?)\n    \}", text, re.S)
    assert box
    assert "action /move" in box[1]
    assert len(re.findall(r"^    node\d+ \[", box[1], re.M)) == 3


def test_names_are_never_markup(tmp_path: Path) -> None:
    hostile = callback("t", "timer")
    hostile["node"] = '</script><b onclick="x">&'
    chain = {"id": "</script><script>alert(1)", "callbacks": ["t"]}
    text = dot(model(tmp_path, [hostile], chains=[chain]), "--chain", "</script><script>alert(1)")
    assert "<b onclick" not in text
    assert "<script" not in text


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    for arguments, message in (
        (["-o", "graph.png"], "ends in none of .svg, .html, .dot"),
        (["--chain", "no"], 'there is no chain "no"; the model has "lidar'),
    ):
        done = run_takt("graph", str(REFERENCE), *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert message in done.stderr


SYN_CALLS = [
    ("T2", "sv2", None),
    ("sv2", "cl2", None),
    ("cl2", "sv3", None),
    ("sc3", "sv3", None),
    ("sv3", "cl4", ["cl2"]),
    ("sv3", "cl3", ["sc3"]),
    ("sc1", "sv1", None),
    ("sv1", "cl1", None),
]
SYN_TOPICS = [
    ("T1", "fused", "/a"),
    ("T3", "sc3", "/c"),
    ("cl3", "fused", "/d"),
    ("cl3", "sc1", "/e"),
]


def syn(tmp_path: Path) -> str:
    """The synthetic case (performance-engineering 2.12): sc2 and sc4 are synchronised, and cl2 and
    sc3 call the service sv3.
    """
    kinds = {"T": "timer", "s": "subscription", "f": "subscription", "c": "client"}
    names = ["T1", "T2", "T3", "sc1", "sc3", "fused", *(f"sv{i}" for i in (1, 2, 3))]
    names += [f"cl{i}" for i in (1, 2, 3, 4)]
    callbacks = [
        callback(name, "service" if name.startswith("sv") else kinds[name[0]]) for name in names
    ]
    edges: list[dict[str, Any]] = [
        {"from": source, "to": target, "triggered_by": triggers}
        for source, target, triggers in SYN_CALLS
    ]
    edges += [{"from": a, "to": b, "topic": topic} for a, b, topic in SYN_TOPICS]
    joins = [{"callback": "fused", "inputs": ["T1", "cl3"]}]
    chain = {"id": "T2", "callbacks": ["T2", "sv2", "cl2", "sv3", "cl4"], "goal": 10**9}
    return model(tmp_path, callbacks, edges=edges, joins=joins, chains=[chain])


def test_p12_the_synthetic_case_has_16_vertices_and_14_edges(tmp_path: Path) -> None:
    assert vertices_and_edges(dot(syn(tmp_path))) == (16, 14)


def test_p06_a_service_is_drawn_for_each_of_its_callers(tmp_path: Path) -> None:
    """Two callers of a service are two vertices, each with one request and one response."""
    text = dot(syn(tmp_path))
    copies = set(re.findall(r"^    (node8_\d) \[", text, re.M))
    assert copies == {"node8_0", "node8_1"}
    for copy in copies:
        assert len(re.findall(rf"-> {copy} ", text)) == 1
        assert len(re.findall(rf"{copy} -> ", text)) == 1


def test_a_chain_takes_its_own_callers_copy_of_a_service(tmp_path: Path) -> None:
    text = dot(syn(tmp_path))
    coloured = [
        line for line in text.splitlines() if "penwidth=2," in line or "penwidth=2]" in line
    ]
    assert len(coloured) == 4
    assert sum("node8_" in line for line in coloured) == 2
    assert len({name for line in coloured for name in re.findall(r"node8_\d", line)}) == 1


def test_an_unclassifiable_executor_is_marked_with_its_reason(tmp_path: Path) -> None:
    given = model(
        tmp_path,
        [callback("a", "timer")],
        executors=[{"id": "e", "unclassifiable": "it spins for <limited> times"}],
    )
    text = dot(given)
    assert "unclassifiable: it spins for &lt;limited&gt; times" in text
    assert 'style="filled,rounded,dashed"; color="#d62728"' in text
