# Everything a user or a developer starts. `make help` lists what most need, `make help-all` the rest too.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Where the real graphs are, if they are: tests that need them say so when they skip.
ifndef GRAMER_DATA
ifneq ($(wildcard ../shared/data/ground_truth.tsv),)
export GRAMER_DATA := $(abspath ../shared/data)
endif
endif

# Where cargo puts what it builds. Generated files, models and reports are in target/ of the repository.
ifdef CARGO_TARGET_DIR
override CARGO_TARGET_DIR := $(abspath $(CARGO_TARGET_DIR))
export CARGO_TARGET_DIR
endif
BUILT := $(or $(CARGO_TARGET_DIR),target)
GRAMER := $(BUILT)/release/gramer
LAB := $(BUILT)/release/gramer-lab
DEMO_GRAPH := target/demo/rmat14.gramer
DEMO_SMALL := target/demo/rmat7.gramer
FUZZ_SECONDS ?= 60

# Every target with a description makes no file of its name. Three signs begin those that `help` shows.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*\#\# .*/\1/p' $(firstword $(MAKEFILE_LIST)))
LIST := awk -F ':.*\#\#\#? ' '{ printf "  make %-18s %s\n", $$1, $$2 }'

help: ## What most people need
	@grep -E '^[a-z-]+:.*### ' $(firstword $(MAKEFILE_LIST)) | $(LIST)

help-all: ### All targets
	@grep -E '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | $(LIST)

# Parts that need each other's results come one after the other; cargo and the tests use all processors.
.NOTPARALLEL:

# Set-ups of several parts, after one question: setup+rtl+xrt. YES=1 answers it.
setup+%:
	@scripts/setup.sh $(subst +, ,$*)

setup: ### Install what the build needs (a C compiler) and check the Rust toolchain
	@scripts/setup.sh

# Builds the whole workspace: with fewer packages, shared crates get other features and are built again.
LIBRARIES := -p gramer -p gramer-accelerator -p gramer-base -p gramer-cli -p gramer-cluster -p gramer-cpu -p gramer-engine -p gramer-gpu -p gramer-graph -p gramer-laboratory -p gramer-machine -p gramer-pattern -p gramer-picture
# Programs for others read Parquet and Arrow; tests and `cargo build` alone do without minutes of compilation.
RELEASE := cargo build --release --locked --workspace --features gramer-cli/columnar
# Packages of the checks on released programs. Targets that select the same packages share their libraries.
CHECKED := --release --locked -p gramer -p gramer-cli -p gramer-graph --features gramer-cli/columnar

build: setup ### Build the command line (target/release/gramer)
	$(RELEASE) --bin gramer

demo: setup+rtl+xrt ### Mine on the CPU and on the emulated accelerator, and compare
	@mkdir -p target/demo
	$(RELEASE) --bin gramer-emulator
	@# The machine's model in parallel with the rest; if that fails, mining builds it and says why.
	$(BUILT)/release/gramer-emulator --machine machines/small.yaml --build-model > target/demo/model.log 2>&1 & \
	  model=$$!; $(MAKE) --no-print-directory emulator; wait $$model || true
	@test -f $(DEMO_GRAPH) || $(GRAMER) graph generate rmat --scale 14 --edge-factor 16 --seed 1 $(DEMO_GRAPH)
	$(GRAMER) graph info $(DEMO_GRAPH)
	$(GRAMER) mine motif -k 4 $(DEMO_GRAPH)
	@test -f $(DEMO_SMALL) || $(GRAMER) graph generate rmat --scale 7 --edge-factor 6 --seed 1 $(DEMO_SMALL)
	scripts/demo.py $(GRAMER) machines/small.yaml $(DEMO_SMALL)

test: setup+rtl+xrt+gpu+paper+eda+python ### All tests, from one build; how many passed, failed and were skipped
	@scripts/test.py all

test-host: setup ## Tests of the host: library, command line, engines
	@scripts/test.py host

setup-rtl: setup+rtl ## Install what the simulated core needs (Verilator)

test-columnar: setup ## Tests of all formats with Parquet and Arrow, apart from `make test` because they take minutes to compile
	cargo test $(CHECKED) --lib format::

