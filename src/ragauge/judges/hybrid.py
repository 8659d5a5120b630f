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
from ragauge.core.identity import hash_json
from ragauge.judges.inputs import Inputs, Rate, RateAnswer, VerifyAnswer, VerifyReference
from ragauge.judges.judge import AskGenerator
from ragauge.judges.local.judge import LIMITS as LOCAL_LIMITS
from ragauge.judges.local.judge import LocalJudge, read_middle_band
from ragauge.judges.model import judge as model
from ragauge.judges.model.judge import ModelJudge
from ragauge.judges.model.prepare import PreparationResult
from ragauge.judges.model.question_spec import batch_passages
from ragauge.judges.model.verify_reference import apply_supports, check_claims
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
        self.band = read_middle_band()

    @staticmethod
    def of(text: str) -> HybridJudge:
        """The judge that a spec names, such as hybrid:openai:gpt-5-mini."""
        return HybridJudge(ModelJudge.of(text.removeprefix(PREFIX)))

    @property
    def judge_id(self) -> str:
        """Such as "hybrid:openai:gpt-5-mini#5b0c1f7e", the hash over both judges and the band."""
        main, _, _ = self.model.judge_id.partition("#")
        return f"{PREFIX}{main}#{hash_json([self.model.judge_id, self.local.judge_id, self.band])[:8]}"

    def version(self, question: str) -> int:
        """Both judges' versions of the question in one number."""
        return 100 * self.local.version(question) + self.model.version(question)

    def answers(self, question: str) -> bool:
        """Whether this judge can answer the question at all."""
        return self.model.answers(question)

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
        """The local judge's asks (vectors) first, then the model's about what is uncertain."""
        ask_mixed = MIXED_QUESTIONS.get(inputs.question)
        return self.model.ask(inputs, judge_repeat) if ask_mixed is None else ask_mixed(self, inputs, judge_repeat)

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
    ) -> Generator[list[Ask], list[Reply], PreparationResult]:
        """The model's generator of `prepare`: the local judge cannot write claims."""
        return self.model.prepare(query, reference, history)

    def is_unsure(self, p: float | None) -> bool:
        """Whether the local judge cannot tell."""
        return p is not None and self.band[0] <= p <= self.band[1]


def _judge_answer(judge: HybridJudge, inputs: VerifyAnswer, judge_repeat: int) -> AskGenerator:
    facts = yield from judge.local.ask(inputs, judge_repeat)
    if not isinstance(facts, AnswerFacts) or not inputs.passages:
        return facts
    unsure = [claim for claim in facts.claims if claim.text and judge.is_unsure(claim.p)]
    question_spec = judge.model.asked(inputs.question, judge_repeat)
    batches = batch_passages(inputs.passages, question_spec.settings.pack)
    texts = [claim.text or "" for claim in unsure]
    support_replies = yield from check_claims(inputs.query, texts, batches, question_spec, inputs.history)
    decided: dict[int, Claim] = {}
    for claim, supports in zip(unsure, support_replies.supports, strict=True):
        open_claim = Claim(claim.n, claim.text, claim.start, claim.end, within=claim.within)
        decided[claim.n] = apply_supports(open_claim, supports, batches, support_replies.reason)
    claims = tuple(decided.get(claim.n, claim) for claim in facts.claims)
    both, same = _count_agreement(
        [
            (bool(unsure_claim.supporting), bool(decided[unsure_claim.n].supporting))
            for unsure_claim in unsure
            if decided[unsure_claim.n].status == "ok"
        ]
    )
    n_batches = max(1, len(batches)) if unsure else 1
    return replace(facts, claims=claims, parts=n_batches, both=both, same=same, unnamed=support_replies.unnamed)


def _judge_reference(judge: HybridJudge, inputs: VerifyReference, judge_repeat: int) -> AskGenerator:
    facts = yield from judge.local.ask(inputs, judge_repeat)
    if not isinstance(facts, ReferenceFacts):
        return facts
    unsure = [claim for claim in facts.claims if judge.is_unsure(claim.p)]
    if not unsure or not inputs.passages:
        return facts
    smaller = replace(inputs, claims=tuple(claim.text for claim in unsure))
    answer = yield from judge.model.ask(smaller, judge_repeat)
    decided: dict[int, ReferenceClaim] = {}
    if isinstance(answer, ReferenceFacts):
        decided = {local.n: replace(claim, n=local.n) for local, claim in zip(unsure, answer.claims, strict=True)}
    n_batches = answer.parts if isinstance(answer, ReferenceFacts) else 1
    pairs = [(local.supporting, decided[local.n].supporting) for local in unsure if local.n in decided]
    both, same = _count_agreement([(bool(local), bool(other)) for local, other in pairs if other is not None])
    claims = tuple(decided.get(claim.n, claim) for claim in facts.claims)
    unnamed, reason = (answer.unnamed, answer.reason) if isinstance(answer, ReferenceFacts) else (0, "")
    return ReferenceFacts(claims, n_batches, both, same, unnamed, reason)


