"""takt latency of bags, which generators wrote whose truth is known."""

from __future__ import annotations

import json
import math
import os
import random
import sqlite3
import struct
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcap.writer import CompressionType
from rosbags.rosbag2 import CompressionMode, StoragePlugin

from bag_writers import (
    SECOND,
    STORE,
    Sent,
    header,
    later,
    point,
    text,
    time,
    write_mcap,
    write_rosbag2,
)
from robot import run_takt
from takt import bags
from takt.bags import compression, files, judge, measure, table
from takt.bags.distribution import Distribution
from takt.errors import UserError

Json = dict[str, Any]

SCHEMA = json.loads((Path(bags.__file__).parents[1] / "schemas" / "bag.schema.json").read_text())
BEGIN = 1_700_000_000 * SECOND
MILLISECOND = 1_000_000
ERROR = 0.0101
"""A histogram's relative error is 1 %; figures are rounded to nanoseconds."""

SQLITE, MCAP = StoragePlugin.SQLITE3, StoragePlugin.MCAP


def drive(count: int = 400, seed: int = 1) -> list[Sent]:
    """A sensor, what is made of every second message, and words without a stamp."""
    chance = random.Random(seed)
    made = []
    for number in range(count):
        stamp = BEGIN + number * 100 * MILLISECOND
        logged = stamp + chance.randrange(MILLISECOND, 3 * MILLISECOND)
        made.append(point("/scan", logged, stamp))
        if number % 2 == 0:
            made.append(point("/cmd_vel", logged + chance.randrange(5, 90) * MILLISECOND, stamp))
        made.append(text("/words", stamp + 95 * MILLISECOND, f"word {number}"))
    return made


def truth(messages: Iterable[Sent], topic: str) -> dict[str, list[int]]:
    """Log times, gaps and ages of a topic, by the messages that were written."""
    times = [sent.logged for sent in messages if sent.topic == topic]
    stamps = [
        sent.value.header.stamp.sec * SECOND + sent.value.header.stamp.nanosec
        for sent in messages
        if sent.topic == topic and hasattr(sent.value, "header")
    ]
    return {
        "times": times,
        "gaps": [late - early for early, late in pairwise(times)],
        "ages": [logged - stamp for logged, stamp in zip(times, stamps, strict=False)],
        "stamps": stamps,
    }


def check_distribution(found: Json, expected: list[int]) -> None:
    ordered = sorted(expected)
    assert found["count"] == len(ordered)
    assert (found["min"], found["max"]) == (ordered[0], ordered[-1])
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        exact = ordered[math.ceil(share * len(ordered)) - 1]
        assert abs(found[name] - exact) <= ERROR * abs(exact) + 1, name


def document_of(path: Path, *arguments: str | Path, status: int = 0) -> Json:
    done = run_takt("latency", path, "--json", *arguments)
    assert done.returncode == status, done.stderr
    found: Json = json.loads(done.stdout)
    Draft202012Validator(SCHEMA).validate(found)
    return found


def read(path: Path) -> tuple[files.Bag, measure.Measured]:
    bag = files.open_bag(str(path))
    measured = measure.Measured()
    measured.add(bag.messages(None))
    return bag, measured


def topic_of(document: Json, name: str) -> Json:
    return next(topic for topic in document["topics"] if topic["topic"] == name)


