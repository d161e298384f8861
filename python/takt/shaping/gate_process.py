"""Gates as processes: starts a `takt-gate` (ros/gate) for each chain of a plan and reads what went
through.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from types import TracebackType
from typing import IO, Any

from takt.documents import ShapedChain, Shaping, ShapingMethod
from takt.errors import UserError
from takt.processes import runtime
from takt.shaping import loops

Json = dict[str, Any]

PATIENCE = 60.0
"""Seconds for a gate to end, also for one that has not finished starting."""
COMPLAINT = "takt-gate: "


def settings(
    chain: ShapedChain, priority: int, cpu: int | None, adapt: ShapingMethod | None = None
) -> Json:
    """What a takt-gate is told (ros/gate/settings.hpp). `adapt`: how it chooses slots anew when
    latencies drift. UserError if the plan names no topic.
    """
    gate = chain.gate
    if gate.topic is None or gate.input is None:
        raise UserError(
            f'chain "{chain.id}": the plan does not say on which topic its output leaves; plan '
            "again with 'takt shape --topic'"
        )
    wanted: Json = {
        "topic": gate.topic,
        "input": gate.input,
        "period": chain.period,
        "publish_time": gate.publish_time,
        "shortest": gate.shortest,
        "overshoot": gate.overshoot,
        "slots": [{"start": slot.start, "end": slot.end} for slot in gate.slots],
        "priority": priority,
    }
    wanted |= loops.as_settings(gate.phase)
    if cpu is not None:
        wanted["processor"] = cpu
    if adapt is not None:
        fields = ("bands", "grid", "slack", "tail", "freshness", "confidence")
        wanted["adapt"] = {name: getattr(adapt, name) for name in fields}
    return wanted


class Gates:
    """The gates of a plan while they run; on leaving they have ended."""

    def __init__(
        self, plan: Shaping, priority: int, cpu: int | None = None, *, adapt: bool = False
    ) -> None:
        self._plan = plan
        self._chains = [chain.id for chain in plan.chains]
        method = plan.method if adapt else None
        self._settings = [settings(chain, priority, cpu, method) for chain in plan.chains]
        self._processes: list[subprocess.Popen[str]] = []
        self._readers: list[threading.Thread] = []
        self._answers: dict[str, list[Json]] = {chain: [] for chain in self._chains}
        self._changed = threading.Condition()
        self._logs: list[IO[str]] = []
        """The standard error of each gate, in files: nobody would empty a pipe while gates run."""

    def __enter__(self) -> Gates:
        # The robot's environment, because the gate is one of its nodes.
        environment = runtime.environment()
        for chain, wanted in zip(self._chains, self._settings, strict=True):
            log = tempfile.TemporaryFile("w+", errors="replace")
            self._logs.append(log)
            process = subprocess.Popen(
                [str(runtime.gate()), json.dumps(wanted)],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                # The terminal's Ctrl-C reaches only us, and we end all of them.
                start_new_session=True,
            )
            self._processes.append(process)
            reader = threading.Thread(target=self._read, args=(chain, process), daemon=True)
            reader.start()
            self._readers.append(reader)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    def refusals(self) -> list[str]:
        """Why gates that are connected do not have the priority that they should."""
        with self._changed:
            said = [one for answers in self._answers.values() for one in answers]
        return [one["refusal"] for one in said if one["event"] == "connected" and one["refusal"]]

    def unconnected(self) -> list[ShapedChain]:
        """The chains whose gates have not found publishers yet."""
        with self._changed:
            found = {
                chain
                for chain, answers in self._answers.items()
                if any(one["event"] == "connected" for one in answers)
            }
        return [chain for chain in self._plan.chains if chain.id not in found]

    def wait_connected(self, seconds: float) -> bool:
        """Whether all gates have found their publishers, after that time at most. UserError if one
        has failed.
        """

        def connected() -> bool:
            return all(self._answers.values()) or self._failed() is not None

        with self._changed:
            self._changed.wait_for(connected, seconds)
        if (failure := self._failed()) is not None:
            raise UserError(failure)
        return all(self._answers.values())

    def results(self) -> list[Json]:
        """What went through each gate, after it has been told to end. UserError if one failed."""
        self._end()
        if (failure := self._failed()) is not None:
            raise UserError(failure)
        return [
            {"chain": chain} | {k: v for k, v in answers[-1].items() if k != "event"}
            for chain, answers in self._answers.items()
            if answers and answers[-1]["event"] == "stopped"
        ]

    def _end(self) -> None:
        for process in self._processes:
            assert process.stdin is not None
            if not process.stdin.closed:
                process.stdin.close()
        for process, reader in zip(self._processes, self._readers, strict=True):
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            reader.join()

    def _failed(self) -> str | None:
        """The message of the first gate that ended with an error; None: none has."""
        for chain, process, log in zip(self._chains, self._processes, self._logs, strict=True):
            if process.poll():
                log.seek(0)
                said = [line[len(COMPLAINT) :] for line in log if line.startswith(COMPLAINT)]
                why = said[-1].rstrip("\n") if said else "ended unexpectedly"
                return f'the gate of chain "{chain}": {why}'
        return None

    def _read(self, chain: str, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            with self._changed:
                self._answers[chain].append(json.loads(line))
                self._changed.notify_all()
        process.wait()
        with self._changed:
            self._changed.notify_all()
