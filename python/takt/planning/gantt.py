"""A Gantt chart in characters: a line per callback, running over waiting over nothing."""

from __future__ import annotations

from collections.abc import Sequence

from takt.documents import Callback, Instance, Model
from takt.documents.names import label
from takt.text.formatting import duration, printable

MOST_INSTANCES = 5000
"""More do not fit into one chart."""

RUNNING = "█"
WAITING = "░"

_LONGEST_LABEL = 40
_PERIODS = 2


def chart(model: Model, timeline: Sequence[Instance], width: int) -> str:
    """The chart of the first instances: two periods of the slowest periodic callback."""
    end = _end(model, timeline)
    shown = [callback for callback in model.callbacks if _runs_before(end, callback, timeline)]
    if not shown:
        return "Nothing ran."
    labels = [printable(label(callback))[:_LONGEST_LABEL] for callback in shown]
    indent = max(map(len, labels)) + 1
    columns = max(width - indent - 1, 10)
    lines = [f"{'':{indent}}0{duration(end):>{columns - 1}}"]
    for callback, name in zip(shown, labels, strict=True):
        cells = [" "] * columns
        for instance in timeline:
            if instance.callback == callback.id and instance.start < end:
                activation = instance.start if instance.activation is None else instance.activation
                _fill(cells, WAITING, activation, instance.start, end)
                _fill(cells, RUNNING, instance.start, instance.end, end)
        lines.append(f"{name:{indent}}{''.join(cells).rstrip()}")
    return "\n".join(lines)


def _end(model: Model, timeline: Sequence[Instance]) -> int:
    last = max((instance.end for instance in timeline), default=1)
    periods = [
        callback.activation.period
        for callback in model.callbacks
        if callback.activation is not None and callback.activation.period
    ]
    return min(last, _PERIODS * max(periods)) if periods else last


def _runs_before(end: int, callback: Callback, timeline: Sequence[Instance]) -> bool:
    return any(i.callback == callback.id and i.start < end for i in timeline)


def _fill(cells: list[str], mark: str, start: int, stop: int, end: int) -> None:
    """Marks the cells that [start, stop) touches; running hides waiting, and a cell is never
    unmarked, so that the shortest instance is seen.
    """
    if stop <= start:
        return
    first = start * len(cells) // end
    last = min(-(-stop * len(cells) // end), len(cells))
    for cell in range(first, last):
        if cells[cell] != RUNNING:
            cells[cell] = mark
