#!/usr/bin/env python3
"""Checks of the Vitis build that need no Vitis.

The rules, with the manuals that they are of, are in scripts/vitis/rules.tsv; each has its checks here,
and files that were broken on purpose, which its check must refuse. The table is printed at the end.
The parser of the RTL (pyslang) and Tcl's interpreter know nothing of what generates the files; the
vendor's commands and tools are replaced by ones that know their documented options
(scripts/vitis/commands.tsv, tools.tsv).
"""

import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree
from dataclasses import dataclass
from pathlib import Path

import board
import fit
from built import BUILT
import eda

ROOT = eda.ROOT
VITIS = ROOT / "scripts" / "vitis"
sys.path.insert(0, str(VITIS))
from checks import Checks, changed  # noqa: E402
from descriptions import (  # noqa: E402
    argument_faults, described, kernel_faults, link_clock_faults, link_faults, master_faults, mover_faults,
    ports, top_faults)
from floorplan import Names, cell_faults, cluster_faults, floorplan_faults, reset_faults  # noqa: E402
from tcl_files import (  # noqa: E402
    Calls, burst_kind_faults, burst_property_faults, c_model_faults, clock_faults, file_type_faults,
    hls_argument_faults, hls_burst_faults, hls_calls, hls_end_faults, hls_flow_faults, kernel_property_faults,
    package_calls, package_order_faults, read_property_faults, register_faults)
from whole_build import Build, whole_build  # noqa: E402

PAIR = ["gramer_core_1", "gramer_core_2"]
# Pages with figures of machines, which say what cards these fit.
SHOWN = {"cycles.md": ["accelerator"], "set-cycles.md": ["set", "set-hbm", "set32"], "set-plans.md": ["set-plans32"],
         "synthesis.md": ["accelerator", "set", "set32", "set-hbm", "set-plans", "set-plans12"]}


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
    boards, cards = board.boards(), board.cards()
    machines = sorted(p for p in (ROOT / "target" / "generated").iterdir()
                      if (p / f"{board.kernel(p)}.xml").exists())
    if not machines:
        eda.fail("nothing is generated; run `make generate`")
    core_text = (ROOT / "rtl" / "paper" / "gramer_core.sv").read_text()
    set_text = (ROOT / "rtl" / "set" / "gramer_set_core.sv").read_text()
    movers = {n: (ROOT / "hls" / f"{n}.cpp").read_text() for n in ("gramer_fill", "gramer_drain")}
    read = {}
    for folder in machines:
        read[folder.name] = one_machine(report, work, folder, movers, boards)
    sample, clusters = read["accelerator"], read.get("set")
    note("burst-kind", "rtl/paper/gramer_core.sv", burst_kind_faults(core_text))
    note("reset-register", "rtl/paper/gramer_core.sv", reset_faults(core_text))
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
    check_dissolved_cells(report)
    placed = {far_names.split(call[2])[1] for call in Calls(work / "far-u250.tcl").of("set_property")}
    report.note("floorplan", "modules with a region", kept_faults(far_names, placed))
    report.refuse("floorplan", "a module with a region that may be dissolved",
                  kept_faults(far_names, placed, lambda text: text.replace("(* keep_hierarchy", "(* keep")))
    check_other_scripts(report, work, names, cards)
    check_fit(report, work, sample.ports, cards)
    whole_build(report, work, sample.ports, sample.folder)
    emulated_boards(report, work, sample)
    return f"{len(machines)} machines, {len(boards)} boards"


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
        if board.banks(folder) > card["banks"]:
            continue # refused (fit.py)
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
    note("outstanding-reads", where, read_property_faults(calls, found, folder))
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
        ("burst-properties", "one of the properties less", "HAS_BURST 0 SUPPORTS_NARROW_BURST 0", "HAS_BURST 0",
         lambda c: burst_property_faults(c, found)),
        ("burst-properties", "bursts of all kinds", "SUPPORTS_NARROW_BURST 0",
         "SUPPORTS_NARROW_BURST 1", lambda c: burst_property_faults(c, found)),
        ("outstanding-reads", "two reads under way", "NUM_READ_OUTSTANDING 32", "NUM_READ_OUTSTANDING 2",
         lambda c: read_property_faults(c, found, folder)),
        ("outstanding-reads", "nothing said of reads", " $reads]", "]",
         lambda c: read_property_faults(c, found, folder)),
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
    """Checks the compilation of the movers."""
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
    """Generated files of the paper's machine with a change."""
    (work / f"{name}.yaml").write_text(f"base: {ROOT}/accelerator.yaml\n{change}\n")
    # Built by `make generate`: for its package alone cargo would build dependencies with other features.
    made = subprocess.run([str(BUILT / "debug/examples/generate"), str(work / f"{name}.yaml"),
                           str(work / name)], text=True, capture_output=True)
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
    queue = "place SLR0 {i_memory/gen_bank[0].gen_far.i_polls}\n"
    refuse("floorplan", "a queue without a region",
           floorplan_faults(Calls(changed(work / "far-u250.tcl", work, queue, "")), far_names, PAIR[:1], card))
    path = ROOT / "constraints" / "u250.tcl"
    refuse("floorplan", "a second compute unit without regions",
           floorplan_faults(Calls(path), names, PAIR, card))
    for what, old, new in (("a region too many", "SLR3 {gen_pu[6].i_pu}", "SLR4 {gen_pu[6].i_pu}"),
                           ("a part without a region", "place SLR1 {i_control}\n", ""),
                           ("a region of a register", "{i_control}", "{rst_q_reg}")):
        refuse("floorplan", what, floorplan_faults(Calls(changed(path, work, old, new)), names, PAIR[:1], card))
    for what, old, new in (("a core by another name", "/inst/i_core", "/inst/i_cor"),
                           ("a filter of both cores", "*gramer_core_1/", "*gramer_core_*/"),
                           ("a PU too many", "gen_pu[7]", "gen_pu[9]"),
                           ("a field that is not there", "config_q_reg[k]", "config_q_reg[kk]")):
        refuse("cell-names", what, cell_faults(Calls(changed(path, work, old, new)), names, PAIR))


