#!/usr/bin/env bash
# Resolves setup/requirements/*.in anew and writes the lock files beside them: every file of every
# distribution by its hash, for all supported Python versions, with no address of a registry in it.
# Needs the environment of setup/setup.sh. The later files obey the earlier ones, so that they can be
# installed together.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/requirements"

lock() {
  local name=$1
  shift
  ../../.venv/bin/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes \
    --upgrade --no-header --no-annotate "$@" "$name.in" --output-file "$name.lock"
}

lock bootstrap
lock python --constraint bootstrap.lock
lock ros-jazzy --constraint bootstrap.lock --constraint python.lock
lock ros-kilted --constraint bootstrap.lock --constraint python.lock
lock estimation --no-emit-package numpy --constraint ros-jazzy.lock
lock fleet --no-emit-package numpy --constraint ros-jazzy.lock --constraint python.lock
lock stores  # an environment of its own
lock packaging --constraint bootstrap.lock --constraint python.lock
