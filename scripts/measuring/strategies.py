"""Matches on a GPU by the strategies plan and table, and by the one that is chosen.

usage: scripts/measure.py strategies GRAMER RESULTS.json [--device gpu] [--scales 15,16,18,20] [--runs N] [--limit S]

Graphs are random ones (`gramer graph generate rmat`, four vertex labels), made in target/strategies. The time
is that of the task on the device (`run.time`), without reading and preparing the graph: the best of N runs (2),
each a process of its own; one that takes more than S seconds (120) is stopped. All answers to a task must be
equal. RESULTS.json has every run; a table is printed, with the time of the choice relative to the better one.
"""

import argparse
import json
import pathlib
import subprocess
import sys

WORK = pathlib.Path("target/strategies")
LABELS = 4
# Edges of the pattern, and whether its vertices have labels, 0 to 3 and on.
PATTERNS = {
    "diamond": ([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], 4),
    "4-cycle": ([(0, 1), (1, 2), (2, 3), (3, 0)], 4),
    "tailed triangle": ([(0, 1), (1, 2), (2, 0), (2, 3)], 4),
    "5-path": ([(0, 1), (1, 2), (2, 3), (3, 4)], 5),
    "house": ([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], 5),
}
# Pattern, labelled or not, induced or not, the largest scale that it is counted on.
TASKS = [
    ("diamond", True, "edge", 20),
    ("4-cycle", True, "edge", 20),
    ("tailed triangle", True, "edge", 18),
    ("5-path", True, "edge", 16),
    ("house", True, "edge", 16),
    ("diamond", True, "vertex", 18),
    ("diamond", False, "edge", 16),
    ("4-cycle", False, "edge", 16),
    ("diamond", False, "vertex", 15),
]


def graph(gramer, scale):
    """The random graph of a scale."""
    path = WORK / f"rmat{scale}.gramer"
    if not path.exists():
        words = ["graph", "generate", "rmat", "--scale", str(scale), "--vertex-labels", str(LABELS)]
        subprocess.run([gramer, *words, str(path)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return str(path)


def pattern(name, labelled):
    """The file of a pattern."""
    edges, vertices = PATTERNS[name]
    path = WORK / f"{name.replace(' ', '-')}{'-labelled' if labelled else ''}.lg"
    label = [str(v % LABELS) if labelled else "*" for v in range(vertices)]
    lines = ["t # 1", *(f"v {v} {label[v]}" for v in range(vertices)), *(f"e {u} {v} *" for u, v in edges)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def run(command, limit):
    """One run: its time and answer, or None once it has taken too long."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise SystemExit(f"strategies: {' '.join(command)}: {done.stderr.decode()}")
    answer = json.loads(done.stdout)
    metrics = answer["devices"][0]["metrics"]
    return {"seconds": metrics["run.time"]["value"], "total": answer["total"],
            "strategy": metrics["run.strategy"]["value"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gramer")
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--scales", default="15,16,18,20")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=120)
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    rows = []
    print("| match | graph | plan, ms | table, ms | chosen, ms | chosen / better | which |\n|---|---|---|---|---|---|---|")
    for scale in [int(scale) for scale in options.scales.split(",")]:
        path = graph(options.gramer, scale)
        for name, labelled, induced, most in TASKS:
            if scale > most:
                continue
            words = [options.gramer, "mine", "match", "--pattern", pattern(name, labelled), "--induced", induced]
            words += [path, "--device", options.device, "--output", "json"]
            found, totals = {}, set()
            for strategy in ("plan", "table", "chosen"):
                own = [] if strategy == "chosen" else ["--strategy", strategy]
                runs = [run(words + own, options.limit) for _ in range(options.runs)]
                ended = [one for one in runs if one]
                totals |= {one["total"] for one in ended}
                found[strategy] = min(ended, key=lambda one: one["seconds"]) if ended else None
                rows.append({"match": name, "labelled": labelled, "induced": induced, "scale": scale,
                             "strategy": strategy, "runs": runs})
                options.results.write_text(json.dumps(rows, indent=1) + "\n")
            if len(totals) > 1:
                raise SystemExit(f"strategies: {name} on rmat{scale} has several answers: {sorted(totals)}")
            times = {key: one["seconds"] for key, one in found.items() if one}
            better = min((times[key] for key in ("plan", "table") if key in times), default=None)
            cells = [f"{1e3 * times[key]:.1f}" if key in times else "over" for key in found]
            ratio = f"{times['chosen'] / better:.2f}" if better and "chosen" in times else ""
            which = found["chosen"]["strategy"] if found["chosen"] else ""
            kind = ("labelled " if labelled else "") + name + (", induced" if induced == "vertex" else "")
            print(f"| {kind} | rmat{scale} | {' | '.join(cells)} | {ratio} | {which} |", flush=True)
    return 0