test-machine: setup ## Tests of the reader of accelerator.yaml
	@scripts/test.py machine

test-rtl: setup+rtl ## Tests of the core: 300 random tasks, the paper's machine, short real graphs
	@scripts/test.py rtl

four-state: setup+rtl+eda ## Both small cores with values 0, 1, x and z, by Icarus Verilog: no x reaches an output
	@GRAMER_FOUR_STATE=all scripts/test.py four-state

test-long: setup+rtl+xrt+eda+paper+python ## Host tests with AddressSanitizer, 1,000 new random tasks of each core (GRAMER_SEED=N repeats them), all limits of memory, machines and graphs that `make test` leaves out to stay short
	@scripts/test_long.sh

lab: setup+rtl ### Build the program for experiments (target/release/gramer-lab)
	$(RELEASE) --bin gramer --bin gramer-lab

test-paper: setup+rtl+paper ## Tests of `gramer-lab explore`, `simulate` and `paper`; `make test` leaves out the report, which takes minutes
	@GRAMER_LONG=1 scripts/test.py paper

setup-gpu: setup+gpu ## Install what tests of the GPU engine need without a GPU (OpenCL on the processor: PoCL)

test-gpu: setup+gpu ## Tests of the GPU engine on the portable device, or on GRAMER_GPU_DEVICE=gpu
	@scripts/test.py gpu

test-subgroups: setup+gpu ## The same on Intel's OpenCL for processors (0.8 GB), which has sub-groups
	@scripts/test-subgroups.sh

# Rows of graphs that are there: of GRAMER_DATA, or those of GRAPHS.
GPU ?= gpu
bench-gpu: build ## Speed of the GPU engine, compared with public CUDA programs (GPU=gpu:0 GRAPHS=...; target/bench-gpu.json)
	cargo build --release --locked -p gramer-gpu --example bench
	scripts/measure.py gpu $(BUILT)/release/examples/bench $(GRAMER) $(GPU) target/bench-gpu.json $(foreach g,$(GRAPHS),--graph $(g))

bench-gpus: setup ## The same tasks on one GPU and on several of this machine (COUNTS=1,2; target/bench-gpus.json)
	cargo build --release --locked -p gramer-crew --example scale
	$(BUILT)/release/examples/scale target/bench-gpus.json --counts $(or $(COUNTS),1,2,4,8) --scales $(or $(SCALES),16,20)
	scripts/measure.py gpus target/bench-gpus.json

bench-start: build ## A whole process on a GPU beside the least that one with OpenCL takes here (GPU=gpu:0 GRAPH=...)
	cargo build --release --locked -p gramer-gpu --example start
	scripts/measure.py start $(BUILT)/release/examples/start $(GRAMER) $(GRAPH) --device $(GPU)

bench-strategies: setup ## Matches on a GPU by the strategies plan and table, and by the automatic choice (target/bench-strategies.json)
	$(RELEASE) --bin gramer
	scripts/measure.py strategies $(BUILT)/release/gramer target/bench-strategies.json --device $(GPU)

setup-mpi: setup+mpi ## Install what mining on several machines needs (Open MPI, libclang)

cluster: setup+mpi ## Build the command line with MPI, for several machines (target/mpi/release/gramer)
	cargo build --release --locked --target-dir $(BUILT)/mpi -p gramer-cli --features mpi --bin gramer

test-cluster: setup+mpi ## Jobs of 1, 2 and 4 processes against plain runs, with deaths and stops; clippy with MPI
	cargo clippy --locked --target-dir $(BUILT)/mpi -p gramer-cli -p gramer-cluster --features mpi --all-targets -- -D warnings
	cargo test --release --locked --target-dir $(BUILT)/mpi -p gramer-cli --features mpi --test cluster

bench-cluster: cluster ## The same tasks by one process and by jobs of several (RANKS=1,2,4; target/cluster.json)
	scripts/measure.py cluster $(BUILT)/mpi/release/gramer $(or $(RANKS),1,2,4) target/cluster.json

test-scripts: ## Tests of what scripts write and check (docs/results/bench, docs/results/hardware/cycles.md, licences, the release)
	@scripts/test.py scripts

