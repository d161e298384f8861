"""The runs that an argument of a command stands for: those of a folder, or a single one."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import takt_native
from takt import bags, files, inputs
from takt.documents.types import Summary
from takt.errors import UserError
from takt.fleet import summary
from takt.recordings import labels
from takt.text import console

TRACERS = ("ust", "kernel", "ring", "ebpf")
"""The folders of a recording, one for each tracer."""


class Side(NamedTuple):
    """The runs of one side of a comparison."""

    runs: list[Summary]
    left_out: list[str]
    """A line for each entry of the folder that is not among them, with the reason."""
    from_summaries: bool
    """Whether one of them was a summary already."""


def read(path: str, goals: str | None) -> Side:
    """The runs that an argument stands for. An entry of a folder that cannot be read is left out.
    UserError if there is no run; raises takt_native.InputError.
    """
    if (selected := _selected(path)) is not None:
        return selected
    if not Path(path).is_dir() or is_run(path):
        if inputs.is_lasting(path) and not Path(path).is_dir() and not Path(path).is_file():
            reason = "neither a file nor a folder" if Path(path).exists() else "does not exist"
            raise UserError(f"{path}: {reason}")
        return Side([_summary(path, goals)], [], inputs.is_document(path))
    side = Side([], [], False)
    known: dict[str, str] = {}
    for entry in entries(path):
        try:
            found = _entry(entry, goals)
        except (UserError, takt_native.InputError) as error:
            side.left_out.append(str(error))
            continue
        fingerprints = _fingerprints(found)
        twin = next((known[each] for each in fingerprints if each in known), None)
        if twin is not None:
            side.left_out.append(f"{entry}: the same recording as {twin}")
            continue
        known |= dict.fromkeys(fingerprints, str(entry))
        side.runs.append(found)
        side = side._replace(from_summaries=side.from_summaries or inputs.is_document(str(entry)))
    if not side.runs:
        reasons = f": {side.left_out[0]}" if side.left_out else ""
        raise UserError(f"{path}: no recording and no summary is in this folder{reasons}")
    return side


def _selected(path: str) -> Side | None:
    """The runs of a store, or those that STORE?version=1.4 selects; None: it is no store."""
    from takt.fleet.store import MARK, Selection, Store

    is_store = "?" in path and not Path(path).exists()
    if not is_store and "://" not in path and not (Path(path) / MARK).is_file():
        return None
    selection = Selection.read(path)
    store = Store(selection.path).check()
    found = [store.summary(entry) for entry in store.entries(selection)]
    if not found:
        raise UserError(f"{path}: no run of the store is like that; see takt fleet status")
    return Side(found, [], True)


def entries(folder: str) -> Iterator[Path]:
    """What a folder may have as runs. On a terminal, says which recording is read."""
    try:
        entries = sorted(entry for entry in Path(folder).iterdir() if entry.name[0] != ".")
    except OSError as error:
        raise UserError(f"{folder}: cannot be read: {error.strerror}") from error
    for number, entry in enumerate(entries, 1):
        if sys.stderr.isatty() and not inputs.is_document(str(entry)):
            console.say(f"{entry} ({number} of {len(entries)})")
        yield entry


def _entry(entry: Path, goals: str | None) -> Summary:
    if not entry.is_file() and not entry.is_dir():
        raise UserError(f"{entry}: neither a file nor a folder")
    if entry.is_dir() and not is_recording(entry):
        raise UserError(f"{entry}: not a recording; if it has runs, name this folder itself")
    return _summary(str(entry), goals)


def is_run(folder: str) -> bool:
    """Whether a folder is a run, and not one of runs. A bag counts as one: what reads it as a
    recording says what it is.
    """
    return is_recording(Path(folder)) or bags.is_bag(folder)


def is_recording(folder: Path) -> bool:
    """Whether a folder is one recording. Another one has runs, of which one may be called like a
    tracer.
    """
    return any((folder / name).is_file() for name in ("metadata", labels.FILE)) or any(
        (folder / name).is_dir() and not _is_run(folder / name) for name in TRACERS
    )


def _is_run(folder: Path) -> bool:
    """Whether a folder that is called like a tracer's is a recording itself."""
    return (folder / labels.FILE).is_file() or any((folder / name).is_dir() for name in TRACERS)


def _summary(run: str, goals: str | None) -> Summary:
    if not inputs.is_document(run):
        return summary.parse(json.dumps(summary.of([run], goals)), run)
    return summary.parse(files.read_document(run), files.source_name(run))


def _fingerprints(run: Summary) -> list[str]:
    """Those of its recordings."""
    return [each.fingerprint for each in run.provenance.inputs]
