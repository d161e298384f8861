"""Traces indexed for `takt serve`: a folder for each set of inputs, made once.

A folder holds index.json, the `takt/viewer` index with its answer, and the columns of the tables
(libtakt/viewer). Its name follows from the inputs: their places, sizes and times of change, the
documents, and Takt's version. So an index is never read for a trace that has changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import takt_native
from takt import __version__, files, inputs, pipeline
from takt.errors import UserError
from takt.report import view, viewer
from takt.text import console
from takt.verdicts import remedies, verdict

INDEX = "index.json"
NAME = 32
"""Hexadecimal digits of a folder's name."""
UNUSED = 60 * 24 * 3600
"""Seconds without use after which an index makes room: another one can be made of its trace."""


def folder_of(inputs_: Sequence[str], analysis: str, goals: str | None, cache: Path | None) -> Path:
    """Where the index of these inputs is, or will be. UserError if one cannot be looked at."""
    program = Path(takt_native.__file__).stat().st_mtime_ns
    digest = hashlib.sha256(f"{__version__} {program}\n{analysis}\n".encode())
    for path in (*inputs_, *([goals] if goals else [])):
        try:
            for line in _facts(Path(path)):
                digest.update(f"{line}\n".encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}") from error
        digest.update(b"\n")
    return (cache or _cache()) / digest.hexdigest()[:NAME]


def is_complete(folder: Path) -> bool:
    return (folder / INDEX).is_file()


def make(folder: Path, given: inputs.Given, analysis: str, goals: str | None) -> None:
    """Indexes the traces. Raises takt_native.InputError; UserError if the folder cannot be made."""
    _make_room(folder)
    text = inputs.model_of(given, goals)
    with files.replacement_folder(folder) as written:
        index, measured = pipeline.store_view(given.traces, text.text, text.source, str(written))
        measurement = given.measurement or measured
        known = replace(given, measurement=measurement)
        evaluation = inputs.evaluate_model(known, text, analysis)
        for warning in evaluation.warnings:
            console.say(f"takt: warning: {warning}")
        model, bounds = evaluation.model, evaluation.bounds
        judged = verdict.judge(model, bounds, measurement)
        verdicts = remedies.with_remedies(evaluation, judged, analysis)
        explained = view.explanations(evaluation)
        asking, title = view.asking(given, goals), evaluation.title
        view.complete(index, model, bounds, measurement, verdicts, title, explained, asking)
        (written / INDEX).write_text(json.dumps(index), encoding="utf-8")
    _forget_unused(folder.parent)
    size = sum(file.stat().st_size for file in folder.iterdir())
    console.say(f"takt: indexed in {folder} ({size / 1e6:.0f} MB)")


def _make_room(folder: Path) -> None:
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.exists() and not is_complete(folder):  # its removal was interrupted
            shutil.rmtree(folder)
        writable = os.access(folder.parent, os.W_OK | os.X_OK)
        reason = "it is read-only" if not writable else ""
    except OSError as error:
        reason = error.strerror or str(error)
    if reason:
        raise UserError(
            f"{folder.parent}: no index can be written there: {reason}; name another folder with "
            "--cache"
        )


def open_page(folder: Path) -> tuple[str, takt_native.StoredView]:
    """The page without tables, and the document that answers its questions. Raises
    takt_native.InputError.
    """
    with contextlib.suppress(OSError):  # another user's, perhaps
        os.utime(folder / INDEX)
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    return viewer.served_page(index), takt_native.StoredView.open(str(folder))


def _forget_unused(cache: Path) -> None:
    """Removes indexes that were last opened long ago. Others' files in the folder stay."""
    for index in cache.glob(f"{'[0-9a-f]' * NAME}/{INDEX}"):
        with contextlib.suppress(OSError):
            if time.time() - index.stat().st_mtime > UNUSED:
                shutil.rmtree(index.parent)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "takt" / "serve"


def _facts(path: Path) -> Iterator[str]:
    """Lines that change when an input changes: path, size and time of change. Raises OSError."""
    found = [path]
    if path.is_dir():
        found += sorted(path.rglob("*"))
    for file in found:
        try:
            status = file.stat()
        except FileNotFoundError:
            if file == path:
                raise
            # A link to nothing, or what a recording that still runs has removed.
            continue
        yield f"{file.resolve()} {status.st_size} {status.st_mtime_ns}"
