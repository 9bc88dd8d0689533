#!/usr/bin/env python3
"""All tests, or parts of them, from one build; how many passed, failed and were skipped, and why.

usage: scripts/test.py all | PART...

One build serves all parts: cargo compiles a library again for each set of features that its
dependencies have, and these differ from package to package. So everything is built as members of the
whole workspace (`--workspace`), in one profile, and the parts choose among the programs that came of it.
A test that lacks something of the machine (Verilator, the Xilinx Runtime, the real graphs) skips
itself and says so in the file that GRAMER_SKIPPED names (host/tests/common/environment.rs). `all`
demands what `make test` has installed: GRAMER_REQUIRE_RTL and GRAMER_REQUIRE_XRT are 1.

The last line is `N passed, N failed, N skipped`; it and a table of the parts' times are also left in
target/test/summary. Exit code 1 if anything failed.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target/test"
SKIPPED = WORK / "skipped.tsv"
SUMMARY = WORK / "summary"

# A part: its packages' unit tests; tests by name (None: those of its packages that no other part has);
# tests of another part that it runs too; what it demands when it runs alone; commands that are a check
# each; what each test program is told; and whether it is small.
PARTS = {
    "host": {"packages": ["gramer", "gramer-abi", "gramer-accelerator", "gramer-cli", "gramer-cluster", "gramer-engine",
                          "gramer-graph", "gramer-laboratory", "gramer-pattern", "gramer-sleep"], "tests": None, "doc": True},
    # One test at a time: the portable device takes all processors for each.
    "gpu": {"packages": ["gramer-gpu", "gramer-many"], "tests": None, "demands": ["OPENCL"],
            "arguments": ["--test-threads", "1"]},
    "machine": {"packages": ["gramer-machine"], "tests": None, "small": True},
    "rtl": {"packages": ["gramer-sim", "gramer-sim-command"], "tests": None, "demands": ["RTL"]},
    # They wait for processes of their own, whose models take a processor each.
    "emulation": {"tests": ["opencl", "launch", "abi"], "also": ["xclbin"], "demands": ["XRT"],
                  "emulator": True, "arguments": ["--test-threads", "2"]},
    "synth": {"tests": [], "commands": [["make", "hls-test"], ["make", "vitis-check"],
                                        [".venv/bin/python", "tests/synthesis_gate.py"],
                                        [".venv/bin/python", "scripts/synth.py", "--changed"]]},
    # Without a browser two of them skip themselves; `make test-pages` demands it.
    "pages": {"packages": ["gramer-picture"], "tests": ["pages"]},
    "paper": {"tests": ["explore"], "demands": ["RTL"]},
    "scripts": {"tests": [], "commands": [["python3", "-B", "tests/test_bench.py"],
                                          ["python3", "-B", "tests/test_licences.py"],
                                          ["python3", "-B", "tests/test_paths.py"],
                                          ["python3", "-B", "tests/test_release.py"],
                                          ["python3", "-B", "tests/test_replay.py"],
                                          ["python3", "-B", "tests/test_sizes.py"],
                                          ["python3", "-B", "tests/test_rtl.py"]]},
    # An extension module has no test program: its tests are Python's.
    "python": {"packages": ["gramer-python"], "tests": [], "commands": [["scripts/test-python.sh"]],
               "emulator": True, "small": True},
}
# Found in no `--tests`, since it links what may be missing.
BY_NAME = "abi"


def metadata():
    """The packages of the workspace: name to folder, and the names of their tests."""
    text = subprocess.run(["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"],
                          cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    packages = json.loads(text)["packages"]
    folders = {p["name"]: str(pathlib.Path(p["manifest_path"]).parent) for p in packages}
    tests = {p["name"]: [t["name"] for t in p["targets"] if t["kind"] == ["test"] and t["test"]]
             for p in packages}
    known = [name for part in PARTS.values() for name in part.get("packages", [])]
    if set(known) != set(folders):
        raise SystemExit(f"test: no part has the packages {sorted(set(folders) ^ set(known))}")
    return folders, tests


def tests_of(name, tests):
    """The names of a part's tests."""
    part = PARTS[name]
    if part["tests"] is not None:
        return part["tests"] + part.get("also", [])
    others = {t for p in PARTS.values() for t in p["tests"] or []} | {BY_NAME}
    return [t for package in part["packages"] for t in tests[package] if t not in others]


def test_programs(parts, wanted):
    """Builds the test programs of parts."""
    # A package that little depends on is built by itself when only it is tested.
    small = [package for name in parts for package in PARTS[name]["packages"]] \
        if all(PARTS[name].get("small") for name in parts) else []
    select = [word for package in small for word in ("--package", package)] or ["--workspace"]
    command = ["cargo", "test", "--locked", *select, "--no-run",
               "--message-format=json-render-diagnostics"]
    if any(PARTS[name].get("packages") for name in parts):
        command += ["--lib", "--bins"]
    for test in wanted:
        command += ["--test", test]
    print("$ " + " ".join(command), flush=True)
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit("test: the build failed")
    found = []
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message.get("profile", {}).get("test"):
            package = pathlib.Path(message["manifest_path"]).parent
            target = message["target"]
            found.append((str(package), target["kind"][0], target["name"], message["executable"]))
    return found


