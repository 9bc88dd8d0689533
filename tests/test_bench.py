#!/usr/bin/env python3
"""Tests of what scripts/measure.py makes of figures: no loss may vanish from its tables or its counts."""

import contextlib
import io
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


sys.path.insert(0, str(ROOT / "scripts"))
from measuring import compare as bench_compare, cycles, gpu as bench_gpu, speed as bench  # noqa: E402

PEERS = """run,graph,task,system,cpu_s,peak_mib,ours_image_s,ours_text_s
2026-11-22-a,g,3-clique,fast,1.0,,0.5,2.0
2026-11-22-a,g,8-clique,fast,0.6,,>4.8,
2026-11-22-b,g,5-clique,,>5.0,,1.0,6.0
2026-11-22-b,g,5-motif,,cut,,cut,cut
earlier,h,3-motif,slow,0.4,9.9,,
earlier,h,3-motif,fast,0.2,9.9,,
earlier,g,3-clique,fast,0.1,9.9,,
"""


def rows():
    return bench.peers(io.StringIO(PEERS))


class Compare(unittest.TestCase):
    def outcome(self, ours, theirs):
        return bench.compare(bench.Seconds.of(ours), bench.Seconds.of(theirs))

    def test_times(self):
        self.assertEqual(self.outcome("0.5", "1.0"), ("win", "2.00"))
        self.assertEqual(self.outcome("2.0", "1.0"), ("loss", "0.50"))
        self.assertEqual(self.outcome("1.0", "1.0"), ("win", "1.00"))

    def test_what_was_stopped_is_a_bound(self):
        self.assertEqual(self.outcome(">4.8", "0.6"), ("loss", "< 0.12"))
        self.assertEqual(self.outcome("1.0", ">5.0"), ("win", "> 5.00"))
        # They were stopped before our time: unknown.
        self.assertEqual(self.outcome("6.0", ">5.0")[0], "open")
        # We were stopped before their time.
        self.assertEqual(self.outcome(">0.5", "0.6")[0], "open")
        self.assertEqual(self.outcome("cut", "cut")[0], "open")

    def test_what_was_not_taken_is_no_win(self):
        self.assertEqual(self.outcome("", "0.6"), (None, "–"))
        # Theirs ended, ours was stopped: it is not forgotten either.
        self.assertEqual(self.outcome("cut", "0.6")[0], "open")


class Tables(unittest.TestCase):
    def test_counts_have_all_rows(self):
        beside, _ = rows()
        self.assertEqual(bench.tally(beside, "image"), "from image: not slower in 2 of 4 rows, slower in 1, "
                         "undecided in 1 (stopped)")
        self.assertEqual(bench.tally(beside, "text"), "from text: not slower in 0 of 4 rows, slower in 2, "
                         "undecided in 2 (stopped)")
        # Its text was not taken, but its image is slower already.
        self.assertIn("| 8-clique | 1 | 0 | 1 | 0 | 0 | 1 | 0 |", bench.by_kind(beside))

    def test_every_row_is_in_the_report(self):
        beside, earlier = rows()
        text = "\n".join(bench.tables(beside, earlier, {}))
        self.assertIn("| a | g | 3-clique | fast | 1.0000 | 0.5000 | 2.00 | 2.0000 | **0.50** | not run | "
                      "not run |", text)
        self.assertIn("| a | g | 8-clique | fast | 0.6000 | > 4.8 | **< 0.12** | not taken | **slower** |", text)
        self.assertIn("| b | g | 5-motif | none ended | stopped | stopped | – | stopped | – |", text)
        # Of earlier runs the fastest, without a comparison, and only where there is no newer one.
        after = text[text.index("## Not side by side"):]
        self.assertIn("| h | 3-motif | fast | 0.2000 | not run | not run |", after)
        self.assertNotIn("| g | 3-clique", after)

    def test_a_loss_of_today_stays(self):
        beside, earlier = rows()
        stopped = {source: bench.Seconds(above=7.0) for source in ("image", "text")}
        text = "\n".join(bench.tables(beside, earlier, {("g", "8-clique"): stopped}))
        self.assertIn("| > 7 | > 7 |", text)

    def test_the_figures_kept_here_are_all_shown(self):
        with open(bench.PEERS) as file:
            beside, earlier = bench.peers(file)
        text = bench.report(beside, earlier, {}, [], "none")
        table = text[text.index("## In the same run"):text.index("## Not side by side")]
        with open(bench.PEERS) as file:
            kept = sum(line.startswith("2026-11-22") for line in file)
        self.assertEqual(kept, len(beside))
        self.assertEqual(sum(line.startswith(("| a |", "| b |")) for line in table.splitlines()), kept)
        for source in ("image", "text"):
            self.assertGreater([bench.compare(r[source], r["theirs"])[0] for r in beside].count("loss"), 0)
            self.assertIn(bench.tally(beside, source), text)
        for task in ("6-clique", "8-clique", "12-clique", "5-motif", "maximal"):
            self.assertIn(f"| {task} |", table)
        for graph in ("sm-yeast", "sm-hprd"):
            self.assertEqual(table.count(f"| {graph} | match-"), 16)
        for graph, task in bench.ALONE:
            self.assertIn(f"| {graph} | {task} | not run | not run |", text)

    def test_rows_today_are_in_the_graphs(self):
        with open(bench.PEERS) as file:
            beside, earlier = bench.peers(file)
        for row in beside + earlier:
            self.assertIn(row["graph"], bench.GRAPHS)
            self.assertTrue(bench.task_words(row["task"], row["graph"], lambda graph, name: name))


