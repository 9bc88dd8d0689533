#!/usr/bin/env python3
"""What registers between the regions of a die cost, in cycles (rewrites docs/hardware/slr-cycles.md).

Each task of TASKS runs on the paper's machine with 0, 1 and 2 `slr_registers`, in descending order. The
counts must be the same with all of them. Some minutes, most of them for the models of three machines.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target/slr"
REPORT = ROOT / "docs/hardware/slr-cycles.md"
REGISTERS = (0, 1, 2)
TASKS = [
    ("3-MC citeseer", "motif", 3, "citeseer/citeseer.edgelist"),
    ("4-MC citeseer", "motif", 4, "citeseer/citeseer.edgelist"),
    ("3-CF p2p-gnutella08", "clique", 3, "p2p-gnutella08/p2p-gnutella08.txt.zst"),
]


def measured(program, data, registers, task, k, graph):
    """The cycles of a task, and its results."""
    machine = WORK / f"slr{registers}.yaml"
    machine.write_text(f"base: {ROOT}/accelerator.yaml\n"
                       f"machine: {{name: paper_slr{registers}, slr_registers: {registers}}}\n")
    command = [program, "--machine", machine, "--json", task, data / graph, "-k", str(k)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"slr_cycles: {' '.join(map(str, command))} failed")
    said = json.loads(done.stdout)
    return said["cycles"], said["results"]


def main():
    if len(sys.argv) != 3:
        raise SystemExit("usage: scripts/slr_cycles.py GRAMER_SIM DATA")
    program, data = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    WORK.mkdir(parents=True, exist_ok=True)
    rows = []
    for title, task, k, graph in TASKS:
        runs = [measured(program, data, registers, task, k, graph) for registers in REGISTERS]
        (least, results), *others = runs
        if any(other != results for _, other in others):
            raise SystemExit(f"slr_cycles: the counts of {title} differ")
        cells = [f"{least:,}"] + [f"{cycles:,} ({cycles / least - 1:+.1%})".replace("%", " %") for cycles, _ in others]
        rows.append(f"| {title} | " + " | ".join(cells) + " |")
    text = ("# Registers between regions: cycles\n\n"
            "Written by `make slr-cycles`: cycles of the paper's machine in descending order, by its `slr_registers`\n"
            "([rtl.md](rtl.md)). With each the counts are the same. Citeseer is read from its list of edges here, which has\n"
            "no vertices without edges, and from `citeseer.lg` in cycles.md, which has 48: the cycles differ a little.\n\n"
            "| task | " + " | ".join(map(str, REGISTERS)) + " |\n" + "|---" * (1 + len(REGISTERS)) + "|\n"
            + "\n".join(rows) + "\n")
    part = REPORT.with_suffix(".part")
    part.write_text(text)
    part.rename(REPORT)
    print(text)


if __name__ == "__main__":
    main()
