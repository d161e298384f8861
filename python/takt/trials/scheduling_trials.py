"""Runs a model as real ROS 2 nodes under one way of scheduling. A `takt manage` beside it reports
the latencies of chains; it only watches unless it is itself the way that is tried.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from takt import loopback
from takt.errors import UserError
from takt.processes import control, lifeline
from takt.processes.competing_load import competing_load

Json = dict[str, Any]
TAKT = [sys.executable, "-m", "takt"]
PATIENCE = 60.0
LOOK = 0.5
"""Seconds between two questions to the manager."""


class Goal(NamedTuple):
    """A chain from one name to another, and its latency in milliseconds."""

    begin: str
    end: str
    latency: float


@dataclass(frozen=True)
class Way:
    """How threads are scheduled."""

    name: str
    managed: bool = False
    set_up: Callable[[Json], None] | None = None
    """Called with the manager's status when it has seen all chains, to schedule threads by hand or
    begin a load.
    """


@dataclass
class Chain:
    """How a chain fared between warm-up and end."""

    completed: int = 0
    missed: int = 0
    worst: float = 0.0
    """In ms, since the start of the run's measurements."""
    bound: float | None = None
    """The largest that was promised, in ms; None: it was never guaranteed."""
    states: set[str] = field(default_factory=set)


class Spent(NamedTuple):
    """What the manager had used at a moment of CLOCK_MONOTONIC, in ns, of processor time in s."""

    moment: int
    whole: float
    planning: float
    modelling: float
    """The part of planning in which the model is brought up to date."""


@dataclass
class Outcome:
    chains: dict[str, Chain]
    cpu: float
    """The manager's share of a core, in percent."""
    planning: float
    """The longest decision, from the model to the kernel, in ms."""
    spent: list[Spent] = field(default_factory=list)
    """At each look."""


@dataclass(frozen=True)
class Trial:
    """A model that runs under one way of scheduling, with a manager that reports on it."""

    way: Way
    manager: subprocess.Popen[bytes]
    environment: dict[str, str]
    """Where the manager is found."""
    log: Path

    def status(self) -> Json | None:
        """The takt/status document; None: the manager does not answer yet, or any more."""
        try:
            return control.request("status", self.environment)
        except UserError:
            return None

    def check(self) -> None:
        """Raises UserError if the programs have ended."""
        if self.manager.poll() is not None:
            raise UserError(
                f"{self.way.name}: the programs ended too early: {_last_line(self.log)}"
            )


@contextlib.contextmanager
def trial(
    model: Json,
    goals: Mapping[str, Goal],
    way: Way,
    *,
    period: str = "6s",
    surges: Sequence[str] = (),
    nodes: Path | None = None,
) -> Iterator[Trial]:
    """Runs the model while the body runs. The first goal is the most important one; `period` is how
    often the manager decides. `nodes`: the file for what the nodes themselves say of each message.
    The programs end with this process, however it ends.
    """
    with tempfile.TemporaryDirectory(prefix="takt-") as folder:
        document, wanted = Path(folder) / "model.json", Path(folder) / "goals.yaml"
        document.write_text(json.dumps(model), encoding="utf-8")
        wanted.write_text(goals_text(goals, period), encoding="utf-8")
        run = [*TAKT, "run", str(document)]
        for surge in surges:
            run += ["--surge", surge]
        run += ["--log", str(nodes)] if nodes is not None else []
        manage = [*TAKT, "manage", "--goals", str(wanted)]
        manage += [] if way.managed else ["--dry-run"]
        environment = os.environ | loopback.environment() | {"XDG_RUNTIME_DIR": folder}
        # A file, because nobody would empty a pipe while the run is followed.
        log = Path(folder) / "log"
        with (
            log.open("w") as said,
            subprocess.Popen(
                lifeline.bound([*manage, "--", *run], signal.SIGTERM),
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=said,
            ) as manager,
        ):
            try:
                yield Trial(way, manager, environment, log)
            finally:
                _end(manager)


