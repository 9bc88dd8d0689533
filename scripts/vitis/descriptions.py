"""Checks generated files of a machine against Vitis' manuals: kernels' descriptions, links, the top level."""

import re
import tempfile
from pathlib import Path

import eda

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
    """Names in the linker's configuration that no kernel, bank or region has."""
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
