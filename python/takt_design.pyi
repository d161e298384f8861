"""Types of the extension for what is tried out on a model (python/native/design)."""

from collections.abc import Callable
from typing import Any

MOST_RELEASES: int

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
def plan(text: str, source: str, options: str) -> str: ...
def choose_chunk(bandwidth: float, overhead: int, share: float) -> int: ...
def simulate(
    text: str,
    source: str,
    options: str,
    recording: str = "",
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
