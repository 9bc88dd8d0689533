"""Cycles of the paper's machine on real graphs beside the budgets (rewrites docs/results/hardware/cycles.md).

A budget is the paper's time (its table III) at 200 MHz, less the set-up floor of its smallest
graph. Both orders of comparison are shown: ascending is the paper's; descending is the default
here, and the one that `make check-rtl` holds to the budgets. Runs whose result is cached in
target/cycles and whose model has not changed are not repeated, so a stopped measurement continues. A run in
ascending order is stopped after CAP times the budget. Counts must be those of the
CPU engine. `--report [MODEL]` runs nothing: it writes the report from what is kept of the
present model, or of the one with that hash.
"""

import argparse
import functools
import json
import os
import pathlib
import subprocess
import sys

from built import BUILT, ROOT

WORK = ROOT / "target/cycles"
REPORT = ROOT / "docs/results/hardware/cycles.md"
SIMULATE = [BUILT / "release/gramer-lab", "simulate"]
# Task, k, graph, budget in cycles.
TASKS = [
    ("clique", 3, "ca-astroph/ca-AstroPh.txt.zst", 3_600_000),
    ("clique", 4, "ca-astroph/ca-AstroPh.txt.zst", 52_000_000),
    ("motif", 3, "ca-astroph/ca-AstroPh.txt.zst", 15_800_000),
    ("motif", 4, "citeseer/citeseer.lg", 1_600_000),
    ("motif", 4, "p2p-gnutella04/p2p-gnutella04.txt.zst", 12_400_000),
    ("motif", 4, "p2p-gnutella08/p2p-gnutella08.txt.zst", 12_400_000),
]
CAP = 3
# Cycles per second that the simulation is meant to reach.
AIM = 100_000
SHORT = {"clique": "CF", "motif": "MC"}


