"""CPU seconds of the rows of scripts/measure.py speed by two revisions, one thread, interleaved runs.

    scripts/measure.py compare BEFORE [WORD…]     this tree compared with the revision BEFORE; only rows that contain a WORD

Both are built as releases in target/bench-compare (BEFORE from its own sources, once per revision), each with
its own profile, never incrementally (that code is slower). The runs of a row alternate, before, after, after, before,
so that other load affects both alike; user plus system time counts. A row is run until each has run REPEAT times, short
ones until they took ENOUGH seconds. Its ratio is the least time after over the least before, with that of the medians.
A row is slower if both are over LIMIT. Each revision mines images that it wrote itself, and the same texts. At the end,
rows that are slower or near it run as often again, twice, since load of a busy machine lasts a while. All runs of a row
count.

Writes target/bench-compare/BEFORE.csv, and a page to FILE of --page. Exit code 1 if a row is slower or failed
after, 2 for wrong usage.
"""

import argparse
import csv
import multiprocessing
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

from built import ROOT
from measuring import speed

WORK = ROOT / "target" / "bench-compare"
LIMIT = 1.05
# Runs of each revision, of a row that takes long and of one that doesn't.
REPEAT, MOST = 4, 20
# CPU seconds of a revision in a row after which REPEAT runs are enough.
ENOUGH = 1.0
# Rounds of a row that is near LIMIT: one of its ratios is over LIMIT, or both are over NEAR.
ROUNDS, NEAR = 3, 1.03


class Row:
    """The runs of one task from one kind of file: CPU seconds before and after, and what failed."""

    def __init__(self, graph, task, source):
        self.graph, self.task, self.source = graph, task, source
        self.seconds = ([], [])
        self.failed = [None, None]
        # Rounds that it has run, or runs now.
        self.rounds = 0

    def name(self):
        return f"{self.graph} {self.task} {self.source}"

    def ratios(self):
        """After over before: of the least times and of the medians; None without both."""
        before, after = self.seconds
        if any(self.failed) or not before or not after:
            return None
        return min(after) / min(before), statistics.median(after) / statistics.median(before)

    def verdict(self):
        """`slower`, `faster`, `alike`, or why there is nothing to compare."""
        if any(self.failed):
            return " ".join(f"{when}: {why}" for when, why in zip(("before", "after"), self.failed) if why)
        ratios = self.ratios()
        if ratios is None:
            return "not run"
        if min(ratios) > LIMIT:
            return "slower"
        return "faster" if max(ratios) < 1 / LIMIT else "alike"

    def is_near(self):
        """Whether other runs might give another answer to whether it is slower."""
        ratios = self.ratios()
        return ratios is not None and (max(ratios) > LIMIT or min(ratios) > NEAR)

    def needs_more(self):
        """Whether both should run again in this round."""
        going = [seconds for seconds, why in zip(self.seconds, self.failed) if not why]
        if not going:
            return False
        runs = min(map(len, going))
        short = all(sum(seconds) < self.rounds * ENOUGH for seconds in going)
        return runs < self.rounds * REPEAT or (short and runs < self.rounds * MOST)

    def run(self, words, run=speed.one_run):
        """A round of runs in turn; `words` are the command lines of before and after. Where one is stopped or fails,
        the other goes on alone: its seconds are known then."""
        self.rounds += 1
        while self.needs_more():
            for which in (0, 1, 1, 0):
                if self.failed[which]:
                    continue
                try:
                    took = run(words[which])
                except speed.Failed as failed:
                    self.failed[which] = "failed"
                    print(f"{self.name()}: {failed}", file=sys.stderr)
                    continue
                if took is None:
                    self.failed[which] = f"stopped after {speed.LIMIT:.0f} s"
                    continue
                self.seconds[which].append(took)


def summary(rows):
    """Summary of all rows, and the exit code."""
    verdicts = [row.verdict() for row in rows]
    slower = [row for row, verdict in zip(rows, verdicts) if verdict == "slower"]
    broken = [row.name() for row in rows if row.failed[1] and not row.failed[0]]
    lines = [f"{len(rows)} rows: {len(slower)} over {LIMIT}, {verdicts.count('faster')} under {1 / LIMIT:.3f}, "
             f"{verdicts.count('alike')} between, {verdicts.count('not run')} not run, "
             f"{sum(any(row.failed) for row in rows)} not comparable"]
    lines += [f"slower: {row.name()} ({row.ratios()[0]:.3f}, medians {row.ratios()[1]:.3f})" for row in slower]
    lines += [f"ended before and doesn't end now: {name}" for name in broken]
    return lines, int(bool(slower or broken))


