"""The robot beside processes that only compute: under the kernel's default scheduler, with more of
them until it misses its goals, then with as many under `takt manage`.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from takt import documents
from takt.documents import Model
from takt.errors import UserError
from takt.processes import steal
from takt.processes.competing_load import Raise, competing_load
from takt.trials.scheduling_trials import Goal, Trial, Way, trial

Json = dict[str, Any]

BY_DEFAULT = Way("default scheduler")
MANAGED = Way("takt manage", managed=True)

LEVELS = (2, 4, 8, 16)
"""Processes for each core, one level after the other."""
STEP = 2.5
"""Seconds for which a level is tried."""
ENOUGH = 3
"""Messages that are late at a level which is not raised any more."""
PERIOD = "1s"
"""How often the manager decides: it has learnt in seconds what it needs, and so does the reader."""
AFTERWARDS = 2.5
"""Seconds after which the manager has decided with all that was seen."""
LOOK = 0.25
"""Seconds between two looks."""
SEEN = 5
"""Messages of each chain before the load begins, so that programs are up."""
WAITED = 20
"""Messages of each chain after the guarantee, before the load begins: more than queues hold."""
PATIENCE = 30.0
"""Seconds for programs to come up and be seen, and once more to be guaranteed."""


@dataclass(frozen=True)
class Look:
    """The manager's state of one chain at one moment."""

    time: float
    """In seconds of CLOCK_MONOTONIC."""
    until: float
    """What ended before this, a moment earlier, is measured."""
    processes: int
    """The load."""
    completed: int
    missed: int
    """Both since the programs began."""
    number: int
    """The messages that ended within the last Run.window before `time`."""
    late: int
    longest: int | None
    """Of those, how many missed the goal, and the longest latency in nanoseconds; None: there was
    none."""
    unfollowed: dict[str, int]
    """How many more ended then, whose latency is not known, by reason."""
    state: str
    """guaranteed, prepared, degraded or unmanaged."""
    reason: str
    bound: int | None
    """The promised latency, in nanoseconds; None: none is promised."""
    stolen: float
    """Seconds for which the host of a virtual machine gave processors to others, since it began."""


@dataclass(frozen=True)
class Run:
    """One run of the robot beside a load."""

    way: str
    window: float
    """Seconds."""
    chains: dict[str, list[Look]]
    """From the moment at which the load began, with at least `window` seconds at its last level."""
    afterwards: dict[str, Look]
    """By chain, after the manager has decided once more; empty if nobody waited for that."""

    @property
    def processes(self) -> int:
        """At the last level."""
        return next(iter(self.chains.values()))[-1].processes

    def fates(self) -> dict[str, Fate]:
        """How each chain fared in the end."""
        return {
            chain: fate(looks, self.window, self.afterwards.get(chain))
            for chain, looks in self.chains.items()
        }

    def document(self) -> Json:
        """For a file."""
        return asdict(self)


@dataclass(frozen=True)
class Fate:
    """How a chain fared at the end of a run."""

    seconds: float
    """How long that was."""
    completed: int
    missed: int
    longest: int | None
    unfollowed: dict[str, int]
    """How many more messages arrived whose latency is not known, by reason."""
    bound: int | None
    """The largest that was promised, in nanoseconds; None: nothing was."""
    least_bound: int | None
    """The smallest: a message that took longer may have been promised it."""
    promised: bool
    """Whether it was guaranteed all the time."""
    missed_though_promised: int
    why_not: tuple[str, ...]
    """The states other than guaranteed that it was in, with their reasons."""
    now: int | None
    """The bound by all that was seen, in nanoseconds; None: nothing is promised in the end."""
    stolen: float
    """Seconds for which the host took processors away while the longest was on its way."""

    @property
    def exceeded(self) -> int:
        """By how many nanoseconds the longest latency is above a bound that was promised, where a
        message that was promised one may have taken so long.
        """
        if self.least_bound is None or self.longest is None:
            return 0
        broken = self.promised or self.missed_though_promised > 0
        return max(0, self.longest - self.least_bound) if broken else 0

    @property
    def by_host(self) -> bool:
        """Whether the host took at least the time by which the bound was exceeded."""
        return 0 < self.exceeded <= self.stolen * 1e9

    @property
    def learnt(self) -> bool:
        """Whether the manager has seen since that something takes longer than it knew."""
        return self.now is None or self.longest is None or self.now >= self.longest

    @property
    def explained(self) -> bool:
        """Whether a latency above its bound has a known cause."""
        return not self.exceeded or self.by_host or self.learnt