class Scaling(unittest.TestCase):
    CSV = """machine,cores,graph,task,threads,mine_s,cpu_s,complete
Chip,16,g,5-motif,16,0.5,9.0,true
Chip,16,g,5-motif,1,6.0,6.0,true
Chip,16,g,maximal,16,4.0,60.0,true
Chip,16,g,maximal,1,30.0,30.0,false
Chip,16,g,6-motif,16,30.0,400.0,false
"""

    def setUp(self):
        self.file, bench.THREADS = bench.THREADS, bench.WORK.parent / "test-threads.csv"
        bench.THREADS.parent.mkdir(exist_ok=True)
        bench.THREADS.write_text(self.CSV)

    def tearDown(self):
        bench.THREADS.unlink()
        bench.THREADS = self.file

    def test_a_run_that_was_given_up_is_no_time(self):
        rows = [line for line in bench.scaling_table() if line.startswith("| g |")]
        self.assertEqual(rows, ["| g | 5-motif | 6.000 | 0.500 | 12.0 | 1.50 |",
                                "| g | maximal | > 30.000 | 4.000 | > 7.5 | – |",
                                "| g | 6-motif | not run | > 30.000 | – | – |"])

    def test_every_task_is_known(self):
        for graph, task in bench.SCALING:
            self.assertIn(graph, bench.GRAPHS)
            self.assertTrue(bench.task_words(task, graph, None))


class Limits(unittest.TestCase):
    def test_a_run_that_takes_too_long_is_stopped(self):
        spin = bench.cpu_seconds(["sh", "-c", "while :; do :; done"], limit=1)
        self.assertEqual(str(spin), "> 1")
        self.assertLess(bench.cpu_seconds(["true"]).value, 1)

    def test_a_run_that_fails_is_no_time(self):
        with self.assertRaises(SystemExit):
            bench.cpu_seconds(["sh", "-c", "echo broken >&2; exit 1"])