WRITERS: dict[str, Callable[[Path, list[Sent]], Path]] = {
    "sqlite": lambda p, m: write_rosbag2(p / "bag", m, SQLITE),
    "sqlite, compressed files": lambda p, m: write_rosbag2(
        p / "bag", m, SQLITE, CompressionMode.FILE
    ),
    "sqlite, compressed messages": lambda p, m: write_rosbag2(
        p / "bag", m, SQLITE, CompressionMode.MESSAGE
    ),
    "mcap": lambda p, m: write_rosbag2(p / "bag", m, MCAP),
    "mcap, compressed files": lambda p, m: write_rosbag2(p / "bag", m, MCAP, CompressionMode.FILE),
    "mcap, compressed messages": lambda p, m: write_rosbag2(
        p / "bag", m, MCAP, CompressionMode.MESSAGE
    ),
    "mcap, compressed storage": lambda p, m: write_rosbag2(
        p / "bag", m, MCAP, CompressionMode.STORAGE
    ),
    "one file": lambda p, m: write_mcap(p / "robot.mcap", m),
    "zstd": lambda p, m: write_mcap(p / "robot.mcap", m, CompressionType.ZSTD),
    "lz4": lambda p, m: write_mcap(p / "robot.mcap", m, CompressionType.LZ4),
    "no chunks": lambda p, m: write_mcap(p / "robot.mcap", m, chunked=False),
    "no index": lambda p, m: write_mcap(p / "robot.mcap", m, CompressionType.LZ4, indexed=False),
    "big endian": lambda p, m: write_mcap(p / "robot.mcap", m, little_endian=False),
}


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS.keys())
def test_what_was_written_is_what_is_said(
    writer: Callable[[Path, list[Sent]], Path], tmp_path: Path
) -> None:
    messages = drive()
    found = document_of(writer(tmp_path, messages))
    assert found["warnings"] == []
    assert found["messages"] == len(messages)
    times = [sent.logged for sent in messages]
    assert (found["begin"], found["duration"]) == (min(times), max(times) - min(times))
    for name in ("/scan", "/cmd_vel", "/words"):
        topic, known = topic_of(found, name), truth(messages, name)
        count = len(known["times"])
        assert topic["messages"] == count
        length = known["times"][-1] - known["times"][0]
        assert topic["rate"] == pytest.approx((count - 1) * 1e9 / length)
        check_distribution(topic["gaps"], known["gaps"])
        longest = max(range(count - 1), key=lambda i: known["gaps"][i])
        assert topic["longest_gap_at"] == known["times"][longest] - found["begin"]
        if name == "/words":
            assert topic["stamps"] is None
        else:
            check_distribution(topic["stamps"]["ages"], known["ages"])
            assert topic["stamps"]["guessed"] is False
    (pair,) = found["latencies"]
    assert (pair["from"], pair["to"], pair["reversed"]) == ("/scan", "/cmd_vel", 0)
    scan, cmd = truth(messages, "/scan"), truth(messages, "/cmd_vel")
    seen = dict(zip(scan["stamps"], scan["times"], strict=True))
    check_distribution(
        pair["latency"],
        [logged - seen[stamp] for stamp, logged in zip(cmd["stamps"], cmd["times"], strict=True)],
    )
    assert (pair["from_stamps"], pair["to_stamps"]) == (400, 200)


def test_the_time_of_publication_is_used_where_the_bag_has_it(tmp_path: Path) -> None:
    newer = document_of(write_mcap(tmp_path / "newer.mcap", drive(), delay=1_500_000))
    for topic in newer["topics"]:
        check_distribution(topic["delay"], [1_500_000] * topic["messages"])
    older = document_of(write_mcap(tmp_path / "older.mcap", drive()))
    assert [topic["delay"] for topic in older["topics"]] == [None] * 3
    assert "Delay p50" in run_takt("latency", tmp_path / "newer.mcap").stdout
    assert "Delay" not in run_takt("latency", tmp_path / "older.mcap").stdout


def test_people_get_tables_and_what_a_bag_cannot_tell(tmp_path: Path) -> None:
    done = run_takt("latency", write_mcap(tmp_path / "robot.mcap", drive()))
    assert done.returncode == 0
    assert "10.0 Hz" in done.stdout or "10 Hz" in done.stdout
    assert "From log time to log time of messages with the same stamp" in done.stdout
    for untold in ("the recorder's own delay", "no callbacks", "no bounds"):
        assert untold in done.stderr


GOALS = """
chains:
  - {name: kept, from: /scan, to: cmd_vel, latency: 90ms}
  - {name: missed, from: scan, to: /cmd_vel, latency: 30ms}
  - {name: backwards, from: /cmd_vel, to: /scan, latency: 1s}
  - {name: blind, from: /scan, to: /words, latency: 1s}
"""


