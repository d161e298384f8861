"""The page of all experiments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from takt.reproduction import drawings
from takt.reproduction.catalogue import Kind
from takt.reproduction.judged import JudgedDocument, JudgedItem, JudgedLine
from takt.reproduction.runs import Result, Value
from takt.reproduction.verdict import Verdict
from takt.text import pages
from takt.text.formatting import NONE, count, significant
from takt.text.pages import Html, html, table

Json = dict[str, Any]

WIDTH, HEIGHT = 180, 16
"""Of a row's drawing, in pixels."""

_CLASS = {
    Verdict.REPRODUCED: "yes",
    Verdict.TENDENCY: "some",
    Verdict.NOT: "no",
    Verdict.CANNOT: "cannot",
    Verdict.OPEN: "open",
}
_STYLE = """
main > section, main > h2 { margin-top: 36px; }
.yes { color: var(--good) } .some { color: var(--warn) } .no { color: var(--bad) }
.cannot, .open, .none { color: var(--muted) }
td > .yes, td > .some, td > .no { font-weight: 600 }
pre { white-space: pre-wrap; font: inherit; border-left: 3px solid var(--line); padding-left: 1rem }
td svg { display: block }
figure { margin: 12px 0 } figcaption { color: var(--muted) }
"""


def render(told: Json, judged: Sequence[JudgedDocument], results: Sequence[Result]) -> str:
    """The page. `told`: document.origin()."""
    parts = [
        "<header><h1>What the documents published, and what came out here</h1>",
        _origin(told),
        "</header><main>",
        _summary(judged),
        _rules(),
        *(part for each in judged for part in _document(each)),
        _not_here(judged),
        _experiments(results),
        "</main>",
    ]
    return pages.page("Reproduction", _STYLE, parts)


def _origin(told: Json) -> str:
    form = "in full where an experiment has a longer form" if told["full"] else "in the short forms"
    return (
        f"<p>Takt {html(told['takt'])}, commit {html(told['commit'] or 'unknown')}, "
        f"{html(told['created'])}. The experiments ran {form}, "
        f"{count(told['runs'], 'time')} each, on {count(told['processors'] or 0, 'processor')} "
        f"({html(told['machine'])}, Linux {html(told['kernel'])}). What else the machine did "
        "is in the last table.</p>"
    )


def _summary(judged: Sequence[JudgedDocument]) -> str:
    rows = []
    for each in judged:
        found = Counter(item.verdict for item in each.items)
        cells = [f"{each.document.author}, {each.document.year}"]
        rows.append((*cells, *(str(found[kind]) for kind in (*Verdict, None)), len(each.items)))
    heads = ("Document", *(kind.value for kind in Verdict), "nothing to reproduce", "in all")
    return "<h2>Tables and figures</h2>" + table(heads, rows)


def _rules() -> str:
    return (
        "<p>A row is <b>reproduced</b> if ours of every run is within 10 % of "
        "the published figure, keeps the published limit, or is the same words; <b>in tendency</b> "
        "if it has the same sign and is within a factor of two, or within 10 % of the limit. A "
        "table or figure is reproduced if all its rows are and nothing of it is left out; in "
        "tendency if at least half of its rows are one of both. “Published” is only what "
        "the document prints, at the place that is named. All of this is decided by the program "
        "from the results.</p>"
    )


def _document(each: JudgedDocument) -> Iterator[str]:
    document = each.document
    yield f'<h2 id="{html(document.id)}">{html(document.author)}</h2>'
    yield f"<p><i>{html(document.title)}</i>, {html(document.year)}. "
    yield f"{html(document.numbers)}</p>"
    if each.unknown:
        unknown = html(", ".join(each.unknown))
        yield f'<p class="no">Rows name places that the list lacks: {unknown}</p>'
    rows = [
        (_short(item.item.name), item.item.what, _verdict_of(item), item.why)
        for item in each.items
        if item.item.kind is not Kind.ILLUSTRATION
    ]
    yield table(("Place", "What it shows", "Verdict", "What is not here, and why"), rows)
    others = (
        f"{html(item.item.name)} ({html(item.item.what)})"
        for item in each.items
        if item.item.kind is Kind.ILLUSTRATION
    )
    yield f"<p>Without a result: {', '.join(others)}.</p>"
    for item in each.items:
        if item.lines or item.drawn:
            yield f"<h3>{html(item.item.name)}: {html(item.item.what)}</h3>"
            yield f"<p>Experiment {_link(item.item.experiment)}.</p>"
            yield _lines(item.lines) if item.lines else ""
            yield drawings.of(item.drawn)
    if each.claims:
        yield "<h3>Figures in the text alone</h3>"
        yield _lines(each.claims)


