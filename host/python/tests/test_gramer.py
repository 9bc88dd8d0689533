"""The package against NetworkX, igraph and SciPy."""

import doctest
import itertools
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import gramer
import igraph
import networkx
import numpy as np
import pytest
import scipy.sparse


@pytest.fixture(scope="module", params=[(60, 0.2, 1), (120, 0.08, 2), (40, 0.5, 3)])
def pair(request):
    """A random graph of NetworkX, and the same here."""
    vertices, share, seed = request.param
    graph = networkx.gnp_random_graph(vertices, share, seed=seed)
    return graph, gramer.Graph.from_networkx(graph)


def test_the_examples_of_the_documentation():
    failed, run = doctest.testmod(gramer, extraglobs={"gramer": gramer})
    assert failed == 0 and run >= 12


def test_size_and_arrays(pair):
    graph, g = pair
    assert (g.vertices, g.edges) == (graph.number_of_nodes(), graph.number_of_edges())
    degrees = np.diff(g.offsets.astype(np.int64))
    assert degrees.tolist() == [graph.degree[node] for node in g.nodes]
    for v, node in enumerate(g.nodes):
        row = g.neighbours[g.offsets[v] : g.offsets[v + 1]]
        assert sorted(row) == sorted(g.nodes.index(n) for n in graph[node])


def test_arrays_are_views_that_can_not_be_written():
    g = gramer.Graph.from_edges([(0, 1), (1, 2)])
    neighbours = g.neighbours
    assert not neighbours.flags.owndata and not neighbours.flags.writeable
    with pytest.raises(ValueError):
        neighbours[0] = 7
    del g  # The view keeps the graph alive.
    assert neighbours.tolist() == [1, 0, 2, 1]


def test_triangles_are_networkx_s(pair):
    graph, g = pair
    expected = networkx.triangles(graph)
    per = g.cliques(3, per="vertex")
    assert dict(zip(g.nodes, per.tolist())) == expected
    assert g.cliques(3) == sum(expected.values()) // 3


@pytest.mark.parametrize("k", [4, 5])
def test_cliques_are_networkx_s(pair, k):
    graph, g = pair
    cliques = [c for c in networkx.enumerate_all_cliques(graph) if len(c) == k]
    assert g.cliques(k) == len(cliques)
    found = {frozenset(nodes) for nodes in g.clique_embeddings(k)}
    assert found == {frozenset(c) for c in cliques}
    per = dict(zip(g.nodes, g.cliques(k, per="vertex").tolist()))
    assert per == {n: sum(n in c for c in cliques) for n in graph}
    edges, counts = g.cliques(k, per="edge")
    assert len(edges) == g.edges
    for (u, v), count in zip(edges, counts):
        assert count == sum(g.nodes[u] in c and g.nodes[v] in c for c in cliques)


def test_a_statistic_is_asked_by_its_name(pair):
    graph, g = pair
    assert g.statistic("core", per="vertex").tolist() == [networkx.core_number(graph)[n] for n in g.nodes]
    assert g.statistic("onion") == {"layers": max(networkx.onion_layers(graph).values())}
    ends, numbers = g.statistic("truss", per="edge")
    assert len(ends) == len(numbers) == g.edges
    with pytest.raises(ValueError, match="must be one of core, truss"):
        g.statistic("tango")
    with pytest.raises(gramer.UnsupportedError):
        g.statistic("core", per="edge")


def test_onion_layers_are_networkx_s(pair):
    graph, g = pair
    assert dict(zip(g.nodes, g.onion_layers().tolist())) == networkx.onion_layers(graph)
    sparse = networkx.gnp_random_graph(200, 0.008, seed=4)
    assert min(dict(sparse.degree).values()) == 0
    g = gramer.Graph.from_networkx(sparse)
    assert dict(zip(g.nodes, g.onion_layers().tolist())) == networkx.onion_layers(sparse)


def test_maximal_cliques_are_networkx_s(pair):
    graph, g = pair
    expected = [frozenset(c) for c in networkx.find_cliques(graph)]
    alone = sum(len(c) == 1 for c in expected)
    sizes = {}
    for clique in expected:
        sizes[len(clique)] = sizes.get(len(clique), 0) + 1
    found = g.maximal_cliques()
    assert found == sizes or (alone and found == {s: n for s, n in sizes.items() if s > 1})
    assert {frozenset(c) for c in g.maximal_clique_embeddings() if len(c) > 1} == {
        c for c in expected if len(c) > 1
    }


