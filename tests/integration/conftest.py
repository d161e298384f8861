"""Every ROS 2 program that a test starts keeps to the loopback interface."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from recording import needs_privileges, until
from takt import loopback

inherited = loopback.environment()
os.environ.clear()
os.environ.update(inherited)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Probes in the kernel see what all processes do, and know them by the machine's numbers."""
    for item in items:
        if needs_privileges.mark in item.iter_markers("skipif"):
            item.add_marker("alone")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 MiB, which `recording.fill` makes too small for LTTng."""
    if os.geteuid() != 0:
        pytest.skip("mounts need root")
    mounted = tmp_path / "disk"
    mounted.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", str(mounted)], check=True)
    yield mounted
    subprocess.run(["umount", "--lazy", str(mounted)], check=True)


@pytest.fixture
def ordinary_user(tmp_path: Path) -> Iterator[list[str]]:
    """What to put before a command so that it runs without any privilege and with a home of its
    own; a session daemon that it starts is ended.
    """
    home = tmp_path / "home"
    home.mkdir()
    yield ["unshare", "--user", "--map-user=1234", "--map-group=1234", "env", f"HOME={home}"]
    number = home / ".lttng" / "lttng-sessiond.pid"
    if number.exists():
        os.kill(int(number.read_text()), signal.SIGTERM)
        until(lambda: not number.exists())
