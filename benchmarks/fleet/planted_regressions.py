"""Planted regressions: how often `takt compare` finds them, names their cause, and cries wolf.

    python benchmarks/fleet/planted_regressions.py --robots 20 --processes 2

Robots are drawn at random: chains from timers over subscriptions on shared executors. Each of their
runs is simulated, recorded, read and summarised as a real one; the time of each callback varies by
10 % from run to run, and the phases of timers by their periods. The runs of a comparison are drawn
from those of one robot, and in the candidate one thing is different. Where it is so on one robot of
four, the runs are labelled as those of four robots. Prints in how many comparisons it was found, in
how many of these the cause that is named first is what was planted, and how many comparisons of
equal versions raise an alarm.
"""

from __future__ import annotations

import argparse
import copy
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any, NamedTuple

from takt import pipeline
from takt.documents.types import Summary
from takt.fleet import comparison, summary

Json = dict[str, Any]

MILLISECOND = 1_000_000
SPREAD = 0.1
"""How much the time of a callback varies from run to run (the deviation of its logarithm)."""
SHORTEST = 0.8
"""The least time of an instance, as a share of what the callback takes in this run."""
PERIODS = (20, 25, 40, 50)
DURATION = 2_500 * MILLISECOND
"""How long a run is, in nanoseconds: callbacks with short periods run a hundred times, which a 99th
percentile needs.
"""
EXECUTORS, CHAINS = 3, 3
LOAD = (0.15, 0.35)
"""How busy an executor is, at least and at most."""
LOADED = 1.3
"""How much longer all callbacks take in a run under load."""
SIBLING_SHARE = 0.25
"""The time of the sibling, which is what another order costs, of that of the chain's callbacks."""
VICTIM, SIBLING, BLOCKER = "victim", "sibling", "blocker"
EQUAL_RUNS = 10
"""How many runs each side of a comparison of equal versions has."""


def robot(choice: Random) -> Json:
    """A model whose second callback of the first chain is the VICTIM. The SIBLING takes the same
    messages after it, on the same executor; what follows the victim is on another one.
    """
    callbacks: list[Json] = []
    edges = []
    for chain in range(CHAINS):
        before = None
        for step in range(choice.randint(3, 4)):
            is_victim = (chain, step) == (0, 1)
            name = VICTIM if is_victim else f"c{chain}{step}"
            callbacks.append(_callback(choice, name, None if step == 0 else f"/to_{name}"))
            if before is None:
                period = choice.choice(PERIODS) * MILLISECOND
                callbacks[-1]["activation"] = {"kind": "periodic", "period": period, "jitter": 0}
            else:
                edges.append(_edge(before, name, f"/to_{name}"))
            callbacks[-1]["period"] = period
            if (chain, step) == (0, 2):
                others = {f"e{number}" for number in range(EXECUTORS)} - {callbacks[-2]["executor"]}
                callbacks[-1]["executor"] = choice.choice(sorted(others))
            if is_victim:
                sibling = _callback(choice, SIBLING, f"/to_{name}")
                callbacks.append(
                    sibling | {key: callbacks[-1][key] for key in ("executor", "period")}
                )
                edges.append(_edge(before, SIBLING, f"/to_{name}"))
            before = name
    for number, callback in enumerate(callbacks):
        callback["registration"] = number
    for executor in range(EXECUTORS):
        load = choice.uniform(*LOAD)
        mine = [each for each in callbacks if each["executor"] == f"e{executor}"]
        shares = [choice.uniform(1, 3) for _ in mine]
        for callback, share in zip(mine, shares, strict=True):
            callback["time"] = callback["period"] * load * share / sum(shares)
    model = {
        "format": "takt/model",
        "version": 1,
        "name": "generated",
        "executors": [
            {
                "id": f"e{number}",
                "kind": "single_threaded",
                "order": "registered",
                "supply": {"kind": "dedicated"},
            }
            for number in range(EXECUTORS)
        ],
        "callbacks": callbacks,
        "edges": edges,
        "chains": [],
    }
    callback_of(model, SIBLING)["time"] = SIBLING_SHARE * time_of_chain(model)
    return model


def _callback(choice: Random, name: str, topic: str | None) -> Json:
    kind: Json = {"kind": "subscription", "topic": topic, "queue_depth": 10} if topic else {}
    return {
        "id": name,
        "node": f"/{name}",
        "executor": f"e{choice.randrange(EXECUTORS)}",
        "kind": "timer",
        "activation": None,
        **kind,
    }


def _edge(sender: str, receiver: str, topic: str) -> Json:
    return {"from": sender, "to": receiver, "topic": topic, "delay": 0, "message_size": 64}


def callback_of(model: Json, name: str) -> Json:
    return next(each for each in model["callbacks"] if each["id"] == name)


