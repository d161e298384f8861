"""A `takt/fleet` document as one HTML page that loads nothing and runs no script."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from takt.fleet import page
from takt.text import pages
from takt.text.formatting import count, duration, printable
from takt.text.pages import html, table

Json = dict[str, Any]

WIDTH, HEIGHT = 720, 220
LEFT, RIGHT, TOP, BOTTOM = 80, 16, 12, 44
NAMED = 12
"""Versions or robots that a sentence names."""


_STYLE = """
svg.versions { width: 100%; max-width: 46rem; height: auto; }
svg.versions text { font: 11px system-ui, sans-serif; fill: var(--muted); }
svg.versions .grid { stroke: var(--line); }
svg.versions .mean { fill: none; stroke: var(--accent); stroke-width: 2; }
svg.versions .dot { fill: var(--accent); }
svg.versions .interval { stroke: var(--accent); stroke-width: 12; opacity: 0.35; }
svg.versions .run { fill: var(--waiting); }
svg.versions .change { stroke: var(--bad); stroke-dasharray: 4 3; }
"""


def render(document: Json, title: str) -> str:
    """The page."""
    return pages.page(title, _STYLE, _body(document, title))


def lines(document: Json) -> list[str]:
    """What changed, which robots are unlike the others, and what nobody can tell, in sentences."""
    return [*map(printable, (*_found(document), *_not_found(document)))]


def _found(document: Json) -> Iterator[str]:
    for change in document["changes"]:
        yield (
            f"Since {change['since']}: {_what(change)} {page.ratio(change['growth'])}"
            f"{_because(change)}"
        )
    for noun in ("robot", "host", "boot", "hour"):
        for each in document[f"{noun}s_unlike_others"]:
            yield (
                f"{noun.capitalize()} {each[noun]}: {_what(each)} {page.ratio(each['growth'])} in "
                f"{count(each['runs'], 'run')}, against the others{_because(each)}"
            )


def _not_found(document: Json) -> Iterator[str]:
    """That there is nothing, as far as that can be told."""
    untold = document["cannot_tell"]
    # Nothing is before the first version.
    if not document["changes"] and len(untold["versions"]) < len(document["versions"]) - 1:
        yield "No version differs from those before"
    if untold["versions"]:
        yield f"Too few runs to compare {_names('version', untold['versions'])} with those before"
    if not document["robots_unlike_others"] and len(untold["robots"]) < len(document["robots"]):
        yield "No robot is unlike the others"
    if untold["robots"]:
        yield f"Too few runs to compare {_names('robot', untold['robots'])} with the others"


def _names(noun: str, names: Sequence[str]) -> str:
    others = len(names) - NAMED
    end = f" and {count(others, 'other')}" if others > 0 else ""
    return f"{noun}{'s' if len(names) > 1 else ''} {', '.join(names[:NAMED])}{end}"


def _what(found: Json) -> str:
    return f"{found['kind']} {found['name']}, {found['quantity']}"


def _because(found: Json) -> str:
    return f": {page.in_words(found['causes'])}" if found["causes"] else ""


def _body(document: Json, title: str) -> Iterator[str]:
    versions = document["versions"]
    yield f"<header><h1>{html(title)}</h1>"
    runs, robots = count(document["runs"], "run"), count(len(document["robots"]), "robot")
    yield f'<p class="lead">{runs} of {robots}, {count(len(versions), "version")}</p>'
    yield "</header><main>"
    yield "<section><h2>What changed</h2>"
    notices = (f'<div class="notice"><p>{html(line)}</p></div>' for line in _found(document))
    yield f'<div id="notices">{"".join(notices)}</div>'
    yield from (f"<p>{html(line)}.</p>" for line in _not_found(document))
    yield "</section><section><h2>Chains over versions</h2>"
    yield (
        '<p class="lead">A dot is the geometric mean over the runs of a version, the bar holds it '
        "with 95 %, grey dots are runs, dashed lines say since when it is different.</p>"
    )
    for chain in document["chains"]:
        since = [
            change["since"]
            for change in document["changes"]
            if (change["name"], change["quantity"]) == (chain["name"], chain["quantity"])
        ]
        yield f"<h3>{html(chain['name'])}, {html(chain['quantity'])}</h3>"
        yield _chart(chain["versions"], since)
    yield "</section><section><h2>Worst runs</h2>"
    heads = ("Chain", "", "Robot", "Version", "Recording")
    rows = [
        (
            each["name"],
            f"{each['quantity']} {duration(each['value'])}",
            each["robot"],
            each["version"],
            f"takt report {shlex.quote(each['path'])}" if each["path"] else each["run"],
        )
        for each in document["worst"]
    ]
    yield table(heads, rows)
    yield "</section><section><h2>Robots</h2>"
    unlike = [each["robot"] for each in document["robots_unlike_others"]]
    yield table(
        ("Robot", "Runs", "Times unlike those of the others"),
        [(each["robot"], each["runs"], unlike.count(each["robot"])) for each in document["robots"]],
    )
    yield "</section><section><h2>Versions</h2>"
    yield table(
        ("Version", "Runs", "Since"),
        [(each["version"], each["runs"], each["first_day"]) for each in versions],
    )
    yield "</section></main>"


def _chart(versions: Sequence[Json], since: Sequence[str]) -> str:
    """A figure over versions, on an axis of time that begins at 0."""
    largest = max((max(each["values"]) for each in versions), default=1) or 1
    step = _round_step(largest / 4)
    top = step * math.ceil(largest / step)

    def x(place: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (place + 0.5) / max(1, len(versions))

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top

    parts = [f'<svg class="versions" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">']
    for tick in range(round(top / step) + 1):
        height = y(tick * step)
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height}" y2="{height}"/>'
        )
        text = html(duration(tick * step))
        parts.append(f'<text x="{LEFT - 8}" y="{height + 4}" text-anchor="end">{text}</text>')
    means = " ".join(f"{x(i):.1f},{y(each['mean']):.1f}" for i, each in enumerate(versions))
    parts.append(f'<polyline class="mean" points="{means}"/>')
    every = math.ceil(len(versions) / 12)
    for i, each in enumerate(versions):
        at = f"{x(i):.1f}"
        if each["version"] in since:
            edge = f"{x(i - 0.5):.1f}"
            parts.append(
                f'<line class="change" x1="{edge}" x2="{edge}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
            )
        parts += [
            f'<circle class="run" cx="{at}" cy="{y(value):.1f}" r="2"/>' for value in each["values"]
        ]
        if each["low"] is not None:
            low, high = y(each["low"]), y(each["high"])
            parts.append(
                f'<line class="interval" x1="{at}" x2="{at}" y1="{low:.1f}" y2="{high:.1f}"/>'
            )
        told = f"{each['version']}: {duration(each['mean'])}, {count(each['runs'], 'run')}"
        parts.append(
            f'<circle class="dot" cx="{at}" cy="{y(each["mean"]):.1f}" r="3">'
            f"<title>{html(told)}</title></circle>"
        )
        if i % every == 0:
            parts.append(
                f'<text x="{at}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
                f"{html(each['version'][:12])}</text>"
            )
    return "".join([*parts, "</svg>"])


def _round_step(least: float) -> float:
    """The next larger one of 1, 2 and 5 times a power of ten."""
    power: float = 10 ** math.floor(math.log10(max(least, 1)))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= least)
