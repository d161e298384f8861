"""Random robots under `takt manage`, and whether its promises held by what the robots themselves
say. `python tests/integration/random_robots.py RUNS [SEED]` runs many, and says what came of them.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from takt import loopback

Json = dict[str, Any]

SECOND = 1_000_000_000
PROGRAM = Path(__file__).parent / "programs" / "managed_robot.py"
TROUBLES = ("none", "load", "surge", "suspension", "leaves", "joins")
TIMES = 14.0, 6.0, 14.0
"""Seconds from the first message until trouble begins, from then until it ends, and from then until
the robot does.
"""
ENACTED = SECOND // 2
"""A decision is enacted this much after its time at the latest: near it, both bounds count."""
SETTLES = 2 * SECOND
"""A message is known that much after its end, with the decision that follows."""


@dataclass(frozen=True)
class Robot:
    """A pipeline of a sensor, relays and a motor, on one to three processes."""

    seed: int
    trouble: str
    processes: list[list[Json]]
    goal: float
    """The pipeline's latency may be this many seconds."""
    about: Json
    """The trouble's kind, its process and node, and its times."""

    @staticmethod
    def random(seed: int, trouble: str, lasts: tuple[float, float, float] = TIMES) -> Robot:
        """`lasts`: as TIMES."""
        dice = random.Random(seed)
        relays = dice.randint(1, 3)
        period = dice.uniform(0.06, 0.2)
        names = ["sensor", *(f"relay_{number}" for number in range(relays)), "motor"]
        topics = ["", *(f"/from_{name}" for name in names[:-1]), ""]
        nodes = [
            {
                "name": name,
                "takes": topics[number],
                "sends": topics[number + 1],
                "period": period,
                "cost": dice.uniform(0.0005, 0.006),
            }
            for number, name in enumerate(names)
        ]
        # Another node on the robot's executors, which is on nobody's way.
        beside = {
            "name": "beside",
            "takes": "",
            "sends": "/from_beside",
            "period": dice.uniform(0.05, 0.3),
            "cost": dice.uniform(0.0005, 0.004),
        }
        processes: list[list[Json]] = [[] for _ in range(dice.randint(1, 3))]
        for node in (*nodes, beside):
            dice.choice(processes).append(node)
        processes = [process for process in processes if process]
        relay = f"relay_{dice.randrange(relays)}"
        where = next(p for p, own in enumerate(processes) if any(n["name"] == relay for n in own))
        if trouble == "joins":
            replaced = next(node for node in nodes if node["name"] == relay)
            processes.append([{**replaced, "name": "second_way"}])
            where = len(processes) - 1
        costs = sum(node["cost"] for own in processes for node in own)
        goal = 0.1 + costs * dice.uniform(8, 20)
        about = {
            "kind": trouble,
            "node": relay,
            "process": where,
            "loads": dice.randint(1, 3),
            **dict(zip(("begin", "seconds", "after"), lasts, strict=True)),
        }
        return Robot(seed, trouble, processes, goal, about)

    def specification(self) -> str:
        return json.dumps({"processes": self.processes, "trouble": self.about})


@dataclass
class Outcome:
    robot: Robot
    measured: int = 0
    """Messages that the robot says it completed."""
    above: int = 0
    """Those above the bound in force when the sensor began, by the robot's own clock."""
    unnoticed: list[str] = field(default_factory=list)
    """Those of them that the manager did not count as broken in time."""
    broken: int = 0
    """What it counted itself."""
    by_host: int = 0
    """What it counted as held up by the host."""
    reasons: list[str] = field(default_factory=list)
    first: float | None = None
    """Seconds from the first completed message to the first guarantee."""
    share: float | None = None
    """Of the time since then, how much was guaranteed."""
    pessimism: float | None = None
    """The largest bound that was promised, in terms of the longest message meanwhile."""
    decisions: int | None = None
    """How many decisions it took after the trouble until there was a guarantee."""
    cost: float = 0
    """Share of a core."""
    states: list[str] = field(default_factory=list)
    """At the end."""
    failure: str = ""

    def line(self) -> str:
        def figure(value: float | None) -> str:
            return "-" if value is None else f"{value:.2f}"

        return (
            f"seed {self.robot.seed} {self.robot.trouble}: {self.measured} messages, "
            f"{self.above} above, {self.broken} broken, {self.by_host} by the host, "
            f"{len(self.unnoticed)} unnoticed; "
            f"first {figure(self.first)} s, share {figure(self.share)}, "
            f"promised/longest {figure(self.pessimism)}, "
            f"again with decision {self.decisions}, {100 * self.cost:.2f} % of a core, "
            f"{self.states} {self.reasons} {self.unnoticed} {self.failure}"
        )


