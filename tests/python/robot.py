"""Documents of a small robot, whole or with single fields changed, and the command line."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from takt import documents
from takt.documents import Bounds, Measurement, Model

FIXTURES = Path(__file__).parent / "fixtures"

Json = dict[str, Any]


def run_takt(
    *arguments: str | Path, stdin: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command line as users do and returns what came of it."""
    return subprocess.run(
        [sys.executable, "-m", "takt", *map(str, arguments)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=300,
        check=False,
    )


def raw(name: str) -> Json:
    """A fixture document as JSON, free to change."""
    document: Json = json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))
    return document


def changed(document: Json, *path: str | int, value: object) -> Json:
    """A copy of a document with one field set."""
    result = copy.deepcopy(document)
    target: Any = result
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    return result


def model(document: Json | None = None) -> Model:
    return documents.parse(Model, json.dumps(document or raw("model")), "model.json")


def bounds(document: Json | None = None) -> Bounds:
    return documents.parse(Bounds, json.dumps(document or raw("bounds")), "bounds.json")


def measurement(document: Json | None = None) -> Measurement:
    text = json.dumps(document or raw("measurement"))
    return documents.parse(Measurement, text, "measurement.json")
