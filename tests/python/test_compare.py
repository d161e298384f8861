"""takt compare: it finds planted regressions, names their cause, and seldom cries wolf.

`pytest -s` prints the figures of docs/fleet.md.
"""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import fmean as mean
from typing import Any

import numpy
import pytest

from generated_runs import CHAIN, MESSAGES, MILLISECOND, PATH, SPREAD, a_run, durations, runs
from robot import changed, run_takt
from takt.documents.types import Summary
from takt.fleet import comparison, page, statistics
from takt.fleet import runs as fleet_runs
from takt.fleet.comparison import Figure, Subject
from takt.histogram import Histogram
from takt.text.formatting import duration
from test_schemas import schema

Json = dict[str, Any]


def verdicts(document: Json) -> dict[tuple[str, str, str], str]:
    """By kind, name and quantity."""
    return {(c["kind"], c["id"], c["quantity"]): c["verdict"] for c in document["changes"]}


def found_of(document: Json, kind: str, name: str) -> bool:
    found = verdicts(document).items()
    return any(each[:2] == (kind, name) and verdict == "worse" for each, verdict in found)


# Many comparisons: figures of runs drawn from a pool, as summaries of so many runs take long.

MANY = tuple(f"/node{number}" for number in range(19))
"""Callbacks that give some 150 figures."""


def drawn(
    random: numpy.random.Generator, number: int, factor: float = 1.0, spread: float = SPREAD
) -> list[dict[Figure, float]]:
    """The figures of runs of a robot of MANY callbacks; the first takes `factor` of its time."""
    found = []
    for _ in range(number):
        run: dict[Figure, float] = {}
        chain = 0.0
        for place, name in enumerate(MANY):
            time = 4e6 * random.lognormal(0, spread) * (factor if place == 0 else 1)
            way = 5e5 * random.lognormal(0, spread)
            chain += time + way
            for kind, key, value in (("callback", name, time), ("link", f"/to -> {name}", way)):
                subject = Subject(kind, key)
                run[Figure(subject, "present")] = 1.0
                for quantity, error in (("p50", 0.0063), ("p99", 0.015)):
                    run[Figure(subject, quantity)] = value * random.lognormal(0, error)
            run[Figure(Subject("executor", name), "busy")] = time / 1e8
            run[Figure(Subject("topic", name), "lost")] = random.binomial(200, 0.01) / 200
        subject = Subject("chain", "all")
        run |= {Figure(subject, "present"): 1.0, Figure(subject, "incomplete"): 0.0}
        run |= {Figure(subject, quantity): chain for quantity in ("p50", "p99")}
        found.append(run)
    return found


def compared(before: Any, after: Any, tolerance: float = 0.05) -> Json:
    return comparison.differences(before, after, tolerance)


def test_equal_versions_seldom_raise_an_alarm() -> None:
    random = numpy.random.default_rng(1)
    alarms = 0
    for _ in range(200):
        document = compared(drawn(random, 10), drawn(random, 10))
        alarms += document["regressions"] > 0
    print(f"{len(document['changes'])} figures, equal versions: {alarms} of 200 alarms")
    assert len(document["changes"]) >= 150
    assert alarms <= 16


def test_independent_runs_with_doublings_seldom_raise_an_alarm() -> None:
    """A time of 100 callbacks is doubled in one run of ten, in both groups alike."""
    random = numpy.random.default_rng(21)
    figures = [Figure(Subject("callback", f"/node{number}"), "p50") for number in range(100)]

    def side() -> list[dict[Figure, float]]:
        times = 4e6 * random.lognormal(0, SPREAD, (10, 100))
        times *= numpy.where(random.random((10, 100)) < 0.1, 2, 1)
        return [dict(zip(figures, run, strict=True)) for run in times.tolist()]

    alarms = sum(compared(side(), side())["regressions"] > 0 for _ in range(200))
    print(f"doublings in 10 % of the runs, equal versions: {alarms} of 200 alarms")
    assert alarms <= 16


@pytest.mark.parametrize(("sides", "spreads"), [((10, 10), (0.1, 0.2)), ((20, 5), (0.1, 0.2))])
def test_versions_that_vary_differently_seldom_raise_an_alarm(
    sides: tuple[int, int], spreads: tuple[float, float]
) -> None:
    random = numpy.random.default_rng(2)
    alarms = 0
    for _ in range(100):
        before, after = (
            drawn(random, number, spread=spread)
            for number, spread in zip(sides, spreads, strict=True)
        )
        alarms += compared(before, after)["regressions"] > 0
    print(f"{sides} runs, spreads {spreads}: {alarms} of 100 alarms")
    # The chain's time is a sum, so its logarithm grows a little with the spread.
    assert alarms <= 16


