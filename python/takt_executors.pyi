"""The core of takt.executors (ros/rclpy)."""

from collections.abc import Callable

LONGEST_DEADLINE: int
"""In nanoseconds; plans have no longer one."""
MOST_WAITING: int
"""Expiries of a timer that wait to run, at most."""

class Executable: ...

class Subscription(Executable):
    def __init__(self, handle: int, run: Callable[[int], None]) -> None: ...

class Service(Executable):
    def __init__(self, handle: int, run: Callable[[int], None]) -> None: ...

class Client(Executable):
    def __init__(self, handle: int, run: Callable[[int], None]) -> None: ...

class Timer(Executable):
    def __init__(self, handle: int, run: Callable[[int], None]) -> None: ...

class Trigger(Executable):
    def __init__(self, run: Callable[[int], None]) -> None: ...
    def trigger(self) -> None: ...

class ScheduledEntity:
    def __init__(
        self,
        entity: Executable,
        *,
        node: str,
        kind: str,
        topic: str = "",
        period: int | None = None,
        group: int | None = None,
    ) -> None: ...

def read_plan(path: str, executor: str) -> tuple[str, list[str]]: ...

class Executor:
    def __init__(self, threads: int) -> None: ...
    def replace(self, entities: list[ScheduledEntity], plan: str, executor: str) -> str | None: ...
    def spin(self) -> None: ...
    def spin_once(self, timeout: int | None = None) -> bool: ...
    def cancel(self) -> None: ...
