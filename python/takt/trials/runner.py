"""Runs a timing model: starts its processes, lets them find each other, and ends them together.

Each process is a `takt-workload` (ros/workload), with which this speaks in lines: a command on its
standard input, one JSON object on its standard output.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from takt import loopback
from takt.errors import UserError
from takt.processes import runtime, sharing
from takt.processes.signals import wake_on_signals

Json = dict[str, Any]
Watch = Callable[[float, int], None]
"""Called now and then with the seconds passed and the number of callbacks that ran."""

SURGE = re.compile(r"(?P<callback>.+)=(?P<factor>[0-9.]+)@(?P<start>[0-9.]+)-(?P<end>[0-9.]+)")
MOST_FACTOR = 1000.0

PATIENCE = 30.0  # seconds for all processes to find each other, or to answer
TICK = 0.5  # seconds between two looks at the counts
QUIET = 0.5  # seconds without a callback after which nothing is on its way any more
OVERLOADED = 10.0  # seconds after which waiting instances are left behind
COMPLAINT = "takt-workload: "


@dataclass
class Plan:
    """The processes of a model, and whether this machine can give them what they ask for."""

    processes: list[Json]
    reservations: Json | None
    """None: the model has none."""
    warnings: list[str] = field(default_factory=list)
    """Lines on what the executors cannot do as the model says."""

    def conditions(self) -> list[str]:
        """Why the bounds of the model may not hold in this run."""
        if self.reservations is None:
            return []
        found = [self.reservations["privilege"], self.reservations["admission"]]
        gfb = self.reservations["gfb"]
        if not gfb["holds"]:
            found.append(
                f"the reservations ask for {gfb['total']:.3f} processors together, but on "
                f"{self.reservations['processors']} processors global SCHED_DEADLINE is only sure "
                f"to serve {gfb['limit']:.3f} (GFB test); lower the budgets"
            )
        return [text for text in found if text]


@dataclass(frozen=True)
class Surge:
    """For a while the instances of a callback take `factor` times as long as the model says."""

    callback: str
    factor: float
    start: float
    end: float
    """Both in seconds from the start of the run."""

    @classmethod
    def parse(cls, text: str) -> Surge:
        """Reads "CALLBACK=FACTOR@FROM-TO". Raises UserError."""
        match = SURGE.fullmatch(text)
        try:
            if match is None:
                raise ValueError
            surge = cls(match["callback"], *map(float, match.group("factor", "start", "end")))
        except ValueError:
            raise UserError(
                f"--surge {text}: not of the form CALLBACK=FACTOR@FROM-TO, as in track=3@20-40"
            ) from None
        if not (surge.factor <= MOST_FACTOR and surge.start < surge.end):
            raise UserError(
                f"--surge {text}: the factor is at most {MOST_FACTOR:g}, and FROM is before TO"
            )
        return surge


@dataclass
class Result:
    """The outcome of a run."""

    seconds: float
    refusals: dict[str, str | None]
    """For each executor that was started, why it is not scheduled as it should be; None: it is."""
    counts: list[Json]
    """For each callback `id`, `count`, `overruns` and `longest` (ns)."""
    log: list[Json] = field(default_factory=list)
    """If asked for, what the nodes handled and sent, in the order in which instances began."""

    def granted(self, executor: str) -> bool | None:
        """Whether the executor is scheduled as its supply asks; None if it was not started."""
        return self.refusals[executor] is None if executor in self.refusals else None


@dataclass
class _Process:
    name: str
    popen: subprocess.Popen[bytes]
    unread: dict[IO[bytes], bytes] = field(default_factory=dict)
    answers: list[Json] = field(default_factory=list)
    complaint: str = ""


def plan(model: str, executor: str | None = None) -> Plan:
    """How `model` (a path) will run, its executors replaced by `executor` if given. UserError if it
    cannot.
    """
    command = [str(runtime.workload()), "plan", model, *_options(executor)]
    done = subprocess.run(command, capture_output=True, check=False, env=runtime.environment())
    if done.returncode != 0:
        raise UserError(
            _complaint(done.stderr) or f"{model}: planning ended with {done.returncode}"
        )
    document = json.loads(done.stdout)
    return Plan(document["processes"], document.get("reservations"), document["warnings"])


def run(
    model: str,
    planned: Plan,
    executor: str | None,
    duration: float | None,
    watch: Watch,
    surges: Sequence[Surge] = (),
    *,
    log: bool = False,
    priorities: Mapping[str, int] | None = None,
    share: str | None = None,
) -> Result:
    """Runs the model for `duration` seconds, or until SIGINT or SIGTERM, which end it in good order
    at any time. `priorities`: SCHED_FIFO priorities of executors, by process. `share`: the pattern
    of the topics that the processes share in memory; None: none. UserError if a process fails, or
    no callback has the name of a surge.
    """
    # If one surge begins when another ends, the end is applied first.
    changes = [(surge.end, surge.callback, 1.0) for surge in surges]
    changes += [(surge.start, surge.callback, surge.factor) for surge in surges]
    changes.sort(key=lambda change: change[0])
    _check_callbacks(planned, surges)
    options = [*(["--log"] if log else []), *_options(executor)]
    with (
        wake_on_signals() as signals,
        _Processes(model, planned, options, priorities or {}, share) as processes,
    ):
        processes.listen(signals)
        if processes.expect("connected", "to find each other") is None:
            return Result(0.0, {}, [])
        started = processes.ask("start", "started")
        refusals = {
            entry["id"]: entry["refusal"] for answer in started for entry in answer["executors"]
        }
        begin = time.monotonic()
        while not processes.interrupted:
            passed = time.monotonic() - begin
            if duration is not None and passed >= duration:
                break
            while changes and changes[0][0] <= passed:
                _, callback, factor = changes.pop(0)
                processes.ask(f"scale {round(factor * 100)} {callback}", "scaled")
            ends = [duration] if duration is not None else []
            ends += [changes[0][0]] if changes else []
            processes.wait(min([TICK, *(end - passed for end in ends)]))
            if not processes.interrupted:
                watch(time.monotonic() - begin, sum(c["count"] for c in processes.counts()))
        seconds = time.monotonic() - begin
        processes.ask("stop", "stopped")
        counts = _drained(processes)
        entries = _log(processes) if log else []
        return Result(seconds, refusals, counts, entries)


class _Processes:
    """All processes of a run. On leaving they have ended: by the end of their input, else by
    SIGTERM, else by SIGKILL.
    """

    def __init__(
        self,
        model: str,
        planned: Plan,
        options: list[str],
        priorities: Mapping[str, int],
        share: str | None,
    ) -> None:
        self.interrupted = False
        self._selector = selectors.DefaultSelector()
        self._processes: list[_Process] = []
        self._start = [str(runtime.workload()), "run"]
        self._model, self._options, self._priorities = model, options, priorities
        self._names = [process["name"] for process in planned.processes]
        environment = runtime.environment(loopback.environment())
        self._environment = sharing.shared(environment, share) if share else environment

    def __enter__(self) -> _Processes:
        try:
            for name in self._names:
                self._begin(name)
        except OSError as error:
            self.__exit__()
            begun = len(self._processes)
            hint = "; raise the limit with 'ulimit -n'" if error.errno == errno.EMFILE else ""
            raise UserError(
                f"process {self._names[begun]}, number {begun + 1} of {len(self._names)}, cannot "
                f"be started: {error.strerror}{hint}"
            ) from None
        return self

    def _begin(self, name: str) -> None:
        priority = self._priorities.get(name)
        given = [] if priority is None else ["--priority", str(priority)]
        popen = subprocess.Popen(
            [*self._start, name, self._model, *given, *self._options],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # The terminal's Ctrl-C reaches only us, and we end all of them together.
            start_new_session=True,
        )
        process = _Process(name, popen)
        self._processes.append(process)
        for stream in (popen.stdout, popen.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            process.unread[stream] = b""
            self._selector.register(stream, selectors.EVENT_READ, process)

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            assert process.popen.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.popen.stdin.close()
        for process in self._processes:
            for end in (process.popen.terminate, process.popen.kill):
                try:
                    process.popen.wait(PATIENCE / 6)
                    break
                except subprocess.TimeoutExpired:
                    end()
            process.popen.wait()
        self._selector.close()

    def listen(self, signals: int) -> None:
        """Ends the run when `signals` becomes readable."""
        self._selector.register(signals, selectors.EVENT_READ, None)

    def ask(self, command: str, event: str) -> list[Json]:
        """The answers of all processes to a command."""
        for process in self._processes:
            assert process.popen.stdin is not None
            try:
                process.popen.stdin.write(f"{command}\n".encode())
                process.popen.stdin.flush()
            except BrokenPipeError:
                self._fail(process)
        answers = self.expect(event, f"to answer {command!r}", interruptible=False)
        assert answers is not None
        return answers

    def expect(self, event: str, purpose: str, *, interruptible: bool = True) -> list[Json] | None:
        """The next line of all processes, which must be of that kind. None if interrupted."""
        deadline = time.monotonic() + PATIENCE
        while not all(process.answers for process in self._processes):
            if interruptible and self.interrupted:
                return None
            left = deadline - time.monotonic()
            if left <= 0:
                silent = ", ".join(p.name for p in self._processes if not p.answers)
                raise UserError(
                    f"processes took longer than {PATIENCE:.0f} s {purpose}: {silent}; "
                    "is the loopback interface up ('ip link show lo')?"
                )
            self.wait(left, for_answers=True)
        answers = [process.answers.pop(0) for process in self._processes]
        assert all(answer["event"] == event for answer in answers), answers
        return answers

    def counts(self) -> list[Json]:
        answers = self.ask("counts", "counts")
        return [count for answer in answers for count in answer["callbacks"]]

    def wait(self, seconds: float, *, for_answers: bool = False) -> None:
        """Waits for the end of the time, a signal or, if wanted, an output of a process."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            ready = self._selector.select(left)
            for key, _ in ready:
                if key.data is None:
                    self.interrupted = True
                    self._selector.unregister(key.fileobj)
                    return
                self._read(key.data, key.fileobj)  # type: ignore[arg-type]
            if ready and for_answers:
                return

    def _read(self, process: _Process, stream: IO[bytes]) -> None:
        data = stream.read()
        if not data:
            self._selector.unregister(stream)
            if stream is process.popen.stdout:
                self._fail(process)
            return
        *lines, process.unread[stream] = (process.unread[stream] + data).split(b"\n")
        if stream is process.popen.stdout:
            process.answers += [json.loads(line) for line in lines]
        elif lines:
            process.complaint = _complaint(b"\n".join(lines)) or process.complaint

    def _fail(self, process: _Process) -> None:
        """Raises UserError for a process that ended too early."""
        status = process.popen.wait()
        assert process.popen.stderr is not None
        rest = process.popen.stderr.read() or b""
        complaint = _complaint(process.unread[process.popen.stderr] + rest) or process.complaint
        raise UserError(f"process {process.name}: {complaint or f'ended with status {status}'}")


