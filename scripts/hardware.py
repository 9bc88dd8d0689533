#!/usr/bin/env python3
"""Checks the cores with open tools. `scripts/hardware.py COMMAND --help` describes a command.

    synth     area and logic depth by block, with Yosys (docs/results/hardware/synthesis.md)
    timing    slack of mapped blocks by AMD's published delays (docs/results/hardware/timing.md)
    formal    proofs of modules (docs/results/hardware/formal.tsv)
    formal-changed  proofs of a commit, on all processors
    mutants   faults in the core, one at a time: do the tests notice? (docs/results/hardware/mutants.md)
    coverage  lines of both cores that their tests reach (docs/results/hardware/coverage.md, coverage-set.md)
    energy    energy by counted activity and published figures, an estimate (docs/results/hardware/energy.md)

`synth`, `timing`, `formal`, `formal-changed` and `energy` need the packages of `make setup-eda`: run them by `.venv/bin/python`.
"""

import sys

import commands

if __name__ == "__main__":
    sys.exit(commands.run("hardware", "hardware", __doc__))
