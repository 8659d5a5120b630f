"""The hybrid judge: the local judge decides what it is sure of, a model the uncertain middle.

What a report says about a hybrid judge: who decides what, and how much the local half saved.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.example import Turn
from ragauge.core.facts import AnswerFacts, Claim, Rating, ReferenceClaim, ReferenceFacts, RelevanceFacts
from ragauge.core.identity import digest
from ragauge.judges.inputs import Inputs, Rate, RateAnswer, VerifyAnswer, VerifyReference
from ragauge.judges.judge import Asking
from ragauge.judges.local.judge import LIMITS as LOCAL_LIMITS
from ragauge.judges.local.judge import LocalJudge, middle
from ragauge.judges.model import judge as model
from ragauge.judges.model.judge import ModelJudge
from ragauge.judges.model.prepare import Prepared
from ragauge.judges.model.question_spec import passage_batches
from ragauge.judges.model.verify_reference import check, judged
from ragauge.scores.results.judge_usage import JudgeUse
from ragauge.scores.results.scorecard import JudgeNote

PREFIX = "hybrid:"


class HybridJudge:
    """A judge of its own: its runs compare only with each other.

    Of claims, reference claims and passages the local judge decides those whose probability lies outside its middle
    band; the model is asked about the others, in one call an answer, and not at all where there are none. What the
    local judge has no probability for (agreement, aspects, criteria, guessed questions) the model answers.
    """

    def __init__(self, model: ModelJudge) -> None:
        self.model, self.local = model, LocalJudge()
        self.band = middle()

    @staticmethod
    def of(text: str) -> HybridJudge:
        """The judge that a spec names, such as hybrid:openai:gpt-5-mini."""
        return HybridJudge(ModelJudge.of(text.removeprefix(PREFIX)))

    @property
    def judge_id(self) -> str:
        """Such as "hybrid:openai:gpt-5-mini#5b0c1f7e", the hash over both judges and the band."""
        main, _, _ = self.model.judge_id.partition("#")
        return f"{PREFIX}{main}#{digest([self.model.judge_id, self.local.judge_id, self.band])[:8]}"

    def version(self, question: str) -> int:
        """Both judges' versions of the question in one number."""
        return 100 * self.local.version(question) + self.model.version(question)

    def answers(self, question: str) -> bool:
        """Whether this judge can answer the question at all."""
        return self.model.answers(question)

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> Asking:
        """The local judge's asks (vectors) first, then the model's about what is uncertain."""
        own = MIXED.get(inputs.question)
        return self.model.ask(inputs, judge_repeat) if own is None else own(self, inputs, judge_repeat)

    def model_of(self, ask: Ask) -> ModelName:
        """Who answers a chat ask."""
        return self.model.model_of(ask)

    def embedder_of(self, ask: Ask) -> ModelName | None:
        """Who answers an embed ask; None = the embedded embedder, which the local judge is calibrated with."""
        return self.model.embedder_of(ask)

    def models(self) -> tuple[ModelName, ...]:
        """Every model that may be asked."""
        return self.model.models()

    def reworded(self, templates: Mapping[str, str]) -> HybridJudge | None:
        """The same judge whose model is asked by other templates; None where it has wording of its own."""
        worded = self.model.reworded(templates)
        return None if worded is None else HybridJudge(worded)

    def prepare(
        self, query: str, reference: str, history: Sequence[Turn] = ()
    ) -> Generator[list[Ask], list[Reply], Prepared]:
        """The model's generator of `prepare`: the local judge cannot write claims."""
        return self.model.prepare(query, reference, history)

    def unsure(self, p: float | None) -> bool:
        """Whether the local judge cannot tell."""
        return p is not None and self.band[0] <= p <= self.band[1]


def _answer(judge: HybridJudge, inputs: VerifyAnswer, judge_repeat: int) -> Asking:
    facts = yield from judge.local.ask(inputs, judge_repeat)
    if not isinstance(facts, AnswerFacts) or not inputs.passages:
        return facts
    unsure = [claim for claim in facts.claims if claim.text and judge.unsure(claim.p)]
    asked = judge.model.asked(inputs.question, judge_repeat)
    parts = passage_batches(inputs.passages, asked.settings.pack)
    texts = [claim.text or "" for claim in unsure]
    checked = yield from check(inputs.query, texts, parts, asked, inputs.history)
    decided: dict[int, Claim] = {}
    for claim, supports in zip(unsure, checked.supports, strict=True):
        plain = Claim(claim.n, claim.text, claim.start, claim.end, within=claim.within)
        decided[claim.n] = judged(plain, supports, parts, checked.reason)
    claims = tuple(decided.get(claim.n, claim) for claim in facts.claims)
    both, same = _agreeing(
        [(bool(mine.supporting), bool(decided[mine.n].supporting)) for mine in unsure if decided[mine.n].status == "ok"]
    )
    parted = max(1, len(parts)) if unsure else 1
    return replace(facts, claims=claims, parts=parted, both=both, same=same, unnamed=checked.unnamed)


