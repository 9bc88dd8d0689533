"""Time and memory against the number of edges, by task, of gramer and of libraries for Python.

    scripts/measure.py growth measure [--gramer FILE] [--python FILE] [--limit S] [--most EDGES] [--least EDGES]
                               [--programs …] [--families …] [--tasks …]
    scripts/measure.py growth largest --cases CASE... [--gramer FILE] [--cores N,N] [--seconds S] [--at-once N] [--keep]
    scripts/measure.py growth page          docs/results/growth.md and its pictures from docs/results/bench/growth.csv

`measure` makes graphs of five families in target/growth and mines each with one thread, from a text file, which each
program reads for itself; a library runs in a Python of its own (`--python`: one that has igraph, networkit, rustworkx).
Seconds are processor seconds of the whole process. A program that takes more than the limit is not run on larger graphs of
the family. Rows of docs/results/bench/growth.csv with the same graph, task and program are replaced, others stay.

`largest` runs gramer with two threads on graphs near what ten minutes are enough for, and adds rows to
docs/results/bench/growth-largest.csv. A case is FAMILY:SIZE:TASK[,TASK...]; the size is the scale of an R-MAT graph, of a grid
its side, else the number of vertices (of leaves for a hub).
"""

import argparse
import csv
import datetime
import fcntl
import json
import math
import os
import pathlib
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time

from built import BUILT, ROOT
from measuring import growth_page

WORK = ROOT / "target" / "growth"
# Of each family: what makes the graph of a size, and the sizes.
SIZES = {"rmat": range(12, 23), "er": range(13, 23), "ba": range(13, 22), "hub": range(14, 21), "grid": range(7, 12)}
TASKS = {
    "triangles": ["clique", "-k", "3"],
    "4-cliques": ["clique", "-k", "4"],
    "maximal cliques": ["clique", "--maximal"],
    "3-motifs": ["motif", "-k", "3"],
    "4-motifs": ["motif", "-k", "4"],
    "5-motifs": ["motif", "-k", "5"],
}
# Programs that print one number: what gramer's answer calls `total`.
LIBRARIES = {
    "igraph": {
        "": "import igraph; g = igraph.Graph.Read_Edgelist(PATH, directed=False); g.simplify()",
        "triangles": "len(g.list_triangles())",
        "4-cliques": "len(g.cliques(4, 4))",
        "maximal cliques": "sum(1 for c in g.maximal_cliques() if len(c) > 1)",
        "3-motifs": "int(sum(x for x in g.motifs_randesu(3) if x == x))",
        "4-motifs": "int(sum(x for x in g.motifs_randesu(4) if x == x))",
    },
    "networkit": {
        "": "import networkit as nk; nk.setNumberOfThreads(1); "
            "g = nk.graphio.EdgeListReader(' ', 0, continuous=True, directed=False).read(PATH); "
            "g.removeMultiEdges(); g.removeSelfLoops(); g.indexEdges()",
        "triangles": "int(sum(nk.sparsification.TriangleEdgeScore(g).run().scores())) // 3",
        "maximal cliques": "sum(1 for c in nk.clique.MaximalCliques(g).run().getCliques() if len(c) > 1)",
    },
    "rustworkx": {
        "": "import rustworkx; g = rustworkx.PyGraph.read_edge_list(PATH, deliminator=' ')",
        # Triangles from the transitivity, which the library counts them for.
        "triangles": "round(rustworkx.transitivity(g) * sum(d * (d - 1) for d in map(g.degree, g.node_indices())) / 6)",
    },
}
PROGRAMS = ("gramer", *LIBRARIES)


def edges_of_hub(leaves):
    """A star of some leaves, of which each is also joined to the next."""
    for leaf in range(1, leaves + 1):
        yield 0, leaf
        yield leaf, leaf % leaves + 1


def edges_of_grid(side):
    """A grid of as many rows as columns with every eighth diagonal, row by row."""
    for row in range(side):
        for column in range(side):
            here = row * side + column
            if column + 1 < side:
                yield here, here + 1
            if row + 1 < side:
                yield here, here + side
            if row + 1 < side and column + 1 < side and here % 8 == 0:
                yield here, here + side + 1


