"""What runs beside the instances of entities."""

from __future__ import annotations

import functools
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.task import Future, Task

# After rclpy, whose libraries it shares.
import takt_executors

Work = Callable[[], None]


class Tasks:
    """Tasks, and coroutines that go on.

    Each step is an instance of a reentrant callback, so several threads run several of them at
    once. A task that awaits a future takes its next step when that is done, and one that waits for
    something else whenever a callback has run.
    """

    def __init__(self, executor: Any) -> None:
        self._executor = weakref.ref(executor)
        self._due: deque[Work] = deque()
        self._polled: list[Work] = []
        self._awaited: weakref.WeakKeyDictionary[Future, list[Work]] = weakref.WeakKeyDictionary()
        """What is to be done when futures are, which are asked once to tell of it."""
        self._lock = threading.Lock()
        myself = weakref.ref(self)

        def run(*_: object) -> None:
            if (tasks := myself()) is not None:
                tasks._run_next()

        self.executable = takt_executors.Trigger(run)

    def run(self, work: Work) -> None:
        """Some thread of the executor will do this."""
        self._due.append(work)
        self.executable.trigger()

    def begin(self, task: Task) -> None:
        """The task takes its first step, or its next."""
        self.run(functools.partial(self._step, task))

    def go_on(self, coroutine: Any, ended: Work) -> None:
        """A coroutine that has come to where it waits takes its other steps when it can, and then
        `ended` is done.
        """
        self._suspend(coroutine, functools.partial(self._continue, coroutine, ended))

    def when_done(self, future: Future, work: Work) -> None:
        with self._lock:
            if (known := self._awaited.get(future)) is not None:
                if work not in known:
                    known.append(work)
                return
            self._awaited[future] = [work]
        future.add_done_callback(self._is_done)

    def poll(self) -> None:
        """Tasks that wait for something else than futures look for it."""
        if self._polled:
            polled, self._polled = self._polled, []
            for step in polled:
                self.run(step)

    def _is_done(self, future: Future) -> None:
        with self._lock:
            works = self._awaited.pop(future, [])
        for work in works:
            work()

    def _run_next(self) -> None:
        executor = self._executor()
        if executor is not None and executor.runs:
            self._due.popleft()()

    def _step(self, task: Task) -> None:
        executor = self._executor()
        if executor is None:
            return
        executor.note_run()
        task()
        executor.note_step()
        if not task.done() and not task.cancelled():
            self._suspend(task._handler, functools.partial(self._step, task))
            return
        self.poll()
        if task.done() and (failure := task.exception()) is not None:
            raise failure

    def _continue(self, coroutine: Any, ended: Work) -> None:
        executor = self._executor()
        if executor is None:
            return
        executor.note_run()
        waits = False
        try:
            coroutine.send(None)
            waits = True
        except StopIteration:
            pass
        finally:
            executor.note_step()
            if waits:
                self.go_on(coroutine, ended)
            else:
                ended()
                self.poll()

    def _suspend(self, coroutine: Any, step: Work) -> None:
        """The step is taken when what the coroutine awaits is there."""
        future = awaited_future(coroutine)
        # Another executor may never run what would tell of its futures.
        if future is None or future._executor() not in (None, self._executor()):
            self._polled.append(step)
        else:
            self.when_done(future, functools.partial(self.run, step))


def awaited_future(coroutine: Any) -> Future | None:
    """The future that a suspended coroutine awaits; None: it waits for something else."""
    while (inner := getattr(coroutine, "cr_await", None)) is not None:
        coroutine = inner
    frame = getattr(coroutine, "gi_frame", None)
    owner = frame.f_locals.get("self") if frame is not None else None
    return owner if isinstance(owner, Future) else None
