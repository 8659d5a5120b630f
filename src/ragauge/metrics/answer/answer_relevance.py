"""Answer relevance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.core.errors import UsageError
from ragauge.metrics.base import Metric, Needs, Ratio, Undefined, compute_mean

WORTH = (1.0, 0.5, 0.0)  # of addressing the question fully, partly, and not


@dataclass(frozen=True, slots=True)
class AnswerRelevance(Metric):
    """How far the answer addresses the question, true or not.

    answer_relevance                  = 1 if it addresses the question fully, 0.5 if partly, 0 if not; its expected
                                        value where the judge has probabilities
    answer_relevance:by=sentence      = #{j : s[j] = 1} / n; Σ s[j] / n where the judge has probabilities
    answer_relevance:method=questions = mean over g of cos(question, g)

    s[j]  sentence j of the answer bears on the question; its probability where known
    n     sentences of the answer
    g     questions guessed from the answer alone
    cos   cosine of the two embeddings

    by=sentence looks for what was not asked, without reference or passages: a full answer and as much beside it is 0.5.
    method=questions needs an embedder and has the range [-1, 1]; its values depend on the embedder.
    A refusal is 0, because refusing must not pay, unless the question is known to be unanswerable.
    Undefined when an unanswerable question is refused, no question can be guessed or the answer has no sentencess.
    Not applicable when the answer was not recorded.
    Source: RAGAS, arXiv:2309.15217: questions and (there of the context) sentences; grades: ARES, arXiv:2311.09476.

    >>> AnswerRelevance().value(refuse=False, expected=True, addressed=(0.0, 1.0, 0.0))
    0.5
    >>> AnswerRelevance(by="sentence").value(refuse=False, expected=True, sentences=[1.0, 1.0, 0.0])
    Ratio(numerator=2.0, denominator=3)
    >>> AnswerRelevance(method="questions").value(refuse=False, expected=True, cosines=[0.5, 1.0])
    0.75
    """

    aliases: ClassVar = {"answer_relevancy": {}, "response_relevancy": {}, "response_relevance": {}}
    measures: ClassVar = "generation"
    separable: ClassVar = True
    version: ClassVar = 2

    method: Literal["judged", "questions"] = "judged"
    by: Literal["answer", "sentence"] = "answer"

    def __post_init__(self) -> None:
        if self.by == "sentence" and self.method != "judged":
            raise UsageError(f"answer_relevance: by=sentence needs method=judged, got {self.method}. Remove one.")

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]     # depends on the parameter
        """[0, 1] judged, [-1, 1] by questions."""
        return (0.0, 1.0) if self.method == "judged" else (-1.0, 1.0)

    @property
    def needs(self) -> Needs:
        always = {"refuse": "verify_answer.refuse", "expected": "set.expected"}
        if self.by == "sentence":
            return {**always, "sentences": "rate_answer.chance"}
        judged_need = {"addressed": "verify_answer.addressed"}
        return {**always, **(judged_need if self.method == "judged" else {"cosines": "guess_questions.cosines"})}

    def value(
        self,
        refuse: bool,
        expected: bool,
        addressed: tuple[float, float, float] | None = None,
        cosines: Sequence[float] = (),
        sentences: Sequence[float] = (),
    ) -> Ratio | float | Undefined:
        if refuse:
            return 0.0 if expected else Undefined("an unanswerable question was refused")
        if self.by == "sentence":
            return Ratio.count_items(sentences) if sentences else Undefined("the answer has no sentences")
        if addressed is not None:
            return sum(worth * p for worth, p in zip(WORTH, addressed, strict=True))
        nothing = Undefined("the judge could not derive a question from the answer")
        return compute_mean(cosines) if cosines else nothing
