import os
from typing import (
    Any,
    Dict,
    Iterator,
    List,
    Literal,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
    overload,
)

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._gramer import DeviceError as DeviceError
from ._gramer import Error as Error
from ._gramer import Graph as _Graph
from ._gramer import InputError as InputError
from ._gramer import Pattern as Pattern
from ._gramer import UnsupportedError as UnsupportedError
from ._gramer import __version__ as __version__
from ._questions import PatternLike, Progress

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

_Path = Union[str, "os.PathLike[str]"]

class ReadWarning(UserWarning): ...

class Count(NamedTuple):
    pattern: Pattern
    count: int  # type: ignore[assignment]

# Of uint64, or of Python's integers where one needs more.
_Numbers = NDArray[Any]

class CountPer(NamedTuple):
    pattern: Pattern
    count: _Numbers  # type: ignore[assignment]

class Orbits(NamedTuple):
    names: List[str]
    count: _Numbers  # type: ignore[assignment]

class Counts(List[Count]):
    def _repr_html_(self) -> str: ...

def read(
    path: _Path,
    *,
    format: Optional[str] = None,
    source: Union[str, int, None] = None,
    target: Union[str, int, None] = None,
    edge_label: Union[str, int, None] = None,
    weight: Union[str, int, None] = None,
    time: Union[str, int, None] = None,
    ids: str = "auto",
    allow_mismatch: bool = False,
    vertex_table: Optional[_Path] = None,
    id: Union[str, int, None] = None,
    label: Union[str, int, None] = None,
    labels: Optional[_Path] = None,
    labels_column: Optional[int] = None,
    vertex_labels: bool = True,
    edge_labels: bool = True,
    verify: bool = True,
    max_vertices: Optional[int] = None,
    threads: int = 0,
    progress: Optional[Progress] = None,
) -> Graph: ...

