"""Checks by rule, and the files that are broken on purpose."""

import sys
from pathlib import Path

import eda

ROOT = eda.ROOT
VITIS = ROOT / "scripts" / "vitis"


class Checks:
    """Checks and refused variants by rule."""

    def __init__(self):
        lines = (VITIS / "rules.tsv").read_text().splitlines()
        rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
        self.rules = {row[0]: row[1:] for row in rows}
        self.checks = {name: 0 for name in self.rules}
        self.refused = {name: 0 for name in self.rules}
        self.faults = []

    def note(self, rule: str, where: str, found: list):
        """Faults that a check of a rule found, if any."""
        self.checks[rule] += 1
        self.faults += [f"{where}: {text} ({rule})" for text in found]

    def refuse(self, rule: str, what: str, found):
        """A check that cannot fail shows nothing: this was broken on purpose."""
        self.refused[rule] += 1
        if not found:
            self.faults.append(f"the check of {rule} itself: {what} was not noticed")

    def end(self, rest: str) -> int:
        for name in self.rules:
            if not self.checks[name] or not self.refused[name]:
                self.faults.append(f"rule {name} has {self.checks[name]} checks, and "
                                   f"{self.refused[name]} broken variants are refused")
        width = max(map(len, self.rules))
        print(f"{'rule':<{width}}  checks  refused  source")
        for name, row in self.rules.items():
            print(f"{name:<{width}}  {self.checks[name]:>6}  {self.refused[name]:>7}  {row[1]}")
        for fault in self.faults:
            print(f"error: {fault}", file=sys.stderr)
        print(f"vitis-check: {len(self.rules)} rules, {sum(self.checks.values())} checks, "
              f"{sum(self.refused.values())} broken variants refused, {len(self.faults)} faults; {rest}")
        return 1 if self.faults else 0


def changed(path: Path, work: Path, old: str, new: str) -> Path:
    """A copy of a file with a change, which must be one."""
    text = path.read_text()
    if old not in text:
        eda.fail(f"{path.name} has no {old!r} to break")
    copy = work / f"broken-{len(list(work.iterdir()))}{path.suffix}"
    copy.write_text(text.replace(old, new))
    copy.chmod(path.stat().st_mode)
    return copy
