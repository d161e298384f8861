"""A `takt/comparison` document for people, in a terminal or as Markdown in a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from takt.documents import losses
from takt.fleet.comparison import OTHERS
from takt.fleet.statistics import FEWEST_RUNS
from takt.text.formatting import NONE, count, duration, printable, significant
from takt.text.parts import PARTS

Json = dict[str, Any]

HEADERS = ("", "What", "Before", "After", "Change", "9 of 10 runs below")
TIMES = ("p50", "p99")
WORDS = {"worse": "slower", "better": "faster", "some runs": "some runs"}
"""Of a verdict on a time. One on a share is called as it is."""


def conclusion(document: Json) -> str:
    """One line: whether something became slower, or that nobody can tell."""
    runs = document["runs"]
    sides = f"{runs['baseline']} and {runs['candidate']} runs"
    if not document["conclusive"]:
        return f"Cannot tell: {sides}; give at least {FEWEST_RUNS} of each side"
    if document["regressions"]:
        return f"{count(document['regressions'], 'regression')} ({sides})"
    detectable = document["typical_detectable"]
    usual = f"; {_percent(detectable)} in a time would usually be found" if detectable else ""
    return f"No regression beyond {100 * document['tolerance']:g} % ({sides}{usual})"


def rows(document: Json) -> list[tuple[str, ...]]:
    """A row of texts for each difference, as HEADERS; the verdict of the document is first."""
    return [
        (change["verdict"], _word(change), _what(told), *_values(told))
        for change in document["changes"]
        if change["verdict"] != "same"
        for told in ([change | robot for robot in change.get("robots", [])] or [change])
    ]


def remarks(document: Json) -> list[str]:
    """Lines below the table: why chains became slower, what is not compared, what is missing."""
    return [printable(line) for line in (*_reasons(document), *_gaps(document))]


def _reasons(document: Json) -> Iterator[str]:
    """A sentence for each chain that became slower, and for what is slow in some runs."""
    found, some = {}, []
    for change in document["changes"]:
        number, runs = change["slow_runs"], document["runs"]["candidate"]
        if change["verdict"] != "same" and 1 < number < runs / 2:
            some.append(
                f"{_what(change)}: far above all of the baseline in {number} of {runs} runs"
            )
        if causes := change.get("causes"):
            robots = " and ".join(robot["robot"] for robot in change.get("robots", []))
            where = f" on {robots} alone" if robots else ""
            found[change["id"], robots] = f"{change['id']}{where}: {in_words(causes)}"
    yield from (*found.values(), *some)


def _gaps(document: Json) -> Iterator[str]:
    if document["conclusive"]:
        for each in document["not_compared"]:
            yield (
                f"Not compared: {each['kind']} {each['id']} is in {each['baseline']} and "
                f"{count(each['candidate'], 'run')}"
            )
    if both := document["on_both_sides"]:
        others = f" and {count(len(both) - 1, 'other')}" if len(both) > 1 else ""
        yield f"On both sides: {both[0]}{others}"
    for side in ("baseline", "candidate"):
        yield from _lacks(side, document["losses"][side], document["runs"][side])
        for line in document.get("left_out", {}).get(side, []):
            yield f"Left out of the {side}: {line}"


def _lacks(side: str, lacking: Json, runs: int) -> Iterator[str]:
    told = []
    if lacking["runs"]:
        names = lacking["recordings"]
        such = f" ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})" if names else ""
        told.append(f"{losses.in_words(lacking['lost'])} in {lacking['runs']} of {runs} runs{such}")
    if warnings := lacking["warnings"]:
        first, number = next(iter(warnings.items()))
        others = f" (and {count(len(warnings) - 1, 'other warning')})" if len(warnings) > 1 else ""
        told.append(f"{first}, in {number} of {runs} runs{others}")
    if told:
        yield f"Missing in the {side}: {'; '.join(told)}"


def markdown(document: Json) -> str:
    """The same for a pull request."""
    lines = [f"### {conclusion(document)}", ""]
    if table := rows(document):
        lines += [_line(HEADERS), _line(["---"] * len(HEADERS))]
        lines += [_line([_escaped(cell) for cell in row[1:]]) for row in table]
        lines.append("")
    lines += [f"- {_escaped(line)}" for line in remarks(document)]
    return "\n".join(lines).rstrip() + "\n"


def _line(cells: Any) -> str:
    return "| " + " | ".join(cells) + " |"


def _escaped(text: str) -> str:
    """A text from anywhere that Markdown and HTML leave as it is."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{c}" if c in "\\`*_[]|#!~@>" else c for c in text)


def _what(change: Json) -> str:
    robot = f", on {change['robot']} alone" if "robot" in change else ""
    return printable(f"{change['kind']} {change['id']}, {change['quantity']}{robot}")


def _word(change: Json) -> str:
    """The verdict in a word."""
    if change["quantity"] == "present":
        return "rarer" if change["verdict"] == "worse" else "more often"
    return WORDS[change["verdict"]] if change["quantity"] in TIMES else str(change["verdict"])


def _values(change: Json) -> tuple[str, str, str, str]:
    ends = ("before", "after", "outer_before", "outer_after")
    if change["quantity"] in TIMES:
        before, after, *outer = (duration(change[name]) for name in ends)
        grown, low, high = (ratio(change[name]) for name in ("growth", "low", "high"))
        return before, after, f"{grown} ({low} to {high})", " → ".join(outer)
    before, after, *_ = (f"{significant(100 * change[name])} %" for name in ends)
    grown, low, high = (f"{100 * change[name]:+.1f}" for name in ("growth", "low", "high"))
    return before, after, f"{grown} points ({low} to {high})", NONE


def _percent(share: float) -> str:
    return f"{significant(100 * share)} %"


def ratio(growth: float) -> str:
    """ "+25 %"; what is ten times as large is said as "×12"."""
    if growth >= 9:
        return f"×{significant(1 + growth)}" if growth < 1e6 else "×1000000 or more"
    return ("-" if growth < 0 else "+") + _percent(abs(growth))


def _signed(nanoseconds: float) -> str:
    return ("-" if nanoseconds < 0 else "+") + duration(abs(nanoseconds))


def in_words(causes: list[Json]) -> str:
    """The largest causes, and what the others come to."""
    named = [cause for cause in causes if cause["kind"] != OTHERS][:3]
    rest = sum(cause["growth"] for cause in causes) - sum(cause["growth"] for cause in named)
    return "; ".join([*map(_cause, named), f"all else {_signed(rest)}"])


def _cause(cause: Json) -> str:
    place = cause["callback"] or "a callback"
    kind = str(cause["kind"])
    text = f"{place} {PARTS.get(kind, kind)} {_signed(cause['growth'])}"
    if cause["behind"]:
        text += f", behind {cause['behind']}"
        text += ", which was not there" if cause["behind_is_new"] else ""
    return text
