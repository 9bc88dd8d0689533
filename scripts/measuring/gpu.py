"""Speed of the GPU engine compared with public CUDA programs, row by row: `make bench-gpu`.

usage: scripts/measure.py gpu BENCH GRAMER DEVICE OUT.json [--data FOLDER] [--best N] [--only ROWS,...] [--graph FILE]...
       [--energy N|no]

Runs BENCH (host/gpu/examples/bench) for each group of rows below, on the real graphs of FOLDER ($GRAMER_DATA)
and on a random one of 2^20 vertices that GRAMER makes in target/bench-gpu. Missing graphs are
reported. With --graph the first group runs on these files instead, and nothing else does. OUT.json has every row; a
table for people is printed, with the anchors of docs/results/bench/gpu-peers.csv and the targets of docs/results/bench/gpu-targets.csv
(whose own anchors are of other machines, or of another random graph by the same recipe). Kernels: their time and that
of transfers, in a run that takes times. A bound is the largest of eight times that a run can't be below: its launches, the
graph read once, and what its method reads, searches and counts (host/gpu/examples/bench/bounds), at the rates that
BENCH measures of the device; a row has these sums and rates as `tests` and `rates`. BENCH counts the sums without a
device, too: `BENCH none - OUT.json --tasks 7cl,5mc GRAPH...`. Exit code 1 if a count is wrong; a
row that is slower than its anchor is no failure.

Where NVIDIA's NVML is, each row also repeats for two seconds while the card's own energy counter is read: mJ of a run and
mean W, of the whole card, with the host's part of a run included. The card is the number of DEVICE (gpu:N), or --energy N.
"""

import argparse
import csv
import ctypes
import json
import os
import pathlib
import subprocess
import sys

from built import ROOT

PEERS = ROOT / "docs" / "results" / "bench" / "gpu-peers.csv"
TARGETS = ROOT / "docs" / "results" / "bench" / "gpu-targets.csv"
WORK = ROOT / "target" / "bench-gpu"
SMALL = ["ca-astroph", "rmat15", "ego-twitter"]
# Matches of the group `labelled`, by name: 29 kinds of labels, of a vertex by its number.
MATCHES = {
    "triangle with a path of three": "match:0.0-1.1,1.1-2.2,2.2-0.0,2.2-3.3,3.3-4.4,4.4-5.5",
    "4-cycle with a chord and a tail": "match:0.0-1.1,1.1-2.2,2.2-3.3,3.3-0.0,0.0-2.2,3.3-4.4",
    "path of four edges": "match:0.0-1.1,1.1-2.2,2.2-3.3,3.3-4.4",
}
# Groups whose strategy is not the default.
BY_NAME = ["wide", "table 64M"]
# Rows: what they are called, options of BENCH, tasks, graphs, runs if fewer than requested.
GROUPS = [
    ("", [], ["tc", "3mc", "4cl", "5cl", "6cl", "7cl", "4mc"], [*SMALL, "wiki-vote"], 1000),
    ("large", [], ["9cl", "12cl", "5mc"], [*SMALL, "wiki-vote"], 3),
    ("wide", ["--strategy", "wide"], ["4mc"], ["ca-astroph"], 2),
    ("table 64M", ["--strategy", "table", "--memory", str(64 << 20)], ["4cl"], SMALL, 5),
    ("frequent", [], ["mni:4:100"], ["citeseer"], 5),
    ("labelled", ["--labels", "29"], ["mni:2:200", *MATCHES.values()], ["rmat15", "ego-twitter"], 5),
    ("rmat20", [], ["tc", "3mc", "4cl", "5cl", "6cl", "4mc"], ["rmat20-own"], 3),
]


def files(data):
    """By graph, the file of each that is there."""
    found = {}
    for graph in [*SMALL, "wiki-vote"]:
        for path in sorted(data.glob(f"{graph}/*.txt.zst")) if data else []:
            if path.name.split(".")[0].lower() == graph:
                found[graph] = path
    if data and (data / "citeseer" / "citeseer.graph").exists():
        found["citeseer"] = data / "citeseer" / "citeseer.graph"
    return found


def random_graph(gramer):
    """The random graph of 2^20 vertices."""
    path = WORK / "rmat20-own.gramer"
    if not path.exists():
        WORK.mkdir(parents=True, exist_ok=True)
        subprocess.run([gramer, "graph", "generate", "rmat", "--scale", "20", "--seed", "1", str(path)],
                       check=True, stdout=subprocess.DEVNULL)
    return path


def measured(words, rows, out):
    """The rows of a call of BENCH, and whether all counts were right."""
    part = out.with_suffix(".part")
    part.unlink(missing_ok=True)
    done = subprocess.run([*words[:2], str(PEERS), str(part), *words[2:]], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout, file=sys.stderr, end="")
    if not part.exists():
        return None, False
    with part.open() as file:
        found = json.load(file)
    part.unlink()
    for row in found["rows"]:
        row["rows"] = rows
    return found, done.returncode == 0


def card_of(device, asked):
    """Options of BENCH that name the card whose energy is read; none without NVML."""
    if asked == "no":
        return []
    if asked is not None:
        return ["--energy", asked]
    number = device.removeprefix("gpu").removeprefix(":") or "0"
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        number = ""
    if not number.isdecimal():
        print("no energy: there is no NVML, or the device has no number; --energy N names a card", file=sys.stderr)
        return []
    return ["--energy", number]


