"""Cycles of houses, 5-cycles and 5-motifs on the set core with 32 PUs (rewrites docs/results/hardware/set-plans.md).

usage: scripts/measure.py cycles-plans [--only PATTERN:GRAPH]... [--jobs N] [--report]

The machine is `set-plans32`, four clusters of 8 PUs, with the image on chip before. Beside the cycles stand
the sums of the design's section on other patterns, for 32 PUs. All runs but those of PARTS are whole; counts must equal the
CPU engine's. Results are cached in target/cycles-plans by the model and the sources that write units. `--report` simulates
nothing: rows without a result are marked.
GRAMER and GRAMER_LAB name the programs where they aren't in target/release.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import subprocess
import sys

from built import ROOT
from measuring.cycles_set import FILES, built, keep, model_of, program

WORK = ROOT / "target/cycles-plans"
REPORT = ROOT / "docs/results/hardware/set-plans.md"
FIGURES = REPORT.with_suffix(".tsv")
HEAD = ["pattern", "cycles, 32 PUs", "design, merging", "design, map", "times merging", "times map", "units", "lists", "lines",
        "cycles of a PU per line", "% with an access of the map", "% without a unit"]
# Columns of the page; the file beside it has all.
SHOWN = (0, 1, 4, 5)
MACHINE = ROOT / "machines/set-plans32.yaml"
CLUSTERS, PUS = 4, 8
# What decides, beside the model, which units there are and what is done for them.
SOURCES = ["host/accelerator/src/set/motifs5", "host/accelerator/src/set/wedges", "host/accelerator/src/set/plan"]
# All patterns of five vertices, in three runs.
MOTIFS = "5-motifs"
# Pattern, graph; the design's sum at 32 PUs, and what of; the same where sets are made by the map.
ROWS = [
    ("house", "citeseer", 682, 773),
    ("house", "p2p-gnutella04", 21_693, 28_932),
    ("house", "ca-astroph", 3_100_000, 2_060_000),
    ("house", "wiki-vote", 5_800_000, 3_140_000),
    ("5-cycle", "citeseer", None, 265),
    ("5-cycle", "p2p-gnutella04", None, 11_506),
    ("5-cycle", "ca-astroph", None, 198_147),
    ("5-cycle", "wiki-vote", None, 117_625),
    (MOTIFS, "citeseer", None, 3_513),
    (MOTIFS, "p2p-gnutella04", None, 71_196),
    (MOTIFS, "ca-astroph", None, 2_670_000),
    (MOTIFS, "wiki-vote", None, 4_910_000),
]
# Rows with the number of clusters to simulate, since all take an hour: each has the same share of the units.
PARTS = {(MOTIFS, "ca-astroph"): 1, (MOTIFS, "wiki-vote"): 1}
LIMIT = 2
NOT_RUN = "not run"


def sources():
    """A hash of what writes plans and units."""
    found = hashlib.sha256()
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.rs")):
            found.update(path.read_bytes())
    return found.hexdigest()[:12]


@functools.cache
def expected(pattern, path):
    """The CPU engine's counts."""
    task = ["motif", "-k", "5"] if pattern == MOTIFS else ["match", "--pattern", pattern]
    command = [program("gramer"), "mine", *task, path, "--output", "json"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return [result["count"] for result in json.loads(done.stdout)["results"]]


def simulate(kept, pattern, path, clusters):
    """One run, whose result is kept. Gives what is wrong as text."""
    task = ["motif", "-k", "5"] if pattern == MOTIFS else ["match", "--pattern", pattern]
    part = [] if clusters == CLUSTERS else ["--clusters", str(clusters)]
    return keep([program("gramer-lab"), "simulate", *task, path, "--json", "--machine", MACHINE, *part], kept)


def of_motifs(result):
    """What `motif` gives, as `match` does: all its runs are one program."""
    passes = result["passes"]
    units = sum(sum(unit) for one in passes for unit in one["counters"]["core.work_units"])
    return result | {"programs": [{"passes": passes, "units_run": units}]}


def outcome(kept, pattern, path, clusters):
    """What is kept of a run: its result, or NOT_RUN. A count that is wrong ends the program."""
    if not kept.exists():
        return NOT_RUN
    result = json.loads(kept.read_text())
    if pattern == MOTIFS:
        result = of_motifs(result)
    passes = result["programs"][0]["passes"]
    shape = (len(passes), len(passes[0]["counters"]["pu.units"]))
    if shape != (clusters, PUS):
        sys.exit(f"cycles: {MACHINE} has {shape[0]} clusters of {shape[1]} PUs, and the rows are of {clusters} of {PUS}")
    counts = [one["count"] for one in result["results"]]
    if clusters == CLUSTERS and counts != expected(pattern, path):
        sys.exit(f"cycles: {pattern} {path}: the core counted {counts}, the CPU engine {expected(pattern, path)}")
    return result


def total(result, name):
    """A counter's sum over clusters and PUs."""
    return sum(sum(unit) for p in result["programs"][0]["passes"] for unit in p["counters"][name])


def spent(result):
    """Cycles of all PUs."""
    return sum(p["cycles"] * len(p["counters"]["pu.units"]) for p in result["programs"][0]["passes"])


def share(result, name):
    """Of the cycles of all PUs, in %."""
    return 100 * total(result, f"pu.{name}") / spent(result)


def times(cycles, design):
    """How many times the design's sum."""
    if design is None:
        return "–"
    ratio = cycles / design
    return f"{ratio:,.2f}" + ("" if ratio <= LIMIT else " **above**")


def named(pattern, graph):
    """What a row is of."""
    clusters = PARTS.get((pattern, graph), CLUSTERS)
    return f"{pattern} {graph}" + ("" if clusters == CLUSTERS else f" ({clusters} of {CLUSTERS} clusters)")


def row(at, result):
    """A line of the table."""
    pattern, graph, merging, by_map = ROWS[at]
    name = named(pattern, graph)
    design = " | ".join(f"{one:,}" if one else "–" for one in (merging, by_map))
    if isinstance(result, str):
        return f"| {name} | {result} | {design} | | | | | | | | |"
    cycles, lines = result["cycles"], total(result, "pu.lines_answered")
    roots = result["programs"][0]["units_run"]
    return (f"| {name} | {cycles:,} | {design} | {times(cycles, merging)} | {times(cycles, by_map)} | "
            f"{roots:,} | {total(result, 'pu.members'):,} | {lines:,} | {spent(result) / lines:.2f} | "
            f"{share(result, 'map_busy'):.0f} | {share(result, 'idle_no_work'):.0f} |")


def verdict(results):
    """Which rows keep the limit."""
    kept, above, missing = [], [], []
    for (pattern, graph, merging, by_map), result in zip(ROWS, results):
        name = named(pattern, graph)
        if isinstance(result, str):
            missing.append(name)
        else:
            ratio = result["cycles"] / (merging or by_map)
            (kept if ratio <= LIMIT else above).append(f"{name} ({ratio:,.2f})")
    told = [f"At most {LIMIT} times the design's sum: {len(kept)} of {len(ROWS)} rows.",
            f"Above: {', '.join(above) or 'none'}."]
    return " ".join(told + ([f"Not run: {', '.join(missing)}."] if missing else []))


def write(lines, results, model):
    """Writes docs/results/hardware/set-plans.md."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    FIGURES.write_text("".join("\t".join(row).replace("**", "") + "\n" for row in [HEAD, *rows]))
    table = "\n".join(f"| {' | '.join(row[at] for at in SHOWN)} |" for row in [HEAD, ["---"] * len(HEAD), *rows])
    REPORT.write_text(f"""# Houses, 5-cycles and 5-motifs on the set core

Written by `make cycles-plans`, with the default memory model, on `set-plans32` (four clusters of 8 PUs, model `{model}`), with the image on chip.
Houses and 5-cycles (edge-induced) are counted by the map in two passes over the wedges of a root
([set-core.md](../../reference/set-core.md#wedges)), [5-motifs](../../reference/set-core.md#5-motifs) (vertex-induced) over connected sets of three
vertices, including the runs for 5-cliques and 5-cycles. Counts equal the CPU engine's. Rows of a part of the clusters, each with the same share of the
units, have no count. Cycles are those of the cluster that took longest; launches and the host's work are not included. The design's sums are steps of
32 PUs, not simulated; the limit is twice the sum by merging, or by the map where there is no other. [set-plans.tsv](set-plans.tsv) also has units,
lists, lines and waits.

Cards ([boards.md](../../reference/boards.md)) for `set-plans32`: simulation only.

{verdict(results)}

{table}
""")


def options():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", action="append", help="rows as PATTERN:GRAPH")
    arguments.add_argument("--jobs", type=int, default=1, metavar="N")
    arguments.add_argument("--report", action="store_true")
    return arguments.parse_args()


def main():
    chosen = options()
    data = os.environ.get("GRAMER_DATA")
    if not data:
        sys.exit("cycles: GRAMER_DATA must name the folder of the real graphs")
    WORK.mkdir(parents=True, exist_ok=True)
    built()
    model = model_of(MACHINE)
    key = f"{model}-{sources()}"
    paths = {graph: pathlib.Path(data) / file for graph, file in FILES.items()}

    def kept(pattern, graph, clusters):
        part = "" if clusters == CLUSTERS else f"-{clusters}"
        return WORK / f"{key}-{pattern}-{graph}{part}.json"

    rows = [at for at, one in enumerate(ROWS) if not chosen.only or f"{one[0]}:{one[1]}" in chosen.only]
    tasks = [(*ROWS[at][:2], PARTS.get(ROWS[at][:2], CLUSTERS)) for at in rows]
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        missing = [] if chosen.report else [task for task in tasks if not kept(*task).exists()]
        runs = [pool.submit(simulate, kept(*task), task[0], paths[task[1]], task[2]) for task in missing]
        failed = [said for said in (run.result() for run in runs) if said]
    for said in failed:
        print(f"cycles: {said}", file=sys.stderr)
    results = [outcome(kept(*task), task[0], paths[task[1]], task[2]) for task in tasks]
    lines = [row(at, result) for at, result in zip(rows, results)]
    print("\n".join(lines), flush=True)
    if failed:
        sys.exit(f"cycles: {len(failed)} runs failed; the report is unchanged")
    if not chosen.only:
        write(lines, results, model)

