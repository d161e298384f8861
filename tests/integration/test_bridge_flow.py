"""Recordings of two hosts that takt bridge joins: flows go through the bridges, and the hop between
them is told as sending, wire and receiving.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from bridged import HOSTS, End, Json, namespaces_of_experiment, needs_hosts, write_files
from recording import TAKT

COUNT = 30
# Runs a bridge beside a command until the command ends.
TOGETHER = '$TAKT_BRIDGE >/dev/null & bridge=$!; "$@"; kill -TERM $bridge; wait $bridge'


def _recorded(namespace: str, folder: Path, host: str) -> End:
    """A node beside its host's bridge, both recorded in folder/host."""
    bridge = " ".join([*TAKT, "bridge", str(folder / "bridge.yaml"), "--host", host])
    record = [*TAKT, "record", "--backend", "ring", "-o", str(folder / host), "--"]
    named = ["unshare", "--uts", "sh", "-c", f'hostname {host}; exec "$@"', "sh"]
    together = ["env", f"TAKT_BRIDGE={bridge}", "sh", "-c", TOGETHER, "sh"]
    return End(namespace, [*named, *record, *together])


def _takt(*arguments: str) -> Any:
    done = subprocess.run([*TAKT, *arguments, "--json"], check=True, capture_output=True)
    return json.loads(done.stdout)


def _hop(parts: list[Json], step: int) -> list[str]:
    """The stages of a step, but for those in which others had the processor: a run may be
    interrupted anywhere, which is seen where the kernel's events are recorded.
    """
    stages = [part["stage"] for part in parts if part["step"] == step]
    return [stage for stage in stages if stage not in {"preempted", "blocked"}]


@needs_hosts
def test_flows_go_through_bridges(tmp_path: Path) -> None:
    write_files(
        tmp_path, [{"topic": "/there", "from": "robot"}, {"topic": "/back", "from": "base"}]
    )
    with namespaces_of_experiment().link(None) as names:
        ends = [_recorded(name, tmp_path, host) for name, host in zip(names, HOSTS, strict=True)]
        robot, base = ends
        try:
            base.ask("subscribe", "/there")
            robot.ask("subscribe", "/back")
            robot.ask("advertise", "/there")
            base.ask("advertise", "/back")
            # The host's bridge.
            robot.ask("matched", "/there", count=1)
            base.ask("matched", "/back", count=1)
            for n in range(COUNT):
                robot.publish("/there", [str(n)])
                base.hears("/there", [str(i) for i in range(n + 1)])
                base.publish("/back", [str(n)])
                robot.hears("/back", [str(i) for i in range(n + 1)])
            assert [end.finish() for end in ends] == [0, 0]
        finally:
            for end in ends:
                end.end()
    traces = [str(tmp_path / host) for host in HOSTS]
    document = _takt("flow", *traces, "--from", "/end", "--to", "/end:/there")
    assert [clock["quality"] for clock in document["clocks"]] == ["reference", "accurate"]
    (flow,) = document["flows"]
    assert [(step["node"], step["topic"]) for step in flow["path"][-3:]] == [
        ("/takt_bridge_robot", "/there"),
        ("/takt_bridge_base", "/there@base"),
        ("/end", "/there"),
    ]
    assert flow["path"][0]["node"] == "/end"
    assert flow["count"] == COUNT
    assert flow["uncertainty"] > 0
    # A part that seems to take less than no time, because the clocks are uncertain, is left out.
    order = ["sending", "in_transport", "waiting_in_executor", "running"]
    hops = []
    for worst in flow["worst"]:
        assert sum(part["duration"] for part in worst["parts"]) == worst["latency"]
        hops.append(_hop(worst["parts"], len(flow["path"]) - 2))
        assert sorted(hops[-1], key=order.index) == hops[-1]
    assert {stage for hop in hops for stage in hop} == set(order)

    info = _takt("info", *traces)
    ran = {callback["id"]: callback["count"] for callback in info["callbacks"]}
    bridged = ("/takt_bridge_robot:/there", "/takt_bridge_base:/there@base")
    assert [ran[callback] for callback in bridged] == [COUNT, COUNT]
