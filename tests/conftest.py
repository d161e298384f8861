"""What all tests in Python share."""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Generator

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from hypothesis import HealthCheck, settings

# Commands are to write in time for others than those whose environment has it.
os.environ.pop("PYTHONUNBUFFERED", None)

# No property is about time, and a machine may hold up any example for longer than any limit.
settings.register_profile("takt", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("takt")

TEARDOWN_LIMIT = 300.0
"""Seconds; no test comes near this."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """A test's failure lifts all its limits of time: what cleans up then could wait for ever."""
    place = item.config.stash.get(fault_handler_stderr_fd_key, 2)
    faulthandler.dump_traceback_later(TEARDOWN_LIMIT, exit=True, file=place)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