def _reference(judge: HybridJudge, inputs: VerifyReference, judge_repeat: int) -> Asking:
    facts = yield from judge.local.ask(inputs, judge_repeat)
    if not isinstance(facts, ReferenceFacts):
        return facts
    unsure = [claim for claim in facts.claims if judge.unsure(claim.p)]
    if not unsure or not inputs.passages:
        return facts
    smaller = replace(inputs, claims=tuple(claim.text for claim in unsure))
    answer = yield from judge.model.ask(smaller, judge_repeat)
    decided: dict[int, ReferenceClaim] = {}
    if isinstance(answer, ReferenceFacts):
        decided = {mine.n: replace(claim, n=mine.n) for mine, claim in zip(unsure, answer.claims, strict=True)}
    parts = answer.parts if isinstance(answer, ReferenceFacts) else 1
    pairs = [(mine.supporting, decided[mine.n].supporting) for mine in unsure if mine.n in decided]
    both, same = _agreeing([(bool(mine), bool(other)) for mine, other in pairs if other is not None])
    claims = tuple(decided.get(claim.n, claim) for claim in facts.claims)
    unnamed, reason = (answer.unnamed, answer.reason) if isinstance(answer, ReferenceFacts) else (0, "")
    return ReferenceFacts(claims, parts, both, same, unnamed, reason)


def _ratings(judge: HybridJudge, inputs: Rate, judge_repeat: int) -> Asking:
    """The model rates the passages that hold something uncertain, each whole; only the uncertain ratings are taken."""
    facts = yield from judge.local.ask(inputs, judge_repeat)
    if not isinstance(facts, RelevanceFacts):
        return facts
    unsure = {(rating.passage, rating.sentence) for rating in facts.ratings if judge.unsure(rating.p)}
    wanted = sorted({passage for passage, _ in unsure})
    if not wanted:
        return facts
    texts = tuple(inputs.passages[n - 1] for n in wanted)
    smaller = inputs if isinstance(inputs, RateAnswer) else replace(inputs, passages=texts)
    answer = yield from judge.model.ask(smaller, judge_repeat)
    decided: dict[tuple[int, int | None], Rating] = {}
    if isinstance(answer, RelevanceFacts):
        for rated in answer.ratings:
            passage = wanted[rated.passage - 1]
            if (passage, rated.sentence) in unsure:
                decided[passage, rated.sentence] = replace(rated, passage=passage)
    pairs = [
        (rating.relevant, decided[pair].relevant)
        for rating in facts.ratings
        if (pair := (rating.passage, rating.sentence)) in decided
    ]
    both, same = _agreeing([(bool(mine), other) for mine, other in pairs if other is not None])
    ratings = tuple(decided.get((rating.passage, rating.sentence), rating) for rating in facts.ratings)
    return replace(facts, ratings=ratings, both=both, same=same)


def _agreeing(pairs: Sequence[tuple[bool, bool]]) -> tuple[int, int]:
    """How many verdicts both judges gave, and in how many both lean the same way."""
    return len(pairs), sum(mine == other for mine, other in pairs)


MIXED: Mapping[str, Callable[[HybridJudge, Any, int], Asking]] = {
    "verify_answer": _answer,
    "verify_reference": _reference,
    "rate_passages": _ratings,
    "rate_sentences": _ratings,
    "rate_answer": _ratings,
}


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
        f"{question} {'/'.join(f'{version // 100}+{version % 100}' for version in found_versions)}"
        for question, found_versions in versions.items()
    )
    parts = [
        f"The embedded local judge decides the claims and passages that it is sure of (p below {low:g} or above "
        f"{high:g}), a language model the others and everything else.",
        model.who(judge_id.removeprefix(PREFIX), spec.removeprefix(PREFIX)),
        saved(use),
        f"Questions, with the versions of both: {asked}." if asked else "",
    ]
    limits = (*model.LIMITS, *(f"Where the local judge decides: {limit}" for limit in LOCAL_LIMITS))
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
