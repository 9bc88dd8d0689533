#!/usr/bin/env python3
"""Measures speed and cycles. `scripts/measure.py COMMAND --help` describes a command.

    speed         CPU seconds on one thread compared with public systems, and rates of the parts (docs/results/bench/today.md)
    compare       CPU seconds of this tree compared with another revision
    memory        memory of each thread of the CPU engine beyond the graph
    growth        time and memory against edges beside libraries for Python (docs/results/growth.md)
    libraries     races with libraries for Python on any graph file (docs/results/peers.md)
    cluster       one process and jobs of several, by MPI
    gpu           the GPU engine compared with public CUDA programs
    gpus          the table of one GPU and several, from a measured file
    start         a whole process on a GPU beside the least that one with OpenCL takes
    strategies    matches on a GPU by strategy
    cycles        cycles of the paper's machine compared with the budgets (docs/results/hardware/cycles.md)
    cycles-set    cycles of the set core (docs/results/hardware/set-cycles.md)
    cycles-large  cycles of the set core on graphs beyond its memory, beside CPU and GPU (the same page)
    model-set     cycles of 3-cliques on the set core, predicted and simulated (docs/results/hardware/set-model.tsv)
    cycles-plans  cycles of houses, 5-cycles and 5-motifs on the set core (docs/results/hardware/set-plans.md)
"""

import sys

import commands

if __name__ == "__main__":
    sys.exit(commands.run("measure", "measuring", __doc__))
