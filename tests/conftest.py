"""What all tests in Python share."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Commands are to write in time for others than those whose environment has it.
os.environ.pop("PYTHONUNBUFFERED", None)

# No property is about time, and a machine may hold up any example for longer than any limit.
settings.register_profile("takt", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("takt")
