"""Area and logic depth of the cores by block, with Yosys.

Usage: scripts/hardware.py synth [--machine NAME] [--changed | --changed-core] [--write] [BLOCK...]

Synthesises every block (or those that are named) of the machines accelerator, the paper's core, set, the
set core, set-hbm, the set core on several memory channels, set-plans, the set core with search plans, and
set-plans12, the same in clusters of four PUs; keeps the netlists under target/synth by the hash of their inputs, and prints the area next to
the paper's. --write puts the area of each machine into docs/results/hardware/synthesis.md and area.tsv, each block with its
area and longest way into blocks.tsv, all modules into instances.tsv, and each block with its hash into synthesis.tsv; of one
machine alone with --machine. With --changed only blocks whose hash isn't in that file are synthesised, also in a fresh clone; with
--changed-core all blocks of a machine if one isn't there, for the ways through several blocks. Exit code 1 if a memory has become
flip-flops, the area is above its limit, or a way between registers is too long.
"""

import argparse
import hashlib
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import eda
import fit
import rtl_files
from hardware import depth

DOCUMENT = eda.ROOT / "docs" / "results" / "hardware" / "synthesis.md"
RECORD = DOCUMENT.with_name("synthesis.tsv")
BLOCKS = DOCUMENT.with_name("blocks.tsv")
INSTANCES = DOCUMENT.with_name("instances.tsv")
LEVELS = 8
BLOCK_HEAD = ["block", "instances", *eda.UNITS, "levels", "from", "to", "made of"]
# Table II of the paper, the largest of its three columns, in per cent of the totals it gives. Its
# 11.8 MB are the 2,688 blocks of 4.5 KiB that the device has.
PAPER = {"LUT": (25.53, 1.68e6), "FF": (13.13, 3.37e6), "BRAM": (65.70, 2688)}
LIMITS = {unit: percent for unit, (percent, _) in PAPER.items()}
# Each core with the machines that are made of it, and what they may take of the totals above.
MACHINES = {
    "accelerator": {"accelerator": LIMITS},
    "set": {"set": LIMITS, "set32": {}},
    "set-hbm": {"set-hbm": {}},
    "set-plans": {"set-plans": {}},
    "set-plans12": {"set-plans12": {}},
}
# What machines without a goal may take of the totals: their size today. The region of a card is the limit (fit.py).
CEILINGS = {"set32": {"LUT": 42.0}, "set-hbm": {"LUT": 21.4}, "set-plans": {"LUT": 53.2}, "set-plans12": {"LUT": 41.0}}
# Machines that have most of their blocks from another one: what they are made of beside those is in their tables.
BASES = {"set-plans": "set", "set-hbm": "set", "set-plans12": "set-plans"}

