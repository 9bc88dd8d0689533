#!/usr/bin/env python3
"""Frequent patterns of several graphs: gramer's supports and times beside those of gspan-mining.

    transactions.py PYTHON [--gramer PROGRAM] [--to FILE]

PYTHON is the interpreter of an environment with gspan-mining 0.2.3 and pandas, which is no requirement of this
project. Graphs are generated like molecules: rings and chains of atoms with bounded valence, from a fixed seed. A row
has the number of patterns and the sum of their supports by both programs; different ones end the script with 1. Times
are CPU seconds of one thread, of whole processes.
"""

import argparse
import csv
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

ATOMS = ["C"] * 70 + ["N"] * 10 + ["O"] * 12 + ["S"] * 3 + ["Cl"] * 3 + ["F"] * 2
VALENCE = {"C": 4, "N": 3, "O": 2, "S": 2, "Cl": 1, "F": 1}
# Graphs, least support, most vertices of a pattern.
RUNS = [(340, 34, 4), (340, 34, 6), (340, 17, 6), (1000, 100, 5), (1000, 50, 6)]
# gspan-mining calls a method that pandas 2 no longer has, for a table that is not used here.
GSPAN = """
import contextlib, io, sys
import pandas
pandas.DataFrame.append = lambda self, *_, **__: self
from gspan_mining.gspan import gSpan
out = io.StringIO()
with contextlib.redirect_stdout(out):
    gSpan(sys.argv[1], int(sys.argv[2]), 2, int(sys.argv[3]), is_undirected=True).run()
supports = [int(line.split()[1]) for line in out.getvalue().splitlines() if line.startswith("Support")]
print(len(supports), sum(supports))
"""


def molecule(rng):
    """Labels of vertices, and edges with labels."""
    labels, edges, degree = [], {}, []

    def add(label):
        labels.append(label)
        degree.append(0)
        return len(labels) - 1

    def join(u, v, label):
        edges[min(u, v), max(u, v)] = label
        degree[u] += 1
        degree[v] += 1

    size = rng.choice([5, 6, 6, 6])
    ring = [add("C" if rng.random() < 0.85 else "N") for _ in range(size)]
    for i in range(size):
        join(ring[i], ring[(i + 1) % size], "aromatic" if size == 6 else "single")
    for _ in range(rng.randrange(4, 18)):
        free = [v for v, label in enumerate(labels) if degree[v] < VALENCE[label]]
        if not free:
            break
        join(rng.choice(free), add(rng.choice(ATOMS)), rng.choice(["single"] * 8 + ["double"] * 2))
    return labels, edges


def write(path, count):
    """Writes `count` graphs in gSpan's format."""
    rng = random.Random(count)
    with open(path, "w") as file:
        for number in range(count):
            labels, edges = molecule(rng)
            print(f"t # {number}", file=file)
            for vertex, label in enumerate(labels):
                print(f"v {vertex} {label}", file=file)
            for (u, v), label in edges.items():
                print(f"e {u} {v} {label}", file=file)
        print("t # -1", file=file)


def timed(words):
    """Standard output of a process, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return text, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", help="interpreter of an environment with gspan-mining and pandas")
    parser.add_argument("--gramer", default="target/release/gramer")
    parser.add_argument("--to", default="docs/results/bench/transactions.csv")
    options = parser.parse_args()
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for count, support, vertices in RUNS:
            path = pathlib.Path(folder) / f"{count}.data"
            if not path.exists():
                write(path, count)
            text, own = timed([options.gramer, "mine", "fsm", "--measure", "transactions", "--support", str(support),
                               "--max-vertices", str(vertices), str(path), "--threads", "1", "--output", "csv"])
            supports = [int(row["count"]) for row in csv.DictReader(text.splitlines())]
            text, theirs = timed([options.python, "-c", GSPAN, str(path), str(support), str(vertices)])
            found = [int(word) for word in text.split()[-2:]]
            same = found == [len(supports), sum(supports)]
            wrong += not same
            rows.append([count, support, vertices, len(supports), sum(supports), *found, f"{own:.2f}", f"{theirs:.2f}"])
            print(*rows[-1], "" if same else "DIFFERENT")
    with open(options.to, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["graphs", "support", "most vertices", "gramer patterns", "gramer sum of supports",
                      "gspan-mining patterns", "gspan-mining sum of supports", "gramer s", "gspan-mining s"])
        out.writerows(rows)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