def _check_callbacks(planned: Plan, surges: Sequence[Surge]) -> None:
    known = [
        callback["id"]
        for process in planned.processes
        for executor in process["executors"]
        for callback in executor["callbacks"]
    ]
    for surge in surges:
        if surge.callback not in known:
            there = ", ".join(f'"{name}"' for name in known[:10])
            raise UserError(
                f'--surge: the model has no callback "{surge.callback}"; it has {there}'
                + (" …" if len(known) > 10 else "")
            )


def _drained(processes: _Processes) -> list[Json]:
    """The counts once everything that was activated has run, or after OVERLOADED seconds."""
    deadline = time.monotonic() + OVERLOADED
    counts = processes.counts()
    while time.monotonic() < deadline:
        time.sleep(QUIET)
        before, counts = counts, processes.counts()
        if counts == before:
            break
    return counts


def _log(processes: _Processes) -> list[Json]:
    entries = [entry for answer in processes.ask("log", "log") for entry in answer["entries"]]
    entries.sort(key=lambda entry: entry["begin"])
    return entries


def _options(executor: str | None) -> list[str]:
    return ["--executor", executor] if executor else []


def _complaint(stderr: bytes) -> str:
    """The last message of the program itself; its libraries may have written other lines."""
    lines = stderr.decode(errors="replace").splitlines()
    said = [line.removeprefix(COMPLAINT) for line in lines if line.startswith(COMPLAINT)]
    return said[-1] if said else ""
