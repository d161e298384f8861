#!/usr/bin/env bash
# Makes build/stores: object stores of this machine for tests/python/test_object_stores.py, and the
# Python that speaks to them. S3 is moto's server, Azure's is azurite. Needs setup.sh; safe to
# repeat, and quick when nothing is to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./messages.sh
root=$(cd .. && pwd)
stores=$root/build/stores

exec 9>"$root/build/stores.lock"
flock 9

state="$(readlink -f "$root/.venv/bin/python") $(cat stores.sh requirements/stores.lock stores/package-lock.json | sha256sum)"
[ "$(cat "$stores/state" 2>/dev/null)" != "$state" ] || exit 0

say "making build/stores (a minute)"
rm -rf "$stores"
"$root/.venv/bin/uv" venv --quiet --python "$root/.venv/bin/python" "$stores"
"$root/.venv/bin/uv" pip install --quiet --python "$stores/bin/python" --require-hashes \
  --requirement requirements/stores.lock || fail "uv could not install requirements/stores.lock (its messages are above)"
cp stores/package.json stores/package-lock.json ../web/.npmrc "$stores"
npm --silent --prefix "$stores" ci || fail "npm could not install azurite (its messages are above)"
printf '%s' "$state" >"$stores/state"