def git(*words):
    """What git says of this tree."""
    return subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def named(commit, changed=False):
    """A revision in words: its number, its day and what it did."""
    number, day, subject = git("log", "-1", "--format=%h%n%ad%n%s", "--abbrev=12", "--date=short", commit).split("\n")
    return f"`{number}` of {day}{', with changes on top' if changed else ''}: {subject}"


def built(folder, sources):
    """The program of some sources, built; the target folder is shared, since most dependencies are the same."""
    program = folder / "gramer"
    words = ["cargo", "build", "--release", "--locked", "--bin", "gramer", "--target-dir", WORK / "build"]
    environment = dict(os.environ, CARGO_INCREMENTAL="0")
    if subprocess.run(words, cwd=sources, env=environment, check=False).returncode != 0:
        sys.exit(f"compare: the sources in {sources} don't build: the compiler's message is above")
    shutil.copy2(WORK / "build" / "release" / "gramer", program)
    return program


def before(revision):
    """Commit, folder and program of a revision, from its own sources."""
    found = subprocess.run(["git", "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"], cwd=ROOT,
                           stdout=subprocess.PIPE, text=True, check=False)
    if not revision or found.returncode != 0:
        print(f"compare: BEFORE={revision}: there is no such revision; name a commit, as in "
              "`make bench-compare BEFORE=HEAD~1`", file=sys.stderr)
        sys.exit(2)
    commit = found.stdout.strip()
    folder = WORK / commit[:12]
    if (folder / "gramer").exists():
        return commit, folder, folder / "gramer"
    sources = folder / "sources"
    shutil.rmtree(sources, ignore_errors=True)
    sources.mkdir(parents=True)
    archive = subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE)
    unpacked = subprocess.run(["tar", "-x", "-C", sources], stdin=archive.stdout, check=False).returncode
    if archive.wait() != 0 or unpacked != 0:
        sys.exit(f"compare: git can't unpack {commit}: its message is above")
    return commit, folder, built(folder, sources)


def chosen(words):
    """The rows of the bench that contain one of the words."""
    with open(speed.PEERS) as file:
        rows = [row for part in speed.peers(file) for row in part]
    keys = dict.fromkeys([(row["graph"], row["task"]) for row in rows] + speed.ALONE)
    rows = [Row(graph, task, source) for graph, task in keys for source in ("image", "text")]
    return [row for row in rows if not words or any(word in row.name() for word in words)]


def cells(row):
    """A row of the tables: runs, least seconds before and after, both ratios, verdict."""
    ratios = row.ratios()
    least = [f"{min(seconds):.4f}" if seconds else "" for seconds in row.seconds]
    numbers = [f"{ratio:.3f}" for ratio in ratios] if ratios else ["", ""]
    return [row.graph, row.task, row.source, len(row.seconds[1]), *least, *numbers, row.verdict()]


def write_table(path, rows, before, after, machine):
    """A line per row, with both revisions and the machine."""
    with open(path, "w") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["machine", "before", "after", "graph", "task", "source", "runs", "before_s", "after_s", "ratio",
                        "ratio_of_medians", "verdict"])
        table.writerows([machine, before, after, *cells(row)] for row in rows)


