"""Formats of NetworkX and igraph: what they write is read, and what `gramer graph convert` writes they read."""

import html
import inspect
import json
import os
import random
import shutil
import subprocess

import igraph
import networkx
import pytest

NAMES = ["alice", "B & <C>", "it's", "a\tb", "x,y;z|w", "Žofie 🦀", " blank ", "42", "007", "-1", "#7", "%c", "long " * 2000]
QUOTES = ['quoted "name"', "back\\slash", "a\nline end"]
LABELS = ["kinase", "Ligand & co", "é"]


def program():
    found = os.environ.get("GRAMER") or shutil.which("gramer")
    assert found, "build the program gramer and name it with $GRAMER"
    return found


def convert(source, target):
    """Converts a file by the ends of the names; returns what was remarked."""
    command = [program(), "graph", "convert", str(source), str(target), "--force"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stderr


def graph(seed, names=NAMES, labels=True):
    """A random graph with odd names, of which some vertices have no edge."""
    draw = random.Random(seed)
    made = networkx.Graph()
    for name in draw.sample(names, len(names)):
        made.add_node(name, **({"label": draw.choice(LABELS)} if labels else {}))
    for u in names:
        for v in names:
            if u < v and draw.random() < 0.3:
                made.add_edge(u, v, **({"label": draw.choice(LABELS)} if labels else {}))
    return made


def content(made, label="label"):
    """Names with labels, and edges with theirs."""
    vertices = {str(v): data.get(label) for v, data in made.nodes(data=True)}
    edges = {frozenset(map(str, (u, v))): data.get("label") for u, v, data in made.edges(data=True)}
    return vertices, edges


def read_back(path, tmp_path):
    """A file as the program reads it, by way of JSON."""
    out = tmp_path / "back.json"
    convert(path, out)
    return node_link(out)


def node_link(path):
    """A graph in JSON. NetworkX 3.6 looks for `edges`; older ones, D3 and gramer write `links`."""
    data = json.loads(path.read_text())
    if "edges" in inspect.signature(networkx.node_link_graph).parameters:
        return networkx.node_link_graph(data, edges="links")
    return networkx.node_link_graph(data)


WRITERS = {
    # Labels of vertices that are names need another attribute: `type`.
    "graphml": (networkx.write_graphml, NAMES + QUOTES),
    "gexf": (networkx.write_gexf, NAMES + QUOTES),
    "gml": (networkx.write_gml, NAMES + QUOTES),
    "json": (lambda made, path: path.write_text(json.dumps(networkx.node_link_data(made))), NAMES + QUOTES),
}


@pytest.mark.parametrize("end", WRITERS)
@pytest.mark.parametrize("seed", range(3))
def test_what_networkx_writes_is_read(end, seed, tmp_path):
    write, names = WRITERS[end]
    made = graph(seed, names)
    for _, data in made.nodes(data=True):
        data["type"] = data.pop("label")
    path = tmp_path / f"g.{end}"
    write(made, path)
    vertices, edges = content(read_back(path, tmp_path))
    own_vertices, own_edges = content(made, "type")
    if end == "gexf":
        # The format keeps white space around labels; NetworkX writes it unchanged.
        assert set(vertices) == set(own_vertices)
    assert (vertices, edges) == (own_vertices, own_edges)


READERS = {
    "graphml": (networkx.read_graphml, "label"),
    "gexf": (networkx.read_gexf, "type"),
    "gml": (networkx.read_gml, "type"),
    "json": (node_link, "label"),
}


@pytest.mark.parametrize("end", READERS)
@pytest.mark.parametrize("seed", range(3))
def test_networkx_reads_what_is_written(end, seed, tmp_path):
    read, label = READERS[end]
    made = graph(seed, NAMES + QUOTES)
    source = tmp_path / "own.json"
    # A name of each vertex, so that labels that all differ are no names.
    data = networkx.node_link_data(made)
    for node in data["nodes"]:
        node["name"] = str(node["id"])
    source.write_text(json.dumps(data))
    path = tmp_path / f"g.{end}"
    convert(source, path)
    assert content(read(path), label) == content(made)


@pytest.mark.parametrize("seed", range(3))
def test_pajek_both_ways(seed, tmp_path):
    names = [name for name in NAMES if not set(name) & set("'#%\t\\")]
    made = graph(seed, names, labels=False)
    path = tmp_path / "nx.net"
    networkx.write_pajek(made, path)
    assert content(read_back(path, tmp_path)) == content(made)
    source, path = tmp_path / "own.json", tmp_path / "own.net"
    source.write_text(json.dumps(networkx.node_link_data(made)))
    convert(source, path)
    assert content(networkx.Graph(networkx.read_pajek(path)))[1].keys() == content(made)[1].keys()
    back = igraph.Graph.Read_Pajek(str(path))
    assert sorted(back.vs["name" if "name" in back.vs.attributes() else "id"]) == sorted(made)


@pytest.mark.parametrize("seed", range(3))
def test_formats_of_numbers_both_ways(seed, tmp_path):
    made = networkx.gnp_random_graph(20, 0.2, seed=seed)
    edges = {frozenset(edge) for edge in made.edges}
    for end, write, read in [
        ("g6", networkx.write_graph6, networkx.read_graph6),
        ("s6", networkx.write_sparse6, networkx.read_sparse6),
    ]:
        path, own = tmp_path / f"nx.{end}", tmp_path / f"own.{end}"
        write(made, path)
        back = read_back(path, tmp_path)
        assert {frozenset(edge) for edge in back.edges} == edges and len(back) == 20
        convert(path, own)
        assert {frozenset(edge) for edge in read(own).edges} == edges
        assert own.read_bytes() == path.read_bytes()
    lists = tmp_path / "g.adjlist"
    for write in (networkx.write_adjlist, networkx.write_multiline_adjlist):
        write(made, lists)
        back = read_back(lists, tmp_path)
        assert {frozenset(edge) for edge in back.edges} == edges and len(back) == 20
    matrix = tmp_path / "m.csv"
    rows = networkx.to_numpy_array(made, dtype=int)
    matrix.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    back = read_back(matrix, tmp_path)
    assert {frozenset(edge) for edge in back.edges} == edges and len(back) == 20


@pytest.mark.parametrize("seed", range(3))
def test_igraph_both_ways(seed, tmp_path):
    names = [name for name in NAMES if name.strip() == name]
    made = graph(seed, names, labels=False)
    own = igraph.Graph.from_networkx(made)
    own.vs["name"] = list(made)
    del own.vs["_nx_name"]
    for end, write in [("graphml", own.write_graphml), ("gml", own.write_gml)]:
        path = tmp_path / f"ig.{end}"
        write(str(path))
        assert content(read_back(path, tmp_path)) == content(made)
    leda = tmp_path / "ig.lgr"
    plain = [name for name in names if "\t" not in name]
    part = own.induced_subgraph([v.index for v in own.vs if v["name"] in plain])
    part.write_leda(str(leda), names="name", weights=None)
    assert content(read_back(leda, tmp_path)) == content(made.subgraph(plain))
    dimacs = tmp_path / "own.clq"
    source = tmp_path / "own.json"
    source.write_text(json.dumps(networkx.node_link_data(networkx.convert_node_labels_to_integers(made))))
    convert(source, dimacs)
    text = dimacs.read_text().splitlines()
    assert text[0] == f"p edge {len(made)} {made.number_of_edges()}"
    back = read_back(dimacs, tmp_path)
    assert sorted(d for _, d in back.degree) == sorted(d for _, d in made.degree)
    # igraph reads names from the attribute `id` of GraphML, and from `label` of GML, whose numbers of characters it
    # leaves as they are.
    for end, key in [("graphml", "id"), ("gml", "label")]:
        path = tmp_path / f"own.{end}"
        source.write_text(json.dumps(networkx.node_link_data(made)))
        convert(source, path)
        back = igraph.Graph.Read(str(path), format=end)
        names = [html.unescape(name) for name in back.vs[key]]
        assert {frozenset(names[end] for end in edge.tuple) for edge in back.es} == set(map(frozenset, made.edges))
        assert sorted(names) == sorted(made)
