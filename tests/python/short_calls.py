"""A short call of every command, and what came of it: it works, or says what it lacks."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from takt import cli
from takt.live import bridging

ROOT = Path(__file__).resolve().parents[2]
RECORDING = ROOT / "tests" / "recordings" / "pipeline-lttng.tar.xz"
MODEL = ROOT / "models" / "pipeline.json"
PLAN = Path(__file__).with_name("fixtures") / "shaping.json"
CHAIN: str = json.loads(MODEL.read_text())["chains"][0]["id"]

NOBODY = {
    "snapshot": "takt: no snapshot recording runs: ",
    "status": "takt: /run/takt/manager.sock: no takt manage of this user runs",
}
"""What these say where there is nobody whom they could ask."""

BRIDGE = """
key: {key}
hosts:
  a: {{address: 127.0.0.1, port: 7510}}
  b: {{address: 127.0.0.1, port: 7520}}
topics:
  - {{topic: /scan, from: a}}
"""

Done = subprocess.CompletedProcess[str]


def calls(folder: Path) -> dict[str, list[str]]:
    """Arguments with which each command does what it is for, in `folder`. Minutes are left out:
    those of a demo with a load, and of an experiment.
    """
    key, bridge, goals = folder / "bridge.key", folder / "bridge.yaml", folder / "goals.yaml"
    bridging.make_key(str(key))
    bridge.write_text(BRIDGE.format(key=key))
    goals.write_text("chains:\n  - {name: c, from: /scan, to: /cmd_vel, latency: 1s}\n")
    recording, model = str(RECORDING), str(MODEL)
    found = {
        "analyze": [model],
        "bridge": [str(bridge), "--host", "a", "--duration", "1"],
        "budget": [model],
        "compare": [recording, recording],
        "completion": ["bash"],
        "demo": ["--duration", "3", "--no-manage", "-o", str(folder / "demo")],
        "diff": [model, model],
        "doctor": [],
        "experiment": ["--list"],
        "export": [recording, "--format", "perfetto", "-o", str(folder / "trace.pftrace")],
        "fleet": ["add", str(folder / "store"), recording],
        "flow": [recording],
        "generate": ["--seed", "1", "-o", str(folder / "random.json")],
        "graph": [model, "-o", str(folder / "graph.dot")],
        "handoff": [str(ROOT / "docs" / "examples" / "cubic.yaml")],
        "help": [],
        "info": [recording],
        "latency": [recording],
        "man": [],
        "manage": ["--goals", str(goals), "--duration", "1", "--dry-run"],
        "model": [recording, "-o", str(folder / "model.json")],
        "plan": [model, "--executor", "edf", "-o", "-"],
        "record": ["--backend", "ring", "-o", str(folder / "trace"), "--", "true"],
        "report": [recording, "-o", str(folder / "page.html")],
        "run": [model, "--duration", "1"],
        "serve": [recording, "--cache", str(folder / "cache")],
        "shape": [
            model,
            "--chain",
            CHAIN,
            "--topic",
            "/out",
            "--cycles",
            "50",
            "-o",
            str(folder / "plan.json"),
        ],
        "apply": [str(PLAN), "--duration", "1"],
        "share": ["--status"],
        "simulate": [model],
        "snapshot": [],
        "summarize": [recording, "-o", str(folder / "summary.json")],
        "status": [],
        "watch": ["--duration", "1"],
    }
    assert found.keys() == cli.commands().keys()
    return found


def run(takt: Sequence[str], *arguments: str, cwd: Path, environment: Mapping[str, str]) -> Done:
    """Runs a command to its end. `takt serve` is told to end when it has said where its page is."""
    with subprocess.Popen(
        [*takt, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=environment,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline() if arguments[:1] == ("serve",) else ""
        if first:
            process.send_signal(signal.SIGINT)
        output, errors = process.communicate()
    return Done(process.args, process.returncode, first + output, errors)


def faults(run: Callable[..., Done], folder: Path, says: Callable[[str], bool]) -> list[str]:
    """Calls every command by `run(name, *arguments)`; returns a line on each that neither worked
    nor ended with status 2 and one line that `says` accepts, which tells how to get what it lacks.
    """
    wrong = []
    for name, arguments in calls(folder).items():
        done = run(name, *arguments)
        refuses = done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1
        nobody = name in NOBODY and done.stderr.startswith(NOBODY[name])
        works = done.returncode in (0, 1) and "Traceback" not in done.stderr
        if not works and not (refuses and (nobody or says(done.stderr))):
            wrong.append(f"{name}: status {done.returncode}: {done.stderr}")
    return wrong