class Graph:
    def __init__(self, inner: _Graph, nodes: Optional[Sequence[Any]] = None) -> None: ...
    @classmethod
    def from_edges(
        cls,
        edges: Any,
        *,
        vertices: Optional[int] = None,
        labels: Union[ArrayLike, Mapping[Any, Any], None] = None,
        edge_labels: Optional[ArrayLike] = None,
        threads: int = 0,
    ) -> Graph: ...
    @classmethod
    def from_csv(
        cls,
        path: _Path,
        *,
        source: Optional[str] = None,
        target: Optional[str] = None,
        edge_label: Optional[str] = None,
        weight: Optional[str] = None,
        time: Optional[str] = None,
        vertex_table: Optional[_Path] = None,
        id: Optional[str] = None,
        label: Optional[str] = None,
        threads: int = 0,
    ) -> Graph: ...
    @classmethod
    def from_pandas(
        cls, table: Any, *, source: Any = None, target: Any = None, edge_label: Any = None, threads: int = 0
    ) -> Graph: ...
    @classmethod
    def from_scipy(cls, matrix: Any, *, labels: Optional[ArrayLike] = None) -> Graph: ...
    @classmethod
    def from_networkx(
        cls, graph: Any, *, label: Optional[str] = None, edge_label: Optional[str] = None
    ) -> Graph: ...
    @classmethod
    def from_igraph(
        cls, graph: Any, *, label: Optional[str] = None, edge_label: Optional[str] = None
    ) -> Graph: ...
    def save(self, path: _Path, *, name: str = "graph") -> None: ...
    @property
    def vertices(self) -> int: ...
    @property
    def edges(self) -> int: ...
    @property
    def nodes(self) -> Union[Sequence[Any], NDArray[np.uint64]]: ...
    @property
    def ids(self) -> NDArray[np.uint64]: ...
    @property
    def offsets(self) -> NDArray[np.uint64]: ...
    @property
    def neighbours(self) -> NDArray[np.uint32]: ...
    @property
    def labels(self) -> Optional[NDArray[np.uint32]]: ...
    @property
    def label_names(self) -> Optional[List[str]]: ...
    @property
    def edge_label_names(self) -> Optional[List[str]]: ...
    @property
    def edge_labels(self) -> Optional[NDArray[np.uint32]]: ...
    @property
    def dropped(self) -> Tuple[int, int]: ...
    @property
    def notes(self) -> List[str]: ...
    @overload
    def cliques(
        self,
        k: int,
        *,
        per: None = None,
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> int: ...
    @overload
    def cliques(
        self,
        k: int,
        *,
        per: Literal["vertex", "graph"],
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> _Numbers: ...
    @overload
    def cliques(
        self,
        k: int,
        *,
        per: Literal["edge"],
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> Tuple[NDArray[Any], _Numbers]: ...
    @overload
    def orbits(
        self,
        k: int,
        *,
        per: Literal["vertex"] = "vertex",
        device: str = "cpu",
        threads: int = 0,
        timeout: Optional[float] = None,
    ) -> Orbits: ...
    @overload
    def orbits(
        self,
        k: int,
        *,
        per: Literal["edge"],
        device: str = "cpu",
        threads: int = 0,
        timeout: Optional[float] = None,
    ) -> Tuple[NDArray[Any], Orbits]: ...
    @overload
    def statistic(
        self,
        name: str,
        *,
        per: None = None,
        device: str = "cpu",
        threads: int = 0,
        timeout: Optional[float] = None,
    ) -> Dict[str, int]: ...
    @overload
    def statistic(
        self,
        name: str,
        *,
        per: Literal["vertex"],
        device: str = "cpu",
        threads: int = 0,
        timeout: Optional[float] = None,
    ) -> _Numbers: ...
    @overload
    def statistic(
        self,
        name: str,
        *,
        per: Literal["edge"],
        device: str = "cpu",
        threads: int = 0,
        timeout: Optional[float] = None,
    ) -> Tuple[NDArray[Any], _Numbers]: ...
    def core_numbers(
        self, *, device: str = "cpu", threads: int = 0, timeout: Optional[float] = None
    ) -> _Numbers: ...
    def truss_numbers(
        self, *, device: str = "cpu", threads: int = 0, timeout: Optional[float] = None
    ) -> Tuple[NDArray[Any], _Numbers]: ...
    def densest_subgraph(
        self, *, device: str = "cpu", threads: int = 0, timeout: Optional[float] = None
    ) -> NDArray[np.int64]: ...
    def onion_layers(
        self, *, device: str = "cpu", threads: int = 0, timeout: Optional[float] = None
    ) -> _Numbers: ...
    def maximal_cliques(
        self,
        *,
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> Mapping[int, int]: ...
    @overload
    def motifs(
        self,
        k: int,
        *,
        induced: bool = True,
        per: None = None,
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> Counts: ...
    @overload
    def motifs(
        self,
        k: int,
        *,
        induced: bool = True,
        per: Literal["vertex", "graph"],
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> List[CountPer]: ...
    @overload
    def motifs(
        self,
        k: int,
        *,
        induced: bool = True,
        per: Literal["edge"],
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> Tuple[NDArray[Any], List[CountPer]]: ...
    def frequent(
        self,
        support: int,
        *,
        max_vertices: int = 3,
        max_edges: Optional[int] = None,
        measure: Optional[Literal["mni", "embeddings", "transactions", "instances"]] = None,
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> Counts: ...
    @overload
    def match(
        self,
        pattern: PatternLike,
        *,
        induced: bool = False,
        mappings: Union[bool, Literal["isomorphism", "homomorphism", "edges"]] = False,
        per: Literal["graph"],
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> _Numbers: ...
    @overload
    def match(
        self,
        pattern: PatternLike,
        *,
        induced: bool = False,
        mappings: Union[bool, Literal["isomorphism", "homomorphism", "edges"]] = False,
        per: None = None,
        device: str = "cpu",
        threads: int = 0,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
    ) -> int: ...
    def embeddings(
        self,
        pattern: PatternLike,
        *,
        induced: bool = False,
        mappings: Union[bool, Literal["isomorphism", "homomorphism", "edges"]] = False,
        limit: Optional[int] = None,
        threads: int = 0,
    ) -> Iterator[Tuple[Any, ...]]: ...
    def clique_embeddings(
        self, k: int, *, limit: Optional[int] = None, threads: int = 0
    ) -> Iterator[Tuple[Any, ...]]: ...
    def maximal_clique_embeddings(
        self, *, limit: Optional[int] = None, threads: int = 0
    ) -> Iterator[Tuple[Any, ...]]: ...
