"""Multi-Layer Support for Component-Based Cyber-Physical Systems Applications, section 2.2:
allocators for memory of devices, compared on the same traces. See README.md."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, TypedDict, cast

from takt import built
from takt.errors import UserError
from takt.text import console
from takt.text.formatting import duration
from takt.trials.experiments import RATIO, Row, Rows

STEPS = 5000
SEEDS = 5
MAPPING_STEPS = 100
MAPPING = "mmap for each block"
RECORDED = Path(__file__).parent / "recorded" / "image_pipeline.txt"
#: Kinds of traces of which times, and what becomes of the memory with time, are shown.
SHOWN = {"uniform", "images", "recorded"}
#: Of ten moments.
MOMENTS = (0, 3, 6, 9)
#: Worked out from the document's parameters by another program than Takt's.
IN_USE = {"TLSF": 65.0, "best fit": 64.0, "first fit": 64.0, "next fit": 60.0}
PLACE = "Figure 2.10"
#: A library that is opened at run time may want room for variables of threads.
ROOM = "glibc.rtld.optional_static_tls=16384"


class Times(TypedDict):
    """Nanoseconds of one kind of call."""

    count: int
    mean: int
    p50: int
    p99: int
    p9999: int
    worst: int


class Measured(TypedDict):
    """What the calls of one allocator took on one kind of trace."""

    sizes: str
    name: str
    failed: bool
    allocate: Times
    release: Times


class Usage(TypedDict):
    """What one of Takt's allocators makes of the memory."""

    sizes: str
    name: str
    worst_case: str
    in_use: float
    own_bytes: int
    at_moments: list[float]
    largest_of_free: list[float]


class Results(TypedDict):
    calls: list[Measured]
    usage: list[Usage]
    missing: list[str]


def run(full: bool = False) -> Rows:
    results = measure(STEPS, 4 * SEEDS if full else SEEDS, STEPS if full else MAPPING_STEPS)
    for line in results["missing"]:
        console.say(f"not compared: {line}")
    shown = {measured["sizes"] for measured in results["calls"]} if full else SHOWN
    rows = [_in_use(usage) for usage in results["usage"]]
    for usage in results["usage"]:
        if usage["sizes"] in shown:
            rows += _with_time(usage)
    rows += [
        Row(f"{usage['name']}, memory of its own", None, usage["own_bytes"] / 1024, "KiB")
        for usage in results["usage"]
        if usage["sizes"] == "uniform"
    ]
    for measured in results["calls"]:
        if measured["sizes"] in shown:
            rows += _times(measured)
    return rows + _beside_a_mapping(results["calls"])


def measure(steps: int, seeds: int, mapping_steps: int) -> Results:
    """What the program prints. UserError if it is not built, or fails."""
    program = built.path("allocator_experiment")
    done = subprocess.run(
        [program, str(steps), str(seeds), str(mapping_steps), RECORDED],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"GLIBC_TUNABLES": ROOM},
    )
    if done.returncode != 0:
        raise UserError(f"{program}: {done.stderr.strip() or f'ended with {done.returncode}'}")
    printed: dict[str, Any] = json.loads(done.stdout)
    return cast(Results, printed)


def _in_use(usage: Usage) -> Row:
    what = f"{usage['sizes']}, {usage['name']}, in use over provisioned"
    ours = 100 * usage["in_use"]
    if usage["sizes"] != "uniform":
        return Row(what, None, ours, "%")
    if usage["name"] == "segregated fit":
        return Row(what, "about 50 %", ours, "%", PLACE)
    return Row(what, None, ours, "%", expected=IN_USE.get(usage["name"]))


def _with_time(usage: Usage) -> Rows:
    """How the memory fills, and how its free part falls to pieces."""
    what = f"{usage['sizes']}, {usage['name']}"
    moments = " / ".join(f"{10 * (moment + 1)}" for moment in MOMENTS)
    series = (
        ("in use over provisioned", usage["at_moments"]),
        ("largest free block over all that is free", usage["largest_of_free"]),
    )
    return [
        Row(
            f"{what}, {name}, after {moments} % of the steps",
            None,
            " / ".join(f"{100 * values[moment]:.0f} %" for moment in MOMENTS),
        )
        for name, values in series
    ]


def _times(measured: Measured) -> Rows:
    what = f"{measured['sizes']}, {measured['name']}"
    if measured["failed"]:
        return [Row(what, None, "no memory left")]
    calls = (("allocate", measured["allocate"]), ("release", measured["release"]))
    rows = [
        Row(f"{what}, {name}, p50 / p99 / p99.99 / worst", None, _tail(times))
        for name, times in calls
    ]
    seconds = sum(times["mean"] * times["count"] for _, times in calls) / 1e9
    pairs = measured["allocate"]["count"] / 1e6 / seconds
    return [*rows, Row(f"{what}, throughput", None, pairs, "million pairs/s")]


def _tail(times: Times) -> str:
    values = (times["p50"], times["p99"], times["p9999"], times["worst"])
    return " / ".join(duration(value) for value in values)


def _beside_a_mapping(calls: list[Measured]) -> Rows:
    """How much longer the median call takes with a mapping for each block than with ours."""
    uniform = {each["name"]: each for each in calls if each["sizes"] == "uniform"}
    if uniform[MAPPING]["failed"]:
        return [Row(MAPPING, None, "no memory left")]
    rows = []
    for name in ("segregated fit", "TLSF"):
        ratio = uniform[MAPPING]["allocate"]["p50"] / max(1, uniform[name]["allocate"]["p50"])
        what = f"uniform, {MAPPING} over {name}, allocate, p50"
        rows.append(Row(what, None, ratio, RATIO, expected="≥ 100"))
    return rows
