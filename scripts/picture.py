#!/usr/bin/env python3
"""The picture of the README: an answer of gramer as one SVG.

usage: scripts/picture.py PROGRAM [FILE]

Runs PROGRAM (gramer) on a random graph that is the same on every machine, and puts the drawings of the page that
it writes beside the counts of the JSON that it prints. FILE is docs/motifs.svg unless named.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GRAPH = ["graph", "generate", "rmat", "--scale", "10", "--edge-factor", "8", "--seed", "1", "rmat10.gramer"]
TASK = ["mine", "motif", "-k", "4", "rmat10.gramer"]
# In pixels: a drawing is reduced to ROW, bars go from LEFT to RIGHT.
WIDTH, TOP, ROW, LEFT, RIGHT = 720, 44, 60, 230, 590
BAR, INK, GREY, PAPER = "#0072b2", "#1c2128", "#57606a", "#ffffff"


def answer(program):
    """The drawings of the page, its rules for a dark screen, and the answer as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        def gramer(*words):
            return subprocess.run([program, *words], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
        gramer(*GRAPH)
        gramer(*TASK, "--to", "page.html")
        page = (pathlib.Path(folder) / "page.html").read_text("utf-8")
        dark = re.search(r"@media [^{]*prefers-color-scheme:dark\)\{svg\.gramer.*\}\}", page)
        if dark is None:
            sys.exit("picture: the page has no rules for a dark screen that this script knows")
        return re.findall(r"<svg .*?</svg>", page, re.DOTALL), dark.group(), json.loads(gramer(*TASK, "--json"))


def picture(drawings, dark, found):
    """The SVG: a row for each pattern."""
    results = found["results"]
    if len(drawings) != len(results):
        sys.exit(f"picture: the page has {len(drawings)} drawings for {len(results)} patterns")
    most, graph = max(line["count"] for line in results), found["graph"]
    title = (f"Connected patterns of {found['k']} vertices in a random graph of {graph['vertices']:,} vertices and "
             f"{graph['edges']:,} edges, {found['induced']}-induced")
    height = TOP + ROW * len(results) + 8
    counts = ", ".join(f'{line["name"]} {line["count"]:,}' for line in results)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" class="gramer" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
           f'height="{height}" role="img" font-family="system-ui, sans-serif" font-size="14">',
           f"<title>{title}</title>",
           f"<desc>{counts}</desc>",
           f"<style>{dark}</style>",
           f'<g fill="{INK}">',
           f'<rect width="{WIDTH}" height="{height}" rx="8" fill="{PAPER}"/>',
           f'<text x="16" y="28" font-size="13" fill="{GREY}">{title}</text>']
    for at, (drawing, line) in enumerate(zip(drawings, results)):
        top = TOP + ROW * at
        middle, bar = top + ROW // 2, max(2.0, (RIGHT - LEFT) * line["count"] / most)
        placed, changed = re.subn(r'width="96" height="96"', f'x="16" y="{top + 2}" width="{ROW - 4}" height="{ROW - 4}"',
                                  drawing, count=1)
        if not changed:
            sys.exit("picture: a drawing of the page has another size than this script knows")
        out += [placed,
                f'<text x="92" y="{middle + 5}" font-weight="600">{line["name"]}</text>',
                f'<rect x="{LEFT}" y="{middle - 9}" width="{bar:.1f}" height="18" rx="2" fill="{BAR}"/>',
                f'<text x="{WIDTH - 16}" y="{middle + 5}" text-anchor="end" font-weight="600">'
                f'{line["count"]:,}</text>']
    return "\n".join([*out, "</g>", "</svg>"]) + "\n"


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    # It is started in another folder.
    program = str(pathlib.Path(sys.argv[1]).absolute())
    target = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else ROOT / "docs" / "motifs.svg"
    target.write_text(picture(*answer(program)), "utf-8")


if __name__ == "__main__":
    main()
