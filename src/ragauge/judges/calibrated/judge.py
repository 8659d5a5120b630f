"""The calibrated judge, and which sentences of an answer trained it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ragauge.core.ask import Ask, ModelName
from ragauge.core.errors import DataError
from ragauge.core.facts import AnswerFacts, Claim
from ragauge.core.identity import hash_json
from ragauge.core.label import build_label_key
from ragauge.judges.calibrated.file import KEY_HEX_DIGITS, CalibrationFile
from ragauge.judges.calibrated.lexical_features import (
    MeasuredPassages,
    compute_log_odds,
    compute_probability,
    find_weakest_claim,
)
from ragauge.judges.inputs import Inputs, VerifyAnswer
from ragauge.judges.judge import AskGenerator, AsksModels, Judge, can_ask_models, reword_judge
from ragauge.judges.local.judge import SHARPEN_NOTE
from ragauge.scores.calibration import describe_weakness, is_constant
from ragauge.scores.results.scorecard import JudgeNote
from ragauge.stats.calibration import Recalibration
from ragauge.text.sentences import split_sentences
from ragauge.text.tokens import fold_text, split_words
from ragauge.text.tokens import normalize_answer as bare


def normalize_for_match(text: str) -> str:
    """A text for comparing: without case, punctuation and white space; of signs alone, the signs."""
    return bare(text) or fold_text(text)


def compute_marks(passages: Sequence[str], texts: Sequence[str]) -> list[str]:
    """What each text is recognized by: a hash of it as normalized for matching, and of the words of its passages.

    The passages count as the set of their words: order, repetition and where one ends and the next begins make no
    difference, and neither does the question, which a list of claims often lacks.

    Args:
        passages: what the texts are held against.
        texts: answers, sentences or parts of them.
    """
    passages_digest = hash_json(
        sorted({word for passage in passages for word in split_words(passage) or [fold_text(passage)]})
    )
    return [hash_json([passages_digest, normalize_for_match(text)])[:KEY_HEX_DIGITS] for text in texts]


class TrainingOverlap:
    """The folds of the models that did not see what is known of an answer.

    Args:
        folds: mark of a text that trained -> the place of its fold.
        passages: what the answer is held against.
        answer: its text.
        whole: the fold of the whole answer where that is known otherwise.
    """

    def __init__(
        self, folds: Mapping[str, int], passages: Sequence[str], answer: str, answer_fold: int | None = None
    ) -> None:
        sentences = split_sentences(answer)
        answer_mark, *sentence_marks = compute_marks(passages, [answer, *(sentence.text for sentence in sentences)])
        self._whole = folds.get(answer_mark, answer_fold)
        spans = (
            (sentence.start, sentence.end, folds.get(mark))
            for sentence, mark in zip(sentences, sentence_marks, strict=True)
        )
        self._sentences = [(start, end, fold) for start, end, fold in spans if fold is not None]

    def find_fold(self, start: int, end: int) -> int | None:
        """The fold for the claims in `answer[start:end]`; None = nothing of the answer trained the judge.

        That of the first known sentence there; where none is, that of the whole answer, or of its first known sentence.
        """
        overlapping = (
            fold
            for sentence_start, sentence_end, fold in self._sentences
            if sentence_start < end and sentence_end > start
        )
        first = self._sentences[0][2] if self._sentences else None
        return next(overlapping, first if self._whole is None else self._whole)


PREFIX = "calibrated:"
MIN_SUPPORTED_P = 0.5  # from this probability on a claim is called supported
NO_VERDICT = "after calibration, this judge gives every claim nearly the same probability"


def build_text_key(inputs: VerifyAnswer) -> str:
    """The key of a labelled text, and in older files of a judge: of question, passages and answer, as of labels."""
    return build_label_key("support", inputs.query, inputs.passages or (), inputs.answer, history=inputs.history)[
        :KEY_HEX_DIGITS
    ]


def group_claims(claims: Sequence[Claim]) -> list[list[Claim]]:
    """The claims with a verdict, those of one sentence together, in order."""
    groups: dict[tuple[int, int], list[Claim]] = {}
    for claim in claims:
        if claim.label is not None and claim.text:
            groups.setdefault(claim.within or (claim.start, claim.end), []).append(claim)
    return list(groups.values())


@dataclass(frozen=True)
class CalibratedJudge:
    """Asks through its base; what the base says of an answer's claims is then recalibrated.

    Where its labels are of whole answers, an answer is one claim, as it is to people who label it so: its probability
    is that all of it holds, which does not follow from those of its claims.

    A text that trained the file is judged by the model that was fitted without it, so that wherever its labels are
    used, its probability is one that they did not fit; see `TrainingOverlap`. All other questions are the base's.

    Args:
        base: who is asked.
        file: what was learned.
    """

    base: Judge
    file: CalibrationFile

    @property
    def judge_id(self) -> str:
        """Such as "calibrated:openai:gpt-5-mini#5b0c1f7e", the hash over the whole file, which names the base."""
        main, _, _ = self.base.judge_id.partition("#")
        return f"{PREFIX}{main}#{self.file.compute_hash()}"

    @property
    def n_controls(self) -> int | None:
        """As many pairs of known truth as its base is asked about."""
        return getattr(self.base, "n_controls", None)

    def version(self, question: str) -> int:
        """The base's version of the question."""
        return self.base.version(question)

    def answers(self, question: str) -> bool:
        """Whether the base can answer the question at all."""
        return self.base.answers(question)

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
        """The base's asks; the facts are the base's but for the support of an answer's claims."""
        facts = yield from self.base.ask(inputs, judge_repeat)
        if not isinstance(inputs, VerifyAnswer) or not isinstance(facts, AnswerFacts) or not inputs.passages:
            return facts
        return self.recalibrate(inputs, facts)

    def recalibrate(self, inputs: VerifyAnswer, facts: AnswerFacts) -> AnswerFacts:
        """The base's facts with calibrated support.

        Where the calibrated probabilities are as good as one number, no claim has a verdict: a constant is no
        measurement.
        """
        if not facts.claims or not inputs.passages:
            return facts
        if is_constant(self.file.figures):
            open_claims = (Claim(c.n, c.text, c.start, c.end, "failed", reason=NO_VERDICT) for c in facts.claims)
            return replace(facts, claims=tuple(open_claims))
        measured = MeasuredPassages(inputs.passages, [claim.text or "" for claim in facts.claims])
        overlap = self._find_overlap(inputs)
        if self.file.by == "answer":
            model = self._select_model(overlap.find_fold(0, len(inputs.answer)))
            return replace(facts, claims=(build_whole_claim(inputs.answer, facts.claims, model, measured),))
        moved: dict[int, Claim] = {}
        for claims in group_claims(facts.claims):
            features = measured.compute_features(claims)
            model = self._select_model(overlap.find_fold(*(claims[0].within or (claims[0].start, claims[0].end))))
            moved |= {claim.n: recalibrate_claim(claim, model, features) for claim in claims}
        return replace(facts, claims=tuple(moved.get(claim.n, claim) for claim in facts.claims))

    def trained_on(self, inputs: VerifyAnswer) -> bool:
        """Whether the file was learned from a text, or from a sentence of it beside the same passages."""
        return self._find_overlap(inputs).find_fold(0, len(inputs.answer)) is not None

    def reworded(self, templates: Mapping[str, str]) -> CalibratedJudge | None:
        """The same judge whose base is asked by other templates; None where it cannot be."""
        worded = reword_judge(self.base, templates)
        return None if worded is None else replace(self, base=worded)

    def _find_overlap(self, inputs: VerifyAnswer) -> TrainingOverlap:
        answer_fold = self.file.trained_on.get(build_text_key(inputs))
        return TrainingOverlap(self.file.marks, inputs.passages or (), inputs.answer, answer_fold)

    def _select_model(self, fold: int | None) -> Recalibration:
        return (self.file.model if fold is None else self.file.folds[fold]).to_recalibration()


