"""Precision and recall of the ways that takt flow finds, by what rclcpp_links printed.

python tests/python/link_scores.py tests/recordings/scores

A message that /sink handled, with a message of a source that led to it, is one entry. takt flow
says of each instance whether it is certain; of the others the message of the source is known as a
range only. Those that are certain are known, and right if the program printed them.
"""

from __future__ import annotations

import bisect
import json
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import takt

CLOCK_READING = 3_000_000
"""ns: a program looks at its clock before it publishes, and after its callback has begun."""

Way = str


class Score(NamedTuple):
    truth: int
    known: int
    right: int
    uncertain: int

    @property
    def precision(self) -> str:
        return f"{self.right / self.known:.3f}" if self.known else "–"

    @property
    def recall(self) -> str:
        return f"{self.right / self.truth:.3f}"


def printed(path: Path) -> dict[Way, list[tuple[int, int]]]:
    """For each way, the times of a source's message and of the callback of /sink."""
    ways: dict[Way, list[tuple[int, int]]] = defaultdict(list)
    for line in path.read_text().splitlines():
        way, begin, end = line.split()
        ways[way].append((int(begin), int(end)))
    return dict(ways)


Sent = dict[str, list[int]]
"""When messages of each topic were sent, in order."""


def as_traced(entry: tuple[int, int], sent: list[int], started: list[int]) -> tuple[int, int]:
    """The times of the trace's events: the publication that followed when a program had looked at
    its clock, and the start of the callback that then did so. Its thread may have been preempted
    between the two for longer than one source waits for its next message.
    """
    after = bisect.bisect_left(sent, entry[0])
    before = bisect.bisect_right(started, entry[1]) - 1
    return (
        sent[after] if after < len(sent) else entry[0],
        started[before] if before >= 0 else entry[1],
    )


def score(
    document: dict[str, Any],
    truth: dict[Way, list[tuple[int, int]]],
    zero: int,
    sent: Sent | None = None,
) -> Score:
    """`zero`: the time of the trace's first event by the clock of the program."""
    known = right = uncertain = 0
    ways: dict[Way, list[dict[str, Any]]] = defaultdict(list)
    for flow in document["flows"]:
        if flow["path"][-1]["node"] == "/sink":
            topics = [step["publishes"] for step in flow["path"] if step["publishes"]]
            if len(topics) > 1:  # else nothing is said to have led to what /middle sent
                ways[">".join(topics)].append(flow)
    started = sorted(
        zero + instance["begin"] + instance["latency"]
        for flow in document["flows"]
        if flow["path"][-1]["node"] == "/sink"
        for instance in flow["instances"]
    )
    for way, flows in ways.items():
        times = (sent or {}).get(way.split(">")[0], [])
        left = [as_traced(entry, times, started if sent else []) for entry in truth.get(way, [])]
        for flow in flows:
            uncertain += flow["uncertain"]
            certain = [instance for instance in flow["instances"] if instance["certain"]]
            known += len(certain)
            for instance in certain:
                begin = zero + instance["begin"]
                end = begin + instance["latency"]
                same = [
                    entry
                    for entry in left
                    if abs(entry[0] - begin) < CLOCK_READING and abs(entry[1] - end) < CLOCK_READING
                ]
                if same:
                    left.remove(same[0])
                    right += 1
    return Score(sum(map(len, truth.values())), known, right, uncertain)


def first_event(trace: Path) -> int:
    events = takt.open(str(trace)).all_events()
    return min(int(batch.column("time")[0].as_py()) for _name, batch in events)


def publications(trace: Path) -> Sent:
    topics: dict[tuple[int, int], str] = {}
    found: list[tuple[int, tuple[int, int]]] = []
    for name, batch in takt.open(str(trace)).all_events():
        if name == "ros2:rcl_publisher_init":
            for event in batch.to_pylist():
                topics[event["vpid"], event["publisher_handle"]] = event["topic_name"]
        elif name == "ros2:rcl_publish":
            found += [
                (event["time"], (event["vpid"], event["publisher_handle"]))
                for event in batch.to_pylist()
            ]
    sent: Sent = defaultdict(list)
    for time, publisher in sorted(found):
        sent[topics[publisher]].append(time)
    return sent


def row(name: str, trace: Path, truth: Path, *options: str) -> str:
    command = [sys.executable, "-m", "takt", "flow", str(trace), "--json", "--instances", *options]
    done = subprocess.run(command, capture_output=True, check=True)
    document = json.loads(done.stdout)
    told = score(document, printed(truth), first_event(trace), publications(trace))
    return (
        f"| {name} | {told.truth} | {told.known} | {told.right} | {told.precision} "
        f"| {told.recall} | {told.uncertain} |"
    )


def main() -> None:
    for archive in sorted(Path(sys.argv[1]).glob("*.tar.xz")):
        name = archive.name.removesuffix(".tar.xz")
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
            print(row(name, Path(folder) / name, archive.with_name(f"{name}.txt")))


if __name__ == "__main__":
    main()