class RowsOfGpus(unittest.TestCase):
    def row(self, rows, task, graph, best, anchor=None):
        return {"rows": rows, "task": task, "graph": graph, "best_ms": best, "anchor_ms": anchor, "anchor": "peer",
                "launches": 2, "busy_ms": best / 2, "bound_ms": best / 4, "bound": "lookups"}

    def test_a_row_that_falls_short_says_so(self):
        rows = bench_gpu.with_targets([self.row("", "tc", "rmat15", 0.3, 0.25), self.row("", "6cl", "ego-twitter", 4.4, 110.5),
                                       self.row("", "4cl", "rmat15", 0.2, 2.2), self.row("", "tc", "none", 0.1)])
        lines = list(bench_gpu.table(rows))
        self.assertEqual(lines[2:], [
            "| tc | rmat15 | 0.300 | 0.250 (peer) | **0.83** | **0.15** | 0.075 (lookups) | 4.0 |",
            "| 6cl | ego-twitter | 4.400 | 110.500 (peer) | 25.11 | **3** | 1.100 (lookups) | 4.0 |",
            "| 4cl | rmat15 | 0.200 | 2.200 (peer) | 11.00 | 0.25 | 0.050 (lookups) | 4.0 |"])

    def test_energy_has_its_columns(self):
        rows = bench_gpu.with_targets([self.row("", "tc", "rmat15", 0.3, 0.25) | {"energy_mj": 61.254, "watts": 204.2},
                                       self.row("", "4cl", "rmat15", 0.2, 2.2)])
        head, _, first, second = bench_gpu.table(rows)
        self.assertTrue(head.endswith(" best / bound | mJ | W |"))
        self.assertTrue(first.endswith(" | 4.0 | 61.25 | 204 |"), first)
        self.assertTrue(second.endswith(" | 4.0 | – | – |"), second)

    def test_the_card_whose_energy_is_read(self):
        self.assertEqual(bench_gpu.card_of("gpu:portable", "3"), ["--energy", "3"])
        self.assertEqual(bench_gpu.card_of("gpu", "no"), [])
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(bench_gpu.card_of("gpu:portable", None), [])
        self.assertIn("--energy N names a card", said.getvalue())

    def test_a_strategy_by_name_has_no_anchor_of_another_kind(self):
        wide, table = bench_gpu.with_targets([self.row("wide", "4mc", "ca-astroph", 100.0, 13.1),
                                              self.row("table 64M", "4cl", "ego-twitter", 7.0, 3.4)])
        self.assertEqual(wide["anchor_ms"], 27900)
        self.assertEqual((table["anchor_ms"], table["target_ms"]), (None, 60))


class Cycles(unittest.TestCase):
    def test_both_orders_have_their_share(self):
        shares = {"descending": [16.1, 38.0], "ascending": [32.4, 88.8, None]}
        self.assertEqual(cycles.summary(shares), "Of the budget: 16 to 38 % in descending order; 32 to 89 % "
                         "in ascending order, and 1 not run to the end.")

    def test_the_report_has_them(self):
        text = (ROOT / "docs" / "results" / "hardware" / "cycles.md").read_text()
        rows = [[c.strip() for c in l.split("|")[1:-1]] for l in text.splitlines() if "ending |" in l]
        shares = {"descending": [], "ascending": []}
        for row in rows:
            count, budget = (int(row[at].replace(",", "")) for at in (2, 3))
            self.assertEqual(row[4], f"{100 * count / budget:.0f} %")
            shares[row[1]].append(100 * count / budget)
        self.assertEqual([len(s) for s in shares.values()], [len(cycles.TASKS)] * 2)
        self.assertIn(cycles.summary(shares), text)

    def test_the_readme_has_the_range_of_table_iii(self):
        report = (ROOT / "docs" / "results" / "paper" / "README.md").read_text()
        ascending, descending = [f"{float(low):.0f} to {float(high):.0f} %"
                                 for low, high in re.findall(r"kernel is ([\d.]+) to ([\d.]+) % of it", report)]
        readme = " ".join((ROOT / "README.md").read_text().split())
        section = report[report.index("## Table III"):]
        limit = int(re.search(r"Points of up to (\d+) cycles", section)[1]) // 10**6
        self.assertIn(f"; tasks of up to {limit} million cycles are whole runs", readme)
        self.assertIn(f"simulated kernel takes {descending} of the paper's kernel time (its total minus set-up) in the "
                      f"default vertex order and {ascending} in the paper's", readme)


