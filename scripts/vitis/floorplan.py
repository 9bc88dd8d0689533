"""Constraints against the cells of the core and the regions of the card."""

import fnmatch
import re
from pathlib import Path

import eda
from tcl_files import Calls


# Modules whose parts have separate regions.
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
