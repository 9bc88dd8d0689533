#!/usr/bin/env python3
"""Stands in for Vitis' tools when the build is checked without them: links to this file in a folder
on the PATH are called vivado, v++, vitis_hls, vitis-run, xclbinutil, emconfigutil. (As
`mock_tools.py TOOL ARGUMENT...` it is that tool too.)

Each call is added to the file MOCK_LOG as a line of JSON. Options that tools.tsv doesn't know are
refused, inputs must be there, and outputs are made: a kernel object holds its kernel.xml, a linked
binary has the sections that v++ writes for the configuration and the objects that it is given.
"""

import json
import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import xclbin  # noqa: E402  (beside this file)


def fail(text: str):
    sys.exit(f"error: {tool}: {text}")


def options(arguments: list) -> tuple:
    """Values by option, and what is left."""
    rows = (line.split("\t") for line in (HERE / "tools.tsv").read_text().splitlines()
            if not line.startswith("#"))
    known = {row[0]: row[1].split() for row in rows}[tool]
    found, plain, left = {}, [], list(arguments)
    while left:
        word = left.pop(0)
        if not word.startswith("-"):
            plain.append(word)
        elif word + "=" in known:
            if not left:
                fail(f"{word} wants a value")
            value = left.pop(0)
            found.setdefault(word, []).append(value)
            if word == "-tclargs":
                found[word] += left
                left = []
        elif word in known:
            found[word] = [True]
        else:
            fail(f"no option {word}")
    return found, plain


def there(path: str) -> Path:
    if not Path(path).is_file():
        fail(f"{path} is not there")
    return Path(path)


def tcl(script: str, arguments: list):
    """Runs a Tcl file with the vendor's commands replaced; returns their calls."""
    done = subprocess.run(["tclsh", HERE / "mock.tcl", HERE / "commands.tsv", there(script), *arguments],
                          text=True, capture_output=True)
    if done.returncode:
        fail(done.stderr.strip())
    lines = done.stdout.splitlines()
    if tool == "vitis_hls" and "open" in lines:
        fail("the script does not end: the tool waits at its prompt")
    return [line.split("\t", 1)[1].split("\x1f") for line in lines if line.startswith("call\t")]


def value(call: list, option: str) -> str:
    return call[call.index(option) + 1]


def memories(config: str) -> list:
    """The memories of a card: those that the configuration names, from the first one on."""
    kind = re.search(r":(DDR|HBM)\[", config)[1]
    return [f"{kind}[{n}]" for n in range(4 if kind == "DDR" else 32)]


def link(found: dict, objects: list) -> list:
    """The sections of a linked binary."""
    config = there(found["--config"][0]).read_text()
    kernels = {}
    for path in objects:
        root = tree.fromstring(there(path).read_text()).find("kernel")
        kernels[root.get("name")] = root
    tags = memories(config)
    units = []
    for name, count in re.findall(r"^nk=(\w+):(\d+)", config, re.M):
        if name not in kernels:
            fail(f"no kernel object of {name}")
        units += [(name, f"{name}_{n + 1}") for n in range(int(count))]
    memory = struct.pack("<i4x", len(tags))
    used = {int(m) for m in re.findall(r"\[(\d+)", config)}
    for n, tag in enumerate(tags):
        memory += struct.pack("<BB6xQQ16s", 1, n in used, 1 << 24, n << 34, tag.encode())
    layout = struct.pack("<i4x", len(units))
    connections = []
    project = tree.Element("project", name="linked")
    core = tree.SubElement(tree.SubElement(tree.SubElement(project, "platform"), "device"), "core",
                           name="OCL_REGION_0", target="bitstream")
    described = {}
    for at, (kernel, unit) in enumerate(units):
        base = 0x800000 + 0x10000 * at
        layout += struct.pack("<IIQ64s", 1, 1 << 8, base, f"{kernel}:{unit}".encode())
        if kernel not in described:
            described[kernel] = tree.SubElement(core, "kernel", kernels[kernel].attrib)
            for group in kernels[kernel]:
                described[kernel].extend(group)
        instance = tree.SubElement(described[kernel], "instance", name=unit)
        tree.SubElement(instance, "addrRemap", base=hex(base), port="S_AXI_CONTROL")
        names = [a.get("name") for a in kernels[kernel].find("args")]
        for argument, first in re.findall(rf"^sp={unit}\.(\w+):\w+\[(\d+)", config, re.M):
            if argument not in names:
                fail(f"{kernel} has no argument {argument}")
            connections.append((names.index(argument), at, int(first)))
    connectivity = struct.pack("<i", len(connections))
    connectivity += b"".join(struct.pack("<iii", *c) for c in connections)
    clocks = struct.pack("<h", 2)
    for mhz, kind, name in ((int(found["--kernel_frequency"][0]), 1, b"DATA_CLK"), (500, 2, b"KERNEL_CLK")):
        clocks += struct.pack("<HB5x128s", mhz, kind, name)
    sections = {"BITSTREAM": b"\0" * 64, "MEM_TOPOLOGY": memory, "IP_LAYOUT": layout,
                "CONNECTIVITY": connectivity, "CLOCK_FREQ_TOPOLOGY": clocks, "BUILD_METADATA": b"{}",
                "EMBEDDED_METADATA": tree.tostring(project)}
    return [(xclbin.KINDS[name], data) for name, data in sections.items()]