def measure(
    model: Json,
    goals: Mapping[str, Goal],
    way: Way,
    warm_up: float,
    seconds: float,
    surges: Sequence[str] = (),
    nodes: Path | None = None,
) -> Outcome:
    """Runs the model and reads the figures of all chains that have a goal, the most important
    first. `nodes`: as for trial(). UserError if it cannot be run.
    """
    with trial(model, goals, way, surges=surges, nodes=nodes) as running:
        return _follow(running, warm_up, seconds, tuple(goals))


def _end(manager: subprocess.Popen[bytes]) -> None:
    manager.send_signal(signal.SIGINT)
    try:
        manager.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        manager.kill()


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "they said nothing")


def goals_text(goals: Mapping[str, Goal], period: str = "6s") -> str:
    """The goals file of these goals."""
    lines = [f"period: {period}", "chains:"]
    for name, goal in goals.items():
        ends = f"from: {json.dumps(goal.begin)}, to: {json.dumps(goal.end)}"
        lines.append(f"  - {{name: {json.dumps(name)}, {ends}, latency: {goal.latency:g}ms}}")
    return "\n".join(lines) + "\n"


def _follow(
    running: Trial,
    warm_up: float,
    seconds: float,
    chains: Sequence[str],
) -> Outcome:
    """Follows the run for `seconds` after all chains have appeared and warmed up. UserError if the
    programs end before, chains do not appear, or the manager stops to answer.
    """
    way = running.way
    before: dict[str, tuple[int, int]] = {}
    found = {name: Chain() for name in chains}
    begin = None
    planning = 0.0
    spent: list[Spent] = []
    deadline = time.monotonic() + PATIENCE
    while True:
        time.sleep(LOOK)
        running.check()
        status = running.status()
        if status is None:
            if time.monotonic() > deadline:
                raise UserError(f"{way.name}: takt manage has not answered for {PATIENCE:.0f} s")
            continue
        if begin is not None:
            deadline = time.monotonic() + PATIENCE
        measured = {one["id"]: one for one in status["chains"] if one["measured"]}
        if begin is None:
            if len(measured) == len(chains):
                begin = time.monotonic()
                before = {name: _counts(one) for name, one in measured.items()}
                if way.set_up is not None:
                    way.set_up(status)
            elif time.monotonic() > deadline:
                seen = ", ".join(measured) or "no chains"
                raise UserError(f"{way.name}: only {seen} were seen")
            continue
        # A chain that is not in the model for a moment has no figures then.
        passed = time.monotonic() - begin
        if passed < warm_up:
            before |= {name: _counts(one) for name, one in measured.items()}
            continue
        planning = max(planning, status["planning_seconds"] * 1e3)
        totals = (status[f"{part}_seconds_total"] for part in ("planning", "modelling"))
        spent.append(Spent(time.monotonic_ns(), status["cpu_seconds"], *totals))
        for name, one in measured.items():
            chain = found[name]
            completed, missed = _counts(one)
            chain.completed = completed - before[name][0]
            chain.missed = missed - before[name][1]
            # The window's worst latency counts only once the window began after the warm-up, as for
            # missed goals.
            if passed >= warm_up + min(status["window"] / 1e9, seconds):
                chain.worst = max(chain.worst, one["measured"].get("max", 0) / 1e6)
            chain.states.add(one["state"])
            if one["bound"] is not None:
                chain.bound = max(chain.bound or 0.0, one["bound"] / 1e6)
        cpu = 100 * status["cpu_seconds"] / status["seconds"]
        if passed >= warm_up + seconds:
            return Outcome(found, cpu, planning, spent)


def _counts(chain: Json) -> tuple[int, int]:
    return chain["measured"]["total"], chain["measured"]["missed"]


@contextlib.contextmanager
def load(processes: int) -> Iterator[None]:
    """Runs so many processes that only compute."""
    with competing_load() as raise_to:
        raise_to(processes)
        yield
