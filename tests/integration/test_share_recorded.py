"""Recordings of programs that share topics: every message that was taken is linked to the one that
was sent, and the way through shared memory has a name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import babeltrace
from recording import PROGRAMS, TAKT, Run, takt

ROOT = Path(__file__).parents[2]
ROUND = 20
"""As in sharing_pair.py."""
TOPICS = {"text": "/text", "image": "/image"}


@pytest.fixture(scope="module")
def meeting() -> Iterator[dict[str, str]]:
    """An environment with a folder of its own for the sockets, with a short name."""
    with tempfile.TemporaryDirectory(prefix="takt-") as name:
        yield os.environ | {"XDG_RUNTIME_DIR": name, "ROS_DOMAIN_ID": "87"}


@dataclass
class Recorded:
    events: list[Any]
    trace: Path
    heard: dict[tuple[str, str], list[int]]
    """By listener and topic, the numbers of the messages that it says it has heard, in order."""


@pytest.fixture(scope="module", params=["lttng", "ring"])
def pair(
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
    meeting: dict[str, str],
) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in meeting.items():
            patch.setenv(name, value)
        run = Run.of(
            tmp_path_factory.mktemp("pair") / "trace",
            [sys.executable, str(PROGRAMS / "sharing_pair.py"), "100000"],
            backend=request.param,
            options=["--share"],
        )
    assert not any(run.document["losses"].values())
    lines = [line.split() for line in run.output.splitlines()]
    assert all(line[4] == "whole" for line in lines)
    heard = {
        (who, topic): [int(line[3]) for line in lines if line[:2] == [who, topic]]
        for who in ("shared", "foreign")
        for topic in TOPICS
    }
    return Recorded(babeltrace.events(run.trace), run.trace, heard)


def of_topic(recorded: Recorded, kind: str, topic: str) -> dict[tuple[int, int], int]:
    """The process and the middleware's handle of each publisher or subscription of a topic, with
    the time at which it was made.
    """
    return {
        (e.process, e.fields[f"rmw_{kind}_handle"]): e.clock
        for e in recorded.events
        if e.name == f"ros2:rcl_{kind}_init" and e.fields["topic_name"] == topic
    }


def stamps(
    recorded: Recorded, name: str, field: str, whose: tuple[int, int], kind: str
) -> list[int]:
    return [
        e.fields[field]
        for e in recorded.events
        if e.name == name
        and (e.process, e.fields[f"rmw_{kind}_handle"]) == whose
        and e.fields.get("taken", 1) == 1
    ]


@pytest.mark.parametrize("topic", TOPICS)
def test_every_take_has_the_stamp_of_its_publication(pair: Recorded, topic: str) -> None:
    """Whichever way the message took. Nothing else is said to be taken."""
    assert pair.heard["shared", topic] == list(range(1, 3 * ROUND + 1))
    ((publisher, _),) = of_topic(pair, "publisher", TOPICS[topic]).items()
    sent = stamps(pair, "ros2:rmw_publish", "timestamp", publisher, "publisher")
    assert len(sent) == len(set(sent)) == 3 * ROUND
    made = of_topic(pair, "subscription", TOPICS[topic])
    shared, foreign = sorted(made, key=lambda one: made[one])
    for listener, who in ((shared, "shared"), (foreign, "foreign")):
        taken = stamps(pair, "ros2:rmw_take", "source_timestamp", listener, "subscription")
        assert taken == [sent[number - 1] for number in pair.heard[who, topic]]


@pytest.mark.parametrize("topic", TOPICS)
def test_publications_come_before_their_takes(pair: Recorded, topic: str) -> None:
    published = {
        e.fields["timestamp"]: e.clock for e in pair.events if e.name == "ros2:rmw_publish"
    }
    takes = of_topic(pair, "subscription", TOPICS[topic])
    taken = [e for e in pair.events if e.name == "ros2:rmw_take" and e.fields["taken"]]
    of_both = [e for e in taken if (e.process, e.fields["rmw_subscription_handle"]) in takes]
    assert len(of_both) == 4 * ROUND
    assert all(published[e.fields["source_timestamp"]] < e.clock for e in of_both)


@pytest.mark.parametrize("topic", TOPICS)
def test_messages_from_shared_memory_are_named(pair: Recorded, topic: str) -> None:
    made = of_topic(pair, "subscription", TOPICS[topic])
    shared, foreign = sorted(made, key=lambda one: made[one])

    def said(whose: tuple[int, int]) -> list[int]:
        return stamps(pair, "takt:share_take", "source_timestamp", whose, "subscription")

    taken = stamps(pair, "ros2:rmw_take", "source_timestamp", shared, "subscription")
    by_memory = said(shared)
    # After the first ones, all come through shared memory, also while somebody else is there.
    assert len(by_memory) > ROUND
    assert by_memory == taken[-len(by_memory) :]
    assert said(foreign) == []


def test_flows_link_all_and_name_the_way(pair: Recorded) -> None:
    done = takt("flow", str(pair.trace), "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert not any(document["unlinked"].values()), document["unlinked"]
    for topic in TOPICS.values():
        flows = [f for f in document["flows"] if f["path"][-1]["topic"] == topic]
        ways = [{stage for stage, share in f["breakdown"].items() if share} for f in flows]
        assert any("in_shared_memory" in stages for stages in ways), topic


def shown(meeting: dict[str, str], *words: str) -> dict[str, str]:
    """What a command sees of its environment, started so."""
    program = "import json, os; print(json.dumps(dict(os.environ)))"
    done = subprocess.run(
        [*TAKT, *words, "--", sys.executable, "-c", program],
        env=meeting,
        stdout=subprocess.PIPE,
        check=False,
    )
    return json.loads(done.stdout.splitlines()[0])  # type: ignore[no-any-return]


GOALS = """
chains:
  - {name: way, from: /nowhere, to: /nobody, latency: 100ms}
