"""The responses of a run as a few numbers each."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import repeat as always
from typing import Any

from ragauge.analysis.scores.arrays import ResponseIndex
from ragauge.store.packing import framed, unescape, unpack


def index_of(parts: Iterable[Sequence[tuple[Any, ...]]], numbers: Sequence[int]) -> ResponseIndex:
    """The index of some of the responses that the rows name.

    Args:
        parts: some rows each, as they are stored: response_no, query_id, repeat, weight and packed groups, by
            ascending number.
        numbers: of the responses wanted, ascending.
    """
    import numpy as np

    wanted = np.asarray(numbers, dtype=np.int64)
    found, query, repeat, weight, cluster = array("q"), array("q"), array("q"), array("d"), array("q")
    queries: dict[str, int] = {}
    clusters: dict[str, int] = {}
    for part in parts:
        kept = np.isin(np.fromiter((row[0] for row in part), dtype=np.int64, count=len(part)), wanted)
        rows = part if kept.all() else [part[at] for at in np.flatnonzero(kept).tolist()]
        if not rows:
            continue
        number, query_ids, which, of, groups = zip(*rows, strict=True)
        mine = [queries.setdefault(framed(unescape(query_id)), len(queries)) for query_id in query_ids]
        names = map(_cluster, groups) if any(groups) else always(None, len(mine))
        found.extend(number)
        query.extend(mine)
        repeat.extend(which)
        weight.extend(of)
        # an example without a cluster is one of its own, below 0 to stay apart from the named ones
        cluster.extend(
            -1 - one if name is None else clusters.setdefault(name, len(clusters))
            for one, name in zip(mine, names, strict=True)
        )
    weights = np.frombuffer(weight, dtype=np.float64) if weight else np.empty(0)
    return ResponseIndex(
        number=_codes(found),
        query=_codes(query),
        repeat=_codes(repeat),
        weight=None if (weights == weights[:1]).all() else weights,
        cluster=_codes(cluster) if clusters else None,
        query_ids=tuple(queries),
    )


@lru_cache(maxsize=4_096)     # most examples are grouped as others are
def _cluster(groups: bytes | None) -> str | None:
    found: str | None = None if groups is None else json.loads(unpack(groups)).get("cluster")
    return found


def _codes(numbers: array[int]) -> Any:
    import numpy as np

    return np.frombuffer(numbers, dtype=np.int64) if numbers else np.empty(0, dtype=np.int64)
