#!/usr/bin/env python3
"""A newcomer's hour: install, a demo, a graph of one's own, labels, an emulated run, a report.

usage: scripts/newcomer.py PREFIX [PYTHON]

Follows the documents as a newcomer would, with the installation under PREFIX (`make newcomer`) and from an empty
folder. Each step has a time limit and an expected output. PYTHON is an interpreter with the package gramer and NetworkX;
without it that step is skipped and reported. Exit code 1 if a step fails.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

FRIENDS = "person_a,person_b\n1,2\n1,3\n2,3\n2,4\n3,4\n4,5\n5,6\n5,7\n6,7\n"
TEAMS = "1 0\n2 0\n3 1\n4 1\n5 0\n6 1\n7 1\n"
NETWORKX = """
import gramer, networkx
g = gramer.Graph.from_networkx(networkx.karate_club_graph())
print(g.cliques(3), "triangles")
print({found.pattern.name: found.count for found in g.motifs(3)})
"""


class Hour:
    """The steps, one after the other in one folder."""

    def __init__(self, prefix, folder):
        self.folder, self.rows = folder, []
        # Nothing of the source tree is on the path.
        self.env = dict(os.environ, PATH=f"{prefix / 'bin'}:/usr/local/bin:/usr/bin:/bin", HOME=str(folder))
        for name in ("GRAMER", "GRAMER_HOME", "PYTHONPATH"):
            self.env.pop(name, None)

    def step(self, what, words, within, wanted, env=None):
        """Runs a command; it must end well in `within` seconds and print each text of `wanted`."""
        begun = time.monotonic()
        print(f"$ {' '.join(map(str, words))}", flush=True)
        try:
            done = subprocess.run([str(w) for w in words], cwd=self.folder, env=dict(self.env, **(env or {})),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=within)
            output, fault = done.stdout, None
            if done.returncode:
                fault = f"exit code {done.returncode}"
            else:
                missing = [text for text in wanted if text not in output]
                fault = f"doesn't print {missing[0]!r}" if missing else None
        except subprocess.TimeoutExpired as late:
            output, fault = (late.stdout or b"").decode(errors="replace"), f"takes longer than {within} s"
        except OSError as error:
            output, fault = "", str(error)
        print(output, flush=True)
        self.row(what, time.monotonic() - begun, within, fault or "well")
        return output

    def check(self, what, holds, fault):
        """Looks at what a step left."""
        self.row(what, 0.0, 1, "well" if holds else fault)

    def row(self, *cells):
        self.rows.append(cells)

    def report(self):
        """The table; whether all is well."""
        print(f"{'step':44}{'seconds':>9}{'within':>8}  outcome")
        for what, seconds, within, outcome in self.rows:
            print(f"{what:44}{seconds:9.1f}{within:8}  {outcome}")
        return all(row[3] == "well" or row[3].startswith("skipped") for row in self.rows)


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    prefix = pathlib.Path(sys.argv[1]).resolve()
    # Steps run in a separate folder; links are kept, since a virtual environment is recognised by them.
    python = os.path.abspath(sys.argv[2]) if len(sys.argv) == 3 else None
    with tempfile.TemporaryDirectory(prefix="newcomer-") as name:
        folder = pathlib.Path(name)
        hour = Hour(prefix, folder)
        write = lambda file, text: (folder / file).write_text(text)

        hour.step("the program is there", ["gramer", "--version"], 10, ["gramer "])
        hour.step("its manual page is there", ["ls", prefix / "share/man/man1/gramer.1"], 10, ["gramer.1"])
        hour.step("what can be used here", ["gramer", "devices"], 60, ["cpu", "emulator"])

        words = ["gramer", "graph", "generate", "rmat", "--scale", "14", "--edge-factor", "16", "--seed", "1"]
        hour.step("demo: a random graph", [*words, "rmat14.gramer"], 60, [])
        hour.step("demo: its motifs", ["gramer", "mine", "motif", "-k", "4", "rmat14.gramer"], 120,
                  ["4-clique", "total "])

        write("friends.csv", FRIENDS)
        hour.step("my own graph: a CSV", ["gramer", "graph", "info", "friends.csv"], 10,
                  ["vertices                    7", "edges                       9"])
        out = hour.step("my own graph: triangles", ["gramer", "mine", "clique", "-k", "3", "friends.csv", "--json"],
                        10, ['"total": 3'])
        hour.check("my own graph: JSON for a program", "{" in out and
                   json.loads(out[out.index("{"):])["results"][0]["name"] == "triangle", "no JSON")
        hour.step("who they are", ["gramer", "mine", "match", "--pattern", "diamond", "friends.csv",
                                   "--list", "diamonds.jsonl"], 10, ["1 embeddings listed"])
        listed = folder / "diamonds.jsonl"
        hour.check("who they are: the list", listed.is_file() and '"vertices":[' in listed.read_text(),
                   "diamonds.jsonl is missing or empty")

        if python:
            env = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
            hour.step("my own graph: from NetworkX", [python, "-c", NETWORKX], 60,
                      ["45 triangles", "'triangle': 45"], env)
        else:
            hour.row("my own graph: from NetworkX", 0.0, 60, "skipped: no Python is named")

        write("teams.txt", TEAMS)
        hour.step("a labelled search", ["gramer", "mine", "fsm", "--support", "2", "--max-vertices", "3",
                                        "friends.csv", "--labels", "teams.txt"], 10, ["triangle[0,1,1]"])

        hour.step("the accelerator, emulated", ["gramer", "mine", "motif", "-k", "3", "--device", "emulator:small",
                                                "friends.csv"], 1200, ["measured by", "triangle"])

        hour.step("a report", ["gramer", "mine", "motif", "-k", "4", "rmat14.gramer", "--to", "report.html"], 120, [])
        page = folder / "report.html"
        text = page.read_text() if page.is_file() else ""
        hour.check("a report: six patterns are drawn", text.count("<svg ") == 6, "report.html has other pictures")
        hour.step("a report: nothing is overwritten", ["sh", "-c", "! gramer mine motif -k 4 friends.csv --to report.html"],
                  10, ["is there already"])
        return 0 if hour.report() else 1


if __name__ == "__main__":
    sys.exit(main())
