"""Energy of the cores, an estimate: counted activity times published energies (docs/results/hardware/energy.md and energy.tsv).

Usage: scripts/hardware.py energy [--machine NAME]... [--report]

Each task runs on a model that counts how often registers, outputs and distributed memories toggle and how often block memories
are enabled (sim/shim/activity.cpp). A block of `make synth` has its area from docs/results/hardware/blocks.tsv; its flip-flops
toggle as often as its registers in the model, its LUTs as often as its registers and outputs together. Energies are those of
constraints/energy.tsv, least and most. Counts must be those of the CPU engine. Runs whose model has not changed are kept in
target/energy once they have passed all checks; --report runs nothing and writes what is kept. GRAMER and GRAMER_LAB name the
programs where they aren't in target/release.
"""

import argparse
import collections
import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import board
from built import BUILT, ROOT
from hardware import energies

WORK = ROOT / "target" / "energy"
PAGE = ROOT / "docs" / "results" / "hardware" / "energy.md"
BLOCKS = PAGE.with_name("blocks.tsv")
FILES = {
    "citeseer": "citeseer/citeseer.lg",
    "p2p-gnutella08": "p2p-gnutella08/p2p-gnutella08.txt.zst",
    "ca-astroph": "ca-astroph/ca-AstroPh.txt.zst",
}
# By machine: its file, tasks and graphs. The set core loads the image in the run, as the paper's core does.
ROWS = {
    "accelerator": ("accelerator.yaml", [
        ("3-CF", "citeseer"), ("3-MC", "citeseer"), ("3-CF", "p2p-gnutella08"), ("3-MC", "p2p-gnutella08"), ("4-MC", "citeseer"),
        ("3-CF", "ca-astroph")]),
    "set": ("machines/set.yaml", [
        ("3-CF", "citeseer"), ("4-MC", "citeseer"), ("4-MC", "p2p-gnutella08"),
        ("3-CF", "ca-astroph"), ("5-CF", "ca-astroph"), ("4-MC", "ca-astroph")]),
}
KINDS = {"CF": "clique", "MC": "motif"}
# Watts that the paper's ratios of energy and time imply of its design. Its CPU takes 120 W (thermal design power); against
# RStream it takes up to 678.34 times less energy (figure 11a) and 129.95 times less time. CPU_WATTS and POWER_RATIO in
# host/laboratory/src/paper/performance.rs are the same.
PAPER_WATTS = 120 / (678.34 / 129.95)
LINE = 512  # bits of a line in DRAM
DEVICE = "u250"  # constraints/boards.yaml: the paper's device, whose static power counts


class Run(collections.namedtuple("Run", "clocks variables")):
    """A run of one core: its clocks, and of each variable path, name, dimensions, toggles, changes and ones."""


def sections(text: str) -> list[Run]:
    """The runs of a file of a model's activity."""
    runs = []
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split("\t")
        if parts[0] == "clocks" and len(parts) == 2:
            runs.append(Run(int(parts[1]), []))
        elif len(parts) == 6 and runs:
            dimensions = [int(d) for d in parts[2].split("x")]
            runs[-1].variables.append((parts[0].removeprefix("core."), parts[1], dimensions, *map(int, parts[3:])))
        else:
            raise ValueError(f"line {number} of the model's activity is no variable: {line[:80]!r}")
    return runs


def counter_toggles(first: int, last: int) -> int:
    """Toggles of a binary counter that counts from `first` to `last`: to n from 0 it makes 2n less the ones of n."""
    return 2 * (last - first) - last.bit_count() + first.bit_count()


def miscounted(run: Run, cycles: int) -> str | None:
    """What is wrong with a run's activity: its counter of cycles goes from 1 up and back to 1, bit by bit as by hand."""
    found = [v for v in run.variables if v[1] == "cycles_q" and "." not in v[0]]
    if len(found) != 1:
        return f"{len(found)} counters of cycles, not 1"
    _, _, _, toggles, changes, _ = found[0]
    # With the step back to 1 it changes as often as its largest value says, else once less.
    for largest, back in ((changes, True), (changes + 1, False)):
        byhand = counter_toggles(1, largest) + back * (largest ^ 1).bit_count()
        if byhand == toggles and cycles <= largest <= run.clocks:
            return None
    return f"the counter of {cycles} cycles changed {changes} times and toggled {toggles} bits"


