"""The viewer's page: a `takt/viewer` document within the bundle that web/ builds.

docs/viewer-data.md describes the document. Whatever stands in it, the page runs no script but the
viewer's and loads nothing: its content security policy is part of the bundle.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from takt import built

Json = dict[str, Any]

TABLES = ("spans", "segments", "messages", "links", "instances", "parts")
"""Each is one block of columns; a document of a model has at most spans."""

PLACE = "<!--takt-data-->"
"""The mark in the bundle that is replaced by the data."""


def page(index: Mapping[str, Any], tables: Mapping[str, bytes]) -> str:
    """One HTML file that needs nothing else. UserError if the viewer has not been built."""
    missing = [name for name in TABLES if name not in tables]
    if missing and index.get("origin", "") is not None:
        raise ValueError(f"a viewer document without {', '.join(missing)}")
    scripts = [_script("application/json", "takt-index", _json(index))]
    for name in tables:
        packed = base64.b64encode(zlib.compress(tables[name], 9)).decode()
        scripts.append(_script("application/octet-stream", f"takt-{name}", packed))
    return _with(scripts)


def served_page(index: Mapping[str, Any]) -> str:
    """The page that asks its server (takt.report.server) for tables. UserError as of page()."""
    served = _script("application/json", "takt-served", "{}")
    return _with([_script("application/json", "takt-index", _json(index)), served])


def block(rows: Sequence[Mapping[str, int]]) -> bytes:
    """Rows of numbers, at least one, as the block of a table (docs/viewer-data.md, "Bytes")."""
    columns = {name: bytes(_numbers(row[name] for row in rows)) for name in rows[0]}
    sizes = [{"name": n, "coding": "plain", "bytes": len(c)} for n, c in columns.items()]
    header = json.dumps({"rows": len(rows), "columns": sizes}).encode()
    return b"".join([len(header).to_bytes(4, "little"), header, *columns.values()])


def _numbers(values: Iterable[int]) -> Iterator[int]:
    for value in values:
        rest = 2 * value if value >= 0 else -2 * value - 1
        while rest >= 128:
            yield rest % 128 + 128
            rest //= 128
        yield rest


def _with(scripts: list[str]) -> str:
    before, after = bundle().split(PLACE)
    return "".join([before, "\n".join(scripts), after])


def bundle() -> str:
    """The page without data. UserError if it has not been built."""
    return built.path("takt_web").read_text(encoding="utf-8")


def _script(kind: str, name: str, text: str) -> str:
    return f'<script type="{kind}" id="{name}">{text}</script>'


def _json(index: Mapping[str, Any]) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    # A lone surrogate, which a document may hold, has no UTF-8: it is written as its escape.
    return text.encode("utf-8", "backslashreplace").decode()