@pytest.mark.parametrize(("factor", "number"), [(1.25, 10), (1.10, 40)])
def test_a_slower_callback_among_150_figures_is_found(factor: float, number: int) -> None:
    random = numpy.random.default_rng(3)
    found = 0
    for _ in range(100):
        document = compared(drawn(random, number), drawn(random, number, factor), 0.02)
        found += any(c["key"] == MANY[0] and c["verdict"] == "worse" for c in document["changes"])
    print(f"150 figures, +{factor - 1:.0%}, {number} runs a side: {found} of 100 found")
    assert found >= 90


def test_the_interval_holds_what_it_promises() -> None:
    random = numpy.random.default_rng(4)
    for number in (5, 10, 40):
        sides = (random.normal(0, SPREAD, (number, 200)) for _ in range(2))
        found = statistics.differences(*sides)
        share = float(numpy.mean((found.low <= 0) & (found.high >= 0)))
        print(f"intervals of {number} runs a side: {share:.1%} hold")
        assert 0.9 <= share <= 0.99


def _latencies(side: list[Summary]) -> list[float]:
    """The mean latency of the chain in each run."""
    return [run.chains[0].latency.total / sum(run.chains[0].latency.counts) for run in side]


@pytest.mark.parametrize("factor", [1.25, 1.10])
def test_the_slower_callback_is_the_named_cause(factor: float) -> None:
    random = numpy.random.default_rng(5)
    part = ("/detector", "running")
    number = 10 if factor > 1.2 else 40
    named = 0
    for _ in range(10):
        sides = runs(number, random), runs(number, random, grown={part: factor})
        causes = comparison.causes(*sides, PATH)
        first = causes[0]
        named += (first["callback"], first["kind"]) == part
        growth = [mean(_latencies(side)) for side in sides]
        total = sum(cause["growth"] for cause in causes)
        assert total == pytest.approx(growth[1] - growth[0], rel=1e-6, abs=1)
    print(f"+{factor - 1:.0%}, {number} runs a side: {named} of 10 causes named")
    assert named >= 9


def test_one_large_growth_is_found_with_five_runs_among_many_figures() -> None:
    random = numpy.random.default_rng(6)
    document = compared(drawn(random, 5), drawn(random, 5, 8.75))
    assert document["regressions"] >= 1


def test_slow_runs_that_are_few_are_shown() -> None:
    random = numpy.random.default_rng(7)
    slow = {("/motor", "running"): 3.0}
    sides = runs(12, random), [*runs(7, random), *runs(5, random, grown=slow)]
    document = comparison.compare(*sides)
    (change,) = [c for c in document["changes"] if (c["id"], c["quantity"]) == ("/motor", "p50")]
    assert (change["verdict"], change["slow_runs"]) == ("worse", 5)
    assert "callback /motor, p50: far above all of the baseline in 5 of 12 runs" in (
        page.remarks(document)
    )
    # Two slow runs of ten may as well be chance: they are shown, and are no regression.
    sides = runs(10, random), [*runs(8, random), *runs(2, random, grown=slow)]
    document = comparison.compare(*sides)
    assert verdicts(document)["callback", "/motor", "p50"] == "some runs"
    assert document["regressions"] == 0


def test_some_slow_robots_of_a_fleet_are_found() -> None:
    """Ten of forty runs take twice the time, which changes the mean little."""
    random = numpy.random.default_rng(17)
    found = 0
    for _ in range(20):
        after = [*drawn(random, 30), *drawn(random, 10, 2.0)]
        document = compared(drawn(random, 40), after)
        found += any(c["key"] == MANY[0] and c["verdict"] == "worse" for c in document["changes"])
    print(f"10 of 40 runs twice as slow: {found} of 20 found")
    assert found >= 18


def of_robots(random: numpy.random.Generator, number: int, **grown_on: Any) -> list[Summary]:
    """So many runs of each of four robots; `grown_on`: what is different on which."""
    return [
        Summary.read(changed(a_run(random, grown_on.get(robot)), "labels", value={"robot": robot}))
        for robot in ("r1", "r2", "r3", "r4")
        for _ in range(number)
    ]


