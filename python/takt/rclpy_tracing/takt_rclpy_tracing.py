"""Emits the events of rclcpp's callbacks for rclpy's callbacks, which have none of their own.

rcl's events tell of rclpy's nodes, publishers, subscriptions, timers and messages, but not what
runs when. Here rclpy's entities get their callback wrapped as they are made, so that whichever
executor calls it, callback_start and callback_end enclose it. For a coroutine they enclose only the
first step, up to where it waits: then its thread does other things.

A response completes a future, and what waits for that goes on later, when other responses may have
been taken: done callbacks are tasks of the executor, and coroutines are run until the future is
done. So the response is kept (message_kept) until one of these begins (message_chosen), as a run of
the client's callback up to where the task waits or ends. If several wait for the same response, the
others are runs without a message.

Loaded into the recorded program, which may be any Python with ROS 2: standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.machinery
import inspect
import itertools
import sys
import threading
from ctypes import c_bool, c_char_p, c_int64, c_void_p
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator

_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "rclcpp_subscription_init": (c_void_p, c_void_p),
    "rclcpp_subscription_callback_added": (c_void_p, c_void_p),
    "rclcpp_timer_callback_added": (c_void_p, c_void_p),
    "rclcpp_timer_link_node": (c_void_p, c_void_p),
    "rclcpp_service_callback_added": (c_void_p, c_void_p),
    "rclcpp_callback_register": (c_void_p, c_char_p),
    "rclcpp_executor_wait_for_work": (c_int64,),
    "rclcpp_executor_get_next_ready": (),
    "callback_start": (c_void_p, c_bool),
    "callback_end": (c_void_p,),
}
_OWN_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "client_library": (c_char_p,),
    "rate_sleep": (c_int64,),
    "rate_wakeup": (),
    "message_kept": (c_void_p,),
    "message_chosen": (c_void_p,),
}
"""The arguments of Takt's own tracepoints."""

_handles = itertools.count(1)
"""Numbers that identify callbacks, subscriptions and responses; Python reuses their addresses."""


def _say(text: str) -> None:
    with contextlib.suppress(Exception):  # a program may have closed it, or have none
        sys.stderr.write(f"takt: {text}\n")


class _Harmless:
    """Whatever goes wrong within is one line on standard error: the program goes on untraced."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> bool:
        if not isinstance(error, Exception):
            return error is None
        text = f"something is not traced: {error!r}"
        if text not in self._said:
            self._said.add(text)
            _say(text)
        return True


_harmless = _Harmless()


class _Tracepoints:
    """libtracetools.so of this process: a method for each tracepoint, which keeps the GIL."""

    def __init__(self) -> None:
        library = ctypes.PyDLL("libtracetools.so")
        for prefix, functions in (("ros_trace_", _ARGUMENTS), ("takt_trace_", _OWN_ARGUMENTS)):
            for name, arguments in functions.items():
                function = library[prefix + name]
                function.argtypes = arguments
                function.restype = None
                setattr(self, name, function)


class _Response:
    """The response that completed a future: its number, and the callback of its client."""

    def __init__(self, callback: int) -> None:
        self.number = next(_handles)
        self.callback = callback


class _Thread(threading.local):
    """What a thread does."""

    takes_response = False
    """One of rclpy's executors has taken a response on it."""
    callback: int | None = None
    """That of the client which runs in the task that was called last; 0: none; None: no task is."""


def _is_of_rclpy(callback: Any) -> bool:
    return str(getattr(callback, "__module__", "")).partition(".")[0] == "rclpy"


class _FirstStep:
    """An awaitable that runs a coroutine and calls before and after its first step."""

    def __init__(
        self,
        coroutine: Coroutine[Any, Any, Any],
        before: Callable[[], None],
        after: Callable[[], None],
    ) -> None:
        self._coroutine = coroutine
        self._before = before
        self._after = after

    def __await__(self) -> Generator[Any, Any, Any]:
        try:
            self._before()
            try:
                awaited = self._coroutine.send(None)
            finally:
                self._after()
            while True:
                try:
                    resume = functools.partial(self._coroutine.send, (yield awaited))
                except BaseException as thrown:  # GeneratorExit too: the coroutine handles it
                    resume = functools.partial(self._coroutine.throw, thrown)
                awaited = resume()
        except StopIteration as finished:
            return finished.value


