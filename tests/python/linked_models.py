"""Parts of models whose messages take links."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

MS = 1_000_000


def callback(name: str, executor: str, topic: str | None = None, period: int = 0) -> Json:
    """A subscription of the topic, or without one a timer; in a node of its own, for 1 ms."""
    found: Json = {
        "id": name,
        "node": f"/{name}",
        "executor": executor,
        "kind": "subscription" if topic else "timer",
        "execution_time": {"curve": [MS]},
    }
    if topic:
        return found | {"topic": topic}
    return found | {"activation": {"kind": "periodic", "period": period}}
