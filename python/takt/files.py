"""Files that users name: read within bounds, written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from takt.errors import UserError
from takt.text.formatting import printable

LARGEST_DOCUMENT = 256 * 1024 * 1024
"""Bytes. No document of ours comes near this; a larger file was named by mistake."""

STANDARD_STREAM = "-"


def read_document(path: str) -> str:
    """The text of a JSON document; "-" is standard input. UserError if there is none."""
    try:
        if path == STANDARD_STREAM:
            data = sys.stdin.buffer.read(LARGEST_DOCUMENT + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(LARGEST_DOCUMENT + 1)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > LARGEST_DOCUMENT:
        raise UserError(f"{path}: larger than {LARGEST_DOCUMENT >> 20} MiB; is it a document?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: not a text file (byte {error.start} is no UTF-8); expected a document"
        ) from error


def read_object(path: str) -> dict[str, Any]:
    """A JSON object, e.g. of options. UserError if there is none."""
    try:
        options = json.loads(read_document(path))
    except ValueError as error:
        raise UserError(f"{path}: not a JSON document: {error}") from error
    if not isinstance(options, dict):
        raise UserError(f"{path}: must hold a JSON object of options")
    return options


def is_of_this_user_alone(folder: Path) -> bool:
    """Whether it is a folder, not a link, of this user in which nobody else may write."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not others


def source_name(path: str) -> str:
    """How messages call a document that was read from `path`."""
    return "<stdin>" if path == STANDARD_STREAM else path


@contextlib.contextmanager
def replacement(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yields the path of a new file that takes the place of `path` if the body ends well.

    A reader sees the old file or the new one, never a part; the new one has the old one's owner and
    mode. A device or a pipe is not replaced but written to; a link stays, and its target is
    replaced. UserError if the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    if not target.exists() and Path(path).exists():
        target = Path(path)  # a pipe behind /dev/stdout, whose name is no path
    try:
        former = _status(target)
        if former is None or stat.S_ISREG(former.st_mode):
            with _new_file_beside(target, former) as temporary:
                yield temporary
        elif stat.S_ISDIR(former.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        else:
            from tempfile import TemporaryDirectory

            with TemporaryDirectory() as folder:
                written = Path(folder) / "written"
                written.touch()
                yield written
                with target.open("wb") as device:
                    device.write(written.read_bytes())
    except FileExistsError as error:
        raise UserError(f"{path}: cannot be written: {os.strerror(errno.ENOTDIR)}") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from error


@contextlib.contextmanager
def _new_file_beside(target: Path, former: os.stat_result | None) -> Iterator[Path]:
    target.parent.mkdir(parents=True, exist_ok=True)
    from tempfile import mkstemp

    handle, name = mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        os.close(handle)
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        if former is None:
            temporary.chmod(0o666 & ~_umask())
        else:
            # The owner first: changing it clears bits of the mode.
            if (former.st_uid, former.st_gid) != (os.geteuid(), os.getegid()):
                try:
                    os.chown(temporary, former.st_uid, former.st_gid)
                except PermissionError:  # somebody else's file that we may write to
                    target.write_bytes(temporary.read_bytes())
                    return
            temporary.chmod(stat.S_IMODE(former.st_mode))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def replacement_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yields a new folder that becomes `path` if the body ends well.

    UserError if `path` exists, unless as an empty folder, or cannot be written.
    """
    target = Path(path)
    try:
        if target.exists() and not (target.is_dir() and not any(target.iterdir())):
            raise UserError(f"{target}: exists; remove it, or name another folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as name:
            written = Path(name) / "written"
            written.mkdir()
            yield written
            written.replace(target)
    except OSError as error:
        raise UserError(f"{target}: cannot be written: {error.strerror}") from error


def write_text(path: str, text: str) -> None:
    """Writes a file whole or not at all; "-" is standard output, a terminal of which gets nothing
    that it would obey or hide.
    """
    if path == STANDARD_STREAM:
        sys.stdout.write(printable(text) if sys.stdout.isatty() else text)
        return
    with replacement(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


class _TriedError(Exception):
    """Ends an attempt to write."""


def check_output(path: str) -> None:
    """Before something that takes long: UserError if write_text() could not write there. Makes the
    folder, as write_text() does, and changes no file.
    """
    if path != STANDARD_STREAM:
        with contextlib.suppress(_TriedError), replacement(path):
            raise _TriedError


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
