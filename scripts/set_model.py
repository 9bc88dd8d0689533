#!/usr/bin/env python3
"""The set core's reference model for 3-cliques: image, in-stream and cycles from a list of edges.

usage: scripts/set_model.py FILE [--image-out FILE] [--in-stream-out FILE]      FILE has two vertex numbers a line

Written from docs/reference/set-core.md alone, independently of the host's code, so that readers of that page can check a
decoder or a prediction against it. Prints lines of the image, units, lines and steps, and the predicted cycles of a
resident run on machine `set` (two clusters of eight PUs). tests/test_set_model.py compares it with simulated runs.
--image-out writes the image, --in-stream-out the in-stream of each cluster (FILE.0, FILE.1), as `gramer-lab simulate` does;
host/laboratory/tests/set_image.rs compares them.
"""

import argparse
import pathlib
import struct

import set_timing
from set_timing import LENGTHS, LOAD, MARKER, MEMBER, PUS

PADDING = 0xFFFFFFFF
CLUSTERS, WINDOW = 2, 8


def read(text):
    """The edges of a file: two numbers a line, with blanks, tabs or commas between."""
    return [tuple(map(int, line.replace(",", " ").split()[:2])) for line in text.splitlines() if line[:1].isdigit()]


def ranked(edges):
    """The sorted neighbours of each vertex, by rank: Rank(ON_1), ties by number."""
    adjacent = {}
    for u, v in edges:
        if u != v:
            adjacent.setdefault(u, set()).add(v)
            adjacent.setdefault(v, set()).add(u)
    worth = {v: len(near) * sum(len(adjacent[u]) for u in near) for v, near in adjacent.items()}
    order = sorted(adjacent, key=lambda v: (-worth[v], v))
    rank = {v: at for at, v in enumerate(order)}
    return [sorted(rank[u] for u in adjacent[v]) for v in order]


def signature_bit(rank):
    """The bit of 128 that stands for a vertex."""
    return 1 << ((rank * 0x9E3779B9 & 0xFFFFFFFF) >> 25)


def lines_of(address, quarters):
    """Lines touched by this many quarter-lines from an address."""
    return (address % 4 + quarters + 3) // 4 if quarters else 0


