"""The local judge: offline, without a key, in the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragauge.errors import JudgeError
from ragauge.judging import similarity
from ragauge.judging.inputs import Inputs
from ragauge.judging.judge import Asking
from ragauge.judging.local import agree, cover, rate_passages, verify_answer, verify_reference
from ragauge.judging.local.weights import fingerprint

GENERATION = 4     # raised when the code that scores changes a verdict

ASKED: Mapping[str, tuple[int, Callable[[Any, int], Asking]]] = {
    "verify_answer": (verify_answer.VERSION, verify_answer.verify_answer),
    "verify_reference": (verify_reference.VERSION, verify_reference.verify_reference),
    "rate_passages": (rate_passages.VERSION, rate_passages.rate_passages),
    "rate_sentences": (rate_passages.VERSION, rate_passages.rate_passages),
    "rate_answer": (rate_passages.VERSION, rate_passages.rate_passages),
    "agree": (agree.VERSION, agree.agree),
    "cover_aspects": (cover.VERSION, cover.cover_aspects),
    "cover_criteria": (cover.VERSION, cover.cover_criteria),
    "similarity": (similarity.VERSION, similarity.similarity),
}


class LocalJudge:
    """Judges by the words that claims and passages share, with weights learned from human labels.

    It asks for vectors only (kind "embed", one list a question at most) and does without where they fail. The same
    inputs and vectors give the same facts in every process. It does not answer `guess_questions`, which takes reading.
    """

    @property
    def judge_id(self) -> str:
        """Such as "local:overlap-1-3f9a0c21": generation of the code and hash of the weights."""
        return f"local:overlap-{GENERATION}-{fingerprint()}"

    def version(self, question: str) -> int:
        """Version of the question as this judge asks it; 0 for one that it does not answer."""
        return ASKED[question][0] if question in ASKED else 0

    def answers(self, question: str) -> bool:
        """Whether this judge can answer the question at all."""
        return question in ASKED

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> Asking:
        """A generator that yields at most one list of one embed ask and returns the facts."""
        if inputs.question not in ASKED:
            raise JudgeError(f"the local judge does not answer {inputs.question}; use a model judge.")
        return ASKED[inputs.question][1](inputs, judge_repeat)
