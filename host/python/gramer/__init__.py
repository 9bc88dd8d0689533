"""Graph mining, exactly: cliques, motifs, frequent subgraphs, pattern matching.

>>> import gramer
>>> g = gramer.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
>>> g.cliques(3)
1
>>> for found in g.motifs(3):
...     print(found.pattern.name, found.count)
wedge 2
triangle 1

Every count is exact and a Python integer, however large. Work is done on all cores without
Python's global lock; Ctrl-C stops it within milliseconds.
"""

from __future__ import annotations

import os as _os
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as _np

from . import _convert
from ._answers import Count, CountPer, Counts
from ._convert import ReadWarning
from ._gramer import (
    DeviceError,
    Error,
    InputError,
    Pattern,
    UnsupportedError,
    __version__,
)
from ._gramer import Graph as _Graph
from ._numbers import Numbers as _NumberTasks
from ._numbers import Orbits
from ._questions import PatternLike, Progress
from ._questions import match as _match
from ._questions import options as _options
from ._questions import with_nodes as _with_nodes
from ._questions import without_pattern as _without_pattern
from ._sources import Sources as _Sources

__all__ = [
    "Count",
    "CountPer",
    "Counts",
    "DeviceError",
    "Error",
    "Graph",
    "InputError",
    "Orbits",
    "Pattern",
    "ReadWarning",
    "UnsupportedError",
    "read",
]


def read(
    path: Union[str, "_os.PathLike[str]"],
    *,
    format: Optional[str] = None,
    source: Union[str, int, None] = None,
    target: Union[str, int, None] = None,
    edge_label: Union[str, int, None] = None,
    weight: Union[str, int, None] = None,
    time: Union[str, int, None] = None,
    ids: str = "auto",
    allow_mismatch: bool = False,
    vertex_table: Union[str, "_os.PathLike[str]", None] = None,
    id: Union[str, int, None] = None,
    label: Union[str, int, None] = None,
    labels: Union[str, "_os.PathLike[str]", None] = None,
    labels_column: Optional[int] = None,
    vertex_labels: bool = True,
    edge_labels: bool = True,
    verify: bool = True,
    max_vertices: Optional[int] = None,
    threads: int = 0,
    progress: Optional[Progress] = None,
) -> "Graph":
    """Read a graph from a file, plain or compressed by gzip or zstd.

    The format is found from the content (edge lists, CSV, METIS, Matrix Market, ``.lg``, query
    sets, an image by :meth:`Graph.save`, and more; ``gramer graph --help`` lists them) unless
    ``format`` names it. ``source``, ``target`` and ``edge_label`` name columns of a table of edges, or number
    them from 1; ``weight`` and ``time`` name columns that are dropped. Ids that are no numbers are names: then :attr:`Graph.nodes` and embeddings have these;
    ``ids="text"`` makes names of numbers, too. ``vertex_table`` is a table with a row for each vertex, whose
    columns ``id`` and ``label`` are found by their usual names. In GraphML, GEXF, GML and JSON, ``label`` and ``edge_label``
    name attributes of vertices and of edges. ``allow_mismatch`` reads a file whose head
    claims other numbers than follow. ``labels`` is a file of vertex labels; ``vertex_labels=False`` and
    ``edge_labels=False`` leave labels out. ``verify=False`` maps an image without a check of its
    data. What was guessed, dropped or left out is a :class:`ReadWarning` and in :attr:`Graph.notes`.

    Raises :class:`InputError` with file and line for what is not a graph, and :class:`OSError`.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "edges.txt"
    >>> _ = path.write_text("1 2\\n2 3\\n3 1\\n")
    >>> gramer.read(path)
    <gramer.Graph: 3 vertices, 3 edges>
    """
    options = _options("cpu", threads, progress, None)
    own_label = label if vertex_table is None else None
    inner = _Graph.read(
        _os.fspath(path),
        format=format,
        ids=ids,
        allow_mismatch=allow_mismatch,
        columns=[_column(name) for name in (source, target, edge_label, own_label, weight, time)],
        vertex_table=None
        if vertex_table is None
        else (_os.fspath(vertex_table), _column(id), _column(label)),
        labels=None if labels is None else _os.fspath(labels),
        labels_column=labels_column,
        vertex_labels=vertex_labels,
        edge_labels=edge_labels,
        verify=verify,
        max_vertices=max_vertices,
        options=options,
    )
    _convert.warn(inner.notes)
    return Graph(inner, inner.names)


