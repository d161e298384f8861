"""What all tests in Python share."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# No property is about time, and a machine may hold up any example for longer than any limit.
settings.register_profile("takt", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("takt")
