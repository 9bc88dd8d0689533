"""Checks the build's calls of the vendor's Tcl commands against their manuals."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import board
import eda
import rtl_files

ROOT = eda.ROOT
VITIS = ROOT / "scripts" / "vitis"


class Calls:
    """The calls of the vendor's commands in a Tcl file."""

    def __init__(self, script: Path, *arguments: str, env=None):
        done = subprocess.run(["tclsh", VITIS / "mock.tcl", VITIS / "commands.tsv", script, *arguments],
                              text=True, capture_output=True, cwd=ROOT, env=dict(os.environ, **(env or {})))
        lines = done.stdout.splitlines()
        self.error = done.stderr.strip() if done.returncode else None
        self.code = done.returncode
        self.ends = "open" not in lines
        self.named = [tuple(line.split("\t", 1)) for line in lines
                      if line.startswith(("cell\t", "filter\t", "port\t"))]
        self.said = [line for line in lines if "gramer: " in line and not line.startswith("call\t")]
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
    files = Path(work) / "files.txt"
    listed = rtl_files.files("set" if eda.is_set(folder) else "paper")
    files.write_text("".join(f"{ROOT / file}\n" for file in listed))
    return Calls(script, str(folder), str(files), str(ROOT / "hls"), f"{work}/core", part,
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


# Most reads in flight of a master, by the parameters of the RTL; and the most that an interconnect takes:
# 32 reads (PG059, AXI Interconnect: acceptance and issuing) of 16 ids.
MOST_READS, MOST_THREADS = 32, 16


def reads_of(set_core: bool, folder: Path) -> dict:
    """Reads in flight of a core's master: the lines of the longest, their number, and the number of ids."""
    if set_core:
        text = (ROOT / "rtl/set/gramer_set_loader.sv").read_text()
        lines = int(re.search(r"parameter int unsigned READS = (\d+)", text)[1])
        beats = int(re.search(r"BURST\s*= (\d+) / LINE_BYTES", text)[1]) // 64
        ids = len(re.findall(r"_ID = 8'd\d+", text))
        # Pages, of which the first and the last may be cut, and the abort word.
        return {"beats": beats, "reads": lines // beats + 2, "ids": ids}
    sizes = board.numbers(folder)
    memories = 2 * sizes["PARTITIONS"] // sizes["BANKS"]
    return {"beats": 1, "reads": memories * sizes["MISSES"] + 1, "ids": memories + 1}


def read_property_faults(calls: Calls, found: dict, folder: Path) -> list[str]:
    """Whether the masters are packaged with their reads in flight."""
    values, faults = calls.property("value"), []
    reads = reads_of(eda.is_set(folder), folder)
    for master in masters(found):
        def given(name):
            return int(values.get(f"{master}/{name}", "0"))
        least = min(reads["reads"], MOST_READS)
        if given("MAX_BURST_LENGTH") != reads["beats"]:
            faults.append(f"{master} is packaged with bursts of {given('MAX_BURST_LENGTH')} beats, not {reads['beats']}")
        if not least <= given("NUM_READ_OUTSTANDING") <= MOST_READS:
            faults.append(f"{master} is packaged with {given('NUM_READ_OUTSTANDING')} reads under way, not {least}")
        if given("NUM_READ_THREADS") < min(reads["ids"], MOST_THREADS):
            faults.append(f"{master} is packaged with {given('NUM_READ_THREADS')} ids, not {reads['ids']}")
    return faults


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
