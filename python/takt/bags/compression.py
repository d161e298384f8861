"""What is compressed in bags: chunks of MCAP, whole files, single messages. No size is believed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from takt.bags.messages import PREFIX
from takt.errors import UserError

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

LARGEST_CHUNK = 256 << 20
"""Bytes of a chunk that are held in memory; recorders write chunks of a few megabytes."""
LARGEST_RATIO = 256
LEAST_UNPACKED = 1 << 30
"""A file that is compressed as a whole may be unpacked to the larger of these bytes."""

_BLOCK = 1 << 12
"""Bytes that are unpacked at a time: to 128 MB at most, as zstd's smallest block has 4 bytes."""


def library() -> Any:
    """The library of zstd. UserError without the libraries of bags."""
    try:
        import lz4.frame  # noqa: F401
        import mcap  # noqa: F401
        import zstandard
    except ModuleNotFoundError as error:
        raise UserError(f"{error.name} is not installed; pip install 'takt-ros[bags]'") from error
    return zstandard


def chunk(data: bytes, compression: str, size: int) -> bytes:
    """The `size` bytes that a chunk says it has. ValueError, RuntimeError or zstandard.ZstdError if
    it has not.
    """
    if size > LARGEST_CHUNK:
        raise ValueError(f"it says that it has {size} bytes")
    if compression == "zstd":
        with library().ZstdDecompressor().stream_reader(data) as stream:
            data = stream.read(size + 1)
    elif compression == "lz4":
        import lz4.frame

        data = lz4.frame.LZ4FrameDecompressor().decompress(data, max_length=size + 1)
    elif compression:
        raise ValueError(f"its compression '{compression[:20]}' is not known")
    if len(data) != size:
        raise ValueError(f"it has not the {size} bytes that it says")
    return bytes(data)


def file(path: Path, target: Path) -> str | None:
    """Unpacks a file. Returns what is wrong if it could not be unpacked to its end. UserError if it
    grows beyond all measure, OSError.
    """
    zstandard = library()
    limit = max(LEAST_UNPACKED, LARGEST_RATIO * path.stat().st_size)
    frame = None  # between frames
    with path.open("rb") as packed, target.open("wb") as plain:
        while block := packed.read(_BLOCK):
            while block:
                frame = frame or zstandard.ZstdDecompressor().decompressobj()
                try:
                    plain.write(frame.decompress(block))
                except zstandard.ZstdError as error:
                    return str(error)
                if plain.tell() > limit:
                    raise UserError(f"{path}: refused: unpacked it has more than {limit} bytes")
                block = b""
                if frame.eof:
                    block, frame = frame.unused_data, None
    return None if frame is None else "it was cut off"


def message(data: bytes) -> bytes:
    """The first PREFIX bytes of a message that is compressed by itself; none if it is damaged. CDR
    begins otherwise than zstd.
    """
    if not data.startswith(ZSTD_MAGIC):
        return data
    zstandard = library()
    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as stream:
            return bytes(stream.read(PREFIX))
    except zstandard.ZstdError:
        return b""
