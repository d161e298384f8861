"""What shaping is for: the quadratic cost of a control loop through an unshaped chain, a shaped
one, and one with logical execution time, as ROS 2 nodes under SCHED_FIFO. See README.md.

All timings share one chain: in every period each sees the same execution times, latencies and
disturbances, and has pendulums of its own.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

import takt_native
from takt import loopback
from takt.documents import (
    Activation,
    Callback,
    Chain,
    Model,
    ShapedChain,
    Shaping,
    ShapingBand,
)
from takt.errors import UserError
from takt.processes import runtime
from takt.shaping import plans
from takt.shaping.gate_process import Gates
from takt.trials.experiments import Row, Rows

from .chains import MS
from .control import EFFORT, STEPS, Design, design, dynamics, trajectory, transition

Json = dict[str, Any]

PERIOD = 50 * MS
SECONDS = PERIOD / 1e9
PERIODS = 680
SETTLING = 80
"""The first ones, which the cost leaves out."""
PROFILE = 120
LOADS = (0.3, 0.5, 0.7, 0.85)
"""The longest execution time as a share of the period."""
TASKS = ("hold", "follow")
CYCLE = 40
"""Periods of the trajectory that is followed."""
AMPLITUDE = 0.2
"""How far the reference swings, in rad."""
DISTURBANCE = 0.007
"""Standard deviation of what changes the angular velocity in a period, in rad/s."""
SLACK = MS // 2
DOMAIN = "88"
"""Other programs on this machine shall not hear ours."""
HERE = Path(__file__).parent

REFERENCE = AMPLITUDE * numpy.sin(
    2 * numpy.pi * (numpy.arange(CYCLE * STEPS) + 0.5) / (CYCLE * STEPS)
)


@dataclass(frozen=True)
class Timing:
    """A way for the inputs to the plant, and what the controller goes by."""

    name: str
    topic: str
    design: Design
    starts: tuple[int, ...]
    """When its slots start."""

    @property
    def nominal(self) -> float:
        return sum(self.design.delays) / len(self.design.delays)

    @property
    def behind(self) -> int:
        """By how many periods inputs act after the one that they were computed in."""
        return int(self.nominal >= SECONDS)


def rows() -> Rows:
    found: Rows = []
    for load in LOADS:
        found += compare(load)
    return found


def compare(load: float) -> Rows:
    times = execution_times(load)
    profile = latencies(load, times)
    seconds = [latency / 1e9 for latency in profile]
    try:
        chains = [
            shaped(profile, 1, "/one_slot"),
            shaped(profile, 3, "/three_slots"),
            logical(profile),
        ]
    except takt_native.InputError as error:
        # A machine that stands still for long enough makes the chain longer than its period.
        return [Row(f"loop, load {100 * load:.0f} %", None, str(error))]
    plan = chains[0][1].replace(chains=tuple(chain for chain, _ in chains))
    one, three = ([slot.latency / 1e9 for slot in chain.gate.slots] for chain, _ in chains[:2])
    shares = [slot.share for slot in chains[1][0].gate.slots]
    timings = [
        Timing("unshaped", "/command", design(SECONDS, seconds, known=False), ()),
        Timing("one slot", "/one_slot", design(SECONDS, one, known=True), ()),
        Timing(
            "three slots",
            "/three_slots",
            design(SECONDS, three, known=True, shares=shares),
            tuple(slot.start for slot in chains[1][0].gate.slots),
        ),
        Timing("LET", "/let", design(SECONDS, [SECONDS], known=True), ()),
    ]
    history = run(timings, times, plan, PERIODS)
    what = f"loop, load {100 * load:.0f} %, "
    found: Rows = []
    for number, task in enumerate(TASKS):
        costs = {
            timing.name: cost(history, 2 * at + number, plan_of(timing, task), timing.behind)
            for at, timing in enumerate(timings)
        }
        for name, value in costs.items():
            found.append(Row(f"{what}{task}, {name}", None, 1e6 * value, "mrad²"))
        best = min(costs["one slot"], costs["three slots"])
        others = min(costs["unshaped"], costs["LET"])
        better = f"{what}{task}, shaped / the better of the others"
        found.append(Row(better, None, best / others, expected="≤ 1"))
    return found


def execution_times(load: float) -> list[float]:
    """Seconds. Of two kinds, as of perception with few or with many objects in sight."""
    randoms = random.Random(1)
    longest = load * SECONDS
    kinds = ((1 / 3, 0.4), (0.9, 1.0))
    return [longest * randoms.uniform(*randoms.choice(kinds)) for _ in range(PERIODS)]


def shaped(profile: list[int], bands: int, topic: str) -> tuple[ShapedChain, Shaping]:
    request = plans.Request(bands=bands, grid=MS // 10, slack=SLACK, publish_time=MS // 10)
    timer = Activation(kind="periodic", period=PERIOD)
    model = Model(
        format="takt/model",
        version=1,
        callbacks=(Callback(id="c", executor="e", kind="timer", activation=timer),),
        chains=(Chain(id=topic, callbacks=("c",)),),
    )
    plan = plans.make(model, {topic: profile}, "trace", request, topic)
    (chain,) = plan.chains
    gate = chain.gate.replace(input="/command")
    return chain.replace(gate=gate), plan


def logical(profile: list[int]) -> tuple[ShapedChain, Shaping]:
    """Outputs leave when the next period begins."""
    chain, plan = shaped(profile, 1, "/let")
    slot = ShapingBand(start=0, end=MS // 10, latency=PERIOD, share=1)
    gate = chain.gate.replace(slots=(slot,), overshoot="defer")
    return chain.replace(gate=gate), plan


def plan_of(timing: Timing, task: str) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The inputs and the states that the task means for it, in each period of its cycle."""
    if task == "hold":
        return numpy.zeros(1), numpy.zeros((1, 3))
    return trajectory(SECONDS, timing.nominal, REFERENCE)


