#!/usr/bin/env bash
# setup.sh [tests]: brings this machine to where Takt can be built, and tested: system packages, then
# the Python environment .venv with ROS 2 in it unless a ROS 2 installation is sourced, then the files
# through which the build and the programs find all that (build/setup). Safe to repeat; quick when
# nothing is to do.
#
#   TAKT_ROS_DISTRO=jazzy|kilted   which ROS 2 to install (default jazzy)
#   TAKT_PYTHON=…                  which Python to use (default: the first suitable one)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# One at a time.
mkdir -p ../build
exec 9>../build/setup.lock
flock 9

./packages.sh "$@" 9>&-
./python.sh 9>&-
