"""Lines of answers."""

from __future__ import annotations

from typing import List, NamedTuple

import numpy as _np

from ._gramer import Pattern
from ._gramer import table as _table


class Count(NamedTuple):
    """A line of an answer."""

    #: The pattern, in canonical form.
    pattern: Pattern
    #: How often it occurs, or its support.
    count: int  # type: ignore[assignment]


class CountPer(NamedTuple):
    """A line of an answer per vertex, edge or graph."""

    #: The pattern, in canonical form.
    pattern: Pattern
    #: For each vertex or edge, in how many occurrences it is; for each graph, how many it has.
    count: _np.ndarray  # type: ignore[assignment]


class Counts(List[Count]):
    """An answer: a list of :class:`Count`, which notebooks show as a table with pictures.

    >>> import gramer
    >>> found = gramer.Graph.from_edges([(0, 1), (1, 2), (2, 0)]).motifs(3)
    >>> "<svg" in found._repr_html_()
    True
    """

    def _repr_html_(self) -> str:
        return _table([(found.pattern, found.count) for found in self])


for _answer in (Count, CountPer, Counts):
    _answer.__module__ = "gramer"
