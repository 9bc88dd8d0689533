#!/usr/bin/env python3
"""What can be checked of the Vitis build without Vitis.

- kernel.xml and link.cfg of every machine against the ports that an independent parser (pyslang)
  finds in the RTL, and the movers' interface pragmas against their kernel.xml.
- Every Tcl file runs to its end with the vendor's commands replaced by ones that know their
  documented options (scripts/vitis/commands.tsv); other commands are refused.
- Every cell that a floorplan or an exception names is in the elaborated hierarchy; every part of
  the core has a region.
- The checks themselves: files that were broken on purpose are refused.
"""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree
from pathlib import Path

import board
import eda

ROOT = eda.ROOT
VITIS = ROOT / "scripts" / "vitis"
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

    # Arguments: in order from 0x10, without gaps beyond those of Vitis HLS, inside the address range.
    offset, reach = 0x10, 1 << found.get("s_axi_control_awaddr", ("in", 0))[1]
    for at, argument in enumerate(kernel.find("args")):
        name, size = argument.get("name"), int(argument.get("size"), 16)
        if int(argument.get("id")) != at:
            faults.append(f"argument {name} has id {argument.get('id')}, not {at}")
        if argument.get("port") not in declared:
            faults.append(f"argument {name} is of no port")
        if argument.get("addressQualifier") == "4":
            continue
        if int(argument.get("offset"), 16) != offset:
            faults.append(f"argument {name} is at {argument.get('offset')}, not {offset:#x}")
        offset += 12 if size == 8 else 8
    if offset > reach:
        faults.append(f"arguments reach to {offset:#x}, the address port to {reach:#x}")
    return faults


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


def run_tcl(script: Path, *arguments: str):
    """Runs a Tcl file against the documented commands: (objects that it names, error or None)."""
    done = subprocess.run(["tclsh", VITIS / "mock.tcl", VITIS / "commands.tsv", script, *arguments],
                          text=True, capture_output=True, cwd=ROOT)
    named = [tuple(line.split("\t", 1)) for line in done.stdout.splitlines() if "\t" in line]
    return named, done.stderr.strip() if done.returncode else None


class Names:
    """Every instance below the core, and every variable with the fields of its type."""

    def __init__(self, folder: Path):
        keep, top = eda.elaborate(folder)
        self.instances, self.registers, self.modules = set(), set(), {}

        def visit(instance, path):
            for child in eda.instances_of(instance.body):
                name = str(child.hierarchicalPath).split(".", 1)[1]
                self.instances.add(name)
                self.modules[name] = child.definition.name
                visit(child, name)
        visit(top, "")
        for member in top.body:
            if type(member).__name__ == "VariableSymbol":
                self.registers.add(f"{member.name}_reg")
                kind = member.type.canonicalType
                if type(kind).__name__ == "PackedStructType":
                    self.registers |= {f"{member.name}_reg[{f.name}]" for f in kind}
        # A crossbar's columns have regions of their own; registers between regions, and what they are
        # between, are the placer's.
        between = {n for n, module in self.modules.items() if module == "gramer_slr_registers"}
        spread = {n for n, module in self.modules.items() if module == "gramer_crossbar"}
        self.direct = {n for n in self.instances - between - spread
                       if not any(n.startswith(o + ".") for o in self.instances - spread)}
        del keep

    def fault(self, kind: str, name: str):
        if kind == "filter":
            ok = name == "NAME =~ *gramer_core_1/inst/i_core"
            return None if ok else f"the filter {name} is not the core's"
        if kind == "port":
            return None if name == "ap_clk" else f"no clock port {name}"
        plain = name.removeprefix("CORE/").replace("/", ".")
        if plain in self.instances or plain.removesuffix("*") in self.registers:
            return None
        return f"no cell {plain} in the core"


def constraint_faults(named: list, names: Names) -> list[str]:
    faults = [f for f in (names.fault(*n) for n in named) if f]
    placed = [n.removeprefix("CORE/").replace("/", ".") for kind, n in named if kind == "cell"]
    for part in sorted(names.direct):
        if placed.count(part) != 1:
            faults.append(f"{part} has {placed.count(part)} regions")
    return faults


