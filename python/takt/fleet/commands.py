"""What `takt fleet` does, as documents."""

from __future__ import annotations

import datetime
import decimal
import math
import select
import time
from collections import Counter, deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from takt import files
from takt.errors import UserError
from takt.fleet import fleet_report, ingestion, queries, tables
from takt.fleet.ingestion import Job, Outcome
from takt.fleet.store import UNKNOWN, Selection, Store, age_in_days
from takt.processes import signals
from takt.recordings import labels
from takt.text import console

Json = dict[str, Any]

MOST_FAILURES = 1000
"""That are told at the end: the last ones. The store has all."""


def add(
    path: str,
    given: Sequence[str],
    label: Sequence[str],
    goals: str | None,
    workers: int,
    scheduler: str | None,
) -> Json:
    """The `takt/fleet-added` document. Failures are said as they happen."""
    adding = job(path, goals, label)
    candidates = list(ingestion.candidates(given))
    tally = Tally()
    with console.progress(f"Adding {len(candidates)} runs") as progress:
        for number, outcome in enumerate(ingestion.add(adding, candidates, workers, scheduler), 1):
            _say(outcome)
            tally.count(outcome)
            if progress is not None:
                progress(number, len(candidates))
    return _added(tally, path)


def watch(
    path: str,
    folder: str,
    label: Sequence[str],
    goals: str | None,
    duration: float | None,
    interval: float,
) -> Json:
    """Adds the runs of a folder, and those that appear in it, until Ctrl-C or for some time; the
    run that is being added is added first. A run is added when it has not changed from one look to
    the next, as it may be being written. What only the store kept out is tried again.
    """
    if not Path(folder).is_dir():
        raise UserError(f"{folder}: no folder")
    adding = job(path, goals, label)
    end = math.inf if duration is None else time.monotonic() + duration
    before: dict[str, str] = {}
    done: dict[str, str] = {}
    tally = Tally()
    with signals.wake_on_signals() as asked_to_end:

        def is_asked_to_end(seconds: float) -> bool:
            return bool(select.select([asked_to_end], [], [], seconds)[0])

        while True:
            now = _identities(folder, was_there=bool(before))
            done = {run: identity for run, identity in done.items() if run in now}
            for run, identity in now.items():
                if before.get(run) != identity or done.get(run) == identity:
                    continue
                outcome = adding.add(run)
                _say(outcome, every=True)
                if outcome.again:
                    break  # the others would fare no better
                done[run] = identity
                tally.count(outcome)
                if is_asked_to_end(0):
                    return _added(tally, path)
            before = now
            left = min(interval, end - time.monotonic())
            if left <= 0 or is_asked_to_end(left):
                return _added(tally, path)


def _identities(folder: str, was_there: bool) -> dict[str, str]:
    """The runs of a folder. One that is gone may come back: a disk, a share of the network."""
    try:
        entries = sorted(each for each in Path(folder).iterdir() if each.name[0] != ".")
    except OSError as error:
        if was_there:
            console.say(f"takt: warning: {folder}: cannot be read: {error.strerror}; waiting")
        return {}
    runs = map(str, entries)
    return {run: told for run in runs if (told := _identity(run)) is not None}


def _identity(run: str) -> str | None:
    try:
        return ingestion.identity_of(run)
    except UserError:
        return None  # it may be a run when it is written


def _say(outcome: Outcome, every: bool = False) -> None:
    if outcome.state == "failed":
        console.say(f"takt: not added: {outcome.reason}")
    elif every:
        console.say(f"{outcome.path}: {'added' if outcome.state == 'added' else 'already there'}")


