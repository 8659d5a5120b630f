"""What metrics say together over a run: data, and one predicate.

These are the patterns that need no baseline and no second run. Those of change, of oracle passages and of production
windows are decided where two runs are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from ragauge.analysis.scorecard import Summary
from ragauge.analysis.starting_points import STARTING, STARTING_POINTS, estimate, level_of, measured


class Pattern(NamedTuple):
    """One pattern.

    Attributes:
        name: of the pattern, used where it names no cause.
        when: metric -> low or high, all at once.
        causes: which causes of single examples it goes with, the likeliest first.
        reading: what it means, in a plain sentence.
        fix: what to try beyond the causes' own fixes.
        leave: what not to touch yet.
        again: what to look at after the fix.
        answerable: it speaks of answerable questions only, so that a correct refusal never counts towards it.
    """

    name: str
    when: Mapping[str, Literal["low", "high"]]
    causes: tuple[str, ...]
    reading: str
    fix: str
    leave: str = ""
    again: str = ""
    answerable: bool = False

    @property
    def subject(self) -> str:
        """What a finding about it alone is called: its likeliest cause, or its own name."""
        return self.causes[0] if self.causes else self.name


class Match(NamedTuple):
    """A pattern that holds, with the numbers in words."""

    pattern: Pattern
    numbers: str


WORKING = "working"

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "systemic", {"faithfulness": "low", "context_recall": "low"}, ("compound",),
        "the evidence is not found, and the answers do not keep to what is found",
        "Fix retrieval first, then tell the model to answer only from the passages.",
        leave="the prompt, until recall moves", again="context_recall, then faithfulness",
    ),
    Pattern(
        "retrieval_ceiling", {"faithfulness": "high", "context_recall": "low"},
        ("retrieval_miss", "ranked_low", "lost_before_prompt"),
        "the answers keep to the passages, but the passages lack the evidence: retrieval is the ceiling",
        "Improve retrieval: hybrid search, larger k, reranking.",
        leave="the prompt, until recall moves", again="context_recall and faithfulness, both",
    ),
    Pattern(
        "grounding", {"faithfulness": "low", "context_recall": "high"}, ("hallucinated", "contradicted", "ignored"),
        "the evidence is there, but the answers do not keep to it: generation is the problem",
        "Tell the model to answer only from the passages; try another model; validate the output.",
        leave="retrieval", again="faithfulness",
    ),
    Pattern(
        "noise", {"context_precision": "low", "context_recall": "high"}, ("noise",),
        "the evidence is there among much that is irrelevant",
        "Rerank, filter more tightly, or hand on fewer or smaller passages.", again="context_precision, then recall",
    ),
    Pattern(
        "narrow", {"context_precision": "high", "context_recall": "low"}, ("ranked_low", "span_cut"),
        "what is found is to the point, but not all of it is found",
        "Hand on more passages, try hybrid search, or cut documents differently.", again="context_recall",
    ),
    Pattern(
        "coverage", {"context_precision": "low", "context_recall": "low"}, ("retrieval_miss",),
        "little of what is found is relevant, and much that is relevant is not found",
        "Check that the documents are in the index; try hybrid search or other embeddings.", again="context_recall",
    ),
    Pattern(
        "faithful_to_noise", {"faithfulness": "high", "context_precision": "low"}, ("noise", "retrieval_miss"),
        "the answers are a faithful summary of text that is mostly irrelevant",
        "Fix retrieval: rerank or filter.", leave="the prompt", again="context_precision",
    ),
    Pattern(
        "from_memory", {"answer_relevance": "high", "faithfulness": "low"}, ("hallucinated",),
        "the answers fit the questions but come from the model's memory, not from the passages",
        "Tell the model to answer only from the passages.", again="faithfulness, and self_knowledge",
    ),
    Pattern(
        "evasive", {"faithfulness": "high", "answer_relevance": "low"}, ("off_topic", "wrong_refusal"),
        "what is said is supported but does not answer the questions",
        "Make the prompt ask for an answer to the question; check over_refusal.", leave="retrieval",
        again="answer_relevance and over_refusal",
    ),
    Pattern(
        "half", {"faithfulness": "high", "answer_relevance": "high", "completeness": "low"}, ("incomplete",),
        "the answers are right as far as they go, on half of the evidence",
        "Raise recall, and ask for every part of the question.", again="completeness and recall",
    ),
    Pattern(
        "wrong_source", {"faithfulness": "high", "answer_correctness": "low"}, ("stale_source", "noise"),
        "the answers keep to the passages and are wrong: outdated passages, misleading ones, or misread questions",
        "Check the corpus, then the references, then the prompt.", again="answer_correctness",
    ),
    Pattern(
        "ranking_disagreement", {"ignored_top_ranked": "high"}, (),
        "the answers often make no use of the top-ranked passage: the ranking and the generator disagree",
        "Look at chunk size, embeddings and the reranker's calibration.", again="ignored_top_ranked", answerable=True,
    ),
    Pattern(
        "distracted", {"noise_sensitivity:source=irrelevant": "high"}, ("noise",),
        "irrelevant passages lead to wrong claims",
        "Hand on fewer passages or rerank; tell the model to leave out what does not bear on the question.",
        again="noise_sensitivity:source=irrelevant",
    ),
    Pattern(
        "source_conflict", {"source_conflict": "high"}, (),
        "passages contradict each other, and the answers merge them",
        "Remove duplicates and old versions; show dates; tell the model what to do about contradictions.",
        again="source_conflict",
    ),
    Pattern(
        "misattributed", {"faithfulness": "high", "citation_precision": "low"}, ("misattributed",),
        "the claims are supported, but not by the passages that they cite",
        "Number the passages in the prompt and fix the format of citations.", again="citation_precision",
    ),
    Pattern(
        "empty_retrieval", {"empty_result_rate": "high"}, ("empty_retrieval",),
        "many questions find nothing: a gap in the index, a filter, or a new kind of question",
        "Check ingestion and filters.", again="empty_result_rate",
    ),
    Pattern(
        WORKING, {"faithfulness": "high", "context_recall": "high"}, (),
        "retrieval and grounding both work: keep watching", "Nothing stands out; set a baseline and gate on it.",
    ),
)     # fmt: skip


def matches(summaries: Sequence[Summary], answerable: Sequence[Summary] | None = None) -> list[Match]:
    """The patterns that hold, in order. One whose metrics were not measured, or are unclear, does not.

    Args:
        summaries: over all examples.
        answerable: over those not labelled unanswerable; None = nothing is labelled so.
    """
    found = []
    for pattern in PATTERNS:
        of = answerable if pattern.answerable and answerable is not None else summaries
        numbers = [_number(name, wanted, of) for name, wanted in pattern.when.items()]
        if all(numbers):
            found.append(Match(pattern, ", ".join(numbers)))
    return found


def _number(name: str, wanted: str, summaries: Sequence[Summary]) -> str:
    """The metric's number in words if it is as wanted, else nothing; the first clear one of those that speak for it."""
    point = STARTING_POINTS[name]
    levels = ((summary, level_of(summary, point)) for summary in measured(name, summaries))
    summary, level = next(((s, level) for s, level in levels if level != "unclear"), (None, "unclear"))
    if summary is None or level != wanted:
        return ""
    side = "above" if wanted == "high" else "below"
    return f"{estimate(summary)} is {side} {point.value:.2f}, the {STARTING} ({point.source})"
