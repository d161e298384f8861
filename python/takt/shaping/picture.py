"""A picture of a plan, as SVG or a page: each chain's latencies before and after, and the slots."""

from __future__ import annotations

import html

from takt.documents import LatencyStatistics, ShapedChain, Shaping
from takt.formatting import count, duration, printable

WIDTH, HEIGHT = 760, 300
_LEFT, _RIGHT, _TOP, _BASE = 20, 740, 50, 240
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1b1f24 }
.title { font-size: 15px; font-weight: 600 } .quiet { fill: #57606a }
.before { fill: #b6c2cf } .after { fill: #1f6feb } .slot { fill: #1f6feb; fill-opacity: .12 }
.axis { stroke: #8c959f } .server { fill: #e7ecf1 }
"""


def svg(plan: Shaping) -> str:
    """One drawing with a row for each chain."""
    rows = [
        f'<g transform="translate(0 {number * HEIGHT})">{_row(chain)}</g>'
        for number, chain in enumerate(plan.chains)
    ]
    height = HEIGHT * len(plan.chains)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img"><style>{_STYLE}</style>{"".join(rows)}</svg>\n'
    )


def page(plan: Shaping) -> str:
    """A page without any other file: the drawing, and the numbers as tables."""
    title = f"Latency shaping of {plan.name}" if plan.name else "Latency shaping"
    body = "".join(_table(chain) for chain in plan.chains)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{_text(title)}</title>"
        "<style>body{font:14px system-ui,sans-serif;max-width:800px;margin:2em auto;color:#1b1f24}"
        "table{border-collapse:collapse;margin:0 0 2em}td,th{padding:.25em .9em;text-align:right}"
        "th:first-child,td:first-child{text-align:left}tr+tr td{border-top:1px solid #d0d7de}"
        f"</style><h1>{_text(title)}</h1>{svg(plan)}{body}</html>\n"
    )


def _row(chain: ShapedChain) -> str:
    last = max(chain.gate.slots[-1].end, chain.profile.max or 0)
    right = 1.05 * last

    def x(time: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * min(time / right, 1)

    summary = _text(_summary(chain))
    parts = [
        f'<text x="{_LEFT}" y="24" class="title">{_text(chain.id)}</text>',
        f'<text x="{_RIGHT}" y="24" text-anchor="end" class="quiet">{summary}</text>',
        *_slots(chain, x),
        *_bars(chain, x),
        f'<line class="axis" x1="{_LEFT}" x2="{_RIGHT}" y1="{_BASE}" y2="{_BASE}"/>',
    ]
    for tenth in range(6):
        time = right * tenth / 5
        parts.append(
            f'<text x="{x(time):.1f}" y="{_BASE + 18}" text-anchor="middle" class="quiet">'
            f"{_text(duration(time))}</text>"
        )
    parts.append(
        f'<text x="{_LEFT}" y="{_BASE + 40}" class="quiet">grey: latency as profiled; blue: after '
        "the gate, with the share of outputs; light blue: slots</text>"
    )
    return "".join(parts)


def _slots(chain: ShapedChain, x: object) -> list[str]:
    assert callable(x)
    return [
        f'<rect class="slot" x="{x(band.start):.1f}" y="{_TOP}" '
        f'width="{max(x(band.end) - x(band.start), 2):.1f}" height="{_BASE - _TOP}"/>'
        for band in chain.gate.slots
    ]


def _bars(chain: ShapedChain, x: object) -> list[str]:
    assert callable(x)
    height = _BASE - _TOP - 20
    bins = chain.histogram
    low, high = chain.profile.min or 0, chain.profile.max or 0
    width = (high - low) / max(len(bins), 1)
    highest = max(bins, default=1) or 1
    parts = []
    for number, size in enumerate(bins):
        left, right = x(low + number * width), x(low + (number + 1) * width)
        tall = 0.6 * height * size / highest
        parts.append(
            f'<rect class="before" x="{left:.1f}" y="{_BASE - tall:.1f}" '
            f'width="{max(right - left - 0.5, 0.5):.1f}" height="{tall:.1f}"/>'
        )
    for band in chain.gate.slots:
        tall = height * band.share
        parts.append(
            f'<rect class="after" x="{x(band.latency) - 2:.1f}" y="{_BASE - tall:.1f}" width="4" '
            f'height="{tall:.1f}"/><text x="{x(band.latency):.1f}" y="{_BASE - tall - 5:.1f}" '
            f'text-anchor="middle">{100 * band.share:.0f} %</text>'
        )
    return parts


def _summary(chain: ShapedChain) -> str:
    before, after = chain.profile, chain.after
    return (
        f"jitter {duration(before.jitter)} → {duration(after.jitter)}, "
        f"longest {duration(before.max)} → {duration(after.max)}, "
        f"mean {duration(before.mean)} → {duration(after.mean)}"
    )


def rows(chain: ShapedChain) -> list[tuple[str, LatencyStatistics]]:
    """The chain as it is, shaped, and under what it is compared with."""
    found = [("as profiled", chain.profile), ("shaped", chain.after)]
    return found + [(one.name, one.latency) for one in chain.baselines]


def _table(chain: ShapedChain) -> str:
    heads = ("", "mean", "p50", "p99.9", "longest", "jitter")
    lines = [f"<h2>{_text(chain.id)}</h2><table><tr>{''.join(f'<th>{head}' for head in heads)}"]
    for name, one in rows(chain):
        cells = (name, *map(duration, (one.mean, one.p50, one.p999, one.max, one.jitter)))
        lines.append("<tr>" + "".join(f"<td>{_text(cell)}" for cell in cells))
    lines.append(
        "</table><table><tr><th>overshoot<th>outputs<th>dropped<th>late<th>longest<th>longest gap"
    )
    for outcome in chain.overshoots:
        mark = " (chosen)" if outcome.policy == chain.gate.overshoot else ""
        cells = (
            outcome.policy + mark,
            count(outcome.count, "output"),
            str(outcome.dropped),
            str(outcome.late),
            duration(outcome.max),
            duration(outcome.longest_gap),
        )
        lines.append("<tr>" + "".join(f"<td>{_text(cell)}" for cell in cells))
    return "".join(lines) + "</table>"


def _text(text: str) -> str:
    return html.escape(printable(text))
