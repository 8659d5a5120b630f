"""usearch: a graph in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ragauge.core.errors import MissingExtra, UsageError
from ragauge.studies.ann.index import GRAPH_LIMITS, AnnIndex

if TYPE_CHECKING:
    from ragauge.studies.ann.exact import Mask, VectorMetric, Vectors

METRICS = {"cosine": "cos", "l2": "l2sq", "ip": "ip"}


class UsearchIndex(AnnIndex):
    """A graph of usearch; its Python interface filters nothing inside the index."""

    defaults: ClassVar[Mapping[str, Any]] = {"M": 16, "ef_construction": 200, "ef_search": 64, "dtype": "f32"}
    searched: ClassVar[tuple[str, ...]] = ("ef_search",)
    limits: ClassVar[Mapping[str, tuple[int, int]]] = GRAPH_LIMITS
    choices: ClassVar[Mapping[str, Sequence[str]]] = {"dtype": ("f64", "f32", "bf16", "f16", "i8")}

    def __init__(self) -> None:
        try:
            import usearch.index as library
        except ImportError:
            raise MissingExtra("The usearch index", "usearch", "ann") from None
        self._library: Any = library

    def build(self, vectors: Vectors, metric: VectorMetric, **parameters: Any) -> None:  # noqa: D102 - as AnnIndex says
        import numpy as np

        settings = {**self.defaults, **parameters}
        self._index: Any = self._library.Index(
            ndim=vectors.shape[1],
            metric=METRICS[metric],
            dtype=settings["dtype"],
            connectivity=int(settings["M"]),
            expansion_add=int(settings["ef_construction"]),
            expansion_search=int(settings["ef_search"]),
        )
        self._index.add(np.arange(len(vectors), dtype=np.uint64), np.ascontiguousarray(vectors, dtype=np.float32))

    def set_search_params(self, **parameters: Any) -> None:  # noqa: D102 - as AnnIndex says
        self._index.expansion_search = int(parameters["ef_search"])

    def search(self, query: Any, k: int, passing: Mask | None = None) -> Any:  # noqa: D102 - as AnnIndex says
        if passing is not None:
            raise UsageError("usearch cannot filter inside the index. Use the post or exact strategy.")
        return self._index.search(query, k).keys

    def measure_size(self) -> int | None:  # noqa: D102 - as AnnIndex says
        return int(self._index.serialized_length)
