"""The labels of a recording: what its user says of it, and the machine that it was made on.

A recording has them in a file beside its traces (`takt/labels`). Tracers and readers of CTF do not
look at that file, and it stays with the recording in an archive.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import takt_native
from takt import files
from takt.documents.types import Labels
from takt.errors import UserError

Json = dict[str, Any]

FILE = "takt-labels.json"
VARIABLE = "TAKT_LABELS"
"""Labels in the environment, with commas between."""

LARGEST = 4 * 1024 * 1024
"""The most bytes that a file of labels may have. The versions of all packages of a robot take less
than a tenth."""
_MOST = 64
"""Documents of one recording."""
_KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_VALUE_LENGTH = 256


def given(
    options: Sequence[str], file: str | None = None, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The labels KEY=VALUE that a user gives. Options win over the environment, and that over a
    file, which has a label on each line; "#" begins a comment. UserError if one is not KEY=VALUE.
    """
    found: dict[str, str] = {}
    if file is not None:
        lines = (line.strip() for line in files.read_document(file).splitlines())
        source = files.source_name(file)
        found |= _parsed((line for line in lines if line and line[0] != "#"), source)
    variable = environment.get(VARIABLE, "")
    found |= _parsed(filter(None, map(str.strip, variable.split(","))), VARIABLE)
    return found | _parsed(options, "--label")


def _parsed(texts: Iterable[str], source: str) -> dict[str, str]:
    found = {}
    for text in texts:
        key, separator, value = text.partition("=")
        key, value = key.strip(), value.strip()
        if not (separator and value):
            raise UserError(f"{source}: {text!r}: write KEY=VALUE, such as robot=r7")
        if not _KEY.fullmatch(key):
            raise UserError(f"{source}: {key!r}: a key is up to 64 letters, digits, '_', '.', '-'")
        if len(value) > _VALUE_LENGTH or not value.isprintable():
            raise UserError(
                f"{source}: {key}: a value is one line of at most {_VALUE_LENGTH} characters"
            )
        found[key] = value
    return found


def document(labels: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> Json:
    """The `takt/labels` document of a recording that is made here and now."""
    kernel = os.uname()
    return {
        "format": "takt/labels",
        "version": 1,
        "labels": dict(labels),
        "host": kernel.nodename,
        "boot": _line(Path("/proc/sys/kernel/random/boot_id")),
        "kernel": f"{kernel.sysname} {kernel.release} {kernel.machine}",
        "ros": environment.get("ROS_DISTRO"),
        "packages": packages(environment.get("AMENT_PREFIX_PATH", "")),
    }


def packages(prefixes: str) -> dict[str, str]:
    """The versions of the ROS packages below the folders of an AMENT_PREFIX_PATH. As in ROS, the
    first folder that has a package wins.
    """
    found: dict[str, str] = {}
    for prefix in filter(None, prefixes.split(os.pathsep)):
        for description in sorted(Path(prefix).glob("share/*/package.xml")):
            version = re.search(r"<version[^>]*>\s*([^<\s]+)", _start(description))
            if version:
                found.setdefault(description.parent.name, version[1])
    return dict(sorted(found.items()))


def write(recording: Path, labels: Json) -> None:
    """Keeps the document in a recording. UserError if it cannot be written."""
    files.write_text(str(recording / FILE), json.dumps(labels, indent=1) + "\n")


def read(recordings: Iterable[str]) -> list[Labels]:
    """The labels of all recordings that have some, of folders and archives. Takes as long as the
    archives take to unpack. UserError if a file of labels is none.
    """
    return [found for path in map(Path, recordings) for found in _read(path)]


def agreed(told: Iterable[Labels]) -> dict[str, str]:
    """The labels of several recordings together: those that no two give different values."""
    values: dict[str, set[str]] = {}
    for each in told:
        for key, value in each.labels.items():
            values.setdefault(key, set()).add(value)
    return {key: value for key, (value, *others) in values.items() if not others}


def _read(path: Path) -> Iterator[Labels]:
    try:
        if path.is_dir():
            for file in (path / FILE, *sorted(path.glob(f"*/{FILE}"))):
                if file.is_file():
                    with file.open("rb") as content:
                        yield _parsed_text(content.read(LARGEST + 1), str(file))
        elif path.is_file():
            # A recording is the archive or a folder in it, and joined ones lie a folder deeper.
            for text in takt_native.archived_files(str(path), FILE, 2, _MOST, LARGEST + 1):
                yield _parsed_text(text, f"{path}: {FILE}")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error


def _parsed_text(data: bytes, source: str) -> Labels:
    from takt import documents

    try:
        if len(data) > LARGEST:
            raise UserError(f"{source}: larger than {LARGEST >> 20} MiB")
        return documents.parse(Labels, data.decode(), source)
    except (UserError, UnicodeDecodeError) as error:
        fault = str(error).removeprefix(f"{source}: ")
        raise UserError(
            f"{source}: no takt/labels document of this Takt: {fault}; remove it from the recording"
        ) from error


def _line(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return None


def _start(path: Path) -> str:
    """The first part of a file, in which its version is."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(1 << 14)
    except OSError:
        return ""
