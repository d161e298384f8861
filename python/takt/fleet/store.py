"""A store of many runs: a folder, or an object store that fsspec knows.

    takt-store.json                                       says that it is one (`takt/store`)
    runs/robot=R/version=V/day=D/KEY.json.gz              the summary of a run
    tables/NAME/robot=R/version=V/day=D/KEY.parquet       its rows of each table
    keys/KEY                                              where that run is
    sources/IDENTITY                                      the key of a recording, to find it again
    failures/PLACE.json                                   a recording that could not be added

A run is in the store once its summary is: that is written last, whole or not at all. Tables of a
run that was not finished belong to no run; nobody reads them, and the next attempt writes the same
bytes to the same place. KEY is made of the fingerprints of the recordings, so whoever adds a run
again finds it, and two who add it at once write the same.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote

from takt import files, libraries
from takt.documents.types import Summary
from takt.errors import UserError

Json = dict[str, Any]

MARK = "takt-store.json"
UNKNOWN = "unknown"
"""The robot or version of a run without such a label, and the day of one without events."""
COLUMNS = ("robot", "version", "day")
"""What runs are filed under."""
LONGEST_NAME = 255
"""Bytes of the name of a folder."""


class Entry(NamedTuple):
    """A run of a store, by its place."""

    robot: str
    version: str
    day: str
    """YYYY-MM-DD in UTC."""
    key: str

    @property
    def place(self) -> str:
        values = zip(COLUMNS, self, strict=False)
        return "/".join(f"{column}={quote(value, safe='')}" for column, value in values)

    @property
    def path(self) -> str:
        return f"runs/{self.place}/{self.key}.json.gz"

    def table(self, name: str) -> str:
        return f"tables/{name}/{self.place}/{self.key}.parquet"


class Selection(NamedTuple):
    """A store, and which of its runs are meant: STORE?version=1.4&robot=r7."""

    path: str
    labels: Mapping[str, str]

    @classmethod
    def read(cls, text: str) -> Selection:
        """UserError if it selects by something that runs are not filed under."""
        path, separator, query = text.partition("?")
        labels = dict(parse_qsl(query, keep_blank_values=True))
        wrong = sorted(labels.keys() - {*COLUMNS}) or (separator and not labels)
        if wrong:
            raise UserError(f"{text}: select by robot, version and day, as in STORE?version=1.4")
        return cls(path, labels)

    def has(self, entry: Entry) -> bool:
        return all(getattr(entry, name) == value for name, value in self.labels.items())


class StoreError(UserError):
    """The store itself cannot be read or written, whatever is added to it."""


class Store:
    """Raises StoreError with one line if the store cannot be read or written."""

    def __init__(self, path: str) -> None:
        """`path`: a folder or a URL of fsspec, such as s3://bucket/fleet."""
        fsspec = libraries.optional("fsspec", "fleet")
        self.path = path
        if "://" in path:
            self._check_protocol(fsspec, path)
        with self._faults():
            self._files, root = fsspec.core.url_to_fs(path)
        self.is_local = "file" in self._files.protocol
        self._root = str(root).rstrip("/")

    @staticmethod
    def _check_protocol(fsspec: Any, path: str) -> None:
        protocol = path.partition("://")[0]
        try:
            fsspec.get_filesystem_class(protocol)
        except ImportError as error:
            raise UserError(f"{path}: {error}") from error
        except ValueError as error:
            raise UserError(f"{path}: fsspec knows no stores of {protocol}://") from error

    def __reduce__(self) -> tuple[type[Store], tuple[str]]:
        """Workers of a cluster may be in another folder."""
        return Store, (self._root if self.is_local else self.path,)

    def exists(self) -> bool:
        """Whether there is a store of a version that this Takt knows."""
        data = self._get(MARK)
        if data is None:
            return False
        try:
            document = json.loads(data)
            known = (document["format"], document["version"]) == ("takt/store", 1)
        except (ValueError, KeyError, TypeError):
            known = False
        if not known:
            raise UserError(f"{self.path}: {MARK} is of no version that this Takt knows")
        return True

    def check(self) -> Store:
        """UserError if there is no store."""
        if not self.exists():
            raise UserError(f"{self.path}: no store is here; 'takt fleet add' makes one")
        return self

    def make(self) -> Store:
        """Makes an empty store where there is none. UserError in a folder with something else."""
        if self.exists():
            return self
        with self._faults():
            if self._files.exists(self._root) and self._files.ls(self._root, detail=False):
                raise UserError(f"{self.path}: neither a store nor empty; name another folder")
        self._put(MARK, json.dumps({"format": "takt/store", "version": 1}).encode() + b"\n")
        return self

    def entries(self, selection: Selection | None = None) -> list[Entry]:
        """All runs, or those of a selection, in a fixed order. A run that two have added at once
        under different labels counts once.
        """
        found: dict[str, Entry] = {}
        for path in sorted(self._list("runs")):
            entry = _entry_of(path)
            if entry is not None:
                found.setdefault(entry.key, entry)
        return sorted(each for each in found.values() if selection is None or selection.has(each))

    def summary(self, entry: Entry) -> Summary:
        """The run's summary, with its labels as it was filed."""
        from takt.fleet import summary

        data = self._get(entry.path)
        if data is None:
            raise UserError(f"{self.path}/{entry.path}: was removed meanwhile")
        try:
            with gzip.open(io.BytesIO(data)) as packed:  # it may be anybody's
                text = packed.read(files.LARGEST_DOCUMENT).decode()
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise UserError(f"{self.path}/{entry.path}: damaged; remove it and add it anew") from (
                error
            )
        return summary.parse(text, f"{self.path}/{entry.path}")

    def add(self, document: Json, tables: Mapping[str, bytes], entry: Entry) -> None:
        """Files a summary and the rows of its tables."""
        for name, rows in tables.items():
            self._put(entry.table(name), rows)
        self._put(f"keys/{entry.key}", entry.path.encode() + b"\n")
        text = json.dumps(document, separators=(",", ":"), sort_keys=True)
        self._put(entry.path, gzip.compress(text.encode(), mtime=0))

    def entry(self, key: str) -> Entry | None:
        """The run with this key; None: it is not in the store."""
        place = self._text(f"keys/{key}")
        if place is None:
            return None
        with self._faults():
            return _entry_of(place) if self._files.exists(f"{self._root}/{place}") else None

    def remove(self, entry: Entry, tables: Iterable[str]) -> None:
        """The summary first: from then on, the run is not there."""
        for path in (entry.path, f"keys/{entry.key}", *map(entry.table, tables)):
            self._delete(path)

    def forget_sources(self, keys: set[str]) -> None:
        """After a removal: the recordings of these runs may be added again."""
        for path in self._list("sources"):
            if self._text(path) in keys:
                self._delete(path)

    def tables(self, name: str, entries: Sequence[Entry]) -> list[str]:
        """Where the rows of these runs are."""
        return [self.address(entry.table(name)) for entry in entries]

    def address(self, path: str) -> str:
        """What a file of the store is called by programs: an absolute path, or a URL."""
        if self.is_local:
            return f"{self._root}/{path}"
        return str(self._files.unstrip_protocol(f"{self._root}/{path}"))

    @property
    def filesystem(self) -> Any:
        """That of fsspec."""
        return self._files

    def source(self, identity: str) -> Entry | None:
        """The run of a recording, if it was added from where it is now and is in the store."""
        key = self._text(f"sources/{identity}")
        return None if key is None else self.entry(key)

    def remember_source(self, identity: str, key: str) -> None:
        self._put(f"sources/{identity}", key.encode() + b"\n")

    def failures(self) -> list[Json]:
        """What could not be added, and why: `path` and `reason`."""
        return [_failure(path, self._get(path) or b"") for path in sorted(self._list("failures"))]

    def remember_failure(self, path: str, reason: str) -> None:
        """`path`: an absolute one; it has one failure at a time."""
        document = {"path": path, "reason": reason}
        self._put(_failure_of(path), json.dumps(document).encode() + b"\n")

    def forget_failure(self, path: str) -> None:
        """Whatever is there now could be added."""
        self._delete(_failure_of(path))

    def size(self, entries: Iterable[Entry] | None = None) -> int:
        """Bytes of all files, or of those that these runs are in."""
        with self._faults():
            self._files.invalidate_cache()
            found = self._files.find(self._root, detail=True)
        keys = None if entries is None else {entry.key for entry in entries}
        return sum(
            int(each.get("size") or 0)
            for path, each in found.items()
            if keys is None or Path(path).name.partition(".")[0] in keys
        )

    def _list(self, folder: str) -> Iterator[str]:
        """The files below a folder of the store, relative to the store."""
        with self._faults():
            self._files.invalidate_cache()
            found = self._files.find(f"{self._root}/{folder}")
        start = len(self._root) + 1
        for path in found:
            if not Path(path).name.startswith("."):  # one that is being written
                yield str(path)[start:]

    def _get(self, path: str) -> bytes | None:
        with self._faults():
            try:
                return bytes(self._files.cat_file(f"{self._root}/{path}"))
            except (FileNotFoundError, NotADirectoryError):
                return None

    def _text(self, path: str) -> str | None:
        data = self._get(path)
        return None if data is None else data.decode(errors="replace").strip()

    def _put(self, path: str, data: bytes) -> None:
        if self.is_local:
            try:
                with files.replacement(f"{self._root}/{path}") as temporary:
                    temporary.write_bytes(data)
            except UserError as error:
                raise StoreError(str(error)) from error
            return
        with self._faults():
            self._files.pipe_file(f"{self._root}/{path}", data)  # object stores show it whole

    def _delete(self, path: str) -> None:
        with self._faults(), contextlib.suppress(FileNotFoundError):
            self._files.rm(f"{self._root}/{path}")  # not all of fsspec's have rm_file

    def _faults(self) -> Any:
        return _Faults(self.path)


