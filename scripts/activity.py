#!/usr/bin/env python3
"""Activity of the core's blocks by application: how many bits change, from waveforms.

Usage: activity.py [--machine FILE] [--cycles FIRST-LAST] [--write] [--check] [GRAPH]

Runs cliques, motifs and labelled patterns on the simulated core with a waveform of some thousand
clocks, and counts the changes of every signal once (a port that only passes a signal on is not
counted again). The graph, citeseer of GRAMER_DATA if none is given, needs labels. --write puts the
table into docs/synthesis.md, --check tests the reader of waveforms alone. There are no joules in it:
no public energy of a LUT, a register or a memory access of this family was found.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import eda
import synth

SIMULATOR = eda.ROOT / "target" / "release" / "gramer-sim"
TASKS = {
    "4-CF": ["clique", "-k", "4"],
    "4-MC": ["motif", "-k", "4"],
    "3-FSM": ["fsm", "-k", "3", "--support", "500"],
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
CLOCKS = ("clk_i", "ap_clk")


def block_of(scope: str) -> str | None:
    for part in reversed(scope.split(".")):
        if part in BLOCKS:
            return BLOCKS[part]
    return None


def owners(signals) -> dict:
    """The block and the bits of each signal, by its handle. It has many names; the deepest that is
    no input is its driver's. Of an array of structs, a field is a signal."""
    found = {}
    for name, signal in signals.items():
        scope, _, leaf = name.rpartition(".")
        block = block_of(scope)
        leaf = leaf.split("[")[0].strip()
        if block is None or leaf in CLOCKS:
            continue
        inside = any(part.split("[")[0].strip().endswith("_i") for part in (leaf, scope.split(".")[-1]))
        rank = (not inside, scope.count("."))
        if signal.handle not in found or rank > found[signal.handle][0]:
            found[signal.handle] = (rank, block, signal.length)
    return {handle: (block, length) for handle, (_, block, length) in found.items()}


def changes(path: Path) -> tuple[dict, dict]:
    """Of each block, by its name: bits that change in all of a waveform, and bits that are there."""
    import pylibfst

    ffi, lib = pylibfst.ffi, pylibfst.lib
    reader = lib.fstReaderOpen(str(path).encode())
    if reader == ffi.NULL:
        eda.fail(f"{path} is no waveform")
    _, signals = pylibfst.get_scopes_signals2(reader)
    owner = owners(signals.by_name)
    bits = defaultdict(int)
    for block, length in owner.values():
        bits[block] += length
    last: dict[int, int] = {}
    counted = defaultdict(int)

    def change(_user, _time, handle, value):
        if handle not in owner:
            return
        try:
            now = int(ffi.string(value), 2)
        except ValueError:  # not driven
            last.pop(handle, None)
            return
        before = last.get(handle)
        last[handle] = now
        if before is not None:
            counted[owner[handle][0]] += (before ^ now).bit_count()

    lib.fstReaderSetFacProcessMaskAll(reader)
    pylibfst.fstReaderIterBlocks(reader, change)
    lib.fstReaderClose(reader)
    return dict(counted), dict(bits)


def rows_of(measured: dict, clocks: int) -> list:
    """The table: of each task the bits that change in a clock, by block."""
    bits = next(iter(measured.values()))[1]
    rows = [["block", "bits = 100 %", *measured]]

    def row(name, there, counts):
        rows.append([name, f"{there:,}",
                     *(f"{c / clocks:,.1f} ({100 * c / clocks / there:.2f} %)" for c in counts)])

    for block in sorted(bits, key=lambda b: -max(c.get(b, 0) for c, _ in measured.values())):
        row(block, bits[block], [c.get(block, 0) for c, _ in measured.values()])
    row("core", sum(bits.values()), [sum(c.values()) for c, _ in measured.values()])
    return rows


