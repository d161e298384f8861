# Everything from a fresh clone: each target sets the machine up as far as it is not yet.
# Variables: TAKT_ROS_DISTRO=jazzy|kilted, TAKT_PYTHON=…, FUZZ_SECONDS=…, FAULTS=…, BENCH_EVENTS=… (see setup/setup.sh).

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build
.PHONY: setup build web test demo man bench check lint format generate asan tsan fuzz faults docs nightly clean help

FUZZ_SECONDS ?= 60
FAULTS ?= 20
TIDY_FILES ?= 12
BENCH_EVENTS ?= 4000000
MAKEFLAGS += --no-print-directory

# What the programs need to find each other and ROS 2; tests keep DDS on the loopback interface.
environment := . build/setup/environment.sh
loopback := eval "$$(python -m takt.loopback)"
configure := cmake -Wno-dev --log-level=NOTICE --preset
sources = git ls-files -z --cached --others --exclude-standard

build: setup build/release/build.ninja  ## set up and build (the default)
	@$(environment); \
	if grep -q '^BUILD_TESTING:.*=OFF' build/release/CMakeCache.txt; then $(configure) release; fi; \
	cmake --build --preset release

# The demo needs no tests, nor what these need.
for_tests := tests
demo: for_tests :=
demo: without_tests := -DBUILD_TESTING=OFF

setup:  ## system packages, Python environment, ROS 2
	@setup/setup.sh $(for_tests)

# A new toolchain file means another compiler or ROS 2: nothing found before is valid then.
build/%/build.ninja: build/setup/toolchain.cmake CMakePresets.json
	@rm -rf build/$*/CMakeCache.txt build/$*/CMakeFiles
	@$(environment); $(configure) $* $(without_tests)

# Written by setup/, which leaves it alone if it would not change.
build/setup/toolchain.cmake: setup ;

web: setup build/release/build.ninja  ## the viewer alone
	@$(environment); cmake --build --preset release --target takt_web