@dataclass(frozen=True)
class _Entry:
    """A decision as the log has it."""

    time: int
    bounds: dict[str, int]
    """Of the chains that were guaranteed."""
    broken: int
    """Also those that the host held up."""


def _read(log: Path) -> list[_Entry]:
    entries = []
    for line in log.read_text().splitlines()[1:]:
        entry = json.loads(line)
        chains = entry["decision"]["chains"]
        bounds = {c["id"]: c["bound"] for c in chains if c["state"] == "guaranteed" and c["bound"]}
        broken = sum(a["broken"] + a["by_host"] for a in entry["promises"].values())
        entries.append(_Entry(entry["time"], bounds, broken))
    return entries


def _bound(entry: _Entry, way: str) -> int | None:
    """The bound of messages of this way. A goal's only way has no name of its own, and the one that
    joins later is not meant by it.
    """
    nodes = way.split("/")
    for chain, bound in entry.bounds.items():
        name = chain.partition(" via /")[2]
        if name in nodes if name else "second_way" not in nodes:
            return bound
    return None


def _in_force(entries: list[_Entry], moment: int, way: str) -> int | None:
    """The bound of a message that was activated then; none: perhaps there was none."""
    near = [
        before
        for before, after in pairwise([*entries, _Entry(1 << 62, {}, 0)])
        if before.time <= moment + ENACTED and after.time > moment - ENACTED
    ]
    bounds = [bound for entry in near if (bound := _bound(entry, way)) is not None]
    return max(bounds) if bounds and len(bounds) == len(near) else None


def judge(robot: Robot, document: Json, log: Path, truth: Path) -> Outcome:
    outcome = Outcome(robot)
    entries = _read(log)
    messages = [
        (int(begin), int(end), way)
        for begin, end, way in map(str.split, truth.read_text().splitlines())
    ]
    outcome.measured = len(messages)
    for begin, end, way in messages:
        bound = _in_force(entries, begin, way)
        if bound is None or end - begin <= bound:
            continue
        outcome.above += 1
        before = max((e.broken for e in entries if e.time <= begin), default=0)
        after = [e for e in entries if e.time >= end + SETTLES]
        counted = after[0].broken if after else _count(document, "broken", "by_host")
        if counted <= before:
            outcome.unnoticed.append(
                f"{(end - begin) / 1e6:.1f} ms above {bound / 1e6:.1f} ms, "
                f"{(begin - messages[0][0]) / 1e9:.1f} s after the first message, by {way}"
            )
    accounts = [c["promises"] for c in document["chains"]]
    outcome.broken = _count(document, "broken")
    outcome.by_host = _count(document, "by_host")
    outcome.reasons = [a["breach"]["reason"] for a in accounts if a["breach"]]
    outcome.states = [f"{c['state']}: {c['reason']}" for c in document["chains"]]
    outcome.cost = document["cpu_seconds"] / document["seconds"]
    guaranteed = next((e.time for e in entries if e.bounds), None)
    if guaranteed is not None and messages:
        outcome.first = max(0.0, (guaranteed - messages[0][1]) / 1e9)
        last = max(end for _, end, _ in messages)
        terms = pairwise([*entries, _Entry(last, {}, 0)])
        held = sum(min(after.time, last) - before.time for before, after in terms if before.bounds)
        outcome.share = held / max(1, last - guaranteed)
    ended = truth.with_suffix(".ended")
    if ended.exists():
        later = sorted({e.time for e in entries if e.time > int(ended.read_text())})
        again = {e.time for e in entries if e.bounds}
        outcome.decisions = next((n for n, time in enumerate(later, 1) if time in again), None)
    kept = [a for a in accounts if a["longest"]]
    if kept:
        outcome.pessimism = max(a["bound"] / a["longest"] for a in kept)
    return outcome


