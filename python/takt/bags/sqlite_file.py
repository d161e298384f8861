"""The messages of a SQLite file (`.db3`) of rosbag2."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from takt.bags.compression import ZSTD_MAGIC
from takt.bags.messages import MOST_TOPICS, PREFIX, Losses, Message, Topic

ROWS_BETWEEN_PROGRESS = 1 << 14

Progress = Callable[[int], None]


def messages(path: Path, source: str, losses: Losses, progress: Progress) -> Iterator[Message]:
    """Yields the messages in the order of their rows, as far as they can be read; `losses` says
    what cannot. `progress` is told bytes. The file is not changed.
    """
    try:
        with closing(_connect(path)) as connection:
            tables = _tables(connection)
            if not {"messages", "topics"} <= tables:
                losses.add(f"{source}: no bag: it has no tables 'topics' and 'messages'")
                return
            topics = _topics(connection, tables)
            size, last = path.stat().st_size, _last_row(connection)
            # Compressed messages are small, and none of a part is of use.
            rows = connection.execute(
                "SELECT rowid, topic_id, timestamp, CASE"
                f" WHEN substr(data, 1, 4) = x'{ZSTD_MAGIC.hex()}' THEN data"
                f" ELSE substr(data, 1, {PREFIX}) END FROM messages"
            )
            for row, (number, topic, time, data) in enumerate(rows):
                found = topics.get(topic)
                if found is None or not isinstance(time, int):
                    losses.messages += 1
                    continue
                yield Message(found, time, data if isinstance(data, bytes) else b"")
                if row % ROWS_BETWEEN_PROGRESS == 0 and last:
                    progress(min(size, size * number // last))
    except (sqlite3.Error, UnicodeError, OverflowError) as error:
        losses.add(f"{source}: cannot be read to its end: {error}")


def _connect(path: Path) -> sqlite3.Connection:
    """Opens it for reading. A recorder that was killed leaves messages in a log beside the file,
    which SQLite reads only where it may write; any other file is taken as it is.
    """
    log = path.with_name(path.name + "-wal")
    mode = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    return connection


def _tables(connection: sqlite3.Connection) -> set[str]:
    """Plain tables alone: a view or a virtual table may do anything."""
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
    )
    return {str(name) for (name,) in rows}


def _topics(connection: sqlite3.Connection, tables: set[str]) -> dict[object, Topic]:
    definitions: dict[object, str] = {}
    if "message_definitions" in tables:  # since Iron
        definitions = dict(
            connection.execute(
                "SELECT topic_type, encoded_message_definition FROM message_definitions"
                f" WHERE encoding = 'ros2msg' LIMIT {MOST_TOPICS}"
            )
        )
    rows = connection.execute(
        f"SELECT id, name, type, serialization_format FROM topics LIMIT {MOST_TOPICS}"
    )
    return {
        number: Topic(str(name), str(kind), str(encoding), definitions.get(kind) or None)
        for number, name, kind, encoding in rows
    }


def _last_row(connection: sqlite3.Connection) -> int:
    (last,) = connection.execute("SELECT max(rowid) FROM messages").fetchone()
    return last if isinstance(last, int) else 0
