"""The filters agree with filterpy, which knows nothing of ours, on random systems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from filterpy.kalman import (
    ExtendedKalmanFilter,
    KalmanFilter,
    MerweScaledSigmaPoints,
    UnscentedKalmanFilter,
)

import takt_estimators
import takt_native

Array = npt.NDArray[np.float64]

AGREEMENT = 1e-9
"""Relative to the largest number compared: what the acceptance asks for."""

SEEDS = range(25)

DOCUMENT = Path(__file__).parents[1] / "fuzz" / "corpus" / "handoff" / "ekf.json"
"""The cubic example, x' = -x - x^3 + d, with a window of 0.2 s."""


def covariance(random: np.random.Generator, size: int, scale: float) -> Array:
    root = random.normal(size=(size, size))
    return np.asarray(scale * (root @ root.T / size + 0.1 * np.eye(size)))


def same(ours: Array, theirs: Array) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs).reshape(np.shape(ours))
    assert np.max(np.abs(ours - theirs)) <= AGREEMENT * max(1.0, float(np.max(np.abs(theirs))))


@pytest.mark.parametrize("seed", SEEDS)
def test_kalman_filter(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, m, p = (int(size) for size in random.integers(1, [7, 4, 4]))
    a = random.normal(size=(n, n))
    a *= 0.95 / max(abs(np.linalg.eigvals(a)))
    b, c = random.normal(size=(n, m)), random.normal(size=(p, n))
    q, r = covariance(random, n, 0.1), covariance(random, p, 0.5)
    state, initial = random.normal(size=n), covariance(random, n, 1.0)
    ours = takt_estimators.KalmanFilter(a, b, c, np.zeros((p, m)), q, r, state, initial)
    theirs = KalmanFilter(dim_x=n, dim_z=p, dim_u=m)
    theirs.F, theirs.B, theirs.H, theirs.Q, theirs.R = a, b, c, q, r
    theirs.x, theirs.P = state.reshape(n, 1), initial.copy()
    for step in range(100):
        u, y = random.normal(size=m), random.normal(size=p)
        theirs.predict(u.reshape(m, 1))
        if step % 5 == 3:
            y = np.full(p, np.nan)
        else:
            theirs.update(y.reshape(p, 1))
        assert ours.step(u, y).ok
        same(ours.state, theirs.x)
        same(ours.covariance, theirs.P)


def nonlinear(random: np.random.Generator) -> tuple[takt_estimators.Plant, Any, Any, Any, Any]:
    """A random contraction with two measurements: as expressions, and as functions of Python."""
    w, v = random.normal(size=(2, 2)) * 0.4, random.normal(size=2)
    plant = takt_estimators.Plant(
        states=["x", "v"],
        inputs=["u"],
        measurements=["y", "z"],
        parameters={
            **{f"w{i}{j}": float(w[i, j]) for i in range(2) for j in range(2)},
            "b0": float(v[0]),
            "b1": float(v[1]),
        },
        dynamics=["sin(w00*x + w01*v) + b0*u", "tanh(w10*x + w11*v) + b1*u*Abs(u)"],
        outputs=["x**2 + v", "sqrt(1 + v**2)*exp(-x/10)"],
        dynamics_jacobian=[
            ["w00*cos(w00*x + w01*v)", "w01*cos(w00*x + w01*v)"],
            ["w10*(1 - tanh(w10*x + w11*v)**2)", "w11*(1 - tanh(w10*x + w11*v)**2)"],
        ],
        outputs_jacobian=[
            ["2*x", "1"],
            ["-sqrt(1 + v**2)*exp(-x/10)/10", "v*exp(-x/10)/sqrt(1 + v**2)"],
        ],
        continuous=False,
    )

    def f(x: Array, u: float) -> Array:
        return np.array([np.sin(w[0] @ x) + v[0] * u, np.tanh(w[1] @ x) + v[1] * u * abs(u)])

    def df(x: Array) -> Array:
        return np.array([w[0] * np.cos(w[0] @ x), w[1] * (1 - np.tanh(w[1] @ x) ** 2)])

    def h(x: Array) -> Array:
        return np.array([x[0] ** 2 + x[1], np.sqrt(1 + x[1] ** 2) * np.exp(-x[0] / 10)])

    def dh(x: Array) -> Array:
        root, decay = np.sqrt(1 + x[1] ** 2), np.exp(-x[0] / 10)
        return np.array([[2 * x[0], 1], [-root * decay / 10, x[1] * decay / root]])

    return plant, f, df, h, dh


@pytest.mark.parametrize("seed", SEEDS)
def test_extended_kalman_filter(seed: int) -> None:
    random = np.random.default_rng(seed)
    plant, f, df, h, dh = nonlinear(random)
    q, r = covariance(random, 2, 0.05), covariance(random, 2, 0.2)
    state, initial = random.normal(size=2), covariance(random, 2, 0.5)
    ours = takt_estimators.ExtendedKalmanFilter(plant, q, r, state, initial)
    theirs = ExtendedKalmanFilter(dim_x=2, dim_z=2)
    theirs.Q, theirs.R, theirs.x, theirs.P = q, r, state.copy(), initial.copy()
    for _ in range(100):
        u, y = float(random.normal()), random.normal(size=2)
        # filterpy leaves the prediction of a nonlinear state to its user.
        theirs.F = df(theirs.x)
        moved = f(theirs.x, u)
        theirs.predict()
        theirs.x = moved
        theirs.update(y, dh, h)
        assert ours.step(np.array([u]), y).ok
        same(ours.state, theirs.x)
        same(ours.covariance, theirs.P)


@pytest.mark.parametrize("redraws", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_unscented_kalman_filter(seed: int, redraws: bool) -> None:
    """Ours uses the propagated points for the update; filterpy draws them anew, which ours does
    after a restart."""
    random = np.random.default_rng(seed)
    plant, f, _, h, _ = nonlinear(random)
    q, r = covariance(random, 2, 0.05), covariance(random, 2, 0.2)
    state, initial = random.normal(size=2), covariance(random, 2, 0.5)
    alpha, beta, kappa = random.uniform(0.5, 1.0), 2.0, random.uniform(0.0, 1.0)
    ours = takt_estimators.UnscentedKalmanFilter(plant, q, r, state, initial, alpha, beta, kappa)
    points = MerweScaledSigmaPoints(2, alpha, beta, kappa)
    applied = [0.0]
    theirs = UnscentedKalmanFilter(2, 2, 1.0, h, lambda x, dt: f(x, applied[0]), points)
    theirs.Q, theirs.R, theirs.x, theirs.P = q, r, state.copy(), initial.copy()
    for _ in range(60):
        applied[0], y = float(random.normal()), random.normal(size=2)
        u = np.array(applied)
        propagated = np.array(
            [f(point, applied[0]) for point in points.sigma_points(theirs.x, theirs.P)]
        )
        theirs.predict()
        assert ours.predict(u) == "none"
        if redraws:
            assert ours.restart(ours.state, ours.covariance) == "none"
        else:
            theirs.sigmas_f = propagated
        theirs.update(y)
        assert ours.update(u, y).ok
        same(ours.state, theirs.x)
        same(ours.covariance, theirs.P)


def test_particles_approach_the_exact_posterior_of_a_nonlinear_system() -> None:
    """The posterior on a grid, by Bayes' rule: bimodal at times, as x^2 is what is measured."""
    random = np.random.default_rng(1)
    plant = takt_estimators.Plant(
        states=["x"],
        inputs=["u"],
        measurements=["y"],
        dynamics=["x - x**3/10 + u"],
        outputs=["x**2/2"],
        dynamics_jacobian=[["1 - 3*x**2/10"]],
        outputs_jacobian=[["x"]],
        continuous=False,
    )
    q, r = 0.05, 0.1
    count = 40_000
    particles = takt_estimators.ParticleFilter(
        plant, np.eye(1) * q, np.eye(1) * r, np.zeros(1), np.eye(1), count, 7
    )
    x = np.linspace(-5, 5, 1501)
    posterior = np.exp(-(x**2) / 2)
    truth = 0.5
    for _ in range(20):
        u = float(random.normal(scale=0.3))
        moved = x - x**3 / 10 + u
        truth = truth - truth**3 / 10 + u + random.normal(scale=q**0.5)
        y = truth**2 / 2 + random.normal(scale=r**0.5)
        posterior = np.exp(-((x[:, None] - moved[None, :]) ** 2) / (2 * q)) @ posterior
        posterior *= np.exp(-((y - x**2 / 2) ** 2) / (2 * r))
        posterior /= posterior.sum()
        mean = float(posterior @ x)
        deviation = float(np.sqrt(posterior @ (x - mean) ** 2))
        assert particles.step(np.array([u]), np.array([y])).ok
        # Ten standard errors of a mean of independent particles: resampling correlates them.
        error = 10 * deviation / count**0.5
        assert particles.state[0] == pytest.approx(mean, abs=error)
        assert particles.covariance[0, 0] ** 0.5 == pytest.approx(deviation, abs=error)
        for share in (0.1, 0.9):
            below = float(posterior[x <= particles.percentile(0, share)].sum())
            assert below == pytest.approx(share, abs=0.02)
    assert particles.particles.shape == (1, count)
    assert particles.weights.sum() == pytest.approx(1)


def test_mistakes_are_one_line() -> None:
    one = np.eye(1)
    with pytest.raises(takt_native.InputError, match="start: a covariance is not symmetric"):
        takt_estimators.KalmanFilter(one, one, one, one, one, one, np.zeros(1), -one)
    with pytest.raises(takt_native.InputError, match="wrong size"):
        takt_estimators.KalmanFilter(one, one, np.eye(2), one, one, one, np.zeros(1), one)
    plant = nonlinear(np.random.default_rng(0))[0]
    two = np.eye(2)
    with pytest.raises(takt_native.InputError, match="n \\+ lambda"):
        takt_estimators.UnscentedKalmanFilter(plant, two, two, np.zeros(2), two, 1.0, 2.0, -2.0)
    with pytest.raises(takt_native.InputError, match="at least one particle"):
        takt_estimators.ParticleFilter(plant, two, two, np.zeros(2), two, 0)
    extended = takt_estimators.ExtendedKalmanFilter(plant, two, two, np.zeros(2), two)
    assert extended.step(np.zeros(2), np.zeros(2)).refusal == "wrong_size"
    assert extended.restart(np.zeros(2), -two) == "not_positive_semidefinite"


def test_dual_mode_from_a_document() -> None:
    handoff = takt_estimators.read_handoff(str(DOCUMENT))
    estimator = takt_estimators.DualMode(handoff)
    assert estimator.mode == "linear"
    time, state = 0, np.zeros(1)
    modes = []
    for d in [0.5] * 20 + [0.9] * 20 + [-0.2] * 60:
        time += handoff.period
        u = np.array([d])
        state = handoff.plant.step(state, u)[0]
        report = estimator.step(time, u, state)
        estimator.used(time)
        modes.append(report.mode)
        assert handoff.error_norm(estimator.state - state) <= handoff.epsilon
    assert modes[:20] == ["linear"] * 20
    assert modes[20:40] == ["nonlinear"] * 20
    assert modes[-1] == "linear"
    assert estimator.handovers == 1
    assert estimator.longest_window == handoff.period
    assert estimator.exceeded == 0
    assert estimator.step(time + 1, np.array([2.0]), state).failure == "input_not_physical"
    assert estimator.request_linear() == "the estimator is in its fail-safe mode"


def test_documents_are_refused_in_one_line(tmp_path: Path) -> None:
    broken = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    broken["error_bound"]["epsilon"] = -1
    with pytest.raises(takt_native.InputError, match=r"h.json: error_bound.epsilon: must"):
        takt_estimators.parse_handoff(json.dumps(broken), "h.json")
    with pytest.raises(takt_native.InputError, match="cannot be read"):
        takt_estimators.read_handoff(str(tmp_path / "none.json"))