def test_goals_are_judged_from_topic_to_topic(tmp_path: Path) -> None:
    bag, goals = write_mcap(tmp_path / "robot.mcap", drive()), tmp_path / "goals.yaml"
    goals.write_text(GOALS)
    found = document_of(bag, "--goals", goals, status=1)
    assert found["met"] is False
    verdicts = {goal["name"]: goal for goal in found["goals"]}
    assert [goal["missed"] for goal in found["goals"]] == [False, True, True, True]
    assert verdicts["kept"]["latency"] == found["latencies"][0]["latency"]
    assert verdicts["kept"]["unanswered"] == 200
    assert verdicts["missed"]["verdict"].startswith("missed: 89 ms")
    assert "/scan has most stamps before /cmd_vel" in verdicts["backwards"]["verdict"]
    assert "messages of /words have no stamp" in verdicts["blind"]["verdict"]

    goals.write_text("chains:\n  - {name: kept, from: /scan, to: /cmd_vel, latency: 90ms}\n")
    assert document_of(bag, "--goals", goals)["met"] is True
    goals.write_text("chains:\n  - {name: typo, from: /scans, to: /cmd_vel, latency: 90ms}\n")
    done = run_takt("latency", bag, "--goals", goals)
    assert done.returncode == 2
    assert "'/scans' is no topic of the bag" in done.stderr
    assert "did you mean '/scan'?" in done.stderr


def test_stamps_ahead_of_the_recorder_are_said_to_be_of_other_clocks(tmp_path: Path) -> None:
    messages = [
        point("/ahead", BEGIN + n * SECOND, BEGIN + n * SECOND + (3 if n % 4 else -5))
        for n in range(100)
    ]
    found = document_of(write_mcap(tmp_path / "robot.mcap", messages))
    stamps = topic_of(found, "/ahead")["stamps"]
    assert stamps["ahead"] == 75
    assert (stamps["ages"]["min"], stamps["ages"]["p50"], stamps["ages"]["max"]) == (-3, -3, 5)
    assert any("75 of 100 stamps ahead" in line for line in found["warnings"])


def test_ages_of_simulated_time_mean_nothing_and_latencies_may(tmp_path: Path) -> None:
    clock = STORE.types["rosgraph_msgs/msg/Clock"]
    messages = []
    for number in range(1, 50):
        simulated, logged = number * SECOND // 10, BEGIN + number * SECOND // 10
        kind = "rosgraph_msgs/msg/Clock"
        messages.append(Sent("/clock", logged, clock(clock=time(simulated)), kind))
        messages += [point("/a", logged, simulated), point("/b", logged + 7, simulated)]
    found = document_of(write_mcap(tmp_path / "robot.mcap", messages))
    assert topic_of(found, "/a")["stamps"]["of_another_clock"] is True
    assert topic_of(found, "/clock")["stamps"] is None
    assert any("ages of /a, /b mean nothing" in line for line in found["warnings"])
    assert any("simulated clock" in line for line in found["warnings"])
    assert found["latencies"][0]["latency"]["max"] == 7


def various() -> list[Sent]:
    """Types that begin in all ways."""
    types = STORE.types
    messages = []
    for number in range(20):
        stamp = BEGIN + number * SECOND
        logged = stamp + 4 * MILLISECOND
        inner = types["robot_msgs/msg/Inner"](header=header(stamp), kind=1)
        transform = types["geometry_msgs/msg/Transform"](
            translation=types["geometry_msgs/msg/Vector3"](x=0.0, y=0.0, z=0.0),
            rotation=types["geometry_msgs/msg/Quaternion"](x=0.0, y=0.0, z=0.0, w=1.0),
        )
        stamped = types["geometry_msgs/msg/TransformStamped"](
            header=header(stamp), child_frame_id="laser", transform=transform
        )
        values = {
            "robot_msgs/msg/Detection": {"inner": inner, "score": 0.5},
            "robot_msgs/msg/Stamped": {"stamp": time(stamp), "value": 1.0},
            "robot_msgs/msg/Late": {"number": 7, "header": header(stamp)},
            "robot_msgs/msg/Like": {"first": 1_700_000_000, "second": 5, "name": "base_link"},
            "tf2_msgs/msg/TFMessage": {"transforms": [stamped] if number else []},
        }
        for kind, fields in values.items():
            topic = "/" + kind.rpartition("/")[2]
            messages.append(Sent(topic, logged, types[kind](**fields), kind))
    return messages


