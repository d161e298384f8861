#!/usr/bin/env bash
# Makes build/packaging/venv, the Python environment of what makes packages and the documentation,
# from requirements/packaging.lock. Quick when nothing is to do. Needs the environment of setup.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./messages.sh
root=$(cd .. && pwd)
venv=$root/build/packaging/venv

state=$("$root/.venv/bin/python" --version; sha256sum <requirements/packaging.lock)
if [ "$(cat "$venv/takt-state" 2>/dev/null)" != "$state" ]; then
  say "making build/packaging/venv"
  rm -rf "$venv"
  "$root/.venv/bin/uv" venv --quiet --python "$root/.venv/bin/python" "$venv"
  "$root/.venv/bin/uv" pip install --quiet --python "$venv/bin/python" --require-hashes \
    --requirement requirements/packaging.lock ||
    fail "uv could not install requirements/packaging.lock (its messages are above)"
  printf '%s' "$state" >"$venv/takt-state"
fi
