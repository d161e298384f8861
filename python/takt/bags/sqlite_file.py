"""The messages of a SQLite file (`.db3`) of rosbag2."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from takt.bags.compression import ZSTD_MAGIC
from takt.bags.messages import MOST_TOPICS, PREFIX, Losses, Message, Topic

ROWS_BETWEEN_PROGRESS = 1 << 14

_SMALLEST = -(1 << 63)
"""Number of a row. Recorders number them from 1."""

Progress = Callable[[int], None]


def messages(path: Path, source: str, losses: Losses, progress: Progress) -> Iterator[Message]:
    """Yields the messages in the order of their rows, as far as they can be read; `losses` says
    what cannot. A damaged page costs the rows that are on it. `progress` is told bytes. The file is
    not changed.
    """
    try:
        with closing(_connect(path)) as connection:
            tables = _tables(connection)
            if not {"messages", "topics"} <= tables:
                losses.add(
                    f"{source}: no bag, or one whose beginning is damaged: it has no tables "
                    "'topics' and 'messages'"
                )
                return
            topics, are_all = _topics(connection, tables, source, losses)
            size = path.stat().st_size
            last = _last_row(connection)
            for row, (number, topic, time, data) in enumerate(
                _rows(connection, last or size, source, losses)
            ):
                found = topics.get(topic)
                if found is None and not are_all and isinstance(topic, int):
                    found = topics.setdefault(topic, Topic(f"?{topic}", "", "cdr", None))
                if found is None or not isinstance(time, int):
                    losses.messages += 1
                    continue
                yield Message(found, time, data if isinstance(data, bytes) else b"")
                if row % ROWS_BETWEEN_PROGRESS == 0 and last:
                    progress(min(size, size * number // last))
    except (sqlite3.Error, UnicodeError, OverflowError) as error:
        losses.add(f"{source}: cannot be read to its end: {error}")


Row = tuple[int, object, object, object]
"""Number, topic, time and beginning of the data."""


def _rows(connection: sqlite3.Connection, last: int, source: str, losses: Losses) -> Iterator[Row]:
    """Yields all rows that can be read. None has a larger number than `last`."""
    begin: int | None = _SMALLEST
    while begin is not None:
        begin = yield from _rows_to_fault(connection, begin, last, source, losses)


def _rows_to_fault(
    connection: sqlite3.Connection, begin: int, last: int, source: str, losses: Losses
) -> Generator[Row, None, int | None]:
    """Yields the rows from a number on to the next fault. Returns the number of the first one
    behind it that can be read; None: there is none.
    """
    # Compressed messages are small, and none of a part is of use.
    query = (
        "SELECT rowid, topic_id, timestamp, CASE"
        f" WHEN substr(data, 1, 4) = x'{ZSTD_MAGIC.hex()}' THEN data"
        f" ELSE substr(data, 1, {PREFIX}) END FROM messages WHERE rowid >= ? ORDER BY rowid"
    )

    def row_from(number: int) -> Row | None:
        with suppress(sqlite3.DatabaseError):
            found: Row | None = connection.execute(f"{query} LIMIT 1", (number,)).fetchone()
            return found
        return None

    try:
        for row in connection.execute(query, (begin,)):
            if begin <= row[0] <= last:
                begin = row[0] + 1
            yield row
    except sqlite3.DatabaseError as error:
        # The module reads a row ahead, and with the fault it drops the one that it had.
        if (kept := row_from(begin)) and begin <= kept[0] <= last:
            begin = kept[0] + 1
            yield kept
        damaged = max(begin, 1)
        next_one = _next_readable(damaged, last, lambda number: row_from(number) is not None)
        rows = f"{damaged} to {next_one - 1}" if next_one is not None else f"from {damaged} on"
        losses.add(f"{source}: the messages {rows} cannot be read: {error}")
        return next_one
    return None


def _next_readable(damaged: int, last: int, is_readable: Callable[[int], bool]) -> int | None:
    """The first row behind a damaged one that can be read; None: there is none. Tries the next rows
    one by one, those far away by ever longer steps.
    """
    bad, good = damaged, damaged + 1
    while not is_readable(good):
        if good >= last:
            return None
        bad, good = good, min(last, good + 1 + (good - damaged) // 64)
    while good - bad > 1:
        middle = (bad + good) // 2
        bad, good = (bad, middle) if is_readable(middle) else (middle, good)
    return good


def _connect(path: Path) -> sqlite3.Connection:
    """Opens it for reading. A recorder that was killed leaves messages in a log beside the file,
    which SQLite reads only where it may write; any other file is taken as it is.
    """
    log = path.with_name(path.name + "-wal")
    mode = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True)
    connection.execute("PRAGMA trusted_schema = OFF")
    # Damage is found before it is believed, and a file that was cut is read as far as it goes.
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA writable_schema = ON")
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    return connection


def _tables(connection: sqlite3.Connection) -> set[str]:
    """Plain tables alone: a view or a virtual table may do anything."""
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
    )
    return {str(name) for (name,) in rows}


def _topics(
    connection: sqlite3.Connection, tables: set[str], source: str, losses: Losses
) -> tuple[dict[object, Topic], bool]:
    """The topics by their numbers, and whether all could be read."""
    definitions: dict[object, str] = {}
    if "message_definitions" in tables:  # since Iron
        query = (
            "SELECT topic_type, encoded_message_definition FROM message_definitions"
            f" WHERE encoding = 'ros2msg' LIMIT {MOST_TOPICS}"
        )
        try:
            definitions.update(connection.execute(query))
        except sqlite3.DatabaseError as error:
            losses.add(f"{source}: the definitions of its types cannot be read: {error}")
    topics: dict[object, Topic] = {}
    query = f"SELECT id, name, type, serialization_format FROM topics LIMIT {MOST_TOPICS}"
    try:
        for number, name, kind, encoding in connection.execute(query):
            topics[number] = Topic(
                str(name), str(kind), str(encoding), definitions.get(kind) or None
            )
    except sqlite3.DatabaseError as error:
        losses.add(
            f"{source}: the list of its topics cannot be read: {error}; they are called by their "
            "numbers, such as ?1"
        )
        return topics, False
    return topics, True


def _last_row(connection: sqlite3.Connection) -> int:
    """The largest number of a row; 0: there is none, or it cannot be read."""
    with suppress(sqlite3.DatabaseError):
        (last,) = connection.execute("SELECT max(rowid) FROM messages").fetchone()
        return last if isinstance(last, int) else 0
    return 0