def report(rows, revisions, machine):
    """The page: which revisions, on which machine, and every row."""
    lines = [f"""# CPU seconds of two revisions

User and system time of whole processes with one thread, reading of the graph included. Written by
`make bench-compare BEFORE=… PAGE=…`, which builds both and interleaves their runs: *before*, *after*, *after*, *before*,
{REPEAT} to {MOST} runs of each in a row. A ratio is *after* over *before*, of the least times and of the medians. A row is
**slower** where both are over {LIMIT}, *faster* where both are under {1 / LIMIT:.3f}. Rows with one of both over {LIMIT}, or
both over {NEAR}, ran {ROUNDS} times as often, in rounds after all others, as far as the time went; all their runs count.
The tasks are those of `docs/results/bench/today.md`; from text each run reads and ranks the graph.

| | revision |
|---|---|
| before | {revisions[0]} |
| after | {revisions[1]} |

Machine: {machine}.
"""]
    lines += [f"{line[0].upper()}{line[1:]}.\n" for line in summary(rows)[0]]
    lines += ["| graph | task | from | runs of each | before s | after s | ratio | of medians | |",
              "|---|---|---|---:|---:|---:|---:|---:|---|"]
    for row in rows:
        shown = [str(cell) or "–" for cell in cells(row)]
        shown[-1] = f"**{shown[-1]}**" if shown[-1] == "slower" else shown[-1]
        lines.append(f"| {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def command_lines(row, *revisions):
    """The command lines of a row by each revision, a folder of graphs and a program."""
    lines = []
    for work, program in revisions:
        file = speed.prepare(row.graph, program, work)[row.source]
        if row.source == "text":
            # The same for both.
            file = speed.prepare(row.graph, *reversed(revisions[0]))["text"]
        task = speed.task_words(row.task, row.graph, speed.query)
        lines.append([program, "mine", *task, "--threads", "1", file])
    return lines


def one(work):
    """A round of a row if there is time; gives it with what was measured."""
    row, lines, end = work
    if time.monotonic() > end:
        return row
    row.run(lines)
    ratios = row.ratios()
    shown = f"{ratios[0]:6.3f} {ratios[1]:6.3f}" if ratios else "     –      –"
    so_far = " so far" if row.is_near() and row.rounds < ROUNDS else ""
    print(f"{row.name():36} {shown}  {row.verdict()}{so_far}", flush=True)
    return row


def done(work, jobs):
    """The rows after a round, JOBS at a time, each on its own processor."""
    if jobs == 1:
        return list(map(one, work))
    free = multiprocessing.Queue()
    for processor in sorted(os.sched_getaffinity(0))[:jobs]:
        free.put(processor)

    with multiprocessing.Pool(jobs, lambda: os.sched_setaffinity(0, [free.get()])) as pool:
        return pool.map(one, work, chunksize=1)


def in_rounds(work, a_round):
    """The rows after all rounds: the first is of all, the others of those near LIMIT. `a_round` runs some."""
    work = list(work)
    for number in range(ROUNDS):
        again = [at for at, (row, *_) in enumerate(work) if number == 0 or row.is_near()]
        for at, row in zip(again, a_round([work[at] for at in again])):
            work[at] = (row, *work[at][1:])
    return [row for row, *_ in work]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, help="begin no row after this many minutes (10)")
    parser.add_argument("--jobs", type=int, default=1, help="rows at a time, up to the number of processors (1)")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE", help="write a page of all rows")
    parser.add_argument("before", metavar="BEFORE", help="a revision")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only rows that contain one of these")
    options = parser.parse_args()
    if options.page and options.words:
        sys.exit("compare: --page needs all rows, so it takes no words")
    if not 1 <= options.jobs <= len(os.sched_getaffinity(0)):
        sys.exit(f"compare: --jobs is {options.jobs}, but must be 1 to {len(os.sched_getaffinity(0))}")
    if not (speed.DATA / "ground_truth.tsv").is_file():
        sys.exit(f"compare: the real graphs aren't in {speed.DATA}; set GRAMER_DATA")
    rows = chosen(options.words)
    if not rows:
        sys.exit("compare: no row contains any of these words")
    speed.WORK.mkdir(parents=True, exist_ok=True)
    commit, *old = before(options.before)
    folder = WORK / "now"
    folder.mkdir(parents=True, exist_ok=True)
    # Its images may be those of an older tree.
    for image in folder.glob("*.gramer"):
        image.unlink()
    new = folder, built(folder, ROOT)
    revisions = named(commit), named("HEAD", bool(git("status", "--porcelain", "--untracked-files=no")))
    print(f"before: {revisions[0]}\nafter:  {revisions[1]}", flush=True)
    begun, load = time.monotonic(), os.getloadavg()[0]
    work = [(row, command_lines(row, old, new), begun + 60 * options.minutes) for row in rows]
    rows = in_rounds(work, lambda some: done(some, options.jobs))
    machine = (f"{speed.processor()}, {os.cpu_count()} cores, {options.jobs} rows at a time, load {load:.1f} "
               f"before it began, {time.monotonic() - begun:.0f} s in all")
    write_table(WORK / f"{old[0].name}.csv", rows, commit[:12], git("rev-parse", "--short=12", "HEAD"), machine)
    if options.page:
        options.page.write_text(report(rows, revisions, machine))
    lines, code = summary(rows)
    print("\n".join(lines))
    sys.exit(code)