def test_what_grows_on_one_robot_of_four_is_found_and_the_robot_is_named() -> None:
    """A quarter more on a quarter of the runs is 6 % in the mean, which others vary by as well."""
    random = numpy.random.default_rng(22)
    grown = {("/motor", "running"): 1.25}
    before, after = of_robots(random, 10), of_robots(random, 10, r3=grown)
    document = comparison.compare(before, after)
    (change,) = (c for c in document["changes"] if (c["id"], c["quantity"]) == ("/motor", "p50"))
    assert change["verdict"] == "worse"
    (of_robot,) = change["robots"]
    assert (of_robot["robot"], of_robot["runs"]) == ("r3", {"baseline": 10, "candidate": 10})
    medians = [
        numpy.mean([numpy.log(_motor_median(run)) for run in side if run.labels["robot"] == "r3"])
        for side in (before, after)
    ]
    assert of_robot["growth"] == pytest.approx(numpy.expm1(medians[1] - medians[0]))
    assert of_robot["growth"] == pytest.approx(0.25, abs=0.15)  # runs vary by 10 %
    document["left_out"] = {"baseline": [], "candidate": []}
    schema("comparison").validate(document)
    (told,) = (row for row in page.rows(document) if row[2] == "callback /motor, p50, on r3 alone")
    assert told[:2] == ("worse", "slower")
    assert told[3:5] == (duration(of_robot["before"]), duration(of_robot["after"]))


def _motor_median(run: Summary) -> float:
    (motor,) = (each for each in run.callbacks if each.id == "/motor")
    median = Histogram.read(motor.duration).quantile(0.5)
    assert median is not None
    return median


def test_the_causes_of_a_chain_on_one_robot_are_those_of_its_runs() -> None:
    random = numpy.random.default_rng(23)
    grown = {("/motor", "running"): 2.0}
    sides = of_robots(random, 10), of_robots(random, 10, r3=grown)
    document = comparison.compare(*sides)
    chain = next(c for c in document["changes"] if (c["id"], c["quantity"]) == (CHAIN, "p50"))
    assert [each["robot"] for each in chain["robots"]] == ["r3"]
    of_r3 = [[run for run in side if run.labels["robot"] == "r3"] for side in sides]
    assert chain["causes"] == comparison.causes(of_r3[0], of_r3[1], PATH)
    assert chain["causes"][0]["callback"] == "/motor"
    assert any(
        line.startswith(f"{CHAIN} on r3 alone: /motor running +") for line in page.remarks(document)
    )


def test_equal_versions_on_four_robots_seldom_raise_an_alarm() -> None:
    """Robots differ: each callback of one takes its own time."""
    random = numpy.random.default_rng(24)
    alarms = 0
    for _ in range(100):
        before: list[comparison.RunFigures] = []
        after: list[comparison.RunFigures] = []
        for robot in ("r1", "r2", "r3", "r4"):
            own = {figure: random.lognormal(0, 0.3) for figure in drawn(random, 1)[0]}
            for side in (before, after):
                side += [
                    comparison.RunFigures(
                        {
                            figure: value * own[figure] if figure.is_time else value
                            for figure, value in run.items()
                        },
                        robot,
                    )
                    for run in drawn(random, 5)
                ]
        alarms += comparison.differences_of_robots(before, after)["regressions"] > 0
    print(f"four robots of five runs a side, equal versions: {alarms} of 100 alarms")
    assert alarms <= 12  # 8 in the mean at most; 13 or more are rarer than 4 in 100