def without_definitions(folder: Path) -> Path:
    """The bag as ROS 2 Humble writes it."""
    (file,) = folder.glob("*.db3")
    connection = sqlite3.connect(file)
    connection.execute("DROP TABLE message_definitions")
    connection.commit()
    connection.close()
    return folder


def test_stamps_are_found_where_definitions_have_them(tmp_path: Path) -> None:
    for bag in (
        write_mcap(tmp_path / "robot.mcap", various()),
        write_rosbag2(tmp_path / "bag", various(), SQLITE),
    ):
        found = document_of(bag)
        for name in ("/Detection", "/Stamped", "/TFMessage"):
            stamps = topic_of(found, name)["stamps"]
            assert stamps["ages"]["max"] == stamps["ages"]["min"] == 4 * MILLISECOND, name
        assert topic_of(found, "/TFMessage")["stamps"]["unreadable"] == 1  # the empty list
        assert topic_of(found, "/Late")["stamps"] is None
        assert topic_of(found, "/Like")["stamps"] is None


def test_without_definitions_a_header_is_known_by_its_bytes(tmp_path: Path) -> None:
    found = document_of(without_definitions(write_rosbag2(tmp_path / "bag", various(), SQLITE)))
    stamps = topic_of(found, "/Detection")["stamps"]
    assert (stamps["guessed"], stamps["ages"]["max"]) == (True, 4 * MILLISECOND)
    # A bare time has no frame behind it, and what only looks like a stamp does not go on.
    for name in ("/Stamped", "/Late", "/Like"):
        assert topic_of(found, name)["stamps"] is None, name
    assert topic_of(found, "/TFMessage")["stamps"]["guessed"] is False
    assert any("no definition of their types" in line for line in found["warnings"])


def test_one_message_that_is_no_header_refutes_the_guess(tmp_path: Path) -> None:
    messages = [point("/a", BEGIN + n * SECOND, BEGIN + n * SECOND) for n in range(30)]
    bad = point("/a", BEGIN + 30 * SECOND, BEGIN + 30 * SECOND, frame="a\x07b")
    folder = without_definitions(write_rosbag2(tmp_path / "bag", [*messages, bad], SQLITE))
    assert topic_of(document_of(folder), "/a")["stamps"] is None


@pytest.mark.parametrize(
    ("from_a", "source", "expected"),
    [([10, -7, 20], "/a", [10, -7, 20]), ([10, -7, -8, -9], "/b", [-10, 7, 8, 9])],
)
def test_a_pair_begins_with_the_topic_that_mostly_has_a_stamp_first(
    from_a: list[int], source: str, expected: list[int], tmp_path: Path
) -> None:
    messages = []
    for number, latency in enumerate(from_a):
        stamp = BEGIN + number * SECOND
        pair = [point("/a", stamp + 100, stamp), point("/b", stamp + 100 + latency, stamp)]
        messages += sorted(pair, key=lambda sent: sent.logged)
    (pair,) = document_of(write_mcap(tmp_path / "robot.mcap", messages))["latencies"]
    assert pair["from"] == source
    check_distribution(pair["latency"], expected)
    assert pair["reversed"] == sum(latency < 0 for latency in expected)


def test_repeated_and_unset_stamps_are_no_latencies(tmp_path: Path) -> None:
    messages = [
        point("/a", BEGIN, BEGIN),
        point("/b", BEGIN + 10, BEGIN),
        point("/b", BEGIN + 500, BEGIN),  # again: the first one counts
        point("/a", BEGIN + 600, 0),
        point("/b", BEGIN + 700, 0),
    ]
    found = document_of(write_mcap(tmp_path / "robot.mcap", messages))
    assert found["latencies"][0]["latency"]["max"] == 10
    assert topic_of(found, "/b")["stamps"]["different"] == 1
    assert topic_of(found, "/b")["stamps"]["unset"] == 1