@dataclass(frozen=True)
class CalibratedModelJudge(CalibratedJudge):
    """The same on top of a judge that asks models."""

    base: AsksModels

    def model_of(self, ask: Ask) -> ModelName:
        """Who answers a chat ask."""
        return self.base.model_of(ask)

    def embedder_of(self, ask: Ask) -> ModelName | None:
        """Who answers an embed ask; None = the embedded embedder."""
        find_embedder = getattr(self.base, "embedder_of", None)
        embedder: ModelName | None = None if find_embedder is None else find_embedder(ask)
        return embedder

    def models(self) -> Sequence[ModelName]:
        """Every model that may be asked."""
        return self.base.models()


def recalibrate_claim(claim: Claim, model: Recalibration, features: Sequence[float]) -> Claim:
    """A claim with its new probability, and the verdict that follows from it; as it was where nothing moves.

    A claim that becomes supported is so by the passage that the base looked at.
    """
    z = compute_log_odds(claim.chance)
    shift = model.compute_shift(z, features)
    if shift == 0:
        return claim
    p = compute_probability(z + shift)
    if (p >= MIN_SUPPORTED_P) == bool(claim.supporting):
        return replace(claim, p=p)
    if p < MIN_SUPPORTED_P:
        return replace(claim, p=p, supporting=(), joint=False, strength=None)
    passage = claim.window.passage if claim.window is not None else min(claim.contradicting, default=1)
    return replace(claim, p=p, supporting=(passage,), joint=False, contradicting=(), strength="direct")


