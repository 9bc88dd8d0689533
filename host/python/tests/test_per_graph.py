"""Counts of each graph of a file of several."""

import random
import warnings

import gramer
import networkx
import numpy as np
import pytest


@pytest.fixture(params=range(3))
def several(request, tmp_path):
    """Graphs with labels, and what gramer reads of a file with all of them."""
    choose = random.Random(request.param)
    graphs = [networkx.gnp_random_graph(choose.randint(1, 9), 0.5, seed=choose.randrange(1 << 30)) for _ in range(7)]
    lines = []
    for number, graph in enumerate(graphs):
        networkx.set_node_attributes(graph, {v: choose.choice("CNO") for v in graph}, "label")
        lines.append(f"t # {number}")
        lines += [f"v {v} {label}" for v, label in graph.nodes.data("label")]
        lines += [f"e {u} {v} 1" for u, v in graph.edges]
    path = tmp_path / "several.data"
    path.write_text("\n".join([*lines, "t # -1", ""]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gramer.ReadWarning)
        return graphs, gramer.read(path)


def test_cliques(several):
    graphs, read = several
    triangles = [sum(networkx.triangles(graph).values()) // 3 for graph in graphs]
    found = read.cliques(3, per="graph")
    assert found.dtype == np.uint64 and found.tolist() == triangles
    assert found.sum() == read.cliques(3)


@pytest.mark.parametrize("induced", [True, False])
def test_motifs(several, induced):
    graphs, read = several
    alone = [gramer.Graph.from_edges(list(graph.edges), vertices=len(graph)) for graph in graphs]
    found = read.motifs(4, induced=induced, per="graph")
    assert len(found) == 6
    for at, graph in enumerate(alone):
        expected = {line.pattern: line.count for line in graph.motifs(4, induced=induced)}
        assert {line.pattern: line.count[at] for line in found} == expected


def test_matches_with_labels(several):
    graphs, read = several
    labels = [networkx.get_node_attributes(graph, "label") for graph in graphs]
    pairs = [
        sum({label[u], label[v]} == {"C", "N"} for u, v in graph.edges) for graph, label in zip(graphs, labels)
    ]
    assert read.match("a:C-b:N", per="graph").tolist() == pairs
    assert read.match("edge", mappings=True, per="graph").tolist() == [2 * len(graph.edges) for graph in graphs]


def test_refusals(several):
    _, read = several
    with pytest.raises(ValueError, match='per is \'graphs\', but must be "vertex", "edge" or "graph"'):
        read.cliques(3, per="graphs")
    with pytest.raises(ValueError, match='per is \'vertex\', but must be "graph"'):
        read.match("edge", per="vertex")
    with pytest.raises((ValueError, gramer.UnsupportedError)):
        read.cliques(3, per="graph", device="reference")
    plain = gramer.Graph.from_edges([(0, 1)])
    with pytest.raises(ValueError, match="the pattern asks for the label `C`, but the graph has no vertex labels"):
        plain.match("a:C-b", per="graph")
