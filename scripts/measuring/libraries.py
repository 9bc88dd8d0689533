"""Races gramer with the graph libraries that people use from Python, on any edge lists.

    scripts/measure.py libraries [GRAPH…] [--python FILE] [--limit S] [--rounds N] [--tasks …] [--programs …] [--to FILE]

GRAPH is any file that gramer reads. Without one, the script races the graphs of RACED in $GRAMER_DATA and writes
docs/results/bench/libraries.csv; `scripts/peers.py` makes its table for the page. `--python` names a Python with igraph, networkit, networkx
and rustworkx (default: this one); libraries that it lacks are named and left out.

All programs read the same text, one edge per line, with one thread. Each round runs every program once. Seconds are processor seconds of
the whole process, the best of all rounds. A program that exceeds the limit is stopped and left out of further rounds. Counts must be
equal.
"""

import argparse
import csv
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

from built import BUILT, ROOT
from measuring import growth, speed

RESULT = ROOT / "docs" / "results" / "bench" / "libraries.csv"
# Graphs of the data, from sparse to dense.
RACED = ("citeseer", "p2p-gnutella08", "p2p-gnutella31", "as-caida", "wiki-vote", "ca-astroph", "email-enron", "web-stanford")
TASKS = {
    **{name: growth.TASKS[name] for name in ("triangles", "4-cliques", "maximal cliques", "3-motifs", "4-motifs")},
    "largest clique": ["clique", "--maximum"],
    "4-cycles, mappings": ["match", "--mappings", "--pattern", "4-cycle"],
    "houses, mappings": ["match", "--mappings", "--pattern", "house"],
}
HOUSE = "[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]"
CYCLE = "[(0, 1), (1, 2), (2, 3), (3, 0)]"
IGRAPH = "g.count_subisomorphisms_vf2(igraph.Graph({}))"
RUSTWORKX = ("(p := rustworkx.PyGraph(), p.extend_from_edge_list({}), "
             "sum(1 for _ in rustworkx.vf2_mapping(g, p, subgraph=True, induced=False)))[2]")
# Expressions in addition to those of `growth`; each is the number that `number_of` takes from gramer's answer.
MORE = {
    "igraph": {"largest clique": "g.clique_number()",
               "4-cycles, mappings": IGRAPH.format(CYCLE), "houses, mappings": IGRAPH.format(HOUSE)},
    "networkit": {"largest clique": "len(max(nk.clique.MaximalCliques(g, maximumOnly=True).run().getCliques(), key=len))"},
    "networkx": {
        "": "import networkx; g = networkx.read_edgelist(PATH, nodetype=int)",
        "triangles": "sum(networkx.triangles(g).values()) // 3",
        "maximal cliques": "sum(1 for c in networkx.find_cliques(g) if len(c) > 1)",
        "largest clique": "max(map(len, networkx.find_cliques(g)))",
    },
    "rustworkx": {"4-cycles, mappings": RUSTWORKX.format(CYCLE), "houses, mappings": RUSTWORKX.format(HOUSE)},
}
LIBRARIES = {name: {**growth.LIBRARIES.get(name, {}), **MORE.get(name, {})} for name in {**growth.LIBRARIES, **MORE}}


