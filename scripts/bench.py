#!/usr/bin/env python3
"""Measures the CPU seconds of whole runs of gramer, one thread, beside public systems.

Each row is run REPEAT times from a plain text file and from our image; the smallest sum of user
and system time counts. The rows of `docs/bench/peers.csv` (public systems, their own format, one
thread, on a machine of the same kind under load) give the scale. The real graphs are looked for in
$GRAMER_DATA, else in ../shared/data. Writes target/bench/bench.json and docs/bench/README.md with
--write.
"""

import argparse
import csv
import json
import os
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GRAMER = ROOT / "target" / "release" / "gramer"
DATA = pathlib.Path(os.environ.get("GRAMER_DATA", ROOT.parent / "shared" / "data"))
WORK = ROOT / "target" / "bench"
REPEAT = 5

# Name of the graph in peers.csv: file, label options.
GRAPHS = {
    "citeseer": ("citeseer/citeseer.lg", []),
    "wikivote": ("wiki-vote/wiki-vote.txt.zst", []),
    "rmat12": ("rmat12/rmat12.txt.zst", ["--labels", "rmat12/labels.txt.zst"]),
    "rmat15": ("rmat15/rmat15.txt.zst", ["--labels", "rmat15/labels.txt.zst"]),
    "hprd": ("sm-hprd/HPRD.graph.zst", []),
}
# Without a rival's figure.
ALONE = {
    "ca-astroph": "ca-astroph/ca-AstroPh.txt.zst",
    "email-enron": "email-enron/email-enron.txt.zst",
    "ego-twitter": "ego-twitter/ego-twitter.txt.zst",
    "web-stanford": "web-stanford/edges_directed.txt.zst",
}
ALONE_TASKS = ["tc", "3mc", "4cl", "4mc", "5cl"]


def task_words(task):
    """The words after `gramer mine` for a task of peers.csv."""
    if task == "tc":
        return ["clique", "-k", "3"]
    if task.endswith("cl"):
        return ["clique", "-k", task[:-2]]
    if task.endswith("mc"):
        return ["motif", "-k", task[:-2]]
    _, edges, support = task.split(":")
    return ["fsm", "--measure", "mni", "--max-edges", edges, "--support", support]


def cpu_seconds(words):
    """Smallest user + system time of REPEAT runs."""
    best = float("inf")
    for _ in range(REPEAT):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def prepare(name, file, labels):
    """A plain text file and an image of a graph; returns both, with the options for the text."""
    words = [DATA / w if "/" in w else w for w in labels]
    image, text = WORK / f"{name}.gramer", WORK / f"{name}.{'lg' if labels or file.endswith(('.lg', '.graph.zst')) else 'txt'}"
    for out in (image, text):
        if not out.exists():
            subprocess.run([GRAMER, "graph", "convert", *words, DATA / file, out], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return text, image


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="rewrite docs/bench/README.md")
    options = parser.parse_args()
    if not (DATA / "ground_truth.tsv").is_file():
        sys.exit(f"bench: the real graphs aren't in {DATA}; set GRAMER_DATA")
    WORK.mkdir(parents=True, exist_ok=True)

    peers = {}
    with open(ROOT / "docs" / "bench" / "peers.csv") as file:
        for row in csv.DictReader(file):
            key = (row["graph"], row["task"])
            if key not in peers or float(row["cpu_s"]) < peers[key][0]:
                peers[key] = (float(row["cpu_s"]), row["system"])

    wanted = [(graph, task, peers[graph, task]) for graph, task in sorted(peers) if graph in GRAPHS]
    wanted += [(graph, task, None) for graph in ALONE for task in ALONE_TASKS]
    rows = []
    for graph, task, peer in wanted:
        file, labels = GRAPHS.get(graph) or (ALONE[graph], [])
        text, image = prepare(graph, file, labels)
        mine = [GRAMER, "mine", *task_words(task), "--threads", "1"]
        row = {"graph": graph, "task": task,
               "text_s": cpu_seconds([*mine, text]), "image_s": cpu_seconds([*mine, image])}
        if peer:
            row |= {"peer_s": peer[0], "peer": peer[1]}
        rows.append(row)
        print(line(row), flush=True)

    slower = [r for r in rows if "peer_s" in r and r["image_s"] > r["peer_s"]]
    compared = sum("peer_s" in r for r in rows)
    summary = f"{compared - len(slower)} of {compared} rows at or below the fastest public system"
    print(summary)
    (WORK / "bench.json").write_text(json.dumps(rows, indent=1) + "\n")
    if options.write:
        write(rows, summary)


def line(row):
    peer = f"{row['peer_s']:8.3f}  {row['peer']}" if "peer_s" in row else ""
    return f"{row['graph']:13} {row['task']:10} text {row['text_s']:8.3f}  image {row['image_s']:8.3f}  {peer}"


def write(rows, summary):
    text = ["# Speed on one thread", "",
            "CPU seconds (user + system) of the whole process, smallest of "
            f"{REPEAT} runs, by `make bench`. The public systems' figures are those of `peers.csv` "
            "(one thread, their own format, smallest of 2 or 3 runs on a machine of the same kind "
            "that was busy), so they give the scale, not a side-by-side comparison.", "",
            summary + ".", "",
            "| graph | task | from text | from image | fastest public | |",
            "|---|---|---:|---:|---:|---|"]
    for r in rows:
        peer = (f"{r['peer_s']:.3f}", r["peer"]) if "peer_s" in r else ("", "")
        text.append(f"| {r['graph']} | {r['task']} | {r['text_s']:.3f} | {r['image_s']:.3f} | {peer[0]} | {peer[1]} |")
    text += ["", "Tasks: `tc` triangles, `Kcl` cliques of K vertices, `Kmc` vertex-induced motifs of "
             "K vertices, `fsm:E:S` labelled patterns of up to E edges with minimum-image support S."]
    (ROOT / "docs" / "bench" / "README.md").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
