"""DAC 2022, Table 2 and Figure 4, on real threads. See README.md."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from takt import loopback, pipeline
from takt.errors import UserError
from takt.text import console
from takt.trials import experiments, node_runs
from takt.trials.experiments import Row, Rows, drawn
from takt.trials.node_runs import Log, Missed

Json = dict[str, Any]

SECOND = 1_000_000_000
MS = 1_000_000
SECONDS, FULL_SECONDS = 30.0, 300.0
"""How long the two chains run."""
CASE_SECONDS, FULL_CASE_SECONDS = 8.0, 300.0
"""How long each core of the case study runs."""
PROGRAM = Path(__file__).with_name("node.py")
REAL_TIME, BEST_EFFORT = 60, 50
"""SCHED_FIFO priorities: 99 and 98 in the document, which leave no room for anything above."""
PATIENCE = 60.0

EXECUTORS: dict[str, tuple[str, Json] | None] = {
    "default": None,
    "PiCAS": ("chain_priority", {}),
    "proposed": ("edf", {"edf_deadlines": "frozen_at_completion"}),
}
"""Kind and options of `takt plan`; None: rclpy's single-threaded executor."""
COLUMNS = ("mean", "max", "min", "standard deviation")


def run(full: bool = False) -> Rows:
    chains, case = (FULL_SECONDS, FULL_CASE_SECONDS) if full else (SECONDS, CASE_SECONDS)
    return [*_two_chains(chains), *_case_study(case)]


def _two_chains(seconds: float) -> Rows:
    simulated = experiments.find("edf-two-chains").module()
    model = _named(simulated._model(0))
    rows: Rows = []
    for name in EXECUTORS:
        processor = max(os.sched_getaffinity(0))
        with node_runs.watched([processor]) as machine:
            (log,) = _run([model], name, seconds, processor, [REAL_TIME])
        heads = {f"{chain}.0": simulated.PERIOD for chain in simulated.CHAINS}
        origin = log.origin(heads)
        for number, chain in enumerate(model["chains"]):
            spans, dropped = log.responses(
                chain["callbacks"], simulated.PERIOD, origin, _missed(name)
            )
            latencies = [(span.end - span.begin) / SECOND for span in spans]
            what = f"on threads, {name}, chain {number + 1}"
            published = simulated.TABLE_2[name][number]
            rows += [
                Row(f"{what}, {column}", printed, ours, "s", "Table 2")
                for column, printed, ours in zip(
                    COLUMNS, published, _summary(latencies), strict=True
                )
            ]
            rows.append(Row(f"{what}, expiries dropped", None, float(dropped)))
        rows.append(machine.row(f"on threads, {name}"))
    return rows


def _missed(name: str) -> Missed:
    return Missed.SKIPPED if EXECUTORS[name] is None else Missed.REPLACED


def _summary(values: Sequence[float]) -> tuple[float | str, ...]:
    if len(values) < 2:
        return ("never completed",) * len(COLUMNS)
    return (statistics.fmean(values), max(values), min(values), statistics.stdev(values))


def _case_study(seconds: float) -> Rows:
    simulated = experiments.find("edf-case-study").module()
    whole = _named(simulated.model().document())
    found: dict[str, dict[str, list[float]]] = {}
    rows: Rows = []
    cores = sorted({core for _, _, core in simulated.TABLE_3.values()})
    processor = max(os.sched_getaffinity(0))
    with console.progress("Running the case study") as progress:
        for number, name in enumerate(EXECUTORS):
            found[name] = {}
            with node_runs.watched([processor]) as machine:
                for core in cores:
                    if progress:
                        progress(number * len(cores) + core, len(EXECUTORS) * len(cores))
                    parts = [_part(whole, f"{kind}{core}") for kind in ("RT", "BE")]
                    parts = [part for part in parts if part["callbacks"]]
                    priorities = [
                        REAL_TIME if part["executors"][0]["id"].startswith("RT") else BEST_EFFORT
                        for part in parts
                    ]
                    logs = _run(parts, name, seconds, processor, priorities)
                    for part, log in zip(parts, logs, strict=True):
                        found[name] |= _latencies(part, log, name)
            rows.append(machine.row(f"case study, {name}"))
    for name, chains in found.items():
        for chain in simulated.TABLE_3:
            latencies = chains.get(chain, [])
            mean = statistics.fmean(latencies) if latencies else "never completed"
            what = f"case study, on threads, {name}, {chain}: mean"
            figure = "Figure 4" if latencies else ""
            rows.append(Row(what, None, mean, "ms", figure=figure, samples=drawn(latencies)))
    for other in ("default", "PiCAS"):
        for key, of in (("mean", statistics.fmean), ("max", max)):
            better = sum(
                bool(found["proposed"].get(chain) and found[other].get(chain))
                and of(found["proposed"][chain]) <= of(found[other][chain])
                for chain in simulated.TABLE_3
            )
            total = len(simulated.TABLE_3)
            rows.append(
                Row(
                    f"Figure 4, on threads: proposed not above {other}, {key}",
                    "all chains",
                    f"{better} of {total}",
                    place="section 5.2, with Figure 4",
                    meaning=f"{total} of {total}",
                )
            )
    return rows


