"""takt experiment: the published numbers come out."""

from __future__ import annotations

import ast
import functools
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

from robot import run_takt
from takt import built
from takt.trials import experiments

Json = dict[str, Any]

# Rows that differ, as the README of the experiment explains.
EXPLAINED = {
    "Table 2, default, chain 2, min",
    "Table 2, PiCAS, chain 1, max",
    "Table 2, PiCAS, chain 1, standard deviation",
}


# Without overhead.
DROPS = "Figure 2, {}, drops of chain {} before 10 s, overhead 0 ms"


@functools.cache
def rows(name: str) -> list[Json]:
    done = run_takt("experiment", name, "--json")
    assert done.returncode == 0, done.stderr
    found: list[Json] = json.loads(done.stdout)["rows"]
    return found


def test_dac_table_2_within_a_tenth_but_for_what_is_explained() -> None:
    compared = [
        row
        for row in rows("edf-two-chains")
        if row["what"].startswith("Table 2")
        and isinstance(row["published"], float)
        and row["what"] not in EXPLAINED
    ]
    assert len(compared) == 3 * 2 * 4 - len(EXPLAINED)
    for row in compared:
        assert row["ours"] == pytest.approx(row["published"], rel=0.1), row["what"]


def two_chains() -> dict[str, Json]:
    return {row["what"]: row for row in rows("edf-two-chains")}


def test_b07_execution_times_and_utilisation_of_the_two_chains() -> None:
    found = two_chains()
    for chain, time in ((1, 0.371), (2, 0.895)):
        name = f"Table 1, chain {chain}, sum of execution times"
        assert found[name]["ours"] == pytest.approx(time)
    assert found["Table 1, utilisation"]["ours"] == pytest.approx(1.266)


def test_b08_drops_with_frozen_deadlines() -> None:
    assert two_chains()[DROPS.format("proposed", 1)]["ours"] == "4, 9"
    assert two_chains()[DROPS.format("proposed", 2)]["ours"] == "3, 8"


def test_b09_drops_with_a_deadline_per_instance() -> None:
    assert two_chains()[DROPS.format("fresh deadlines", 1)]["ours"] == "none"
    assert two_chains()[DROPS.format("fresh deadlines", 2)]["ours"] == "3, 6"


def test_b17_caps_of_the_two_chains() -> None:
    for number, cap in ((1, 1.371), (2, 1.895)):
        assert two_chains()[f"Eq. 12, cap of chain {number}"]["ours"] == pytest.approx(cap)


def test_b20_execution_times_and_utilisation_of_the_case_study() -> None:
    """The times that the experiment uses."""
    source = (experiments.ROOT / "edf-case-study" / "run.py").read_text()
    table = next(
        statement.value
        for statement in ast.parse(source).body
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and statement.target.id == "TABLE_3"
        and statement.value is not None
    )
    chains: dict[str, tuple[list[float], int, int]] = ast.literal_eval(table)
    published = (18.4, 32.0, 63.1, 45.1, 27.2, 197.2, *[39.8] * 6)
    totals = [sum(times) for times, _, _ in chains.values()]
    assert totals == pytest.approx(published)
    utilisation = sum(sum(times) / period for times, period, _ in chains.values())
    assert utilisation == pytest.approx(4.069, abs=5e-4)
    # The shared timer counts once.
    assert utilisation - 2.3 / 80 == pytest.approx(4.040, abs=5e-4)


def test_bounds_of_threads_that_share_the_cores_of_the_case_study() -> None:
    """Of the chains whose cores are not overloaded; the paper has none."""
    found = rows("edf-case-study")
    bounds = {
        row["what"].rsplit(", ", 1)[1]: row["ours"]
        for row in found
        if row["what"].startswith("Table 3, bound, proposed")
    }
    longest = {
        row["what"].rsplit(", ", 1)[1]: float(row["ours"].split(" / ")[1].removesuffix(" ms"))
        for row in found
        if row["what"].startswith("Table 3, proposed")
    }
    overloaded = {chain for chain, bound in bounds.items() if bound == "none"}
    assert overloaded == {"BE1", "BE2", "BE5", "BE6"}
    for chain in longest.keys() - overloaded:
        assert float(bounds[chain].removesuffix(" ms")) >= longest[chain], chain
    assert bounds["BE3"] == "157.2 ms"
    assert bounds["BE4"] == "237.0 ms"


