#!/usr/bin/env python3
"""Properties of the cards, and the files derived from them.

  board.py BOARD part|platform      a value of constraints/boards.yaml
  board.py BOARD target TARGET      exit code 2, and why, if the board can't be built for with it
  board.py BOARD link MACHINE       the linker's configuration for the card
  board.py BOARD constraints [MACHINE]   the floorplan and exceptions of a machine on the card
  board.py --write                  rewrites every constraints/BOARD.tcl: the paper's machine
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "constraints" / "boards.yaml"
EXCEPTIONS = ROOT / "constraints" / "exceptions.tsv"


def scalar(text: str):
    text = text.strip()
    if text.startswith("["):
        return [scalar(v) for v in text[1:-1].split(",")]
    if text.startswith("{"):
        return {k.strip(): scalar(v) for k, v in (p.split(":") for p in text[1:-1].split(","))}
    return int(text) if re.fullmatch(r"\d+", text) else text


def boards() -> dict:
    """The table; it uses no more of YAML than this reads."""
    found, board = {}, None
    for line in TABLE.read_text().splitlines():
        line = line.split("#")[0].rstrip()
        if not line:
            continue
        key, value = line.split(":", 1)
        if not line.startswith(" "):
            board = found.setdefault(key, {})
        else:
            board[key.strip()] = scalar(value)
    return found


def cards() -> dict:
    """The boards for which a binary for hardware can be built."""
    return {name: board for name, board in boards().items() if "target" not in board}


def target_fault(name: str, target: str) -> str:
    """Why a board can't be built for with a TARGET; empty if it can."""
    board = boards()[name]
    if board.get("target", target) == target:
        return ""
    return f"BOARD={name} is for TARGET={board['target']} alone, not {target}: {board['reason']} (docs/reference/boards.md)"


def exceptions() -> list:
    """Registers of the core whose values may take several cycles, how many, and why.
    sim/tests/models.rs runs the core with each of them late."""
    rows = [line.split("\t") for line in EXCEPTIONS.read_text().splitlines()[1:]]
    return [(register, int(cycles), reason) for register, cycles, reason in rows]


def generated(folder: Path, name: str) -> str:
    """A file that gramer-machine generated."""
    path = folder / name
    if not path.exists():
        sys.exit(f"error: {path} is missing; run `make generate`")
    return path.read_text()


def machine(name: str) -> Path:
    """The folder of a machine of the repository."""
    return ROOT / "target" / "generated" / name


def numbers(folder: Path) -> dict:
    """The machine's numbers, from the package that gramer-machine generated."""
    return {k: int(v) for k, v in
            re.findall(r"localparam int unsigned (\w+) = (\d+);", generated(folder, "gramer_pkg.sv"))}


def kernel(folder: Path) -> str:
    """The kernel that a machine's core is: that of the paper's core, or of the set core."""
    return "gramer_set_core" if (folder / "gramer_set_core.xml").exists() else "gramer_core"


