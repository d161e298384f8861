"""A robot that ran as real ROS 2 processes, was recorded, and judged by what was recorded."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import takt_native
from takt import documents, files, inputs, pipeline
from takt.documents import Chain, losses
from takt.errors import UserError
from takt.flows import flow
from takt.processes import lifeline, steal
from takt.verdicts import verdict
from takt.verdicts.verdict import Verdict

Json = dict[str, Any]

CUT_OFF = "the recording ended"
"""How libtakt/viewer calls the reason for which the last instances have no end."""

LAST_LINES = 3
"""Lines of a failed command's output that are shown; the last ones name the error."""


@dataclass(frozen=True)
class Recorded:
    """The findings of one recording of the robot."""

    trace: Path
    evaluation: inputs.Evaluation
    verdicts: list[Verdict]
    latencies: dict[str, list[int]]
    """By chain, of the instances that were followed to their end, in nanoseconds."""
    unfinished: dict[str, dict[str, int]]
    """How many instances of each chain did not reach its end, by reason; those that the end of the
    recording cut off are left out.
    """
    refusals: dict[str, str]
    """Why the kernel did not grant the reservations of executors, by their names."""
    stolen: dict[str, list[int]]
    """By chain, for how many nanoseconds the host of a virtual machine took processors away while
    each of `latencies` passed.
    """

    @property
    def lost(self) -> str:
        """What the recording lacks, in words; empty: nothing."""
        assert self.evaluation.measurement is not None
        return losses.in_words(self.evaluation.measurement.losses)

    def late(self, chain: Chain) -> int:
        """How many instances took longer than the chain's goal."""
        goal = chain.goal
        return 0 if goal is None else sum(one > goal for one in self.latencies[chain.id])

    def is_by_host(self, judged: Verdict) -> bool:
        """Whether the chain took longer than its bound, and each time the host took at least the
        time by which it did, while that message was on its way.
        """
        if judged.status is not verdict.Status.VIOLATED or judged.bound is None:
            return False
        bound, known = judged.bound.bound, self._known(judged.chain)
        exceeding = [(latency, taken) for latency, taken in known if latency > (bound or 0)]
        return bool(exceeding) and all(one - (bound or 0) <= taken for one, taken in exceeding)

    def stolen_from_longest(self, chain: Chain) -> int:
        """For how many nanoseconds the host took processors during the longest latency."""
        return max(self._known(chain), default=(0, 0))[1]

    def is_inexplicable(self, judged: Verdict) -> bool:
        """Whether the chain took longer than its bound, and nothing that was measured says why."""
        return judged.inexplicable and not self.is_by_host(judged)

    def _known(self, chain: Chain) -> Iterator[tuple[int, int]]:
        return zip(self.latencies[chain.id], self.stolen[chain.id], strict=True)

    def latest(self) -> Chain:
        """The chain with a goal whose longest latency is the largest multiple of it. There is a
        chain with a goal.
        """
        chains = [chain for chain in self.evaluation.model.chains if chain.goal]
        return max(chains, key=lambda one: max(self.latencies[one.id], default=0) / (one.goal or 1))

    def why(self, chain: Chain) -> str | None:
        """What took most of the time of the chain's worst message, in one sentence, as takt flow
        --goals --why worst says it; None: no message of it was followed.
        """
        from takt.flows import chain_flows  # with what it needs, which --help does not

        traces, model = [str(self.trace)], self.evaluation.text
        flows = chain_flows.document(traces, model, only=chain.id)["flows"]
        return flow.cause(flows[0], flows[0]["worst"][0]) if flows else None


