"""Devices that need a process of their own: emulated accelerators and cards.

The Xilinx Runtime reads its settings from the environment when a program starts, and an emulated
device is a program beside it. So the command line ``gramer`` does the run, and Python reads its
answer. ``$GRAMER`` names it, or it is on ``$PATH``, beside Python, or where it is installed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ._gramer import DeviceError, InputError, Pattern, UnsupportedError

#: Devices of this process.
OWN = ("cpu", "reference")
#: Where `make install` puts the program unless it is told another place.
INSTALLED = ("/usr/local/bin", "/usr/bin")


def wanted(device: str) -> bool:
    """Whether the program must be asked."""
    return device not in OWN and device != "gpu" and not device.startswith("gpu:")


def run(graph: Any, question: Dict[str, Any], options: Dict[str, Any]) -> List[Tuple[Any, int]]:
    """As ``Graph.run``: patterns with counts."""
    return [(pattern(line["pattern"]), int(line["count"])) for line in answer(graph, question, options)]


def maximal(graph: Any, question: Dict[str, Any], options: Dict[str, Any]) -> Dict[int, int]:
    """The number of maximal cliques of each size."""
    lines = answer(graph, question, options)
    return {line["pattern"]["vertices"]: int(line["count"]) for line in lines if int(line["count"])}


def pattern(found: Dict[str, Any]) -> Pattern:
    """A pattern as results print it."""
    return Pattern.parse(json.dumps(found))


def answer(graph: Any, question: Dict[str, Any], options: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The lines of the program's JSON."""
    program = find()
    if program is None:
        raise DeviceError(
            f"the device {options['device']!r} needs the program gramer: install it with `make install` in its "
            "sources, or name it with $GRAMER"
        )
    with tempfile.TemporaryDirectory(prefix="gramer-") as folder:
        image = os.path.join(folder, "graph.gramer")
        graph.save(image, "graph")
        command = [program, "mine", *arguments(question, folder), image, "--output", "json"]
        command += ["--device", options["device"]]
        if options["threads"]:
            command += ["--threads", str(options["threads"])]
        output = finish(command, options)
    return json.loads(output)["results"]


def find() -> Optional[str]:
    """The program: what $GRAMER names, or on $PATH, beside Python, or where it is installed.

    Outside $PATH, a program that others can write is passed over.
    """
    named = os.environ.get("GRAMER")
    if named:
        return named
    # A relative entry of the path is whatever folder Python was started in.
    path = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]
    found = shutil.which("gramer", path=os.pathsep.join(path))
    if found:
        return found
    folders = [os.path.dirname(sys.executable), os.path.join(sys.prefix, "bin"), *INSTALLED]
    programs = (shutil.which("gramer", path=folder) for folder in folders)
    return next((program for program in programs if program and is_private(program)), None)


def is_private(program: str) -> bool:
    """Whether nobody but this user or root can have put a program in its place."""
    owners = {0, os.geteuid()}
    real = os.path.realpath(program)
    for path in (real, os.path.dirname(real)):
        status = os.stat(path)
        # Many systems give each user a group of the same number, which has no other member.
        group = status.st_mode & 0o020 and status.st_gid != status.st_uid
        if status.st_uid not in owners or status.st_mode & 0o002 or group:
            return False
    return True


def arguments(question: Dict[str, Any], folder: str) -> Iterator[str]:
    """The task, as the command line has it."""
    task = question["task"]
    if task == "maximal-cliques":
        return iter(["clique", "--maximal"])
    given = [task]
    if task == "fsm":
        given += ["--support", str(question["support"]), "--measure", question["measure"]]
        limit = "max_vertices" if question["max_edges"] is None else "max_edges"
        given += ["--" + limit.replace("_", "-"), str(question[limit])]
    elif task == "match":
        path = os.path.join(folder, "pattern.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(described(question["pattern"]), file)
        given += ["--pattern", path, "--induced", question["induced"]]
        given += ["--mappings"] if question["mappings"] else []
    else:
        given += ["-k", str(question["k"])]
        given += ["--induced", question["induced"]] if task == "motif" else []
    return iter(given)


def described(pattern: Pattern) -> Dict[str, Any]:
    """A pattern as files have it."""
    found: Dict[str, Any] = {"vertices": pattern.vertices, "edges": pattern.edges}
    if pattern.labels is not None:
        found["labels"] = pattern.labels
    if pattern.edge_labels is not None:
        found["edge_labels"] = pattern.edge_labels
    return found


def finish(command: List[str], options: Dict[str, Any]) -> str:
    """What the program prints. A signal and the end of the time stop it as Ctrl-C does."""
    begun, limit = time.monotonic(), options["timeout"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while True:
            try:
                output, errors = run.communicate(timeout=0.05)
                break
            except subprocess.TimeoutExpired:
                if limit is not None and time.monotonic() - begun > limit:
                    raise TimeoutError(f"not done after {limit} s") from None
    except BaseException:
        run.send_signal(signal.SIGINT)
        try:
            run.wait(10)
        except subprocess.TimeoutExpired:
            run.kill()
        raise
    if run.returncode == 0:
        return output
    message = errors.strip().rsplit("gramer: ", 1)[-1] or f"gramer ended with {run.returncode}"
    if run.returncode == 2:
        raise ValueError(message)
    if "--device" in message:
        raise UnsupportedError(message)
    raise (InputError if "graph.gramer" in message else DeviceError)(message)
