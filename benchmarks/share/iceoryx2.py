"""How long messages between two processes take through libtakt/memory and by iceoryx2, woken by an
event, in turns in one run.

    python benchmarks/share/iceoryx2.py PROGRAM [--rounds 7] [--messages 110]    (share_benchmark)

Both ends copy each message from and to memory of their own, or both use the shared memory (a loan).
Each round runs ours twice, so that the ratio beside itself says what the machine's other work does
to ratios; who comes first changes. Without cargo 1.89 the columns of iceoryx2 (the crate that is
pinned in iceoryx2/) are left out. Prints the medians of the rounds' medians, and of their ratios.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"1 KiB": 1 << 10, "64 KiB": 1 << 16, "1 MiB": 1 << 20, "8 MiB": 1 << 23}
WAYS = {"copy": "copied", "loan": "lent"}
WARMING_UP = 10
NEEDED = (1, 89)


def build_iceoryx2() -> tuple[Path | None, str]:
    """The program, or why there is none."""
    cargo = shutil.which("cargo") or shutil.which("cargo", path=Path.home() / ".cargo/bin")
    if cargo is None:
        return None, "cargo is not installed"
    said = subprocess.run([cargo, "--version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    if found is None or (int(found[1]), int(found[2])) < NEEDED:
        return None, f"{said.strip()} is older than 1.89"
    build = ROOT / "build/crates/iceoryx2"
    source = Path(__file__).parent / "iceoryx2"
    places = [f"-DCARGO={cargo}", f"-DSOURCE={source}", f"-DBUILD={build}"]
    subprocess.run(["cmake", *places, "-P", str(ROOT / "cmake/build_crate.cmake")], check=True)
    program = build / "target/release/takt-iceoryx2"
    return (program, "") if program.exists() else (None, "the crate could not be built")


def median(program: Path, size: int, messages: int, way: str) -> float:
    """Of one run, in microseconds."""
    command = [str(program), str(size), str(messages), way]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=300)
    times = [int(line) for line in done.stdout.split()]
    return statistics.median(times[WARMING_UP:]) / 1000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--messages", type=int, default=110)
    chosen = parser.parse_args()
    other, why_not = build_iceoryx2()
    if other is None:
        print(f"iceoryx2 is skipped: {why_not}.")
    programs = {"ours": chosen.program, "ours again": chosen.program}
    if other is not None:
        programs["iceoryx2"] = other
    rows = [(way, size) for way in WAYS for size in SIZES]
    found = {(name, row): list[float]() for name in programs for row in rows}
    for round_ in range(chosen.rounds):
        first = round_ % len(programs)
        names = [*programs][first:] + [*programs][:first]
        for way, size in rows:
            for name in names:
                time = median(programs[name], SIZES[size], chosen.messages, way)
                found[name, (way, size)].append(time)

    def ratio(one: str, row: tuple[str, str], beside: str, other_row: tuple[str, str]) -> str:
        pairs = zip(found[one, row], found[beside, other_row], strict=True)
        return f"{statistics.median(a / b for a, b in pairs):.2f}"

    print("| message | on both sides | libtakt/memory, µs | iceoryx2, µs | ratio | beside itself |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        columns = [row[1], WAYS[row[0]], f"{statistics.median(found['ours', row]):.1f}"]
        if other is not None:
            columns.append(f"{statistics.median(found['iceoryx2', row]):.1f}")
            columns.append(ratio("ours", row, "iceoryx2", row))
        else:
            columns += ["–", "–"]
        columns.append(ratio("ours", row, "ours again", row))
        print(f"| {' | '.join(columns)} |")
    grown = ratio("ours", ("loan", "8 MiB"), "ours", ("loan", "1 KiB"))
    print(f"Lent, 8 MiB takes {grown} times as long as 1 KiB.")


if __name__ == "__main__":
    main()