def time_of_chain(model: Json) -> float:
    """That of the callbacks of the victim's chain."""
    mine = [each for each in model["callbacks"] if each["id"][:2] == "c0" or each["id"] == VICTIM]
    return float(sum(each["time"] for each in mine))


def grow(model: Json, size: float) -> None:
    callback_of(model, VICTIM)["time"] *= 1 + size


def block(model: Json, size: float) -> None:
    """A new callback takes the victim's messages before it."""
    victim = callback_of(model, VICTIM)
    time = size * time_of_chain(model)
    new = {"id": BLOCKER, "node": f"/{BLOCKER}", "time": time, "registration": -1}
    model["callbacks"].append({**victim, **new})
    (edge,) = [each for each in model["edges"] if each["to"] == VICTIM]
    model["edges"].append(edge | {"to": BLOCKER})


def reorder(model: Json, _: float) -> None:
    """The sibling, which came after the victim, comes before it."""
    first, second = (callback_of(model, name) for name in (VICTIM, SIBLING))
    first["registration"], second["registration"] = second["registration"], first["registration"]


def disconnect(model: Json, _: float) -> None:
    """Messages of the victim are for nobody any more, nor what would follow from them."""
    lost = {VICTIM}
    for edge in model["edges"]:
        if edge["from"] in lost:
            lost.add(edge["to"])
    model["edges"] = [each for each in model["edges"] if each["from"] not in lost]
    lost -= {VICTIM}
    model["callbacks"] = [each for each in model["callbacks"] if each["id"] not in lost]


Change = Callable[[Json, float], None]
"""Plants something in a model, of a size."""


class Pool(NamedTuple):
    """Runs of one robot under the same conditions."""

    change: Change | None = None
    size: float = 0.0
    is_loaded: bool = False


class Plan(NamedTuple):
    """Comparisons of one kind."""

    name: str
    change: Change
    size: float
    runs: int
    """How many each side of a comparison has."""
    one_of: int = 1
    """One run of so many has it."""
    under_load: bool = False
    """These are under load, in both versions."""
    on_a_robot: bool = False
    """By their labels the runs are of `one_of` robots, and those that have it of the last one."""

    @property
    def special(self) -> Pool:
        """The runs that have it."""
        return Pool(self.change, self.size, self.under_load)

    @property
    def before(self) -> Pool:
        """The same ones in the baseline."""
        return Pool(is_loaded=self.under_load)


UNDER_LOAD = "a callback, in runs under load, one of two"
ON_SOME = "a callback, on one robot of four"
PLANS = (
    Plan("a callback", grow, 0.25, 10),
    Plan("a new blocker", block, 0.25, 10),
    Plan("another order", reorder, SIBLING_SHARE, 10),
    Plan("a lost link", disconnect, 0.0, 10),
    Plan("a callback", grow, 0.10, 40),
    Plan("a new blocker", block, 0.10, 40),
    Plan("a callback", grow, 1.0, 10),
    Plan(UNDER_LOAD, grow, 0.5, 40, 2, under_load=True),
    Plan(UNDER_LOAD, grow, 1.0, 40, 2, under_load=True),
    Plan(ON_SOME, grow, 0.5, 40, 4, on_a_robot=True),
    Plan(ON_SOME, grow, 1.0, 40, 4, on_a_robot=True),
)
USUAL = Pool()


def sizes(plans: Iterable[Plan]) -> dict[Pool, int]:
    """How many runs each pool has: those of the largest comparison, and some to choose from."""
    found = {USUAL: 70}
    for plan in plans:
        needed = plan.runs // plan.one_of
        number = needed if plan.runs >= 40 else 2 * needed
        for pool in (plan.special, plan.before):
            found[pool] = max(found.get(pool, 0), number)
    return found


def of_run(model: Json, pool: Pool, choice: Random) -> str:
    """The model of one run, in which all times are other ones."""
    found = copy.deepcopy(model)
    if pool.change is not None:
        pool.change(found, pool.size)
    for callback in found["callbacks"]:
        factor = choice.lognormvariate(0, SPREAD) * (LOADED if pool.is_loaded else 1)
        del callback["period"]
        callback["execution_time"] = {"curve": [round(callback.pop("time") * factor)]}
    return json.dumps(found)


def summarised(model: str, seed: int) -> Summary:
    """A simulated run, through all that a recording goes through."""
    options: Json = {"seed": seed, "duration": DURATION, "releases": "random"}
    options |= {"execution": "random", "shortest": SHORTEST}
    with tempfile.TemporaryDirectory() as folder:
        pipeline.simulate(model, "model", options, folder)
        return summary.parse(json.dumps(summary.of([folder])), folder)


