"""Memory that the system refuses: every call ends in its answer or in an exception, and never in the end of Python."""

import os
import subprocess
import sys

import numpy
import pytest

#: One array of all vertices or edges exceeds the reserve for small allocations.
VERTICES, EDGES = 3_000_000, 5_000_000
#: Memory limits above the current use, in mebibytes. Each limit starts one process per call and takes seconds.
LEFT = [70, 110, 160, 240, 2000] if os.environ.get("GRAMER_LONG") == "1" else [70, 160, 2000]

CODE = """
import resource, sys, numpy, gramer
call, kind, more, folder = sys.argv[1:]
edges = numpy.load(folder + "/edges.npy")
graph = gramer.read(folder + "/graph.gramer", threads=1)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
used = int(status["VmSize" if kind == "AS" else "VmData"].split()[0]) << 10
limit = getattr(resource, "RLIMIT_" + kind)
resource.setrlimit(limit, (used + (int(more) << 20),) * 2)
try:
    if call == "from_edges":
        print("done", gramer.Graph.from_edges(edges, threads=2).edges)
    elif call == "rank":
        print("done", graph.cliques(3, threads=2))
    else:
        found = graph.cliques(3, per=call, threads=2)
        print("done", int((found if call == "vertex" else found[1]).sum()))
except (MemoryError, RuntimeError) as error:
    print(type(error).__name__, error)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import gramer

    folder = tmp_path_factory.mktemp("memory")
    random = numpy.random.default_rng(1)
    edges = random.integers(0, VERTICES, size=(EDGES, 2), dtype=numpy.uint64)
    numpy.save(folder / "edges.npy", edges)
    gramer.Graph.from_edges(edges, vertices=VERTICES).save(folder / "graph.gramer")
    return folder


@pytest.mark.parametrize("kind", ["AS", "DATA"])
@pytest.mark.parametrize("call", ["from_edges", "rank", "vertex", "edge"])
def test_arrays_that_are_refused_are_errors(folder, call, kind):
    said = []
    for megabytes in LEFT:
        words = [sys.executable, "-c", CODE, call, kind, str(megabytes), str(folder)]
        run = subprocess.run(words, capture_output=True, text=True)
        assert run.returncode == 0, (megabytes, run.returncode, run.stderr)
        said.append(run.stdout)
        if run.stdout.startswith("RuntimeError"):
            assert "refused a thread" in run.stdout, run.stdout
        elif run.stdout.startswith("MemoryError"):
            assert "not enough memory: " in run.stdout or "Unable to allocate" in run.stdout, run.stdout
    assert any(text.startswith("MemoryError") for text in said), said
    assert said[-1].startswith("done"), said