@pytest.mark.parametrize("k", [3, 4])
def test_motifs_are_igraph_s(pair, k):
    graph, g = pair
    other = igraph.Graph.from_networkx(graph)
    # igraph's classes that are not connected come as NaN.
    theirs = sorted(int(n) for n in other.motifs_randesu(k) if not np.isnan(n))
    assert sorted(found.count for found in g.motifs(k)) == theirs


def test_motifs_per_vertex_add_up(pair):
    _, g = pair
    for whole, per in zip(g.motifs(4), g.motifs(4, per="vertex")):
        assert whole.pattern == per.pattern
        assert int(per.count.sum()) == 4 * whole.count


def test_counts_per_edge_and_edge_induced_add_up(pair):
    graph, g = pair
    for induced in [True, False]:
        for k in [3, 4]:
            whole = g.motifs(k, induced=induced)
            ends, by_edge = g.motifs(k, per="edge", induced=induced)
            by_vertex = g.motifs(k, per="vertex", induced=induced)
            assert len(ends) == g.edges
            for count, edge, vertex in zip(whole, by_edge, by_vertex):
                assert count.pattern == edge.pattern == vertex.pattern
                assert int(edge.count.sum()) == len(count.pattern.edges) * count.count
                assert int(vertex.count.sum()) == k * count.count
    # NetworkX counts the triangles of each vertex.
    triangles = networkx.triangles(graph)
    found = g.cliques(3, per="vertex")
    assert {label: int(found[v]) for v, label in enumerate(g.nodes)} == triangles


def test_a_count_above_64_bits_is_a_python_integer():
    found = gramer.Graph.from_networkx(networkx.complete_graph(140)).cliques(16, per="vertex")
    assert set(found) == {math.comb(139, 15)} and found[0] > 2**64


def test_matches_are_networkx_s():
    graph = networkx.gnp_random_graph(14, 0.4, seed=5)
    g = gramer.Graph.from_networkx(graph)
    for name in ["wedge", "4-cycle", "diamond", "house"]:
        pattern = gramer.Pattern.read(name)
        query = networkx.Graph(pattern.edges)
        matcher = networkx.isomorphism.GraphMatcher(graph, query)
        assert g.match(name, mappings=True) == sum(1 for _ in matcher.subgraph_monomorphisms_iter())
        assert g.match(name, mappings=True, induced=True) == sum(
            1 for _ in matcher.subgraph_isomorphisms_iter()
        )


def test_labels_of_vertices_and_edges():
    graph = networkx.Graph()
    graph.add_node("a", colour=1)
    graph.add_node("b", colour=2)
    graph.add_node("c", colour=1)
    graph.add_edge("a", "b", kind=5)
    graph.add_edge("b", "c", kind=6)
    g = gramer.Graph.from_networkx(graph, label="colour", edge_label="kind")
    pattern = gramer.Pattern([(0, 1), (1, 2)], labels=[1, 2, None], edge_labels=[5, None])
    assert list(g.embeddings(pattern)) == [("a", "b", "c")]
    assert g.frequent(2, max_edges=1) == []
    assert [f.count for f in g.frequent(1, max_edges=1)] == [1, 1]
    with pytest.raises(ValueError, match="no attribute 'size'"):
        gramer.Graph.from_networkx(graph, label="size")


def test_frequent_patterns_by_hand():
    # Two stars of labels 1 - 2, and one edge 1 - 1.
    g = gramer.Graph.from_edges(
        [(0, 1), (0, 2), (3, 4), (3, 5), (0, 3)], labels=[1, 2, 2, 1, 2, 2]
    )
    found = {tuple(sorted(f.pattern.labels)): f.count for f in g.frequent(2, max_edges=1)}
    assert found == {(1, 2): 2, (1, 1): 2}
    # A centre with two of its neighbours: 2 - 1 - 2, and 1 - 1 - 2 (minimum image 2 each).
    found = [tuple(sorted(f.pattern.labels)) for f in g.frequent(2, max_edges=2)]
    assert sorted(found) == [(1, 1), (1, 1, 2), (1, 2), (1, 2, 2)]


def test_sparse_matrices_and_igraph(pair):
    graph, g = pair
    matrix = networkx.to_scipy_sparse_array(graph, nodelist=list(graph))
    assert gramer.Graph.from_scipy(matrix).cliques(3) == g.cliques(3)
    assert gramer.Graph.from_scipy(scipy.sparse.coo_matrix(matrix)).edges == g.edges
    assert gramer.Graph.from_igraph(igraph.Graph.from_networkx(graph)).cliques(3) == g.cliques(3)


