#!/usr/bin/env python3
"""What can be checked of the Vitis build without Vitis.

The rules, with the manuals that they are of, are in scripts/vitis/rules.tsv; each has its checks here,
and files that were broken on purpose, which its check must refuse. The table is printed at the end.
The parser of the RTL (pyslang) and Tcl's interpreter know nothing of what generates the files; the
vendor's commands and tools are replaced by ones that know their documented options
(scripts/vitis/commands.tsv, tools.tsv).
"""

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree
from dataclasses import dataclass
from pathlib import Path

import board
import eda

ROOT = eda.ROOT
VITIS = ROOT / "scripts" / "vitis"
sys.path.insert(0, str(VITIS))
import xclbin  # noqa: E402  (beside the mocks that use it)

AXI_READ = {
    "araddr": ("out", 64), "arburst": ("out", 2), "arcache": ("out", 4), "arid": ("out", None),
    "arlen": ("out", 8), "arlock": ("out", 1), "arprot": ("out", 3), "arqos": ("out", 4),
    "arready": ("in", 1), "arregion": ("out", 4), "arsize": ("out", 3), "arvalid": ("out", 1),
    "rdata": ("in", "data"), "rid": ("in", None), "rlast": ("in", 1), "rready": ("out", 1),
    "rresp": ("in", 2), "rvalid": ("in", 1),
}
LITE = {
    "araddr": ("in", None), "arready": ("out", 1), "arvalid": ("in", 1), "awaddr": ("in", None),
    "awready": ("out", 1), "awvalid": ("in", 1), "bready": ("in", 1), "bresp": ("out", 2),
    "bvalid": ("out", 1), "rdata": ("out", 32), "rready": ("in", 1), "rresp": ("out", 2),
    "rvalid": ("out", 1), "wdata": ("in", 32), "wready": ("out", 1), "wstrb": ("in", 4),
    "wvalid": ("in", 1),
}
STREAM = {"tdata": "data", "tkeep": 64, "tlast": 1, "tvalid": 1, "tready": 1}


def ports(folder: Path) -> dict:
    """Direction and width of every port of the RTL kernel."""
    keep, top = eda.elaborate(folder, "gramer_kernel")
    found = {p.name: ("in" if "In" in str(p.direction) else "out", p.type.bitWidth)
             for p in top.body.portList}
    del keep
    return found


def kernel_faults(root, found: dict) -> list[str]:
    """Differences between the core's kernel.xml and its ports."""
    faults, left = [], dict(found)
    kernel = root.find("kernel")

    def take(name, direction, width):
        actual = left.pop(name, None)
        if actual is None:
            faults.append(f"no port {name}")
        elif actual[0] != direction or (width is not None and actual[1] != width):
            faults.append(f"port {name} is {actual}, not {(direction, width)}")

    for name, direction in (("ap_clk", "in"), ("ap_rst_n", "in"), ("interrupt", "out")):
        take(name, direction, 1)
    if kernel.get("interrupt") != "true":
        faults.append("the interrupt is not declared")
    if kernel.get("hwControlProtocol") != "ap_ctrl_chain":
        faults.append("control is not ap_ctrl_chain")
    declared = {}
    for port in kernel.find("ports"):
        name, mode, data = port.get("name"), port.get("mode"), int(port.get("dataWidth"))
        declared[name] = mode
        if port.get("portType") == "stream":
            sends = mode == "write_only"
            for signal, width in STREAM.items():
                out = sends != (signal == "tready")
                take(f"{name}_{signal}", "out" if out else "in", data if width == "data" else width)
        else:
            for signal, (direction, width) in (AXI_READ if mode == "master" else LITE).items():
                take(f"{name}_{signal}", direction, data if width == "data" else width)
    faults += [f"port {name} is in no interface" for name in left]

    for argument in kernel.find("args"):
        if argument.get("port") not in declared:
            faults.append(f"argument {argument.get('name')} is of no port")
    return faults


def argument_faults(root, found: dict) -> list[str]:
    """Arguments that are not in order from 0x10, one behind the other, inside the address range."""
    faults = []
    offset, reach = 0x10, 1 << found.get("s_axi_control_awaddr", ("in", 0))[1]
    for at, argument in enumerate(root.find("kernel").find("args")):
        name, size = argument.get("name"), int(argument.get("size"), 16)
        if int(argument.get("id")) != at:
            faults.append(f"argument {name} has id {argument.get('id')}, not {at}")
        if argument.get("addressQualifier") == "4":
            continue
        if int(argument.get("offset"), 16) != offset:
            faults.append(f"argument {name} is at {argument.get('offset')}, not {offset:#x}")
        # As Vitis HLS places them: a register of 32 bits, or two, and one that is reserved.
        offset += 12 if size == 8 else 8
    if offset > reach:
        faults.append(f"arguments reach to {offset:#x}, the address port to {reach:#x}")
    return faults


def master_faults(found: dict) -> list[str]:
    wide = {name: width for name, (_, width) in found.items() if re.fullmatch(r"m_axi_\w+_a[rw]addr", name)}
    return [f"{name} has {width} bits" for name, width in wide.items() if width != 64] \
        + ([] if wide else ["there is no memory master"])


def link_clock_faults(text: str) -> list[str]:
    return [f"the configuration sets a clock: {line}" for line in text.splitlines()
            if line == "[clock]" or "FreqHz" in line or "kernel_frequency" in line]


def link_faults(text: str, kernels: dict, card: dict) -> list[str]:
    """What the linker's configuration names and no kernel, bank or region has."""
    faults, units, streams = [], {}, []
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key == "nk":
            kernel, number, *names = value.split(":")
            names = names[0].split(".") if names else [f"{kernel}_{n + 1}" for n in range(int(number))]
            if kernel not in kernels:
                faults.append(f"nk: no kernel {kernel}")
            units.update({name: kernel for name in names})
        elif key == "sp":
            place, memory = value.split(":", 1)
            unit, argument = place.split(".")
            known = kernels.get(units.get(unit), {})
            if argument not in known.get("pointers", ()):
                faults.append(f"sp: {place} is no pointer of a kernel")
            kind, first, last = re.fullmatch(r"(\w+)\[(\d+)(?::(\d+))?\]", memory).groups()
            if kind != card["memory"] or int(last or first) >= card["banks"]:
                faults.append(f"sp: the card has no {memory}")
            known.setdefault("mapped", set()).add((unit, argument))
        elif key == "stream_connect":
            streams.append(value.split(":"))
        elif key == "slr":
            unit, region = value.split(":")
            if unit not in units or int(region[3:]) >= card["slrs"]:
                faults.append(f"slr: {value}")
    ends = []
    for source, target in streams:
        for end, mode in ((source, "write_only"), (target, "read_only")):
            unit, port = end.split(".")
            if kernels.get(units.get(unit), {}).get("streams", {}).get(port) != mode:
                faults.append(f"stream_connect: {end} is no stream that is {mode}")
            ends.append(end)
    for unit, kernel in units.items():
        for port in kernels.get(kernel, {}).get("streams", ()):
            if ends.count(f"{unit}.{port}") != 1:
                faults.append(f"stream {unit}.{port} is connected {ends.count(f'{unit}.{port}')} times")
        for argument in kernels.get(kernel, {}).get("pointers", ()):
            if (unit, argument) not in kernels[kernel].get("mapped", ()):
                faults.append(f"{unit}.{argument} has no memory bank")
    return faults


