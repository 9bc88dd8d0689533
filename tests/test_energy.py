#!/usr/bin/env python3
"""The estimate of the energy: its tables, counted activity, and each part by hand."""

import collections
import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import board  # noqa: E402
from hardware import energies, energy, energy_page  # noqa: E402

ACTIVITY = """clocks\t100
core.top\tcount_q\t8\t197\t100\t400
core.top\tvalue_o\t2x8\t3\t2\t0
core.top.gen_a[0].i_mem\tmem\t28x16\t50\t10\t0
core.top.gen_a[0].i_mem\tread_i\t1\t20\t20\t25
core.top.gen_a[0].i_mem\tline_q\t72\t720\t20\t0
"""
AREAS = {"top: what is not in its blocks": {"LUT": 10, "FF": 8, "BRAM": 0, "URAM": 0, "DSP": 0},
         "gramer_scratchpad": {"LUT": 4, "FF": 72, "BRAM": 8, "URAM": 0, "DSP": 1},
         "uncounted": {"LUT": 100, "FF": 0, "BRAM": 0, "URAM": 0, "DSP": 0}}


MEMORIES = {("gramer_scratchpad", "gramer_scratchpad", "read_i"): [("BRAM", 0.5, 8)],
            ("gramer_scratchpad", "gramer_scratchpad", "clock"): [("BRAM", 1.5, 2), ("URAM", 3, 4)]}


def core(memories=None):
    titles = {"top": "top: what is not in its blocks", "top.gen_a[0].i_mem": "gramer_scratchpad"}
    modules = {"top": "top", "top.gen_a[0].i_mem": "gramer_scratchpad"}
    return energy.Core(titles, modules, AREAS, {("gramer_scratchpad", "mem")}, memories or MEMORIES)


class Figures(unittest.TestCase):
    def changed(self, old, new):
        """Reads the table with one change."""
        text = energies.FIGURES.read_text()
        self.assertIn(old, text)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "energy.tsv"
            path.write_text(text.replace(old, new, 1))
            return energies.read(path)

    def test_values_are_in_joules(self):
        figures = energies.figures()
        # 2.464 W of 665,852 flip-flops at 180 MHz are 20.6 fJ a clock: within the range of all reports.
        self.assertAlmostEqual(2.464 / 665852 / 180e6 * 1e15, 20.56, places=2)
        low, high = figures["ff_clock"]
        self.assertTrue(low < 20.56e-15 < high)
        self.assertAlmostEqual(figures["ddr4_bit"][0], 10.1e-12)
        self.assertTrue(all(0 < low <= high for low, high in figures.values()))

    def test_every_report_can_be_found(self):
        """Of a Vivado report the repository and its commit, or the author and title."""
        for at, row in energies.table(energies.FIGURES, energies.HEAD):
            if row["kind"] in ("report", "assumed", "bound"):
                self.assertRegex(row["source"], r"^[\w-]+/[\w.-]+ [0-9a-f]{8}, |^[A-Z]\w+ [A-Z]\w+, Part 1 ", f"line {at}")
                self.assertRegex(row["device"], r"^xc", f"line {at}")

    def test_rates_of_memories_are_assumed(self):
        for at, row in energies.table(energies.FIGURES, energies.HEAD):
            self.assertEqual(row["kind"] == "assumed", row["figure"] in ("bram_access", "uram_access"), f"line {at}")

    def test_the_most_of_ddr4_is_four_times_hbm(self):
        self.assertAlmostEqual(energies.figures()["ddr4_bit"][1], 4 * 40 / (400e9 * 8))

    def test_wrong_rows_are_refused(self):
        for old, new, said in [
            ("net_toggle\tfJ", "net_toggle\tpJ", "the unit of net_toggle is 'pJ', but must be fJ"),
            ("net_toggle\tfJ", "nets\tfJ", "no figure 'nets'"),
            ("1062891\t180", "0\t180", "all positive"),
            ("ddr4_row\tnJ\t\t\t\t\t\t6.2", "ddr4_row\tnJ\t\t\t\t\t\t", "all positive"),
            ("0.125\t\treport", "0.125\t\tguess", "the kind is 'guess'"),
            ("figure\tunit", "figure\tunits", "the columns must be"),
        ]:
            with self.assertRaises(energies.Fault, msg=new) as caught:
                self.changed(old, new)
            self.assertIn(said, str(caught.exception))


