"""Mutation testing: injects faults into the core, one at a time, and runs the tests.

scripts/hardware/mutants.tsv lists the faults: a comparison inverted, a condition lost or widened, a pointer
or an index off by one, operands swapped, an enable lost, a value stuck, a register without its reset, a
sum without its top bit. They were drawn by a seed from all possible ones in rtl/ (`--draw`). A fault is identified by its module and the text of
its statement, so edits elsewhere don't change the list. All of them are in one copy of rtl/
(target/mutants/rtl); the plusarg +mutant=N chooses which of them acts, and 0 none. For each the
suite runs until the first check that fails:

  bench     the unit bench of its module
  results   random tasks: counts, embeddings, candidates by depth and records equal algorithm 1's;
            protocol checks, the design's assertions, a limit on cycles
  stops     tasks that are stopped, fail or overflow, and are continued
  counters  a few fixed tasks take exactly the cycles, hits, misses and steals of
            sim/tests/counters.tsv (of the set core set_counters.tsv, set_plan_counters.tsv and set_wedge_counters.tsv): what
            catches a fault that changes speed alone
  directed  directed tests: an error's address, the control block, saturation

Faults of the set core (rtl/set) are judged by the unit bench of their module, by that of the cluster, which
counts cliques, edges and paths of whole graphs, and by the tests of the whole core (sim/tests/set.rs); those of
search plans (gramer_set_plan*, gramer_set_recorder) by the bench of gramer_set_plan and by sim/tests/set_plans.rs instead, and
those of houses and 5-cycles (gramer_set_wedge*, gramer_set_reached) by sim/tests/set_wedges.rs, of 5-motifs
(gramer_set_triple*) by sim/tests/set_motifs5.rs, after their benches.

`--set` judges those alone, `--paper` those of the paper's core.

`--results` measures the tests of the whole core alone: each fault that its bench caught is also judged by the rest of the
suite. docs/results/hardware/mutants.md has both, mutants-set.md those of the set core.

A fault that no check catches survives. scripts/hardware/mutants-equivalent.tsv has the survivors that cannot be seen, each with
the reason. Judgements are cached in target/mutants/judged.json until the check or its sources change (of a unit bench the
modules in it, else all of rtl/), so an interrupted run continues.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import rtl_files
from hardware.faults import (
    LIST, ROOT, SET, WORK, all_faults, blank, draw, key, listed, source, sources, write, write_list)
from hardware.suites import BENCHES, MOTIFS_SUITE, PLAN_SUITE, SET_SUITE, SUITE, WEDGE_SUITE, suite_of

EQUIVALENT = ROOT / "scripts/hardware/mutants-equivalent.tsv"
JUDGED = WORK / "judged.json"
# Of the paper's core and of the set core.
REPORT = ROOT / "docs/results/hardware/mutants.md"
REPORT_SET = ROOT / "docs/results/hardware/mutants-set.md"
SEED = 2020
TOTAL = 108
TOTAL_SET = 110 # of the set core
QUICK = 5
# Modules that are proven as part of another one's bench; the others' benches have their names
# without the prefix.
PREFIX = "gramer_"
BENCH = {"gramer_cache": "onchip_memory", "gramer_replacement": "onchip_memory",
         "gramer_crossbar_column": "crossbar", "gramer_receiver": "scheduler", "gramer_unit_ledger": "scheduler",
         "gramer_threshold_table": "scheduler", "gramer_set_list_lines": "set_plan_asker"}

NAMES = ["bench", "results", "stops", "counters", "directed"]
# Before the key of a fault: its judgement by the tests of the whole core.
CORE_KEY = "core\t"


def bench_of(module):
    """The check that is a module's unit bench, if it has one."""
    name = BENCH.get(module, module.removeprefix(PREFIX))
    if name in BENCHES or not (ROOT / f"sim/units/{name}.cpp").exists():
        return []
    files = [f"sim/units/{name}.cpp", f"sim/units/{PREFIX}{name}.vlt", "sim/units/bench.hpp",
             "sim/units/messages.hpp", "sim/units/set_image.hpp", "sim/units/set_plans.hpp",
             "sim/units/set_widths.hpp", "sim/tests/units.rs"]
    return [("bench", name, 0, [file for file in files if (ROOT / file).exists()])]


