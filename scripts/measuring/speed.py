"""CPU seconds of whole runs of gramer, one thread, compared with public systems; and the rates of its parts.

The public systems are not run here. `docs/results/bench/peers.csv` has their figures, each with its run: in most
of them gramer ran on the same machine in the same run, from an image and from text. Only such figures are
compared. The table has every row of that file, losses included, and today's time of gramer.

A task is run up to REPEAT times from a text file and from our image; the smallest sum of user and
system time counts. It is stopped after LIMIT seconds of it: the row then says "> 7". After BUDGET
seconds in all no more rows are begun, and the remaining ones say "not run". The real graphs are
looked for in $GRAMER_DATA, else in ../shared/data. Writes target/bench/bench.json, and
docs/results/bench/today.md with --write. With words it measures only rows that contain one of them.

--threads N runs something else: the tasks of SCALING with one thread and with N, from images, with wall
seconds of the mining alone, and writes them to FILE of --out. `docs/results/bench/threads.csv` is such a file, and
the report has a table of it.
"""

import argparse
import csv
import json
import os
import pathlib
import platform
import resource
import shutil
import signal
import subprocess
import sys
import time

from built import BUILT, ROOT

GRAMER = pathlib.Path(os.environ.get("GRAMER", BUILT / "release" / "gramer"))
DATA = pathlib.Path(os.environ.get("GRAMER_DATA", ROOT.parent / "shared" / "data"))
WORK = ROOT / "target" / "bench"
PEERS = ROOT / "docs" / "results" / "bench" / "peers.csv"
THREADS = ROOT / "docs" / "results" / "bench" / "threads.csv"
REPORT = ROOT / "docs" / "results" / "bench" / "today.md"
REPEAT = 5
# No task is repeated once its runs took this many seconds.
ENOUGH = 1.0
# CPU seconds of a task, and of a bench.
LIMIT = 7.0
BENCH_LIMIT = 60.0
# Wall seconds in all.
BUDGET = 600.0

# Runs of peers.csv: what is known of each, whether gramer ran beside the others.
RUNS = {
    "2026-11-22-a": ("2026-11-22, a machine without other work", True),
    "2026-11-22-b": ("2026-11-22, another machine", True),
    "earlier": ("before, on a busy machine; smallest of 2 or 3 runs", False),
}

# Graph: file, options that read its labels.
GRAPHS = {
    "citeseer": ("citeseer/citeseer.lg", []),
    "wiki-vote": ("wiki-vote/wiki-vote.txt.zst", []),
    "rmat12": ("rmat12/rmat12.txt.zst", ["--labels", "rmat12/labels.txt.zst"]),
    "rmat15": ("rmat15/rmat15.txt.zst", ["--labels", "rmat15/labels.txt.zst"]),
    "hprd": ("sm-hprd/HPRD.graph.zst", []),
    "sm-hprd": ("sm-hprd/HPRD.graph.zst", []),
    "sm-yeast": ("sm-yeast/yeast.graph.zst", []),
    "ca-astroph": ("ca-astroph/ca-AstroPh.txt.zst", []),
    "email-enron": ("email-enron/email-enron.txt.zst", []),
    "ego-twitter": ("ego-twitter/ego-twitter.txt.zst", []),
    "web-stanford": ("web-stanford/edges_directed.txt.zst", []),
    "as-caida": ("as-caida20071105/as-caida20071105.txt.zst", []),
    "p2p-gnutella08": ("p2p-gnutella08/p2p-gnutella08.txt.zst", []),
    "p2p-gnutella31": ("p2p-gnutella31/p2p-gnutella31.txt.zst", []),
    "sm-wordnet": ("sm-wordnet/wordnet.graph.zst", []),
}
# Where no rival was run: graph, task.
ALONE = [("ca-astroph", f"match-{pattern}") for pattern in ("4-clique", "4-cycle", "house", "5-cycle")] + [
    ("ca-astroph", "4-motif-edge"), ("ca-astroph", "5-motif-edge"),
    ("rmat12", "match-house"), ("rmat12", "5-motif"), ("wiki-vote", "6-motif"),
]
# Tasks that take seconds on one thread: graph, task. A run is given up after SCALING_LIMIT wall seconds,
# and none is begun after SCALING_BUDGET.
SCALING = [
    ("ego-twitter", "6-clique"), ("rmat15", "6-clique"), ("ca-astroph", "5-motif"),
    ("email-enron", "5-motif"), ("ego-twitter", "4-motif"), ("wiki-vote", "5-motif"),
    ("ego-twitter", "maximal"), ("web-stanford", "4-clique"), ("rmat15", "5-motif"),
    ("wiki-vote", "6-motif"), ("web-stanford", "5-motif"),
]
SCALING_LIMIT = 30
SCALING_BUDGET = 120.0
# Query sets of whole benches: graph, set; up to 10^5 embeddings a query.
QUERY_SETS = [(graph, kind) for graph in ("sm-yeast", "sm-hprd")
              for kind in ("dense_4", "dense_8", "dense_16", "sparse_8", "sparse_16")]


