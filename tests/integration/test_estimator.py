"""The dual-mode estimator as real nodes: modes, requests, and the window under load."""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from std_msgs.msg import Float64MultiArray, String

from recording import TAKT
from takt.errors import UserError
from takt.processes import control, runtime

LONG = 60.0
"""Seconds in which anything comes, however busy the machine."""

MILLISECOND = 1_000_000

EXAMPLE = Path(__file__).parents[1] / "fuzz" / "corpus" / "handoff" / "ekf.json"

numbers = itertools.count()


def document(path: Path, timing: dict[str, Any]) -> Path:
    """The cubic example, x' = -x - x^3 + d, with a gain that the covariances give."""
    found = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    found["plant"]["process_noise"] = [[1e-4]]
    del found["linear"]["gain"]
    path.write_text(json.dumps(found | {"timing": timing}), encoding="utf-8")
    return path


class Robot:
    """The other side of the estimator's topics."""

    def __init__(self, name: str) -> None:
        self.node = rclpy.create_node(f"robot_{os.getpid()}_{next(numbers)}")
        self.mode = ""
        self.modes: list[str] = []
        self.estimate: list[float] = [math.nan]  # none has come yet
        self.diagnostics: dict[str, Any] = {}
        self.input = self.node.create_publisher(Float64MultiArray, f"/{name}/input", 10)
        self.measurement = self.node.create_publisher(Float64MultiArray, f"/{name}/measurement", 10)
        self.node.create_subscription(String, f"/{name}/mode", self._hear_mode, 50)
        self.node.create_subscription(
            Float64MultiArray, f"/{name}/estimate", self._hear_estimate, 50
        )
        self.node.create_subscription(String, f"/{name}/diagnostics", self._hear_diagnostics, 50)
        self.client = self.node.create_client(SetParameters, f"/{name}/set_parameters")

    def _hear_mode(self, message: String) -> None:
        self.mode = message.data
        self.modes.append(message.data)

    def _hear_estimate(self, message: Float64MultiArray) -> None:
        self.estimate = list(message.data)

    def _hear_diagnostics(self, message: String) -> None:
        self.diagnostics = json.loads(message.data)

    def send(self, value: float, state: float | None = None) -> None:
        self.input.publish(Float64MultiArray(data=[value]))
        if state is not None:
            self.measurement.publish(Float64MultiArray(data=[state]))

    def until(
        self, condition: Callable[[], bool], value: float = 0.0, state: float | None = None
    ) -> None:
        """Sends the same again and again until the estimator has answered as it must."""
        end = time.monotonic() + LONG
        while not condition():
            assert time.monotonic() < end, f"it never came; {self.diagnostics}"
            self.send(value, state)
            rclpy.spin_once(self.node, timeout_sec=0.01)

    def hand_over(self, value: float, state: float) -> None:
        """Sends until one more hand-over has ended, and the mode after it has been heard."""
        count = self.diagnostics["handovers"]
        self.until(
            lambda: self.diagnostics["handovers"] > count and self.mode != "linear", value, state
        )

    def request(self, mode: str, value: float, state: float) -> tuple[bool, str]:
        """Asks for a mode while input and state stay as they are."""
        assert self.client.wait_for_service(LONG)
        parameter = Parameter(
            name="mode",
            value=ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=mode),
        )
        answer = self.client.call_async(SetParameters.Request(parameters=[parameter]))
        self.until(answer.done, value, state)
        result = answer.result().results[0]
        return result.successful, result.reason

    def refused(self, mode: str, why: str, value: float, state: float) -> None:
        """Asks until it is refused for this reason: what was sent before may be on its way."""
        while True:
            granted, reason = self.request(mode, value, state)
            assert not granted
            if why in reason:
                return


