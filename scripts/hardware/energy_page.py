"""The page of `scripts/hardware.py energy`, and its table."""

from hardware import energies

# Columns of the page: parts that they sum.
COLUMNS = {
    "clock": ("clock",),
    "logic, wires": ("registers", "logic", "wires", "distributed", "DSP"),
    "block memories": ("BRAM", "URAM"),
    "DRAM": ("DRAM",),
    "static": ("static",),
}


def span(low: float, high: float, digits: int = 2) -> str:
    return f"{low:.{digits}f}–{high:.{digits}f}"


def table(rows: list) -> str:
    """Lines of the TSV: a row for each part of a task, and one for their sum."""
    lines = ["machine\ttask\tgraph\tclocks\tDRAM lines\ttoggles a clock\tpart\tleast uJ\tmost uJ"]
    for machine, task, graph, row in rows:
        head = f"{machine}\t{task}\t{graph}\t{row['clocks']}\t{row['lines']}\t{row['toggles']:.1f}"
        parts = dict(row["parts"])
        parts["total"] = tuple(sum(part[end] for part in row["parts"].values()) for end in (0, 1))
        lines += [f"{head}\t{name}\t{1e6 * low:.6g}\t{1e6 * high:.6g}" for name, (low, high) in parts.items()]
    return "\n".join(lines) + "\n"


def cells(row: dict) -> list[str]:
    """Cells of a row on the page: watts of each column and of all, and the energy."""
    watts = []
    for names in [*COLUMNS.values(), tuple(row["parts"])]:
        both = [sum(row["parts"][name][end] for name in names) / row["seconds"] for end in (0, 1)]
        watts.append(span(*both))
    whole = [1e6 * sum(part[end] for part in row["parts"].values()) for end in (0, 1)]
    return [f"{row['clocks']:,}", f"{100 * row['rate']:.2f}", *watts, f"{whole[0]:,.0f}–{whole[1]:,.0f}"]


def write(page, rows: list, full: dict, states: dict, paper: float):
    """Writes the page, and the table next to it. By machine, `full` has the watts at the full rate, `states` the hash of the
    RTL and the description."""
    page.with_suffix(".tsv").write_text(table(rows))
    head = ["task", "clocks", "toggles %", *(f"{name} W" for name in COLUMNS), "all W", "µJ"]
    sections = []
    for machine in dict.fromkeys(row[0] for row in rows):
        lines = [f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1)]
        lines += [f"| {task} {graph} | {' | '.join(cells(row))} |" for own, task, graph, row in rows if own == machine]
        sections.append(f"## `{machine}`\n\nRTL and YAML `{states[machine]}`.\n\n" + "\n".join(lines) + "\n\n"
                        + f"On chip with every net and memory active in each clock: {span(*full[machine], 1)} W.")
    figures = energies.figures()
    watts = [[sum(part[end] for name, part in row["parts"].items() if name != "DRAM") / row["seconds"] for end in (0, 1)]
             for own, _, _, row in rows if own == "accelerator"]
    on_chip = min(low for low, _ in watts), max(high for _, high in watts)

    def of(name):
        scale = energies.SCALE[energies.UNITS[name]]
        low, high = (value / scale for value in figures[name])
        return f"{low:.3g}–{high:.3g} {energies.UNITS[name]}"

    page.write_text(f"""# Energy, an estimate

Written by `make energy`: activity counted in simulation × published energies, least and most. **No power was measured, and no
core was placed and routed.** [energy.tsv](energy.tsv) has every part of each task.

{(chr(10) * 2).join(sections)}

Without DRAM the paper's core takes {span(*on_chip, 1)} W in these tasks. The paper's ratios imply {paper:.1f} W, by Vivado at a
toggle rate of 100 %; it takes 120 W for its CPU ([figure 11](../paper/README.md)). `make bench-gpu` reads a GPU's own counter.

- *Range*: the spread of the reports, of the blocks enabled, and of glitches. Reports: the energies below. Blocks: an access
  enables only the blocks of its word, or all blocks of the memory; a distributed memory takes energy when written, or in each
  clock. Glitches: none, or as many toggles of logic again.
- *Toggles*: share of flip-flops and LUTs that change in a clock. Registers and outputs are counted bit by bit in each clock from
  start to the end that the host acknowledges, and scaled to the area of their block. Areas are of the RTL whose hash
  [synthesis](synthesis.md) has. Block memories count by their enables (`constraints/memories.tsv`). *Logic, wires* has
  distributed memories too.
- Energies are in `constraints/energy.tsv`, each with its source: reports by Vivado in public repositories, of other designs on
  UltraScale+ (a wire {of("net_toggle")} a toggle, a LUT {of("lut_toggle")}, a flip-flop's clock {of("ff_clock")}, an access to a block RAM
  {of("bram_access")}, UltraRAM {of("uram_access")}); DDR4 by currents of its data sheet, at most by AMD's ratio to HBM
  ({of("ddr4_bit")} a bit). Reports print no activity inside. Assumed: toggles of 12.5 %, Vivado's default at inputs; block
  memories enabled in each clock or in half of them.
- *Static*: a U250, by LUTs from other devices. *DRAM*: with refresh and standby of the machine's banks.
- Not counted: length of wires, the platform's shell, data movers, host. Pins that aren't valid carry random values in simulation;
  their toggles count.
""")
