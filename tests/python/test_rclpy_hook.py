"""The hook in recorded Python programs never breaks them, whatever they call."""

from __future__ import annotations

import importlib
import inspect
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from takt.recorder import RCLPY_TRACING


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(RCLPY_TRACING))
    return importlib.import_module("takt_rclpy_tracing")


class Tracepoints:
    """Calls are written down; those in `failing` fail."""

    def __init__(self, *failing: str) -> None:
        self.calls: list[str] = []
        self._failing = failing

    def __getattr__(self, name: str) -> Any:
        def call(*_: object) -> None:
            if name in self._failing:
                raise RuntimeError(name)
            self.calls.append(name)

        return call


class Timer:
    """As rclpy's."""

    def __init__(self, callback: Any, period: int) -> None:
        if period < 0:
            raise ValueError("period")
        self.callback, self.handle = callback, SimpleNamespace(pointer=7)
        self._timer = SimpleNamespace(timer_period_ns=period)


def instrumented(hook: ModuleType, trace: Tracepoints) -> Any:
    class Fresh(Timer):
        def __init__(self, callback: Any, period: int) -> None:
            super().__init__(callback, period)

    rate = type("Rate", (), {"sleep": lambda self: None})
    module = SimpleNamespace(Timer=Fresh, Rate=rate)
    hook._Instrumentation(trace).timer(module)
    return module


class Odd:
    """A callable of which one cannot learn anything."""

    def __call__(self) -> int:
        return 3

    @property
    def __name__(self) -> str:
        raise RuntimeError("no name")

    @property
    def __signature__(self) -> inspect.Signature:
        raise ValueError("no signature")


def test_a_function_without_a_signature_is_a_callback_as_any_other(hook: ModuleType) -> None:
    trace = Tracepoints()
    with pytest.raises(ValueError, match="signature"):
        inspect.signature(min)
    timer = instrumented(hook, trace).Timer(min, 5)
    with pytest.raises(TypeError):
        timer.callback()  # as the function itself
    assert trace.calls[-2:] == ["callback_start", "callback_end"]


def test_a_callback_that_cannot_be_wrapped_runs_untraced(
    hook: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = Odd()
    timer = instrumented(hook, Tracepoints()).Timer(odd, 5)
    assert timer.callback is odd
    assert capsys.readouterr().err.count("takt: something is not traced") == 1


@pytest.mark.parametrize("failing", ["rclcpp_timer_callback_added", "rate_sleep"])
def test_a_tracepoint_that_fails_is_one_line(
    hook: ModuleType, failing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    module = instrumented(hook, Tracepoints(failing))
    hook._harmless._said.clear()
    timer = module.Timer(lambda: 3, 5)
    assert timer.callback() == 3
    rate = module.Rate()
    rate._timer = SimpleNamespace(timer_period_ns=1)
    rate.sleep()
    rate.sleep()
    assert capsys.readouterr().err.count(failing) == 1


def test_rclpy_itself_complains_about_its_arguments(hook: ModuleType) -> None:
    module = instrumented(hook, Tracepoints())
    with pytest.raises(TypeError, match="period"):
        module.Timer(lambda: 3)
    with pytest.raises(ValueError, match="period"):
        module.Timer(lambda: 3, -1)


def test_a_program_without_standard_error_goes_on(
    hook: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    hook._harmless._said.clear()
    assert instrumented(hook, Tracepoints()).Timer(Odd(), 5).callback() == 3
