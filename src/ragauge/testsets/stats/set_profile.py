"""What a set is made of: states, types and origins, topics without a question, and how much it repeats its gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.core.variation import SEGMENT
from ragauge.scores.estimation import ScoreSample, compute_mean_interval, compute_quantiles
from ragauge.stats.weighted import Interval
from ragauge.testsets.check.content_words import extract_content_stems
from ragauge.testsets.lock import list_gold_anchors, list_gold_ids
from ragauge.testsets.set_file import SetFile, SetLine
from ragauge.testsets.stats.two_sample import TwoSampleTest
from ragauge.text.tokens import split_words, stem_word

if TYPE_CHECKING:
    from ragauge.testsets.corpus_view import CorpusView

UNKNOWN = "not said"
MAX_NAMED = 3  # words and documents by which a topic is named


@dataclass(frozen=True, slots=True)
class EmptyTopic:
    """A topic of the corpus that no question is about."""

    documents: int  #: how many it has.
    words: tuple[str, ...]  #: found in more of its documents than of others, the most telling first.
    doc_ids: tuple[str, ...]  #: the first few.


@dataclass(frozen=True, slots=True)
class TopicCover:
    """How the questions lie over the topics of a corpus."""

    topics: int  #: all of them.
    documents: int  #: of the corpus, empty ones and copies aside.
    asked: int  #: documents that are gold of a question.
    empty: tuple[EmptyTopic, ...]  #: topics without a question, the largest first.


@dataclass(frozen=True, slots=True)
class QuestionOverlap:
    """Which share of a question's content words its gold documents hold."""

    n: int  #: questions with gold that is known.
    mean: float | None = None  #: of their shares; None of none.
    interval: Interval | None = None  #: of the mean.
    quartiles: tuple[float, ...] = ()  #: 25, 50 and 75 %; () of none.
    lost: int = 0  #: questions with gold documents none of which is in the corpus; they are not counted in n.
    quotes: bool = False  #: no corpus was given, and quoted evidence was looked at instead of documents.


@dataclass(frozen=True, slots=True)
class SetDescription:
    """What a set is made of."""

    name: str  #: of its file.
    version: str  #: hash of its content.
    examples: int  #: all of them, rejected ones too.
    states: Mapping[str, int]  #: state -> how many.
    types: Mapping[str, int]  #: type of question -> how many.
    origins: Mapping[str, int]  #: how examples came to be -> how many.
    variations: Mapping[str, int]  #: kind of variation -> how many; empty where none was put otherwise.
    overlap: QuestionOverlap  #: of questions with their gold.
    topics: TopicCover | None = None  #: None without a corpus.
    like: TwoSampleTest | None = None  #: the test against real questions; None where none were given.


def describe_set(lines: SetFile, corpus: CorpusView | None = None, like: TwoSampleTest | None = None) -> SetDescription:
    """What a set is made of.

    Args:
        lines: the set.
        corpus: its documents; None = not given.
        like: its test against real questions.
    """
    texts = {} if corpus is None else {doc_id: item.text for doc_id, item in corpus.documents.items()}
    active = [item for item in lines.lines if item.curation.state != "rejected"]
    return SetDescription(
        lines.name,
        lines.eval_set.version,
        len(lines.lines),
        _count_values(item.curation.state for item in lines.lines),
        _count_values(_find_type(item) for item in active),
        _count_values(item.curation.origin.method if item.curation.origin else "" for item in active),
        {
            kind: n
            for kind, n in _count_values(item.example.segments.get(SEGMENT, "") for item in active).items()
            if kind != UNKNOWN
        },
        summarize_overlap(active, texts),
        None if corpus is None else _measure_cover(corpus, active),
        like,
    )


def compute_overlap(line: SetLine, texts: Mapping[str, str]) -> float | None:
    """The share of a question's content words, by their stems, that its gold documents hold.

    Without a corpus, that its quoted evidence holds. None without either, and of a question without such words.

    Args:
        line: the example.
        texts: doc_id -> text of the corpus; empty where none was given.
    """
    if texts:
        gold = [texts[doc_id] for doc_id in list_gold_ids(line) if doc_id in texts]
    else:
        gold = [anchor.quote for anchor in list_gold_anchors(line)]
    question_stems = extract_content_stems(line.example.query)
    if not gold or not question_stems:
        return None
    gold_stems = {stem_word(word) for text in gold for word in split_words(text)}
    return len(question_stems & gold_stems) / len(question_stems)


def summarize_overlap(lines: Sequence[SetLine], texts: Mapping[str, str]) -> QuestionOverlap:
    """The shares of many questions, those that have one; questions of one cluster are not independent."""
    import numpy as np

    each = [(share, find_cluster(item)) for item in lines if (share := compute_overlap(item, texts)) is not None]
    n_missing = (
        sum(bool(ids) and not any(item in texts for item in ids) for ids in map(list_gold_ids, lines)) if texts else 0
    )
    if not each:
        return QuestionOverlap(0, lost=n_missing, quotes=not texts)
    values = np.array([share for share, _ in each])
    sample = ScoreSample(values, bounds=(0.0, 1.0), clusters=[cluster for _, cluster in each])
    return QuestionOverlap(
        len(each),
        float(values.mean()),
        compute_mean_interval(sample),
        tuple(compute_quantiles(values, (0.25, 0.5, 0.75))),
        n_missing,
        quotes=not texts,
    )


def find_cluster(line: SetLine) -> str:
    """What a question depends on: its cluster, else its first gold document, else itself."""
    return line.example.cluster or next(iter(list_gold_ids(line)), line.example.query_id)


def _find_type(line: SetLine) -> str:
    origin = line.curation.origin
    return line.example.segments.get("type", "") or (origin.type if origin is not None else "")


def _count_values(values: Iterable[str]) -> dict[str, int]:
    return {value or UNKNOWN: n for value, n in Counter(values).most_common()}


def _measure_cover(corpus: CorpusView, lines: Sequence[SetLine]) -> TopicCover:
    gold_documents = {corpus.counts.copies.get(doc_id, doc_id) for item in lines for doc_id in list_gold_ids(item)}
    gold_documents &= corpus.documents.keys()
    words_by_id = {doc_id: set(split_words(item.text)) for doc_id, item in corpus.documents.items()}
    everywhere = Counter(word for item in words_by_id.values() for word in item)
    empty = []
    for topic in corpus.topics:
        if gold_documents.isdisjoint(topic):
            inside = Counter(word for doc_id in topic for word in words_by_id[doc_id])
            scores = {word: n / len(topic) - everywhere[word] / len(words_by_id) for word, n in inside.items()}
            telling = sorted(scores, key=lambda word: (-scores[word], word))[:MAX_NAMED]
            empty.append(EmptyTopic(len(topic), tuple(telling), tuple(topic[:MAX_NAMED])))
    return TopicCover(len(corpus.topics), len(corpus.ids), len(gold_documents), tuple(empty))
