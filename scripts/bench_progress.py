#!/usr/bin/env python3
"""How well the progress bar of gramer predicts the time of a run.

Runs each task of TASKS on its own terminal, on one thread and on two, and records every frame of the bar with its
time, fraction and remaining time. Prints, after 10, 25 and 50 % of the time of mining, by how much the total time that
follows from the fraction differs from the real one, in wall seconds and in CPU seconds of the process: on a machine
with other work only the latter count. "estimating" marks a frame that promises no time. The last line gives the number
of tasks whose CPU error at 10 % is below WANTED. The real graphs are looked for in $GRAMER_DATA, else in
../shared/data.

With words it runs only tasks whose name contains one of them. --frames DIR writes each run's frames as CSV.
"""

import argparse
import csv
import json
import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import time

from built import BUILT, ROOT

GRAMER = pathlib.Path(os.environ.get("GRAMER", BUILT / "release" / "gramer"))
DATA = pathlib.Path(os.environ.get("GRAMER_DATA", ROOT.parent / "shared" / "data"))
WANTED = 0.30
SHARES = (0.10, 0.25, 0.50)
TICKS = os.sysconf("SC_CLK_TCK")

# Name: options of `gramer mine`. Each takes 5 to 30 s on one thread.
TASKS = {
    "8-cliques of rmat15": "mine clique -k 8 rmat15/rmat15.txt.zst",
    "maximal cliques of ego-twitter": "mine clique --maximal ego-twitter/ego-twitter.txt.zst",
    "5-motifs of ego-twitter": "mine motif -k 5 ego-twitter/ego-twitter.txt.zst",
    "6-motifs of ca-astroph": "mine motif -k 6 ca-astroph/ca-AstroPh.txt.zst",
    "7-cycles of wiki-vote": "mine match -p 7-cycle wiki-vote/wiki-vote.txt.zst",
    "4-vertex FSM of musae-facebook": "mine fsm --max-vertices 4 -s 1000 musae-facebook/edges.csv.zst "
                                      "--labels musae-facebook/target.csv.zst",
    "3-edge FSM of rmat15": "mine fsm --measure mni --max-edges 3 -s 150 rmat15/rmat15.txt.zst "
                            "--labels rmat15/labels.txt.zst",
}

FRAME = re.compile(r"mining [^\r]*?(\d+(?:\.\d)?) %  ([^\r]*)")
PROMISED = re.compile(r"about (.*) left")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def cpu_seconds(pid):
    """CPU seconds of a process so far; None once it is gone."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / TICKS


def record(command):
    """Runs a command on a terminal. Its frames (time, share, time left), CPU seconds by time, and its answer."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave, stdin=slave, env=environment)
    os.close(slave)
    answer, frames, cpu = b"", [], [(time.monotonic(), 0.0)]
    ended = None
    open_ends = {master, process.stdout.fileno()}
    while process.stdout.fileno() in open_ends:
        ready, _, _ = select.select(list(open_ends), [], [], 0.02)
        now = time.monotonic()
        used = cpu_seconds(process.pid)
        if used is not None:
            cpu.append((now, used))
        for end in ready:
            try:
                data = os.read(end, 1 << 16)
            except OSError:
                data = b""
            if not data:
                open_ends.discard(end)
            elif end == master:
                text = ESCAPE.sub("\r", data.decode(errors="replace"))
                for share, rest in FRAME.findall(text):
                    promised = PROMISED.search(rest)
                    frames.append((now, float(share) / 100, promised[1] if promised else "estimating"))
            else:
                ended = ended or now
                answer += data
    if process.wait():
        sys.exit(f"{' '.join(map(str, command))} failed with exit code {process.returncode}")
    os.close(master)
    return frames, cpu, ended, json.loads(answer)


def at(series, when):
    """The value of a rising series at a time, interpolated."""
    before = max((point for point in series if point[0] <= when), default=series[0])
    after = min((point for point in series if point[0] >= when), default=series[-1])
    if after[0] == before[0]:
        return before[1]
    return before[1] + (after[1] - before[1]) * (when - before[0]) / (after[0] - before[0])


def errors(frames, cpu, ended, mine):
    """By share of SHARES of the time: the predicted over the real total, in wall and in CPU seconds."""
    begun = ended - mine
    first, all_cpu = at(cpu, begun), at(cpu, ended) - at(cpu, begun)
    found = []
    for wanted in SHARES:
        of_time = next((f for f in frames if f[0] >= begun + wanted * mine), None)
        of_cpu = next((f for f in frames if at(cpu, f[0]) - first >= wanted * all_cpu), None)
        row = []
        for frame, done in ((of_time, lambda f: (f[0] - begun) / mine), (of_cpu, lambda f: (at(cpu, f[0]) - first) / all_cpu)):
            if frame is None or frame[1] == 0:
                row.append(None)
            else:
                row.append(done(frame) / frame[1])
        found.append((*row, of_cpu[2] if of_cpu else "none"))
    return found


def words(ratio):
    return "    none" if ratio is None else f"{100 * (ratio - 1):+7.0f}%"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--frames", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="fail if fewer than five tasks are predicted well")
    args = parser.parse_args()
    chosen = {name: task for name, task in TASKS.items() if not args.words or any(w in name for w in args.words)}
    print(f"{'task':28} threads      s  " + "  ".join(f"{'wall':>8}{'CPU':>9} at {share:.0%}" for share in SHARES))
    good = {}
    for name, task in chosen.items():
        for threads in args.threads.split(","):
            options = [str(DATA / word) if (DATA / word).is_file() else word for word in task.split()]
            command = [GRAMER, *options, "--threads", threads, "--output", "json"]
            frames, cpu, ended, answer = record(command)
            mine = answer["seconds"]["mine"]
            found = errors(frames, cpu, ended, mine)
            print(f"{name:28} {threads:>7} {mine:6.1f}  " + "  ".join(
                f"{words(wall)} {words(by_cpu)} {'est' if left == 'estimating' else '':>4}" for wall, by_cpu, left in found))
            sys.stdout.flush()
            ratio = found[0][1]
            good.setdefault(name, True)
            good[name] &= ratio is not None and abs(ratio - 1) < WANTED
            if args.frames:
                args.frames.mkdir(parents=True, exist_ok=True)
                with open(args.frames / f"{name.replace(' ', '-')}-{threads}.csv", "w", newline="") as file:
                    rows = csv.writer(file)
                    rows.writerow(["seconds", "cpu_seconds", "fraction", "left"])
                    begun = ended - mine
                    for when, share, left in frames:
                        rows.writerow([f"{when - begun:.3f}", f"{at(cpu, when) - at(cpu, begun):.3f}", share, left])
    print(f"{sum(good.values())} of {len(good)} tasks: error below {WANTED:.0%} of CPU seconds at 10 %, with every number of threads")
    if args.check and sum(good.values()) < min(5, len(good)):
        sys.exit(1)


if __name__ == "__main__":
    main()