# Memories of each block: what their paths end in, how many there are, and what they may be.
BLOCK = ("block", "ultra")
ANY = ("block", "ultra", "distributed")
MEMORIES = {
    "gramer_onchip_memory": [(r"i_pad\.mem", 1, BLOCK), (r"i_cache\.lines", 1, BLOCK),
                      (r"tag_mem", 4, ANY), (r"rank_mem", 4, ANY), (r"weight_mem", 4, ANY),
                      (r"i_waiting\.mem", 1, ANY), (r"i_misses\.(heads|lasts|words|links)", 4, ANY)],
    "gramer_process_stage": [(r"dictionary", 1, BLOCK), (r"counts", 1, BLOCK)],
    "gramer_embedding_table": [(r"\.ids", 16, ANY), (r"\.offsets", 16, ANY), (r"\.degrees", 16, ANY),
                        (r"\.keys", 16, ANY)],
    "gramer_crossbar_column": [(r"gen_point\[\d+\]\.mem", 2, ANY)],
    "gramer_extender": [(r"contexts", 1, ANY), (r"lines", 1, ANY), (r"i_issues\.mem", 1, ANY)],
    "gramer_scheduler": [(r"i_ancestors\.mem", 1, ANY)],
    "gramer_axi_reader": [(r"gen_memory\[\d+\]\.i_under_way\.mem", 4, ANY)],
    "gramer_fifo": [(r"mem", 1, ANY)],
    "gramer_prefetcher": [(r"i_ahead\.mem", 1, ANY)],
    "gramer_set_partition": [(r"i_memory\.gen_ultra\.columns", 1, ("ultra",)), (r"i_memory\.gen_block\[\d+\]\.gen_memory\.words", 1, ("block",)),
                             (r"gen_pu\[\d+\]\.i_requests\.mem", 4, ANY)],
    "gramer_set_map_bank": [(r"(?<![.\w])mem", 1, ("ultra",))],
    "gramer_set_list_buffer": [(r"members", 1, BLOCK), (r"held", 1, BLOCK)],
    "gramer_set_row_memory": [(r"make_mem", 8, BLOCK), (r"count_mem", 8, BLOCK)],
    "gramer_set_maker": [(r"set_mem", 1, ANY), (r"(limit|root|begun|place|state)_mem", 5, ANY),
                         (r"walking_mem", 1, ANY), (r"gen_rows\[\d+\]\.mem", 4, ANY)],
    "gramer_set_counter": [(r"rows_mem", 1, ANY), (r"words_mem", 4, ANY), (r"sets_mem", 8, ANY),
                           (r"root_mem", 1, ANY), (r"i_sets\.mem", 1, ANY)],
    "gramer_set_roots": [(r"(first|words|last)_mem", 3, ANY)],
    "gramer_set_stepper": [(r"(?<![.\w])(lists|firsts)", 2, ANY), (r"gen_range\[\d+\]\.mem", 8, ANY), (r"i_waiting\.mem", 1, ANY),
                           (r"line_mem", 1, ANY)],
    "gramer_set_port": [(r"i_order\.mem", 1, ANY), (r"gen_side\[\d+\]\.mem", 2, ANY)],
    "gramer_set_streamer": [(r"i_(ahead|members)\.mem", 2, ANY), (r"(fetched|visited)_lists", 2, ANY)],
    "gramer_set_unit_queue": [(r"i_groups\.mem", 1, ANY)],
    "gramer_set_distributor": [(r"i_ahead\.mem", 1, ANY)],
    "gramer_set_plan_walker": [(r"(words|lines|ranges)", 3, ANY)],
    "gramer_set_plan_asker": [(r"i_waiting\.mem", 1, ANY)],
    "gramer_set_reached": [(r"gen_bank\[\d+\]\.mem", 16, BLOCK)],
    "gramer_set_wedges": [(r"i_(ahead|members|known)\.mem", 3, ANY), (r"i_lines\.i_roots\.mem", 1, ANY)],
    "gramer_set_triples": [(r"i_(known|heads|near|turns|later|members)\.mem", 6, ANY),
                           (r"i_lines\.i_(roots|nears)\.mem", 2, ANY)],
    "gramer_set_triple_products": [(r"i_sets\.mem", 1, ANY), (r"gen_multiplier\[\d+\]\.mem", 4, ANY)],
    "gramer_set_plan_packer": [(r"(merge_sets|walk_sets|maxima)", 3, ANY)],
}
# Arrays that are registers, and why.
REGISTERS = {
    r"line_q$": "every line is compared at once",
    r"counters_q$": "all are cleared at once, and several count in one cycle",
    r"work_q$": "the level is found among all bits",
    r"(write|read)_q$": "pointers of queues",
    r"(base|beats|bank_counter)_q$": "one for each DDR bank",
    r"(left|less|and|ones|member|set|class)_q$": "a word for each sub-bank, all of them in each cycle",
    r"(blind|room|wants)_q$": "all PUs, and all units of a half, are compared at once",
    r"(equal|ones11|[abc]_bank|value|sum|group|pair)_q$": "all of them are used at once",
    r"(a_low|b_low)_q$": "all of them are compared at once",
    r"least_q$": "each is one of two that are compared, in every cycle",
    r"ends_q$": "a line is compared with the ends of all windows",
    r"outside_q$": "a multiplier takes any of them",
    r"(rows|row_at|row_up|up)_q$": "one for each bank of the map, all of them in a cycle",
    r"(token|stage|access|entry|for|place|end)_q$": "stages of a pipeline",
    r"(?<![a-z_])(mark|at)_q$": "each walker has its own, and several of them change in a cycle",
}