def parts_of(module, found=None):
    """The modules that a module is made of, itself too."""
    found = set() if found is None else found
    if module not in found and source(module):
        found.add(module)
        code = blank((ROOT / source(module)).read_text())
        for part in re.findall(r"(?m)^\s*(\w+)\s+(?:#\s*\(|i_\w+\s*\()", code):
            parts_of(part, found)
    return found


def judged_by(check):
    """The files on which a check's judgement rests."""
    name, test, _, paths = check
    # Each core has its own package, so changes of one keep the other's verdicts.
    if test in BENCHES or name == "bench":
        parts = parts_of(PREFIX + test)
        parts |= {"gramer_set_types_pkg" if test.startswith("set_") else "gramer_types_pkg"}
    elif check in SET_SUITE + PLAN_SUITE:
        parts = parts_of("gramer_set_core") | {"gramer_set_types_pkg"}
    else:
        parts = {pathlib.Path(file).stem for file in rtl_files.files("paper")}
    machines = ["accelerator.yaml", "machines/small.yaml", "machines/saturating.yaml"]
    if any(part.startswith(SET) for part in parts):
        machines += ["machines/set.yaml", "machines/set-small.yaml"]
    return set(paths) | set(machines) | {source(part) for part in parts if source(part)}


def digest(paths):
    """A hash of files' names and contents."""
    sum_ = hashlib.sha256()
    for path in sorted(str(path) for path in paths):
        sum_.update(path.encode() + b"\0" + (ROOT / path).read_bytes() + b"\0")
    return sum_.hexdigest()[:16]


def core_hash(of_set=False):
    """A hash of a core: its modules, and the machines that the checks build."""
    own = [ROOT / file for file in rtl_files.files("paper")] + list((ROOT / "rtl").glob("*.vlt"))
    names = ["small", "saturating"]
    if of_set:
        own = [ROOT / source(part) for part in parts_of("gramer_set_core") | {"gramer_set_types_pkg"}]
        names = ["set", "set-small"]
    return digest([path.relative_to(ROOT) for path in own]
                  + ["accelerator.yaml", *(f"machines/{name}.yaml" for name in names)])


