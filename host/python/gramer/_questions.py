"""Questions to the extension module, and embeddings from it."""

from __future__ import annotations

from operator import index
from typing import Any, Callable, Iterator, List, Optional, Protocol, Sequence, Tuple, Union, runtime_checkable

from ._gramer import Pattern

#: Called about twenty times per second with the units done and the units in all (0: not known).
Progress = Callable[[int, int], Any]


@runtime_checkable
class NetworkXGraph(Protocol):
    """A graph of NetworkX."""

    @property
    def nodes(self) -> Any: ...
    @property
    def edges(self) -> Any: ...
    def is_directed(self) -> bool: ...


#: A pattern, its name (``"house"``, ``"K3,3"``), a line of text (``"a-b, b-c, a!-c"``), its edges, or a graph of NetworkX.
PatternLike = Union[Pattern, str, Sequence[Tuple[int, int]], NetworkXGraph]


def options(
    device: str, threads: int, progress: Optional[Progress], timeout: Optional[float]
) -> dict:
    """How a task is run."""
    return {"device": device, "threads": threads, "progress": progress, "timeout": timeout}


def pattern_of(pattern: PatternLike, graph: Any) -> Pattern:
    """A pattern from any of its forms; labels may be names of ``graph``."""
    if isinstance(pattern, Pattern):
        return pattern
    if isinstance(pattern, str):
        return graph.pattern(pattern)
    if isinstance(pattern, NetworkXGraph):
        return of_networkx(pattern)
    wanted = "a pattern is a Pattern, a name, a line of text, a graph of NetworkX, or pairs of vertices from 0 on"
    if not hasattr(pattern, "__iter__"):
        raise TypeError(f"{wanted}, not a {type(pattern).__name__}")
    pairs: List[Tuple[int, int]] = []
    for pair in pattern:
        try:
            u, v = (index(end) for end in pair)
        except (TypeError, ValueError):
            raise TypeError(f"{wanted}; it holds {pair!r}") from None
        if u < 0 or v < 0:
            raise ValueError(f"{wanted}; it holds {pair!r}")
        pairs.append((u, v))
    return Pattern(pairs)


def of_networkx(graph: NetworkXGraph) -> Pattern:
    """The structure of a graph, whose node i is vertex i."""
    if graph.is_directed():
        raise TypeError("the pattern is a directed graph, but patterns have no directions: use to_undirected()")
    position = {node: at for at, node in enumerate(graph.nodes)}
    if not position:
        raise ValueError("the pattern is empty")
    # Labels declare vertices without an edge, too.
    return Pattern([(position[u], position[v]) for u, v, *_ in graph.edges], labels=[None] * len(position))


def match(pattern: PatternLike, induced: bool, mappings: Union[bool, str], graph: Any) -> dict:
    """The task that looks for a pattern."""
    return {
        "task": "match",
        "pattern": pattern_of(pattern, graph),
        "induced": "vertex" if induced else "edge",
        "mappings": mappings,
    }


def without_pattern(found: Any) -> Iterator[Tuple[Any, ...]]:
    """The embeddings' ids; the search ends with the iterator."""
    try:
        for _, ids in found:
            yield ids
    finally:
        found.close()


def with_nodes(found: Any, nodes: Sequence[Any]) -> Iterator[Tuple[Any, ...]]:
    """The same with the nodes of the graph's source."""
    try:
        for _, ids in found:
            yield tuple(nodes[i] for i in ids)
    finally:
        found.close()