def described(root) -> dict:
    kernel = root.find("kernel")
    return {
        "streams": {p.get("name"): p.get("mode") for p in kernel.find("ports")
                    if p.get("portType") == "stream"},
        "pointers": [a.get("name") for a in kernel.find("args") if a.get("addressQualifier") == "1"],
    }


def mover_faults(root, source: str) -> list[str]:
    """Differences between a mover's signature and pragmas and its kernel.xml."""
    kernel, faults = root.find("kernel"), []
    name = kernel.get("name")
    parameters = re.search(rf'extern "C" void {name}\((.*?)\)', source, re.S)[1]
    names = [re.search(r"(\w+)$", p.strip())[1] for p in parameters.split(",")]
    arguments = [a.get("name") for a in kernel.find("args")]
    if names != arguments:
        faults.append(f"{name} takes {names}, kernel.xml has {arguments}")
    pragmas = re.sub(r"\\\n", " ", source)
    pragmas = re.findall(r"#pragma HLS INTERFACE (.*)", pragmas)
    modes = {}
    for pragma in pragmas:
        values = dict(re.findall(r"(\w+) = (\w+)", pragma))
        modes.setdefault(values["port"], []).append(values)
    for argument in kernel.find("args"):
        of = {v["mode"]: v for v in modes.get(argument.get("name"), [])}
        want = {"0": {"s_axilite"}, "1": {"m_axi", "s_axilite"}, "4": {"axis"}}
        if set(of) != want[argument.get("addressQualifier")]:
            faults.append(f"{name}: the pragmas of {argument.get('name')} are {sorted(of)}")
        if "m_axi" in of and f"m_axi_{of['m_axi']['bundle']}" != argument.get("port"):
            faults.append(f"{name}: {argument.get('name')} is of bundle {of['m_axi']['bundle']}")
    if {v["mode"] for v in modes.get("return", [])} != {"s_axilite", "ap_ctrl_chain"}:
        faults.append(f"{name}: control is not ap_ctrl_chain")
    return faults


def top_faults(text: str) -> list[str]:
    """Constructs of a top level that Verilog-2005 does not have."""
    from pyslang.driver import Driver

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gramer_kernel.v"
        path.write_text(text)
        driver = Driver()
        driver.addStandardArgs()
        driver.parseCommandLine(f"slang --std 1364-2005 {path}")
        if not driver.processOptions() or not driver.parseAllSources():
            return ["pyslang cannot parse it"]
        faults = []

        def visit(node):
            kind = str(getattr(node, "kind", "")).removeprefix("SyntaxKind.")
            if kind.startswith("TokenKind."):
                return
            shown = " ".join(str(node).split())[:60]
            if kind and kind not in VERILOG:
                faults.append(f"{kind} is not of Verilog-2005: {shown}")
            elif kind == "NamedPortConnection" and "(" not in shown:
                faults.append(f"a connection without its expression is not of Verilog-2005: {shown}")

        for parsed in driver.syntaxTrees:
            parsed.root.visit(visit)
        if "endmodule" not in text or not list(driver.syntaxTrees):
            faults.append("there is no module")
        return faults


# Constructs of Verilog-2005 that a wrapper may have, by pyslang's names. Implicit types and the two
# `Simple…Expr` are how it writes a range without a type, and a connection's expression.
VERILOG = set("""
AnsiPortList AssignmentExpression CompilationUnit ConcatenationExpression ContinuousAssign Declarator
ElementSelect HierarchicalInstance HierarchyInstantiation IdentifierName IdentifierSelectName
ImplicitAnsiPort ImplicitType InstanceName IntegerLiteralExpression IntegerVectorExpression
ModuleDeclaration ModuleHeader MultipleConcatenationExpression NamedPortConnection NetDeclaration
NetPortHeader RangeDimensionSpecifier SimplePropertyExpr SimpleRangeSelect SimpleSequenceExpr
UnaryBitwiseAndExpression VariableDimension SyntaxList SeparatedList TokenList
""".split())


class Calls:
    """What a Tcl file does with the vendor's commands."""

    def __init__(self, script: Path, *arguments: str, env=None):
        done = subprocess.run(["tclsh", VITIS / "mock.tcl", VITIS / "commands.tsv", script, *arguments],
                              text=True, capture_output=True, cwd=ROOT, env=dict(os.environ, **(env or {})))
        lines = done.stdout.splitlines()
        self.error = done.stderr.strip() if done.returncode else None
        self.code = done.returncode
        self.ends = "open" not in lines
        self.named = [tuple(line.split("\t", 1)) for line in lines
                      if line.startswith(("cell\t", "filter\t", "port\t"))]
        self.all = [line.split("\t", 1)[1].split("\x1f") for line in lines if line.startswith("call\t")]

    def of(self, name: str) -> list[list[str]]:
        return [call[1:] for call in self.all if call[0] == name]

    def property(self, name: str) -> dict:
        """The values that a property is given, by object."""
        return {call[3]: call[2] for call in self.all if call[0] == "set_property" and call[1] == name}

    def order(self, *names: str) -> bool:
        """Whether each of these is called, the last time before the next one's first."""
        found = [[at for at, call in enumerate(self.all) if call[0] == name] for name in names]
        return all(found) and all(a[-1] < b[0] for a, b in zip(found, found[1:]))


def interfaces(found: dict) -> list[str]:
    """The bus interfaces that a packager infers from a kernel's ports."""
    names = {re.match(r"(s_axi_control|m_axi_bank\d+|[sm]_axis_[a-z]+)_", name) for name in found}
    return sorted({m[1] for m in names if m}) + ["interrupt"]


def masters(found: dict) -> list[str]:
    return [name for name in interfaces(found) if name.startswith("m_axi")]


def package_calls(script: Path, folder: Path, found: dict, work: str) -> Calls:
    part = board.boards()["u250"]["part"]
    return Calls(script, str(folder), str(ROOT / "rtl"), str(ROOT / "hls"), f"{work}/core", part,
                 f"{work}/gramer_core.xo", env={"MOCK_INTERFACES": " ".join(interfaces(found))})


def file_type_faults(calls: Calls) -> list[str]:
    added = [f for call in calls.of("add_files") for f in call[-1].split()]
    given = {f: kind for files, kind in calls.property("file_type").items() for f in files.split()}
    wanted = {f: {".v": "Verilog", ".sv": "SystemVerilog"}.get(Path(f).suffix) for f in added}
    faults = [f"{Path(f).name} is compiled as {given.get(f)}, not {kind}" for f, kind in wanted.items()
              if given.get(f) != kind]
    top = [c[1] for c in calls.of("set_property") if c[0] == "top"]
    if len(top) != 1 or not any(Path(f).name == f"{top[0]}.v" for f in added):
        faults.append(f"the top {top} is no Verilog file that is added")
    return faults