def build_whole_claim(answer: str, claims: Sequence[Claim], model: Recalibration, measured: MeasuredPassages) -> Claim:
    """An answer as one claim: how likely all of it holds, from where its weakest claim stands.

    Args:
        answer: its text.
        claims: the base's, at least one.
        model: what was learned from labels of whole answers.
        measured: the passages.
    """
    whole_claim = Claim(1, answer.strip(), 0, len(answer))
    lacking = next((claim for claim in claims if claim.label is None or not claim.text), None)
    if lacking is not None:
        return replace(whole_claim, status="failed", reason=lacking.reason or "no verdict on one of its claims")
    weakest_claim = find_weakest_claim(claims)
    moved_claim = recalibrate_claim(weakest_claim, model, measured.compute_features(claims))
    answer_claim = replace(
        whole_claim,
        p=moved_claim.p,
        window=weakest_claim.window,
        reason=weakest_claim.reason or f"its weakest claim: {weakest_claim.text}",
        contradicting=tuple(sorted({n for claim in claims for n in claim.contradicting})),
    )
    if not moved_claim.supporting:
        return answer_claim
    numbers = tuple(sorted({n for claim in (*claims, moved_claim) for n in claim.supporting}))
    implied = any(claim.strength == "implied" for claim in claims)
    return replace(
        answer_claim,
        supporting=numbers,
        joint=len(numbers) > 1,
        contradicting=(),
        strength="implied" if implied else "direct",
    )


def build_calibrated_judge(file: CalibrationFile, base: Judge, source: str) -> CalibratedJudge:
    """The judge of a file and its base.

    Args:
        file: what was learned.
        base: built from the file's spec.
        source: name of the file, for what is refused.

    Raises:
        DataError: the base is not the judge that the file was made for.
    """
    if base.judge_id != file.base.judge_id:
        raise DataError(
            f"was made for the judge {file.base.judge_id}, but {file.base.spec} is now {base.judge_id}.",
            source=source,
            hint="A calibration is valid only for the judge it was made for. Calibrate again: ragauge judge calibrate.",
        )
    return CalibratedModelJudge(base, file) if can_ask_models(base) else CalibratedJudge(base, file)


CROSS_FITTED_NOTE = (
    "Texts used for training are judged by a model fitted without their labels (cross-fitted), so checks and "
    "label-corrected means with these labels never use a probability fitted to them."
)


def build_judge_note(judge_id: str, file: CalibrationFile | None, base: JudgeNote) -> JudgeNote:
    """What is to be said of a calibrated judge.

    Args:
        judge_id: whose verdicts.
        file: what it was made from; None where that is not there any more.
        base: what is said of the judge that it asks.
    """
    limits = tuple(limit for limit in base.limits if limit != SHARPEN_NOTE)
    weak = "" if file is None else describe_weakness(file.figures)
    limits = (weak, *limits) if weak else limits
    if file is None:
        what = "Calibrated on human labels; the file that lists them no longer exists."
        return replace(
            base, judge_id=judge_id, what=f"{what} {base.what}", limits=(*limits, CROSS_FITTED_NOTE), observed=""
        )
    learned, figures = file.learned_from, file.figures
    by = f", guideline {learned.guideline}" if learned.guideline else ""
    what = (
        f"Calibrated on {learned.labels:,} labels of {learned.answers:,} answers ({learned.source}{by}): "
        f"{file.chosen}. Underneath: {base.what}"
    )
    changes = [
        f"{name} {figures[f'{key}_before']:.3f} before, {figures[f'{key}_after']:.3f} after"
        for name, key in (("Brier score", "brier"), ("AUROC", "auroc"))
        if figures.get(f"{key}_before") is not None and figures.get(f"{key}_after") is not None
    ]
    observed = f"On these labels, cross-fitted: {'; '.join(changes)}." if changes else ""
    return replace(base, judge_id=judge_id, what=what, limits=(*limits, CROSS_FITTED_NOTE), observed=observed)
