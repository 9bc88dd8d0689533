"""Strong scaling over ranks: the same tasks as a plain run of one thread, and as jobs of some ranks of one
thread each, on this machine.

usage: scripts/measure.py cluster GRAMER RANKS RESULTS.json [--tcp] [--runs N]

RANKS is a list such as 1,2,4. Graphs are random ones (`gramer graph generate rmat`), made in target/cluster.
The time is `seconds.mine` of the answer, from the read graph to the merged answers of all ranks; the best of N
runs (3). All answers of a task must be equal. RESULTS.json has every run; a table is
printed. Each rank is bound to one core.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

WORK = pathlib.Path("target/cluster")
# What it is called, scale and vertex labels of the graph, and the task.
TASKS = [
    ("5-motifs", 15, 0, ["motif", "-k", "5"]),
    ("4-motifs", 19, 0, ["motif", "-k", "4"]),
    ("7-cliques", 16, 0, ["clique", "-k", "7"]),
    ("maximal cliques", 14, 0, ["clique", "--maximal"]),
    ("induced diamonds", 15, 0, ["match", "--pattern", "diamond", "--induced", "vertex"]),
    ("frequent by embeddings", 11, 4, ["fsm", "--support", "1000", "--max-vertices", "4"]),
    ("frequent by images", 14, 4, ["fsm", "--measure", "mni", "--support", "300", "--max-edges", "5"]),
]


def graph(gramer, scale, labels):
    """The random graph of a scale."""
    path = WORK / f"rmat{scale}-{labels}.gramer"
    if not path.exists():
        words = ["graph", "generate", "rmat", "--scale", str(scale), "--seed", "1"]
        words += ["--vertex-labels", str(labels)] if labels else []
        subprocess.run([gramer, *words, str(path)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return str(path)


def share(metrics, name):
    """A number that a rank measured, if it did."""
    return metrics[name]["value"] if name in metrics else None


def run(command):
    """One run: its time, its answer, and what its ranks measured."""
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    if done.returncode:
        raise SystemExit(f"cluster: {' '.join(command)}: {done.stderr.decode()}")
    answer = json.loads(done.stdout)
    ranks = [{name: share(device["metrics"], name)
              for name in ("share.busy", "share.portions", "share.candidates", "share.processor")}
             for device in answer.get("devices", []) if "share.processor" in device["metrics"]]
    return {"seconds": answer["seconds"]["mine"], "total": answer["total"], "ranks": ranks,
            "results": answer["results"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gramer")
    parser.add_argument("ranks")
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--tcp", action="store_true", help="ranks speak over TCP")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    counts = [int(count) for count in options.ranks.split(",")]
    tcp = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"] if options.tcp else []
    rows = []
    print("| task | graph | plain, s | " + " | ".join(f"{n}, s | speed-up" for n in counts)
          + " | processor of the largest job, s |")
    print("|---|---|---|" + "---|---|" * len(counts) + "---|")
    for name, scale, labels, task in TASKS:
        path = graph(options.gramer, scale, labels)
        words = [options.gramer, "mine", *task, path, "--threads", "1", "--json"]
        shape = f"rmat{scale}" + (f", {labels} labels" if labels else "")
        cells, plain, last = [], None, None
        for count in [0, *counts]:
            command = words if count == 0 else \
                ["mpirun", *tcp, "--bind-to", "core", "-n", str(count), *words, "--distribute"]
            runs = [run(command) for _ in range(options.runs)]
            best = min(runs, key=lambda one: one["seconds"])
            plain = plain or best
            if any(one["results"] != plain["results"] for one in runs):
                raise SystemExit(f"cluster: {name} on {count} ranks has another answer")
            for one in runs:
                rows.append({"task": name, "graph": shape, "count": count, "tcp": options.tcp,
                             **{key: one[key] for key in ("seconds", "total", "ranks")}})
            options.results.write_text(json.dumps(rows, indent=1) + "\n")
            if count:
                cells += [f"{best['seconds']:.2f}", f"{plain['seconds'] / best['seconds']:.2f}"]
                last = best
        processor = sum(rank["share.processor"] for rank in last["ranks"])
        print(f"| {name} | {shape} | {plain['seconds']:.2f} | {' | '.join(cells)} | {processor:.2f} |",
              flush=True)
    return 0

