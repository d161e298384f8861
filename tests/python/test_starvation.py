"""takt plan: which callbacks a plan starves, and the plan that starves none."""

from __future__ import annotations

import json
import random
import runpy
from pathlib import Path
from typing import Any

import pytest

from robot import run_takt
from takt import pipeline
from takt.documents import Model
from takt.planning import starvation
from takt.trials import experiments

Json = dict[str, Any]

MS = 1_000_000


def callback(name: str, executor: str, time: float, **members: object) -> Json:
    kind = "timer" if "period" in members else "subscription"
    period = members.pop("period", None)
    return {
        "id": name,
        "node": f"/{name}",
        "executor": executor,
        "kind": kind,
        "execution_time": {"curve": [round(time * MS)]},
        "activation": None
        if period is None
        else {"kind": "periodic", "period": period, "jitter": 0},
        **members,
    }


def model(depth: int = 1, detector: float = 8) -> Json:
    """An urgent chain of two long callbacks, twice as long as the time between two messages to a
    lesser one. The sensor has an executor of its own.
    """
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [
            {"id": "main", "kind": "fixed_priority", "supply": {"kind": "dedicated"}},
            {"id": "sensor", "kind": "single_threaded", "supply": {"kind": "dedicated"}},
        ],
        "callbacks": [
            callback("camera", "main", 8, period=40 * MS, priority=2),
            callback("filter", "main", 0.5, topic="/odometry", priority=1, queue_depth=depth),
            callback("detector", "main", detector, topic="/camera", priority=2),
            callback("odometry", "sensor", 0.1, period=10 * MS),
        ],
        "edges": [
            {"from": "camera", "to": "detector"},
            {"from": "odometry", "to": "filter"},
        ],
        "chains": [{"id": "see", "callbacks": ["camera", "detector"], "rank": 1}],
    }


def starved(document: Json, options: Json | None = None) -> list[starvation.Starved]:
    text = json.dumps(document)
    plan = pipeline.plan(text, "model", options or {})
    return starvation.predict(Model.read(document), "model", plan, options or {})


def test_it_predicts_the_messages_that_a_queue_of_one_loses() -> None:
    (one,) = starved(model())
    assert one.callback == "filter"
    # At most one of the four messages of each period of the camera comes too late.
    assert 0.1 < one.planned.lost <= 0.25
    assert one.default.lost == 0
    assert str(one).startswith("filter would lose up to ")
    assert str(one).endswith("(under the default executor nothing)")


@pytest.mark.parametrize("harmless", [model(depth=2), model(detector=1)])
def test_who_has_room_or_time_does_not_starve(harmless: Json) -> None:
    assert starved(harmless) == []


def test_the_default_executor_starves_nobody_more_than_itself() -> None:
    assert starved(model(), {"executor": "single_threaded"}) == []


def test_a_timer_that_samples_is_late() -> None:
    late = model(depth=2)
    late["callbacks"].append(callback("control", "main", 1, period=20 * MS, priority=0))
    assert starved(late) == []  # it samples nothing
    late["edges"].append({"from": "filter", "to": "control"})
    (one,) = starved(late)
    assert one.callback == "control"
    # Both callbacks of the chain and the filter may come first; by default one callback does.
    assert one.planned.longest > 16 * MS
    assert one.planned.longest - one.default.longest > 0.1 * 20 * MS
    assert "control would take up to 17" in str(one)


def relieved(document: Json, options: Json | None = None) -> list[starvation.Relief]:
    text = json.dumps(document)
    plan = pipeline.plan(text, "model", options or {})
    return starvation.relieve(Model.read(document), "model", plan, options or {})


def priorities(plan: Json, executor: str = "main") -> dict[str, int]:
    (found,) = (e for e in plan["executors"] if e["id"] == executor)
    return {c["id"]: c["priority"] for c in found["callbacks"]}


def test_the_relief_raises_what_starves_and_nothing_else() -> None:
    (relief,) = relieved(model())
    assert relief.raised == ("filter",)
    assert priorities(relief.plan) == {"camera": 2, "detector": 2, "filter": 3}
    # The urgent chain waits for the filter twice at most.
    before, after = relief.chains["see"]
    assert before <= after <= before + 1 * MS


def test_nothing_is_raised_further_than_it_must_be() -> None:
    """The callbacks that starve the filter are as unimportant as the filter: it is raised above
    them only, and the urgent chain does not wait for it.
    """
    document = model(detector=1)
    document["callbacks"][0] |= {"execution_time": {"curve": [MS]}}
    document["callbacks"].insert(0, callback("map", "main", 12, period=50 * MS, priority=1))
    document["callbacks"].insert(0, callback("grid", "main", 8, period=50 * MS, priority=1))
    plan = pipeline.plan(json.dumps(document), "model", {})
    search = starvation._Search(Model.read(document), "model", plan, {})
    assert search.lowered({"filter": 2}) == {"filter": 1}
    candidate = starvation._with_priorities(search._model, plan, {"filter": 1})
    given = {callback.id: callback.priority for callback in candidate.callbacks}
    assert given["map"] == given["grid"] == 1
    assert given["filter"] == 2
    assert given["camera"] == given["detector"] == 3


def controlled() -> Json:
    """With a control loop that is a quarter of the urgent chain, which waits for a map already."""
    document = model(depth=5)
    document["callbacks"].append(callback("map", "main", 5, period=53 * MS, priority=0))
    document["callbacks"].append(callback("control", "main", 4, period=40 * MS, priority=0))
    document["edges"].append({"from": "filter", "to": "control"})
    return document


