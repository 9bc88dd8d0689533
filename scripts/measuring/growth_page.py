"""The page and the pictures of growth, from the measured file."""

import csv
import math

from built import ROOT

SOURCE = ROOT / "docs" / "results" / "bench" / "growth.csv"
# Runs of large graphs with two threads.
LARGEST = SOURCE.with_name("growth-largest.csv")
PAGE = ROOT / "docs" / "results" / "growth.md"
FAMILIES = {"rmat": "R-MAT", "er": "Erdős–Rényi", "ba": "Barabási–Albert", "hub": "hub", "grid": "grid"}
COLOURS = {"gramer": "#0b6e4f", "igraph": "#c8553d", "networkit": "#3066be", "rustworkx": "#8e44ad"}
PICTURES = {"cpu_s": ("growth-time.svg", "processor seconds"), "peak_mib": ("growth-memory.svg", "peak memory, MiB")}
# The largest graph that is stated: what fits these.
SECONDS, MEMORY = 600, 24 * 1024
# A run is that of a graph large enough to say how time grows from it on.
LEAST_SECONDS = 0.05
WIDTH, HEIGHT, LEFT, TOP, GAP = 190, 130, 70, 46, 28


def number(cell):
    """A value, None for a run that was stopped."""
    return None if cell.startswith(">") else float(cell)


def points(rows, family, task, program, column):
    """Edges and value of each finished run."""
    own = [row for row in rows if (row["family"], row["task"], row["program"]) == (family, task, program)]
    own = [row for row in own if number(row["cpu_s"]) is not None]
    return sorted((int(row["edges"]), float(row[column])) for row in own)


