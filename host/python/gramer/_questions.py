"""What is asked of the extension module, and embeddings as they come from it."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Optional, Sequence, Tuple, Union

from . import _program
from ._gramer import Pattern, UnsupportedError

#: Called about twenty times per second with the units done and the units in all (0: not known).
Progress = Callable[[int, int], Any]
#: A pattern, its name (``"house"``, ``"5-path"``), or its edges.
PatternLike = Union[Pattern, str, Sequence[Tuple[int, int]]]


def options(
    device: str, threads: int, progress: Optional[Progress], timeout: Optional[float]
) -> dict:
    """How a task is run."""
    return {"device": device, "threads": threads, "progress": progress, "timeout": timeout}


def own_process(device: str, what: str) -> None:
    """Refuse what a device that needs a process of its own can't do."""
    if _program.wanted(device):
        raise UnsupportedError(f'the device {device!r} can\'t do {what}: use device="cpu"')


def match(pattern: PatternLike, induced: bool, mappings: bool) -> dict:
    """The task that looks for a pattern."""
    if isinstance(pattern, str):
        pattern = Pattern.read(pattern)
    elif not isinstance(pattern, Pattern):
        pattern = Pattern([(int(u), int(v)) for u, v in pattern])
    return {
        "task": "match",
        "pattern": pattern,
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
