"""The report says what the documents say, to anyone, without loading anything."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot import FIXTURES, Json, bounds, changed, measurement, model, raw, run_takt
from takt import glossary, report, verdict
from takt.errors import UserError
from takt.formatting import printable
from takt.report import figures, graph, view

pytestmark = pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")

ROOT = Path(__file__).resolve().parents[2]
MODEL, BOUNDS, MEASUREMENT = raw("model"), raw("bounds"), raw("measurement")
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """The elements of a page: their attributes, and the text within each id and class."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "script":
            self.scripts[-1] += data
        elif self._open and self._open[-1] != "style":
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())

    @property
    def data(self) -> Json:
        result: Json = json.loads(self.scripts[0])
        return result


def render(
    model_json: Json = MODEL, bounds_json: Json = BOUNDS, measured: Json | None = MEASUREMENT
) -> str:
    measured_values = None if measured is None else measurement(measured)
    return report.render(model(model_json), bounds(bounds_json), measured_values)


def page(*documents: Any) -> Page:
    return Page(render(*documents))


def test_the_chain_table_has_messages_percentiles_bound_goal_and_verdict() -> None:
    words = page().words
    assert (
        "stop camera → detector → brake 199 1 incomplete 6.03 ms 8.47 ms 9.38 ms 64 ms 80 ms met"
        in words
    )
    assert "see camera → detector 200 4.65 ms 6.90 ms 7.21 ms 40 ms – bounded" in words


def test_the_callback_table_has_execution_times_responses_and_bounds() -> None:
    words = page().words
    assert (
        "/detector (/image) subscription – 200 3.50 ms 3.90 ms 3.95 ms 4 ms 6.50 ms 21 ms "
        "busy window"
    ) in words
    assert "/logger timer ≤ 1 Hz 0 – – – 250 µs – 30 ms round robin" in words
    assert "sensing reservation: 2 ms every 10 ms" in words


def test_the_ways_of_messages_are_told_if_they_were_recorded() -> None:
    assert "Ways of messages" not in page().words
    times = {"min": 1000, "mean": 2000.0, "p50": 2000, "p99": 3000, "max": 3000}
    way = {"count": 40, "sending": times, "transport": {**times, "p50": 35000}, "waiting": times}
    words = page(MODEL, BOUNDS, changed(MEASUREMENT, "edges", 0, "way", value=way)).words
    assert "Ways of messages" in words
    assert "40 2 µs 3 µs 35 µs 3 µs 2 µs 3 µs" in words


def test_a_violated_assumption_is_named_at_the_top() -> None:
    measured = changed(MEASUREMENT, "chains", 0, "max", value=65_000_000)
    measured = changed(measured, "edges", 0, "delay", "max", value=3_000_000)
    words = page(MODEL, BOUNDS, measured).words
    assert (
        "Chain stop: 65 ms was measured, the bound is 64 ms Violated assumption: a message from "
        "/camera to /detector (/image) took 3 ms, longer than the 2 ms of the model."
    ) in words


def test_a_callback_above_its_bound_is_named_at_the_top() -> None:
    measured = changed(MEASUREMENT, "callbacks", 2, "response_time", "max", value=27_000_000)
    assert (
        "Callbacks above their bounds /brake (/obstacle): 27 ms was measured, the bound is 26 ms"
    ) in page(MODEL, BOUNDS, measured).words


def test_conditions_losses_and_divergence_are_told() -> None:
    measured = changed(MEASUREMENT, "executors", 0, "policy", value="other")
    measured = changed(measured, "losses", value={"discarded": 12, "unmatched_publications": 3})
    diverged = changed(BOUNDS, "callbacks", 3, "bound", value=None)
    diverged = changed(diverged, "callbacks", 3, "reason", value="utilisation 1.2")
    words = page(MODEL, diverged, measured).words
    assert "The bounds are conditional executor sensing is assumed to get 2 ms every 10 ms" in words
    assert "12 events of the recording were lost" in words
    assert "unmatched publications: 3" in words
    assert "No bound for 1 callback utilisation 1.2" in words