def pendulum(timing: Timing, task: str) -> Json:
    """What the controller goes by."""
    inputs, states = plan_of(timing, task)
    usual = numpy.hstack(dynamics(SECONDS, timing.nominal))
    return {
        "inputs": inputs.tolist(),
        "states": states.tolist(),
        "slots": timing.starts or (0,),
        "gains": [gain.tolist() for gain in timing.design.gains],
        "corrections": [one.tolist() for one in timing.design.corrections],
        "mismatch": [
            (numpy.hstack(dynamics(SECONDS, delay)) - usual).tolist()
            for delay in timing.design.delays
        ],
    }


def latencies(load: float, times: list[float]) -> list[int]:
    """The latencies of the chain alone, from the beginning of a period until the plant has the
    input.
    """
    idle = Timing("", "/command", design(SECONDS, [load * SECONDS], known=True), ())
    history = run([idle], times, None, PROFILE)
    # The first ones warm the caches.
    found = [change[1] for record in history[3:] for change in record["changes"] if change[0] == 0]
    return sorted(found)


def run(
    timings: list[Timing], times: list[float], plan: Shaping | None, periods: int
) -> list[Json]:
    """What the plant tells. UserError without privileges."""
    os.environ.update(loopback.environment() | {"ROS_DOMAIN_ID": DOMAIN})
    everything = [(timing, task) for timing in timings for task in TASKS]
    with tempfile.TemporaryDirectory(prefix="takt-") as folder:
        controller, plant = Path(folder) / "controller.json", Path(folder) / "plant.json"
        controller.write_text(
            json.dumps(
                {
                    "period": PERIOD,
                    "execution_times": times,
                    "pendulums": [pendulum(*one) for one in everything],
                }
            ),
            encoding="utf-8",
        )
        plant.write_text(
            json.dumps(
                {
                    "period": PERIOD,
                    "periods": periods,
                    "topics": [timing.topic for timing in timings],
                    "states": [plan_of(*one)[1][0][:2].tolist() for one in everything],
                    "disturbance": DISTURBANCE,
                    "seed": 2,
                }
            ),
            encoding="utf-8",
        )

        def start(priority: int, name: str, settings: Path) -> subprocess.Popen[str]:
            program = [sys.executable, str(HERE / name), str(settings)]
            return subprocess.Popen(
                ["chrt", "-f", str(priority), *program],
                env=runtime.environment(),
                stdout=subprocess.PIPE,
                text=True,
            )

        computing = start(50, "controller.py", controller)
        try:
            if plan is None:
                said = start(60, "plant.py", plant).communicate()[0]
            else:
                with Gates(plan, 90) as gates:
                    said = start(60, "plant.py", plant).communicate()[0]
                    # Says so if one has failed.
                    gates.results()
        finally:
            computing.terminate()
            computing.wait()
    if not said:
        raise UserError("the loop needs root, for SCHED_FIFO")
    history: list[Json] = json.loads(said)
    return history


def cost(
    history: list[Json], which: int, planned: tuple[numpy.ndarray, numpy.ndarray], behind: int
) -> float:
    """The mean of the squared error of the angle and of the effort beyond what was planned.
    `behind`: as of Timing.
    """
    inputs, _ = planned
    reference = REFERENCE if len(inputs) > 1 else numpy.zeros(STEPS)
    total = 0.0
    acting = 0.0
    for number, record in enumerate(history):
        changes = [(at / 1e9, value) for who, at, value in record["changes"] if who == which]
        state, since = numpy.array(record["states"][which]).reshape(2, 1), 0.0
        position = number % len(inputs)
        for step in range(STEPS):
            time = (step + 0.5) * SECONDS / STEPS
            while changes and changes[0][0] <= time:
                at, value = changes.pop(0)
                free, forced = transition(at - since)
                state, since, acting = free @ state + forced * acting, at, value
            if number >= SETTLING:
                free, forced = transition(time - since)
                angle = (free @ state + forced * acting)[0, 0]
                total += (angle - reference[position * STEPS + step]) ** 2
        # At the end of the period.
        acting = changes[-1][1] if changes else acting
        if number >= SETTLING:
            total += STEPS * EFFORT * (acting - inputs[position - behind]) ** 2
    return total / STEPS / (len(history) - SETTLING)
