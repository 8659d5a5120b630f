"""What a set is made of, and how its questions compare with real ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from typing import TYPE_CHECKING

from ragauge.core.variation import SEGMENT
from ragauge.engine.retrievers import build_local_embedder
from ragauge.scores.estimation import ScoreSample, compute_mean_interval, compute_quantiles
from ragauge.stats.weighted import Interval
from ragauge.testsets.check.evidence_location import extract_content_stems
from ragauge.testsets.lock import list_gold_anchors, list_gold_ids
from ragauge.testsets.set_file import SetFile, SetLine
from ragauge.testsets.stats.set_power import MIN_QUESTIONS, FeatureSignal, TwoSampleTest, classify_questions
from ragauge.text.tokens import split_words, stem_word

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.testsets.corpus_view import CorpusView

    Floats = npt.NDArray[np.float64]


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


DIMENSIONS = 20  # of the embeddings, those in which the questions of both vary most
MIN_FIRST_WORD_SHARE = 0.03  # share of all questions that begin with a word, from which it is a feature
MIN_KNOWN_SHARE = 0.9  # share of either's questions whose overlap must be known
OVERLAP = "overlap with the gold"
MAX_FIRST_WORDS = 3  # first words that are named


def compare_with_real(
    lines: Sequence[SetLine], real: Sequence[SetLine], texts: Mapping[str, str], seed: int = 7
) -> TwoSampleTest:
    """A classifier's try to tell a set's questions from real ones.

    Length: words, and characters a word. First word: those that 3 % begin with. Writing: a question mark at the end, a
    capital at the beginning, capitals elsewhere. Overlap: the share of content words that the gold documents hold;
    left out unless it is known of 90 % of either, and then questions without it are. Meaning: the 20 principal
    components of the embeddings of both.

    Args:
        lines: the set's examples; rejected ones stay out.
        real: examples with questions of people.
        texts: doc_id -> text, of the gold of both.
        seed: of the folds.
    """
    import numpy as np

    both = [(item, True) for item in lines if item.curation.state != "rejected"]
    both += [(item, False) for item in real if item.curation.state != "rejected"]
    shares = [compute_overlap(item, texts) for item, _ in both]
    has_overlap = all(
        _compute_known_share(shares, [is_from_set is which for _, is_from_set in both]) >= MIN_KNOWN_SHARE
        for which in (True, False)
    )
    indices = [n for n, share in enumerate(shares) if share is not None or not has_overlap]
    here = [both[n][1] for n in indices]
    n, m = sum(here), len(here) - sum(here)
    n_skipped, without = len(both) - len(indices), () if has_overlap else (OVERLAP,)
    if min(n, m) < MIN_QUESTIONS:
        return TwoSampleTest(n, m, n_skipped, without=without)
    questions = [both[index][0].example.query for index in indices]
    tables = _build_features(questions)
    if has_overlap:
        tables[OVERLAP] = np.array([[shares[index] or 0.0] for index in indices])
    overall, each = classify_questions(tables, here, [find_cluster(both[index][0]) for index in indices], seed)
    sides = [[index for index in indices if both[index][1] is which] for which in (True, False)]
    descriptions = [_describe_questions([both[index][0].example.query for index in side]) for side in sides]
    if has_overlap:
        for side, words_of in zip(sides, descriptions, strict=True):
            words_of[OVERLAP] = f"{float(np.mean([shares[index] for index in side])):.2f} of words"
    tells = [
        FeatureSignal(name, *result, descriptions[0].get(name, ""), descriptions[1].get(name, ""))
        for name, result in each.items()
    ]
    return TwoSampleTest(n, m, n_skipped, *overall, tuple(sorted(tells, key=lambda item: -item.auroc)), without)


def _compute_known_share(shares: Sequence[float | None], which: Sequence[bool]) -> float:
    """Of some questions the part whose share is known."""
    known_marks = [share is not None for share, is_selected in zip(shares, which, strict=True) if is_selected]
    return sum(known_marks) / len(known_marks) if known_marks else 0.0


def _build_features(questions: Sequence[str]) -> dict[str, Floats]:
    """Name -> features of every question."""
    import numpy as np

    firsts = [_find_first_word(question) for question in questions]
    frequent = [word for word, n in Counter(firsts).most_common() if n >= MIN_FIRST_WORD_SHARE * len(questions)]
    vectors = build_local_embedder().embed(list(questions)).astype(np.float64)
    centred = vectors - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    return {
        "length": np.array([_measure_length(question) for question in questions]),
        "first word": np.array([[float(first == word) for word in frequent or [""]] for first in firsts]),
        "writing": np.array([list(map(float, _measure_style(question))) for question in questions]),
        "meaning": centred @ axes[:DIMENSIONS].T,
    }


def _find_first_word(question: str) -> str:
    return next(iter(split_words(question)), "")


def _measure_length(question: str) -> tuple[float, float]:
    question_words = split_words(question)
    return log1p(len(question_words)), sum(map(len, question_words)) / max(1, len(question_words))


def _measure_style(question: str) -> tuple[bool, bool, bool]:
    text = question.strip()
    return text.endswith(("?", "？")), text[:1].isupper(), any(sign.isupper() for sign in text[1:])


def _describe_questions(questions: Sequence[str]) -> dict[str, str]:
    """What some questions are like, by name of the features."""
    count = len(questions)
    length = sum(len(split_words(question)) for question in questions) / count
    firsts = Counter(map(_find_first_word, questions)).most_common(MAX_FIRST_WORDS)
    marked, capital, _ = (sum(column) / count for column in zip(*map(_measure_style, questions), strict=True))
    return {
        "length": f"{length:.1f} words",
        "first word": ", ".join(f"{word or 'none'} {n / count:.0%}" for word, n in firsts),
        "writing": f"{marked:.0%} end with ?, {capital:.0%} start with a capital",
    }