def unfounded() -> Json:
    """A measurement in which a callback ran longer than its curve."""
    return changed(MEASUREMENT, "callbacks", 0, "execution_time", "max", value=1_500_000_000)


SLOW_CAMERA = "callback /camera ran for 1.50 s, longer than the 500 µs of its execution-time curve"


def test_a_refuted_assumption_is_a_warning() -> None:
    words = page(MODEL, BOUNDS, unfounded()).words
    assert f"The recording refutes what the bounds rest on {SLOW_CAMERA}" in words
    assert f"64 ms 80 ms unfounded bound {SLOW_CAMERA}" in words
    assert "Goals met 0 of 1" in words
    assert "The recording refutes" not in page().words


def answer(model_json: Json, measured: Json) -> tuple[list[Json], list[Json]]:
    """The answer and the warnings of the viewer's page."""
    documents = (model(model_json), bounds(), measurement(measured))
    chains = [
        {"name": chain.id, "goal": chain.goal, "max": found.max, "cause": ""}
        for chain, found in zip(documents[0].chains, documents[2].chains, strict=True)
    ]
    index: Json = {"chains": chains, "callbacks": [], "warnings": []}
    view.complete(index, *documents, verdict.judge(*documents), "title")
    return index["answer"], index["warnings"]


def test_the_page_of_a_recording_begins_with_what_no_bound_promises() -> None:
    (first, *others), warnings = answer(MODEL, MEASUREMENT)
    assert (first["tone"], others, warnings) == ("good", [], [])
    (first, stop, see), warnings = answer(MODEL, unfounded())
    assert first["tone"] == "warn"
    assert first["text"] == "1 goal, none missed in this recording, but 1 not guaranteed."
    assert [stop["tone"], see["tone"]] == ["warn", "warn"]
    assert stop["text"] == (f"stop: unfounded bound, 9.38 ms of 80 ms. What failed: {SLOW_CAMERA}.")
    assert [(warning["tone"], warning["lines"]) for warning in warnings] == [
        ("warn", [SLOW_CAMERA])
    ]
    (first, *_), _ = answer(changed(MODEL, "chains", 0, "goal", value=9_000_000), MEASUREMENT)
    assert (first["tone"], first["text"]) == ("bad", "1 of 1 goal missed.")


def test_without_bounds_there_is_nothing_conditional() -> None:
    measured = changed(MEASUREMENT, "executors", 0, "policy", value="other")
    unbounded = changed(BOUNDS, "chains", value=[])
    unbounded["callbacks"] = [{"id": "camera", "bound": None, "reason": "no analysis"}]
    words = page(MODEL, unbounded, measured).words
    assert "No bound for 1 callback no analysis" in words
    assert "The bounds are conditional" not in words


def test_assumptions_are_held_against_the_recording() -> None:
    words = page().words
    assert "the processor time that the model gives it. guaranteed by the kernel" in words
    assert "longer than its execution-time curve. held in the recording" in words
    unmeasured = page(MODEL, BOUNDS, None).words
    assert "longer than its execution-time curve. not checked" in unmeasured


def test_a_model_alone_makes_a_report() -> None:
    alone = page(MODEL, BOUNDS, None)
    assert alone.data["figures"] == {}
    assert "Timeline" not in alone.words
    assert "stop camera → detector → brake 64 ms 80 ms met" in alone.words


def test_the_head_says_where_and_when_and_how() -> None:
    assert (
        "Camera robot recorded on robot-7 · 2026-11-20T10:31:02Z · combined analysis"
        in page().words
    )
    assert "Execution times are wall times" not in page().words
    wall = changed(MEASUREMENT, "provenance", "execution_time", value="wall_time")
    assert "Execution times are wall times" in page(MODEL, BOUNDS, wall).words


