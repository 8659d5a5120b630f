"""Searching under a filter: which vectors pass, what is nearest among them, and the ways to keep to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import DataError, UnknownName, UsageError
from ragauge.core.ranking import FoundNeighbors
from ragauge.metrics.ann.ann_recall import AnnRecall
from ragauge.metrics.base import Ratio
from ragauge.studies.ann.exact import compute_distances_to, exact_neighbours, sort_by_distance
from ragauge.studies.ann.index import AnnIndex, make_index

if TYPE_CHECKING:
    from ragauge.studies.ann.exact import Floats, Ids, Mask, VectorMetric, Vectors

LABEL_KINDS = ("random", "clustered")
FILTER_KEYS = ("filter", "labels", "selectivity", "filter_by", "oversample")  # parameters that no index is built with
UNFILTERED = (None, None, None)
SEED = 11


def get_stratum(parameters: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """What says which vectors pass: column=value, or how labels are drawn and the share that passes."""
    return parameters.get("filter"), parameters.get("labels"), parameters.get("selectivity")


class PassingVectors:
    """Which vectors pass the filter of a trial; each filter is drawn once.

    Of n vectors round(n × selectivity) pass. Labels random: drawn at random. Labels clustered: the nearest to one
    vector that is drawn at random. A smaller selectivity passes a part of what a larger one passes.

    Args:
        vectors: shape (n, d).
        metric: by which clustered labels are the nearest.
    """

    def __init__(self, vectors: Vectors, metric: VectorMetric) -> None:
        self._vectors, self._metric = vectors, metric
        self._orders: dict[str, Any] = {}
        self._masks: dict[tuple[Any, Any, Any], Mask] = {}

    def add(self, masks: Mapping[str, Mask]) -> None:
        """Filters by columns: column=value -> which vectors have it, shape (n,)."""
        self._masks |= {(name, None, None): mask for name, mask in masks.items()}

    def get_mask(self, parameters: Mapping[str, Any]) -> Mask | None:
        """Shape (n,): who passes; None where nothing is filtered.

        Raises:
            UsageError: a column's mask that was not given.
        """
        import numpy as np

        key = get_stratum(parameters)
        column_value, labels, share = key
        if key == UNFILTERED:
            return None
        if key not in self._masks:
            if column_value is not None:
                raise UsageError(
                    f"ann: no column tells which vectors have {column_value}. Name the file that has the column."
                )
            mask = np.zeros(len(self._vectors), dtype=bool)
            mask[self._get_order(labels)[: int(len(mask) * share + 0.5)]] = True
            self._masks[key] = mask
        return self._masks[key]

    def _get_order(self, labels: str) -> Any:
        """Ids in the order in which they come to pass as selectivity grows."""
        import numpy as np

        if labels not in self._orders:
            order = np.random.default_rng(SEED).permutation(len(self._vectors))
            if labels == "clustered":
                some = next((n for n in order if self._vectors[n].any()), order[0])
                order = sort_by_distance(self._vectors, self._vectors[some], self._metric)
            self._orders[labels] = order
        return self._orders[labels]


def check_ids(returned: Any, source: str = "") -> Ids:
    """What an index returned, shape (at most k,); -1, which stands for none in faiss, is left out.

    Raises:
        DataError: no whole numbers, or another shape, such as ids with their distances.
    """
    import numpy as np

    try:
        ids = np.asarray(returned)
    except ValueError:  # parts of several lengths
        ids = np.asarray(returned, dtype=object)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        message = f"expected ids as whole numbers with shape (k,), got shape {ids.shape} of {ids.dtype}."
        raise DataError(message, source=source, hint="Return only the ids, without distances.")
    integers: Ids = ids.astype(np.int64)
    return np.asarray(integers[integers != -1])


class ExactNeighbors:
    """The exact neighbours of queries among vectors, which what an index found is held against.

    Args:
        vectors: shape (n, d).
        queries: shape (q, d).
        k: how many neighbours; of fewer vectors all.
        metric: cosine, l2 or ip.
        passing: shape (n,), the vectors that may be found; None = all.
    """

    def __init__(
        self, vectors: Vectors, queries: Vectors, k: int, metric: VectorMetric, passing: Mask | None = None
    ) -> None:
        import numpy as np

        self.vectors, self.queries, self.k, self.metric, self.passing = vectors, queries, k, metric, passing
        ids, self.nearest = exact_neighbours(vectors if passing is None else vectors[passing], queries, k, metric)
        self.ids = ids if passing is None else np.append(np.flatnonzero(passing), -1)[ids]  # -1: none
        self.known = np.asarray(~np.isnan(self.nearest).all(axis=1))  # a query of zeros has no direction

    def beside(self, n: int, returned: Any, source: str = "") -> FoundNeighbors:
        """What an index found for the nth query beside what is nearest.

        Raises:
            DataError: an id that no vector has, or what is no id.
        """
        import numpy as np

        ids = check_ids(returned, source)[: self.k]
        if ids.size and not 0 <= ids.min() <= ids.max() < len(self.vectors):
            wrong = ids.min() if ids.min() < 0 else ids.max()
            raise DataError(f"the index returned id {wrong}, but has only {len(self.vectors)} vectors.", source=source)
        exact = compute_distances_to(self.vectors, self.queries[n], ids, self.metric)
        if self.passing is not None:
            exact[~self.passing[ids]] = np.nan
        nearest = self.nearest[n][~np.isnan(self.nearest[n])]
        reason = "" if self.known[n] else "a zero vector has no direction"
        reason = reason if self.passing is None or self.passing.any() else "no vector passes the filter"
        return FoundNeighbors(tuple(ids.tolist()), tuple(exact.tolist()), tuple(nearest.tolist()), reason)

    def compute_recalls(self, returned: Sequence[Any]) -> Floats:
        """ann_recall@k of each query that has neighbours; shape (at most q,)."""
        import numpy as np

        metric = AnnRecall(self.k)
        values = (metric.value(self.beside(n, ids)) for n, ids in enumerate(returned))
        return np.array([value.numerator / value.denominator for value in values if isinstance(value, Ratio)])


class FilteredSearch:
    """An index that is asked under a filter.

    Args:
        index: built and tuned.
        passing: shape (n,), who passes.
        oversample: ask for so many times k and drop what does not pass; 0 = filter inside the index.
    """

    def __init__(self, index: AnnIndex, passing: Mask, oversample: int) -> None:
        self._index, self._passing, self._oversample = index, passing, oversample

    def search(self, query: Any, k: int) -> Any:
        """Ids of at most k that pass, the nearest first."""
        if not self._oversample:
            return self._index.search(query, k, self._passing)
        ids = check_ids(self._index.search(query, min(k * self._oversample, len(self._passing))))
        return ids[self._passing[ids]][:k]


def build_filtered_grid(
    grid: Iterable[Mapping[str, Any]],
    *,
    selectivity: Sequence[float] = (),
    labels: Sequence[str] = LABEL_KINDS,
    filters: Sequence[str] = (),
    oversample: Sequence[int] = (1, 10),
) -> list[dict[str, Any]]:
    """Every setting under every filter, by every way that its index has; as it is where nothing is filtered.

    Args:
        grid: parameters of each setting.
        selectivity: shares of the vectors that pass, each above 0; at 1 the setting stays unfiltered.
        labels: how those that pass are drawn: random, clustered.
        filters: column=value that was asked for.
        oversample: how many times k post-filtering asks for.

    Raises:
        UsageError: a selectivity outside (0, 1], oversample below 1, or labels without any.
        UnknownName: other labels.
    """
    for share in selectivity:
        if not 0 < share <= 1:
            raise UsageError(f"--selectivity: expected shares above 0 and at most 1, such as 0.1,0.01, got {share:g}.")
    for label in labels:
        if label not in LABEL_KINDS:
            raise UnknownName("labels", label, LABEL_KINDS)
    if (selectivity and not labels) or not oversample or min(oversample) < 1:
        raise UsageError("--labels takes random or clustered; --oversample takes whole numbers of at least 1.")
    strata: list[dict[str, Any]] = [{"filter": column_value} for column_value in filters]
    strata += [{"labels": label, "selectivity": share} for share in selectivity if share < 1 for label in labels]
    ways: list[dict[str, Any]] = [{"filter_by": "post", "oversample": times} for times in dict.fromkeys(oversample)]
    settings: list[dict[str, Any]] = []
    for setting in grid:
        if not strata or 1 in selectivity:
            settings.append(dict(setting))
        inside = [{"filter_by": "inside"}] if strata and make_index(str(setting["index"])).filters else []
        settings += [{**setting, **stratum, **way} for stratum in strata for way in (*ways, *inside)]
    return settings
