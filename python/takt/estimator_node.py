"""The dual-mode estimator as a node of rclpy.

    python -m takt.estimator_node handoff.json

or, in a program of one's own, under any executor (takt.executors has those of takt):

    from takt.estimator_node import EstimatorNode

    executor.add_node(EstimatorNode("handoff.json"))

Topics and the parameter are those of the program takt-estimator (docs/estimation.md).
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
import rclpy
from rcl_interfaces.msg import SetParametersResult
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import Float64MultiArray, String

import takt_estimators
import takt_native

DEPTH = 16
NANOSECONDS = 1_000_000_000


class EstimatorNode(Node):  # type: ignore[misc]  # rclpy has no types
    """Estimates once in every period of the document, by a timer. Any number of inputs may arrive
    in a period (takt_estimators.PeriodInput). Without a measurement in a period the filter is told
    that it is missing; of several, the last one counts.

    Raises takt_native.InputError if the document cannot be used.
    """

    def __init__(self, document: str, name: str = "estimator") -> None:
        handoff = takt_estimators.read_handoff(document)
        super().__init__(name)
        self._handoff = handoff
        self._estimator = takt_estimators.DualMode(handoff)
        self._missing = np.full(len(handoff.measurements), np.nan)
        self._inputs = takt_estimators.PeriodInput(handoff)
        self._measurement = self._missing
        self._steps = 0
        self._without_measurement = 0
        self._refused = 0
        self._measurements_replaced = 0
        self._estimate = self._advertise(Float64MultiArray, "estimate")
        self._covariance = self._advertise(Float64MultiArray, "covariance")
        self._margin = self._advertise(Float64MultiArray, "margin")
        self._mode = self._advertise(String, "mode")
        self._diagnostics = self._advertise(String, "diagnostics")
        self.create_subscription(Float64MultiArray, "~/input", self._take_input, DEPTH)
        self.create_subscription(Float64MultiArray, "~/measurement", self._take_measurement, DEPTH)
        self.declare_parameter("mode", self._estimator.mode)
        self.add_on_set_parameters_callback(self._set_parameters)
        self.create_timer(handoff.period / NANOSECONDS, self._step)

    def _advertise(self, kind: type, topic: str) -> Any:
        return self.create_publisher(kind, f"~/{topic}", DEPTH)

    def _take_input(self, message: Float64MultiArray) -> None:
        taken = np.array(message.data)
        if taken.size != len(self._handoff.inputs):
            self._refused += 1
        else:
            self._inputs.take(taken)

    def _take_measurement(self, message: Float64MultiArray) -> None:
        taken = np.array(message.data)
        if taken.size != self._missing.size:
            self._refused += 1
        else:
            self._measurements_replaced += self._measurement is not self._missing
            self._measurement = taken

    def _step(self) -> None:
        estimator = self._estimator
        self._steps += 1
        self._without_measurement += bool(np.isnan(self._measurement).all())
        inputs = self._inputs.end_period()
        report = estimator.step(time.monotonic_ns(), inputs, self._measurement)
        self._measurement = self._missing
        self._estimate.publish(Float64MultiArray(data=estimator.state.tolist()))
        # The estimate is published: this ends the window of a hand-over.
        after = estimator.used(time.monotonic_ns())
        self._covariance.publish(Float64MultiArray(data=estimator.covariance.ravel().tolist()))
        margins = [report.input_margin, report.region_margin]
        self._margin.publish(Float64MultiArray(data=margins))
        self._mode.publish(String(data=after.mode))
        self._diagnostics.publish(String(data=self._diagnosis(report, after)))

    def _diagnosis(
        self, report: takt_estimators.StepReport, after: takt_estimators.StepReport
    ) -> str:
        return json.dumps(
            {
                "mode": after.mode,
                "failure": after.failure,
                "guaranteed": after.is_guaranteed,
                "refusal": report.outcome.refusal,
                "steps": self._steps,
                "without_measurement": self._without_measurement,
                "refused_messages": self._refused,
                "inputs_replaced": self._inputs.replaced,
                "measurements_replaced": self._measurements_replaced,
                "handovers": self._estimator.handovers,
                "window": self._handoff.window,
                "latest_window": self._estimator.latest_window,
                "longest_window": self._estimator.longest_window,
                "windows_exceeded": self._estimator.exceeded,
                # The program takt-estimator says here why the kernel refused its scheduling.
                "scheduling": "",
            }
        )

    def _set_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name != "mode":
                continue
            if parameter.value != "linear":
                reason = 'the parameter "mode" can be set to "linear" only'
                return SetParametersResult(successful=False, reason=reason)
            denial = self._estimator.request_linear()
            if denial is not None:
                return SetParametersResult(successful=False, reason=denial)
        return SetParametersResult(successful=True)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m takt.estimator_node HANDOFF", file=sys.stderr)
        return 2
    rclpy.init()
    try:
        rclpy.spin(EstimatorNode(arguments[0]))
    except takt_native.InputError as error:
        print(error, file=sys.stderr)
        return 2
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    finally:
        rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
