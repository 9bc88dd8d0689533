"""Names in and out, patterns in one line, tables of pandas, and orbits."""

import itertools
import warnings

import gramer
import igraph
import networkx
import numpy as np
import pandas
import pytest
import scipy.sparse

FRIENDS = [("ann", "bob"), ("bob", "eve"), ("eve", "ann"), ("eve", "zoe")]


@pytest.mark.parametrize(
    "edges",
    [
        FRIENDS,
        np.array(FRIENDS),
        np.array(FRIENDS, dtype=object),
        [list(pair) for pair in FRIENDS],
        [((u, 1), (v, 2)) for u, v in FRIENDS[:3]] + [((v, 2), (u, 1)) for u, v in FRIENDS[:3]],
        list(networkx.grid_2d_graph(2, 2).edges),
        [("ann", 1), (1, ("x", 2)), (("x", 2), "ann")],
    ],
)
def test_edges_between_names(edges):
    graph = gramer.Graph.from_edges(edges)
    expected = networkx.Graph(list(map(tuple, np.asarray(edges).tolist() if isinstance(edges, np.ndarray) else edges)))
    assert set(graph.nodes) == set(expected.nodes) and graph.edges == expected.number_of_edges()
    assert graph.cliques(3) == sum(networkx.triangles(expected).values()) // 3
    listed = {frozenset(pair) for pair in graph.embeddings("edge")}
    assert listed == {frozenset(pair) for pair in expected.edges}


def test_labels_are_texts():
    kinds = {"ann": "Kinase", "bob": "TF", "eve": "Kinase", "zoe": "TF"}
    graph = gramer.Graph.from_edges(FRIENDS, labels=kinds, edge_labels=["binds", "inhibits", "binds", "binds"])
    assert (graph.label_names, graph.edge_label_names) == (["Kinase", "TF"], ["binds", "inhibits"])
    assert graph.match("a:Kinase-b:TF") == 3
    assert graph.match("a:Kinase-[binds]-b:TF") == 2
    assert graph.match('a:"Kinase"-b:*') == 4
    with pytest.raises(ValueError, match="the graph has no vertex label `Kinas`"):
        graph.match("a:Kinas-b")
    with pytest.raises(ValueError, match="vertex labels of the graph are numbers"):
        gramer.Graph.from_edges([(0, 1)], labels=[3, 4]).match("a:Kinase-b")
    with pytest.raises(ValueError, match="labels has none of the vertex 'zoe'"):
        gramer.Graph.from_edges(FRIENDS, labels={"ann": 1, "bob": 1, "eve": 1})
    with pytest.raises(TypeError, match="must be a mapping from names of vertices"):
        gramer.Graph.from_edges(FRIENDS, labels=[1, 2, 3, 4])
    with pytest.raises(ValueError, match="vertices declares ids, but the edges have names"):
        gramer.Graph.from_edges(FRIENDS, vertices=9)
    numbered = gramer.Graph.from_edges([(0, 1), (1, 2)], labels=["x", "y", "x"])
    assert numbered.match("a:x-b:y-c:x") == 1


def test_tables_of_pandas():
    table = pandas.DataFrame(FRIENDS, columns=["From", "To"])
    graph = gramer.Graph.from_pandas(table)
    assert graph.nodes == ["ann", "bob", "eve", "zoe"] and graph.cliques(3) == 1
    table["kind"] = ["x", "y", "x", "x"]
    assert gramer.Graph.from_pandas(table, edge_label="kind").match("a-[x]-b") == 3
    odd = pandas.DataFrame({"weight": [1.5, 2.0], "p": [7, 8], "q": [8, 9]})
    assert gramer.Graph.from_pandas(odd, source="p", target="q").ids.tolist() == [7, 8, 9]
    categories = table.astype("category")
    assert gramer.Graph.from_pandas(categories).edges == 4
    for frame, options, kind, message in [
        (odd, {}, ValueError, "the columns are 'weight', 'p', 'q': say which are the ends"),
        (odd, {"source": "p"}, ValueError, "source and target go together"),
        (odd, {"source": "p", "target": "z"}, ValueError, "target is 'z', but the columns are"),
        (table, {"edge_label": "z"}, ValueError, "edge_label is 'z', but the table has no such column"),
        (pandas.DataFrame({"u": ["a", None], "v": ["b", "c"]}), {}, ValueError, "column 'u' has no value in row 1"),
        (5, {}, TypeError, "a table of pandas is needed, not a int"),
    ]:
        with pytest.raises(kind) as error:
            gramer.Graph.from_pandas(frame, **options)
        assert str(error.value).startswith(message)


