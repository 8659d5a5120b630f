"""hnswlib: a graph in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ragauge.core.errors import MissingExtra
from ragauge.studies.ann.index import GRAPH_LIMITS, AnnIndex

if TYPE_CHECKING:
    from ragauge.studies.ann.exact import Mask, VectorMetric, Vectors


class HnswlibIndex(AnnIndex):
    """A graph of hnswlib. Where it meets fewer than k, as under a filter, it gives none: it is asked for fewer then."""

    filters = True
    defaults: ClassVar[Mapping[str, Any]] = {"M": 16, "ef_construction": 200, "ef_search": 64}
    searched: ClassVar[tuple[str, ...]] = ("ef_search",)
    limits: ClassVar[Mapping[str, tuple[int, int]]] = GRAPH_LIMITS

    def __init__(self) -> None:
        try:
            import hnswlib
        except ImportError:
            raise MissingExtra("The hnswlib index", "hnswlib", "hnswlib") from None
        self._library: Any = hnswlib
        self._index: Any = None

    def build(self, vectors: Vectors, metric: VectorMetric, **parameters: Any) -> None:  # noqa: D102 - as AnnIndex says
        settings = {**self.defaults, **parameters}
        index = self._library.Index(space=metric, dim=vectors.shape[1])
        index.init_index(
            len(vectors), M=int(settings["M"]), ef_construction=int(settings["ef_construction"]), random_seed=7
        )
        index.add_items(vectors)
        index.set_num_threads(1)  # of a search
        self._index = index

    def set_search_params(self, **parameters: Any) -> None:  # noqa: D102 - as AnnIndex says
        self._index.set_ef(int(parameters["ef_search"]))

    def search(self, query: Any, k: int, passing: Mask | None = None) -> Any:  # noqa: D102 - as AnnIndex says
        k, ids = min(k, self._index.get_current_count()), ()
        options = {} if passing is None else {"filter": passing.item}
        n_filled, max_n = 0, k  # it can fill least, and not more than most
        while n_filled < max_n:
            n_requested = k if max_n == k else (n_filled + max_n + 1) // 2
            try:
                ids, n_filled = self._index.knn_query(query, n_requested, **options)[0][0], n_requested
            except RuntimeError:
                max_n = n_requested - 1
        return ids

    def measure_size(self) -> int | None:  # noqa: D102 - as AnnIndex says
        return int(self._index.index_file_size())
