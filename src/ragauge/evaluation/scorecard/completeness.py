"""Which responses of a run a scorecard is over, and which have all the scores that they are to have."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragauge.core.response import Run
    from ragauge.store.store_access import Store


@dataclass(frozen=True, slots=True)
class CardScope:
    """Which responses of a run a scorecard is over."""

    #: segment column or "tag" -> value; only examples that match.
    keep: Mapping[str, str] = field(default_factory=dict)
    total: int | None = None  #: responses asked for; None = all of the run.
    whole: bool = False  #: only responses that have a score of every metric, so that all means are over the same ones.
    took: Mapping[str, Any] = field(default_factory=dict)  #: facts of their evaluation, shown as they are.


def find_complete(store: Store, run: Run, judge_id: str | None, names: Sequence[str]) -> array[int]:
    """Numbers of the responses with a score of every metric, ascending.

    Of traffic, one that was not drawn for the judge is complete with those that ask nobody.

    Args:
        store: with the run.
        run: whose responses.
        judge_id: who judged; None = nobody.
        names: printed names of the metrics.
    """
    from ragauge.metrics.catalogue import list_questions, parse_metric

    complete = store.scores.evaluated(run.run_id, judge_id, names, min_metrics=len(names))
    left_out = store.collecting.list_unsampled(run.run_id) if run.kind == "traffic" else set()
    free = [name for name in names if not list_questions([parse_metric(name)])]
    if not left_out or not free or len(free) == len(names):
        return complete
    more = store.scores.evaluated(run.run_id, judge_id, free, min_metrics=len(free))
    return array("q", sorted({*complete, *left_out.intersection(more)}))