class Sizes(collections.namedtuple("Sizes", "units banks hertz")):
    """Numbers of a machine: compute units, banks of DRAM, and clock."""

    @classmethod
    def of(cls, machine: str):
        import eda
        from hardware import synth

        folder = eda.machine(machine)
        megahertz = re.search(r"\bclock_mhz: (\d+)", (folder / "machine.yaml").read_text())
        return cls(synth.units(machine), board.banks(folder), 1e6 * int(megahertz[1]))


class Core:
    """Blocks of a machine: which of them a scope of the model belongs to, their areas, and their memories
    (`energies.memories`)."""

    def __init__(self, title_of: dict, module_of: dict, areas: dict, distributed: set, memories: dict):
        self.title_of, self.module_of, self.areas, self.distributed = title_of, module_of, areas, distributed
        self.memories = memories

    @classmethod
    def of(cls, machine: str):
        import eda
        from hardware import synth

        modules = eda.hierarchy(eda.machine(machine))
        blocks = set(eda.blocks(modules))
        module_of = {path: module.name for module in modules.values() for path in module.paths}
        own = {path: synth.name_of(module) for key, module in modules.items() if key in blocks for path in module.paths}
        title_of = {}
        for path in module_of:
            at = path
            while at not in own:
                at = at.rpartition(".")[0]
            title_of[path] = own[at]
        styles = synth.styles()
        distributed = {(module, name) for module, names in styles.items()
                       for name, style in names.items() if style == "distributed"}
        return cls(title_of, module_of, areas_of(machine), distributed, energies.memories(machine))

    def instance(self, scope: str) -> str:
        """The instance of a scope, which may be a generate block in it."""
        while scope and scope not in self.module_of:
            scope = scope.rpartition(".")[0]
        return scope


def areas_of(machine: str) -> dict[str, dict[str, float]]:
    """Area of all instances of each block of a machine, by its title."""
    head, *rows = [line.split("\t") for line in BLOCKS.read_text().splitlines()]
    areas = {}
    for row in rows:
        row = dict(zip(head, row))
        if row["machine"] == machine:
            areas[row["block"]] = {u: int(row["instances"]) * float(row[u]) for u in ("LUT", "FF", "BRAM", "URAM", "DSP")}
    return areas


def ram_luts(dimensions: list[int]) -> int:
    """LUTs of a distributed memory: RAM32M16 has 14 bits of 32 words in eight LUTs, RAM64M8 has 7 bits of 64."""
    *bits, words = dimensions
    bits = math.prod(bits)
    return 8 * math.ceil(bits / 14) if words <= 32 else 8 * math.ceil(bits / 7) * math.ceil(words / 64)


def activity(core: Core, run: Run) -> dict:
    """Activity of a run: per block toggles and bits of registers and of all signals; writes of distributed memories in LUTs;
    accesses of block memories, by kind, least and most blocks.

    Raises Fault if a memory's enable is not in the model."""
    found = {"clocks": run.clocks, "registers": collections.Counter(), "register_bits": collections.Counter(),
             "signals": collections.Counter(), "signal_bits": collections.Counter(), "ram_luts": 0, "ram_writes": 0,
             "BRAM": [0, 0], "URAM": [0, 0]}
    matched = set()

    def access(title, module, name, times):
        key = title, module, name
        if key in core.memories:
            matched.add(key)
            for kind, least, most in core.memories[key]:
                found[kind][0] += times * least
                found[kind][1] += times * most

    for scope, name, dimensions, toggles, changes, ones in run.variables:
        path = core.instance(scope)
        if not path:
            continue
        module, title = core.module_of[path], core.title_of[path]
        access(title, module, name, ones)
        if (module, name) in core.distributed:
            luts = ram_luts(dimensions)
            found["ram_luts"] += luts
            found["ram_writes"] += luts * changes
        elif name.endswith(("_q", "_o")):
            bits = math.prod(dimensions)
            found["signals"][title] += toggles
            found["signal_bits"][title] += bits
            if name.endswith("_q"):
                found["registers"][title] += toggles
                found["register_bits"][title] += bits
    if not found["registers"]:
        raise ValueError("no scope of the model is an instance of the machine: were its files generated from other sources?")
    for path, module in core.module_of.items():
        access(core.title_of[path], module, "clock", run.clocks)
    missing = [f"{name} of {module} in {title}" for title, module, name in core.memories if (title, module, name) not in matched]
    if missing:
        raise energies.Fault(f"{energies.MEMORIES.name}: the model has no {'; no '.join(missing)}")
    return found


