"""What people said of a request in its traces, as labels: by the questions and metrics that are known here.

A name that nobody knows, and a value that its question does not have, makes no label: it is told, never guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.label import BY_SUPPORT, SCORE, Label, Part, ScoreScale
from ragauge.core.response import Passage, Response
from ragauge.core.values import BadValue
from ragauge.engine.label_questions import key_of, scale_of
from ragauge.readers.aliases import snake
from ragauge.readers.labels import AHEAD, value_of
from ragauge.readers.passages import DOC_KEYS, PASSAGE_KEYS, TEXT_KEYS
from ragauge.readers.traces.step import Document
from ragauge.readers.traces.tree import FINDING
from ragauge.readers.traces.verdict_targets import PlacedVerdict
from ragauge.readers.traces.verdicts import HUMAN, TraceVerdict
from ragauge.store.ledger import NO_LABEL
from ragauge.store.responses import Loaded

PASSAGE = "relevance"  # the question about passages
OF_PASSAGES = frozenset(
    (
        PASSAGE,
        "document_relevance",
        "document_relevancy",
        "passage_relevance",
        "retrieval_relevance",
        "context_relevance",
        "context_relevancy",
        "contextual_relevancy",
        "rag_relevancy",
    )
)
OF_ANSWERS = frozenset(("support", "address", "refuse"))
OTHERS: Mapping[str, str] = {  # names that metrics do not answer to themselves
    PASSAGE: "answer_relevance",
    "qa_correctness": "correctness",
    "q&a_correctness": "correctness",
}
# words beyond those of files of labels; yes and no mean that the name holds, so that of hallucination turns them round
SUPPORT: Mapping[str, str] = {
    "factual": "supported",
    "not_hallucinated": "supported",
    "no_hallucination": "supported",
    "ungrounded": "not_supported",
    "not_grounded": "not_supported",
    "not_faithful": "not_supported",
}
HOLDS, HOLDS_NOT = frozenset(("yes", "true", "1")), frozenset(("no", "false", "0"))
PASSED: Mapping[str, bool] = {"pass": True, "passed": True, "fail": False, "failed": False}
ADDRESS: Mapping[str, str] = {
    **dict.fromkeys(("relevant", "yes", "true", "pass", "passed"), "fully"),
    "partially_relevant": "partly",
    **dict.fromkeys(("irrelevant", "not_relevant", "unrelated", "false", "fail", "failed"), "no"),
}
RELEVANCE: Mapping[str, str] = {"unrelated": "no", "pass": "yes", "passed": "yes", "fail": "no", "failed": "no"}
ENDS: Mapping[str, bool] = {"correct": True, "incorrect": False, **PASSED}
LONGEST_NAME, LONGEST = 100, 40  # characters of a name that may be known, and of one that are shown


@dataclass(frozen=True, slots=True)
class AnnotatedLabels:
    """What came of some verdicts.

    Attributes:
        labels: by people.
        left: why others of people make none -> how many.
        feedback: how many are what users thought, which is the outcome.
    """

    labels: tuple[Label, ...] = ()
    left: Mapping[str, int] = field(default_factory=Counter)
    feedback: int = 0

    def __add__(self, other: AnnotatedLabels) -> AnnotatedLabels:
        left = Counter(self.left) + Counter(other.left)
        return AnnotatedLabels(self.labels + other.labels, left, self.feedback + other.feedback)

    def __str__(self) -> str:
        """In words: what was kept, what was not and why; "" where there is nothing to say."""
        kept = Counter(label.question for label in dict.fromkeys(self.labels))
        said = [f"label kept: {_counted(kept)}"] if kept else []
        said += ["feedback kept as the outcome"] if self.feedback else []
        return "; ".join([*said, *([f"{NO_LABEL}{_counted(self.left)}"] if self.left else [])])


def _counted(each: Mapping[str, int]) -> str:
    return ", ".join(f"{n} × {what}" if n > 1 else what for what, n in sorted(each.items()))


def left_out(verdicts: Iterable[PlacedVerdict], why: str) -> AnnotatedLabels:
    """What people said of something that cannot be told, or is not here."""
    named = [shown_name(one.verdict.name) for one in verdicts if one.verdict.of_people]
    return AnnotatedLabels(left=Counter(f"{name}, {why}" for name in named))


def labels_of(item: Loaded, verdicts: Sequence[PlacedVerdict], came: float) -> AnnotatedLabels:
    """The labels that people's verdicts on a response are; those of models and code are none.

    Args:
        item: the response with its question.
        verdicts: of it.
        came: when the last of its trace did, seconds since 1970: a time more than a day later is not believed.
    """
    labels, left, feedback = [], Counter[str](), 0
    for one in verdicts:
        if one.verdict.scope != "session" and one.verdict.of_user and not one.of_search:
            feedback += one.verdict.value is not None
        elif one.verdict.kind == HUMAN:
            found = _label(item, one, came)
            if isinstance(found, Label):
                labels.append(found)
            else:
                left[f"{shown_name(one.verdict.name)}, {found}"] += 1
    return AnnotatedLabels(tuple(labels), left, feedback)


def _label(item: Loaded, one: PlacedVerdict, came: float) -> Label | str:
    """The label that a verdict is, or why it is none."""
    said = one.verdict
    if said.scope == "session":
        return "which is of a session, not of an answer"
    if said.of_user:
        return "which is of a search, not of the answer"
    of_passage = one.on in FINDING or said.position is not None or bool(said.doc_id)
    if not one.known and not of_passage and snake(said.name) in OF_PASSAGES:
        return "of a span that is not here: of passages or of the answer"
    question = question_named_by(said.name, of_passage=of_passage)
    if question is None:
        return "a name of no metric or question here"
    found = _valued(question, said)
    if found is None:
        return "a value that it does not have"
    question, value = found
    part: Part = None
    if question == PASSAGE and (part := _place(item.response, one)) is None:
        return "of a passage that the response does not have"
    key = key_of(question, item)
    if key is None:
        return "which sees what is not recorded"
    return Label(key, part, question, value, said.who, _moment(said.at, came), said.guideline)


@lru_cache(1_000)
def question_named_by(name: str, *, of_passage: bool = False) -> str | None:
    """The question that the name of a verdict means; None where nobody knows.

    Args:
        name: a metric as it is printed, or by an alias; or a question of labels.
        of_passage: of a passage or of a search, else of the answer.

    >>> question_named_by("Groundedness"), question_named_by("relevance"), question_named_by("toxicity")
    ('score:faithfulness', 'score:answer_relevance', None)
    >>> question_named_by("relevance", of_passage=True)
    'relevance'
    """
    if len(name) > LONGEST_NAME:
        return None
    plain = name.strip().removeprefix(SCORE)
    spelled = snake(plain)
    if of_passage and spelled in OF_PASSAGES:
        return PASSAGE
    if spelled in OF_ANSWERS:
        return spelled
    for known in (plain, OTHERS.get(spelled, spelled)):
        try:
            return scale_of(SCORE + known).question
        except (UnknownName, UsageError):
            continue
    return None


def _valued(question: str, said: TraceVerdict) -> tuple[str, str] | None:
    """Question and value of what was said: by its word where that is one of the question, else by its number."""
    spelled = snake(said.label or "").removesuffix(".0")
    if not question.startswith(SCORE):
        words = {PASSAGE: RELEVANCE, "address": ADDRESS, "support": SUPPORT}.get(question, {})
        found = _value_of(question, words.get(spelled, spelled)) if spelled else None
        found = _value_of(question, said.score) if found is None and said.score is not None else found
        return None if found is None else (question, found)
    metric, scale = question.removeprefix(SCORE), scale_of(question)
    if spelled and (worded := _in_words(metric, spelled, scale)) is not None:
        return worded
    number = None if said.score is None else _value_of(question, said.score, scale)
    return None if number is None else (question, number)


def _in_words(metric: str, word: str, scale: ScoreScale) -> tuple[str, str] | None:
    """What a word says of a metric, as the answer of the label's question that tells of it."""
    if metric in BY_SUPPORT:
        if word in HOLDS | HOLDS_NOT:
            word = "supported" if (word in HOLDS) == (metric == "faithfulness") else "not_supported"
        word = SUPPORT.get(word, word)
        word = word if word not in PASSED else "supported" if PASSED[word] else "not_supported"
        found = _value_of("support", word)
        return None if found is None else ("support", found)
    if metric == "answer_relevance" and (found := _value_of("address", ADDRESS.get(word, word))) is not None:
        return "address", found
    if word in ENDS and scale.question == f"{SCORE}answer_correctness":
        return scale.question, f"{scale.high if ENDS[word] else scale.low:g}"
    found = _value_of(scale.question, word, scale) if scale.rate else None
    return None if found is None else (scale.question, found)


