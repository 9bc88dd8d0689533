"""Graphs from what other libraries have."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, List, Optional

from . import _convert
from ._gramer import Graph as _Graph
from ._questions import options

if TYPE_CHECKING:
    from . import Graph


class Sources:
    """Class methods of :class:`gramer.Graph`."""

    @classmethod
    def from_scipy(cls: Any, matrix: Any, *, labels: Any = None) -> "Graph":
        """From a square sparse matrix or array: an edge for each entry off the diagonal.

        The rows of a CSR matrix without labels are read where they lie.

        >>> import gramer, scipy.sparse
        >>> gramer.Graph.from_scipy(scipy.sparse.csr_array([[0, 1], [1, 0]]))
        <gramer.Graph: 2 vertices, 1 edge>
        """
        rows = None if labels is not None else _convert.rows(matrix)
        if rows is not None:
            return cls(_Graph.from_rows(*rows, options("cpu", 0, None, None)))
        edges, vertices = _convert.from_scipy(matrix)
        return cls.from_edges(edges, vertices=vertices, labels=labels)

    @classmethod
    def _from_positions(cls: Any, nodes: List[Any], ends: Any, labels: Any, edge_labels: Any, threads: int = 0) -> "Graph":
        """From edges between positions in ``nodes``."""
        labels, label_names = _convert.label_texts(labels)
        edge_labels, edge_label_names = _convert.label_texts(edge_labels)
        array = _convert.edges(ends)
        if labels is not None:
            labels = _convert.labels("labels", labels, len(nodes))
        if edge_labels is not None:
            edge_labels = _convert.labels("edge_labels", edge_labels, len(array))
        names = (_convert.texts(nodes), label_names, edge_label_names)
        run = options("cpu", threads, None, None)
        return cls(_Graph.from_edges(array, len(nodes), labels, edge_labels, names, run), nodes)

    @classmethod
    def from_csv(
        cls: Any,
        path: Any,
        *,
        source: Any = None,
        target: Any = None,
        edge_label: Any = None,
        weight: Any = None,
        time: Any = None,
        vertex_table: Any = None,
        id: Any = None,
        label: Any = None,
        threads: int = 0,
    ) -> "Graph":
        """From a table with a row for each edge: CSV, TSV, or with `;`, `|` or spaces between columns.

        ``source``, ``target`` and ``edge_label`` name columns, or number them from 1; without them the
        ends are found by the usual names. ``weight`` and ``time`` name columns that are dropped. ``vertex_table`` is a table of vertices, whose columns ``id`` and ``label``
        give vertices their labels. What was guessed, dropped or left out is a :class:`gramer.ReadWarning`.

        >>> import gramer, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "friends.csv"
        >>> _ = path.write_text("who,likes\\nann,bob\\nbob,eve\\neve,ann\\n")
        >>> gramer.Graph.from_csv(path, source="who", target="likes").nodes
        ['ann', 'bob', 'eve']
        """
        from . import read

        if vertex_table is None and (id is not None or label is not None):
            raise ValueError("id and label name columns of vertex_table, which is not given")
        columns = {"source": source, "target": target, "edge_label": edge_label, "weight": weight, "time": time}
        with warnings.catch_warnings():
            # They are said once, where the caller is.
            warnings.simplefilter("ignore", _convert.ReadWarning)
            made = read(path, vertex_table=vertex_table, id=id, label=label, threads=threads, **columns)
        _convert.warn(made.notes)
        return made

    @classmethod
    def from_pandas(
        cls: Any, table: Any, *, source: Any = None, target: Any = None, edge_label: Any = None, threads: int = 0
    ) -> "Graph":
        """From a table of pandas with a row for each edge.

        ``source`` and ``target`` name the columns of its ends; without them they are found by the usual names
        (source and target, from and to, u and v, …). ``edge_label`` names the column of labels: integers or texts.

        >>> import gramer, pandas
        >>> table = pandas.DataFrame({"from": ["ann", "bob", "eve"], "to": ["bob", "eve", "ann"]})
        >>> gramer.Graph.from_pandas(table).nodes
        ['ann', 'bob', 'eve']
        """
        nodes, ends = _convert.from_pandas(table, source, target)
        if edge_label is not None and edge_label not in table.columns:
            raise ValueError(f"edge_label is {edge_label!r}, but the table has no such column")
        found = None if edge_label is None else table[edge_label].to_numpy()
        if nodes is None:
            return cls.from_edges(ends, edge_labels=found, threads=threads)
        return cls._from_positions(nodes, ends, None, found, threads)

    @classmethod
    def from_networkx(
        cls: Any, graph: Any, *, label: Optional[str] = None, edge_label: Optional[str] = None
    ) -> "Graph":
        """From a graph of NetworkX. Directions and keys are dropped with a :class:`ReadWarning`, loops too.

        ``label`` and ``edge_label`` name the attributes (integers or texts) that become labels. Embeddings
        then have the nodes of ``graph``, whatever these are.

        >>> import gramer, networkx
        >>> gramer.Graph.from_networkx(networkx.complete_graph("abcd")).cliques(3)
        4
        """
        nodes, edges, labels, edge_labels = _convert.from_networkx(graph, label, edge_label)
        return _convert.warned(graph, cls._from_positions(nodes, edges, labels, edge_labels))

    @classmethod
    def from_igraph(
        cls: Any, graph: Any, *, label: Optional[str] = None, edge_label: Optional[str] = None
    ) -> "Graph":
        """From a graph of igraph; ``label`` and ``edge_label`` name attributes (integers or texts).

        Vertices are called by the attribute ``name``, where they have it.

        >>> import gramer, igraph
        >>> gramer.Graph.from_igraph(igraph.Graph.Full(5)).cliques(4)
        5
        """
        edges, vertices, labels, edge_labels = _convert.from_igraph(graph, label, edge_label)
        nodes = graph.vs["name"] if "name" in graph.vs.attributes() else None
        made = cls._from_positions(nodes or list(range(vertices)), edges, labels, edge_labels)
        made._nodes = nodes
        return _convert.warned(graph, made)
