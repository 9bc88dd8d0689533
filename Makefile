# Everything a user or a developer starts. `make help` lists it.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Where the real graphs are, if they are: tests that need them say so when they skip.
ifndef GRAMER_DATA
ifneq ($(wildcard ../shared/data/ground_truth.tsv),)
export GRAMER_DATA := $(abspath ../shared/data)
endif
endif

GRAMER := target/release/gramer
DEMO_GRAPH := target/demo/rmat14.gramer
DEMO_SMALL := target/demo/rmat8.gramer
FUZZ_SECONDS ?= 60

# Every target that `help` lists makes no file of its name.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*\#\# .*/\1/p' $(firstword $(MAKEFILE_LIST)))

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what the build needs (a C compiler) and check the Rust toolchain
	@scripts/setup.sh

build: setup ## Build the command line (target/release/gramer)
	cargo build --release --locked -p gramer

demo: emulator ## Mine on the CPU and on the emulated accelerator, and compare
	@mkdir -p target/demo
	@test -f $(DEMO_GRAPH) || $(GRAMER) graph generate rmat --scale 14 --edge-factor 16 --seed 1 $(DEMO_GRAPH)
	$(GRAMER) graph info $(DEMO_GRAPH)
	$(GRAMER) mine motif -k 4 $(DEMO_GRAPH)
	@test -f $(DEMO_SMALL) || $(GRAMER) graph generate rmat --scale 8 --edge-factor 5 --seed 1 $(DEMO_SMALL)
	scripts/demo.py $(GRAMER) machines/small.yaml $(DEMO_SMALL)

test: test-host test-machine test-rtl test-emulation test-synth test-paper ## All tests

test-host: setup ## Tests of the host: library, command line, engines
	cargo test --locked -p gramer

setup-rtl: ## Install what the simulated core needs (Verilator)
	@scripts/setup-rtl.sh

test-machine: setup ## Tests of the reader of accelerator.yaml
	cargo test --locked -p gramer-machine

test-rtl: setup setup-rtl ## Tests of the core: 1,000 random tasks, the paper's machine, short real graphs
	GRAMER_REQUIRE_RTL=1 cargo test --locked -p gramer-sim

simulator: build setup-rtl ## Build the simulated core for `gramer explore` (target/release/gramer-sim)
	cargo build --release --locked -p gramer-sim --bin gramer-sim

test-paper: simulator setup-paper ## Tests of `gramer explore` and `gramer paper`
	GRAMER_SIM=$(CURDIR)/target/release/gramer-sim GRAMER_REQUIRE_RTL=1 cargo test --locked -p gramer --test explore

setup-paper: ## Install what `make paper` needs beside the simulator (valgrind)
	@scripts/setup-paper.sh

paper-quick: simulator setup-paper ## The paper's experiments on small random graphs (target/paper/quick)
	$(GRAMER) paper --quick --out target/paper/quick --cache target/paper/quick-cache

paper: simulator setup-paper ## The paper's experiments on real graphs (rewrites docs/paper); goes on where it was stopped
	$(GRAMER) paper --out docs/paper --cache target/paper/cache

mutants: setup setup-rtl ## Faults in the core, one at a time: do the tests notice? (docs/mutants.md)
	scripts/mutants.py

mutants-quick: setup setup-rtl ## Five of the faults
	scripts/mutants.py --quick

check-rtl: emulator ## The core on the larger real graphs, with the cycle budgets, and on large random tasks
	GRAMER_REQUIRE_RTL=1 cargo test --release --locked -p gramer-sim --test real --test real_long -- --nocapture
	GRAMER_REQUIRE_RTL=1 GRAMER_CANDIDATES=1000000000 cargo test --release --locked -p gramer-sim --test core random_
	PYTHONDONTWRITEBYTECODE=1 python3 tests/generated_bruteforce.py $(GRAMER)
	@if [ -n "$${GRAMER_DATA:-}" ]; then PYTHONDONTWRITEBYTECODE=1 python3 tests/fsm_bruteforce.py --check $(GRAMER) --device emulator "$$GRAMER_DATA/citeseer/citeseer.lg" 50 200 500 2000; fi

setup-xrt: ## Install what an emulated device needs (Xilinx Runtime, OpenCL loader)
	@scripts/setup-xrt.sh

emulator: build setup-rtl setup-xrt ## Build the emulated device: `gramer mine … --device emulator`
	cargo build --release --locked -p gramer-sim --no-default-features --bin gramer-emulator
	cargo build --release --locked -p gramer-sleep

