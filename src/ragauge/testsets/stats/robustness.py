"""What the wording costs: each question put otherwise held against its original, in one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragauge.comparison.changes import compute_change
from ragauge.comparison.correction import correct_family
from ragauge.comparison.pairs import Join, pair_scores
from ragauge.core.variation import parse_original_id
from ragauge.metrics.base import Metric
from ragauge.scores.arrays import Columns
from ragauge.scores.results.change import MetricChange

NO_ORIGINAL = "\0"  # no query_id has this character


@dataclass(frozen=True, slots=True)
class VariationChange:
    """A metric of the variants of one kind and of their originals."""

    kind: str  #: of variation.
    #: variants (new) held against originals (base), paired; its verdict is corrected over all of them.
    change: MetricChange


def compare_variations(
    read: Sequence[tuple[Metric, Columns]], query_ids: Sequence[str], kinds: Mapping[str, str], level: float = 0.95
) -> tuple[VariationChange, ...]:
    """The paired differences of variants and originals, by kind and metric; p-values corrected as one family.

    Args:
        read: metrics with their scores in one run, one entry an example.
        query_ids: of the examples, by number.
        kinds: query_id -> kind of variation, of the variants whose labels are their originals'.
        level: of the intervals.
    """
    changes: list[tuple[str, MetricChange]] = []
    for kind in dict.fromkeys(kinds.values()):
        originals = [
            (parse_original_id(query_id, kind) or NO_ORIGINAL) if kinds.get(query_id) == kind else NO_ORIGINAL
            for query_id in query_ids
        ]
        join = Join(originals, query_ids)
        for metric, examples in read:
            pairs = pair_scores(metric, examples, examples, join)
            if len(pairs):
                changes.append((kind, compute_change(pairs, level)))
    corrected, _ = correct_family([change for _, change in changes], level)
    return tuple(VariationChange(kind, change) for (kind, _), change in zip(changes, corrected, strict=True))