class Image:
    """The image for cliques of a graph given as rows of neighbours."""

    def __init__(self, rows):
        self.up = [[u for u in row if u < v] for v, row in enumerate(rows)]
        self.address, at = [], 0
        for up in self.up:
            quarters = (len(up) + 3) // 4
            begin = at if at % 4 + quarters <= 4 else (at + 3) // 4 * 4
            if quarters >= 63:
                begin = (at + 4) // 4 * 4
            self.address.append(begin)
            at = begin + max(quarters, 1)
        self.lines = (at + 3) // 4
        signatures = [sum({signature_bit(u): 1 for u in up}) for up in self.up]
        self.sizes = [self._sizes(up, signatures) for up in self.up]

    def _sizes(self, up, signatures):
        """The quarter-lines to read of each member of a list."""
        sizes, seen, last = [], 0, 0
        for u in up:
            own = self.up[u]
            quarters = (len(own) + 3) // 4
            lines = whole = (quarters + 3) // 4
            while lines > 1 and own[16 * (lines - 1)] > last:
                lines -= 1
            cut = quarters if lines == whole else 4 * lines
            sizes.append(cut if seen & signatures[u] else 0)
            seen, last = seen | signature_bit(u), u
        return sizes

    def words(self):
        """The image as 32-bit words."""
        words = [PADDING] * (16 * self.lines)
        for up, address, sizes in zip(self.up, self.address, self.sizes):
            quarters = (len(up) + 3) // 4
            if quarters >= 63:
                words[4 * (address - 1)], words[4 * (address - 1) + 1] = quarters, quarters
            for at, (u, size) in enumerate(zip(up, sizes)):
                words[4 * address + at] = self.address[u] | min(size, 63) << 26
        return words

    def units(self):
        """The roots with at least one member to read, each with what it costs."""
        units = []
        for v, (up, sizes) in enumerate(zip(self.up, self.sizes)):
            read = [lines_of(self.address[u], size) for u, size in zip(up, sizes)]
            if any(read):
                asked = sum(read) + (len(up) + 15) // 16
                work = sum(lines + at // 16 for at, lines in enumerate(read) if lines) + asked
                units.append({"address": self.address[v], "quarters": (len(up) + 3) // 4, "work": work, "root": v,
                              "lines": asked, "lengths": sum(size >= 63 for size in sizes),
                              "steps": sum(self._pairs(up, up[at], size, at)[1] for at, size in enumerate(sizes))})
        return units

    def _pairs(self, up, member, size, position):
        """First window, and pairs of lines in each window up to the last, of each line of a member's list; all pairs."""
        held, lines, steps = [up[at:at + 16] for at in range(0, len(up), 16)], [], 0
        entries, room = self.up[member][:4 * size], 4 * (4 - self.address[member] % 4)
        ends = [one[-1] for one in held[WINDOW - 1::WINDOW]][:position // (16 * WINDOW)]
        while entries:
            line, entries, room = entries[:room], entries[room:], 16
            first, final = (sum(end < entry for end in ends) for entry in (line[0], line[-1]))
            pairs = [sum(one[0] <= line[-1] and line[0] <= one[-1] for one in held[WINDOW * at:WINDOW * (at + 1)])
                     for at in range(final + 1)]
            lines.append((first, pairs))
            steps += sum(pairs)
        return lines, steps

    def lines_of(self, root):
        """The lines of a root's list as scripts/set_timing.py takes them; the last one brings those of its members."""
        up, sizes, visits = self.up[root], self.sizes[root], []
        for begin in range(0, len(up), 16):
            visits.append([])
            for at in range(begin, min(begin + 16, len(up))):
                if not sizes[at]:
                    continue
                number, lines = self.address[up[at]] // 4, []
                if sizes[at] >= 63:
                    lines.append((number - 1, LENGTHS, None))
                for line, (first, pairs) in enumerate(self._pairs(up, up[at], sizes[at], at)[0]):
                    lines.append((number + line, MEMBER, (first, [max(1, some) for some in pairs], False)))
                visits[-1].append(lines)
        if not visits[-1]:
            visits[-1].append([(MARKER, MEMBER, (0, [1], True))])
        number, kind, (first, windows, _) = visits[-1][-1][-1]
        visits[-1][-1][-1] = number, kind, (first, windows, True)
        first, last = self.address[root] // 4, len(visits) - 1
        return [(first + at, LOAD, visits if at == last else ()) for at in range(len(visits))]


def decode(words, units):
    """The edges of the lists that units read and of those that they lead to, as pairs of ids."""
    edges, known, open_lists = set(), set(), [(unit["address"], unit["quarters"]) for unit in units]
    while open_lists:
        address, quarters = open_lists.pop()
        if (address, quarters) in known:
            continue
        known.add((address, quarters))
        for word in words[4 * address:4 * (address + quarters)]:
            if word == PADDING:
                break
            member, size = word & (1 << 26) - 1, word >> 26
            edges.add((member, address))
            open_lists.append((member, words[4 * (member - 1)] if size == 63 else size))
    return edges


def in_stream(halves, k=3):
    """The in-stream of a cluster: the header, and a beat for each two halves."""
    beats = struct.pack("<16I", 1 | k << 4, *[0] * 15)
    for half in halves:
        places = [u["address"] | u["quarters"] << 26 | 4095 << 52 for u in half]
        beats += struct.pack("<4Q", *places, *[0] * (4 - len(places)))
    return beats + bytes(-len(beats) % 64 if len(beats) > 64 else 64)


def dealt(units):
    """The units of each cluster: heaviest first, there and back."""
    own = [[] for _ in range(CLUSTERS)]
    for at, unit in enumerate(sorted(units, key=lambda u: (-u["work"], u["address"]))):
        place = at % (2 * CLUSTERS)
        own[min(place, 2 * CLUSTERS - 1 - place)].append(unit)
    return own


def mixed(units):
    """Units of a cluster in the order in which they are sent."""
    whole = sum(u["work"] for u in units)
    first = [u for u in units if u["work"] > whole / PUS / 64]
    rest, ends, left = units[len(first):], [], whole / 100
    while rest and left >= rest[-1]["work"]:
        left -= rest[-1]["work"]
        ends.insert(0, rest.pop())
    work, lines, ahead = sum(u["work"] for u in rest), sum(u["lines"] for u in rest), 0

    def excess(unit):
        return unit["work"] * lines - unit["lines"] * work
    heavy, light = [u for u in rest if excess(u) > 0], [u for u in rest if excess(u) <= 0]
    while heavy or light:
        one, other = (light, heavy) if ahead > 0 else (heavy, light)
        first.append((one or other).pop(0))
        ahead += excess(first[-1])
    return first + ends


def halves_of(units):
    """Units in halves of beats, each for one PU."""
    halves = []
    while units:
        block = units[:4 * PUS]
        if any(u["work"] > 64 for u in block):
            end = 1
            while end < min(4, len(units)) and units[end]["work"] <= 64:
                end += 1
            halves.append(units[:end])
            units = units[end:]
            continue
        width, begin = min(len(block), PUS), len(halves)
        halves += [[] for _ in range(width)]
        for at, unit in enumerate(block):
            row, place = divmod(at, width)
            halves[begin + (place if row % 2 == 0 else width - 1 - place)].append(unit)
        units = units[len(block):]
    return [sorted(half, key=lambda u: -u["work"]) for half in halves]


def cycles_of(image, units):
    """Predicted cycles of a cluster with these units."""
    return set_timing.cycles_of([[image.lines_of(unit["root"]) for unit in half] for half in halves_of(mixed(units))])


def predicted(edges):
    """Image, units, and the cycles of the cluster that takes longest."""
    image = Image(ranked(edges))
    units = image.units()
    return image, units, max(cycles_of(image, own) for own in dealt(units))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--image-out", metavar="FILE")
    parser.add_argument("--in-stream-out", metavar="FILE")
    options = parser.parse_args()
    image, units, cycles = predicted(read(pathlib.Path(options.file).read_text(encoding="utf-8")))
    if options.image_out:
        words = image.words()
        pathlib.Path(options.image_out).write_bytes(struct.pack(f"<{len(words)}I", *words))
    if options.in_stream_out:
        for at, own in enumerate(dealt(units)):
            pathlib.Path(f"{options.in_stream_out}.{at}").write_bytes(in_stream(halves_of(mixed(own))))
    asked = sum(unit["lines"] + unit["lengths"] for unit in units)
    print(f"{image.lines} lines, {len(units)} units, {asked} lines asked for, "
          f"{sum(unit['steps'] for unit in units)} steps, {cycles} cycles")


if __name__ == "__main__":
    main()
