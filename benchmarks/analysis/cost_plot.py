"""Draws what bounds cost by the size of the model.

build/benchmark/benchmarks/analysis_benchmark --costs >costs.csv
python benchmarks/analysis/cost_plot.py costs.csv docs/images/analysis-costs.svg
"""

import csv
import math
import sys
from collections import defaultdict
from pathlib import Path

COLOURS = {
    "single_threaded": "#0969da",
    "multi_threaded": "#cf222e",
    "events": "#1a7f37",
    "fixed_priority": "#9a6700",
    "edf": "#8250df",
    "chain_priority": "#bf3989",
    "graph_aware": "#1b7c83",
}
PANEL_WIDTH, PANEL_HEIGHT, COLUMNS = 250, 200, 3
LEFT, TOP, GAP_X, GAP_Y = 56, 40, 44, 68
SIZES = (10, 10_000)
TIMES = (0.01, 10_000)  # ms
THIN_SPACE = "\u2009"
STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#1b1f24}.title{font-size:13px;font-weight:600}"
    "line{stroke:#d0d7de}polyline{fill:none;stroke-width:1.5}.near{stroke-dasharray:5 3}"
)

Lines = dict[tuple[str, str], list[tuple[float, float]]]


def read(path: Path) -> dict[str, Lines]:
    """The lines of each structure's panel: for a kind of executor and a utilisation, how many
    milliseconds so many callbacks took.
    """
    panels: dict[str, Lines] = defaultdict(lambda: defaultdict(list))
    with path.open() as file:
        for row in csv.DictReader(file):
            line = panels[row["structure"]][row["kind"], row["utilisation"]]
            line.append((float(row["callbacks"]), float(row["ms"])))
    return panels


def share(value: float, limits: tuple[float, float]) -> float:
    low, high = (math.log10(limit) for limit in limits)
    return (math.log10(max(value, limits[0])) - low) / (high - low)


def powers(limits: tuple[float, float]) -> list[float]:
    first, last = (round(math.log10(limit)) for limit in limits)
    return [10.0**exponent for exponent in range(first, last + 1)]


def label(ms: float) -> str:
    return f"{ms / 1000:g} s" if ms >= 1000 else f"{ms:g} ms" if ms >= 1 else f"{ms * 1000:g} µs"


def panel(title: str, lines: Lines, left: float, top: float) -> list[str]:
    def x(size: float) -> float:
        return left + share(size, SIZES) * PANEL_WIDTH

    def y(ms: float) -> float:
        return top + (1 - share(ms, TIMES)) * PANEL_HEIGHT

    bottom, right = top + PANEL_HEIGHT, left + PANEL_WIDTH
    parts = [f'<text x="{left}" y="{top - 8}" class="title">{title}</text>']
    for size in powers(SIZES):
        parts.append(f'<line x1="{x(size):.0f}" y1="{top}" x2="{x(size):.0f}" y2="{bottom}"/>')
        parts.append(
            f'<text x="{x(size):.0f}" y="{bottom + 14}" text-anchor="middle">'
            f"{f'{size:,.0f}'.replace(',', THIN_SPACE)}</text>"
        )
    middle = (left + right) / 2
    parts.append(f'<text x="{middle:.0f}" y="{bottom + 30}" text-anchor="middle">callbacks</text>')
    for ms in powers(TIMES):
        parts.append(f'<line x1="{left}" y1="{y(ms):.0f}" x2="{right}" y2="{y(ms):.0f}"/>')
        if left < LEFT + 1:
            parts.append(
                f'<text x="{left - 5}" y="{y(ms) + 4:.0f}" text-anchor="end">{label(ms)}</text>'
            )
    for (kind, utilisation), points in lines.items():
        near = ' class="near"' if utilisation == "99" else ""
        path = " ".join(f"{x(size):.1f},{y(ms):.1f}" for size, ms in points)
        parts.append(f'<polyline points="{path}" stroke="{COLOURS[kind]}"{near}/>')
    return parts


def legend(left: float, top: float) -> list[str]:
    entries = [(f'stroke="{colour}"', kind) for kind, colour in COLOURS.items()]
    entries.append(('stroke="#57606a"', "half of each processor"))
    entries.append(('stroke="#57606a" class="near"', "99 % of each processor"))
    parts = []
    for n, (style, text) in enumerate(entries):
        y = top + 12 + 20 * n
        parts.append(f'<polyline points="{left},{y} {left + 28},{y}" {style}/>')
        parts.append(f'<text x="{left + 36}" y="{y + 4}">{text}</text>')
    return parts


def draw(panels: dict[str, Lines]) -> str:
    def place(n: int) -> tuple[float, float]:
        row, column = divmod(n, COLUMNS)
        return LEFT + column * (PANEL_WIDTH + GAP_X), TOP + row * (PANEL_HEIGHT + GAP_Y)

    parts = []
    for n, (structure, lines) in enumerate(panels.items()):
        parts += panel(structure, lines, *place(n))
    parts += legend(*place(len(panels)))
    width = LEFT + COLUMNS * (PANEL_WIDTH + GAP_X)
    height = TOP + (len(panels) // COLUMNS + 1) * (PANEL_HEIGHT + GAP_Y)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img"><style>{STYLE}</style>'
        f'<rect width="{width}" height="{height}" fill="#fff"/>' + "".join(parts) + "</svg>\n"
    )


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(draw(read(Path(sys.argv[1]))))