class Judge:
    """Runs checks under faults, and knows how they go without one."""

    def __init__(self, fresh):
        self.programs = self.test_programs()
        self.sound = {}
        self.locks = {}
        self.lock = threading.Lock()
        self.kept = json.loads(JUDGED.read_text()) if JUDGED.exists() and not fresh else {}

    def test_programs(self):
        """The programs with the tests, by the tests they have."""
        output = subprocess.run(
            # The build of `make test`.
            ["cargo", "test", "--locked", "-q", "--workspace", "--test", "core", "--test", "set",
             "--test", "set_plans", "--test", "set_wedges", "--test", "set_motifs5",
             "--test", "set_counters", "--test", "control", "--test", "units", "--no-run",
             "--message-format=json"],
            cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        found = {}
        for line in output.splitlines():
            message = json.loads(line)
            if message.get("executable") and message["target"]["kind"] == ["test"]:
                tests = subprocess.run([message["executable"], "--list"], check=True, text=True,
                                       stdout=subprocess.PIPE).stdout
                for test in re.findall(r"(?m)^([\w:]+): test$", tests):
                    found[test] = message["executable"]
        missing = [test for _, test, *_ in SUITE + SET_SUITE + PLAN_SUITE + WEDGE_SUITE + MOTIFS_SUITE if test not in found]
        if missing:
            raise SystemExit(f"mutants: there are no tests {missing}")
        return found

    def run(self, number, test, cases):
        """Whether a test passes under a fault; also a line of why it doesn't."""
        env = dict(os.environ, GRAMER_RTL=str(WORK / "rtl"), GRAMER_MUTANT=str(number),
                   GRAMER_CASES=str(cases), GRAMER_MAX_CYCLES="4000000", GRAMER_VERTICES="36",
                   RUST_BACKTRACE="0", GRAMER_REQUIRE_RTL="1")
        env.pop("GRAMER_SEED", None)
        try:
            done = subprocess.run([self.programs[test], "--exact", test, "--test-threads", "1"],
                                  cwd=ROOT / "sim", env=env, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace",
                                  timeout=1800)
        except subprocess.TimeoutExpired:
            return False, "it did not end"
        if done.returncode == 0:
            return True, ""
        # An interrupt is no caught fault.
        if -done.returncode in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            raise SystemExit(f"mutants: `{test}` was ended from outside; the next run goes on with this fault")
        why = (re.search(r"\bseed \d+(?:, cycle \d+)?: .*", done.stdout)
               or re.search(r"(?m)^.*assertion failed.*|(?<=panicked at ).*\n.*", done.stdout))
        return False, " ".join((why.group() if why else f"exit {done.returncode}").split())

    def passes_without(self, test, cases):
        """Builds what a check needs, once, and makes sure that it passes without a fault."""
        with self.lock:
            lock = self.locks.setdefault(test, threading.Lock())
        with lock:
            if test not in self.sound:
                passed, why = self.run(0, test, cases)
                if not passed:
                    raise SystemExit(f"mutants: without a fault `{test}` fails already: {why}")
                self.sound[test] = True

    def judged(self, fault):
        """The judgement that is kept, if it still holds; and the fault's checks by their tests."""
        suite = bench_of(fault["module"]) + suite_of(fault["module"])
        checks = {check[1]: check for check in suite}
        kept = self.kept.get(key(fault))
        if (kept and set(kept["tests"]) <= set(checks) and (kept["by"] or kept["tests"] == list(checks))
                and kept["digest"] == self.rests_on(checks, kept["tests"])):
            return kept, checks
        return None, checks

    @staticmethod
    def rests_on(checks, tests):
        """A hash of all that a judgement rests on."""
        return digest(set().union(*(judged_by(checks[test]) for test in tests)))

    def judge_core(self, fault):
        """Which check of the whole core notices a fault, or None, and why: the benches aside."""
        checks = {check[1]: check for check in suite_of(fault["module"])}
        name = CORE_KEY + key(fault)
        kept = self.kept_core(fault)
        if kept:
            return kept
        return self.judge_by(checks, fault, name)

    def judge_by(self, checks, fault, name):
        """Which of these checks notices a fault first; the judgement is kept by this name."""
        begun = time.monotonic()
        by, why, tests = None, "", list(checks)
        for check, test, cases, _ in checks.values():
            passed, why = self.run(fault["number"], test, cases)
            if not passed:
                by, tests = check, [test]
                # What fails anyway has caught nothing.
                self.passes_without(test, cases)
                break
        kept = {"by": by, "why": why, "seconds": time.monotonic() - begun, "tests": tests,
                "digest": self.rests_on(checks, tests)}
        self.keep(name, kept)
        return kept

    def kept_core(self, fault):
        """The judgement of the whole core that is kept, if it still holds. Where no bench caught a
        fault, the judgement by all checks is that."""
        checks = {check[1]: check for check in suite_of(fault["module"])}
        kept = self.kept.get(CORE_KEY + key(fault))
        if kept and set(kept["tests"]) <= set(checks) and kept["digest"] == self.rests_on(checks, kept["tests"]):
            return kept
        kept, _ = self.judged(fault)
        return kept if kept and kept["by"] != "bench" else None

    def keep(self, name, kept):
        """Writes a judgement down."""
        with self.lock:
            self.kept[name] = kept
            JUDGED.with_suffix(".new").write_text(json.dumps(self.kept, indent=1))
            JUDGED.with_suffix(".new").replace(JUDGED)

    def judge(self, fault):
        """By which check a fault is caught, why, and after how many seconds."""
        kept, checks = self.judged(fault)
        if kept:
            return kept
        return self.judge_by(checks, fault, key(fault))


def score_of(wanted):
    """How many were caught by what."""
    survive = sum(f["by"] is None for f in wanted)
    by = {name: sum(f["by"] == name for f in wanted) for name in NAMES + ["equivalent"]}
    core = {name: sum(f.get("core") == name for f in wanted) for name in NAMES + ["nothing"]}
    score = (f"{len(wanted)} faults: {by['bench']} caught by unit benches, {by['results']} by results, "
             f"{by['stops']} by stopped runs, {by['counters']} by counters alone, {by['directed']} by "
             f"directed tests, {by['equivalent']} equivalent, {survive} survive")
    judged = sum(core.values())
    return score + (f".\nWithout the benches, {judged} of {len(wanted) - by['equivalent']} judged: {core['results']} "
                    f"caught by results, {core['stops']} by stopped runs, {core['counters']} by counters alone, "
                    f"{core['directed']} by directed tests, {core['nothing']} by nothing")


SET_HEAD = """# Mutants of the set core

Written by `make mutants` (these alone: `scripts/hardware.py mutants --set`), which puts each fault of `scripts/hardware/mutants.tsv` into the set core and runs
first the unit bench of its module, then the bench of the cluster or of a plan's engine, then the tests of the whole core (`results`)."""
HEAD = """# Mutants

Written by `make mutants`, which puts each fault of `scripts/hardware/mutants.tsv` into the paper's core and runs the tests against it
(`scripts/hardware/mutants.py` says how). *Without the benches*: what catches a fault if its unit bench is left out (`make mutants-results`)."""


def added(chosen, own, of_set):
    """The faults of a page with those that were judged now; and the state of each, in words."""
    path = REPORT_SET if of_set else REPORT
    names = ("number", "module", "kind", "was", "became", "by", "core")
    rows = [dict(zip(names, line.split("\t"))) for line in path.with_suffix(".tsv").read_text().splitlines()[1:]]
    known = {(row["number"], row["was"], row["became"]): row for row in rows}
    now = {fault["number"] for fault in own}
    for fault in chosen:
        row = known.get((str(fault["number"]), fault["was"], fault["became"]))
        if row and fault["number"] not in now and fault["module"] == row["module"]:
            own.append(fault | {"by": None if row["by"] == "survives" else row["by"], "core": row["core"]})
    old = re.search(r"State of the core: (.*?), a hash", path.read_text(), re.S)[1]
    whole, *parts = old.split("; ")
    parts = [part for part in parts if not {int(n) for n in re.findall(r"\b\d+\b", part.split(":")[0])} <= now]
    numbers = ", ".join(str(number) for number in sorted(now))
    states = [whole, *parts, f"of faults {numbers}: `{core_hash(of_set)}`"]
    return sorted(own, key=lambda f: f["number"]), "; ".join(states)


def report(chosen, score, of_set, state):
    """Writes docs/results/hardware/mutants.md and mutants.tsv, or mutants-set.md and mutants-set.tsv."""
    path = REPORT_SET if of_set else REPORT
    table = ["number\tmodule\tkind\twas\tbecame\tcaught by\twithout benches"]
    table += ["\t".join([str(f["number"]), f["module"], f["kind"], f["was"], f["became"], f["by"] or "survives",
                         f.get("core", "not judged")]) for f in chosen]
    path.with_suffix(".tsv").write_text("\n".join(table) + "\n")
    path.write_text(f"""{SET_HEAD if of_set else HEAD} State of the core: {state}, a hash of its modules and the machines' YAML
(`scripts/hardware.py mutants --hash`).

{score}.

Each fault, with what catches it: [{path.with_suffix(".tsv").name}]({path.with_suffix(".tsv").name}). Why an equivalent one changes nothing:
[mutants-equivalent.tsv](../../../scripts/hardware/mutants-equivalent.tsv).
""")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="those that the list marks, for CI")
    parser.add_argument("--list", action="store_true", help="show the faults and stop")
    parser.add_argument("--hash", action="store_true", help="show the hash of the core and stop")
    parser.add_argument("--draw", action="store_true", help="drop faults whose statement has gone, "
                        "draw others for them, write the list and stop")
    parser.add_argument("--write", action="store_true", help="write the copy with faults and stop")
    parser.add_argument("--only", type=int, nargs="*", help="only these numbers")
    parser.add_argument("--add", action="store_true",
                        help="with --only: add them to the pages, whose other rows stay")
    parser.add_argument("--results", action="store_true",
                        help="judge each also by the tests of the whole core, even if its bench noticed it")
    parser.add_argument("--fresh", action="store_true", help="judge again what was judged")
    parser.add_argument("--seed", type=int, default=SEED, help="of --draw")
    parser.add_argument("--total", type=int, default=TOTAL, help="of --draw, of the paper's core")
    parser.add_argument("--total-set", type=int, default=TOTAL_SET, help="of --draw, of the set core")
    own = parser.add_mutually_exclusive_group()
    own.add_argument("--set", action="store_true", help="only faults of the set core")
    own.add_argument("--paper", action="store_true", help="only faults of the paper's core")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def known_equivalent():
    """The survivors that cannot be seen: the reason, by the fault's key."""
    lines = EQUIVALENT.read_text().splitlines()
    return dict(line.rsplit("\t", 1) for line in lines if line and not line.startswith("#"))


