"""The messages of an MCAP file, record by record, whether or not it has an index or an end."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import IO, Any

from takt.bags import compression
from takt.bags.messages import Losses, Message, Topic
from takt.text.formatting import count, grouped

Progress = Callable[[int], None]


def messages(file: IO[bytes], source: str, losses: Losses, progress: Progress) -> Iterator[Message]:
    """Yields the messages in the file's order. A damaged chunk is left out, and what comes after
    damage between chunks; `losses` says so, and whether the file's own count is another one.
    `progress` is told bytes. UserError without the libraries.
    """
    compression.library()
    from mcap.records import Channel, Schema, Statistics
    from mcap.records import Message as Record

    schemas: dict[int, Any] = {}
    topics: dict[int, Topic] = {}
    read, stated = 0, None
    for record in _records(file, source, losses, progress):
        if isinstance(record, Record):
            read += 1
            topic = topics.get(record.channel_id)
            if topic is None:
                losses.messages += 1
            else:
                # Recorders before Jazzy wrote the one time twice.
                known = record.publish_time not in (0, record.log_time)
                sent = record.publish_time if known else None
                yield Message(topic, record.log_time, record.data, sent)
        elif isinstance(record, Schema):
            schemas.setdefault(record.id, record)
        elif isinstance(record, Channel) and record.id not in topics:
            topics[record.id] = _topic(record, schemas.get(record.schema_id))
        elif isinstance(record, Statistics):
            stated = record.message_count
    if stated is not None and stated != read:
        losses.add(f"{source}: says that it has {count(stated, 'message')}, not {grouped(read)}")


def _records(file: IO[bytes], source: str, losses: Losses, progress: Progress) -> Iterator[Any]:
    """Yields all records, those in chunks as well."""
    from mcap.exceptions import EndOfFile, McapError
    from mcap.records import Chunk
    from mcap.stream_reader import StreamReader, breakup_chunk

    damage = (McapError, struct.error, ValueError, RuntimeError, OverflowError, MemoryError)
    reader = StreamReader(file, emit_chunks=True, record_size_limit=compression.LARGEST_CHUNK)
    records = iter(reader.records)
    while True:
        at = file.tell()
        try:
            record = next(records, None)
        except EndOfFile:
            losses.add(f"{source}: ends in the middle, as of a recorder that was killed")
            return
        except damage as error:
            losses.add(f"{source}: cannot be read from byte {at} on: {_words(error)}")
            return
        if record is None:
            return
        if isinstance(record, Chunk):
            try:
                data = compression.chunk(record.data, record.compression, record.uncompressed_size)
                plain = replace(record, compression="", data=data)
                found = breakup_chunk(plain, validate_crc=True)
            except (*damage, compression.library().ZstdError) as error:
                losses.add(f"{source}: the chunk at byte {at} is damaged: {_words(error)}")
                continue
            yield from found
        else:
            yield record
        progress(file.tell())


def _topic(channel: Any, schema: Any) -> Topic:
    """A channel's topic. A schema that is no text of message definitions is left out."""
    definition = None
    if schema is not None and schema.encoding == "ros2msg":
        definition = schema.data.decode("utf-8", "replace")
    name = schema.name if schema is not None else ""
    return Topic(channel.topic, name, channel.message_encoding, definition)


def _words(error: BaseException) -> str:
    """What is wrong, in a line; the library says little in some cases."""
    text = " ".join(str(error).split())
    return text[:200] if text else type(error).__name__
