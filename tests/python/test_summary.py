"""takt summarize: what it says agrees with the recording, and histograms keep their promise."""

from __future__ import annotations

import json
import math
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import takt
from robot import changed, run_takt
from takt.documents import losses
from takt.errors import UserError
from takt.fleet import summary
from takt.histogram import RELATIVE_ERROR, Histogram

AUTOWARE = str(Path(__file__).parents[1] / "recordings" / "autoware.tar.xz")

# Rounding of logarithms may put a value at the edge of a bucket into its neighbour.
ERROR = RELATIVE_ERROR * (1 + 1e-6)
VALUES = st.lists(st.integers(-5, 2**63 - 1), min_size=1, max_size=50)


def exact(values: list[int], share: float) -> int:
    """The smallest value that at least `share` of the values do not exceed; none is below 0."""
    rank = max(1, math.ceil(share * len(values)))
    return sorted(max(0, value) for value in values)[rank - 1]


@given(VALUES, st.floats(0, 1))
def test_a_quantile_is_off_by_one_percent_at_most(values: list[int], share: float) -> None:
    wanted = exact(values, share)
    found = Histogram.of(values).quantile(share)
    assert found is not None
    assert abs(found - wanted) <= ERROR * wanted


@given(VALUES, VALUES)
def test_merged_histograms_are_that_of_all_values(left: list[int], right: list[int]) -> None:
    merged = Histogram.of(left)
    merged.merge(Histogram.of(right))
    assert merged == Histogram.of(left + right)
    assert merged.count == len(left) + len(right)
    assert Histogram().quantile(0.5) is None


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("summary") / "autoware.json"
    done = run_takt("summarize", AUTOWARE, "-o", path)
    assert done.returncode == 0, done.stderr
    assert path.stat().st_size < 200_000
    return json.loads(path.read_text())


def histogram(document: Any, *path: str | int) -> Histogram:
    """That of the summary at this place."""
    typed: Any = summary.parse(json.dumps(document), "s")
    for step in path:
        typed = typed[step] if isinstance(step, int) else getattr(typed, step)
    return Histogram.read(typed)


def test_it_is_as_the_schema_says(document: Any) -> None:
    text = (resources.files("takt") / "schemas" / "summary.schema.json").read_text("utf-8")
    Draft202012Validator(json.loads(text)).validate(document)


def test_it_has_the_distributions_of_the_recording(document: Any) -> None:
    recording = takt.load(AUTOWARE)
    for number, callback in enumerate(document["callbacks"]):
        row = recording.callbacks.filter(recording.callbacks["id"] == callback["id"])
        of_it = recording.runs["callback"] == row["callback"].item()
        durations = recording.runs.filter(of_it)["duration"].to_list()
        assert histogram(document, "callbacks", number, "duration") == Histogram.of(durations)
    assert len(document["callbacks"]) == len(set(recording.runs["callback"]))
    for number, chain in enumerate(document["chains"]):
        latencies = recording.path(chain["id"]).latencies["latency"].to_list()
        found = histogram(document, "chains", number, "latency")
        assert found.total == sum(latencies)
        assert found.count == len(latencies)
        # The parts of a chain's instances add up to their latencies.
        assert sum(part["duration"]["total"] for part in chain["parts"]) == sum(latencies)
        for part in chain["parts"]:
            assert sum(part["behind"].values()) <= part["duration"]["total"]
    assert any(part["behind"] for chain in document["chains"] for part in chain["parts"])
    taken = recording.takes.filter(recording.takes["taken"].is_not_null())
    in_links = sum(
        histogram(document, "links", number, "latency").count
        for number in range(len(document["links"]))
    )
    assert in_links == len(taken.filter(taken["run"].is_not_null()))
    busy = sum(executor["busy"] for executor in document["executors"])
    assert busy == recording.runs["duration"].sum()


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("version",), 2, "version"),
        (("duration",), -1, "duration"),
        (("chains", 0, "latency", "zeros"), "x", r"chains\[0\].latency.zeros"),
    ],
)
def test_a_summary_that_is_none_is_said_with_its_field(
    document: Any, path: tuple[str | int, ...], value: object, field: str
) -> None:
    text = json.dumps(changed(document, *path, value=value))
    with pytest.raises(UserError, match=f"^s: .*{field}"):
        summary.parse(text, "s")


def test_it_tells_what_the_recording_lacks_and_which_it_is(tmp_path: Path, document: Any) -> None:
    text = run_takt("info", AUTOWARE, "--json").stdout
    info = json.loads(text)
    assert document["losses"] == losses.of_recording(info)
    assert document["warnings"] == info["warnings"]
    (recording,) = document["provenance"]["inputs"]
    assert recording["fingerprint"] == info["inputs"][0]["fingerprint"]
    copied = tmp_path / "copy.tar.xz"
    copied.write_bytes(Path(AUTOWARE).read_bytes())
    again = json.loads(run_takt("info", copied, "--json").stdout)
    assert again["inputs"][0]["fingerprint"] == recording["fingerprint"]
    lacking = {**info, "discarded": 3, "discarded_packets": 0, "unrecorded": ["a", "b"]}
    assert losses.of_recording(lacking)["discarded"] == 3
    assert losses.of_recording(lacking)["unrecorded"] == 2
