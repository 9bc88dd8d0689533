"""Static timing of mapped netlists by AMD's published delays of UltraScale+ (constraints/ultrascaleplus.tsv).

  scripts/hardware.py timing [--machine NAME] [BLOCK...] [--write | --changed]

Nothing is placed, so a net is A + B · log2(fan-out) ps, by three models (WIRES). Ways through several blocks are
put together as those of depth.py are. Exit code 1 if a block is below the machine's clock in the typical model.
--write rewrites docs/results/hardware/timing.md and .tsv. --changed does nothing if that page is of the present RTL and YAML.
"""

import argparse
import math
import re
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import eda
from hardware import depth, synth

DELAYS = eda.ROOT / "constraints" / "ultrascaleplus.tsv"
DOCUMENT = eda.ROOT / "docs" / "results" / "hardware" / "timing.md"
# ps of a net without fan-out, and for each doubling of it. By the model's terms of wires a neighbour is some 150 ps
# away, ten tiles 310, and half a clock region 530.
WIRES = {"near": (180, 60), "typical": (250, 90), "far": (400, 120)}
PINS = ("A6", "A5", "A4", "A3", "A2", "A1")  # the fastest first


def delays() -> dict:
    """The published delays: ps by element and pins."""
    rows = [line.split("\t") for line in DELAYS.read_text().splitlines() if not line.startswith("#")][1:]
    return {(element, begin, end): int(ps) for element, begin, end, ps, _ in rows}


PS = delays()


