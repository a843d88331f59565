# The front door. Each target is a sentence for meson or for a script; `make
# help` lists them.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 300

PYROMETER := build/src/cmd/pyrometer
SOURCES = $(shell find src tests bench -name '*.[ch]')
SANITIZE := address,undefined

.PHONY: all demo test machines install interpreters bench fuzz format check asan cross clean help

all: build/build.ninja ## build build/src/cmd/pyrometer
	ninja -C build

build/build.ninja:
	tools/setup build
	meson setup build

demo: ## set up, build, profile examples/shop.py, report, write a page
	tools/setup build
	$(MAKE) --no-print-directory all
	rm -rf demo && mkdir demo
	$(PYROMETER) run -q -o demo/demo.pyro examples/shop.py
	$(PYROMETER) export -f flamegraph -o demo/flamegraph.svg demo/demo.pyro
	$(PYROMETER) report demo/demo.pyro
	-$(PYROMETER) view --html demo/report.html demo/demo.pyro
	@echo
	@echo 'Written: demo/demo.pyro        the recording; try: $(PYROMETER) report --lines demo/demo.pyro'
	@echo '         demo/flamegraph.svg   a flame graph, for a browser'
	@test ! -f demo/report.html || \
		echo '         demo/report.html      the viewer with the recording inside; also: $(PYROMETER) view demo/demo.pyro'

test: ## set up, then run every test
	tools/setup test
	tests/run

machines: all ## try the program on other kernels and on aarch64, in emulated machines
	tools/setup machines
	tests/machines/run

install: all ## install below PREFIX (/usr/local)
	meson configure build -Dprefix='$(abspath $(PREFIX))'
	meson install -C build

interpreters: ## bring the Pythons this machine lacks, to test on
	tools/interpreters

bench: all ## measure against other profilers
	bench/run

fuzz: ## run each fuzzer for FUZZ_SECONDS (300), with clang's libFuzzer
	test -f build-fuzz/build.ninja || CC=clang meson setup build-fuzz -Dtests=true \
		-Dlibfuzzer=true -Dbuildtype=debugoptimized -Db_lundef=false \
		-Dc_args=-fsanitize=fuzzer-no-link,$(SANITIZE) -Dc_link_args=-fsanitize=$(SANITIZE)
	ninja -C build-fuzz
	set -e; for fuzzer in build-fuzz/tests/fuzz/fuzz_*[!.p]; do \
		noun=$${fuzzer##*/fuzz_}; \
		mkdir -p build-fuzz/corpus/$$noun; \
		$$fuzzer -max_total_time=$(FUZZ_SECONDS) -timeout=20 -artifact_prefix=build-fuzz/ \
			build-fuzz/corpus/$$noun tests/fuzz/corpus/$$noun; \
	done

format: ## lay out the sources with clang-format
	clang-format -i $(SOURCES)

check: ## the layers, and the form of the sources
	tests/check_layers.py
	tests/check_style.py

asan: ## build and test with the address and undefined-behaviour sanitizers
	tests/run build-asan unit-asan fuzz-asan e2e-asan e2e-asan-half

cross: all ## compile for aarch64
	tests/compile aarch64-linux-gnu-gcc build/aarch64

clean: ## remove what was built
	rm -rf build build-asan build-fuzz demo

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14
