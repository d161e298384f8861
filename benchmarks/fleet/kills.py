"""Kills workers, the scheduler and the client of a growing store at random moments.

    python benchmarks/fleet/kills.py --kills 100 --seed 1

`takt fleet add --scheduler` adds simulated recordings by a cluster of Dask that this script starts.
Whatever is killed (SIGKILL) is started again; a client that gave up is, too. Once all recordings
are in the store, its files have to be those of a store to which one process added them, byte for
byte, and the next store begins. Exit status 1 if they are not.
"""

from __future__ import annotations

import argparse
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

MODEL = Path(__file__).resolve().parents[2] / "models" / "pipeline.json"
WORKERS = 2
CHECKED = ("runs", "tables", "keys")
"""Folders of a store. The others say where recordings came from, and what failed."""
PYTHON = [sys.executable, "-m"]


class Cluster:
    """The processes that add recordings to a store, the client among them."""

    def __init__(self, recordings: Path, log: Path) -> None:
        self._recordings = recordings
        self._log = log.open("w")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.kills: Counter[str] = Counter()
        self.clients: Counter[int | None] = Counter()
        """How clients ended by themselves, by exit status."""

    @property
    def _address(self) -> str:
        return f"tcp://127.0.0.1:{self._port}"

    def command(self, name: str, store: Path) -> list[str]:
        if name == "client":
            add = [*PYTHON, "takt", "fleet", "add", str(store), str(self._recordings)]
            return [*add, "--scheduler", self._address]
        if name == "scheduler":
            where = ["--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard"]
            return [*PYTHON, "distributed.cli.dask_scheduler", *where]
        options = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]
        return [*PYTHON, "distributed.cli.dask_worker", self._address, *options]

    def keep_running(self, store: Path) -> bool:
        """Starts what does not run; whether the client has added all."""
        for name in ("scheduler", *(f"worker {n}" for n in range(WORKERS)), "client"):
            child = self._running.get(name)
            if child is not None and child.poll() is None:
                continue
            if name == "client" and child is not None and child.returncode >= 0:
                self.clients[child.returncode] += 1
                if child.returncode == 0:
                    del self._running[name]
                    return True
            self._running[name] = subprocess.Popen(
                self.command(name, store),
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        return False

    def kill(self, choice: random.Random) -> None:
        name = choice.choice(sorted(self._running))
        child = self._running[name]
        if child.poll() is None:
            child.kill()
            child.wait()
            self.kills[name.partition(" ")[0]] += 1

    def end(self) -> None:
        for child in self._running.values():
            child.kill()
            child.wait()
        self._log.close()


def record(folder: Path, number: int) -> None:
    """Simulates runs of two robots, three versions each, and keeps their recordings."""
    for each in range(number):
        labels = [f"robot=r{each % 2}", f"version=1.{each * 3 // number}"]
        command = [*PYTHON, "takt", "simulate", str(MODEL), "--seed", str(each), "--duration", "5"]
        command += ["-o", str(folder / f"run{each}"), *(f"--label={label}" for label in labels)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def content(store: Path) -> dict[str, bytes]:
    """The files that every store of these recordings has, by path. A process that is killed leaves
    what it was writing as hidden files, which do not count.
    """
    return {
        str(path.relative_to(store)): path.read_bytes()
        for folder in CHECKED
        for path in sorted((store / folder).rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--recordings", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=4.0, help="seconds between kills, at most")
    options = parser.parse_args()
    choice = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        (scratch / "recordings").mkdir()
        record(scratch / "recordings", options.recordings)
        add = [*PYTHON, "takt", "fleet", "add"]
        whole = scratch / "whole"
        subprocess.run([*add, str(whole), str(scratch / "recordings")], check=True)
        wanted = content(whole)
        cluster = Cluster(scratch / "recordings", scratch / "log")
        try:
            return tried(cluster, choice, options, scratch, wanted)
        finally:
            cluster.end()


def tried(
    cluster: Cluster,
    choice: random.Random,
    options: argparse.Namespace,
    scratch: Path,
    wanted: dict[str, bytes],
) -> int:
    """The exit status."""
    stores = 0
    next_kill = time.monotonic()
    while cluster.kills.total() < options.kills:
        # Another folder: a worker may still write to the one of a client that is gone.
        store = scratch / f"store{stores}"
        while not cluster.keep_running(store):
            if time.monotonic() >= next_kill and cluster.kills.total() < options.kills:
                cluster.kill(choice)
                next_kill = time.monotonic() + choice.uniform(0, options.pause)
            time.sleep(0.05)
        found = content(store)
        if found != wanted:
            names = sorted(
                each for each in {*found, *wanted} if found.get(each) != wanted.get(each)
            )
            print(f"after {cluster.kills.total()} kills differ: {', '.join(names)}")
            return 1
        stores += 1
    told = ", ".join(f"{number} of a {name}" for name, number in sorted(cluster.kills.items()))
    print(f"{cluster.kills.total()} kills ({told}), {stores} stores: the same {len(wanted)} files")
    print(f"clients that ended by themselves, by exit status: {dict(cluster.clients)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
