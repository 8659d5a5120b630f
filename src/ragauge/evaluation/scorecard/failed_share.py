"""The share of failed examples that people's labels of a draw and the judge's verdicts on all examples give."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.stats.ppi_mean import LabelCorrectedMean
    from ragauge.store.store_access import Store


def compute_corrected_failures(
    store: Store, run_id: str, judge_id: str | None, verdicts: ResponseVerdicts
) -> LabelCorrectedMean | None:
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

    from ragauge.engine.label_facts import affects_verdict, decide_without_labels
    from ragauge.engine.people import is_people_judge, load_people_scores
    from ragauge.scores.estimation import MIN_LABELS, ScoreSample, correct_mean
    from ragauge.scores.verdicts import FAILED

    index = verdicts.index
    if is_people_judge(judge_id) or len(index) != len(index.query_ids):
        return None
    draws = [draw for draw in load_people_scores(store, run_id) if affects_verdict(draw.question)]
    draw = max(draws, key=lambda draw: len(draw.labelled), default=None)
    if draw is None or len(draw.labelled) < MIN_LABELS:
        return None
    positions = {int(number): position for position, number in enumerate(index.number)}
    labeled = [number for number in draw.labelled if number in positions]
    by_people = (verdicts.verdict == FAILED).astype(np.float64)
    by_judge, people = by_people.copy(), np.full(len(index), np.nan)
    for number, verdict in decide_without_labels(store, run_id, judge_id, labeled).items():
        position = positions[number]
        by_judge[position], people[position] = float(verdict.verdict == "failed"), by_people[position]
    chances = None
    if draw.inclusion:
        chances = np.array([draw.inclusion.get(int(number), np.nan) for number in index.number])
    sample = ScoreSample(by_judge, "rate", (0.0, 1.0), index.weight, index.cluster)
    return correct_mean(sample, people, chances)