class Memories(unittest.TestCase):
    def blocks(self):
        """Area of one instance of each block, by machine and title."""
        head, *rows = [line.split("\t") for line in energy.BLOCKS.read_text().splitlines()]
        return {(row[0], row[1]): dict(zip(head, row)) for row in rows}

    def rows(self):
        return [row for _, row in energies.table(energies.MEMORIES, energies.MEMORY_HEAD)]

    def test_no_access_takes_more_than_its_block_has(self):
        blocks = self.blocks()
        for row in self.rows():
            area = blocks[row["machine"], row["block"]]
            self.assertLessEqual(float(row["most"]), float(area[row["memory"]]), row)

    def test_every_block_with_memory_has_rows(self):
        has = {(row["machine"], row["block"], row["memory"]) for row in self.rows()}
        wanted = {(*key, unit) for key, area in self.blocks().items() if key[0] in energy.ROWS
                  for unit in ("BRAM", "URAM") if float(area[unit])}
        self.assertEqual(has, wanted)

    def test_reads_take_all_memories_of_a_block(self):
        """Reading everything in one clock takes all memories that `make synth` found in a block, and no others."""
        most = collections.Counter()
        bits = {"count_read_i": 8}  # a bank of the row memory each
        writes = ("write_i", "fill_i", "refer_i", "age_q", "write_q")
        for row in self.rows():
            if row["variable"] not in writes and (row["block"], row["variable"]) != ("gramer_process_stage", "valid_i"):
                most[row["machine"], row["block"], row["memory"]] += bits.get(row["variable"], 1) * float(row["most"])
        blocks = self.blocks()
        for (machine, block, memory), number in most.items():
            self.assertEqual(number, float(blocks[machine, block][memory]), (machine, block, memory))

    def test_wrong_rows_are_refused(self):
        text = energies.MEMORIES.read_text()
        row = "gramer_set_list_buffer\tgramer_set_list_buffer\theld_read_i\tBRAM\t4.5\t4.5"
        self.assertIn(row, text)
        for new, said in [(row.replace("4.5\t4.5", "5\t4.5"), "least <= most"), (row.replace("4.5", "0"), "most above 0"),
                          (row.replace("4.5", "x"), "must be numbers"), (row.replace("BRAM", "RAM"), "must be BRAM or URAM"),
                          (row.replace("4.5", "nan"), "least <= most"), (row.replace("held", "member"), "two rows of BRAM")]:
            with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(
                    energies, "MEMORIES", pathlib.Path(folder) / "memories.tsv") as path:
                path.write_text(text.replace(row, new))
                with self.assertRaises(energies.Fault, msg=new) as caught:
                    energies.memories.__wrapped__("set")
                self.assertIn(said, str(caught.exception))

    def test_a_memory_that_the_model_lacks(self):
        (run,) = energy.sections(ACTIVITY)
        for key in [("gramer_scratchpad", "gramer_scratchpad", "reads_i"), ("gramer_scratchpad", "gramer_cache", "clock"),
                    ("gramer_cache", "gramer_scratchpad", "read_i")]:
            with self.assertRaises(energies.Fault) as caught:
                energy.activity(core(MEMORIES | {key: [("BRAM", 1, 1)]}), run)
            self.assertIn(f"the model has no {key[2]} of {key[1]} in {key[0]}", str(caught.exception))


