"""What would guarantee a goal, in words: `needs` of a chain in takt/budget and takt/status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from takt.text.formatting import count, duration


def words(needs: Mapping[str, Any] | None, names: Mapping[str, str]) -> str:
    """Each change that is enough by itself; empty: none is known. `names`: of callbacks by their
    ids, which are shown otherwise.
    """
    if not needs:
        return ""
    found = []
    if needs["cores"]:
        found.append(f"with {count(needs['cores'], 'core')}")
    if needs["goal"]:
        found.append(f"with a goal of at least {duration(needs['goal'])}")
    verbs = {
        "execution_time": "ran at most",
        "suspension": "slept or waited at most",
        "period": "was activated every",
    }
    for kind, verb in verbs.items():
        if change := needs.get(kind):
            callback = names.get(change["callback"], change["callback"])
            new, old = duration(change["to"]), duration(change["from"])
            found.append(
                f"if {callback} {verb} {new} instead of {old}"
                if change["to"]
                else f"if {callback} did not sleep or wait for {old}"
            )
    if needs["all_execution_times_percent"]:
        shorter = 100 - needs["all_execution_times_percent"]
        found.append(f"if all callbacks that it depends on ran {shorter} % shorter")
    return "possible " + ", or ".join(found) if found else ""