def run(arguments: list):
    found, plain = options(arguments)
    if tool == "vivado":
        for call in tcl(found["-source"][0], found["-tclargs"]):
            if call[0] == "package_xo":
                kernel = there(value(call, "-kernel_xml")).read_text()
                Path(value(call, "-xo_path")).write_text(kernel)
    elif tool in ("vitis_hls", "vitis-run"):
        if plain:
            fail(f"arguments of the script: {plain}")
        for call in tcl((found.get("-f") or found["--tcl"])[0], []):
            if call[0] == "export_design":
                kernel = Path(os.environ["MOCK_GENERATED"], f"{os.environ['GRAMER_KERNEL']}.xml")
                Path(value(call, "-output")).write_text(kernel.read_text())
    elif tool == "v++" and "--compile" in found:
        for source in plain:
            there(source)
        kernel = Path(os.environ["MOCK_GENERATED"], f"{found['--kernel'][0]}.xml")
        Path(found["--output"][0]).write_text(kernel.read_text())
    elif tool == "v++":
        # As many links as are asked for fail, as of a design that can't be routed.
        links = Path(os.environ["MOCK_LINKS"])
        made = int(links.read_text()) if links.exists() else 0
        links.write_text(str(made + 1))
        if made < int(os.environ["MOCK_FAILS"]):
            fail("ERROR: [VPL 101-3] sub-design is not routed")
        for hook in found.get("--linkhook.do_first", []) + found.get("--linkhook.do_last", []):
            step, script = hook.split(",")
            if step not in ("vpl.impl.place_design", "vpl.impl.route_design"):
                fail(f"no step {step}")
            tcl(script, [])
        sections = link(found, plain)
        xclbin.write(Path(found["--output"][0]), xclbin.MODES[found["--target"][0]],
                     found["--platform"][0], sections)
    elif tool == "xclbinutil":
        mode, platform, sections = xclbin.read(there(found["--input"][0]))
        out = Path(found["--output"][0])
        if out.exists() and "--force" not in found:
            fail(f"{out} is there already")
        for section in found.get("--add-section", []):
            name, form, path = section.split(":", 2)
            if form != "RAW":
                fail(f"{name} is added as RAW, not {form}")
            if xclbin.KINDS[name] in (kind for kind, _ in sections):
                fail(f"{name} is there already")
            sections.append((xclbin.KINDS[name], there(path).read_bytes()))
        xclbin.write(out, mode, platform, sections)
    elif tool == "emconfigutil":
        Path("emconfig.json").write_text(json.dumps({"Platform": found["--platform"][0]}))


words = sys.argv[1:]
tool = Path(sys.argv[0]).name
if tool == Path(__file__).resolve().name:
    tool = words.pop(0)
if "MOCK_LOG" in os.environ:
    with open(os.environ["MOCK_LOG"], "a") as log:
        log.write(json.dumps({"tool": tool, "arguments": words}) + "\n")
run(words)