def fingerprint(name: str) -> str:
    """The hash of the RTL and of the machine's description."""
    digest = hashlib.sha256()
    folder = eda.machine(name)
    for path in sorted(path for path in eda.sources(folder).values() if path.suffix == ".sv"):
        digest.update(path.name.encode() + path.read_bytes())
    source = eda.ROOT / ("accelerator.yaml" if name == "accelerator" else f"machines/{name}.yaml")
    digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def units(name: str) -> int:
    """The compute units of a machine."""
    text = (eda.machine(name) / "machine.yaml").read_text()
    return int(re.search(r"\bcompute_units: (\d+)", text).group(1))


STYLE = re.compile(r'\(\* ram_style = "(\w+)" \*\)[^;]*?\b(\w+)\s*\[[^\[\];]+\];')


def styles() -> dict[str, dict[str, str]]:
    """The `ram_style` of the RTL's memories, by module and name of the array."""
    return {path.stem: {name: style for style, name in STYLE.findall(path.read_text())}
            for path in (eda.ROOT / file for file in rtl_files.every())}


def style_faults(modules: dict, module, found: dict) -> list[str]:
    """Memories that Yosys maps to something else than their attribute says, and those that have to
    have one."""
    owners = {path: other.name for other in modules.values() for path in other.paths}
    wanted, faults = styles(), []
    for path, kind in found.items():
        *scopes, name = path.split(".")
        scope = [module.paths[0], *scopes]
        while ".".join(scope) not in owners:  # generate blocks
            scope.pop()
        style = wanted[owners[".".join(scope)]].get(name)
        listed = any(re.search(f"(^|\\.)?{pattern}$", path)
                     for pattern, *_ in MEMORIES.get(module.name, ()))
        if style is None and listed:
            faults.append(f"{module.title}: {path} has no ram_style")
        elif style is not None and style != kind:
            faults.append(f"{module.title}: {path} is {kind}, but its ram_style is {style}")
    return faults


def memory_faults(modules: dict, module, block) -> list[str]:
    """Memories that are not what they are meant to be."""
    found, faults = block.memories(), []
    faults += style_faults(modules, module, found)
    for pattern, number, kinds in MEMORIES.get(module.name, ()):
        matching = {p: k for p, k in found.items() if re.search(f"(^|\\.)?{pattern}$", p)}
        if len(matching) < number:
            faults.append(f"{module.title}: {len(matching)} memories {pattern}, not {number}: "
                          "the others are registers")
        faults += [f"{module.title}: {p} is {k}, not {' or '.join(kinds)}"
                   for p, k in matching.items() if k not in kinds]
    for path, kind in found.items():
        if kind == "flip-flops" and not any(re.search(r, path) for r in REGISTERS):
            fault = f"{module.title}: {path} has turned into flip-flops"
            if not any(path in f for f in faults):
                faults.append(fault)
    return faults