@contextmanager
def running(arguments: list[str], name: str) -> Iterator[tuple[Robot, subprocess.Popen[str]]]:
    rclpy.init()
    program = subprocess.Popen(
        arguments,
        env=runtime.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Robot(name), program
    finally:
        if program.poll() is None:
            program.send_signal(signal.SIGINT)
        program.communicate(timeout=LONG)
        rclpy.try_shutdown()


def native(path: Path, *options: str) -> list[str]:
    return [str(runtime.estimator()), str(path), *options]


FIELDS = {
    "mode",
    "failure",
    "guaranteed",
    "refusal",
    "steps",
    "without_measurement",
    "refused_messages",
    "inputs_replaced",
    "measurements_replaced",
    "handovers",
    "window",
    "latest_window",
    "longest_window",
    "windows_exceeded",
    "scheduling",
}
"""The diagnostics of both nodes."""

KINDS = ["single_threaded", "events", "fixed_priority", "edf", "chain_priority", "graph_aware"]


def command(kind: str, path: Path) -> list[str]:
    if kind == "rclpy":
        return [sys.executable, "-m", "takt.estimator_node", str(path)]
    return native(path, "--executor", kind)


@pytest.mark.parametrize("kind", [*KINDS, "rclpy"])
def test_modes_follow_input_and_state_under_every_executor(kind: str, tmp_path: Path) -> None:
    # A window that no load of the machine exceeds.
    timing = {"period": 20 * MILLISECOND, "window": 10**14, "return_when": "requested"}
    path = document(tmp_path / "handoff.json", timing)
    with running(command(kind, path), "estimator") as (robot, _):
        robot.until(lambda: bool(robot.diagnostics) and robot.mode == "linear", 0.3, 0.0)
        robot.until(lambda: robot.mode == "nonlinear", 0.9, 0.7)
        robot.until(lambda: abs(robot.estimate[0] - 0.7) < 0.1, 0.9, 0.7)
        refused, reason = robot.request("linear", 0.9, 0.7)
        assert not refused
        assert reason == "the input is outside the decision bound"
        # With this input, within the bound, the estimate stays large also without measurements.
        robot.until(lambda: robot.diagnostics["handovers"] == 1, 0.54, 0.7)
        steps = robot.diagnostics["steps"]
        robot.until(lambda: robot.diagnostics["steps"] > steps + 3, 0.54, 0.7)
        robot.refused("linear", "confidence set", 0.54, 0.7)
        assert not robot.request("nonlinear", 0.54, 0.7)[0]
        robot.until(lambda: abs(robot.estimate[0]) < 0.05, 0.0, 0.0)
        assert robot.mode == "nonlinear"  # nobody asked
        assert robot.request("linear", 0.0, 0.0) == (True, "")
        robot.until(lambda: robot.mode == "linear", 0.0, 0.0)
        assert robot.diagnostics["guaranteed"]
        assert robot.diagnostics["windows_exceeded"] == 0
        assert set(robot.diagnostics) == FIELDS
        # Several come in a period, as they are sent as fast as they can be.
        robot.until(lambda: robot.diagnostics["inputs_replaced"] > 0, 0.0, 0.0)
        robot.until(lambda: robot.diagnostics["measurements_replaced"] > 0, 0.0, 0.0)
        robot.until(lambda: robot.mode == "fail_safe", 3.0)
        assert "linear" in robot.modes
        robot.until(lambda: robot.diagnostics["failure"] == "input_not_physical", 0.0)
        before = robot.diagnostics["refused_messages"]
        robot.input.publish(Float64MultiArray(data=[1.0, 2.0]))
        robot.until(lambda: robot.diagnostics["refused_messages"] > before, 0.0)


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["single_threaded", "edf"])
def test_the_window_holds_under_load_while_the_reservation_holds(kind: str, tmp_path: Path) -> None:
    """Every processor is busy, and the inputs leave the decision bound again and again."""
    timing = {
        "period": 20 * MILLISECOND,
        "load_periods": 1,
        # A response within three periods of the reservation, each 10 ms: one to wait for its
        # budget, one to get it, one for the kernel's bookkeeping.
        "actuation_delay": 30 * MILLISECOND,
        "window": 50 * MILLISECOND,
    }
    path = document(tmp_path / "handoff.json", timing)
    options = ["--executor", kind, "--reservation", str(3 * MILLISECOND), str(10 * MILLISECOND)]
    burners = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(2 * (os.cpu_count() or 1))
    ]
    try:
        with running(native(path, *options), "estimator") as (robot, _):
            robot.until(lambda: bool(robot.diagnostics), 0.0, 0.0)
            if robot.diagnostics["scheduling"]:
                pytest.skip(f"no reservation here: {robot.diagnostics['scheduling']}")
            for _ in range(40):
                robot.hand_over(0.9, 0.2)
                robot.until(lambda: robot.mode in ("linear", "fail_safe"), 0.0, 0.0)
                assert robot.mode == "linear", robot.diagnostics
            found = robot.diagnostics
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    assert found["handovers"] >= 40
    assert found["windows_exceeded"] == 0
    assert 0 < found["longest_window"] <= found["window"]


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_the_manager_asks_for_the_cheap_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One goal can be kept and another cannot, so the estimator is to do with less."""
    runtime_folder = tmp_path / "run"
    runtime_folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime_folder))
    timing = {"period": 20 * MILLISECOND, "window": 10**14, "return_when": "requested"}
    path, goals = document(tmp_path / "handoff.json", timing), tmp_path / "goals.yaml"
    goals.write_text(
        "period: 1s\nchains:\n"
        "- {name: estimates, from: estimate, to: estimate, latency: 5s, estimator: estimator}\n"
        "- {name: inputs, from: input, to: input, latency: 1us}\n",
        encoding="utf-8",
    )
    log = tmp_path / "decisions.jsonl"
    manage = [*TAKT, "manage", "--goals", str(goals), "--log", str(log), "--", *native(path)]

    def chains() -> dict[str, Any]:
        with suppress(UserError):  # it has not begun to listen yet
            return {chain["id"]: chain for chain in control.request("status")["chains"]}
        return {}

    def mode(chain: str) -> str:
        asked = chains().get(chain, {}).get("estimator", {})
        return f"{asked.get('cheap_mode')}: {asked.get('reason')}"

    refused = "refused: the input is outside the decision bound"
    with running(manage, "estimator") as (robot, program):
        robot.until(lambda: mode("estimates") == refused, 0.9, 0.7)
        robot.until(lambda: robot.mode == "nonlinear", 0.9, 0.7)
        robot.until(lambda: chains().get("inputs", {}).get("state") == "degraded", 0.9, 0.7)
        robot.until(lambda: robot.mode == "linear", 0.0, 0.0)
        robot.until(lambda: mode("estimates") == "accepted: ", 0.0, 0.0)
        program.send_signal(signal.SIGINT)
        program.wait(LONG)
    replayed = subprocess.run(
        [*TAKT, "manage", "--replay", str(log)], capture_output=True, text=True, check=False
    )
    assert replayed.returncode == 0, replayed.stderr
    assert "chain estimates: /estimator is asked for its cheap mode" in replayed.stdout
    assert "chain estimates: /estimator uses its cheap mode" in replayed.stdout


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    def complaint(*arguments: str) -> str:
        done = subprocess.run(
            [str(runtime.estimator()), *arguments],
            env=runtime.environment(),
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        return done.stderr

    path = document(tmp_path / "handoff.json", {"period": MILLISECOND, "window": MILLISECOND})
    assert "usage" in complaint()
    assert "cannot be read" in complaint(str(tmp_path / "none.json"))
    assert "no executor" in complaint(str(path), "--executor", "table_driven")
    assert "whole number" in complaint(str(path), "--priority", "100")
    document(path, {"period": MILLISECOND, "window": 1})
    assert "timing.window" in complaint(str(path))
