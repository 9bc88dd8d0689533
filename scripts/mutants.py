#!/usr/bin/env python3
"""Faults in the core, one at a time, and whether the tests notice.

A seeded draw puts faults into a copy of rtl/ (target/mutants/rtl): a comparison inverted, a
condition lost or widened, a pointer off by one, a value stuck. All of them are in one build of the
small machine; the plusarg +mutant=N chooses which of them acts, and 0 none. For each the suite runs
until the first test that fails:

  results   random tasks: counts, embeddings, candidates by depth and records equal algorithm 1's;
            protocol checks, the design's assertions, a limit on cycles
  stops     tasks that are stopped, fail or overflow, and are continued
  counters  a few fixed tasks take exactly the cycles, hits, misses and steals of
            sim/tests/counters.tsv: what catches a fault that changes speed alone

A fault that none of them catches survives. scripts/mutants-equivalent.tsv holds the survivors
that cannot be seen, each with the reason.
"""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target/mutants"
EQUIVALENT = ROOT / "scripts/mutants-equivalent.tsv"
REPORT = ROOT / "docs/mutants.md"
SEED = 2020
LEAST_A_MODULE = 2
TOTAL = 96
QUICK = 5
# Modules without logic of their own.
SKIP = {"gramer_types_pkg"}

# What is replaced, by what, and what it is called. Each is tried at every place where it fits.
OPERATORS = [
    (r" == ", " != ", "inverted comparison"),
    (r" != ", " == ", "inverted comparison"),
    (r" < ", " <= ", "comparison off by one"),
    (r" > ", " >= ", "comparison off by one"),
    (r" >= ", " > ", "comparison off by one"),
    (r" <= ", " < ", "comparison off by one"),
    (r" && ", " || ", "condition widened"),
    (r" \|\| ", " && ", "condition narrowed"),
    (r"\+ 1'b1", "+ 1'b0", "step lost"),
    (r"- 1'b1", "- 1'b0", "off by one"),
    (r" \+ ", " - ", "sign"),
    (r" >> ", " << ", "shift turned round"),
    (r"(?<![!=<>])!(?=[a-z(])", "", "negation lost"),
    (r"~", "", "complement lost"),
    (r" & ", " | ", "mask"),
    (r" \| ", " & ", "mask"),
    (r"1'b1$", "1'b0", "stuck at 0"),
    (r"^1'b0$", "1'b1", "stuck at 1"),
]


def blank(text):
    """Comments, strings and what is not synthesized, replaced by spaces: positions stay."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"//[^\n]*", spaces, text)
    text = re.sub(r'"[^"\n]*"', spaces, text)
    text = re.sub(r"`ifndef SYNTHESIS.*?`endif", spaces, text, flags=re.S)
    # What the small machine is built without.
    return re.sub(r"begin : gen_states.*?end else begin", spaces, text, flags=re.S)


def closing(text, at):
    """The position of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += text[i] in "([{"
        depth -= text[i] in ")]}"
        if depth == 0:
            return i
    raise ValueError("brackets")


def expressions(text):
    """(start, end) of every expression that is assigned or tested."""
    code = blank(text)
    body = code.find(");", code.find("module"))  # after the ports
    found = []
    for match in re.finditer(r"\bassign\s+[\w\[\]:+\-*.' ]+?\s*=\s", code):
        found.append((match.end(), code.index(";", match.end())))
    for match in re.finditer(r"(?m)^\s+(?:[^\n;]*\)\s|else\s)?[a-z][\w.]*(?:\[[^;\n]*?\])*(?:\.\w+)?"
                             r"\s*<?=\s(?=[^;]*;)", code):
        head = code[match.start():match.end()]
        if re.search(r"\b(localparam|parameter|logic|wire|assign|for|input|output)\b", head):
            continue
        found.append((match.end(), code.index(";", match.end())))
    for match in re.finditer(r"\bif\s*\(", code):
        end = closing(code, match.end() - 1)
        if not re.match(r"\s*begin\s*:", code[end + 1:]):
            found.append((match.end(), end))
    unique, reach = [], 0
    for start, end in sorted(set(found)):
        # What a build decides is no fault of its logic.
        decided = re.search(r"'\{|COMPACTION|UNIFORM", code[start:end])
        if start >= max(reach, body) and not decided:
            unique.append((start, end))
            reach = end
    return unique


