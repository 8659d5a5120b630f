"""What the wording costs: each question put otherwise held against its original, in one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragauge.comparison.changes import change_of
from ragauge.comparison.correction import corrected_family
from ragauge.comparison.pairs import Join, pair
from ragauge.core.variation import original_id
from ragauge.metrics.base import Metric
from ragauge.scores.arrays import Columns
from ragauge.scores.results.change import MetricChange

NO_ORIGINAL = "\0"  # no query_id has this character


@dataclass(frozen=True, slots=True)
class VariationChange:
    """A metric of the variants of one kind and of their originals.

    Attributes:
        kind: of variation.
        change: variants (new) held against originals (base), paired; its verdict is corrected over all of them.
    """

    kind: str
    change: MetricChange


def variation_changes(
    read: Sequence[tuple[Metric, Columns]], query_ids: Sequence[str], kinds: Mapping[str, str], level: float = 0.95
) -> tuple[VariationChange, ...]:
    """The paired differences of variants and originals, by kind and metric; p-values corrected as one family.

    Args:
        read: metrics with their scores in one run, one entry an example.
        query_ids: of the examples, by number.
        kinds: query_id -> kind of variation, of the variants whose labels are their originals'.
        level: of the intervals.
    """
    found: list[tuple[str, MetricChange]] = []
    for kind in dict.fromkeys(kinds.values()):
        originals = [
            (original_id(one, kind) or NO_ORIGINAL) if kinds.get(one) == kind else NO_ORIGINAL for one in query_ids
        ]
        join = Join(originals, query_ids)
        for metric, examples in read:
            pairs = pair(metric, examples, examples, join)
            if len(pairs):
                found.append((kind, change_of(pairs, level)))
    corrected, _ = corrected_family([change for _, change in found], level)
    return tuple(VariationChange(kind, change) for (kind, _), change in zip(found, corrected, strict=True))
