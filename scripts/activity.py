#!/usr/bin/env python3
"""Activity of the core's blocks by application: how many bits change, from waveforms.

Usage: activity.py [--machine FILE] [--cycles FIRST-LAST] [--write] [GRAPH]

Runs cliques, motifs and labelled patterns on the emulated core with a waveform, and counts the
changes of every signal once (a port that only passes a signal on is not counted again). --write
puts the table into docs/synthesis.md. There are no joules in it: no public energy of a LUT, a
register or a memory access of this family was found.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import eda

GRAMER = eda.ROOT / "target" / "release" / "gramer"
DOCUMENT = eda.ROOT / "docs" / "synthesis.md"
TASKS = {
    "cliques, k = 4": ["clique", "-k", "4"],
    "motifs, k = 4": ["motif", "-k", "4"],
    "labelled patterns, 3 vertices": ["fsm", "-k", "3", "--support", "5"],
}
# Scopes by the last instance of a path that is one of these; what is left is the core's own.
BLOCKS = {
    "i_scheduler": "scheduler", "i_extender": "extender", "i_table": "embedding table",
    "i_filter": "filter", "i_process": "process", "i_pu": "PU, the rest",
    "i_vertices": "vertex memory", "i_edges": "edge memory", "i_partition": "partition, the rest",
    "i_edge_requests": "crossbars", "i_vertex_requests": "crossbars",
    "i_edge_answers": "crossbars", "i_vertex_answers": "crossbars", "i_reader": "DDR readers",
    "i_prefetcher": "prefetcher", "i_patterns": "pattern buffer", "i_control": "control",
    "gramer_core": "core, the rest",
}


def block_of(scope: str) -> str | None:
    for part in reversed(scope.split(".")):
        if part in BLOCKS:
            return BLOCKS[part]
    return None


def changes(path: Path) -> tuple[dict, dict, int]:
    """Bits that change and bits that are there, by block, and the clocks of the waveform."""
    import pylibfst

    ffi, lib = pylibfst.ffi, pylibfst.lib
    reader = lib.fstReaderOpen(str(path).encode())
    if reader == ffi.NULL:
        eda.fail(f"{path} is no waveform")
    owner = {}
    scopes, signals = pylibfst.get_scopes_signals2(reader)
    del scopes
    for name, signal in signals.by_name.items():
        scope, _, leaf = name.rpartition(".")
        block = block_of(scope)
        if block is None or re.match(r"clk_i|ap_clk|clk$", leaf):
            continue
        # The deepest scope that does not take the signal as an input drives it.
        rank = (not re.sub(r" ?\[.*", "", leaf).endswith("_i"), scope.count("."))
        if signal.handle not in owner or rank > owner[signal.handle][0]:
            owner[signal.handle] = (rank, block, signal.length)
    last, counted, bits = {}, defaultdict(int), defaultdict(int)
    for _, block, length in owner.values():
        bits[block] += length
    first, final = lib.fstReaderGetStartTime(reader), lib.fstReaderGetEndTime(reader)

    def change(user, time, handle, value):
        del user, time
        if handle not in owner:
            return
        text = pylibfst.helpers.string(value)
        before = last.get(handle)
        last[handle] = text
        if before is not None and before != text and len(before) == len(text):
            try:
                counted[owner[handle][1]] += (int(before, 2) ^ int(text, 2)).bit_count()
            except ValueError:  # not driven yet
                pass

    lib.fstReaderSetFacProcessMaskAll(reader)
    pylibfst.fstReaderIterBlocks(reader, change)
    lib.fstReaderClose(reader)
    return counted, bits, (final - first) // 2 + 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", nargs="?", help="default: a generated one")
    parser.add_argument("--machine", default="machines/small.yaml")
    parser.add_argument("--cycles", default="1000-20999", help="window of the waveform")
    parser.add_argument("--write", action="store_true", help="rewrite docs/synthesis.md")
    options = parser.parse_args()
    if not GRAMER.exists():
        eda.fail("the command line is not built; run `make emulator`")
    rows, rates, work = [], {}, Path(tempfile.mkdtemp())
    graph = options.graph
    if graph is None:
        graph = work / "graph.gramer"
        subprocess.run([GRAMER, "graph", "generate", "rmat", "--scale", "8", "--edge-factor", "5",
                        "--seed", "1", graph], check=True, stdout=subprocess.DEVNULL)
    totals, bits = {}, {}
    for name, task in TASKS.items():
        wave = work / f"{task[0]}.fst"
        environment = dict(os.environ, GRAMER_TRACE=str(wave), GRAMER_TRACE_CYCLES=options.cycles)
        done = subprocess.run([GRAMER, "mine", *task, graph, "--device", f"emulator:{options.machine}"],
                              env=environment, text=True, capture_output=True)
        if done.returncode or not wave.exists():
            eda.fail(f"{name}: {done.stderr.strip() or 'no waveform was written'}")
        counted, bits, clocks = changes(wave)
        if not sum(counted.values()):
            eda.fail(f"{name}: nothing changes in the waveform")
        rates[name] = {b: counted[b] / clocks for b in bits}
        totals[name] = sum(counted.values()) / clocks
    rows.append(["block", "bits", *[f"{n}" for n in TASKS]])
    for block in sorted(bits, key=lambda b: -max(rates[n][b] for n in TASKS)):
        rows.append([block, f"{bits[block]:,}",
                     *[f"{rates[n][block]:.1f} ({100 * rates[n][block] / bits[block]:.2f} %)" for n in TASKS]])
    rows.append(["core", f"{sum(bits.values()):,}",
                 *[f"{totals[n]:.1f} ({100 * totals[n] / sum(bits.values()):.2f} %)" for n in TASKS]])
    import synth
    text = synth.table(rows)
    print(text)
    if options.write:
        synth.rewrite({"activity": text})
    return 0


if __name__ == "__main__":
    sys.exit(main())
