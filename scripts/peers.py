#!/usr/bin/env python3
"""docs/results/peers.md from docs/results/bench/peers-2026-11-28.csv: the CPU engine compared with public programs.

usage: scripts/peers.py [--check | --measure GRAMER]

The table of libraries for Python is made from docs/results/bench/libraries.csv (`scripts/measure.py libraries`).

--check writes nothing and fails if the page is another one. --measure runs GRAMER on the rows of the page whose graphs are in
$GRAMER_DATA, one thread, best of up to 5 runs of at most 10 s, and writes docs/results/bench/ours.csv, the columns *now*.

The file has a row for each race: graph, task, rival, CPU seconds of the rival and of gramer from text and from an image,
whether the counts are equal, and peak memory. Ratios are recomputed from the seconds; `>` is a rival that was stopped, `<` a run of
gramer that was.
"""

import csv
import datetime
import os
import pathlib
import re
import statistics
import subprocess
import sys

from measuring import speed

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "docs" / "results" / "bench" / "peers-2026-11-28.csv"
PAGE = ROOT / "docs" / "results" / "peers.md"
OURS = ROOT / "docs" / "results" / "bench" / "ours.csv"
LIBRARIES = ROOT / "docs" / "results" / "bench" / "libraries.csv"
LIMIT = 10.0
GROUPS = (("triangles and k-cliques", r"(\d+-clique|all clique)"), ("maximal cliques, counted", r"maximal$"),
          ("maximal cliques, listed to a file", r"maximal listed"), ("largest clique", r"maximum"),
          ("3-motifs", r"3-motif"), ("4-motifs", r"4-motif"), ("5- and 6-motifs", r"[56]-motif"),
          ("4-vertex orbits per vertex", r"4-orbits"), ("frequent patterns, minimum images", r"fsm"),
          ("matches, labelled queries", r"match (dense|sparse)"), ("matches, unlabelled patterns", r"match"),
          ("first 100,000 embeddings of a query", r"first"))


def number(text):
    """Seconds of a cell, and its mark: `<`, `>` or nothing."""
    mark = text[:1] if text[:1] in "<>" else ""
    return (float(text[len(mark):]), mark) if text[len(mark):] else (None, "")


def ratio(row, source):
    """How many times as long the rival took: a number and its mark, None where neither side ended or had a time."""
    rival, stopped = number(row["rival_cpu_s"])
    ours, cut = number(row[f"ours_{source}_cpu_s"])
    if not rival or not ours or (stopped and cut):
        return None
    return rival / ours, ">" if stopped else "<" if cut else ""


def text(found):
    if found is None:
        return "–"
    value, mark = found
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return f"**{mark}{shown}**" if value < 1 and mark != ">" else f"{mark}{shown}"


def best(rows):
    """The row of the fastest rival of each graph and task."""
    found = {}
    for row in rows:
        seconds, mark = number(row["rival_cpu_s"])
        if not seconds:
            continue
        key, rank = (row["graph"], row["task"]), (mark == ">", seconds)
        if key not in found or rank < found[key][0]:
            found[key] = (rank, row)
    return [row for _, row in found.values()]


def summary(rows):
    left, lines = best(rows), []
    for title, pattern in GROUPS:
        own = [row for row in left if re.match(pattern, row["task"])]
        left = [row for row in left if row not in own]
        image, plain = ([found for row in own if (found := ratio(row, source))] for source in ("image", "text"))
        if not image:
            continue
        lost = [sum(value < 1 and mark != ">" for value, mark in found) for found in (image, plain)]
        medians = [statistics.median(value for value, _ in found) for found in (image, plain)]
        worst = min(image, key=lambda found: found[0])
        lines.append(f"| {title} | {len(own)} | {lost[0]} | {lost[1]} | {medians[0]:.1f} | {medians[1]:.1f} | {text(worst)} |")
    assert not left, left
    return lines


NULL = " (ours written to /dev/null)"


def words(row):
    """The words after `gramer mine` for a row, without the graph; None if it can't be run here."""
    graph, task = row["graph"], row["task"].replace(NULL, "")
    plain = {"maximal": ["clique", "--maximal"], "maximum clique": ["clique", "--maximum"], "3-clique (all from text)": ["clique", "-k", "3"]}
    if task in plain:
        return plain[task]
    if found := re.fullmatch(r"(\d+)-(clique|motif)", task):
        return [found[2], "-k", found[1]]
    if found := re.fullmatch(r"(match|first 100000 of) ((?:dense|sparse)_\d+_\d+)", task):
        # The other programs count these embeddings without writing them.
        least = [] if found[1] == "match" else ["--limit", "100000"]
        return ["match", "--mappings", "--pattern", speed.query(graph, found[2]), *least]
    names = {"k33": "K3,3", "octahedron": "a-c, a-d, a-e, a-f, b-c, b-d, b-e, b-f, c-e, c-f, d-e, d-f"}
    if found := re.fullmatch(r"match( \(mappings\))? ([\w-]+)", task):
        return ["match", "--pattern", names.get(found[2], found[2]), *(["--mappings"] if found[1] else [])]
    return None


