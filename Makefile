# The front of the build. A new user needs `make demo` and `make check` only; both set up the
# machine first, which needs root the first time.
.DEFAULT_GOAL := all
.PHONY: all build setup setup-tests demo check check-long tidy bench install clean format asan tsan

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

all: setup
	$(MAKE) --no-print-directory build

# Needs no network; what is missing is named, and tools/setup installs it.
build:
	cmake --preset release >/dev/null
	cmake --build build -j $(JOBS)

# What building needs, and what only the tests need besides.
setup:
	tools/setup
setup-tests:
	tools/setup --tests

# A real 2 KiB C1 through the daemon to verified proofs and a waterfall.
demo: all
	tools/demo

# Everything that must hold before a commit.
check: setup-tests
	$(MAKE) --no-print-directory build
	tools/check

# The same, and the tests that take minutes or need much memory.
check-long: setup-tests
	$(MAKE) --no-print-directory build
	CUZK_TEST_LONG=1 tools/check

tidy:
	tools/tidy

bench: all
	bench/run

asan tsan:
	cmake --preset $@ >/dev/null
	cmake --build build-$@ -j $(JOBS)
	tools/check --build build-$@ --unit

format:
	git ls-files '*.c' '*.h' '*.cpp' '*.cu' '*.cuh' | grep -v '^vectors/' | xargs clang-format -i

install: build
	cmake --install build --prefix $(PREFIX)

clean:
	rm -rf build build-*
