"""A set's questions held against real ones: length, first word, writing, overlap with the gold, meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log1p
from typing import TYPE_CHECKING

from ragauge.engine.retrievers import build_local_embedder
from ragauge.testsets.set_file import SetLine
from ragauge.testsets.stats.set_profile import compute_overlap, find_cluster
from ragauge.testsets.stats.two_sample import MIN_QUESTIONS, FeatureSignal, TwoSampleTest, classify_questions
from ragauge.text.tokens import split_words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

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
