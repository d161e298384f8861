"""The `takt/reproduction` document, and where and when its figures were made."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from takt import __version__
from takt.reproduction.judged import JudgedDocument, JudgedLine
from takt.reproduction.runs import Result
from takt.trials import experiments

Json = dict[str, Any]


def origin(full: bool, times: int) -> Json:
    """When, of which commit, and on what the experiments ran."""
    return {
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "takt": __version__,
        "commit": _commit(),
        "processors": os.cpu_count(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "full": full,
        "runs": times,
    }


def _commit() -> str | None:
    """The commit of the source tree, with "+" if something was changed since; None: no Git."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(experiments.ROOT), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = "+" if git("status", "--porcelain", "--untracked-files=no") else ""
        return git("rev-parse", "--short=12", "HEAD") + changed
    except (OSError, subprocess.CalledProcessError):
        return None


def document(told: Json, judged: Sequence[JudgedDocument], results: Sequence[Result]) -> Json:
    return {
        "format": "takt/reproduction",
        "version": 1,
        "provenance": told,
        "experiments": [
            {
                "name": result.experiment.name,
                "title": result.experiment.title,
                "failure": result.failure or None,
                "full": result.full,
                "seconds": round(result.seconds, 1),
                "noise": [vars(noise) for noise in result.noise],
            }
            for result in results
        ],
        "documents": [
            {
                "id": each.document.id,
                "author": each.document.author,
                "title": each.document.title,
                "year": each.document.year,
                "items": [
                    {
                        "item": item.item.name,
                        "what": item.item.what,
                        "kind": item.item.kind.value,
                        "experiment": item.item.experiment or None,
                        "verdict": item.verdict.value if item.verdict else None,
                        "why": item.why or None,
                        "rows": [_line(line) for line in item.lines],
                        "drawn": [
                            {
                                "what": line.what,
                                "unit": line.unit,
                                "samples": line.samples,
                                "spans": line.spans,
                            }
                            for line in item.drawn
                        ],
                    }
                    for item in each.items
                ],
                "claims": [_line(line) for line in each.claims],
                "unknown_places": list(each.unknown),
            }
            for each in judged
        ],
    }


def _line(each: JudgedLine) -> Json:
    line = each.line
    numbers = line.numbers
    return {
        "what": line.what,
        "published": line.published,
        "meaning": line.meaning,
        "place": line.place,
        "ours": line.ours,
        "unit": line.unit,
        "range": [min(numbers), max(numbers)] if len(numbers) > 1 else None,
        "cannot": line.cannot or None,
        "verdict": each.verdict.value,
    }