def check() -> int:
    """The reader against a waveform whose changes are known."""
    import pylibfst

    lib = pylibfst.lib
    with tempfile.TemporaryDirectory() as work:
        path = Path(work) / "known.fst"
        writer = lib.fstWriterCreate(str(path).encode(), 1)

        def scope(name):
            lib.fstWriterSetScope(writer, lib.FST_ST_VCD_MODULE, name.encode(), pylibfst.ffi.NULL)

        def variable(name, width, alias=0):
            return lib.fstWriterCreateVar(writer, lib.FST_VT_VCD_WIRE, lib.FST_VD_IMPLICIT, width,
                                          name.encode(), alias)
        scope("gramer_core")
        clock = variable("clk_i", 1)
        state = variable("state_q", 2)
        scope("i_pu")
        scope("i_scheduler")
        issue = variable("issue_o [7:0]", 8)
        lib.fstWriterSetUpscope(writer)
        scope("i_extender")
        variable("clk_i", 1, clock)
        variable("issue_i [7:0]", 8, issue)  # the scheduler's
        lib.fstWriterSetUpscope(writer)
        lib.fstWriterSetUpscope(writer)
        lib.fstWriterSetUpscope(writer)
        for time in range(4):
            lib.fstWriterEmitTimeChange(writer, time)
            lib.fstWriterEmitValueChange(writer, clock, str(time % 2).encode())
            lib.fstWriterEmitValueChange(writer, state, (b"00", b"00", b"01", b"10")[time])
            lib.fstWriterEmitValueChange(writer, issue, (b"xxxxxxxx", b"00000000", b"11110000",
                                                         b"11111111")[time])
        lib.fstWriterClose(writer)
        measured = changes(path)
    assert measured == ({"core, the rest": 3, "scheduler": 8}, {"core, the rest": 2, "scheduler": 8}), measured
    assert rows_of({"a task": measured}, 2)[1:] == [
        ["scheduler", "8", "4.0 (50.00 %)"], ["core, the rest", "2", "1.5 (75.00 %)"],
        ["core", "10", "5.5 (55.00 %)"]], rows_of({"a task": measured}, 2)
    print("activity.py: the reader of waveforms is right")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", nargs="?", type=Path, help="with labels; default: citeseer")
    parser.add_argument("--machine", default="accelerator.yaml")
    parser.add_argument("--cycles", default="3000-4999", metavar="FIRST-LAST",
                        help="clocks of each run in the waveform; the scratchpads are loaded by then")
    parser.add_argument("--write", action="store_true", help="rewrite docs/synthesis.md")
    parser.add_argument("--check", action="store_true", help="test the reader of waveforms")
    options = parser.parse_args()
    if options.check:
        return check()
    if not SIMULATOR.exists():
        eda.fail("the simulator is not built; run `make simulator`")
    graph = options.graph or Path(os.environ.get("GRAMER_DATA", "")) / "citeseer" / "citeseer.lg"
    if not graph.is_file():
        eda.fail(f"there is no graph {graph}: set GRAMER_DATA, or name one")
    first, last = (int(n) for n in options.cycles.split("-"))
    measured = {}
    with tempfile.TemporaryDirectory() as work:
        for name, task in TASKS.items():
            wave = Path(work) / f"{task[0]}.fst"
            done = subprocess.run([SIMULATOR, *task, graph, "--machine", options.machine,
                                   "--trace", wave, "--trace-cycles", options.cycles],
                                  cwd=eda.ROOT, text=True, capture_output=True)
            if done.returncode or not wave.exists():
                eda.fail(f"{name}: {done.stderr.strip() or 'no waveform was written'}")
            measured[name] = changes(wave)
            if not measured[name][0]:
                eda.fail(f"{name}: nothing changes in clocks {options.cycles}; the run is shorter")
            print(f"  {name}: waveform of {wave.stat().st_size >> 10} KiB counted", file=sys.stderr,
                  flush=True)
    text = synth.table(rows_of(measured, last - first + 1))
    print(text)
    if options.write:
        state = (f"Machine `{Path(options.machine).stem}`, {graph.stem}, clocks {first:,} to {last:,} of each "
                 f"run, RTL and YAML `{synth.fingerprint(Path(options.machine).stem)}`.")
        synth.rewrite({"activity": state + "\n\n" + text})
    return 0


if __name__ == "__main__":
    sys.exit(main())
