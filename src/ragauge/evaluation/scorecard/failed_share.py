"""The share of failed examples that people's labels of a draw and the judge's verdicts on all examples give."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.stats.ppi_mean import Rectified
    from ragauge.store.store_access import Store


def corrected_failures(store: Store, run_id: str, judge_id: str | None, verdicts: ResponseVerdicts) -> Rectified | None:
    """The label-corrected share of failed examples; None below 50 drawn answers that people labeled.

    An answer that people labeled fails by their labels first, the others by the judge; what is unclear or not judged
    has not failed. Nobody corrects people, and of examples with several repeats or weights nothing is said.

    Args:
        store: where run, draws and labels are.
        run_id: the run.
        judge_id: whose verdicts.
        verdicts: on every response, by labels where there are some.
    """
    import numpy as np

    from ragauge.engine.label_facts import decides, judge_alone
    from ragauge.engine.people import is_people, people_scores
    from ragauge.scores.estimation import LEAST_LABELS, ScoreSample, rectified
    from ragauge.scores.verdicts import FAILED

    index = verdicts.index
    if is_people(judge_id) or len(index) != len(index.query_ids):
        return None
    draws = [draw for draw in people_scores(store, run_id) if decides(draw.question)]
    draw = max(draws, key=lambda draw: len(draw.labelled), default=None)
    if draw is None or len(draw.labelled) < LEAST_LABELS:
        return None
    places = {int(number): place for place, number in enumerate(index.number)}
    labeled = [number for number in draw.labelled if number in places]
    by_people = (verdicts.verdict == FAILED).astype(np.float64)
    by_judge, people = by_people.copy(), np.full(len(index), np.nan)
    for number, verdict in judge_alone(store, run_id, judge_id, labeled).items():
        place = places[number]
        by_judge[place], people[place] = float(verdict.verdict == "failed"), by_people[place]
    chances = None
    if draw.inclusion:
        chances = np.array([draw.inclusion.get(int(number), np.nan) for number in index.number])
    sample = ScoreSample(by_judge, "rate", (0.0, 1.0), index.weight, index.cluster)
    return rectified(sample, people, chances)
