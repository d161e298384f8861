#!/usr/bin/env bash
# All integration tests. Most of them wait most of the time, so several workers share them, each in
# namespaces of its own; those that are marked `alone` come after these, one at a time. Without the
# right to make namespaces all come one after the other.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
workers=${TAKT_WORKERS:-4}

# Made before the workers, whose /tmp has the folders that are there when they start.
scratch=$(mktemp -d)
sees='import os, sys; [os.stat(place) for place in sys.argv[1:]]'
if ! reason=$(./isolated_python.sh -c "$sees" "$PWD" "$scratch" 2>&1); then
  echo "one test at a time, as there are no namespaces to be had: $reason"
  exec python -m pytest . --basetemp "$scratch/all"
fi
failed=0
# A test that swallows the exception of its timeout, or waits in C++ or when it cleans up for ever,
# ends its worker and says where it was; what failed until then is reported.
python -m pytest . -m "not alone" --basetemp "$scratch/together" \
  -o faulthandler_timeout=400 -o faulthandler_exit_on_timeout=true --max-worker-restart 0 \
  --dist loadfile --tx "$workers*popen//python=$PWD/isolated_python.sh" || failed=1
python -m pytest . -m alone --durations 15 --basetemp "$scratch/alone" || failed=1
if [ $failed -eq 0 ]; then
  rm -rf "$scratch"
else
  echo "what the tests wrote: $scratch" >&2
fi
exit $failed
