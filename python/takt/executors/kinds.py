"""Types that the parts of the executors share."""

from __future__ import annotations

from typing import Any

Entity = Any
"""A timer, subscription, service, client, guard condition or waitable of rclpy."""
Json = dict[str, Any]
