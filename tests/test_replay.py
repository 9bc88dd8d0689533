#!/usr/bin/env python3
"""Tests of scripts/replay.py on traces that were worked out by hand."""

import contextlib
import importlib.util
import io
import pathlib
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("replay", ROOT / "scripts/replay.py")
replay = importlib.util.module_from_spec(spec)
spec.loader.exec_module(replay)

# Five lines in turn, twice; their numbers are their ranks too.
IN_TURN = [(at, line, line) for at, line in enumerate([1, 2, 3, 4, 5] * 2)]


class OneSet(unittest.TestCase):
    """Four ways; numbers are hits, evictions, and of these: comes again, was the newest, not MIN's."""

    def outcome(self, policy, weight=None, accesses=IN_TURN):
        return replay.replay(accesses, lambda line: 0, policy, weight)

    def test_lru_evicts_what_comes_next(self):
        # From the fifth access on each evicts the line of the next; the last one's never comes.
        self.assertEqual(self.outcome("lru"), (0, 6, 5, 0, 5))

    def test_min_gives_up_one_line(self):
        # 4 goes for 5, as the farthest, and was the newest; then 1, which comes no more, for 4.
        self.assertEqual(self.outcome("min"), (4, 2, 1, 1, 0))

    def test_equation_2_by_rank_alone(self):
        # λ = 0: 4 goes for 5, then 5 for 4, though 5 is the only one that comes again, and 4 for 5.
        self.assertEqual(self.outcome("lambda", 0), (3, 3, 2, 2, 1))

    def test_equation_2_with_recency(self):
        # λ = 2: an access more of age outweighs a rank, so it is LRU here.
        self.assertEqual(self.outcome("lambda", 2), self.outcome("lru"))

    def test_spreads(self):
        # Evictions by λ = 1: of 1 (all tie), then 2, … as LRU: a set holds four lines in a row, whose ages
        # differ by 3; their ranks differ by 3, 3, 4, 4, 4 and 3.
        self.assertEqual(replay.spreads(IN_TURN, lambda line: 0), (3.5, 3))
        self.assertEqual(replay.spreads(IN_TURN, lambda line: line), (0, 0))

    def test_sets_are_apart(self):
        # Even lines and odd ones fit, each into their set.
        found = replay.replay(IN_TURN, lambda line: line % 2, "lru", None)
        self.assertEqual(found, (5, 0, 0, 0, 0))


class Traces(unittest.TestCase):
    TEXT = ["note: not an access", "access vertex 3 9 1 1", "access vertex 4 8 0 0", "access edge 7 1 0 1"]

    def test_high_priority_accesses_count_as_time_alone(self):
        found, everything = replay.read(self.TEXT)
        self.assertEqual(found, {"vertex": [(1, 4, 8)], "edge": [(0, 7, 1)]})
        self.assertEqual(everything, {"vertex": 2, "edge": 1})

    def test_the_table(self):
        # One partition, one set in use of two; one high-priority access in front.
        lines = ["access edge 0 0 1 1"] + [f"access edge {line} {rank} 0 0" for _, line, rank in IN_TURN]
        out, err = io.StringIO(), io.StringIO()
        numbers = {"PARTITIONS": 1, "VERTEX_SETS": 2, "EDGE_SETS": 2}
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("\n".join(lines))
            file.flush()
            arguments = ["replay.py", "--on-chip", "0,1,1,1", "--lambdas", "0", file.name]
            with mock.patch.object(replay, "numbers", lambda machine: numbers), \
                    mock.patch("sys.argv", arguments), \
                    contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                replay.main()
        rows = [line.split("\t") for line in out.getvalue().splitlines()]
        self.assertEqual(rows[1:], [
            ["edge", "lru", "0.00", "9.09", "6", "83.3", "0.0", "83.3"],
            ["edge", "min", "40.00", "45.45", "2", "50.0", "50.0", "0.0"],
            ["edge", "lambda 0", "30.00", "36.36", "3", "66.7", "66.7", "33.3"],
        ])
        self.assertEqual(err.getvalue(), "vertex: no access that is not high-priority\n")


if __name__ == "__main__":
    unittest.main()
