"""Memory of each thread beyond the graph, by task.

    scripts/measure.py memory [--threads N] [--scales S…] [--out FILE] [WORD…]     only tasks that contain a WORD

Makes random graphs of 2^S vertices (Barabási and Albert's model, labels of vertices besides; EDGES edges per vertex, or
EDGES_OF_LARGE from scale LARGE on), and mines each from its image with one thread and with N. The growth of the peak
resident memory, divided by N - 1, is the memory of a thread: its own tables, and what threads happen to use at the same
time. Prints a table, with values over LIMIT MB in bold, and writes it to FILE.
"""

import argparse
import os
import pathlib
import subprocess
import sys

from built import ROOT
from measuring import speed

WORK = ROOT / "target" / "bench-memory"
LIMIT = 64e6
EDGES = 4
# Graphs from this number of vertices on have fewer edges, or they would take gigabytes.
EDGES_OF_LARGE = 2
LARGE = 22
TASKS = {
    "triangles": ["clique", "-k", "3"],
    "4-cliques": ["clique", "-k", "4"],
    "7-cliques": ["clique", "-k", "7"],
    "cliques of all sizes": ["clique", "-k", "3", "--up-to", "9"],
    "maximal cliques": ["clique", "--maximal"],
    "maximum clique": ["clique", "--maximum"],
    "3-motifs": ["motif", "-k", "3"],
    "4-motifs": ["motif", "-k", "4"],
    "5-motifs": ["motif", "-k", "5"],
    "4-cycles": ["match", "--pattern", "4-cycle"],
    "5-cycles": ["match", "--pattern", "5-cycle"],
    "induced diamonds": ["match", "--pattern", "diamond", "--induced", "vertex", "--list", os.devnull],
    "labelled triangles": ["match", "--pattern", "LABELLED"],
    "frequent by embeddings": ["fsm", "--support", "1000", "--max-vertices", "3"],
    "frequent by mni": ["fsm", "--measure", "mni", "--support", "1000", "--max-edges", "2"],
    "4-cliques per vertex": ["clique", "-k", "4", "--per", "vertex"],
    "4-cliques per edge": ["clique", "-k", "4", "--per", "edge"],
    "4-motifs per vertex": ["motif", "-k", "4", "--per", "vertex"],
    "4-cliques, estimated": ["clique", "-k", "4", "--estimate", "5%"],
}


def peak(words):
    """Bytes of the peak of resident memory of a run, or None if it failed."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        print(f"memory: {' '.join(map(str, words))} failed: {said.strip()}", file=sys.stderr)
        return None
    return 1024 * usage.ru_maxrss


def image(scale):
    """The image of a random graph of 2^scale vertices."""
    file = WORK / f"ba-{scale}.gramer"
    if not file.exists():
        edges = EDGES if scale < LARGE else EDGES_OF_LARGE
        words = ["graph", "generate", "ba", "--vertices", 1 << scale, "--edges-per-vertex", edges,
                 "--vertex-labels", 8, "--seed", 1]
        text = WORK / f"ba-{scale}.lg"
        subprocess.run([speed.GRAMER, *map(str, words), text], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([speed.GRAMER, "graph", "convert", text, file], check=True, stdout=subprocess.DEVNULL)
        text.unlink()
    return file


def pattern():
    """A file with a triangle of three labels."""
    file = WORK / "triangle.lg"
    file.write_text("t # 1\nv 0 0\nv 1 1\nv 2 2\ne 0 1\ne 0 2\ne 1 2\n")
    return file


def row(name, per_thread):
    """A row of the table: MB of a thread by size."""
    def cell(bytes_):
        if bytes_ is None:
            return "failed"
        return f"{bytes_ / 1e6:.1f}" if bytes_ <= LIMIT else f"**{bytes_ / 1e6:.1f}**"
    return f"| {' | '.join([name, *map(cell, per_thread)])} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=9, metavar="N", help="threads beside one (9)")
    parser.add_argument("--scales", type=int, nargs="+", default=[18, 23], metavar="S", help="log2 of the vertices (18 23)")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="where the table goes besides")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only tasks that contain one of these")
    options = parser.parse_args()
    if options.threads < 2 or sorted(set(options.scales)) != options.scales:
        parser.error("--threads must be 2 or more, and --scales ascend")
    WORK.mkdir(parents=True, exist_ok=True)
    lines = ["| task | " + " | ".join(f"MB a thread, 2^{scale} vertices" for scale in options.scales) + " |",
             "|---" + "|---:" * len(options.scales) + "|"]
    print("\n".join(lines), flush=True)
    for name, words in TASKS.items():
        if options.words and not any(word in name for word in options.words):
            continue
        words = [pattern() if word == "LABELLED" else word for word in words]
        per_thread = []
        for scale in options.scales:
            one, many = (peak([speed.GRAMER, "mine", *words, "--threads", str(threads), "--trust-image", image(scale)])
                         for threads in (1, options.threads))
            known = one is not None and many is not None
            per_thread.append((many - one) / (options.threads - 1) if known else None)
        lines.append(row(name, per_thread))
        print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")