class Seconds:
    """CPU seconds as they stand in a table: a number, more than a limit, or the reason for a gap."""

    def __init__(self, value=None, above=None, absent=None):
        self.value, self.above, self.absent = value, above, absent

    @classmethod
    def of(cls, text):
        """From peers.csv: `1.5`, `>4.8`, `cut` (stopped after an unknown time) or nothing."""
        if text in ("", "cut"):
            return cls(absent="stopped" if text else "not taken")
        return cls(above=float(text[1:])) if text[0] == ">" else cls(value=float(text))

    def __str__(self):
        if self.absent:
            return self.absent
        return f"> {self.above:.3g}" if self.above is not None else f"{self.value:.4f}"


def kind(task):
    """Rows of a table belong together by this: cliques, motifs, …"""
    if task.startswith(("fsm", "match")):
        return task.split("-")[0]
    return "-".join(task.split("-")[:2])


def compare(ours, theirs):
    """Whether ours is at most theirs: (how it ends, their seconds in ours). The outcome is `win`, `loss`,
    `open` where neither is known to be faster, or None where ours was not taken."""
    if ours.absent == "not taken":
        return None, "–"
    if ours.value is not None and theirs.value is not None:
        return ("win" if ours.value <= theirs.value else "loss"), f"{theirs.value / ours.value:.2f}"
    if ours.value is not None and theirs.above is not None:
        ratio = f"> {theirs.above / ours.value:.2f}"
        return ("win" if ours.value <= theirs.above else "open"), ratio
    if ours.above is not None and theirs.value is not None:
        ratio = f"< {theirs.value / ours.above:.2f}"
        return ("loss" if theirs.value <= ours.above else "open"), ratio
    return "open", "–"


def outcome(row, source):
    """As `compare`, of a row from `image` or `text`. Text that was not taken is slower where the image is:
    it is mined just so, and read besides."""
    if source == "text" and row["text"].absent == "not taken":
        if compare(row["image"], row["theirs"])[0] == "loss":
            return "loss", "slower"
    return compare(row[source], row["theirs"])


def peers(file):
    """The rows of peers.csv: in a run beside ours all of them, else the fastest system of each task."""
    beside, earlier = [], {}
    for row in csv.DictReader(file):
        side_by_side = RUNS[row["run"]][1]
        entry = {"run": row["run"], "graph": row["graph"], "task": row["task"],
                 "system": row["system"] or "none ended", "theirs": Seconds.of(row["cpu_s"]),
                 "image": Seconds.of(row["ours_image_s"]), "text": Seconds.of(row["ours_text_s"])}
        if side_by_side:
            beside.append(entry)
            continue
        key = (row["graph"], row["task"])
        if key not in earlier or entry["theirs"].value < earlier[key]["theirs"].value:
            earlier[key] = entry
    return beside, [earlier[key] for key in sorted(earlier)]


def tally(beside, source):
    """How the rows of a run beside ours end, from `image` or `text`, in words."""
    outcomes = [outcome(row, source)[0] for row in beside]
    count = outcomes.count
    words = (f"from {source}: not slower in {count('win')} of {len(outcomes)} rows, slower in "
             f"{count('loss')}")
    if count("open"):
        words += f", undecided in {count('open')} (stopped)"
    if count(None):
        words += f", not taken in {count(None)}"
    return words


