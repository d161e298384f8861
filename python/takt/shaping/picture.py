"""A picture of a plan, as SVG or a page: each chain's latencies before and after, and the slots."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass

from takt.documents import LatencyStatistics, ShapedChain, Shaping
from takt.text.formatting import count, duration, printable

WIDTH, HEIGHT = 800, 400
_LEFT, _RIGHT, _TOP, _MIDDLE, _BASE = 60, 770, 44, 180, 330
_LABEL = 46
"""The width of a label."""
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1b1f24 }
.title { font-size: 15px; font-weight: 600 } .quiet { fill: #57606a }
.before0 { fill: #8c959f } .before1 { fill: #57606a } .after { fill: #1f6feb }
.band0 { fill: #f6f8fa } .band1 { fill: #eaeef2 } .slot { fill: #1f6feb; fill-opacity: .3 }
.axis { stroke: #8c959f }
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
    shown = _Axis.of(chain)
    summary = _text(_summary(chain))
    parts = [
        f'<text x="{_LEFT}" y="24" class="title">{_text(chain.id)}</text>',
        f'<text x="{_RIGHT}" y="24" text-anchor="end" class="quiet">{summary}</text>',
        *_bands(chain, shown),
        *_before(chain, shown),
        *_after(chain, shown),
    ]
    for base, name in ((_MIDDLE, "before"), (_BASE, "after")):
        parts.append(f'<line class="axis" x1="{_LEFT}" x2="{_RIGHT}" y1="{base}" y2="{base}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{base}" text-anchor="end">{name}</text>')
    parts += [
        f'<text x="{shown.x(time):.1f}" y="{_BASE + 18}" text-anchor="middle" class="quiet">'
        f"{_text(duration(time))}</text>"
        for time in shown.ticks()
    ]
    parts.append(
        f'<text x="{_LEFT}" y="{_BASE + 40}" class="quiet">What is ready within a band leaves in '
        "the slot at its end; above each slot the latency and the share of outputs.</text>"
    )
    return "".join(parts)


@dataclass(frozen=True)
class _Axis:
    """From before the shortest latency until after the last slot, in round steps."""

    first: int
    last: float
    step: int

    @classmethod
    def of(cls, chain: ShapedChain) -> _Axis:
        low = min(chain.profile.min or 0, chain.gate.slots[0].start)
        high = max(chain.gate.slots[-1].latency, chain.gate.slots[-1].end, chain.profile.max or 0)
        step = _round_step((high - low) / 4)
        return cls(low // step * step, high + 0.08 * (high - low // step * step), step)

    def x(self, time: float) -> float:
        share = (time - self.first) / max(self.last - self.first, 1)
        return _LEFT + (_RIGHT - _LEFT) * min(max(share, 0), 1)

    def ticks(self) -> range:
        return range(self.first, int(self.last) + 1, self.step)


def _round_step(about: float) -> int:
    """1, 2 or 5 times a power of ten, at most that."""
    power = int(10 ** max(len(str(int(about))) - 1, 0))
    return next((n * power for n in (5, 2) if n * power <= about), power)


def _band_of(chain: ShapedChain, time: float) -> int:
    """The number of the slot in which an output leaves that is ready then."""
    slots = chain.gate.slots
    ready_for = (band.end - chain.gate.publish_time for band in slots)
    return next((n for n, last in enumerate(ready_for) if time <= last), len(slots) - 1)


def _bands(chain: ShapedChain, shown: _Axis) -> list[str]:
    """The background: each band up to its slot, and the slot."""
    parts = []
    left = shown.x(shown.first)
    for number, band in enumerate(chain.gate.slots):
        right = shown.x(band.end - chain.gate.publish_time)
        parts.append(
            f'<rect class="band{number % 2}" x="{left:.1f}" y="{_TOP}" '
            f'width="{max(right - left, 0):.1f}" height="{_BASE - _TOP}"/>'
        )
        width = max(shown.x(band.end) - shown.x(band.start), 2)
        parts.append(
            f'<rect class="slot" x="{shown.x(band.start):.1f}" y="{_TOP}" width="{width:.1f}" '
            f'height="{_BASE - _TOP}"/>'
        )
        left = right
    return parts


def _before(chain: ShapedChain, shown: _Axis) -> list[str]:
    bins = chain.histogram
    low, high = chain.profile.min or 0, chain.profile.max or 0
    width = (high - low) / max(len(bins), 1)
    highest = max(bins, default=1) or 1
    parts = []
    for number, size in enumerate(bins):
        left, right = (shown.x(low + (number + more) * width) for more in (0, 1))
        tall = 0.9 * (_MIDDLE - _TOP) * size / highest
        shade = _band_of(chain, low + (number + 0.5) * width) % 2
        parts.append(
            f'<rect class="before{shade}" x="{left:.1f}" y="{_MIDDLE - tall:.1f}" '
            f'width="{max(right - left - 0.5, 0.5):.1f}" height="{tall:.1f}"/>'
        )
    return parts


def _after(chain: ShapedChain, shown: _Axis) -> list[str]:
    height = (_BASE - _MIDDLE - 40) / (max(band.share for band in chain.gate.slots) or 1)
    parts = []
    last = -math.inf
    for band in chain.gate.slots:
        x, tall = shown.x(band.latency), height * band.share
        parts.append(
            f'<rect class="after" x="{x - 2:.1f}" y="{_BASE - tall:.1f}" width="4" '
            f'height="{tall:.1f}"/>'
        )
        # Labels of slots that are close would cover each other.
        if x - last < _LABEL:
            continue
        last = x
        for line, text in enumerate((duration(band.latency), f"{100 * band.share:.0f} %")):
            parts.append(
                f'<text x="{x:.1f}" y="{_BASE - tall - 19 + 14 * line:.1f}" '
                f'text-anchor="middle">{_text(text)}</text>'
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