def clock_faults(calls: Calls, found: dict) -> list[str]:
    associated = calls.of("ipx::associate_bus_interfaces")

    def value(call, option):
        return call[call.index(option) + 1] if option in call else None
    clocked = [value(c, "-busif") for c in associated if value(c, "-clock") == "ap_clk"]
    faults = [f"{name} has {clocked.count(name)} clocks" for name in interfaces(found)
              if name != "interrupt" and clocked.count(name) != 1]
    if not any(value(c, "-clock") == "ap_clk" and value(c, "-reset") == "ap_rst_n" for c in associated):
        faults.append("no reset is associated with the clock")
    return faults


def burst_property_faults(calls: Calls, found: dict) -> list[str]:
    values = calls.property("value")
    return [f"{master} is packaged with {name} = {values.get(f'{master}/{name}')}"
            for master in masters(found) for name in ("HAS_BURST", "SUPPORTS_NARROW_BURST")
            if values.get(f"{master}/{name}") != "0"]


def burst_kind_faults(core: str) -> list[str]:
    """Whether the core's masters drive their bursts' kind and size as the constants INCR and 64 bytes."""
    text = eda.strip(core)
    faults = []
    for name, wanted in (("arburst", 1), ("arsize", 6)):
        driven = re.findall(rf"assign m_axi_{name}(?:\[[^\]]*\])?\s*=\s*(?:\d+'d)?(\w+);", text)
        if driven != [str(wanted)]:
            faults.append(f"m_axi_{name} is {driven or 'not a constant'}, not {wanted}")
    return faults


def register_faults(calls: Calls, root) -> list[str]:
    """Differences between the registers that are packaged and the arguments of kernel.xml."""
    offsets, sizes = calls.property("address_offset"), calls.property("size")
    values = calls.property("value")
    wanted = {"CTRL": (0, 32), "GIER": (4, 32), "IP_IER": (8, 32), "IP_ISR": (12, 32)}
    ports = {}
    for argument in root.find("kernel").find("args"):
        if argument.get("addressQualifier") != "4":
            name = argument.get("name")
            wanted[name] = (int(argument.get("offset"), 16), 8 * int(argument.get("size"), 16))
            if argument.get("addressQualifier") == "1":
                ports[name] = argument.get("port")
    packaged = {call[0]: call[1] for call in calls.of("ipx::add_register")}
    faults = [f"register {name} is packaged, but is no argument" for name in packaged.keys() - wanted.keys()]
    for name, place in wanted.items():
        found = (int(offsets.get(name, "-1"), 0), int(sizes.get(name, "-1"), 0))
        if packaged.get(name) != "reg0" or found != place:
            faults.append(f"register {name} is packaged at {found}, not {place}")
    faults += [f"register {name} is a pointer of {values.get(f'{name}/ASSOCIATED_BUSIF')}, not {port}"
               for name, port in ports.items() if values.get(f"{name}/ASSOCIATED_BUSIF") != port]
    return faults


def kernel_property_faults(calls: Calls, root) -> list[str]:
    protocol = root.find("kernel").get("hwControlProtocol")
    wanted = {"sdx_kernel": "true", "sdx_kernel_type": "rtl", "ipi_drc": "ignore_freq_hz true",
              "vitis_drc": f"ctrl_protocol {protocol}"}
    return [f"the property {name} is {calls.property(name).get('core')}, not {value}"
            for name, value in wanted.items() if calls.property(name).get("core") != value]


def package_order_faults(calls: Calls) -> list[str]:
    steps = ("synth_design", "ipx::package_project", "ipx::add_register", "ipx::check_integrity",
             "ipx::save_core", "package_xo")
    return [] if calls.order(*steps) else [f"the order is not {', '.join(steps)}"]


def c_model_faults(calls: Calls, root) -> list[str]:
    call = (calls.of("package_xo") or [[]])[0]
    files = call[call.index("-kernel_files") + 1].split() if "-kernel_files" in call else []
    if root.find("kernel").get("name") == "gramer_set_core":
        # It has none, and build.sh refuses software emulation.
        return [f"{files} go along with the set core"] if files else []
    faults = [f"{f} is not there" for f in files if not Path(f).is_file()]
    name = root.find("kernel").get("name")
    sources = [Path(f).read_text() for f in files if f.endswith(".cpp") and Path(f).is_file()]
    if not any(re.search(rf'extern "C" void {name}\(', text) for text in sources):
        faults.append(f"no C model of {name} goes along")
    return faults


HLS = {"GRAMER_KERNEL": "gramer_fill", "GRAMER_HLS": str(ROOT / "hls"), "GRAMER_CLOCK_NS": "5.000"}


def hls_calls(script: Path, work: str, **other) -> Calls:
    env = dict(HLS, GRAMER_BUILD=work, GRAMER_PART=board.boards()["u250"]["part"])
    return Calls(script, env={**env, **other})


def hls_end_faults(script: Path, work: str) -> list[str]:
    faults = []
    calls = hls_calls(script, work)
    if calls.code != 0 or not calls.ends:
        faults.append(f"it does not end by itself with 0: {calls.error or 'the tool stays open'}")
    # A command of the tool that fails must not end as if nothing had happened.
    with tempfile.TemporaryDirectory() as folder:
        broken = Path(folder) / "broken.tcl"
        broken.write_text(script.read_text().replace("csynth_design\n", "error synthesis\n"))
        failed = hls_calls(broken, work)
        if failed.code == 0 or failed.of("export_design"):
            faults.append("it ends with 0 though the synthesis fails")
    return faults


def hls_argument_faults(script: Path, work: str) -> list[str]:
    faults = []
    calls = hls_calls(script, work)
    if calls.code or calls.of("set_top") != [[HLS["GRAMER_KERNEL"]]] or not calls.of("csynth_design"):
        faults.append(f"it does not run from the environment alone: {calls.error}")
    for name in (*HLS, "GRAMER_BUILD", "GRAMER_PART"):
        calls = hls_calls(script, work, **{name: ""})
        if calls.code != 2 or name not in (calls.error or ""):
            faults.append(f"without {name} it ends with {calls.code}: {calls.error}")
    return faults


def hls_flow_faults(calls: Calls) -> list[str]:
    faults = []
    steps = ("open_project", "set_top", "add_files", "open_solution", "set_part", "create_clock",
             "csynth_design", "export_design", "close_project")
    if not calls.order(*steps):
        faults.append(f"the order is not {', '.join(steps)}")
    for name, words in (("open_solution", ["-flow_target", "vitis"]), ("export_design", ["-format", "xo"]),
                        ("create_clock", ["-period", HLS["GRAMER_CLOCK_NS"]])):
        for call in calls.of(name) or [[]]:
            if words[0] not in call or call[call.index(words[0]) + 1] != words[1]:
                faults.append(f"{name} without {' '.join(words)}")
    return faults


def hls_burst_faults(source: str) -> list[str]:
    lengths = [int(n) for n in re.findall(r"max_(?:read|write)_burst_length = (\d+)", source)]
    faults = [f"a burst of {n} beats of 64 bytes has more than 4 KiB" for n in lengths if 64 * n > 4096]
    return faults + ([] if lengths else ["no burst length is given"])


