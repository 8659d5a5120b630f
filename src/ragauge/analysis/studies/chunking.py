"""What trials of chunkers show beside their means: where cutoff and budget disagree, what overlap buys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragauge.analysis.scores.arrays import ScoreColumns
from ragauge.analysis.studies.reading import trial_means
from ragauge.data.study import Study, Trial
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse

CUTOFF = "token_recall@5"
OVERLAPS = ("overlap", "chunk_overlap")


def chunking_notes(study: Study, scores: Mapping[str, ScoreColumns], metric: str) -> tuple[str, ...]:
    """Sentences about trials of chunkers.

    Args:
        study: the trials.
        scores: trial -> its scores, of the complete ones.
        metric: what decides.
    """
    decides = parse(metric) if metric else None
    if decides is None or len(scores) < 2:
        return ()
    return (*_disagreement(scores, decides), *_overlaps(study, scores, decides))


def _disagreement(scores: Mapping[str, ScoreColumns], decides: Metric) -> Iterator[str]:
    """Where equally many chunks prefer another trial than equally many tokens, neither by chance."""
    budget = getattr(decides, "budget", None)
    if budget is None or any(one.column(CUTOFF) is None for one in scores.values()):
        return
    tops = []
    for metric in (parse(CUTOFF), decides):
        means = {one.trial: one.mean or 0.0 for one in trial_means(scores, metric)}
        tops.append(max(means, key=means.__getitem__))
    by_k, by_budget = tops
    if by_k == by_budget:
        return
    pair = {name: scores[name] for name in tops}
    gained = [
        next(one for one in trial_means(pair, metric, base=by_budget) if one.trial == by_k)
        for metric in (parse(CUTOFF), decides)
    ]
    at_k, at_budget = (one.difference_interval for one in gained)
    if at_k is not None and at_budget is not None and at_k.low > 0 > at_budget.high:
        yield (
            f"5 chunks prefer {by_k} by {100 * (gained[0].difference or 0):.1f} points of recall, {budget:,} tokens "
            f"prefer {by_budget} by {-100 * (gained[1].difference or 0):.1f}: a fixed k rewards longer chunks, so the "
            "budget decides."
        )


def _overlaps(study: Study, scores: Mapping[str, ScoreColumns], decides: Metric) -> Iterator[str]:
    """What overlap adds to the same chunker without, and what it costs the index."""
    complete = [trial for trial in study.trials if trial.name in scores]
    for trial in complete:
        plain = next((one for one in complete if _same_without_overlap(one, trial)), None)
        before, after = (one.measured("index_tokens") if one else None for one in (plain, trial))
        if plain is None or not before or after is None:
            continue
        pair = {one.name: scores[one.name] for one in (plain, trial)}
        found = next(one for one in trial_means(pair, decides, base=plain.name) if one.trial == trial.name)
        if found.difference is not None:
            yield (
                f"overlap in {trial.name} adds {100 * found.difference:+.1f} points of {decides} "
                f"for {after / before - 1:.0%} more index."
            )


def _same_without_overlap(plain: Trial, trial: Trial) -> bool:
    def others(one: Trial) -> dict[str, object]:
        return {key: value for key, value in one.parameters.items() if key not in OVERLAPS}

    def overlap(one: Trial) -> float:
        return sum(value for key in OVERLAPS if isinstance(value := one.parameters.get(key, 0), int | float))

    return others(plain) == others(trial) and overlap(plain) == 0 < overlap(trial)