def test_where_raising_makes_a_chain_much_longer_a_thread_more_is_the_other_way() -> None:
    raised, apart = relieved(controlled())
    assert raised.raised == ("control",)
    before, after = raised.chains["see"]
    assert after > 1.1 * before
    assert apart.raised == ()
    assert apart.apart == ("/control",)
    assert apart.chains["see"][1] <= before
    assert set(priorities(apart.plan, "main/control")) == {"control"}
    assert set(priorities(apart.plan)) == {"camera", "detector", "filter", "map"}


def test_a_plan_with_fewer_threads_is_compared_with_the_executor_that_it_replaces() -> None:
    many = model()
    many["executors"][0] |= {"kind": "multi_threaded", "threads": 2}
    options = {"executor": "fixed_priority"}
    (one,) = starved(many, options)
    assert one.callback == "filter"
    assert one.default.lost == 0
    (relief,) = relieved(many, options)
    assert relief.raised == ("filter",)


def test_a_plan_without_priorities_has_no_relief() -> None:
    assert relieved(model(), {"executor": "graph_aware"}) == []


def lost(document: Json, callback: str) -> list[float]:
    """Which share of its messages a callback loses, in starts that the prediction does not know."""
    generator = random.Random("other starts")
    timers = [c["id"] for c in document["callbacks"] if c["kind"] == "timer"]
    shares = []
    for _ in range(20):
        offsets = {timer: generator.randrange(starvation.TOGETHER) for timer in timers}
        options = {"duration": 10_000 * MS, "offsets": offsets}
        simulation = pipeline.simulate(json.dumps(document), "model", options)
        (fate,) = (c for c in simulation.callbacks if c.id == callback)
        shares.append(fate.discarded / fate.activations)
    return shares


def test_the_reference_system_loses_what_is_predicted_and_nothing_under_the_relief() -> None:
    """A program on rclcpp lost 14 to 18 % of the frames of a queue of one under such a plan."""
    experiment = runpy.run_path(str(experiments.ROOT / "autoware-hot-path" / "run.py"))
    plain: Json = experiment["model"]("fixed_priority", experiment["DEDICATED"])
    fates = {one.callback: one for one in starved(plain)}
    assert set(fates) == {"BehaviorPlanner", "EuclideanIntersection"}
    fate = fates["EuclideanIntersection"]
    assert fate.default.lost == 0

    shares = sorted(lost(plain, fate.callback))
    assert shares[0] < 0.14
    assert 0.18 < shares[-1] <= fate.planned.lost

    raised, apart = relieved(plain)
    # The planner has to come first; the other one only before what makes its messages.
    assert raised.raised == ("BehaviorPlanner", "EuclideanIntersection")
    given = priorities(raised.plan, "e")
    assert given["BehaviorPlanner"] > given["RayGroundFilter"] > given[fate.callback]
    assert given[fate.callback] > given["EuclideanClusterSettings"]
    better: Json = json.loads(json.dumps(plain))
    for one in better["callbacks"]:
        one["priority"] = given[one["id"]]
    assert max(lost(better, fate.callback)) == 0
    # Each of the two that are raised may come between once, and the settings twice.
    for before, after in raised.chains.values():
        assert after <= before + 3 * experiment["COMPUTING"]

    # The planner takes a seventh of the hot path's time. To end in time it must run within the hot
    # path, unless it has a thread of its own.
    assert apart.apart == ("/BehaviorPlanner",)
    assert apart.raised == ("EuclideanIntersection",)
    best = max(before for before, _ in apart.chains.values())
    assert max(after for _, after in apart.chains.values()) <= 1.1 * best


def test_the_command_warns_and_offers(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model()))
    done = run_takt("plan", path)
    assert done.returncode == 0
    warning, offer = done.stderr.splitlines()
    assert warning.startswith("takt: warning: filter would lose up to ")
    assert offer.startswith("takt: --avoid-starvation raises filter, and nothing starves;")
    plain = json.loads(done.stdout)
    done = run_takt("plan", path, "--avoid-starvation")
    assert done.returncode == 0
    better = json.loads(done.stdout)
    priorities = [
        next(c["priority"] for e in p["executors"] for c in e["callbacks"] if c["id"] == "filter")
        for p in (plain, better)
    ]
    assert priorities == [1, 3]


def test_the_command_says_where_there_is_nothing_to_raise(tmp_path: Path) -> None:
    document = model()
    document["executors"][0]["kind"] = "graph_aware"
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    done = run_takt("plan", path, "--avoid-starvation")
    assert done.returncode == 0
    assert "--executor fixed_priority" in done.stderr.splitlines()[-1]


def test_the_command_gives_what_chains_would_wait_for_an_executor_of_its_own(
    tmp_path: Path,
) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(controlled()))
    done = run_takt("plan", path)
    raising, apart = done.stderr.splitlines()[-2:]
    assert raising.startswith("takt: --same-executors raises control, and nothing starves;")
    assert apart.startswith("takt: --avoid-starvation gives /control an executor of its own, and")
    done = run_takt("plan", path, "--avoid-starvation")
    assert done.returncode == 0
    assert "takt: given /control an executor of its own, and nothing starves;" in done.stderr
    assert {e["id"] for e in json.loads(done.stdout)["executors"]} >= {"main", "main/control"}
    done = run_takt("plan", path, "--same-executors")
    assert done.returncode == 0
    assert "takt: raised control, and nothing starves;" in done.stderr
    assert {e["id"] for e in json.loads(done.stdout)["executors"]} == {"main", "sensor"}
    # Where raising costs next to nothing, no thread is spent.
    path.write_text(json.dumps(model()))
    done = run_takt("plan", path, "--avoid-starvation")
    assert {e["id"] for e in json.loads(done.stdout)["executors"]} == {"main", "sensor"}
