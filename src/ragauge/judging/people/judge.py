"""People as a judge: their labels of an answer's sentences fill the evidence that models' verdicts fill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ragauge.analysis.results.scorecard import JudgeNote
from ragauge.data.facts import AnswerFacts, Claim, Rating, RelevanceFacts
from ragauge.data.label import (
    BY_KIND,
    BY_RELEVANCE,
    BY_SUPPORT,
    NO_CLAIM,
    UNSURE,
    Label,
    Part,
    label_key,
    last_said,
)
from ragauge.errors import JudgeError
from ragauge.judging.inputs import Inputs, RatePassages, VerifyAnswer
from ragauge.judging.judge import Asking
from ragauge.text.sentences import split

PREFIX = "people:"
NO_GUIDELINE = "none"     # how instructions that are not known are called in a spec
NOT_LABELLED = "nobody labelled it"
SPLIT = "people are split"
QUESTIONS: Mapping[str, str] = {"verify_answer": "support", "rate_passages": "relevance"}     # judge's -> label's


class PeopleJudge:
    """Answers from labels alone, of the texts that people labelled; of others it is not asked.

    A labelled part of an answer is a claim, a part with nothing to check is none, and a sentence that nobody labelled
    has no verdict. Of several annotators most decide, unless an adjudicator did; a tie has no verdict. People say that
    the passages support a part, not which: all of them do, together. What is only said to be not supported counts as
    not in the passages, so such labels tell of `faithfulness` and `unsupported` alone.

    Args:
        labels: by one guideline, of any texts.
        guideline: its hash.
        digest: of all labels by it: another set of labels is another judge.
    """

    def __init__(self, labels: Iterable[Label], guideline: str, digest: str) -> None:
        self.guideline, self._digest = guideline, digest
        self._by_key: dict[str, list[Label]] = {}
        every = list(labels)
        for label in last_said(every):
            self._by_key.setdefault(label.key, []).append(label)
        said = {(label.question, label.value) for label in every}
        self._kinds = ("support", "not_supported") not in said
        self._asked = {question for question, _ in said}

    @property
    def judge_id(self) -> str:
        """Such as "people:4be01c92a7d3#0f2a91c4", the second hash over all labels."""
        return f"{PREFIX}{self.guideline or NO_GUIDELINE}#{self._digest[:8]}"

    def version(self, question: str) -> int:  # noqa: ARG002 - as every judge is asked
        """Of every question."""
        return 1

    def answers(self, question: str) -> bool:
        """Whether people were asked what tells of it."""
        return QUESTIONS.get(question, "") in self._asked

    def tells(self, metric: str) -> bool:
        """Whether labels tell of a metric, by its printed name; not of one that needs to know which passage."""
        support = (*BY_SUPPORT, *(BY_KIND if self._kinds else ())) if "support" in self._asked else ()
        return metric in (*support, *(BY_RELEVANCE if "relevance" in self._asked else ()))

    def knows(self, inputs: Inputs) -> bool:
        """Whether people labelled what a question sees."""
        return _key(inputs) in self._by_key

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> Asking:  # noqa: ARG002 - people are not asked again
        """The facts that labels give; nothing is asked."""
        yield from ()
        labels = self._by_key.get(_key(inputs), [])
        if isinstance(inputs, VerifyAnswer):
            return AnswerFacts(_claims(inputs, labels), None, None, claims_only=True)
        if isinstance(inputs, RatePassages):
            return RelevanceFacts(_ratings(inputs, labels))
        raise JudgeError(f"people were not asked {inputs.question}. They label support and relevance.")


def _key(inputs: Inputs) -> str:
    """The key of the labels that tell of a question's inputs; "" where none can."""
    if isinstance(inputs, VerifyAnswer):
        return label_key("support", inputs.query, inputs.passages or (), inputs.answer)
    return label_key("relevance", inputs.query, inputs.passages, "") if isinstance(inputs, RatePassages) else ""


def votes(labels: Iterable[Label]) -> dict[Part, list[str]]:
    """Part -> what each annotator said of it; who could not tell has no vote."""
    found: dict[Part, list[str]] = {}
    for label in labels:
        found.setdefault(label.part, []).extend([] if label.value == UNSURE else [label.value])
    return found


def decided(said: Sequence[str]) -> str:
    """What most said; "" for a tie, or where nobody could tell.

    >>> decided(["supported", "supported", "contradicted"]), decided(["supported", "contradicted"])
    ('supported', '')
    """
    first, *others = Counter(said).most_common(2) or [("", 0)]
    return "" if others and others[0][1] == first[1] else first[0]


def _claims(inputs: VerifyAnswer, labels: Sequence[Label]) -> tuple[Claim, ...]:
    """A claim a labelled part, and one without verdict for each sentence that no part touches."""
    found = votes(labels)
    spans = {part: said for part, said in found.items() if isinstance(part, tuple)}
    if not spans and None in found:     # labelled as a whole
        spans = {(0, len(inputs.answer)): found[None]}
    open_ones = [
        (one.start, one.end) for one in split(inputs.answer)
        if not any(start < one.end and end > one.start for start, end in spans)
    ]  # fmt: skip
    claims: list[Claim] = []
    for start, end in sorted([*spans, *open_ones]):
        value = decided(spans[start, end]) if (start, end) in spans else NOT_LABELLED
        if value != NO_CLAIM:
            claims.append(_claim(len(claims) + 1, inputs, (start, end), value))
    return tuple(claims)


def _claim(n: int, inputs: VerifyAnswer, span: tuple[int, int], value: str) -> Claim:
    """One claim; supported by all passages together, contradicted by no one of them that is known."""
    text, numbers = inputs.answer[span[0] : span[1]].strip(), tuple(range(1, len(inputs.passages or ()) + 1))
    if value in ("", NOT_LABELLED):
        return Claim(n, text, *span, status="failed", reason=value or SPLIT)
    if value == "supported":
        return Claim(n, text, *span, supporting=numbers, joint=len(numbers) > 1, strength="direct", p=1.0)
    return Claim(n, text, *span, contradicting=numbers if value == "contradicted" else (), p=0.0)


def _ratings(inputs: RatePassages, labels: Sequence[Label]) -> tuple[Rating, ...]:
    found = {part: decided(said) for part, said in votes(labels).items()}
    verdicts = ((n, found.get(n, "")) for n in range(1, len(inputs.passages) + 1))
    return tuple(Rating(n, said == "relevant" if said else None) for n, said in verdicts)


def judge_note(judge_id: str) -> JudgeNote:
    """What is to be said of people as a judge."""
    guideline = judge_id.removeprefix(PREFIX).partition("#")[0]
    told = "instructions that are not known" if guideline == NO_GUIDELINE else f"the guideline {guideline}"
    return JudgeNote(judge_id, f"People labelled, by {told}; of several annotators most decide, a tie has no verdict.")
