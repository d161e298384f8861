"""Runs of `takt record`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent / "programs"
TAKT = [sys.executable, "-m", "takt"]


@dataclass(frozen=True)
class Run:
    """A command that was recorded."""

    backend: str
    trace: Path
    document: dict[str, Any]
    """What `takt record --json` said."""
    output: str
    """What the command printed."""

    @staticmethod
    def of(
        trace: Path,
        command: Sequence[str],
        *,
        backend: str = "lttng",
        text: str = "",
        options: Sequence[str] = (),
    ) -> Run:
        """Records a command that ends by itself, with status 0."""
        printed = trace.with_suffix(".output")
        inner = ["sh", "-c", 'out=$1; shift; exec "$@" > "$out"', "sh", str(printed), *command]
        done = subprocess.run(
            [
                *(*TAKT, "record", "--json", "--backend", backend),
                *("-o", str(trace), *options, "--", *inner),
            ],
            input=text,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return Run(backend, trace, json.loads(done.stdout), printed.read_text())