def levels(looks: Sequence[Look]) -> list[tuple[int, int, int]]:
    """Counts processes, completed messages and missed ones at each level of the load; at the last
    level, within the window that ends it.
    """
    found = []
    for processes, group in itertools.groupby(looks, lambda look: look.processes):
        of_level = list(group)
        last = of_level[-1]
        begun = (look for look in of_level if look.until >= of_level[0].time)
        first = next(begun, last)
        found.append((processes, last.completed - first.completed, last.missed - first.missed))
    return [*found[:-1], (looks[-1].processes, looks[-1].number, looks[-1].late)]


def fate(looks: Sequence[Look], window: float, afterwards: Look | None = None) -> Fate:
    """How the chain fared in the last `window` seconds."""
    known = afterwards or looks[-1]
    end = looks[-1]
    start = end.time - window
    before = [look for look in looks if look.time <= start]
    counted = [*before[-1:], *(look for look in looks if look.time > start)]
    promised = [look for look in counted if look.state == "guaranteed"]
    bounds = [look.bound for look in promised if look.bound is not None]
    others = (look for look in counted if look.state != "guaranteed")
    return Fate(
        seconds=end.until - start,
        completed=end.number,
        missed=end.late,
        longest=end.longest,
        unfollowed=end.unfollowed,
        bound=max(bounds, default=None),
        least_bound=min(bounds, default=None),
        promised=len(promised) == len(counted),
        missed_though_promised=sum(
            after.missed - before.missed
            for before, after in itertools.pairwise(counted)
            if before.until >= start and before.state == after.state == "guaranteed"
        ),
        why_not=tuple(dict.fromkeys(f"{look.state}: {look.reason}" for look in others)),
        now=known.bound if known.state == "guaranteed" else None,
        stolen=_stolen_from_longest(looks),
    )


def _stolen_from_longest(looks: Sequence[Look]) -> float:
    """Seconds for which the host took processors while the longest message of the last window was
    on its way: between the looks around it.
    """
    longest = looks[-1].longest
    if longest is None:
        return 0.0
    seen = len(looks) - 1
    while seen > 0 and looks[seen - 1].longest == longest:
        seen -= 1
    begin = looks[max(seen - 1, 0)].until - longest / 1e9
    before = [look for look in looks if look.time <= begin] or [looks[0]]
    return looks[seen].stolen - before[-1].stolen


def goals(model: Model) -> dict[str, Goal]:
    """The goals of the model's chains by their names, the most important first."""
    nodes = {callback.id: callback.node for callback in model.callbacks}
    chains = [chain for chain in model.chains if chain.goal is not None]
    return {
        chain.id: Goal(nodes[chain.callbacks[0]], nodes[chain.callbacks[-1]], chain.goal / 1e6)
        for chain in sorted(chains, key=lambda one: one.rank or len(chains) + 1)
        if chain.goal is not None
    }


def by_default(robot: Json, wanted: dict[str, Goal], nodes: Path) -> Run:
    """Raises the load until messages are late, or to the last level, and goes on with it. The file
    `nodes` gets what the nodes themselves say of each message. UserError if the robot cannot be
    run.
    """
    cores = len(os.sched_getaffinity(0))
    return _run(robot, wanted, BY_DEFAULT, [cores * level for level in LEVELS], nodes)


def managed(robot: Json, wanted: dict[str, Goal], processes: int, nodes: Path) -> Run:
    """Under `takt manage`, beside so many processes from the moment at which all chains are
    guaranteed, or have had time enough to be; else as by_default().
    """
    return _run(robot, wanted, MANAGED, [processes], nodes)


def _run(robot: Json, wanted: dict[str, Goal], way: Way, loads: list[int], nodes: Path) -> Run:
    nodes.parent.mkdir(parents=True, exist_ok=True)
    with trial(robot, wanted, way, period=PERIOD, nodes=nodes.absolute()) as running:
        watcher = _Watcher(running, list(wanted))
        watcher.wait_until(lambda: watcher.seen() >= SEEN, must=True)
        if way.managed:
            watcher.wait_until(watcher.guaranteed, must=False)
            # Promises do not cover messages that waited before, so that these are worked off first.
            enough = watcher.seen() + WAITED
            watcher.wait_until(lambda: watcher.seen() >= enough, must=False)
        with competing_load() as raise_to:
            watcher.watch(loads, raise_to)
            run = Run(way.name, watcher.window, watcher.looks, {})
            if way.managed and any(one.exceeded for one in run.fates().values()):
                run = replace(run, afterwards=watcher.after(AFTERWARDS))
    return run


