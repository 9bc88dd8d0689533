"""Tables of the estimate of the energy: constraints/energy.tsv and memories.tsv."""

import functools
from pathlib import Path

from built import ROOT

FIGURES = ROOT / "constraints" / "energy.tsv"
MEMORIES = ROOT / "constraints" / "memories.tsv"
# Unit of each figure, and what makes joules or watts of it.
UNITS = {
    "net_toggle": "fJ", "lut_toggle": "fJ", "ff_toggle": "fJ", "ff_clock": "fJ", "lutram_clock": "fJ",
    "bram_access": "pJ", "uram_access": "pJ", "dsp_clock": "pJ", "ddr4_bit": "pJ", "ddr4_row": "nJ", "ddr4_idle": "W",
    "device_static": "W/MLUT", "glitches": "times",
}
SCALE = {"fJ": 1e-15, "pJ": 1e-12, "nJ": 1e-9, "W": 1.0, "W/MLUT": 1.0, "times": 1.0}
HEAD = ["figure", "unit", "device", "watts", "used", "mhz", "rate", "value", "kind", "source"]
KINDS = ("report", "assumed", "bound", "derived", "quoted")
MEMORY_HEAD = ["machine", "block", "module", "variable", "memory", "least", "most"]


class Fault(ValueError):
    """A row of a table that is wrong."""


def table(path: Path, head: list[str]):
    """Rows of a table with their line numbers, without comments."""
    lines = [(at, line.split("\t")) for at, line in enumerate(path.read_text().splitlines(), 1)
             if line and not line.startswith("#")]
    if not lines or lines[0][1] != head:
        raise Fault(f"{path.name}: the columns must be {', '.join(head)}")
    for at, row in lines[1:]:
        if len(row) != len(head):
            raise Fault(f"{path.name}, line {at}: {len(row)} columns, not {len(head)}")
        yield at, dict(zip(head, row))


def value_of(row: dict) -> float:
    """Value of a row in joules, watts or times: its own, or watts divided by events a second."""
    scale = SCALE[row["unit"]]
    if row["value"]:
        return float(row["value"]) * scale
    watts, used = float(row["watts"]), float(row["used"])
    if row["unit"] == "W/MLUT":
        return watts / used
    return watts / (used * float(row["mhz"]) * 1e6 * float(row["rate"]))


def read(path: Path) -> dict[str, tuple[float, float]]:
    """Least and most of each figure, in joules, watts or times.

    Raises Fault for an unknown figure, a unit that isn't the figure's, numbers that are missing or not positive, and a row
    without a source."""
    found: dict[str, list[float]] = {}
    for at, row in table(path, HEAD):
        where = f"{path.name}, line {at}"
        figure = row["figure"]
        if figure not in UNITS:
            raise Fault(f"{where}: no figure {figure!r}")
        if row["unit"] != UNITS[figure]:
            raise Fault(f"{where}: the unit of {figure} is {row['unit']!r}, but must be {UNITS[figure]}")
        if row["kind"] not in KINDS:
            raise Fault(f"{where}: the kind is {row['kind']!r}, but must be {', '.join(KINDS)}")
        if not row["source"].strip():
            raise Fault(f"{where}: {figure} has no source")
        try:
            value = value_of(row)
        except (ValueError, ZeroDivisionError):
            value = 0.0
        if not value > 0:
            raise Fault(f"{where}: {figure} needs a value, or watts, used, mhz and rate, all positive")
        found.setdefault(figure, []).append(value)
    missing = [figure for figure in UNITS if figure not in found]
    if missing:
        raise Fault(f"{path.name}: no row of {', '.join(missing)}")
    return {figure: (min(values), max(values)) for figure, values in found.items()}


@functools.cache
def figures() -> dict[str, tuple[float, float]]:
    return read(FIGURES)


@functools.cache
def memories(machine: str) -> dict[tuple[str, str, str], list]:
    """Block memories that an access of a machine takes: their kind and number, least and most, by the title of the block
    (blocks.tsv), the module, and the variable that enables the access."""
    found: dict[tuple[str, str, str], list] = {}
    for at, row in table(MEMORIES, MEMORY_HEAD):
        where = f"{MEMORIES.name}, line {at}"
        try:
            least, most = float(row["least"]), float(row["most"])
        except ValueError:
            least = most = 0.0
        if row["memory"] not in ("BRAM", "URAM") or not 0 <= least <= most or not most:
            raise Fault(f"{where}: memory must be BRAM or URAM; least and most must be numbers, 0 <= least <= most, most above 0")
        if row["machine"] != machine:
            continue
        rows = found.setdefault((row["block"], row["module"], row["variable"]), [])
        if any(kind == row["memory"] for kind, *_ in rows):
            raise Fault(f"{where}: {row['variable']} of {row['module']} has two rows of {row['memory']}")
        rows.append((row["memory"], least, most))
    return found
