#!/usr/bin/env python3
"""Functions compiled for features of a processor, and the detection of these features, name the same ones.

A function with `#[target_feature(enable = "…")]` that is called on a processor without one of the features is
undefined behaviour. Each set of features must be part of one that the same file detects, or the file that chooses
the module.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENABLED = re.compile(r'target_feature\(\s*enable = "([^"]+)"')
# A macro makes functions for the features that it is given.
GIVEN = re.compile(r'blockwise!\(\s*"([^"]+)"')
DETECTED = re.compile(r'(?:has|is_x86_feature_detected|is_aarch64_feature_detected)!\("([a-z0-9]+)"\)')
# Modules that another file chooses.
CHOSEN_IN = {
    "host/cpu/src/sets/avx2.rs": "host/cpu/src/sets/mod.rs",
    "host/cpu/src/sets/avx512.rs": "host/cpu/src/sets/mod.rs",
    "host/cpu/src/sets/bitmap.rs": "host/cpu/src/sets/mod.rs",
    "host/cpu/src/sets/neon.rs": "host/cpu/src/sets/mod.rs",
}


def detected(text):
    """The sets of features of one condition each: of lines that follow each other."""
    groups, last = [], None
    for number, line in enumerate(text.splitlines()):
        found = set(DETECTED.findall(line))
        if not found:
            continue
        joined = last == number - 1 and not re.match(r"\s*(\}? ?else )?if ", line)
        if joined:
            groups[-1] |= found
        else:
            groups.append(found)
        last = number
    return groups


def faults(name, text, detection):
    """What is compiled for features that are not detected together."""
    groups = detected(detection)
    for features in ENABLED.findall(text) + GIVEN.findall(text):
        wanted = set(features.split(","))
        if not any(wanted <= group for group in groups):
            yield f"{name}: compiled for {features}, which no condition detects together"


def main():
    """Checks all sources."""
    bad, sites = [], 0
    for path in sorted([*ROOT.glob("host/*/src/**/*.rs"), *ROOT.glob("sim/**/*.rs")]):
        name, text = str(path.relative_to(ROOT)), path.read_text()
        sites += len(ENABLED.findall(text))
        detection = ROOT / CHOSEN_IN.get(name, name)
        bad += faults(name, text, detection.read_text())
    # The check itself: a feature that is not detected is found.
    example = '#[target_feature(enable = "avx2,bmi1")]\nif has!("avx2") && has!("popcnt") {'
    assert list(faults("example", example, example)), "a missing feature is not found"
    assert sites > 30, f"only {sites} functions are found"
    print("\n".join(bad) or f"{sites} functions are compiled for features that are detected")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
