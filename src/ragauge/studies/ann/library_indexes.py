"""faiss: graph, inverted lists, scalar and product quantisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ragauge.core.errors import MissingExtra, UsageError
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


QUANTIZERS = {"int8": "QT_8bit", "int4": "QT_4bit", "float16": "QT_fp16"}


class _FaissIndex(AnnIndex):
    """What the indexes of faiss share. Under cosine, vectors and queries are scaled to length 1."""

    filters = True

    def __init__(self) -> None:
        try:
            import faiss
        except ImportError:
            raise MissingExtra("The faiss index", "faiss-cpu", "ann") from None
        self._faiss: Any = faiss
        self._index: Any = None
        self._how: Any = None
        self._selected: tuple[Any, Any] = (None, None)

    def build(self, vectors: Vectors, metric: VectorMetric, **parameters: Any) -> None:
        import numpy as np

        self._scaled = metric == "cosine"
        kind = self._faiss.METRIC_L2 if metric == "l2" else self._faiss.METRIC_INNER_PRODUCT
        rows: Any = np.ascontiguousarray(vectors, dtype=np.float32)
        if self._scaled:
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            rows = rows / np.where(lengths == 0, 1, lengths)
        self._index = self._make_index(rows, kind, {**self.defaults, **parameters})
        if not self._index.is_trained:
            self._index.train(rows)
        self._index.add(rows)

    def _make_index(self, rows: Any, kind: int, settings: Mapping[str, Any]) -> Any:
        raise NotImplementedError

    def search(self, query: Any, k: int, passing: Mask | None = None) -> Any:
        if self._scaled:
            query = query / ((query @ query) ** 0.5 or 1)  # a query of zeros stays as it is
        threads = self._faiss.omp_get_max_threads()
        self._faiss.omp_set_num_threads(1)  # a single query is not shared between threads
        try:
            ids = self._index.search(query[None], k, params=self._get_search_parameters(passing))[1][0]
        finally:
            self._faiss.omp_set_num_threads(threads)  # the process's own, for whoever else uses faiss
        return ids[ids >= 0] if ids[-1] < 0 else ids  # -1: a place that is not filled

    def _get_search_parameters(self, passing: Mask | None) -> Any:
        """How it is searched; a filter is prepared once for all queries."""
        if passing is None:
            return self._how
        if self._selected[0] is not passing:
            import numpy as np

            bits = np.packbits(passing, bitorder="little")
            selector = self._faiss.IDSelectorBitmap(bits)
            how = self._build_parameters()
            how.sel = selector
            self._selected = (passing, (how, selector, bits))
        return self._selected[1][0]

    def _build_parameters(self) -> Any:
        return self._faiss.SearchParameters()

    def set_search_params(self, **parameters: Any) -> None:
        self._tuned = parameters
        self._how, self._selected = self._build_parameters() if self.searched else None, (None, None)

    def measure_size(self) -> int | None:
        sizes: list[int] = []

        def add_size(written: bytes) -> None:
            sizes.append(len(written))

        self._faiss.write_index(self._index, self._faiss.PyCallbackIOWriter(add_size))
        return sum(sizes)


class FaissHnsw(_FaissIndex):
    """A graph over the vectors as they are."""

    defaults: ClassVar[Mapping[str, Any]] = {"M": 16, "ef_construction": 200, "ef_search": 64}
    searched: ClassVar[tuple[str, ...]] = ("ef_search",)
    limits: ClassVar[Mapping[str, tuple[int, int]]] = GRAPH_LIMITS

    def _make_index(self, rows: Any, kind: int, settings: Mapping[str, Any]) -> Any:
        index = self._faiss.IndexHNSWFlat(rows.shape[1], int(settings["M"]), kind)
        index.hnsw.efConstruction = int(settings["ef_construction"])
        return index

    def _build_parameters(self) -> Any:
        return self._faiss.SearchParametersHNSW(efSearch=int(self._tuned["ef_search"]))


class FaissIvf(_FaissIndex):
    """Inverted lists around nlist centres, of which nprobe are searched."""

    defaults: ClassVar[Mapping[str, Any]] = {"nlist": 100, "nprobe": 8}
    searched: ClassVar[tuple[str, ...]] = ("nprobe",)
    limits: ClassVar[Mapping[str, tuple[int, int]]] = {"nlist": (1, 10_000_000), "nprobe": (1, 10_000_000)}

    def find_misfit(self, parameters: Mapping[str, Any], shape: tuple[int, int]) -> str:  # noqa: D102 - as AnnIndex says
        few = parameters["nlist"] > shape[0]
        return f"nlist={parameters['nlist']} is more than the {shape[0]} vectors. Use a smaller nlist" if few else ""

    def _make_index(self, rows: Any, kind: int, settings: Mapping[str, Any]) -> Any:
        self._centres = (self._faiss.IndexFlat(rows.shape[1], kind),)
        index = self._faiss.IndexIVFFlat(self._centres[0], rows.shape[1], int(settings["nlist"]), kind)
        index.cp.min_points_per_centroid = 1  # without it faiss prints a warning
        return index

    def _build_parameters(self) -> Any:
        return self._faiss.SearchParametersIVF(nprobe=int(self._tuned["nprobe"]))

    def measure_imbalance(self) -> float | None:  # noqa: D102 - as AnnIndex says
        return float(self._index.invlists.imbalance_factor())


class FaissSq(_FaissIndex):
    """All vectors, each number as int8, int4 or float16."""

    defaults: ClassVar[Mapping[str, Any]] = {"bits": "int8"}
    choices: ClassVar[Mapping[str, Sequence[str]]] = {"bits": tuple(QUANTIZERS)}

    def _make_index(self, rows: Any, kind: int, settings: Mapping[str, Any]) -> Any:
        quantizer = getattr(self._faiss.ScalarQuantizer, QUANTIZERS[settings["bits"]])
        return self._faiss.IndexScalarQuantizer(rows.shape[1], quantizer, kind)


class FaissPq(_FaissIndex):
    """All vectors, each as m codes of some bits. faiss filters nothing inside this index."""

    filters = False
    defaults: ClassVar[Mapping[str, Any]] = {"m": 16, "nbits": 8}
    limits: ClassVar[Mapping[str, tuple[int, int]]] = {"m": (1, 65_536), "nbits": (3, 16)}

    def find_misfit(self, parameters: Mapping[str, Any], shape: tuple[int, int]) -> str:  # noqa: D102 - as AnnIndex says
        m, bits = parameters["m"], parameters["nbits"]
        if shape[1] % m:
            return f"m={m} does not divide the {shape[1]} dimensions"
        codes = f"nbits={bits} needs {2**bits} vectors to train on, got {shape[0]}. Use a smaller nbits"
        return codes if shape[0] < 2**bits else ""

    def _make_index(self, rows: Any, kind: int, settings: Mapping[str, Any]) -> Any:
        index = self._faiss.IndexPQ(rows.shape[1], int(settings["m"]), int(settings["nbits"]), kind)
        index.pq.cp.min_points_per_centroid = 1
        return index
