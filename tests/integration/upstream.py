"""The tracepoints of the installed ROS 2, read from tracetools' own LTTng header."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Field:
    declaration: str
    """The field as LTTng writes it into a trace's metadata."""
    name: str
    expression: str
    length: int = 0
    """How many elements an array has."""


@dataclass(frozen=True)
class Tracepoint:
    name: str
    parameters: tuple[tuple[str, str], ...]
    """Types and names."""
    fields: tuple[Field, ...]


def tracepoints() -> list[Tracepoint]:
    text = _header("tp_call.h").read_text()
    constants = {name: int(value) for name, value in re.findall(r"#define (\w+) (\d+)u", text)}
    return [
        Tracepoint(name, tuple(_pairs(parameters)), tuple(_fields(fields, constants)))
        for name, parameters, fields in re.findall(
            r"\nTRACEPOINT_EVENT\(\s*TRACEPOINT_PROVIDER,\s*(\w+),"
            r"\s*TP_ARGS\((.*?)\),\s*TP_FIELDS\((.*?)\)\s*\n\)",
            text,
            re.S,
        )
    ]


def version() -> str:
    matched = re.search(r'VERSION_STR "([\d.]+)"', _header("version.h").read_text())
    assert matched
    return matched.group(1)


def _header(name: str) -> Path:
    for prefix in os.environ["AMENT_PREFIX_PATH"].split(":"):
        header = Path(prefix) / "include/tracetools/tracetools" / name
        if header.exists():
            return header
    raise FileNotFoundError(name)


def _pairs(text: str) -> list[tuple[str, str]]:
    words = [" ".join(word.split()) for word in text.split(",")]
    return list(zip(words[::2], words[1::2], strict=True)) if len(words) > 1 else []


def _integer(size: int, signed: int, base: int) -> str:
    return (
        f"integer {{ size = {size}; align = 8; signed = {signed}; "
        f"encoding = none; base = {base}; }}"
    )


_INTEGERS = {
    "int": _integer(32, 1, 10),
    "int64_t": _integer(64, 1, 10),
    "uint64_t": _integer(64, 0, 10),
    "size_t": _integer(64, 0, 10),
}


def _fields(text: str, constants: dict[str, int]) -> list[Field]:
    fields = []
    for macro, arguments in re.findall(r"(ctf_\w+)\((.*)\)\n?", text):
        words = [word.strip() for word in arguments.split(",")]
        if macro == "ctf_string":
            fields.append(Field(f"string _{words[0]};", words[0], words[1]))
        elif macro == "ctf_integer_hex":
            assert words[0] == "const void *"
            fields.append(Field(f"{_integer(64, 0, 16)} _{words[1]};", words[1], words[2]))
        elif macro == "ctf_array":
            length = constants[words[3]]
            declaration = f"{_integer(8, 0, 10)} _{words[1]}[{length}];"
            fields.append(Field(declaration, words[1], words[2], length))
        else:
            assert macro == "ctf_integer", macro
            declaration = _INTEGERS[words[0].removeprefix("const ")]
            fields.append(Field(f"{declaration} _{words[1]};", words[1], words[2]))
    return fields


def arguments(tracepoint: Tracepoint, seed: int) -> list[Any]:
    """Values that tell events and parameters apart."""
    values: list[Any] = []
    for position, (kind, name) in enumerate(tracepoint.parameters):
        number = 1000 * seed + position + 1
        match kind.removeprefix("const "):
            case "void *":
                values.append(0x7F00_0000_0000 + number)
            case "char *":
                values.append(f"{tracepoint.name}/{name}-{number}")
            case "uint8_t *":
                values.append([(number + i) % 256 for i in range(24)])
            case "bool":
                values.append(seed % 2 == 1)
            case "int64_t":
                values.append(-number)
            case _:
                values.append(2**63 + number)
    return values


def expected(tracepoint: Tracepoint, values: list[Any], gid_size: int) -> dict[str, Any]:
    """The fields of the event that a call with these arguments makes; a gid has `gid_size` bytes,
    and the rest of its array is zero.
    """
    given = dict(zip((name for _, name in tracepoint.parameters), values, strict=True))
    fields: dict[str, Any] = {}
    for field in tracepoint.fields:
        if field.expression == "TRACETOOLS_VERSION_STR":
            fields[field.name] = version()
        elif field.length:
            gid = given[field.expression][:gid_size]
            fields[field.name] = gid + [0] * (field.length - len(gid))
        else:
            fields[field.name] = given[field.expression.strip("()").split(" ")[0]]
    return fields