def check_dissolved_cells(report: Checks):
    """Dissolved cells are reported and do not end a build; placed modules are kept."""
    path = ROOT / "constraints" / "u250.tcl"
    calls = Calls(path, env={"MOCK_MISSING": "*/i_settings"})
    placed = [call[2] for call in calls.of("set_property")]
    report.note("floorplan", "u250.tcl without a cell", [calls.error] if calls.error else
                ["it is placed"] if any(cell.endswith("/i_settings") for cell in placed) or not placed else
                [] if any("1 cells are not there" in line for line in calls.said) else ["nothing is reported"])


def kept_faults(names: Names, placed: set, change=lambda text: text) -> list[str]:
    """Cells with a region whose module, or instance, Vivado may dissolve."""
    faults = []
    for cell in sorted(placed):
        module, instance = names.modules[cell], cell.rsplit(".", 1)[-1].split("[")[0]
        texts = [change(path.read_text()) for path in (ROOT / "rtl").rglob("*.sv")]
        kept = r'\(\* keep_hierarchy = "yes" \*\)[^\n]*\n'
        if not any(re.search(rf"{kept}module {module}\b", text) or
                   re.search(rf"{kept} *{module} #\([^;]*?\) {instance} \(", text) for text in texts):
            faults.append(f"{cell} has a region, and {module} may be dissolved")
    return faults


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


def check_fit(report: Checks, work: Path, found: dict, cards: dict):
    """Machines of known area on each card, and builds of those that a card has no room for."""
    note, refuse = report.note, report.refuse
    note("region-fit", "docs/reference/boards.md",
         [] if fit.document() == fit.DOCUMENT.read_text() else ["it is not what scripts/fit.py --write makes"])
    note("region-fit", str(fit.SHARES.relative_to(ROOT)),
         [] if fit.shares_table() == fit.SHARES.read_text() else ["it is not what scripts/fit.py --write makes"])
    for page, names in SHOWN.items():
        text = (ROOT / "docs" / "results" / "hardware" / page).read_text()
        note("region-fit", page, [f"it does not say which card machine {name} fits" for name in names
                                  if not any(f"for `{name}`: {fit.built_for(board.machine(name), unit)}{end}" in text
                                             for end in ";." for unit in [fit.area(board.machine(name))])])
    for name in fit.shown():
        folder, unit = board.machine(name), fit.area(board.machine(name))
        for chosen, card in cards.items():
            done = Build(work / f"fit-{name}-{chosen}", "hw", "vitis_hls", found, folder, BOARD=chosen)
            large, said = fit.faults(card, folder, unit), "does not fit" in done.error
            note("region-fit", f"build.sh, MACHINE={name} BOARD={chosen}",
                 [] if (said, done.code, bool(done.calls)) == ((True, 1, False) if large else (False, 0, True))
                 else [f"it ends with {done.code} after {len(done.calls)} calls, too large: {large}"])
    folder, card = board.machine("set"), cards["u200"]
    unit = fit.area(folder)
    refuse("region-fit", "a cluster with more UltraRAM than a region", fit.faults(card, folder, {**unit, "URAM": 300}))
    refuse("region-fit", "a platform that leaves less", fit.faults(
        {**card, "region2": {**card["region2"], "BRAM": 300}}, folder, unit))
    refuse("region-fit", "a platform that leaves less in all", fit.faults(
        {**card, "available": {**card["available"], "LUT": 300000}}, folder, unit))


def emulated_boards(report: Checks, work: Path, sample: Machine):
    """Builds for boards whose platform takes one target alone: no tool starts for another one."""
    def faults(name, only, script=None):
        found = []
        for target in ("hw", "hw_emu", "sw_emu"):
            done = Build(work / f"{name}-{target}", target, "vitis_hls", sample.ports, sample.folder, script=script,
                         BOARD=name)
            refused = (done.code, bool(done.calls), f"BOARD={name} is for TARGET={only} alone" in done.error)
            if refused != ((0, True, False) if target == only else (2, False, True)):
                found.append(f"TARGET={target} ends with {done.code} after {len(done.calls)} calls: {done.error[-200:]}")
        return found

    text = (VITIS / "build.sh").read_text().replace('"$(dirname "$0")/../.."', f'"{ROOT}"')
    careless = work / "careless.sh"
    careless.write_text(text.replace('scripts/board.py "$BOARD" target "$TARGET" || exit 2\n', ""))
    careless.chmod(0o755)
    for name, card in board.boards().items():
        if "target" in card:
            report.note("board-target", f"build.sh, BOARD={name}", faults(name, card["target"]))
            report.refuse("board-target", f"a build for {name} of every target", faults(name, card["target"], careless))


def set_core(report: Checks, work: Path, roots: dict, found: dict, folder: Path, core_text: str):
    """Checks specific to the set core's machine, and a whole build of it."""
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
    refuse("file-types", "a core without its machine's package", module_faults(
        changed(script, work, "concat [list $generated/gramer_pkg.sv] $listed", "concat $listed")))
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


def main() -> int:
    report = Checks()
    with tempfile.TemporaryDirectory() as work:
        rest = check(report, Path(work))
    return report.end(rest)


if __name__ == "__main__":
    sys.exit(main())
