"""Merging models of several runs."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import takt_native
from robot import run_takt
from takt import merging
from takt.errors import UserError
from takt.inputs import ModelText
from takt.merging import convergence

Json = dict[str, Any]


def model(times: list[int], callback: str = "/n:timer-10ms", **changes: Any) -> Json:
    """What `takt model` writes of a run in which a timer ran for these times."""
    observed = {
        "count": len(times),
        "min": min(times),
        "mean": sum(times) / len(times),
        "max": max(times),
    }
    windows = range(1, len(times) + 1)
    curve = [max(sum(times[i : i + n]) for i in range(len(times) - n + 1)) for n in windows]
    return {
        "format": "takt/model",
        "version": 1,
        "name": "run",
        "provenance": {"tool": "takt", "observed": {callback: observed}},
        "executors": [
            {
                "id": "e",
                "kind": "single_threaded",
                "order": "registered",
                "threads": 1,
                "overhead": [],
            }
        ],
        "callbacks": [
            {
                "id": callback,
                "node": "/n",
                "executor": "e",
                "kind": "timer",
                "execution_time": {"curve": curve},
                "activation": {"kind": "periodic", "period": 10_000_000, "jitter": 0},
            }
        ],
        "edges": [],
        "joins": [],
        "chains": [],
        **changes,
    }


def merge(runs: Sequence[Json]) -> Json:
    return merging.merge([ModelText(json.dumps(run), run["name"]) for run in runs], "m")


def test_p13_means_are_weighted_by_instances() -> None:
    merged = merge([model([10, 20]), model([40])])
    times = merged["provenance"]["observed"]["/n:timer-10ms"]
    assert (times["min"], times["max"], times["count"]) == (10, 40, 3)
    assert times["mean"] == pytest.approx(70 / 3)


@pytest.mark.parametrize("others", ["shared_memory", None])
def test_a_transport_is_that_of_all_runs(others: str | None) -> None:
    callback = "/n:timer-10ms"
    ways = ("shared_memory", others)
    ends = {"from": callback, "to": callback, "topic": "/t", "triggered_by": None}
    runs = [model([10], edges=[ends | {"transport": way}]) for way in ways]
    (edge,) = merge(runs)["edges"]
    assert edge["transport"] == others


def test_p15_the_largest_time_never_decreases_with_further_runs() -> None:
    """The longest time rises by 10 % until run 23, then stays."""
    longest = [27_000 + round(2_700 * min(run, 22) / 22) for run in range(50)]
    runs = [model([1_000, time]) for time in longest]
    found = [
        merge(runs[: n + 1])["callbacks"][0]["execution_time"]["curve"][0] for n in range(1, 50)
    ]
    assert found == sorted(found)
    report = merge(runs)["provenance"]["convergence"]["/n:timer-10ms"]
    assert report["maxima"][-1] == 29_700
    assert report["runs_since_growth"] == 50 - 23
    assert report["next_exceeds"] == pytest.approx(1 / 51)
    low, high = report["gumbel_interval"]
    assert 0 < low < report["gumbel_next_exceeds"] < high < 1


def gumbel(numbers: random.Random) -> float:
    return -math.log(-math.log(1 - numbers.random()))


def test_the_fit_finds_the_distribution() -> None:
    """The fit to 10 000 quantiles of a Gumbel distribution at 200 with scale 30, in closed form."""
    levels = [(i + 0.5) / 10_000 for i in range(10_000)]
    location, scale = convergence._gumbel([200 - 30 * math.log(-math.log(q)) for q in levels])
    assert location == pytest.approx(200, rel=1e-3)
    assert scale == pytest.approx(30, rel=1e-2)  # the quantiles have no tails


@pytest.mark.parametrize("runs", [5, 10, 30])
def test_exceedance_is_as_probable_as_it_is_said_to_be(runs: int) -> None:
    """Over many systems, the mean stated probability is that of a larger maximum, 1 / (n + 1), and
    19 of 20 intervals hold the true probability.
    """
    numbers = random.Random(runs)
    said, held, systems = 0.0, 0, 600
    for _ in range(systems):
        maxima = [round(1e6 + 1e5 * gumbel(numbers)) for _ in range(runs)]
        found = convergence.gumbel_exceedance(maxima)
        assert found is not None
        truth = -math.expm1(-math.exp(-(max(maxima) - 1e6) / 1e5))
        said += found.probability / systems
        low, high = found.interval
        assert low <= found.probability <= high
        held += low <= truth <= high
    # Of 600 systems the mean is off by a twentieth or so, the share by a hundredth.
    assert said == pytest.approx(1 / (runs + 1), rel=0.15)
    assert held / systems == pytest.approx(0.95, abs=0.03)


def test_what_cannot_be_fitted_is_not() -> None:
    assert convergence.gumbel_exceedance([1, 2, 3, 4]) is None
    constant = convergence.gumbel_exceedance([7] * 9)
    assert constant is not None
    assert constant.probability == pytest.approx(0.1)
    assert constant.interval == (0.0, 1.0)


def test_curves_cover_every_window_of_every_run() -> None:
    generator = random.Random(3)
    for _ in range(50):
        lengths = (generator.randint(1, 12), generator.randint(1, 12))
        runs = [[generator.randint(1, 100) for _ in range(length)] for length in lengths]
        curve = merge([model(run) for run in runs])["callbacks"][0]["execution_time"]["curve"]
        for run in runs:
            for n in range(1, len(run) + 1):
                for i in range(len(run) - n + 1):
                    assert sum(run[i : i + n]) <= curve[n - 1]
        for n in range(2, len(curve) + 1):
            assert all(curve[n - 1] <= curve[m - 1] + curve[n - m - 1] for m in range(1, n))


def test_what_one_run_shows_is_in_the_model() -> None:
    edge = {
        "from": "/n:timer-10ms",
        "to": "/m:/t",
        "topic": "/t",
        "delay": 5,
        "triggered_by": None,
        "confidence": None,
    }
    receiver = {
        "id": "/m:/t",
        "node": "/m",
        "executor": "e",
        "kind": "subscription",
        "execution_time": {"curve": [3]},
        "activation": None,
    }
    chain = {"id": "/n->/m", "callbacks": ["/n:timer-10ms", "/m:/t"]}
    with_edge = model([10], edges=[edge], chains=[chain])
    with_edge["callbacks"].append(receiver)
    later = json.loads(json.dumps(with_edge))
    later["edges"][0]["delay"] = 9
    merged = merge([model([10]), with_edge, later])
    assert [e["delay"] for e in merged["edges"]] == [9]
    assert [c["id"] for c in merged["callbacks"]] == ["/n:timer-10ms", "/m:/t"]
    assert [{**c, **chain} for c in merged["chains"]] == merged["chains"]


def spans(activation: Json, gaps: int) -> list[int]:
    """By the definition, in words of its own: the largest sum over all ways to divide the gaps."""
    found = [0]
    for n in range(1, gaps + 1):
        if activation["kind"] != "min_distance":
            separation = activation.get("period") or activation["min_separation"]
            found.append(max(0, n * separation - activation["jitter"]))
        elif n < len(activation["values"]):
            found.append(activation["values"][n])
        else:
            found.append(max(found[m] + found[n - m] for m in range(1, n)))
    return found


@st.composite
def activations(draw: st.DrawFn) -> Json:
    kind = draw(st.sampled_from(["periodic", "sporadic", "min_distance"]))
    if kind == "min_distance":
        raw = [0, *draw(st.lists(st.integers(0, 50), min_size=1, max_size=6))]
        values = [0]
        for n in range(1, len(raw)):
            splits = [values[m] + values[n - m] for m in range(1, n)]
            values.append(max([raw[n], values[-1], *splits]))
        values[-1] = max(values[-1], len(values))
        return {"kind": kind, "values": values}
    name = "period" if kind == "periodic" else "min_separation"
    return {"kind": kind, name: draw(st.integers(1, 40)), "jitter": draw(st.integers(0, 400))}


@given(activations())
def test_curves_are_continued_by_super_additivity(activation: Json) -> None:
    separation = activation.get("period") or activation.get("min_separation") or 1
    values, jitter = activation.get("values", []), activation.get("jitter", 0)
    found = takt_native.shortest_spans(values, separation, jitter, 41)
    assert found == spans(activation, 40)


@given(activations(), activations())
def test_merged_activations_admit_what_either_run_admits(a: Json, b: Json) -> None:
    (callback,) = merge(differing("callbacks", {"activation": a}, {"activation": b}))["callbacks"]
    sides = zip(*(spans(one, 40) for one in (callback["activation"], a, b)), strict=True)
    assert all(span <= min(others) for span, *others in sides)


def test_a_burst_of_one_run_stays_in_the_merged_model() -> None:
    single = {"kind": "min_distance", "values": [0, 10_000_000]}
    burst = {"kind": "min_distance", "values": [0, 0, 0, 10_000_000]}
    runs = differing("callbacks", {"activation": single}, {"activation": burst})
    assert merge(runs)["callbacks"][0]["activation"] == burst


def test_a_merged_edge_has_the_largest_message_and_one_link() -> None:
    callback = "/n:timer-10ms"
    edge = {"from": callback, "to": callback, "topic": "/t", "delay": 5}
    edge |= {"triggered_by": None, "message_size": 10}
    larger = {**edge, "message_size": 20}
    merged = merge([model([1], edges=[edge]), model([1], edges=[larger])])
    assert merged["edges"][0]["message_size"] == 20
    other = {**edge, "priority": 3}
    with pytest.raises(UserError, match=f"the priority of the edge from {callback} to {callback}"):
        merge([model([1], edges=[edge]), model([1], edges=[other])])


def test_chains_that_no_run_has_are_named() -> None:
    runs = [model([1]), model([1]), model([1])]
    runs[0]["provenance"]["chains_not_found"] = ["a", "b"]
    runs[1]["provenance"]["chains_not_found"] = ["b", "c"]
    assert merge(runs)["provenance"]["chains_not_found"] == ["b"]
    assert "chains_not_found" not in merge(runs[2:] * 2)["provenance"]


def test_models_without_defaults_are_merged(tmp_path: Path) -> None:
    least = {
        "executors": [{"id": "e", "kind": "single_threaded"}],
        "callbacks": [
            {
                "id": "t",
                "executor": "e",
                "kind": "timer",
                "execution_time": {"curve": [3]},
                "activation": {"kind": "periodic", "period": 10},
            }
        ],
    }
    path = tmp_path / "least.json"
    path.write_text(json.dumps({"format": "takt/model", "version": 1, "name": "m", **least}))
    done = run_takt("model", path, path, "--merge", "-o", tmp_path / "merged.json")
    assert done.returncode == 0, done.stderr


def test_commands_take_what_is_merged(tmp_path: Path) -> None:
    paths = []
    for i, times in enumerate(([100, 200], [300])):
        path = tmp_path / f"run{i}.json"
        path.write_text(json.dumps(model(times)))
        paths.append(str(path))
    output = tmp_path / "merged.json"
    done = run_takt("model", *paths, "--merge", "-o", str(output))
    assert done.returncode == 0, done.stderr
    assert (
        "2 runs: the last one raised the longest execution time of 1 of 1 callback" in done.stderr
    )
    assert run_takt("analyze", str(output)).returncode == 0
    alone = run_takt("model", paths[0], "--merge")
    assert alone.returncode == 2
    assert "needs several traces or models" in alone.stderr


def differing(part: str, one: Json, other: Json) -> list[Json]:
    """Two runs whose first element of that part differs so."""
    runs = [model([1]), model([1])]
    for run, changes in zip(runs, (one, other), strict=True):
        run[part][0] |= changes
    return runs


def test_a_merged_supply_gives_no_more_than_either() -> None:
    dedicated = {"supply": {"kind": "dedicated"}}
    small = {"kind": "reservation", "budget": 2, "period": 20, "deadline": None}
    fast = {"kind": "reservation", "budget": 1, "period": 5, "deadline": 4}
    weakest = {"kind": "reservation", "budget": 1, "period": 20, "deadline": 20}
    for one, other, expected in (
        (dedicated, {"supply": small}, {**small, "deadline": 20}),
        ({"supply": small}, dedicated, {**small, "deadline": 20}),
        ({"supply": small}, {"supply": fast}, weakest),
    ):
        merged = merge(differing("executors", one, other))
        assert merged["executors"][0]["supply"] == expected


def test_settings_that_nothing_stands_for_must_be_the_same() -> None:
    for part, name, one, other in (
        ("executors", "kind", "events", "fixed_priority"),
        ("callbacks", "priority", 9, 0),
        ("executors", "cpu", 0, None),
    ):
        with pytest.raises(UserError, match=f"the {name} of"):
            merge(differing(part, {name: one}, {name: other}))


def test_a_merged_model_is_merged_again_as_its_runs() -> None:
    runs = [model([longest], name=f"run{longest}") for longest in (5, 3, 8, 4)]
    at_once = merge(runs)
    in_two_steps = merge([merge(runs[:3]), runs[3]])
    assert in_two_steps["provenance"] == at_once["provenance"]
    assert [run["name"] for run in in_two_steps["provenance"]["runs"]] == [
        "run5",
        "run3",
        "run8",
        "run4",
    ]


def test_runs_of_different_systems_are_warned_of() -> None:
    merged = merge([model([1]), model([1], callback="/other:timer-10ms")])
    assert merged["provenance"]["warnings"] == [
        "no callback is in two of the runs: are they of one system?"
    ]


def test_another_order_of_registration_is_warned_of() -> None:
    def run(*order: str) -> Json:
        (callback,) = model([1])["callbacks"]
        callbacks = [{**callback, "id": id_, "registration": n} for n, id_ in enumerate(order)]
        return model([1], callbacks=callbacks)

    def merged_order(*runs: Json) -> str:
        merged = merge(runs)
        assert merged["provenance"]["warnings"] == []
        callbacks = sorted(merged["callbacks"], key=lambda callback: callback["registration"])
        return "".join(callback["id"] for callback in callbacks)

    assert merged_order(run("a", "b", "c"), run("a", "c"), run("x", "b", "c")) == "axbc"
    # What did not run in the first one has its place nevertheless.
    assert merged_order(run("a", "c"), run("a", "b", "c")) == "abc"
    assert merged_order(run("c", "d"), run("a", "c"), run("b", "a")) == "bacd"
    runs = [run("a"), run("a", "b", "c"), run("a", "c", "b")]
    merged = merge(runs)
    assert len(merged["provenance"]["warnings"]) == 1
    assert merged["executors"][0]["order"] == "any_in_category"
    (warning,) = merge([run("a", "b"), run("b", "a")])["provenance"]["warnings"]
    assert warning.startswith("executor e: its callbacks were registered in another order")


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("registered", "registered", "registered"),
        ("registered", "any_in_category", "any_in_category"),
        ("by_node", "by_node", "by_node"),
        ("by_node", "any_in_category", "unknown"),
        ("registered", "unknown", "unknown"),
    ],
)
def test_a_merged_executor_keeps_what_holds_of_the_orders_of_both(
    one: str, other: str, both: str
) -> None:
    runs = [model([1]), model([1])]
    for run, order in zip(runs, (one, other), strict=True):
        run["executors"][0]["order"] = order
    for either in (runs, runs[::-1]):
        assert merge(either)["executors"][0]["order"] == both


def test_a_merged_callback_suspends_itself_as_long_and_as_often_as_in_any_run() -> None:
    runs = [model([1]), model([1]), model([1])]
    runs[1]["callbacks"][0]["suspension"] = {
        "curve": [40, 50],
        "times": 2,
        "times_in_a_row": [2, 4, 6],
    }
    runs[2]["callbacks"][0]["suspension"] = {
        "curve": [30, 60],
        "times": 3,
        "times_in_a_row": [3, 3],
    }
    for order in (runs, runs[::-1]):
        (callback,) = merge(order)["callbacks"]
        assert callback["suspension"] == {
            "curve": [40, 60],
            "times": 3,
            "times_in_a_row": [3, 4, 6],
        }
    assert merge([model([1]), model([1])])["callbacks"][0]["suspension"] is None


def on_executors(*executors: dict[str, list[str]], **changes: Any) -> list[Json]:
    """Runs of callbacks on executors of their names."""
    (callback,) = model([1])["callbacks"]
    return [
        model(
            [1],
            executors=[
                {"id": name, "kind": "single_threaded", "threads": 1, "overhead": [10 * len(ids)]}
                for name, ids in run.items()
            ],
            callbacks=[
                {**callback, **changes, "id": id_, "executor": name}
                for name, ids in run.items()
                for id_ in ids
            ],
        )
        for run in executors
    ]


def test_executors_are_known_by_their_callbacks() -> None:
    """Those that no program announced are numbered as they come."""
    runs = on_executors(
        {"container": ["a", "b"], "container#2": ["c"]},
        {"container": ["c"], "container#2": ["b"], "container#3": ["d"]},
    )
    runs[1]["provenance"]["unnamed_work"] = [{"executor": "container#2"}]
    merged = merge(runs)
    owners = {callback["id"]: callback["executor"] for callback in merged["callbacks"]}
    assert owners == {"a": "container", "b": "container", "c": "container#2", "d": "container#3"}
    overhead = {executor["id"]: executor["overhead"] for executor in merged["executors"]}
    assert overhead == {"container": [20], "container#2": [10], "container#3": [10]}
    assert merged["provenance"]["unnamed_work"] == [{"executor": "container"}]


def test_runs_of_other_compositions_are_refused() -> None:
    together, apart = {"e": ["a", "b"]}, {"e": ["a"], "f": ["b"]}
    for runs in (on_executors(together, apart), on_executors(apart, together)):
        with pytest.raises(UserError, match='callbacks "a" and "b" is the same in some runs'):
            merge(runs)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from("abcd"), st.sampled_from([None, "/n 2", "/n 3", "reentrant"])
        ),
        min_size=2,
        max_size=4,
    )
)
def test_callbacks_that_a_run_keeps_apart_are_apart(groups: list[dict[str, str | None]]) -> None:
    runs = []
    for run in groups:
        (document,) = on_executors({"e": list(run)})
        for callback in document["callbacks"]:
            callback["callback_group"] = run[callback["id"]]
        runs.append(document)
    merged = {c["id"]: c["callback_group"] for c in merge(runs)["callbacks"]}
    for run in groups:
        for one, other in itertools.combinations(run, 2):
            excluded = merged[one] == merged[other] != "reentrant"
            assert not excluded or run[one] == run[other] != "reentrant"
        assert all(merged[one] == "reentrant" for one in run if run[one] == "reentrant")
    given = {name: value for run in groups for name, value in run.items()}
    if all(run.items() <= given.items() for run in groups):
        assert merged == given


def test_a_provenance_that_somebody_broke_is_one_line() -> None:
    for field, value, where in (
        ("runs", 3, "provenance.runs"),
        ("convergence", {"x": None}, "provenance.convergence.x"),
        ("losses", [1], "provenance.losses"),
    ):
        broken = model([1])
        broken["provenance"][field] = value
        with pytest.raises(UserError, match=f'--merge: "run": {where}: '):
            merge([model([1]), broken])


def test_fields_of_others_stay_in_the_merged_model() -> None:
    assert merge([model([1]), model([1], team="perception")])["team"] == "perception"


def test_larger_queues_and_costs_stay_in_the_merged_model() -> None:
    queues = differing("callbacks", {"queue_depth": 3}, {"queue_depth": 10})
    assert merge(queues)["callbacks"][0]["queue_depth"] == 10
    events = {"kind": "events"}
    costs = differing("executors", events, {**events, "release_overhead": 7})
    assert merge(costs)["executors"][0]["release_overhead"] == 7


def test_a_merged_chain_has_the_strictest_goal() -> None:
    path = {"id": "c", "callbacks": ["/n:timer-10ms"]}
    chains = [path, {**path, "goal": 9, "rank": 4}, {**path, "goal": 5, "rank": 6}]
    merged = merge([model([1], chains=[chain]) for chain in chains])
    assert [(c["goal"], c["rank"]) for c in merged["chains"]] == [(5, 4)]