class _Instrumentation:
    """Wraps the functions of each module of rclpy once it is loaded."""

    def __init__(self, tracepoints: Any) -> None:
        self._trace = tracepoints
        self._here = _Thread()

    def subscription(self, module: Any) -> None:
        trace = self._trace

        def link(subscription: Any, handle: int) -> None:
            """rclcpp's subscription object stands between rcl's and the callback."""
            intermediate = next(_handles)
            trace.rclcpp_subscription_init(subscription.handle.pointer, intermediate)
            trace.rclcpp_subscription_callback_added(intermediate, handle)

        self._callbacks_of(module.Subscription, link)

    def timer(self, module: Any) -> None:
        def link(timer: Any, handle: int) -> None:
            self._trace.rclcpp_timer_callback_added(timer.handle.pointer, handle)

        self._callbacks_of(module.Timer, link)
        sleep = module.Rate.sleep
        trace = self._trace

        @functools.wraps(sleep)
        def traced_sleep(rate: Any) -> None:
            with _harmless:
                trace.rate_sleep(rate._timer.timer_period_ns)
            try:
                sleep(rate)
            finally:
                trace.rate_wakeup()

        module.Rate.sleep = traced_sleep

    def service(self, module: Any) -> None:
        def link(service: Any, handle: int) -> None:
            self._trace.rclcpp_service_callback_added(service.handle.pointer, handle)

        self._callbacks_of(module.Service, link)

    def node(self, module: Any) -> None:
        create_timer = module.Node.create_timer
        trace = self._trace

        @functools.wraps(create_timer)
        def create_linked_timer(node: Any, *arguments: Any, **named: Any) -> Any:
            timer = create_timer(node, *arguments, **named)
            with _harmless:
                trace.rclcpp_timer_link_node(timer.handle.pointer, node.handle.pointer)
            return timer

        module.Node.create_timer = create_linked_timer

    def executors(self, module: Any) -> None:
        """Traces when an executor waits, which separates its overhead from its idle time, and that
        it is one of rclpy, which decides in what order it runs what is ready.
        """
        initialise = module.Executor.__init__
        take_client = module.Executor._take_client

        @functools.wraps(take_client)
        def take_traced_client(executor: Any, client: Any) -> Any:
            taken = take_client(executor, client)
            self._here.takes_response = taken is not None
            return taken

        # Those of Takt take responses themselves, and tell what runs for them.
        module.Executor._take_client = take_traced_client

        @functools.wraps(initialise)
        def initialise_traced(made: Any, *arguments: Any, **named: Any) -> None:
            # Not on import: a program that makes no object of ROS 2 is left as it is.
            with _harmless:
                self._trace.client_library(b"rclpy")
            initialise(made, *arguments, **named)

        module.Executor.__init__ = initialise_traced
        wait_set = module._rclpy.WaitSet
        wait = wait_set.wait
        trace = self._trace

        def traced_wait(self: Any, timeout: int) -> Any:
            with _harmless:
                trace.rclcpp_executor_wait_for_work(timeout)
            try:
                return wait(self, timeout)
            finally:
                trace.rclcpp_executor_get_next_ready()

        wait_set.wait = traced_wait

    def client(self, module: Any) -> None:
        get_pending_request = module.Client.get_pending_request

        @functools.wraps(get_pending_request)
        def get_traced_request(client: Any, sequence_number: int) -> Any:
            takes, self._here.takes_response = self._here.takes_response, False
            future = get_pending_request(client, sequence_number)
            if takes:
                with _harmless:
                    self._hand_over(client, future)
            return future

        module.Client.get_pending_request = get_traced_request

    def _hand_over(self, client: Any, future: Any) -> None:
        """The response that the thread has taken completes the future."""
        waiting = list(future._callbacks)
        if getattr(future, "_takt_is_awaited", False) or not all(map(_is_of_rclpy, waiting)):
            if not hasattr(client, "_takt_callback"):
                client._takt_callback = next(_handles)
            future._takt_response = _Response(client._takt_callback)
            self._trace.message_kept(future._takt_response.number)
        elif not any(getattr(each, "__module__", "") == "rclpy.executors" for each in waiting):
            # Nobody waits: with this the run ends that began with the take. But a thread that spins
            # until the future is done goes on with it.
            self._trace.rclcpp_executor_get_next_ready()

    def task(self, module: Any) -> None:
        """Traces what goes on when a future is done: done callbacks, which rclpy runs as tasks with
        the future as argument, and coroutines.
        """
        here = self._here
        call, initialise = module.Task.__call__, module.Task.__init__
        await_future = module.Future.__await__

        @functools.wraps(call)
        def call_traced(task: Any) -> None:
            outer, here.callback = here.callback, 0  # tasks run within tasks that spin
            try:
                call(task)
            finally:
                with _harmless:
                    self._end_run()
                here.callback = outer

        @functools.wraps(initialise)
        def initialise_traced(task: Any, handler: Any, *arguments: Any, **named: Any) -> None:
            traced = handler
            with _harmless:
                passed = arguments[0] if arguments else named.get("args")
                if passed and hasattr(passed[0], "_takt_response") and not _is_of_rclpy(handler):
                    traced = self._done_callback(handler, passed[0])
            initialise(task, traced, *arguments, **named)

        @functools.wraps(await_future)
        def await_traced(future: Any) -> Generator[Any, Any, Any]:
            waits = not future.done() and not future.cancelled()
            if not waits:
                return (yield from await_future(future))
            future._takt_is_awaited = True
            try:
                return (yield from await_future(future))
            finally:
                if future.done():
                    with _harmless:
                        self._go_on(future)

        module.Task.__call__ = call_traced
        module.Task.__init__ = initialise_traced
        module.Future.__await__ = await_traced

    def _done_callback(self, callback: Callable[..., Any], future: Any) -> Callable[..., Any]:
        async def traced_coroutine(*arguments: Any, **named: Any) -> Any:
            with _harmless:
                self._go_on(future)
            return await callback(*arguments, **named)

        def traced_call(*arguments: Any, **named: Any) -> Any:
            with _harmless:
                self._go_on(future)
            return callback(*arguments, **named)

        return traced_coroutine if inspect.iscoroutinefunction(callback) else traced_call

    def _go_on(self, future: Any) -> None:
        """What runs now on the thread does so because the future is done."""
        self._end_run()
        response = getattr(future, "_takt_response", None)
        if response is not None and self._here.callback is not None:
            self._trace.message_chosen(response.number)
            self._trace.callback_start(response.callback, False)
            self._here.callback = response.callback

    def _end_run(self) -> None:
        if self._here.callback:
            self._trace.callback_end(self._here.callback)
            self._here.callback = 0

    def _callbacks_of(self, entity: Any, link: Callable[[Any, int], None]) -> None:
        """Has the callback of every such entity traced from now on."""
        initialise = entity.__init__
        signature = inspect.signature(initialise)

        @functools.wraps(initialise)
        def initialise_traced(made: Any, *arguments: Any, **named: Any) -> None:
            traced = None
            # TypeError: arguments that do not fit, about which rclpy itself complains.
            with _harmless, contextlib.suppress(TypeError):
                bound = signature.bind(made, *arguments, **named)
                callback = bound.arguments.get("callback")
                if callback is not None:
                    handle = next(_handles)
                    traced = self._traced(callback, handle)
            if traced is None:
                initialise(made, *arguments, **named)
                return
            bound.arguments["callback"] = traced
            initialise(*bound.args, **bound.kwargs)
            with _harmless:
                link(made, handle)
                self._trace.rclcpp_callback_register(handle, _name(traced).encode())

        entity.__init__ = initialise_traced

    def _traced(self, callback: Callable[..., Any], handle: int) -> Callable[..., Any]:
        start = functools.partial(self._trace.callback_start, handle, False)
        end = functools.partial(self._trace.callback_end, handle)

        async def traced_coroutine(*arguments: Any, **named: Any) -> Any:
            return await _FirstStep(callback(*arguments, **named), start, end)

        def traced_call(*arguments: Any, **named: Any) -> Any:
            start()
            try:
                return callback(*arguments, **named)
            finally:
                end()

        traced: Any = traced_coroutine if inspect.iscoroutinefunction(callback) else traced_call
        functools.update_wrapper(traced, callback, updated=())
        # rclpy passes what the signature asks for. A function of a C library may have none, which
        # rclpy then finds out by itself: it follows `__wrapped__`.
        with contextlib.suppress(TypeError, ValueError):
            traced.__signature__ = inspect.signature(callback)
        return traced  # type: ignore[no-any-return]


