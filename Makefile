# Everything from a fresh clone: each target sets the machine up as far as it is not yet.
# Variables: TAKT_ROS_DISTRO=jazzy|kilted, TAKT_PYTHON=…, FUZZ_SECONDS=…, BENCH_EVENTS=… (see setup/setup.sh).

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build
.PHONY: setup build test demo bench check lint format asan tsan tsan-ros fuzz clean help

FUZZ_SECONDS ?= 60
BENCH_EVENTS ?= 4000000
MAKEFLAGS += --no-print-directory

# What the programs need to find each other and ROS 2; tests keep DDS on the loopback interface.
environment := . build/setup/environment.sh
loopback := eval "$$(python -m takt.loopback)"
sources = git ls-files -z --cached --others --exclude-standard

build: setup build/release/build.ninja  ## set up and build (the default)
	@$(environment); cmake --build --preset release

setup:  ## system packages, Python environment, ROS 2
	@setup/setup.sh

# A new toolchain file means another compiler or ROS 2: nothing found before is valid then.
build/%/build.ninja: build/setup/toolchain.cmake CMakePresets.json
	@rm -rf build/$*/CMakeCache.txt build/$*/CMakeFiles
	@$(environment); cmake --preset $* -Wno-dev --log-level=NOTICE

# Written by setup/, which leaves it alone if it would not change.
build/setup/toolchain.cmake: setup ;

test: build  ## all tests: C++, Python, and integration on real ROS 2 and LTTng
	@$(environment); $(loopback); \
	failed=(); \
	run() { echo "== $$1"; "$${@:2}" || failed+=("$$1"); }; \
	run "C++ tests" ctest --preset release --progress; \
	run "Python tests" python -m pytest tests/python; \
	run "Integration tests on ROS 2 and LTTng" python -m pytest tests/integration; \
	if [ $${#failed[@]} -gt 0 ]; then echo "failed: $${failed[*]}" >&2; exit 1; fi

demo: build  ## record, model, bound and report the Autoware reference system
	@./takt demo

bench: build build/benchmark/build.ninja  ## all benchmarks; BENCH_EVENTS=400000000: of a large trace
	@$(environment); $(loopback); cmake --build --preset benchmark; \
	for program in build/benchmark/benchmarks/*_benchmark; do "$$program"; done; \
	python benchmarks/tracing/overhead.py build/benchmark/benchmarks/tracepoint_loop \
	  build/release/lib/libtracetools.so; \
	python benchmarks/tracing/large_trace.py build/benchmark/benchmarks/tracing_benchmark \
	  $(BENCH_EVENTS)

check: build  ## the quick static checks: layout, ruff, mypy
	@$(environment); \
	echo "== clang-format"; $(sources) '*.c' '*.cpp' '*.h' '*.hpp' | \
	  xargs -0 clang-format --dry-run --Werror; \
	echo "== ruff"; ruff check; ruff format --check; \
	echo "== mypy"; mypy

lint: check  ## all static checks: the quick ones, then clang-tidy
	@$(environment); \
	echo "== clang-tidy"; run-clang-tidy.py -quiet -p build/release \
	  -extra-arg=-Wno-unknown-warning-option "$$PWD/(libtakt|python/native|ros)/.*"

format:  ## lay out all sources
	@$(environment); \
	$(sources) '*.c' '*.cpp' '*.h' '*.hpp' | xargs -0 clang-format -i; \
	ruff check --fix; ruff format

asan tsan: %: setup build/%/build.ninja  ## C++ tests with a sanitizer (asan: addresses, undefined behaviour; tsan: threads)
	@$(environment); cmake --build --preset $@; ctest --preset $@ --progress

# The middleware is not compiled with the sanitizer: what it does among itself is left out. So are
# the threads of LTTng, whose end with the process counts as a fault: ROS's own tracing library.
tsan-ros: setup build/tsan-ros/build.ninja  ## the executors' tests on ROS 2 with the thread sanitizer
	@$(environment); $(loopback); cmake --build --preset $@; \
	export TSAN_OPTIONS=ignore_noninstrumented_modules=1; \
	tracing=$$(find $${AMENT_PREFIX_PATH//:/ } -path '*/lib/libtracetools.so' -print -quit); \
	for test in build/$@/tests/unit/{executor/executor,rclcpp/rclcpp}_test; do \
	  if [ -x "$$test" ]; then LD_PRELOAD="$$tracing" "$$test"; else echo "skipped: $$test is not built"; fi; \
	done

fuzz: setup build/fuzz/build.ninja  ## each fuzzer for FUZZ_SECONDS
	@$(environment); cmake --build --preset fuzz; \
	for program in build/fuzz/tests/fuzz/*_fuzzer; do \
	  mkdir -p "$$program.corpus"; \
	  "$$program" -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 "$$program.corpus" \
	    "tests/fuzz/corpus/$$(basename "$$program" _fuzzer)"; \
	done

clean:  ## remove what was built; the Python environment stays
	rm -rf build

help:
	@sed -n 's/^\([a-z -]*\):.*  ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14
