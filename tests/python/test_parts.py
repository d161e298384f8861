"""takt flow and the report split the time of a message into the same parts."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import takt_native
from takt import inputs, pipeline
from takt.text.parts import STAGES
from test_flow import RECORDINGS, ROOT, document
from test_links import RECORDINGS as LINKS

BESIDE = ROOT.parent / "shared" / "traces"
"""Large recordings, which are read where they lie beside the repository."""
STAGE = list(STAGES)

NO_CHAINS = {"stores-thread.tar.xz", "transforms-together.tar.xz"}
"""Recordings in which no way of takt flow is a chain of the model. Nor has talk-rclpy any: its only
callback sends to itself.
"""

NAMES = [
    RECORDINGS / "autoware.tar.xz",
    RECORDINGS / "pipeline-lttng.tar.xz",
    RECORDINGS / "pipeline-ebpf.tar.xz",
    RECORDINGS / "pipeline-ring.tar.xz",
    *(RECORDINGS / "scores" / f"{name}.tar.xz" for name in ("rclpy_clients", "rclpy_executors")),
    *(path for path in sorted(LINKS.glob("*.tar.xz")) if path.name not in NO_CHAINS),
    *(
        BESIDE / f"{name}.tar.xz"
        for name in (
            "autoware-multithreaded",
            "autoware-singlethreaded",
            "robot-multiprocess-mt",
            "mf-partial-sync",
        )
    ),
]

COMPARED = {
    "autoware": 33,
    "pipeline-lttng": 8,
    "pipeline-ebpf": 8,
    "pipeline-ring": 7,
    "rclpy_clients": 20,
    "rclpy_executors": 20,
    "approximate_unstamped": 10,
    "exact_lossy_unstamped": 9,
    "filters-approximate-10-10": 9,
    "filters-approximate-20-7": 10,
    "filters-exact-10-10": 9,
    "filters-late": 8,
    "polls-oldest": 6,
    "polls-rclcpp": 19,
    "polls-several": 7,
    "polls-single": 8,
    "polls-thread": 8,
    "polls-timer": 10,
    "publishes-early": 1,
    "transforms-apart": 152,
    "transforms-case": 70,
    "autoware-multithreaded": 28,
    "autoware-singlethreaded": 29,
    "robot-multiprocess-mt": 24,
    "mf-partial-sync": 7,
}
"""How many of the worst messages that takt flow names are complete instances of a chain, after the
start-up, so that the report has them. If they become fewer, something was lost.
"""


Part = tuple[int, str, str | None]
"""A duration, its stage and its callback."""


class Stretch(NamedTuple):
    begin: int
    end: int
    stage: str
    callback: str | None
    """Which ran, or behind which it waited."""


def merged(stretches: list[Stretch], begin: int, end: int) -> list[Part]:
    """What a time was spent on between two moments; the same twice running counts as one."""
    found: list[Part] = []
    for stretch in stretches:
        duration = min(stretch.end, end) - max(stretch.begin, begin)
        if duration <= 0:
            continue
        if found and found[-1][1:] == (stretch.stage, stretch.callback):
            duration += found.pop()[0]
        found.append((duration, stretch.stage, stretch.callback))
    return found


def shown(trace: Path, folder: Path) -> dict[tuple[str, ...], dict[int, list[Stretch]]]:
    """The instances of each chain of the report, by the start of their last run."""
    model = inputs.model([str(trace)], None)
    index, _ = pipeline.store_view(
        [str(trace)], model.text, model.source, str(folder), all_chains=True
    )

    def column(table: str, name: str) -> list[int]:
        data = takt_native.read_column(str(folder), table, name)
        return list(memoryview(data).cast("q"))

    ids = [entry["id"] for entry in pipeline.info([str(trace)])["callbacks"]]
    starts = column("spans", "start")
    subjects = column("spans", "subject")
    parts = list(
        zip(*(column("parts", name) for name in ("step", "kind", "duration", "span")), strict=True)
    )
    instances: dict[tuple[str, ...], dict[int, list[Stretch]]] = {}
    rows = zip(
        *(column("instances", name) for name in ("chain", "start", "ending", "parts", "first")),
        strict=True,
    )
    for chain, start, ending, count, first in rows:
        own = parts[first : first + count]
        if ending >= 0 or not own:
            continue
        bounds = list(accumulate((part[2] for part in own), initial=start))
        stretches = [
            Stretch(
                bounds[i], bounds[i + 1], STAGE[kind], ids[subjects[span]] if span >= 0 else None
            )
            for i, (_, kind, _, span) in enumerate(own)
        ]
        # The runs on the path, in its order.
        path = {
            step: span
            for step, kind, _, span in own
            if STAGE[kind] in ("running", "preempted", "blocked") and span >= 0
        }
        last = max(path)
        if last + 1 == len(index["chains"][chain]["callbacks"]):
            callbacks = tuple(ids[subjects[path[step]]] for step in sorted(path))
            instances.setdefault(callbacks, {})[starts[path[last]]] = stretches
    return instances


@pytest.mark.parametrize("trace", NAMES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def test_flow_and_report_split_time_alike(trace: Path, tmp_path: Path) -> None:
    if not trace.exists():
        pytest.skip(f"the recording {trace.name} is not here: it belongs beside the repository")
    report = shown(trace, tmp_path)
    compared = 0
    different: list[Any] = []
    for flow in document(trace, "--instances")["flows"]:
        path = tuple(step["callback"] for step in flow["path"])
        instances = report.get(path, {})
        for worst in flow["worst"]:
            end = worst["begin"] + worst["latency"]
            stretches = instances.get(end)
            if stretches is None or worst["before_readers"]:
                continue
            at = worst["begin"]
            mine = []
            for part in worst["parts"]:
                mine.append(Stretch(at, at + part["duration"], part["stage"], part["callback"]))
                at += part["duration"]
            expected = merged(mine, worst["begin"], end)
            got = merged(stretches, worst["begin"], end)
            compared += 1
            if expected != got:
                different.append((path, worst["instance"], expected, got))
    assert not different, f"{len(different)} of {compared}: {different[0]}"
    assert compared == COMPARED[trace.name.removesuffix(".tar.xz")]


@pytest.mark.parametrize("end", ["publication", "completion"])
def test_the_report_ends_chains_as_takt_latency_does(end: str, tmp_path: Path) -> None:
    trace = str(RECORDINGS / "autoware.tar.xz")
    goals = tmp_path / "goals.yaml"
    goals.write_text(
        f"chains: [{{from: /RearLidarDriver, to: /PointCloudFusion, end: {end}, latency: 1s}}]\n"
    )
    model = inputs.model([trace], str(goals))
    index, measured = pipeline.store_view(
        [trace], model.text, model.source, str(tmp_path), all_chains=True
    )
    (chain,) = measured.chains
    data = takt_native.read_column(str(tmp_path), "instances", "latency")
    endings = takt_native.read_column(str(tmp_path), "instances", "ending")
    complete = [
        latency
        for latency, ending in zip(
            memoryview(data).cast("q"), memoryview(endings).cast("q"), strict=True
        )
        if ending == -1
    ]
    assert (len(complete), min(complete), max(complete)) == (chain.count, chain.min, chain.max)
    assert index["chains"][0]["max"] == chain.max
