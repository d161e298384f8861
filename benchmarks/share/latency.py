"""How long messages take between two stock programs of rclpy, or of rclcpp: by Fast DDS as it is
delivered, and through shared memory (`takt share`), in one run.

    python benchmarks/share/latency.py [--rounds 3] [--messages 60] [--rclcpp single|multi|events]

Needs root: each pair of programs has a network namespace of its own, with Fast DDS's default
transports. Messages are sensor_msgs/Image at 30 Hz; those of rclpy are published and taken
serialised, so that no conversion to Python counts. Programs of rclcpp (rclcpp_sharing of the
integration tests) are built where CMake finds it. Prints the median and the 99th percentile of all
rounds, which take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SIZES = {"1 KiB": 1 << 10, "1 MiB": 1 << 20, "8 MiB": 8 << 20}
TALK = """
import json, sys, time, rclpy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image
size, count = int(sys.argv[1]), int(sys.argv[2])
rclpy.init()
node = rclpy.create_node("talk")
publisher = node.create_publisher(Image, "image", 10)
plain = serialize_message(Image(data=bytes(size)))[:-8]
while publisher.get_subscription_count() < 1:
    time.sleep(0.01)
published = []
for number in range(count):
    message = plain + number.to_bytes(8, "little")
    time.sleep(1 / 30)
    published.append(time.monotonic_ns())
    publisher.publish(message)
time.sleep(1)
print(json.dumps(published))
"""
LISTEN = """
import json, sys, time, rclpy
from sensor_msgs.msg import Image
count = int(sys.argv[1])
rclpy.init()
node = rclpy.create_node("listen")
heard = {}
def hear(message):
    now = time.monotonic_ns()
    heard[int.from_bytes(message[-8:], "little")] = now
node.create_subscription(Image, "image", hear, 10, raw=True)
end = time.monotonic() + 60
while count - 1 not in heard and time.monotonic() < end:
    rclpy.spin_once(node, timeout_sec=0.2)
print(json.dumps(heard))
"""
RCLCPP = Path(__file__).resolve().parents[2] / "build/release/tests/programs/rclcpp_sharing"
ALONE = (
    "ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo && "
    'for program in "$TALK" "$LISTEN"; do eval "$program" & done; wait'
)


def commands(size: int, count: int, executor: str, folder: Path) -> dict[str, str]:
    """Of one run."""
    if executor:
        return {
            "TALK": f"{RCLCPP} send {size} {count}",
            "LISTEN": f"{RCLCPP} hear {executor} {count}",
        }
    programs = {"TALK": (TALK, f"{size} {count}"), "LISTEN": (LISTEN, str(count))}
    made = {}
    for name, (text, arguments) in programs.items():
        program = folder / f"{name}.py"
        program.write_text(text)
        made[name] = f"{sys.executable} {program} {arguments}"
    return made


def latencies(size: int, count: int, executor: str, share: bool, folder: Path) -> list[float]:
    """Of one run, in microseconds, without the first ten messages."""
    takt = f"{sys.executable} -m takt share --" if share else ""
    files = {"TALK": folder / "talk", "LISTEN": folder / "listen"}
    environment = dict(os.environ) | {"XDG_RUNTIME_DIR": str(folder)}
    for name in ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"):
        environment.pop(name, None)
    for name, command in commands(size, count, executor, folder).items():
        environment[name] = f"{takt} {command} > {files[name]}"
    subprocess.run(
        ["unshare", "--net", "sh", "-c", ALONE], env=environment, check=True, timeout=120
    )
    published = json.loads(files["TALK"].read_text())
    heard = json.loads(files["LISTEN"].read_text())
    return [
        (heard[str(number)] - time) / 1000
        for number, time in enumerate(published)
        if number >= 10 and str(number) in heard
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--messages", type=int, default=60)
    parser.add_argument("--rclcpp", metavar="EXECUTOR", default="")
    chosen = parser.parse_args()
    print("| size | by | messages | p50, µs | p99, µs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="takt-") as name:
        for size, length in SIZES.items():
            found: dict[bool, list[float]] = {False: [], True: []}
            for _ in range(chosen.rounds):
                for share, all_of in found.items():
                    all_of += latencies(length, chosen.messages, chosen.rclcpp, share, Path(name))
            for share, all_of in found.items():
                way = "takt share" if share else "Fast DDS as delivered"
                worst = statistics.quantiles(all_of, n=100)[98]
                median = statistics.median(all_of)
                print(
                    f"| {size} | {way} | {len(all_of)} | {median:.0f} | {worst:.0f} |", flush=True
                )


if __name__ == "__main__":
    main()
