"""Cycles of the set core on real graphs (rewrites docs/results/hardware/set-cycles.md and set-cycles.tsv).

usage: scripts/measure.py cycles-set [--only TASK:GRAPH]... [--machine NAME]... [--jobs N] [--report]

Each task runs on the machines `set` (16 PUs), `set-hbm` (the same with eight memory channels a cluster) and `set32` (32 PUs), with the image on chip before
(resident) and with the image loaded meanwhile (loaded). The report compares the cycles with those of the model that
the core was designed with, the time that the paper publishes for GRAMER (its table III, set-up and transfer
included), and that of the fastest public program on an H100 (kernel alone); rows of dense graphs, which are made here, have
neither, but the prediction of scripts/set_model.py for 3-cliques, and run on `set` alone. Counts must equal the CPU
engine's. Runs whose result is cached in target/cycles-set and whose model has not changed are not repeated.
`--only 3-CF:ca-astroph` and `--machine set` choose rows; the report is written only with all of them.
`--dense` simulates the dense graphs alone and rewrites their section and rows.
`--jobs N` simulates N at a time. `--report` simulates nothing: cached results of the present models become the
report, and rows without a result are marked. GRAMER and GRAMER_LAB name the programs where they aren't in
target/release.
"""

import argparse
import concurrent.futures
import functools
import itertools
import json
import math
import os
import pathlib
import random
import subprocess
import sys

import set_model
from built import BUILT, ROOT

WORK = ROOT / "target/cycles-set"
REPORT = ROOT / "docs/results/hardware/set-cycles.md"
FIGURES = REPORT.with_suffix(".tsv")
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
# Dense graphs: all edges of so many vertices, or each with so many per cent. Roots' lists have up to 254 of 256 entries, but
# of 500 vertices they are longer and are cut.
DENSE = {"complete-254": (254, 100), "random-254-90": (254, 90), "random-254-50": (254, 50), "random-500-90": (500, 90)}
ROWS += [(task, graph, None, None, None, None, None) for graph, (vertices, _) in DENSE.items()
         for task in (("3-CF", "4-CF", "4-MC") if vertices <= 256 else ("3-CF",))]
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
# Maximum resident cycles by design.
TARGETS = {
    "set": {"3-CF": 33_000, "4-CF": 36_000, "5-CF": 240_000, "6-CF": 1_700_000, "4-MC": 165_000},
    "set-hbm": {"3-CF": 33_000, "4-CF": 36_000, "5-CF": 240_000, "6-CF": 1_700_000, "4-MC": 165_000},
    "set32": {"3-CF": 17_000, "4-CF": 18_000, "5-CF": 120_000, "6-CF": 850_000, "4-MC": 84_000},
}
# TARGETS is for ca-astroph; elsewhere the limit is this multiple of the model.
ABOVE_MODEL = 1.25
MACHINES = ["set", "set-hbm", "set32"]
CLOCK = 200e6
LAUNCHES = [0, 1e-4, 3e-4]
# Seconds of the paper's smallest graph, nearly all of them set-up.
FLOOR = {"CF": 9.9e-3, "MC": 31e-3}
NOT_RUN = "not run"


def program(name):
    """The program of this name."""
    return os.environ.get(name.upper().replace("-", "_"), BUILT / "release" / name)


def built():
    """Builds the programs where no others are named."""
    if program("gramer-lab") == BUILT / "release/gramer-lab":
        subprocess.run(["cargo", "build", "--release", "--locked", "-q", "--workspace", "--bin", "gramer-lab",
                        "--bin", "gramer"], cwd=ROOT, check=True)