def test_an_empty_model_makes_a_report() -> None:
    empty = {"format": "takt/model", "version": 1, "executors": [], "callbacks": []}
    nothing = {"format": "takt/bounds", "version": 1}
    assert "The graph is empty" in page(empty, nothing, None).words


def test_charts_show_the_measured_values() -> None:
    charts = page().data["figures"]
    assert set(charts) == {"chain0", "chain1", "callbacks", "timeline"}
    lines = {line["x0"] for line in charts["chain0"]["layout"]["shapes"]}
    assert lines == {9.38, 64.0, 80.0}
    assert sum(charts["chain0"]["data"][0]["y"]) == pytest.approx(100)
    ran = charts["timeline"]["data"][1]
    assert ran["y"] == ["camera (timer)", "detector ← /image", "brake ← /obstacle"]
    assert ran["base"] == pytest.approx([0.1, 0.7, 4.3])
    assert ran["x"] == pytest.approx([0.45, 3.5, 0.9])


@given(st.lists(st.integers(0, 10**10), min_size=1, max_size=300))
def test_histograms_hold_every_sample_once(samples: list[int]) -> None:
    chain = changed(MEASUREMENT, "chains", 0, "samples", value=samples)
    bars = figures.latency(measurement(chain).chains[0], None, None)["data"][0]
    assert sum(bars["y"]) == pytest.approx(100)
    for share, centre in zip(bars["y"], bars["x"], strict=True):
        low, high = (1e6 * (centre + side * bars["width"] / 2) for side in (-1, 1))
        inside = sum(low - 0.5 <= sample < high - 0.5 for sample in samples)
        assert share == pytest.approx(100 * inside / len(samples))


def test_the_graph_has_a_box_per_executor_and_marks_chains() -> None:
    drawn = graph.draw(model())
    assert drawn is not None
    boxes = Page(drawn)
    classes = [(attributes.get("class") or "").split() for _, attributes in boxes.tags]
    assert sum("executor" in names for names in classes) == 2
    assert sum("callback" in names for names in classes) == 3  # the logger has no neighbour
    assert sum("edge" in names for names in classes) == 2
    for text in ("sensing", "driving", "detector", "timer · 20 Hz · 500 µs"):
        assert text in boxes.words
    assert graph.chain_parts(model(), model().chains[0]) == [
        "node0",
        "node1",
        "node2",
        "edge0",
        "edge1",
    ]


def test_without_graphviz_the_message_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="apt install graphviz"):
        graph.draw(model())


def test_the_page_loads_nothing() -> None:
    text = render()
    parsed = Page(text)
    for tag, attributes in parsed.tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base"}
        for name, value in attributes.items():
            assert name not in {"src", "srcset", "action", "style"} or name == "style"
            assert not name.startswith("on")
            assert name != "href" or str(value).startswith("#")
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style


def test_the_browser_is_told_to_load_nothing_and_to_run_our_scripts_only() -> None:
    parsed = page()
    policies = [
        a["content"] for t, a in parsed.tags if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert len(policies) == 1
    policy = str(policies[0])
    assert policy.startswith("default-src 'none'; img-src data:;")
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    scripts = parsed.scripts[1:]
    digests = {base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts}
    assert len(scripts) == 2
    assert allowed == digests


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "]]>--><!--",
    "&lt;b&gt;",
    '\\" ] } ; node [label=<',
    "\u2028\u202e\x00\x07\x1b[31m",
    "{{ 7 * 7 }}",
    "--bad",
    "a" * 5000,
]