def test_b22_reductions_of_the_mean_latency() -> None:
    found = two_chains()
    reductions = {"default": (-42.6, -65.3), "PiCAS": (92.1, -30.7)}
    for other, published in reductions.items():
        for number, reduction in enumerate(published, start=1):
            row = found[f"Mean, proposed against {other}, chain {number}"]
            assert row["expected"] == pytest.approx(reduction, abs=0.05)
            # A quotient of two means, each within a tenth of the printed one (above).
            ours, printed = 1 + row["ours"] / 100, 1 + reduction / 100
            assert 0.9 / 1.1 <= ours / printed <= 1.1 / 0.9


def test_b24_standard_deviations_are_possible() -> None:
    """No sample can exceed this limit."""
    for executor in ("default", "PiCAS", "proposed"):
        for number in (1, 2):
            name = f"Table 2, {executor}, chain {number}, "
            mean, high, low, deviation = (
                two_chains()[name + key]["ours"]
                for key in ("mean", "max", "min", "standard deviation")
            )
            assert deviation**2 <= (high - mean) * (mean - low)


def test_table_3_1_to_a_hundredth_of_a_millisecond() -> None:
    found = rows("events-executor-schedulability")
    table = [row for row in found if row["place"] == "Table 3.1"]
    assert len(table) == 9
    for row in table:
        assert row["ours"] == pytest.approx(row["published"], abs=0.0101), row["what"]
    assert len(limited(found)) == 9


def test_trees_are_within_their_bounds_and_reach_them_at_high_load() -> None:
    found = limited(rows("graph-aware-many-to-many"))
    assert len(found) == 18
    for row in found:
        if row["what"].startswith(("70 %, rate", "90 %, rate")):
            assert row["ours"] == pytest.approx(float(row["expected"][2:]), abs=0.1), row["what"]


def limited(found: list[Json]) -> list[Json]:
    """The rows with a limit; none may be above it (the limits have two decimals)."""
    chosen = [row for row in found if str(row["expected"]).startswith("≤ ")]
    for row in chosen:
        assert row["ours"] <= float(row["expected"][2:]) + 0.01, row["what"]
    return chosen


def test_a_published_figure_needs_its_place_in_the_document() -> None:
    for published, place in ((1.0, ""), ("some", ""), (None, "Table 1")):
        with pytest.raises(ValueError, match="belong together"):
            experiments.Row("what", published, 1.0, place=place)


@pytest.mark.parametrize(
    "name",
    [
        *("edf-case-study", "edf-two-chains", "events-executor-schedulability"),
        *("graph-aware-many-to-many", "latency-shaping", "reservation-period"),
        *("rta-synthetic-graph", "rta-turtlebot", "autoware-hot-path", "data-aging"),
        "reference-system-flow",
    ],
)
def test_places_are_those_of_a_document(name: str) -> None:
    """The experiments that need no machine; a row cannot be made without its place."""
    places = {row["place"] for row in rows(name) if row["published"] is not None}
    expected = re.compile(r"((section|caption of Figure|Figure|Table|Equation) [A-Z]?[\d.]+)\b.*")
    assert all(expected.fullmatch(place) for place in places), places


def test_list_names_every_folder_with_its_title() -> None:
    done = run_takt("experiment", "--list", "--json")
    listed = {entry["name"]: entry["title"] for entry in json.loads(done.stdout)["experiments"]}
    assert listed == {e.name: e.title for e in experiments.all_experiments()}
    assert all(listed.values())


def test_unknown_experiment_names_the_known_ones() -> None:
    done = run_takt("experiment", "nothing")
    assert done.returncode == 2
    known = ", ".join(sorted(experiment.name for experiment in experiments.all_experiments()))
    assert f'takt: there is no experiment "nothing"; one of {known}' in done.stderr
    assert run_takt("experiment").returncode == 2


def test_priorities_keep_the_hot_path_sixty_percent_below_the_default() -> None:
    found = {row["what"]: row for row in rows("autoware-hot-path")}
    by_hand = ("fixed priorities by hand", "graph-aware, priorities by hand")
    for name in by_hand:
        assert found[f"simulated, the model's rates, {name}, below default by"]["ours"] >= 60
    # The document's policies favour the hot path only if no timer is faster than the lidars, and
    # none starts before them.
    for name in ("by rate", "by deadline"):
        gains = [
            found[f"simulated, {rates}, {name}, below default by"]["ours"]
            for rates in ("the model's rates", "all timers at 100 ms, lidars first")
        ]
        assert gains[0] < 40 < 50 < gains[1]