def _latencies(part: Json, log: Log, name: str) -> dict[str, list[float]]:
    """In ms, of the chains of an executor."""
    periods = {
        callback["id"]: callback["activation"]["period"]
        for callback in part["callbacks"]
        if callback["kind"] == "timer"
    }
    found = {}
    for chain in part["chains"]:
        head = chain["callbacks"][0]
        if head not in log.entries:
            continue
        origin = log.origin({head: periods[head]})
        spans, _ = log.responses(chain["callbacks"], periods[head], origin, _missed(name))
        found[chain["id"]] = [(span.end - span.begin) / MS for span in spans]
    return found


def _named(model: Json) -> Json:
    """With the names of nodes and topics that the program gives them."""
    sources = {edge["to"]: edge["from"] for edge in model["edges"]}
    for callback in model["callbacks"]:
        name = callback["id"].replace(".", "_")
        callback["node"] = f"/c{name}"
        source = sources.get(callback["id"])
        callback["topic"] = None if source is None else "/c" + source.replace(".", "_")
    for edge in model["edges"]:
        edge["topic"] = "/c" + edge["from"].replace(".", "_")
    return model


def _part(model: Json, executor: str) -> Json:
    """The model of one executor alone: its callbacks, and the edges that lead to them."""
    callbacks = [one for one in model["callbacks"] if one["executor"] == executor]
    ids = {callback["id"] for callback in callbacks}
    return model | {
        "executors": [{"id": executor, "order": "registered"}],
        "callbacks": callbacks,
        "edges": [edge for edge in model["edges"] if edge["to"] in ids],
        "chains": [chain for chain in model["chains"] if chain["callbacks"][0] in ids],
    }


def _run(
    parts: Sequence[Json], name: str, seconds: float, processor: int, priorities: Sequence[int]
) -> list[Log]:
    """Each part on an executor of its own, all on one processor, at the same time."""
    may = node_runs.may_have_priorities()
    with tempfile.TemporaryDirectory(prefix="takt-") as folder, contextlib.ExitStack() as running:
        programs = []
        for number, (part, priority) in enumerate(zip(parts, priorities, strict=True)):
            wanted = {
                "callbacks": part["callbacks"],
                "edges": part["edges"],
                "seconds": seconds,
                "plan": _plan(part, name, Path(folder) / f"{number}.json"),
                "processor": processor,
                "priority": priority if may else None,
            }
            programs.append(
                running.enter_context(
                    subprocess.Popen(
                        [sys.executable, str(PROGRAM), json.dumps(wanted)],
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                        text=True,
                        env=loopback.environment(),
                    )
                )
            )
        logs = []
        for program in programs:
            try:
                said, complained = program.communicate(timeout=seconds + PATIENCE)
            except subprocess.TimeoutExpired:
                for each in programs:
                    each.kill()
                raise UserError(f"{name}: the nodes did not end within {PATIENCE:.0f} s") from None
            if program.returncode:
                lines = complained.strip().splitlines() or ["they said nothing"]
                raise UserError(f"{name}: the nodes cannot be run: {lines[-1]}")
            logs.append(Log.of(json.loads(said)))
        return logs


def _plan(part: Json, name: str, path: Path) -> str | None:
    chosen = EXECUTORS[name]
    if chosen is None:
        return None
    kind, options = chosen
    plan = pipeline.plan(json.dumps(part), "model", {"executor": kind, **options})
    path.write_text(json.dumps(plan), encoding="utf-8")
    return str(path)