class TwoRevisions(unittest.TestCase):
    def row(self, before, after):
        """A row whose runs take these times in turn; None is a run that was stopped."""
        row, times = bench_compare.Row("g", "3-clique", "image"), {"b": iter(before), "a": iter(after)}
        row.run(["b", "a"], lambda words: next(times[words]))
        return row

    def test_runs_alternate_until_there_are_enough(self):
        order = []
        row = bench_compare.Row("g", "3-clique", "image")
        row.run(["b", "a"], lambda words: order.append(words) or 0.5)
        self.assertEqual("".join(order), "baab" * 2)
        row = bench_compare.Row("g", "3-clique", "image")
        row.run(["b", "a"], lambda words: 0.001)
        self.assertEqual([len(seconds) for seconds in row.seconds], [bench_compare.MOST] * 2)

    def test_rows_near_the_limit_run_in_all_rounds(self):
        def row(before, after):
            row = bench_compare.Row("g", "3-clique", "image")
            return row, ["b", "a"], {"b": before, "a": after}

        def a_round(work):
            rounds.append(len(work))
            for row, words, times in work:
                row.run(words, lambda word: times[word][row.rounds - 1])
            return [row for row, *_ in work]

        rounds = []
        work = [row([1.0], [1.0]), row([1.0] * 3, [1.2, 1.0, 0.9]), row([1.0] * 3, [1.04, 1.3, 1.3]), row([1.0], [None])]
        rows = bench_compare.in_rounds(work, a_round)
        self.assertEqual(rounds, [4, 2, 2])
        self.assertEqual([len(row.seconds[1]) for row in rows], [4, 12, 12, 0])
        # The median of both rounds, not of the last one.
        self.assertEqual(rows[1].ratios(), (0.9, 1.0))
        self.assertEqual([row.verdict() for row in rows[:3]], ["alike", "alike", "alike"])
        self.assertEqual(rows[2].ratios(), (1.04, 1.3))

    def test_a_row_is_slower_by_least_and_median(self):
        slower = self.row([1.0] * 4, [1.06, 1.2, 1.2, 1.2])
        self.assertEqual((slower.verdict(), slower.ratios()), ("slower", (1.06, 1.2)))
        # One of both is within the limit.
        self.assertEqual(self.row([1.0] * 4, [1.04, 1.2, 1.2, 1.2]).verdict(), "alike")
        self.assertEqual(self.row([1.0, 1.2, 1.2, 1.2], [1.1, 1.2, 1.2, 1.2]).verdict(), "alike")
        self.assertEqual(self.row([1.0] * 4, [0.9] * 4).verdict(), "faster")

    def test_what_is_slower_or_no_longer_ends_is_named(self):
        fine, slower = self.row([1.0] * 4, [1.0] * 4), self.row([1.0] * 4, [2.0] * 4)
        stopped, neither = self.row([1.0] * 4, [None]), bench_compare.Row("g", "maximal", "text")
        self.assertEqual(stopped.verdict(), "after: stopped after 7 s")
        lines, code = bench_compare.summary([fine, slower, stopped, neither])
        self.assertEqual(code, 1)
        self.assertEqual(lines[0], "4 rows: 1 over 1.05, 0 under 0.952, 1 between, 1 not run, 1 not comparable")
        self.assertEqual(lines[1:], ["slower: g 3-clique image (2.000, medians 2.000)",
                                     "ended before and doesn't end now: g 3-clique image"])
        self.assertEqual(bench_compare.summary([fine, neither])[1], 0)

    def test_the_page_has_every_row_and_both_revisions(self):
        rows = [self.row([1.0] * 4, [2.0] * 4), self.row([1.0] * 4, [0.5] * 4), self.row([1.0] * 4, [None]),
                bench_compare.Row("g", "maximal", "text")]
        text = bench_compare.report(rows, ("`old`: as it was", "`new`: as it is"), "Chip, 2 cores")
        table = [line for line in text.splitlines() if line.startswith("| g |")]
        self.assertEqual(table, ["| g | 3-clique | image | 4 | 1.0000 | 2.0000 | 2.000 | 2.000 | **slower** |",
                                 "| g | 3-clique | image | 4 | 1.0000 | 0.5000 | 0.500 | 0.500 | faster |",
                                 "| g | 3-clique | image | 0 | 1.0000 | – | – | – | after: stopped after 7 s |",
                                 "| g | maximal | text | 0 | – | – | – | – | not run |"])
        for said in ("| before | `old`: as it was |", "| after | `new`: as it is |", "Machine: Chip, 2 cores.",
                     "4 rows: 1 over 1.05, 1 under 0.952", "Slower: g 3-clique image (2.000, medians 2.000)."):
            self.assertIn(said, text)

    def test_a_revision_is_named_by_what_it_did(self):
        self.assertRegex(bench_compare.named("HEAD", True), r"^`[0-9a-f]{12}` of \d{4}-\d\d-\d\d, with changes on top: \S")


if __name__ == "__main__":
    unittest.main()
