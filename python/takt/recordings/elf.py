"""Which functions a shared library exports, read from its file."""

from __future__ import annotations

import struct
from pathlib import Path

_DYNAMIC_SYMBOLS = 11  # SHT_DYNSYM
_LARGEST = 256 * 1024 * 1024  # bytes of a library


def exported(library: Path) -> set[str]:
    """Names of the symbols that a 64-bit little-endian ELF library defines for others. Empty if the
    file is no such library, or damaged. O(size of the file).
    """
    if library.stat().st_size > _LARGEST:
        return set()
    data = library.read_bytes()
    try:
        return set(_symbols(data))
    except (struct.error, IndexError, ValueError):
        return set()


def _symbols(data: bytes) -> list[str]:
    if data[:6] != b"\x7fELF\x02\x01":
        return []
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    names = []
    for _, kind, _, _, offset, length, link, _, _, entry in sections:
        if kind != _DYNAMIC_SYMBOLS or entry == 0:
            continue
        texts = sections[link][4]
        for place in range(offset, offset + length, entry):
            name, _, _, section = struct.unpack_from("<IBBH", data, place)
            if section != 0:  # SHN_UNDEF: used, not defined
                end = data.index(b"\0", texts + name)
                names.append(data[texts + name : end].decode("ascii", "replace"))
    return names
