"""SQL over the tables of a store, by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from takt import libraries
from takt.errors import UserError
from takt.fleet import tables
from takt.fleet.store import Entry, Selection, Store

if TYPE_CHECKING:
    import polars

EMPTY = "the query: empty; write such as: select * from runs"
_SQL_TYPES = {"string": "varchar", "integer": "bigint", "number": "double"}


class Rows(NamedTuple):
    """The answer to a query."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


def query(store: Store, selection: Selection, sql: str) -> Rows:
    """Runs a query; the tables are called as in schemas/tables.schema.json. UserError if it is
    none.
    """
    with _connection(store, selection) as connection:
        cursor = connection.execute(sql)
        if cursor is None or cursor.description is None:
            raise UserError(EMPTY)
        return Rows([each[0] for each in cursor.description], cursor.fetchall())


def frame(store: Store, selection: Selection, sql: str) -> polars.DataFrame:
    """The same as a frame, whose columns have their types also without rows."""
    libraries.optional("polars", "fleet")
    with _connection(store, selection) as connection:
        relation = connection.sql(sql)
        if relation is None:
            raise UserError(EMPTY)
        found: polars.DataFrame = relation.pl()
        return found


@contextmanager
def _connection(store: Store, selection: Selection) -> Iterator[Any]:
    """To DuckDB, with a view for each table. Faults of its body are those of the query."""
    duckdb = libraries.optional("duckdb", "fleet")
    entries = store.entries(selection)
    with duckdb.connect() as connection:
        connection.execute("set enable_progress_bar = false")  # it would stand in the answer
        if not store.is_local:
            connection.register_filesystem(store.filesystem)
        for name, columns in tables.columns().items():
            with _faults(duckdb, store.path):
                connection.execute(
                    f"create view {name} as {_source(store, name, columns, entries)}"
                )
        with _faults(duckdb, "the query"):
            yield connection


def _source(store: Store, name: str, columns: Mapping[str, str], entries: Sequence[Entry]) -> str:
    """The query that gives a table."""
    if entries:
        paths = ", ".join(_text(path) for path in store.tables(name, entries))
        return f"select * from read_parquet([{paths}], hive_partitioning = false)"
    fields = ", ".join(f'null::{_SQL_TYPES[kind]} "{c}"' for c, kind in columns.items())
    return f"select {fields} where false"


@contextmanager
def _faults(duckdb: Any, what: str) -> Iterator[None]:
    """UserError for those of DuckDB, which names files that it cannot read."""
    try:
        yield
    except duckdb.Error as error:
        raise UserError(f"{what}: {str(error).splitlines()[0]}") from error


def _text(path: str) -> str:
    """A text of SQL."""
    return "'" + path.replace("'", "''") + "'"
