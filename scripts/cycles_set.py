#!/usr/bin/env python3
"""Cycles of the set core on real graphs (rewrites docs/hardware/set-cycles.md).

usage: scripts/cycles_set.py [--only TASK:GRAPH]... [--machine NAME]...

Each task runs on the machines `set` (16 PUs) and `set32` (32 PUs), with the image on chip before
(resident) and with the image loaded meanwhile (loaded). Beside the cycles stand those of the model that
the core was designed with, the time that the paper publishes for GRAMER (its table III, set-up and transfer
included), and that of the fastest public program on an H100 (kernel alone). Counts must be those of the CPU
engine. Runs whose result is kept in target/cycles-set and whose model has not changed are not repeated.
`--only 3-CF:ca-astroph` and `--machine set` choose rows; the report is written only with all of them.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target/cycles-set"
REPORT = ROOT / "docs/hardware/set-cycles.md"
FILES = {
    "citeseer": "citeseer/citeseer.lg",
    "p2p-gnutella04": "p2p-gnutella04/p2p-gnutella04.txt.zst",
    "p2p-gnutella08": "p2p-gnutella08/p2p-gnutella08.txt.zst",
    "ca-astroph": "ca-astroph/ca-AstroPh.txt.zst",
    "wiki-vote": "wiki-vote/wiki-vote.txt.zst",
    "email-enron": "email-enron/email-enron.txt.zst",
}
# Task, graph; cycles of the design's model: 16 PUs resident, 32 PUs resident, 32 PUs loaded; seconds of the
# paper, of the H100 (None: not known).
ROWS = [
    ("3-CF", "citeseer", 243, 138, 555, 0.0099, None),
    ("4-CF", "citeseer", 144, 113, 382, 0.010, None),
    ("5-CF", "citeseer", 108, 89, 286, 0.011, None),
    ("3-MC", "citeseer", 243, 138, 555, 0.031, None),
    ("4-MC", "citeseer", 847, 600, 1768, 0.039, None),
    ("3-CF", "p2p-gnutella04", 2558, 1301, 3580, 0.010, None),
    ("4-CF", "p2p-gnutella04", 1825, 934, 3219, 0.011, None),
    ("5-CF", "p2p-gnutella04", 1271, 662, 3019, 0.012, None),
    ("3-MC", "p2p-gnutella04", 2558, 1301, 3580, 0.033, None),
    ("4-MC", "p2p-gnutella04", 9763, 4907, 11731, 0.093, None),
    ("3-CF", "p2p-gnutella08", 1400, 730, 1900, None, None),
    ("4-CF", "p2p-gnutella08", 962, 507, 1679, None, None),
    ("5-CF", "p2p-gnutella08", 620, 325, 1540, None, None),
    ("4-MC", "p2p-gnutella08", 4867, 2442, 6058, None, None),
    ("3-CF", "ca-astroph", 26873, 13463, 16769, 0.028, 90e-6),
    ("4-CF", "ca-astroph", 29112, 14667, 16369, 0.27, 447e-6),
    ("5-CF", "ca-astroph", 200260, 100242, 100242, 1.46, 2.275e-3),
    ("6-CF", "ca-astroph", 1391436, 695985, 695985, None, 18.158e-3),
    ("3-MC", "ca-astroph", 26873, 13463, 16769, 0.11, 225e-6),
    ("4-MC", "ca-astroph", 134488, 67162, 86375, 8.00, 13.085e-3),
    ("3-CF", "wiki-vote", 21502, 10774, 11219, None, None),
    ("4-CF", "wiki-vote", 20845, 10457, 10470, None, None),
    ("5-CF", "wiki-vote", 78000, 39037, 39037, None, None),
    ("4-MC", "wiki-vote", 108072, 54202, 67881, None, None),
    ("3-CF", "email-enron", 24802, 12415, 15175, None, None),
    ("4-CF", "email-enron", 24243, 12153, 14259, None, None),
    ("5-CF", "email-enron", 85806, 43079, 43639, None, None),
    ("4-MC", "email-enron", 118239, 59063, 77885, None, None),
]
MACHINES = ["set", "set32"]
CLOCK = 200e6


def words(task):
    """The task of `gramer` and k."""
    k, kind = task.split("-")
    return {"CF": "clique", "MC": "motif"}[kind], int(k)


def expected(task, path):
    """The CPU engine's counts."""
    name, k = words(task)
    command = [ROOT / "target/release/gramer", "mine", name, "-k", str(k), path, "--output", "json"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return [one["count"] for one in json.loads(done.stdout)["results"]]


def simulate(machine, model, task, graph, path, load):
    """One run, or what is kept of it; what is wrong, as text, of one that failed."""
    kept = WORK / f"{model}-{task}-{graph}-{'loaded' if load else 'resident'}.json"
    if not kept.exists():
        name, k = words(task)
        command = [ROOT / "target/release/gramer-sim", name, "-k", str(k), path, "--json",
                   "--machine", f"machines/{machine}.yaml"] + (["--load"] if load else [])
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            return f"{' '.join(map(str, command))} failed: {done.stderr.strip()}"
        counts = [one["count"] for one in json.loads(done.stdout)["results"]]
        if counts != expected(task, path):
            return f"{task} {graph} on {machine}: the core counted {counts}, the CPU engine {expected(task, path)}"
        kept.with_suffix(".part").write_text(done.stdout)
        kept.with_suffix(".part").rename(kept)
    return json.loads(kept.read_text())


def shares(result):
    """Mean share of the cycles of all PUs, in %, by counter; and least to most of the clusters' cycles."""
    found = {}
    for name in ["steps", "level_busy", "map_busy", "idle_memory", "idle_no_work"]:
        parts = [100 * pu[0] / max(1, p["cycles"]) for p in result["passes"] for pu in p["counters"][f"pu.{name}"]]
        found[name] = sum(parts) / len(parts)
    return found


def row(machine, at, results):
    """A line of the table."""
    task, graph, model16, model32, loaded32, paper, h100 = ROWS[at]
    resident, loaded = (results[load]["cycles"] for load in (False, True))
    model = model16 if machine == "set" else model32
    busy = shares(results[False])

    def times(seconds, cycles):
        return f"{seconds * CLOCK / cycles:,.2f}" if seconds else ""

    beside = f"{loaded32:,}" if machine == "set32" else ""
    return (f"| {task} {graph} | {machine} | {resident:,} | {model:,} | {resident / model:.2f} | {loaded:,} | {beside} | "
            f"{busy['steps']:.0f} / {busy['level_busy']:.0f} / {busy['map_busy']:.0f} | {busy['idle_memory']:.0f} | "
            f"{busy['idle_no_work']:.0f} | {times(paper, loaded)} | {times(h100, resident)} |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", action="append", help="rows as TASK:GRAPH")
    arguments.add_argument("--machine", action="append", choices=MACHINES)
    options = arguments.parse_args()
    data = os.environ.get("GRAMER_DATA")
    if not data:
        sys.exit("cycles: GRAMER_DATA must name the folder of the real graphs")
    WORK.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cargo", "build", "--release", "--locked", "-q", "--workspace", "--bin", "gramer-sim",
                    "--bin", "gramer"], cwd=ROOT, check=True)
    lines, models, failed = [], {}, 0
    for machine in options.machine or MACHINES:
        models[machine] = subprocess.run(
            [ROOT / "target/release/gramer-sim", "--model", "--machine", f"machines/{machine}.yaml"],
            cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        for at, (task, graph, *_) in enumerate(ROWS):
            if options.only and f"{task}:{graph}" not in options.only:
                continue
            path = pathlib.Path(data) / FILES[graph]
            results = {load: simulate(machine, models[machine], task, graph, path, load) for load in (False, True)}
            wrong = [text for text in results.values() if isinstance(text, str)]
            if wrong:
                failed += 1
                print(f"cycles: {wrong[0]}", file=sys.stderr)
                lines.append(f"| {task} {graph} | {machine} | failed | | | | | | | | | |")
            else:
                lines.append(row(machine, at, results))
            print(lines[-1], flush=True)
    if failed:
        sys.exit(f"cycles: {failed} rows failed; the report is left as it is")
    if options.only or options.machine:
        return
    table = "\n".join(lines)
    hashes = ", ".join(f"`{model}` ({machine})" for machine, model in models.items())
    REPORT.write_text(f"""# Cycles of the set core

Written by `make cycles`, with the default memory model. Models that ran: {hashes}. Every count is that of
the CPU engine. Cycles are those of the cluster that took longest, from its start to its last sum.
*Resident*: the image is on chip from an earlier run; *loaded*: it is read meanwhile, a line a cycle and cluster.
The host's preparation and the launch of kernels are in neither.

| task | machine | resident | model | of it | loaded | model | intersector / levels / map busy % | waits for memory % | no work % | × GRAMER, loaded | × H100, resident |
|---|---|---|---|---|---|---|---|---|---|---|---|
{table}

*Model*: the cycle model that the core was designed with, whose vertices are ordered by degree. *× GRAMER*: the time
of the paper's table III, which has set-up and transfer in it (9.9 ms of cliques on its smallest graph), by the
loaded time, which has neither. *× H100*: the kernel of the fastest of G2Miner, GraphSet, DuMato and GAMMA there.
Shares of cycles are means over all PUs.
""")


if __name__ == "__main__":
    main()
