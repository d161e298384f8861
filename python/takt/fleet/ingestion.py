"""Adds runs to a store: one after the other, or by the workers of Dask.

Whatever dies in between: a run is filed once or not at all (takt.fleet.store), and the next attempt
goes on with what is missing.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import queue
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import takt_native
from takt import files, inputs, libraries
from takt.errors import UserError
from takt.fleet import runs, summary, tables
from takt.fleet.store import COLUMNS, Entry, Store, StoreError, entry_of

MEMORY_OF_A_WORKER = "4GB"
"""Dask starts a worker anew that needs more. A recording of 10 million events takes about 3 GB."""
PATIENCE = 10
"""Seconds until a scheduler that does not answer counts as gone."""
WAITING_FOR_A_WORKER = 2
"""Recordings that are given to a worker at a time, so that the client's memory is bounded."""


class Outcome(NamedTuple):
    """What came of a run."""

    path: str
    state: str
    """added, there (already) or failed."""
    reason: str = ""
    """Why it failed."""
    unlabelled: tuple[str, ...] = ()
    """Which of robot and version it has no label of."""
    other_labels: tuple[str, ...] = ()
    """What is there already has other values for these labels."""
    again: bool = False
    """Whether another attempt may do, as the store itself failed."""


class Job(NamedTuple):
    """How runs are added."""

    store: Store
    goals: str | None = None
    labels: Mapping[str, str] = {}
    """They win over those of the recordings."""

    def add(self, path: str) -> Outcome:
        """Adds a recording or a summary. Never raises what a user can cause."""
        identity, place = "", str(Path(path).resolve())
        try:
            identity = identity_of(path)
            entry = self.store.source(identity)
            found = self._add(path, identity) if entry is None else self._there(path, entry)
            self.store.forget_failure(place)
            return found
        except StoreError as error:
            return Outcome(path, "failed", f"{path}: {error}", again=True)
        except (UserError, takt_native.InputError) as error:
            reason = str(error)
        if not reason.startswith(path):
            reason = f"{path}: {reason}"
        if identity:
            with suppress(StoreError):  # it is said anyway
                self.store.remember_failure(place, reason)
        return Outcome(path, "failed", reason)

    def _add(self, path: str, identity: str) -> Outcome:
        document = self._document(path)
        document["labels"] = {**document.get("labels", {}), **self.labels}
        entry = entry_of(document)
        there = self.store.entry(entry.key)
        if there is None:
            run = summary.parse(json.dumps(document), path)
            self.store.add(document, tables.parquet(run, entry), entry)
        self.store.remember_source(identity, entry.key)
        if there is not None:
            return self._there(path, there)
        lacking = [name for name in COLUMNS[:2] if not document["labels"].get(name)]
        return Outcome(path, "added", unlabelled=tuple(lacking))

    def _there(self, path: str, entry: Entry) -> Outcome:
        known = self.store.summary(entry).labels if self.labels else {}
        others = [key for key, value in self.labels.items() if known.get(key) != value]
        return Outcome(path, "there", other_labels=tuple(others))

    def _document(self, path: str) -> dict[str, Any]:
        if not inputs.is_document(path):
            made = summary.of([path], self.goals)
            del made["provenance"]["created"]  # so that a second attempt writes the same
            return made
        text = files.read_document(path)
        summary.parse(text, path)
        document: dict[str, Any] = json.loads(text)
        return document


def candidates(paths: Iterable[str]) -> Iterator[str]:
    """The runs that the arguments stand for: a recording, a summary, or all of a folder. Paths are
    absolute, as who asks a store may be elsewhere.
    """
    for path in paths:
        if Path(path).is_dir() and not runs.is_run(path):
            yield from (str(entry.absolute()) for entry in runs.entries(path))
        else:
            yield str(Path(path).absolute())


def identity_of(path: str) -> str:
    """Tells a recording from others without reading it: where it is, the sizes of its files and
    when they were written. UserError if it is none.
    """
    found = Path(path)
    if not found.is_file() and not found.is_dir():
        raise UserError(f"{path}: {'no file and no folder' if found.exists() else 'is not there'}")
    if found.is_dir() and not runs.is_run(path):
        raise UserError(f"{path}: not a recording; if it has runs, name this folder itself")
    told = hashlib.sha256(os.fsencode(found.resolve()))
    try:
        for file in sorted(found.rglob("*")) if found.is_dir() else [found]:
            status = file.stat()
            if file.is_file():
                of_file = (str(file.relative_to(found)), status.st_size, status.st_mtime_ns)
                told.update(json.dumps(of_file).encode())
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    return told.hexdigest()[:32]


def add(
    job: Job, paths: Iterable[str], workers: int = 1, scheduler: str | None = None
) -> Iterator[Outcome]:
    """Adds runs and yields what came of each, as they are done."""
    if workers == 1 and scheduler is None:
        yield from map(job.add, paths)
        return
    with _client(workers, scheduler) as client:
        yield from _add_by_dask(client, job, paths)


@contextmanager
def _client(workers: int, scheduler: str | None) -> Iterator[Any]:
    """A client of a scheduler, or of a cluster on this machine. UserError if there is none."""
    distributed = libraries.optional("distributed", "fleet,cluster")
    for name in ("distributed", "distributed.client", "tornado", "asyncio"):
        # What they log of workers and connections that die, we say in a line.
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    if scheduler is None:
        # Processes, as reading a recording holds Python's lock now and then. No dashboard: it would
        # be open to everybody on this machine.
        with (
            distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                memory_limit=MEMORY_OF_A_WORKER,
                dashboard_address=None,
                host="127.0.0.1",
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise UserError(f"--scheduler {scheduler}: no scheduler of Dask answers there") from error
    try:
        yield client
    finally:
        with suppress(distributed.TimeoutError):
            client.close(timeout=PATIENCE)


def _add_by_dask(client: Any, job: Job, paths: Iterable[str]) -> Iterator[Outcome]:
    distributed = libraries.optional("distributed", "fleet,cluster")
    waiting = iter(paths)
    given: dict[Any, str] = {}
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def give() -> None:
        path = next(waiting, None)
        if path is not None:
            # Not pure: a path that failed may be given again, and Dask would remember its answer.
            future = client.submit(job.add, path, pure=False)
            given[future] = path
            future.add_done_callback(done.put)

    try:
        for _ in range(WAITING_FOR_A_WORKER * max(1, len(client.nthreads()))):
            give()
        while given:
            future = _next(client, done)
            path = given.pop(future)
            error = future.exception(PATIENCE)
            if error is None:
                yield future.result(PATIENCE)
            else:
                yield Outcome(path, "failed", _words(error))
            give()
    except _gone(distributed) as error:
        raise UserError(
            "the scheduler of Dask went away; repeat the command when it is back, which goes on "
            "with what is missing"
        ) from error


def _gone(distributed: Any) -> tuple[type[Exception], ...]:
    """What is raised when a scheduler of Dask is not there any more."""
    return (
        OSError,
        distributed.CancelledError,
        distributed.TimeoutError,
        distributed.client.ClosedClientError,
    )


def _next(client: Any, done: queue.SimpleQueue[Any]) -> Any:
    """The next future that is done. ConnectionError once there is no scheduler: what is given to a
    client that connects again may never be done.
    """
    while client.status == "running" or not done.empty():
        with suppress(queue.Empty):
            return done.get(timeout=PATIENCE / 10)
    raise ConnectionError


def _words(error: BaseException) -> str:
    if type(error).__name__ == "KilledWorker":
        return "needs more memory than a worker has, or ends its process"
    return f"{type(error).__name__}: {error}"
