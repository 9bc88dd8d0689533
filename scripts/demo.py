#!/usr/bin/env python3
"""Mines a graph on the CPU and on the emulated accelerator, compares, and prints both.

usage: scripts/demo.py GRAMER MACHINE GRAPH
"""

import json
import subprocess
import sys


def mine(gramer, task, device):
    words = [gramer, "mine", *task, "--device", device, "--output", "json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def main():
    gramer, machine, graph = sys.argv[1:]
    device = f"emulator:{machine}"
    for task in (["motif", "-k", "3"], ["motif", "-k", "4"], ["clique", "-k", "4"]):
        cpu = mine(gramer, [*task, graph], "cpu")
        found = mine(gramer, [*task, graph], device)
        print(f"\n{' '.join(task)} on {graph}")
        print(f"  {'pattern':16} {'cpu':>14} {'accelerator':>14}")
        for ours, theirs in zip(cpu["results"], found["results"], strict=True):
            print(f"  {ours['name']:16} {ours['count']:14,} {theirs['count']:14,}")
        if cpu["results"] != found["results"]:
            sys.exit("the answers differ")
        a = found["accelerator"]
        rate = found["total"] / a["seconds_at_clock"] / 1e6
        print(f"  {a['cycles']:,} cycles of machine {a['machine']}: {a['seconds_at_clock'] * 1e3:.3f} ms"
              f" at {a['clock_mhz']} MHz, {rate:.1f} million embeddings a second")
        for kind in ("vertex", "edge"):
            m = a[kind]
            print(f"  {m['accesses']:,} {kind} accesses: {m['high_hits']:.1%} high-priority hits, "
                  f"{m['low_hits']:.1%} low-priority hits, {m['misses']:.1%} misses")
        print(f"  the CPU took {cpu['seconds']['mine'] * 1e3:.2f} ms, "
              f"the simulation {found['seconds']['mine']:.2f} s")


if __name__ == "__main__":
    main()
