#!/usr/bin/env bash
# Makes the Python environment .venv from the lock files, with ROS 2 in it unless a ROS 2 installation
# is sourced, and writes build/setup. The environment is a pure function of its inputs: when one of
# them changes it is made anew, from the installer's cache.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./messages.sh
root=$(cd .. && pwd)
venv=$root/.venv

# A ROS 2 installation that is sourced in this shell, other than the one in .venv.
sourced_ros() {
  local prefix
  while IFS= read -r -d : prefix; do
    if [ "$prefix" != "$venv" ] && [ -e "$prefix/share/rcl/cmake/rclConfig.cmake" ]; then
      printf '%s\n' "$prefix"
      return
    fi
  done <<<"${AMENT_PREFIX_PATH:-}:"
}

suitable() { # PYTHON: one that can make environments, of a version that the locks are for
  command -v "$1" >/dev/null && "$1" -c '
import ensurepip, sys, venv
sys.exit(not (3, 10) <= sys.version_info < (3, 14))' 2>/dev/null
}

choose_python() {
  local candidate
  if [ -n "${TAKT_PYTHON:-}" ]; then
    suitable "$TAKT_PYTHON" || fail "TAKT_PYTHON=$TAKT_PYTHON is not a Python 3.10 to 3.13 with venv"
    printf '%s\n' "$TAKT_PYTHON"
    return
  fi
  for candidate in "$@"; do
    if suitable "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  fail "no Python 3.10 to 3.13 with venv found: install one and name it, TAKT_PYTHON=/path/to/python3"
}

requirements=(requirements/bootstrap.lock requirements/python.lock)
# Their numpy is that of ROS 2, which these locks do not have.
on_numpy=(requirements/estimation.lock requirements/fleet.lock)
ros=$(sourced_ros)
if [ -n "$ros" ]; then
  export TAKT_ROS_DISTRO=
  # The installation's Python packages belong to the system's Python, and need packages of it.
  python=$(choose_python /usr/bin/python3)
  venv_options=(--system-site-packages)
  description="ROS 2 of $ros"
else
  export TAKT_ROS_DISTRO=${TAKT_ROS_DISTRO:-jazzy}
  lock=requirements/ros-$TAKT_ROS_DISTRO.lock
  [ -e "$lock" ] || fail "TAKT_ROS_DISTRO=$TAKT_ROS_DISTRO is neither jazzy nor kilted"
  [ "$(uname -m)" = x86_64 ] || fail "ROS 2 comes as wheels for x86-64 only: install ROS 2" \
    "$TAKT_ROS_DISTRO for $(uname -m) (docs.ros.org, Installation), source its setup.bash and repeat"
  requirements+=("$lock")
  python=$(choose_python python3 /usr/bin/python3 python3.{12,11,13,10})
  venv_options=()
  description="ROS 2 $TAKT_ROS_DISTRO"
fi

state=$("$python" -c 'import sys; print(sys.version, sys.executable)')
state+=" $venv $ros ${venv_options[*]} $(cat "${requirements[@]}" "${on_numpy[@]}" ros_wheels.py python.sh | sha256sum)"
if [ "$(cat "$venv/takt-state" 2>/dev/null)" != "$state" ]; then
  say "making .venv ($("$python" --version), $description)"
  rm -rf "$venv"
  "$python" -m venv "${venv_options[@]}" "$venv"
  options=(--require-hashes --no-build-isolation "${requirements[@]/#/--requirement=}")
  # Isolated: what a sourced installation puts on PYTHONPATH is not installed here.
  "$venv/bin/python" -I -m pip install --quiet --disable-pip-version-check --require-hashes \
    --requirement requirements/bootstrap.lock ||
    fail "pip could not install requirements/bootstrap.lock (its messages are above)"
  "$venv/bin/uv" pip install --quiet --python "$venv/bin/python" "${options[@]}" ||
    fail "uv could not install the locked Python packages (its messages are above)"
  "$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --require-hashes --no-deps \
    "${on_numpy[@]/#/--requirement=}" || fail "uv could not install ${on_numpy[*]} (its messages are above)"
  [ -n "$ros" ] || "$venv/bin/python" ros_wheels.py
  printf '%s' "$state" >"$venv/takt-state"
fi
"$venv/bin/python" environment.py
# Bytecode of what commands import, which Python keeps by itself unless PYTHONDONTWRITEBYTECODE is set.
"$venv/bin/python" -m compileall -q "$root/python/takt" "$venv"/lib/python3*/site-packages/click