# Integration tests wait most of the time: the Python tests compute beside them, at a lower priority.
test: build stores  ## all tests: C++, viewer, Python, and integration on real ROS 2 and LTTng
	@$(environment); $(loopback); \
	failed=(); \
	run() { echo "== $$1"; "$${@:2}" || failed+=("$$1"); }; \
	run "C++ tests" ctest --preset release --progress -j "$$(nproc)"; \
	run "Viewer tests" npm --silent --prefix web test; \
	log=$$(mktemp); \
	nice -n 10 python -m pytest -n auto --dist worksteal --max-worker-restart 0 --durations 15 tests/python >"$$log" 2>&1 & \
	trap "kill $$! 2>/dev/null || true; rm -f '$$log'" EXIT; \
	run "Integration tests on ROS 2 and LTTng, beside the Python tests" tests/integration/run.sh; \
	run "Python tests" wait $$!; \
	cat "$$log"; \
	if [ $${#failed[@]} -gt 0 ]; then echo "failed: $${failed[*]}" >&2; exit 1; fi

.PHONY: stores
stores: setup  ## object stores of this machine, which a test of takt fleet needs
	@setup/stores.sh

demo: setup build/release/build.ninja  ## a robot that is late: why, what helps, and what keeps it so beside a load
	@$(environment); \
	if [ ! -e build/release/bin/takt-manager ]; then \
	  echo "demo: compiling what it runs: about $$((300 / $$(nproc) / 60 + 1)) minutes here, the first time only"; \
	fi; \
	cmake --build --preset release --target takt_demo; \
	echo "demo: running it; done in a minute or two"; \
	./takt demo

man: build  ## shell completion and manual pages, below build/share
	@$(environment); python -m takt.installation build/share

bench: build build/benchmark/build.ninja  ## all benchmarks; BENCH_EVENTS=400000000: of a large trace
	@$(environment); $(loopback); cmake --build --preset benchmark; \
	for program in build/benchmark/benchmarks/*_benchmark; do "$$program"; done; \
	python benchmarks/tracing/overhead.py build/benchmark/benchmarks/tracepoint_loop \
	  build/release/lib/libtracetools.so; \
	python benchmarks/estimation/filterpy_ratios.py build/benchmark/benchmarks/estimation_benchmark; \
	python benchmarks/live/navigation.py; \
	python benchmarks/share/iceoryx2.py build/benchmark/benchmarks/share_benchmark; \
	python benchmarks/startup/commands.py tests/recordings/autoware.tar.xz; \
	npm --silent --prefix web run bench; \
	python benchmarks/tracing/large_trace.py build/benchmark/benchmarks/tracing_benchmark \
	  $(BENCH_EVENTS)

check: build  ## the quick static checks: layout, ruff, mypy, tsc, eslint
	@$(environment); \
	echo "== clang-format"; $(sources) '*.c' '*.cpp' '*.h' '*.hpp' | \
	  xargs -0 clang-format --dry-run --Werror; \
	echo "== ruff"; ruff check; ruff format --check; \
	echo "== mypy"; mypy; \
	echo "== tsc, eslint"; npm --silent --prefix web run check

# clang-tidy wants each source by itself, where the compiler takes those of a module as one. It is
# not the compiler that the options are for.
tidy := run-clang-tidy.py -quiet -p build/tidy -extra-arg=-Wno-unknown-warning-option \
  -extra-arg=-Wno-unused-command-line-argument
.PHONY: tidy-commands
tidy-commands: setup build/tidy/build.ninja
	@$(environment); cmake --build --preset tidy >/dev/null

lint: check tidy-commands  ## all static checks: the quick ones, then clang-tidy
	@$(environment); \
	echo "== clang-tidy"; $(tidy) "$$PWD/(libtakt|python/native|ros)/.*"

# What is not committed comes first, then the commits, the newest first. Sources that were removed
# since are left out.
tidied := 'libtakt/*.cpp' 'python/native/*.cpp' 'ros/*.cpp'
tidy-changed: tidy-commands  ## clang-tidy on the TIDY_FILES sources that changed last
	@$(environment); \
	if [ "$$(git rev-parse --is-shallow-repository)" = true ]; then \
	  echo "skipped: a shallow clone does not know what changed last"; exit 0; \
	fi; \
	changed=$$({ git diff --name-only HEAD -- $(tidied); git log --format= --name-only -- $(tidied); } | \
	  awk '!seen[$$0]++' | while read -r file; do if [ -e "$$file" ]; then echo "$$file"; fi; done | \
	  sed -n '1,$(TIDY_FILES)p'); \
	echo "$$changed"; \
	$(tidy) -hide-progress "$$PWD/($${changed//$$'\n'/|})$$"

format:  ## lay out all sources
	@$(environment); \
	$(sources) '*.c' '*.cpp' '*.h' '*.hpp' | xargs -0 clang-format -i; \
	ruff check --fix; ruff format

.PHONY: asan-build tsan-build asan-all
asan-build tsan-build: %-build: setup build/%/build.ninja
	@$(environment); cmake --build --preset $*

asan: asan-build  ## tests of what reads inputs, with the sanitizers of addresses and undefined behaviour
	@$(environment); ctest --preset $@ --progress -j "$$(nproc)"

asan-all: setup build/asan/build.ninja  ## all C++ tests with them, but those on ROS 2
	@$(environment); cmake --build --preset $@; ctest --preset $@ --progress -j "$$(nproc)"

# The middleware is not compiled with the sanitizer: what it does among itself is left out. So are
# the threads of LTTng, whose end with the process counts as a fault: ROS's own tracing library.
tsan: tsan-build  ## tests of what runs in several threads, the executors on ROS 2 among them, with the thread sanitizer
	@$(environment); $(loopback); ctest --preset $@ --progress -j "$$(nproc)"; \
	export TSAN_OPTIONS=ignore_noninstrumented_modules=1; \
	tracing=$$(find $${AMENT_PREFIX_PATH//:/ } -path '*/lib/libtracetools.so' -print -quit); \
	for test in build/$@/tests/unit/{executor/executor,rclcpp/rclcpp}_test; do \
	  if [ -x "$$test" ]; then LD_PRELOAD="$$tracing" "$$test"; else echo "skipped: $$test is not built"; fi; \
	done

fuzz: setup build/asan/build.ninja  ## each fuzzer for FUZZ_SECONDS, from its corpus
	@$(environment); cmake --build --preset fuzz; tests/fuzz/run.sh build/asan/tests/fuzz $(FUZZ_SECONDS)

faults: build  ## what the system may refuse, FAULTS moments of each fault (needs root and strace)
	@$(environment); $(loopback); \
	TAKT_FAULTS=$(FAULTS) python -m pytest tests/integration/test_faults.py

generate: build  ## write the files that follow from the descriptions of documents: schemas, Python types
	@$(environment); python tools/generate_documents.py

docs: setup build/release/build.ninja  ## the documentation site, in build/docs/site
	@$(environment); cmake --build --preset release --target takt_extensions; \
	setup/packaging.sh; python docs/site/generate.py build/docs/pages; \
	NO_MKDOCS_2_WARNING=1 build/packaging/venv/bin/mkdocs build

.PHONY: wheel
wheel: setup  ## the wheels for some CPythons (TAKT_WHEEL_PYTHONS), in build/packaging/wheels
	@setup/wheel.sh

.PHONY: deb
deb: web  ## the Debian source package of this commit, in build/packaging/debian
	@setup/deb.sh

# Each way to install, in an environment that has nothing else of Takt. What is missing is said.
nightly: build docs wheel  ## tests of packages, which take long; nightly-clones, -cmake, -colcon, -wheel, -debian: some of them
	@setup/packaging.sh; $(environment); $(loopback); python -m pytest tests/packages

.PHONY: nightly-clones nightly-cmake nightly-colcon nightly-wheel nightly-debian
nightly-debian: web
nightly-wheel: wheel
nightly-clones nightly-cmake nightly-colcon nightly-wheel nightly-debian: nightly-%: build
	@setup/packaging.sh; $(environment); $(loopback); python -m pytest tests/packages/test_$*.py

clean:  ## remove what was built; the Python environment stays
	rm -rf build

help:
	@sed -n 's/^\([a-z -]*\):.*  ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14