# Modules whose parts have regions of their own.
SPREAD = ("gramer_memory_system", "gramer_crossbar", "gramer_slr_link")


class Names:
    """Every instance below the core, and every variable with the fields of its type."""

    def __init__(self, folder: Path):
        keep, top = eda.elaborate(folder, "gramer_kernel")
        inside = list(eda.instances_of(top.body))
        # The path of the core in a linked design: the wrapper of a packaged IP calls it `inst`.
        self.core = [f"inst/{i.name}" for i in inside]
        self.instances, self.registers, self.modules = set(), set(), {}

        def visit(instance, path):
            for child in eda.instances_of(instance.body):
                name = str(child.hierarchicalPath).split(".", 2)[2]
                self.instances.add(name)
                self.modules[name] = child.definition.name
                visit(child, name)
        visit(inside[0], "")
        for member in inside[0].body:
            if type(member).__name__ == "VariableSymbol":
                self.registers.add(f"{member.name}_reg")
                kind = member.type.canonicalType
                if type(kind).__name__ == "PackedStructType":
                    self.registers |= {f"{member.name}_reg[{f.name}]" for f in kind}
        # The memory system's parts, a crossbar's columns and the queue of a link have regions of their own;
        # registers between regions, and what they are between, are the placer's.
        between = {n for n, module in self.modules.items() if module == "gramer_slr_registers"}
        spread = {n for n, module in self.modules.items() if module in SPREAD}
        self.direct = {n for n in self.instances - between - spread
                       if not any(n.startswith(o + ".") for o in self.instances - spread)}
        del keep

    def cores(self, units: list) -> list[str]:
        """The cells of a linked design's cores; the platform is above them."""
        return [f"level0_i/ulp/{unit}/{core}" for unit in units for core in self.core]

    def split(self, name: str):
        """A name as the constraints give it: the pattern of a core, and the cell below it."""
        for core in self.core:
            at = name.find(core + "/")
            if at >= 0:
                return name[:at] + core, name[at + len(core) + 1:].replace("/", ".")
        return None, name

    def fault(self, kind: str, name: str, units: list):
        if kind == "port":
            return None if name == "ap_clk" else f"no clock port {name}"
        pattern, plain = (name, None) if kind == "filter" else self.split(name)
        matched = [c for c in self.cores(units) if pattern and fnmatch.fnmatchcase(c, pattern)]
        if len(matched) != 1:
            return f"{name} names {len(matched)} cores of {', '.join(units)}"
        if plain is None or plain in self.instances or plain.removesuffix("*") in self.registers:
            return None
        return f"no cell {plain} in the core"


def cell_faults(calls: Calls, names: Names, units: list) -> list[str]:
    return [f for f in (names.fault(*n, units) for n in calls.named) if f]


def floorplan_faults(calls: Calls, names: Names, units: list, card: dict) -> list[str]:
    """Parts of a core without exactly one region of the card; regions of what is no instance."""
    faults, placed = [], {unit: [] for unit in units}
    for call in calls.of("set_property"):
        if call[0] != "USER_SLR_ASSIGNMENT":
            continue
        slr, (pattern, cell) = call[1], names.split(call[2])
        if not re.fullmatch(r"SLR\d+", slr) or int(slr[3:]) >= card["slrs"]:
            faults.append(f"{cell}: the card has no {slr}")
        if cell not in names.instances:
            faults.append(f"{cell} is given a region, but is no hierarchical cell")
        for unit in units:
            if pattern and fnmatch.fnmatchcase(names.cores([unit])[0], pattern):
                placed[unit].append(cell)
    return faults + [f"{part} of {unit} has {cells.count(part)} regions" for unit, cells in placed.items()
                     for part in sorted(names.direct) if cells.count(part) != 1]


def cluster_faults(text: str, card: dict) -> list[str]:
    """Clusters of the set core without exactly one region, away from their bank's controller, or from their movers."""
    regions = {}
    for unit, region in re.findall(r"^slr=(\w+):SLR(\d+)$", text, re.M):
        regions.setdefault(unit, []).append(int(region))
    units = int(re.search(r"^nk=gramer_set_core:(\d+)", text, re.M)[1])
    faults = []
    for unit in range(1, units + 1):
        names = [f"gramer_{part}_{unit}" for part in ("set_core", "fill", "drain")]
        found = [regions.get(name, []) for name in names]
        faults += [f"{name} has {len(slrs)} regions" for name, slrs in zip(names, found) if len(slrs) != 1]
        if len({tuple(slrs) for slrs in found}) != 1:
            faults.append(f"cluster {unit} and its movers have regions {found}")
        memory = re.findall(rf"^sp=gramer_set_core_{unit}\.bank0:{card['memory']}\[(\d+)", text, re.M)
        controllers = card["bank_slr"]
        if len(memory) != 1:
            faults.append(f"cluster {unit} has {len(memory)} banks")
        elif len(set(controllers)) > 1 and found[0] != [controllers[int(memory[0])]]:
            faults.append(f"cluster {unit} is in {found[0]}, its bank in {controllers[int(memory[0])]}")
    if len(set(card["bank_slr"])) == card["slrs"] and units <= card["slrs"]:
        used = [regions.get(f"gramer_set_core_{unit}", [None])[0] for unit in range(1, units + 1)]
        faults += [] if len(set(used)) == units else [f"clusters share regions: {used}"]
    return faults


def reset_faults(core: str) -> list[str]:
    text = eda.strip(core).split("\n);", 1)[1]
    uses = re.findall(r".*\bap_rst_n\b.*", text)
    return [] if len(uses) == 1 and re.search(r"\brst_q <= [!~]ap_rst_n;", uses[0]) \
        else [f"ap_rst_n is used in {len(uses)} places: {'; '.join(u.strip() for u in uses)}"]