def build(parts, tests):
    """Builds what the parts run; gives programs as (package, kind, name, executable)."""
    wanted = sorted({test for name in parts for test in tests_of(name, tests)})
    found = test_programs(parts, wanted) if wanted else []
    more = []
    if any(PARTS[name].get("emulator") for name in parts):
        # The tests of the emulation find both beside the programs.
        more += [["--bin", "gramer-emulator"], ["--package", "gramer-sleep"],
                 ["--package", "gramer", "--example", "embedded"]]
    if "paper" in parts:
        more += [["--bin", "gramer-sim"]]
    if "python" in parts:
        more += [["--bin", "gramer", "--lib"]]
    for words in more:
        # `--example`: with the features of a build of tests, of which the programs were just built.
        select = words if "--package" in words else ["--workspace", "--example", "generate", *words]
        subprocess.run(["cargo", "build", "--locked", "--quiet", *select], cwd=ROOT, check=True)
    return found


class Tally:
    """What was counted."""

    def __init__(self):
        self.rows, self.failures = [], []
        self.begun, self.used = time.monotonic(), self.cpu()
        self.counted = 0  # lines of SKIPPED

    @staticmethod
    def cpu():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def end(self, part, passed=0, failed=0, ignored=0):
        """A row of the table: what was done since the row before."""
        lines = skips()
        skipped = len(set(lines[self.counted:]))
        self.counted = len(lines)
        now, used = time.monotonic(), self.cpu()
        # A test that skips itself has passed for its harness.
        self.rows.append((part, now - self.begun, used - self.used, passed - skipped, failed,
                          skipped + ignored))
        self.begun, self.used = now, used


def skips():
    """(program, test, reason) of each test that skipped itself."""
    text = SKIPPED.read_text() if SKIPPED.exists() else ""
    return [tuple(line.split("\t", 2)) for line in text.splitlines()]


def run(command, folder, env):
    """Runs a command, shows its output, and returns its exit code and the harness's counts."""
    child = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace")
    counts, ignored = [0, 0, 0], []
    for line in child.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        result = re.match(r"test result: .*?(\d+) passed; (\d+) failed; (\d+) ignored", line)
        if result:
            counts = [have + int(new) for have, new in zip(counts, result.groups())]
        # Python's harness: 45 passed in 8.66s; 1 failed, 43 passed, 1 skipped in 9.00s.
        elif re.match(r"(\d+ [a-z]+, )*\d+ [a-z]+ in [\d.]+s", line):
            said = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped)", line)}
            counts = [have + said.get(word, 0) for have, word in
                      zip(counts, ("passed", "failed", "skipped"))]
        elif re.match(r"test .* \.\.\. ignored", line):
            ignored.append(line.strip())
    return child.wait(), counts, ignored


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="+", choices=["all", *PARTS], metavar="PART")
    options = parser.parse_args()
    whole = "all" in options.parts
    parts = list(PARTS) if whole else options.parts
    WORK.mkdir(parents=True, exist_ok=True)
    SKIPPED.write_text("")
    SUMMARY.unlink(missing_ok=True)

    folders, tests = metadata()
    tally = Tally()
    programs = build(parts, tests)
    tally.end("build")
    ran, ignored = set(), []
    for name in parts:
        part = PARTS[name]
        demands = {d for p in PARTS.values() for d in p.get("demands", [])} if whole else part.get("demands", [])
        env = dict(os.environ, GRAMER_SKIPPED=str(SKIPPED), CARGO="cargo")
        env.update({f"GRAMER_REQUIRE_{demand}": "1" for demand in demands})
        mine, counts = tests_of(name, tests), [0, 0, 0]
        for folder, kind, target, program in programs:
            unit = kind != "test" and folder in [folders[p] for p in part.get("packages", [])]
            # Of `all` each program runs once, though a part alone may have it beside another.
            if not (unit or kind == "test" and target in mine) or program in ran:
                continue
            ran.add(program)
            print(f"\n{name}: {os.path.relpath(folder, ROOT)} {target}", flush=True)
            code, found, without = run([program, *part.get("arguments", [])], folder,
                                       dict(env, CARGO_MANIFEST_DIR=folder))
            if code and not found[1]:
                found[1] = 1  # it ended without a verdict
            if code:
                tally.failures.append(f"{name}: {target}")
            counts = [a + b for a, b in zip(counts, found)]
            ignored += without
        commands = list(part.get("commands", []))
        if part.get("doc"):
            commands.append(["cargo", "test", "--locked", "--workspace", "--doc"])
        for command in commands:
            print(f"\n{name}: {' '.join(command)}", flush=True)
            code, found, without = run(command, ROOT, env)
            if not any(found):
                found = [int(code == 0), int(code != 0), 0]
            elif code and not found[1]:
                found[1] = 1
            if code:
                tally.failures.append(f"{name}: {' '.join(command)}")
            counts = [a + b for a, b in zip(counts, found)]
            ignored += without
        tally.end(name, *counts)

    lines = ["", f"{'part':12}{'wall s':>8}{'CPU s':>8}{'passed':>8}{'failed':>8}{'skipped':>9}"]
    for part, wall, cpu, *numbers in tally.rows:
        lines.append(f"{part:12}{wall:8.0f}{cpu:8.0f}" + "{:8}{:8}{:9}".format(*numbers))
    wall, cpu, passed, failed, skipped = (sum(row[i] for row in tally.rows) for i in range(1, 6))
    lines.append(f"{'all':12}{wall:8.0f}{cpu:8.0f}{passed:8}{failed:8}{skipped:9}")
    lines += [f"failed: {what}" for what in tally.failures]
    lines.append(f"skipped: {skipped}")
    reasons = {}
    for _, test, reason in sorted(set(skips())):
        reasons.setdefault(reason, []).append(test)
    lines += [f"  {reason}: {', '.join(names)}" for reason, names in reasons.items()]
    lines += [f"  {line}" for line in ignored]
    lines.append(f"{passed} passed, {failed} failed, {skipped} skipped")
    SUMMARY.write_text("\n".join(lines) + "\n")
    print("\n".join(lines), flush=True)
    return 1 if failed or tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