def bold(text, missed):
    """A cell of a row that misses its anchor or target."""
    return f"**{text}**" if missed else text


def with_targets(rows):
    """The rows with what docs/results/bench/gpu-targets.csv has of them."""
    with TARGETS.open(newline="") as file:
        targets = {(t["rows"], t["task"], t["graph"]): t for t in csv.DictReader(file)}
    for row in rows:
        target = targets.get((row["rows"], row["task"], row["graph"]), {})
        row["target_ms"] = float(target["target_ms"]) if target.get("target_ms") else None
        # A strategy selected by name is compared with a program that does the same.
        if target.get("anchor_ms"):
            row["anchor_ms"], row["anchor"] = float(target["anchor_ms"]), target["anchor"]
        elif row["rows"] in BY_NAME:
            row["anchor_ms"], row["anchor"] = None, ""
    return rows


def table(rows):
    """The rows that have something to compare with, for people."""
    names = {task: name for name, task in MATCHES.items()}
    energy = any("energy_mj" in row for row in rows)
    yield "| task | graph | best ms | anchor ms | anchor / best | target ms | bound ms | best / bound |" + " mJ | W |" * energy
    yield "|---|---|---:|---:|---:|---:|---:|---:|" + "---:|---:|" * energy
    for row in rows:
        if row["anchor_ms"] is None and row["target_ms"] is None:
            continue
        task = names.get(row["task"], row["task"]) + (f" ({row['rows']})" if row["rows"] else "")
        anchor = "–" if row["anchor_ms"] is None else f"{row['anchor_ms']:,.3f} ({row['anchor']})"
        times = None if row["anchor_ms"] is None else row["anchor_ms"] / row["best_ms"]
        ratio = "–" if times is None else bold(f"{times:.2f}", times < 1)
        missed = row["target_ms"] is not None and row["best_ms"] > row["target_ms"]
        target = "–" if row["target_ms"] is None else bold(f"{row['target_ms']:g}", missed)
        least = f"{row['bound_ms']:.3f} ({row['bound']})"
        bound = f"{least} | {row['best_ms'] / row['bound_ms']:.1f}"
        taken = f" {row['energy_mj']:.2f} | {row['watts']:.0f} |" if "energy_mj" in row else " – | – |" * energy
        yield f"| {task} | {row['graph']} | {row['best_ms']:.3f} | {anchor} | {ratio} | {target} | {bound} |{taken}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    parser.add_argument("gramer")
    parser.add_argument("device")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--data", default=os.environ.get("GRAMER_DATA"))
    parser.add_argument("--best", type=int, default=20)
    parser.add_argument("--only", help="groups by name, the first one's is empty")
    parser.add_argument("--graph", action="append", default=[])
    parser.add_argument("--energy", help="number of the card whose energy counter is read, or no")
    options = parser.parse_args()
    found = files(pathlib.Path(options.data)) if options.data else {}
    groups, only = GROUPS, None if options.only is None else options.only.split(",")
    all_right, whole = True, {"rows": []}
    energy = card_of(options.device, options.energy)
    for name, settings, tasks, graphs, most in groups if not options.graph else groups[:1]:
        if only is not None and name not in only:
            continue
        if "rmat20-own" in graphs:
            found["rmat20-own"] = random_graph(options.gramer)
        missing = [graph for graph in graphs if graph not in found]
        paths = options.graph or [str(found[graph]) for graph in graphs if graph in found]
        if missing and not options.graph:
            print(f"left out, not in {options.data}: {', '.join(missing)}", file=sys.stderr)
        if not paths:
            continue
        words = [options.bench, options.device, "--bounds", "--best", str(min(most, options.best)), *settings, *energy,
                 "--tasks", ";".join(tasks) + ";", *paths]
        rows, right = measured(words, name, options.out)
        all_right = all_right and right
        if rows is not None:
            whole = {**rows, "best_of": options.best, "rows": whole["rows"] + rows["rows"]}
    with_targets(whole["rows"])
    options.out.parent.mkdir(parents=True, exist_ok=True)
    part = options.out.with_suffix(".part")
    lines = ",\n".join("  " + json.dumps(row) for row in whole.pop("rows"))
    head = json.dumps(whole)[:-1]
    part.write_text(f"{head}{', ' if whole else ''}\"rows\": [\n{lines}\n]}}\n")
    part.replace(options.out)
    with options.out.open() as file:
        rows = json.load(file)["rows"]
    print("\n".join(table(rows)))
    with_anchor = [r for r in rows if r["anchor_ms"] is not None]
    with_target = [r for r in rows if r["target_ms"] is not None]
    fast = sum(r["best_ms"] <= r["anchor_ms"] for r in with_anchor)
    near = sum(r["best_ms"] <= 1.3 * r["target_ms"] for r in with_target)
    print(f"\n{fast} of {len(with_anchor)} rows with an anchor are no slower than it; {near} of {len(with_target)} with a "
          "target are within 1.3 of it.")
    sys.exit(0 if all_right else 1)