class Build:
    """A run of the whole build.sh against replaced tools."""

    def __init__(self, work: Path, target: str, hls: str, found: dict, folder: Path, script=None, **other):
        tools, log = work / "bin", work / "log"
        shutil.rmtree(tools, ignore_errors=True)
        log.unlink(missing_ok=True)
        tools.mkdir(parents=True)
        for tool in ("vivado", "v++", hls, "xclbinutil", "emconfigutil"):
            (tools / tool).symlink_to(VITIS / "mock_tools.py")
        env = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(work), "TARGET": target, "BOARD": "u250",
               "MACHINE": folder.name, "XCLBIN_DIR": str(work), "MOCK_LOG": str(log),
               "MOCK_GENERATED": str(folder), "MOCK_INTERFACES": " ".join(interfaces(found)), **other}
        done = subprocess.run([script or VITIS / "build.sh"], text=True, capture_output=True, env=env)
        self.code, self.error, self.out = done.returncode, done.stderr, done.stdout
        self.calls = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        self.folder = work / f"{folder.name}-u250-{target}"
        self.target, self.hls, self.machine = target, hls, folder

    def option_faults(self) -> list[str]:
        wrong = [line for line in self.error.splitlines() if line.startswith("error: ")]
        return wrong or ([] if self.code == 0 else [f"it ends with {self.code}: {self.error[-300:]}"])

    def order_faults(self) -> list[str]:
        movers = ["v++", "v++"] if self.target == "sw_emu" else [self.hls, self.hls]
        wanted = ["vivado", *movers, "v++", "xclbinutil"] + ["emconfigutil"] * (self.target != "hw")
        found = [call["tool"] for call in self.calls]
        faults = [] if found == wanted else [f"the tools are {found}, not {wanted}"]
        for option, values in (("--target", {self.target}),
                               ("--platform", {board.boards()["u250"]["platform"]})):
            given = {c["arguments"][c["arguments"].index(option) + 1] for c in self.calls
                     if c["tool"] in ("v++", "emconfigutil") and option in c["arguments"]}
            if given != values:
                faults.append(f"{option} is {sorted(given)}, not {sorted(values)}")
        return faults

    def clock_faults(self) -> list[str]:
        mhz = re.search(r"clock_mhz: (\d+)", (self.machine / "machine.yaml").read_text())[1]
        given = [c["arguments"][c["arguments"].index("--kernel_frequency") + 1] for c in self.calls
                 if "--kernel_frequency" in c["arguments"]]
        return [] if given == [mhz] else [f"--kernel_frequency is {given}, the machine's clock {mhz} MHz"]

    def metadata_faults(self) -> list[str]:
        path = self.folder / "gramer.xclbin"
        if not path.exists():
            return ["there is no gramer.xclbin"]
        mode, _, sections = xclbin.read(path)
        found = [data for kind, data in sections if kind == xclbin.KINDS["USER_METADATA"]]
        faults = [] if found == [(self.machine / "machine.yaml").read_bytes()] \
            else [f"it has {len(found)} sections USER_METADATA, or of another machine"]
        if mode != xclbin.MODES[self.target]:
            faults.append(f"it is of mode {mode}")
        return faults

    def region_faults(self) -> list[str]:
        registers = re.search(r"slr_registers: (\d+)", (self.machine / "machine.yaml").read_text())
        # A cluster of the set core lies in one region.
        spread = board.kernel(self.machine) == "gramer_core"
        wanted = spread and self.target == "hw" and (registers is None or registers[1] == "0")
        return [] if ("slr_registers: 1" in self.error) == wanted \
            else [f"of paths between regions it warns {'not' if wanted else 'without need'}"]

    def emulation_faults(self) -> list[str]:
        there = (self.folder / "emconfig.json").exists()
        return [] if there == (self.target != "hw") else [f"emconfig.json is {'' if there else 'not '}there"]


class Checks:
    """Checks and refused variants by rule."""

    def __init__(self):
        lines = (VITIS / "rules.tsv").read_text().splitlines()
        rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
        self.rules = {row[0]: row[1:] for row in rows}
        self.checks = {name: 0 for name in self.rules}
        self.refused = {name: 0 for name in self.rules}
        self.faults = []

    def note(self, rule: str, where: str, found: list):
        """Faults that a check of a rule found, if any."""
        self.checks[rule] += 1
        self.faults += [f"{where}: {text} ({rule})" for text in found]

    def refuse(self, rule: str, what: str, found):
        """A check that cannot fail shows nothing: this was broken on purpose."""
        self.refused[rule] += 1
        if not found:
            self.faults.append(f"the check of {rule} itself: {what} was not noticed")

    def end(self, rest: str) -> int:
        for name in self.rules:
            if not self.checks[name] or not self.refused[name]:
                self.faults.append(f"rule {name} has {self.checks[name]} checks, and "
                                   f"{self.refused[name]} broken variants are refused")
        width = max(map(len, self.rules))
        print(f"{'rule':<{width}}  checks  refused  source")
        for name, row in self.rules.items():
            print(f"{name:<{width}}  {self.checks[name]:>6}  {self.refused[name]:>7}  {row[1]}")
        for fault in self.faults:
            print(f"error: {fault}", file=sys.stderr)
        print(f"vitis-check: {len(self.rules)} rules, {sum(self.checks.values())} checks, "
              f"{sum(self.refused.values())} broken variants refused, {len(self.faults)} faults; {rest}")
        return 1 if self.faults else 0


def changed(path: Path, work: Path, old: str, new: str) -> Path:
    """A copy of a file with a change, which must be one."""
    text = path.read_text()
    if old not in text:
        eda.fail(f"{path.name} has no {old!r} to break")
    copy = work / f"broken-{len(list(work.iterdir()))}{path.suffix}"
    copy.write_text(text.replace(old, new))
    copy.chmod(path.stat().st_mode)
    return copy


PAIR = ["gramer_core_1", "gramer_core_2"]


@dataclass
class Machine:
    """What was generated of a machine: descriptions of kernels by name, the core's ports, the folder."""

    roots: dict
    ports: dict
    folder: Path

    @property
    def kernels(self) -> dict:
        return {name: described(root) for name, root in self.roots.items()}


def check(report: Checks, work: Path) -> str:
    note = report.note
    cards = board.boards()
    machines = sorted(p for p in (ROOT / "target" / "generated").iterdir()
                      if (p / f"{board.kernel(p)}.xml").exists())
    if not machines:
        eda.fail("nothing is generated; run `make generate`")
    core_text = (ROOT / "rtl" / "gramer_core.sv").read_text()
    set_text = (ROOT / "rtl" / "set" / "gramer_set_core.sv").read_text()
    movers = {n: (ROOT / "hls" / f"{n}.cpp").read_text() for n in ("gramer_fill", "gramer_drain")}
    read = {}
    for folder in machines:
        read[folder.name] = one_machine(report, work, folder, movers, cards)
    sample, clusters = read["accelerator"], read.get("set")
    note("burst-kind", "rtl/gramer_core.sv", burst_kind_faults(core_text))
    note("reset-register", "rtl/gramer_core.sv", reset_faults(core_text))
    note("burst-kind", "rtl/set/gramer_set_core.sv", burst_kind_faults(set_text))
    note("reset-register", "rtl/set/gramer_set_core.sv", reset_faults(set_text))
    if clusters:
        set_core(report, work, clusters.roots, clusters.ports, clusters.folder, set_text)
    refused_tops(report, sample, core_text)
    refused_packages(report, work, sample)
    check_movers(report, work, sample, movers)
    refused_links(report, sample, cards["u250"])
    names = Names(sample.folder)
    check_constraints(report, work, sample, names, cards)
    far_names = check_far_constraints(report, work, cards)
    refused_constraints(report, work, names, far_names, cards["u250"])
    check_other_scripts(report, work, names, cards)
    whole_build(report, work, sample.ports, sample.folder)
    return f"{len(machines)} machines, {len(cards)} cards"


