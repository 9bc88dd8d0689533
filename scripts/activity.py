#!/usr/bin/env python3
"""Activity of the core's blocks by application: how many bits change, from waveforms.

Usage: activity.py [--machine FILE] [--clocks N] [--write] [--check] [GRAPH]

Runs cliques, motifs and labelled patterns on the simulated core with a waveform of some thousand
clocks, and counts the changes of every signal once (a port that only passes a signal on is not
counted again). The graph, citeseer of GRAMER_DATA if none is given, needs labels. --write puts the
table into docs/synthesis.md, --check tests the reader of waveforms alone. There are no joules in it:
no public energy of a LUT, a register or a memory access of this family was found.
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
import synth

SIMULATOR = eda.ROOT / "target" / "release" / "gramer-sim"
# And the first clock of the waveform: the scratchpads are loaded by then, and for labelled patterns (of
# which it is the first pass) the dictionary. None of the runs on citeseer is over.
TASKS = {
    "4-CF": (["clique", "-k", "4"], 3000),
    "4-MC": (["motif", "-k", "4"], 3000),
    "3-FSM": (["fsm", "-k", "3", "--support", "500"], 35000),
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
# What comes from the simulated memory and host, and is passed on without a register: where it is not
# valid it is random, so that nobody relies on it.
OUTSIDE = re.compile(r"[ms]_axi.*|r(data|id|resp|last)_i|wdata_i|fill_line.*|word(_[io])?|error_address.*")


def block_of(scope: str) -> str | None:
    for part in reversed(scope.split(".")):
        if part in BLOCKS:
            return BLOCKS[part]
    return None


def owners(signals) -> dict:
    """Of each signal, by its handle: whether it is more than an input, its depth, its block, its bits.
    It may have many names; the deepest that is no input is its driver's."""
    found, left_out = {}, set()
    for name, signal in signals.items():
        scope, _, leaf = name.rpartition(".")
        # A field of a structure lies in a scope of the structure's name.
        names = [part.split("[")[0].strip() for part in (leaf, scope.rpartition(".")[2])]
        block = block_of(scope)
        if OUTSIDE.fullmatch(names[0]):
            left_out.add(signal.handle)
        # No clocks, no parameters, no variables of loops.
        if block is None or names[0] in CLOCKS or names[0].isupper() or "unnamedblk" in scope:
            continue
        driven = not any(n.endswith("_i") for n in names)
        rank = (driven, scope.count("."))
        if signal.handle not in found or rank > found[signal.handle][0]:
            found[signal.handle] = (rank, block, signal.length)
    return {handle: what for handle, what in found.items() if handle not in left_out}


def history(path: Path) -> tuple[dict, dict]:
    """The signals of a waveform, and of those that change how many bits do and a hash of when and how."""
    import pylibfst

    ffi, lib = pylibfst.ffi, pylibfst.lib
    reader = lib.fstReaderOpen(str(path).encode())
    if reader == ffi.NULL:
        eda.fail(f"{path} is no waveform")
    _, signals = pylibfst.get_scopes_signals2(reader)
    owner = owners(signals.by_name)
    last: dict[int, int] = {}
    changed: dict[int, tuple[int, int]] = {}

    def change(_user, time, handle, value):
        if handle not in owner:
            return
        try:
            now = int(ffi.string(value), 2)
        except ValueError:  # not driven
            last.pop(handle, None)
            return
        before = last.get(handle)
        last[handle] = now
        if before is not None and before != now:
            count, seen = changed.get(handle, (0, 0))
            changed[handle] = count + (before ^ now).bit_count(), hash((seen, time, now))

    lib.fstReaderSetFacProcessMaskAll(reader)
    pylibfst.fstReaderIterBlocks(reader, change)
    lib.fstReaderClose(reader)
    return owner, changed


def blocks(owner: dict, histories: list) -> tuple[dict, list]:
    """Of each block its bits, and the bits that change in each history. Signals that change alike in
    all of them are one, which the model keeps under several handles where a module is not inlined;
    an input that never changes is its driver's."""
    one: dict = {}
    for handle, (rank, block, length) in owner.items():
        if any(handle in changed for changed in histories):
            key = (length, *(changed.get(handle, (0, 0)) for changed in histories))
        elif rank[0]:
            key = handle
        else:
            continue
        if key not in one or rank > one[key][0]:
            one[key] = (rank, block, length, handle)
    bits: dict = defaultdict(int)
    counts = [defaultdict(int) for _ in histories]
    for _, block, length, handle in one.values():
        bits[block] += length
        for counted, changed in zip(counts, histories):
            counted[block] += changed.get(handle, (0, 0))[0]
    return dict(bits), [dict(c) for c in counts]


