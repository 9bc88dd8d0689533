"""Runs that the set core's reference model must predict (rewrites docs/results/hardware/set-model.tsv).

usage: scripts/measure.py model-set [--check]

Each graph is simulated on machine `set` with the image on chip, by target/debug/gramer-lab or GRAMER_LAB, and predicted
by scripts/set_model.py. Real graphs are in the folder that GRAMER_DATA names. --check prints the rows and writes nothing.
tests/test_set_model.py predicts all rows again.
"""

import argparse
import datetime
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import set_model
from built import BUILT, ROOT

PAGE = ROOT / "docs/results/hardware/set-model.tsv"
HEAD = ["graph", "units", "lines", "steps", "cycles", "predicted"]
REAL = {
    "email-eu-core": "email-eu-core/email-Eu-core.csv.zst",
    "p2p-gnutella08": "p2p-gnutella08/p2p-gnutella08.txt.zst",
    "wiki-vote": "wiki-vote/wiki-vote.txt.zst",
}
GRAPHS = [
    *(f"complete {n}" for n in (3, 4, 5, 8, 16, 17, 33, 64, 100, 128, 254)),
    # random VERTICES EDGES SEED SKEW: each round of skew prefers vertices with small numbers.
    "random 200 2000 1 0", "random 800 7000 2 1", "random 300 9000 3 1", "random 2000 12000 4 2", "random 1000 40000 5 0",
    "random 4000 8000 6 0",
    # rmat SCALE EDGES SEED, with 0.57, 0.19, 0.19
    "rmat 8 2048 1", "rmat 9 8192 2", "rmat 10 16384 3", "rmat 11 32768 4", "rmat 12 65536 5",
    "star 100", "wheel 200", "grid 20 30", "karate", *REAL,
]
TEXT = """# 3-cliques on machine set, image on chip: written by `scripts/measure.py model-set`, model {model}, {day}. Units, lines asked
# for and steps are sums over both clusters; cycles are those of the cluster that took longest, predicted is what
# scripts/set_model.py says. Generators of the graphs: scripts/measuring/model_set.py.
"""


def numbers(seed):
    """Pseudo-random numbers below a limit."""
    state = seed

    def below(limit):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % limit
    return below


def random_edges(vertices, edges, seed, skew):
    below = numbers(seed)
    for _ in range(edges):
        u, v = below(vertices), below(vertices)
        for _ in range(skew):
            u, v = below(u + 1), v
        yield u, v


def rmat(scale, edges, seed):
    below = numbers(seed)
    for _ in range(edges):
        u = v = 0
        for _ in range(scale):
            chance = below(100)
            u, v = 2 * u + (chance >= 76), 2 * v + (57 <= chance < 76 or chance >= 95)
        yield u, v


def grid(rows, columns):
    for row, column in itertools.product(range(rows), range(columns)):
        at = row * columns + column
        if column + 1 < columns:
            yield at, at + 1
        if row + 1 < rows:
            yield at, at + columns


def star(leaves):
    return ((0, leaf) for leaf in range(1, leaves + 1))


def wheel(rim):
    return itertools.chain(star(rim), ((1 + at, 1 + (at + 1) % rim) for at in range(rim)))


def complete(vertices):
    return itertools.combinations(range(vertices), 2)


MADE = {"complete": complete, "random": random_edges, "rmat": rmat, "grid": grid, "star": star, "wheel": wheel}


def edges_of(name):
    """The edges of a graph of GRAPHS, or None for a real graph that is not at hand."""
    kind, *sizes = name.split()
    if kind in MADE:
        return list(MADE[kind](*map(int, sizes)))
    if kind == "karate":
        return set_model.read((ROOT / "docs/pictures/karate.txt").read_text())
    path = pathlib.Path(os.environ.get("GRAMER_DATA", "")) / REAL[kind]
    if not path.exists():
        return None
    return set_model.read(subprocess.run(["zstd", "-dc", path], check=True, stdout=subprocess.PIPE, text=True).stdout)


def simulated(edges):
    """Units, lines, steps and cycles of a run, and its model."""
    lab = os.environ.get("GRAMER_LAB", BUILT / "debug/gramer-lab")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(f"{u} {v}\n" for u, v in edges if u != v)
        file.flush()
        command = [lab, "simulate", "clique", "-k", "3", file.name, "--machine", ROOT / "machines/set.yaml", "--json"]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    sums = [sum(unit[0] for part in found["passes"] for unit in part["counters"][name])
            for name in ("core.work_units", "pu.lines_requested", "pu.steps")]
    return [*sums, found["cycles"]], found["model"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true")
    check, lines, model = arguments.parse_args().check, ["\t".join(HEAD)], ""
    for name in GRAPHS:
        edges = edges_of(name)
        if edges is None:
            sys.exit(f"model-set: {name} is missing; GRAMER_DATA must name the folder of the real graphs")
        values, model = simulated(edges)
        lines.append("\t".join(map(str, [name, *values, set_model.predicted(edges)[2]])))
        print(lines[-1], f"{100 * (int(lines[-1].split(chr(9))[-1]) - values[-1]) / values[-1]:+.1f} %", sep="\t", flush=True)
    if not check:
        PAGE.write_text(TEXT.format(model=model, day=datetime.date.today()) + "\n".join(lines) + "\n")
