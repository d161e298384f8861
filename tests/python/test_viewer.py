"""The viewer's page as Python makes it; web/tests opens such pages in a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser

import pytest

from takt.report import viewer

TABLES = {name: f"block of {name}".encode() * 50 for name in viewer.TABLES}
HOSTILE = "</script><script>alert(1)</script><!--<b>&amp;\u2028"


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text of scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self.found.append((f"/{tag}", {}, ""))

    def handle_data(self, data: str) -> None:
        if self.found:
            tag, attributes, text = self.found[-1]
            self.found[-1] = (tag, attributes, text + data)


def elements(page: str) -> Elements:
    parser = Elements()
    parser.feed(page)
    return parser


def test_the_document_is_read_back_from_the_page() -> None:
    index = {"format": "takt/viewer", "title": HOSTILE, "callbacks": [{"node": HOSTILE}]}
    found = elements(viewer.page(index, TABLES)).found
    scripts = {a["id"]: text for tag, a, text in found if tag == "script" and "id" in a}
    assert json.loads(scripts["takt-index"]) == index
    for name, block in TABLES.items():
        assert zlib.decompress(base64.b64decode(scripts[f"takt-{name}"])) == block
    # Names add no element: the only further script is the viewer's.
    assert [a for tag, a, _ in found if tag == "script" and "id" not in a] == [{}]
    assert "b" not in {tag for tag, _, _ in found}


def test_the_page_has_the_licence_of_what_is_bundled_in_it() -> None:
    page = viewer.page({}, TABLES)
    assert "@dagrejs/dagre\n\nCopyright (c) 2012-2014 Chris Pettitt" in page
    assert "Permission is hereby granted" in page


def test_the_policy_allows_the_viewers_script_and_style_alone() -> None:
    found = elements(viewer.page({}, TABLES)).found
    policy = next(
        a["content"] or ""
        for tag, a, _ in found
        if a.get("http-equiv") == "Content-Security-Policy"
    )
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    for tag, directive in [("script", "script-src"), ("style", "style-src")]:
        text = next(text for name, a, text in found if name == tag and not a)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert directives[directive] == f"'sha256-{digest}'"


def test_the_page_names_no_other_address() -> None:
    page = viewer.page({}, TABLES)
    addresses = set(re.findall(r"https?://[\w./-]+", page))
    # Names of XML dialects, which nothing is loaded from.
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(src|href)=", page)


def test_a_document_without_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="without parts"):
        viewer.page({}, {name: b"" for name in viewer.TABLES if name != "parts"})
