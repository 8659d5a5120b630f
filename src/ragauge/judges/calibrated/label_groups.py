"""Which labelled texts must not be parted when a judge is fitted without some: those that tell of each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragauge.core.human_labels import LabeledAnswer
from ragauge.judges.calibrated.training_overlap import compute_marks, normalize_for_match
from ragauge.text.sentences import split_sentences

COMMON_ROWS, COMMON_SHARE = 10, 0.1  # in more texts than both: an instruction, such as "Summarize this.", or a phrase


def compute_row_marks(row: LabeledAnswer) -> list[str]:
    """What a labelled text is recognised by: of its whole answer, then of its sentences and labelled parts."""
    part_texts = (row.answer[part.start : part.end] for part in row.parts)
    return compute_marks(
        row.passages,
        [row.answer, *dict.fromkeys([*(sentence.text for sentence in split_sentences(row.answer)), *part_texts])],
    )


def group_rows(rows: Sequence[LabeledAnswer]) -> list[int]:
    """The group of each row, a number that the rows of one group share: the place of its first row.

    Rows belong together that share passages and answer, passages and a sentence or labelled part, or the question, and
    so do all that are joined by others. Case, punctuation and white space do not tell texts apart, nor does the order
    of passages. A question, sentence or part in more than 10 rows and in more than a tenth of all joins none: it is an
    instruction, or said of anything.

    Args:
        rows: what people labelled.
    """
    max_count = max(COMMON_ROWS, COMMON_SHARE * len(rows))
    answer_marks, others = [], []
    for row in rows:
        answer_mark, *part_marks = compute_row_marks(row)
        answer_marks.append(answer_mark)
        # beside the whole, which always joins; a question cannot be mistaken for the hash of a mark
        others.append({*part_marks, *([f"? {normalize_for_match(row.query)}"] if row.query.strip() else [])})
    counts = Counter(key for keys in others for key in keys)
    parents = list(range(len(rows)))

    def find_root(n: int) -> int:
        while parents[n] != n:
            parents[n] = parents[parents[n]]
            n = parents[n]
        return n

    first_rows: dict[str, int] = {}
    for n, keys in enumerate(others):
        for key in (answer_marks[n], *(key for key in keys if counts[key] <= max_count)):
            root, other = sorted((find_root(n), find_root(first_rows.setdefault(key, n))))
            parents[other] = root
    return [find_root(n) for n in range(len(rows))]
