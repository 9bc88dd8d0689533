"""Logic depth of mapped netlists: the longest way between two registers, in levels.

A level is a look-up table, a read of distributed memory, or the entry into a carry chain. What
follows within a chain, and the multiplexers of a slice (MUXF7 to MUXF9), are counted beside it.
Registers and block memories begin and end a way. A multiplier (DSP48E2 without registers) counts
as DSP_LEVELS. Ways through several blocks are put together from the blocks' models: from a
register to each output, from each input to a register, from each input port to each output.
"""

import re
from collections import defaultdict

DSP_LEVELS = 4
NONE = -(10**6)

FLIPFLOP = re.compile(r"FD[RSCP]E(_1)?$|LD[CP]E$")
BLOCK_MEMORY = re.compile(r"RAMB|URAM")
LUTRAM = re.compile(r"RAM(32|64|128|256|512)[XM]")
SHIFT = re.compile(r"SRL")
MUX = re.compile(r"MUXF[789]$")
CARRY = re.compile(r"CARRY[48]$")
CLOCKS = ("C", "CLK", "WCLK", "CLKARDCLK", "CLKBWRCLK", "CLK_A", "CLK_B", "G")


class Model:
    """What the outside of a block needs to know."""

    def __init__(self):
        self.start = {}    # (output port, bit): (levels, name of the register)
        self.end = {}      # (input port, bit): (levels, name of the register)
        self.through = {}  # input port: {(output port, bit): levels}
        self.worst = []    # (levels, text) of the longest ways inside, longest first