PLANTED = [
    (("callbacks", 3, "duration"), ("callback", "/motor", "p50"), 2.0),
    (("links", 2, "latency"), ("link", "/to/motor -> /motor", "p50"), 2.0),
    (("executors", 3, "busy"), ("executor", "/motor", "busy"), 10**9 // 2),
    (("links", 2, "topic_lost"), ("topic", "/to/motor", "lost"), 30),
    (("chains", 0, "incomplete"), ("chain", CHAIN, "incomplete"), 50),
    (("chains",), ("chain", CHAIN, "present"), []),
    (("links",), ("link", "/to/motor -> /motor", "present"), []),
]


@pytest.mark.parametrize(("path", "subject", "value"), PLANTED)
def test_a_regression_of_each_quantity_is_found(
    path: tuple[str | int, ...], subject: tuple[str, str, str], value: Any
) -> None:
    random = numpy.random.default_rng(8)
    after = [a_run(random) for _ in range(10)]
    if isinstance(value, float):
        longer = durations(random.lognormal(numpy.log(8e6), 0.05, MESSAGES).astype(int))
        value = longer
    after = [changed(run, *path, value=value) for run in after]
    document = comparison.compare(runs(10, random), [Summary.read(run) for run in after])
    assert verdicts(document)[subject] == "worse"
    kind, name, quantity = subject
    if quantity == "p50":
        assert verdicts(document)[kind, name, "p99"] == "worse"


def test_a_chain_that_nearly_vanished_is_a_regression_and_one_in_few_runs_is_named() -> None:
    random = numpy.random.default_rng(9)
    before = runs(10, random)
    after = [*runs(1, random), *runs(9, random, lost=True)]
    document = comparison.compare(before, after)
    assert verdicts(document)["chain", CHAIN, "present"] == "worse"
    named = [(each["kind"], each["id"], each["candidate"]) for each in document["not_compared"]]
    assert ("chain", CHAIN, 1) in named
    assert f"Not compared: chain {CHAIN} is in 10 and 1 run" in page.remarks(document)


def test_shares_are_compared_by_their_difference() -> None:
    """4 % of the time instead of 2 % is less than 5 points."""
    random = numpy.random.default_rng(10)
    before, after = (
        [
            Summary.read(changed(a_run(random), "executors", 0, "busy", value=busy * 10**7))
            for _ in range(8)
        ]
        for busy in (2, 4)
    )
    document = comparison.compare(before, after)
    assert verdicts(document)["executor", "/camera", "busy"] == "same"


def test_times_are_compared_by_their_geometric_means() -> None:
    columns = numpy.log([[1.0], [4.0]] * 5), numpy.log([[2.0], [8.0]] * 5)
    found = statistics.differences(*columns)
    assert numpy.exp(found.before[0]) == pytest.approx(2)
    figure = Figure(Subject("callback", "a"), "p50")
    before, after = ([{figure: v * 1e6} for v in side] for side in ([1, 4] * 5, [2, 8] * 5))
    (change,) = compared(before, after)["changes"]
    assert change["before"] == pytest.approx(2e6)
    assert change["growth"] == pytest.approx(1.0)


def test_ninety_nine_values_have_no_99th_percentile() -> None:
    random = numpy.random.default_rng(11)
    few = durations(random.integers(1, 10**6, 99))
    run = Summary.read(changed(a_run(random), "callbacks", 0, "duration", value=few))
    quantities = {
        each.quantity for each in comparison.figures(run) if each.subject.key == "/camera"
    }
    assert quantities == {"present", "p50", "busy"}


def test_executors_and_chains_are_matched_whatever_their_ids_are() -> None:
    random = numpy.random.default_rng(12)
    after = [changed(a_run(random, executor="x"), "chains", 0, "id", value="new") for _ in range(6)]
    document = comparison.compare(runs(6, random), [Summary.read(run) for run in after])
    assert document["regressions"] == 0
    assert document["not_compared"] == []
    assert {change["id"] for change in document["changes"] if change["kind"] == "chain"} == {"new"}


def test_parts_of_a_callback_that_is_twice_in_a_chain_are_added_up() -> None:
    random = numpy.random.default_rng(13)
    before = a_run(random)
    part = {**before["chains"][0]["parts"][0], "behind": {}}
    total = part["duration"]["total"] / MESSAGES
    after = changed(before, "chains", 0, "parts", value=[*before["chains"][0]["parts"], part, part])
    cause, others = comparison.causes([Summary.read(before)], [Summary.read(after)], PATH)
    assert cause["growth"] == pytest.approx(2 * total)
    assert (others["kind"], others["growth"]) == ("others", 0)


def test_losses_and_warnings_are_told() -> None:
    random = numpy.random.default_rng(14)
    before = []
    for number in range(5):
        lacking = changed(a_run(random), "losses", value={"discarded": 7, "unrecorded": 1})
        lacking["warnings"] = ["clocks differ"]
        recording = {"path": f"monday/r{number}", "fingerprint": str(number)}
        lacking["provenance"] = {"inputs": [recording]}
        before.append(Summary.read(lacking))
    document = comparison.compare(before, [*runs(4, random), before[3]])
    assert document["on_both_sides"] == ["monday/r3"]
    assert "On both sides: monday/r3" in page.remarks(document)
    assert document["losses"]["baseline"]["lost"] == {"discarded": 35, "unrecorded": 5}
    assert (
        "Missing in the baseline: 35 events, 5 unrecorded processes in 5 of 5 runs (monday/r0, "
        "monday/r1, monday/r2, …); clocks differ, in 5 of 5 runs"
    ) in page.remarks(document)


def test_a_new_blocker_is_the_cause_in_words() -> None:
    random = numpy.random.default_rng(3)
    document = comparison.compare(runs(10, random), runs(10, random, blocker=11 * MILLISECOND))
    assert found_of(document, "chain", CHAIN)
    reason = page.remarks(document)[0]
    start = f"{CHAIN}: /planner waiting in the executor +1"
    assert reason.startswith(start)
    assert reason.split(";")[0].endswith("behind /map_saver, which was not there")
    (cause, *_) = next(each["causes"] for each in document["changes"] if each.get("causes"))
    assert cause["growth"] == pytest.approx(11 * MILLISECOND, rel=0.05)


def test_the_order_of_runs_is_nothing() -> None:
    """A store has its runs in the order of their keys, a folder by their names."""
    random = numpy.random.default_rng(18)
    sides = runs(10, random), runs(10, random, grown={("/motor", "running"): 1.3})
    document = comparison.compare(*sides)
    before, after = (side[::-1] for side in sides)
    assert comparison.compare(before, after) == document


@pytest.mark.parametrize("sides", [(4, 10), (10, 4), (1, 1)])
def test_with_few_runs_it_cannot_tell(sides: tuple[int, int]) -> None:
    random = numpy.random.default_rng(5)
    before = runs(sides[0], random)
    document = comparison.compare(before, runs(sides[1], random, grown={("/motor", "running"): 9}))
    assert (document["conclusive"], document["regressions"]) == (False, 0)
    assert page.conclusion(document).startswith("Cannot tell")


def test_the_goals_may_say_the_tolerance(folders: Callable[..., list[Path]]) -> None:
    goals = folders(5)[0].parent / "goals.yaml"
    sides = [goals.parent / name for name in ("main", "branch")]
    goals.write_text("tolerance: 30\nchains: [{from: /scan, to: /cmd_vel, latency: 1s}]\n")
    done = run_takt("compare", *sides, "--goals", goals, "--json")
    assert json.loads(done.stdout)["tolerance"] == 0.3
    assert "summaries keep the chains" in done.stderr
    done = run_takt("compare", *sides, "--goals", goals, "--tolerance", "7", "--json")
    assert json.loads(done.stdout)["tolerance"] == 0.07
    goals.write_text("tolerance: -1\nchains: [{from: /scan, to: /cmd_vel, latency: 1s}]\n")
    done = run_takt("compare", *sides, "--goals", goals)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert 'tolerance: "-1" is no number of percent' in done.stderr


def test_the_tolerance_is_what_may_grow() -> None:
    random = numpy.random.default_rng(6)
    sides = runs(20, random), runs(20, random, grown={("/motor", "running"): 1.5})
    assert found_of(comparison.compare(*sides, tolerance=0.3), "callback", "/motor")
    assert not found_of(comparison.compare(*sides, tolerance=0.8), "callback", "/motor")


def test_probabilities_are_those_of_all_divisions() -> None:
    """Of five and five values, all 252 divisions by hand."""
    from itertools import combinations

    values = [3.0, 5.0, 4.0, 6.0, 5.5, 6.5, 7.0, 4.5, 8.0, 7.5]
    observed = sum(values[5:]) - sum(values[:5])
    divisions = list(combinations(range(10), 5))
    as_large = sum(
        sum(values) - 2 * sum(values[each] for each in first) >= observed - 1e-9
        for first in divisions
    )
    sides = numpy.array([values[:5]]).T, numpy.array([values[5:]]).T
    found = statistics.chances(*sides, 0.05)
    # With equal sides, Welch's statistic orders divisions about as the difference of means does.
    assert found.grown[0] == pytest.approx(as_large / len(divisions), abs=0.02)
    interval = statistics.differences(*sides)
    assert interval.low[0] < interval.after[0] - interval.before[0] < interval.high[0]


@pytest.fixture
def folders(tmp_path: Path) -> Callable[..., list[Path]]:
    """Writes two groups of summaries and returns their folders."""

    def write(number: int, **planted: Any) -> list[Path]:
        random = numpy.random.default_rng(7)
        sides = {"main": partial(a_run, random), "branch": partial(a_run, random, **planted)}
        for name, make in sides.items():
            (tmp_path / name).mkdir()
            for run in range(number):
                (tmp_path / name / f"run{run}.json").write_text(json.dumps(make()))
        return [tmp_path / name for name in sides]

    return write


def test_the_exit_status_and_the_page_say_it(folders: Callable[..., list[Path]]) -> None:
    sides = folders(10, blocker=11 * MILLISECOND)
    markdown = sides[0].parent / "summary.md"
    done = run_takt("compare", *sides, "--markdown", markdown)
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    assert "behind /map_saver, which was not there" in done.stdout
    assert f"chain {CHAIN}, p50" in done.stdout
    text = markdown.read_text()
    assert text.startswith("### ")
    assert "(10 and 10 runs)" in text.splitlines()[0]
    assert f"| slower | chain {CHAIN.replace('>', chr(92) + '>')}, p50 |" in text
    document = json.loads(run_takt("compare", *sides, "--json").stdout)
    schema("comparison").validate(document)
    assert (document["format"], document["conclusive"]) == ("takt/comparison", True)
    back = run_takt("compare", *reversed(sides))
    assert "faster" in back.stdout


def test_the_same_runs_are_no_regression(folders: Callable[..., list[Path]]) -> None:
    main, _ = folders(5)
    done = run_takt("compare", main, main)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("No regression beyond 5 % (5 and 5 runs; ")
    one = run_takt("compare", main / "run0.json", main)
    assert one.returncode == 0
    assert "Cannot tell: 1 and 5 runs" in one.stdout


def test_names_are_harmless_in_a_pull_request(folders: Callable[..., list[Path]]) -> None:
    document = comparison.compare([], [])
    document["conclusive"] = True
    name = "<img src=x>|[a](b)\x1b[2J"
    document["not_compared"] = [{"kind": "link", "id": name, "baseline": 1, "candidate": 1}]
    (row,) = [line for line in page.markdown(document).splitlines() if "link" in line]
    assert "&lt;img src=x\\>\\|\\[a\\](b)\ufffd\\[2J" in row


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.json", "{}", "missing"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("none", None, "no recording and no summary"),
        ("sub/x", "", "sub: not a recording"),
    ],
)
def test_what_is_no_run_is_one_line(
    tmp_path: Path, name: str, text: str | None, complaint: str
) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    if text is not None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    done = run_takt("compare", folder, folder)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert complaint in done.stderr


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(
    folders: Callable[..., list[Path]],
) -> None:
    main, branch = folders(5)
    (main / "notes.txt").write_text("not a run")
    (main / "damaged.json").write_text("{")
    os.mkfifo(main / "pipe.json")
    once = changed(json.loads((main / "run0.json").read_text()), "provenance", value={})
    once["provenance"] = {"inputs": [{"path": "x", "fingerprint": "1"}]}
    for name in ("run0.json", "run9.json"):
        (main / name).write_text(json.dumps(once))
    done = run_takt("compare", main, branch, "--json")
    schema("comparison").validate(json.loads(done.stdout))
    assert done.returncode in (0, 1), done.stderr
    document = json.loads(done.stdout)
    assert document["runs"] == {"baseline": 5, "candidate": 5}
    left_out = "\n".join(document["left_out"]["baseline"])
    assert left_out.count("\n") == 3
    for name in ("notes.txt", "damaged.json", "pipe.json", "run9.json: the same recording as"):
        assert name in left_out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--tolerance", "nan"], "no finite number"),
        (["--json", "--markdown", "-"], "name a file"),
    ],
)
def test_options_that_contradict_are_one_line(
    folders: Callable[..., list[Path]], options: list[str], complaint: str
) -> None:
    main, branch = folders(5)
    done = run_takt("compare", main, branch, *options)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert complaint in done.stderr


def test_a_damaged_histogram_is_said_with_its_place(folders: Callable[..., list[Path]]) -> None:
    main, _ = folders(1)
    run = main / "run0.json"
    text = changed(json.loads(run.read_text()), "callbacks", 0, "duration", "counts", value=[])
    run.write_text(json.dumps(text))
    done = run_takt("compare", run, run)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{run}: callbacks[0].duration: buckets and counts" in done.stderr


def test_a_folder_of_runs_may_have_one_that_is_called_like_a_tracer(tmp_path: Path) -> None:
    recordings = Path(__file__).parents[1] / "recordings"
    with tarfile.open(recordings / "pipeline-ring.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "pipeline-ring").rename(tmp_path / "ring")
    side = fleet_runs.read(str(tmp_path), None)
    assert (len(side.runs), side.left_out) == (1, [])