def generate(gramer, family, size, path):
    """Writes the text of a graph, given the scale of an R-MAT graph, the side of a grid, else the number of vertices or leaves."""
    if family in ("hub", "grid"):
        made = edges_of_hub(size) if family == "hub" else edges_of_grid(size)
        with path.open("w") as file:
            file.writelines(f"{u} {v}\n" for u, v in made)
        return
    shape = {"rmat": ["rmat", "--scale", str(size), "--edge-factor", "8"],
             "er": ["er", "--vertices", str(size), "--edges", str(8 * size)],
             "ba": ["ba", "--vertices", str(size), "--edges-per-vertex", "8"]}[family]
    subprocess.run([gramer, "graph", "generate", *shape, "--seed", "1", "--to", "edges", "--force", path],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def graph(gramer, family, scale):
    """The text of a graph and the number of its edges; each edge is a line."""
    WORK.mkdir(parents=True, exist_ok=True)
    path = WORK / f"{family}{scale}.txt"
    if not path.exists():
        written = path.with_suffix(".part")
        generate(gramer, family, scale if family == "rmat" else 1 << scale, written)
        if family not in ("hub", "grid"):
            # Each library has its own mark of a comment.
            kept = [line for line in written.read_text().splitlines() if line[:1].isdigit()]
            written.write_text("".join(line + "\n" for line in kept))
        written.rename(path)
    return path, lines(path)


def lines(path):
    """The number of lines of a file; but for a comment at the begin, each is an edge."""
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def run(words, limit):
    """Processor seconds, peak memory in MiB and output of a process; seconds are None if it took more than the limit."""
    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    words = [str(word) for word in words]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, preexec_fn=limited)
        said = process.stdout.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        failure = errors.read().decode(errors="replace").strip()
    seconds = usage.ru_utime + usage.ru_stime
    if process.returncode and process.returncode != -signal.SIGXCPU and seconds < limit:
        end = failure.splitlines()[-1] if failure else f"exit code {process.returncode}"
        raise SystemExit(f"measure: {' '.join(words)}: {end}")
    if process.returncode:
        return None, usage.ru_maxrss / 1024, ""
    return seconds, usage.ru_maxrss / 1024, said


def command(program, task, path, options, tasks=None, libraries=None):
    """The words that do a task, None if the program has no function for it."""
    if program == "gramer":
        return [options.gramer, "mine", *(tasks or TASKS)[task], "-t", "1", "--json", path]
    library = (libraries or LIBRARIES)[program]
    if task not in library:
        return None
    return [options.python, "-c", f"PATH = {str(path)!r}; {library['']}; print({library[task]})"]


