"""The dashboard that is offered as an example asks for figures that the manager tells."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = ROOT / "docs" / "examples" / "grafana-takt.json"
METRICS = ROOT / "libtakt" / "manager" / "program" / "metrics.cpp"


def test_every_figure_of_the_dashboard_is_told_by_the_manager() -> None:
    told = set(re.findall(r'text\.family\("(\w+)"', METRICS.read_text()))
    asked: set[str] = set()
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            asked |= set(re.findall(r"takt_\w+", target["expr"]))
    assert asked
    assert asked <= told