def toggles_of(core: Core, found: dict) -> tuple[float, float]:
    """Toggles of a run's flip-flops and LUTs: of each block by the rate of its counted signals, of one without by the mean."""
    def rate(toggles, bits, title):
        if not bits[title]:
            return sum(toggles.values()) / sum(bits.values())
        return toggles[title] / bits[title]
    flip_flops = sum(area["FF"] * rate(found["registers"], found["register_bits"], title) for title, area in core.areas.items())
    luts = sum(area["LUT"] * rate(found["signals"], found["signal_bits"], title) for title, area in core.areas.items())
    return flip_flops, luts


def device_mluts() -> float:
    """LUTs of the device, in millions."""
    return board.boards()[DEVICE]["resources"]["LUT"] / 1e6


def parts_of(core: Core, runs: list[dict], lines: int, clocks: int, hertz: float, banks: int) -> dict[str, tuple]:
    """Joules of each part of a task, least and most. `runs`: one of each compute unit, which run at the same time."""
    e = energies.figures()
    area = {u: len(runs) * sum(a[u] for a in core.areas.values()) for u in ("LUT", "FF", "DSP")}
    toggles = [toggles_of(core, run) for run in runs]
    flip_flops, luts = (sum(part) for part in zip(*toggles))
    memory = {kind: [sum(run[kind][end] for run in runs) for end in (0, 1)] for kind in ("BRAM", "URAM")}
    seconds = clocks / hertz
    parts = {}
    for end in (0, 1):
        g = e["glitches"][end]
        line = LINE * e["ddr4_bit"][end] + (0 if end else e["ddr4_row"][end] / 2)
        part = {
            "clock": clocks * area["FF"] * e["ff_clock"][end],
            "registers": flip_flops * e["ff_toggle"][end],
            "logic": g * luts * e["lut_toggle"][end],
            "wires": (flip_flops + g * luts) * e["net_toggle"][end],
            "distributed": sum(run["ram_luts"] * run["clocks"] if end else run["ram_writes"] for run in runs)
            * e["lutram_clock"][end],
            "BRAM": memory["BRAM"][end] * e["bram_access"][end],
            "URAM": memory["URAM"][end] * e["uram_access"][end],
            "DSP": clocks * area["DSP"] * e["dsp_clock"][end] if end else 0.0,
            "DRAM": lines * line + banks * seconds * e["ddr4_idle"][end],
            "static": seconds * device_mluts() * e["device_static"][end],
        }
        for name, joules in part.items():
            parts.setdefault(name, []).append(joules)
    return {name: tuple(both) for name, both in parts.items()}


DYNAMIC = ("clock", "registers", "logic", "wires", "distributed", "BRAM", "URAM", "DSP")


def total(parts: dict, names=None) -> tuple[float, float]:
    """Sum of parts, least and most."""
    chosen = [parts[name] for name in names or parts]
    return sum(p[0] for p in chosen), sum(p[1] for p in chosen)


def program(name: str) -> str:
    return str(os.environ.get(name.upper().replace("-", "_"), BUILT / "release" / name))


