"""Responses on their way past the gatherers, by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from ragauge.metrics.facts import Facts
from ragauge.scores.arrays import ResponseIndex
from ragauge.scores.gather import Visit

VisitsOf = Callable[[Sequence[Facts]], list[Visit]]
IndexOf = Callable[[Sequence[Facts]], ResponseIndex]


@pytest.fixture
def index_of() -> IndexOf:
    """The index of some responses, as a store makes it."""

    def made(every: Sequence[Facts]) -> ResponseIndex:
        queries: dict[str, int] = {}
        clusters: dict[str, int] = {}
        query = [queries.setdefault(facts.example.query_id, len(queries)) for facts in every]
        cluster = [clusters.setdefault(f.example.cluster or f"\0{f.example.query_id}", len(clusters)) for f in every]
        weight = np.array([facts.response.weight for facts in every])
        return ResponseIndex(
            number=np.arange(len(every)) + 1,
            query=np.array(query, dtype=np.int64),
            repeat=np.array([facts.response.repeat for facts in every], dtype=np.int64),
            weight=weight if len(set(weight.tolist())) > 1 else None,
            cluster=np.array(cluster) if any(facts.example.cluster for facts in every) else None,
            query_ids=tuple(queries),
        )

    return made


@pytest.fixture
def visits_of(index_of: IndexOf) -> VisitsOf:
    """The responses one after another."""

    def made(every: Sequence[Facts]) -> list[Visit]:
        index = index_of(every)
        return [
            Visit(n, int(index.query[n]), facts.example, facts.response, facts.evidence)
            for n, facts in enumerate(every)
        ]

    return made
