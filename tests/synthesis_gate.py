#!/usr/bin/env python3
"""The gate of synthesis: nine levels fail and eight pass, a memory of flip-flops fails, a block is synthesised again
exactly if its sources changed, and no path leads from an input of a core to an output without a register.

Usage: .venv/bin/python tests/synthesis_gate.py (after `make generate`). Exit code 1 if it fails.
"""

import sys
import tempfile
import types
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
import eda  # noqa: E402
import rtl_files  # noqa: E402
from hardware import depth, synth  # noqa: E402


def chain(levels: int) -> dict:
    """A netlist as Yosys writes it: a register, a number of LUTs in a row, a register."""
    def cell(kind, inputs, outputs):
        return {"type": kind, "connections": {**inputs, **outputs},
                "port_directions": {**dict.fromkeys(inputs, "input"), **dict.fromkeys(outputs, "output")}}
    cells = {"first": cell("FDRE", {"C": [2], "D": [3]}, {"Q": [10]})}
    for at in range(levels):
        cells[f"lut{at}"] = cell("LUT1", {"I0": [10 + at]}, {"O": [11 + at]})
    cells["last"] = cell("FDRE", {"C": [2], "D": [10 + levels]}, {"Q": [4]})
    names = {"from_q": {"bits": [10]}, "to_q": {"bits": [4]}}
    return {"ports": {"clk_i": {"direction": "input", "bits": [2]},
                      "d_i": {"direction": "input", "bits": [3]},
                      "q_o": {"direction": "output", "bits": [4]}},
            "cells": cells, "netnames": names}


def reached(machine: str, core: str, top: str, change=("", "", "")) -> list:
    """Outputs of a core that depend on an input of the same cycle, which AXI4 forbids (IHI0022, A3.1.1). One source may
    be changed: its name, a text, what stands there instead."""
    registers = ",".join(f"-${kind}" for kind in ("dff", "adff", "sdff", "dffe", "sdffe", "sdffce", "mem_v2", "memwr_v2"))
    files = [eda.machine(machine) / "gramer_pkg.sv", *(eda.ROOT / file for file in rtl_files.files(core))]
    with tempfile.TemporaryDirectory() as work:
        for file in files:
            text = file.read_text()
            if file.name == change[0]:
                assert change[1] in text, change
                text = text.replace(change[1], change[2])
            (Path(work) / file.name).write_text(text)
        eda.yosys(f"read_slang -j 1 --allow-use-before-declare -D SYNTHESIS --top {top} "
                  f"{' '.join(file.name for file in files)}; hierarchy -top {top}; proc; flatten; opt_clean; "
                  f"select -write reached i:* %co*:{registers} o:* %i", Path(work))
        return (Path(work) / "reached").read_text().split()


def check_ports():
    for machine, core, top in (("small", "paper", "gramer_core"), ("set-small", "set", "gramer_set_core")):
        assert reached(machine, core, top) == [], (core, reached(machine, core, top))
    broken = ("gramer_control.sv", "assign interrupt_o = ", "assign interrupt_o = wvalid_i && ")
    assert reached("small", "paper", "gramer_core", broken) == ["gramer_core/interrupt"]


def main() -> int:
    check_ports()
    key = ("block", ())
    modules = {key: eda.Module(*key)}
    for levels in (1, synth.LEVELS, synth.LEVELS + 1, 20):
        model = depth.Netlist(chain(levels)).model()
        text, faults = synth.depth_table(modules, {key: model})
        assert model.worst[0][0] == levels, model.worst
        assert f"| block | {levels} | `from_q` | `to_q` | {levels} LUT |" in text, text
        assert bool(faults) == (levels > 8), (levels, faults)
        if faults:
            assert faults == [f"block: {levels} levels from from_q to to_q: {levels} LUT"], faults

    # What is written down is found again; a change of a module changes its own hash and that of blocks
    # that it is a part of, and of nothing else. A comment changes none.
    folder = eda.machine("accelerator")
    modules = eda.hierarchy(folder)
    every = eda.blocks(modules)

    # A memory that has become flip-flops.
    key = next(key for key in every if key[0] == "gramer_onchip_memory")
    memory = types.SimpleNamespace(memories=lambda: {"i_pad.mem": "flip-flops"})
    faults = synth.memory_faults(modules, modules[key], memory)
    assert any("i_pad.mem is flip-flops, not block or ultra" in fault for fault in faults), faults

    def digests():
        return {key: eda.Inputs(folder, modules, key).digest for key in every}

    before = digests()
    text = synth.HEAD + synth.record("accelerator", modules, before, {})
    assert not synth.recorded(text, "set")
    assert synth.recorded(text, "accelerator") == {modules[key].title: digest for key, digest in before.items()}
    sources, module = eda.sources, "gramer_miss_unit"
    for add, some in ((" // a comment\n", False), ("\nwire more;\n", True)):
        class Changed:
            def __init__(self, path):
                self.path = path

            def read_text(self):
                return self.path.read_text().replace(");", ");" + add, 1)

        eda.sources = lambda folder: {name: Changed(path) if name == module else path
                                      for name, path in sources(folder).items()}
        changed = {key[0] for key, digest in digests().items() if digest != before[key]}
        eda.sources = sources
        assert changed == ({"gramer_onchip_memory"} if some else set()), changed

    # Only used items of a package matter.
    package = "package p;\nimport q::*;\nlocalparam int A = 1; // one\nlocalparam int B = A + 1;\n" \
              "typedef enum logic {ON, OFF} e;\ntypedef struct packed { logic [B-1:0] b; } s;\n" \
              "function automatic logic f(input logic x);\n  return x;\nendfunction\n" \
              "localparam int C = 3;\nendpackage\n"
    for use, names in (("wire x;", ""), ("s x;", "ABs"), ("x = ON;", "e"), ("x = f(C);", "fC")):
        kept = [text for text in eda.needed([package], [use]) if not text.startswith("import")]
        assert len(kept) == len(names) and all(name in text for name, text in zip(names, kept)), (use, kept)
    ours, others = (set(synth.digests_of(eda.machine(name)).values()) for name in ("set", "set-plans"))
    assert len(ours & others) > 10, "set-plans has hardly a block of set"

    print(f"synthesis gate: {len(every)} blocks, {synth.LEVELS} levels pass, {synth.LEVELS + 1} fail")
    return 0


if __name__ == "__main__":
    sys.exit(main())
