from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Graph",
    "Pattern",
    "Embeddings",
    "table",
    "Error",
    "InputError",
    "UnsupportedError",
    "DeviceError",
    "__version__",
]

__version__: str

class Error(Exception): ...
class InputError(Error): ...
class UnsupportedError(Error): ...
class DeviceError(Error): ...

@final
class Pattern:
    """A connected pattern of 1 to 32 vertices; a label of None stands for any label."""

    def __new__(
        cls,
        edges: Sequence[Tuple[int, int]],
        labels: Optional[Sequence[Optional[int]]] = None,
        edge_labels: Optional[Sequence[Optional[int]]] = None,
    ) -> Pattern: ...
    @staticmethod
    def read(path: str) -> Pattern: ...
    @staticmethod
    def parse(text: str) -> Pattern: ...
    @property
    def vertices(self) -> int: ...
    @property
    def edges(self) -> List[Tuple[int, int]]: ...
    @property
    def labels(self) -> Optional[List[Optional[int]]]: ...
    @property
    def edge_labels(self) -> Optional[List[Optional[int]]]: ...
    @property
    def name(self) -> str: ...
    def canonical(self) -> Pattern: ...
    def _repr_svg_(self) -> str: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

def table(counts: Sequence[Tuple[Pattern, int]]) -> str: ...

@final
class Embeddings(Iterator[Tuple[Pattern, Tuple[int, ...]]]):
    def __next__(self) -> Tuple[Pattern, Tuple[int, ...]]: ...
    def close(self) -> None: ...

@final
class Graph:
    @staticmethod
    def read(
        path: str,
        *,
        format: Optional[str],
        labels: Optional[str],
        labels_column: Optional[int],
        vertex_labels: bool,
        edge_labels: bool,
        verify: bool,
        max_vertices: Optional[int],
        options: Any,
    ) -> Graph: ...
    @staticmethod
    def from_edges(
        edges: NDArray[np.uint64],
        vertices: Optional[int],
        labels: Optional[NDArray[np.uint32]],
        edge_labels: Optional[NDArray[np.uint32]],
        options: Any,
    ) -> Graph: ...
    @staticmethod
    def from_rows(
        starts: Union[NDArray[np.int32], NDArray[np.int64]],
        columns: Union[NDArray[np.int32], NDArray[np.int64]],
        options: Any,
    ) -> Graph: ...
    def save(self, path: str, name: str) -> None: ...
    @property
    def vertices(self) -> int: ...
    @property
    def edges(self) -> int: ...
    @property
    def notes(self) -> List[str]: ...
    @property
    def dropped(self) -> Tuple[int, int]: ...
    @property
    def offsets(self) -> NDArray[np.uint64]: ...
    @property
    def neighbours(self) -> NDArray[np.uint32]: ...
    @property
    def ids(self) -> NDArray[np.uint64]: ...
    @property
    def labels(self) -> Optional[NDArray[np.uint32]]: ...
    @property
    def edge_labels(self) -> Optional[NDArray[np.uint32]]: ...
    def run(
        self, question: Dict[str, Any], options: Any
    ) -> Tuple[List[Tuple[Pattern, int]], List[Tuple[int, int]]]: ...
    def per_vertex(
        self, question: Dict[str, Any], options: Any
    ) -> List[Tuple[Pattern, NDArray[Any]]]: ...
    def per_edge(
        self, question: Dict[str, Any], options: Any
    ) -> List[Tuple[Pattern, NDArray[Any]]]: ...
    def embeddings(
        self, question: Dict[str, Any], limit: Optional[int], options: Any
    ) -> Embeddings: ...
