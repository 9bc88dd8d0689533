"""docs/results/hardware/coverage.md and coverage-set.md: which lines of both cores ran in their tests.

scripts/hardware.py coverage [paper|set...]; without a name the paper's.

GRAMER_CASES sets how many random tasks are drawn (60 of each kind), GRAMER_COVERAGE=toggles counts
bits of signals too (the build takes many minutes).

A point is a block of lines or one way of a branch; the instances of a module count together.
Points that never ran are listed with the reason that scripts/hardware/coverage-reasons.tsv has for them.
Exit code 1 if one has none, so that new ones must be tested or explained, or if a reason is no longer
needed. "Not tested yet" is no reason.
"""

import argparse
import collections
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import rtl_files

ROOT = pathlib.Path(__file__).resolve().parents[2]
REASONS = ROOT / "scripts/hardware/coverage-reasons.tsv"
FOLDER = ROOT / "docs/results/hardware"
WORK = ROOT / "target/coverage"
# Of each core: the tests that are run, those of them that are left out, the machines, the page, and what it says of them.
# Other machines of the paper's core have the same lines, except the variants named in the reasons.
CORES = {
    "paper": (
        ("core", "control"), ("paper", "counters_are", "without_compaction", "candidate_s", "uniform", "counts_stay", "on_the_set_core"),
        ("accelerator.yaml", "machines/small.yaml"), FOLDER / "coverage.md",
        """`sim/tests/core.rs` and `control.rs` on the machine `small` and variants with short stamps and with registers between
regions, {cases} random tasks of each kind"""),
    "set": (
        ("set", "set_plans", "set_wedges", "set_motifs5", "control"),
        # The last two lines reach nothing that the others don't, and take most of the time.
        ("pus_share_their", "of_random_graphs", "without_wedges", "real_graph", "lists_of_512", "other_models",
         "on_the_papers_core", "arguments_out_of_range",
         "length_that_matters", "complete_graphs_have", "graphs_in_segments", "plans_that_end_early",
         "citeseer_has", "words_count", "words_list", "house_is_the", "words_with_labels"),
        ("accelerator.yaml", "machines/set.yaml", "machines/set-small.yaml"),
        FOLDER / "coverage-set.md",
        """`sim/tests/set*.rs` and `control.rs` on the machine `set-small`, a variant with sums of 8 bits and one bank of the map,
and one with two PUs a port and no plans; no random graphs, no counters"""),
}


def files_of(core):
    """The files of a core by name: the same in a model."""
    return {pathlib.Path(file).name: ROOT / file for file in rtl_files.files(core)}


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


def sources(core):
    """Hash of a core's sources and of the descriptions of the machines."""
    digest = hashlib.sha256()
    for path in sorted([*files_of(core).values(), *(ROOT / machine for machine in CORES[core][2])]):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def reasons():
    rows = [line.split("\t") for line in REASONS.read_text().splitlines()[1:] if line]
    return [(name, text, reason) for name, text, reason in rows]


def measured(core):
    """The data of all tests of a core."""
    work, (tests, left_out, *_) = WORK / core, CORES[core]
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    environment = dict(os.environ, GRAMER_COVERAGE_OUT=str(work), GRAMER_REQUIRE_RTL="1")
    environment.setdefault("GRAMER_COVERAGE", "lines")
    environment.setdefault("GRAMER_CASES", "60")
    subprocess.run(["cargo", "test", "--locked", "--workspace", *(word for name in tests for word in ("--test", name)), "--",
                    *(word for name in left_out for word in ("--skip", name))], cwd=ROOT, env=environment, check=True)
    merged = work / "merged.dat"
    subprocess.run(["verilator_coverage", "--write", merged, *work.glob("*-*.dat")], check=True)
    return merged


def report(core, data):
    """Writes the page of a core from the data of its tests; what is wrong with it."""
    own, (*_, page, about) = files_of(core), CORES[core]
    points = read(data)
    modules = collections.defaultdict(lambda: [0, 0, 0, 0])
    never, unexplained, used = collections.defaultdict(list), [], set()
    # Those of modules of both cores are for the page of the paper's.
    known = [row for row in reasons() if row[0] in own and (core == "paper" or row[0].startswith("gramer_set_"))]
    for (name, line, _, kind, comment), hits in sorted(points.items()):
        if name not in own:
            continue # generated
        row = modules[name.removesuffix(".sv")]
        toggle = kind == "toggle"
        row[2 * toggle] += hits > 0
        row[2 * toggle + 1] += 1
        if hits or toggle:
            continue
        text = own[name].read_text().splitlines()[line - 1].strip()
        found = [(n, t, r) for n, t, r in known if n == name and t in text]
        if not found or found[0][2].startswith("open"):
            unexplained.append(f"{name}:{line}: {comment}: {text}")
        if found:
            used.add(found[0])
        at = never[name, found[0][2] if found else "**none yet**"]
        if line not in at:
            at.append(line)
    total = [sum(row[i] for row in modules.values()) for i in range(4)]

    def cells(row):
        def share(hit, all_):
            return f"{hit} / {all_} | {100 * hit / all_:.1f} %" if all_ else "– | –"
        return f"{share(*row[:2])} | {share(*row[2:])}"

    cases = os.environ.get("GRAMER_CASES", "?")
    lines = ["\t".join(map(str, [name, *row])) for name, row in sorted(modules.items())]
    page.with_suffix(".tsv").write_text("\n".join(["module\tlines hit\tlines\ttoggles hit\ttoggles", *lines]) + "\n")
    part = {name: row for name, row in modules.items() if row[0] < row[1]}
    table = "\n".join(f"| {name} | {cells(row)} |" for name, row in sorted(part.items()))
    listed = "\n".join(f"| {name}:{', '.join(map(str, at))} | {reason} |" for (name, reason), at in never.items()) or "| none | |"
    page.write_text(f"""# Coverage of the {core if core == "set" else "paper's"} core

Written by `make coverage`: {about.format(cases=cases)}, without assertions. Unit benches are not counted. Sources: `{sources(core)}`.

A point is a block of lines or one way of a branch, in any instance. Modules with all points hit are in [{page.stem}.tsv]({page.stem}.tsv)
alone. Bits of signals are counted with `GRAMER_COVERAGE=toggles`.

| module | lines hit | | toggles hit | |
|---|---|---|---|---|
{table}
| all | {cells(total)} |

## Lines that never ran

| where | why |
|---|---|
{listed}
""")
    print(f"lines {total[0]} / {total[1]}, toggles {total[2]} / {total[3]}: {page}")
    faults = [f"the reason for {text!r} in {name} is not needed: that ran, or is gone"
              for name, text, _ in sorted(set(known) - used)]
    faults += [f"never ran, and {REASONS.name} does not say why: {line}" for line in unexplained]
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cores", nargs="*", metavar="CORE", help="paper or set; without it paper")
    parser.add_argument("--data", type=pathlib.Path, metavar="FILE", help="take these data of the one core; run no test")
    options = parser.parse_args()
    wanted = options.cores or ["paper"]
    if set(wanted) - set(CORES) or (options.data and len(wanted) != 1):
        parser.error(f"the cores are {' and '.join(CORES)}; --data is for one of them")
    faults = [fault for core in wanted for fault in report(core, options.data or measured(core))]
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if faults else 0
