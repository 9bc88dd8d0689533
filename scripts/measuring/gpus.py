"""One GPU and several: the table of docs/results/bench/gpus.md from what `make bench-gpus` measured.

usage: scripts/measure.py gpus RESULTS.json

RESULTS.json is that of host/crew/examples/scale.rs. A row is a task on a graph; of each number of devices stands the
shortest run, with the times of one device by those of the largest number. Exit code 1 if a count differed.
"""

import argparse
import json
import sys


def rows(found):
    """By graph and task, the rows by their number of devices, in the order in which they were measured."""
    by = {}
    for row in found["rows"]:
        by.setdefault((row["graph"], row["task"]), {})[row["devices"]] = row
    return by


def milliseconds(row):
    """How long a row took, and that it was stopped if it was."""
    if row is None:
        return "not run"
    return f"{1e3 * row['seconds']:,.1f}" + ("" if row["complete"] else " (stopped)")


def lines(found):
    """The table."""
    counts = sorted({row["devices"] for row in found["rows"]})
    most = counts[-1]
    head = ["graph", "task", *[f"{n} GPU{'s' * (n > 1)}, ms" for n in counts], "speed-up", f"busy of {most}, ms",
            "kB over a bus, at most"]
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for (graph, task), by in rows(found).items():
        one, all_ = by.get(1), by.get(most)
        whole = one and all_ and one["complete"] and all_["complete"]
        speed = f"{one['seconds'] / all_['seconds']:.2f}" if whole else ""
        devices = all_["by_device"] if all_ else []
        busy = sorted(1e3 * d["busy"] for d in devices if d["busy"] is not None)
        busy = f"{busy[0]:,.1f} to {busy[-1]:,.1f}" if busy else ""
        bus = max(((d["written"] or 0) + (d["read"] or 0) for d in devices), default=0)
        yield f"| {' | '.join([graph, task, *[milliseconds(by.get(n)) for n in counts], speed, busy, f'{bus / 1e3:,.0f}'])} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", help="the file that host/crew/examples/scale.rs wrote")
    options = parser.parse_args()
    with open(options.results) as file:
        found = json.load(file)
    if not found["rows"]:
        sys.exit(f"{options.results}: it has no rows")
    print("\n".join(lines(found)))
    sys.exit(0 if all(row["equal"] for row in found["rows"]) else 1)

