"""Exact nearest neighbours: a blocked product, pruned at the running k-th, decided by float64 distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from ragauge.core.errors import DataError, UnknownName, UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.floating]
    Ids = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]
    Singles = npt.NDArray[np.float32]
    Mask = npt.NDArray[np.bool_]

VectorMetric = Literal["cosine", "l2", "ip"]
MIN_SQUARED_LENGTH, MAX_SQUARED_LENGTH = (
    1e-30,
    8e37,
)  # squared lengths that float32 holds with room for sums and differences
BLOCK_QUERIES, BLOCK_ROWS = 1_024, 4_096  # of a block: 16 MB of products


def check_vectors(vectors: Vectors, what: str = "vectors", dimensions: int | None = None) -> Vectors:
    """An array of shape (n, d) of finite numbers, as it came or as float32.

    Raises:
        DataError: another shape or number of dimensions, or a value that is not finite, with its row.
    """
    import numpy as np

    try:
        array = np.asarray(vectors)
    except ValueError:
        array = np.asarray(vectors, dtype=object)
    if array.dtype.kind not in "fiu" or array.ndim != 2 or not array.shape[1]:
        shape = f"shape {array.shape} of {array.dtype}"
        raise DataError(f"expected an array of numbers with shape (vectors, dimensions), got {shape}.", source=what)
    if dimensions is not None and array.shape[1] != dimensions:
        message = f"it has {array.shape[1]} dimensions, but the indexed vectors have {dimensions}."
        raise DataError(message, source=what, hint="Embed both with the same model.")
    if array.dtype.kind != "f":
        return array.astype(np.float32)
    for start in range(0, len(array), 65_536):
        bad = ~np.isfinite(array[start : start + 65_536]).all(axis=1)
        if bad.any():
            raise DataError("a NaN or infinite value.", source=what, line=start + int(bad.argmax()), unit="row")
    return array


def check_scale(vectors: Vectors, metric: VectorMetric, what: str = "vectors") -> None:
    """DataError where squared lengths, in which libraries reckon, overflow or underflow float32; zeros are let be.

    Under cosine no vector may be too short; under l2 and ip not all of them.
    """
    import numpy as np

    shortest_squared, shortest = np.inf, -1
    longest = 0.0
    for start in range(0, len(vectors), BLOCK_ROWS):
        block = vectors[start : start + BLOCK_ROWS]
        squares = np.einsum("ij,ij->i", block, block, dtype=np.float64)
        longest = max(longest, float(squares.max()))
        if longest > MAX_SQUARED_LENGTH:
            row, problem = start + int(squares.argmax()), "long"
            break
        squares[squares == 0] = np.where(block[squares == 0].any(axis=1), 0, np.inf)
        if squares.min() < shortest_squared:
            shortest_squared, shortest = float(squares.min()), start + int(squares.argmin())
    else:
        if shortest_squared >= MIN_SQUARED_LENGTH or (metric != "cosine" and longest >= MIN_SQUARED_LENGTH):
            return
        row, problem = shortest, "short"
    message = f"a vector is too {problem} for float32; lengths must be between 1e-15 and 9e18."
    raise DataError(message, source=what, line=row, unit="row", hint="Rescale vectors and queries by the same factor.")


def exact_neighbours(vectors: Vectors, queries: Vectors, k: int, metric: VectorMetric = "cosine") -> tuple[Ids, Floats]:
    """The k nearest vectors of every query, exactly.

    Products of blocks in float32 leave out what is farther than the k-th so far, by a margin of their rounding;
    distances of what remains are computed in float64 and decide, equal ones by the smaller id. Needs about 100 MB
    beside the vectors.

    Args:
        vectors: shape (n, d), finite.
        queries: shape (q, d), finite.
        k: how many; of fewer vectors all are returned.
        metric: cosine (1 - cosine, 0 to 2), l2 (Euclidean, not squared), ip (the inner product, negated).

    Returns:
        Ids and distances, each of shape (q, min(k, n)), the nearest first. Under cosine a vector of zeros is no
        neighbour of anything, and a query of zeros has none: id -1, distance NaN.

    Raises:
        UsageError: k is no integer of at least 1. UnknownName: another metric.
        DataError: shapes that do not fit, values that are not finite, or lengths whose squares float32 does not hold.
    """
    import numpy as np

    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise UsageError(f"exact_neighbours: k must be an integer of at least 1, got {k!r}.")
    if metric not in get_args(VectorMetric):
        raise UnknownName("vector metric", metric, get_args(VectorMetric))
    base = check_vectors(vectors)
    query_rows = check_vectors(queries, "queries", base.shape[1])
    for rows, what in ((base, "vectors"), (query_rows, "queries")):
        check_scale(rows, metric, what)
    k = min(k, len(base))
    ids = np.full((len(query_rows), k), -1, dtype=np.int64)
    distances = np.full((len(query_rows), k), np.nan)
    if not k or not len(query_rows):
        return ids, distances
    space = _ScaledVectors(base, metric)
    for start in range(0, len(query_rows), BLOCK_QUERIES):
        block = slice(start, start + BLOCK_QUERIES)
        _search_blocks(space, query_rows[block], ids[block], distances[block])
    return ids, distances


def compute_distances_to(vectors: Vectors, query: Vectors, ids: Ids, metric: VectorMetric) -> Floats:
    """Float64 distances of one query, shape (d,), to the vectors with these ids."""
    return _compute_distances(vectors[ids], query[None, :], metric)


def _compute_distances(rows: Vectors, queries: Vectors, metric: VectorMetric) -> Floats:
    """Distance of each row to the query beside it, shape (rows,); the same pair always has the same distance."""
    import numpy as np

    row_values, query_values = rows.astype(np.float64), queries.astype(np.float64)
    if metric == "l2":
        row_values -= query_values
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", row_values, row_values)))
    products = np.einsum("ij,ij->i", row_values, np.broadcast_to(query_values, row_values.shape))
    if metric == "ip":
        return np.asarray(-products)
    lengths = np.sqrt(np.einsum("ij,ij->i", row_values, row_values)) * np.sqrt(
        np.einsum("ij,ij->i", query_values, query_values)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(1.0 - products / lengths)


class _ScaledVectors:
    """Vectors made ready so that the larger product of two rows is the nearer one."""

    def __init__(self, vectors: Vectors, metric: VectorMetric) -> None:
        import numpy as np

        self.vectors, self.metric = vectors, metric
        sample = vectors[:: max(1, len(vectors) // 10_000)]
        self.centre = sample.mean(axis=0, dtype=np.float64) if metric == "l2" else None

    def rows(self, start: int) -> tuple[Singles, Singles | None]:
        """A block of the vectors, and what is taken from each product: half the squared length, under l2."""
        import numpy as np

        block = self.vectors[start : start + BLOCK_ROWS]
        if self.metric == "cosine":
            lengths = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
            with np.errstate(invalid="ignore", divide="ignore"):
                return (block / lengths[:, None]).astype(np.float32), None
        if self.centre is None:
            return np.ascontiguousarray(block, dtype=np.float32), None
        ready = (block - self.centre).astype(np.float32)
        return ready, (0.5 * np.einsum("ij,ij->i", ready, ready, dtype=np.float64)).astype(np.float32)

    def scale_queries(self, queries: Vectors) -> Singles:
        """Queries on the same scale; one of zeros becomes NaN under cosine."""
        import numpy as np

        if self.metric == "cosine":
            wide = queries.astype(np.float64)
            with np.errstate(invalid="ignore", divide="ignore"):
                scaled: Singles = (wide / np.sqrt((wide**2).sum(axis=1))[:, None]).astype(np.float32)
                return scaled
        moved: Singles = (queries if self.centre is None else queries - self.centre).astype(np.float32)
        return moved


class _Nearest:
    """The best products so far of some queries, a few more than are asked for, since float32 may confuse the last."""

    def __init__(self, n_queries: int, k: int) -> None:
        import numpy as np

        self.k, self.kept = k, k + k // 4 + 16
        self.values = np.full((n_queries, self.kept), -np.inf, dtype=np.float32)
        self.ids = np.full((n_queries, self.kept), -1, dtype=np.int64)
        self.limit = np.full(n_queries, -np.inf, dtype=np.float32)  # the k-th
        self.dropped = np.full(n_queries, -np.inf, dtype=np.float32)  # the best that was let go

    def add(self, row: Ids, ids: Ids, values: Singles) -> None:
        """Candidates, in the order of their queries."""
        import numpy as np

        counts = np.bincount(row, minlength=len(self.limit))
        offsets = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        width = int(counts.max(initial=0))
        some = np.flatnonzero(counts)
        back = np.zeros(len(counts), dtype=np.int64)
        back[some] = np.arange(len(some))
        every = np.full((len(some), self.kept + width), -np.inf, dtype=np.float32)
        names = np.full(every.shape, -1, dtype=np.int64)
        every[:, : self.kept], names[:, : self.kept] = self.values[some], self.ids[some]
        every[back[row], self.kept + offsets] = values
        names[back[row], self.kept + offsets] = ids
        order = np.argpartition(-every, (self.k - 1, self.kept - 1), axis=1)
        take = order[:, : self.kept]
        best_dropped = np.take_along_axis(every, order[:, self.kept :], axis=1).max(axis=1, initial=-np.inf)
        self.dropped[some] = np.maximum(self.dropped[some], best_dropped)
        self.values[some] = np.take_along_axis(every, take, axis=1)
        self.ids[some] = np.take_along_axis(names, take, axis=1)
        self.limit[some] = self.values[some, self.k - 1]


def _search_blocks(space: _ScaledVectors, queries: Vectors, ids: Ids, distances: Floats) -> None:
    """Fills in ids and distances of some queries."""
    import numpy as np

    k, scaled = ids.shape[1], space.scale_queries(queries)
    has_direction = np.asarray(~np.isnan(scaled).any(axis=1))
    nearest = _Nearest(len(scaled), k)
    lengths = np.sqrt((scaled.astype(np.float64) ** 2).sum(axis=1))
    margin = np.zeros(len(scaled), dtype=np.float32)  # twice what rounding may change of a product
    longest_row = 0.0
    unit = _compute_rounding(space.vectors.shape[1])
    for start in range(0, len(space.vectors), BLOCK_ROWS):
        block, halves = space.rows(start)
        longest = float(np.sqrt(np.nanmax(np.einsum("ij,ij->i", block, block), initial=0.0)))
        if longest > longest_row:
            longest_row = longest
            margin = (unit * longest_row * (lengths + (longest_row if halves is not None else 0.0))).astype(np.float32)
        products = scaled @ block.T
        if halves is not None:
            products -= halves
        _gather_candidates(products, nearest, margin, start)
    _decide_nearest(space, queries, nearest, margin, (ids, distances), has_direction)


def _gather_candidates(products: Singles, nearest: _Nearest, margin: Singles, start: int) -> None:
    import numpy as np

    if start == 0 and products.shape[1] > nearest.kept:  # no limit yet: the best of the first block
        filled = np.nan_to_num(products, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        best = np.argpartition(-filled, nearest.kept, axis=1)[:, : nearest.kept + 1]
        row = np.repeat(np.arange(len(products)), best.shape[1])
        nearest.add(row, best.ravel().astype(np.int64), np.take_along_axis(filled, best, axis=1).ravel())
        return
    passing = np.flatnonzero((products >= (nearest.limit - margin)[:, None]).ravel())
    if len(passing):
        row, column = np.divmod(passing, products.shape[1])
        nearest.add(row, column + start, products.ravel()[passing])


def _decide_nearest(
    space: _ScaledVectors,
    queries: Vectors,
    nearest: _Nearest,
    margin: Singles,
    out: tuple[Ids, Floats],
    has_direction: Mask,
) -> None:
    """Orders what was kept by float64 distance and id; where too much lay within the margin, looks at everything."""
    import numpy as np

    ids, distances = out
    k = ids.shape[1]
    for n in np.flatnonzero(has_direction):
        if nearest.dropped[n] >= nearest.limit[n] - margin[n]:
            candidates = sort_by_distance(space.vectors, queries[n], space.metric)
        else:
            candidates = nearest.ids[n][(nearest.ids[n] >= 0) & (nearest.values[n] > -np.inf)]
        exact = compute_distances_to(space.vectors, queries[n], candidates, space.metric)
        order = np.lexsort((candidates, exact))[:k]
        order = order[~np.isnan(exact[order])]
        ids[n, : len(order)], distances[n, : len(order)] = candidates[order], exact[order]


def sort_by_distance(vectors: Vectors, query: Vectors, metric: VectorMetric) -> Ids:
    """Ids of all vectors by float64 distance to one query, shape (n,); equal ones by id, those without one last."""
    import numpy as np

    blocks = [
        compute_distances_to(vectors, query, np.arange(start, min(start + BLOCK_ROWS, len(vectors))), metric)
        for start in range(0, len(vectors), BLOCK_ROWS)
    ]
    return np.asarray(np.argsort(np.concatenate(blocks), kind="stable"))


class ExactSearch:
    """Exact search for one query at a time on one core, over rows that are made ready and laid together once.

    Args:
        vectors: shape (n, d), finite.
        metric: cosine, l2 or ip.
        ids: of those among which is searched.
    """

    def __init__(self, vectors: Vectors, metric: VectorMetric, ids: Ids) -> None:
        import numpy as np

        self._ids, self._vectors = ids, vectors
        if not len(ids):
            return
        self._space = _ScaledVectors(vectors if len(ids) == len(vectors) else vectors[ids], metric)
        blocks = [self._space.rows(start) for start in range(0, len(ids), BLOCK_ROWS)]
        self._rows = np.concatenate([rows for rows, _ in blocks])
        self._rows[np.isnan(self._rows).any(axis=1)] = 0  # no neighbours: their distance is NaN
        halves = [half for _, half in blocks if half is not None]
        self._halves = np.concatenate(halves) if halves else None
        self._longest = float(np.sqrt(np.einsum("ij,ij->i", self._rows, self._rows).max()))

    def search(self, query: Any, k: int) -> Ids:
        """Ids of the min(k, those there are) nearest, as `exact_neighbours` gives them."""
        import numpy as np

        if not len(self._ids):
            return self._ids
        (scaled,) = self._space.scale_queries(query[None])
        products = np.einsum("ij,j->i", self._rows, scaled)
        if self._halves is not None:
            products -= self._halves
        candidates = np.arange(len(products))
        if k < len(products):
            longest = self._longest if self._halves is not None else 0.0
            margin = (
                _compute_rounding(self._rows.shape[1]) * self._longest * (float(np.sqrt(scaled @ scaled)) + longest)
            )
            candidates = np.flatnonzero(products >= np.partition(products, -k)[-k] - margin)
        exact = compute_distances_to(self._vectors, query, self._ids[candidates], self._space.metric)
        order = np.lexsort((candidates, exact))
        return np.asarray(self._ids[candidates[order[~np.isnan(exact[order])][:k]]])


def _compute_rounding(dimensions: int) -> float:
    """Twice what rounding may change of a product in float32, as a share of both lengths."""
    import numpy as np

    return 4 * (dimensions + 2) * float(np.finfo(np.float32).eps)
