#!/usr/bin/env bash
# Python in namespaces of its own: tests of several workers see neither each other's ROS 2 programs,
# processes and shared memory nor each other's LTTng. Needs root.
set -euo pipefail
if [ "$1" != inside ]; then
  exec unshare --net --mount --ipc --pid --fork --kill-child --mount-proc "$0" inside "$@"
fi
shift
ip link set lo up
for folder in /dev/shm /run/lttng /run/netns; do
  mkdir -p "$folder"
  mount -t tmpfs tmpfs "$folder"
done
# Not in place of this shell, which is the first process: it takes note of the end of orphans.
python "$@"
