"""takt export --format otlp, read by the published definition of OTLP."""

from __future__ import annotations

import base64
import json
import shutil
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.trace.v1 import trace_pb2

import takt
from robot import run_takt
from takt.recordings import labels
from takt.text.parts import PARTS

RECORDING = Path(__file__).resolve().parents[1] / "recordings" / "autoware.tar.xz"
GOALS = """
chains:
  - {name: impossible, from: RearLidarDriver, to: PointsTransformerRear, latency: 1ns}
  - {name: sure, from: EuclideanClusterSettings, to: IntersectionOutput, latency: 1000s}
"""


def parsed(text: str) -> Any:
    """A TracesData by protobuf, which refuses fields that the definition does not have. Its own
    JSON has identifiers in base64, that of OTLP in hexadecimal.
    """
    document = json.loads(text)
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    return json_format.ParseDict(document, trace_pb2.TracesData(), ignore_unknown_fields=False)


def attributes(span: Any) -> dict[str, Any]:
    return {
        each.key: getattr(each.value, str(each.value.WhichOneof("value")))
        for each in span.attributes
    }


@pytest.fixture(scope="module")
def goals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("goals") / "goals.yaml"
    file.write_text(GOALS)
    return file


@pytest.fixture(scope="module")
def text(goals: Path) -> str:
    done = run_takt(
        "export", RECORDING, "--format", "otlp", "--goals", goals, "--worst", "3", "-o", "-"
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_file_is_one_line_of_otlp(text: str) -> None:
    assert text.count("\n") == 1
    (resource,) = parsed(text).resource_spans
    assert attributes(resource.resource)["service.name"] == "autoware"
    (scope,) = resource.scope_spans
    assert (scope.scope.name, scope.scope.version) == ("takt", takt.__version__)
    assert len({span.span_id for span in scope.spans}) == len(scope.spans)
    assert all(len(span.trace_id) == 16 and len(span.span_id) == 8 for span in scope.spans)


def test_the_worst_instances_are_there_with_their_parts(goals: Path, text: str) -> None:
    loaded = takt.load(RECORDING, goals=str(goals))
    spans = parsed(text).resource_spans[0].scope_spans[0].spans
    roots = {span.trace_id: span for span in spans if not span.parent_span_id}
    children = defaultdict(list)
    for span in spans:
        if span.parent_span_id:
            assert span.parent_span_id == roots[span.trace_id].span_id
            children[span.trace_id].append(span)
    for chain in loaded.application.paths:
        latencies = chain.latencies["latency"].sort(descending=True).to_list()
        mine = [span for span in roots.values() if span.name == chain.name]
        lengths = [s.end_time_unix_nano - s.start_time_unix_nano for s in mine]
        assert lengths == latencies[:3]
        starts = dict(chain.flows.select("start", "latency").iter_rows())
        for span, length in zip(mine, lengths, strict=True):
            assert starts[span.start_time_unix_nano] == length
    for trace_id, root in roots.items():
        parts = children[trace_id]
        assert parts[0].start_time_unix_nano == root.start_time_unix_nano
        assert parts[-1].end_time_unix_nano == root.end_time_unix_nano
        for one, following in pairwise(parts):
            assert one.end_time_unix_nano == following.start_time_unix_nano


def test_each_part_says_what_it_is_as_the_tables_do(goals: Path, text: str) -> None:
    loaded = takt.load(RECORDING, goals=str(goals))
    chain = loaded.path("impossible")
    worst = chain.flows.filter(chain.flows["complete"]).sort("latency", descending=True)
    flow = worst.row(0, named=True)
    of_flow = loaded.parts.filter(loaded.parts["flow"] == flow["flow"])
    spans = parsed(text).resource_spans[0].scope_spans[0].spans
    root = next(s for s in spans if s.name == "impossible")
    told = [attributes(s) for s in spans if s.parent_span_id == root.span_id]
    assert [each["takt.kind"] for each in told] == of_flow["kind"].to_list()
    words = {PARTS[kind] for kind in of_flow["kind"].to_list()}
    shown = [s.name.partition(": ") for s in spans if s.parent_span_id == root.span_id]
    assert {stage for stage, _, _ in shown} == words
    assert "waiting in the executor" in words
    assert [callback for _, _, callback in shown] == [
        each.get("takt.callback", "") for each in told
    ]
    names = dict(loaded.callbacks.select("callback", "name").iter_rows())
    runs = loaded.runs["callback"].to_list()
    assert [each.get("takt.callback") for each in told] == [
        None if run is None else names[runs[run]] for run in of_flow["run"].to_list()
    ]
    assert [each.get("takt.behind") for each in told] == [
        None if other is None else names[other] for other in of_flow["behind"].to_list()
    ]


def test_what_is_above_its_goal_is_an_error(text: str) -> None:
    spans = parsed(text).resource_spans[0].scope_spans[0].spans
    codes = {s.name: s.status.code for s in spans if not s.parent_span_id}
    assert codes == {
        "impossible": trace_pb2.Status.STATUS_CODE_ERROR,
        "sure": trace_pb2.Status.STATUS_CODE_UNSET,
    }


def test_the_same_recording_has_the_same_identifiers(goals: Path, text: str) -> None:
    again = run_takt(
        "export", RECORDING, "--format", "otlp", "--goals", goals, "--worst", "3", "-o", "-"
    )
    assert again.stdout == text


def test_labels_on_which_hosts_differ_are_of_neither(tmp_path: Path) -> None:
    """As in a summary."""
    for host in ("one", "two"):
        trace = tmp_path / host
        shutil.unpack_archive(RECORDING.with_name("pipeline-ring.tar.xz"), trace)
        (trace,) = trace.iterdir()
        given = {"site": "Ulm", "host": host}
        told = {"format": "takt/labels", "version": 1, "labels": given}
        (trace / labels.FILE).write_text(json.dumps(told))
    traces = [*tmp_path.glob("*/*")]
    done = run_takt("export", *traces, "--format", "otlp", "-o", tmp_path / "a.json")
    assert done.returncode == 0, done.stderr
    (resource,) = parsed((tmp_path / "a.json").read_text()).resource_spans
    told = attributes(resource.resource)
    found = {key: value for key, value in told.items() if key.startswith("takt.label.")}
    assert found == {"takt.label.site": "Ulm"}
    summary = run_takt("summarize", *traces, "-o", "-")
    assert json.loads(summary.stdout)["labels"] == {"site": "Ulm"}


def test_standard_output_has_one_document(tmp_path: Path) -> None:
    done = run_takt("export", RECORDING, "--format", "otlp", "-o", "-", "--json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    done = run_takt("export", RECORDING, "--format", "otlp", "-o", tmp_path / "a.json", "--json")
    assert json.loads(done.stdout)["kind"] == "otlp"
    assert parsed((tmp_path / "a.json").read_text()).resource_spans
