"""Which of two answers a judge prefers, by the order in which it is shown them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragauge.core.human_labels import AnswerPair, Preference
from ragauge.scores.estimation import compute_rate_interval
from ragauge.scores.results.overview import MeanEstimate


@dataclass(frozen=True, slots=True)
class PositionProbe:
    """Whether the place of an answer changes which one is preferred."""

    n: int  #: pairs.
    decided: int  #: pairs with a verdict in both orders; the shares below are of these.
    position_flip: MeanEstimate  #: share whose verdict the order changed; lower is better.
    #: of the flipped, the share in which an answer did better for being shown first: 1 = the first place is favoured, 0
    #: = the second, about one half = the judge wavers.
    first_place: MeanEstimate
    ties: MeanEstimate  #: share that is a tie: said to be alike, or inconsistent.
    #: share that agrees with the human preference, over pairs that have one; an inconsistent verdict is a tie and so
    #: agrees with no preference. Mean None = no human preference.
    agreement: MeanEstimate
    flipped: tuple[str, ...]  #: ids of the pairs whose verdict changed.
    undecided: dict[str, str]  #: id of a pair without both verdicts -> why.


def run_position_probe(
    pairs: Sequence[AnswerPair], preferences: Sequence[Preference], level: float = 0.95
) -> PositionProbe:
    """Compares the verdicts of both orders.

    position_flip = #{pairs whose verdicts differ} / #{pairs with both verdicts}, with Wilson's interval

    Args:
        pairs: what was shown.
        preferences: what the judge said of each, in the same order.
        level: of the intervals.

    Source: Zheng et al. (2023), Judging LLM-as-a-judge, section 3.4: consistency over both orders; an inconsistent
    verdict counts as a tie.
    """
    both = [(pair, preference) for pair, preference in zip(pairs, preferences, strict=True) if preference.decided]
    flipped = [(pair, preference) for pair, preference in both if preference.flipped]
    labelled = [(pair, preference) for pair, preference in both if pair.better is not None]
    return PositionProbe(
        len(pairs),
        len(both),
        _estimate_share(len(flipped), len(both), level),
        _estimate_share(sum(_favors_first(preference) for _, preference in flipped), len(flipped), level),
        _estimate_share(sum(preference.better_answer == 0 for _, preference in both), len(both), level),
        _estimate_share(
            sum(preference.better_answer == pair.better for pair, preference in labelled), len(labelled), level
        ),
        tuple(pair.query_id for pair, _ in flipped),
        {
            pair.query_id: preference.reason
            for pair, preference in zip(pairs, preferences, strict=True)
            if not preference.decided
        },
    )


def _favors_first(preference: Preference) -> bool:
    """Whether the answer shown first did better in its place than when it was shown second."""
    worth = {1: 1, 0: 0, 2: -1}  # of the file's first answer
    return worth[preference.shown or 0] > worth[preference.swapped or 0]


def _estimate_share(count: int, n: int, level: float) -> MeanEstimate:
    return MeanEstimate(count / n if n else None, compute_rate_interval(count, n, level), n)
