"""Arrays of edges and labels from what other libraries have."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

#: Labels are below this, which stands for "any label" in patterns.
ANY_LABEL = 2**32 - 1


def edges(source: Any) -> np.ndarray:
    """An array of shape (m, 2) of uint64, without a copy if it is one already."""
    array = np.asarray(source if hasattr(source, "__array__") else list(source))
    if array.size == 0:
        return np.empty((0, 2), dtype=np.uint64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"edges has the shape {array.shape}, but must have (m, 2)")
    return unsigned("edges", array, np.uint64)


def unsigned(what: str, array: np.ndarray, kind: Any) -> np.ndarray:
    """The same numbers as ``kind``; refuses what would change."""
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{what} holds {array.dtype}, but must hold integers")
    if np.issubdtype(array.dtype, np.signedinteger) and array.size and array.min() < 0:
        raise ValueError(f"{what} holds {array.min()}, but must hold integers from 0 on")
    if array.size and int(array.max()) > np.iinfo(kind).max:
        raise ValueError(f"{what} holds {array.max()}, but may hold at most {np.iinfo(kind).max}")
    return np.ascontiguousarray(array, dtype=kind)


def labels(what: str, source: Any, length: Optional[int]) -> np.ndarray:
    """One label per vertex or edge as uint32."""
    array = np.asarray(source if hasattr(source, "__array__") else list(source))
    if array.ndim != 1 or (length is not None and len(array) != length):
        wanted = "(m,)" if length is None else f"({length},)"
        raise ValueError(f"{what} has the shape {array.shape}, but must have {wanted}")
    if array.size == 0:
        return np.empty(0, dtype=np.uint32)
    array = unsigned(what, array, np.uint32)
    if array.max() == ANY_LABEL:
        raise ValueError(f"{what} holds {ANY_LABEL}, but may hold at most {ANY_LABEL - 1}")
    return array


def rows(matrix: Any) -> Optional[Tuple[np.ndarray, np.ndarray]]:
    """Starts and columns of the rows of a square CSR matrix without stored zeros, not copied; None for
    other matrices."""
    if getattr(matrix, "format", None) != "csr" or len(matrix.shape) != 2:
        return None
    if matrix.shape[0] != matrix.shape[1] or not matrix.data.all():
        return None
    kinds = (np.int32, np.int64)
    if matrix.indptr.dtype not in kinds or matrix.indices.dtype not in kinds:
        return None
    return matrix.indptr, matrix.indices


def from_scipy(matrix: Any) -> Tuple[np.ndarray, int]:
    """Edges and number of vertices of a square sparse matrix."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"the matrix has the shape {matrix.shape}, but must be square")
    entries = matrix.tocoo()
    rows, columns = entries.row, entries.col
    # Of an edge that is there in both directions, one is enough; a zero that is stored is none.
    there = entries.data != 0
    both = np.column_stack([rows[there], columns[there]])
    return both, matrix.shape[0]


def from_networkx(
    graph: Any, label: Optional[str], edge_label: Optional[str]
) -> Tuple[List[Any], np.ndarray, Optional[List[int]], Optional[List[int]]]:
    """Nodes, edges as positions in them, labels, edge labels."""
    nodes = list(graph.nodes)
    position = {node: at for at, node in enumerate(nodes)}
    ends, found = [], []
    for u, v, data in graph.edges(data=True):
        ends.append((position[u], position[v]))
        if edge_label is not None:
            found.append(attribute(data, edge_label, f"the edge ({u!r}, {v!r})"))
    vertex = None
    if label is not None:
        vertex = [attribute(graph.nodes[node], label, f"the node {node!r}") for node in nodes]
    return nodes, edges(ends), vertex, found if edge_label is not None else None


def from_igraph(
    graph: Any, label: Optional[str], edge_label: Optional[str]
) -> Tuple[np.ndarray, int, Optional[List[int]], Optional[List[int]]]:
    """Edges, number of vertices, labels, edge labels."""
    vertex = None if label is None else graph.vs[label]
    found = None if edge_label is None else graph.es[edge_label]
    return edges(graph.get_edgelist()), graph.vcount(), vertex, found


def attribute(data: Any, name: str, whose: str) -> Any:
    """An attribute that must be there."""
    if name not in data:
        raise ValueError(f"{whose} has no attribute {name!r}")
    return data[name]
