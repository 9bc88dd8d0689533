#!/usr/bin/env python3
"""Replays the accesses of a run under other policies of replacement: LRU, equation (2), MIN.

    gramer-lab simulate TASK -k K GRAPH --on-chip VL,EL,VS,ES --accesses 2> FILE
    scripts/replay.py --on-chip VL,EL,VS,ES FILE

FILE has the accesses in the order of the core's look-ups (`-` is standard input). They go through caches with the
machine's partitions, sets and ways, one after the other: unlike in the core, a missed line arrives at once. Each policy gets
the same accesses, though the core would issue them at other times with another policy. MIN, which knows the future, evicts
the line whose next use is farthest: no policy has more hits.

For each array and policy a line, its fields separated by tabs: hits in % of the accesses that don't
go to the scratchpad, and of all; evictions; and the shares of them whose line is used again, whose line
was the most recently referenced one of the set, and for which another line of the set would have been the better
victim, since its next use is farther.
"""
import argparse
import pathlib
import subprocess
import sys
from bisect import bisect_right
from collections import defaultdict
from statistics import median

ROOT = pathlib.Path(__file__).resolve().parent.parent
WAYS = 4
NEVER = 1 << 62


def numbers(machine):
    """The numbers of a machine's package."""
    out = ROOT / "target/generated" / pathlib.Path(machine).stem
    subprocess.run(["cargo", "run", "-q", "--locked", "-p", "gramer-machine", "--example", "generate",
                    "--", machine, str(out)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    found = {}
    for line in (out / "gramer_pkg.sv").read_text().splitlines():
        words = line.split()
        if words[:3] == ["localparam", "int", "unsigned"]:
            found[words[3]] = int(words[5].rstrip(";"))
    return found


def read(lines):
    """By array: position, line and rank of each access that is not high-priority; accesses in all."""
    found, everything = {"vertex": [], "edge": []}, {"vertex": 0, "edge": 0}
    for text in lines:
        words = text.split()
        if len(words) == 6 and words[0] == "access":
            if words[4] == "0":
                found[words[1]].append((everything[words[1]], int(words[2]), int(words[3])))
            everything[words[1]] += 1
    return found, everything


def replay(accesses, set_of, policy, weight):
    """Hits, evictions, and how many of them were of a line that comes again, of the newest, and not
    the one whose next use is farthest. `weight` is that of recency: λ, or None for it alone."""
    uses = defaultdict(list)
    for at, line, _ in accesses:
        uses[line].append(at)
    sets = defaultdict(dict)  # line: [last use, rank]
    hits = evictions = again = newest = worse = 0
    for at, line, rank in accesses:
        ways = sets[set_of(line)]
        if line in ways:
            ways[line][0] = at
            hits += 1
            continue
        if len(ways) == WAYS:
            def next_use(held):
                after = bisect_right(uses[held], at)
                return uses[held][after] if after < len(uses[held]) else NEVER
            future = {held: next_use(held) for held in ways}
            if policy == "min":
                victim = max(ways, key=lambda held: future[held])
            elif weight is None:
                victim = min(ways, key=lambda held: ways[held][0])
            else:
                victim = max(ways, key=lambda held: ways[held][1] + weight * (at - ways[held][0]))
            evictions += 1
            again += future[victim] != NEVER
            newest += victim == max(ways, key=lambda held: ways[held][0])
            worse += future[victim] != max(future.values())
            del ways[victim]
        ways[line] = [at, rank]
    return hits, evictions, again, newest, worse


def spreads(accesses, set_of):
    """Medians over the evictions with λ = 1: how far apart ranks and ages are within the set."""
    sets, ranks, ages = defaultdict(dict), [], []  # line: [last use, rank]
    for at, line, rank in accesses:
        ways = sets[set_of(line)]
        if line not in ways and len(ways) == WAYS:
            of_ways = list(ways.values())
            ranks.append(max(w[1] for w in of_ways) - min(w[1] for w in of_ways))
            ages.append(max(w[0] for w in of_ways) - min(w[0] for w in of_ways))
            del ways[max(ways, key=lambda held: ways[held][1] + at - ways[held][0])]
        ways[line] = [at, rank]
    return (median(ranks), median(ages)) if ranks else (0, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--machine", default="accelerator.yaml")
    parser.add_argument("--on-chip", required=True, help="as in gramer-lab simulate")
    parser.add_argument("--lambdas", default="0,0.5,1,2,4,8,16,32,64")
    parser.add_argument("--spread", action="store_true",
                        help="instead: medians of how far apart ranks and ages of a set are (λ = 1)")
    parser.add_argument("file", type=argparse.FileType())
    options = parser.parse_args()
    machine = numbers(options.machine)
    in_use = [int(n) for n in options.on_chip.split(",")][2:]
    with options.file as file:
        accesses, everything = read(file)
    policies = [("lru", None), ("min", None)]
    policies += [(f"lambda {text}", float(text)) for text in options.lambdas.split(",")]
    titles = ["ranks", "ages"] if options.spread else [
        "policy", "hits %", "all hits %", "evictions", "come again %", "newest %", "not MIN's %"]
    print("array", *titles, sep="\t")
    for array, sets in zip(("vertex", "edge"), in_use):
        partitions, all_sets = machine["PARTITIONS"], machine[f"{array.upper()}_SETS"]

        def set_of(line):
            # The low bits in reverse order, scaled to the sets in use.
            bits = all_sets.bit_length() - 1
            low = line // partitions % all_sets
            return line % partitions, int(f"{low:0{bits}b}"[::-1], 2) * sets // all_sets

        low = accesses[array]
        if not low:
            print(f"{array}: no access that is not high-priority", file=sys.stderr)
            continue
        if options.spread:
            print(array, *(f"{spread:.0f}" for spread in spreads(low, set_of)), sep="\t")
            continue
        high = everything[array] - len(low)
        for name, weight in policies:
            hits, evictions, *kinds = replay(low, set_of, name, weight)
            print(array, name, f"{100 * hits / len(low):.2f}",
                  f"{100 * (high + hits) / everything[array]:.2f}", evictions,
                  *(f"{100 * kind / max(evictions, 1):.1f}" for kind in kinds), sep="\t", flush=True)


if __name__ == "__main__":
    main()