@functools.cache
def expected(task, k, path):
    """The CPU engine's counts, in the order of the dictionary."""
    command = [BUILT / "release/gramer", "mine", task, "-k", str(k), path, "--output", "json"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return [one["count"] for one in json.loads(done.stdout)["results"]]


def summary(shares):
    """The share of the budgets in each order, in a sentence; `shares` by order, None where unknown."""
    def words(order):
        known = [share for share in shares[order] if share is not None]
        if not known:
            return f"nothing known in {order} order"
        missing = len(shares[order]) - len(known)
        rest = f", and {missing} not run to the end" if missing else ""
        return f"{min(known):.0f} to {max(known):.0f} % in {order} order{rest}"

    return f"Of the budget: {words('descending')}; {words('ascending')}."


def built():
    """The hash of the model of the programs, which are built."""
    subprocess.run(["cargo", "build", "--release", "--locked", "-q", "--workspace", "--bin", "gramer-lab",
                    "--bin", "gramer"], cwd=ROOT, check=True)
    return subprocess.run([*SIMULATE, "--model"], cwd=ROOT, check=True,
                          stdout=subprocess.PIPE, text=True).stdout.strip()


def simulate(kept, task, k, path, order, limit):
    """Runs a task and keeps its result, or that it has more cycles than the limit (ascending order)."""
    command = [*SIMULATE, task, "-k", str(k), path, "--json"]
    if order == "ascending":
        command += ["--ascending", "--max-cycles", str(limit)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    output = done.stdout
    if done.returncode != 0:
        if "the limit" not in done.stderr or order == "descending":
            sys.exit(f"cycles: {' '.join(map(str, command))} failed: {done.stderr}")
        output = json.dumps({"model": kept.name.split("-")[0], "limit": limit})
    kept.with_suffix(".part").write_text(output)
    kept.with_suffix(".part").rename(kept)


def row(title, budget, result):
    """A run that went to its end, for the table."""
    cycles, counters = result["cycles"], result["counters"]

    def share(name):
        return [100 * unit[0] / cycles for unit in counters[f"pu.{name}"]]

    busy = share("port_busy")
    mean = {n: sum(share(n)) / len(busy) for n in
            ["idle_memory", "idle_inside", "idle_no_work"]}
    candidates = sum(sum(unit) for unit in counters["pu.candidates"])
    return (f"{title} | {cycles:,} | {budget:,} | {100 * cycles / budget:.0f} % | "
            f"{min(busy):.0f} / {sum(busy) / len(busy):.0f} / {max(busy):.0f} | "
            f"{mean['idle_memory']:.0f} | {mean['idle_inside']:.0f} | "
            f"{mean['idle_no_work']:.0f} | {candidates / cycles:.2f} | "
            f"{result['cycles_per_second'] / 1000:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", nargs="?", const="", metavar="MODEL", help="run nothing: write the report")
    options = parser.parse_args()
    report = options.report is not None
    data = os.environ.get("GRAMER_DATA")
    if not data:
        sys.exit("cycles: GRAMER_DATA must name the folder of the real graphs")
    WORK.mkdir(parents=True, exist_ok=True)
    probe = options.report or built()
    rows, models, rates = [], set(), []
    # By order: cycles in % of the budget, None where it is not known.
    shares = {"descending": [], "ascending": []}
    for order in shares:
        for task, k, graph, budget in TASKS:
            path, name = pathlib.Path(data) / graph, graph.split("/")[0]
            if not path.exists():
                sys.exit(f"cycles: {path} is missing")
            title = f"| {k}-{SHORT[task]} {name} | {order}"
            kept = WORK / f"{probe}-{task}{k}-{name}-{order}.json"
            if report and not kept.exists():
                rows.append(f"{title} | not run | {budget:,} | not run | | | | | | |")
                shares[order].append(None)
                continue
            if not kept.exists():
                simulate(kept, task, k, path, order, CAP * budget)
            result = json.loads(kept.read_text())
            if "limit" in result:
                rows.append(f"{title} | more than {result['limit']:,} | "
                            f"{budget:,} | > {100 * result['limit'] / budget:.0f} % | | | | | | |")
                shares[order].append(None)
                print(rows[-1], flush=True)
                continue
            models.add(result["model"])
            if not report:
                counts = [one["count"] for one in result["results"]]
                if counts != expected(task, k, path):
                    sys.exit(f"cycles: {k}-{SHORT[task]} {name}: the core counted {counts}, "
                             f"the CPU engine {expected(task, k, path)}")
            shares[order].append(100 * result["cycles"] / budget)
            rates.append(result["cycles_per_second"])
            rows.append(row(title, budget, result))
            print(rows[-1], flush=True)
    write(rows, models, rates, shares)


HEAD = ["task", "order", "cycles", "budget", "of it", "port busy %, least / mean / most of the PUs", "waits for memory %", "inside %",
        "no work %", "candidates per cycle", "simulated kHz"]
# Columns on the page.
SHOWN = 5


def write(rows, models, rates, shares):
    """Writes docs/results/hardware/cycles.md."""
    cells = [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in rows]
    REPORT.with_suffix(".tsv").write_text("".join("\t".join(line) + "\n" for line in [HEAD, *cells]))
    table = "\n".join(f"| {' | '.join(line[:SHOWN])} |" for line in cells)
    fast = sum(rate >= AIM for rate in rates)
    REPORT.write_text(f"""# Cycles

The paper's machine (`accelerator.yaml`) with its default memory model, from the start to done,
loading of the scratchpads included. Written by `make cycles`; the model that ran (a hash of
Verilator's version, `accelerator.yaml` and every file of the core): {", ".join(f"`{m}`" for m in sorted(models))}.

A budget is the time of the paper's table III at 200 MHz less the set-up floor of its smallest graph.
Both orders of comparison are held against it, ascending, the paper's, and descending, the default here;
the tests (`make test-rtl`, `make check-rtl`) fail if a run in the default order exceeds it.

Cards ([boards.md](../../reference/boards.md)) for `accelerator`: Alveo U250 (in doubt).

{summary(shares)}

| {' | '.join(HEAD[:SHOWN])} |
|{'---|' * SHOWN}
{table}

[cycles.tsv](cycles.tsv) also has where the cycles went. *Port busy*: cycles in which a PU put an access into the crossbar. Waits are the mean of the PUs:
*memory*, all tokens of the PU are under way as accesses; *inside*, some are in its pipelines or
queues; *no work*, it has no token. Simulated kHz depends on the machine and on what else ran there;
the aim of {AIM // 1000} kHz was reached in {fast} of {len(rates)} runs.
The cycles of a state of `rtl/` that changes none of `sim/tests/counters.tsv` are expected to be these.
""")