def by_kind(beside):
    """A table of outcomes by kind of task: rows, and wins, losses and the rest from image and text."""
    kinds = {}
    for row in beside:
        kinds.setdefault(kind(row["task"]), []).append(row)
    lines = ["| task | rows | image: not slower | slower | undecided or not taken | text: not slower | "
             "slower | undecided or not taken |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for name, rows in kinds.items():
        cells = []
        for source in ("image", "text"):
            outcomes = [outcome(row, source)[0] for row in rows]
            win, loss = outcomes.count("win"), outcomes.count("loss")
            cells += [win, loss, len(outcomes) - win - loss]
        lines.append(f"| {name} | {len(rows)} | " + " | ".join(map(str, cells)) + " |")
    return lines


def tables(beside, earlier, today):
    """The tables of the report. `today`: {(graph, task): {source: Seconds}}; a row that was not run
    today stays, and says so."""
    missing = Seconds(absent="not run")

    def now(row):
        return today.get((row["graph"], row["task"]), {"image": missing, "text": missing})

    lines = ["## In the same run", "",
             "| run | graph | task | fastest public | s | ours, image s | times | ours, text s | times | "
             "today, image s | text s |", "|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|"]
    for row in beside:
        ratios = [outcome(row, source) for source in ("image", "text")]
        marked = [f"**{ratio}**" if ended == "loss" else ratio for ended, ratio in ratios]
        lines.append(f"| {row['run'][-1]} | {row['graph']} | {row['task']} | {row['system']} | "
                     f"{row['theirs']} | {row['image']} | {marked[0]} | {row['text']} | {marked[1]} | "
                     f"{now(row)['image']} | {now(row)['text']} |")
    compared = {(row["graph"], row["task"]) for row in beside}
    lines += ["", "## Not side by side", "",
              "The public systems' figures are of an earlier run on a busy machine, without gramer, so "
              "that nothing is compared.", "",
              "| graph | task | fastest public then | s | ours today, image s | text s |",
              "|---|---|---|---:|---:|---:|"]
    for row in earlier:
        if (row["graph"], row["task"]) not in compared:
            lines.append(f"| {row['graph']} | {row['task']} | {row['system']} | {row['theirs']} | "
                         f"{now(row)['image']} | {now(row)['text']} |")
    lines += ["", "## Without a rival", "",
              "Unlabelled matching, beside the motif counts that contain its patterns.", "",
              "| graph | task | ours today, image s | text s |", "|---|---|---:|---:|"]
    for graph, task in ALONE:
        found = now({"graph": graph, "task": task})
        lines.append(f"| {graph} | {task} | {found['image']} | {found['text']} |")
    return lines


def task_words(task, graph, queries):
    """The words after `gramer mine` for a task, without the graph; `queries` makes the file of a query."""
    if task == "maximal":
        return ["clique", "--maximal"]
    first, *rest = task.split("-")
    if first == "fsm":
        return ["fsm", "--measure", "mni", "--max-edges", rest[0], "--support", rest[1]]
    if first == "match" and graph.startswith("sm-"):
        return ["match", "--mappings", "--pattern", queries(graph, rest[0])]
    if first == "match":
        return ["match", "--pattern", "-".join(rest)]
    words = {"clique": ["clique"], "motif": ["motif"]}[rest[0]] + ["-k", first]
    return words + (["--induced", "edge"] if rest[1:] == ["edge"] else [])


class Failed(Exception):
    """A run that failed, with what it said."""


def one_run(words, limit=LIMIT):
    """User + system time of a run; `None` if it was stopped after `limit` seconds of it."""
    def limited():
        # The second number kills what survives the first.
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 1))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limited)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode == -signal.SIGXCPU:
        return None
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, words))} failed: {done.stderr.decode()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cpu_seconds(words, limit=LIMIT):
    """Smallest user + system time of up to REPEAT runs, each stopped after `limit` seconds of it."""
    best = total = None
    for _ in range(REPEAT):
        try:
            took = one_run(words, limit)
        except Failed as failed:
            sys.exit(f"speed: {failed}")
        if took is None:
            return Seconds(above=float(int(limit)))
        best = took if best is None else min(best, took)
        total = took + (total or 0)
        if total > ENOUGH:
            break
    return Seconds(value=best)


def scaling(threads, out):
    """Wall and CPU seconds of the tasks of SCALING with one thread and with `threads`."""
    begun = time.monotonic()
    with open(out, "w") as file:
        print("machine,cores,graph,task,threads,mine_s,cpu_s,complete", file=file)
        for graph, task in SCALING:
            for count in (threads, 1):
                if time.monotonic() - begun > SCALING_BUDGET:
                    print(f"{graph} {task} with {count} threads: not run")
                    continue
                words = [GRAMER, "mine", *task_words(task, graph, query), "--threads", str(count),
                         "--time-limit", str(SCALING_LIMIT), "--json", prepare(graph)["image"]]
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                if done.returncode not in (0, 124):
                    sys.exit(f"speed: {' '.join(map(str, words))} failed: {done.stderr.decode()}")
                found = json.loads(done.stdout)
                row = [processor().replace(",", ""), os.cpu_count(), graph, task, count,
                       f"{found['seconds']['mine']:.4f}", f"{cpu:.4f}", str(found["complete"]).lower()]
                print(*row, sep=",", file=file, flush=True)
                print(*row[2:], flush=True)


def scaling_table():
    """The table of docs/results/bench/threads.csv."""
    if not THREADS.exists():
        return []
    with open(THREADS) as file:
        rows = list(csv.DictReader(file))
    most = max(int(row["threads"]) for row in rows)
    machine, cores = rows[0]["machine"], rows[0]["cores"]
    lines = ["", "## Threads", "",
             f"Wall seconds of the mining alone with one thread and with {most}, on {machine}, {cores} cores "
             f"(`scripts/measure.py speed --threads {most}`; given up after {SCALING_LIMIT} s). *CPU* is the growth of the CPU "
             "seconds: what the threads do besides what one does, and how much slower a core is when all are busy.", "",
             f"| graph | task | 1 thread s | {most} threads s | speed-up | CPU |", "|---|---|---:|---:|---:|---:|"]
    found = {(row["graph"], row["task"], int(row["threads"])): row for row in rows}

    def shown(row):
        if row is None:
            return "not run"
        return ("" if row["complete"] == "true" else "> ") + f"{float(row['mine_s']):.3f}"

    for graph, task in dict.fromkeys((row["graph"], row["task"]) for row in rows):
        one, all_ = found.get((graph, task, 1)), found.get((graph, task, most))
        times = growth = "–"
        if one and all_ and all_["complete"] == "true":
            sign = "" if one["complete"] == "true" else "> "
            times = f"{sign}{float(one['mine_s']) / float(all_['mine_s']):.1f}"
            if not sign:
                growth = f"{float(all_['cpu_s']) / float(one['cpu_s']):.2f}"
        lines.append(f"| {graph} | {task} | {shown(one)} | {shown(all_)} | {times} | {growth} |")
    return lines


def prepare(name, gramer=GRAMER, work=WORK):
    """A plain text file and an image of a graph."""
    file, labels = GRAPHS[name]
    words = [DATA / w if "/" in w else w for w in labels]
    labelled = labels or file.endswith((".lg", ".graph.zst"))
    image, text = work / f"{name}.gramer", work / f"{name}.{'lg' if labelled else 'txt'}"
    for out in (image, text):
        if not out.exists():
            subprocess.run([gramer, "graph", "convert", *words, DATA / file, out], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {"text": text, "image": image}


def query(graph, name):
    """The file of a query of a graph's set, `dense_4_1`."""
    folder = WORK / f"{graph}-queries"
    file = folder / "queries_rapids" / f"query_{name}.graph"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        archive = DATA / graph / "queries_rapids.tar.zst"
        subprocess.run(["tar", "--zstd", "-xf", archive, "-C", folder], check=True)
    return file


def benches():
    """The programs of `cargo bench`, built: name, path."""
    words = ["cargo", "bench", "--locked", "-q", "-p", "gramer", "--no-run", "--message-format", "json"]
    output = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = {}
    for line in output.splitlines():
        message = json.loads(line)
        if message.get("executable") and "bench" in message.get("target", {}).get("kind", []):
            found[message["target"]["name"]] = message["executable"]
    return found


def printed(words, left):
    """What a bench prints, and whether it ended within its limit of wall seconds."""
    limit = min(BENCH_LIMIT, max(left, 0.0))
    if limit < 1:
        return "", f"not run: the {BUDGET:.0f} s of all rows were used up"
    environment = dict(os.environ, GRAMER_DATA=str(DATA))
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        return output, f"> {limit:.0f} s, stopped"
    if process.returncode != 0:
        sys.exit(f"speed: {' '.join(map(str, words))} failed")
    return output, None


def processor():
    """The processor's name."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="rewrite docs/results/bench/today.md")
    parser.add_argument("--threads", type=int, metavar="N", help="run the tasks of SCALING with 1 and N threads")
    parser.add_argument("--out", default=WORK / "threads.csv", metavar="FILE", help="where --threads writes")
    parser.add_argument("words", nargs="*", help="measure only rows that contain one of these")
    options = parser.parse_args()
    if options.write and options.words:
        sys.exit("speed: --write needs all rows, so it takes no words")
    if not (DATA / "ground_truth.tsv").is_file():
        sys.exit(f"speed: the real graphs aren't in {DATA}; set GRAMER_DATA")
    if shutil.which("zstd") is None:
        sys.exit("speed: the query sets are compressed: `make setup-bench` installs zstd")
    WORK.mkdir(parents=True, exist_ok=True)
    if options.threads:
        scaling(options.threads, options.out)
        return
    with open(PEERS) as file:
        beside, earlier = peers(file)

    def chosen(name):
        return not options.words or any(word in name for word in options.words)

    parts = [("load", "load", []), ("prepare", "prepare", ["1", "14", "17"]), ("balance", "balance", [])]
    parts += [(f"queries {graph} {name}", "queries", ["--seconds", "1", f"{graph}/query_{name}/limit"])
              for graph, name in QUERY_SETS]
    parts = [part for part in parts if chosen(part[0])]
    programs = benches() if parts else {}
    begun, load = time.monotonic(), os.getloadavg()[0]

    def left():
        return BUDGET - (time.monotonic() - begun)

    today, keys = {}, []
    for row in beside + earlier:
        keys.append((row["graph"], row["task"]))
    for key in dict.fromkeys(keys + ALONE):
        graph, task = key
        if not chosen(f"{graph} {task}"):
            continue
        if left() <= 0:
            today[key] = {source: Seconds(absent="not run") for source in ("image", "text")}
        else:
            files = prepare(graph)
            words = [GRAMER, "mine", *task_words(task, graph, query), "--threads", "1"]
            today[key] = {source: cpu_seconds([*words, files[source]]) for source in ("image", "text")}
        found = today[key]
        print(f"{graph:13} {task:18} image {found['image']!s:>9}  text {found['text']!s:>9}", flush=True)

    # The parts last: the rows are what is compared.
    rates = []
    for name, program, words in parts:
        output, ended = printed([programs[program], *words], left())
        rates.append({"name": name, "printed": output, "stopped": ended})
        print(f"{name}\n{output}{ended or ''}", flush=True)

    for source in ("image", "text"):
        print(tally(beside, source))
    rows = [{"graph": graph, "task": task, **{source: str(s) for source, s in found.items()}}
            for (graph, task), found in today.items()]
    (WORK / "bench.json").write_text(json.dumps({"rows": rows, "rates": rates}, indent=1) + "\n")
    if options.write:
        machine = (f"{processor()}, {os.cpu_count()} cores, load {load:.1f} before it began, "
                   f"{time.monotonic() - begun:.0f} s in all")
        REPORT.write_text(report(beside, earlier, today, rates, machine))


def report(beside, earlier, today, rates, machine):
    """docs/results/bench/today.md."""
    runs = "\n".join(f"| {name} | {what} | {'yes' if side else 'no'} |" for name, (what, side) in RUNS.items())
    lines = [f"""# Speed on one thread

CPU seconds (user + system) of whole processes with one thread, reading of the graph included. Written
by `make bench`, which runs gramer (columns *today*: smallest of up to {REPEAT} runs, stopped after
{LIMIT:.0f} s), and takes the public systems' figures from `peers.csv`: each system read its own format.
The programs' versions were not recorded.

| run | when and where | gramer beside the others |
|---|---|---|
{runs}

Only figures of one run on one machine are compared: *times* is their seconds in ours, more than 1 where
we are faster; what is slower is **bold**. *stopped* is a run that was given up after a time that was not
recorded, `> 5` one that was given up after 5 s. Where text was not taken, it is slower if the image is.
A text file is read and ranked in each run; an image was written and ranked before, and most of what it
saves in the small rows is that.

Of the rows in one run, {tally(beside, "image")};
{tally(beside, "text")}.
""", *by_kind(beside), "", f"Today: {machine}.", "", *tables(beside, earlier, today), "",
             "Tasks: `K-clique` cliques of K vertices, `K-motif` vertex-induced motifs of K vertices "
             "(`-edge`: edge-induced), `maximal` maximal cliques, `fsm-E-S` labelled patterns of up to E "
             "edges with minimum-image support S, `match-Q` embeddings (all mappings) of the query Q of "
             "the graph's query set, or occurrences of a pattern by its name.", *scaling_table(), "",
             "## Query sets, load, renumbering, balance", "",
             "What `cargo bench` prints; a query set counts up to 10^5 embeddings of each query and gives "
             "a query up after 1 s."]
    for rate in rates:
        text = rate["printed"].rstrip("\n") + (f"\n{rate['name']}: {rate['stopped']}" if rate["stopped"] else "")
        lines += ["", "```", text.lstrip("\n"), "```"]
    return "\n".join(lines) + "\n"

