#!/usr/bin/env python3
"""Files that documents and comments name are there: a file that moved is found under its new name."""

import fnmatch
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = "rs|sv|py|sh|md|tsv|yaml|tcl|cpp|hpp|h|csv|json|xml"
# Plots, numbers and lists of versions name no files of ours.
NOT_READ = {".svg", ".csv", ".lock", ".ipynb", ".json"}
# What a text names that is not a file of the repository: where, the file, why.
EXPECTED = [
    ("scripts/board.py", "constraints/BOARD.tcl", "stands for every card"),
    ("scripts/measuring/speed.py", "docs/results/bench/threads.csv", "written by --threads, where it is wanted"),
    ("*", "docs/results/bench/today.md", "written by `make bench`"),
    ("scripts/hardware/mutants.py", "docs/results/hardware/mutants-set.md", "written by --set"),
    ("scripts/*", "scripts/setup-PART.sh", "stands for every part"),
    ("tests/test_setup.py", "scripts/setup-one.sh", "made by the test"),
    ("docs/guide/extending.md", "host/*/NAME.rs", "stands for a new file"),
    ("*vitis*", "machines/NAME.yaml", "a user's machine"),
    ("sim/tests/*", "machines/small_*.yaml", "a description that the test makes"),
    ("sim/tests/*", "machines/of_a_bench.yaml", "a description that the test makes"),
    # Read from the folder of the package.
    ("host/*", "tests/*.rs", "a path in a package"),
    ("sim/*", "tests/*.rs", "a path in a package"),
]


def named(text, folders):
    """The paths in a text that begin with a folder of the repository."""
    pattern = rf"(?<![\w./-])((?:{'|'.join(map(re.escape, sorted(folders)))})/[\w./-]*\w\.(?:{KINDS}))\b"
    return set(re.findall(pattern, text))


def excused(source, path):
    return any(fnmatch.fnmatch(source, s) and fnmatch.fnmatch(path, p) for s, p, _ in EXPECTED)


class Paths(unittest.TestCase):
    def test_a_path_is_found_in_a_text(self):
        text = "see `sim/tests/gone.rs`, ../sim/tests/not.rs, target/sim/tests/not.rs and sim/src/."
        self.assertEqual(named(text, {"sim", "docs"}), {"sim/tests/gone.rs"})

    def test_what_is_named_is_there(self):
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        files = [f for f in tracked.stdout.split("\0") if f and (ROOT / f).is_file()]
        folders = {f.split("/")[0] for f in files if "/" in f}
        missing = []
        for file in files:
            if pathlib.Path(file).suffix in NOT_READ or file == "tests/test_paths.py":
                continue
            try:
                text = (ROOT / file).read_text()
            except UnicodeDecodeError:
                continue
            missing += [f"{file} names {path}" for path in sorted(named(text, folders))
                        if not (ROOT / path).exists() and not excused(file, path)]
        self.assertEqual(missing, [])


if __name__ == "__main__":
    unittest.main()