def split(folder: Path, parts: int) -> Path:
    """A bag whose recorder began a new file now and then; more than ten, so that names alone are
    not in order. metadata.yaml is that of a bag with one file, with the names of all.
    """
    messages = drive()
    size = math.ceil(len(messages) / parts)
    write_rosbag2(folder, messages, MCAP)
    (whole,) = folder.glob("*.mcap")
    whole.unlink()
    names = []
    for number in range(parts):
        names.append(f"bag_{number}.mcap")
        write_mcap(folder / names[-1], messages[number * size : (number + 1) * size])
    yaml = (folder / "metadata.yaml").read_text()
    listed = "\n".join(f"  - {name}" for name in names)
    yaml = yaml.replace(f"  - {whole.name}", listed)
    (folder / "metadata.yaml").write_text(yaml)
    return folder


def test_files_of_a_bag_are_one_recording(tmp_path: Path) -> None:
    found = document_of(split(tmp_path / "bag", 12))
    whole = document_of(write_mcap(tmp_path / "robot.mcap", drive()))
    assert found["warnings"] == []
    for key in ("topics", "latencies", "messages"):
        assert found[key] == whole[key]
    # Without metadata.yaml, as a recorder leaves it that was killed: the same, in the same order.
    (tmp_path / "bag" / "metadata.yaml").unlink()
    killed = document_of(tmp_path / "bag")
    assert killed["topics"] == whole["topics"]
    assert any("no metadata.yaml" in line for line in killed["warnings"])


def test_a_missing_file_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    folder = split(tmp_path / "bag", 4)
    (folder / "bag_2.mcap").unlink()
    found = document_of(folder)
    assert found["messages"] == 750
    assert any("names 'bag_2.mcap', which is not there" in line for line in found["warnings"])
    assert any("says 1\u202f000 messages, 750 were read" in line for line in found["warnings"])


def test_messages_in_the_log_of_a_killed_recorder_are_read(tmp_path: Path) -> None:
    folder = write_rosbag2(tmp_path / "bag", drive(), SQLITE)
    (file,) = folder.glob("*.db3")
    writer = sqlite3.connect(file)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    (data,) = writer.execute("SELECT data FROM messages LIMIT 1").fetchone()
    writer.executemany(
        "INSERT INTO messages(topic_id, timestamp, data) VALUES (1, ?, ?)",
        [(BEGIN + 1000 * SECOND + n, data) for n in range(7)],
    )
    writer.commit()
    copy = tmp_path / "killed.db3"
    for suffix in ("", "-wal"):
        copy.with_name(copy.name + suffix).write_bytes(
            file.with_name(file.name + suffix).read_bytes()
        )
    writer.close()
    assert read(copy)[1].count == len(drive()) + 7


def spoiled(whole: bytes) -> Iterator[tuple[bytes, int]]:
    """Cut anywhere, or with bytes changed anywhere, and how many places are wrong."""
    chance = random.Random(4)
    for _ in range(50):
        yield whole[: chance.randrange(len(whole))], 1
    for _ in range(100):
        data = bytearray(whole)
        places = chance.choice((1, 1, 3, 30))
        for _ in range(places):
            data[chance.randrange(len(data))] = chance.randrange(256)
        yield bytes(data), places


@pytest.mark.parametrize("writer", ["sqlite", "zstd", "lz4", "no chunks", "mcap, compressed files"])
def test_a_damaged_file_is_read_as_far_as_it_can_be(writer: str, tmp_path: Path) -> None:
    messages = drive(60)
    made = WRITERS[writer](tmp_path, messages)
    file = made if made.is_file() else next(f for f in made.iterdir() if "yaml" not in f.name)
    damaged = tmp_path / f"damaged{''.join(file.suffixes)}"
    some = 0
    for data, places in spoiled(file.read_bytes()):
        damaged.write_bytes(data)
        bag, measured = read(damaged)
        if measured.count < len(messages):
            # Several wrong bytes may hide each other.
            assert places > 1 or bag.losses.faults or bag.losses.messages, "a loss without a word"
            some += measured.count > 0
    assert some > 0