def main() -> int:
    faults, checks = [], 0

    def note(where, found):
        nonlocal checks
        checks += 1
        faults.extend(f"{where}: {text}" for text in found)

    cards = board.boards()
    machines = sorted(p for p in (ROOT / "target" / "generated").iterdir()
                      if (p / "gramer_core.xml").exists())
    if not machines:
        eda.fail("nothing is generated; run `make generate`")
    sample = None
    for folder in machines:
        roots = {n: tree.parse(folder / f"{n}.xml").getroot()
                 for n in ("gramer_core", "gramer_fill", "gramer_drain")}
        found = ports(folder)
        note(f"{folder.name}/gramer_core.xml", kernel_faults(roots["gramer_core"], found))
        for mover in ("gramer_fill", "gramer_drain"):
            note(f"hls/{mover}.cpp", mover_faults(roots[mover], (ROOT / "hls" / f"{mover}.cpp").read_text()))
        for name, card in cards.items():
            kernels = {n: described(r) for n, r in roots.items()}
            note(f"{folder.name}, link for {name}", link_faults(board.link(card, folder.name), kernels, card))
        kernels = {n: described(r) for n, r in roots.items()}
        note(f"{folder.name}/link.cfg", link_faults((folder / "link.cfg").read_text(), kernels, cards["u250"]))
        if folder.name == "accelerator":
            sample = (roots, found, folder)
    names = Names(sample[2])

    work = tempfile.mkdtemp()
    for script, arguments in (
        ("package_core.tcl", [str(sample[2]), str(ROOT / "rtl"), str(ROOT / "hls"), f"{work}/core",
                              cards["u250"]["part"], f"{work}/gramer_core.xo"]),
        ("compile_movers.tcl", ["gramer_fill", str(ROOT / "hls"), work, cards["u250"]["part"], "5.000"]),
        ("reports.tcl", []),
    ):
        note(script, [e for e in [run_tcl(VITIS / script, *arguments)[1]] if e])
    others = {p.name for p in VITIS.glob("*.tcl")} - {"mock.tcl", "package_core.tcl",
                                                      "compile_movers.tcl", "reports.tcl"}
    note("scripts/vitis", [f"{name} is not checked" for name in others])
    for path in sorted((ROOT / "constraints").glob("*.tcl")):
        named, error = run_tcl(path)
        note(path.name, [error] if error else
             constraint_faults(named, names) if path.stem in cards else
             [f for f in (names.fault(*n) for n in named) if f])
    for name, card in cards.items():
        text = (ROOT / "constraints" / f"{name}.tcl").read_text()
        note(f"{name}.tcl", [] if text == board.constraints(name, card)
             else ["it is not what scripts/board.py --write makes"])

    # A check that cannot fail shows nothing.
    def refused(what, found):
        note("the check itself", [] if found else [f"{what} was not noticed"])

    def copy(element):
        return tree.fromstring(tree.tostring(element))

    roots, found, _ = sample
    for what, change in (
        ("an argument at another offset", lambda k: k.find("args")[3].set("offset", "0x2c")),
        ("another data width", lambda k: k.find("ports")[1].set("dataWidth", "256")),
        ("a stream that turned round", lambda k: k.find("ports")[5].set("mode", "write_only")),
        ("a port less", lambda k: k.find("ports").remove(k.find("ports")[2])),
    ):
        broken = copy(roots["gramer_core"])
        change(broken.find("kernel"))
        refused(what, kernel_faults(broken, found))
    text = board.link(cards["u250"], "accelerator")
    for what, old, new in (("a bank too many", "DDR[3]", "DDR[4]"), ("a stream's name", ".out:", ".o:"),
                           ("a pointer without a bank", "sp=gramer_core_1.bank2:DDR[2]\n", "")):
        kernels = {n: described(r) for n, r in roots.items()}
        refused(what, old not in text or link_faults(text.replace(old, new), kernels, cards["u250"]))
    for what, line in (("an unknown command", "place_everything"), ("an unknown option", "set_property -loud a b c"),
                       ("an unfinished line", "set_property a {b"), ("a cell that is not there",
                        "get_cells CORE/gen_pu\\[9\\].i_pu")):
        path = Path(work) / "broken.tcl"
        path.write_text(line + "\n")
        named, error = run_tcl(path)
        refused(what, error or any(names.fault(*n) for n in named))
    summary = subprocess.run([sys.executable, VITIS / "summary.py", str(sample_reports(Path(work)))],
                             text=True, capture_output=True).stdout
    refused("a clock that is not met, in the summary", "NOT MET: worst slack -0.123 ns, 7 ends" in summary
            and "gramer_core_1Total LUTs 400000, FFs 300000" in summary)

    # Without Vitis the build must say what is missing.
    bare = dict(os.environ, PATH="/usr/bin:/bin", TARGET="hw", BOARD="u250")
    done = subprocess.run([VITIS / "build.sh"], text=True, capture_output=True, env=bare)
    note("build.sh", [] if done.returncode == 1 and "Vitis is not there" in done.stderr
         else [f"without Vitis it ends with {done.returncode}: {done.stderr}"])
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    print(f"vitis-check: {checks} checks, {len(faults)} faults; {len(machines)} machines, {len(cards)} cards")
    return 1 if faults else 0


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
