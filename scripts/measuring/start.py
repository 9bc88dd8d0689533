"""How long a whole process takes on a GPU, beside the least that one with OpenCL takes here.

usage: scripts/measure.py start START GRAMER GRAPH [--device gpu] [--runs N] [--pause S]

START is the example `start` of host/gpu, which opens a device and writes four bytes. Both run in turn N times (12), S
seconds apart (0.5), after one run of each that isn't counted; the task is cliques of 4 vertices. A table is printed: least,
median and most milliseconds.
"""

import argparse
import statistics
import subprocess
import sys
import time


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("start")
    parser.add_argument("gramer")
    parser.add_argument("graph")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--pause", type=float, default=0.5)
    options = parser.parse_args()
    mine = [options.gramer, "mine", "clique", "-k", "4", options.graph, "--device", options.device, "-q"]
    taken = {"whole process": [], "a device opened, four bytes written": []}
    for run in range(options.runs + 1):
        for name, command in zip(taken, (mine, [options.start])):
            time.sleep(options.pause)
            begun = time.perf_counter()
            ended = subprocess.run(command, capture_output=True, text=True)
            if ended.returncode:
                print(f"start.py: {' '.join(command)}: {ended.stderr}", file=sys.stderr)
                return 1
            if run:
                taken[name].append((time.perf_counter() - begun) * 1e3)
    print("| process | least ms | median | most |", "|---|---:|---:|---:|", sep="\n")
    for name, of in taken.items():
        print(f"| {name} | {min(of):.0f} | {statistics.median(of):.0f} | {max(of):.0f} |")
    return 0
