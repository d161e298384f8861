"""Types of libtakt's Python extension (python/native)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

class InputError(ValueError):
    """A mistake that a user can correct; its message is one line."""

ANALYSES: str
EFFORT: int
MOST_RELEASES: int

def apply_goals(
    model_text: str, model_source: str, goals_text: str, goals_source: str
) -> tuple[str, list[str]]: ...
def generate(
    seed: int,
    kinds: list[str],
    executors: tuple[int, int],
    callbacks: tuple[int, int],
    chains: int,
    load: tuple[int, int],
    features: dict[str, int],
) -> str: ...
def model_features() -> list[tuple[str, str, int, int]]: ...
def document_format(text: str, source: str) -> str | None: ...
def model_schema() -> str: ...
def replay_decisions(text: str, source: str) -> str: ...
def parse_model(text: str, source: str) -> tuple[str, list[str]]: ...
def analyze(text: str, source: str, analysis: str, effort: int = ...) -> str: ...
def explain(text: str, source: str, analysis: str, chain: str, effort: int = ...) -> str: ...
def budget(
    text: str,
    source: str,
    analysis: str,
    margin: int,
    cores: list[int],
    capacity: float,
    period: int | None,
    best_period: bool,
) -> tuple[str, str]: ...
def sensitivity(text: str, source: str, analysis: str) -> str: ...
def change(text: str, source: str, changes: str) -> str: ...
def remedy(text: str, source: str, analysis: str, chain: str) -> tuple[str, int] | None: ...

class Analyzer:
    """A model that is analysed again after each change, as far as the change reaches."""

    def __init__(self, text: str, source: str, analysis: str) -> None: ...
    def set_budget(self, executor: str, budget: int) -> None: ...
    def set_execution_time(self, callback: str, curve: list[int]) -> None: ...
    def scale_execution_time(self, callback: str, percent: int) -> None: ...
    def bounds(self) -> str: ...

def plan(text: str, source: str, options: str) -> str: ...
def info(paths: list[str], progress: Callable[[int, int], None] | None = None) -> str: ...
def predict_costs(
    costs: list[int], period: int, weight: float, threshold: float, margin: float
) -> list[int]: ...
def synthesize(
    paths: list[str], options: str = "{}", progress: Callable[[int, int], None] | None = None
) -> str: ...
def flow(
    paths: list[str], options: str = "{}", progress: Callable[[int, int], None] | None = None
) -> str: ...
def parse_time(text: str) -> int | None: ...
def choose_chunk(bandwidth: float, overhead: int, share: float) -> int: ...
def measure(
    paths: list[str],
    model_text: str,
    source: str,
    progress: Callable[[int, int], None] | None = None,
) -> str: ...
def view(
    paths: list[str],
    model_text: str,
    source: str,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[str, dict[str, bytes]]: ...
def store_view(
    paths: list[str],
    model_text: str,
    source: str,
    folder: str,
    all_chains: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[str, str]: ...
def read_column(folder: str, table: str, column: str) -> bytes: ...

class StoredView:
    """Answers the viewer's questions from the folder that store_view() wrote, each as JSON."""

    @staticmethod
    def open(folder: str) -> StoredView: ...
    def tile(self, level: int, number: int) -> bytes: ...
    def messages(self, from_: int, to: int, limit: int) -> str: ...
    def span(self, number: int) -> str: ...
    def flow(self, span: int) -> str: ...
    def histogram(self, chain: int, bins: int) -> str: ...
    def instances(self, chain: int, from_: int, to: int, incomplete: bool, limit: int) -> str: ...
    def instance(self, number: int) -> str: ...
    def area(self, from_: int, to: int, tracks: list[int]) -> str: ...
    def neighbour(self, callback: int, time: int, direction: int) -> str: ...

def event_names() -> list[str]: ...

class EventTable:
    """Events of one type as columns, by Arrow's PyCapsule interface."""

    def name(self) -> str: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

class EventReader:
    """One pass over traces that hands out their events as tables, in bounded memory."""

    def __init__(self, paths: list[str], names: list[str], rows: int) -> None: ...
    def read(self, progress: Callable[[int, int], None] | None = None) -> EventTable | None: ...
    def empty(self, name: str) -> EventTable: ...
    def info(self) -> str: ...

def export_perfetto(
    paths: list[str], output: str, progress: Callable[[int, int], None] | None = None
) -> str: ...

class Recording:
    """Records into a new directory, which appears when stop() has completed it."""

    def __init__(
        self,
        tracer: str,
        output: str,
        events: list[str],
        kernel: bool,
        only_started: bool,
        snapshot_size: int = 0,
    ) -> None: ...
    def environment(self) -> dict[str, str]: ...
    def status(self) -> str: ...
    def snapshot(self, output: str) -> str: ...
    def stop(self) -> str: ...
    def discard(self) -> None: ...

def simulate(
    text: str,
    source: str,
    options: str,
    progress: Callable[[int, int], None] | None = None,
) -> str: ...
def replay(
    paths: list[str],
    text: str,
    source: str,
    progress: Callable[[int, int], None] | None = None,
) -> str: ...
def simulated_latencies(
    text: str,
    source: str,
    options: str,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, list[int]]: ...
def measured_latencies(
    paths: list[str],
    model_text: str,
    source: str,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, list[int]]: ...
def place_slots(latencies: list[int], options: str) -> str: ...
def deliver(
    latencies: list[int],
    slots: list[tuple[int, int]],
    cycle: int,
    publish_time: int,
    shortest: int,
    overshoot: str,
) -> dict[str, Any]: ...
def joint_table(
    ids: list[str], periods: list[int], latencies: list[list[int]], grid: int, slack: int
) -> dict[str, Any]: ...
def callback_servers(
    ids: list[str], cores: list[int], lengths: list[int], after: list[list[int]], cycle: int
) -> list[tuple[int, int]]: ...
def lower_line(points: list[tuple[float, float]]) -> tuple[float, float, float] | None: ...

class Watch:
    """Watches ROS 2 programs through their rings."""

    def __init__(self, goals: str | None, source: str, only_started: bool, window: int) -> None: ...
    def environment(self) -> dict[str, str]: ...
    def warnings(self) -> list[str]: ...
    def poll(self) -> None: ...
    def refresh(self) -> bool: ...
    def structure(self) -> int: ...
    def model(self) -> str: ...
    def document(self) -> str: ...

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