test-python: setup+python ## Tests of the Python package against NetworkX, igraph and SciPy
	@scripts/test.py python

test-python-versions: test-python ## The same with the oldest and the newest NumPy, pandas, NetworkX, igraph and SciPy
	@scripts/test-python-versions.sh

test-pages: setup+browser ## Tests of pages of answers, shown and printed by a browser
	@GRAMER_REQUIRE_BROWSER=1 scripts/test.py pages

setup-browser: setup+browser ## Install what shows pages in tests (Chromium)

setup-python: setup+python ## Install what builds and tests the Python package

wheel: setup+python ### The Python package as a wheel for Python 3.9 and later (target/wheels)
	.venv/bin/maturin build --release --locked --features columnar --manifest-path host/python/Cargo.toml

setup-paper: setup+paper ## Install what `make paper` needs in addition to the simulator (valgrind)

paper-quick: setup+rtl+paper lab ## The paper's experiments on small random graphs (target/paper/quick)
	$(LAB) paper --quick --force --out target/paper/quick --cache target/paper/quick-cache

paper: setup+rtl+paper lab ## The paper's experiments on real graphs (rewrites docs/results/paper); goes on where it was stopped
	$(LAB) paper --force --out docs/results/paper --cache target/paper/cache

paper-gpu: lab ## Experiments of the GPU engine's papers (GPU=gpu:0; target/paper-gpu)
	$(LAB) paper-gpu --device $(or $(GPU),gpu) --html --force --out target/paper-gpu/report

paper-gpu-quick: setup+rtl+gpu lab ## The same on small random graphs, on the processor behind OpenCL
	$(LAB) paper-gpu --quick --device $(or $(GPU),gpu:portable) --best 1 --html --force --out target/paper-gpu/quick

mutants: setup+rtl ## Faults in the core, one at a time: do the tests notice? (docs/results/hardware/mutants.md)
	scripts/hardware.py mutants

mutants-results: setup+rtl ## The same, and each fault by the tests of the whole core alone; goes on where it was stopped
	scripts/hardware.py mutants --results

mutants-quick: setup+rtl ## Five of the faults
	scripts/hardware.py mutants --quick

check-rtl: emulator ## The core on the larger real graphs, with the cycle budgets, and on large random tasks
	GRAMER_LONG=1 GRAMER_REQUIRE_RTL=1 cargo test --release --locked --workspace --test real --test real_long -- --nocapture
	GRAMER_REQUIRE_RTL=1 GRAMER_CANDIDATES=1000000000 cargo test --release --locked --workspace --test core random_
	PYTHONDONTWRITEBYTECODE=1 python3 tests/generated_bruteforce.py $(GRAMER)
	@if [ -n "$${GRAMER_DATA:-}" ]; then PYTHONDONTWRITEBYTECODE=1 python3 tests/fsm_bruteforce.py --check $(GRAMER) --device emulator "$$GRAMER_DATA/citeseer/citeseer.lg" 50 200 500 2000; fi
	@if [ -n "$${GRAMER_DATA:-}" ]; then PYTHONDONTWRITEBYTECODE=1 python3 tests/fsm_bruteforce.py --check $(GRAMER) --device emulator:set-small "$$GRAMER_DATA/citeseer/citeseer.lg" 50 200 500 2000; fi

setup-xrt: setup+xrt ## Install what an emulated device needs (Xilinx Runtime, OpenCL loader)

emulator: setup+rtl+xrt ### Build the emulated device: `gramer mine … --device emulator`
	$(RELEASE) --bin gramer --bin gramer-emulator
	cargo build --release --locked -p gramer-sleep

PREFIX ?= /usr/local
install: emulator lab ### Install programs, the core's sources, manual pages, completions (PREFIX=/usr/local)
	@scripts/release.py install "$(DESTDIR)" "$(PREFIX)"

picture: ## The README's picture, from an answer (docs/pictures/karate.svg); a test compares it
	cargo build --release --locked -p gramer-cli
	@scripts/picture.py $(BUILT)/release/gramer