def pages_of_messages(whole: bytes, root: int) -> list[tuple[int, int, int]]:
    """Each page with messages, and the first and last number of those on it: as the inner page at
    the root of their table says (SQLite's file format, 1.6).
    """
    inner = whole[(root - 1) * 4096 : root * 4096]
    assert inner[0] == 5
    found, before = [], 0
    for cell in struct.unpack_from(f">{struct.unpack_from('>H', inner, 3)[0]}H", inner, 12):
        (page,) = struct.unpack_from(">I", inner, cell)
        last, at = 0, cell + 4
        while inner[at] & 0x80:
            last, at = last << 7 | inner[at] & 0x7F, at + 1
        last = last << 7 | inner[at]
        found.append((page, before + 1, last))
        before = last
    return [*found, (struct.unpack_from(">I", inner, 8)[0], before + 1, 1 << 40)]


@pytest.mark.parametrize("how", ["noise", "cut"])
def test_a_damaged_page_of_a_database_costs_the_messages_on_it(how: str, tmp_path: Path) -> None:
    messages = sorted(drive(), key=lambda sent: sent.logged)
    (file,) = write_rosbag2(tmp_path / "bag", messages, SQLITE).glob("*.db3")
    with sqlite3.connect(file) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'messages'"
        (root,) = connection.execute(query).fetchone()
        logged = [time for (time,) in connection.execute("SELECT timestamp FROM messages")]
    whole = file.read_bytes()
    pages = pages_of_messages(whole, root)
    assert len(pages) > 5
    damaged = tmp_path / "damaged.db3"
    for page, first, last in pages:
        begin = (page - 1) * 4096
        if how == "noise":
            noise = random.Random(page).randbytes(4096)
            damaged.write_bytes(whole[:begin] + noise + whole[begin + 4096 :])
            lost = {*range(first, min(last, len(logged)) + 1)}
        else:
            damaged.write_bytes(whole[:begin])
            gone = [range(a, min(b, len(logged)) + 1) for other, a, b in pages if other >= page]
            lost = {number for numbers in gone for number in numbers}
        bag = files.open_bag(str(damaged))
        kept = [time for number, time in enumerate(logged, 1) if number not in lost]
        assert [message.logged for message in bag.messages(None)] == kept
        numbers = f"{first} to {last}" if len(logged) not in lost else f"from {first} on"
        (fault,) = bag.losses.faults
        assert f"the messages {numbers} cannot be read: " in fault


def test_messages_of_topics_whose_names_are_lost_are_called_by_number(tmp_path: Path) -> None:
    (file,) = write_rosbag2(tmp_path / "bag", drive(), SQLITE).glob("*.db3")
    with sqlite3.connect(file) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'topics'"
        (root,) = connection.execute(query).fetchone()
        counts = dict(
            connection.execute("SELECT topic_id, count(*) FROM messages GROUP BY topic_id")
        )
    whole = file.read_bytes()
    begin = (root - 1) * 4096
    damaged = tmp_path / "damaged.db3"
    damaged.write_bytes(whole[:begin] + bytes([255] * 400) + whole[begin + 400 :])
    found = document_of(damaged)
    assert {topic["topic"]: topic["messages"] for topic in found["topics"]} == {
        f"?{number}": count for number, count in counts.items()
    }
    assert any("the list of its topics cannot be read" in line for line in found["warnings"])


def test_a_damaged_chunk_costs_its_messages_alone(tmp_path: Path) -> None:
    messages = drive()
    file = write_mcap(tmp_path / "robot.mcap", messages)
    data = bytearray(file.read_bytes())
    middle = data.index(b"word 200")
    data[middle] ^= 0xFF
    file.write_bytes(data)
    found = document_of(file)
    lost = len(messages) - found["messages"]
    assert 0 < lost < 100
    assert any("is damaged: crc validation failed" in line for line in found["warnings"])


def test_a_killed_recorder_of_mcap_left_no_end(tmp_path: Path) -> None:
    file = write_mcap(tmp_path / "robot.mcap", drive())
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    found = document_of(file)
    assert 400 < found["messages"] < 600
    assert found["warnings"]