class Result(NamedTuple):
    plan: int | None
    """Which one of PLANS; None: the versions are equal."""
    alarm: bool
    found: bool = False
    named: bool = False


def results(task: tuple[int, int, str]) -> list[Result]:
    """Those of one robot."""
    number, comparisons, planted = task
    plans = {place: plan for place, plan in enumerate(PLANS) if planted in plan.name}
    choice = Random(number)
    model = robot(choice)
    pools = {
        pool: [summarised(of_run(model, pool, choice), choice.getrandbits(32)) for _ in range(runs)]
        for pool, runs in sizes(plans.values()).items()
    }
    told = []
    for _ in range(2 * comparisons):
        drawn = choice.sample(pools[USUAL], 2 * EQUAL_RUNS)
        document = comparison.compare(drawn[:EQUAL_RUNS], drawn[EQUAL_RUNS:])
        told.append(Result(None, document["regressions"] > 0))
    for number_of_plan, plan in plans.items():
        times = comparisons if plan.runs < 40 else 1
        told += [judged(number_of_plan, pools, choice) for _ in range(times)]
    return told


def judged(number: int, pools: dict[Pool, list[Summary]], choice: Random) -> Result:
    """One comparison with what a plan plants."""
    plan = PLANS[number]
    special = -(-plan.runs // plan.one_of)
    rest = plan.runs - special
    usual = choice.sample(pools[USUAL], 2 * rest + (special if plan.before == USUAL else 0))
    after = [*usual[:rest], *choice.sample(pools[plan.special], special)]
    before = usual[rest:]
    if plan.before != USUAL:
        before += choice.sample(pools[plan.before], special)
    if plan.on_a_robot:
        before, after = labelled(before, plan.one_of), labelled(after, plan.one_of)
    document = comparison.compare(before, after)
    worse = [each for each in document["changes"] if each["verdict"] == "worse"]
    found = any(is_of_victim(each) for each in worse)
    return Result(number, bool(worse), found, found and names(worse, plan))


def labelled(runs: list[Summary], robots: int) -> list[Summary]:
    """The same number of runs for each robot, one robot's after the other's."""
    each = len(runs) // robots
    return [run.replace(labels={"robot": f"r{number // each}"}) for number, run in enumerate(runs)]


def is_of_victim(change: Json) -> bool:
    """Chains have the names of their ends; the first one is the victim's."""
    return VICTIM in change["id"] or (change["kind"] == "chain" and "c00" in change["id"])


def names(worse: list[Json], plan: Plan) -> bool:
    """Whether what is told first is what was planted: the largest cause of the chain that is told
    first, or, if no chain is slower, the callback that is.
    """
    if plan.change is disconnect:
        return bool(worse[0]["quantity"] == "present")
    causes = next((each["causes"] for each in worse if each.get("causes")), None)
    if causes is None:
        return plan.change is grow and is_of(worse[0]["id"], VICTIM)
    callback, kind, behind = (causes[0][name] for name in ("callback", "kind", "behind"))
    if plan.change is grow:
        return (is_of(callback, VICTIM) and kind == "running") or is_of(behind, VICTIM)
    return is_of(behind, BLOCKER if plan.change is block else SIBLING)


def is_of(callback: str | None, name: str) -> bool:
    """Whether an id of a recording is that of the model's callback."""
    return callback is not None and callback.startswith(f"/{name}:")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robots", type=int, default=20)
    parser.add_argument("--comparisons", type=int, default=5, help="with 10 runs a side, per robot")
    parser.add_argument("--planted", default="", help="only what has this in its name")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    begin = time.monotonic()
    tasks = [(number, options.comparisons, options.planted) for number in range(options.robots)]
    told: list[Result] = []
    with multiprocessing.get_context("spawn").Pool(options.processes) as workers:
        for number, of_robot in enumerate(workers.imap_unordered(results, tasks), 1):
            told += of_robot
            print(f"{number} of {len(tasks)} robots", file=sys.stderr)
    print("\n".join(table(told)))
    print(f"{(time.monotonic() - begin) / 60:.1f} min")


def table(told: list[Result]) -> Iterator[str]:
    yield "| planted | size | runs a side | found | cause named first |"
    yield "|---|---:|---:|---:|---:|"
    for number, plan in enumerate(PLANS):
        mine = [each for each in told if each.plan == number]
        if not mine:
            continue
        found = [each for each in mine if each.found]
        size = f"+{plan.size:.0%}" if plan.size else "–"
        yield (
            f"| {plan.name} | {size} | {plan.runs} | {len(found)} of {len(mine)} | "
            f"{sum(each.named for each in found)} of {len(found)} |"
        )
    equal = [each for each in told if each.plan is None]
    yield f"equal versions: {sum(each.alarm for each in equal)} of {len(equal)} alarms"


if __name__ == "__main__":
    main()
