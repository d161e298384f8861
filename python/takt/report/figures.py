"""The report's charts as plotly specifications.

Colours are names of the style sheet's custom properties ("--accent"); the page's script replaces
them, so that a chart follows the reader's light or dark scheme. Names are escaped: plotly reads
text as HTML.
"""

from __future__ import annotations

import bisect
import html
from typing import Any

from takt.documents import Bounds, Instance, MeasuredChain, Measurement, Model, Statistics
from takt.formatting import duration, printable
from takt.report.graph import short

Figure = dict[str, Any]

MILLISECOND = 1e6
BINS = 48
ROW_HEIGHT = 19
"""Pixels of a callback's row."""


def latency(measured: MeasuredChain, bound: int | None, goal: int | None) -> Figure:
    """The distribution of a chain's latency, with its maximum, bound and goal as lines."""
    lines = [
        ("max", measured.max, "--ink", "solid"),
        ("bound", bound, "--accent", "solid"),
        ("goal", goal, "--goal", "dash"),
    ]
    present = [
        (name, value, colour, dash) for name, value, colour, dash in lines if value is not None
    ]
    right = max((value for _, value, _, _ in present), default=1) / MILLISECOND
    centres, shares, width = _histogram(measured.samples)
    return {
        "data": [
            {
                "type": "bar",
                "x": centres,
                "y": shares,
                "width": width,
                "marker": {"color": "--bar", "line": {"width": 0}},
                "hovertemplate": "%{x:.3g} ms: %{y:.1f} %<extra></extra>",
            }
        ],
        "layout": {
            "height": 215,
            "margin": {"l": 44, "r": 14, "t": 52, "b": 36},
            "bargap": 0,
            "xaxis": {"title": {"text": "ms"}, "range": [0, 1.05 * right], "zeroline": True},
            "yaxis": {"title": {"text": "% of messages"}, "rangemode": "tozero", "nticks": 4},
            "shapes": [
                {
                    "type": "line",
                    "yref": "paper",
                    "y0": 0,
                    "y1": 1,
                    "x0": value / MILLISECOND,
                    "x1": value / MILLISECOND,
                    "line": {"color": colour, "width": 1.5, "dash": dash},
                }
                for _, value, colour, dash in present
            ],
            # Each label has a height of its own: lines close together stay readable.
            "annotations": [
                {
                    "yref": "paper",
                    "y": 1,
                    "yanchor": "bottom",
                    "yshift": 14 * row,
                    "x": value / MILLISECOND,
                    "showarrow": False,
                    "xanchor": "right" if value / MILLISECOND > 0.5 * right else "left",
                    "text": f"{name} {duration(value)}",
                    "font": {"color": colour, "size": 11},
                }
                for row, (name, value, colour, _) in enumerate(present)
            ],
        },
    }


def callbacks(model: Model, bounds: Bounds, measurement: Measurement) -> Figure | None:
    """Execution times against ET(1), and response times against bounds, one row per callback that
    ran.
    """
    measured = {entry.id: entry for entry in measurement.callbacks if entry.count > 0}
    bound_of = {entry.id: entry.bound for entry in bounds.callbacks}
    shown = [
        c
        for e in model.executors
        for c in model.callbacks
        if c.executor == e.id and c.id in measured
    ]
    if not shown:
        return None
    names = _row_names(model)
    rows = [names[callback.id] for callback in shown]
    hues = _hues(model)
    colours = [hues[callback.executor] for callback in shown]
    curves = [
        c.execution_time.curve[0] / MILLISECOND if c.execution_time.curve else None for c in shown
    ]
    limits = [None if (b := bound_of.get(c.id)) is None else b / MILLISECOND for c in shown]
    execution = [measured[callback.id].execution_time for callback in shown]
    response = [measured[callback.id].response_time for callback in shown]
    return {
        "data": [
            *_boxes(rows, execution, colours, "x"),
            _limit_marks(rows, curves, "x", "ET(1)", "--ink"),
            *_boxes(rows, response, colours, "x2"),
            _limit_marks(rows, limits, "x2", "bound", "--accent"),
        ],
        "layout": {
            "height": 56 + ROW_HEIGHT * len(rows),
            "margin": {"l": 10, "r": 14, "t": 8, "b": 44},
            "boxgap": 0.45,
            "xaxis": {
                "title": {"text": "execution time, ms"},
                "domain": [0, 0.47],
                "rangemode": "tozero",
            },
            "xaxis2": {
                "title": {"text": "response time, ms (log)"},
                "domain": [0.53, 1],
                "type": "log",
                "dtick": 1,
                "showgrid": True,
            },
            "yaxis": _rows_axis(rows),
            "showlegend": False,
        },
    }


