#!/usr/bin/env bash
# Python in namespaces of its own: tests of several workers see neither each other's ROS 2 programs,
# processes and shared memory nor each other's LTTng and recorders. Needs root.
set -euo pipefail
if [ "$1" != inside ]; then
  exec unshare --net --mount --ipc --pid --fork --kill-child --mount-proc "$0" inside "$@"
fi
shift
ip link set lo up
for folder in /dev/shm /run/lttng /run/netns /run/takt-gate; do
  mkdir -p "$folder"
  mount -t tmpfs tmpfs "$folder"
done

# Recorders and robots meet in /run/takt-gate or /tmp/takt-USER. Else /tmp has what it had.
shopt -s dotglob nullglob
shared=$(mktemp -d /dev/shm/XXXXXX)
mount --rbind /tmp "$shared"
mount -t tmpfs -o mode=1777 tmpfs /tmp
for entry in "$shared"/*; do
  name=$(basename "$entry")
  if [[ $name =~ ^takt-[0-9]+(-recorders)?$ ]]; then
    continue
  elif [ -L "$entry" ]; then
    cp -P "$entry" /tmp/
  elif [ -d "$entry" ]; then
    mkdir "/tmp/$name"
    mount --rbind "$entry" "/tmp/$name" 2>/dev/null || rmdir "/tmp/$name" # it has just gone
  fi
done
umount --recursive "$shared"
rmdir "$shared"

# Not in place of this shell, which is the first process: it takes note of the end of orphans.
python "$@"
