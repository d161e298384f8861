"""What watching the navigation robot costs (models/navigation_robot.json): the processor time of
the process that watches, its events ten times a second, its model and bounds every six seconds.
Documented of the published extractor (ros-llama S-5.4): 16 to 19 % of a core.

    navigation.py [SECONDS]

Its last line is missing, and its status 1, if events alone take 1 % of a core or more.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import takt_native
from takt.recordings import recorder

MODEL = Path(__file__).resolve().parents[2] / "models" / "navigation_robot.json"
PERIOD = 0.1
MODEL_PERIOD = 6.0
LIMIT = 1.0
PUBLISHED = "16 to 19"


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    watch = takt_native.Watch("ring", None, "", only_started=True, window=10**10)
    environment = recorder.traced(os.environ, watch, recorder.preloaded("ring"))
    command = [sys.executable, "-m", "takt", "run", str(MODEL), "--duration", str(seconds)]
    events = models = 0.0
    modelled = begin = time.monotonic()
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as robot:
        while robot.poll() is None:
            before = time.process_time()
            watch.poll()
            events += time.process_time() - before
            if time.monotonic() - modelled >= MODEL_PERIOD:
                modelled = time.monotonic()
                before = time.process_time()
                watch.refresh()
                models += time.process_time() - before
            try:
                robot.wait(PERIOD)
            except subprocess.TimeoutExpired:
                continue
    duration = time.monotonic() - begin
    print(f"{'':<34} {'% of a core':>12} {'published':>12}")
    for name, used, published in (
        ("events of the navigation robot", events, PUBLISHED),
        ("its model and bounds, every 6 s", models, ""),
    ):
        print(f"{name:<34} {100 * used / duration:>12.2f} {published:>12}")
    if robot.returncode != 0 or 100 * events / duration >= LIMIT:
        return 1
    print(f"{duration:.0f} s, load {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
