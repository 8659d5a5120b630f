"""People as a judge: their labels answer what judges are asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ragauge.core.errors import JudgeError
from ragauge.core.facts import Address, AnswerFacts, Claim, Rating, RelevanceFacts
from ragauge.core.label import (
    ANNOTATOR_JUDGE_PREFIX,
    NO_CLAIM,
    NOT_SUPPORTED,
    QUESTION_BY_METRIC,
    SCORE_PREFIX,
    UNSUPPORTED_KIND_METRICS,
    UNSURE,
    Label,
    Part,
    build_label_key,
    select_latest_labels,
)
from ragauge.judges.inputs import Inputs, RatePassages, VerifyAnswer
from ragauge.judges.judge import AskGenerator
from ragauge.scores.results.scorecard import JudgeNote
from ragauge.text.sentences import split_sentences

PREFIX = ANNOTATOR_JUDGE_PREFIX
NO_GUIDELINE = "none"  # how unknown instructions are called in a spec
NOT_LABELED = "it has no label"
SPLIT = "annotators disagree"
MIN_KNOWN_PER_UNCLEAR = 10  # labels that say which kind for each that does not, from which the kinds can be told
# a judge's question -> those of labels that tell of it
LABEL_QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "verify_answer": ("support", "address", "refuse"),
    "rate_passages": ("relevance",),
}
ADDRESS_LEVELS: Mapping[str, Address] = {"fully": "fully", "partly": "partly", "no": "no"}


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
        counted = select_latest_labels(list(labels))
        for label in counted:
            self._by_key.setdefault(label.key, []).append(label)
        counts = Counter(label.value for label in counted if label.question == "support")
        n_with_kind = sum(counts[kind] for kind in UNSUPPORTED_KIND_METRICS)
        self.support, self.which_not_said = counts.total(), counts[NOT_SUPPORTED]
        self._kinds = not self.which_not_said or self.which_not_said <= min(
            n_with_kind, max(1, n_with_kind // MIN_KNOWN_PER_UNCLEAR)
        )
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
        return not self._asked.isdisjoint(LABEL_QUESTIONS.get(question, ()))

    def list_metrics(self) -> tuple[str, ...]:
        """Printed names of the metrics that labels tell of; none that needs to know which passage."""
        by_labels = (name for name, question in QUESTION_BY_METRIC.items() if question in self._asked)
        scored = sorted(
            asked_question.removeprefix(SCORE_PREFIX)
            for asked_question in self._asked
            if asked_question.startswith(SCORE_PREFIX)
        )
        names = [name for name in by_labels if self._kinds or name not in UNSUPPORTED_KIND_METRICS]
        return tuple(dict.fromkeys([*names, *scored]))

    def has_metric(self, metric: str) -> bool:
        """Whether labels tell of a metric, by its printed name."""
        return metric in self.list_metrics()

    def scores(self, metric: str) -> bool:
        """Whether people gave a metric scores of their own, by its printed name."""
        return SCORE_PREFIX + metric in self._asked

    def labels(self, key: str) -> Sequence[Label]:
        """What counts of the labels of what has this key."""
        return self._by_key.get(key, ())

    def has_labels(self, inputs: Inputs) -> bool:
        """Whether people labelled what a question sees."""
        return any(key in self._by_key for key in _build_label_keys(inputs))

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:  # noqa: ARG002 - people are not asked again
        """The facts that labels give; nothing is asked."""
        yield from ()
        label_lists = [self.labels(key) for key in _build_label_keys(inputs)]
        if isinstance(inputs, VerifyAnswer):
            return _build_answer_facts(inputs, *label_lists)
        if isinstance(inputs, RatePassages):
            return RelevanceFacts(_build_ratings(inputs, *label_lists))
        raise JudgeError(
            f"human labels do not cover {inputs.question}. They cover support, relevance, address and refuse."
        )


def _build_label_keys(inputs: Inputs) -> tuple[str, ...]:
    """The key of each of the labels' questions that tell of a question's inputs, in the order of QUESTIONS."""
    if not isinstance(inputs, VerifyAnswer | RatePassages):
        return ()
    answer = inputs.answer if isinstance(inputs, VerifyAnswer) else ""
    questions = LABEL_QUESTIONS[inputs.question]
    texts = inputs.query, inputs.passages or (), answer
    return tuple(build_label_key(question, *texts, history=inputs.history) for question in questions)


def collect_votes(labels: Iterable[Label]) -> dict[Part, list[str]]:
    """Part -> what each annotator said of it; who could not tell has no vote."""
    votes_by_part: dict[Part, list[str]] = {}
    for label in labels:
        votes_by_part.setdefault(label.part, []).extend([] if label.value == UNSURE else [label.value])
    return votes_by_part


def find_majority(values: Sequence[str]) -> str:
    """What most said; "" for a tie, or where nobody could tell.

    >>> find_majority(["supported", "supported", "contradicted"]), find_majority(["supported", "contradicted"])
    ('supported', '')
    """
    first, *others = Counter(values).most_common(2) or [("", 0)]
    return "" if others and others[0][1] == first[1] else first[0]


def is_unclear(labels: Iterable[Label]) -> bool:
    """Whether most say of a part that it is not supported, and not of which kind."""
    return any(find_majority(values) == NOT_SUPPORTED for values in collect_votes(labels).values())


def find_answer_majority(labels: Iterable[Label]) -> str:
    """What most said of the whole answer; "" for a tie, or where nobody did or could tell."""
    return find_majority(collect_votes(labels).get(None, ()))


def _build_answer_facts(
    inputs: VerifyAnswer, support: Sequence[Label], address: Sequence[Label], refuse: Sequence[Label]
) -> AnswerFacts:
    """What people said of one answer; its support counts as not asked where nobody labelled any of it."""
    addressed, declines = ADDRESS_LEVELS.get(find_answer_majority(address)), find_answer_majority(refuse)
    refused = None if not declines else declines == "yes"
    if refused is None and not refuse and addressed in ("fully", "partly"):
        refused = False
    claims = _build_claims(inputs, support) if support else _build_sentence_claims(inputs)
    unasked = tuple(name for name, labels in (("address", address), ("refuse", refuse)) if not labels)
    return AnswerFacts(claims, addressed, refused, bool(support), unasked=unasked)


def _build_sentence_claims(inputs: VerifyAnswer) -> tuple[Claim, ...]:
    """The sentences as claims of which nothing was asked; without passages no claim of theirs may count as made up."""
    made = (Claim(n, item.text, item.start, item.end) for n, item in enumerate(split_sentences(inputs.answer), 1))
    return tuple(made if inputs.passages else (replace(item, status="failed", reason=NOT_LABELED) for item in made))


def _build_claims(inputs: VerifyAnswer, labels: Sequence[Label]) -> tuple[Claim, ...]:
    """A claim a labelled part, and one without verdict for each sentence that no part touches."""
    votes_by_part = collect_votes(labels)
    spans = {part: values for part, values in votes_by_part.items() if isinstance(part, tuple)}
    if not spans and None in votes_by_part:  # labelled as a whole
        spans = {(0, len(inputs.answer)): votes_by_part[None]}
    unlabeled_spans = [
        (sentence.start, sentence.end)
        for sentence in split_sentences(inputs.answer)
        if not any(start < sentence.end and end > sentence.start for start, end in spans)
    ]
    claims: list[Claim] = []
    for start, end in sorted([*spans, *unlabeled_spans]):
        value = find_majority(spans[start, end]) if (start, end) in spans else NOT_LABELED
        if value != NO_CLAIM:
            claims.append(_build_claim(len(claims) + 1, inputs, (start, end), value))
    return tuple(claims)


def _build_claim(n: int, inputs: VerifyAnswer, span: tuple[int, int], value: str) -> Claim:
    """One claim; supported by all passages together, contradicted by no one of them that is known."""
    text, numbers = inputs.answer[span[0] : span[1]].strip(), tuple(range(1, len(inputs.passages or ()) + 1))
    if value in ("", NOT_LABELED):
        return Claim(n, text, *span, status="failed", reason=value or SPLIT)
    if value == "supported":
        return Claim(n, text, *span, supporting=numbers, joint=len(numbers) > 1, strength="direct", p=1.0)
    reason = NOT_SUPPORTED if value == NOT_SUPPORTED else ""
    return Claim(n, text, *span, contradicting=numbers if value == "contradicted" else (), p=0.0, reason=reason)


def _build_ratings(inputs: RatePassages, labels: Sequence[Label]) -> tuple[Rating, ...]:
    majorities = {part: find_majority(value) for part, value in collect_votes(labels).items()}
    verdicts = ((n, majorities.get(n, "")) for n in range(1, len(inputs.passages) + 1))
    return tuple(Rating(n, value == "relevant" if value else None) for n, value in verdicts)


def build_judge_note(judge_id: str) -> JudgeNote:
    """What is to be said of people as a judge."""
    guideline = judge_id.removeprefix(PREFIX).partition("#")[0]
    guideline_text = "unknown instructions" if guideline == NO_GUIDELINE else f"the guideline {guideline}"
    return JudgeNote(
        judge_id,
        f"Annotators labeled with {guideline_text}. The majority of several annotators decides, and a tie has no "
        f"verdict.",
    )