def number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def table(rows: list) -> str:
    """Markdown, columns after the first to the right."""
    head, *body = rows
    lines = ["| " + " | ".join(head) + " |",
             "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in body])


def name_of(module) -> str:
    if module.name in eda.GLUE:
        return f"{module.title}: what is not in its blocks"
    return module.title


def area_tables(modules: dict, results: dict, variants: dict, shown=None) -> tuple[str, list, dict]:
    """Area of the whole as a table, of each block (or of those that are shown) as rows, largest first, and the sum of all."""
    blocks = []
    total = [0.0] * len(eda.UNITS)
    def weight(key):
        return -results[key].area()[0] * modules[key].count
    for key in sorted(results, key=weight):
        module, area = modules[key], results[key].area()
        if shown is None or key in shown:
            blocks.append((key, [name_of(module), module.count, *(f"{a:.9g}" for a in area)]))
        total = [t + a * module.count for t, a in zip(total, area)]
    sums = dict(zip(eda.UNITS, total))
    of_paper = {u: PAPER[u][1] for u in PAPER}
    rows = [["", *eda.UNITS], ["core: blocks × instances, and glue", *map(number, total)]]
    for name, limits in variants.items():
        count = units(name)
        whole = {u: count * sums[u] for u in eda.UNITS}
        if count > 1:
            rows.append([f"`{name}`: {count} of it", *(number(whole[u]) for u in eda.UNITS)])
        rows.append(["of the totals that the paper gives",
                     *(f"{100 * whole[u] / of_paper[u]:.1f} %" if u in of_paper else "" for u in eda.UNITS)])
        if limits:
            rows.append(["paper, table II",
                         *(f"{limits[u]:.1f} %" if u in limits else "" for u in eda.UNITS)])
    fits = [f"Cards for `{name}`: {fit.built_for(eda.machine(name), sums)}." for name in variants]
    return "\n\n".join([table(rows), *fits]), blocks, sums


def depth_models(modules: dict, results: dict) -> dict:
    """The depth of every block, and of the glue with the blocks' models in it."""
    models = {}

    def of(key):
        if key not in models:
            children = {}
            if key[0] in eda.GLUE:
                for name, child in instances(modules, key).items():
                    if child in results:
                        children[name] = of(child)
            models[key] = depth.Netlist(results[key].netlist, children).model()
        return models[key]

    for key in results:
        if key[0] not in eda.GLUE or all(child in results for child in eda.outside(modules[key])):
            of(key)
    return models


def instances(modules: dict, key: tuple) -> dict:
    """The instances right below a glue module, by their name in it."""
    path = modules[key].paths[0]
    return {full[len(path) + 1:]: child for child in modules[key].children
            for full in modules[child].paths if full.startswith(path + ".")}


def depth_table(modules: dict, models: dict, shown=None) -> tuple[str, list]:
    """The longest way of each block, or of those that are shown; and what is too long anywhere."""
    rows = [["block", "levels", "from", "to", "made of"]]
    faults = []
    for key in sorted(models, key=lambda k: -models[k].worst[0][0] if models[k].worst else 0):
        module, model = modules[key], models[key]
        name = f"{module.title}: through its blocks" if key[0] in eda.GLUE else name_of(module)
        first = shown is None or key in shown
        for levels, begin, end, kinds, _ in model.worst:
            if levels > LEVELS or first:
                rows.append([name, levels, f"`{begin}`", f"`{end}`", depth.show(kinds)])
                first = False
            if levels > LEVELS:
                faults.append(f"{module.title}: {levels} levels from {begin} to {end}: "
                              + depth.show(kinds))
    return table(rows).replace("|---|---:|---:|---:|---:|", "|---|---:|---|---|---|"), faults


def longest(model) -> list:
    """Levels, begin, end and kinds of the longest way of a block."""
    if model is None or not model.worst:
        return ["", "", "", ""]
    levels, begin, end, kinds, _ = model.worst[0]
    return [levels, begin, end, depth.show(kinds)]


def rewrite_rows(path, head: list, rows: dict):
    """Writes the rows of these machines into a table, whose other machines stay as they are."""
    lines = path.read_text().splitlines()[1:] if path.exists() else []
    kept = {}
    for line in lines:
        kept.setdefault(line.split("\t")[0], []).append(line)
    kept |= {name: ["\t".join(map(str, [name, *row])) for row in of] for name, of in rows.items()}
    path.write_text("".join(f"{line}\n" for line in ["\t".join(["machine", *head]), *sum(kept.values(), [])]))


def rewrite(parts: dict):
    """Puts texts between their marks in docs/results/hardware/synthesis.md."""
    text = DOCUMENT.read_text()
    for mark, content in parts.items():
        begin, end = f"<!-- {mark}: rewritten by a script -->", f"<!-- end of {mark} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            eda.fail(f"{DOCUMENT} has lost its marks of {mark}")
        first, rest = text.split(begin)
        text = first + begin + "\n" + content + "\n" + end + rest.split(end)[1]
    DOCUMENT.write_text(text)


def recorded(text: str, machine: str) -> dict[str, str]:
    """The blocks of a machine that passed, by their titles: the hashes of what they were made from."""
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return {title: digest for of, title, digest, _ in rows if of == machine}


HEAD = ("# Blocks as `make synth` last checked them: machine, name, hash of all that the netlist is made from, "
        "levels between registers.\n")


def others(machine: str) -> str:
    """Lines of docs/results/hardware/synthesis.tsv on the other machines, which are kept."""
    lines = RECORD.read_text().splitlines(keepends=True) if RECORD.exists() else []
    return "".join(line for line in lines if not line.startswith(("#", machine + "\t")))


def record(machine: str, modules: dict, digests: dict, models: dict) -> str:
    """The part of docs/results/hardware/synthesis.tsv of a machine: all its blocks have passed."""
    lines = []
    for key in sorted(digests, key=lambda k: modules[k].title):
        worst = models[key].worst[0][0] if key in models and models[key].worst else 0
        lines.append(f"{machine}\t{modules[key].title}\t{digests[key]}\t{worst}\n")
    return "".join(lines)


def digests_of(folder, modules: dict | None = None) -> dict[tuple, str]:
    """The hash of all that each block of a machine is made from."""
    modules = modules or eda.hierarchy(folder)
    return {key: eda.Inputs(folder, modules, key).digest for key in eda.blocks(modules)}


class Machine:
    """The blocks of a core, and which of them are wanted."""

    def __init__(self, name: str, options):
        self.name = name
        self.folder = eda.machine(name)
        self.modules = eda.hierarchy(self.folder)
        self.every = eda.blocks(self.modules)
        self.digests = digests_of(self.folder, self.modules)
        self.wanted = [key for key in self.every if not options.blocks or key[0] in options.blocks]
        self.own = None  # those that its base doesn't have; None: all
        if name in BASES:
            shared = set(digests_of(eda.machine(BASES[name])).values())
            self.own = {key for key, digest in self.digests.items() if digest not in shared}
        if options.changed or options.changed_core:
            self.leave_out(options.changed_core)
        self.whole = len(self.wanted) == len(self.every)

    def leave_out(self, whole: bool):
        """Those that are as they were; with `whole` all or none."""
        known = recorded(RECORD.read_text(), self.name) if RECORD.exists() else {}
        changed = [key for key in self.wanted if known.get(self.modules[key].title) != self.digests[key]]
        print(f"synthesis: {len(self.wanted) - len(changed)} of {len(self.wanted)} blocks of {self.name} are as "
              f"they were when they were last checked ({RECORD.relative_to(eda.ROOT)})", flush=True)
        if changed:
            print("  not these: " + ", ".join(self.modules[key].title for key in changed)
                  + "\n  (`make synth` checks all and writes them down)", flush=True)
        self.wanted = self.wanted if whole and changed else changed

    def check(self, write: bool) -> tuple[list, dict, str]:
        """Synthesises what is wanted: faults, texts for the document, and what is recorded."""
        modules, faults = self.modules, []
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            netlists = pool.map(lambda key: eda.synthesise(self.folder, modules, key), self.wanted)
            results = dict(zip(self.wanted, netlists))
        for key, block in results.items():
            unknown = [c for c in block.cells if c not in eda.AREA and not c.startswith("$")]
            if unknown:
                faults.append(f"{modules[key].title}: the area of {unknown[0]} is not known")
            faults += memory_faults(modules, modules[key], block)
        variants = MACHINES.get(self.name, {self.name: {}})
        areas, blocks, sums = area_tables(modules, results, variants, self.own)
        self.sums = sums
        models = depth_models(modules, results)
        depths, long = depth_table(modules, models, self.own)
        faults += long
        if self.whole:
            faults += self.area_faults(sums, variants)
        print(areas, "\n")
        print(table([BLOCK_HEAD[:-4], *(row for _, row in blocks)]), "\n")
        print(depths, "\n")
        if not write:
            return faults, {}, ""
        state = (f"Machine `{self.name}`, RTL and YAML `{fingerprint(self.name)}`, {eda.version()}.")
        prefix = "" if self.name == "accelerator" else self.name + " "
        texts = {prefix + "area": state + "\n\n" + areas}
        self.blocks = [row + longest(models.get(key)) for key, row in blocks]
        return faults, texts, record(self.name, modules, self.digests, models)

    def area_faults(self, sums: dict, variants: dict) -> list[str]:
        """Machines of this core that are larger than they may be."""
        faults = []
        for name, limits in variants.items():
            if name != self.name:
                if digests_of(eda.machine(name)) != self.digests:
                    faults.append(f"{name} is not made of the blocks of {self.name}: its area is another")
            for unit, percent in CEILINGS.get(name, limits).items():
                share = 100 * units(name) * sums[unit] / PAPER[unit][1]
                if share > percent:
                    faults.append(f"{name}: {share:.2f} % of {unit} is above {percent} %")
                elif share > limits.get(unit, percent):
                    print(f"note: {name}: {share:.2f} % of {unit} is above its goal of {limits[unit]} %")
        return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("blocks", nargs="*", metavar="BLOCK", help="only these modules")
    parser.add_argument("--machine", help="a folder of target/generated; else " + " and ".join(MACHINES))
    parser.add_argument("--changed", action="store_true",
                        help="only blocks that are not as docs/results/hardware/synthesis.tsv has them")
    parser.add_argument("--changed-core", action="store_true",
                        help="every block if one differs from docs/results/hardware/synthesis.tsv, else none")
    parser.add_argument("--write", action="store_true", help="rewrite docs/results/hardware/synthesis.md and .tsv")
    options = parser.parse_args()

    if options.write and (options.blocks or options.changed or options.changed_core):
        print("error: --write needs every block of a machine", file=sys.stderr)
        return 2
    if options.write and options.machine not in (None, *MACHINES):
        print(f"error: --write has no tables of {options.machine}; use {' or '.join(MACHINES)}", file=sys.stderr)
        return 2
    machines = [Machine(name, options) for name in ([options.machine] if options.machine else MACHINES)]
    names = sorted({key[0] for machine in machines for key in machine.every})
    unknown = [name for name in options.blocks if name not in names]
    if unknown:
        print(f"error: no block {unknown[0]}; there are {', '.join(names)}", file=sys.stderr)
        return 2
    faults, texts, records = [], {}, "" if options.machine else HEAD
    for machine in machines:
        if machine.wanted:
            found, parts, lines = machine.check(options.write)
            faults += found
            texts |= parts
            records += lines
    if options.write:
        rewrite(texts)
        rewrite_rows(BLOCKS, BLOCK_HEAD, {machine.name: machine.blocks for machine in machines})
        rewrite_rows(INSTANCES, ["module", "instances"],
                     {one.name: [[one.modules[k].title, one.modules[k].count] for k in sorted(one.modules)]
                      for one in machines if one.own is None})
        if faults:
            print(f"{RECORD.relative_to(eda.ROOT)} is left as it was", file=sys.stderr)
        else:
            RECORD.write_text(records if not options.machine else HEAD + others(options.machine) + records)
            fit.write_areas({machine.name: machine.sums for machine in machines})
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if faults else 0
