"""The links that takt flow finds in recordings of programs, against what these printed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import takt
from link_scores import CLOCK_READING, Score, row, score
from robot import run_takt

ROOT = Path(__file__).resolve().parents[2]
RECORDINGS = ROOT / "tests/recordings/scores"
UNSTAMPED = ROOT / "tests/recordings/links"
"""Has two recordings without the stamps of messages."""
NAMES = sorted(path.name.removesuffix(".tar.xz") for path in RECORDINGS.glob("*.tar.xz"))
TABLE = (ROOT / "docs/flow.md").read_text(encoding="utf-8").splitlines()

UNKNOWN = {
    "lookup": "messages of /middle:/y go into",
    "rclpy_lookup": "messages of /middle:/y go into",
    "rclpy_passes_and_keeps": "/middle:timer-50ms uses",
    "rclpy_transforms": "messages of /sink:/z go into",
}
"""What flows may lead over without being found. The sink broadcasts transforms by a timer, and
nothing recorded tells that these are not made from what it hears."""


@pytest.mark.parametrize("name", NAMES)
def test_the_table_has_what_the_recordings_give(tmp_path: Path, name: str) -> None:
    shutil.unpack_archive(RECORDINGS / f"{name}.tar.xz", tmp_path, filter="data")
    told = row(name, tmp_path / name, RECORDINGS / f"{name}.txt")
    assert told in TABLE
    entries, known, right = (int(cell) for cell in told.split("|")[2:5])
    assert entries >= 200
    assert right == known > 0


def warnings(recording: Path, *options: str) -> list[str]:
    done = run_takt("flow", recording, "--json", *options)
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)["provenance"]["warnings"]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_what_flows_may_miss_is_said(name: str) -> None:
    told = warnings(RECORDINGS / f"{name}.tar.xz")
    lines = [line for line in told if "nothing shows whether" in line]
    if name in UNKNOWN:
        (line,) = lines
        assert UNKNOWN[name] in line
    else:
        assert lines == []


def test_a_declaration_gives_the_link_that_is_said_to_be_unknown(tmp_path: Path) -> None:
    """A callback passes messages on, and keeps them for a timer."""
    links = tmp_path / "links.yaml"
    links.write_text("links: [{node: /middle, timer: 50ms, uses: /x}]\n")
    name = "rclpy_passes_and_keeps"
    shutil.unpack_archive(RECORDINGS / f"{name}.tar.xz", tmp_path, filter="data")
    told = row(name, tmp_path / name, RECORDINGS / f"{name}.txt", "--links", str(links))
    entries, known, right = (int(cell) for cell in told.split("|")[2:5])
    assert entries == known == right


def test_that_no_message_leads_somewhere_is_not_said_where_a_link_is_unknown() -> None:
    recording = RECORDINGS / "rclpy_passes_and_keeps.tar.xz"
    done = run_takt("flow", recording, "--from", "/z", "--to", "/middle")
    assert done.returncode == 0, done.stderr
    answer = done.stderr.splitlines()[-1]
    assert "nothing recorded shows that a message leads from /z to /middle, but" in answer
    assert "links: [{node: /middle, timer: 50ms, uses: TOPIC}]" in answer


LATE_ENDS = ["message_filter", "message_filter_stamps", "rclpy_pool", "rclpy_worker", "worker"]
"""Programs in which a thread, or a callback of /tf, sends what another callback received."""


@pytest.mark.parametrize("name", LATE_ENDS)
def test_chains_of_models_have_the_messages_of_flows(tmp_path: Path, name: str) -> None:
    shutil.unpack_archive(RECORDINGS / f"{name}.tar.xz", tmp_path, filter="data")
    trace = tmp_path / name
    done = run_takt("flow", trace, "--from", "/x", "--to", "/sink", "--json", "--instances")
    instances = [each for flow in json.loads(done.stdout)["flows"] for each in flow["instances"]]
    known = {each["instance"]: each["latency"] for each in instances if each["certain"]}
    goals = tmp_path / "goals.yaml"
    goals.write_text("chains: [{name: way, from: /x, to: /sink, latency: 1s}]\n")
    measured = {
        row["instance"]: row["latency"]
        for row in takt.load(str(trace), goals=str(goals)).flows.to_dicts()
        if row["complete"]
    }
    after_start_up = {number for number in known if number >= min(measured)}
    assert len(after_start_up) > 200
    assert after_start_up <= measured.keys()
    assert measured.keys() <= {each["instance"] for each in instances}
    for number in after_start_up:
        # From the arrival to the completion, and from the publication to the start.
        assert abs(measured[number] - known[number]) < CLOCK_READING


@pytest.mark.parametrize("name", LATE_ENDS)
def test_chains_over_what_waits_have_no_bound_and_one_reason(tmp_path: Path, name: str) -> None:
    goals = tmp_path / "goals.yaml"
    goals.write_text("chains: [{name: way, from: /x, to: /sink, latency: 1s}]\n")
    done = run_takt("latency", RECORDINGS / f"{name}.tar.xz", "--goals", goals, "--json")
    assert done.returncode == 0, done.stderr
    # Messages that did not have to wait go another way.
    (way,) = (each for each in json.loads(done.stdout)["chains"] if " not " not in each["id"])
    takes = "/middle:/tf" if name.startswith("message_filter") else "/middle:/z:source"
    assert way["bound"] is None
    assert way["explanation"] == (
        f'nothing limits how long messages of "/middle:/x" wait until "{takes}" takes them'
    )


def test_a_declared_policy_makes_sets_known_without_stamps(tmp_path: Path) -> None:
    """Of exact time, the message that completes a set is of it."""
    links = tmp_path / "links.yaml"
    links.write_text("links: [{join: '/middle:/x', with: ['/middle:/y'], kind: exact_time}]\n")
    name = "exact_lossy_unstamped"
    shutil.unpack_archive(UNSTAMPED / f"{name}.tar.xz", tmp_path, filter="data")
    cells = []
    for options in ((), ("--links", str(links))):
        told = row(name, tmp_path / name, UNSTAMPED / f"{name}.txt", *options)
        cells.append([int(cell) for cell in told.split("|")[2:5]])
    (entries, found, right), (_, known, known_right) = cells
    assert found == right
    assert known == known_right
    assert known >= max(found, entries // 2)


def test_sets_are_known_by_stamps_alone(tmp_path: Path) -> None:
    """Without stamps Takt claims less of messages that waited, claims nothing wrong, and warns."""
    name = "approximate_unstamped"
    shutil.unpack_archive(UNSTAMPED / f"{name}.tar.xz", tmp_path, filter="data")
    told = row(name, tmp_path / name, UNSTAMPED / f"{name}.txt")
    entries, known, right = (int(cell) for cell in told.split("|")[2:5])
    assert 0 < right == known < 0.6 * entries
    (line,) = (x for x in warnings(UNSTAMPED / f"{name}.tar.xz") if "message_filters" in x)
    assert line.startswith("/middle joins")
    assert "no recorded stamps explain its sets" in line
    assert "ApproximateTime in C++" in line
    stamped = warnings(RECORDINGS / "approximate.tar.xz")
    assert not any("message_filters" in each for each in stamped)


def test_every_row_has_a_recording() -> None:
    begin = TABLE.index("| program | entries | known | right | precision | recall | uncertain |")
    rows = []
    for line in TABLE[begin + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(line.split("|")[1].strip())
    assert rows == NAMES
    assert len(rows) >= 12


def test_scores_count_what_was_invented_and_what_is_missing() -> None:
    step = [{"publishes": "/x"}, {"publishes": "/z"}, {"publishes": None, "node": "/sink"}]
    instances = [{"begin": 10**9 * i, "latency": 5_000_000, "certain": i != 1} for i in range(4)]
    flow = {"path": step, "instances": instances, "count": 4, "uncertain": 1}
    truth = {"/x>/z": [(10**9 * i, 10**9 * i + 5_000_000) for i in (0, 1, 7)]}
    # That the uncertain one agrees makes up for none that is wrong.
    assert score({"flows": [flow]}, truth, 0) == Score(truth=3, known=3, right=1, uncertain=1)
