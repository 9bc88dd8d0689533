"""build.sh from its begin to its end, against replaced tools."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import board
import eda
import xclbin
from checks import Checks
from tcl_files import interfaces

ROOT = eda.ROOT
VITIS = ROOT / "scripts" / "vitis"


class Build:
    """A run of the whole build.sh against replaced tools."""

    def __init__(self, work: Path, target: str, hls: str, found: dict, folder: Path, script=None, **other):
        tools, log = work / "bin", work / "log"
        shutil.rmtree(tools, ignore_errors=True)
        log.unlink(missing_ok=True)
        tools.mkdir(parents=True)
        for tool in ("vivado", "v++", hls, "xclbinutil", "emconfigutil"):
            (tools / tool).symlink_to(VITIS / "mock_tools.py")
        (work / "platforms").mkdir(exist_ok=True)
        for card in board.boards().values():
            (work / "platforms" / f"{card['platform']}.xpfm").touch()
        env = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(work), "PLATFORM_REPO_PATHS": str(work / "platforms"),
               "TARGET": target, "BOARD": "u250", "MACHINE": folder.name, "XCLBIN_DIR": str(work), "MOCK_LOG": str(log),
               "MOCK_GENERATED": str(folder), "MOCK_FAILS": "0", "MOCK_INTERFACES": " ".join(interfaces(found)), **other}
        (work / "links").unlink(missing_ok=True)
        env |= {"MOCK_LINKS": str(work / "links")}
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
        warned = len(re.findall("^warning:.* no registers between", self.error, re.M))
        advised = "slr_registers: 1" in self.error
        return [] if warned == wanted == advised \
            else [f"of paths between regions it warns {warned} times, {'with' if advised else 'without'} advice"]

    def emulation_faults(self) -> list[str]:
        there = (self.folder / "emconfig.json").exists()
        return [] if there == (self.target != "hw") else [f"emconfig.json is {'' if there else 'not '}there"]


def failing_links(note, build):
    """A failed link is repeated for a lower clock, and the summary reports it."""
    def retried(fails, target="hw"):
        done = build(f"fails-{fails}-{target}", target, MOCK_FAILS=str(fails))
        given = [c["arguments"][c["arguments"].index("--kernel_frequency") + 1] for c in done.calls
                 if "--kernel_frequency" in c["arguments"]]
        return done, given
    done, given = retried(1)
    note("one-clock", "build.sh, whose first link fails",
         [] if done.code == 0 and given == ["200", "150"] and "LOWER: linked for 150 MHz" in done.out
         else [f"it ends with {done.code}, linked for {given}: {done.out}"])
    done, given = retried(2)
    note("one-clock", "build.sh, whose links fail", [] if done.code == 1 and given == ["200", "150"] else
         [f"it ends with {done.code}, linked for {given}"])
    done, given = retried(1, "hw_emu")
    note("one-clock", "build.sh, whose link for emulation fails", [] if done.code == 1 and given == ["200"] else
         [f"it ends with {done.code}, linked for {given}"])


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
           broken('--kernel_frequency "$1"', "--kernel_frequency 300").clock_faults())
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

    failing_links(note, build)
    done = build("no-machine", "hw", MACHINE="")
    note("slr-registers", "build.sh without MACHINE, for a card",
         [] if done.code == 0 and "no registers between" not in done.error else [done.error[-300:]])

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
    wanted = ("NOT MET: worst slack -0.123 ns, 7 ends", "gramer_core_1Total LUTs 400000, FFs 300000",
              "regions      CLB LUTs: SLR0 45.00 %, SLR1 <0.01 %", "regions      URAM: SLR0 100.00 %, SLR1 0.00 %",
              "floorplan    constraints of 3 cells, 1 cells are not there",
              "floorplan    WARNING: no cell i_core/i_settings; it stays without its constraint",
              "fails        -0.123 ns, from a/b_q_reg[0]/C to c/d_q_reg/D")
    note("tool-options", "summary.py of a clock that is not met", [f"no line {line!r}" for line in wanted if line not in summary])


def sample_reports(folder: Path) -> Path:
    """Reports in the form of UG906 and UG835, and a log, of a clock that is not met."""
    build = folder / "build"
    build.mkdir()
    (build / "timing.rpt").write_text(
        "| Design Timing Summary\n\n    WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints"
        "      WHS(ns)\n    -------      -------  ---------------------  -------------------      -------\n"
        "     -0.123       -1.500                      7              1000000        0.010\n\n"
        "Slack (VIOLATED) :        -0.123ns  (required time - arrival time)\n"
        "  Source:                 a/b_q_reg[0]/C\n    (rising edge-triggered cell FDRE)\n"
        "  Destination:            c/d_q_reg/D\n\n"
        "Slack (MET) :             0.010ns  (required time - arrival time)\n"
        "  Source:                 e_reg/C\n  Destination:            f_reg/D\n")
    (build / "regions.rpt").write_text(
        "14. SLR CLB Logic and Dedicated Block Utilization\n\n"
        "|          Site Type         |  SLR0  |  SLR1  | SLR0 % | SLR1 % |\n"
        "| CLB LUTs                   | 194400 |      1 |  45.00 |  <0.01 |\n"
        "|   LUT as Logic             | 182063 |      1 |  42.14 |  <0.01 |\n"
        "| URAM                       |    320 |      0 | 100.00 |   0.00 |\n")
    (build / "runme.log").write_text(
        "WARNING: gramer: no cell i_core/i_settings; it stays without its constraint\n"
        "gramer: constraints of 3 cells, 1 cells are not there\n")
    (build / "utilization.rpt").write_text(
        "| Instance | Module | Total LUTs | Logic LUTs | LUTRAMs | SRLs | FFs | RAMB36 | RAMB18 | URAM | DSP Blocks |\n"
        "| gramer_core_1 | x | 400000 | 1 | 1 | 1 | 300000 | 1700 | 10 | 0 | 16 |\n")
    return build
