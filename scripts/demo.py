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
        m = {name: metric["value"] for name, metric in found["devices"][0]["metrics"].items()}
        seconds = m["run.seconds_at_clock"]
        rate = found["total"] / seconds / 1e6
        print(f"  {m['run.cycles']:,} cycles of machine {m['device.machine']}: {seconds * 1e3:.3f} ms"
              f" at {m['device.clock']} MHz, {rate:.1f} million embeddings per second")
        for kind in ("vertex", "edge"):
            print(f"  {m[kind + '.accesses']:,} {kind} accesses: "
                  f"{m[kind + '.high_hits']:.1%} high-priority hits, "
                  f"{m[kind + '.low_hits']:.1%} low-priority hits, {m[kind + '.misses']:.1%} misses")
        print(f"  the CPU took {cpu['seconds']['mine'] * 1e3:.2f} ms, "
              f"the simulation {found['seconds']['mine']:.2f} s")


if __name__ == "__main__":
    main()