def machine():
    """The processor's name and the number of cores."""
    names = [line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")] if pathlib.Path("/proc/cpuinfo").exists() else []
    return f"{names[0] if names else platform.machine()} ({os.cpu_count()} cores)"


def measured(options):
    """A row for each run."""
    for family in options.families:
        stopped = set()
        for scale in SIZES[family]:
            path, edges = graph(options.gramer, family, scale)
            if edges > options.most:
                break
            if edges < options.least:
                continue
            for task in options.tasks:
                total = None
                for program in options.programs:
                    words = command(program, task, path, options)
                    if words is None or (program, task) in stopped:
                        continue
                    seconds, memory, said = run(words, options.limit)
                    if seconds is None:
                        stopped.add((program, task))
                    elif program == "gramer":
                        total = int(json.loads(said)["total"])
                    elif total is not None and int(said) != total:
                        raise SystemExit(f"growth: {program} counts {said.strip()} {task} in {path}, gramer {total}")
                    yield {"family": family, "scale": scale, "edges": edges, "task": task, "program": program,
                           "cpu_s": f">{options.limit}" if seconds is None else f"{seconds:.4f}",
                           "peak_mib": f"{memory:.1f}", "total": "" if total is None else total,
                           "machine": machine(), "at_once": options.at_once, "date": datetime.date.today().isoformat()}


def measure(options):
    for row in measured(options):
        print(*row.values(), sep=",", flush=True)
        add([row], growth_page.SOURCE)
    return 0


def largest(options):
    """A row for each task of each case, in this order, until the time is over."""
    end = time.monotonic() + options.seconds
    if options.cores:
        os.sched_setaffinity(0, options.cores)
    WORK.mkdir(parents=True, exist_ok=True)
    for family, size, tasks in options.cases:
        path = WORK / f"{family}-{size}.txt"
        if not path.exists():
            # Of several processes each makes its own.
            written = path.with_suffix(f".part{os.getpid()}")
            generate(options.gramer, family, size, written)
            written.rename(path)
        for task in tasks:
            limit = int(min(growth_page.SECONDS, end - time.monotonic()))
            if limit > 0:
                row = large_row(options, family, size, task, path, limit)
                print(*row.values(), sep=",", flush=True)
                add([row], growth_page.LARGEST)
        if not options.keep:
            path.unlink(missing_ok=True)
    return 0


def case(text):
    """The family, size and tasks of FAMILY:SIZE:TASK,TASK..."""
    family, _, rest = text.partition(":")
    size, _, names = rest.partition(":")
    tasks = names.split(",")
    if family not in SIZES or not size.isdigit() or not all(task in TASKS for task in tasks):
        raise argparse.ArgumentTypeError(f"{text}: must be FAMILY:SIZE:TASK,... of the families {', '.join(SIZES)} and the tasks "
                                         f"{', '.join(TASKS)}")
    return family, int(size), tasks


def large_row(options, family, size, task, path, limit):
    """A run with two threads; `>` and the limit in place of its seconds if it took longer."""
    words = ["timeout", str(limit), options.gramer, "mine", *TASKS[task], "-t", "2", "--json", str(path)]
    begun = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    said = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    seconds, code = time.monotonic() - begun, os.waitstatus_to_exitcode(status)
    process.returncode = code
    if code not in (0, 124):
        raise SystemExit(f"measure: {' '.join(words)}: exit code {code}")
    answer = json.loads(said) if code == 0 else None
    return {"family": family, "scale": size, "task": task, "program": "gramer", "edges": answer["graph"]["edges"] if answer else lines(path),
            "wall_s": f"{seconds:.1f}" if answer else f">{limit}", "cpu_s": f"{usage.ru_utime + usage.ru_stime:.2f}",
            "peak_mib": f"{usage.ru_maxrss / 1024:.0f}", "total": answer["total"] if answer else "",
            "machine": machine(), "at_once": options.at_once, "date": datetime.date.today().isoformat()}


def add(rows, path):
    """Adds rows to a table, in place of those of the same graph, task and program; several processes may do so at a time."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        old = growth_page.table_of(path) if path.exists() else []
        done = {key(row) for row in rows}
        written = path.with_suffix(".part")
        with written.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows([row for row in old if key(row) not in done] + rows)
        written.replace(path)
    finally:
        os.close(folder)


def key(row):
    """What a row is measured of."""
    return row["family"], int(row["scale"]), row["task"], row["program"]


def main():
    parser = argparse.ArgumentParser(prog="measure.py growth", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["measure", "largest", "page"])
    parser.add_argument("--cases", type=case, nargs="+", default=[], metavar="FAMILY:SIZE:TASK,...", help="cases of `largest`")
    parser.add_argument("--gramer", default=str(BUILT / "release" / "gramer"), help="the program (default: the release build)")
    parser.add_argument("--python", default=sys.executable, help="a Python that has the libraries")
    parser.add_argument("--limit", type=int, default=60, help="most processor seconds of a run")
    parser.add_argument("--most", type=float, default=1e7, help="most edges of a graph")
    parser.add_argument("--least", type=float, default=0, help="least edges of a graph")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS), metavar="PROGRAM")
    parser.add_argument("--families", nargs="+", choices=SIZES, default=list(SIZES), metavar="FAMILY")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS), metavar="TASK")
    parser.add_argument("--cores", type=lambda text: [int(core) for core in text.split(",")], help="processors of `largest`")
    parser.add_argument("--seconds", type=float, default=math.inf, help="of all runs of `largest` together")
    parser.add_argument("--at-once", type=int, default=1, help="runs that share the machine, as the caller starts them")
    parser.add_argument("--keep", action="store_true", help="keep the graphs of `largest`")
    options = parser.parse_args()
    if options.what == "largest":
        return largest(options)
    if options.what == "page":
        growth_page.write()
        return 0
    return measure(options)