def expected(kind: str, k: int, path: Path) -> list[int]:
    """The CPU engine's counts."""
    done = subprocess.run([program("gramer"), "mine", kind, "-k", str(k), path, "--output", "json"], cwd=ROOT, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [one["count"] for one in json.loads(done.stdout)["results"]]


def checked(folder: Path, name: str, units: int) -> tuple[dict, list[Run]]:
    """Result and activity of a run in a folder. Ends the program if the model miscounted its own cycles."""
    result = json.loads((folder / "result.json").read_text())
    runs = [run for part in sorted(folder.glob("*.tsv")) for run in sections(part.read_text())]
    counted = [p["counters"]["core.cycles"][0][0] for p in result.get("passes") or [result]]
    if not len(runs) == len(counted) == units:
        sys.exit(f"error: activity of {name}: {len(runs)} runs, {len(counted)} counters of cycles, {units} compute units")
    # Files have random names: a run with more clocks is of the pass with more cycles.
    faults = [fault for run, cycles in zip(sorted(runs, key=lambda run: run.clocks), sorted(counted))
              if (fault := miscounted(run, cycles))]
    if faults:
        sys.exit(f"error: activity of {name}: {'; '.join(faults)}")
    return result, runs


def simulate(machine: str, file: str, task: str, graph: str, data: Path, units: int, only_report: bool):
    """Result and activity of a task, kept in target/energy; None if it is to be run and may not."""
    k, kind = task.split("-")
    name = f"{task} of {graph} on {file}"
    environment = dict(os.environ, GRAMER_COVERAGE="activity")
    command = [program("gramer-lab"), "simulate", "--machine", file]
    model = subprocess.run([*command, "--model"], cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    kept = WORK / f"{machine}-{task}-{graph}-{model.stdout.strip()}"
    if (kept / "result.json").exists():
        return checked(kept, name, units)
    if only_report:
        return None
    # Moved to its place after all checks.
    fresh = kept.with_name(kept.name + ".unchecked")
    for folder in (kept, fresh):
        shutil.rmtree(folder, ignore_errors=True)
    fresh.mkdir(parents=True)
    environment["GRAMER_COVERAGE_OUT"] = str(fresh)
    path = data / FILES[graph]
    load = ["--load"] if machine == "set" else []
    done = subprocess.run([*command, KINDS[kind], "-k", k, path, "--json", *load], cwd=ROOT, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"error: {name} failed: {done.stderr.strip()}")
    counts = [one["count"] for one in json.loads(done.stdout)["results"]]
    if counts != expected(KINDS[kind], int(k), path):
        sys.exit(f"error: {name}: the core counted {counts}, the CPU engine otherwise")
    (fresh / "result.json").write_text(done.stdout)
    found = checked(fresh, name, units)
    fresh.rename(kept)
    return found


def estimate(core: Core, sizes: Sizes, result: dict, runs: list[Run]) -> dict:
    """A row of the table. The runs are those of the compute units, which work at the same time; the longest counts."""
    passes = result.get("passes") or [result]
    lines = sum(sum(bank) for p in passes for bank in p["counters"]["bank.beats"])
    clocks = max(run.clocks for run in runs)
    found = [activity(core, run) for run in runs]
    parts = parts_of(core, found, lines, clocks, sizes.hertz, sizes.banks)
    flip_flops, luts = (sum(p) for p in zip(*(toggles_of(core, run) for run in found)))
    nets = len(found) * sum(a["FF"] + a["LUT"] for a in core.areas.values())
    return {"clocks": clocks, "lines": lines, "toggles": (flip_flops + luts) / clocks,
            "rate": (flip_flops + luts) / clocks / nets, "seconds": clocks / sizes.hertz, "parts": parts,
            "ram_luts": found[0]["ram_luts"]}


def at_full_rate(core: Core, sizes: Sizes, ram_luts: int) -> tuple[float, float]:
    """Watts on chip if each net toggles and each memory is accessed in each clock, which the paper assumes. `ram_luts`: LUTs
    of the distributed memories of a compute unit."""
    run = {"clocks": 1, "registers": collections.Counter({"all": 1}), "register_bits": collections.Counter({"all": 1}),
           "signals": collections.Counter({"all": 1}), "signal_bits": collections.Counter({"all": 1}),
           "ram_luts": ram_luts, "ram_writes": ram_luts}
    run |= {kind: [sum(a[kind] for a in core.areas.values())] * 2 for kind in ("BRAM", "URAM")}
    parts = parts_of(core, [run] * sizes.units, 0, 1, sizes.hertz, 0)
    low, high = total(parts, [*DYNAMIC, "static"])
    return low * sizes.hertz, high * sizes.hertz


def rows_of(machine: str, data: Path, only_report: bool) -> tuple[list, tuple[float, float]]:
    """Rows of a machine's tasks, and its watts at the full rate."""
    file, tasks = ROWS[machine]
    core, sizes, rows = Core.of(machine), Sizes.of(machine), []
    for task, graph in tasks:
        found = simulate(machine, file, task, graph, data, sizes.units, only_report)
        if found is None:
            sys.exit(f"error: {task} of {graph} on {file} has not been run: leave --report out")
        row = estimate(core, sizes, *found)
        rows.append((machine, task, graph, row))
        watts = [f"{joules / row['seconds']:.2f}" for joules in total(row["parts"])]
        print(f"{task} {graph} on {machine}: {row['clocks']:,} clocks, {watts[0]} to {watts[1]} W", flush=True)
    return rows, at_full_rate(core, sizes, rows[0][3]["ram_luts"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", action="append", choices=list(ROWS), help="only this one; the page is not written")
    parser.add_argument("--report", action="store_true", help="run nothing")
    options = parser.parse_args()
    if not os.environ.get("GRAMER_DATA"):
        sys.exit("error: GRAMER_DATA must name the folder of the real graphs")
    rows, full = [], {}
    try:
        for machine in options.machine or ROWS:
            own, full[machine] = rows_of(machine, Path(os.environ["GRAMER_DATA"]), options.report)
            rows += own
    except energies.Fault as fault:
        sys.exit(f"error: {fault}")
    if not options.machine:
        from hardware import energy_page, synth
        energy_page.write(PAGE, rows, full, {machine: synth.fingerprint(machine) for machine in full}, PAPER_WATTS)
    return 0