def one_machine(report: Checks, work: Path, folder: Path, movers: dict, cards: dict) -> Machine:
    """The files of a machine, its link for each card, and how its core is packaged."""
    note = report.note
    core = board.kernel(folder)
    roots = {n: tree.parse(folder / f"{n}.xml").getroot() for n in (core, "gramer_fill", "gramer_drain")}
    found = ports(folder)
    where = f"{folder.name}/{core}.xml"
    note("top-language", f"{folder.name}/gramer_kernel.v",
         top_faults((folder / "gramer_kernel.v").read_text()))
    note("port-interfaces", where, kernel_faults(roots[core], found))
    note("argument-registers", where, argument_faults(roots[core], found))
    note("master-address", folder.name, master_faults(found))
    for mover, text in movers.items():
        note("hls-interfaces", f"hls/{mover}.cpp", mover_faults(roots[mover], text))
    for name, card in cards.items():
        text = board.link(card, folder)
        kernels = {n: described(r) for n, r in roots.items()}
        note("link-instances", f"{folder.name}, link for {name}", link_faults(text, kernels, card))
        note("one-clock", f"{folder.name}, link for {name}", link_clock_faults(text))
        if core == "gramer_set_core":
            note("floorplan", f"{folder.name}, link for {name}", cluster_faults(text, card))
    calls = package_calls(VITIS / "package_core.tcl", folder, found, str(work))
    where = f"package_core.tcl, {folder.name}"
    note("tcl-commands", where, [calls.error] if calls.error else [])
    note("file-types", where, file_type_faults(calls))
    note("clock-of-interfaces", where, clock_faults(calls, found))
    note("burst-properties", where, burst_property_faults(calls, found))
    note("packaged-registers", where, register_faults(calls, roots[core]))
    note("kernel-properties", where, kernel_property_faults(calls, roots[core]))
    note("package-order", where, package_order_faults(calls))
    note("c-model", where, c_model_faults(calls, roots[core]))
    return Machine(roots, found, folder)


def refused_tops(report: Checks, sample: Machine, core_text: str):
    """The kernel's top, its description and the core's sources, broken."""
    refuse = report.refuse
    roots, found, folder = sample.roots, sample.ports, sample.folder
    top = (folder / "gramer_kernel.v").read_text()
    for what, old, new in (("a type of SystemVerilog", "output wire         interrupt", "output logic interrupt"),
                           ("a connection by name alone", ".ap_clk(ap_clk)", ".ap_clk"),
                           ("a literal of SystemVerilog", "{64{1'b1}}", "'1"),
                           ("a block of SystemVerilog", "endmodule", "always_comb begin end\nendmodule")):
        refuse("top-language", what, old in top and top_faults(top.replace(old, new)))

    def broken_xml(change):
        copy = tree.fromstring(tree.tostring(roots["gramer_core"]))
        change(copy.find("kernel"))
        return copy

    for what, change in (
        ("another data width", lambda k: k.find("ports")[1].set("dataWidth", "256")),
        ("a stream that turned round", lambda k: k.find("ports")[5].set("mode", "write_only")),
        ("a port less", lambda k: k.find("ports").remove(k.find("ports")[2])),
    ):
        refuse("port-interfaces", what, kernel_faults(broken_xml(change), found))
    refuse("argument-registers", "an argument at another offset",
           argument_faults(broken_xml(lambda k: k.find("args")[3].set("offset", "0x2c")), found))
    refuse("argument-registers", "a short address port",
           argument_faults(roots["gramer_core"], {**found, "s_axi_control_awaddr": ("in", 6)}))
    refuse("master-address", "addresses of 40 bits",
           master_faults({**found, "m_axi_bank1_araddr": ("out", 40)}))
    refuse("burst-kind", "wrapping bursts", burst_kind_faults(core_text.replace("= 2'd1;", "= 2'd2;")))
    refuse("burst-kind", "narrow bursts", burst_kind_faults(core_text.replace("= 3'd6;", "= 3'd5;")))
    refuse("reset-register", "a reset that is used as it comes",
           reset_faults(core_text.replace("endmodule", "assign x = ap_rst_n;\nendmodule")))


def refused_packages(report: Checks, work: Path, sample: Machine):
    """The packaging script, a line of it changed at a time."""
    roots, found, folder = sample.roots, sample.ports, sample.folder

    def package(old, new):
        return package_calls(changed(VITIS / "package_core.tcl", work, old, new), folder, found, str(work))

    for rule, what, old, new, faults in (
        ("file-types", "the top as SystemVerilog", "set_property file_type Verilog",
         "set_property file_type SystemVerilog", file_type_faults),
        ("clock-of-interfaces", "a master without a clock", "[string match m_axi* $name] || ", "",
         lambda c: clock_faults(c, found)),
        ("clock-of-interfaces", "a clock without its reset", "-clock ap_clk -reset ap_rst_n", "-clock ap_clk",
         lambda c: clock_faults(c, found)),
        ("burst-properties", "one of the properties less", "{HAS_BURST SUPPORTS_NARROW_BURST}", "{HAS_BURST}",
         lambda c: burst_property_faults(c, found)),
        ("burst-properties", "bursts of all kinds", "set_property value 0 $parameter",
         "set_property value 1 $parameter", lambda c: burst_property_faults(c, found)),
        ("packaged-registers", "registers of half their size", "{8 * $argument(size)}", "{4 * $argument(size)}",
         lambda c: register_faults(c, roots["gramer_core"])),
        ("packaged-registers", "pointers without a master", "ASSOCIATED_BUSIF", "ASSOCIATED",
         lambda c: register_faults(c, roots["gramer_core"])),
        ("kernel-properties", "another protocol", "ap_ctrl_chain", "ap_ctrl_hs",
         lambda c: kernel_property_faults(c, roots["gramer_core"])),
        ("package-order", "no check of integrity", "ipx::check_integrity -kernel -xrt $core\n", "",
         package_order_faults),
        ("c-model", "a kernel object without the model", "$hls/core_model.cpp ", "",
         lambda c: c_model_faults(c, roots["gramer_core"])),
    ):
        report.refuse(rule, what, faults(package(old, new)))


def check_movers(report: Checks, work: Path, sample: Machine, movers: dict):
    """How the movers are compiled."""
    note, refuse, roots = report.note, report.refuse, sample.roots
    script = VITIS / "compile_movers.tcl"
    note("hls-ends", script.name, hls_end_faults(script, str(work)))
    note("hls-arguments", script.name, hls_argument_faults(script, str(work)))
    calls = hls_calls(script, str(work))
    note("tcl-commands", script.name, [calls.error] if calls.error else [])
    note("hls-flow", script.name, hls_flow_faults(calls))
    for mover, text in movers.items():
        note("hls-bursts", f"hls/{mover}.cpp", hls_burst_faults(text))
        refuse("hls-bursts", "bursts of 8 KiB", hls_burst_faults(text.replace("burst_length = 64", "burst_length = 128")))
        refuse("hls-interfaces", "a pointer without its register", mover_faults(
            roots[mover], re.sub(r"#pragma HLS INTERFACE mode = s_axilite port = (head|result)\n", "", text)))
        refuse("hls-interfaces", "another control protocol",
               mover_faults(roots[mover], text.replace("ap_ctrl_chain", "ap_ctrl_hs")))
    refuse("hls-ends", "a script without exit", hls_end_faults(changed(script, work, "\nexit 0\n", "\n"), str(work)))
    refuse("hls-ends", "a fault that is no failure",
           hls_end_faults(changed(script, work, "  exit 1\n", "  exit 0\n"), str(work)))
    refuse("hls-arguments", "arguments from the command line", hls_argument_faults(
        changed(script, work, "set $variable $env($name)", "set $variable [lindex $argv 0]"), str(work)))
    refuse("hls-flow", "the other flow",
           hls_flow_faults(hls_calls(changed(script, work, "-flow_target vitis", "-flow_target vivado"), str(work))))