newcomer: setup+rtl+xrt+python ## A newcomer's hour: install, demo, own graphs, labels, an emulated run, a report; times and outputs checked
	$(MAKE) --no-print-directory install DESTDIR= PREFIX=$(abspath target/newcomer)
	cargo build --release --locked -p gramer-python --features columnar
	@mkdir -p target/newcomer/python && cp -r host/python/gramer target/newcomer/python/ && \
	  cp $(BUILT)/release/lib_gramer.so target/newcomer/python/gramer/_gramer.abi3.so
	PYTHONPATH=$(abspath target/newcomer/python) scripts/newcomer.py target/newcomer .venv/bin/python

dist: emulator lab ## An archive of the same, stripped, with all licences: target/dist/gramer-*.tar.gz
	@scripts/release.py dist

deb: emulator lab ## A Debian package of the same: target/dist/gramer_*.deb
	@scripts/release.py deb

package: setup ## The crates for others, as a registry would get them, each built from its package (target/package)
	scripts/package.py --build

image: ## An OCI image, by podman, docker or buildah, from Containerfile (which says what of it was run)
	@scripts/image.sh

test-emulation: setup+rtl+xrt ## Tests through the Xilinx Runtime on the simulated core
	@scripts/test.py emulation

formal: setup+eda ## Formal proofs of the core's modules (rewrites docs/results/hardware/formal.tsv)
	@.venv/bin/python scripts/hardware.py formal

formal-changed: setup+eda ## All proofs if their sources changed since all passed, else those that take moments
	@.venv/bin/python scripts/hardware.py formal-changed

hls-test: setup+rtl+hls generate ## C simulation of the movers and the core's model, with small and with open headers
	@scripts/hls-test.sh

setup-hls: setup+hls ## Install the open ap_types headers (.venv)

setup-eda: setup+eda ## Install the open hardware tools (.venv: Yosys, pyslang, z3)

lock: ## Versions and hashes of the Python packages of scripts/requirements-*.txt again (scripts/requirements-*.lock)
	@scripts/lock.sh

vitis-check: setup+eda generate ## The Vitis build against the rules of its manuals, without Vitis
	@.venv/bin/python scripts/vitis_check.py

xclbin: ### Binary by Vitis, for --device: TARGET=hw|hw_emu|sw_emu BOARD=u250 PLATFORM=... MACHINE=accelerator
	@# Variables of make are variables of its commands' environment only where the command line sets them.
	@export TARGET="$(TARGET)" BOARD="$(BOARD)" PLATFORM="$(PLATFORM)" FREQUENCY="$(FREQUENCY)" MACHINE="$(MACHINE)"; \
	  scripts/vitis/build.sh --check && $(MAKE) --no-print-directory generate && scripts/vitis/build.sh

synth: setup+eda generate ## Area and logic depth by block, with Yosys (rewrites docs/results/hardware/synthesis.md and .tsv)
	@.venv/bin/python scripts/hardware.py synth --write

timing: setup+eda generate ## Slack of mapped blocks at the machine's clock, by AMD's published delays (rewrites docs/results/hardware/timing.md)
	@.venv/bin/python scripts/hardware.py timing --write

timing-changed: setup+eda generate ## The same if the RTL changed since, writing nothing
	@.venv/bin/python scripts/hardware.py timing --changed

synth-changed: setup+eda generate ## Area and depth of the whole core if a block changed since, writing nothing
	@.venv/bin/python scripts/hardware.py synth --changed-core

test-synth: setup+rtl+eda generate ## HLS kernels, Vitis build, and synthesis of the blocks that changed
	@scripts/test.py synth

