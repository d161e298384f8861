"""Real RDMA without a network card for it: Soft-RoCE (rdma_rxe) between two small virtual machines.

There is no such test yet. TAKT_SOFT_ROCE=1 and `pytest -rs` say what it lacks on a machine.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

QEMU = "qemu-system-x86_64"


@pytest.mark.skipif(not os.environ.get("TAKT_SOFT_ROCE"), reason="slow; TAKT_SOFT_ROCE=1 runs it")
def test_two_virtual_machines_exchange_messages_over_soft_roce() -> None:
    missing = []
    if not Path("/usr/include/infiniband/verbs.h").exists():
        missing.append("libibverbs (apt-get install libibverbs-dev)")
    if shutil.which(QEMU) is None:
        missing.append(f"{QEMU} (apt-get install qemu-system-x86)")
    if not list(Path("/lib/modules").glob("*/kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko*")):
        missing.append("a kernel with the module rdma_rxe (apt-get install linux-image-amd64)")
    if missing:
        pytest.skip("no Soft-RoCE here, for want of " + ", ".join(missing))
    pytest.fail("libtakt/transport has no connection on libibverbs yet, though one could be tested")