def model_of(machine):
    """The name of the model of a machine's file."""
    return subprocess.run([program("gramer-lab"), "simulate", "--model", "--machine", machine], cwd=ROOT, check=True,
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
    return keep([program("gramer-lab"), "simulate", name, "-k", str(k), path, "--json",
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


def edges_of(graph):
    """The edges of a dense graph, the same every time."""
    vertices, per_cent = DENSE[graph]
    chance = random.Random(vertices * per_cent)
    return [edge for edge in itertools.combinations(range(vertices), 2) if chance.randrange(100) < per_cent]


def files(data):
    """The graphs' files; those of dense graphs are written."""
    paths = {graph: pathlib.Path(data) / file for graph, file in FILES.items()}
    for graph in DENSE:
        paths[graph] = WORK / f"{graph}.txt"
        paths[graph].write_text("".join(f"{u} {v}\n" for u, v in edges_of(graph)))
    return paths


@functools.cache
def predicted(task, graph, machine):
    """The cycles that the reference model predicts, of what it covers."""
    covered = graph in DENSE and task == "3-CF" and DENSE[graph][0] <= 256
    return set_model.predicted(edges_of(graph))[2] if covered else None


def limits(task, graph, machine, model):
    """What the resident cycles are held against: the number, and where it is from."""
    if model is None:
        return math.inf, "none"
    target = TARGETS[machine].get(task) if graph == "ca-astroph" else None
    return (target, "target") if target else (math.floor(ABOVE_MODEL * model), "1.25 × model")


HEAD = ["task", "graph", "machine", "resident", "model", "resident by model", "limit", "loaded", "model, loaded", "intersector busy %",
        "levels busy %", "map busy %", "waits for memory %", "no work %", "PUs at work %, least", "most", "conflicts per line",
        "MB from memory, loaded", "segments", "times a line is loaded", "times GRAMER, loaded", "times H100, resident"]
# What the page shows of each machine.
SHOWN = ["resident", "loaded", "times GRAMER, loaded", "times H100, resident"]
SHOWN_TASKS = {"3-CF", "5-CF", "4-MC"}
SHOWN_OF = {"set": SHOWN, "set-hbm": ["loaded", "times GRAMER, loaded"], "set32": SHOWN}


def cells(machine, at, results):
    """What the runs of a row say, by the titles of the table."""
    task, graph, model16, model32, loaded32, paper, h100 = ROWS[at]
    model = model32 if machine == "set32" else model16
    limit, _ = limits(task, graph, machine, model)
    model, limit = model or predicted(task, graph, machine) or "", "" if limit == math.inf else limit
    resident, loaded = results[False], results[True]
    found = dict.fromkeys(HEAD, "") | {
        "task": task, "graph": graph, "machine": machine, "model": model, "limit": limit,
        "model, loaded": loaded32 or "" if machine == "set32" else "",
        "resident": resident if isinstance(resident, str) else resident["cycles"],
        "loaded": loaded if isinstance(loaded, str) else loaded["cycles"]}
    if isinstance(resident, str):
        return found
    cycles, busy = resident["cycles"], shares(resident)
    if model:
        found["resident by model"] = f"{cycles / model:.2f}"
    for title, name in (("intersector busy %", "steps"), ("levels busy %", "level_busy"), ("map busy %", "map_busy"),
                        ("waits for memory %", "idle_memory"), ("no work %", "idle_no_work")):
        found[title] = f"{busy[name][1]:.0f}"
    found["PUs at work %, least"] = f"{100 - busy['idle_no_work'][2]:.0f}"
    found["most"] = f"{100 - busy['idle_no_work'][0]:.0f}"
    lines = total(resident, "partition.lines")
    if lines:
        found["conflicts per line"] = f"{total(resident, 'partition.conflicts') / lines:.2f}"
    if resident.get("segments", 1) > 1:
        found["segments"] = resident["segments"]
        found["times a line is loaded"] = f"{resident['image_lines'] / resident['whole_lines']:.2f}"
    if h100:
        found["times H100, resident"] = f"{h100 * CLOCK / cycles:.2f}"
    if not isinstance(loaded, str):
        found["MB from memory, loaded"] = f"{total(loaded, 'bank.beats') * 64 / 1e6:.2f}"
        if paper:
            found["times GRAMER, loaded"] = f"{paper * CLOCK / loaded['cycles']:.0f}"
    return found


def grouped(cell):
    """A whole number with commas, anything else unchanged."""
    text = str(cell)
    return f"{int(text):,}" if text.isdigit() else text


def row(of):
    """A line of the page: the machines' cells of one task on one graph."""
    first = next(iter(of.values()))
    shown = [f"{first['task']} {first['graph']}"]
    for found in of.values():
        above = isinstance(found["resident"], int) and found["resident"] > found["limit"]
        values = [grouped(found[title]) for title in SHOWN_OF[found["machine"]]]
        shown += [values[0] + (" **above**" if above else ""), *values[1:]]
    return f"| {' | '.join(shown)} |"


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


# What the page shows of dense graphs.
SHOWN_DENSE = ["resident", "model", "loaded"]


def dense_row(found):
    """A line of the page for a dense graph: cycles and the prediction."""
    return f"| {found['task']} {found['graph']} | {' | '.join(grouped(found[title]) for title in SHOWN_DENSE)} |"


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
        if graph in DENSE:
            continue
        resident = results[at][False]
        if isinstance(resident, str):
            missing += 1
            continue
        limit, where = limits(task, graph, machine, model32 if machine == "set32" else model16)
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
    arguments.add_argument("--dense", action="store_true")
    arguments.add_argument("--jobs", type=int, default=1, metavar="N")
    arguments.add_argument("--report", action="store_true")
    return arguments.parse_args()


def run_missing(models, rows, paths, jobs):
    """Simulates what has no result yet; what the runs that failed said."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = []
        for machine, model in models.items():
            for task, graph, *_ in (ROWS[at] for at in rows_of(machine, rows)):
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
    machines = ["set"] if chosen.dense else chosen.machine or MACHINES
    rows = [at for at, one in enumerate(ROWS) if (not chosen.only or f"{one[0]}:{one[1]}" in chosen.only)
            and (one[1] in DENSE or not chosen.dense)]
    models = {}
    for machine in machines:
        models[machine] = model_of(f"machines/{machine}.yaml")
    paths = files(data)
    failed = [] if chosen.report else run_missing(models, rows, paths, chosen.jobs)
    found, results = {}, {}
    for machine in machines:
        for at in rows_of(machine, rows):
            task, graph = ROWS[at][:2]
            results[machine, at] = {load: outcome(kept_at(models[machine], task, graph, load), task, graph, paths[graph])
                                    for load in (False, True)}
            found[machine, at] = cells(machine, at, results[machine, at])
            print("\t".join(map(str, found[machine, at].values())), flush=True)
    for said in failed:
        print(f"cycles: {said}", file=sys.stderr)
    if failed:
        sys.exit(f"cycles: {len(failed)} runs failed; the report is unchanged")
    dense = section([dense_row(one) for one in found.values() if one["graph"] in DENSE and one["task"] == "3-CF"], models.get("set"))
    if chosen.dense:
        rewrite(dense, found.values())
    elif not chosen.only and not chosen.machine:
        # The page has the rows with a published time, the file beside it all.
        shown = [at for at in rows if (ROWS[at][5] or ROWS[at][6]) and ROWS[at][0] in SHOWN_TASKS]
        lines = [row({machine: found[machine, at] for machine in machines}) for at in shown]
        FIGURES.write_text("".join("\t".join(map(str, line)) + "\n" for line in [HEAD, *(one.values() for one in found.values())]))
        of = {machine: {at: results[machine, at] for at in rows_of(machine, rows)} for machine in machines}
        write(lines, dense, of, models)


def rows_of(machine, rows):
    """The rows that are simulated on a machine: dense graphs on one alone."""
    return [at for at in rows if machine == "set" or ROWS[at][1] not in DENSE]


def section(lines, model):
    """The page's section on dense graphs."""
    table = "\n".join(lines)
    return f"""{DENSE_HEAD}

A clique of 254 vertices, and random graphs with 50 and 90 % of all edges, on `set`; model `{model}`. *Predicted* is what
[set-core.md](../../reference/set-core.md#timing) says of 3-cliques. With 500 vertices roots' lists are longer than the list buffer, and
the graph goes there in segments. 4-cliques and 4-motifs are in the TSV.

| task | resident | predicted | loaded |
|---|---:|---:|---:|
{table}

"""


DENSE_HEAD, LARGE_HEAD, NEXT_HEAD = "## Dense graphs", "## Graphs beyond the chip", "## Against GRAMER, geometric means"


def rewrite(dense, rows):
    """Rewrites what the page and the file beside it have of dense graphs."""
    first, rest = REPORT.read_text().split(NEXT_HEAD)
    large = first.split(LARGE_HEAD)
    large = LARGE_HEAD + large[1] if len(large) > 1 else ""
    REPORT.write_text(first.split(DENSE_HEAD)[0] + dense + large + NEXT_HEAD + rest)
    lines = [line for line in FIGURES.read_text().splitlines() if line.split("\t")[1] not in DENSE]
    lines += ["\t".join(map(str, one.values())) for one in rows]
    FIGURES.write_text("".join(line + "\n" for line in lines))


def write(lines, dense, of, models):
    """Writes docs/results/hardware/set-cycles.md; `of` has the results by machine and row."""
    table = "\n".join(lines)
    gains = "\n".join(line for machine in of for line in means(machine, of[machine]))
    verdicts = "\n\n".join(verdict(machine, of[machine]) for machine in of)
    hashes = ", ".join(f"`{model}` ({machine})" for machine, model in models.items())
    # Another command writes this section.
    large = REPORT.read_text().split(LARGE_HEAD)
    large = LARGE_HEAD + large[1].split(NEXT_HEAD)[0] if len(large) > 1 else ""
    REPORT.write_text(f"""# Cycles of the set core

Written by `make cycles`, with the default memory model. Models that ran: {hashes}. Every count equals the CPU engine's. Cycles are
those of the cluster that took longest, from its start to its last sum; `set` and `set-hbm` have two clusters of 8 PUs, `set32` four.
*Resident*: the image is on chip from an earlier run (on `set-hbm` as on `set`). *Loaded*: it is read during the run, a line a cycle from the
cluster's bank of DDR4, of `set-hbm` a line of each of eight channels of HBM2 ([model](../../reference/verification.md#memory)). The host's preparation and the
launch of kernels are in neither. Here are rows with a published time; [set-cycles.tsv](set-cycles.tsv) has all, with limits, busy
units, waits, conflicts and segments.

Cards ([boards.md](../../reference/boards.md)) for `set`: Alveo U250 (in doubt), Alveo U200, Alveo U280, Alveo U55C, Alveo U50; for `set-hbm`: Alveo U280, Alveo U55C, Alveo U50; for `set32`: Alveo U250 (in doubt).

{verdicts}

| task | `set`: resident | loaded | × GRAMER | × H100 | `set-hbm`: loaded | × GRAMER | `set32`: resident | loaded | × GRAMER | × H100 |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
{table}

- *Limit*: the most resident cycles that were planned: on ca-astroph a number for each task, elsewhere 1.25 × the cycle model that the core was
  designed with, which leaves out lists that cliques of 4 and more need.
- The host tells the core how much of a list can match ([set-core.md](../../reference/set-core.md#sizes-by-reach)), which is most of the gain on
  the p2p graphs; its time is in no figure here.
- *× GRAMER*: the time of the paper's table III, with set-up and transfer, divided by the loaded time at 200 MHz, which has neither.
- *× H100*: the kernel of the fastest of G2Miner, GraphSet, DuMato and GAMMA there, divided by the resident time.
- *Segments* (in the TSV): an image larger than the 4 MiB on chip is cut by roots into segments; cycles are those of the cluster whose
  segments took longest, *resident* with each image on chip before its run.

{dense}{large}## Against GRAMER, geometric means

Loaded cycles at 200 MHz, with three launch times added:

| machine | rows | number | 0 ms | 0.1 ms | 0.3 ms |
|---|---|---|---|---|---|
{gains}

The floor is the paper's time on its smallest graph, nearly all of it set-up: 9.9 ms for cliques and 31 ms for motifs.
""")
