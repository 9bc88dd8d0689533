#!/usr/bin/env python3
"""All tests, or parts of them, from one build; how many passed, failed and were skipped, and why.

usage: scripts/test.py all | PART...

One build serves all parts: cargo compiles a library again for each set of features that its
dependencies have, and these differ from package to package. Everything is therefore built as members of
the whole workspace (`--workspace`), in one profile, and the parts choose among these programs. A test without its tools or data
(Verilator, the Xilinx Runtime, the real graphs) skips itself and writes that to the file GRAMER_SKIPPED
(host/testing/src/environment.rs). `all` requires what `make test` has installed: GRAMER_REQUIRE_RTL and GRAMER_REQUIRE_XRT are 1.

Two programs run at a time, each with half of the processors, the longest first, so that no processor is idle. A program's
output appears when it ends.

The last line is `N passed, N failed, N skipped`; it and a table of the parts' times are also left in
target/test/summary. Exit code 1 if anything failed.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from built import BUILT

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target/test"
SKIPPED = WORK / "skipped.tsv"
SUMMARY = WORK / "summary"

# A part: its packages' unit tests; tests by name (None: those of its packages that no other part has);
# tests of another part that it runs too; what it demands when it runs alone; commands that are a check
# each; what each test program is told; and whether it is small.
PARTS = {
    "host": {"packages": ["gramer", "gramer-abi", "gramer-accelerator", "gramer-base", "gramer-cli", "gramer-cluster",
                          "gramer-cpu", "gramer-engine", "gramer-graph", "gramer-laboratory", "gramer-models", "gramer-pattern", "gramer-sleep", "gramer-testing"], "tests": None, "doc": True},
    # One test at a time: the portable device takes all processors for each.
    "gpu": {"packages": ["gramer-gpu", "gramer-crew"], "tests": None, "demands": ["OPENCL"],
            "arguments": ["--test-threads", "1"]},
    "machine": {"packages": ["gramer-machine"], "tests": None, "small": True},
    "rtl": {"packages": ["gramer-sim"], "tests": None, "demands": ["RTL"]},
    "four-state": {"tests": ["four_state"], "demands": ["RTL", "EDA"]},
    # They start processes whose models take a processor each.
    "emulation": {"tests": ["opencl", "launch", "abi"], "also": ["xclbin"], "demands": ["XRT"],
                  "emulator": True, "arguments": ["--test-threads", "2"]},
    "synth": {"tests": [], "commands": [["make", "hls-test"], ["make", "vitis-check"],
                                        [".venv/bin/python", "tests/synthesis_gate.py"],
                                        [".venv/bin/python", "scripts/hardware.py", "synth", "--changed"]]},
    # Without a browser two of them skip themselves; `make test-pages` demands it.
    "pages": {"packages": ["gramer-picture"], "tests": ["pages"]},
    "paper": {"tests": ["explore", "simulate"], "demands": ["RTL"]},
    "scripts": {"tests": [], "commands": [["python3", "-B", "tests/test_bench.py"],
                                          ["python3", "-B", "tests/test_boards.py"],
                                          ["python3", "-B", "tests/test_docs.py"],
                                          ["python3", "-B", "tests/test_energy.py"],
                                          ["python3", "-B", "tests/test_features.py"],
                                          ["python3", "-B", "tests/test_licences.py"],
                                          ["python3", "-B", "tests/test_package.py"],
                                          ["python3", "-B", "tests/test_paths.py"],
                                          ["python3", "-B", "tests/test_release.py"],
                                          ["python3", "-B", "tests/test_replay.py"],
                                          ["python3", "-B", "tests/test_set_model.py"],
                                          ["python3", "-B", "tests/test_setup.py"],
                                          ["python3", "-B", "tests/test_sizes.py"],
                                          ["python3", "-B", "tests/test_xclbin.py"],
                                          ["python3", "-B", "tests/test_rtl.py"],
                                          ["python3", "-B", "tests/test_rtl_files.py"]]},
    # An extension module has no test program: its tests are Python's.
    "python": {"packages": ["gramer-python"], "tests": [], "commands": [["scripts/test-python.sh"]],
               "emulator": True, "small": True},
}
# Programs that run at once.
LANES = 2
# Ends of the titles of steps, by how long they take.
LONGEST = ["sim core", "cli launch", "sim set_plans", "sim units", "sim set", "laboratory explore", "sim real", "sim models",
           "sim set_counters", "cli opencl", "make hls-test", "engine budget", "many devices", "host engines",
           "host estimate", "sim four_state", "host per", "gpu matching", "scripts/test-python.sh", "engine gramer_engine",
           "host matching", "cli golden", "crew devices", "laboratory paper_gpu", "cli asked", "host graph_io", "laboratory simulate", "make vitis-check"]
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
    """Builds the test programs of parts; gives them as (package, kind, name, executable)."""
    # A package that little depends on is built by itself when only it is tested.
    small = [package for name in parts for package in PARTS[name]["packages"]] \
        if all(PARTS[name].get("small") for name in parts) else []
    select = [word for package in small for word in ("--package", package)] or ["--workspace"]
    if set(parts) == set(PARTS):
        # `--lib` and `--bins` would build those that have no tests too.
        choices = [["--tests"], ["--test", BY_NAME]]
    else:
        units = any(PARTS[name].get("packages") for name in parts)
        choices = [["--lib", "--bins"] * units + [word for test in wanted for word in ("--test", test)]]
    return [program for choice in choices for program in built_tests(select + choice)]


def built_tests(words):
    """Builds test programs; gives them as (package, kind, name, executable)."""
    command = ["cargo", "test", "--locked", *words, "--no-run", "--message-format=json-render-diagnostics"]
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
        more += [["--bin", "gramer-emulator", "--example", "embedded"], ["--package", "gramer-sleep"]]
    if "python" in parts:
        more += [["--bin", "gramer", "--lib"]]
    for words in more:
        # `--example`: with the features of a build of tests, of which the programs were just built.
        select = words if "--package" in words else ["--workspace", "--example", "generate", *words]
        subprocess.run(["cargo", "build", "--locked", "--quiet", *select], cwd=ROOT, check=True)
    if "synth" in parts:
        # Its commands read what this writes.
        subprocess.run(["make", "--no-print-directory", "generate"], cwd=ROOT, check=True)
    return found


class Step:
    """A program or a command of a part, and what became of it."""

    def __init__(self, part, title, command, folder, env, tests):
        self.part, self.title, self.command, self.folder, self.env = part, title, command, folder, env
        self.tests = tests  # Whether its harness is Rust's, which says what it ran.
        self.wall = self.cpu = self.code = 0
        self.passed = self.failed = self.skipped = 0
        self.ignored, self.skips = [], []

    def read(self, text):
        """Takes the harness's counts from what it printed."""
        for line in text.splitlines():
            result = re.match(r"test result: .*?(\d+) passed; (\d+) failed; (\d+) ignored", line)
            if result:
                passed, failed, skipped = map(int, result.groups())
            # Python's harness: 45 passed in 8.66s; 1 failed, 43 passed, 1 skipped in 9.00s.
            elif re.match(r"(\d+ [a-z]+, )*\d+ [a-z]+ in [\d.]+s", line):
                said = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped)", line)}
                passed, failed, skipped = (said.get(word, 0) for word in ("passed", "failed", "skipped"))
            else:
                if re.match(r"test .* \.\.\. ignored", line):
                    self.ignored.append(line.strip())
                continue
            self.passed, self.failed, self.skipped = \
                self.passed + passed, self.failed + failed, self.skipped + skipped

    def run(self, number):
        """Runs it to its end; gives what it printed."""
        skipped = WORK / f"skipped-{number}.tsv"
        skipped.write_text("")
        begun = time.monotonic()
        with tempfile.TemporaryFile() as output:
            child = subprocess.Popen(self.command, cwd=self.folder, env=dict(self.env, GRAMER_SKIPPED=str(skipped)),
                                     stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
            # Processor time of this program and its children.
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = self.code = os.waitstatus_to_exitcode(status)
            output.seek(0)
            text = output.read().decode(errors="replace")
        self.wall, self.cpu = time.monotonic() - begun, usage.ru_utime + usage.ru_stime
        self.read(text)
        self.skips = [tuple(line.split("\t", 2)) for line in skipped.read_text().splitlines()]
        skipped.unlink()
        # A test that skips itself has passed for its harness.
        own = len(set(self.skips))
        self.passed, self.skipped = self.passed - own, self.skipped + own
        if not self.tests and not (self.passed or self.failed or self.skipped):
            self.passed = int(self.code == 0)
        if self.code and not self.failed:
            self.failed = 1  # It ended without a verdict.
        return text


def steps_of(parts, programs, folders, tests, whole):
    """Programs of the parts. Of `all` each program runs once, though a part alone may have it beside another."""
    steps, taken = [], set()
    threads = str(max(1, (os.cpu_count() or 1) // LANES))
    for name in parts:
        part = PARTS[name]
        demands = {d for p in PARTS.values() for d in p.get("demands", [])} if whole else part.get("demands", [])
        env = dict(os.environ, CARGO="cargo", RUST_TEST_THREADS=threads)
        env.update({f"GRAMER_REQUIRE_{demand}": "1" for demand in demands})
        mine = tests_of(name, tests)
        for folder, kind, target, program in programs:
            unit = kind != "test" and folder in [folders[p] for p in part.get("packages", [])]
            if not (unit or kind == "test" and target in mine) or program in taken:
                continue
            taken.add(program)
            title = f"{name}: {os.path.relpath(folder, ROOT)} {target}"
            steps.append(Step(name, title, [program, *part.get("arguments", [])], folder,
                              dict(env, CARGO_MANIFEST_DIR=folder), True))
        commands = list(part.get("commands", []))
        if part.get("doc"):
            commands.append(["cargo", "test", "--locked", "--workspace", "--no-fail-fast", "--doc"])
        steps += [Step(name, f"{name}: {' '.join(command)}", command, ROOT, env, False) for command in commands]

    def rank(step):
        at = [i for i, title in enumerate(LONGEST) if step.title.endswith(title)]
        return at[0] if at else len(LONGEST)
    return sorted(steps, key=rank)


def run_all(steps):
    """Runs the steps, LANES at a time, and shows what each printed as a whole."""
    shown = threading.Lock()

    def one(number_and_step):
        number, step = number_and_step
        text = step.run(number)
        with shown:
            print(f"\n{step.title}\n{text.rstrip()}\n{step.title}: {step.wall:.0f} s, {step.cpu:.0f} s of CPU,"
                  f" exit code {step.code}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
        list(pool.map(one, enumerate(steps)))


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="+", choices=["all", *PARTS], metavar="PART")
    options = parser.parse_args()
    whole = "all" in options.parts
    parts = list(PARTS) if whole else options.parts
    WORK.mkdir(parents=True, exist_ok=True)
    # Under nohup the tests of SIGHUP would wait for ever: what is ignored stays so in programs that are started, what
    # has a handler doesn't.
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)
    # Xilinx' emulation has a folder for each process beside its program, and stops at that of a process that was killed,
    # once a new one has the same number.
    shutil.rmtree(BUILT / "debug/.run", ignore_errors=True)
    # What a next build could take over costs the first one time and room. Who has built by hand keeps it.
    # In fewer units a crate takes less time, though the next build of it would take more.
    if not (BUILT / "debug/incremental").exists():
        os.environ.setdefault("CARGO_INCREMENTAL", "0")
        os.environ.setdefault("CARGO_PROFILE_DEV_CODEGEN_UNITS", "4")
    SKIPPED.unlink(missing_ok=True)
    SUMMARY.unlink(missing_ok=True)

    folders, tests = metadata()
    begun, used = time.monotonic(), cpu_of_children()
    programs = build(parts, tests)
    built, built_cpu = time.monotonic() - begun, cpu_of_children() - used
    steps = steps_of(parts, programs, folders, tests, whole)
    run_all(steps)

    # The steps' seconds overlap: only the last row's wall time is a clock's.
    lines = ["", f"{'part':12}{'wall s':>8}{'CPU s':>8}{'passed':>8}{'failed':>8}{'skipped':>9}",
             f"{'build':12}{built:8.0f}{built_cpu:8.0f}{0:8}{0:8}{0:9}"]
    columns = ("wall", "cpu", "passed", "failed", "skipped")
    for part in parts:
        wall, cpu, *numbers = (sum(getattr(step, name) for step in steps if step.part == part) for name in columns)
        lines.append(f"{part:12}{wall:8.0f}{cpu:8.0f}" + "{:8}{:8}{:9}".format(*numbers))
    _, cpu, passed, failed, skipped = (sum(getattr(step, name) for step in steps) for name in columns)
    lines.append(f"{'all':12}{time.monotonic() - begun:8.0f}{built_cpu + cpu:8.0f}{passed:8}{failed:8}{skipped:9}")
    failures = [step.title for step in steps if step.code]
    lines += [f"failed: {what}" for what in failures]
    lines.append(f"skipped: {skipped}")
    skips = sorted({skip for step in steps for skip in step.skips})
    SKIPPED.write_text("".join("\t".join(skip) + "\n" for skip in skips))
    reasons = {}
    for _, test, reason in skips:
        reasons.setdefault(reason, []).append(test)
    lines += [f"  {reason}: {', '.join(names)}" for reason, names in reasons.items()]
    lines += [f"  {line}" for step in steps for line in step.ignored]
    lines.append(f"{passed} passed, {failed} failed, {skipped} skipped")
    SUMMARY.write_text("\n".join(lines) + "\n")
    print("\n".join(lines), flush=True)
    return 1 if failed or failures else 0


if __name__ == "__main__":
    sys.exit(main())
