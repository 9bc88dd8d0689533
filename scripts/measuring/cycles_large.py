"""Cycles of the set core on graphs beyond its memory (rewrites a section of docs/results/hardware/set-cycles.md, set-large.tsv).

usage: scripts/measure.py cycles-large [--gpu DEVICE]

R-MAT graphs of about the edges of YouTube, Patents and LiveJournal, which are made here. A part of the segments of the first
cluster is simulated, on `set` from one bank of DDR4 and on `set-hbm` from eight channels of HBM2; cycles are estimates for
all of them. Beside them the CPU engine on one thread, and the GPU engine by `--gpu DEVICE` on a machine with one, which measures
nothing else and writes docs/results/hardware/set-large-gpu.tsv.
"""

import argparse
import json
import resource
import subprocess

from measuring import cycles_set

GRAPHS = [("R-MAT 2²⁰, 3 edges a vertex", 20, 3, 4), ("R-MAT 2²², 4", 22, 4, 32), ("R-MAT 2²², 10", 22, 10, 100)]
TASKS = ["3-CF", "4-CF"]
FIGURES = cycles_set.REPORT.with_name("set-large.tsv")
GPU = FIGURES.with_name("set-large-gpu.tsv")
HEAD = ["task", "graph", "edges", "segments simulated", "segments", "times a line is loaded", "on chip before",
        "DDR4, one bank", "HBM2, 8 channels", "DDR by HBM", "CPU s"]
SECTION, NEXT = cycles_set.LARGE_HEAD, cycles_set.NEXT_HEAD


def made(scale, factor):
    """The graph's image, made where it is missing."""
    path = cycles_set.WORK / f"rmat-{scale}-{factor}.gramer"
    if not path.exists():
        subprocess.run([cycles_set.program("gramer"), "graph", "generate", "rmat", "--scale", str(scale), "--edge-factor",
                        str(factor), path], check=True)
    return path


def simulated(machine, task, path, part, load):
    """The JSON of a simulated part of the first cluster's segments, kept by its model."""
    name, k = cycles_set.words(task)
    model = cycles_set.model_of(f"machines/{machine}.yaml")
    kept = cycles_set.WORK / f"{model}-{task}-{path.stem}-{part}-{'loaded' if load else 'resident'}.json"
    if not kept.exists():
        said = cycles_set.keep([cycles_set.program("gramer-lab"), "simulate", name, "-k", str(k), path, "--json", "--machine",
                                f"machines/{machine}.yaml", "--part", str(part), "--clusters", "1"]
                               + (["--load"] if load else []), kept)
        if said:
            raise SystemExit(f"cycles: {said}")
    return json.loads(kept.read_text())


def mined(task, path, *more):
    """The answer of `gramer mine`, and its CPU seconds."""
    name, k = cycles_set.words(task)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([cycles_set.program("gramer"), "mine", name, "-k", str(k), path, "--json", *more], check=True,
                          stdout=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(task, title, scale, factor, part):
    path = made(scale, factor)
    resident = simulated("set", task, path, part, False)
    ddr, hbm = (simulated(machine, task, path, part, True) for machine in ("set", "set-hbm"))
    answer, seconds = mined(task, path, "--threads", "1")
    # Lines of all segments of both clusters, by those of the whole graph.
    lines = 2 * ddr["image_lines"] * ddr["segments_in_all"] / ddr["segments"]
    return [task, title, answer["graph"]["edges"], ddr["segments"], ddr["segments_in_all"],
            f"{lines / ddr['whole_lines']:.0f}", resident["cycles"], ddr["cycles"], hbm["cycles"],
            f"{ddr['cycles'] / hbm['cycles']:.2f}", f"{seconds:.2f}"]


def measure_gpu(device):
    """Times of the mining phase of new processes on a GPU, the best of five."""
    lines = [["task", "graph", "device", "mine ms"]]
    for title, scale, factor, _ in GRAPHS:
        for task in TASKS:
            answers = [mined(task, made(scale, factor), "--device", device)[0] for _ in range(5)]
            best = min(answer["seconds"]["mine"] for answer in answers)
            lines.append([task, title, answers[0]["device"], f"{1000 * best:.2f}"])
    GPU.write_text("".join("\t".join(line) + "\n" for line in lines))


def section(rows):
    """The page's section."""
    times = {tuple(line.split("\t")[:2]): line.split("\t")[3] for line in GPU.read_text().splitlines()[1:]} if GPU.exists() else {}
    lines = []
    for one in rows:
        found = dict(zip(HEAD, one))
        ms = [f"{found[title] / 200e3:,.2f}" for title in ("on chip before", "DDR4, one bank", "HBM2, 8 channels")]
        lines.append(f"| {found['task']} {found['graph']} | {found['edges']:,} | {found['segments']} | {' | '.join(ms)} | "
                     f"{1000 * float(found['CPU s']):,.0f} | {times.get((found['task'], found['graph']), 'not run')} |")
    table = "\n".join(lines)
    return f"""{SECTION}

Written by `scripts/measure.py cycles-large`: milliseconds at 200 MHz, estimates from a part of the first cluster's segments
([set-large.tsv](set-large.tsv)), 16 PUs. *On chip*: each segment there before its run. The CPU is one thread, whole
process; the GPU an H200, the mining phase of a new process: its kernels are compiled and the graph is sent. The core's figures have neither.

| task | edges | segments | on chip | `set`, one bank of DDR4 | `set-hbm`, 8 channels | CPU | GPU |
|---|---:|---:|---:|---:|---:|---:|---:|
{table}

"""


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--gpu", metavar="DEVICE")
    chosen = arguments.parse_args()
    cycles_set.WORK.mkdir(parents=True, exist_ok=True)
    if chosen.gpu:
        return measure_gpu(chosen.gpu)
    cycles_set.built()
    rows = [row(task, *graph) for graph in GRAPHS for task in TASKS]
    FIGURES.write_text("".join("\t".join(map(str, line)) + "\n" for line in [HEAD, *rows]))
    first, rest = cycles_set.REPORT.read_text().split(NEXT)
    cycles_set.REPORT.write_text(first.split(SECTION)[0] + section(rows) + NEXT + rest)
    return None
