"""People as a judge: their labels fill the evidence that models' verdicts fill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ragauge.core.errors import JudgeError
from ragauge.core.facts import Address, AnswerFacts, Claim, Rating, RelevanceFacts
from ragauge.core.label import (
    BY_KIND,
    BY_PEOPLE,
    NO_CLAIM,
    NOT_SUPPORTED,
    SCORE,
    TOLD,
    UNSURE,
    Label,
    Part,
    label_key,
    last_said,
)
from ragauge.judges.inputs import Inputs, RatePassages, VerifyAnswer
from ragauge.judges.judge import Asking
from ragauge.scores.results.scorecard import JudgeNote
from ragauge.text.sentences import split

PREFIX = BY_PEOPLE
NO_GUIDELINE = "none"  # how instructions that are not known are called in a spec
NOT_LABELLED = "nobody labelled it"
SPLIT = "people are split"
FEW_UNCLEAR = 10  # labels that say which kind for each that does not, from which the kinds can be told
# a judge's question -> those of labels that tell of it
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "verify_answer": ("support", "address", "refuse"),
    "rate_passages": ("relevance",),
}
ADDRESS: Mapping[str, Address] = {"fully": "fully", "partly": "partly", "no": "no"}


class PeopleJudge:
    """Answers from labels alone, of the texts that people labelled; of others it is not asked.

    A labelled part of an answer is a claim, a part with nothing to check is none, and a sentence that nobody labelled
    has no verdict. Of several annotators most decide, unless an adjudicator did; a tie has no verdict. People say that
    the passages support a part, not which: all of them do, together. What is only said to be not supported leaves
    its answer without a score of `contradicted` and `not_in_context`; where more than a tenth of the labels of what is
    not supported are such, labels do not tell of both at all. An answer that people say addresses the question, wholly
    or in part, does not decline.

    Scores that people give a metric themselves are no evidence: whoever measures asks `scores` for them.

    Args:
        labels: by one guideline, of any texts.
        guideline: its hash.
        digest: of all labels by it: another set of labels is another judge.

    Attributes:
        support: labels of support that count.
        which_not_said: those of them that say not_supported, and so not which of contradicted and not_in_context.
    """

    def __init__(self, labels: Iterable[Label], guideline: str, digest: str) -> None:
        self.guideline, self._digest = guideline, digest
        self._by_key: dict[str, list[Label]] = {}
        counted = last_said(list(labels))
        for label in counted:
            self._by_key.setdefault(label.key, []).append(label)
        said = Counter(label.value for label in counted if label.question == "support")
        which = sum(said[kind] for kind in BY_KIND)
        self.support, self.which_not_said = said.total(), said[NOT_SUPPORTED]
        self._kinds = not self.which_not_said or self.which_not_said <= min(which, max(1, which // FEW_UNCLEAR))
        self._asked = {label.question for label in counted}

    @property
    def judge_id(self) -> str:
        """Such as "people:4be01c92a7d3#0f2a91c4", the second hash over all labels."""
        return f"{PREFIX}{self.guideline or NO_GUIDELINE}#{self._digest[:8]}"

    def version(self, question: str) -> int:  # noqa: ARG002 - as every judge is asked
        """Of every question."""
        return 2

    def answers(self, question: str) -> bool:
        """Whether people were asked what tells of it."""
        return not self._asked.isdisjoint(QUESTIONS.get(question, ()))

    def told(self) -> tuple[str, ...]:
        """Printed names of the metrics that labels tell of; none that needs to know which passage."""
        by_labels = (name for name, question in TOLD.items() if question in self._asked)
        scored = sorted(one.removeprefix(SCORE) for one in self._asked if one.startswith(SCORE))
        found = [name for name in by_labels if self._kinds or name not in BY_KIND]
        return tuple(dict.fromkeys([*found, *scored]))

    def tells(self, metric: str) -> bool:
        """Whether labels tell of a metric, by its printed name."""
        return metric in self.told()

    def scores(self, metric: str) -> bool:
        """Whether people gave a metric scores of their own, by its printed name."""
        return SCORE + metric in self._asked

    def labels(self, key: str) -> Sequence[Label]:
        """What counts of the labels of what has this key."""
        return self._by_key.get(key, ())

    def knows(self, inputs: Inputs) -> bool:
        """Whether people labelled what a question sees."""
        return any(key in self._by_key for key in _keys(inputs))

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> Asking:  # noqa: ARG002 - people are not asked again
        """The facts that labels give; nothing is asked."""
        yield from ()
        found = [self.labels(key) for key in _keys(inputs)]
        if isinstance(inputs, VerifyAnswer):
            return _answer(inputs, *found)
        if isinstance(inputs, RatePassages):
            return RelevanceFacts(_ratings(inputs, *found))
        raise JudgeError(f"people were not asked {inputs.question}. They label support, relevance, address and refuse.")


def _keys(inputs: Inputs) -> tuple[str, ...]:
    """The key of each of the labels' questions that tell of a question's inputs, in the order of QUESTIONS."""
    if not isinstance(inputs, VerifyAnswer | RatePassages):
        return ()
    answer = inputs.answer if isinstance(inputs, VerifyAnswer) else ""
    asked = QUESTIONS[inputs.question]
    seen = inputs.query, inputs.passages or (), answer
    return tuple(label_key(question, *seen, history=inputs.history) for question in asked)


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


def unclear(labels: Iterable[Label]) -> bool:
    """Whether most say of a part that it is not supported, and not of which kind."""
    return any(decided(said) == NOT_SUPPORTED for said in votes(labels).values())


def said_of_whole(labels: Iterable[Label]) -> str:
    """What most said of the whole answer; "" for a tie, or where nobody did or could tell."""
    return decided(votes(labels).get(None, ()))


def _answer(
    inputs: VerifyAnswer, support: Sequence[Label], address: Sequence[Label], refuse: Sequence[Label]
) -> AnswerFacts:
    """What people said of one answer; its support counts as not asked where nobody labelled any of it."""
    addressed, declines = ADDRESS.get(said_of_whole(address)), said_of_whole(refuse)
    refused = None if not declines else declines == "yes"
    if refused is None and not refuse and addressed in ("fully", "partly"):
        refused = False
    claims = _claims(inputs, support) if support else _sentences(inputs)
    unasked = tuple(name for name, labels in (("address", address), ("refuse", refuse)) if not labels)
    return AnswerFacts(claims, addressed, refused, bool(support), unasked=unasked)


def _sentences(inputs: VerifyAnswer) -> tuple[Claim, ...]:
    """The sentences as claims of which nothing was asked; without passages no claim of theirs may count as made up."""
    made = (Claim(n, one.text, one.start, one.end) for n, one in enumerate(split(inputs.answer), 1))
    return tuple(made if inputs.passages else (replace(one, status="failed", reason=NOT_LABELLED) for one in made))


def _claims(inputs: VerifyAnswer, labels: Sequence[Label]) -> tuple[Claim, ...]:
    """A claim a labelled part, and one without verdict for each sentence that no part touches."""
    found = votes(labels)
    spans = {part: said for part, said in found.items() if isinstance(part, tuple)}
    if not spans and None in found:  # labelled as a whole
        spans = {(0, len(inputs.answer)): found[None]}
    open_ones = [
        (one.start, one.end)
        for one in split(inputs.answer)
        if not any(start < one.end and end > one.start for start, end in spans)
    ]
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
    why = NOT_SUPPORTED if value == NOT_SUPPORTED else ""
    return Claim(n, text, *span, contradicting=numbers if value == "contradicted" else (), p=0.0, reason=why)


def _ratings(inputs: RatePassages, labels: Sequence[Label]) -> tuple[Rating, ...]:
    found = {part: decided(said) for part, said in votes(labels).items()}
    verdicts = ((n, found.get(n, "")) for n in range(1, len(inputs.passages) + 1))
    return tuple(Rating(n, said == "relevant" if said else None) for n, said in verdicts)


def judge_note(judge_id: str) -> JudgeNote:
    """What is to be said of people as a judge."""
    guideline = judge_id.removeprefix(PREFIX).partition("#")[0]
    told = "instructions that are not known" if guideline == NO_GUIDELINE else f"the guideline {guideline}"
    return JudgeNote(judge_id, f"People labelled, by {told}; of several annotators most decide, a tie has no verdict.")