class _Faults:
    """Turns what storage raises into one line. Its libraries raise errors of their own kinds, and
    which ones depends on the store.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, UserError):
            text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            first = (text or type(error).__name__).splitlines()[0]
            raise StoreError(f"{self._path}: {first}") from error


def _failure_of(path: str) -> str:
    return f"failures/{hashlib.sha256(os.fsencode(path)).hexdigest()[:32]}.json"


def _failure(path: str, data: bytes) -> Json:
    try:
        document = json.loads(data)
        return {"path": str(document["path"]), "reason": str(document["reason"])}
    except (ValueError, KeyError, TypeError):
        return {"path": path, "reason": f"{path}: damaged"}


def _entry_of(path: str) -> Entry | None:
    """The run whose summary is at this place of a store; None: none is."""
    _, *values, name = path.split("/")
    if len(values) != len(COLUMNS) or not name.endswith(".json.gz"):
        return None
    found = [value.partition("=") for value in values]
    if tuple(column for column, _, _ in found) != COLUMNS:
        return None
    robot, version, day = (unquote(value) for _, _, value in found)
    return Entry(robot, version, day, name.removesuffix(".json.gz"))


def entry_of(document: Json) -> Entry:
    """Where a summary is filed, by its labels and its first event. UserError if a label is too long
    for a folder.
    """
    labels = document["labels"]
    begin = document.get("begin")
    day = UNKNOWN
    if begin is not None:
        day = datetime.fromtimestamp(begin / 1e9, timezone.utc).date().isoformat()
    entry = Entry(
        labels.get("robot") or UNKNOWN, labels.get("version") or UNKNOWN, day, key_of(document)
    )
    for column, folder in zip(COLUMNS, entry.place.split("/"), strict=True):
        if len(folder) > LONGEST_NAME:
            raise UserError(
                f"label {column}: too long for the name of a folder, in which all but letters and "
                f"digits take 3 bytes: {len(folder)} of at most {LONGEST_NAME}"
            )
    return entry


def key_of(document: Json) -> str:
    """What tells the run from all others: the fingerprints of its recordings, in any order. A
    summary that has none is told by its content.
    """
    inputs = document.get("provenance", {}).get("inputs", [])
    fingerprints = sorted(str(each["fingerprint"]) for each in inputs)
    told = json.dumps(fingerprints or document, sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:32]


def age_in_days(entry: Entry, today: date) -> int | None:
    """How old a run is; None: nobody knows."""
    try:
        return (today - date.fromisoformat(entry.day)).days
    except ValueError:
        return None
