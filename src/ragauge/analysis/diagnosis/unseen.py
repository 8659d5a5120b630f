"""Where nearly everything is blamed on retrieval by a judge that may simply not see the evidence."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.analysis.results.scorecard import Reading
from ragauge.analysis.scores.failed import FailedResponses
from ragauge.text.messages import command, plural

LEAST = 20              # examples below which a share tells nothing
NEARLY_ALL = 0.8        # share of all examples without evidence, from which the judge is as suspect as the retriever
MOST = 0.5              # the same where the question alone was held against the passages, without a reference
SUSPECT = ("retrieval_miss", "compound")
NO_REFERENCE = "relevance labels or a reference answer"     # what a miss lacks that no reference claim shows
SHOWN = 3
DIALOGUE = "questions of a dialogue, or in other words than the documents'"
OTHER_WORDS = "references in other words, another language or another register than the documents'"


def unseen(failed: FailedResponses, n: int, judge_id: str) -> str:
    """That the local judge alone says of nearly all examples that evidence is missing, in words; "" where it does not.

    A retriever that finds nothing anywhere is rare; a judge that compares words and meets references in other words, in
    another language or register, or questions out of a dialogue, is not. Labels of documents end the doubt: failures
    that they show are not counted.

    Args:
        failed: one a failed example.
        n: examples evaluated.
        judge_id: who judged.

    Returns:
        Sentences that begin with a space.
    """
    if n < LEAST or not judge_id.startswith("local"):
        return ""
    alone = [
        NO_REFERENCE in lacking
        for cause, by, lacking in zip(failed.cause, failed.shown_by, failed.lacking, strict=True)
        if cause in SUSPECT and by == "judge"
    ]
    count, by_question = len(alone), 2 * sum(alone) > len(alone)
    if count < (MOST if by_question else NEARLY_ALL) * n:
        return ""
    return (
        f" The judge alone, without labels of gold documents, says of {count:,} of {plural(n, 'example')} "
        f"({count / n:.0%}) that the evidence is missing. That is as likely a judge that cannot see the evidence "
        f"({DIALOGUE if by_question else OTHER_WORDS}) as a retriever that finds nothing."
    )


def settle(rows: FailedResponses) -> str:
    """What settles it, to be done before any other fix; ends with a space.

    Args:
        rows: the failures of one cause.
    """
    ids = [rows.index.query_ids[query] for query in rows.query[:SHOWN].tolist()]
    return (
        f"First settle whether the evidence is really missing: open {', '.join(ids)} "
        f"({command('show', 'RUN', ids[0])}), label the gold documents of 20 examples (relevant), or ask a model judge "
        "(--judge). Where it is missing: "
    )


def rests_on_it(readings: Sequence[Reading]) -> bool:
    """Whether a pattern takes from the judge that evidence is missing or that what came is irrelevant."""
    judged = (one for one in readings if one.metric.startswith(("context_recall", "context_precision")))
    return any(one.level == "low" for one in judged)
