"""Arrays of edges and labels from what other libraries have."""

from __future__ import annotations

import sys
import warnings
from typing import Any, Iterable, List, Optional, Tuple

import numpy as np

#: Labels are below this, which stands for "any label" in patterns.
ANY_LABEL = 2**32 - 1


class ReadWarning(UserWarning):
    """What was guessed, dropped or left out when a graph was made."""


ReadWarning.__module__ = "gramer"


def warn(notes: Iterable[str], level: int = 3) -> None:
    """Warnings, where the caller of the caller is."""
    for note in notes:
        warnings.warn(note, ReadWarning, stacklevel=level)


def check_vertices(vertices: Optional[int]) -> None:
    """Refuse a number of vertices that no graph has."""
    if vertices is not None and not 0 <= vertices < ANY_LABEL:
        raise ValueError(f"vertices is {vertices}, but must be from 0 to {ANY_LABEL - 1}")


def is_number(item: Any) -> bool:
    """Whether an item is an id or a mistake for one, and no name."""
    return item is None or isinstance(item, (int, float, complex, np.number, np.bool_))


def named(source: Any) -> Optional[Tuple[List[Any], np.ndarray]]:
    """Vertices, and edges as positions among them, of pairs of names: anything hashable that is not a number.

    None where ``source`` holds numbers alone.
    """
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        raise TypeError(f"edges is a {type(source).__name__}: use Graph.from_pandas")
    if isinstance(source, np.ndarray):
        if source.dtype.kind not in "USO" or source.ndim != 2 or source.shape[1] != 2:
            return None
        source = source.tolist()
    if not isinstance(source, (list, tuple)):
        return None
    pairs = [pair for pair in source if isinstance(pair, (list, tuple, np.ndarray)) and len(pair) == 2]
    if len(pairs) != len(source) or all(is_number(end) for pair in pairs for end in pair):
        return None
    nodes: dict = {}
    ends = []
    for pair in pairs:
        for end in pair:
            if end is None or isinstance(end, float):
                raise ValueError(f"edges holds the pair {tuple(pair)!r}, and {end!r} is not a name of a vertex")
            try:
                ends.append(nodes.setdefault(end, len(nodes)))
            except TypeError:
                raise TypeError(f"edges holds {end!r}, but names of vertices must be hashable") from None
    return list(nodes), np.array(ends, dtype=np.uint64).reshape(-1, 2)


def labels_of(nodes: List[Any], found: Any) -> List[Any]:
    """The label of each named vertex."""
    if not hasattr(found, "keys"):
        raise TypeError(f"labels is a {type(found).__name__}, but must be a mapping from names of vertices")
    missing = [node for node in nodes if node not in found]
    if missing:
        raise ValueError(f"labels has none of the vertex {missing[0]!r}")
    return [found[node] for node in nodes]


def texts(nodes: List[Any]) -> Optional[List[str]]:
    """Different names that are all texts, for files and lists; None for others."""
    different = all(isinstance(node, str) for node in nodes) and len(set(nodes)) == len(nodes)
    return list(nodes) if nodes and different else None


def label_texts(source: Any) -> Tuple[Any, Optional[List[str]]]:
    """Labels as numbers, and their texts by number if they are texts."""
    if source is None or isinstance(source, (str, bytes)) or not hasattr(source, "__iter__"):
        return source, None
    items = source.tolist() if hasattr(source, "tolist") else list(source)
    if not items or not all(isinstance(item, str) for item in items):
        return items if not hasattr(source, "__array__") else source, None
    known: dict = {}
    numbers = [known.setdefault(item, len(known)) for item in items]
    return numbers, list(known)


#: Names of columns with the ends of an edge.
ENDS = (
    ("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("head", "tail"), ("node1", "node2"),
    ("source", "destination"), ("start", "end"),
)


def columns(frame: Any, source: Any, target: Any) -> Tuple[Any, Any]:
    """The columns with the ends of an edge: those that are named, or those with the usual names, or the only two."""
    if not hasattr(frame, "columns") or not hasattr(frame, "__getitem__"):
        raise TypeError(f"a table of pandas is needed, not a {type(frame).__name__}")
    known = list(frame.columns)
    for name, given in (("source", source), ("target", target)):
        if given is not None and given not in known:
            raise ValueError(f"{name} is {given!r}, but the columns are {', '.join(map(repr, known))}")
    if (source is None) != (target is None):
        raise ValueError("source and target go together: name both columns, or neither")
    if source is not None:
        return source, target
    lower = {str(name).lower(): name for name in reversed(known)}
    for one, other in ENDS:
        if one in lower and other in lower:
            return lower[one], lower[other]
    if len(known) == 2:
        return known[0], known[1]
    raise ValueError(
        f"the columns are {', '.join(map(repr, known))}: say which are the ends of an edge with source= and target="
    )


def from_pandas(frame: Any, source: Any, target: Any) -> Tuple[Optional[List[Any]], np.ndarray]:
    """Vertices, or None where they are numbers, and edges of a table."""
    source, target = columns(frame, source, target)
    ends = [frame[source], frame[target]]
    for name, column in zip((source, target), ends):
        missing = column.isna().to_numpy()
        if missing.any():
            raise ValueError(f"column {name!r} has no value in row {int(missing.argmax())}: drop such rows first")
    both = np.column_stack([np.asarray(column.to_numpy(), dtype=None) for column in ends])
    if both.dtype.kind in "iu" and (both.size == 0 or both.min() >= 0):
        return None, both
    pandas = sys.modules["pandas"]
    values = pandas.concat([column.astype(object) for column in ends], ignore_index=True)
    codes, nodes = pandas.factorize(values)
    return list(nodes), codes.reshape(2, -1).T


#: Attributes that tell a graph of another library, and what takes it.
GRAPHS = {"adjacency": "from_networkx", "get_edgelist": "from_igraph", "tocoo": "from_scipy"}


def edges(source: Any) -> np.ndarray:
    """An array of shape (m, 2) of uint64, without a copy if it is one already."""
    for attribute, maker in GRAPHS.items():
        if hasattr(source, attribute):
            raise TypeError(f"edges is a {type(source).__name__}: use Graph.{maker}")
    array = array_of("edges", source)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.uint64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"edges has the shape {array.shape}, but must have (m, 2)")
    return unsigned("edges", array, np.uint64)


