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
from ragauge.core.label import SCORE_PREFIX, SUPPORT_METRICS, Label, Part, ScoreScale
from ragauge.core.response import Passage, Response
from ragauge.core.values import BadValue
from ragauge.engine.label_questions import build_key, build_scale
from ragauge.readers.aliases import to_snake_case
from ragauge.readers.labels import MAX_CLOCK_AHEAD, normalize_value
from ragauge.readers.passages import DOC_KEYS, PASSAGE_KEYS, TEXT_KEYS
from ragauge.readers.traces.step import Document
from ragauge.readers.traces.tree import SEARCH_KINDS
from ragauge.readers.traces.verdicts import HUMAN, PlacedVerdict, TraceVerdict
from ragauge.store.ledger import NO_LABEL_PREFIX
from ragauge.store.responses import StoredResponse

PASSAGE_QUESTION = "relevance"  # the question about passages
PASSAGE_QUESTIONS = frozenset(
    (
        PASSAGE_QUESTION,
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
ANSWER_QUESTIONS = frozenset(("support", "address", "refuse"))
METRIC_ALIASES: Mapping[str, str] = {  # names that metrics do not answer to themselves
    PASSAGE_QUESTION: "answer_relevance",
    "qa_correctness": "correctness",
    "q&a_correctness": "correctness",
}
# words beyond those of files of labels; yes and no mean that the name holds, so that of hallucination turns them round
SUPPORT_WORDS: Mapping[str, str] = {
    "factual": "supported",
    "not_hallucinated": "supported",
    "no_hallucination": "supported",
    "ungrounded": "not_supported",
    "not_grounded": "not_supported",
    "not_faithful": "not_supported",
}
YES_WORDS, NO_WORDS = frozenset(("yes", "true", "1")), frozenset(("no", "false", "0"))
PASS_WORDS: Mapping[str, bool] = {"pass": True, "passed": True, "fail": False, "failed": False}
ADDRESS_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("relevant", "yes", "true", "pass", "passed"), "fully"),
    "partially_relevant": "partly",
    **dict.fromkeys(("irrelevant", "not_relevant", "unrelated", "false", "fail", "failed"), "no"),
}
RELEVANCE_WORDS: Mapping[str, str] = {"unrelated": "no", "pass": "yes", "passed": "yes", "fail": "no", "failed": "no"}
SCALE_END_WORDS: Mapping[str, bool] = {"correct": True, "incorrect": False, **PASS_WORDS}
MAX_NAME_CHARS, MAX_SHOWN_CHARS = 100, 40  # characters of a name that may be known, and of one that are shown


@dataclass(frozen=True, slots=True)
class AnnotatedLabels:
    """What came of some verdicts."""

    labels: tuple[Label, ...] = ()  #: by people.
    left: Mapping[str, int] = field(default_factory=Counter)  #: why others of people make none -> how many.
    feedback: int = 0  #: how many are what users thought, which is the outcome.

    def __add__(self, other: AnnotatedLabels) -> AnnotatedLabels:
        skipped = Counter(self.left) + Counter(other.left)
        return AnnotatedLabels(self.labels + other.labels, skipped, self.feedback + other.feedback)

    def __str__(self) -> str:
        """In words: what was kept, what was not and why; "" where there is nothing to say."""
        question_counts = Counter(label.question for label in dict.fromkeys(self.labels))
        notes = [f"saved label: {_format_counts(question_counts)}"] if question_counts else []
        notes += ["feedback saved as the outcome"] if self.feedback else []
        return "; ".join([*notes, *([f"{NO_LABEL_PREFIX}{_format_counts(self.left)}"] if self.left else [])])


def _format_counts(each: Mapping[str, int]) -> str:
    return ", ".join(f"{n} × {what}" if n > 1 else what for what, n in sorted(each.items()))


def count_skipped(verdicts: Iterable[PlacedVerdict], reason: str) -> AnnotatedLabels:
    """What people said of something that cannot be told, or is not here."""
    names = [shorten_name(placed.verdict.name) for placed in verdicts if placed.verdict.is_human]
    return AnnotatedLabels(left=Counter(f"{name} ({reason})" for name in names))


def collect_labels(item: StoredResponse, verdicts: Sequence[PlacedVerdict], arrived_at: float) -> AnnotatedLabels:
    """The labels that people's verdicts on a response are; those of models and code are none.

    Args:
        item: the response with its question.
        verdicts: of it.
        arrived_at: when the last of its trace did, seconds since 1970: a time more than a day later is not believed.
    """
    labels, skipped, feedback = [], Counter[str](), 0
    for placed in verdicts:
        if placed.verdict.scope != "session" and placed.verdict.is_user_verdict and not placed.is_of_search:
            feedback += placed.verdict.value is not None
        elif placed.verdict.kind == HUMAN:
            label = _build_label(item, placed, arrived_at)
            if isinstance(label, Label):
                labels.append(label)
            else:
                skipped[f"{shorten_name(placed.verdict.name)} ({label})"] += 1
    return AnnotatedLabels(tuple(labels), skipped, feedback)


def _build_label(item: StoredResponse, placed: PlacedVerdict, arrived_at: float) -> Label | str:
    """The label that a verdict is, or why it is none."""
    verdict = placed.verdict
    if verdict.scope == "session":
        return "rates a session, not an answer"
    if verdict.is_user_verdict:
        return "rates a search, not the answer"
    of_passage = placed.on in SEARCH_KINDS or verdict.position is not None or bool(verdict.doc_id)
    if not placed.known and not of_passage and to_snake_case(verdict.name) in PASSAGE_QUESTIONS:
        return "its span is missing, so it may rate passages or the answer"
    question = find_question(verdict.name, of_passage=of_passage)
    if question is None:
        return "no metric or question has this name"
    resolved = _resolve_value(question, verdict)
    if resolved is None:
        return "the value is not valid"
    question, value = resolved
    passage_no: Part = None
    if question == PASSAGE_QUESTION and (passage_no := _find_passage(item.response, placed)) is None:
        return "the response does not have this passage"
    key = build_key(question, item)
    if key is None:
        return "needs data that was not recorded"
    return Label(key, passage_no, question, value, verdict.who, _format_time(verdict.at, arrived_at), verdict.guideline)


