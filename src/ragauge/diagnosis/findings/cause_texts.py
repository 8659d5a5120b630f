"""How the diagnosis speaks about each cause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ragauge.diagnosis.causes.criteria import CRITERION_PREFIX


class CauseWords(NamedTuple):
    """What a finding about one cause says."""

    headline: str  #: what goes wrong, to which a segment and numbers are added.
    metrics: tuple[str, ...]  #: which metrics show it, the most telling first; without cutoff.
    leave: str = ""  #: what not to touch yet.
    again: str = ""  #: what to look at after the fix.


WORDS_BY_CAUSE: Mapping[str, CauseWords] = {
    "system_failed": CauseWords(
        "the system returns errors", (), "everything else, until the system responds", "the error rate"
    ),
    "missed_refusal": CauseWords(
        "the system answers questions that its documents do not cover",
        ("missed_refusal", "refusal_correctness"),
        again="missed_refusal and over_refusal",
    ),
    "empty_retrieval": CauseWords(
        "retrieval returns nothing", ("empty_result_rate",), "the prompt", "empty_result_rate and recall"
    ),
    "stale_source": CauseWords(
        "answers are based on outdated documents",
        ("stale_passage_rate", "answer_correctness"),
        "the prompt",
        "stale_passage_rate and answer_correctness",
    ),
    "compound": CauseWords(
        "part of the evidence is missing and the answer makes up the missing part",
        ("context_recall", "recall", "faithfulness"),
        "the prompt, until recall improves",
        "recall, then faithfulness",
    ),
    "not_in_index": CauseWords(
        "documents that contain the answer are not in the index",
        ("recall", "context_recall"),
        "search and the prompt",
        "recall",
    ),
    "retrieval_miss": CauseWords(
        "retrieval misses evidence",
        ("recall", "context_recall"),
        "the prompt, until recall improves",
        "recall and faithfulness",
    ),
    "ranked_low": CauseWords(
        "evidence is retrieved but ranked below the cutoff",
        ("recall", "ndcg", "mrr", "context_recall"),
        "the prompt, until recall improves",
        "recall at the cutoff, and context_precision",
    ),
    "lost_before_prompt": CauseWords(
        "evidence is retrieved but dropped before it reaches the prompt",
        ("recall", "context_recall"),
        "embeddings and search",
        "recall of the passages in the prompt",
    ),
    "span_cut": CauseWords(
        "the right documents are retrieved, but not the part that contains the answer",
        ("context_recall", "recall"),
        "embeddings and the prompt",
        "context_recall",
    ),
    "wrong_refusal": CauseWords(
        "the system declines questions it could answer",
        ("over_refusal", "refusal_correctness"),
        "retrieval",
        "over_refusal and missed_refusal",
    ),
    "off_topic": CauseWords(
        "answers do not address the question", ("answer_relevance",), "retrieval", "answer_relevance"
    ),
    "contradicted": CauseWords(
        "answers contradict the retrieved passages",
        ("contradicted", "faithfulness"),
        "retrieval",
        "contradicted and faithfulness",
    ),
    "noise": CauseWords(
        "answers rely on misleading passages",
        ("noise_sensitivity:source=irrelevant", "answer_correctness", "context_precision"),
        "the prompt",
        "context_precision and answer_correctness",
    ),
    "ignored": CauseWords(
        "answers ignore the evidence in the passages",
        ("faithfulness", "ignored_top_ranked"),
        "retrieval",
        "faithfulness and ignored_top_ranked",
    ),
    "hallucinated": CauseWords(
        "answers make claims that no passage supports",
        ("not_in_context", "faithfulness"),
        "retrieval",
        "not_in_context and faithfulness",
    ),
    "misattributed": CauseWords(
        "citations point to the wrong passages", ("citation_precision",), "retrieval", "citation_precision"
    ),
    "wrong_answer": CauseWords(
        "answers differ from the reference", ("answer_correctness", "answer_recall"), again="answer_correctness"
    ),
    "incomplete": CauseWords(
        "answers are incomplete",
        ("completeness", "answer_recall", "answer_relevance"),
        again="answer_recall and completeness",
    ),
}

# the same where the facts lay the fault in another component than the cause's own
WORDS_ELSEWHERE: Mapping[tuple[str, str], CauseWords] = {
    ("noise", "generation"): CauseWords(
        "answers rely on misleading passages",
        ("noise_sensitivity:source=irrelevant", "answer_correctness"),
        "retrieval and ranking",
        "answer_correctness",
    )
}


def find_words(cause: str) -> CauseWords | None:
    """What is said of a cause; None of one that is not known."""
    if not cause.startswith(CRITERION_PREFIX):
        return WORDS_BY_CAUSE.get(cause)
    name = cause.removeprefix(CRITERION_PREFIX)
    return CauseWords(f"answers do not meet the required criterion {name}", (name,), again=name)