def _column(name: Union[str, int, None]) -> Optional[str]:
    """A column as the reader wants it."""
    return None if name is None else str(name)


class Graph(_Sources, _NumberTasks):
    """An undirected simple graph, optionally with vertex and edge labels.

    Made by :func:`gramer.read`, :meth:`from_edges`, :meth:`from_pandas`, :meth:`from_scipy`, :meth:`from_networkx` or
    :meth:`from_igraph`. It doesn't change. Arrays over vertices are in the order of :attr:`ids`.
    """

    def __init__(self, inner: _Graph, nodes: Optional[Sequence[Any]] = None):
        self._inner = inner
        self._nodes = nodes

    # -- making graphs ---------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        *,
        vertices: Optional[int] = None,
        labels: Any = None,
        edge_labels: Any = None,
        threads: int = 0,
    ) -> "Graph":
        """From pairs: an array of shape (m, 2) of ids from 0 on, or a list of pairs of ids or of names.

        Names are anything hashable but numbers, such as texts or tuples; :attr:`nodes` has them, and embeddings do.
        An array of ``uint64`` is read in place. ``vertices`` declares the ids below it, so that
        isolated ones exist; ``labels`` is an array of one label per id (and declares them);
        ``edge_labels`` has m labels. Labels are integers from 0 to 2³² − 2, or texts. Of named vertices
        ``labels`` is a mapping from each name.

        >>> Graph.from_edges([("ann", "bob"), ("bob", "eve"), ("eve", "ann")]).cliques(3)
        1
        >>> import numpy as np
        >>> Graph.from_edges(np.array([[0, 1], [1, 2]]), vertices=5)
        <gramer.Graph: 5 vertices, 2 edges>
        """
        pairs = _convert.named(edges)
        if pairs is not None:
            nodes, array = pairs
            if vertices is not None:
                raise ValueError("vertices declares ids, but the edges have names: use Graph.from_networkx")
            labels = None if labels is None else _convert.labels_of(nodes, labels)
            return cls._from_positions(nodes, array, labels, edge_labels, threads)
        array = _convert.edges(edges)
        _convert.check_vertices(vertices)
        labels, label_names = _convert.label_texts(labels)
        edge_labels, edge_label_names = _convert.label_texts(edge_labels)
        if labels is not None:
            labels = _convert.labels("labels", labels, None)
            if vertices is not None and vertices != len(labels):
                raise ValueError(f"vertices is {vertices}, but there are {len(labels)} labels")
            vertices = len(labels)
            if len(array) and int(array.max()) >= vertices:
                raise ValueError(
                    f"an edge names vertex {int(array.max())}, but there are {vertices} labels"
                )
        if edge_labels is not None:
            edge_labels = _convert.labels("edge_labels", edge_labels, len(array))
        options = _options("cpu", threads, None, None)
        return cls(_Graph.from_edges(array, vertices, labels, edge_labels, (None, label_names, edge_label_names), options))

    def save(self, path: Union[str, "_os.PathLike[str]"], *, name: str = "graph") -> None:
        """Write the graph as an image, which :func:`gramer.read` maps without reading it.

        Raises :class:`FileExistsError` if there is something at ``path``.
        """
        path = _os.fspath(path)
        if _os.path.lexists(path):
            raise FileExistsError(f"{path} is there already")
        self._inner.save(path, name)

    # -- what it is ------------------------------------------------------------------------

    def __repr__(self) -> str:
        vertices, edges = self.vertices, self.edges
        of_vertices = "vertex" if vertices == 1 else "vertices"
        return f"<gramer.Graph: {vertices} {of_vertices}, {edges} {'edge' if edges == 1 else 'edges'}>"

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return self._inner.vertices

    @property
    def edges(self) -> int:
        """Number of undirected edges."""
        return self._inner.edges

    @property
    def nodes(self) -> Sequence[Any]:
        """The vertices as the graph's source calls them: nodes of NetworkX, names of a file, or :attr:`ids`."""
        if self._nodes is None:
            return self.ids
        return [self._nodes[at] for at in self.ids]

    @property
    def ids(self) -> _np.ndarray:
        """The id of each vertex: V × uint64, read-only, not copied. Of names these are numbers in the order in
        which the names first come in the file."""
        return self._inner.ids

    @property
    def offsets(self) -> _np.ndarray:
        """Where each row of :attr:`neighbours` begins: V + 1 × uint64, read-only, not copied."""
        return self._inner.offsets

    @property
    def neighbours(self) -> _np.ndarray:
        """The neighbours (positions in :attr:`ids`), row by row: 2 E × uint32, not copied."""
        return self._inner.neighbours

    @property
    def labels(self) -> Optional[_np.ndarray]:
        """The label of each vertex, or None: V × uint32, read-only, not copied."""
        return self._inner.labels

    @property
    def label_names(self) -> Optional[List[str]]:
        """The texts that :attr:`labels` are numbers of, or None where labels are numbers."""
        return self._inner.label_names

    @property
    def edge_label_names(self) -> Optional[List[str]]:
        """The texts that :attr:`edge_labels` are numbers of, or None where labels are numbers."""
        return self._inner.edge_label_names

    @property
    def edge_labels(self) -> Optional[_np.ndarray]:
        """The edge labels, parallel to :attr:`neighbours`, or None."""
        return self._inner.edge_labels

    @property
    def dropped(self) -> Tuple[int, int]:
        """Loops and repeated edges that were dropped when the graph was built."""
        return self._inner.dropped

    @property
    def notes(self) -> List[str]:
        """Remarks of the reader."""
        return self._inner.notes

    # -- tasks -----------------------------------------------------------------------------

    def cliques(
        self,
        k: int,
        *,
        per: Optional[str] = None,
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """The number of complete subgraphs of ``k`` vertices, 3 to 16.

        ``per="vertex"`` gives an array instead: in how many each vertex is. ``per="edge"`` gives
        two: the edges as positions in :attr:`ids`, shape (E, 2), and in how many each is. ``per="graph"``
        gives the number in each graph of a file of several, by ascending number of the graph (``ids >> 32``). Arrays
        are of ``uint64``, or of Python's integers where one needs more.

        ``device`` is ``"cpu"``, ``"reference"``, ``"gpu"``, or what ``gramer devices`` lists; ``threads`` 0
        means all cores. ``timeout`` is in seconds and raises :class:`TimeoutError`.

        >>> Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]).cliques(3, per="vertex")
        array([1, 1, 1, 0], dtype=uint64)
        >>> second = 1 << 32
        >>> Graph.from_edges([(0, 1), (1, 2), (2, 0), (second, second + 1)]).cliques(3, per="graph")
        array([1, 0], dtype=uint64)
        """
        question = {"task": "clique", "k": k}
        options = _options(device, threads, progress, timeout)
        if per is None:
            return self._run(question, options)[0].count
        if per == "vertex":
            return self._inner.per_vertex(question, options)[0][1]
        if per == "edge":
            ends, once = self._edges_once()
            return ends, self._inner.per_edge(question, options)[0][1][once]
        if per == "graph":
            return self._inner.per_graph(question, options)[0][1]
        raise ValueError(f'per is {per!r}, but must be "vertex", "edge" or "graph"')

    def maximal_cliques(
        self,
        *,
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> Mapping[int, int]:
        """The number of maximal cliques of each size.

        >>> Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]).maximal_cliques()
        {2: 1, 3: 1}
        """
        options = _options(device, threads, progress, timeout)
        question = {"task": "maximal-cliques"}
        counts, larger = self._inner.run(question, options)
        sizes = {pattern.vertices: count for pattern, count in counts}
        sizes.update(larger)
        return {size: count for size, count in sorted(sizes.items()) if count}

    def motifs(
        self,
        k: int,
        *,
        induced: bool = True,
        per: Optional[str] = None,
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """Every connected pattern of ``k`` vertices, 3 to 6, with its count.

        ``induced=True`` counts sets of vertices with all edges between them, ``False`` sets of
        edges. With ``per="vertex"`` each count is an array: in how many occurrences each vertex
        is; with ``induced=False`` only for ``k`` 3 and 4. ``per="edge"``, for ``k`` 3 and 4, gives
        the edges as positions in :attr:`ids`, shape (E, 2), and such a list with an array by edge. ``per="graph"`` gives
        the counts in each graph of a file of several, as :meth:`cliques` does.

        >>> Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]).motifs(3, induced=False)[0].count
        5
        """
        question = {"task": "motif", "k": k, "induced": "vertex" if induced else "edge"}
        options = _options(device, threads, progress, timeout)
        if per is None:
            return self._run(question, options)
        if per == "graph":
            return [CountPer(*found) for found in self._inner.per_graph(question, options)]
        if per not in ("vertex", "edge"):
            raise ValueError(f'per is {per!r}, but must be "vertex", "edge" or "graph"')
        if not induced and (k > 4 or device != "cpu"):
            raise ValueError(f'per="{per}" needs induced=True, or k 3 or 4 on the CPU engine')
        if per == "vertex":
            return [CountPer(*found) for found in self._inner.per_vertex(question, options)]
        ends, once = self._edges_once()
        counts = self._inner.per_edge(question, options)
        return ends, [CountPer(pattern, count[once]) for pattern, count in counts]

    def frequent(
        self,
        support: int,
        *,
        max_vertices: int = 3,
        max_edges: Optional[int] = None,
        measure: Optional[str] = None,
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> Counts:
        """The labelled patterns whose support is at least ``support``, with it.

        ``measure="mni"`` is the minimum image of edge-induced occurrences (the default with
        ``max_edges``), ``"embeddings"`` the number of vertex-induced ones (else the default),
        ``"transactions"`` the number of graphs of a file of several graphs, and ``"instances"``
        the number of sets of edges (with ``max_edges``).

        >>> Graph.from_edges([(0, 1), (1, 2)], labels=[7, 8, 7]).frequent(1, max_edges=1)
        [Count(pattern=<Pattern edge[7,8]: [(0, 1)]>, count=1)]
        """
        question = {
            "task": "fsm",
            "support": support,
            "max_vertices": max_vertices,
            "max_edges": max_edges,
            "measure": measure or ("embeddings" if max_edges is None else "mni"),
        }
        return self._run(question, _options(device, threads, progress, timeout))

    def match(
        self,
        pattern: PatternLike,
        *,
        induced: bool = False,
        mappings: Union[bool, str] = False,
        per: Optional[str] = None,
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """How often ``pattern`` occurs: each occurrence once, or all ``mappings`` of its vertices.

        ``mappings=True`` counts isomorphisms, ``"homomorphism"`` mappings whose vertices may coincide, ``"edges"`` those
        of them whose edges don't. ``induced`` asks for occurrences without edges but the pattern's. ``per="graph"`` gives an array instead: the
        number in each graph of a file of several, as :meth:`cliques` does.

        >>> Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]).match("wedge")
        5
        """
        question = _match(pattern, induced, mappings, self._inner)
        options = _options(device, threads, progress, timeout)
        if per is None:
            return self._run(question, options)[0].count
        if per != "graph":
            raise ValueError(f'per is {per!r}, but must be "graph"')
        return self._inner.per_graph(question, options)[0][1]

    # -- embeddings ------------------------------------------------------------------------

    def embeddings(
        self,
        pattern: PatternLike,
        *,
        induced: bool = False,
        mappings: Union[bool, str] = False,
        limit: Optional[int] = None,
        threads: int = 0,
    ) -> Iterator[Tuple[Any, ...]]:
        """The occurrences of ``pattern``, one tuple of nodes each, as they are found.

        Entry i of a tuple stands for vertex i of the pattern. The order is not fixed. The search
        rests while nobody asks, ends after ``limit`` of them, and when the iterator is dropped.

        >>> sorted(sorted(t) for t in Graph.from_edges([(0, 1), (1, 2), (2, 0)]).embeddings("wedge"))
        [[0, 1, 2], [0, 1, 2], [0, 1, 2]]
        """
        question = _match(pattern, induced, mappings, self._inner)
        return self._embeddings(question, limit, threads)

    def clique_embeddings(
        self, k: int, *, limit: Optional[int] = None, threads: int = 0
    ) -> Iterator[Tuple[Any, ...]]:
        """The cliques of ``k`` vertices as tuples of nodes, as they are found.

        >>> [sorted(t) for t in Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]).clique_embeddings(3)]
        [[0, 1, 2]]
        """
        return self._embeddings({"task": "clique", "k": k}, limit, threads)

    def maximal_clique_embeddings(
        self, *, limit: Optional[int] = None, threads: int = 0
    ) -> Iterator[Tuple[Any, ...]]:
        """The maximal cliques as tuples of nodes, as they are found.

        >>> g = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
        >>> sorted(sorted(t) for t in g.maximal_clique_embeddings())
        [[0, 1, 2], [2, 3]]
        """
        return self._embeddings({"task": "maximal-cliques"}, limit, threads)

    def _embeddings(
        self, question: dict, limit: Optional[int], threads: int
    ) -> Iterator[Tuple[Any, ...]]:
        found = self._inner.embeddings(question, limit, _options("cpu", threads, None, None))
        nodes = self._nodes
        if nodes is None:
            return _without_pattern(found)
        return _with_nodes(found, nodes)

    def _run(self, question: dict, options: dict) -> Counts:
        counts = self._inner.run(question, options)[0]
        return Counts(Count(*found) for found in counts)
