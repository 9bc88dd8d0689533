#!/usr/bin/env python3
"""The reference model of the set core agrees with simulated runs, and its decoder with the graph."""

import itertools
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import set_model  # noqa: E402

MEASURED = ROOT / "docs" / "results" / "hardware" / "set-model.tsv"


def random_edges(vertices, edges, seed, skew):
    """Edges of a random graph; each round of skew prefers vertices with small numbers."""
    state = seed

    def below(limit):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % limit
    found = []
    for _ in range(edges):
        u, v = below(vertices), below(vertices)
        for _ in range(skew):
            u, v = below(u + 1), v
        found.append((u, v))
    return [(u, v) for u, v in found if u != v]


def graph(name):
    """The edges of a graph of the table."""
    kind, *numbers = name.split()
    numbers = [int(number) for number in numbers]
    return list(itertools.combinations(range(numbers[0]), 2)) if kind == "complete" else random_edges(*numbers)


def table():
    lines = [line for line in MEASURED.read_text().splitlines() if line and not line.startswith("#")]
    for line in lines[1:]:
        name, *values = line.split("\t")
        yield name, [int(value) for value in values]


class Model(unittest.TestCase):
    def test_work_is_exact_and_cycles_are_near(self):
        for name, (units, lines, steps, cycles) in table():
            with self.subTest(name):
                _, own, predicted = set_model.predicted(graph(name))
                self.assertEqual(len(own), units)
                self.assertEqual(sum(u["lines"] + u["lengths"] for u in own), lines)
                self.assertEqual(sum(u["steps"] for u in own), steps)
                self.assertLess(abs(predicted - cycles), max(8, 0.05 * cycles), f"{predicted} for {cycles}")

    def test_an_image_is_decoded(self):
        for name, _ in table():
            rows = set_model.ranked(graph(name))
            image = set_model.Image(rows)
            found = set_model.decode(image.words(), image.units())
            ids = {at: address for at, address in enumerate(image.address)}
            everything = {(ids[u], ids[v]) for v, row in enumerate(rows) for u in row if u < v}
            self.assertLessEqual(found, everything, name)
            # All edges into roots are found; others only as far as a root reads them.
            roots = {unit["address"] for unit in image.units()}
            self.assertEqual({e for e in everything if e[1] in roots}, {e for e in found if e[1] in roots}, name)

    def test_the_example_of_the_page(self):
        page = (ROOT / "docs" / "reference" / "set-core.md").read_text()
        image, units, _ = set_model.predicted(graph("complete 5"))
        words = image.words()
        for at in range(5):
            quarter = " ".join(f"{word:08x}" for word in words[4 * at:4 * at + 4])
            self.assertTrue(quarter in page, quarter)
        for own in set_model.dealt(units):
            beats = set_model.in_stream(set_model.halves_of(set_model.mixed(own)))
            self.assertEqual(len(beats), 128)
            for unit in own:
                word = unit["address"] | unit["quarters"] << 26 | 4095 << 52
                self.assertTrue(f"{word:016x}" in page, f"{word:016x}")


if __name__ == "__main__":
    unittest.main()
