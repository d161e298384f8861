"""takt export --format mcap, read back by the format's own library."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcap.reader import make_reader

import takt
import takt_native
from robot import run_takt
from takt.exports import latency_series

RECORDING = Path(__file__).resolve().parents[1] / "recordings" / "autoware.tar.xz"
GOALS = """
chains:
  - {name: impossible, from: RearLidarDriver, to: PointsTransformerRear, latency: 1ns}
  - {name: sure, from: EuclideanClusterSettings, to: IntersectionOutput, latency: 1000s}
"""

Json = dict[str, Any]


@pytest.fixture(scope="module")
def goals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("goals") / "goals.yaml"
    file.write_text(GOALS)
    return file


@pytest.fixture(scope="module")
def messages(goals: Path) -> list[tuple[str, int, Json]]:
    """Topic, time and content; every message is as its schema says."""
    written = goals.parent / "robot.mcap"
    done = run_takt("export", RECORDING, "--format", "mcap", "--goals", goals, "-o", written)
    assert done.returncode == 0, done.stderr
    found = []
    with written.open("rb") as stream:
        for schema, channel, message in make_reader(stream, validate_crcs=True).iter_messages():
            assert schema is not None
            assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
            content = json.loads(message.data)
            Draft202012Validator(json.loads(schema.data)).validate(content)
            found.append((channel.topic, message.log_time, content))
    return found


def test_each_complete_instance_is_a_message_at_its_end(
    goals: Path, messages: list[tuple[str, int, Json]]
) -> None:
    loaded = takt.load(RECORDING, goals=str(goals))
    expected: dict[str, list[tuple[int, float]]] = defaultdict(list)
    chains = loaded.flows["chain"].unique().to_list()
    topic_of = latency_series.topics(dict.fromkeys(chains))
    for flow in loaded.flows.iter_rows(named=True):
        if flow["complete"]:
            end = flow["start"] + flow["latency"]
            expected[topic_of[flow["chain"]]].append((end, flow["latency"] / 1e6))
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for topic, time, content in messages:
        if topic != latency_series.DIAGNOSTICS:
            stamp = content["stamp"]
            assert time == stamp["sec"] * 10**9 + stamp["nanosec"]
            assert sum(content["parts_ms"].values()) == pytest.approx(content["latency_ms"])
            found[topic].append((time, content["latency_ms"]))
    assert found
    assert {topic: sorted(rows) for topic, rows in found.items()} == {
        topic: sorted(rows) for topic, rows in expected.items()
    }


def test_diagnostics_tell_which_chains_miss_their_goal(
    messages: list[tuple[str, int, Json]],
) -> None:
    counted: Counter[str] = Counter()
    levels: dict[str, set[int]] = defaultdict(set)
    for topic, _time, content in messages:
        for status in content["status"] if topic == latency_series.DIAGNOSTICS else ():
            values = {entry["key"]: entry["value"] for entry in status["values"]}
            counted[status["name"]] += int(values["instances"])
            if values["instances"] != "0":
                levels[status["name"]].add(status["level"])
                assert (status["level"] == latency_series.ERROR) == (values["late"] != "0")
    assert sum(counted.values()) == sum(
        topic != latency_series.DIAGNOSTICS for topic, _time, _content in messages
    )
    impossible = [found for name, found in levels.items() if "impossible" in name]
    sure = [found for name, found in levels.items() if "sure" in name]
    assert impossible
    assert all(found == {latency_series.ERROR} for found in impossible)
    assert sure
    assert all(found == {latency_series.OK} for found in sure)


def test_topics_differ_and_are_words() -> None:
    assert latency_series.topics({"/a → /b": 1, "a ->b": 2, "→": 3}) == {
        "/a → /b": "/takt/latency/a_b",
        "a ->b": "/takt/latency/a_b_2",
        "→": "/takt/latency/chain",
    }


def test_goals_are_for_mcap_alone(goals: Path, tmp_path: Path) -> None:
    done = run_takt(
        "export", RECORDING, "--format", "csv", "--goals", goals, "-o", tmp_path / "tables"
    )
    assert done.returncode == 2
    assert "--goals" in done.stderr


def test_the_recording_is_read_once_for_each_thing_that_it_tells(
    tmp_path: Path, goals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real functions, counted."""
    calls: Counter[str] = Counter()

    def counted(name: str) -> None:
        function = getattr(takt_native, name)

        def call(*arguments: Any, **options: Any) -> Any:
            calls[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(takt_native, name, call)

    for name in ("synthesize", "info", "store_view"):
        counted(name)
    latency_series.write([str(RECORDING)], str(tmp_path / "out.mcap"), str(goals))
    assert calls == {"synthesize": 1, "info": 1, "store_view": 1}


@pytest.mark.parametrize("kind", ["mcap", "perfetto", "parquet", "csv"])
def test_standard_output_is_no_place_for_an_export(kind: str) -> None:
    done = run_takt("export", RECORDING, "--format", kind, "-o", "-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "takt: -o -: name a file (perfetto, mcap) or a folder (parquet, csv)\n"
