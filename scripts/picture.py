#!/usr/bin/env python3
"""The picture of the README: an answer of gramer as one SVG.

usage: scripts/picture.py PROGRAM [FILE]

Runs PROGRAM (gramer) on a known network and on random networks with the same degrees, and draws each pattern with
both counts. FILE is docs/pictures/karate.svg unless named.
"""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NETWORK = ROOT / "docs" / "pictures" / "karate.txt"
TASK = ["mine", "motif", "-k", "4"]
# Random networks, and swaps of two edges' ends for each edge.
SAMPLES, SWAPS = 100, 20
# In pixels: a drawing is reduced to ROW, bars go from LEFT to RIGHT.
WIDTH, TOP, ROW, LEFT, RIGHT = 720, 66, 60, 210, 520
BAR, RANDOM, INK, GREY, PAPER = "#0072b2", "#8c959f", "#1c2128", "#57606a", "#ffffff"


def rewired(edges, draw):
    """A random graph with the same degrees: pairs of edges exchange an end where that leaves the graph simple."""
    edges, there = list(edges), {frozenset(edge) for edge in edges}
    for _ in range(SWAPS * len(edges)):
        one, other = int(draw.random() * len(edges)), int(draw.random() * len(edges))
        (a, b), (c, d) = edges[one], edges[other] if draw.random() < 0.5 else edges[other][::-1]
        new = frozenset((a, d)), frozenset((c, b))
        if len({a, b, c, d}) == 4 and not there & set(new):
            there -= {frozenset((a, b)), frozenset((c, d))}
            there |= set(new)
            edges[one], edges[other] = (a, d), (c, b)
    return edges


def answer(program):
    """The drawings of the page, its rules for a dark screen, the answer as JSON, and mean counts of random networks."""
    with tempfile.TemporaryDirectory() as folder:
        def gramer(*words):
            return subprocess.run([program, *words], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
        gramer(*TASK, str(NETWORK), "--to", "page.html")
        page = (pathlib.Path(folder) / "page.html").read_text("utf-8")
        dark = re.search(r"@media [^{]*prefers-color-scheme:dark\)\{svg\.gramer.*\}\}", page)
        if dark is None:
            sys.exit("picture: the page has no rules for a dark screen that this script knows")
        lines = [line.split() for line in NETWORK.read_text("utf-8").splitlines() if not line.startswith("#")]
        draw, sums = random.Random(1), None
        for _ in range(SAMPLES):
            text = "".join(f"{u} {v}\n" for u, v in rewired(lines, draw))
            (pathlib.Path(folder) / "random.txt").write_text(text)
            counts = [line["count"] for line in json.loads(gramer(*TASK, "random.txt", "--json", "-q"))["results"]]
            sums = [a + b for a, b in zip(sums or [0] * len(counts), counts)]
        found = json.loads(gramer(*TASK, str(NETWORK), "--json"))
        drawings = re.findall(r"<svg .*?</svg>", page, re.DOTALL)
        return drawings, dark.group(), found, [total / SAMPLES for total in sums]


def picture(drawings, dark, found, means):
    """The SVG: a row for each pattern."""
    results = found["results"]
    if len(drawings) != len(results):
        sys.exit(f"picture: the page has {len(drawings)} drawings for {len(results)} patterns")
    most, graph = max(line["count"] for line in results), found["graph"]
    title = f"Groups of four in Zachary's karate club ({graph['vertices']} members, {graph['edges']} friendships)"
    height = TOP + ROW * len(results) + 8
    counts = ", ".join(f'{line["name"]} {line["count"]:,}, at random {mean:.1f}' for line, mean in zip(results, means))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" class="gramer" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
           f'height="{height}" role="img" font-family="system-ui, sans-serif" font-size="14">',
           f"<title>{title}</title>",
           f"<desc>{counts}</desc>",
           f"<style>{dark}</style>",
           f'<g fill="{INK}">',
           f'<rect width="{WIDTH}" height="{height}" rx="8" fill="{PAPER}"/>',
           f'<text x="16" y="28" font-size="15" font-weight="600">{title}</text>',
           f'<rect x="{LEFT}" y="42" width="12" height="12" fill="{BAR}"/><text x="{LEFT + 18}" y="53" font-size="13" '
           f'fill="{GREY}">in the club</text>',
           f'<rect x="{LEFT + 110}" y="42" width="12" height="12" fill="{RANDOM}"/><text x="{LEFT + 128}" y="53" '
           f'font-size="13" fill="{GREY}">mean of {SAMPLES} random networks with the same degrees</text>']
    for at, (drawing, line, mean) in enumerate(zip(drawings, results, means)):
        top = TOP + ROW * at
        middle, (bar, other) = top + ROW // 2, (max(2.0, (RIGHT - LEFT) * n / most) for n in (line["count"], mean))
        placed, changed = re.subn(r'width="96" height="96"', f'x="16" y="{top + 2}" width="{ROW - 4}" height="{ROW - 4}"',
                                  drawing, count=1)
        if not changed:
            sys.exit("picture: a drawing of the page has another size than this script knows")
        out += [placed,
                f'<text x="92" y="{middle + 5}" font-weight="600">{line["name"]}</text>',
                f'<rect x="{LEFT}" y="{middle - 13}" width="{bar:.1f}" height="15" rx="2" fill="{BAR}"/>',
                f'<rect x="{LEFT}" y="{middle + 3}" width="{other:.1f}" height="9" rx="2" fill="{RANDOM}"/>',
                f'<text x="{WIDTH - 126}" y="{middle + 5}" text-anchor="end" font-weight="600">{line["count"]:,}</text>',
                f'<text x="{WIDTH - 16}" y="{middle + 5}" text-anchor="end" fill="{GREY}">'
                f'{line["count"] / mean:.1f} × random</text>']
    return "\n".join([*out, "</g>", "</svg>"]) + "\n"


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    # It is started in another folder.
    program = str(pathlib.Path(sys.argv[1]).absolute())
    target = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else ROOT / "docs" / "pictures" / "karate.svg"
    target.write_text(picture(*answer(program)), "utf-8")


if __name__ == "__main__":
    main()
