"""What became slower, faster, new or unbounded between the bounds of two models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from takt.documents import CallbackBound, ChainBound
from takt.text.formatting import duration, printable
from takt.text.terminal import Table, show, styled


def changes(
    old: Iterable[CallbackBound | ChainBound], new: Iterable[CallbackBound | ChainBound]
) -> list[dict[str, Any]]:
    """One entry for each id of either side, those of the new side first."""
    was = {bound.id: bound for bound in old}
    now = {bound.id: bound for bound in new}
    return [_change(key, was.get(key), now.get(key)) for key in {**now, **was}]


def _change(
    key: str, old: CallbackBound | ChainBound | None, new: CallbackBound | ChainBound | None
) -> dict[str, Any]:
    before = old.bound if old else None
    after = new.bound if new else None
    in_both = old is not None and new is not None
    grew = in_both and before is not None and (after is None or after > before)
    missed = getattr(old, "met", None) is True and getattr(new, "met", None) is False
    return {
        "id": key,
        "only_in": None if in_both else "before" if old else "after",
        "before": before,
        "after": after,
        "worse": grew or missed,
    }


def print_changes(title: str, changes: list[dict[str, Any]]) -> None:
    """Prints each change on a line, and the number of unchanged entries."""
    table = Table(title=title)
    table.add_column("Id")
    for column in ("Before", "After", "Change"):
        table.add_column(column, right=True)
    for change in changes:
        before, after = change["before"], change["after"]
        if _is_unchanged(change):
            continue
        colour = "red" if change["worse"] else "green"
        table.add_row(
            printable(change["id"]),
            duration(before),
            duration(after),
            styled(_in_words(change), colour),
        )
    same = sum(map(_is_unchanged, changes))
    if table.row_count:
        show(table)
    show(f"{title}: {same} of {len(changes)} unchanged")


def _is_unchanged(change: dict[str, Any]) -> bool:
    same = change["only_in"] is None and change["before"] == change["after"]
    return same and not change["worse"]


def _in_words(change: dict[str, Any]) -> str:
    before, after = change["before"], change["after"]
    if change["only_in"] is not None:
        return f"only {change['only_in']}"
    if before == after:
        return "misses its goal now"
    if before is None or after is None:
        return "has a bound now" if before is None else "no bound any more"
    sign = "+" if after > before else "-"
    return f"{sign}{duration(abs(after - before))}"
