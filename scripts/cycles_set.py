#!/usr/bin/env python3
"""Cycles of the set core on real graphs (rewrites docs/hardware/set-cycles.md).

usage: scripts/cycles_set.py [--only TASK:GRAPH]... [--machine NAME]... [--jobs N] [--report]

Each task runs on the machines `set` (16 PUs) and `set32` (32 PUs), with the image on chip before
(resident) and with the image loaded meanwhile (loaded). Beside the cycles stand those of the model that
the core was designed with, the time that the paper publishes for GRAMER (its table III, set-up and transfer
included), and that of the fastest public program on an H100 (kernel alone). Counts must be those of the CPU
engine. Runs whose result is kept in target/cycles-set and whose model has not changed are not repeated.
`--only 3-CF:ca-astroph` and `--machine set` choose rows; the report is written only with all of them.
`--jobs N` simulates N at a time. `--report` simulates nothing: what is kept of the present models becomes the
report, and a row without a result says so. GRAMER and GRAMER_SIM name the programs where they aren't in
target/release.
"""

import argparse
import concurrent.futures
import functools
import json
import math
import os
import pathlib
import subprocess
import sys

from built import BUILT

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
    "rmat15": "rmat15/rmat15.txt.zst",
    "web-stanford": "web-stanford/edges_directed.txt.zst",
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
    ("3-CF", "rmat15", 192004, 96060, 96093, None, None),
    ("4-CF", "rmat15", 228599, 113305, 113305, None, None),
    ("5-CF", "rmat15", 3077784, 1539865, 1539865, None, None),
    ("4-MC", "rmat15", 928783, 467829, 491716, None, None),
    ("3-CF", "web-stanford", 237119, 116501, 154468, None, None),
    ("4-CF", "web-stanford", 263009, 131146, 156752, None, None),
    ("5-CF", "web-stanford", 1526708, 763596, 778339, None, None),
    ("4-MC", "web-stanford", 946782, 475423, 1014978, None, None),
]
# The design's model leaves out the lists of members with fewer than k - 2 before them, which may be in the middle of a
# clique, and of those with fewer behind them; its counts are found without lists. What it says with all of them, 16 and 32 PUs.
NEEDED = {
    ("4-CF", "citeseer"): (159, 125),
    ("5-CF", "citeseer"): (136, 108),
    ("4-CF", "p2p-gnutella04"): (2274, 1148),
    ("5-CF", "p2p-gnutella04"): (1984, 1004),
    ("4-CF", "p2p-gnutella08"): (1224, 643),
    ("5-CF", "p2p-gnutella08"): (1034, 540),
}
# The cycles that the core is meant to reach, resident: at most so many.
TARGETS = {
    "set": {"3-CF": 33_000, "4-CF": 36_000, "5-CF": 240_000, "6-CF": 1_700_000, "4-MC": 165_000},
    "set32": {"3-CF": 17_000, "4-CF": 18_000, "5-CF": 120_000, "6-CF": 850_000, "4-MC": 84_000},
}
# Of ca-astroph; elsewhere so many times the model's.
ABOVE_MODEL = 1.25
MACHINES = ["set", "set32"]
CLOCK = 200e6
LAUNCHES = [0, 1e-4, 3e-4]
# Seconds of the paper's smallest graph, nearly all of them set-up.
FLOOR = {"CF": 9.9e-3, "MC": 31e-3}
# The figures of the paper that the design takes its geometric mean of.
SEVEN = {("4-MC", "citeseer"), ("4-MC", "p2p-gnutella04"), ("3-CF", "ca-astroph"), ("4-CF", "ca-astroph"),
         ("5-CF", "ca-astroph"), ("3-MC", "ca-astroph"), ("4-MC", "ca-astroph")}
NOT_RUN = "not run"


def program(name):
    """The program of this name."""
    return os.environ.get(name.upper().replace("-", "_"), BUILT / "release" / name)


def built():
    """Builds the programs where no others are named."""
    if program("gramer-sim") == BUILT / "release/gramer-sim":
        subprocess.run(["cargo", "build", "--release", "--locked", "-q", "--workspace", "--bin", "gramer-sim",
                        "--bin", "gramer"], cwd=ROOT, check=True)