def hostile(folder: Path, name: str) -> Path:
    """Inputs of which nothing can be read."""
    path = folder / name
    if name == "empty.mcap":
        path.touch()
    elif name == "words.mcap":
        path.write_text("these are words\n" * 100)
    elif name == "no-messages.mcap":
        write_mcap(path, [])
    elif name == "bomb.mcap":
        # A chunk that says that it holds a terabyte, and one that holds more than it says.
        body = struct.pack("<QQQI", 0, 0, 2**40, 0) + struct.pack("<I", 4) + b"zstd"
        body += struct.pack("<Q", 4) + b"\x28\xb5\x2f\xfd"
        start = b"\x89MCAP0\r\n" + b"\x01" + struct.pack("<QII", 8, 0, 0)
        path.write_bytes(start + b"\x06" + struct.pack("<Q", len(body)) + body)
    elif name == "huge-record.mcap":
        path.write_bytes(b"\x89MCAP0\r\n" + b"\x06" + struct.pack("<Q", 2**62) + b"x" * 100)
    elif name == "no-tables.db3":
        sqlite3.connect(path).execute("CREATE TABLE other(x)")
    elif name == "endless.db3":
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE topics(id, name, type, serialization_format)")
        connection.execute(
            "CREATE VIEW messages AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) "
            "SELECT 1 AS topic_id, i AS timestamp, x'00' AS data FROM n"
        )
        connection.commit()
    elif name == "broken.db3":
        path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    elif name == "pipe.mcap":
        os.mkfifo(path)
    elif name == "loop.mcap":
        path.symlink_to(path)
    elif name == "nothing.mcap":
        pass
    elif name == "folder":
        path.mkdir()
        (path / "metadata.yaml").write_text("a: &a [*a, *a]\nb: {" * 1000)
    elif name == "listed":
        path.mkdir()
        (path / "metadata.yaml").write_text(
            "rosbag2_bagfile_information:\n  relative_file_paths: [../../../etc/passwd, 7, {}]\n"
            "  message_count: -3\n"
        )
    elif name in METADATA_BOMBS:
        path.mkdir()
        (path / "metadata.yaml").write_text(METADATA_BOMBS[name])
    return path


METADATA_BOMBS = {
    "deep-list": "[" * 3_000_000,
    "deep-mapping": "a: " + "{a: " * 500_000,
    "aliases": "a0: &a0 [x, x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]\n" for n in range(1, 40))
    + "rosbag2_bagfile_information: {relative_file_paths: *a39}\n",
    "merges": "b0: &b0 {k: 1}\n"
    + "".join(f"b{n}: &b{n} {{<<: [{', '.join([f'*b{n - 1}'] * 8)}]}}\n" for n in range(1, 20)),
}
"""A loader of YAML ends its process on the first two, and does not come back from the last."""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("empty.mcap", "the file is empty"),
        ("words.mcap", "cannot be read from byte 0 on"),
        ("no-messages.mcap", "no message in the bag"),
        ("bomb.mcap", "ends in the middle"),
        ("huge-record.mcap", "cannot be read from byte 0 on"),
        ("no-tables.db3", "no tables 'topics' and 'messages'"),
        ("endless.db3", "no tables 'topics' and 'messages'"),
        ("broken.db3", "cannot be read to its end"),
        ("pipe.mcap", "no file"),
        ("loop.mcap", "cannot be read: "),
        ("nothing.mcap", "cannot be read: No such file"),
        ("folder", "a bag without files"),
        ("listed", "a bag without files"),
        *((name, "a bag without files") for name in METADATA_BOMBS),
    ],
)
def test_what_is_no_bag_is_refused_in_one_line(name: str, said: str, tmp_path: Path) -> None:
    done = run_takt("latency", hostile(tmp_path, name))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert name in done.stderr
    assert said in done.stderr


def test_a_file_that_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import zstandard

    monkeypatch.setattr(compression, "LEAST_UNPACKED", 1 << 20)
    packed = tmp_path / "bomb.db3.zstd"
    packed.write_bytes(zstandard.ZstdCompressor().compress(b"\0" * (64 << 20)))
    with pytest.raises(UserError, match="refused: unpacked it has more than"):
        read(packed)