def decades(values):
    """The powers of ten around some values."""
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def panel(rows, place, family, task, column, scales):
    """One chart: a line for each program."""
    (left, top), ((x0, x1), (y0, y1)) = place, scales

    def at(point):
        x = left + (math.log10(point[0]) - x0) / (x1 - x0) * WIDTH
        y = top + HEIGHT - (math.log10(max(point[1], 10 ** y0)) - y0) / (y1 - y0) * HEIGHT
        return f"{x:.1f},{y:.1f}"

    said = [f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>']
    for decade in range(x0 + 1, x1):
        x = left + (decade - x0) / (x1 - x0) * WIDTH
        said.append(f'<path d="M{x:.1f} {top}v{HEIGHT}" stroke="#e4e4e4"/>')
    for decade in range(y0 + 1, y1):
        y = top + HEIGHT - (decade - y0) / (y1 - y0) * HEIGHT
        said.append(f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#e4e4e4"/>')
    for program, colour in COLOURS.items():
        found = points(rows, family, task, program, column)
        if found:
            said.append(f'<polyline points="{" ".join(map(at, found))}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
            said += [f'<circle cx="{x}" cy="{y}" r="2" fill="{colour}"/>' for x, y in (at(p).split(",") for p in found)]
    return said


def power(decade):
    """A power of ten as the label of an axis."""
    return f'10<tspan dy="-4" font-size="8">{decade}</tspan>'


def picture(rows, column, what):
    """Charts of all tasks (rows) and families (columns) on the same logarithmic axes, as SVG."""
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    families = [family for family in FAMILIES if any(row["family"] == family for row in rows)]
    done = [row for row in rows if number(row["cpu_s"]) is not None]
    x = decades([int(row["edges"]) for row in done])
    y = decades([max(float(row[column]), 1e-3) for row in done])
    wide, high = LEFT + len(families) * (WIDTH + GAP) + 8, TOP + len(tasks) * (HEIGHT + GAP)
    said = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="11">',
            f'<title>{what} against edges, by task and family of graphs</title>',
            f'<rect width="{wide}" height="{high}" fill="white"/>']
    for place, (program, colour) in enumerate(COLOURS.items()):
        said.append(f'<text x="{LEFT + 90 * place}" y="14" fill="{colour}" font-weight="bold">{program}</text>')
    said.append(f'<text x="{wide - 8}" y="14" text-anchor="end">{what} (up) against edges (right), one thread</text>')
    for column_number, family in enumerate(families):
        left = LEFT + column_number * (WIDTH + GAP)
        said.append(f'<text x="{left + WIDTH / 2}" y="{TOP - 10}" text-anchor="middle">{FAMILIES[family]}</text>')
        for decade in range(x[0], x[1] + 1):
            at = left + (decade - x[0]) / (x[1] - x[0]) * WIDTH
            said.append(f'<text x="{at:.1f}" y="{high - 12}" text-anchor="middle" font-size="9">{power(decade)}</text>')
        for row_number, task in enumerate(tasks):
            place = left, TOP + row_number * (HEIGHT + GAP)
            said += panel(rows, place, family, task, column, (x, y))
    for row_number, task in enumerate(tasks):
        top = TOP + row_number * (HEIGHT + GAP)
        said.append(f'<text x="12" y="{top + HEIGHT / 2}" transform="rotate(-90 12 {top + HEIGHT / 2})" '
                    f'text-anchor="middle">{task}</text>')
        for decade in range(y[0], y[1] + 1):
            at = top + HEIGHT - (decade - y[0]) / (y[1] - y[0]) * HEIGHT
            said.append(f'<text x="{LEFT - 6}" y="{at + 3:.1f}" text-anchor="end" font-size="9">{power(decade)}</text>')
    return "\n".join([*said, "</svg>"]) + "\n"


def slope(found):
    """The exponent with which a value grows, from the last three points; at least 0."""
    (x0, y0), (x1, y1) = found[max(0, len(found) - 3)], found[-1]
    return max(0.0, math.log(y1 / y0) / math.log(x1 / x0)) if x1 > x0 and y0 > 0 else None


def largest(rows, family, task, run, stopped):
    """The edges for which time or memory reaches its limit, by the growth of the last runs, from the last one or from `run` on;
    runs that were stopped would have taken longer."""
    seconds = [p for p in points(rows, family, task, "gramer", "cpu_s") if p[1] >= LEAST_SECONDS]
    memory = points(rows, family, task, "gramer", "peak_mib")
    bounds = []
    for found, limit, column in ((seconds, SECONDS, "wall_s"), (memory, MEMORY, "peak_mib")):
        # Below proportional growth no longer run is assumed: parts that are small here may take over.
        exponent = max(1.0, slope(found) or 1.0)
        last, value = (int(run["edges"]), float(run[column])) if run else found[-1]
        bounds.append(last * (limit / value) ** (1 / exponent))
        if column == "wall_s":
            bounds += [int(row["edges"]) * (limit / float(row[column][1:])) ** (1 / exponent) for row in stopped]
    return min(bounds)


def short(edges):
    """Edges to two digits, in thousands (K), millions (M) or thousand millions (G)."""
    for unit, sign in ((1e9, "G"), (1e6, "M"), (1e3, "K")):
        if edges >= unit:
            return f"{float(f'{edges / unit:.2g}'):g}{sign}"
    return f"{edges:.0f}"


def runs(rows, large):
    """Of each task, by family: the largest graph of a run with two threads within the limits, and what the limits allow."""
    for task in dict.fromkeys(row["task"] for row in rows):
        cells = []
        for family in FAMILIES:
            all_own = [row for row in large if (row["family"], row["task"]) == (family, task)]
            stopped = [row for row in all_own if number(row["wall_s"]) is None]
            own = [row for row in all_own if row not in stopped]
            own = [row for row in own if float(row["wall_s"]) <= SECONDS and float(row["peak_mib"]) <= MEMORY]
            best = max(own, key=lambda row: int(row["edges"]), default=None)
            seen = f"{short(int(best['edges']))} {float(best['wall_s']):.0f} s " if best else ""
            cells.append(f"{seen}({short(largest(rows, family, task, best, stopped))})")
        yield f"| {task} | {' | '.join(cells)} |"


def gains(rows):
    """Of each task and library: the ratio of times on the largest common graph of each family."""
    for task in dict.fromkeys(row["task"] for row in rows):
        for library in list(COLOURS)[1:]:
            cells = []
            for family in FAMILIES:
                ours = dict(points(rows, family, task, "gramer", "cpu_s"))
                theirs = [p for p in points(rows, family, task, library, "cpu_s") if p[0] in ours]
                if theirs:
                    edges, seconds = theirs[-1]
                    cells.append(f"{seconds / ours[edges]:,.0f} ({short(edges)})")
                else:
                    cells.append("–")
            if set(cells) != {"–"}:
                yield f"| {task} | {library} | {' | '.join(cells)} |"


def of(rows, column):
    """All values of a column."""
    return ", ".join(sorted({row[column] for row in rows}))


def page(rows, large):
    """The page's text."""
    return "\n".join([f"""# Growth with the size of a graph

Written by `make bench-growth` from [growth.csv](bench/growth.csv). {of(rows, "machine")}, {of(rows, "date")}, one thread, runs at once: {of(rows, "at_once")}.

Processor seconds of whole processes that read a text file, for libraries with the start of Python; counts must be equal. What takes
longer than a run's limit isn't run on larger graphs of the family.

R-MAT, Erdős–Rényi and Barabási–Albert graphs have about 8 edges per vertex; *hub* is a wheel;
*grid* is square, numbered row by row, with every eighth diagonal.

![Processor seconds against edges](growth-time.svg)

![Peak memory against edges](growth-memory.svg)

## Largest graphs

Edges and seconds of two threads, reading included ([growth-largest.csv](bench/growth-largest.csv), with
memory; {of(large, "machine")}, {of(large, "date")}, runs at once: {of(large, "at_once")}). In brackets what {SECONDS // 60} minutes and {MEMORY // 1024} GiB
allow at most if the growth above continues.

| task | {' | '.join(FAMILIES.values())} |
|---|{'---:|' * len(FAMILIES)}""", *runs(rows, large), "", "## Beside libraries for Python", "",
        "Seconds of the library by gramer's, on the largest graph that both finished (edges in brackets).", "",
        f"| task | library | {' | '.join(FAMILIES.values())} |", f"|---|---|{'---:|' * len(FAMILIES)}", *gains(rows)]) + "\n"


def table_of(path):
    """The rows of a file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def files():
    """The page and the pictures, by path."""
    rows, large = table_of(SOURCE), table_of(LARGEST)
    made = {PAGE.parent / name: picture(rows, column, what) for column, (name, what) in PICTURES.items()}
    return {PAGE: page(rows, large), **made}


def write():
    """Writes them."""
    for path, text in files().items():
        path.write_text(text)


def old():
    """Those that the measured file makes otherwise."""
    return [str(path.relative_to(ROOT)) for path, text in files().items() if not path.exists() or path.read_text() != text]