@lru_cache(1_000)
def find_question(name: str, *, of_passage: bool = False) -> str | None:
    """The question that the name of a verdict means; None where nobody knows.

    Args:
        name: a metric as it is printed, or by an alias; or a question of labels.
        of_passage: of a passage or of a search, else of the answer.

    >>> find_question("Groundedness"), find_question("relevance"), find_question("toxicity")
    ('score:faithfulness', 'score:answer_relevance', None)
    >>> find_question("relevance", of_passage=True)
    'relevance'
    """
    if len(name) > MAX_NAME_CHARS:
        return None
    bare_name = name.strip().removeprefix(SCORE_PREFIX)
    spelled = to_snake_case(bare_name)
    if of_passage and spelled in PASSAGE_QUESTIONS:
        return PASSAGE_QUESTION
    if spelled in ANSWER_QUESTIONS:
        return spelled
    for metric_name in (bare_name, METRIC_ALIASES.get(spelled, spelled)):
        try:
            return build_scale(SCORE_PREFIX + metric_name).question
        except (UnknownName, UsageError):
            continue
    return None


def _resolve_value(question: str, verdict: TraceVerdict) -> tuple[str, str] | None:
    """Question and value of what was said: by its word where that is one of the question, else by its number."""
    spelled = to_snake_case(verdict.label or "").removesuffix(".0")
    if not question.startswith(SCORE_PREFIX):
        words = {PASSAGE_QUESTION: RELEVANCE_WORDS, "address": ADDRESS_WORDS, "support": SUPPORT_WORDS}.get(
            question, {}
        )
        parsed = _parse_value(question, words.get(spelled, spelled)) if spelled else None
        parsed = _parse_value(question, verdict.score) if parsed is None and verdict.score is not None else parsed
        return None if parsed is None else (question, parsed)
    metric, scale = question.removeprefix(SCORE_PREFIX), build_scale(question)
    if spelled and (worded := _resolve_word(metric, spelled, scale)) is not None:
        return worded
    number = None if verdict.score is None else _parse_value(question, verdict.score, scale)
    return None if number is None else (question, number)


def _resolve_word(metric: str, word: str, scale: ScoreScale) -> tuple[str, str] | None:
    """What a word says of a metric, as the answer of the label's question that tells of it."""
    if metric in SUPPORT_METRICS:
        if word in YES_WORDS | NO_WORDS:
            word = "supported" if (word in YES_WORDS) == (metric == "faithfulness") else "not_supported"
        word = SUPPORT_WORDS.get(word, word)
        word = word if word not in PASS_WORDS else "supported" if PASS_WORDS[word] else "not_supported"
        value = _parse_value("support", word)
        return None if value is None else ("support", value)
    if metric == "answer_relevance" and (value := _parse_value("address", ADDRESS_WORDS.get(word, word))) is not None:
        return "address", value
    if word in SCALE_END_WORDS and scale.question == f"{SCORE_PREFIX}answer_correctness":
        return scale.question, f"{scale.high if SCALE_END_WORDS[word] else scale.low:g}"
    value = _parse_value(scale.question, word, scale) if scale.rate else None
    return None if value is None else (scale.question, value)


def _parse_value(question: str, value: object, scale: ScoreScale | None = None) -> str | None:
    try:
        return normalize_value(question, value, scale)
    except BadValue:
        return None


def _find_passage(response: Response, placed: PlacedVerdict) -> int | None:
    """Which of a response's passages is meant, from 1; None where none is, or several may be."""
    passages = response.passages or ()
    ids = {placed.verdict.doc_id} if placed.verdict.doc_id else set()
    if placed.passage is not None:
        text = _find_text(placed.passage, TEXT_KEYS)
        if text is not None:
            same_text = [n for n, passage in enumerate(passages, 1) if passage.text == text]
            if same_text:
                return same_text[0] if len(same_text) == 1 else None
        ids = ids or {
            key for key in (_find_text(placed.passage, PASSAGE_KEYS), _find_text(placed.passage, DOC_KEYS)) if key
        }
    matches = [n for n, passage in enumerate(passages, 1) if _collect_ids(passage) & ids]
    return matches[0] if len(matches) == 1 else None


def _collect_ids(passage: Passage) -> set[str]:
    return {passage.passage_id, passage.doc_id}


def _find_text(document: Document, names: Iterable[str]) -> str | None:
    """What a document says under one of some names; a document that is a text is that."""
    if isinstance(document, str):
        return document if names is TEXT_KEYS else None
    value = next((document[name] for name in names if document.get(name) is not None), None)
    return None if value is None else str(value)


def _format_time(timestamp_ns: int, arrived_at: float) -> str:
    """A time in ISO 8601; "" where it is not said, or lies too far ahead: it would win over all later ones."""
    if not 0 < timestamp_ns / 1e9 <= arrived_at + MAX_CLOCK_AHEAD.total_seconds():
        return ""
    return datetime.fromtimestamp(timestamp_ns // 1_000 / 1e6, UTC).isoformat()


def shorten_name(name: str) -> str:
    """A name from outside, short and on one line."""
    printable = "".join(character if character.isprintable() else " " for character in name)
    return printable if len(printable) <= MAX_SHOWN_CHARS else f"{printable[:MAX_SHOWN_CHARS]}…"
