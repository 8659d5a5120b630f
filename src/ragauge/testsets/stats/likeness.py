"""A set's questions held against real ones: length, first word, writing, overlap with the gold, meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log1p
from typing import TYPE_CHECKING

from ragauge.engine.retrievers import local_embedder
from ragauge.testsets.set_file import SetLine
from ragauge.testsets.stats.set_profile import cluster_of, overlap_of
from ragauge.testsets.stats.two_sample import FEWEST, Tell, TwoSampleTest, told_apart
from ragauge.text.tokens import words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

DIMENSIONS = 20  # of the embeddings, those in which the questions of both vary most
FREQUENT = 0.03  # share of all questions that begin with a word, from which it is a feature
KNOWN = 0.9  # share of either's questions whose overlap must be known
OVERLAP = "overlap with the gold"
SHOWN = 3  # first words that are named


def likeness(
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

    both = [(one, True) for one in lines if one.curation.state != "rejected"]
    both += [(one, False) for one in real if one.curation.state != "rejected"]
    shares = [overlap_of(one, texts) for one, _ in both]
    known = all(_known(shares, [side is which for _, side in both]) >= KNOWN for which in (True, False))
    kept = [n for n, share in enumerate(shares) if share is not None or not known]
    here = [both[n][1] for n in kept]
    n, m = sum(here), len(here) - sum(here)
    left, without = len(both) - len(kept), () if known else (OVERLAP,)
    if min(n, m) < FEWEST:
        return TwoSampleTest(n, m, left, without=without)
    questions = [both[at][0].example.query for at in kept]
    tables = _tables(questions)
    if known:
        tables[OVERLAP] = np.array([[shares[at] or 0.0] for at in kept])
    whole, each = told_apart(tables, here, [cluster_of(both[at][0]) for at in kept], seed)
    said = [_said([one for one, side in zip(questions, here, strict=True) if side is which]) for which in (True, False)]
    if known:
        for which, words_of in zip((True, False), said, strict=True):
            mean = float(np.mean([shares[at] for at, side in zip(kept, here, strict=True) if side is which]))
            words_of[OVERLAP] = f"{mean:.2f} of the words"
    tells = [Tell(name, *found, said[0].get(name, ""), said[1].get(name, "")) for name, found in each.items()]
    return TwoSampleTest(n, m, left, *whole, tuple(sorted(tells, key=lambda one: -one.auroc)), without)


def _known(shares: Sequence[float | None], which: Sequence[bool]) -> float:
    """Of some questions the part whose share is known."""
    mine = [share is not None for share, chosen in zip(shares, which, strict=True) if chosen]
    return sum(mine) / len(mine) if mine else 0.0


def _tables(questions: Sequence[str]) -> dict[str, Floats]:
    """Name -> features of every question."""
    import numpy as np

    firsts = [_first(one) for one in questions]
    frequent = [word for word, n in Counter(firsts).most_common() if n >= FREQUENT * len(questions)]
    vectors = local_embedder().embed(list(questions)).astype(np.float64)
    centred = vectors - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    return {
        "length": np.array([_length(one) for one in questions]),
        "first word": np.array([[float(first == word) for word in frequent or [""]] for first in firsts]),
        "writing": np.array([list(map(float, _writing(one))) for one in questions]),
        "meaning": centred @ axes[:DIMENSIONS].T,
    }


def _first(question: str) -> str:
    return next(iter(words(question)), "")


def _length(question: str) -> tuple[float, float]:
    found = words(question)
    return log1p(len(found)), sum(map(len, found)) / max(1, len(found))


def _writing(question: str) -> tuple[bool, bool, bool]:
    text = question.strip()
    return text.endswith(("?", "？")), text[:1].isupper(), any(sign.isupper() for sign in text[1:])


def _said(questions: Sequence[str]) -> dict[str, str]:
    """What some questions are like, by name of the features."""
    count = len(questions)
    length = sum(len(words(one)) for one in questions) / count
    firsts = Counter(map(_first, questions)).most_common(SHOWN)
    marked, capital, _ = (sum(column) / count for column in zip(*map(_writing, questions), strict=True))
    return {
        "length": f"{length:.1f} words",
        "first word": ", ".join(f"{word or 'none'} {n / count:.0%}" for word, n in firsts),
        "writing": f"{marked:.0%} end with ?, {capital:.0%} begin with a capital",
    }