PREFIX ?= /usr/local
install: emulator simulator ## Install gramer, the emulator and the simulator with the core's sources (PREFIX=/usr/local)
	install -D -t $(DESTDIR)$(PREFIX)/bin $(GRAMER)
	install -D -t $(DESTDIR)$(PREFIX)/lib/gramer target/release/gramer-emulator target/release/gramer-sim target/release/libgramer_sleep.so
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/gramer/rtl rtl/*
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/gramer/sim/shim sim/shim/*

test-emulation: emulator ## Tests through the Xilinx Runtime on the simulated core
	GRAMER_EMULATOR=$(CURDIR)/target/release/gramer-emulator GRAMER_REQUIRE_XRT=1 \
	  cargo test --locked -p gramer --features abi-test \
	  --test opencl --test launch --test abi --test xclbin -- --test-threads 2

formal: ## Formal proofs of the core's modules (sets up .venv)
	@scripts/formal.sh

hls-test: generate setup-rtl setup-hls ## C simulation of the movers and the core's model, with small and with open headers
	@scripts/hls-test.sh

setup-hls: ## Install the open ap_types headers (.venv)
	@scripts/setup-hls.sh

setup-eda: ## Install the open hardware tools (.venv: Yosys, pyslang, place and route)
	@scripts/setup-eda.sh

vitis-check: setup-eda generate ## The Vitis build against the rules of its manuals, without Vitis
	@.venv/bin/python scripts/vitis_check.py

xclbin: generate ## Binary by Vitis, for --device: TARGET=hw|hw_emu|sw_emu BOARD=u250 PLATFORM=... MACHINE=accelerator
	@TARGET="$(TARGET)" BOARD="$(BOARD)" PLATFORM="$(PLATFORM)" FREQUENCY="$(FREQUENCY)" \
	  MACHINE="$(MACHINE)" scripts/vitis/build.sh

synth: setup-eda generate ## Area and logic depth by block, with Yosys (rewrites docs/synthesis.md)
	@.venv/bin/python scripts/synth.py --write

test-synth: hls-test vitis-check ## HLS kernels, Vitis build, and synthesis of small blocks
	@.venv/bin/python scripts/ecp5.py --check
	@.venv/bin/python scripts/activity.py --check
	@.venv/bin/python scripts/synth.py --quick

ecp5: setup-eda generate ## Place and route of the scheduler's three variants, relative (docs/synthesis.md)
	@.venv/bin/python scripts/ecp5.py --write

activity: setup-eda simulator ## Activity of the core's blocks by application (docs/synthesis.md)
	@.venv/bin/python scripts/activity.py --write

generate: setup ## Generated files of every machine: SystemVerilog, HLS header, kernel.xml, link.cfg
	@for machine in accelerator.yaml machines/*.yaml; do \
	  cargo run -q --locked -p gramer-machine --example generate -- "$$machine" \
	    "target/generated/$$(basename "$$machine" .yaml)"; \
	done

cycles: setup setup-rtl ## Cycles on real graphs beside the budgets (docs/cycles.md)
	scripts/cycles.py

coverage: setup setup-rtl ## Lines of the core that its tests reach (rewrites docs/coverage.md)
	scripts/coverage.sh

lint-rtl: setup setup-rtl ## Lint of the core: Verilator's warnings for every machine, Verible's rules
	scripts/lint-rtl.sh

lint: setup ## Format, clippy, documentation: no warning is left
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps -p gramer -p gramer-machine

bench: build ## Speed beside the public systems (rewrites docs/bench/README.md)
	scripts/bench.py --write

check-data: build ## Every known count of the real graphs
	cargo run --release --locked -q -p gramer --example check_data
	@if [ -n "$${GRAMER_DATA:-}" ]; then PYTHONDONTWRITEBYTECODE=1 python3 tests/fsm_bruteforce.py --check $(GRAMER) "$$GRAMER_DATA/citeseer/citeseer.lg" 50 200 500 2000; fi

check-data-quick: build ## The known counts that take moments
	cargo run --release --locked -q -p gramer --example check_data -- --quick
	PYTHONDONTWRITEBYTECODE=1 python3 tests/generated_bruteforce.py $(GRAMER)
	@if [ -n "$${GRAMER_DATA:-}" ]; then PYTHONDONTWRITEBYTECODE=1 python3 tests/fsm_bruteforce.py --check $(GRAMER) "$$GRAMER_DATA/citeseer/citeseer.lg" 50 200 500 2000; fi

fuzz: setup ## Feed the parsers with broken input, FUZZ_SECONDS (60) each
	scripts/fuzz.sh $(FUZZ_SECONDS)

doc: setup ## API documentation (target/doc)
	cargo doc --locked --no-deps -p gramer

clean: ## Remove everything that was built
	cargo clean
