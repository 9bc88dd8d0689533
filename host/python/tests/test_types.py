"""The type stubs: they say what there is, all of it, and what a program gets from it."""

import os
import pathlib
import subprocess
import sys

import gramer
import pytest

#: A program of a user; mypy checks each `assert_type`.
PROGRAM = """
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple
import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type
import gramer

g = gramer.Graph.from_edges(np.array([[0, 1], [1, 2]]), labels=[1, 2, 3])
assert_type(gramer.read("graph.txt"), gramer.Graph)
assert_type(g.cliques(3), int)
assert_type(g.cliques(3, per="vertex"), NDArray[Any])
assert_type(g.cliques(3, per="edge"), Tuple[NDArray[Any], NDArray[Any]])
assert_type(g.maximal_cliques(), Mapping[int, int])
assert_type(g.motifs(3), gramer.Counts)
assert_type(g.motifs(3, induced=False)[0].count, int)
assert_type(g.motifs(3, per="vertex"), List[gramer.CountPer])
assert_type(g.motifs(3, per="edge")[1][0].pattern, gramer.Pattern)
assert_type(g.frequent(2, measure="mni"), gramer.Counts)
assert_type(g.match([(0, 1), (1, 2)], mappings=True), int)
assert_type(g.embeddings("house", limit=3), Iterator[Tuple[Any, ...]])
assert_type(g.orbits(4), gramer.Orbits)
assert_type(g.orbits(3, per="edge")[1].names, List[str])
assert_type(gramer.Pattern("a-b, b-c, a!-c").absent, List[Tuple[int, int]])
assert_type(g.onion_layers(), NDArray[Any])
assert_type(g.statistic("core"), Dict[str, int])
assert_type(g.statistic("truss", per="edge"), Tuple[NDArray[Any], NDArray[Any]])
assert_type(g.labels, Optional[NDArray[np.uint32]])
assert_type(gramer.Pattern.read("house").edges, List[Tuple[int, int]])
"""
#: What must be refused, a line each.
WRONG = [
    'g.cliques("3")',
    'g.cliques(3, per="face")',
    "g.cliques(3, true)",
    'g.frequent(2, measure="mean")',
    "g.edges = 3",
    "g.match(3)",
    'g.motifs(3)[0].count + "x"',
    "class Own(gramer.Pattern): pass",
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """What mypy has understood of NumPy, which takes it longest."""
    return tmp_path_factory.mktemp("mypy")


def mypy(*words, folder, cache):
    """Runs mypy, or what comes with it, in a folder."""
    package = str(pathlib.Path(gramer.__file__).resolve().parent.parent)
    env = dict(os.environ, PYTHONPATH=package, MYPYPATH=package, MYPY_CACHE_DIR=str(cache))
    return subprocess.run([sys.executable, "-m", *words], cwd=folder, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)


def test_the_stubs_are_what_the_package_has(tmp_path, cache):
    # Modules without a stub are their own.
    allowed = tmp_path / "allowed"
    allowed.write_text("gramer\\._(answers|convert|numbers|questions|sources)\\..*\n")
    done = mypy("mypy.stubtest", "gramer", "--allowlist", str(allowed), "--ignore-unused-allowlist", folder=tmp_path, cache=cache)
    assert done.returncode == 0, done.stdout
    assert "no issues found" in done.stdout


def test_a_program_gets_the_types_that_the_stubs_say(tmp_path, cache):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = mypy("mypy", "--strict", "program.py", folder=tmp_path, cache=cache)
    assert done.returncode == 0, done.stdout
    (tmp_path / "wrong.py").write_text("\n".join(["import gramer", "g = gramer.read('x')", *WRONG]) + "\n")
    done = mypy("mypy", "--strict", "wrong.py", folder=tmp_path, cache=cache)
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert lines == set(range(3, 3 + len(WRONG))), done.stdout


def test_all_that_is_public_has_a_docstring_and_an_example():
    missing = []
    for name in gramer.__all__:
        thing = getattr(gramer, name)
        if not (thing.__doc__ or "").strip():
            missing.append(name)
        if name in ("Graph", "Pattern"):
            for member, value in vars(thing).items():
                if not member.startswith("_") and not (getattr(value, "__doc__", None) or "").strip():
                    missing.append(f"{name}.{member}")
    assert missing == []
    examples = [gramer.read, *(value for name, value in vars(gramer.Graph).items() if name.startswith("from_"))]
    tasks = ["cliques", "maximal_cliques", "motifs", "frequent", "match", "embeddings", "clique_embeddings",
             "maximal_clique_embeddings"]
    examples += [getattr(gramer.Graph, name) for name in tasks]
    assert [e for e in examples if ">>>" not in e.__doc__] == []


def test_the_stub_has_every_method_of_a_graph():
    stub = (pathlib.Path(gramer.__file__).resolve().parent / "__init__.pyi").read_text()
    members = [name for name in dir(gramer.Graph) if not name.startswith("_")]
    assert "onion_layers" in members
    assert [name for name in members if f"def {name}(" not in stub] == []
