#!/usr/bin/env python3
"""Frequent patterns of 2 and 3 vertices by embeddings, found by trying everything.

    fsm_bruteforce.py GRAPH.lg SUPPORT…                  prints them
    fsm_bruteforce.py --check GRAMER [--device DEVICE] GRAPH.lg SUPPORT…   compares with the
                                                         program GRAMER, on a device of it

An implementation of the rule of its own, in the standard library alone: an edge pattern is
reported if it has at least SUPPORT edges; a pattern of 3 vertices if it has at least SUPPORT
vertex-induced embeddings and each of its edges is reported. A pattern is written as its kind and
its labels: the centre of a wedge first, the others ascending.
"""

import collections
import itertools
import json
import subprocess
import sys


def read(path):
    """Labels by vertex and neighbours by vertex; edge labels are left out."""
    labels, neighbours = {}, collections.defaultdict(set)
    with open(path) as file:
        for words in map(str.split, file):
            if words[:1] == ["v"]:
                labels[int(words[1])] = int(words[2])
            elif words[:1] == ["e"] and words[1] != words[2]:
                u, v = int(words[1]), int(words[2])
                neighbours[u].add(v)
                neighbours[v].add(u)
    return labels, neighbours


def count(labels, neighbours):
    """Vertex-induced embeddings of 2 and 3 vertices by pattern."""
    counts = collections.Counter()
    for v in list(neighbours):
        for u in neighbours[v]:
            if u < v:
                counts["edge", *sorted((labels[u], labels[v]))] += 1
        for a, b in itertools.combinations(sorted(neighbours[v]), 2):
            if b not in neighbours[a]:
                counts["wedge", labels[v], *sorted((labels[a], labels[b]))] += 1
            elif v < a:
                counts["triangle", *sorted((labels[v], labels[a], labels[b]))] += 1
    return counts


def edges_of(pattern):
    kind, *labels = pattern
    pairs = {"edge": [(0, 1)], "wedge": [(0, 1), (0, 2)], "triangle": [(0, 1), (0, 2), (1, 2)]}
    return [("edge", *sorted((labels[i], labels[j]))) for i, j in pairs[kind]]


def frequent(counts, support):
    enough = {p: n for p, n in counts.items() if n >= support}
    return {p: n for p, n in enough.items() if all(e in enough for e in edges_of(p))}


def of_gramer(program, path, support):
    words = [*program, "--no-edge-labels", "--max-vertices", "3",
             "--support", str(support), "--output", "json", path]
    document = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    found = {}
    for result in document["results"]:
        pattern, kind = result["pattern"], result["name"]
        labels = pattern["labels"]
        if kind == "wedge":
            degree = collections.Counter(itertools.chain(*pattern["edges"]))
            centre = next(v for v in degree if degree[v] == 2)
            labels = [labels[centre], *sorted(labels[:centre] + labels[centre + 1:])]
        else:
            labels = sorted(labels)
        found[(kind, *labels)] = result["count"]
    return found


def main(words):
    program = None
    if words[:1] == ["--check"]:
        program, words = [words[1], "mine", "fsm"], words[2:]
        if words[:1] == ["--device"]:
            program, words = program + words[:2], words[2:]
    if len(words) < 2:
        sys.exit(__doc__)
    path, supports = words[0], [int(s) for s in words[1:]]
    counts = count(*read(path))
    failed = 0
    for support in supports:
        expected = frequent(counts, support)
        if program:
            same = of_gramer(program, path, support) == expected
            failed += not same
            print(f"support {support}: {len(expected)} patterns, {'equal' if same else 'DIFFERENT'}")
        else:
            for pattern, number in sorted(expected.items(), key=lambda item: (-item[1], item[0])):
                print(support, number, *pattern)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