class Netlist:
    """A mapped netlist as a graph of arcs between bits."""

    def __init__(self, module: dict, children=None):
        self.ports = module["ports"]
        self.name = {}
        for name, net in module["netnames"].items():
            if not net.get("hide_name") and "$" not in name:
                for at, bit in enumerate(net["bits"]):
                    if isinstance(bit, int):
                        full = f"{name}[{at}]" if len(net["bits"]) > 1 else name
                        old = self.name.get(bit)
                        if old is None or len(full) < len(old):
                            self.name[bit] = full
        self.arcs = defaultdict(list)   # to bit: [(from bit, levels, kind)]
        self.out = defaultdict(list)    # from bit: [(to bit, levels, kind)]
        self.starts = {}                # bit: (levels, name)
        self.ends = defaultdict(list)   # bit: [(levels, name)]
        for name, cell in module["cells"].items():
            self.add(name, cell)
        # Pins of omitted modules are ports of the netlist, called INSTANCE.PORT.
        for instance, model in (children or {}).items():
            pins = {}
            for port in [p for p in self.ports if p.startswith(instance + ".")]:
                pins[port[len(instance) + 1:]] = self.ports[port]["bits"]
            self.ports = {p: v for p, v in self.ports.items() if not p.startswith(instance + ".")}
            self.child(instance, model, pins)

    def title(self, bits) -> str:
        for bit in bits:
            if bit in self.name:
                return self.name[bit]
        return "?"

    def arc(self, source, target, levels, kind):
        if isinstance(source, int) and isinstance(target, int):
            self.arcs[target].append((source, levels, kind))
            self.out[source].append((target, levels, kind))

    def start(self, bit, levels, name):
        if isinstance(bit, int) and self.starts.get(bit, (NONE,))[0] < levels:
            self.starts[bit] = (levels, name)

    def end(self, bit, levels, name):
        if isinstance(bit, int):
            self.ends[bit].append((levels, name))

    def child(self, name: str, model, pins: dict):
        """An instance by its model."""
        for (port, at), (levels, register) in model.start.items():
            if port in pins:
                self.start(pins[port][at], levels, f"{name}/{register}")
        for (port, at), (levels, register) in model.end.items():
            if port in pins:
                self.end(pins[port][at], levels, f"{name}/{register}")
        for port, targets in model.through.items():
            for source in set(pins.get(port, ())):
                for (out, at), levels in targets.items():
                    if out in pins:
                        self.arc(source, pins[out][at], levels, name)

    def add(self, name: str, cell: dict):
        kind, pins, ways = cell["type"], cell["connections"], cell["port_directions"]
        inputs = {p: b for p, b in pins.items() if ways[p] == "input" and p not in CLOCKS}
        outputs = {p: b for p, b in pins.items() if ways[p] == "output"}
        if re.match(r"(LUT[1-6]|INV)$", kind):
            for bits in inputs.values():
                for bit in bits:
                    self.arc(bit, outputs["O"][0], 1, "lut")
        elif MUX.match(kind):
            for bits in inputs.values():
                self.arc(bits[0], outputs["O"][0], 0, "mux")
        elif CARRY.match(kind):
            self.carry(pins)
        elif FLIPFLOP.match(kind):
            text = self.title(outputs["Q"])
            self.start(outputs["Q"][0], 0, text)
            for bits in inputs.values():
                self.end(bits[0], 0, text)
        elif LUTRAM.match(kind):
            self.lutram(name, kind, inputs, outputs)
        elif kind == "DSP48E2":
            for target in outputs.get("P", ()):
                for port in ("A", "B", "C", "D"):
                    for bit in inputs.get(port, ()):
                        self.arc(bit, target, DSP_LEVELS, "dsp")
        elif BLOCK_MEMORY.match(kind) or SHIFT.match(kind):
            for bits in outputs.values():
                for bit in bits:
                    self.start(bit, 0, memory_name(name))
            for bits in inputs.values():
                for bit in bits:
                    self.end(bit, 0, memory_name(name))
        elif kind not in ("BUFG", "GND", "VCC", "$scopeinfo"):
            raise SystemExit(f"error: the depth of a {kind} ({name}) is not known")

    def carry(self, pins):
        width = len(pins["S"])
        for low in range(width):
            for port in ("S", "DI"):
                for high in range(low, width):
                    self.arc(pins[port][low], pins["O"][high], 1, "carry")
                    self.arc(pins[port][low], pins["CO"][high], 1, "carry")
        for port in ("CI", "CYINIT"):
            for bit in pins.get(port, ()):
                for high in range(width):
                    self.arc(bit, pins["O"][high], 0, "chain")
                    self.arc(bit, pins["CO"][high], 0, "chain")

    def lutram(self, name, kind, inputs, outputs):
        title = memory_name(name)
        for port, bits in outputs.items():
            for target in bits:
                self.start(target, 1, title)
                if re.match(r"DO[A-H]$", port):
                    reads = ["ADDR" + port[2]]
                elif port in ("DPO",):
                    reads = ["DPRA"] + [f"DPRA{n}" for n in range(8)]
                else:
                    reads = ["A"] + [f"A{n}" for n in range(9)]
                for read in reads:
                    for source in inputs.get(read, ()):
                        self.arc(source, target, 1, "ram")
        for port, bits in inputs.items():
            if re.match(r"DI[A-H]?$|D$|WE$|ADDR[HD]$|A\d?$", port):
                if port == "ADDRD" and "ADDRH" in inputs:
                    continue
                for bit in bits:
                    self.end(bit, 0, title)

    def forward(self, begin: dict):
        """Levels of every bit that is reached from the bits of `begin`; and its predecessor."""
        order, waiting = [], defaultdict(int)
        reached, stack = set(begin), list(begin)
        while stack:
            bit = stack.pop()
            for target, _, _ in self.out.get(bit, ()):
                waiting[target] += 1
                if target not in reached:
                    reached.add(target)
                    stack.append(target)
        ready = [bit for bit in reached if waiting[bit] == 0]
        level = {bit: begin.get(bit, NONE) for bit in reached}
        before = {}
        while ready:
            bit = ready.pop()
            order.append(bit)
            here = level[bit]
            for target, levels, kind in self.out.get(bit, ()):
                if here + levels > level[target]:
                    level[target] = here + levels
                    before[target] = (bit, kind)
                waiting[target] -= 1
                if waiting[target] == 0:
                    ready.append(target)
        if len(order) != len(reached):
            # A loop through port-wise models, which are coarser than the logic.
            raise SystemExit("error: a combinational loop in the netlist")
        return level, before

    def backward(self):
        """Levels from every bit to the farthest register behind it."""
        level, target = {}, {}
        counts = defaultdict(int)
        reached, stack = set(self.ends), list(self.ends)
        while stack:
            bit = stack.pop()
            for source, _, _ in self.arcs.get(bit, ()):
                counts[source] += 1
                if source not in reached:
                    reached.add(source)
                    stack.append(source)
        for bit in reached:
            level[bit], target[bit] = max(self.ends[bit]) if bit in self.ends else (NONE, "")
        ready = [bit for bit in reached if counts[bit] == 0]
        while ready:
            bit = ready.pop()
            for source, levels, _ in self.arcs.get(bit, ()):
                if level[bit] + levels > level[source]:
                    level[source], target[source] = level[bit] + levels, target[bit]
                counts[source] -= 1
                if counts[source] == 0:
                    ready.append(source)
        return level, target

    def model(self) -> Model:
        result = Model()
        level, before = self.forward({bit: levels for bit, (levels, _) in self.starts.items()})

        def way(bit):
            kinds, names = [], []
            while bit in before:
                bit, kind = before[bit]
                kinds.append(kind)
                if bit in self.name and not names[-1:] == [self.name[bit]]:
                    names.append(self.name[bit])
            return bit, kinds[::-1], names[::-1]

        worst = {}
        for bit, targets in self.ends.items():
            if level.get(bit, NONE) < 0:
                continue
            levels, target = max(targets)
            total = levels + level[bit]
            key = (stem(target), )
            if total > worst.get(key, (NONE,))[0]:
                worst[key] = (total, bit, target)
        for total, bit, target in sorted(worst.values(), reverse=True)[:40]:
            first, kinds, names = way(bit)
            begin = self.starts[first][1]
            result.worst.append((total, begin, target, kinds, names))
        back, ending = self.backward()
        for port, value in self.ports.items():
            if value["direction"] == "output":
                for at, bit in enumerate(value["bits"]):
                    if level.get(bit, NONE) >= 0:
                        first, _, _ = way(bit)
                        result.start[port, at] = (level[bit], self.starts[first][1])
            elif port not in ("clk_i", "ap_clk"):
                for at, bit in enumerate(value["bits"]):
                    if back.get(bit, NONE) >= 0:
                        result.end[port, at] = (back[bit], ending[bit])
                reached, _ = self.forward({bit: 0 for bit in value["bits"] if isinstance(bit, int)})
                found = {}
                for out, other in self.ports.items():
                    if other["direction"] == "output":
                        for at, bit in enumerate(other["bits"]):
                            if bit in reached:
                                found[out, at] = reached[bit]
                if found:
                    result.through[port] = found
        return result


def clean(name: str) -> str:
    return name.replace("\\", "")


def stem(name: str) -> str:
    """A register's name without its bit: one way a register is enough."""
    return re.sub(r"\[\d+\]$", "", name)


def memory_name(name: str) -> str:
    return re.sub(r"(\.\d+)+$", "", clean(name)) + " (memory)"


def show(kinds: list) -> str:
    """A way in short: 5 LUT, 1 RAM, 1 carry chain of 4."""
    counted = [(n, kinds.count(k)) for k, n in
               (("lut", "LUT"), ("ram", "RAM"), ("carry", "carry"), ("dsp", "DSP"))]
    text = [f"{number} {name}" for name, number in counted if number]
    for kind, name in (("chain", "CARRY4 more"), ("mux", "MUXF")):
        if kinds.count(kind):
            text.append(f"{kinds.count(kind)} {name}")
    others = [k for k in kinds if k not in ("lut", "ram", "carry", "dsp", "chain", "mux")]
    text += [f"through {k}" for k in others]
    return ", ".join(text)