def _value_of(question: str, value: object, scale: ScoreScale | None = None) -> str | None:
    try:
        return value_of(question, value, scale)
    except BadValue:
        return None


def _place(response: Response, one: PlacedVerdict) -> int | None:
    """Which of a response's passages is meant, from 1; None where none is, or several may be."""
    passages = response.passages or ()
    named = {one.verdict.doc_id} if one.verdict.doc_id else set()
    if one.passage is not None:
        text = _said(one.passage, TEXT_KEYS)
        if text is not None:
            same = [n for n, passage in enumerate(passages, 1) if passage.text == text]
            if same:
                return same[0] if len(same) == 1 else None
        named = named or {key for key in (_said(one.passage, PASSAGE_KEYS), _said(one.passage, DOC_KEYS)) if key}
    found = [n for n, passage in enumerate(passages, 1) if _ids(passage) & named]
    return found[0] if len(found) == 1 else None


def _ids(passage: Passage) -> set[str]:
    return {passage.passage_id, passage.doc_id}


def _said(document: Document, names: Iterable[str]) -> str | None:
    """What a document says under one of some names; a document that is a text is that."""
    if isinstance(document, str):
        return document if names is TEXT_KEYS else None
    found = next((document[name] for name in names if document.get(name) is not None), None)
    return None if found is None else str(found)


def _moment(at: int, came: float) -> str:
    """A time in ISO 8601; "" where it is not said, or lies too far ahead: it would win over all later ones."""
    if not 0 < at / 1e9 <= came + AHEAD.total_seconds():
        return ""
    return datetime.fromtimestamp(at // 1_000 / 1e6, UTC).isoformat()


def shown_name(name: str) -> str:
    """A name from outside, short and on one line."""
    plain = "".join(one if one.isprintable() else " " for one in name)
    return plain if len(plain) <= LONGEST else f"{plain[:LONGEST]}…"