def choose(chosen, equivalent, options):
    """The faults that are judged, in the order in which they are."""
    if options.only:
        return [f for f in chosen if f["number"] in options.only]
    if options.quick:
        wanted = [f for f in chosen if f["quick"]]
        others = [f for f in chosen if not f["quick"] and key(f) not in equivalent]
        return wanted + random.Random(options.seed).sample(others, max(0, QUICK - len(wanted)))
    # A bench tells soonest; those that no check will notice take longest.
    wanted = sorted(chosen, key=lambda f: (key(f) in equivalent, not bench_of(f["module"])))
    if options.set or options.paper:
        return [f for f in wanted if f["module"].startswith(SET) == options.set]
    return wanted


def build_models(judge, wanted, results):
    """The models are built once, before the checks use them side by side."""
    left = [fault for fault in wanted if not judge.judged(fault)[0]]
    benches = {test for fault in left for _, test, *_ in bench_of(fault["module"])}
    asked = left or (wanted if results and not all(judge.kept_core(fault) for fault in wanted) else [])
    core = {suite_of(fault["module"])[0][1] for fault in asked}
    for test in sorted(benches | core):
        judge.run(0, test, 1)


def judge_all(judge, wanted, equivalent, jobs):
    """Says of each fault by what it is caught."""
    with ThreadPoolExecutor(jobs) as pool:
        for fault, kept in zip(wanted, pool.map(judge.judge, wanted)):
            fault["by"] = by = kept["by"]
            if by is None and key(fault) in equivalent:
                fault["by"] = "equivalent"
                fault["reason"] = equivalent[key(fault)]
            state = f"caught by {by}" if by else fault["by"] or "SURVIVES"
            print(f"{fault['number']:3} {fault['module']}.sv:{fault['line']} {fault['kind']}: "
                  f"{state} ({kept['seconds']:.0f} s) {kept['why'][:90]}", flush=True)
            if not by:
                print(f"      {fault['was']}\n   -> {fault['became']}", flush=True)