def test_files(tmp_path, pair):
    graph, g = pair
    text = tmp_path / "edges.txt"
    networkx.write_edgelist(graph, text, data=False)
    assert gramer.read(text).cliques(3) == g.cliques(3)
    image = tmp_path / "graph.gramer"
    g.save(image)
    assert gramer.read(image).motifs(3) == g.motifs(3)
    with pytest.raises(FileExistsError):
        g.save(image)


def test_memory_that_is_refused_is_an_error(tmp_path):
    graph = tmp_path / "g.mtx"
    many = 100_000_000
    graph.write_text(f"%%MatrixMarket matrix coordinate pattern general\n{many} {many} 1\n1 2\n")
    code = f"""
import resource, gramer
pages = int(open("/proc/self/statm").read().split()[0])
most = pages * resource.getpagesize() + (300 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    gramer.read({str(graph)!r}, max_vertices={many}, threads=1)
except MemoryError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "not enough memory: " in run.stdout and "while reading the graph" in run.stdout


def test_small_allocations_that_are_refused_are_errors(tmp_path):
    graph = tmp_path / "g.txt"
    graph.write_text("".join(f"{u} {u * 7 % 60000}\n{u} {u * 11 % 60000}\n" for u in range(1, 60000)))
    code = f"""
import resource, sys, gramer
pages = int(open("/proc/self/statm").read().split()[0])
most = pages * resource.getpagesize() + (int(sys.argv[1]) << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    print(gramer.read({str(graph)!r}, threads=2).motifs(5, threads=2))
except MemoryError as error:
    print("MemoryError", error)
except RuntimeError as error:
    print("RuntimeError", error)
"""
    said = []
    for megabytes in [16, *range(64, 200, 8), 600]:
        run = subprocess.run([sys.executable, "-c", code, str(megabytes)], capture_output=True, text=True)
        assert run.returncode == 0, (megabytes, run.returncode, run.stderr)
        said.append(run.stdout)
        if run.stdout.startswith("RuntimeError"):
            assert "refused a thread" in run.stdout, run.stdout
    assert said[0].startswith("MemoryError") and "Error" not in said[-1], said


def test_errors(tmp_path):
    g = gramer.Graph.from_edges([(0, 1), (1, 2)])
    with pytest.raises(ValueError, match="3 to 16"):
        g.cliques(17)
    with pytest.raises(ValueError, match="vertex, edge"):
        g._inner.run({"task": "motif", "k": 3, "induced": "none"}, gramer._options("cpu", 0, None, None))
    with pytest.raises(FileNotFoundError):
        gramer.read(tmp_path / "nothing")
    broken = tmp_path / "broken.txt"
    broken.write_text("0 1\n1\n")
    with pytest.raises(gramer.InputError, match="2"):
        gramer.read(broken)
    for edges in [[(0, 1, 2)], [(0, -1)], [(0.5, 1)]]:
        with pytest.raises(ValueError):
            gramer.Graph.from_edges(edges)
    with pytest.raises(ValueError, match="character 5: the name of a vertex is missing"):
        gramer.Pattern("a-b-")
    with pytest.raises(ValueError, match="labels of a pattern in a line of text are in the text"):
        gramer.Pattern("a-b", labels=[1, 2])
    with pytest.raises(gramer.UnsupportedError, match="with a pattern of several components"):
        list(g.embeddings("a-b, c-d"))
    with pytest.raises(ValueError):
        gramer.Graph.from_edges([(0, 5)], labels=[1, 2])


def test_an_empty_graph():
    g = gramer.Graph.from_edges([], vertices=3)
    assert (g.vertices, g.edges, g.cliques(3)) == (3, 0, 0)
    assert g.cliques(3, per="vertex").tolist() == [0, 0, 0]


def test_embeddings_stream_stop_and_have_a_limit():
    g = gramer.Graph.from_networkx(networkx.complete_graph(120))
    begun = time.monotonic()
    # There are 3.7e13 of them: the first comes at once, and the rest is never searched.
    first = next(iter(g.clique_embeddings(10)))
    assert len(set(first)) == 10 and time.monotonic() - begun < 20
    assert len(list(g.clique_embeddings(10, limit=7))) == 7
    assert list(g.clique_embeddings(10, limit=0)) == []
    found = g.embeddings("5-clique")
    assert len(list(itertools.islice(found, 1000))) == 1000
    found.close()


def test_other_threads_of_python_go_on():
    g = gramer.Graph.from_networkx(networkx.complete_graph(90))
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.01):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    with pytest.raises(TimeoutError):
        for _ in range(1000):  # About 6e11 of them each.
            list(g.clique_embeddings(10, limit=10))
            g.match("8-path", induced=True, timeout=0.3)
            g.motifs(6, induced=False, timeout=0.3, per=None)
            g.motifs(6, per="vertex", timeout=0.3)
    stop.set()
    thread.join()
    assert len(ticks) >= 5


def test_progress_is_told_and_may_stop_the_run():
    g = gramer.Graph.from_networkx(networkx.complete_graph(90))
    calls = []

    def progress(done, total):
        calls.append((done, total))
        if len(calls) == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        g.motifs(6, per="vertex", progress=progress)
    assert len(calls) == 3


def test_ctrl_c():
    code = (
        "import gramer, networkx, signal\n"
        # Who starts the tests in the background has Ctrl-C ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "g = gramer.Graph.from_networkx(networkx.complete_graph(90))\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    g.motifs(6, per='vertex')\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', flush=True)\n"
    )
    run = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    time.sleep(0.5)
    run.send_signal(signal.SIGINT)
    try:
        assert run.communicate(timeout=30)[0] == "stopped\n"
    finally:
        run.kill()


def test_large_counts_are_whole():
    g = gramer.Graph.from_edges([(0, leaf) for leaf in range(1, 100_001)])
    leaves = 100_000
    assert g.match("5-star") == (
        leaves * (leaves - 1) * (leaves - 2) * (leaves - 3) * (leaves - 4) // 120
    )
    assert g.match("5-star") > 2**64


def test_a_device_that_is_none():
    with pytest.raises(ValueError, match="no device is called \"nowhere\": use cpu"):
        gramer.Graph.from_edges([(0, 1)]).cliques(3, device="nowhere")


def test_rows_of_a_matrix_are_read_where_they_lie():
    import tracemalloc

    matrix = scipy.sparse.random(3000, 3000, density=0.01, format="csr", random_state=1)
    edges = gramer.Graph.from_edges(np.column_stack(matrix.nonzero()), vertices=3000)
    for kind in (np.int32, np.int64):
        rows = matrix.copy()
        rows.indptr, rows.indices = rows.indptr.astype(kind), rows.indices.astype(kind)
        tracemalloc.start()
        made = gramer.Graph.from_scipy(rows)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # NumPy's arrays are traced: none as long as the indices was made.
        assert most < rows.indices.nbytes / 2, most
        assert (made.offsets == edges.offsets).all() and (made.neighbours == edges.neighbours).all()
    rows = matrix.copy()
    rows.data[::2] = 0  # a zero that is stored is not an edge
    assert gramer.Graph.from_scipy(rows).edges < made.edges
    broken = matrix.copy()
    broken.indices[7] = 3000
    with pytest.raises(ValueError, match="names a column that isn't there"):
        gramer.Graph.from_scipy(broken)
    broken = matrix.copy()
    broken.indptr[-1] += 1
    with pytest.raises(ValueError, match="has a row that ends at"):
        gramer.Graph.from_scipy(broken)


def test_notebooks_show_pictures():
    import xml.etree.ElementTree

    g = gramer.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], labels=[1, 1, 2, 2])
    found = g.frequent(1, max_vertices=3)
    assert isinstance(found, list) and isinstance(found, gramer.Counts) and len(found) > 3
    shown = xml.etree.ElementTree.fromstring(found._repr_html_())
    pictures = shown.findall(".//{http://www.w3.org/2000/svg}svg")
    assert len(pictures) == len(found)
    texts = "".join(shown.itertext())
    for line in found:
        assert line.pattern.name in texts and f"{line.count:,}" in texts
    one = xml.etree.ElementTree.fromstring(gramer.Pattern.read("house")._repr_svg_())
    assert len(one.findall(".//{http://www.w3.org/2000/svg}line")) == 6
    # A user's name for a pattern cannot inject markup.
    assert "<script" not in gramer.Counts([])._repr_html_()


def test_a_gpu_of_this_process():
    g = gramer.Graph.from_networkx(networkx.gnm_random_graph(60, 400, seed=1))
    try:
        found = g.cliques(4, device="gpu:portable")
    except gramer.DeviceError as error:
        pytest.skip(f"no OpenCL device: {error}")
    assert found == g.cliques(4)
    assert g.motifs(4, device="gpu:portable") == g.motifs(4)
    # A name is an argument: what no device is called is a wrong value.
    with pytest.raises(ValueError, match="no device has this name"):
        g.cliques(4, device="gpu:none is called so")


def test_notebooks_show_what_they_show_when_they_run():
    import json
    import notebook

    folder = pathlib.Path(__file__).resolve().parent.parent / "examples"
    paths = sorted(folder.glob("*.ipynb"))
    assert paths
    for path in paths:
        written = path.read_text("utf-8")
        again = notebook.text(notebook.run(json.loads(written)))
        # If this is meant: python host/python/tests/notebook.py NOTEBOOK
        assert again == written, path


def test_a_notebook_with_another_output_is_noticed():
    import notebook

    def cell(*source):
        return {"cell_type": "code", "source": list(source)}

    ran = notebook.run({"cells": [cell("x = 2\n", "print(x)"), cell("x + 1"), cell("x = 3")]})
    first, second, third = [cell["outputs"] for cell in ran["cells"]]
    assert first == [{"name": "stdout", "output_type": "stream", "text": ["2\n"]}]
    assert second[0]["data"] == {"text/plain": ["3"]} and second[0]["execution_count"] == 2
    assert third == []
    house = notebook.shown(gramer.Pattern.read("house"))
    assert "".join(house["image/svg+xml"]).startswith("<svg")


def test_an_emulated_device_does_what_the_processor_does():
    import json

    program = os.environ.get("GRAMER") or shutil.which("gramer")
    assert program, "build the program gramer and name it with $GRAMER"
    known = subprocess.run([program, "devices", "--json"], stdout=subprocess.PIPE, check=True)
    missing = json.loads(known.stdout)["emulator"]["missing"]
    if missing:
        assert os.environ.get("GRAMER_REQUIRE_XRT") != "1", missing
        pytest.skip(f"no emulated device: {missing}")
    g = gramer.Graph.from_networkx(networkx.gnp_random_graph(30, 0.2, seed=1))
    before = dict(os.environ)
    # The functional model is built in a second; the same way leads to simulated hardware and to cards.
    device = "emulator:small:functional"
    assert g.motifs(3, device=device) == g.motifs(3)
    image = images()
    assert len(image) == 1
    assert g.cliques(4, device=device) == g.cliques(4)
    # The graph stayed on the device from one question to the next.
    assert images() == image
    assert (g.cliques(3, per="vertex", device=device) == g.cliques(3, per="vertex")).all()
    # The runtime's settings are those of the worker, not of this process.
    assert dict(os.environ) == before
    # One worker, a child of this process, answers everything, also questions that only it can answer.
    assert workers() == 1
    with pytest.raises(gramer.UnsupportedError, match="core numbers"):
        g.core_numbers(device=device)
    with pytest.raises(TimeoutError):
        large = gramer.Graph.from_networkx(networkx.gnm_random_graph(300, 9000, seed=1))
        large.motifs(5, device=device, timeout=1.5)
    with pytest.raises(ValueError, match="there is no machine `nowhere`"):
        g.cliques(4, device="emulator:nowhere")
    # Several calls at a time don't meet.
    found = []
    calls = [threading.Thread(target=lambda: found.append(g.cliques(3, device=device))) for _ in range(3)]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    assert found == [g.cliques(3)] * 3
    assert workers() == 1


def workers():
    """How many children of this process are workers."""
    return len(folders_of_workers())


def images():
    """The images of graphs that this process' workers have."""
    return [image.name for folder in folders_of_workers() for image in folder.glob("graph-*.gramer")]


def folders_of_workers():
    """The folder of the program of each child of this process that is a worker."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = (process / "stat").read_text().rsplit(")", 1)[1].split()[1]
            words = (process / "cmdline").read_bytes().split(b"\0")
            if int(parent) == os.getpid() and words[1:2] == [b"worker"]:
                found.append((process / "exe").readlink().parent)
        except OSError:
            continue
    return found


def test_the_program_is_found_beside_python_and_missed_in_words(monkeypatch, tmp_path):
    program = tmp_path / "gramer"
    monkeypatch.delenv("GRAMER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    g = gramer.Graph.from_edges([[0, 1], [1, 2], [2, 0]])
    installed = any(os.path.exists(f"{folder}/gramer") for folder in ("/usr/local/bin", "/usr/bin"))

    def missed(reason):
        if not installed:
            with pytest.raises(gramer.DeviceError, match=reason):
                g.cliques(3, device="emulator:small")

    missed("make install.*GRAMER")
    # One that others can write is not run.
    program.write_text("#!/bin/sh\necho 'gramer: it was run' >&2\nexit 1\n")
    program.chmod(0o757)
    missed("can be written by others")
    monkeypatch.setenv("GRAMER", str(tmp_path / "none"))
    with pytest.raises(gramer.DeviceError, match="GRAMER is .*none, but there is no such file"):
        g.cliques(3, device="emulator:small")