def refused_links(report: Checks, sample: Machine, card: dict):
    """The linker's configuration, broken."""
    refuse = report.refuse
    text = board.link(card, sample.folder)
    for what, old, new in (("a bank too many", "DDR[3]", "DDR[4]"), ("a stream's name", ".out:", ".o:"),
                           ("a pointer without a bank", "sp=gramer_core_1.bank2:DDR[2]\n", ""),
                           ("a region too many", "gramer_fill_1:SLR1", "gramer_fill_1:SLR4")):
        refuse("link-instances", what, old in text and link_faults(text.replace(old, new), sample.kernels, card))
    refuse("one-clock", "a section of the clock", link_clock_faults(text + "[clock]\ndefaultFreqHz=200000000\n"))


def generated(work: Path, name: str, change: str, what: str) -> Path:
    """What is generated of the paper's machine with a change."""
    (work / f"{name}.yaml").write_text(f"base: {ROOT}/accelerator.yaml\n{change}\n")
    made = subprocess.run(["cargo", "run", "-q", "--locked", "-p", "gramer-machine", "--example", "generate", "--",
                           str(work / f"{name}.yaml"), str(work / name)], cwd=ROOT, text=True, capture_output=True)
    if made.returncode:
        eda.fail(f"no machine with {what}: {made.stderr}")
    return work / name


def check_constraints(report: Checks, work: Path, sample: Machine, names: Names, cards: dict):
    """Constraints: those of the repository, and of a machine with two compute units."""
    note = report.note
    two = generated(work, "two", "machine: {name: two}\nkernels: {compute_units: 2}", "two compute units")
    for name, card in cards.items():
        path = ROOT / "constraints" / f"{name}.tcl"
        written = path.read_text() == board.constraints(card, sample.folder)
        note("floorplan", path.name, [] if written else ["it is not what scripts/board.py --write makes"])
        both = work / f"{name}.tcl"
        both.write_text(board.constraints(card, two))
        for where, units in ((path, PAIR[:1]), (both, PAIR)):
            calls = Calls(where)
            shown = f"{name}.tcl, {len(units)} compute units"
            note("tcl-commands", shown, [calls.error] if calls.error else [])
            note("cell-names", shown, cell_faults(calls, names, units))
            note("floorplan", shown, floorplan_faults(calls, names, units, card))
        two_roots = {n: tree.parse(two / f"{n}.xml").getroot() for n in sample.roots}
        note("link-instances", f"two compute units, link for {name}",
             link_faults(board.link(card, two), {n: described(r) for n, r in two_roots.items()}, card))


def check_far_constraints(report: Checks, work: Path, cards: dict) -> Names:
    """Constraints of a machine for a card: with registers between the regions it has queues too."""
    note = report.note
    machine = generated(work, "far", "machine: {name: far, slr_registers: 1}", "registers between regions")
    far_names = Names(machine)
    for name, card in cards.items():
        path = work / f"far-{name}.tcl"
        path.write_text(board.constraints(card, machine))
        calls = Calls(path)
        shown = f"{name}.tcl, slr_registers 1"
        note("tcl-commands", shown, [calls.error] if calls.error else [])
        note("cell-names", shown, cell_faults(calls, far_names, PAIR[:1]))
        note("floorplan", shown, floorplan_faults(calls, far_names, PAIR[:1], card))
    return far_names


def refused_constraints(report: Checks, work: Path, names: Names, far_names: Names, card: dict):
    """Constraints, broken."""
    refuse = report.refuse
    queue = "set_property USER_SLR_ASSIGNMENT SLR0 [cells {i_memory/gen_bank[0].gen_far.i_polls}]\n"
    refuse("floorplan", "a queue without a region",
           floorplan_faults(Calls(changed(work / "far-u250.tcl", work, queue, "")), far_names, PAIR[:1], card))
    path = ROOT / "constraints" / "u250.tcl"
    refuse("floorplan", "a second compute unit without regions",
           floorplan_faults(Calls(path), names, PAIR, card))
    for what, old, new in (("a region too many", "SLR3 [cells {gen_pu[6].i_pu}]", "SLR4 [cells {gen_pu[6].i_pu}]"),
                           ("a part without a region", "set_property USER_SLR_ASSIGNMENT SLR1 [cells {i_control}]\n", ""),
                           ("a region of a register", "[cells {i_control}]", "[cells {rst_q_reg}]")):
        refuse("floorplan", what, floorplan_faults(Calls(changed(path, work, old, new)), names, PAIR[:1], card))
    for what, old, new in (("a core by another name", "/inst/i_core", "/inst/i_cor"),
                           ("a filter of both cores", "*gramer_core_1/", "*gramer_core_*/"),
                           ("a PU too many", "gen_pu[7]", "gen_pu[9]"),
                           ("a field that is not there", "config_q_reg[k]", "config_q_reg[kk]")):
        refuse("cell-names", what, cell_faults(Calls(changed(path, work, old, new)), names, PAIR))


def check_other_scripts(report: Checks, work: Path, names: Names, cards: dict):
    """Other Tcl files, and the check of commands."""
    note, refuse = report.note, report.refuse
    for path, script in (("reports.tcl", VITIS / "reports.tcl"), ("clock.tcl", ROOT / "constraints" / "clock.tcl")):
        calls = Calls(script)
        note("tcl-commands", path, [calls.error] if calls.error else cell_faults(calls, names, PAIR[:1]))
    known = {"mock.tcl", "package_core.tcl", "compile_movers.tcl", "reports.tcl", "clock.tcl",
             *(f"{name}.tcl" for name in cards)}
    others = {p.name for place in (VITIS, ROOT / "constraints") for p in place.glob("*.tcl")} - known
    note("tcl-commands", "scripts/vitis", [f"{name} is not checked" for name in others])
    for what, line in (("an unknown command", "place_everything"), ("an unknown option", "set_property -loud a b c"),
                       ("an unfinished line", "set_property a {b")):
        (work / "broken.tcl").write_text(line + "\n")
        refuse("tcl-commands", what, Calls(work / "broken.tcl").error)


