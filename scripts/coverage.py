#!/usr/bin/env python3
"""docs/hardware/coverage.md from Verilator's coverage data: coverage.py MERGED.DAT.

A point is a block of lines or one way of a branch; the instances of a module count together.
Points that never ran are listed with the reason that scripts/coverage-reasons.tsv has for them.
Exit code 1 if one has none, so that a new one must be tested or explained, or if a reason is of no
use any more. "Not tested yet" is no reason.
"""

import collections
import hashlib
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
REASONS = ROOT / "scripts/coverage-reasons.tsv"
REPORT = ROOT / "docs/hardware/coverage.md"


def read(path):
    """Hits by (file, line, column, kind, comment) and the module of each file."""
    points = collections.Counter()
    for line in path.read_text(errors="replace").splitlines():
        match = re.match(r"C '(.*)' (\d+)$", line)
        if not match:
            continue
        keys = dict(part.split("\x02", 1) for part in match[1].split("\x01") if part)
        kind = keys["page"].split("/")[0].removeprefix("v_")
        name = pathlib.Path(keys["f"]).name
        points[name, int(keys["l"]), int(keys["n"]), kind, keys.get("o", "")] += int(match[2])
    return points


def sources():
    """Hash of the core's sources and of the description of the machine."""
    digest = hashlib.sha256()
    for path in sorted([*ROOT.glob("rtl/*.sv"), ROOT / "accelerator.yaml", ROOT / "machines/small.yaml"]):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def reasons():
    rows = [line.split("\t") for line in REASONS.read_text().splitlines()[1:] if line]
    return [(name, text, reason) for name, text, reason in rows]


def main(words):
    if len(words) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    points = read(pathlib.Path(words[0]))
    modules = collections.defaultdict(lambda: [0, 0, 0, 0])
    never, unexplained, used = [], [], set()
    known = reasons()
    for (name, line, _, kind, comment), hits in sorted(points.items()):
        if not (ROOT / "rtl" / name).exists():
            continue # generated
        row = modules[name.removesuffix(".sv")]
        toggle = kind == "toggle"
        row[2 * toggle] += hits > 0
        row[2 * toggle + 1] += 1
        if hits or toggle:
            continue
        text = (ROOT / "rtl" / name).read_text().splitlines()[line - 1].strip()
        found = [(n, t, r) for n, t, r in known if n == name and t in text]
        if not found or found[0][2].startswith("open"):
            unexplained.append(f"{name}:{line}: {comment}: {text}")
        if found:
            used.add(found[0])
        reason = found[0][2] if found else "**none yet**"
        shown = text.replace("|", "\\|")
        never.append(f"| {name}:{line} | {comment or kind} | `{shown}` | {reason} |")
    total = [sum(row[i] for row in modules.values()) for i in range(4)]

    def cells(row):
        def share(hit, all_):
            return f"{hit} / {all_} | {100 * hit / all_:.1f} %" if all_ else "– | –"
        return f"{share(*row[:2])} | {share(*row[2:])}"

    cases = os.environ.get("GRAMER_CASES", "?")
    table = "\n".join(f"| {name} | {cells(row)} |" for name, row in sorted(modules.items()))
    listed = "\n".join(never) or "| | none | | |"
    REPORT.write_text(f"""# Coverage of the core

Written by `make coverage`: `sim/tests/core.rs` on the small machine and its variants with short stamps and with
registers between regions (random tasks, stopped and failed ones, {cases} of each kind), and `sim/tests/control.rs`, built by
Verilator with coverage and without assertions. The unit benches and the tests of other machines are not counted. Sources (SHA-256 of
`rtl/*.sv` and the machine's description): `{sources()}`.

A point of lines is a block, or one way of a branch; all instances of a module count together. With
`GRAMER_COVERAGE=toggles` the bits of signals that went up and down are counted too; those that stay
are mostly the upper ones of ids, positions in the edge array and counters, since these graphs are
small.

| module | lines hit | | toggles hit | |
|---|---|---|---|---|
{table}
| all | {cells(total)} |

## Lines that never ran

| where | what | source | why |
|---|---|---|---|
{listed}
""")
    print(f"lines {total[0]} / {total[1]}, toggles {total[2]} / {total[3]}: {REPORT}")
    faults = [f"the reason for {text!r} in {name} is not needed: that ran, or is gone"
              for name, text, _ in sorted(set(known) - used)]
    faults += [f"never ran, and {REASONS.name} does not say why: {line}" for line in unexplained]
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
