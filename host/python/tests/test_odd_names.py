"""Files of NetworkX, igraph and pandas whose names are odd, read and written."""

import csv
import json
import os
import subprocess
import warnings

import gramer
import igraph
import networkx
import pandas
import pytest

ODD = [
    'Ann, "Q"', "böb", "x;y", "a|b", "tab\there", "007", "7", "-3", "1e5", "O'Neil", "NA", "null", "true", "0",
    "  lead", "trail  ", "[br]", "a:b", "<xml>&amp;", "line\nbreak", "source", "id", "1.0", "emoji 🦀", "long " * 2048,
]  # fmt: skip

#: The program that writes formats: tests need it as they need the module.
PROGRAM = os.environ.get("GRAMER", "gramer")


def made(seed, fits=lambda name: True):
    """A random graph of odd names, without vertices alone."""
    names = [name for name in ODD if fits(name)]
    graph = networkx.gnp_random_graph(len(names), 0.3, seed=seed)
    graph.remove_nodes_from(list(networkx.isolates(graph)))
    return networkx.relabel_nodes(graph, dict(enumerate(names)))


def pairs(edges):
    return {frozenset(map(str, edge)) for edge in edges}


def edges_of(path, **options):
    """The edges that gramer reads, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gramer.ReadWarning)
        graph = gramer.read(path, **options)
    return pairs(graph.embeddings("edge"))


def of_igraph(graph):
    names = list(graph)
    place = {name: at for at, name in enumerate(names)}
    made = igraph.Graph(n=len(names), edges=[(place[u], place[v]) for u, v in graph.edges()])
    made.vs["name"] = names
    return made


@pytest.mark.parametrize("seed", range(3))
def test_tables_of_pandas(tmp_path, seed):
    graph = made(seed, lambda name: name != "source")
    table = pandas.DataFrame([(u, v, 0.5) for u, v in graph.edges()], columns=["source", "target", "weight"])
    path = tmp_path / "t.csv"
    for options in [
        {"index": False},
        {},
        {"sep": "\t", "index": False},
        {"sep": ";", "index": False},
        {"quoting": csv.QUOTE_ALL, "index": False},
        {"encoding": "utf-8-sig", "index": False},
    ]:
        table.to_csv(path, **options)
        assert edges_of(path) == pairs(graph.edges()), options
    assert edges_of(path, weight="weight") == pairs(graph.edges())
    with pytest.raises(ValueError, match="no column is called so"):
        gramer.read(path, weight="cost")


@pytest.mark.parametrize("seed", range(3))
def test_files_of_networkx(tmp_path, seed):
    graph = made(seed)
    path = str(tmp_path / "g")
    for write in [networkx.write_graphml, networkx.write_gexf, networkx.write_gml]:
        write(graph, path)
        assert edges_of(path) == pairs(graph.edges()), write
    with open(path, "w") as file:
        json.dump(networkx.node_link_data(graph), file)
    assert edges_of(path) == pairs(graph.edges())


@pytest.mark.parametrize("seed", range(3))
def test_pajek_of_networkx(tmp_path, seed):
    # It writes line ends as they are, and blanks at the ends of names and quotes are doubtful.
    graph = made(seed, lambda name: "\n" not in name and '"' not in name and name == name.strip())
    path = str(tmp_path / "g.net")
    networkx.write_pajek(graph, path)
    assert edges_of(path) == pairs(graph.edges())


@pytest.mark.parametrize("seed", range(3))
def test_files_of_igraph(tmp_path, seed):
    graph = made(seed)
    path = str(tmp_path / "g")
    of_igraph(graph).write_graphml(path)
    assert edges_of(path) == pairs(graph.edges())
    plain = made(seed, lambda name: name.isascii() and not any(c in name for c in ' \t\n"#&'))
    of_igraph(plain).write_lgl(path, weights=None)
    assert edges_of(path, format="lgl") == pairs(plain.edges())


@pytest.mark.parametrize("seed", range(3))
def test_what_gramer_writes_is_read_by_the_tools(tmp_path, seed):
    graph = made(seed)
    table = tmp_path / "t.csv"
    pandas.DataFrame(list(graph.edges()), columns=["from", "to"]).to_csv(table, index=False, quoting=csv.QUOTE_ALL)

    def converted(name):
        path = str(tmp_path / name)
        subprocess.run([PROGRAM, "graph", "convert", str(table), path, "--quiet"], check=True)
        return path

    assert pairs(networkx.read_graphml(converted("g.graphml")).edges()) == pairs(graph.edges())
    gexf = networkx.read_gexf(converted("g.gexf"))
    names = networkx.get_node_attributes(gexf, "label")
    assert pairs((names[u], names[v]) for u, v in gexf.edges()) == pairs(graph.edges())
    assert pairs(networkx.read_gml(converted("g.gml")).edges()) == pairs(graph.edges())
    with open(converted("g.json")) as file:
        read = json.load(file)
    called = {node["id"]: node.get("name", node["id"]) for node in read["nodes"]}
    links = [(called[link["source"]], called[link["target"]]) for link in read["links"]]
    assert pairs(links) == pairs(graph.edges())
    back = igraph.Graph.Read_GraphML(converted("h.graphml"))
    of = "name" if "name" in back.vs.attributes() else "id"
    # igraph 0.11 leaves an ampersand in an attribute of XML as the entity that its parser makes of it.
    name = [vertex[of].replace("&#38;", "&") for vertex in back.vs]
    assert pairs((name[e.source], name[e.target]) for e in back.es) == pairs(graph.edges())
    rows = pandas.read_csv(converted("g.csv"), dtype=str, keep_default_na=False)
    assert pairs(rows.iloc[:, :2].itertuples(index=False)) == pairs(graph.edges())