def set_core(report: Checks, work: Path, roots: dict, found: dict, folder: Path, core_text: str):
    """What the set core's machine has of its own, and a whole build of it."""
    note, refuse = report.note, report.refuse
    refuse("burst-kind", "wrapping bursts of the set core", burst_kind_faults(core_text.replace("= 2'd1;", "= 2'd2;")))
    refuse("reset-register", "a reset of the set core that is used as it comes",
           reset_faults(core_text.replace("endmodule", "assign x = ap_rst_n;\nendmodule")))
    card = board.boards()["u250"]
    text = board.link(card, folder)
    for what, old, new in (("a cluster without a region", "slr=gramer_set_core_2:SLR1\n", ""),
                           ("a cluster away from its bank", "slr=gramer_set_core_2:SLR1", "slr=gramer_set_core_2:SLR2"),
                           ("a mover away from its cluster", "slr=gramer_fill_2:SLR1", "slr=gramer_fill_2:SLR3"),
                           ("two clusters in a region", "slr=gramer_set_core_2:SLR1", "slr=gramer_set_core_2:SLR0")):
        refuse("floorplan", what, old in text and cluster_faults(text.replace(old, new), card))
    refuse("link-instances", "a cluster without a bank", link_faults(
        text.replace("sp=gramer_set_core_2.bank0:DDR[1]\n", ""), {n: described(r) for n, r in roots.items()}, card))

    # Modules of the paper's core alone want numbers that this machine doesn't have.
    def module_faults(script):
        calls = package_calls(script, folder, found, str(work))
        added = {Path(f).stem for call in calls.of("add_files") for f in call[-1].split()}
        wanted = set(eda.sources(folder))
        return [] if added == wanted else [f"it adds {sorted(added - wanted)} and leaves out {sorted(wanted - added)}"]

    script = VITIS / "package_core.tcl"
    note("file-types", "package_core.tcl, modules of the set core", module_faults(script))
    refuse("file-types", "modules of both cores", module_faults(
        changed(script, work, "[string first gramer_types_pkg [read $channel]] < 0", "[read $channel] ne {}")))
    for target in ("hw", "hw_emu"):
        done = Build(work / f"set-{target}", target, "vitis_hls", found, folder)
        where = f"build.sh, MACHINE={folder.name} TARGET={target}"
        note("tool-options", where, done.option_faults())
        note("tool-order", where, done.order_faults())
        note("one-clock", where, done.clock_faults())
        note("user-metadata", where, done.metadata_faults())
        note("emulation-config", where, done.emulation_faults())
        note("slr-registers", where, done.region_faults())
    done = Build(work / "set-sw_emu", "sw_emu", "vitis_hls", found, folder)
    note("c-model", f"build.sh, MACHINE={folder.name} TARGET=sw_emu",
         [] if done.code == 2 and "no functional model" in done.error and not done.calls
         else [f"it ends with {done.code}: {done.error[-200:]}"])


def whole_build(report: Checks, work: Path, found: dict, folder: Path):
    """build.sh from its begin to its end, against replaced tools."""
    note, refuse = report.note, report.refuse

    def build(name, target, hls="vitis_hls", **other):
        return Build(work / name, target, hls, found, folder, **other)

    for target in ("hw", "hw_emu", "sw_emu"):
        for hls in ("vitis_hls", "vitis-run"):
            done = build(f"{target}-{hls}", target, hls)
            where = f"build.sh, TARGET={target}, {hls}"
            note("tool-options", where, done.option_faults())
            note("tool-order", where, done.order_faults())
            note("one-clock", where, done.clock_faults())
            note("user-metadata", where, done.metadata_faults())
            note("emulation-config", where, done.emulation_faults())
            note("slr-registers", where, done.region_faults())
    again = build("hw-vitis_hls", "hw")
    note("user-metadata", "build.sh, a second time in the same folder", again.option_faults() + again.metadata_faults())

    other = build("frequency", "hw", FREQUENCY="150")
    note("one-clock", "build.sh, FREQUENCY=150",
         [] if other.code == 2 and "clock_mhz: 150" in other.error and not other.calls
         else [f"it ends with {other.code}: {other.error}"])

    def broken(old, new, target="hw", hls="vitis_hls"):
        # The script finds the repository by its own place.
        text = (VITIS / "build.sh").read_text()
        if old not in text:
            eda.fail(f"build.sh has no {old!r} to break")
        path = work / f"build-{len(list(work.iterdir()))}.sh"
        path.write_text(text.replace(old, new).replace('"$(dirname "$0")/../.."', f'"{ROOT}"'))
        path.chmod(0o755)
        return build(f"{path.stem}-run", target, hls, script=path)

    refuse("user-metadata", "no USER_METADATA",
           broken('--add-section "USER_METADATA:RAW:$generated/machine.yaml"', "").metadata_faults())
    refuse("user-metadata", "the description of another machine",
           broken("$generated/machine.yaml\" \\", "$root/accelerator.yaml\" \\").metadata_faults())
    refuse("one-clock", "another frequency",
           broken('--kernel_frequency "$clock"', "--kernel_frequency 300").clock_faults())
    refuse("tool-options", "an option that is not documented", broken("--report_level", "--report-level").option_faults())
    refuse("tool-options", "a hook that is not there", broken("$build/constraints.tcl", "$build/none.tcl").option_faults())
    refuse("tool-options", "arguments for vitis_hls",
           broken("compile_movers.tcl\"", "compile_movers.tcl\" -tclargs a").option_faults())
    refuse("tool-order", "emulation linked for a card", broken('link=(--link --target "$TARGET"',
           "link=(--link --target hw", "hw_emu").order_faults())
    refuse("tool-order", "a mover that is not compiled", broken("for kernel in gramer_fill gramer_drain",
           "for kernel in gramer_drain").order_faults())
    refuse("emulation-config", "an emulation without emconfig.json",
           broken('[ "$TARGET" = hw ] || run emconfigutil', "true || run emconfigutil", "hw_emu").emulation_faults())

    refuse("slr-registers", "a build without the warning", broken("describe a machine with slr_registers", "x").region_faults())

    # Without Vitis the build must say what is missing.
    bare = dict(os.environ, PATH="/usr/bin:/bin", TARGET="hw", BOARD="u250")
    done = subprocess.run([VITIS / "build.sh"], text=True, capture_output=True, env=bare)
    wanted = ("Vitis is not there", "vivado", "xclbinutil", "vitis-run")
    note("tool-options", "build.sh without Vitis",
         [] if done.returncode == 1 and all(w in done.stderr for w in wanted)
         else [f"it ends with {done.returncode}: {done.stderr}"])
    summary = subprocess.run([sys.executable, VITIS / "summary.py", str(sample_reports(work))],
                             text=True, capture_output=True).stdout
    note("tool-options", "summary.py of a clock that is not met",
         [] if "NOT MET: worst slack -0.123 ns, 7 ends" in summary
         and "gramer_core_1Total LUTs 400000, FFs 300000" in summary else [summary])


def main() -> int:
    report = Checks()
    with tempfile.TemporaryDirectory() as work:
        rest = check(report, Path(work))
    return report.end(rest)


def sample_reports(folder: Path) -> Path:
    """Two reports in the form of UG906 and UG835, of a clock that is not met."""
    build = folder / "build"
    build.mkdir()
    (build / "timing.rpt").write_text(
        "| Design Timing Summary\n\n    WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints"
        "      WHS(ns)\n    -------      -------  ---------------------  -------------------      -------\n"
        "     -0.123       -1.500                      7              1000000        0.010\n")
    (build / "utilization.rpt").write_text(
        "| Instance | Module | Total LUTs | Logic LUTs | LUTRAMs | SRLs | FFs | RAMB36 | RAMB18 | URAM | DSP Blocks |\n"
        "| gramer_core_1 | x | 400000 | 1 | 1 | 1 | 300000 | 1700 | 10 | 0 | 16 |\n")
    return build


if __name__ == "__main__":
    sys.exit(main())