class Timed(depth.Netlist):
    """A netlist whose arcs are picoseconds: the net before a cell, the way to its pin, and the cell."""

    def __init__(self, module: dict, wires: tuple, children=None, arrival=None):
        self.wires, self.arrival = wires, arrival or {}
        self.fan, self.driver = defaultdict(int), {}
        for cell in module["cells"].values():
            for port, bits in cell["connections"].items():
                for bit in bits:
                    if cell["port_directions"][port] == "output":
                        self.driver[bit] = cell["type"]
                    elif port not in depth.CLOCKS:
                        self.fan[bit] += 1
        for port in module["ports"].values():
            if port["direction"] == "output":
                for bit in port["bits"]:
                    self.fan[bit] += 1
        super().__init__(module, children)

    def net(self, bit) -> int:
        first, doubling = self.wires
        return round(first + doubling * math.log2(max(1, self.fan[bit])))

    def alone(self, bit, kind: str) -> bool:
        """Whether a cell of this kind drives nothing else than the cell behind it, so that both share a slice."""
        return self.fan[bit] == 1 and bool(re.match(kind, self.driver.get(bit, "")))

    def add(self, name: str, cell: dict):
        kind, pins, ways = cell["type"], cell["connections"], cell["port_directions"]
        inputs = {p: b for p, b in pins.items() if ways[p] == "input" and p not in depth.CLOCKS}
        outputs = {p: b for p, b in pins.items() if ways[p] == "output"}
        if re.match(r"(LUT[1-6]|INV)$", kind):
            self.lut([bit for bits in inputs.values() for bit in bits], outputs["O"][0])
        elif depth.MUX.match(kind):
            for port, (bit,) in inputs.items():
                self.arc(bit, outputs["O"][0], self.multiplexer(port, bit), "mux")
        elif depth.CARRY.match(kind):
            self.carry(pins)
        elif depth.FLIPFLOP.match(kind):
            self.flipflop(inputs, outputs["Q"][0])
        elif depth.BLOCK_MEMORY.match(kind):
            self.memory(name, cell, inputs, outputs)
        elif depth.SHIFT.match(kind):
            for bits in outputs.values():
                self.start(bits[0], PS["LUTRAM", "CLK", "O"], depth.memory_name(name))
            for bit in [bit for bits in inputs.values() for bit in bits]:
                self.end(bit, self.net(bit) + PS["site", "wire", "X"] + PS["LUTRAM", "D", "setup"], depth.memory_name(name))
        elif kind == "DSP48E2":
            for target in outputs.get("P", ()):
                for bit in [bit for port in "ABCD" for bit in inputs.get(port, ())]:
                    self.arc(bit, target, self.net(bit) + PS["DSP", "I", "P"], "dsp")
        else:
            super().add(name, cell)

    def lut(self, bits: list, target):
        """The pins are the router's to choose: what comes last gets the fastest."""
        for pin, bit in zip(PINS, sorted(bits, key=lambda bit: -self.arrival.get(bit, 0))):
            self.arc(bit, target, self.net(bit) + PS["site", "wire", pin] + PS["LUT", pin, "O"], "lut")

    def multiplexer(self, port: str, bit) -> int:
        if port == "S":
            return self.net(bit) + PS["site", "wire", "X"] + PS["MUXF", "S", "O"]
        return PS["site", "LUT", "MUXF"] + PS["MUXF", "I", "O"]

    def carry(self, pins: dict):
        if len(pins["S"]) != 4:
            raise SystemExit("error: the timing of a CARRY8 is not known")
        outs = [(port, at, pins[port][at]) for port in ("O", "CO") for at in range(4)]
        for source in ("S0", "S1", "S2", "S3", "DI0", "DI1", "DI2", "DI3"):
            bit = pins[source[:-1]][int(source[-1])]
            if self.alone(bit, "LUT"):
                before = PS["site", "LUT", "S"] if source[0] == "S" else 0
            else:
                before = self.net(bit) + PS["site", "wire", "X"] if isinstance(bit, int) else 0
            for port, at, target in outs:
                if ("CARRY", source, f"{port}{at}") in PS:
                    self.arc(bit, target, before + self.through_carry(source, port, at), "carry")
        for port in ("CI", "CYINIT"):
            for bit in pins.get(port, ()):
                chained = self.driver.get(bit, "").startswith("CARRY")
                before = PS["site", "CO", "CIN"] if chained else self.net(bit) + PS["site", "wire", "X"]
                for out, at, target in outs:
                    self.arc(bit, target, before + self.through_carry("CIN", out, at), "chain" if chained else "carry")

    @staticmethod
    def through_carry(source: str, port: str, at: int) -> int:
        return PS["CARRY", source, f"{port}{at}"] + (PS["site", "O", "wire"] if port == "O" else 0)

    def flipflop(self, inputs: dict, output):
        text = self.title([output])
        self.start(output, PS["FF", "C", "Q"], text)
        for port, (bit,) in inputs.items():
            if port != "D":
                pin = "CE" if port == "CE" else "R"
                self.end(bit, self.net(bit) + PS["site", "wire", pin] + PS["FF", pin, "setup"], text)
                continue
            if self.alone(bit, "LUT"):
                before = PS["site", "LUT", "D"]
            elif self.alone(bit, "MUXF"):
                before = PS["site", "MUXF", "D"]
            elif self.alone(bit, "CARRY"):
                before = 0  # that of a wire was counted
            else:
                before = self.net(bit) + PS["site", "wire", "X"] + PS["site", "X", "D"]
            self.end(bit, before + PS["FF", "D", "setup"], text)

    def lutram(self, name: str, kind: str, inputs: dict, outputs: dict):
        """By the levels of depth.py: what those arcs and ends are is the same, and what they take is not."""
        title = depth.memory_name(name)
        read = PS["site", "wire", "A1"] + PS["LUT", "A1", "O"]
        counted = Counted()
        depth.Netlist.lutram(counted, name, kind, inputs, outputs)
        for source, target in counted.found:
            self.arc(source, target, self.net(source) + read, "ram")
        for bit in counted.begun:
            self.start(bit, PS["LUTRAM", "CLK", "O"], title)
        for port, bits in inputs.items():
            pin = "WE" if port == "WE" else "D" if port.startswith("DI") or port == "D" else "A"
            site = {"WE": "WE", "D": "X", "A": "A1"}[pin]
            for bit in bits:
                if bit in counted.ended:
                    self.end(bit, self.net(bit) + PS["site", "wire", site] + PS["LUTRAM", pin, "setup"], title)

    def memory(self, name: str, cell: dict, inputs: dict, outputs: dict):
        title, element = depth.memory_name(name), cell["type"][:4]
        given = cell["parameters"]

        def registered(port):
            side = "A" if "_A" in port or "ADOUT" in port or port.startswith(("DOUTA", "DOUTPA")) else "B"
            value = given.get(f"OREG_{side}" if element == "URAM" else f"DO{side}_REG", "0")
            return value.strip() not in ("FALSE", "0") and "1" in value + ("1" if value == "TRUE" else "")
        for port, bits in outputs.items():
            for bit in bits:
                self.start(bit, PS[element, "CLK", "DO_REG" if registered(port) else "DO"], title)
        for port, bits in inputs.items():
            pin = ("ADDR" if port.startswith("ADDR") else "WE" if re.match(r"WE|BWE|RDB_WR", port)
                   else "DI" if port.startswith("DI") else "EN")
            setup = PS.get((element, pin, "setup"), PS[element, "WE", "setup"])
            for bit in bits:
                self.end(bit, self.net(bit) + setup, title)


class Counted:
    """Takes the arcs, starts and ends that depth.py gives a memory."""

    def __init__(self):
        self.found, self.begun, self.ended = [], [], set()

    def arc(self, source, target, _levels, _kind):
        self.found.append((source, target))

    def start(self, bit, _levels, _name):
        self.begun.append(bit)

    def end(self, bit, _levels, _name):
        self.ended.add(bit)


def model_of(module: dict, wires: tuple, children: dict) -> depth.Model:
    """The model of a netlist, after the pins of its tables are chosen by what comes when."""
    first = Timed(module, wires, children)
    arrival, _ = first.forward({bit: ps for bit, (ps, _) in first.starts.items()})
    return Timed(module, wires, children, arrival).model()


