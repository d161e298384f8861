"""Recordings to read: small ones of the repository, and large ones beside it if they are there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

_FOLDERS = (
    Path(__file__).resolve().parents[1] / "recordings",
    Path(__file__).resolve().parents[3] / "shared" / "traces",
)
_ARCHIVES = {
    path.name.removesuffix(".tar.xz"): path
    for folder in _FOLDERS
    for path in sorted(folder.glob("*.tar.xz"))
}
NAMES = tuple(_ARCHIVES)


def archive(name: str) -> Path:
    """The recording, packed. Skips the test if it is one of those that are not here."""
    if name not in _ARCHIVES:
        pytest.skip(f"the recording {name} is not here: it belongs to those in {_FOLDERS[-1]}")
    return _ARCHIVES[name]


@cache
def described_counts(name: str) -> dict[str, int]:
    """Events by name, as the table in the README of the recording's folder has them."""
    text = (archive(name).parent / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| (\S+) \| (.+) \|$", text.partition("## Event counts")[2], re.M)
    columns = [column.strip() for column in rows[0][1].split("|")]
    place = columns.index(name)
    counts = ((event, cells.split("|")[place].strip()) for event, cells in rows[1:])
    return {event: int(count) for event, count in counts if count.isdigit() and event != "**all**"}