def room(board: dict) -> list:
    """What the platform leaves of each region; without a source, an equal part of the device."""
    equal = {unit: number // board["slrs"] for unit, number in board["resources"].items()}
    return [board.get(f"region{slr}", equal) for slr in range(board["slrs"])]


def cluster_places(board: dict, count: int) -> list:
    """The region and the bank of each cluster of a set core, the regions with the most block RAM first, so that
    a region has a second cluster only if each has one. A cluster lies beside its bank's controller; where all
    memory enters at one place (HBM), anywhere."""
    controllers, left = board["bank_slr"], room(board)
    order = sorted(range(board["slrs"]), key=lambda slr: -left[slr]["BRAM"])
    if len(set(controllers)) == 1:
        return [(order[at % len(order)], at) for at in range(count)]
    turns = {slr: [bank for bank, of in enumerate(controllers) if of == slr] for slr in order}
    found = []
    while any(turns.values()):
        found += [(slr, turns[slr].pop(0)) for slr in order if turns[slr]]
    return found[:count]


def banks(folder: Path) -> int:
    """Memory banks that a machine needs: of a set core each cluster has its own, one for each channel."""
    if kernel(folder) != "gramer_set_core":
        return numbers(folder)["BANKS"]
    return 1 + max(map(int, re.findall(r":DDR\[(\d+)\]$", generated(folder, "link.cfg"), re.M)))


def link(board: dict, folder: Path) -> str:
    """The generated configuration, with the card's memory. HBM's channels are shared out evenly,
    since a bank of the core is larger than one. The parts of the paper's core are placed by the
    floorplan: it has more block RAM than a region, so its region is not given here. A cluster of the
    set core lies in one region, with its movers."""
    text = generated(folder, "link.cfg")
    clusters = kernel(folder) == "gramer_set_core"
    count = int(re.search(r"^nk=gramer_set_core:(\d+)", text, re.M)[1]) if clusters else 0
    needed = banks(folder)
    if board["banks"] < needed:
        sys.exit(f"error: machine {folder.name} has {needed} memory banks, the {board['card']} {board['banks']}")
    homes = dict(enumerate(cluster_places(board, count), 1))
    lines = []
    for line in text.splitlines():
        region = re.match(r"slr=(\w+):SLR(\d+)$", line)
        if region and region[1].startswith("gramer_core_"):
            continue
        if region and clusters:
            line = f"slr={region[1]}:SLR{homes[int(region[1].rsplit('_', 1)[1])][0]}"
        elif region:
            line = f"slr={region[1]}:SLR{min(int(region[2]), board['slrs'] - 1)}"
        pointer = re.match(r"(sp=gramer_set_core_(\d+)\.\w+):DDR\[\d+\]$", line)
        if pointer and board["memory"] != "HBM":
            line = f"{pointer[1]}:DDR[{homes[int(pointer[2])][1]}]"
        if board["memory"] == "HBM":
            each = board["banks"] // needed
            line = re.sub(r":DDR\[(\d+)\]$",
                          lambda m: f":HBM[{int(m[1]) * each}:{int(m[1]) * each + each - 1}]", line)
        lines.append(line)
    return "\n".join(lines) + "\n"


def compute_units(board: dict, folder: Path) -> dict:
    """The instances of the core, each with the region of the movers that feed it."""
    text = link(board, folder)
    count = int(re.search(r"^nk=gramer_core:(\d+)", text, re.M)[1])
    regions = dict(re.findall(r"^slr=(\w+):SLR(\d+)$", text, re.M))
    return {f"gramer_core_{u}": int(regions.get(f"gramer_fill_{u}", u % board["slrs"]))
            for u in range(1, count + 1)}


def places(board: dict, sizes: dict, centre: int) -> dict:
    """The cells of a core by region; what it has once goes to the region `centre`, beside the movers
    that feed it.

    A partition goes beside its bank. Where all memory enters at one place (HBM), and for the PUs, they
    are spread evenly, since no region holds them all."""
    slrs, banks = board["slrs"], sizes["BANKS"]
    one_entry = len(set(board["bank_slr"])) == 1
    memory = "i_memory" # the memory system, whose parts lie apart
    # Where paths have registers, a queue goes beside what takes from it.
    far = sizes["SLR_REGISTERS"] > 0

    def region(bank):
        return board["bank_slr"][bank % len(board["bank_slr"])]

    found = {f"SLR{s}": [] for s in range(slrs)}
    for p in range(sizes["PARTITIONS"]):
        slr = p * slrs // sizes["PARTITIONS"] if one_entry else region(p % banks)
        found[f"SLR{slr}"] += [f"{memory}/gen_partition[{p}].i_partition"] + [
            f"{memory}/{crossbar}/gen_column[{p}].i_column" for crossbar in ("i_edge_requests", "i_vertex_requests")]
        if far:
            found[f"SLR{slr}"].append(f"{memory}/gen_partition[{p}].gen_far.i_fills")
    for p in range(sizes["PUS"]):
        found[f"SLR{p * slrs // sizes['PUS']}"] += [f"gen_pu[{p}].i_pu"] + [
            f"{memory}/{crossbar}/gen_column[{p}].i_column" for crossbar in ("i_edge_answers", "i_vertex_answers")]
    for b in range(banks):
        found[f"SLR{region(b)}"].append(f"{memory}/gen_bank[{b}].i_reader")
        if far:
            memories = 2 * sizes["PARTITIONS"] // banks
            found[f"SLR{region(b)}"] += [f"{memory}/gen_bank[{b}].gen_memory[{m}].gen_far.i_reads"
                                         for m in range(memories)] + [f"{memory}/gen_bank[{b}].gen_far.i_polls"]
    found[f"SLR{centre}"] += [
        "i_control", "i_prefetcher", "i_arbitrator", "i_abort", "i_patterns", "i_settings",
    ] + [f"gen_pu[{p}].gen_far.i_listed/i_queue" for p in range(sizes["PUS"]) if far]
    return found


def constraints(board: dict, folder: Path) -> str:
    """The floorplan and the exceptions for every compute unit of a machine on a card."""
    if kernel(folder) == "gramer_set_core":
        return (f"# {board['card']} ({board['part']}): machine `{folder.name}`, of the set core.\n"
                "# Written by scripts/board.py; do not edit. Each cluster lies in one region, which the\n"
                "# linker's configuration gives it. No exception and no false path is declared.\n")
    sizes = numbers(folder)
    sweep = max(sizes["VERTEX_SETS"], sizes["EDGE_SETS"])
    longest = max(cycles for _, cycles, _ in exceptions())
    if sweep <= longest:
        sys.exit(f"error: the machine's caches have {sweep} sets, too few for multicycle exceptions of "
                 f"{longest} cycles (constraints/exceptions.tsv); a larger cache is needed on a card")

    lines = [
        f"# {board['card']} ({board['part']}): floorplan and exceptions of machine `{folder.name}`.",
        "# Written by scripts/board.py from constraints/ and the machine's generated files; do not edit.",
        "# The linker reads it before placement, when the clock is the platform's; constraints/clock.tcl",
        "# makes one for a synthesis of the core alone.",
        "",
        "# A cell that is not there, by another name or dissolved by the synthesis, ends no build: it is counted.",
        "set found 0",
        "set missing 0",
        "proc cells {pattern} {",
        "  global core found missing",
        "  set cells [get_cells -quiet $core/$pattern]",
        "  if {$cells eq {}} {",
        "    incr missing",
        "    puts \"WARNING: gramer: no cell $core/$pattern; it stays without its constraint\"",
        "  } else {",
        "    incr found",
        "  }",
        "  return $cells",
        "}",
        "proc place {slr pattern} {",
        "  set cells [cells $pattern]",
        "  if {$cells ne {}} { set_property USER_SLR_ASSIGNMENT $slr $cells }",
        "}",
        "proc relax {cycles pattern} {",
        "  set cells [cells $pattern]",
        "  if {$cells ne {}} {",
        "    set_multicycle_path $cycles -setup -from $cells",
        "    set_multicycle_path [expr {$cycles - 1}] -hold -from $cells",
        "  }",
        "}",
    ]
    for unit, centre in compute_units(board, folder).items():
        lines += [
            "",
            f"set core [get_cells -hierarchical -filter {{NAME =~ *{unit}/inst/i_core}}]",
            "",
            "# Regions (SLR). Soft assignments, so that the placer may move a few cells over a border.",
        ]
        for slr, cells in places(board, sizes, centre).items():
            for cell in cells:
                lines.append(f"place {slr} {{{cell}}}")
        lines += [
            "",
            "# Multicycle exceptions of constraints/exceptions.tsv. A run starts in the cycle in which its",
            f"# settings are written; the sets are forgotten in the {sweep} cycles after it.",
        ]
        before = None
        for register, cycles, reason in exceptions():
            if reason != before:
                lines.append(f"# {reason[0].upper()}{reason[1:]}.")
            before = reason
            name, _, field = register.partition(".")
            cell = f"{name}_reg[{field}]*" if field else f"{name}_reg*"
            lines.append(f"relax {cycles} {{{cell}}}")
    lines += [
        "",
        "# No false path is declared: there is one clock, and no register that is never used.",
        "",
        "puts \"gramer: constraints of $found cells, $missing cells are not there\"",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    table = boards()
    arguments = sys.argv[1:]
    if arguments == ["--write"]:
        for name, board in cards().items():
            (ROOT / "constraints" / f"{name}.tcl").write_text(constraints(board, machine("accelerator")))
        return 0
    if len(arguments) < 2:
        print("error: usage: board.py BOARD part|platform|target TARGET|link MACHINE|constraints [MACHINE]", file=sys.stderr)
        return 2
    if arguments[0] not in table:
        print(f"error: no board {arguments[0]}; boards: {', '.join(table)}", file=sys.stderr)
        return 2
    board, what = table[arguments[0]], arguments[1]
    if what in ("part", "platform"):
        print(board[what])
    elif what == "target" and len(arguments) == 3:
        fault = target_fault(arguments[0], arguments[2])
        if fault:
            print(f"error: {fault}", file=sys.stderr)
            return 2
    elif what == "constraints" and "target" in board:
        print(f"error: {board['card']} has no floorplan: it is for TARGET={board['target']} alone", file=sys.stderr)
        return 2
    elif what == "link" and len(arguments) == 3:
        print(link(board, machine(arguments[2])), end="")
    elif what == "constraints" and len(arguments) <= 3:
        print(constraints(board, machine((arguments[2:] or ["accelerator"])[0])), end="")
    else:
        print(f"error: nothing is called {' '.join(arguments[1:])}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