def rows_of(tasks: list, bits: dict, counts: list, clocks: int) -> list:
    """The table: of each task the bits that change in a clock, by block."""
    rows = [["block", "bits = 100 %", *tasks]]

    def row(name, there, numbers):
        rows.append([name, f"{there:,}",
                     *(f"{n / clocks:,.1f} ({100 * n / clocks / there:.2f} %)" for n in numbers)])

    for block in sorted(bits, key=lambda b: -max(c[b] for c in counts)):
        row(block, bits[block], [c[block] for c in counts])
    row("core", sum(bits.values()), [sum(c.values()) for c in counts])
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
        variable("STATE_W [31:0]", 32)
        state = variable("state_q", 2)
        scope("i_pu")
        scope("i_scheduler")
        issue = variable("issue_o [7:0]", 8)
        lib.fstWriterSetUpscope(writer)
        scope("i_extender")
        variable("clk_i", 1, clock)
        variable("issue_i [7:0]", 8, issue)  # the scheduler's
        copy = variable("given_i", 2)        # the core's state, under another handle
        still = variable("never_i", 4)
        noise = variable("rdata_i [1:0]", 2)
        lib.fstWriterSetUpscope(writer)
        lib.fstWriterSetUpscope(writer)
        lib.fstWriterSetUpscope(writer)
        for time in range(4):
            lib.fstWriterEmitTimeChange(writer, time)
            states = (b"00", b"00", b"01", b"10")
            for handle, value in ((clock, b"01"[time % 2:][:1]), (state, states[time]),
                                  (copy, states[time]), (still, b"1010"), (noise, states[-time]),
                                  (issue, (b"xxxxxxxx", b"00000000", b"11110000", b"11111111")[time])):
                lib.fstWriterEmitValueChange(writer, handle, value)
        lib.fstWriterClose(writer)
        owner, changed = history(path)
    bits, counts = blocks(owner, [changed])
    assert bits == {"core, the rest": 2, "scheduler": 8}, bits
    assert counts == [{"core, the rest": 3, "scheduler": 8}], counts
    rows = rows_of(["a task"], bits, counts, 2)
    assert rows[1:] == [["scheduler", "8", "4.0 (50.00 %)"], ["core, the rest", "2", "1.5 (75.00 %)"],
                        ["core", "10", "5.5 (55.00 %)"]], rows
    print("activity.py: the reader of waveforms is right")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", nargs="?", type=Path, help="with labels; default: citeseer")
    parser.add_argument("--machine", default="accelerator.yaml")
    parser.add_argument("--clocks", type=int, default=2000, help="in each waveform")
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
    histories: dict = {}
    owner = None
    with tempfile.TemporaryDirectory() as work:
        for name, (task, first) in TASKS.items():
            window = f"{first}-{first + options.clocks - 1}"
            wave = Path(work) / f"{task[0]}.fst"
            done = subprocess.run([SIMULATOR, *task, graph, "--machine", options.machine,
                                   "--trace", wave, "--trace-cycles", window],
                                  cwd=eda.ROOT, text=True, capture_output=True)
            if done.returncode or not wave.exists():
                eda.fail(f"{name}: {done.stderr.strip() or 'no waveform was written'}")
            print(f"  {name}: a waveform of {wave.stat().st_size >> 10} KiB", file=sys.stderr, flush=True)
            signals, histories[name] = history(wave)
            if owner not in (None, signals):
                eda.fail(f"{name}: the waveform has other signals than the one before")
            owner = signals
    bits, counts = blocks(owner, list(histories.values()))
    for (name, (_, first)), counted in zip(TASKS.items(), counts):
        if not counted.get("scheduler"):
            eda.fail(f"{name}: nothing is extended in the {options.clocks} clocks from {first}: the run is "
                     "shorter, or still loads")
    text = synth.table(rows_of(list(histories), bits, counts, options.clocks))
    print(text)
    if options.write:
        state = (f"Machine `{Path(options.machine).stem}`, {graph.stem}, {options.clocks:,} clocks of each "
                 f"run, RTL and YAML `{synth.fingerprint(Path(options.machine).stem)}`.")
        synth.rewrite({"activity": state + "\n\n" + text})
    return 0


if __name__ == "__main__":
    sys.exit(main())
