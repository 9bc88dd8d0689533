"""How many times as fast as the public programs gramer is today, as a chain of two runs on two machines.

docs/bench/peers.csv has their seconds and those of the revision THEN beside each other on one machine;
docs/bench/chain.csv has those of THEN and of a later one beside each other on another (`make bench-chain`).
Their product, (theirs ÷ ours of THEN) × (ours of THEN ÷ ours today), is no measurement side by side: two programs
need not gain alike by a change of machine.

Where either run of THEN was stopped or there is none, there is no such product. The seconds of THEN on both machines, in all other rows
of the run, say how fast they are beside each other: their median is the pace, and (theirs × pace) ÷ ours today
stands for the chain. It is rougher, and marked with ~.
"""

import csv
import statistics

# The revision that ran beside the public programs.
THEN = "d6ea039c3192"
# A run of theirs that took less should only not be slower.
SHORT = 0.005


def aim(task, theirs):
    """How many times as fast as theirs a task should be, which took them so many seconds or more, from an image."""
    if theirs <= SHORT:
        return 1.0
    size = task.split("-")[0]
    if task == "maximal":
        return 4.0
    if task == "3-motif" or (task.endswith("-clique") and int(size) >= 6):
        return 1.5
    return 1.2 if task.startswith("match") else 1.0


class Revisions:
    """The rows of chain.csv, the number of the later revision, and the machine."""

    def __init__(self, file):
        self.rows, self.after, self.machine = {}, None, None
        for row in csv.DictReader(file):
            if row["before"] != THEN:
                raise ValueError(f"chain.csv is of {row['before']}, but the public programs ran beside {THEN}")
            self.after, self.machine = row["after"], row["machine"]
            seconds = [float(row[key]) if row[key] else None for key in ("before_s", "after_s")]
            self.rows[row["graph"], row["task"], row["source"]] = seconds

    def seconds(self, row, source):
        """Least seconds of THEN and of today on one machine; None where there are none."""
        return self.rows.get((row["graph"], row["task"], source), (None, None))


def pace(beside, revisions, run):
    """Seconds of THEN on the machine of chain.csv by those on the machine of a run: the median."""
    known = []
    for row in beside:
        before, then = revisions.seconds(row, "image")[0], row["image"].value
        if row["run"] == run and before and then:
            known.append(before / then)
    return statistics.median(known) if known else None


def chain(row, source, revisions, paces):
    """How many times as fast as theirs a row is: (sign, times), or None where it can't be told. The sign is `>`
    where theirs was stopped, so that it is more, `~` where only the pace of the machines is known."""
    theirs, then = row["theirs"], row[source]
    before, after = revisions.seconds(row, source)
    seconds = theirs.value if theirs.value is not None else theirs.above
    if seconds is None or not after:
        return None
    sign = "" if theirs.value is not None else ">"
    if before and then.value is not None:
        return sign, seconds / then.value * before / after
    if paces[row["run"]] is None:
        return None
    return f"{sign}~", seconds * paces[row["run"]] / after


def shown(found, least=1.0):
    """A number of times as a cell: bold where it is less than it should be."""
    if found is None:
        return "–"
    sign, times = found
    text = f"{sign} {times:.2f}".strip()
    return f"**{text}**" if times < least else text


def section(beside, revisions):
    """The part of the report: by kind of task how many rows reach the aim, every row, and which don't."""
    paces = {run: pace(beside, revisions, run) for run in {row["run"] for row in beside}}
    lines = ["## Today beside them, by a chain of two runs", "",
             f"No measurement side by side. *Times then* is the public programs' seconds in those of revision `{THEN}`, which "
             f"ran beside them. That revision and `{revisions.after}` ran in turn on another machine ({revisions.machine}; "
             "`make bench-chain`); *times since* is the least seconds of the one in those of the other. *Chain* is the "
             "product. Where either run of the older revision was stopped or there is none, theirs are converted by the median of its "
             "seconds on both machines instead (~). Where theirs was stopped, it is at least that (>). *Aim* holds for images: "
             f"1.5 for cliques of 6 and more and motifs of 3, 1.2 for matches, 4 for maximal cliques, else 1; 1 where theirs "
             f"took {1000 * SHORT:.0f} ms or less. What falls short of it, and from text of 1, is **bold**.", "",
             "| run | graph | task | fastest public | times then, image | times since | chain, image | aim | chain, text |",
             "|---|---|---|---|---:|---:|---:|---:|---:|"]
    kinds, sums, short, unknown = {}, {}, [], []
    for row in beside:
        theirs, then = row["theirs"], row["image"]
        bound = theirs.value if theirs.value is not None else theirs.above
        least = aim(row["task"], bound or 0.0)
        image, text = (chain(row, source, revisions, paces) for source in ("image", "text"))
        before, after = revisions.seconds(row, "image")
        first = f"{theirs.value / then.value:.2f}" if theirs.value is not None and then.value is not None else "–"
        since = f"{before / after:.2f}" if before and after else "–"
        lines.append(f"| {row['run'][-1]} | {row['graph']} | {row['task']} | {row['system']} | {first} | {since} | "
                     f"{shown(image, least)} | {least:g} | {shown(text)} |")
        name = f"{row['graph']} {row['task']} ({row['run'][-1]})"
        reached = kinds.setdefault(kind(row["task"]), [0, 0, 0, 0])
        reached[0] += 1
        if image is None:
            unknown.append(name)
        else:
            reached[1] += image[1] >= least
            reached[2] += 1
            if image[1] < least:
                short.append(f"{name}, {image[1]:.2f} of {least:g}")
        reached[3] += text is not None and text[1] >= 1
        if row["task"].startswith("match") and image is not None and theirs.value is not None:
            sums.setdefault(row["graph"], []).append((theirs.value, theirs.value / image[1]))
    lines += ["", "| task | rows | compared | aim reached, image | not slower, text |", "|---|---:|---:|---:|---:|"]
    lines += [f"| {name} | {rows} | {compared} | {reached} | {text} |"
              for name, (rows, reached, compared, text) in kinds.items()]
    lines += ["", f"Short of the aim from an image: {'; '.join(short) or 'none'}.",
              f"Not to be told, since nothing of theirs or of today ended: {'; '.join(unknown) or 'none'}."]
    for graph, pairs in sums.items():
        times = sum(theirs for theirs, _ in pairs) / sum(ours for _, ours in pairs)
        lines.append(f"All {len(pairs)} queries of {graph} in sum: {times:.2f} (aim 2).")
    return lines


def kind(task):
    """Rows of a table belong together by this: cliques, motifs, …"""
    if task.startswith(("fsm", "match")):
        return task.split("-")[0]
    return "-".join(task.split("-")[:2])