def models_of(modules: dict, results: dict, wires: tuple) -> dict:
    """The timing of every block, and of the glue with those of its blocks that are there: ways through others are not
    timed."""
    models: dict = {}

    def of(key):
        if key not in models:
            children = {}
            if key[0] in eda.GLUE:
                children = {name: of(child) for name, child in synth.instances(modules, key).items() if child in results}
            models[key] = model_of(results[key].netlist, wires, children)
        return models[key]

    for key in results:
        of(key)
    return models


def mhz(model: depth.Model) -> float:
    return 1e6 / model.worst[0][0] if model.worst else math.inf


def rows_of(modules: dict, timed: dict) -> list:
    """A row for each block: MHz by each model, and its longest path in the typical one; the slowest first."""
    rows = []
    typical = timed["typical"]
    for key in sorted(typical, key=lambda key: mhz(typical[key])):
        if typical[key].worst:
            _, begin, end, kinds, _ = typical[key].worst[0]
            inside = sorted({child[0] for child in eda.outside(modules[key]) if child in typical})
            whole = len(inside) == len({child[0] for child in eda.outside(modules[key])})
            through = ": through its blocks" if whole else f": through {', '.join(inside)}"
            title = modules[key].title + (through if key[0] in eda.GLUE else "")
            rows.append([title, *(f"{mhz(timed[name][key]):.0f}" for name in WIRES), f"`{begin}`", f"`{end}`",
                         depth.show(kinds)])
    return rows


HEAD = ["block", *(f"MHz, {name}" for name in WIRES), "from", "to", "made of"]
# What the blocks should reach, in MHz; the page shows those that don't.
AIM = 250


def table(rows: list, columns: int) -> str:
    lines = [HEAD, ["---", *["---:"] * len(WIRES), "---", "---", "---"], *rows]
    lines = [line[:columns] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write(machine: str, clock: int, rows: list, state: str):
    """Rewrites the table of the document, which has the blocks below the aim, and the file with all."""
    begin, end = "<!-- timing: rewritten by scripts/hardware.py timing -->", "<!-- end of timing -->"
    first, rest = DOCUMENT.read_text().split(begin)
    slow = [row for row in rows if float(row[2]) < AIM]
    DOCUMENT.write_text(f"{first}{begin}\nMachine `{machine}`, {clock} MHz; RTL and YAML `{state}`, {eda.version()}.\n\n"
                        f"{table(slow, 1 + len(WIRES))}\n\n{len(rows) - len(slow)} more blocks reach {AIM} MHz in the typical model; "
                        f"[timing.tsv](timing.tsv) has all, with the ends of the longest path.\n{end}{rest.split(end)[1]}")
    DOCUMENT.with_suffix(".tsv").write_text("".join("\t".join(row).replace("`", "") + "\n" for row in [HEAD, *rows]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("blocks", nargs="*", metavar="BLOCK", help="only these modules")
    parser.add_argument("--machine", default="set", help="a folder of target/generated")
    parser.add_argument("--write", action="store_true", help="rewrite docs/results/hardware/timing.md and timing.tsv")
    parser.add_argument("--changed", action="store_true", help="nothing if timing.md is of the present sources")
    options = parser.parse_args()
    if options.changed and f"Machine `{options.machine}`" in (text := DOCUMENT.read_text()) \
            and f"`{synth.fingerprint(options.machine)}`" in text:
        print(f"timing: {DOCUMENT.name} is of the present sources")
        return 0
    folder = eda.machine(options.machine)
    modules = eda.hierarchy(folder)
    keys = [key for key in eda.blocks(modules) if not options.blocks or key[0] in options.blocks]
    if not keys or len({key[0] for key in keys}) < len(set(options.blocks)):
        print(f"error: not all of {', '.join(options.blocks)} are blocks of {options.machine}; there are "
              + ", ".join(sorted({key[0] for key in eda.blocks(modules)})), file=sys.stderr)
        return 2
    with ThreadPoolExecutor(2) as pool:
        results = dict(zip(keys, pool.map(lambda key: eda.synthesise(folder, modules, key), keys)))
    timed = {name: models_of(modules, results, wires) for name, wires in WIRES.items()}
    rows = rows_of(modules, timed)
    print(table(rows, len(HEAD)))
    clock = int(re.search(r"\bclock_mhz: (\d+)", (folder / "machine.yaml").read_text())[1])
    if options.write:
        write(options.machine, clock, rows, synth.fingerprint(options.machine))
    slow = [key for key in timed["typical"] if mhz(timed["typical"][key]) < clock]
    for key in slow:
        model = timed["typical"][key]
        ps, begin, end, kinds, _ = model.worst[0]
        print(f"error: {modules[key].title}: {mhz(model):.0f} MHz of {clock}, {ps} ps from {begin} to {end}: "
              + depth.show(kinds), file=sys.stderr)
    return 1 if slow else 0
