"""Runs a command and watches what it starts through the rings; writes the model at its end."""

import os
import subprocess
import sys
from pathlib import Path

import takt_native
from takt.recordings import recorder

result, *command = sys.argv[1:]
watch = takt_native.Watch("ring", None, "", only_started=True, window=10**9)
environment = recorder.traced(os.environ, watch, recorder.preloaded("ring"))
with subprocess.Popen(command, env=environment) as running:
    while running.poll() is None:
        watch.poll()
        try:
            running.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    watch.poll()
assert watch.refresh()
Path(result).write_text(watch.model())
sys.exit(running.returncode)
