"""Steps of our filters beside filterpy's and Eigen written by hand, in one run.

    python benchmarks/estimation/filterpy_ratios.py PROGRAM    (estimation_benchmark)

filterpy and our program take turns, and medians of processor time are compared, so that what else
the machine does falls on both.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from filterpy.kalman import KalmanFilter, MerweScaledSigmaPoints, UnscentedKalmanFilter
from filterpy.monte_carlo import systematic_resample

ROUNDS = 5
PERIOD = 0.01
WANTED = {  # ns
    "kalman_step": 1_000,
    "unscented_step": 5_000,
    "particle_step": 1_000_000,
    "membership<1>": 1_000,
    "membership<2>": 1_000,
    "membership<4>": 1_000,
}


def kalman() -> Callable[[], None]:
    filter_ = KalmanFilter(dim_x=6, dim_z=3, dim_u=3)
    filter_.F = np.eye(6) + PERIOD * np.eye(6, k=3)
    filter_.B = np.vstack([np.zeros((3, 3)), PERIOD * np.eye(3)])
    filter_.H = np.eye(3, 6)
    filter_.Q, filter_.R = 1e-4 * np.eye(6), 1e-2 * np.eye(3)
    u, y = np.array([[0.1], [0.2], [0.3]]), np.array([[1.0], [2.0], [3.0]])

    def step() -> None:
        filter_.predict(u)
        filter_.update(y)

    return step


def unscented() -> Callable[[], None]:
    def f(x: np.ndarray, dt: float) -> np.ndarray:
        v = x[3:]
        return np.concatenate([x[:3] + dt * v, v - dt * 0.1 * np.linalg.norm(v) * v])

    def h(x: np.ndarray) -> np.ndarray:
        return np.array([np.linalg.norm(x[:3]), np.arctan2(x[1], x[0]), x[2]])

    points = MerweScaledSigmaPoints(6, 0.5, 2.0, 0.0)
    filter_ = UnscentedKalmanFilter(6, 3, PERIOD, h, f, points)
    filter_.x = np.array([10.0, 5, 2, 1, 0, 0])
    filter_.Q, filter_.R = 1e-4 * np.eye(6), 1e-2 * np.eye(3)
    y = np.array([11.4, 0.46, 2.0])

    def step() -> None:
        filter_.predict()
        filter_.update(y)

    return step


def particles() -> Callable[[], None]:
    """filterpy has no particle filter, but the parts of one; the rest as its author's book does."""
    random = np.random.default_rng(1)
    count = 10_000
    cloud = random.normal(scale=0.1, size=(count, 2))
    weights = np.full(count, 1 / count)

    def step() -> None:
        nonlocal cloud, weights
        x, v = cloud.T
        cloud = np.stack([x + PERIOD * v, v + PERIOD * (-9.81 * np.sin(x) - 0.1 * v)], axis=1)
        cloud += random.normal(scale=0.01, size=(count, 2))
        weights = weights * np.exp(-(cloud[:, 0] ** 2) / (2 * 1e-2)) + 1e-300
        weights /= weights.sum()
        mean = weights @ cloud
        weights @ (cloud - mean) ** 2
        if 1 / (weights @ weights) < count / 2:
            cloud = cloud[systematic_resample(weights)]
            weights = np.full(count, 1 / count)

    return step


def nanoseconds(step: Callable[[], None], count: int) -> float:
    step()
    began = time.process_time_ns()
    for _ in range(count):
        step()
    return (time.process_time_ns() - began) / count


def ours(program: str) -> dict[str, float]:
    arguments = ["--benchmark_format=json", "--benchmark_min_time=0.2"]
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    unit = {"ns": 1.0, "us": 1e3, "ms": 1e6}
    return {
        row["name"]: row["cpu_time"] * unit[row["time_unit"]]
        for row in json.loads(done.stdout)["benchmarks"]
    }


def main(program: str) -> None:
    theirs = {
        "kalman_step": (kalman(), 2_000),
        "unscented_step": (unscented(), 300),
        "particle_step": (particles(), 30),
    }
    times: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, value in ours(program).items():
            times.setdefault(name, []).append(value)
        for name, (step, count) in theirs.items():
            times.setdefault(f"{name} filterpy", []).append(nanoseconds(step, count))
    median = {name: statistics.median(values) for name, values in times.items()}
    print(f"{'':28}{'ns':>12}{'wanted':>12}{'filterpy':>12}{'by hand':>10}")
    for name, value in median.items():
        if name.endswith("filterpy"):
            continue
        reference = median.get(f"{name} filterpy")
        by_hand = median["kalman_step_by_hand"] if name == "kalman_step" else None
        print(
            f"{name:28}{value:12.0f}{WANTED.get(name, ''):>12}"
            f"{f'{reference / value:.3g} x' if reference else '':>12}"
            f"{f'{value / by_hand:.2f}' if by_hand else '':>10}"
        )


if __name__ == "__main__":
    main(sys.argv[1])
