"""What graphs are made of, and what is said of it: warnings, exact ids, clear refusals."""

import warnings

import gramer
import igraph
import networkx
import numpy as np
import pandas
import pytest
import scipy.sparse


def said(make):
    """What a call warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make()
    assert all(warning.category is gramer.ReadWarning for warning in caught)
    assert all(warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


def test_notes_of_the_reader_are_warnings(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("index,source,target\n0,1,2\n1,2,3\n2,1,3\n")
    notes = said(lambda: gramer.read(path))
    assert len(notes) == 3 and notes[2] == f"{path}: column 1 of the edge list is ignored"
    path.write_text("1 2\n2 3\n")
    assert said(lambda: gramer.read(path)) == []


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 2**63), (2**63, 5), (0, 5)],
        [(0, 2**64 - 1), (2**64 - 1, 5), (5, 0)],
        np.array([[0, 2**64 - 1], [2**64 - 1, 5], [5, 0]], dtype=np.uint64),
        np.array([[0, 2**63], [2**63, 5], [5, 0]], dtype=object),
        ((u, v) for u, v in [(0, 2**63), (2**63, 5), (0, 5)]),
        [[np.uint64(2**63), 1], [1, 2], [2, np.uint64(2**63)]],
    ],
)
def test_ids_of_64_bits_stay_exact(edges):
    graph = gramer.Graph.from_edges(edges)
    assert graph.cliques(3) == 1
    assert int(graph.ids.max()) in (2**63, 2**64 - 1)


@pytest.mark.parametrize(
    ("edges", "kind", "message"),
    [
        ([("alice", None)], ValueError, "edges holds the pair ('alice', None), and None is not a name of a vertex"),
        ([("alice", float("nan"))], ValueError, "edges holds the pair ('alice', nan), and nan is not a name"),
        ([("alice", ["b"])], TypeError, "edges holds ['b'], but names of vertices must be hashable"),
        (pandas.DataFrame({"a": [1], "b": [2]}), TypeError, "edges is a DataFrame: use Graph.from_pandas"),
        ([(0, 2**64)], ValueError, "edges holds 18446744073709551616, but must hold integers from 0 to"),
        ([(0, -1)], ValueError, "edges holds -1, but must hold integers from 0 on"),
        ([(2**63, -1)], ValueError, "edges holds -1, but must hold integers from 0 to"),
        ([(0, 1.5)], ValueError, "edges holds"),
        ([(0, None)], ValueError, "edges holds None, but must hold integers"),
        ([(0, 1), (1, 2, 3)], ValueError, "edges has the shape"),
        ([0, 1, 2], ValueError, "edges has the shape"),
        (7, TypeError, "edges is a int, but must be an array or a list"),
        ("0 1", TypeError, "edges is a str, but must be an array or a list"),
        (networkx.path_graph(3), TypeError, "edges is a Graph: use Graph.from_networkx"),
        (igraph.Graph.Full(3), TypeError, "edges is a Graph: use Graph.from_igraph"),
    ],
)
def test_what_is_no_list_of_edges_is_refused(edges, kind, message):
    with pytest.raises(kind) as error:
        gramer.Graph.from_edges(edges)
    assert str(error.value).startswith(message)


def test_other_arguments_are_refused_by_name():
    for make, kind, message in [
        (lambda: gramer.Graph.from_edges([(0, 1)], labels=["a", 1]), ValueError, "labels holds the name 'a'"),
        (lambda: gramer.Graph.from_edges([(0, 1)], vertices=-1), ValueError, "vertices is -1, but must be"),
        (lambda: gramer.Graph.from_networkx([(0, 1)]), TypeError, "a graph of NetworkX is needed, not a list"),
        (lambda: gramer.Graph.from_igraph(networkx.Graph()), TypeError, "a graph of igraph is needed"),
        (lambda: gramer.Graph.from_scipy([[0, 1]]), TypeError, "a sparse matrix of SciPy is needed"),
        (lambda: gramer.Graph.from_igraph(igraph.Graph.Full(3), label="x"), ValueError, "the vertices have no"),
    ]:
        with pytest.raises(kind) as error:
            make()
        assert str(error.value).startswith(message)


def test_a_graph_of_networkx_is_a_pattern():
    graph = gramer.Graph.from_networkx(networkx.karate_club_graph())
    assert graph.match(networkx.cycle_graph(3)) == 45
    assert graph.match(networkx.Graph([("a", "b"), ("b", "c"), ("c", "a")])) == 45
    assert graph.match(networkx.cycle_graph(4)) == graph.match("4-cycle")
    assert next(graph.embeddings(networkx.path_graph(2), limit=1))
    for pattern, kind, message in [
        (networkx.DiGraph([(0, 1)]), TypeError, "the pattern is a directed graph"),
        (networkx.Graph(), ValueError, "the pattern is empty"),
        ("5-wheal", ValueError, "5-wheal: there is no such file, and no pattern has this name; did you mean"),
        (5, TypeError, "a pattern is a Pattern, a name, a line of text, a graph of NetworkX, or pairs"),
        ([0, 1], TypeError, "a pattern is a Pattern"),
        ([("a", "b")], TypeError, "a pattern is a Pattern"),
        ([(0, -1)], ValueError, "a pattern is a Pattern"),
    ]:
        with pytest.raises(kind) as error:
            graph.match(pattern)
        assert str(error.value).startswith(message)


def test_dropped_directions_and_parallel_edges_are_warnings():
    directed = "the graph is directed: direction is dropped, and opposite or parallel edges are one"
    one_way, both = [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 0)]
    for graph, expected in [
        (networkx.Graph(one_way), []),
        (networkx.DiGraph(one_way), [directed]),
        (networkx.DiGraph(both), []),
        (networkx.MultiDiGraph(one_way + one_way[:1]), [directed]),
        (networkx.MultiGraph(one_way + both), ["the graph has parallel edges: 2 of them are dropped"]),
        (networkx.MultiGraph(one_way), []),
    ]:
        assert said(lambda: gramer.Graph.from_networkx(graph)) == expected
    assert said(lambda: gramer.Graph.from_igraph(igraph.Graph(3, one_way, directed=True))) == [directed]
    assert said(lambda: gramer.Graph.from_igraph(igraph.Graph(3, one_way + both))) != []
    assert said(lambda: gramer.Graph.from_igraph(igraph.Graph.Full(3))) == []