def named(name: str) -> tuple[Json, Json, Json]:
    """The fixture documents with everything that has a name called `name`."""
    documents = copy.deepcopy((MODEL, BOUNDS, MEASUREMENT))
    model_json, bounds_json, measured = documents
    model_json["name"] = name
    model_json["provenance"] = {name: name}
    for executor in model_json["executors"]:
        executor["name"] = name
    for callback in model_json["callbacks"]:
        callback.update(name=name, node=name, topic=name)
    for edge in model_json["edges"]:
        edge["topic"] = name
    for document in documents:
        document["chains"][0]["id"] = name
    measured["provenance"]["hosts"] = [name]
    measured["losses"][name] = 3
    bounds_json["callbacks"][0].update(bound=None, reason=name)
    return documents


def skeleton(parsed: Page) -> list[tuple[str, Iterator[str] | list[str]]]:
    """The elements of a page without its drawing, whose size depends on names."""
    html = [(tag, sorted(attributes)) for tag, attributes in parsed.tags]
    start = next(i for i, (tag, _) in enumerate(html) if tag == "svg")
    end = next(i for i, (tag, _) in enumerate(html) if i > start and tag == "section")
    return [*html[:start], *html[end:]]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name: str) -> None:
    parsed = page(*named(name))
    assert skeleton(parsed) == skeleton(page(*named("harmless")))
    assert all(tag not in {"img", "script"} for tag, _ in parsed.tags[:-3])
    assert len(parsed.scripts) == 3
    assert " ".join(printable(name).split()) in parsed.words
    assert not any(character in parsed.words for character in "\x00\x07\x1b\u2028\u202e")


@given(st.text(min_size=1, max_size=40))
@settings(max_examples=25, deadline=None)
def test_any_name_is_drawn_as_well_formed_svg(name: str) -> None:
    document, _, _ = named(name)
    drawn = graph.draw(model(document))
    assert drawn is not None
    assert "<script" not in drawn


def test_charts_show_names_as_text_too() -> None:
    figure = figures.timeline(model(named("<b>bold</b>")[0]), measurement())
    assert figure is not None
    assert figure["data"][1]["y"][0].startswith("&lt;b&gt;bold&lt;/b&gt;")


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
    words = page(changed(MODEL, "provenance", value=origin), BOUNDS, None).words
    assert "duration 11.4 s" in words
    assert "left out /a:timer-1s, /b:timer-1s, /c:timer-1s and 2 others" in words


def test_the_glossary_explains_the_words_of_the_page() -> None:
    explained = glossary.entries()
    assert {"activation", "conditional", "supply", "release", "ET(1), ET(n)"} <= set(explained)
    words = page().words
    for word, meaning in explained.items():
        assert f"{word} {meaning}" in words
        assert not re.search(r"[*`\[\]]", meaning), meaning


def test_what_would_guarantee_a_goal_stands_beside_the_verdict() -> None:
    tight = changed(MODEL, "chains", 0, "goal", value=60_000_000)
    judged = verdict.judge(model(tight), bounds(BOUNDS), measurement(MEASUREMENT))
    judged[0] = replace(judged[0], remedy="guaranteed on Sundays")
    text = report.render(model(tight), bounds(BOUNDS), measurement(MEASUREMENT), judged, "Monday")
    words = Page(text).words
    assert "the bound 64 ms is above the goal 60 ms; guaranteed on Sundays" in words
    assert "<h1>Monday</h1>" in text


def test_the_terms_of_a_bound_stand_beside_the_measured_instances(tmp_path: Path) -> None:
    page_file = tmp_path / "report.html"
    recording = ROOT / "tests" / "recordings" / "pipeline-ring.tar.xz"
    result = run_takt("report", recording, ROOT / "models" / "pipeline.json", "-o", page_file)
    assert result.returncode == 0, result.stderr
    found = re.search(r'id="takt-index"[^>]*>([^<]*)<', page_file.read_text("utf-8"))
    assert found
    chains = [c for c in json.loads(found[1])["chains"] if c["count"] and c["bound"] is not None]
    assert chains
    for chain in chains:
        assert sum(term["time"] for term in chain["terms"]) == chain["bound"]
        assert any(term["part"] == "running" for term in chain["terms"])
