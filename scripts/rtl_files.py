#!/usr/bin/env python3
"""The file lists of Bender.yml.

  rtl_files.py paper|set   the files of a core in the order in which they are read, without the machine's package
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ROOT / "Bender.yml"
CORES = ("paper", "set")


def groups() -> list[tuple[str, list[str]]]:
    """Target and files of each group. The manifest uses no more of YAML than this reads."""
    found: list[tuple[str, list[str]]] = []
    lines = [line.split("#")[0].rstrip() for line in MANIFEST.read_text().splitlines()]
    for line in lines[lines.index("sources:") + 1:]:
        if group := re.fullmatch(r"  - (?:target: (.+)|files:)", line):
            found.append((group[1] or "", []))
        elif file := re.fullmatch(r"      - (\S+)", line):
            found[-1][1].append(file[1])
        elif line not in ("", "    files:"):
            sys.exit(f"error: {MANIFEST.name}: {line!r} is neither a target nor a file")
    return found


def machine(core: str) -> str:
    """The package of the machine that a core has by default."""
    target = f"all(gramer_{core}, not(gramer_machine))"
    (file,) = [file for of, files in groups() if of == target for file in files]
    return file


def files(core: str) -> list[str]:
    """The files of a core, from the root, without the package of a machine."""
    return [file for of, listed in groups() if of in ("", f"gramer_{core}") for file in listed]


def every() -> list[str]:
    """The files of both cores, each once, without the packages of machines."""
    return list(dict.fromkeys(file for core in CORES for file in files(core)))


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] not in CORES:
        print(__doc__, file=sys.stderr)
        return 2
    print("\n".join(files(sys.argv[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