def _name(callback: Callable[..., Any]) -> str:
    """Where the callback was written: module and qualified name."""
    function: Any = inspect.unwrap(callback)
    while isinstance(function, functools.partial):
        function = function.func
    if not hasattr(function, "__qualname__"):
        function = type(function)
    return f"{function.__module__}.{function.__qualname__}"


_INSTRUMENTED = {
    "rclpy." + module
    for module in ("subscription", "timer", "service", "client", "node", "task", "executors")
}


class _OnImport:
    """A finder on sys.meta_path that has modules instrumented once they are loaded."""

    def __init__(self) -> None:
        self._instrumentation: _Instrumentation | None = None

    def find_spec(
        self, name: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in _INSTRUMENTED:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_instrument(loaded: Any) -> None:
            load(loaded)
            try:
                if self._instrumentation is None:
                    self._instrumentation = _Instrumentation(_Tracepoints())
                getattr(self._instrumentation, name.split(".")[1])(loaded)
            except Exception as error:
                _say(f"{name} is not traced: {error}")

        with _harmless:
            spec.loader.exec_module = load_and_instrument  # type: ignore[method-assign,assignment]
        return spec


def instrument_on_import() -> None:
    """Has rclpy traced when, and if, this program imports it."""
    sys.meta_path.insert(0, _OnImport())