def _short(name: str) -> Html:
    """A name that stays on a line."""
    return Html(html(name).replace(" ", "&nbsp;"))


def _verdict_of(item: JudgedItem) -> Html:
    if item.verdict is None:
        return Html(f'<span class="none">taken as it is by {_link(item.item.experiment)}</span>')
    return _coloured(item.verdict)


def _coloured(found: Verdict) -> Html:
    return Html(f'<span class="{_CLASS[found]}">{found.value}</span>')


def _link(experiment: str) -> Html:
    return Html(f'<a href="#{html(experiment)}">{html(experiment)}</a>')


def _lines(lines: Sequence[JudgedLine]) -> str:
    rows = []
    for each in lines:
        line = each.line
        meaning = "" if line.meaning is None else f" ({_value(line.meaning)} here)"
        numbers = line.numbers
        spread = f"{_value(min(numbers))} to {_value(max(numbers))}" if len(numbers) > 1 else NONE
        rows.append(
            (
                line.what,
                f"{_value(line.published)}{meaning}",
                line.cannot or _value(line.ours),
                spread,
                line.unit,
                _drawing(line.published if line.meaning is None else line.meaning, numbers),
                _coloured(each.verdict),
                line.place,
            )
        )
    heads = ("", "Published", "Ours", "All runs", "Unit", "", "Verdict", "Place")
    return table(heads, rows, figures=(1, 2, 3))


def _drawing(published: Value | None, ours: Sequence[float]) -> Html:
    """The published figure as a bar, ours as a line over it; from 0, as far as the largest."""
    if published is None or isinstance(published, str) or not ours:
        return Html()
    low, high = min(0.0, published, *ours), max(0.0, published, *ours)
    if low == high:
        return Html()

    def at(value: float) -> float:
        return round((WIDTH - 4) * (value - low) / (high - low) + 2, 1)

    bar, (first, last) = sorted((at(0), at(published))), (at(min(ours)), at(max(ours)))
    middle = HEIGHT / 2
    return Html(
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img">'
        f'<rect x="{bar[0]}" y="2" width="{round(max(1, bar[1] - bar[0]), 1)}" '
        f'height="{HEIGHT - 4}" fill="#8886"/>'
        f'<line x1="{first}" x2="{last}" y1="{middle}" y2="{middle}" stroke="#0d74ce" '
        'stroke-width="2"/>'
        f'<circle cx="{at(sum(ours) / len(ours))}" cy="{middle}" r="3.5" fill="#0d74ce"/></svg>'
    )


def _value(value: Value | None) -> str:
    if value is None:
        return NONE
    return value if isinstance(value, str) else significant(value)


def _not_here(judged: Sequence[JudgedDocument]) -> str:
    rows = [
        (
            each.document.author,
            item.item.name,
            item.item.what,
            item.why,
        )
        for each in judged
        for item in each.items
        if item.verdict is Verdict.CANNOT
    ]
    return "<h2>What cannot be done here</h2>" + table(("Document", "", "", "It needs"), rows)


def _experiments(results: Sequence[Result]) -> str:
    rows, texts = [], []
    for result in results:
        name = result.experiment.name
        noise = result.noise
        rows.append(
            (
                _link(name),
                result.failure or f"{result.seconds:.0f} s",
                "in full" if result.full else "short",
                f"{max(each.load for each in noise):.1f}",
                f"{max(each.standstill for each in noise):.1f} ms",
            )
        )
        readme = (result.experiment.folder / "README.md").read_text(encoding="utf-8")
        text = readme.partition("\n")[2].strip()
        texts.append(f'<h3 id="{html(name)}">{html(result.experiment.title)}</h3>')
        words = "What the document did, what is done here, and what differs"
        texts.append(f"<details><summary>{words}</summary><pre>{html(text)}</pre></details>")
    heads = ("Experiment", "Took", "Form", "Load before it", "Longest standstill before it")
    return "<h2>The experiments</h2>" + table(heads, rows) + "\n".join(texts)
