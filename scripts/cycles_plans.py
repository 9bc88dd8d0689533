#!/usr/bin/env python3
"""Cycles of search plans on the set core with 32 PUs (rewrites docs/hardware/set-plans.md).

usage: scripts/cycles_plans.py [--only PATTERN:GRAPH]... [--jobs N] [--report]

The machine is `set-plans32`, four clusters of 8 PUs, with the image on chip before. Beside the cycles stand
the sums of the design's section on other patterns, for 32 PUs. Where a whole simulation would take more than
a quarter of an hour the 32 PUs are sixteen clusters of two, of which one is simulated with the units that the host
deals to it, or also every n-th unit alone in the order of work (PARTS below). Whole counts must be those of the CPU engine; of a sample the
simulator compares with the functional model. Results are kept in target/cycles-plans, by the model and the
sources that write plans, and are not run again. `--report` simulates nothing: a row without a result says so.
GRAMER and GRAMER_SIM name the programs where they aren't in target/release.
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

from cycles_set import FILES, ROOT, built, keep, model_of, program

WORK = ROOT / "target/cycles-plans"
REPORT = ROOT / "docs/hardware/set-plans.md"
MACHINE = ROOT / "machines/set-plans32.yaml"
CLUSTERS, PUS = 4, 8
# What decides, beside the model, which units there are and what is done for them.
SOURCES = ["host/accelerator/src/set/plan", "host/pattern/src/plan"]
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
]
# PUs that are simulated, and of their units every so manieth.
PARTS = {
    ("house", "ca-astroph"): (2, 1),
    ("house", "wiki-vote"): (2, 1),
    ("5-cycle", "p2p-gnutella04"): (2, 1),
    ("5-cycle", "ca-astroph"): (2, 100),
    ("5-cycle", "wiki-vote"): (2, 100),
}
WHOLE = (CLUSTERS * PUS, 1)
# A row that runs whole, and with two PUs as well: what these leave out.
CHECKED = ("house", "p2p-gnutella04")
FEW = 2
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
    """The CPU engine's count."""
    command = [program("gramer"), "mine", "match", "--pattern", pattern, path, "--output", "json"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)["results"][0]["count"]


def simulate(kept, pattern, path, size):
    """One run, whose result is kept. Gives what is wrong as text."""
    pus, part = size
    return keep([program("gramer-sim"), "match", "--pattern", pattern, path, "--json", "--machine", MACHINE,
                 "--part", str(part)] + (["--pus", str(pus), "--clusters", "1"] if pus < CLUSTERS * PUS else []), kept)


def outcome(kept, pattern, graph, path):
    """What is kept of a run: its result, or NOT_RUN. A whole count that is wrong ends the program."""
    if not kept.exists():
        return NOT_RUN
    result = json.loads(kept.read_text())
    passes = result["programs"][0]["passes"]
    shape = (len(passes), len(passes[0]["counters"]["pu.units"]))
    if PARTS.get((pattern, graph), WHOLE) == WHOLE and shape not in ((CLUSTERS, PUS), (1, FEW)):
        sys.exit(f"cycles: {MACHINE} has {shape[0]} clusters of {shape[1]} PUs, and the rows are of {CLUSTERS} of {PUS}")
    count = result["results"][0]["count"]
    if count is not None and count != expected(pattern, path):
        sys.exit(f"cycles: {pattern} {graph}: the core counted {count}, the CPU engine {expected(pattern, path)}")
    return result


def total(result, name):
    """A counter's sum over programs, clusters and PUs."""
    passes = [p for run in result["programs"] for p in run["passes"]]
    return sum(sum(unit) for p in passes for unit in p["counters"][name])


def spent(result):
    """Cycles of all PUs that were simulated."""
    passes = [p for run in result["programs"] for p in run["passes"]]
    return sum(p["cycles"] * len(p["counters"]["pu.units"]) for p in passes)


def share(result, name):
    """Of the cycles of all PUs, in %."""
    return 100 * total(result, f"pu.{name}") / spent(result)


def whole(result):
    """Cycles of the whole at 32 PUs: those of the cluster that took longest, as many times as its units are a part."""
    return result["cycles"] * result["part"]


def ran(pattern, graph, result):
    """What was simulated, in words."""
    pus, part = PARTS.get((pattern, graph), WHOLE)
    units = sum(run["units_run"] for run in result["programs"])
    of = sum(run["units"] for run in result["programs"])
    what = "all" if pus == CLUSTERS * PUS else f"{pus} PUs" if part == 1 else f"{pus} PUs, 1 of {part}"
    return f"{what}, {units:,} of {of:,} units"


def times(cycles, design):
    """How many times the design's sum."""
    if design is None:
        return "–"
    ratio = cycles / design
    return f"{ratio:,.2f}" + ("" if ratio <= LIMIT else " **above**")