def faults(path):
    """Every fault that the operators can make in a file."""
    text = path.read_text()
    code = blank(text)
    for start, end in expressions(text):
        old = code[start:end]
        for pattern, new, kind in OPERATORS:
            for match in re.finditer(pattern, old):
                if "\n" in match.group():
                    continue
                made = old[:match.start()] + new + old[match.end():]
                line = text.count("\n", 0, start + match.start()) + 1
                yield {
                    "module": path.stem, "start": start, "end": end, "kind": kind, "line": line,
                    "old": " ".join(old.split()), "new": " ".join(made.split()),
                    "at": len(" ".join(old[:match.start()].split())),
                }


def draw(seed, total):
    """The faults of a run: at least a few a module, at most one an expression."""
    rng = random.Random(seed)
    modules = {}
    for path in sorted((ROOT / "rtl").glob("*.sv")):
        if path.stem not in SKIP:
            modules[path.stem] = list(faults(path))
    chosen, used = [], set()

    def take(pool, number):
        rng.shuffle(pool)
        for fault in pool:
            if number == 0:
                break
            place = (fault["module"], fault["start"])
            if place not in used:
                used.add(place)
                chosen.append(fault)
                number -= 1

    for pool in modules.values():
        take(list(pool), LEAST_A_MODULE)
    take([fault for pool in modules.values() for fault in pool], total - len(chosen))
    chosen.sort(key=lambda f: (f["module"], f["start"]))
    for number, fault in enumerate(chosen, 1):
        fault["number"] = number
    return chosen


def write(chosen):
    """The copy of rtl/ with every fault in it."""
    target = WORK / "rtl"
    target.mkdir(parents=True, exist_ok=True)
    for old in target.iterdir():
        old.unlink()
    for path in (ROOT / "rtl").iterdir():
        text = path.read_text()
        for fault in sorted((f for f in chosen if f["module"] == path.stem),
                            key=lambda f: -f["start"]):
            old = text[fault["start"]:fault["end"]]
            made = f"(gramer_mutant_pkg::mutant == {fault['number']} ? ({fault['new']}) : ({old}))"
            text = text[:fault["start"]] + made + text[fault["end"]:]
        if path.stem == "gramer_types_pkg":
            text = ("package gramer_mutant_pkg;\n  int mutant /*verilator public*/;\n"
                    "endpackage\n" + text)
        if path.stem == "gramer_core":
            text = text.replace("  logic clk, rst_q;", "  initial if ($value$plusargs(\"mutant=%d\","
                                " gramer_mutant_pkg::mutant) == 0) gramer_mutant_pkg::mutant = 0;\n"
                                "  logic clk, rst_q;", 1)
            assert "plusargs" in text
        if path.suffix == ".vlt":
            # Faults break the rules of the linter, not of the language.
            text += "".join(f"lint_off -rule {rule}\n" for rule in
                            ["WIDTH", "CMPCONST", "UNSIGNED", "UNUSEDSIGNAL", "UNOPTFLAT", "DECLFILENAME"])
        (target / path.name).write_text(text)


