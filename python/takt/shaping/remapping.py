"""How a program's output comes to its gate: by ROS 2's remapping, without any change to it."""

from __future__ import annotations

from collections.abc import Sequence

from takt.documents import Shaping
from takt.errors import UserError


def rules(plan: Shaping) -> list[tuple[str, str]]:
    """Pairs of old and new name, for the last node of each chain only: consumers keep the name."""
    found = []
    for chain in plan.chains:
        gate = chain.gate
        if gate.topic is None or gate.input is None:
            continue
        node = gate.node.rsplit("/", 1)[-1] + ":" if gate.node else ""
        found.append((f"{node}{gate.topic}", gate.input))
    return found


def remapped(command: Sequence[str], plan: Shaping) -> list[str]:
    """The command with the arguments that remap. UserError for launch files, which take none."""
    if "launch" in command[1:2] and command[0].rsplit("/", 1)[-1] == "ros2":
        raise UserError(
            "'ros2 launch' takes no remappings; give the chain's last node "
            f"{_launch_remappings(plan)} in the launch file, and run 'takt apply' beside it"
        )
    arguments = [part for name, to in rules(plan) for part in ("-r", f"{name}:={to}")]
    return [*command, "--ros-args", *arguments] if arguments else list(command)


def _launch_remappings(plan: Shaping) -> str:
    gates = [chain.gate for chain in plan.chains]
    pairs = [f"('{gate.topic}', '{gate.input}')" for gate in gates if gate.topic]
    return f"remappings=[{', '.join(pairs)}]"
