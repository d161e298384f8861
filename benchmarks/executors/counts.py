"""What each executor executes for a message, in counts that no other load changes.

    counts.py PROGRAM [--threads N] [--measure dispatch|wake-up] [--way within|middleware]
              [--only TEXT] [--functions N]

PROGRAM is executors_counted. It runs under valgrind's callgrind, which counts the instructions of
what is measured: all of them, and those that lock (atomic read-modify-writes, of which a mutex has
two). Needs valgrind and objdump.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

LOCKS = re.compile(r"^\s*([0-9a-f]+):\s+(?:lock |xchg .*\()")


def locking_addresses(library: str) -> set[int]:
    """Addresses of the instructions of a program or library that lock the bus."""
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", library],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    return {int(found[1], 16) for line in listing.splitlines() if (found := LOCKS.match(line))}


class Counts:
    """Instructions of one run, by function and by what they are."""

    def __init__(self, dump: Path) -> None:
        self.functions: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.instructions = 0
        self.locks = 0
        self.locks_by_function: Counter[str] = Counter()
        self._locking: dict[str, set[int]] = {}
        self._read(dump)

    def _read(self, dump: Path) -> None:
        library = function = callee = ""
        is_call = False
        for line in dump.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("ob="):
                library = line[3:]
            elif line.startswith("fn="):
                function = line[3:]
            elif line.startswith("cfn="):
                callee = line[4:]
            elif line.startswith("calls="):
                self.calls[callee] += int(line[6:].split()[0])
                is_call = True
            elif line.startswith("0x"):
                if is_call:
                    is_call = False
                    continue
                address, _, cost = line.split()[:3]
                self.instructions += int(cost)
                self.functions[function] += int(cost)
                if int(address, 16) in self._locking_of(library):
                    self.locks += int(cost)
                    self.locks_by_function[function] += int(cost)

    def _locking_of(self, library: str) -> set[int]:
        if library not in self._locking:
            self._locking[library] = locking_addresses(library)
        return self._locking[library]


def count(program: str, arguments: list[str]) -> tuple[Counts, int]:
    """Counts of a run, and how many messages they are of."""
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "counts"
        done = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                "--instr-atstart=no",
                "--dump-instr=yes",
                "--compress-strings=no",
                "--compress-pos=no",
                f"--callgrind-out-file={dump}",
                program,
                *arguments,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
        return Counts(dump), int(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--threads", default="1", choices=("1", "2"))
    parser.add_argument("--measure", default="dispatch", choices=("dispatch", "wake-up"))
    parser.add_argument("--way", default="within", choices=("within", "middleware"))
    parser.add_argument("--only", default="", help="executors with this in their names")
    parser.add_argument("--functions", type=int, default=0, help="list so many functions")
    chosen = parser.parse_args()
    common = [chosen.threads, chosen.way, chosen.measure]
    listed = subprocess.run([chosen.program, *common], capture_output=True, text=True, check=True)
    print(f"{'executor, per message':<42} {'instructions':>12} {'locks':>7} {'malloc':>7}")
    for name in listed.stdout.splitlines():
        if chosen.only not in name:
            continue
        counts, messages = count(chosen.program, [*common, name])
        allocations = counts.calls["malloc"]
        print(
            f"{name:<42} {counts.instructions / messages:>12.1f}"
            f" {counts.locks / messages:>7.2f} {allocations / messages:>7.2f}"
        )
        for function, cost in counts.functions.most_common(chosen.functions):
            locks = counts.locks_by_function[function] / messages
            calls = counts.calls[function] / messages
            print(f"    {cost / messages:>8.1f} {locks:>6.2f} {calls:>6.2f} calls {function}")


if __name__ == "__main__":
    main()
