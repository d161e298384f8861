"""The messages of a bag, file by file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from takt.bags import METADATA, SUFFIXES, compression, mcap_file, metadata, sqlite_file
from takt.bags.messages import Losses, Message
from takt.errors import UserError
from takt.text import console

SQLITE_MAGIC = b"SQLite format 3\0"


@dataclass
class Bag:
    """The files of a bag, in their order."""

    path: str
    files: list[Path]
    declared: int | None = None
    """How many messages `metadata.yaml` says that there are; None: it does not say."""
    losses: Losses = field(default_factory=Losses)

    def messages(self, progress: console.Progress | None) -> Iterator[Message]:
        """Yields the messages file by file. In `losses` is afterwards what could not be read.
        UserError if no file can be opened, or a library is missing.
        """
        sizes = [_size(file) for file in self.files]
        before = 0
        for file, size in zip(self.files, sizes, strict=True):

            def tell(done: int, before: int = before) -> None:
                if progress is not None:
                    progress(before + done, sum(sizes))

            try:
                for message in _messages(file, self.losses, tell):
                    yield message._replace(data=compression.message(message.data))
            except OSError as error:
                self.losses.add(f"{file}: cannot be read: {error.strerror}")
            before += size


def open_bag(path: str) -> Bag:
    """The bag at a path for which is_bag() holds. UserError if there is none."""
    folder = Path(path)
    if not folder.is_dir():
        return Bag(path, [folder])
    bag = Bag(path, sorted(filter(_is_file_of_bag, folder.iterdir()), key=_in_order))
    if (folder / METADATA).exists():
        _read_metadata(bag, folder / METADATA)
    else:
        bag.losses.add(f"{path}: no {METADATA}, as of a recorder that was killed")
    if not bag.files:
        raise UserError(f"{path}: a bag without files: none ends with .mcap or .db3")
    return bag


def _is_file_of_bag(path: Path) -> bool:
    return path.name.endswith(SUFFIXES)


def _in_order(path: Path) -> list[tuple[int, str]]:
    """Recorders number the files: robot_2.mcap comes before robot_10.mcap."""
    return [
        (int(part[:18]), "") if part.isdecimal() else (-1, part)
        for part in re.split(r"(\d+)", path.name)
    ]


def _read_metadata(bag: Bag, path: Path) -> None:
    """Puts the files in their order; those that are not listed come last."""
    try:
        found = metadata.read(path)
    except OSError as error:
        bag.losses.add(f"{path}: cannot be read: {error.strerror}")
        return
    if found is None:
        bag.losses.add(f"{path}: not the metadata of a bag; its files are taken in their order")
        return
    bag.declared = found.messages
    there = {file.name: file for file in bag.files}
    for name in found.files:
        if name not in there:
            bag.losses.add(f"{path}: names '{name}', which is not there")
    rest = [file for file in bag.files if file.name not in found.files]
    bag.files = [there[name] for name in found.files if name in there] + rest


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _messages(path: Path, losses: Losses, tell: mcap_file.Progress) -> Iterator[Message]:
    if not path.name.endswith(".zstd"):
        yield from _plain_messages(path, str(path), losses, tell)
        return
    with TemporaryDirectory(prefix="takt-") as folder:
        unpacked = Path(folder) / "bag"
        if wrong := compression.file(path, unpacked):
            losses.add(f"{path}: cannot be unpacked to its end: {wrong}")
            if not unpacked.stat().st_size:
                return
        yield from _plain_messages(unpacked, str(path), losses, tell)


def _plain_messages(
    path: Path, source: str, losses: Losses, tell: mcap_file.Progress
) -> Iterator[Message]:
    if path.exists() and not path.is_file():
        losses.add(f"{source}: no file")  # a pipe would never end
        return
    with path.open("rb") as file:
        magic = file.read(len(SQLITE_MAGIC))
        file.seek(0)
        if not magic:
            losses.add(f"{source}: the file is empty")
        elif magic == SQLITE_MAGIC:
            yield from sqlite_file.messages(path, source, losses, tell)
        else:
            yield from mcap_file.messages(file, source, losses, tell)