def test_attributes_of_files_are_labels(tmp_path):
    made = networkx.Graph()
    made.add_nodes_from([("a", {"element": "C"}), ("b", {"element": "N"})])
    made.add_edge("a", "b", bond="single")
    networkx.write_graphml(made, path := tmp_path / "molecule.graphml")
    assert gramer.read(path, label="element", edge_label="bond").match("x:C-[single]-y:N") == 1
    with pytest.raises(ValueError, match="vertices have no attribute `job`, but `element`"):
        gramer.read(path, label="job")
    (tmp_path / "edges.txt").write_text("1 2\n")
    with pytest.raises(ValueError, match="the setting `label` names an attribute of vertices"):
        gramer.read(tmp_path / "edges.txt", label="job")


def test_tables_from_files(tmp_path):
    path = tmp_path / "friends.csv"
    path.write_text("who;kind;likes\n" + "".join(f"{u};x;{v}\n" for u, v in FRIENDS))
    vertices = tmp_path / "people.tsv"
    vertices.write_text("name\tjob\nann\tK\nbob\tT\neve\tK\nzoe\tT\n")
    columns = {"source": "who", "target": "likes", "edge_label": "kind"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gramer.ReadWarning)
        graph = gramer.Graph.from_csv(path, vertex_table=vertices, id="name", label="job", **columns)
    assert graph.match("a:K-[x]-b:T") == 3 and graph.match("K3") == 1
    assert sorted(graph.nodes) == ["ann", "bob", "eve", "zoe"]
    triangle = next(graph.embeddings("triangle"))
    assert sorted(triangle) == ["ann", "bob", "eve"]
    with pytest.raises(ValueError):
        gramer.Graph.from_csv(path, source="nobody", target="likes")
    with pytest.raises(ValueError, match="id and label name columns of vertex_table"):
        gramer.Graph.from_csv(path, id="name")


def test_names_of_igraph_and_networkx():
    named = igraph.Graph.TupleList(FRIENDS)
    assert sorted(next(gramer.Graph.from_igraph(named).embeddings("triangle"))) == ["ann", "bob", "eve"]
    plain = gramer.Graph.from_igraph(igraph.Graph.Full(3))
    assert plain.nodes.tolist() == [0, 1, 2]
    friends = networkx.Graph(FRIENDS)
    networkx.set_node_attributes(friends, {"ann": "A", "bob": "B", "eve": "A", "zoe": "B"}, "kind")
    assert gramer.Graph.from_networkx(friends, label="kind").match("a:A-b:B") == 3


def test_sparse_matrices_are_alike():
    matrix = scipy.sparse.random(40, 40, 0.1, random_state=1)
    made = [gramer.Graph.from_scipy(matrix.asformat(form)) for form in ("coo", "csr", "csc", "lil", "dok")]
    assert len({(graph.vertices, graph.edges, graph.cliques(3), graph.dropped) for graph in made}) == 1


def test_patterns_in_one_line():
    graph = gramer.Graph.from_networkx(networkx.karate_club_graph())
    assert graph.match("a-b, b-c, c-a") == graph.match("K3") == graph.cliques(3)
    wedges, triangles = graph.match("a-b-c"), graph.cliques(3)
    assert graph.match("a-b-c, a!-c") == wedges - 3 * triangles
    assert len(list(graph.embeddings("a-b-c, a!-c"))) == wedges - 3 * triangles
    edges = set(map(frozenset, networkx.karate_club_graph().edges))
    assert graph.match("a-b, c-d") == sum(not u & v for u, v in itertools.combinations(edges, 2))
    pattern = gramer.Pattern("x:1-[7]-y, y-z, x!-z")
    assert (pattern.edges, pattern.absent, pattern.labels) == ([(0, 1), (1, 2)], [(0, 2)], [1, None, None])
    assert gramer.Pattern(pattern.text) == pattern
    with pytest.raises(gramer.UnsupportedError, match="`reference` has no method for this task"):
        graph.match("a-b-c, a!-c", device="reference")


def test_orbits_are_columns():
    graph = gramer.Graph.from_networkx(networkx.karate_club_graph())
    for k in (3, 4):
        found = graph.orbits(k)
        assert found.count.shape == (34, len(found.names)) and len(set(found.names)) == len(found.names)
        for line in graph.motifs(k, per="vertex"):
            columns = [at for at, name in enumerate(found.names) if name.rsplit(":", 1)[0] == line.pattern.name]
            assert (found.count[:, columns].sum(axis=1) == line.count).all()
    ends, found = graph.orbits(4, per="edge")
    assert found.count.shape == (graph.edges, len(found.names)) and ends.shape == (graph.edges, 2)
    with pytest.raises(ValueError, match='per is \'face\', but must be "vertex" or "edge"'):
        graph.orbits(4, per="face")
    with pytest.raises(gramer.UnsupportedError):
        graph.orbits(5)