class _Watcher:
    """Looks at a running trial."""

    def __init__(self, running: Trial, chains: list[str]) -> None:
        self._running, self._chains = running, chains
        self._now: dict[str, Look] = {}
        self.window = 0.0
        self.looks: dict[str, list[Look]] = {chain: [] for chain in chains}

    def seen(self) -> int:
        """The messages of the chain of which the fewest were completed."""
        return min((look.completed for look in self._now.values()), default=0)

    def guaranteed(self) -> bool:
        return all(look.state == "guaranteed" for look in self._now.values())

    def wait_until(self, reached: Callable[[], bool], *, must: bool) -> None:
        """Looks until it is, or patience ends: then UserError, if it must be."""
        deadline = time.monotonic() + PATIENCE
        while not reached():
            if time.monotonic() > deadline:
                if must:
                    raise UserError(
                        f"{self._running.way.name}: the robot's chains were not seen "
                        f"{SEEN} times within {PATIENCE:.0f} s"
                    )
                return
            self._look(0)

    def watch(self, loads: list[int], raise_to: Raise) -> None:
        """Goes from level to level until messages are late, and then stays for the window."""
        for processes in loads:
            raise_to(processes)
            self._look(processes)
            self._keep()
            begin = dict(self._now)
            is_last = processes == loads[-1]
            while (passed := self._passed(begin)) < self.window:
                if passed >= STEP and not is_last and self._missed_since(begin) < ENOUGH:
                    break
                self._look(processes)
                self._keep()
            else:
                return

    def after(self, seconds: float) -> dict[str, Look]:
        """The look at each chain after so long."""
        begin = dict(self._now)
        while self._passed(begin) < seconds:
            self._look(begin[self._chains[0]].processes)
        return dict(self._now)

    def _passed(self, begin: dict[str, Look]) -> float:
        first = self._chains[0]
        return self._now[first].time - begin[first].time

    def _missed_since(self, begin: dict[str, Look]) -> int:
        return sum(self._now[chain].missed - begin[chain].missed for chain in self._chains)

    def _keep(self) -> None:
        for chain, look in self._now.items():
            self.looks[chain].append(look)

    def _look(self, processes: int) -> None:
        """Waits a moment, and then until the manager answers."""
        deadline = time.monotonic() + PATIENCE
        while True:
            time.sleep(LOOK)
            self._running.check()
            status = self._running.status()
            if status is not None:
                break
            if time.monotonic() > deadline:
                raise UserError(
                    f"{self._running.way.name}: takt manage has not answered for {PATIENCE:.0f} s"
                )
        self.window = status["window"] / 1e9
        known = {one["id"]: one for one in status["chains"]}
        for chain in self._chains:
            said, former = known.get(chain), self._now.get(chain)
            self._now[chain] = _look(said, former, processes, status)


def _look(said: Json | None, former: Look | None, processes: int, status: Json) -> Look:
    """A chain that is not in the manager's model at the moment has been completed as often as it
    had.
    """
    said = said or {"state": "unmanaged", "reason": "it was not seen yet", "bound": None}
    measured = said.get("measured") or {}
    return Look(
        time=status["time"] / 1e9,
        until=status["followed_until"] / 1e9,
        processes=processes,
        completed=measured.get("total", former.completed if former else 0),
        missed=measured.get("missed", former.missed if former else 0),
        number=measured.get("count", 0),
        late=measured.get("late", 0),
        longest=measured.get("max"),
        unfollowed=measured.get("unfollowed", {}),
        state=said["state"],
        reason=said["reason"],
        bound=said["bound"],
        stolen=steal.stolen(),
    )


def unreserved(model: Model) -> Json:
    """The model as a robot whose executors have no reservations."""
    free: Json = json.loads(documents.to_json(model))
    for executor in free["executors"]:
        executor["supply"] = {"kind": "dedicated"}
    return free
