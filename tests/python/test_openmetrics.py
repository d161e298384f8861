"""takt export --format openmetrics, read by Prometheus's own parser."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from robot import run_takt
from takt.exports import openmetrics
from takt.fleet import summary
from takt.histogram import RELATIVE_ERROR, Histogram

RECORDING = Path(__file__).resolve().parents[1] / "recordings" / "autoware.tar.xz"

Json = dict[str, Any]


def families(text: str) -> dict[str, Any]:
    parse = text_string_to_metric_families
    return {family.name: family for family in parse(text)}  # type: ignore[no-untyped-call]


def document(**changes: Any) -> Json:
    latency = Histogram.of([0, 5, 1500, 2_000_000, 2_000_000, 70_000_000, 10**12]).json()
    found = {
        "format": "takt/summary",
        "version": 1,
        "relative_error": RELATIVE_ERROR,
        "duration": 10**10,
        "events": 7,
        "losses": {"discarded": 3},
        "labels": {},
        "chains": [{"id": "pilot", "latency": latency, "incomplete": 2, "parts": []}],
        "bounds": {"analysis": "combined", "callbacks": [], "chains": []},
    }
    return {**found, **changes}


def text_of(found: Json) -> str:
    return openmetrics.text(summary.parse(json.dumps(found), "summary.json"))


def test_a_histogram_counts_what_is_not_above_each_limit() -> None:
    family = families(text_of(document()))["takt_chain_latency_seconds"]
    assert (family.type, family.unit) == ("histogram", "seconds")
    values = [0, 5, 1500, 2_000_000, 2_000_000, 70_000_000, 10**12]
    buckets = {s.labels["le"]: s.value for s in family.samples if s.name.endswith("_bucket")}
    assert len(buckets) == len(openmetrics.LIMITS) + 1
    for end, number in buckets.items():
        assert number == sum(value <= float(end) * 1e9 for value in values), end
    assert buckets["+Inf"] == 7
    (total,) = [s.value for s in family.samples if s.name.endswith("_sum")]
    assert total == pytest.approx(sum(values) / 1e9)


def test_names_are_escaped_and_labels_get_names_that_are_allowed() -> None:
    odd = 'a"b\\c\nd\\n→ {x="y"} 1'
    changed = document(
        labels={"robot": odd, "ros.version": "1", "ros-version": "2", "le": "3"},
        chains=[{**document()["chains"][0], "id": odd}],
    )
    found = families(text_of(changed))
    (sample,) = found["takt_chain_incomplete"].samples
    assert sample.labels == {
        "chain": odd,
        "label_robot": odd,
        "label_ros_version": "1",
        "label_ros_version_": "2",
        "label_le": "3",
    }
    assert sample.value == 2
    assert found["takt_recording"].samples[0].labels["label_robot"] == odd


def test_bounds_that_diverge_and_chains_that_never_ended_have_no_figure() -> None:
    bounds = [{"id": "pilot", "bound": 125_000_000}, {"id": "other", "bound": None}]
    changed = document(
        chains=[{**document()["chains"][0], "latency": Histogram().json()}],
        bounds={"analysis": "combined", "callbacks": [], "chains": bounds},
    )
    found = families(text_of(changed))
    (bound,) = found["takt_chain_bound_seconds"].samples
    assert (bound.labels, bound.value) == ({"chain": "pilot"}, 0.125)
    assert found["takt_chain_latency_max_seconds"].samples == []


def test_the_same_thing_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "summary.json"
    file.write_text(json.dumps(document(chains=document()["chains"] * 2)))
    done = run_takt("export", file, "--format", "openmetrics", "-o", "-")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert 'chain="pilot"' in done.stderr


def test_a_summary_and_its_recording_give_the_same(tmp_path: Path) -> None:
    file = tmp_path / "summary.json"
    assert run_takt("summarize", RECORDING, "-o", file).returncode == 0
    of_summary = run_takt("export", file, "--format", "openmetrics", "-o", "-")
    of_trace = run_takt("export", RECORDING, "--format", "openmetrics", "-o", "-")
    assert (of_summary.returncode, of_summary.stderr) == (0, "")
    assert of_summary.stdout == of_trace.stdout
    found = families(of_summary.stdout)
    told = json.loads(file.read_text())
    counts = {
        s.labels["chain"]: s.value
        for s in found["takt_chain_latency_seconds"].samples
        if s.name.endswith("_count")
    }
    assert counts == {
        chain["id"]: chain["latency"]["zeros"] + sum(chain["latency"]["counts"])
        for chain in told["chains"]
    }
    longest = {
        s.labels["callback"]: s.value for s in found["takt_callback_duration_max_seconds"].samples
    }
    for callback in told["callbacks"]:
        assert math.isclose(longest[callback["id"]], callback["duration"]["max"] / 1e9)


def test_one_summary_or_traces(tmp_path: Path) -> None:
    file = tmp_path / "summary.json"
    file.write_text(json.dumps(document()))
    for more, said in (([file], "give one summary"), (["--goals", file], "has its chains already")):
        done = run_takt("export", file, *more, "--format", "openmetrics", "-o", "-")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert said in done.stderr
