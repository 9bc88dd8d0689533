#!/usr/bin/env python3
"""Whether a machine fits a card, region by region.

  fit.py MACHINE BOARD   the load of each region of the card; exit code 1 if it exceeds the room
  fit.py --write         rewrites the tables of docs/reference/boards.md, and that of `gramer xclbin build --board`

The area of a compute unit is that of docs/results/hardware/area.tsv, which `make synth` writes. A region holds the
blocks that board.py places there, the data movers, and a tenth of both for what the linker adds (UG1393,
"Determining Where to Place the Kernels"). The vendor's tools have not confirmed these figures.
"""

import math
import re
import sys
from pathlib import Path

import board

AREAS = board.ROOT / "docs" / "results" / "hardware" / "area.tsv"
DOCUMENT = board.ROOT / "docs" / "reference" / "boards.md"
SHARES = board.ROOT / "host" / "accelerator" / "src" / "xclbin" / "fit.tsv"
UNITS = ("LUT", "FF", "BRAM", "URAM", "DSP")
BANKS = "memory banks"
# Movers of a compute unit: of each the data buffer of its port (16 bursts of 64 beats of 512 bits: 15 block
# RAMs) and its queue (128 beats: 8). An estimate by their depths; the logic of the movers is not counted.
MOVERS = {"BRAM": 2 * (15 + 8)}
# Share that the linker adds to the placed area.
ADDED = 0.1


def areas() -> dict:
    """The area of a compute unit, by machine."""
    _, head, *rows = [line.split("\t") for line in AREAS.read_text().splitlines()]
    return {name: dict(zip(head[1:], map(int, numbers))) for name, *numbers in rows}


def write_areas(found: dict):
    """Puts areas of compute units into the file, beside those of other machines."""
    comment, head = AREAS.read_text().splitlines()[:2]
    every = areas() | found
    AREAS.write_text("\n".join([comment, head] + ["\t".join([name, *(str(math.ceil(every[name][unit])) for unit in UNITS)])
                                                 for name in every]) + "\n")


def area(folder: Path):
    """The area of a compute unit of a machine: that of a machine with the same numbers; None if there is none. Registers
    between regions are not counted: they take no block memory, of which the paper's core has most."""
    def sizes(of: Path) -> str:
        text = board.generated(of, "gramer_pkg.sv").split("\n", 1)[1] # without the machine's name
        return re.sub(r"(?m)^ *localparam int unsigned SLR_REGISTERS .*\n", "", text)
    for name, found in areas().items():
        if sizes(board.machine(name)) == sizes(folder):
            return found
    return None


def held(card: dict, folder: Path, unit: dict) -> list:
    """Load of each region of a card by a machine, the linker's additions included."""
    found = [dict.fromkeys(UNITS, 0.0) for _ in range(card["slrs"])]
    if board.banks(folder) > card["banks"]:
        return found # nothing is placed

    def add(region: int, part: float, what: dict):
        for resource, number in what.items():
            found[region][resource] += (1 + ADDED) * part * number

    if board.kernel(folder) == "gramer_set_core":
        for region in re.findall(r"^slr=gramer_set_core_\d+:SLR(\d+)$", board.link(card, folder), re.M):
            add(int(region), 1, unit)
            add(int(region), 1, MOVERS)
        return found
    # The blocks of the paper's core are spread, nearly all of its memory with the partitions.
    sizes = board.numbers(folder)
    for centre in board.compute_units(card, folder).values():
        for slr, cells in board.places(card, sizes, centre).items():
            partitions = sum(cell.endswith(".i_partition") for cell in cells)
            add(int(slr[3:]), partitions / sizes["PARTITIONS"], unit)
        add(centre, 1, MOVERS)
    return found


def shares(card: dict, folder: Path, unit: dict) -> list:
    """For each region, and last for the whole card, the share of each resource that would be in use; of the whole card
    also that of its memory banks."""
    regions = held(card, folder, unit)
    whole = {resource: sum(region[resource] for region in regions) for resource in UNITS}
    found = [{resource: region[resource] / left[resource] for resource in UNITS} | {BANKS: 0}
             for region, left in zip([*regions, whole], [*board.room(card), card["available"]])]
    found[-1][BANKS] = board.banks(folder) / card["banks"]
    return found


def where(card: dict, at: int) -> str:
    return f"SLR{at}" if at < card["slrs"] else "all regions"


def fullest(card: dict, folder: Path, unit: dict) -> tuple:
    """The largest share: how much, of which resource, and where. Memory banks may all be in use."""
    return max((share, resource, where(card, at)) for at, found in enumerate(shares(card, folder, unit))
               for resource, share in found.items() if resource != BANKS or share > 1)


def percent(share: float) -> str:
    """Rounded up: what does not fit is never 100 %."""
    return f"{math.ceil(100 * share)} %"


def faults(card: dict, folder: Path, unit: dict) -> list:
    """Resources that exceed a region, or all that the platform leaves."""
    return [f"{where(card, at)}: {percent(share)} of {resource}" for at, found in enumerate(shares(card, folder, unit))
            for resource, share in found.items() if share > 1]