def judge_cores(judge, wanted, jobs):
    """Says of each fault what of the whole core catches it."""
    print("mutants: by the tests of the whole core alone", flush=True)
    with ThreadPoolExecutor(jobs) as pool:
        asked = [fault for fault in wanted if fault["by"] != "equivalent"]
        for fault, kept in zip(asked, pool.map(judge.judge_core, asked)):
            print(f"{fault['number']:3} {fault['module']}.sv:{fault['line']} {fault['kind']}: "
                  f"{'caught by ' + kept['by'] if kept['by'] else 'NOT CAUGHT'} "
                  f"({kept['seconds']:.0f} s) {kept['why'][:90]}", flush=True)


def main():
    options = arguments()
    if options.hash:
        print(core_hash(), core_hash(True))
        return
    modules = all_faults()
    chosen, gone = listed(modules)
    if options.draw:
        chosen = draw(modules, chosen, options.seed, options.total, options.total_set)
        write_list(chosen)
        print(f"{len(gone)} of the list had gone; {len(chosen)} faults in {LIST.relative_to(ROOT)}, "
              f"of {sum(map(len, modules.values()))} that can be made")
        return
    if options.quick and gone:
        # An edited statement of the list need not be replaced at once.
        print(f"mutants: {len(gone)} faults of the list are out of date: scripts/hardware.py mutants --draw")
    elif gone:
        raise SystemExit("mutants: statements of the list are gone, draw others with scripts/hardware.py mutants "
                         "--draw:\n" + "\n".join(gone))
    if options.list:
        for fault in chosen:
            print(f"{fault['number']:3} {fault['module']}.sv:{fault['line']} {fault['kind']}: "
                  f"{fault['was']}  ->  {fault['became']}")
        return
    write(chosen)
    if options.write:
        return
    equivalent = known_equivalent()
    wanted = choose(chosen, equivalent, options)

    judge = Judge(options.fresh)
    print(f"mutants: {len(wanted)} of {len(chosen)} faults", flush=True)
    build_models(judge, wanted, options.results)
    judge_all(judge, wanted, equivalent, options.jobs)
    if options.results:
        judge_cores(judge, wanted, options.jobs)
    for fault in wanted:
        core = judge.kept_core(fault)
        if fault["by"] == "equivalent":
            fault["core"] = "–"
        elif core:
            fault["core"] = core["by"] or "nothing"

    for of_set in (False, True):
        own = sorted((f for f in wanted if f["module"].startswith(SET) == of_set), key=lambda f: f["number"])
        if own:
            state = f"`{core_hash(of_set)}`"
            if options.add:
                own, state = added(chosen, own, of_set)
            score = score_of(own)
            print(("set core: " if of_set else "") + score)
            if not options.quick and (options.add or not options.only):
                report(own, score, of_set, state)
    sys.exit(1 if any(f["by"] is None for f in wanted) else 0)