"""


@pytest.mark.parametrize(
    "words",
    [
        ["record", "--backend", "ring", "-o", "{folder}/trace", "--share-topics", "/camera/*"],
        ["manage", "--dry-run", "--goals", "{folder}/goals.yaml", "--share-topics", "/camera/*"],
        [
            *("share", "--topics", "/camera/*", "--", *TAKT),
            *("record", "--backend", "ring", "-o", "{folder}/trace"),
        ],
        [
            *("record", "--backend", "ring", "-o", "{folder}/trace", "--"),
            *(*TAKT, "share", "--topics", "/camera/*"),
        ],
    ],
    ids=["record", "manage", "record-within-share", "share-within-record"],
)
def test_the_sharing_library_stands_before_the_tracing_library(
    meeting: dict[str, str], tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "goals.yaml").write_text(GOALS)
    environment = shown(meeting, *(word.format(folder=tmp_path) for word in words))
    libraries = [Path(path).name for path in environment["LD_PRELOAD"].split(":")]
    assert libraries == ["libtakt_share.so", "libtracetools.so"]
    assert environment["TAKT_SHARE"] == f"{meeting['XDG_RUNTIME_DIR']}/takt/share"
    assert environment["TAKT_SHARE_TOPICS"] == "/camera/*"


def edges(trace: Path) -> list[dict[str, Any]]:
    done = takt("model", str(trace))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["edges"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("options", [[], ["--share"], ["--share-topics", "/none/*"]])
def test_models_of_a_run_know_how_its_messages_went(
    meeting: dict[str, str], tmp_path: Path, options: list[str]
) -> None:
    model, log = str(ROOT / "models" / "pipeline.json"), tmp_path / "log.jsonl"
    run = ["run", model, "--duration", "3", "--log", str(log), *options]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in meeting.items():
            patch.setenv(name, value)
        Run.of(tmp_path / "trace", [*TAKT, *run], backend="ring")
    executors = {c["id"]: c["executor"] for c in json.loads(Path(model).read_text())["callbacks"]}
    between = [
        e
        for e in json.loads(Path(model).read_text())["edges"]
        if executors[e["from"]] != executors[e["to"]]
    ]
    assert between
    found = edges(tmp_path / "trace")
    shared = [edge for edge in found if edge["transport"] == "shared_memory"]
    assert len(shared) == (len(between) if options == ["--share"] else 0)
    latency = takt("latency", str(tmp_path / "trace"))
    assert ("came through shared memory" in latency.stdout + latency.stderr) == bool(shared)


@pytest.mark.parametrize("words", [["record", "--share"], ["manage", "--goals", "g", "--share"]])
def test_what_runs_already_cannot_be_made_to_share(
    meeting: dict[str, str], tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "g").write_text(GOALS)
    done = subprocess.run(
        [*TAKT, *words], env=meeting, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (
        2,
        "takt: --share goes with a command, after --: what runs already cannot be made to share\n",
    )
