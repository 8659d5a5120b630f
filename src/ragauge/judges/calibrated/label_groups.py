"""Which labelled texts must not be parted when a judge is fitted without some: those that tell of each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragauge.core.human_labels import Labelled
from ragauge.judges.calibrated.training_overlap import like, marks
from ragauge.text.sentences import split

OFTEN, SHARE = 10, 0.1  # in more texts than both: an instruction, such as "Summarize this.", or a phrase


def marks_of(row: Labelled) -> list[str]:
    """What a labelled text is recognised by: of its whole answer, then of its sentences and labelled parts."""
    parts = (row.answer[part.start : part.end] for part in row.parts)
    return marks(row.passages, [row.answer, *dict.fromkeys([*(one.text for one in split(row.answer)), *parts])])


def together(rows: Sequence[Labelled]) -> list[int]:
    """The group of each row, a number that the rows of one group share: the place of its first row.

    Rows belong together that share passages and answer, passages and a sentence or labelled part, or the question, and
    so do all that are joined by others. Case, punctuation and white space do not tell texts apart, nor does the order
    of passages. A question, sentence or part in more than 10 rows and in more than a tenth of all joins none: it is an
    instruction, or said of anything.

    Args:
        rows: what people labelled.
    """
    often = max(OFTEN, SHARE * len(rows))
    wholes, others = [], []
    for row in rows:
        whole, *rest = marks_of(row)
        wholes.append(whole)
        # beside the whole, which always joins; a question cannot be mistaken for the hash of a mark
        others.append({*rest, *([f"? {like(row.query)}"] if row.query.strip() else [])})
    counts = Counter(key for keys in others for key in keys)
    parents = list(range(len(rows)))

    def first(n: int) -> int:
        while parents[n] != n:
            parents[n] = parents[parents[n]]
            n = parents[n]
        return n

    seen: dict[str, int] = {}
    for n, keys in enumerate(others):
        for key in (wholes[n], *(key for key in keys if counts[key] <= often)):
            one, other = sorted((first(n), first(seen.setdefault(key, n))))
            parents[other] = one
    return [first(n) for n in range(len(rows))]