def test_binaries():
    """The programs with the tests of the core and of its control block, by the tests they have."""
    output = subprocess.run(
        ["cargo", "test", "--release", "--locked", "-q", "-p", "gramer-sim", "--test", "core",
         "--test", "control", "--no-run", "--message-format=json"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = {}
    for line in output.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["kind"] == ["test"]:
            listed = subprocess.run([message["executable"], "--list"], check=True, text=True,
                                    stdout=subprocess.PIPE).stdout
            for test in re.findall(r"(?m)^(\w+): test$", listed):
                found[test] = message["executable"]
    missing = [test for _, test, _ in SUITE if test not in found]
    if missing:
        raise SystemExit(f"mutants: there are no tests {missing}")
    return found


def run(binaries, number, test, cases, limit):
    """Whether a test passes under a fault; also a line of why it doesn't."""
    env = dict(os.environ, GRAMER_RTL=str(WORK / "rtl"), GRAMER_MUTANT=str(number),
               GRAMER_CASES=str(cases), GRAMER_MAX_CYCLES="2000000", GRAMER_VERTICES="36", RUST_BACKTRACE="0",
               GRAMER_REQUIRE_RTL="1")
    env.pop("GRAMER_SEED", None)
    try:
        done = subprocess.run([binaries[test], "--exact", test, "--test-threads", "1"], cwd=ROOT / "sim",
                              env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=limit)
    except subprocess.TimeoutExpired:
        return False, "time"
    if done.returncode == 0:
        return True, ""
    seed = re.search(r"seed (\d+): (.*)", done.stdout)
    return False, f"seed {seed.group(1)}: {seed.group(2)}" if seed else f"exit {done.returncode}"


SUITE = [
    ("results", "random_tasks", 150),
    ("stops", "random_tasks_that_are_stopped_and_continued", 120),
    ("counters", "counters_are_as_last_seen", 0),
    ("directed", "an_axi_error_is_reported_with_its_address_and_the_next_run_is_clean", 0),
    ("directed", "a_run_is_stopped_at_once", 0),
    ("directed", "a_run_is_stopped_after_its_units", 0),
    ("directed", "starts_are_taken_one_at_a_time_and_done_waits_for_continue", 0),
    ("directed", "arguments_are_written_by_the_byte_and_read_back", 0),
    ("directed", "interrupts_come_when_enabled_and_go_when_acknowledged", 0),
    ("directed", "counts_stay_at_their_largest_value_and_say_so", 0),
]


def key(fault):
    return f"{fault['module']}\t{fault['old']}\t{fault['new']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} of them, for CI")
    parser.add_argument("--list", action="store_true", help="show the faults and stop")
    parser.add_argument("--only", type=int, nargs="*", help="only these numbers")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--total", type=int, default=TOTAL)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()

    chosen = draw(options.seed, options.total)
    if options.list:
        for fault in chosen:
            print(f"{fault['number']:3} {fault['module']}.sv:{fault['line']} {fault['kind']}: "
                  f"{fault['old']}  ->  {fault['new']}")
        return
    write(chosen)
    binaries = test_binaries()
    print(f"mutants: building the small machine with {len(chosen)} faults", flush=True)
    for name, test, cases in SUITE:
        passed, why = run(binaries, 0, test, min(cases, 100) or 1, 1800)
        if not passed:
            raise SystemExit(f"mutants: without a fault `{test}` fails already: {why}")

    wanted = chosen
    if options.only:
        wanted = [f for f in chosen if f["number"] in options.only]
    elif options.quick:
        wanted = random.Random(options.seed).sample(chosen, QUICK)
    equivalent = {}
    for line in EQUIVALENT.read_text().splitlines():
        if line and not line.startswith("#"):
            module, old, new, reason = line.split("\t")
            equivalent[f"{module}\t{old}\t{new}"] = reason

    def judge(fault):
        begun = time.monotonic()
        for name, test, cases in SUITE:
            passed, why = run(binaries, fault["number"], test, cases, 300)
            if not passed:
                return name, why, time.monotonic() - begun
        return None, "", time.monotonic() - begun

    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(options.jobs) as pool:
        for fault, (by, why, seconds) in zip(wanted, pool.map(judge, wanted)):
            fault["by"] = by
            if by is None and key(fault) in equivalent:
                fault["by"] = "equivalent"
                fault["why"] = equivalent[key(fault)]
            state = f"caught by {by}" if by else fault["by"] or "SURVIVES"
            print(f"{fault['number']:3} {fault['module']}.sv:{fault['line']} {fault['kind']}: "
                  f"{state} ({seconds:.0f} s) {why[:90]}", flush=True)
            if not by:
                print(f"      {fault['old']}\n   -> {fault['new']}", flush=True)

    survivors = [f for f in wanted if f["by"] is None]
    by = {name: sum(f["by"] == name for f in wanted)
          for name in ["results", "stops", "counters", "directed", "equivalent"]}
    score = (f"{len(wanted)} faults: {by['results']} caught by results, {by['stops']} by stopped "
             f"runs, {by['counters']} by counters alone, {by['directed']} by directed tests, "
             f"{by['equivalent']} equivalent, {len(survivors)} survive")
    print(score)
    if not options.quick and not options.only:
        rows = "\n".join(
            f"| {f['number']} | `{f['module']}` | {f['kind']} | `{f['old']}` | `{f['new']}` | "
            f"{f['by'] or '**survives**'} |".replace("||", "\\|\\|") for f in wanted)
        reasons = "\n".join(f"- {f['number']}, `{f['module']}`: {f['why']}"
                            for f in wanted if f["by"] == "equivalent")
        REPORT.write_text(f"""# Mutants

`make mutants` puts {len(wanted)} faults, drawn with seed {options.seed}, into one build of the small
machine and runs the tests against each. Written by that command; how it works is told in
`scripts/mutants.py`.

{score}.

## Equivalent

{reasons or "None."}

## All

| | module | kind | was | became | caught by |
|---|---|---|---|---|---|
{rows}
""")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
