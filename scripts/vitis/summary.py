#!/usr/bin/env python3
"""Puts the reports of a build with Vitis into one page: summary.py BUILD."""

import re
import sys
from pathlib import Path


def slack(text: str):
    """WNS, failing endpoints and WHS of report_timing_summary, or None."""
    found = re.search(r"WNS\(ns\)\s+TNS\(ns\).*?\n[\s-]+\n\s*(\S+)\s+(\S+)\s+(\d+)\s+\d+\s+(\S+)", text)
    return (float(found[1]), int(found[3]), float(found[4])) if found else None


def used(text: str, kernel: str):
    """Total LUTs, FFs, RAMB36, RAMB18, URAM and DSP of a kernel in a hierarchical utilization report."""
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in text.splitlines() if line.count("|") > 8]
    if not rows:
        return None
    head = rows[0]
    for row in rows[1:]:
        if row[0] == kernel:
            values = dict(zip(head, row))
            return {name: values.get(name, "?") for name in
                    ("Total LUTs", "FFs", "RAMB36", "RAMB18", "URAM", "DSP Blocks")}
    return None


def regions(text: str) -> dict:
    """Percent of each region (SLR) by resource, of the table that report_utilization -slr writes."""
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in text.splitlines() if line.count("|") > 3]
    heads = [at for at, row in enumerate(rows) if row[0] == "Site Type" and "SLR0 %" in row]
    found = {}
    for at in heads[:1]:
        shares = [n for n, name in enumerate(rows[at]) if re.fullmatch(r"SLR\d+ %", name)]
        for row in rows[at + 1:]:
            if len(row) == len(rows[at]) and row[0] in ("CLB LUTs", "CLB Registers", "Block RAM Tile", "URAM", "DSPs"):
                found.setdefault(row[0], [row[n] for n in shares])
    return found


def failing(text: str) -> list:
    """Slack, source and destination of the paths of a timing report that miss the clock, the worst first."""
    paths = re.findall(r"Slack \(VIOLATED\) :\s+(-[\d.]+)ns.*?Source:\s+(\S+).*?Destination:\s+(\S+)", text, re.S)
    return sorted((float(slack), begin, end) for slack, begin, end in paths)


def constraints(build: Path) -> list:
    """What the floorplan wrote into the logs: the cells that it did not find, and how many of both."""
    lines = set()
    for log in build.rglob("*.log"):
        lines |= set(re.findall(r"(?m)^(?:WARNING: )?gramer: .*$", log.read_text(errors="replace")))
    return sorted(lines)


def main() -> int:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print("error: summary.py wants the folder of a build", file=sys.stderr)
        return 2
    build = Path(sys.argv[1])
    binary = build / "gramer.xclbin"
    print(f"binary       {binary.name}, {binary.stat().st_size:,} bytes" if binary.exists()
          else "binary       none")
    retried = build / "clock.txt"
    if retried.exists():
        wanted, given = retried.read_text().split()
        print(f"clock        LOWER: linked for {given} MHz, since linking for {wanted} MHz, the machine's clock, failed")
    for report in sorted(build.rglob("timing.rpt")):
        found = slack(report.read_text(errors="replace"))
        if found:
            verdict = "met" if found[0] >= 0 and found[2] >= 0 else "NOT MET"
            print(f"clock        {verdict}: worst slack {found[0]} ns, {found[1]} ends fail, hold {found[2]} ns")
    for report in sorted(build.rglob("utilization.rpt")):
        text = report.read_text(errors="replace")
        for kernel in ("gramer_core_1", "gramer_set_core_1", "gramer_fill_1", "gramer_drain_1"):
            found = used(text, kernel)
            if found:
                print(f"{kernel:<13}" + ", ".join(f"{n} {v}" for n, v in found.items()))
    for report in sorted(build.rglob("regions.rpt")):
        for resource, shares in regions(report.read_text(errors="replace")).items():
            print(f"regions      {resource}: " + ", ".join(f"SLR{n} {share} %" for n, share in enumerate(shares)))
    for line in constraints(build):
        print(f"floorplan    {line.replace('gramer: ', '', 1)}")
    for report in sorted(build.rglob("timing.rpt")):
        for path in failing(report.read_text(errors="replace"))[:10]:
            print("fails        {} ns, from {} to {}".format(*path))
    for report in sorted(build.rglob("*.rpt")):
        print(f"report       {report.relative_to(build)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
