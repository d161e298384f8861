"""Bags with known contents, by two writers that have nothing in common with the reader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcap.writer import CompressionType, IndexType
from mcap.writer import Writer as McapWriter
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

STORE = get_typestore(Stores.ROS2_HUMBLE)
SECOND = 1_000_000_000

CUSTOM = {
    # First a constant and a comment, then a structure whose first field is a header.
    "robot_msgs/msg/Detection": "# found\nint32 LIMIT=3\nInner inner\nfloat64 score\n",
    "robot_msgs/msg/Inner": "std_msgs/Header header\nuint8 kind\n",
    "robot_msgs/msg/Stamped": "builtin_interfaces/Time stamp\nfloat64 value\n",
    "robot_msgs/msg/Late": "uint32 number\nstd_msgs/Header header\n",
    # Two numbers and a text have the bytes of a header.
    "robot_msgs/msg/Like": "int32 first\nuint32 second\nstring name\n",
}
_known: dict[str, Any] = {}
for _name, _text in CUSTOM.items():
    _known.update(get_types_from_msg(_text, _name))
STORE.register(_known)


@dataclass(frozen=True)
class Sent:
    """A message as it is written. Times in ns."""

    topic: str
    logged: int
    value: Any
    """Of STORE."""
    type: str


def time(nanoseconds: int) -> Any:
    made = STORE.types["builtin_interfaces/msg/Time"]
    return made(sec=nanoseconds // SECOND, nanosec=nanoseconds % SECOND)


def header(stamp: int, frame: str = "base_link") -> Any:
    return STORE.types["std_msgs/msg/Header"](stamp=time(stamp), frame_id=frame)


def point(topic: str, logged: int, stamp: int, frame: str = "base_link") -> Sent:
    """A message with a header in front."""
    kind = "geometry_msgs/msg/PointStamped"
    where = STORE.types["geometry_msgs/msg/Point"](x=1.0, y=2.0, z=3.0)
    return Sent(topic, logged, STORE.types[kind](header=header(stamp, frame), point=where), kind)


def text(topic: str, logged: int, words: str) -> Sent:
    kind = "std_msgs/msg/String"
    return Sent(topic, logged, STORE.types[kind](data=words), kind)


def write_rosbag2(
    folder: Path,
    messages: Sequence[Sent],
    storage: StoragePlugin,
    mode: CompressionMode = CompressionMode.NONE,
) -> Path:
    """A bag of rosbag2 by the library rosbags. Returns the folder."""
    writer = Writer(folder, version=9, storage_plugin=storage)
    if mode is not CompressionMode.NONE:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        connections = {
            (topic, kind): writer.add_connection(topic, kind, typestore=STORE)
            for topic, kind in dict.fromkeys((sent.topic, sent.type) for sent in messages)
        }
        for sent in messages:
            data = STORE.serialize_cdr(sent.value, sent.type)
            writer.write(connections[sent.topic, sent.type], sent.logged, data)
    return folder


def write_mcap(
    file: Path,
    messages: Iterable[Sent],
    compression: CompressionType = CompressionType.NONE,
    *,
    chunked: bool = True,
    indexed: bool = True,
    little_endian: bool = True,
    delay: int = 0,
) -> Path:
    """A file by the library mcap; messages were published `delay` before they were logged. Returns
    the file.
    """
    kept = IndexType.ALL if indexed else IndexType.NONE
    with file.open("wb") as stream:
        writer = McapWriter(
            stream,
            chunk_size=4096,
            compression=compression,
            use_chunking=chunked,
            index_types=kept,
            use_statistics=indexed,
            use_summary_offsets=indexed,
            repeat_channels=indexed,
            repeat_schemas=indexed,
        )
        writer.start(profile="ros2", library="tests")
        channels: dict[tuple[str, str], int] = {}
        for sent in messages:
            if (sent.topic, sent.type) not in channels:
                definition, _ = STORE.generate_msgdef(sent.type, ros_version=2)
                schema = writer.register_schema(sent.type, "ros2msg", definition.encode())
                channels[sent.topic, sent.type] = writer.register_channel(sent.topic, "cdr", schema)
            writer.add_message(
                channels[sent.topic, sent.type],
                log_time=sent.logged,
                publish_time=sent.logged - delay,
                data=bytes(STORE.serialize_cdr(sent.value, sent.type, little_endian=little_endian)),
            )
        writer.finish()  # type: ignore[no-untyped-call]
    return file


def later(messages: Iterable[Sent], by: int) -> list[Sent]:
    """The same logged later; stamps stay."""
    return [replace(sent, logged=sent.logged + by) for sent in messages]
