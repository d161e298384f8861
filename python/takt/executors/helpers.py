"""Threads that run callbacks on behalf of a caller who does not wait for their ends."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class Helpers:
    """The threads of spin_once(), and of what calls it, for an executor of several threads. As with
    rclpy's, a call returns when a callback has begun, and what callbacks raise comes out of a later
    call.
    """

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="takt helper")
        self._here = threading.local()
        self._turns: list[threading.Event] = []
        self._failures: deque[BaseException] = deque()

    def take_turn(
        self, run: Callable[[Callable[[], bool]], None], done: Callable[[], bool]
    ) -> None:
        """Lets a thread call `run`, which runs a callback, or returns when its argument is true.
        This returns when the callback begins, or at nudge(). It does not wait if `done`, or after
        end(). Whoever makes `done` true must call nudge() afterwards.
        """
        turn = threading.Event()
        self._turns.append(turn)
        try:
            # From here on nobody who nudges passes it over.
            if not done() and self._submit(turn, run):
                turn.wait()
        finally:
            self._turns.remove(turn)
        try:
            failure = self._failures.popleft()
        except IndexError:
            return
        raise failure

    def _submit(self, turn: threading.Event, run: Callable[[Callable[[], bool]], None]) -> bool:
        try:
            self._pool.submit(self._serve, turn, run)
        except RuntimeError:  # it has been shut down
            return False
        return True

    def begin(self) -> None:
        """A callback begins on this thread: who waits for one goes on."""
        if (turn := getattr(self._here, "turn", None)) is not None:
            turn.set()

    def nudge(self) -> None:
        """Whoever waits shall look whether it still need wait."""
        for turn in list(self._turns):
            turn.set()

    def _serve(self, turn: threading.Event, run: Callable[[Callable[[], bool]], None]) -> None:
        self._here.turn = turn
        try:
            if not turn.is_set():
                run(turn.is_set)
        except BaseException as failure:
            self._failures.append(failure)
        finally:
            turn.set()

    def end(self) -> None:
        self._pool.shutdown(wait=False)
        # After this nobody waits anew.
        self.nudge()