def array_of(what: str, source: Any) -> np.ndarray:
    """An array, of which NumPy must not make anything else than what ``source`` holds."""
    if hasattr(source, "__array__"):
        return np.asarray(source)
    if isinstance(source, (str, bytes)) or not hasattr(source, "__iter__"):
        raise TypeError(f"{what} is a {type(source).__name__}, but must be an array or a list")
    items = list(source)
    try:
        array = np.asarray(items)
    except (ValueError, OverflowError):
        array = objects(items)
    # Integers on both sides of 2^63 become decimals, and those from 2^64 on objects.
    return objects(items) if array.dtype.kind == "f" else array


def objects(items: List[Any]) -> np.ndarray:
    """An array of what the items hold, as Python has it; of the items where their lengths differ."""
    try:
        return np.array(items, dtype=object)
    except ValueError:
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array


def exact(what: str, array: np.ndarray, kind: Any) -> np.ndarray:
    """Python's integers as ``kind``."""
    for item in array.flat:
        if isinstance(item, (str, bytes)):
            raise ValueError(text(what, item))
        if isinstance(item, bool) or not isinstance(item, (int, np.integer)):
            raise ValueError(f"{what} holds {item!r}, but must hold integers")
        if not 0 <= item <= np.iinfo(kind).max:
            raise ValueError(f"{what} holds {item}, but must hold integers from 0 to {np.iinfo(kind).max}")
    return array.astype(kind)


def text(what: str, item: Any) -> str:
    """Why a name is refused."""
    # NumPy 2 shows the type of its texts as well.
    shown = str(item) if isinstance(item, str) else item
    return f"{what} holds the name {shown!r}, but must hold integers, or texts alone"


def unsigned(what: str, array: np.ndarray, kind: Any) -> np.ndarray:
    """The same numbers as ``kind``; refuses what would change."""
    if array.dtype.kind in "US":
        raise ValueError(text(what, array.flat[0]))
    if array.dtype == object:
        return exact(what, array, kind)
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{what} holds {array.dtype}, but must hold integers")
    if np.issubdtype(array.dtype, np.signedinteger) and array.size and array.min() < 0:
        raise ValueError(f"{what} holds {array.min()}, but must hold integers from 0 on")
    if array.size and int(array.max()) > np.iinfo(kind).max:
        raise ValueError(f"{what} holds {array.max()}, but may hold at most {np.iinfo(kind).max}")
    return np.ascontiguousarray(array, dtype=kind)


def labels(what: str, source: Any, length: Optional[int]) -> np.ndarray:
    """One label per vertex or edge as uint32."""
    array = array_of(what, source)
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
    if not hasattr(matrix, "tocoo"):
        raise TypeError(f"a sparse matrix of SciPy is needed, not a {type(matrix).__name__}")
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"the matrix has the shape {matrix.shape}, but must be square")
    entries = matrix.tocoo()
    rows, columns = entries.row, entries.col
    # One direction of an edge is enough; a stored zero is not an edge.
    there = entries.data != 0
    both = np.column_stack([rows[there], columns[there]])
    return both, matrix.shape[0]


def warned(graph: Any, made: Any) -> Any:
    """``made``, after a warning of what it leaves out of a graph of NetworkX or igraph."""
    again = made.dropped[1]
    parallel = getattr(graph, "is_multigraph", None) or getattr(graph, "has_multiple", None)
    if graph.is_directed():
        if again != made.edges:
            warn(["the graph is directed: direction is dropped, and opposite or parallel edges are one"], 4)
    elif again and parallel is not None and parallel():
        warn([f"the graph has parallel edges: {again} of them are dropped"], 4)
    return made


def from_networkx(
    graph: Any, label: Optional[str], edge_label: Optional[str]
) -> Tuple[List[Any], np.ndarray, Optional[List[int]], Optional[List[int]]]:
    """Nodes, edges as positions in them, labels, edge labels."""
    if not hasattr(graph, "nodes") or not hasattr(graph, "edges"):
        raise TypeError(f"a graph of NetworkX is needed, not a {type(graph).__name__}")
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
    if not hasattr(graph, "get_edgelist"):
        raise TypeError(f"a graph of igraph is needed, not a {type(graph).__name__}")
    for what, names, name in (("vertices", graph.vs, label), ("edges", graph.es, edge_label)):
        if name is not None and name not in names.attributes():
            raise ValueError(f"the {what} have no attribute {name!r}")
    vertex = None if label is None else graph.vs[label]
    found = None if edge_label is None else graph.es[edge_label]
    return edges(graph.get_edgelist()), graph.vcount(), vertex, found


def attribute(data: Any, name: str, whose: str) -> Any:
    """An attribute that must be there."""
    if name not in data:
        raise ValueError(f"{whose} has no attribute {name!r}")
    return data[name]