def versions(python):
    """The versions of the libraries that a Python has, by name."""
    code = ("import importlib.metadata as m, json; found = {}\n"
            f"for name in {list(LIBRARIES)!r}:\n"
            "    try: found[name] = m.version(name)\n"
            "    except m.PackageNotFoundError: pass\n"
            "print(json.dumps(found))")
    return json.loads(subprocess.run([python, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout)


def plain(gramer, path, target):
    """Writes a graph as text that all programs read: an edge a line, each once and without loops, vertices numbered from 0. Its sizes."""
    done = subprocess.run([gramer, "graph", "convert", path, "--to", "mtx"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"libraries: {done.stderr.strip()}")
    lines = (line.split() for line in done.stdout.splitlines() if not line.startswith("%"))
    vertices, _, edges = map(int, next(lines))
    if not edges:
        raise SystemExit(f"libraries: {path}: the graph has no edge")
    target.write_text("".join(f"{int(line[0]) - 1} {int(line[1]) - 1}\n" for line in lines))
    return vertices, edges


def save(rows, target):
    """Writes all rows so far; the file appears whole."""
    part = target.with_name(target.name + ".part")
    with part.open("w", newline="") as out:
        writer = csv.DictWriter(out, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    part.replace(target)


def number_of(program, task, said):
    """The number that is compared."""
    if program != "gramer":
        return int(said)
    answer = json.loads(said)
    return answer["results"][0]["pattern"]["vertices"] if task == "largest clique" else int(answer["total"])


def race(graph, sizes, task, path, options):
    """The rows of a task: of each program the best of its rounds."""
    best, stopped, numbers = {}, set(), {}
    for _ in range(options.rounds):
        for program in options.programs:
            words = growth.command(program, task, path, options, TASKS, LIBRARIES)
            if words is None or program in stopped:
                continue
            seconds, memory, said = growth.run(words, options.limit)
            if seconds is None:
                stopped.add(program)
                best[program] = (f">{options.limit}", memory)
                continue
            numbers[program] = number_of(program, task, said)
            if program not in best or seconds < best[program][0]:
                best[program] = (seconds, memory)
    if len(set(numbers.values())) > 1:
        raise SystemExit(f"libraries: different answers to {task} of {graph}: {numbers}")
    for program, (seconds, memory) in best.items():
        yield {"graph": graph, "vertices": sizes[0], "edges": sizes[1], "task": task, "program": program,
               "version": options.versions.get(program, ""),
               "cpu_s": seconds if isinstance(seconds, str) else f"{seconds:.4f}", "peak_mib": f"{memory:.1f}",
               "number": numbers.get(program, ""), "machine": growth.machine(), "date": datetime.date.today().isoformat()}


def main():
    parser = argparse.ArgumentParser(prog="measure.py libraries", description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="*", type=pathlib.Path, metavar="GRAPH", help="files to race on (default: those of RACED in $GRAMER_DATA)")
    parser.add_argument("--gramer", default=str(BUILT / "release" / "gramer"), help="the program (default: the release build)")
    parser.add_argument("--python", default=sys.executable, help="a Python that has the libraries")
    parser.add_argument("--limit", type=int, default=20, help="most processor seconds of a run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS), metavar="TASK")
    parser.add_argument("--programs", nargs="+", choices=["gramer", *LIBRARIES], default=["gramer", *LIBRARIES], metavar="PROGRAM")
    parser.add_argument("--to", type=pathlib.Path, help="file of the rows (default: none, or the published one)")
    options = parser.parse_args()
    options.versions = versions(options.python)
    said = subprocess.run([options.gramer, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    options.versions["gramer"] = said.split("commit:")[-1].split()[0][:8] if "commit:" in said else said.split()[1]
    missing = [name for name in options.programs if name not in options.versions]
    if missing:
        print(f"libraries: {options.python} has no {', '.join(missing)}: python3 -m venv DIR && DIR/bin/pip install {' '.join(missing)}, "
              "and --python DIR/bin/python", file=sys.stderr)
    options.programs = [name for name in options.programs if name in options.versions]
    graphs = [(path.name.split(".")[0], path) for path in options.graphs] \
        or [(name, speed.DATA / speed.GRAPHS[name][0]) for name in RACED]
    target = options.to or (None if options.graphs else RESULT)
    if options.to and options.to.exists():
        parser.error(f"{options.to} exists: remove it, or name another file with --to")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number, (graph, file) in enumerate(graphs):
            path = pathlib.Path(folder) / f"{number}.txt"
            sizes = plain(options.gramer, file, path)
            for task in options.tasks:
                for row in race(graph, sizes, task, path, options):
                    rows.append(row)
                    print(*(row[name] for name in ("graph", "task", "program", "cpu_s", "peak_mib", "number")), sep="  ", flush=True)
                if target and rows:
                    save(rows, target)
    return 0