def measured(gramer):
    """Today's CPU seconds of the rows of the page, from text and image; writes OURS."""
    speed.WORK.mkdir(parents=True, exist_ok=True)
    _, lost = chosen()
    revision = re.search(r"commit: +(\w+)", subprocess.run([gramer, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout)
    with OURS.open("w") as file:
        print("graph,task,text_cpu_s,image_cpu_s,machine,load,date,revision", file=file)
        for row in {(row["graph"], row["task"]): row for row in lost}.values():
            graph, (task, options) = row["graph"], (row["task"], speed.GRAPHS.get(row["graph"], ("", [])))
            if not options[0] or not (speed.DATA / options[0]).is_file() or (own := words(row)) is None:
                continue
            files = speed.prepare(graph, gramer)
            took = [speed.cpu_seconds([gramer, "mine", *own, "--threads", "1", files[source]], LIMIT) for source in ("text", "image")]
            cells = [f">{seconds.above:.0f}" if seconds.above else f"{seconds.value:.4f}" for seconds in took]
            print(graph, task, *cells, speed.processor().replace(",", ""), f"{os.getloadavg()[0]:.0f}", datetime.date.today(),
                  revision[1] if revision else "unknown", sep=",", file=file, flush=True)
            print(graph, task, *cells, flush=True)


def now(row, source):
    """Today's seconds of a row, or a dash."""
    if not OURS.is_file():
        return "–"
    with OURS.open(newline="") as file:
        found = {(own["graph"], own["task"]): own for own in csv.DictReader(file)}
    return found.get((row["graph"], row["task"]), {}).get(f"{source}_cpu_s", "–")


def today():
    """What was measured for the columns *now*."""
    if not OURS.is_file():
        return "not measured"
    with OURS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    runs = {}
    for row in rows:
        runs.setdefault((row["date"], row["revision"][:8], row["machine"]), []).append(row)
    texts = []
    for (date, revision, machine), own in sorted(runs.items()):
        loads = sorted(int(row["load"]) for row in own)
        groups = [name for name, tasks in GROUPS if all(re.match(tasks, row["task"]) for row in own)]
        what = f" ({groups[0]})" if groups else ""
        texts.append(f"{date}, revision {revision}, {machine}{what}, while other work ran (load {loads[0]} to {loads[-1]})")
    return "; ".join(texts)


def libraries():
    """What the race with libraries for Python says, and its table: for each task and graph the fastest library."""
    with LIBRARIES.open(newline="") as file:
        rows = list(csv.DictReader(file))
    graphs, tasks = (list(dict.fromkeys(row[name] for row in rows)) for name in ("graph", "task"))
    versions = dict.fromkeys(f"{row['program']} {row['version']}" for row in rows if row["program"] != "gramer")
    runs = {"machine": rows[0]["machine"], "date": rows[0]["date"],
            "revision": next(row["version"] for row in rows if row["program"] == "gramer")}
    least = {}
    for row in rows:
        seconds, stopped = number(row["cpu_s"])
        if row["program"] != "gramer" and not stopped:
            least[row["program"]] = min(seconds, least.get(row["program"], seconds))
    starts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in sorted(least.items(), key=lambda item: item[1]))
    lines = [f"| task | {' | '.join(graphs)} |", "|---" + "|---:" * len(graphs) + "|"]
    for task in tasks:
        cells = []
        for graph in graphs:
            own = {row["program"]: number(row["cpu_s"]) for row in rows if (row["graph"], row["task"]) == (graph, task)}
            ours, cut = own.pop("gramer")
            name, (seconds, stopped) = min(own.items(), key=lambda item: (item[1][1] == ">", item[1][0]))
            both = "–" if cut and stopped else text((seconds / ours, ">" if stopped else "<" if cut else ""))
            cells.append(both if stopped else f"{both} {name}")
        lines.append(f"| {task} | {' | '.join(cells)} |")
    return f"""Written from [libraries.csv](bench/libraries.csv), which has the seconds, peak memory and counts of each library: {runs['date']},
revision {runs['revision']}, {runs['machine']}, while other work ran. Processor seconds of whole processes, one thread, best of interleaved rounds. All programs read
the same text, an edge a line. × is the time of the fastest library divided by ours, `>` where every library was stopped after 20 s. All answers of programs that ended are equal. On
the smallest graph most of a library's time is the start of Python and the import (s in the least case: {starts}).

`scripts/measure.py libraries GRAPH` races any graph, with a Python that has the libraries ({', '.join(versions)}).
""", lines


def races(rows):
    return [f"| {row['graph']} | {row['task'].replace(NULL, '')} | {row['rival']} | {row['rival_cpu_s']} | "
            f"{text(ratio(row, 'text'))} | {text(ratio(row, 'image'))} | {now(row, 'image')} |" for row in rows]


def chosen():
    """All rows, and those in which gramer was slower."""
    with SOURCE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    lost = [row for row in best(rows) if any(found and found[0] < 1 and found[1] != ">"
                                             for found in (ratio(row, "text"), ratio(row, "image")))]
    return rows, lost


def page():
    rows, lost = chosen()
    said, table = libraries()
    equal = sum(row["counts"] == "equal" for row in rows)
    differ = [row for row in rows if row["counts"] == "DIFFER"]
    stopped = [row for row in rows if "ours exit" in row["counts"]]
    stopped_rows = {(row["graph"], row["task"]) for row in stopped}
    stopped_lost = stopped_rows & {(row["graph"], row["task"]) for row in lost}
    ended = {(row["graph"], row["task"]) for row in rows if not row["rival_cpu_s"].startswith(">")}
    assert stopped_lost == stopped_rows & ended, "a row in which gramer was stopped and a rival wasn't is one of those below"
    head = "| graph | task | program | its s | × text | × image | now, image s |\n|---|---|---|---:|---:|---:|---:|"
    both = sorted({row["machine"] for row in rows}), sorted({row["date"] for row in rows})
    return "\n".join([f"""# The CPU engine compared with public programs

Written by `scripts/peers.py` from [peers-2026-11-28.csv](bench/peers-2026-11-28.csv), which has all {len(rows)} races. Revision 40b8f768,
{both[1][0]}, {both[0][0]}, one thread.

CPU seconds (user and system) of whole processes, reading included, best of 2 to 4 interleaved runs on one core of a busy machine; ratios between 0.9 and 1.1
are noise. Each program read its own format, mostly a binary one. *Text* is an edge list, which gramer parses and orders in every run; *image* is its binary
format. × is their time divided by ours: above 1 gramer is faster, **bold** slower. `>`: the program was stopped; `<`: gramer was. Columns *now* are gramer alone ([ours.csv](bench/ours.csv)): {today()}.

Programs: PivotScale, kClist, EBBkC, GAPBS, GraphMiner, ESCAPE and EVOKE, ORCA, HBBMC, quick-cliques, GraphPi, Peregrine, SubgraphMatching (`sm-…`), RapidMatch, VEQ, BICE,
T-FSM, igraph 1.0, NetworKit 11.3, rustworkx 0.18.

Counts: {equal} races compared and equal, {len(differ)} different. Of these, a third program, brute force or exact arithmetic agrees with gramer (column `note`). {len(rows) - equal - len(differ)} were not compared,
mostly since a program was stopped. Gramer was stopped in {len(stopped)} of them, {len(stopped_rows)} rows: {len(stopped_lost)} are below as slower; in the others all programs were stopped.

## By task, against the fastest program of each row

| task | rows | slower, image | slower, text | median ×, image | median ×, text | worst ×, image |
|---|---:|---:|---:|---:|---:|---:|""", *summary(rows), "", "## Libraries for Python", "", said, *table, "",
        "## Where gramer is slower", "",
        "Road-like graphs (`grid…`), the first 100,000 embeddings of a query (gramer listed them to /dev/null in the race; the other programs only count, as do the columns *now*), some queries of sm-wordnet, and a few small or hub-heavy graphs.", "",
        head, *races(lost)]) + "\n"


def main():
    if sys.argv[1:2] == ["--measure"] and len(sys.argv) == 3:
        measured(pathlib.Path(sys.argv[2]).absolute())
    elif sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__.split("\n\n")[1])
    made = page()
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if PAGE.read_text() == made else "docs/results/peers.md is old: scripts/peers.py")
    PAGE.write_text(made)


if __name__ == "__main__":
    main()
