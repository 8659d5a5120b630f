"""The responses of a run as a few numbers each."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from ragauge.analysis.arrays import ResponseIndex
from ragauge.store.packing import framed, unpack


def index_of(rows: Iterable[Any], numbers: Sequence[int]) -> ResponseIndex:
    """The index of some of the responses that the rows name.

    Args:
        rows: response_no, query_id, repeat, weight and packed groups, by ascending number.
        numbers: of the responses wanted, ascending.
    """
    import numpy as np

    wanted = iter(numbers)
    following = next(wanted, None)
    found, query, repeat, weight, cluster = array("q"), array("q"), array("q"), array("d"), array("q")
    queries: dict[str, int] = {}
    clusters: dict[str, int] = {}
    for number, query_id, which, of, groups in rows:
        if number != following:
            continue
        following = next(wanted, None)
        found.append(number)
        query.append(queries.setdefault(framed(query_id), len(queries)))
        repeat.append(which)
        weight.append(of)
        named = None if groups is None else _cluster(groups)
        # an example without a cluster is one of its own, below 0 to stay apart from the named ones
        cluster.append(-1 - query[-1] if named is None else clusters.setdefault(named, len(clusters)))
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
def _cluster(groups: bytes) -> str | None:
    found: str | None = json.loads(unpack(groups)).get("cluster")
    return found


def _codes(numbers: array[int]) -> Any:
    import numpy as np

    return np.frombuffer(numbers, dtype=np.int64) if numbers else np.empty(0, dtype=np.int64)