def model_of(machine):
    """The name of the model of a machine's file."""
    return subprocess.run([program("gramer-sim"), "--model", "--machine", machine], cwd=ROOT, check=True,
                          stdout=subprocess.PIPE, text=True).stdout.strip()


def words(task):
    """The task of `gramer` and k."""
    k, kind = task.split("-")
    return {"CF": "clique", "MC": "motif"}[kind], int(k)


@functools.cache
def expected(task, path):
    """The CPU engine's counts."""
    name, k = words(task)
    command = [program("gramer"), "mine", name, "-k", str(k), path, "--output", "json"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return [one["count"] for one in json.loads(done.stdout)["results"]]


def kept_at(model, task, graph, load):
    return WORK / f"{model}-{task}-{graph}-{'loaded' if load else 'resident'}.json"


def simulate(machine, kept, task, path, load):
    """One run, whose result is kept. Gives what is wrong as text."""
    name, k = words(task)
    return keep([program("gramer-sim"), name, "-k", str(k), path, "--json",
                 "--machine", f"machines/{machine}.yaml"] + (["--load"] if load else []), kept)


def keep(command, kept):
    """Runs a command, whose answer is kept, whole or not at all. Gives what is wrong as text."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return f"{' '.join(map(str, command))} failed: {done.stderr.strip()}"
    kept.with_suffix(".part").write_text(done.stdout)
    kept.with_suffix(".part").rename(kept)
    return None


def outcome(kept, task, graph, path):
    """What is kept of a run: its result, or NOT_RUN. Counts that are wrong end the program."""
    if not kept.exists():
        return NOT_RUN
    result = json.loads(kept.read_text())
    counts = [one["count"] for one in result["results"]]
    if counts != expected(task, path):
        sys.exit(f"cycles: {task} {graph}: the core counted {counts}, the CPU engine {expected(task, path)}")
    return result


def shares(result):
    """Of the cycles of all PUs, in %: least, mean and most, by counter."""
    found = {}
    for name in ["steps", "level_busy", "map_busy", "idle_memory", "idle_no_work"]:
        parts = [100 * pu[0] / max(1, p["cycles"]) for p in result["passes"] for pu in p["counters"][f"pu.{name}"]]
        found[name] = (min(parts), sum(parts) / len(parts), max(parts))
    return found


def total(result, name):
    """A counter's sum over clusters and units."""
    return sum(unit[0] for p in result["passes"] for unit in p["counters"][name])


def cut(result):
    """Of a graph that has no room in a cluster: its segments, and how often a line of its image is in one."""
    if result.get("segments", 1) == 1:
        return ""
    return f"{result['segments']}, {result['image_lines'] / result['whole_lines']:.2f}"


def limits(task, graph, machine, model):
    """What the resident cycles are held against: the number, and where it is from."""
    target = TARGETS[machine].get(task) if graph == "ca-astroph" else None
    return (target, "target") if target else (math.floor(ABOVE_MODEL * model), "1.25 × model")


def row(machine, at, results):
    """A line of the table."""
    task, graph, model16, model32, loaded32, paper, h100 = ROWS[at]
    model = model16 if machine == "set" else model32
    beside = f"{loaded32:,}" if machine == "set32" else ""
    limit, _ = limits(task, graph, machine, model)
    begin = f"| {task} {graph} | {machine} "
    resident, loaded = results[False], results[True]
    if isinstance(resident, str):
        shown = loaded if isinstance(loaded, str) else f"{loaded['cycles']:,}"
        return f"{begin}| {resident} | {model:,} | | {limit:,} | {shown} | {beside} | | | | | | | | | |"
    cycles, busy = resident["cycles"], shares(resident)
    mark = "" if cycles <= limit else " **above**"
    lines = total(resident, "partition.lines")
    conflicts = f"{total(resident, 'partition.conflicts') / lines:.2f}" if lines else ""
    at_work = f"{100 - busy['idle_no_work'][2]:.0f} to {100 - busy['idle_no_work'][0]:.0f}"
    times = [f"{h100 * CLOCK / cycles:,.2f}" if h100 else ""]
    if isinstance(loaded, str):
        then, read, gain = loaded, "", ""
    else:
        then, read = f"{loaded['cycles']:,}", f"{total(loaded, 'bank.beats') * 64 / 1e6:,.2f}"
        gain = f"{paper * CLOCK / loaded['cycles']:,.0f}" if paper else ""
    mean = {name: f"{value[1]:.0f}" for name, value in busy.items()}
    return (f"{begin}| {cycles:,}{mark} | {model:,} | {cycles / model:.2f} | {limit:,} | {then} | {beside} | "
            f"{mean['steps']} / {mean['level_busy']} / {mean['map_busy']} | {mean['idle_memory']} | "
            f"{mean['idle_no_work']} | {at_work} | {conflicts} | {read} | {cut(resident)} | {gain} | {times[0]} |")


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def means(machine, results):
    """Lines of the table of geometric means; `results` by row and whether it loads."""
    lines = []
    published = [at for at, one in enumerate(ROWS) if one[5]]

    def factors(rows, launch, floor):
        found = []
        for at in rows:
            task, paper = ROWS[at][0], ROWS[at][5]
            loaded = results[at][True]
            if isinstance(loaded, str):
                return None
            found.append((paper - (FLOOR[task[2:]] if floor else 0)) / (loaded["cycles"] / CLOCK + launch))
        return geometric(found)

    for what, rows, floor in (
        (f"all {len(published)} published", published, False),
        ("the design's seven", [at for at in published if ROWS[at][:2] in SEVEN], False),
        ("those of twice the set-up floor or more, less the floor",
         [at for at in published if ROWS[at][5] >= 2 * FLOOR[ROWS[at][0][2:]]], True),
    ):
        found = [factors(rows, launch, floor) for launch in LAUNCHES]
        cells = [f"{one:,.0f}" if one else NOT_RUN for one in found]
        lines.append(f"| {machine} | {what} | {len(rows)} | {' | '.join(cells)} |")
    return lines


def verdict(machine, results):
    """How many rows keep their limit, and what the others' counters say."""
    kept, above, missing = 0, [], 0
    for at, (task, graph, model16, model32, *_) in enumerate(ROWS):
        resident = results[at][False]
        if isinstance(resident, str):
            missing += 1
            continue
        limit, where = limits(task, graph, machine, model16 if machine == "set" else model32)
        if resident["cycles"] <= limit:
            kept += 1
            continue
        busy = {name: value[1] for name, value in shares(resident).items()}
        why = max(busy, key=busy.get)
        names = {"steps": "the intersector compares", "level_busy": "the level engine reads", "map_busy": "the map works",
                 "idle_memory": "PUs wait for lines", "idle_no_work": "PUs have no work"}
        needed = NEEDED.get((task, graph))
        needed = needed and resident["cycles"] / needed[machine == "set32"]
        beside = f"; {needed:.2f} × the model with all lines that are needed" if needed else ""
        above.append(f"{task} {graph} ({resident['cycles']:,} of {limit:,}, {where}: {names[why]} in "
                     f"{busy[why]:.0f} % of the cycles{beside})")
    text = f"`{machine}`: {kept} rows within their limit, {len(above)} above it, {missing} without a result."
    return text + (" Above: " + "; ".join(above) + "." if above else "")


def options():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", action="append", help="rows as TASK:GRAPH")
    arguments.add_argument("--machine", action="append", choices=MACHINES)
    arguments.add_argument("--jobs", type=int, default=1, metavar="N")
    arguments.add_argument("--report", action="store_true")
    return arguments.parse_args()


def run_missing(models, rows, paths, jobs):
    """Simulates what has no result yet; what the runs that failed said."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = []
        for machine, model in models.items():
            for task, graph, *_ in (ROWS[at] for at in rows):
                for load in (False, True):
                    kept = kept_at(model, task, graph, load)
                    if not kept.exists():
                        runs.append(pool.submit(simulate, machine, kept, task, paths[graph], load))
        return [said for said in (run.result() for run in runs) if said]


def main():
    chosen = options()
    data = os.environ.get("GRAMER_DATA")
    if not data:
        sys.exit("cycles: GRAMER_DATA must name the folder of the real graphs")
    WORK.mkdir(parents=True, exist_ok=True)
    built()
    machines = chosen.machine or MACHINES
    rows = [at for at, one in enumerate(ROWS) if not chosen.only or f"{one[0]}:{one[1]}" in chosen.only]
    models = {}
    for machine in machines:
        models[machine] = model_of(f"machines/{machine}.yaml")
    paths = {graph: pathlib.Path(data) / file for graph, file in FILES.items()}
    failed = [] if chosen.report else run_missing(models, rows, paths, chosen.jobs)
    lines, results = [], {}
    for machine in machines:
        for at in rows:
            task, graph = ROWS[at][:2]
            results[machine, at] = {load: outcome(kept_at(models[machine], task, graph, load), task, graph, paths[graph])
                                    for load in (False, True)}
            lines.append(row(machine, at, results[machine, at]))
            print(lines[-1], flush=True)
    for said in failed:
        print(f"cycles: {said}", file=sys.stderr)
    if failed:
        sys.exit(f"cycles: {len(failed)} runs failed; the report is left as it is")
    if not chosen.only and not chosen.machine:
        write(lines, {machine: {at: results[machine, at] for at in rows} for machine in machines}, models)


def write(lines, of, models):
    """Writes docs/hardware/set-cycles.md; `of` has the results by machine and row."""
    table = "\n".join(lines)
    gains = "\n".join(line for machine in of for line in means(machine, of[machine]))
    verdicts = "\n\n".join(verdict(machine, of[machine]) for machine in of)
    hashes = ", ".join(f"`{model}` ({machine})" for machine, model in models.items())
    REPORT.write_text(f"""# Cycles of the set core

Written by `make cycles`, with the default memory model. Models that ran: {hashes}. Every count is that of
the CPU engine. Cycles are those of the cluster that took longest, from its start to its last sum; `set` has
two clusters of 8 PUs, `set32` four. *Resident*: the image is on chip from an earlier run; *loaded*: it is
read meanwhile, a line a cycle and cluster. The host's preparation and the launch of kernels are in neither.

Cards ([boards.md](boards.md)) for `set`: Alveo U250 (in doubt), Alveo U200; for `set32`: simulation only.

{verdicts}

| task | machine | resident | model | of it | limit | loaded | model | intersector / levels / map busy % | waits for memory % | no work % | PUs at work %, least to most | conflicts per line | MB from memory, loaded | segments, times a line is loaded | × GRAMER, loaded | × H100, resident |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
{table}

*Model*: the cycle model that the core was designed with, whose vertices are ordered by degree; it has no loaded
figures at 16 PUs. It leaves out lists that cliques of 4 and more need: of members with fewer than k - 2 vertices before them, which
may be in the middle of a clique, and of the first ones. On graphs of short lists that is much, and the text above has *the model with all lines
that are needed* as well. It reads whole lists, where the host tells the core how much of a list can match
([set-core.md](../set-core.md#sizes-by-reach)): rows far below the model, those of the p2p graphs above all, have that from the host, whose time is
in no figure here. *Limit*: what the resident cycles were meant to be at most, on ca-astroph a number for each
task, elsewhere 1.25 × the model. Shares of cycles are means over all PUs; the three units work at the same time.
*Conflicts*: cycles in which a partition had a request waiting while it served another PU's, per line that was
read. *Segments*: the graph's image is larger than the 4 MiB that a cluster has on chip, so the host cuts the roots
into segments with an image each, some of them for each cluster, which goes through its own; cycles are those of the cluster whose
segments took longest, *resident* with each image on chip before its run, and the number beside is the lines of all images by those of
the whole graph's.
*× GRAMER*: the time of the paper's table III, which has set-up and transfer in it, by the loaded time at 200 MHz, which
has neither. *× H100*: the kernel of the fastest of G2Miner, GraphSet, DuMato and GAMMA there.

## Against GRAMER, geometric means

Loaded cycles at 200 MHz, and so many milliseconds for a launch beside them:

| machine | rows | number | 0 ms | 0.1 ms | 0.3 ms |
|---|---|---|---|---|---|
{gains}

The floor is the paper's time on its smallest graph, nearly all of it set-up: 9.9 ms for cliques and 31 ms for motifs.
""")


if __name__ == "__main__":
    main()
