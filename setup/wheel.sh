#!/usr/bin/env bash
# Builds the wheels of this commit into build/packaging/wheels: the command line and its extension for
# one CPython each, and what runs inside processes of ROS 2 Jazzy and Kilted. The same commit gives
# the same bytes.
#
#   TAKT_WHEEL_PYTHONS="3.10 /path/to/python3.12"   for which CPythons (default: the one of .venv)
#   TAKT_WHEEL_DISTRIBUTIONS="jazzy"                leaves Kilted out
#   CMAKE_ARGS=…                                    passed on, e.g. for a compiler cache; it prevails
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./messages.sh
root=$(cd .. && pwd)
work=$root/build/packaging
uv=$root/.venv/bin/uv
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
read -ra cmake_arguments <<<"${CMAKE_ARGS:-}"

# compiler LANGUAGE DEFAULT: the compiler that setup/ chose. Python's own choice of a compiler for
# extensions is ignored.
compiler() {
  local chosen
  chosen=$(sed -n "s/^set(CMAKE_$1_COMPILER \(.*\))/\1/p" "$root/build/setup/toolchain.cmake")
  printf '%s\n' "${chosen:-$2}"
}
CC=$(compiler C cc)
CXX=$(compiler CXX c++)
export CC CXX

# environment NAME PYTHON LOCK…: a Python environment, made anew when its locks change.
environment() {
  local folder=$work/$1 interpreter=$2 state
  shift 2
  state=$("$interpreter" --version; cat "$@" ros_wheels.py | sha256sum)
  [ "$(cat "$folder/takt-state" 2>/dev/null)" != "$state" ] || return 0
  say "making build/packaging/$(basename "$folder")"
  rm -rf "$folder"
  "$uv" venv --quiet --python "$interpreter" "$folder"
  local lock
  for lock in "$@"; do
    "$uv" pip install --quiet --python "$folder/bin/python" --require-hashes --no-build-isolation \
      --requirement "$lock" || fail "uv could not install $lock (its messages are above)"
  done
  case $folder in *ros-*) "$folder/bin/python" ros_wheels.py >&2 ;; esac
  printf '%s' "$state" >"$folder/takt-state"
}

# runtime DISTRIBUTION: what runs inside its processes, into runtimes/DISTRIBUTION.
runtime() {
  local distribution=$1 prefix=$work/ros-$1 build=$root/build/wheel-$1
  if (. "$root/build/setup/environment.sh"; [[ "$ROS_DISTRO:$AMENT_PREFIX_PATH:" == "$1:"*"$root/.venv:"* ]]); then
    prefix=$root/.venv
  else
    environment "ros-$distribution" "$root/.venv/bin/python" requirements/bootstrap.lock \
      requirements/python.lock "requirements/ros-$distribution.lock"
  fi
  options+=(--ros "$prefix/lib" --build "$build")
  cat >"$work/$distribution.cmake" <<TOOLCHAIN
set(ENV{AMENT_PREFIX_PATH} [[$prefix]])
list(PREPEND CMAKE_PREFIX_PATH [[$prefix]])
set(Python_EXECUTABLE [[$prefix/bin/python]])
set(Python3_EXECUTABLE [[$prefix/bin/python]])
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,--as-needed)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -Wl,--as-needed)
TOOLCHAIN
  say "building what runs inside ROS 2 $distribution"
  (
    export ROS_DISTRO=$distribution AMENT_PREFIX_PATH=$prefix PATH=$prefix/bin:$PATH
    export LD_LIBRARY_PATH=$prefix/lib _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
    cmake -S "$root" -B "$build" -G Ninja -Wno-dev --log-level=NOTICE \
      -DCMAKE_TOOLCHAIN_FILE="$work/$distribution.cmake" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
      -DTAKT_BUILD_PYTHON=OFF -DTAKT_BUILD_RCLCPP=OFF -DTAKT_BUILD_VERBS=OFF -DTAKT_REPRODUCIBLE=ON "${cmake_arguments[@]}"
    cmake --build "$build" --target takt_runtime
  ) >"$work/$distribution.log" 2>&1 || {
    tail -40 "$work/$distribution.log" >&2
    fail "what runs inside ROS 2 $distribution was not built (build/packaging/$distribution.log)"
  }
  rm -rf "$work/install" "$work/runtimes/$distribution"
  cmake --install "$build" --component runtime --strip --prefix "$work/install" >/dev/null
  mkdir -p "$work/runtimes"
  mv "$work/install/lib/takt" "$work/runtimes/$distribution"
}

# interpreter VERSION|PATH: one of this machine, whose version wheels are made for.
interpreter() {
  local found version
  found=$("$uv" python find --no-python-downloads "$1" 2>/dev/null) ||
    fail "CPython $1 is not on this machine: install it (uv python install $1) or leave it out"
  version=$("$found" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  case $version in
    3.10 | 3.11 | 3.12 | 3.13) printf '%s\n' "$found" ;;
    *) fail "$1 is Python $version: wheels are for CPython 3.10 to 3.13" ;;
  esac
}

# wheel PYTHON: the wheel for this interpreter. All share one build folder, so that only the
# extension itself is compiled again.
wheel() {
  local python=$1 version
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  environment "python-$version" "$python" requirements/python.lock
  say "building the wheel for CPython $version"
  rm -rf "$work/raw" "$root/build/wheel-python/CMakeCache.txt"
  CMAKE_ARGS="${CMAKE_ARGS:-}" "$uv" build --quiet --wheel --no-build-isolation \
    --python "$work/python-$version/bin/python" --out-dir "$work/raw" \
    --config-setting "build-dir=$root/build/wheel-python" \
    --config-setting "cmake.define.TAKT_RUNTIMES=$work/runtimes" \
    --config-setting "cmake.define.TAKT_REPRODUCIBLE=ON" \
    --config-setting "install.strip=true" "$root" >"$work/wheel-$version.log" 2>&1 || {
    tail -40 "$work/wheel-$version.log" >&2
    fail "the wheel was not built (build/packaging/wheel-$version.log)"
  }
  "$work/venv/bin/python" finish_wheel.py "$work"/raw/*.whl "$work/wheels" "${options[@]}" \
    --build "$root/build/wheel-python"
}

read -ra wanted <<<"${TAKT_WHEEL_PYTHONS:-$root/.venv/bin/python}"
pythons=()
for python in "${wanted[@]}"; do
  found=$(interpreter "$python")
  pythons+=("$found")
done

./packaging.sh
read -ra distributions <<<"${TAKT_WHEEL_DISTRIBUTIONS:-jazzy kilted}"
options=()
for distribution in "${distributions[@]}"; do runtime "$distribution"; done
for known in "$work"/runtimes/*/; do  # left by an earlier, larger wheel
  [[ " ${distributions[*]} " == *" $(basename "$known") "* ]] || rm -rf "$known"
done
for python in "${pythons[@]}"; do wheel "$python"; done