generate: setup ## Generated files of every machine: SystemVerilog, HLS header, kernel.xml, link.cfg
	@cargo build -q --locked --workspace --example generate # with the features of the tests' build
	@for machine in accelerator.yaml machines/*.yaml; do \
	  $(BUILT)/debug/examples/generate "$$machine" "target/generated/$$(basename "$$machine" .yaml)"; \
	done

cycles: setup+rtl ## Cycles on real graphs, compared with the budgets (docs/results/hardware/cycles.md)
	scripts/measure.py cycles
	scripts/measure.py cycles-set

cycles-plans: setup+rtl ## Cycles of houses and 5-cycles on the set core (rewrites docs/results/hardware/set-plans.md; needs the real graphs)
	scripts/measure.py cycles-plans

energy: setup+rtl+eda generate ## Energy of both cores by counted activity, an estimate (rewrites docs/results/hardware/energy.md; needs the real graphs)
	$(RELEASE) --bin gramer --bin gramer-lab
	@.venv/bin/python scripts/hardware.py energy

coverage: setup+rtl ## Lines of both cores that their tests reach (rewrites docs/results/hardware/coverage.md and coverage-set.md)
	scripts/hardware.py coverage paper set

licences: setup ## Licences, versions and sources of all dependencies against deny.toml
	@scripts/licences.py

lint-rtl: setup+rtl+lint ## Lint of the core: Verilator's warnings for every machine, Verible's rules
	scripts/lint-rtl.sh

lint: setup ### Format, clippy, documentation: no warning is left
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo clippy --locked --workspace --test abi --test real_long -- -D warnings # they run by name alone
	cargo metadata --locked --format-version 1 --manifest-path host/fuzz/Cargo.toml > /dev/null # has `make fuzz` all versions?
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps $(LIBRARIES)
	scripts/package.py # is anything missing in the crates for others? They are built by `make package`.

setup-bench: setup+bench ## Install what `make bench` needs in addition to the build (zstd)

bench: setup+bench build ### Speed of whole runs and of the parts, compared with public systems: ten minutes (rewrites docs/results/bench/today.md)
	scripts/measure.py speed --write

bench-growth: build ## Time and memory against edges, beside libraries for Python: hours (PYTHON=one with igraph, networkit and rustworkx; MOST=1e7 edges; rewrites docs/results/growth.md)
	scripts/measure.py growth measure --gramer $(GRAMER) --python $(or $(PYTHON),python3) --most $(or $(MOST),1e7)
	scripts/measure.py growth page

bench-memory: build ## Memory of each thread of the CPU engine beyond the graph, by task (target/bench-memory/memory.md)
	scripts/measure.py memory --scales 16 18 23 --out target/bench-memory/memory.md

bench-compare: setup+bench ## CPU seconds of this tree, compared with the revision BEFORE=… (WORDS: only rows with these; MINUTES=10; JOBS=1; PAGE=… writes a page)
	scripts/measure.py compare --minutes $(or $(MINUTES),10) --jobs $(or $(JOBS),1) $(if $(PAGE),--page "$(PAGE)") "$(BEFORE)" $(WORDS)

check-data: setup ## Every known count of the real graphs
	cargo build $(CHECKED) --bin gramer --example check_data
	$(BUILT)/release/examples/check_data
	@if [ -n "$${GRAMER_DATA:-}" ]; then PYTHONDONTWRITEBYTECODE=1 python3 tests/fsm_bruteforce.py --check $(GRAMER) "$$GRAMER_DATA/citeseer/citeseer.lg" 50 200 500 2000; fi

check-data-quick: setup ## The known counts that take moments
	cargo build $(CHECKED) --bin gramer --example check_data
	$(BUILT)/release/examples/check_data --quick
	PYTHONDONTWRITEBYTECODE=1 python3 tests/generated_bruteforce.py $(GRAMER)
	@if [ -n "$${GRAMER_DATA:-}" ]; then PYTHONDONTWRITEBYTECODE=1 python3 tests/fsm_bruteforce.py --check $(GRAMER) "$$GRAMER_DATA/citeseer/citeseer.lg" 50 200 500 2000; fi

test-msrv: setup ## Build with the oldest Rust that Cargo.toml promises (installs it with rustup)
	scripts/msrv.sh

fuzz: setup ## Feed the parsers with broken input, FUZZ_SECONDS (60) each
	scripts/fuzz.sh $(FUZZ_SECONDS)

doc: setup ## API documentation (target/doc)
	cargo doc --locked --no-deps $(LIBRARIES)

setup-docs: setup+docs ## Install what builds the site (.venv: MkDocs)

site: setup+docs ## These documents as a site with search (target/site); fails on a broken link
	@.venv/bin/mkdocs build --strict

clean: ### Remove everything that was built
	cargo clean
