"""Proofs of a commit: all if their sources changed since all passed, else the short ones, one a processor at a time.

Usage: scripts/hardware.py formal-changed. Each proof is a process of `scripts/hardware.py formal NAME`, whose rows appear
when it ends. Exit code 1 if one fails. Writes nothing in docs/results: `make formal` does. It stands apart from
hardware/formal.py because a change there repeats all proofs.
"""

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from hardware.formal import RECORD, ROOT, SHORT, recorded, state
from hardware.proofs import PROOFS


def prove(name: str) -> tuple[int, list[str], str]:
    """Runs a proof; returns its exit code, its rows without the head of the table, and its errors."""
    command = [sys.executable, "-B", str(ROOT / "scripts/hardware.py"), "formal", name]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    rows = [line for line in done.stdout.splitlines() if not line.startswith("proof ")]
    return done.returncode, rows, done.stderr


def main() -> int:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    same = recorded() == state()
    names = [name for name in PROOFS if name in SHORT or not same]
    print(f"formal: {'as' if same else 'not as'} all proofs last passed ({RECORD.relative_to(ROOT)}): "
          + ", ".join(names), flush=True)
    print(f"{'proof':<17}{'mode':<8}{'depth':>5}  {'result':<8}{'CPU s':>7}  broken variants", flush=True)
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for code, rows, errors in pool.map(prove, names):
            print("\n".join(rows), flush=True)
            print(errors, end="", file=sys.stderr, flush=True)
            failed += code != 0
    return 1 if failed else 0