def record(
    robot: Json, seconds: float, folder: Path, expected: inputs.ModelText | None = None
) -> Recorded:
    """Runs the model `robot` for so long, records it, and judges it by the model that is expected
    of it, or else by that of the recording. The folder, which is made anew, gets the trace and the
    documents. UserError if the robot cannot be run or recorded, or nothing of its goals is in it.
    """
    trace = folder / "trace"
    clear(folder)
    folder.mkdir(parents=True)
    with steal.StolenTimes() as host:
        ran = _run(json.dumps(robot), seconds, trace)
    model = expected or _model(robot, trace)
    if not any(chain["goal"] for chain in json.loads(model.text)["chains"]):
        raise UserError(
            f"of the robot's goals none could be followed in {seconds:g} s, as its programs hardly "
            "ran; record for longer (--duration)"
        )
    given = inputs.Given(traces=[str(trace)], model=model)
    given.measurement, times, unfinished = _measured(given)
    latencies = {chain: [end - begin for begin, end in found] for chain, found in times.items()}
    stolen = {chain: [host.within(*one) for one in found] for chain, found in times.items()}
    evaluation = inputs.evaluate(given, pipeline.DEFAULT_ANALYSIS)
    assert evaluation.measurement is not None
    verdicts = verdict.judge(evaluation.model, evaluation.bounds, evaluation.measurement)
    for name, content in (
        ("model.json", evaluation.text.text + "\n"),
        ("bounds.json", documents.to_json(evaluation.bounds)),
        ("measurement.json", documents.to_json(evaluation.measurement)),
    ):
        files.write_text(str(folder / name), content)
    refusals = {one["id"]: one["refusal"] for one in ran["executors"] if one["refusal"]}
    return Recorded(trace, evaluation, verdicts, latencies, unfinished, refusals, stolen)


def clear(folder: Path) -> None:
    """Removes the folder of an earlier record(), and nothing else that may be in its place. Raises
    UserError.
    """
    if not folder.exists():
        return
    # LTTng's domains are folders of a trace that takt record wrote.
    if not any((folder / "trace" / "ust").rglob("metadata")):
        raise UserError(f"{folder}: has no trace of a demo; name another place with --output")
    shutil.rmtree(folder)


def _run(robot: str, seconds: float, trace: Path) -> Json:
    """Records a run, and returns its takt/run document."""
    takt = [sys.executable, "-m", "takt"]
    with tempfile.TemporaryDirectory(prefix="takt-") as folder:
        model, log = Path(folder) / "model.json", Path(folder) / "log"
        model.write_text(robot, encoding="utf-8")
        run = [*takt, "run", str(model), "--duration", f"{seconds:g}", "--json"]
        with log.open("w") as said:
            done = subprocess.run(
                lifeline.bound([*takt, "record", "-o", str(trace), "--", *run], signal.SIGTERM),
                stdout=subprocess.PIPE,
                stderr=said,
                check=False,
            )
        if done.returncode != 0:
            words = log.read_text(errors="replace").strip().splitlines()[-LAST_LINES:]
            raise UserError("the robot could not be recorded: " + " / ".join(words))
    ran: Json = json.loads(done.stdout)
    return ran


def _model(robot: Json, trace: Path) -> inputs.ModelText:
    """The model that the trace shows, with the robot's chains and goals."""
    options = {
        "chains_from": json.dumps(robot),
        "name": f"{robot.get('name') or 'model'}, as recorded",
    }
    made = pipeline.synthesize([str(trace)], options)
    return inputs.ModelText(json.dumps(made, indent=1), "model.json")


Times = list[tuple[int, int]]
"""From when until when instances took, in nanoseconds since the epoch."""
Measured = tuple[documents.Measurement, dict[str, Times], dict[str, dict[str, int]]]


def _measured(given: inputs.Given) -> Measured:
    """Reads the traces once, for the measurement of the model, the times of each chain's instances,
    and the reasons for which others did not reach the end.
    """
    assert given.model is not None
    with tempfile.TemporaryDirectory(prefix="takt-") as folder:
        index, measurement = pipeline.store_view(given.traces, *given.model, folder)

        def column(name: str) -> array[int]:
            return array("q", takt_native.read_column(folder, "instances", name))

        found: dict[str, Times] = {chain["name"]: [] for chain in index["chains"]}
        names, origin = list(found), int(index["origin"])
        for chain, ending, start, latency in zip(
            *map(column, ("chain", "ending", "start", "latency")), strict=True
        ):
            if ending < 0:
                found[names[chain]].append((origin + start, origin + start + latency))
    unfinished: dict[str, dict[str, int]] = {name: {} for name in names}
    for view in index["chains"]:
        reasons = unfinished[view["name"]]
        for one in view["endings"]:
            if one["reason"] != CUT_OFF:
                reasons[one["reason"]] = reasons.get(one["reason"], 0) + one["count"]
    return measurement, found, unfinished
