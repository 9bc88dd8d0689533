#!/usr/bin/env python3
"""The reference model of the set core agrees with simulated runs, and its decoder with the graph."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import set_model  # noqa: E402
from measuring import model_set  # noqa: E402

# Graphs whose image is decoded.
DECODED = [name for name in model_set.GRAPHS if name not in model_set.REAL]


def table():
    """The rows of the table, without those of real graphs that are not at hand."""
    lines = [line for line in model_set.PAGE.read_text().splitlines() if line and not line.startswith("#")]
    for line in lines[1:]:
        name, *values = line.split("\t")
        if model_set.edges_of(name) is not None:
            yield name, [int(value) for value in values]


class Model(unittest.TestCase):
    def test_work_is_exact_and_cycles_are_near(self):
        rows = list(table())
        self.assertGreaterEqual(len(rows), len(DECODED))
        for name, (units, lines, steps, cycles, written) in rows:
            with self.subTest(name):
                _, own, predicted = set_model.predicted(model_set.edges_of(name))
                self.assertEqual(len(own), units)
                self.assertEqual(sum(u["lines"] + u["lengths"] for u in own), lines)
                self.assertEqual(sum(u["steps"] for u in own), steps)
                self.assertEqual(predicted, written)
                self.assertLessEqual(abs(predicted - cycles), 0.05 * cycles, f"{predicted} for {cycles}")

    def test_an_image_is_decoded(self):
        for name in DECODED:
            rows = set_model.ranked(model_set.edges_of(name))
            image = set_model.Image(rows)
            found = set_model.decode(image.words(), image.units())
            ids = {at: address for at, address in enumerate(image.address)}
            everything = {(ids[u], ids[v]) for v, row in enumerate(rows) for u in row if u < v}
            self.assertLessEqual(found, everything, name)
            # All edges into roots are found, others only if a root reads them.
            roots = {unit["address"] for unit in image.units()}
            self.assertEqual({e for e in everything if e[1] in roots}, {e for e in found if e[1] in roots}, name)

    def test_the_example_of_the_page(self):
        page = (ROOT / "docs" / "reference" / "set-core.md").read_text()
        image, units, _ = set_model.predicted(model_set.edges_of("complete 5"))
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
