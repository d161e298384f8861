#!/usr/bin/env bash
# run.sh PROGRAMS SECONDS: each fuzzer of a build for so many seconds from its corpus, as many at once
# as there are processors. What a fuzzer finds it leaves in PROGRAMS/NAME_fuzzer.corpus/, with all
# inputs that it made.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi # what is unpacked need not wait for a disk
export UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1 # libFuzzer writes the input of an abort

# An input hangs after 100 s: CI fuzzes at the lowest priority, beside tests.
#
# Without the entropic schedule, whose bookkeeping is work for every input that was kept: with that
# of large programs it took three quarters of the time.
fuzz() { # PROGRAM SECONDS
  local program=$1 name log
  name=$(basename "$program" _fuzzer)
  log=$program.log
  mkdir -p "$program.corpus" "tests/fuzz/corpus/$name"
  if "$program" -max_total_time="$2" -timeout=100 -rss_limit_mb=1024 -entropic=0 \
    -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="$program.corpus/" "$program.corpus" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, at most" \
      "$(sed -n 's/^stat::peak_rss_mb: *//p' "$log") MB"
  else
    echo "$name failed:" && cat "$log"
    return 1
  fi
}
export -f fuzz

printf '%s\0' "$1"/*_fuzzer | xargs -0 -P "$(nproc)" -I PROGRAM bash -c 'fuzz PROGRAM "$0"' "$2"