def test_a_file_that_was_cut_is_said_to_be(tmp_path: Path) -> None:
    import zstandard

    plain = write_mcap(tmp_path / "plain.mcap", drive(50)).read_bytes()
    packed = zstandard.ZstdCompressor().compress(plain)
    for size in (3, 20, len(packed) // 2, len(packed) - 1):
        cut = tmp_path / f"cut{size}.mcap.zstd"
        cut.write_bytes(packed[:size])
        done = run_takt("latency", cut)
        assert "it was cut off" in done.stderr
        assert "empty" not in done.stderr
    # Several frames are one file.
    halves = [plain[:1000], plain[1000:]]
    (tmp_path / "two.mcap.zstd").write_bytes(b"".join(map(zstandard.compress, halves)))
    two, one = (run_takt("latency", tmp_path / name) for name in ("two.mcap.zstd", "plain.mcap"))
    assert (two.stdout, two.stderr) == (one.stdout, one.stderr)


def test_each_column_of_the_goals_has_a_name_of_its_own() -> None:
    verdict = judge.Verdict("pilot", "/scan", "/cmd_vel", 10**7, Distribution(), 0, None)
    (head, *_) = table.goals([verdict]).lines(200)
    names = head.split()
    assert sorted({*names}) == sorted(names)


def test_options_that_a_bag_cannot_serve_are_refused(tmp_path: Path) -> None:
    bag = write_mcap(tmp_path / "robot.mcap", drive(5))
    for more, said in (("--guaranteed", "a bag has no bounds"), (bag, "give it alone")):
        done = run_takt("latency", bag, more)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert said in done.stderr


@pytest.mark.parametrize("command", ["info", "flow", "model", "report", "compare", "summarize"])
def test_other_commands_say_what_reads_a_bag(command: str, tmp_path: Path) -> None:
    bag = write_mcap(tmp_path / "robot.mcap", drive(5))
    folder = write_rosbag2(tmp_path / "bag", drive(5), SQLITE)
    for path in (bag, folder):
        given = [path, path] if command == "compare" else [path]
        output = () if command in ("info", "flow", "compare") else ("-o", tmp_path / "out")
        done = run_takt(command, *given, *output)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "a bag of messages, not a trace: 'takt latency' reads it" in done.stderr


def test_a_trace_with_a_bag_in_it_is_a_trace(tmp_path: Path) -> None:
    (tmp_path / "ust").mkdir()
    write_mcap(tmp_path / "exported.mcap", drive(2))
    assert not bags.is_bag(str(tmp_path))


def test_memory_depends_on_the_topics_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "STAMPS_KEPT", 200)
    peaks = []
    for count in (2000, 20_000):
        file = write_mcap(tmp_path / f"{count}.mcap", drive(count), CompressionType.LZ4)
        tracemalloc.start()
        read(file)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # The messages alone are 2.5 MB more; objects that wait for Python's collector are some 0.15 MB.
    assert peaks[1] < peaks[0] + (1 << 18)


def test_quantiles_of_either_sign() -> None:
    chance = random.Random(7)
    for _ in range(200):
        spread = chance.choice((3, 1000, 10**9))
        values = [chance.randrange(-spread, spread) for _ in range(chance.randrange(1, 60))]
        made = Distribution()
        for value in values:
            made.add(value)
        check_distribution(made.json(), values)
        check_distribution(made.negated.json(), [-value for value in values])
        assert made.negative == sum(value < 0 for value in values)


def test_order_is_by_time_though_files_are_not(tmp_path: Path) -> None:
    messages = [point("/a", BEGIN + n * SECOND, BEGIN + n * SECOND) for n in (0, 1, 3, 2, 4)]
    topic = topic_of(document_of(write_mcap(tmp_path / "robot.mcap", messages)), "/a")
    assert topic["backwards"] == 1
    assert topic["rate"] == pytest.approx(1.0)
    shifted = document_of(write_mcap(tmp_path / "later.mcap", later(messages, 5)))
    assert topic_of(shifted, "/a")["stamps"]["ages"]["max"] == 5