class Activity(unittest.TestCase):
    def test_counts_by_hand(self):
        (run,) = energy.sections(ACTIVITY)
        found = energy.activity(core(), run)
        top, memory, _ = AREAS
        # A counter of 8 bits from 0 to 100 toggles 2 x 100 - 3 = 197 bits.
        self.assertEqual((found["registers"][top], found["register_bits"][top]), (197, 8))
        self.assertEqual((found["signals"][top], found["signal_bits"][top]), (200, 24))
        self.assertEqual((found["registers"][memory], found["register_bits"][memory]), (720, 72))
        # 28 bits of 16 words take 16 LUTs, written in 10 clocks; 25 reads of the scratchpad in 100 clocks.
        self.assertEqual((found["ram_luts"], found["ram_writes"]), (16, 160))
        self.assertEqual(found["BRAM"], [25 * 0.5 + 100 * 1.5, 25 * 8 + 100 * 2])
        self.assertEqual(found["URAM"], [100 * 3, 100 * 4])
        flip_flops, luts = energy.toggles_of(core(), found)
        self.assertAlmostEqual(flip_flops, 8 * 197 / 8 + 72 * 720 / 72)
        mean = (200 + 720) / (24 + 72)
        self.assertAlmostEqual(luts, 10 * 200 / 24 + 4 * 720 / 72 + 100 * mean)

    def test_deep_and_wide_memories(self):
        self.assertEqual(energy.ram_luts([14, 32]), 8)
        self.assertEqual(energy.ram_luts([7, 33]), 8)
        self.assertEqual(energy.ram_luts([8, 128]), 32)
        self.assertEqual(energy.ram_luts([2, 8, 16]), 16)

    def test_a_line_that_is_no_variable(self):
        for text in ["core.top\tx_q\t1\t0\t0\t0\n", "clocks\t5\ncore\tx\n", "clocks\t5\na\tb\tc\td\n"]:
            with self.assertRaises(ValueError):
                energy.sections(text)


class Counter(unittest.TestCase):
    def test_toggles_of_a_counter(self):
        for last in (1, 2, 7, 8, 901):
            byhand = sum((n ^ (n + 1)).bit_count() for n in range(1, last))
            self.assertEqual(energy.counter_toggles(1, last), byhand)

    def run_with(self, toggles, changes):
        return energy.Run(1415, [("gramer_set_core", "cycles_q", [64], toggles, changes, 0)])

    def test_a_miscount_is_noticed(self):
        # 1 to 901 and back to 1, as the set core counted 3-cliques of citeseer.
        self.assertIsNone(energy.miscounted(self.run_with(1800, 901), 901))
        self.assertIsNone(energy.miscounted(self.run_with(1796, 900), 901))
        for toggles, changes, cycles in [(1799, 901, 901), (1800, 900, 901), (1800, 901, 902)]:
            self.assertIsNotNone(energy.miscounted(self.run_with(toggles, changes), cycles))
        self.assertIsNotNone(energy.miscounted(self.run_with(1800, 901)._replace(clocks=900), 900))
        self.assertIn("0 counters", energy.miscounted(energy.Run(9, []), 9))


class Kept(unittest.TestCase):
    """Runs of a task with a stand-in for gramer-lab, whose model counts `toggles` of its counter of cycles."""

    def simulate(self, work, toggles, units=1):
        runs = []

        def lab(command, env, **_):
            text = "hash\n"
            if "--model" not in command:
                runs.append(command)
                activity = f"clocks\t1415\ncore.gramer_set_core\tcycles_q\t64\t{toggles}\t901\t0\n"
                (pathlib.Path(env["GRAMER_COVERAGE_OUT"]) / "1-a.tsv").write_text(activity)
                text = json.dumps({"results": [{"count": 3}], "counters": {"core.cycles": [[901]]}})
            return unittest.mock.Mock(returncode=0, stdout=text)

        with unittest.mock.patch.object(energy, "WORK", work), unittest.mock.patch.object(energy.subprocess, "run", lab), \
                unittest.mock.patch.object(energy, "expected", lambda *_: [3]):
            return runs, energy.simulate("set", "set.yaml", "3-CF", "citeseer", work, units, False)

    def test_a_failed_check_keeps_nothing(self):
        for toggles, units in [(1799, 1), (1800, 2)]:
            with tempfile.TemporaryDirectory() as folder:
                work = pathlib.Path(folder)
                with self.assertRaises(SystemExit) as caught:
                    self.simulate(work, toggles, units)
                self.assertIn("activity of 3-CF of citeseer on set.yaml", str(caught.exception))
                self.assertFalse((work / "set-3-CF-citeseer-hash").exists())
                # The next run simulates again, and is kept.
                runs, (result, _) = self.simulate(work, 1800)
                self.assertEqual((len(runs), result["results"]), (1, [{"count": 3}]))
                self.assertEqual(self.simulate(work, 1800)[0], [])