class Tally:
    """What came of all runs, without keeping each: a folder may be watched for months."""

    def __init__(self) -> None:
        self.states: Counter[str] = Counter()
        self.unlabelled: Counter[str] = Counter()
        self.other_labels: Counter[str] = Counter()
        self.failures: deque[Json] = deque(maxlen=MOST_FAILURES)

    def count(self, outcome: Outcome) -> None:
        self.states[outcome.state] += 1
        self.unlabelled.update(outcome.unlabelled)
        self.other_labels.update(outcome.other_labels)
        if outcome.state == "failed":
            self.failures.append({"path": outcome.path, "reason": outcome.reason})


def _added(tally: Tally, path: str) -> Json:
    for name, number in sorted(tally.unlabelled.items()):
        console.say(
            f"takt: {number} of the runs have no label {name}; they are filed under "
            f'"{UNKNOWN}". Give --label {name}=… here or to takt record'
        )
    for name, number in sorted(tally.other_labels.items()):
        console.say(
            f"takt: {number} of the runs that are there already have another {name}, which stays; "
            f"to change it, remove them (takt fleet remove '{path}?version=…') and add them again"
        )
    return {
        "format": "takt/fleet-added",
        "version": 1,
        **{state: tally.states[state] for state in ("added", "there", "failed")},
        "other_labels": dict(tally.other_labels),
        "failures": [*tally.failures],
    }


def remove(path: str, older_than: int | None) -> Json:
    """Deletes runs. UserError if neither a selection nor an age says which."""
    store, selection = _open(path)
    if not selection.labels and older_than is None:
        raise UserError(f"{path}: say which runs: --older-than DAYS, or 'STORE?version=1.3'")
    today = datetime.datetime.now(datetime.timezone.utc).date()
    removed = set()
    for entry in store.entries(selection):
        age = age_in_days(entry, today)
        if older_than is None or (age is not None and age > older_than):
            store.remove(entry, tables.columns())
            removed.add(entry.key)
    store.forget_sources(removed)
    return {"format": "takt/fleet-removed", "version": 1, "removed": len(removed)}


def status(path: str) -> Json:
    """What a store or a selection of it has, by robot and version; of a whole store also what could
    not be added, of which nobody knows the robot.
    """
    store, selection = _open(path)
    entries = store.entries(selection)
    groups: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        groups.setdefault((entry.robot, entry.version), []).append(entry.day)
    return {
        "format": "takt/fleet-status",
        "version": 1,
        "runs": sum(map(len, groups.values())),
        "bytes": store.size(entries if selection.labels else None),
        "groups": [
            {
                "robot": robot,
                "version": version,
                "runs": len(days),
                "first_day": min(days),
                "last_day": max(days),
            }
            for (robot, version), days in sorted(groups.items())
        ],
        "failures": [] if selection.labels else store.failures(),
    }


def query(path: str, sql: str) -> Json:
    """The rows of an answer."""
    store, selection = _open(path)
    found = queries.query(store, selection, sql)
    return {
        "format": "takt/rows",
        "version": 1,
        "columns": found.columns,
        "rows": [[_plain(value) for value in row] for row in found.rows],
    }


def _plain(value: Any) -> Any:
    """A value of SQL as JSON has it."""
    if isinstance(value, decimal.Decimal):
        value = float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def report(path: str) -> Json:
    """The `takt/fleet` document."""
    store, selection = _open(path)
    entries = store.entries(selection)
    if not entries:
        raise UserError(f"{path}: no run of the store is like that; see takt fleet status")
    return fleet_report.document(entries, store.summary)


def job(path: str, goals: str | None, label: Sequence[str]) -> Job:
    """How runs are added to the store, which is made if there is none. UserError if a selection is
    named, or goals that cannot be read for each run.
    """
    if "?" in path:
        raise UserError(f"{path}: runs are added to a store as a whole; give --label version=…")
    if goals == files.STANDARD_STREAM:
        raise UserError("--goals -: name a file; it is read for each run")
    given = labels.given(label)
    return Job(Store(path).make(), goals and str(Path(goals).absolute()), given)


def _open(path: str) -> tuple[Store, Selection]:
    selection = Selection.read(path)
    return Store(selection.path).check(), selection
