"""Measures how much processor time a recording or a watch costs: by the ring, and by probes in the
kernel.

    cores.py [SECONDS [record|watch [RATE]]]

Programs of rclpy, all with Takt's libtracetools.so, send each RATE (200) messages a second, of
which two programs hear each; four programs for takt record, five for takt watch. Every round
measures them for SECONDS (10) without a recorder, and with each backend; medians of five rounds,
and of the differences to the same round without a recorder. Needs root, and a machine where no
other ROS 2 runs.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import astuple, dataclass
from pathlib import Path

from takt import loopback
from takt.processes import runtime

PROGRAMS = {"record": 4, "watch": 5}
ROUNDS = 5
TAKT = [sys.executable, "-m", "takt"]
BACKENDS = ["", "ring", "ebpf"]
SETTLING = 10
"""Seconds until a recorder has found the programs, and what is in their memory."""


def processor_time(process: int) -> float:
    """Seconds that a process has used so far, in the program and in the kernel."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Programs:
    """The programs that are recorded, and where each counts what it has sent."""

    processes: list[int]
    counts: list[Path]

    def used(self) -> float:
        return sum(map(processor_time, self.processes))

    def sent(self) -> int:
        return sum(int.from_bytes(count.read_bytes(), sys.byteorder) for count in self.counts)


@dataclass
class Found:
    per_message: float  # processor time of the programs for each message sent, in microseconds
    recorder: float  # cores
    events: float  # for each message


def measure(programs: Programs, recorder: int | None, seconds: float) -> tuple[float, float, int]:
    """Processor time of the programs for a message, cores of the recorder, and messages."""
    begin, used, sent = time.monotonic(), programs.used(), programs.sent()
    before = processor_time(recorder) if recorder else 0.0
    time.sleep(seconds)
    sent = programs.sent() - sent
    cores = (processor_time(recorder) - before) / (time.monotonic() - begin) if recorder else 0.0
    return (programs.used() - used) / sent * 1e6, cores, sent


def record(programs: Programs, backend: str, seconds: float) -> Found:
    """Measures beside a recorder that has found the programs."""
    with tempfile.TemporaryDirectory(prefix="takt-benchmark-") as scratch:
        trace = Path(scratch) / "trace"
        command = [*TAKT, "record", "--backend", backend, "-o", str(trace)]
        per_message, cores, _ = beside(programs, command, subprocess.DEVNULL, seconds)
        info = subprocess.run(
            [*TAKT, "info", "--json", str(trace)],
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    document = json.loads(info.stdout)
    if document["discarded"]:
        print(f"{backend}: {document['discarded']} events discarded", file=sys.stderr)
    sent = sum(t["publications"] for t in document["topics"] if t["name"].startswith("/chat_"))
    return Found(per_message, cores, document["events"] / sent)


def watch(programs: Programs, backend: str, seconds: float) -> Found:
    """Measures beside a watch that has found the programs."""
    before, sent = time.monotonic(), programs.sent()
    command = [*TAKT, "watch", "--backend", backend, "--json"]
    per_message, cores, said = beside(programs, command, subprocess.PIPE, seconds)
    rate = (programs.sent() - sent) / (time.monotonic() - before)
    document = json.loads(said)
    if document["lost"]["events"]:
        print(f"{backend}: {document['lost']['events']} events lost", file=sys.stderr)
    return Found(per_message, cores, document["events"] / document["seconds"] / rate)


def beside(
    programs: Programs, command: list[str], output: int, seconds: float
) -> tuple[float, float, str]:
    """Processor time of the programs for a message, cores of the command, and what it prints."""
    recorder = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL, text=True)
    time.sleep(SETTLING)
    per_message, cores, _ = measure(programs, recorder.pid, seconds)
    recorder.send_signal(signal.SIGINT)
    said, _ = recorder.communicate()
    if recorder.returncode != 0:
        sys.exit(f"cores: failed: {' '.join(command)}")
    return per_message, cores, said


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    measured = {"record": record, "watch": watch}[sys.argv[2] if len(sys.argv) > 2 else "record"]
    count = PROGRAMS[measured.__name__]
    rate_asked = sys.argv[3] if len(sys.argv) > 3 else "200"
    environment = {**loopback.environment(), "LD_PRELOAD": str(runtime.tracetools())}
    chatter = [sys.executable, str(Path(__file__).with_name("chatter.py"))]
    found: dict[str, list[Found]] = {backend: [] for backend in BACKENDS}
    with tempfile.TemporaryDirectory(prefix="takt-benchmark-") as folder:
        counts = [Path(folder) / str(i) for i in range(count)]
        for file in counts:
            file.write_bytes(bytes(8))
        children = [
            subprocess.Popen(
                [*chatter, str(i), str(count), str(file), rate_asked],
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            for i, file in enumerate(counts)
        ]
        try:
            for child in children:
                assert child.stdout
                child.stdout.readline()
            time.sleep(2)
            programs = Programs([child.pid for child in children], counts)
            for _ in range(ROUNDS):
                for backend in BACKENDS:
                    if backend:
                        found[backend].append(measured(programs, backend, seconds))
                    else:
                        per_message, _, sent = measure(programs, None, seconds)
                        found[backend].append(Found(per_message, 0, 0))
                        rate = sent / seconds
        finally:
            for child in children:
                child.send_signal(signal.SIGINT)
            for child in children:
                child.wait()
    print(f"load {os.getloadavg()[0]:.1f}, {rate:.0f} messages/s\n")
    print(f"{'':<12}{'events':>8}{'programs':>10}{'recorder':>10}")
    print(f"{'':<12}{'/message':>8}{'us/message':>10}{'cores':>10}")
    for backend, rounds in found.items():
        median = Found(*map(statistics.median, zip(*map(astuple, rounds), strict=True)))
        print(
            f"{backend or 'not traced':<12}{median.events:>8.1f}{median.per_message:>10.0f}"
            f"{median.recorder:>10.3f}"
        )
    for backend in filter(None, BACKENDS):
        pairs = zip(found[backend], found[""], strict=True)
        more = sorted(traced.per_message - untraced.per_message for traced, untraced in pairs)
        print(
            f"{backend}: {statistics.median(more):.0f} us/message more than not traced "
            f"({more[0]:.0f} to {more[-1]:.0f})"
        )


if __name__ == "__main__":
    main()