def fitting(folder: Path, unit: dict) -> list:
    """The cards that a machine fits; in doubt where nothing is known of a card's regions."""
    return [card["card"] + ("" if "region0" in card else " (in doubt)") for card in board.cards().values()
            if not faults(card, folder, unit)]


def built_for(folder: Path, unit: dict) -> str:
    """The cards that a machine fits, as a table has them."""
    return ", ".join(fitting(folder, unit)) or "simulation only"


def markdown(lines: list) -> str:
    head, *body = lines
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [head, ["---"] * len(head), *body])


def shown() -> list:
    """Machines whose area is known."""
    return sorted(path.name for path in (board.ROOT / "target" / "generated").iterdir()
                  if (path / "gramer_pkg.sv").exists() and area(path))


def tables() -> dict:
    """The tables of the document, by their marks."""
    cards = board.cards()
    lines = [["card", "`BOARD`", "Vitis", "platform", "memory", "block RAM left in each region", "LUTs"]]
    for name, card in board.boards().items():
        known = "region0" in card
        left = board.room(card)
        memory = f"{card['banks']} × {card['memory']}" if card["memory"] == "DDR" else "32 channels of HBM"
        lines.append([card["card"], f"`{name}`", card["tools"], f"`{card['platform']}`", memory,
                      *("hardware emulation only" if name not in cards
                        else ", ".join(f"{region[r]:,}" for region in left) if known
                        else f"not known; {card['available'][r]:,} in all" for r in ("BRAM", "LUT"))])
    fits = [["machine", "compute units", *(card["card"] for card in cards.values()), "a card"]]
    for name in shown():
        folder, unit = board.machine(name), area(board.machine(name))
        count = int(re.search(r"\bcompute_units: (\d+)", board.generated(folder, "machine.yaml"))[1])
        cells = []
        for card in cards.values():
            share, resource, place = fullest(card, folder, unit)
            cells.append(f"{'**no**: ' if share > 1 else ''}{percent(share)} of {resource}, {place}")
        fits.append([f"`{name}`", count, *cells, built_for(folder, unit)])
    return {"cards": markdown(lines), "fit": markdown(fits)}


def document() -> str:
    """The document with its tables as they should be."""
    text = DOCUMENT.read_text()
    for mark, content in tables().items():
        begin, end = f"<!-- {mark}: rewritten by scripts/fit.py -->", f"<!-- end of {mark} -->"
        first, rest = text.split(begin)
        text = first + begin + "\n" + content + "\n" + end + rest.split(end)[1]
    return text


def shares_table() -> str:
    """Share of each place of each card that machines take, for the command line."""
    lines = ["# What a machine takes of each region of a card, in percent, rounded up; written by scripts/fit.py --write.",
             "\t".join(["machine", "board", "card", "regions", "place", *UNITS, BANKS])]
    for name in shown():
        folder, unit = board.machine(name), area(board.machine(name))
        # The command line calls it by this name.
        called = "paper" if name == "accelerator" else name
        for chosen, card in board.cards().items():
            lines += ["\t".join([called, chosen, card["card"], "known" if "region0" in card else "not published",
                                 where(card, at), *(str(math.ceil(100 * region[r])) for r in (*UNITS, BANKS))])
                      for at, region in enumerate(shares(card, folder, unit))]
    return "\n".join(lines) + "\n"


def verdict(name: str, chosen: str) -> int:
    """Prints whether a machine fits a card."""
    card, folder = board.cards()[chosen], board.machine(name)
    unit = area(folder)
    if unit is None:
        print(f"note: the area of machine {name} is not known, so its fit on the {card['card']} is not checked; "
              f"`.venv/bin/python scripts/hardware.py synth --machine {name}` maps it", file=sys.stderr)
        return 0
    found = faults(card, folder, unit)
    for at, region in enumerate(shares(card, folder, unit)):
        print(f"{where(card, at)}: " + ", ".join(f"{percent(region[r])} of {r}" for r in UNITS))
    if not found:
        if "region0" not in card:
            print(f"note: the fit of machine {name} on the {card['card']} is in doubt: what its platform leaves of each "
                  "region is not published (docs/reference/boards.md)", file=sys.stderr)
        return 0
    others = built_for(folder, unit)
    print(f"error: machine {name} does not fit the {card['card']}: {'; '.join(found)}. "
          f"Cards that it fits: {others}. TARGET=hw_emu needs no card (docs/reference/boards.md)", file=sys.stderr)
    return 1


def main() -> int:
    arguments = sys.argv[1:]
    if arguments == ["--write"]:
        DOCUMENT.write_text(document())
        SHARES.write_text(shares_table())
        return 0
    if len(arguments) != 2 or arguments[1] not in board.cards():
        print(f"error: usage: fit.py MACHINE BOARD; boards: {', '.join(board.cards())}", file=sys.stderr)
        return 2
    name = arguments[0]
    if name != "accelerator" and not (board.ROOT / "machines" / f"{name}.yaml").is_file():
        print(f"error: there is no machine {name}: machines/{name}.yaml is missing", file=sys.stderr)
        return 2
    if not (board.machine(name) / "gramer_pkg.sv").is_file():
        print(f"error: the files of machine {name} are missing in target/generated: run `make generate`", file=sys.stderr)
        return 2
    return verdict(*arguments)


if __name__ == "__main__":
    sys.exit(main())
