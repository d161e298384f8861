"""Types of the extension for state estimators (python/native/estimators)."""

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

class Outcome:
    """What a step or an update did; refusal says why if it did nothing."""

    refusal: str
    used: int
    innovation: float
    mended: bool
    ok: bool

class Plant:
    """Dynamics and outputs as expressions, docs/estimation.md."""

    def __init__(
        self,
        *,
        states: list[str],
        inputs: list[str],
        measurements: list[str],
        dynamics: list[str],
        outputs: list[str],
        dynamics_jacobian: list[list[str]],
        outputs_jacobian: list[list[str]],
        parameters: dict[str, float] = ...,
        period: float = 1.0,
        continuous: bool = True,
        integration_steps: int = 1,
    ) -> None: ...
    def step(self, state: Vector, inputs: Vector) -> tuple[Vector, Matrix]: ...
    def output(self, state: Vector, inputs: Vector) -> tuple[Vector, Matrix]: ...

class _Filter:
    state: Vector
    covariance: Matrix

    def predict(self, inputs: Vector) -> str: ...
    def update(self, inputs: Vector, measurement: Vector) -> Outcome: ...
    def step(self, inputs: Vector, measurement: Vector) -> Outcome: ...
    def restart(self, state: Vector, covariance: Matrix) -> str: ...

class KalmanFilter(_Filter):
    def __init__(
        self,
        state_matrix: Matrix,
        input_matrix: Matrix,
        output_matrix: Matrix,
        feedthrough_matrix: Matrix,
        process_noise: Matrix,
        measurement_noise: Matrix,
        state: Vector,
        covariance: Matrix,
    ) -> None: ...

class ExtendedKalmanFilter(_Filter):
    def __init__(
        self,
        plant: Plant,
        process_noise: Matrix,
        measurement_noise: Matrix,
        state: Vector,
        covariance: Matrix,
    ) -> None: ...

class UnscentedKalmanFilter(_Filter):
    def __init__(
        self,
        plant: Plant,
        process_noise: Matrix,
        measurement_noise: Matrix,
        state: Vector,
        covariance: Matrix,
        alpha: float = 1.0,
        beta: float = 2.0,
        kappa: float = 0.0,
    ) -> None: ...

class ParticleFilter(_Filter):
    particles: Matrix
    weights: Vector

    def __init__(
        self,
        plant: Plant,
        process_noise: Matrix,
        measurement_noise: Matrix,
        state: Vector,
        covariance: Matrix,
        particles: int = 1000,
        seed: int = 1,
    ) -> None: ...
    def percentile(self, state: int, share: float) -> float: ...

class Region:
    """Where a value function on a grid is at most 0, rounded towards outside."""

    dimensions: int

    def bound(self, point: Vector) -> float: ...
    def bound_of_box(self, lower: Vector, upper: Vector) -> float: ...
    def gradient(self, point: Vector) -> Vector: ...

class Handoff:
    """A takt/handoff document, checked."""

    name: str
    epsilon: float
    plant: Plant
    back: Region
    safe: Region | None
    linear_region: Region | None
    assumptions: list[str]
    states: list[str]
    inputs: list[str]
    measurements: list[str]
    operating_input: Vector
    period: int
    window: int

    def decides_linear(self, inputs: Vector) -> bool: ...
    def error_norm(self, error: Vector) -> float: ...
    def rehearse(
        self, estimates: Matrix, half_widths: Matrix, states: Matrix, inputs: Matrix
    ) -> Vector: ...

def read_handoff(path: str) -> Handoff: ...
def parse_handoff(text: str, source: str) -> Handoff: ...

class PeriodInput:
    """The input of a period, of which any number may come. The guard must see the worst one: one
    outside the physical limits, or else one outside the decision bound. Later periods in which none
    comes go on with the last one.
    """

    replaced: int

    def __init__(self, handoff: Handoff) -> None: ...
    def take(self, inputs: Vector) -> None: ...
    def end_period(self) -> Vector: ...

class StepReport:
    mode: str
    failure: str
    outcome: Outcome
    input_margin: float
    region_margin: float
    is_first_nonlinear: bool
    is_guaranteed: bool

class DualMode:
    """The dual-mode estimator. Times are nanoseconds of CLOCK_MONOTONIC."""

    state: Vector
    covariance: Matrix
    mode: str
    handovers: int
    latest_window: int
    longest_window: int
    exceeded: int

    def __init__(self, handoff: Handoff, remembered: int = 16) -> None: ...
    def step(self, time: int, inputs: Vector, measurement: Vector) -> StepReport: ...
    def used(self, time: int) -> StepReport: ...
    def measure_late(self, age: int, measurement: Vector) -> Outcome: ...
    def request_linear(self) -> str | None: ...
    def restart(self, state: Vector, covariance: Matrix) -> str: ...
