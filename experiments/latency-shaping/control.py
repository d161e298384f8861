"""An inverted pendulum, and optimal controllers of it for the delays that they have.

State: angle and angular velocity; input: angular acceleration. The controller sees the state at the
beginning of a period of length h, and its input acts from the delay τ <= h after that, until the
next one does. With the last input as a part of the state, z = (x, u), this is a linear system whose
matrices depend on τ (Åström and Wittenmark, "Computer-Controlled Systems", 3.2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

Array = NDArray[numpy.float64]

GRAVITY_OVER_LENGTH = 39.2
"""1/s²: a pendulum of 25 cm."""
EFFORT = 1e-6
"""The weight of the squared input in the cost; the squared error of the angle has weight 1."""
STEPS = 20
"""The cost of a period is summed in so many steps."""


def transition(time: float) -> tuple[Array, Array]:
    """Φ(t) and Γ(t): where the state goes in that time by itself, and by a constant input of 1."""
    rate = math.sqrt(GRAVITY_OVER_LENGTH)
    grows, turns = math.cosh(rate * time), math.sinh(rate * time)
    return (
        numpy.array([[grows, turns / rate], [rate * turns, grows]]),
        numpy.array([[(grows - 1) / rate**2], [turns / rate]]),
    )


def within(time: float, delay: float) -> Array:
    """The state so long after the beginning of a period, as a matrix by (x, last input, input)."""
    if time <= delay:
        state, last = transition(time)
        return numpy.hstack([state, last, numpy.zeros((2, 1))])
    before = within(delay, delay)
    state, new = transition(time - delay)
    return state @ before + numpy.hstack([numpy.zeros((2, 3)), new])


def dynamics(period: float, delay: float) -> tuple[Array, Array]:
    """F, G of z' = F z + G u."""
    whole = within(period, delay)
    return (
        numpy.vstack([whole[:, :3], numpy.zeros((1, 3))]),
        numpy.vstack([whole[:, 3:], numpy.ones((1, 1))]),
    )


def cost(period: float, delay: float) -> Array:
    """The mean cost over a period as a quadratic form of (z, u)."""
    total = numpy.zeros((4, 4))
    for step in range(STEPS):
        time = (step + 0.5) * period / STEPS
        angle = within(time, delay)[:1]
        total += angle.T @ angle
        acting = 2 if time <= delay else 3
        total[acting, acting] += EFFORT
    return total / STEPS


@dataclass(frozen=True)
class Design:
    """What a controller goes by. Where it knows which of several delays its input will have, it has
    a gain for each.
    """

    delays: tuple[float, ...]
    gains: tuple[Array, ...]
    corrections: tuple[Array, ...]
    """By which a known disturbance of z within this period is answered."""


def design(
    period: float,
    delays: Sequence[float],
    *,
    known: bool,
    shares: Sequence[float] | None = None,
) -> Design:
    """The linear-quadratic regulator for delays that are drawn from these independently, each with
    its share. Known: it is told each before it decides. Else one gain is best for all of them on
    average, and their mean is what it counts on.
    """
    weights = shares or [1 / len(delays)] * len(delays)
    systems = [(*dynamics(period, delay), cost(period, delay)) for delay in delays]
    value = numpy.eye(3)
    while True:
        forms = []
        for free, forced, price in systems:
            step = numpy.hstack([free, forced])
            forms.append(price + step.T @ value @ step)
        if not known:
            forms = [sum(w * form for w, form in zip(weights, forms, strict=True))]
        gains = [numpy.linalg.solve(form[3:, 3:], form[3:, :3]) for form in forms]
        left = [form[:3, :3] - form[:3, 3:] @ gain for form, gain in zip(forms, gains, strict=True)]
        used = weights if known else [1.0]
        former, value = value, sum(w * one for w, one in zip(used, left, strict=True))
        if abs(value - former).max() <= 1e-10 * abs(value).max():
            break
    corrections = [
        numpy.linalg.solve(form[3:, 3:], forced.T @ value)
        for form, (_, forced, _) in zip(forms, systems, strict=False)
    ]
    if known:
        return Design(tuple(delays), tuple(gains), tuple(corrections))
    mean = sum(w * delay for w, delay in zip(weights, delays, strict=True))
    return Design((mean,), tuple(gains), tuple(corrections))


def trajectory(period: float, delay: float, reference: Array) -> tuple[Array, Array]:
    """The inputs that follow a periodic reference best if nothing disturbs, whatever the effort,
    and the states at the beginnings of the periods. `reference`: STEPS values in each period.
    """
    count = len(reference) // STEPS
    free, forced = dynamics(period, delay)
    # How z at each beginning depends on all inputs: the periodic solution of z' = F z + G u.
    around = numpy.linalg.matrix_power(free, count)
    first = numpy.zeros((3, count))
    for k in range(count):
        first[:, k : k + 1] = numpy.linalg.matrix_power(free, count - 1 - k) @ forced
    states = [numpy.linalg.solve(numpy.eye(3) - around, first)]
    for k in range(count - 1):
        following = free @ states[-1]
        following[:, k : k + 1] += forced
        states.append(following)
    rows, wanted = [], []
    for k in range(count):
        chosen = numpy.zeros((1, count))
        chosen[0, k] = 1
        for step in range(STEPS):
            angle = within((step + 0.5) * period / STEPS, delay)[:1]
            rows.append(angle @ numpy.vstack([states[k], chosen]))
            wanted.append(reference[k * STEPS + step])
    inputs = numpy.linalg.lstsq(numpy.vstack(rows), numpy.array(wanted), rcond=None)[0]
    return inputs, numpy.array([state @ inputs for state in states])