def _count(document: Json, *words: str) -> int:
    return sum(chain["promises"][word] for chain in document["chains"] for word in words)


def run(robot: Robot, folder: Path) -> Outcome:
    """Runs the robot under `takt manage`."""
    folder.mkdir(parents=True, exist_ok=True)
    goals, log, truth = folder / "goals.yaml", folder / "decisions.jsonl", folder / "truth.txt"
    goals.write_text(
        "period: 1s\nchains: [{name: drive, from: /sensor, to: /motor, "
        f"latency: {1000 * robot.goal:.1f}ms}}]\n"
    )
    runtime = folder / "run"
    runtime.mkdir(mode=0o700, exist_ok=True)
    truth.touch()
    manage = [sys.executable, "-m", "takt", "manage", "--goals", str(goals), "--log", str(log)]
    done = subprocess.run(
        [*manage, "--json", "--", sys.executable, str(PROGRAM), robot.specification(), str(truth)],
        env={**os.environ, **loopback.environment(), "XDG_RUNTIME_DIR": str(runtime)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return Outcome(robot, failure=f"exit status {done.returncode}: {done.stderr[-2000:]}")
    (folder / "status.json").write_text(done.stdout)
    return judge(robot, json.loads(done.stdout), log, truth)


def summary(outcomes: Iterable[Outcome]) -> str:
    done = [outcome for outcome in outcomes if not outcome.failure]
    quiet = [outcome for outcome in done if outcome.robot.trouble == "none"]
    firsts = [outcome.first for outcome in done if outcome.first is not None]
    shares = [outcome.share for outcome in quiet if outcome.share is not None]
    ratios = [outcome.pessimism for outcome in done if outcome.pessimism is not None]
    within = sum(first <= 10 for first in firsts)
    again = Counter(o.decisions for o in done if o.robot.trouble != "none")
    broken = Counter({o.robot.trouble: 0 for o in done})
    for outcome in done:
        broken[outcome.robot.trouble] += outcome.broken
    return "\n".join(
        [
            f"{len(done)} runs, {sum(o.measured for o in done)} messages, "
            f"{sum(o.above for o in done)} above the bound in force, "
            f"{sum(len(o.unnoticed) for o in done)} of them unnoticed",
            f"first guarantee within 10 s in {within} of {len(done)} runs",
            f"guaranteed share of the time after that, without trouble: "
            f"{statistics.median(shares) if shares else float('nan'):.3f} (median), "
            f"{min(shares, default=float('nan')):.3f} (least)",
            f"largest bound promised / longest message: "
            f"{statistics.median(ratios) if ratios else float('nan'):.2f} (median)",
            f"guaranteed again with which decision after the trouble: {dict(again)}",
            f"broken promises by trouble: {dict(broken)}",
            f"held up by the host: {sum(o.by_host for o in done)} messages",
        ]
    )


def main() -> None:
    runs, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        keep = os.environ.get("TAKT_KEEP")
        for number in range(seed, seed + runs):
            robot = Robot.random(number, TROUBLES[number % len(TROUBLES)])
            outcomes.append(run(robot, Path(keep or folder) / str(number)))
            print(outcomes[-1].line(), flush=True)
    print(summary(outcomes))


if __name__ == "__main__":
    main()
