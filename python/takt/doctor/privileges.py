"""What the kernel lets this process do."""

from __future__ import annotations

import os
from pathlib import Path

from takt.doctor.check import Check, State

# Numbers of <linux/capability.h>.
CAPABILITIES = {
    "CAP_NET_ADMIN": 12,
    "CAP_IPC_LOCK": 14,
    "CAP_SYS_ADMIN": 21,
    "CAP_SYS_NICE": 23,
    "CAP_PERFMON": 38,
    "CAP_BPF": 39,
}


def capabilities() -> set[str]:
    """The capabilities that matter to Takt and are effective in this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            mask = int(line.split()[1], 16)
            return {name for name, bit in CAPABILITIES.items() if mask >> bit & 1}
    return set()


def privileges() -> Check:
    held = capabilities()
    lacking = [name for name in CAPABILITIES if name not in held]
    user = "root" if os.geteuid() == 0 else f"user {os.geteuid()}"
    facts = {"uid": os.geteuid(), "capabilities": sorted(held)}
    if not lacking:
        return Check(
            "privileges",
            "Privileges",
            State.OK,
            f"{user} with all capabilities needed",
            facts=facts,
        )
    return Check(
        "privileges",
        "Privileges",
        State.LIMITED,
        f"{user} without {', '.join(lacking)}",
        "run as root, or in a container with these capabilities added",
        facts=facts,
    )