def test_latency_shaping_has_the_published_slots_and_ratios() -> None:
    found = rows("latency-shaping")
    slots = [row for row in found if row["what"].startswith("slot ")]
    assert len(slots) == 7
    for row in slots:
        assert row["ours"] == row["published"], row["what"]
    ours = {row["what"]: row["ours"] for row in found}
    assert ours["synthetic, LET per callback: longest"] == pytest.approx(500, abs=0.01)
    assert ours["synthetic, LET per chain: longest"] == pytest.approx(100, abs=0.01)
    assert ours["longest: optimised three bands / FIFO"] < 1.05
    assert ours["synthetic, longest: one band / FIFO"] < 1.03
    assert ours["synthetic, one band: jitter"] < 0.1
    assert ours["parking, jitter within a band"] < 0.1
    means = [
        ours[f"parking, {name}: mean"]
        for name in ("FIFO", "optimised three bands", "random three bands", "one band")
    ]
    assert means == sorted(means)


def test_a_constant_delay_can_be_planned_for_and_a_jittering_one_cannot() -> None:
    """The controllers of the loop, without a machine: what they follow if nothing disturbs."""
    control = runpy.run_path(str(experiments.ROOT / "latency-shaping" / "control.py"))
    period, count, steps = 0.05, 40, control["STEPS"]
    reference = 0.2 * numpy.sin(2 * numpy.pi * (numpy.arange(count * steps) + 0.5) / count / steps)

    def error(delays: list[float], *, known: bool, actual: list[float]) -> float:
        """The mean square."""
        design = control["design"](period, delays, known=known)
        (planned,) = design.delays
        inputs, states = control["trajectory"](period, planned, reference)
        state, total = states[0], 0.0
        for number in range(4 * count):
            position, delay = number % count, actual[number % len(actual)]
            away = (design.gains[0] @ (state - states[position]))[0]
            both = numpy.array([*state, inputs[position] - away])
            for step in range(steps):
                angle = (control["within"]((step + 0.5) * period / steps, delay) @ both)[0]
                total += (angle - reference[position * steps + step]) ** 2 / steps
            free, forced = control["dynamics"](period, delay)
            state = free @ state + forced[:, 0] * both[3]
        return total / (4 * count)

    constant = [error([delay], known=True, actual=[delay]) for delay in (0.01, 0.04, period)]
    assert max(constant) < 1e-9
    jittering = [0.012, 0.035]
    assert error(jittering, known=False, actual=jittering) > 10 * max(constant)


def test_a54_the_table_of_the_cubic_hand_over() -> None:
    found = {row["what"]: row for row in rows("estimator-handover")}
    for name, row in found.items():
        # The document has no worked example.
        assert row["published"] is None, name
        if name.endswith(("by order", "extreme state", "without a hand-over")):
            assert row["ours"] == pytest.approx(row["expected"], rel=1e-3), name
        if name.endswith("on a grid"):
            assert 0.95 * row["expected"] <= row["ours"] <= 1.001 * row["expected"], name
        if name.startswith("Safe half-width"):
            assert row["ours"] == pytest.approx(row["expected"], abs=1e-9), name
    assert found["… that broke the bound without it"]["ours"] > 0
    guarded = rows("estimator-handover")
    for position, row in enumerate(guarded):
        if row["what"].endswith("the box: sequences"):
            assert row["ours"] >= 10_000
            assert guarded[position + 1]["ours"] == 0, row["what"]
            assert guarded[position + 2]["ours"] <= 1, row["what"]


def allocator_rows(monkeypatch: pytest.MonkeyPatch) -> list[experiments.Row]:
    """Of traces that are short."""
    run = experiments.find("allocators")._function()
    for name, value in (("STEPS", 300), ("SEEDS", 1), ("MAPPING_STEPS", 3)):
        monkeypatch.setitem(run.__globals__, name, value)
    return run()


