"""Tasks whose answers are numbers of vertices and edges."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Tuple

import numpy as _np

from ._questions import options as _options


class Orbits(NamedTuple):
    """Graphlet degrees."""

    #: A name for each column: the pattern, and the number of the orbit in it.
    names: List[str]
    #: A row for each vertex or edge.
    count: _np.ndarray  # type: ignore[assignment]


Orbits.__module__ = "gramer"


class Numbers:
    """Methods of :class:`gramer.Graph`."""

    _inner: Any

    def statistic(
        self, name: str, *, per: Any = None, device: str = "cpu", threads: int = 0, timeout: Any = None
    ) -> Any:
        """A task without parameters by its name on the command line, such as ``"core"`` or ``"onion"``: its numbers by name.

        ``per="vertex"`` gives a number for each vertex instead, ``per="edge"`` the edges as positions in ``ids``, shape
        (E, 2), and a number for each.

        >>> import gramer
        >>> graph = gramer.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
        >>> graph.statistic("core")
        {'1-core': 4, '2-core': 3}
        >>> graph.statistic("core", per="vertex")
        array([2, 2, 2, 1], dtype=uint64)
        """
        if per not in (None, "vertex", "edge"):
            raise ValueError(f'per is {per!r}, but must be None, "vertex" or "edge"')
        question = {"task": "statistic", "statistic": name}
        options = _options(device, threads, None, timeout)
        if per is None:
            return dict(self._inner.lines(question, options))
        column = self._inner.columns(question, per, options)[0][2]
        if per == "vertex":
            return column
        ends, once = self._edges_once()
        return ends, column[once]

    def orbits(
        self, k: int, *, per: str = "vertex", device: str = "cpu", threads: int = 0, timeout: Any = None
    ) -> Any:
        """Graphlet degrees: in how many places of each orbit each vertex is, for edges and motifs of 3 vertices, and with ``k`` 4 of 4 vertices as well.

        The answer has ``names``, one for each column (``"4-path:5"``, with ORCA's number of the orbit), and ``count``,
        a matrix with a row for each vertex. With ``per="edge"`` the edges as positions in ``ids``, shape (E, 2), come
        first, and there is a row for each of them.

        >>> import gramer
        >>> found = gramer.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]).orbits(3)
        >>> found.names
        ['edge:0', 'wedge:1', 'wedge:2', 'triangle:3']
        >>> found.count[2]
        array([3, 0, 2, 1], dtype=uint64)
        """
        if per not in ("vertex", "edge"):
            raise ValueError(f'per is {per!r}, but must be "vertex" or "edge"')
        question = {"task": "motif", "k": k, "induced": "vertex"}
        columns = self._inner.columns(question, per, _options(device, threads, None, timeout))
        names = [name if orbit is None else f"{name}:{orbit}" for name, orbit, _ in columns]
        matrix = _np.column_stack([column for *_, column in columns])
        if per == "vertex":
            return Orbits(names, matrix)
        ends, once = self._edges_once()
        return ends, Orbits(names, matrix[once])

    def core_numbers(self, *, device: str = "cpu", threads: int = 0, timeout: Any = None) -> Any:
        """The core number of each vertex: the largest k of a k-core with it.

        >>> import gramer
        >>> gramer.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]).core_numbers()
        array([2, 2, 2, 1], dtype=uint64)
        """
        return self.statistic("core", per="vertex", device=device, threads=threads, timeout=timeout)

    def truss_numbers(self, *, device: str = "cpu", threads: int = 0, timeout: Any = None) -> Tuple[Any, Any]:
        """The edges as positions in ``ids``, shape (E, 2), and the truss number of each: the largest k of a k-truss with it.

        >>> import gramer
        >>> ends, numbers = gramer.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]).truss_numbers()
        >>> numbers
        array([3, 3, 3, 2], dtype=uint64)
        """
        found: Tuple[Any, Any] = self.statistic("truss", per="edge", device=device, threads=threads, timeout=timeout)
        return found

    def densest_subgraph(self, *, device: str = "cpu", threads: int = 0, timeout: Any = None) -> Any:
        """The vertices of a subgraph with many edges per vertex, at least half of the most, as positions in ``ids``.

        >>> import gramer
        >>> gramer.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]).densest_subgraph()
        array([0, 1, 2, 3])
        """
        members = self.statistic("densest", per="vertex", device=device, threads=threads, timeout=timeout)
        return _np.flatnonzero(members)

    def onion_layers(self, *, device: str = "cpu", threads: int = 0, timeout: Any = None) -> Any:
        """The onion layer of each vertex, from 1: the round in which it goes when each round removes all vertices with at most as many neighbours left as the current core.

        >>> import gramer
        >>> gramer.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)]).onion_layers()
        array([1, 2, 3, 2, 1], dtype=uint64)
        """
        return self.statistic("onion", per="vertex", device=device, threads=threads, timeout=timeout)

    def _edges_once(self) -> Any:
        """Each edge once, as positions, and which entries of ``neighbours`` these are."""
        graph: Any = self
        rows = _np.repeat(_np.arange(graph.vertices), _np.diff(graph.offsets).astype(_np.int64))
        once = rows < graph.neighbours
        return _np.column_stack([rows[once], graph.neighbours[once]]), once