def row(at, result):
    """A line of the table."""
    pattern, graph, merging, by_map = ROWS[at]
    design = " | ".join(f"{one:,}" if one else "–" for one in (merging, by_map))
    if isinstance(result, str):
        return f"| {pattern} {graph} | {result} | | {design} | | | | | | | | | | | |"
    cycles = whole(result)
    lists = total(result, "pu.members")
    busy, passes, waits = (share(result, name) for name in ("plan_steps", "plan_passes", "plan_no_line"))
    rest = 100 - busy - passes - waits
    walkers = min(run["walkers"] for run in result["programs"])
    retries, lost = (sum(run[name] for run in result["programs"]) for name in ("retries", "lost_cycles"))
    again = f"{retries}: {lost:,} cycles" if retries else "0"
    return (f"| {pattern} {graph} | {ran(pattern, graph, result)} | {cycles:,} | {design} | "
            f"{times(cycles, merging)} | {times(cycles, by_map)} | {lists:,} | {spent(result) / lists:.2f} | "
            f"{share(result, 'steps'):.0f} | {busy:.0f} | {passes:.0f} | {waits:.0f} | "
            f"{rest:.0f}, {share(result, 'idle_no_work'):.0f} | "
            f"{walkers} | {again} |")


def check(results, few):
    """What the row that ran in both ways says of running two PUs alone."""
    whole_one = results[[row[:2] for row in ROWS].index(CHECKED)]
    if isinstance(whole_one, str) or isinstance(few, str):
        return ""
    return (f"({CHECKED[0].capitalize()}s of {CHECKED[1]} take {whole(few):,} cycles so, and whole "
            f"{whole(whole_one):,}.)")


def verdict(results):
    """Which rows keep the limit."""
    kept, above, missing = [], [], []
    for (pattern, graph, merging, by_map), result in zip(ROWS, results):
        name = f"{pattern} {graph}"
        if isinstance(result, str):
            missing.append(name)
        else:
            ratio = whole(result) / (merging or by_map)
            (kept if ratio <= LIMIT else above).append(f"{name} ({ratio:,.2f})")
    told = [f"At most {LIMIT} times the design's sum: {', '.join(kept) or 'none'}.",
            f"Above: {', '.join(above) or 'none'}."]
    return " ".join(told + ([f"Not run: {', '.join(missing)}."] if missing else []))


def write(lines, results, few, model):
    """Writes docs/hardware/set-plans.md; `few` is what CHECKED takes with few PUs."""
    table = "\n".join(lines)
    REPORT.write_text(f"""# Search plans on the set core

Written by `make cycles-plans`, with the default memory model: occurrences (edge-induced) on `set-plans32`, four clusters of 8 PUs
with 8 walkers each, model `{model}`. Whole counts are those of the CPU engine; those of a sample are the functional model's.
Cycles are those of the cluster that took longest, from its start to its last sum, with the image on chip before and with runs that were begun again
with fewer walkers; launches and the host's work are not in them. The design's sums are of the steps of 32 PUs alone, not simulated; the
limit is twice those by merging, or by the map where there is no other.

{verdict(results)}

5-motifs are not in the table: the core has no way to count them. They are 21 patterns, of which the 5-cycle alone is far above its limit.

| pattern | simulated | cycles, 32 PUs | design, merging | design, map | times merging | times map | lists | cycles of a PU per list | % with a pair | % with a line or a pair | % passed | % waiting for a list | % without an operation, of that without a unit | walkers | runs begun again |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
{table}

*Simulated*: where the whole would take more than a quarter of an hour, a cluster of {FEW} PUs with the units that the host would deal to one of
{CLUSTERS * PUS // FEW} such clusters: it deals the heaviest first, there and back, so that all have as much work. They have as long to run as clusters of 8 PUs,
so units that end late count as much; what is missing is that 8 PUs meet at a partition. {check(results, few)} *1 of n*: of all
units in the order of work every n-th, from the middle of the first n on, whatever it counts, dealt in the same way, and the cycles are taken n times.
A handful of units says little of all, and doesn't fill the walkers, so the whole would take less: but no less than what was spent with a line, a pair or a
line that was passed.
Lists and shares are of what was simulated, of both programs where the count is the difference of two
([set-core.md](../set-core.md#plans)).
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

    def kept(pattern, graph, size):
        return WORK / f"{key}-{pattern}-{graph}-{size[0]}-{size[1]}.json"

    rows = [at for at, one in enumerate(ROWS) if not chosen.only or f"{one[0]}:{one[1]}" in chosen.only]
    tasks = [(*ROWS[at][:2], PARTS.get(ROWS[at][:2], WHOLE)) for at in rows]
    few = (*CHECKED, (FEW, 1))
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        asked = [] if chosen.report else tasks if chosen.only else [*tasks, few]
        missing = [task for task in asked if not kept(*task).exists()]
        runs = [pool.submit(simulate, kept(*task), task[0], paths[task[1]], task[2]) for task in missing]
        failed = [said for said in (run.result() for run in runs) if said]
    for said in failed:
        print(f"cycles: {said}", file=sys.stderr)
    results = [outcome(kept(*task), *task[:2], paths[task[1]]) for task in tasks]
    lines = [row(at, result) for at, result in zip(rows, results)]
    print("\n".join(lines), flush=True)
    if failed:
        sys.exit(f"cycles: {len(failed)} runs failed; the report is left as it is")
    if not chosen.only:
        write(lines, results, outcome(kept(*few), *CHECKED, paths[CHECKED[1]]), model)


if __name__ == "__main__":
    main()
