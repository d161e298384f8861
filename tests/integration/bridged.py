"""Two hosts with ROS 2 and a takt bridge on each: network namespaces joined by a cable. ROS 2 is on
the loopback interface of each, and the bridge alone uses the cable.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from recording import PROGRAMS, TAKT, until
from takt.live import bridging
from takt.trials import experiments

Json = dict[str, Any]

needs_hosts = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("tc") is None,
    reason="network namespaces need root, ip and tc",
)
HOSTS = ("robot", "base")


def namespaces_of_experiment() -> ModuleType:
    """The namespaces.py of an experiment."""
    folder = str(experiments.find("deterministic-link").folder)
    sys.path.insert(0, folder)
    try:
        import namespaces  # type: ignore[import-not-found]
    finally:
        sys.path.remove(folder)
    module: ModuleType = namespaces
    return module


class End:
    """A ROS 2 node on one of the hosts (programs/bridge_end.py)."""

    def __init__(self, namespace: str, before: Sequence[str] = ()) -> None:
        """`before`: what starts the node."""
        node = [sys.executable, str(PROGRAMS / "bridge_end.py")]
        run = ["ip", "netns", "exec", namespace, *before, *node]
        self._process = subprocess.Popen(
            run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answers: queue.Queue[Json] = queue.Queue()
        self.heard: dict[str, list[str]] = {}
        self.order: list[tuple[str, str]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = json.loads(line)
            if "did" in said:
                self._answers.put(said)
            else:
                self.heard.setdefault(said["topic"], []).append(said["text"])
                self.order.append((said["topic"], said["text"]))

    def ask(self, what: str, topic: str, **more: Any) -> Json:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": what, "topic": topic} | more) + "\n")
        self._process.stdin.flush()
        return self._answers.get()

    def publish(self, topic: str, texts: list[str]) -> None:
        self.ask("publish", topic, texts=texts)

    def hears(self, topic: str, texts: list[str]) -> None:
        """Waits for as many texts, which must be these."""
        until(lambda: len(self.heard.get(topic, [])) >= len(texts))
        assert self.heard[topic] == texts

    def offers(self, topic: str) -> list[list[str]]:
        found: list[list[str]] = self.ask("offers", topic)["offers"]
        return found

    def finish(self) -> int:
        """Ends it as the end of its input does; its exit status."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


class Bridge:
    """A takt-bridge on one of the hosts."""

    def __init__(self, namespace: str, file: Path, host: str, before: Sequence[str] = ()) -> None:
        """`before`: what starts the bridge."""
        bridge = [*TAKT, "bridge", str(file), "--host", host]
        run = ["ip", "netns", "exec", namespace, *before, *bridge]
        self._process = subprocess.Popen(
            [*run, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.said.append(line.rstrip())

    def says(self, text: str) -> None:
        def has_said() -> bool:
            goes_on = self._reader.is_alive()
            said = any(text in line for line in self.said)
            assert said or goes_on, self.said
            return said

        until(has_said)

    def stop(self) -> Json:
        """Ends it as Ctrl-C does; what it reports."""
        self._process.send_signal(signal.SIGINT)
        assert self._process.stdout is not None
        output = self._process.stdout.read()
        assert self._process.wait() == 0, self.said
        report: Json = json.loads(output)
        return report

    def kill(self) -> None:
        """Kills all its processes, as if the machine had lost its power."""
        with contextlib.suppress(ProcessLookupError):
            for child in _descendants(self._process.pid):
                os.kill(child, signal.SIGKILL)
        self._process.kill()
        self._process.wait()


def _descendants(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task/{process}/children")
    found = [int(child) for child in children.read_text().split()] if children.exists() else []
    return [*found, *(one for child in found for one in _descendants(child))]


class Network:
    """Two hosts with a node on each."""

    def __init__(self, names: tuple[str, str], folder: Path) -> None:
        """`folder` has the key and the bridge file. With the same name twice, both hosts are one
        machine, and ROS 2 systems in domains of their own."""
        self.names = names
        self.file = folder / "bridge.yaml"
        self._before: list[list[str]] = [[], []]
        if names[0] == names[1]:
            self._before = [["env", f"ROS_DOMAIN_ID={domain}"] for domain in (1, 2)]
        self.ends = [End(*end) for end in zip(names, self._before, strict=True)]
        self._bridges: list[Bridge] = []

    def bridge(self, host: str) -> Bridge:
        place = HOSTS.index(host)
        made = Bridge(self.names[place], self.file, host, self._before[place])
        self._bridges.append(made)
        return made

    def bridges(self) -> tuple[Bridge, Bridge]:
        robot, base = self.bridge("robot"), self.bridge("base")
        robot.says("base: connected")
        base.says("robot: connected")
        return robot, base

    def close(self) -> None:
        for one in self._bridges:
            one.kill()
        for end in self.ends:
            end.end()


def write_files(folder: Path, topics: list[Json], one_machine: bool = False) -> None:
    """A key, and a bridge file with these topics."""
    bridging.make_key(str(folder / "bridge.key"))
    addresses = namespaces_of_experiment().ADDRESSES
    hosts = {
        host: {"address": addresses[0 if one_machine else place], "port": 7500 + place}
        for place, host in enumerate(HOSTS)
    }
    document = {"key": "bridge.key", "hosts": hosts, "topics": topics}
    (folder / "bridge.yaml").write_text(json.dumps(document))


@contextlib.contextmanager
def joined(
    folder: Path, megabits: int | None = None, one_machine: bool = False
) -> Iterator[Network]:
    """Two hosts whose bridges use the files in the folder."""
    with namespaces_of_experiment().link(megabits) as names:
        made = Network((names[0], names[0]) if one_machine else names, folder)
        try:
            yield made
        finally:
            made.close()


def digests(letters: str, length: int) -> list[str]:
    """The lines in which an end reports long texts."""
    texts = [letter * length for letter in letters]
    return [f"{len(text)} {hashlib.sha256(text.encode()).hexdigest()}" for text in texts]
