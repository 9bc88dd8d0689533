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


def main() -> int:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print("error: summary.py wants the folder of a build", file=sys.stderr)
        return 2
    build = Path(sys.argv[1])
    binary = build / "gramer.xclbin"
    print(f"binary       {binary.name}, {binary.stat().st_size:,} bytes" if binary.exists()
          else "binary       none")
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
    for report in sorted(build.rglob("*.rpt")):
        print(f"report       {report.relative_to(build)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
