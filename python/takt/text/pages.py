"""Pages of HTML that are one file, load nothing and run no script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources

from takt.text.formatting import printable

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Whatever a hostile name may have smuggled in, the browser runs and loads nothing."""


class Html(str):
    """What is HTML already. Any other text is escaped wherever it is put."""

    __slots__ = ()


def html(value: object) -> Html:
    """A value as HTML that shows it."""
    return value if isinstance(value, Html) else Html(escape(printable(str(value))))


def page(title: str, style: str, parts: Iterable[str]) -> str:
    """A whole page in the style of such pages, with more style and these parts of its body."""
    shared = (resources.files("takt.text") / "pages.css").read_text("utf-8")
    body = "\n".join(parts)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html(title)}</title>
<style>{shared}
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def table(
    heads: Sequence[object], rows: Iterable[Sequence[object]], figures: Sequence[int] = ()
) -> Html:
    """`figures`: the columns that are aligned to the right."""
    kinds = dict.fromkeys(figures, ' class="number"')
    head = "".join(f"<th{kinds.get(i, '')}>{html(cell)}</th>" for i, cell in enumerate(heads))
    lines = (
        "".join(f"<td{kinds.get(i, '')}>{html(cell)}</td>" for i, cell in enumerate(row))
        for row in rows
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    found = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return Html(f'<div class="scroll">{found}</div>')
