#!/usr/bin/env bash
# Builds the wheel of this commit into build/packaging/wheels: the command line and its extension for
# one CPython (TAKT_PYTHON, else the one of .venv), and what runs inside processes of ROS 2 Jazzy and
# Kilted. The same commit gives the same bytes. CMAKE_ARGS is passed on, e.g. for a compiler cache,
# and prevails; TAKT_WHEEL_DISTRIBUTIONS="jazzy" leaves Kilted out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./messages.sh
root=$(cd .. && pwd)
work=$root/build/packaging
uv=$root/.venv/bin/uv
python=${TAKT_PYTHON:-$root/.venv/bin/python}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
read -ra cmake_arguments <<<"${CMAKE_ARGS:-}"

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
  if [ "$(. "$root/build/setup/environment.sh"; echo "$ROS_DISTRO$AMENT_PREFIX_PATH")" = "$1$root/.venv" ]; then
    prefix=$root/.venv
  else
    environment "ros-$distribution" "$root/.venv/bin/python" requirements/bootstrap.lock \
      requirements/python.lock "requirements/ros-$distribution.lock"
  fi
  prefixes+=("$prefix")
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
      -DTAKT_BUILD_PYTHON=OFF -DTAKT_BUILD_RCLCPP=OFF -DTAKT_REPRODUCIBLE=ON "${cmake_arguments[@]}"
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

./packaging.sh
prefixes=()
for distribution in ${TAKT_WHEEL_DISTRIBUTIONS:-jazzy kilted}; do runtime "$distribution"; done

version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
environment "python-$version" "$python" requirements/python.lock
say "building the wheel for CPython $version"
rm -rf "$work/raw"
for known in "$work"/runtimes/*/; do  # of an earlier, larger wheel
  [[ " ${TAKT_WHEEL_DISTRIBUTIONS:-jazzy kilted} " == *" $(basename "$known") "* ]] || rm -rf "$known"
done
CMAKE_ARGS="${CMAKE_ARGS:-}" "$uv" build --quiet --wheel --no-build-isolation \
  --python "$work/python-$version/bin/python" --out-dir "$work/raw" \
  --config-setting "build-dir=$root/build/wheel-python-$version" \
  --config-setting "cmake.define.TAKT_RUNTIMES=$work/runtimes" \
  --config-setting "cmake.define.TAKT_REPRODUCIBLE=ON" \
  --config-setting "install.strip=true" "$root" >"$work/wheel.log" 2>&1 || {
  tail -40 "$work/wheel.log" >&2
  fail "the wheel was not built (build/packaging/wheel.log)"
}
"$work/venv/bin/python" finish_wheel.py "$work"/raw/*.whl "$work/wheels" "${prefixes[@]/%//lib}"
