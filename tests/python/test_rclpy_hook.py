"""The hook in recorded Python programs never breaks them, whatever they call."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import itertools
import sys
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest

from takt.recordings.recorder import RCLPY_TRACING


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


class Future:
    """As rclpy's, and so are the other classes of this module."""

    def __init__(self) -> None:
        self._callbacks: list[Any] = []
        self._is_done = False

    def done(self) -> bool:
        return self._is_done

    def cancelled(self) -> bool:
        return False

    def __await__(self) -> Any:
        while not self._is_done:
            yield


class Task:
    def __init__(self, handler: Any, args: Any = (), executor: object = None) -> None:
        self._handler = handler
        self._args = args
        self._coroutine = handler(*args) if inspect.iscoroutinefunction(handler) else None

    def __call__(self) -> None:
        if self._coroutine is None:
            self._handler(*self._args)
        else:
            with contextlib.suppress(StopIteration):
                self._coroutine.send(None)


class Client:
    def __init__(self) -> None:
        self.future = Future()

    def get_pending_request(self, _: int) -> Future:
        return self.future


class Executor:
    def _take_client(self, _: Client) -> str:
        return "response"


class Numbered(Tracepoints):
    """Calls with their first argument."""

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self.calls.append(" ".join(map(str, (name, *arguments[:1]))))


class Waiting(NamedTuple):
    trace: Numbered
    task: Any
    future: Any

    def answer(self, client: Client) -> None:
        """The response of the client's request comes."""
        executor = self.task.Executor()
        executor._take_client(client)
        future = client.get_pending_request(1)
        future._is_done = True
        for callback in future._callbacks:
            self.task.Task(callback, (future,))()


@pytest.fixture
def waiting(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Waiting:
    trace = Numbered()
    monkeypatch.setattr(hook, "_handles", itertools.count(1))
    fresh = {each.__name__: type(each.__name__, (each,), {}) for each in (Future, Task, Executor)}
    wait_set = type("WaitSet", (), {"wait": lambda *_: None})
    module = SimpleNamespace(**fresh, Client=Client, _rclpy=SimpleNamespace(WaitSet=wait_set))
    monkeypatch.setattr(Client, "get_pending_request", Client.get_pending_request)
    instrumentation = hook._Instrumentation(trace)
    for name in ("task", "client", "executors"):
        getattr(instrumentation, name)(module)
    return Waiting(trace, module, module.Future)


def test_a_done_callback_runs_with_the_response_that_completed_its_future(
    waiting: Waiting,
) -> None:
    first, second = Client(), Client()
    for client in (first, second):
        client.future._callbacks.append(lambda _: waiting.trace.calls.append("sends"))
    waiting.answer(first)
    waiting.answer(second)
    calls = [call for call in waiting.trace.calls if not call.startswith("client_library")]
    assert calls == [
        *("message_kept 2", "message_chosen 2", "callback_start 1", "sends", "callback_end 1"),
        *("message_kept 4", "message_chosen 4", "callback_start 3", "sends", "callback_end 3"),
    ]


def test_a_coroutine_goes_on_with_the_response_that_it_awaited(waiting: Waiting) -> None:
    first, second = Client(), Client()
    first.future, second.future = waiting.future(), waiting.future()

    async def ask_both() -> None:
        await first.future
        waiting.trace.calls.append("asks")
        await second.future
        waiting.trace.calls.append("sends")

    task = waiting.task.Task(ask_both)
    task()
    task()  # polls
    waiting.answer(first)
    task()
    task()
    waiting.answer(second)
    task()
    calls = [call for call in waiting.trace.calls if not call.startswith("client_library")]
    assert calls == [
        *("message_kept 2", "message_chosen 2", "callback_start 1", "asks", "callback_end 1"),
        *("message_kept 4", "message_chosen 4", "callback_start 3", "sends", "callback_end 3"),
    ]


def test_a_response_for_which_nobody_waits_ends_with_its_future(waiting: Waiting) -> None:
    waiting.answer(Client())
    assert waiting.trace.calls[-1].strip() == "rclcpp_executor_get_next_ready"