def _judge_relevance(judge: HybridJudge, inputs: Rate, judge_repeat: int) -> AskGenerator:
    """The model rates the passages that hold something uncertain, each whole; only the uncertain ratings are taken."""
    facts = yield from judge.local.ask(inputs, judge_repeat)
    if not isinstance(facts, RelevanceFacts):
        return facts
    unsure = {(rating.passage, rating.sentence) for rating in facts.ratings if judge.is_unsure(rating.p)}
    passage_numbers = sorted({passage for passage, _ in unsure})
    if not passage_numbers:
        return facts
    texts = tuple(inputs.passages[n - 1] for n in passage_numbers)
    smaller = inputs if isinstance(inputs, RateAnswer) else replace(inputs, passages=texts)
    answer = yield from judge.model.ask(smaller, judge_repeat)
    decided: dict[tuple[int, int | None], Rating] = {}
    if isinstance(answer, RelevanceFacts):
        for rated in answer.ratings:
            passage = passage_numbers[rated.passage - 1]
            if (passage, rated.sentence) in unsure:
                decided[passage, rated.sentence] = replace(rated, passage=passage)
    pairs = [
        (rating.relevant, decided[pair].relevant)
        for rating in facts.ratings
        if (pair := (rating.passage, rating.sentence)) in decided
    ]
    both, same = _count_agreement([(bool(local), other) for local, other in pairs if other is not None])
    ratings = tuple(decided.get((rating.passage, rating.sentence), rating) for rating in facts.ratings)
    return replace(facts, ratings=ratings, both=both, same=same)


def _count_agreement(pairs: Sequence[tuple[bool, bool]]) -> tuple[int, int]:
    """How many verdicts both judges gave, and in how many both lean the same way."""
    return len(pairs), sum(local == other for local, other in pairs)


MIXED_QUESTIONS: Mapping[str, Callable[[HybridJudge, Any, int], AskGenerator]] = {
    "verify_answer": _judge_answer,
    "verify_reference": _judge_reference,
    "rate_passages": _judge_relevance,
    "rate_sentences": _judge_relevance,
    "rate_answer": _judge_relevance,
}


def build_judge_note(
    judge_id: str, spec: str, versions: Mapping[str, tuple[int, ...]], use: JudgeUse | None
) -> JudgeNote:
    """What is to be said of a hybrid judge.

    Args:
        judge_id: whose verdicts.
        spec: the text that it is built from; "" where it is not known.
        versions: question -> the versions in which it was asked: hundreds of the local judge, units of the model.
        use: what was counted.
    """
    low, high = read_middle_band()
    questions = ", ".join(
        f"{question} {'/'.join(f'{version // 100}+{version % 100}' for version in found_versions)}"
        for question, found_versions in versions.items()
    )
    sentences = [
        f"The embedded local judge decides the claims and passages that it is confident about (p below {low:g} or "
        f"above {high:g}). A language model decides the others and everything else.",
        model.describe_models(judge_id.removeprefix(PREFIX), spec.removeprefix(PREFIX)),
        describe_savings(use),
        f"Judge questions, with the versions of both: {questions}." if questions else "",
    ]
    limits = (*model.LIMITS, *(f"When the local judge decides: {limit}" for limit in LOCAL_LIMITS))
    return JudgeNote(judge_id, " ".join(sentence for sentence in sentences if sentence), limits)


def describe_savings(use: JudgeUse | None) -> str:
    """How much the local half decided; "" where nothing was counted."""
    if use is None or not use.verdicts:
        return ""
    share = use.local / use.verdicts
    return (
        f"Here the local judge decided {use.local:,} of {use.verdicts:,} claims and passages ({share:.0%}) and "
        f"answered {use.spared:,} judge questions by itself, which saved at least as many "
        f"calls.{describe_agreement(use)}"
    )


def describe_agreement(use: JudgeUse) -> str:
    """How often both halves lean the same way where both judged; "" where they never did."""
    if not use.both:
        return ""
    return (
        f" On {use.both:,} that it was not confident about, it leaned the same way as the model in {use.same:,} "
        f"({use.same / use.both:.0%})."
    )