def timeline(model: Model, measurement: Measurement) -> Figure | None:
    """When the callbacks of each executor waited and ran."""
    instances = measurement.timeline
    if not instances:
        return None
    origin = min(i.start if i.activation is None else i.activation for i in instances)
    names = _row_names(model)
    hues = _hues(model)
    seen = {instance.callback for instance in instances}
    order = [
        c.id
        for e in model.executors
        for c in model.callbacks
        if c.executor == e.id and c.id in seen
    ]
    known = [instance for instance in instances if instance.callback in names]
    waiting = [i for i in known if i.activation is not None and i.activation < i.start]
    return {
        "data": [
            _bars(waiting, names, origin, 0.18, "--waiting", "waited"),
            _bars(known, names, origin, 0.66, hues, "ran"),
        ],
        "layout": {
            "height": 56 + ROW_HEIGHT * len(order),
            "margin": {"l": 10, "r": 14, "t": 8, "b": 44},
            "barmode": "overlay",
            "xaxis": {"title": {"text": "ms"}, "showgrid": True},
            "yaxis": _rows_axis([names[callback] for callback in order]),
            "showlegend": False,
        },
    }


def _rows_axis(rows: list[str]) -> Figure:
    """One row for each name, from the top down."""
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": rows,
        "range": [len(rows) - 0.4, -0.6],
        "automargin": True,
        "fixedrange": True,
        "showgrid": True,
        "ticks": "",
    }


def _bars(
    instances: list[Instance],
    names: dict[str, str],
    origin: int,
    width: float,
    colour: str | dict[str, str],
    verb: str,
) -> Figure:
    """Horizontal bars: from activation to start if they "waited", from start to end if they
    "ran".
    """

    def span(instance: Instance) -> tuple[int, int]:
        if verb == "waited" and instance.activation is not None:
            return instance.activation, instance.start
        return instance.start, instance.end

    spans = [span(instance) for instance in instances]
    colours = colour if isinstance(colour, str) else [colour[i.executor] for i in instances]
    return {
        "type": "bar",
        "orientation": "h",
        "y": [names[instance.callback] for instance in instances],
        "base": [(start - origin) / MILLISECOND for start, _ in spans],
        "x": [(end - start) / MILLISECOND for start, end in spans],
        "width": width,
        # The outline keeps instances of a microsecond visible.
        "marker": {"color": colours, "line": {"width": 1, "color": colours}},
        "customdata": [duration(end - start) for start, end in spans],
        "hovertemplate": f"%{{y}}<br>{verb} %{{customdata}} from %{{base:.3f}} ms<extra></extra>",
    }


def _boxes(
    rows: list[str], statistics: list[Statistics], colours: list[str], axis: str
) -> list[Figure]:
    """Boxes from the first to the third quartile, whiskers from the minimum to the maximum."""
    return [
        {
            "type": "box",
            "orientation": "h",
            "xaxis": axis,
            "y": [row],
            **{name: [value / MILLISECOND] for name, value in quartiles.items()},
            "line": {"color": colour, "width": 1.2},
            "fillcolor": colour + "-soft",
            "hoverinfo": "x",
            "width": 0.55,
        }
        for row, values, colour in zip(rows, statistics, colours, strict=True)
        if (quartiles := _quartiles(values))
    ]


def _quartiles(statistics: Statistics) -> dict[str, int] | None:
    if statistics.min is None or statistics.max is None:
        return None
    ordered = sorted(statistics.samples) or [statistics.min, statistics.max]

    def quantile(share: float) -> int:
        return ordered[round(share * (len(ordered) - 1))]

    return {
        "lowerfence": statistics.min,
        "q1": quantile(0.25),
        "median": quantile(0.5),
        "q3": quantile(0.75),
        "upperfence": statistics.max,
    }


def _limit_marks(
    rows: list[str], values: list[float | None], axis: str, what: str, colour: str
) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "xaxis": axis,
        "x": values,
        "y": rows,
        "marker": {"symbol": "line-ns", "size": 13, "line": {"width": 2, "color": colour}},
        "hovertemplate": f"%{{y}}<br>{what} %{{x:.3~g}} ms<extra></extra>",
    }


def _row_names(model: Model) -> dict[str, str]:
    """A distinct name for each callback's row."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for callback in model.callbacks:
        node = (callback.node or callback.name or callback.id).lstrip("/")
        name = (
            f"{short(node)} ← {short(callback.topic)}"
            if callback.topic
            else f"{short(node)} ({callback.kind})"
        )
        if name in taken:
            name += f" [{short(callback.id)}]"
        taken.add(name)
        names[callback.id] = html.escape(printable(name))
    return names


def _hues(model: Model) -> dict[str, str]:
    return {executor.id: f"--hue{i % 8}" for i, executor in enumerate(model.executors)}


def _histogram(samples: tuple[int, ...]) -> tuple[list[float], list[float], float]:
    """Centres of the bins and their width in milliseconds, and the share of each in per cent."""
    if not samples:
        return [], [], 1.0
    low, high = min(samples), max(samples)
    width = max(1, -(-(high - low + 1) // BINS))
    starts = [low + i * width for i in range(BINS)]
    counts = [0] * BINS
    for sample in samples:
        counts[bisect.bisect_right(starts, sample) - 1] += 1
    centres = [(start + width / 2) / MILLISECOND for start in starts]
    return centres, [100 * n / len(samples) for n in counts], width / MILLISECOND
