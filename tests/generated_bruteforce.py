#!/usr/bin/env python3
"""The counts of sim/tests/generated.tsv, found by trying everything.

    generated_bruteforce.py GRAMER            counts each task anew and compares
    generated_bruteforce.py --write GRAMER    writes the counts of GRAMER's CPU engine, then compares

The program GRAMER makes the graphs. What counts them here is an implementation of its own in the
standard library: every set of k vertices that hangs together is made once, from its smallest vertex
on, and its pattern is the smallest of the adjacency bits over all orders of its vertices (bit
j (j - 1) / 2 + i for vertices i < j).
"""

import functools
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import fsm_bruteforce

TABLE = pathlib.Path(__file__).resolve().parent.parent / "sim/tests/generated.tsv"


def smallest(k, edges):
    """The pattern of edges between 0 and k - 1."""
    bits = sum(1 << (max(e) * (max(e) - 1) // 2 + min(e)) for e in edges)
    return smallest_bits(k, bits)


@functools.lru_cache(maxsize=None)
def smallest_bits(k, bits):
    pairs = [(i, j) for j in range(k) for i in range(j)]
    edges = [p for at, p in enumerate(pairs) if bits >> at & 1]
    place = {p: at for at, p in enumerate(pairs)}
    return min(
        sum(1 << place[min(o[i], o[j]), max(o[i], o[j])] for i, j in edges)
        for o in itertools.permutations(range(k)))


def sets(neighbours, k):
    """Every connected set of k vertices once (the ESU algorithm)."""
    def grow(chosen, candidates, seen, root):
        if len(chosen) == k:
            yield chosen
            return
        candidates = set(candidates)
        while candidates:
            v = candidates.pop()
            new = {u for u in neighbours[v] if u > root and u not in seen}
            yield from grow(chosen + [v], candidates | new, seen | new, root)
    for v in neighbours:
        beyond = {u for u in neighbours[v] if u > v}
        yield from grow([v], beyond, beyond | {v}, v)


def motifs(neighbours, k):
    counts = {}
    for vertices in sets(neighbours, k):
        edges = [(i, j) for j in range(k) for i in range(j)
                 if vertices[j] in neighbours[vertices[i]]]
        pattern = smallest(k, edges)
        counts[f"{pattern:x}"] = counts.get(f"{pattern:x}", 0) + 1
    return counts


def cliques(neighbours, k):
    def grow(common, left):
        if left == 0:
            return 1
        return sum(grow({u for u in common if u > v and u in neighbours[v]}, left - 1)
                   for v in common)
    return {"clique": grow(set(neighbours), k)}


def brute_force(path, row):
    labels, neighbours = fsm_bruteforce.read(path)
    neighbours = dict(neighbours)
    k = int(row["k"])
    if row["task"] == "clique":
        return cliques(neighbours, k)
    if row["task"] == "motif":
        return motifs(neighbours, k)
    counts = fsm_bruteforce.count(labels, neighbours)
    return labelled(fsm_bruteforce.frequent(counts, int(row["support"])), row)


def labelled(found, row):
    """Patterns of up to k vertices, as they are written in the table."""
    return {f"{kind}:{','.join(map(str, names))}": n for (kind, *names), n in found.items()
            if kind == "edge" or row["k"] == "3"}


def cpu_engine(program, path, row):
    words = [program, "mine", row["task"]]
    if row["task"] == "fsm":
        found = fsm_bruteforce.of_gramer(words, path, row["support"])
        return labelled(found, row)
    words += ["-k", row["k"], "--output", "json", path]
    document = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    if row["task"] == "clique":
        return {"clique": document["results"][0]["count"]}
    return {f"{smallest(int(row['k']), map(tuple, r['pattern']['edges'])):x}": r["count"]
            for r in document["results"] if r["count"]}


def shown(counts):
    return " ".join(f"{pattern}={n}" for pattern, n in sorted(counts.items())) or "none"


def main(words):
    write = words[:1] == ["--write"]
    if len(words) != 1 + write:
        print(__doc__, file=sys.stderr)
        return 2
    program = words[-1]
    comments = [line for line in TABLE.read_text().splitlines() if line.startswith("#")]
    lines = [line for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    names = lines[0].split("\t")
    rows = [dict(zip(names, line.split("\t"))) for line in lines[1:]]
    failed = 0
    for row in rows:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/graph.lg"
            words = [program, "graph", "generate", row["generator"], *row["parameters"].split(),
                     "--seed", row["seed"], "--to", "lg", path]
            if row["labels"] != "-":
                words += ["--vertex-labels", row["labels"]]
            subprocess.run(words, check=True, capture_output=True)
            if write:
                row["counts"] = shown(cpu_engine(program, path, row))
            same = row["counts"] == shown(brute_force(path, row))
        failed += not same
        if not same:
            print("DIFFERENT:", *row.values())
    if write and not failed:
        TABLE.write_text("\n".join(comments + ["\t".join(names)]
                                   + ["\t".join(row.values()) for row in rows]) + "\n")
    print(f"{len(rows)} graphs, {failed} with other counts")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