def test_allocators_are_compared_and_what_is_missing_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A library that is found at run time is measured beside the others."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "the tests were compiled by something"
    source = "#include <stdlib.h>\nvoid* mi_malloc(size_t n) { return malloc(n); }\n"
    source += "void mi_free(void* p) { free(p); }\n"
    for name in ("libmimalloc.so.3", "libjemalloc.so.2"):
        library = [compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", str(tmp_path / name)]
        subprocess.run(library, input=source, text=True, check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    rows = {row.what: row for row in allocator_rows(monkeypatch)}
    assert "not compared" not in capsys.readouterr().err
    share = rows["uniform, segregated fit, in use over provisioned"]
    assert (share.published, share.place) == ("about 50 %", "Figure 2.10")
    assert [row.what for row in rows.values() if row.published is not None] == [share.what]
    for name in ("TLSF", "mimalloc", "jemalloc", "malloc of the C library", "mmap for each block"):
        tail = rows[f"images, {name}, allocate, p50 / p99 / p99.99 / worst"].ours
        assert re.fullmatch(r"[\d.]+ (ns|µs|ms)( / [\d.]+ (ns|µs|ms)){3}", str(tail)), tail
    for name in ("TLSF", "best fit", "double buddies"):
        for sizes in ("two sizes", "recorded"):
            ours = rows[f"{sizes}, {name}, in use over provisioned"].ours
            assert isinstance(ours, float)
            assert 0 < ours < 100
        for what in ("in use over provisioned", "largest free block over all that is free"):
            ours = rows[f"recorded, {name}, {what}, after 10 / 40 / 70 / 100 % of the steps"].ours
            shares = [int(share) for share in re.findall(r"(\d+) %", str(ours))]
            assert len(shares) == 4
            assert all(0 <= share <= 100 for share in shares)

    for name in ("libmimalloc.so.3", "libjemalloc.so.2"):
        (tmp_path / name).write_text("not a library")
    allocator_rows(monkeypatch)
    assert capsys.readouterr().err.count("not compared: ") == 2


def test_the_program_of_the_allocators_refuses_what_it_cannot_read() -> None:
    program = built.path("allocator_experiment")
    for arguments in ([], ["1", "2"], ["1", "x", "3"], ["0", "1", "1"], ["1", "1", "-1"]):
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr == "usage: allocator_experiment STEPS SEEDS MAPPING_STEPS [RECORDED]\n"


@pytest.mark.parametrize("text", ["", "1 4096\n2\n", "0 x\n", "0 -1\n", "9999999 4096\n"])
def test_the_program_of_the_allocators_refuses_a_trace_that_is_none(
    tmp_path: Path, text: str
) -> None:
    program = built.path("allocator_experiment")
    trace = tmp_path / "trace"
    trace.write_text(text)
    done = subprocess.run(
        [program, "1", "1", "1", trace], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == f"{trace}: no recorded trace; each line has a slot and bytes\n"


def test_the_recorder_of_allocations_writes_what_a_program_allocates(tmp_path: Path) -> None:
    """Beside what the program says itself, which holds three blocks at a time."""
    program = built.path("allocator_experiment")
    recorder = program.with_name("liballocation_recorder.so")
    trace = tmp_path / "trace"
    source = (
        "import ctypes; c = ctypes.CDLL(None); c.malloc.restype = ctypes.c_void_p\n"
        "c.free.argtypes = [ctypes.c_void_p]\n"
        "held = []\n"
        "for step in range(100):\n"
        "    held.append(c.malloc(ctypes.c_size_t(77_000_000 + step)))\n"
        "    if len(held) == 3: c.free(held.pop(step % 3))\n"
    )
    environment = os.environ | {
        "LD_PRELOAD": str(recorder),
        "TAKT_ALLOCATIONS": str(trace),
        "TAKT_ALLOCATIONS_FROM": "70000000",
    }
    subprocess.run([sys.executable, "-c", source], check=True, env=environment)
    steps = [tuple(map(int, line.split())) for line in trace.read_text().splitlines()]
    held: dict[int, int] = {}
    for slot, size in steps:
        assert (slot in held) == (size == 0)
        held[slot] = size
        if size == 0:
            del held[slot]
        assert len(held) <= 3
    assert [size for _, size in steps if size > 0] == [77_000_000 + step for step in range(100)]
    assert len(steps) == 198
    assert {slot for slot, _ in steps} == {0, 1, 2}
