"""What became of each table and figure, and of what the text of a document claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from takt.reproduction import verdict
from takt.reproduction.catalogue import Document, Item, Kind, places
from takt.reproduction.runs import Line, Result
from takt.reproduction.verdict import Verdict


@dataclass(frozen=True)
class JudgedLine:
    line: Line
    verdict: Verdict


@dataclass(frozen=True)
class JudgedItem:
    item: Item
    lines: tuple[JudgedLine, ...]
    verdict: Verdict | None
    """None: there is nothing to reproduce."""
    why: str
    """What is not here of it and why; empty: nothing."""
    drawn: tuple[Line, ...] = ()
    """What is drawn beside it, published figures or not."""


@dataclass(frozen=True)
class JudgedDocument:
    document: Document
    items: tuple[JudgedItem, ...]
    claims: tuple[JudgedLine, ...]
    """Rows on figures in the text that no table and no figure has."""
    unknown: tuple[str, ...]
    """Places of rows that the list of the document does not have: a mistake of ours."""


def judge(documents: Sequence[Document], results: Sequence[Result]) -> list[JudgedDocument]:
    """Holds the rows of the experiments against the documents' lists."""
    by_name = {result.experiment.name: result for result in results}
    return [_document(document, by_name) for document in documents]


def _document(document: Document, results: dict[str, Result]) -> JudgedDocument:
    known = {item.name for item in document.items}
    lines = [
        JudgedLine(line, _of_line(line))
        for name in document.experiments
        if name in results
        for line in results[name].lines
        if line.published is not None
    ]
    drawn = [
        line
        for name in document.experiments
        if name in results
        for line in results[name].lines
        if line.figure
    ]
    named = {place for each in lines for place in places(each.line.place)}
    named |= {line.figure for line in drawn}
    return JudgedDocument(
        document,
        tuple(_drawn(_item(item, lines, results), drawn) for item in document.items),
        tuple(each for each in lines if not places(each.line.place)),
        tuple(sorted(named - known)),
    )


def _drawn(found: JudgedItem, lines: Sequence[Line]) -> JudgedItem:
    own = tuple(line for line in lines if line.figure == found.item.name)
    return replace(found, drawn=own)


def _of_line(line: Line) -> Verdict:
    """Published words count by what they mean, where that is said."""
    assert line.published is not None
    published = line.published if line.meaning is None else line.meaning
    return verdict.of_row(published, line.values, bool(line.cannot), line.unit)


def _item(item: Item, lines: list[JudgedLine], results: dict[str, Result]) -> JudgedItem:
    if item.kind in (Kind.INPUT, Kind.ILLUSTRATION):
        return JudgedItem(item, (), None, "")
    if item.kind in (Kind.MISSING, Kind.CANNOT):
        found = Verdict.CANNOT if item.kind is Kind.CANNOT else Verdict.OPEN
        return JudgedItem(item, (), found, item.why)
    result = results.get(item.experiment)
    if result is None or result.failure:
        why = result.failure if result else "the experiment was not run"
        return JudgedItem(item, (), Verdict.OPEN, why)
    own = tuple(each for each in lines if item.name in places(each.line.place))
    reasons = dict.fromkeys(each.line.cannot for each in own if each.line.cannot)
    why = "; ".join([item.lacks] if item.lacks else list(reasons))
    found = verdict.of_item([each.verdict for each in own], is_whole=not item.lacks)
    return JudgedItem(item, own, found, why)
