"""Answer relevance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.data.facts import Address
from ragauge.metrics.base import Metric, Needs, Undefined

WORTH: Mapping[Address, float] = {"fully": 1.0, "partly": 0.5, "no": 0.0}


@dataclass(frozen=True, slots=True)
class AnswerRelevance(Metric):
    """How far the answer addresses the question, true or not.

    answer_relevance                  = 1 if it addresses the question fully, 0.5 if partly, 0 if not
    answer_relevance:method=questions = mean over g of cos(question, g)

    g    questions guessed from the answer alone
    cos  cosine of the two embeddings

    method=questions needs an embedder and has the range [-1, 1]; its values depend on the embedder.
    A refusal is 0, because refusing must not pay, unless the question is known to be unanswerable.
    Undefined when an unanswerable question is refused, or no question can be guessed. Not applicable when the answer
    was not recorded.
    Source: RAGAS, arXiv:2309.15217, for method=questions; judged grades after ARES, arXiv:2311.09476.

    >>> AnswerRelevance().value(refuse=False, expected=True, address="partly")
    0.5
    >>> AnswerRelevance().value(refuse=True, expected=True, address="no")
    0.0
    >>> AnswerRelevance(method="questions").value(refuse=False, expected=True, cosines=[0.5, 1.0])
    0.75
    """

    measures: ClassVar = "generation"
    separable: ClassVar = True

    method: Literal["judged", "questions"] = "judged"

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]     # depends on the parameter
        """[0, 1] judged, [-1, 1] by questions."""
        return (0.0, 1.0) if self.method == "judged" else (-1.0, 1.0)

    @property
    def needs(self) -> Needs:
        always = {"refuse": "verify_answer.refuse", "expected": "set.expected"}
        if self.method == "judged":
            return {**always, "address": "verify_answer.address"}
        return {**always, "cosines": "guess_questions.cosines"}

    def value(
        self, refuse: bool, expected: bool, address: Address | None = None, cosines: Sequence[float] = ()
    ) -> float | Undefined:
        if refuse:
            return 0.0 if expected else Undefined("an unanswerable question was refused")
        if address is not None:
            return WORTH[address]
        if not cosines:
            return Undefined("no question could be guessed from the answer")
        return sum(cosines) / len(cosines)
