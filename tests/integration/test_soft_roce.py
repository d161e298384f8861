"""Real RDMA without a network card for it: Soft-RoCE (rdma_rxe) between two small virtual machines.

Not run yet anywhere: what it would need and a machine lacks is what the slow test says. Set
TAKT_SOFT_ROCE=1 and read the reason with `pytest -rs`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QEMU = "qemu-system-x86_64"
MODULE = "kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko*"


def missing(system: Path, sources: Path, find: Callable[[str], str | None]) -> list[str]:
    """What stands in the way, each with its remedy. `system`: where /lib/modules and /usr are."""
    found = []
    if not list((sources / "libtakt/transport").rglob("*verbs*")):
        found.append("libtakt/transport has no connection on libibverbs yet")
    if not (system / "usr/include/infiniband/verbs.h").exists():
        found.append("libibverbs is not installed (apt-get install libibverbs-dev)")
    if find(QEMU) is None:
        found.append(f"{QEMU} is not installed (apt-get install qemu-system-x86)")
    folders = [system / "lib/modules", system / "usr/lib/modules"]
    if not any(list(folder.glob(f"*/{MODULE}")) for folder in folders):
        found.append(
            "no kernel with the module rdma_rxe is installed (apt-get install linux-image-amd64)"
        )
    return found


def test_each_reason_is_named_once_and_goes_with_its_cause(tmp_path: Path) -> None:
    def nowhere(_: str) -> None:
        return None

    assert len(missing(tmp_path, tmp_path, nowhere)) == 4
    steps = (
        tmp_path / "libtakt/transport/src/verbs_line.cpp",
        tmp_path / "usr/include/infiniband/verbs.h",
        tmp_path / "lib/modules/6.1.0-amd64" / MODULE.replace("*", ".xz"),
    )
    for step, path in enumerate(steps):
        path.parent.mkdir(parents=True)
        path.touch()
        assert len(missing(tmp_path, tmp_path, nowhere)) == 3 - step
    assert missing(tmp_path, tmp_path, nowhere) == [
        f"{QEMU} is not installed (apt-get install qemu-system-x86)"
    ]
    assert missing(tmp_path, tmp_path, lambda name: f"/usr/bin/{name}") == []


@pytest.mark.skipif(not os.environ.get("TAKT_SOFT_ROCE"), reason="slow; TAKT_SOFT_ROCE=1 runs it")
def test_two_virtual_machines_exchange_messages_over_soft_roce() -> None:
    reasons = missing(Path("/"), ROOT, shutil.which)
    if reasons:
        pytest.skip("no Soft-RoCE here: " + "; ".join(reasons))
    pytest.fail("all that it needs is there now, so it can be written")