class Parts(unittest.TestCase):
    def parts(self):
        (run,) = energy.sections(ACTIVITY)
        found = energy.activity(core(), run)
        return energy.parts_of(core(), [found, found], 7, 120, 200e6, 2)

    def test_each_part_by_hand(self):
        """Two compute units of 80 flip-flops, 114 LUTs and one DSP, in 120 clocks of 5 ns."""
        parts, e = self.parts(), energies.figures()
        flip_flops, luts = 2 * (197 + 720), 2 * (10 * 200 / 24 + 4 * 720 / 72 + 100 * (200 + 720) / (24 + 72))
        seconds, mluts = 120 / 200e6, 1.728
        idle = [2 * seconds * e["ddr4_idle"][end] for end in (0, 1)]
        hand = {
            "clock": [120 * 2 * 80 * e["ff_clock"][end] for end in (0, 1)],
            "registers": [flip_flops * e["ff_toggle"][end] for end in (0, 1)],
            "logic": [luts * e["lut_toggle"][0], 2 * luts * e["lut_toggle"][1]],
            "wires": [(flip_flops + luts) * e["net_toggle"][0], (flip_flops + 2 * luts) * e["net_toggle"][1]],
            "distributed": [2 * 16 * 10 * e["lutram_clock"][0], 2 * 16 * 100 * e["lutram_clock"][1]],
            "BRAM": [2 * 162.5 * e["bram_access"][0], 2 * 400 * e["bram_access"][1]],
            "URAM": [2 * 300 * e["uram_access"][0], 2 * 400 * e["uram_access"][1]],
            "DSP": [0, 120 * 2 * e["dsp_clock"][1]],
            "DRAM": [7 * (512 * e["ddr4_bit"][0] + e["ddr4_row"][0] / 2) + idle[0], 7 * 512 * e["ddr4_bit"][1] + idle[1]],
            "static": [seconds * mluts * watts for watts in e["device_static"]],
        }
        self.assertEqual(set(parts), set(hand))
        for name, both in hand.items():
            for end in (0, 1):
                self.assertAlmostEqual(parts[name][end] * 1e9, both[end] * 1e9, msg=(name, end))
        # 80 flip-flops of two units in 120 clocks, of which the reports have 11.7 to 33.9 fJ each.
        self.assertAlmostEqual(parts["clock"][0] * 1e12, 19200 * 0.0117, delta=1)
        self.assertAlmostEqual(parts["clock"][1] * 1e12, 19200 * 0.0339, delta=1)

    def test_the_table_and_the_page_have_each_part_once(self):
        names = list(self.parts())
        parts = {name: (2.0 ** at * 1e-6, 3.0 ** at * 1e-6) for at, name in enumerate(names)}
        row = {"parts": parts, "clocks": 120, "lines": 7, "toggles": 1.0, "rate": 0.01, "seconds": 1e-6}
        *lines, last = [line.split("\t") for line in energy_page.table([("m", "3-CF", "g", row)]).splitlines()[1:]]
        self.assertEqual([line[-3:] for line in lines], [[name, f"{2 ** at}", f"{3 ** at}"] for at, name in enumerate(names)])
        self.assertEqual(last[-3:], ["total", "1023", "29524"])
        self.assertEqual(energy_page.cells(row)[-2:], ["1023.00–29524.00", "1,023–29,524"])
        shown = [name for columns in energy_page.COLUMNS.values() for name in columns]
        self.assertEqual(sorted(shown), sorted(names))

    def test_full_rate(self):
        low, high = energy.at_full_rate(core(), energy.Sizes(2, 2, 200e6), 16)
        e = energies.figures()
        unit = [200e6 * (80 * (e["ff_clock"][end] + e["ff_toggle"][end]) + times * 114 * e["lut_toggle"][end]
                         + (80 + times * 114) * e["net_toggle"][end] + 8 * e["bram_access"][end] + 16 * e["lutram_clock"][end])
                for end, times in ((0, 1), (1, 2))]
        self.assertAlmostEqual(low, 2 * unit[0] + 1.728 * e["device_static"][0])
        self.assertAlmostEqual(high, 2 * (unit[1] + 200e6 * e["dsp_clock"][1]) + 1.728 * e["device_static"][1])

    def test_constants(self):
        self.assertEqual(board.boards()["u250"]["resources"]["LUT"], 1728000)
        paper = (ROOT / "docs" / "results" / "paper" / "README.md").read_text()
        self.assertIn(f"so its design takes {energy.PAPER_WATTS:.1f} W", paper)


if __name__ == "__main__":
    unittest.main()
