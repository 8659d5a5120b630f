"""What a report says about a hybrid judge: who decides what, and how much the local half saved."""

from __future__ import annotations

from collections.abc import Mapping

from ragauge.analysis.results.judging import JudgeUse
from ragauge.analysis.results.scorecard import JudgeNote
from ragauge.judging.hybrid.judge import PREFIX
from ragauge.judging.local.note import LIMITS as LOCAL_LIMITS
from ragauge.judging.local.note import middle
from ragauge.judging.model import note as model


def judge_note(judge_id: str, spec: str, versions: Mapping[str, tuple[int, ...]], use: JudgeUse | None) -> JudgeNote:
    """What is to be said of a hybrid judge.

    Args:
        judge_id: whose verdicts.
        spec: the text that it is built from; "" where it is not known.
        versions: question -> the versions in which it was asked: hundreds of the local judge, units of the model.
        use: what was counted.
    """
    low, high = middle()
    asked = ", ".join(
        f"{question} {'/'.join(f'{one // 100}+{one % 100}' for one in found)}" for question, found in versions.items()
    )
    parts = [
        f"The embedded local judge decides the claims and passages that it is sure of (p below {low:g} or above "
        f"{high:g}), a language model the others and everything else.",
        model.who(judge_id.removeprefix(PREFIX), spec.removeprefix(PREFIX)),
        saved(use),
        f"Questions, with the versions of both: {asked}." if asked else "",
    ]
    limits = (*model.LIMITS, *(f"Where the local judge decides: {one}" for one in LOCAL_LIMITS))
    return JudgeNote(judge_id, " ".join(part for part in parts if part), limits)


def saved(use: JudgeUse | None) -> str:
    """How much the local half decided; "" where nothing was counted."""
    if use is None or not use.verdicts:
        return ""
    share = use.local / use.verdicts
    return (
        f"Here the local judge decided {use.local:,} of {use.verdicts:,} claims and passages ({share:.0%}) and "
        f"answered {use.spared:,} questions alone: as many calls saved, at least.{agreement(use)}"
    )


def agreement(use: JudgeUse) -> str:
    """How often both halves lean the same way where both judged; "" where they never did."""
    if not use.both:
        return ""
    return (
        f" On {use.both:,} that it was not sure of, it leant the way that the model decided in {use.same:,} "
        f"({use.same / use.both:.0%})."
    )
