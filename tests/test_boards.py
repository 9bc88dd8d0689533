#!/usr/bin/env python3
"""Cards: their table, where clusters go, and the recorded areas. `make vitis-check` has the machines on them."""

import csv
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import board  # noqa: E402
import fit  # noqa: E402


class Cards(unittest.TestCase):
    def test_a_region_is_a_part_of_the_device(self):
        for name, card in board.cards().items():
            self.assertEqual(sorted(key for key in card if key.startswith("region")),
                             [f"region{slr}" for slr in range(card["slrs"])] * ("region0" in card), name)
            self.assertLess(max(card["bank_slr"]), card["slrs"])
            for resource in fit.UNITS:
                self.assertLess(0, card["available"][resource], name)
                self.assertLessEqual(card["available"][resource], card["resources"][resource], name)
                self.assertLessEqual(sum(left[resource] for left in board.room(card)), card["resources"][resource], name)

    def test_a_floorplan_for_each(self):
        floorplans = {path.stem for path in (ROOT / "constraints").glob("*.tcl")} - {"clock"}
        self.assertEqual(floorplans, set(board.cards()))

    def test_what_a_board_needs(self):
        both = {"card", "part", "platform", "tools", "slrs", "memory", "banks", "bank_slr", "resources"}
        for name, card in board.boards().items():
            more = {"target", "reason"} if name not in board.cards() else {"available"}
            self.assertEqual({key for key in card if not key.startswith("region")}, both | more, name)

    def test_f2_is_emulated_alone(self):
        self.assertNotIn("f2", board.cards())
        self.assertEqual(board.target_fault("f2", "hw_emu"), "")
        self.assertEqual(board.target_fault("u55c", "hw"), "")
        for target in ("hw", "sw_emu"):
            fault = board.target_fault("f2", target)
            self.assertTrue(fault.startswith(f"BOARD=f2 is for TARGET=hw_emu alone, not {target}: AWS makes no"), fault)
        # Every channel is one of the 32.
        for line in board.link(board.boards()["f2"], Machine(self.place(), 2).folder).splitlines():
            if line.startswith("sp="):
                self.assertRegex(line, r":HBM\[(0:15|16:31)\]$")

    def place(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def test_clusters_lie_where_there_is_room(self):
        cards = board.boards()
        self.assertEqual(board.cluster_places(cards["u250"], 4), [(0, 0), (1, 1), (2, 2), (3, 3)])
        # Region 1, half of which the platform takes, comes last.
        self.assertEqual(board.cluster_places(cards["u200"], 4), [(0, 0), (2, 3), (1, 1), (1, 2)])
        self.assertEqual(board.cluster_places(cards["u55c"], 4), [(0, 0), (2, 1), (1, 2), (0, 3)])
        for card in board.boards().values():
            for slr, bank in board.cluster_places(card, 4):
                self.assertIn(slr, range(card["slrs"]))
                self.assertTrue(card["memory"] == "HBM" or card["bank_slr"][bank] == slr)


class Machine:
    """A machine of the set core with some clusters, as `make generate` leaves it."""

    def __init__(self, folder, clusters):
        self.folder = pathlib.Path(folder)
        (self.folder / "gramer_set_core.xml").touch()
        lines = [f"nk=gramer_set_core:{clusters}"]
        for unit in range(1, clusters + 1):
            lines += [f"sp=gramer_set_core_{unit}.bank0:DDR[{unit - 1}]", f"slr=gramer_set_core_{unit}:SLR0",
                      f"slr=gramer_fill_{unit}:SLR0"]
        (self.folder / "link.cfg").write_text("\n".join(lines) + "\n")


class Fit(unittest.TestCase):
    UNIT = {"LUT": 100000, "FF": 100000, "BRAM": 500, "URAM": 100, "DSP": 0}

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = place.name

    def faults(self, chosen, clusters, **changes):
        return fit.faults(board.boards()[chosen], Machine(self.place, clusters).folder, {**self.UNIT, **changes})

    def test_what_fits(self):
        self.assertEqual(self.faults("u200", 2), [])
        self.assertEqual(self.faults("u55c", 2, BRAM=499), [])

    def test_movers_and_the_linker_count(self):
        # (499 + 46) × 1.1 = 599.5 of 600.
        self.assertEqual(self.faults("u55c", 1, BRAM=500), ["SLR0: 101 % of BRAM"])

    def test_a_region_is_full_though_the_device_is_not(self):
        self.assertEqual(self.faults("u200", 1, URAM=300), ["SLR0: 104 % of URAM"])

    def test_two_clusters_share_a_region(self):
        self.assertIn("SLR1: 286 % of BRAM", self.faults("u200", 4))

    def test_all_regions_together(self):
        self.assertEqual(self.faults("u250", 4), ["all regions: 101 % of BRAM"])


class Pages(unittest.TestCase):
    def test_areas_are_those_of_the_tables(self):
        text = (ROOT / "docs/results/hardware/synthesis.md").read_text()
        for name, found in fit.areas().items():
            mark = "area" if name == "accelerator" else f"{name} area"
            table = text.split(f"<!-- {mark}: rewritten")[1].split("<!-- end of")[0]
            row = re.search(r"\| core: blocks × instances, and glue \| (.*) \|", table)[1]
            self.assertEqual([int(n.replace(",", "")) for n in row.split(" | ")], [found[u] for u in fit.UNITS], name)

    def test_blocks_add_up_to_the_areas(self):
        with (ROOT / "docs/results/hardware/blocks.tsv").open(newline="") as file:
            blocks = list(csv.DictReader(file, delimiter="\t"))
        # Of set-plans the table has only the blocks that set lacks.
        for name in ("accelerator", "set"):
            for unit in fit.UNITS:
                found = sum(int(row["instances"]) * float(row[unit]) for row in blocks if row["machine"] == name)
                self.assertEqual(found, fit.areas()[name][unit], (name, unit))

    def test_the_readme_says_what_fits_a_card(self):
        def cards(name, text):
            found = re.search(rf"^\| `{name}` \|.*\| (.*) \|$", text, re.M)[1]
            # The page names them in full, and in an order of its own.
            return {card.replace("Alveo ", "").replace(" (in doubt)", ""): "doubt" in card for card in found.split(", ")}

        readme = (ROOT / "README.md").read_text()
        boards = (ROOT / "docs/reference/boards.md").read_text()
        said = re.search(r"it fits (.*) and (\w+) with 16 PUs, and with 32 only (\w+), in doubt", readme)
        self.assertEqual(set(said[1].split(", ")) | {said[2]}, {card for card, doubt in cards("set", boards).items() if not doubt})
        self.assertEqual({said[3]: True}, cards("set32", boards))



if __name__ == "__main__":
    unittest.main()
