"""The patterns of metrics that hold for a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragauge.diagnosis.findings.patterns import Pattern
from ragauge.scores.indicators import (
    BASELINE,
    ORACLE,
    POINTS,
    Against,
    find_rise,
    has_little_relevant,
    read_against_point,
    read_against_run,
)
from ragauge.scores.results.scorecard import Reading, Summary

WORKING_PATTERN = "working"


# in the order of their share in most systems
RETRIEVAL_CAUSES = (
    "retrieval_miss",
    "ranked_low",
    "span_cut",
    "lost_before_prompt",
    "not_in_index",
    "empty_retrieval",
    "compound",
    "noise",
    "stale_source",
)


GENERATION_CAUSES = (
    "hallucinated",
    "contradicted",
    "ignored",
    "wrong_answer",
    "incomplete",
    "off_topic",
    "wrong_refusal",
    "misattributed",
)


def _build_oracle_patterns(metric: str) -> tuple[Pattern, Pattern]:
    """Poor on oracle passages; good there, poor on own: by one metric of the answer."""
    return (
        Pattern(
            "generator_limit",
            {},
            GENERATION_CAUSES,
            "answers are poor even with the right passages: the prompt or the model is the problem",
            "",
            "First fix the prompt on the oracle passages, which rule out retrieval; then try another model.",
            leave="retrieval",
            again=f"{metric} on oracle passages, then on the system's own retrieval",
            oracle={metric: "low"},
        ),
        Pattern(
            "retrieval_gap",
            {metric: "low"},
            RETRIEVAL_CAUSES,
            "answers are good with the right passages but worse with the retrieved ones: retrieval is the problem",
            "",
            "Improve retrieval: the gap to the oracle passages shows how much there is to gain.",
            leave="the prompt and the model",
            again=f"{metric} on the system's own retrieval, and recall",
            oracle={metric: "high"},
        ),
    )


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "systemic",
        {"faithfulness": "low", "context_recall": "low"},
        ("compound",),
        "retrieval misses the evidence, and the answers are not grounded in what it finds",
        "retrieval finds less of the evidence than before, and the answers are less grounded in what it finds",
        "Fix retrieval first, then tell the model to answer only from the passages.",
        leave="the prompt, until recall improves",
        again="context_recall, then faithfulness",
    ),
    Pattern(
        "retrieval_ceiling",
        {"faithfulness": "high", "context_recall": "low"},
        ("retrieval_miss", "ranked_low", "lost_before_prompt"),
        "the answers are grounded in the passages, but the passages lack the evidence: retrieval is the bottleneck",
        "the answers are still grounded in the passages, but these hold less of the evidence: retrieval got worse",
        "Improve retrieval: hybrid search, larger k, reranking.",
        leave="the prompt, until recall improves",
        again="context_recall and faithfulness",
    ),
    Pattern(
        "grounding",
        {"faithfulness": "low", "context_recall": "high"},
        ("hallucinated", "contradicted", "ignored"),
        "the passages contain the evidence, but the answers are not grounded in it: generation is the problem",
        "the passages contain as much evidence as before, but answers are less grounded in it: generation got worse",
        "Tell the model to answer only from the passages; try another model; validate the output.",
        leave="retrieval",
        again="faithfulness",
    ),
    Pattern(
        "noise",
        {"context_precision": "low", "context_recall": "high"},
        ("noise",),
        "the evidence is retrieved along with many irrelevant passages",
        "retrieval finds as much of the evidence as before, but along with more irrelevant passages",
        "Rerank, filter more strictly, or pass fewer or smaller passages to the generator.",
        again="context_precision, then recall",
    ),
    Pattern(
        "narrow",
        {"context_precision": "high", "context_recall": "low"},
        ("ranked_low", "span_cut"),
        "the retrieved passages are relevant, but some of the evidence is missing",
        "the retrieved passages are as relevant as before, but contain less of the evidence",
        "Pass more passages to the generator, try hybrid search, or change the chunking.",
        again="context_recall",
    ),
    Pattern(
        "coverage",
        {"context_precision": "low", "context_recall": "low"},
        ("retrieval_miss",),
        "few of the retrieved passages are relevant, and much of the evidence is missing",
        "fewer of the retrieved passages are relevant than before, and they contain less of the evidence",
        "Check that the documents are in the index; try hybrid search or other embeddings.",
        again="context_recall",
    ),
    Pattern(
        "faithful_to_noise",
        {"faithfulness": "high", "context_precision": "low"},
        ("noise", "retrieval_miss"),
        "the answers faithfully summarize passages that are mostly irrelevant",
        "the answers are as grounded as before, but more of the passages are irrelevant",
        "Fix retrieval: rerank or filter.",
        leave="the prompt",
        again="context_precision",
    ),
    Pattern(
        "from_memory",
        {"answer_relevance": "high", "faithfulness": "low"},
        ("hallucinated",),
        "the answers address the questions but come from the model's memory, not from the passages",
        "the answers address the questions as before but rely less on the passages and more on the model's memory",
        "Tell the model to answer only from the passages.",
        again="faithfulness and self_knowledge",
    ),
    Pattern(
        "evasive",
        {"faithfulness": "high", "answer_relevance": "low"},
        ("off_topic", "wrong_refusal"),
        "the answers are supported but do not answer the questions",
        "the answers are as well supported as before but less relevant to the questions: the system is more cautious",
        "Tell the model to answer the question; check over_refusal.",
        leave="retrieval",
        again="answer_relevance and over_refusal",
        needs_found=True,
        decided=True,
    ),
    Pattern(
        "half",
        {"faithfulness": "high", "answer_relevance": "high", "completeness": "low"},
        ("incomplete",),
        "the answers are correct but incomplete: they cover only part of the evidence",
        "the answers are as well supported and relevant as before, but leave out more",
        "Improve recall, and tell the model to answer every part of the question.",
        again="completeness and recall",
    ),
    Pattern(
        "wrong_source",
        {"faithfulness": "high", "answer_correctness": "low"},
        ("stale_source", "noise", "wrong_answer"),
        "the answers are grounded but wrong: the passages are outdated or misleading, or the model misread them",
        "the answers are as grounded as before but wrong more often: passages may be outdated or misleading",
        "Check the corpus, then the references, then the prompt.",
        again="answer_correctness",
        needs_found=True,
    ),
    *_build_oracle_patterns("answer_correctness"),
    *_build_oracle_patterns("faithfulness"),
    Pattern(
        "ranking_disagreement",
        {"ignored_top_ranked": "high"},
        (),
        "the answers often ignore the top-ranked passage: the ranking and the generator disagree",
        "",
        "Check the chunk size, the embeddings and the reranker's calibration.",
        again="ignored_top_ranked",
        answerable=True,
        absolute=True,
        relevant=True,
    ),
    Pattern(
        "more_confuses",
        {"faithfulness": "low"},
        ("noise",),
        "",
        "the generator gets more context than before, and the answers are less grounded in it: it confuses the model",
        "Go back to fewer passages, or rerank them first; tell the model to answer only from the passages.",
        leave="search",
        again="faithfulness at the previous k, and context_precision",
        change=True,
        more=True,
    ),
    Pattern(
        "distracted",
        {"noise_sensitivity:source=irrelevant": "high"},
        ("noise",),
        "irrelevant passages lead to wrong claims",
        "irrelevant passages lead to more wrong claims than before",
        "Pass fewer passages to the generator, or rerank; tell the model to ignore irrelevant passages.",
        again="noise_sensitivity:source=irrelevant",
    ),
    Pattern(
        "source_conflict",
        {"source_conflict": "high"},
        (),
        "passages contradict each other, and the answers merge them",
        "more passages contradict each other than before, and the answers merge them",
        "Remove duplicates and old versions; show dates; tell the model how to handle contradictions.",
        again="source_conflict",
    ),
    Pattern(
        "misattributed",
        {"faithfulness": "high", "citation_precision": "low"},
        ("misattributed",),
        "the claims are supported, but not by the passages that they cite",
        "the claims are supported as before, but less often by the passages that they cite",
        "Number the passages in the prompt and specify the citation format.",
        again="citation_precision",
    ),
    Pattern(
        "invented_citations",
        {"invented_citations": "high"},
        (),
        "the answers cite passages that do not exist: a number above the last one, or a name that no passage has",
        "more citations than before point to passages that do not exist",
        "Look at one answer: where it names passages by ids that the file does not have, give a field citations. Else: "
        "Number the passages in the prompt, and take citations of other numbers out of the answers.",
        again="invented_citations, then citation_precision",
    ),
    Pattern(
        "empty_retrieval",
        {"empty_result_rate": "high"},
        ("empty_retrieval",),
        "retrieval returns nothing for many questions: a gap in the index, a filter, or a new kind of question",
        "retrieval returns nothing more often than before: a gap in the index, a filter, or a new kind of question",
        "Check ingestion and filters.",
        again="empty_result_rate",
        answerable=True,
    ),
    Pattern(
        "traffic_shifted",
        {"context_precision": "low"},
        ("noise", "retrieval_miss"),
        "",
        "in production, fewer passages are relevant than before: the corpus is outdated, or the questions changed",
        "Re-index, and add recent questions to the eval set.",
        leave="the prompt",
        again="context_precision on traffic and on the eval set",
        change=True,
        traffic=True,
    ),
    Pattern(
        "traffic_ungrounded",
        {"faithfulness": "low"},
        ("hallucinated", "contradicted", "noise"),
        "",
        "in production, answers are less grounded than before: the context is too long, or bad documents were ingested",
        "Pass a smaller context to the generator; review the most recently ingested documents.",
        leave="the embeddings",
        again="faithfulness and context_tokens on traffic",
        change=True,
        traffic=True,
    ),
    Pattern(
        "traffic_unanswered",
        {"no_retrieval_rate": "high"},
        ("empty_retrieval", "missed_refusal"),
        "",
        "in production, more questions have no sufficiently similar passage: answers may be made up",
        "Return a fallback answer when no passage reaches the minimum score; fill the gap in the corpus.",
        again="no_retrieval_rate and faithfulness",
        change=True,
        traffic=True,
    ),
    Pattern(
        WORKING_PATTERN,
        {"faithfulness": "high", "context_recall": "high"},
        (),
        "retrieval and grounding both work: keep monitoring",
        "neither retrieval nor grounding got worse than the baseline: keep monitoring",
        "Nothing stands out: use this run as the baseline for the next change, and gate on it.",
        again="faithfulness and context_recall, after every change",
    ),
)


# what a pattern is read against, the most telling first
SOURCES_BY_STRENGTH = (BASELINE, ORACLE, POINTS)


# what shows that more is handed on than before, the most telling first
MORE_METRICS = ("recall", "context_recall", "context_tokens")


EVIDENCE_METRIC = "context_recall"  # how much of the evidence is found


class Match(NamedTuple):
    """A pattern that holds."""

    pattern: Pattern  #: which.
    readings: tuple[Reading, ...]  #: the metrics that it rests on.
    more: str  #: how more passages are handed on than in the baseline, where it rests on that; else "".
    reading: str  #: what it means here: against a baseline, or of this run alone.

    @property
    def against(self) -> str:
        """What it was read against: another run, where one of its readings was, else starting points."""
        sources = {reading.against for reading in self.readings}
        return next(source for source in SOURCES_BY_STRENGTH if source in sources)


def find_matches(
    summaries: Sequence[Summary], answerable: Sequence[Summary] | None = None, against: Against | None = None
) -> list[Match]:
    """The patterns that hold, in order. One whose metrics were not measured, or are unclear, does not.

    Args:
        summaries: over all examples.
        answerable: over those not labelled unanswerable; None = nothing is labelled so.
        against: what the run is held against; None = starting points alone.
    """
    matched: list[Match] = []
    for pattern in PATTERNS:
        if pattern.oracle and any(match.pattern.oracle for match in matched):
            continue  # the metrics of the answer are asked in turn: the first one that is clear decides
        pattern_summaries = answerable if pattern.answerable and answerable is not None else summaries
        readings = _match_pattern(pattern, pattern_summaries, against or Against())
        matched += [readings] if readings is not None else []
    return matched


def _match_pattern(pattern: Pattern, summaries: Sequence[Summary], against: Against) -> Match | None:
    if pattern.relevant and has_little_relevant(summaries):
        return None
    baseline = None if pattern.absolute else against.changed
    if pattern.change and (baseline is None or (pattern.traffic and not against.traffic)):
        return None
    if pattern.needs_found and baseline is not None:
        evidence_lost = read_against_run(EVIDENCE_METRIC, "low", baseline.metrics, baseline.base.name)
        if evidence_lost is not None:
            return None
    if pattern.oracle:
        readings = _read_oracle(pattern, against)
    elif baseline is not None:
        base = baseline.base.name
        readings = [
            read_against_run(name, target_level, baseline.metrics, base) for name, target_level in pattern.when.items()
        ]
    else:
        readings = [read_against_point(name, target_level, summaries) for name, target_level in pattern.when.items()]
    more = ""
    if pattern.more and baseline is not None:
        grown = find_rise(MORE_METRICS, baseline.metrics, baseline.base.name)
        more = against.more
        readings = [*readings, grown] if grown is not None or not more else readings
    clear_readings = tuple(reading for reading in readings if reading is not None)
    if not clear_readings or len(clear_readings) < len(readings):
        return None
    changed = pattern.changed if baseline is not None else ""
    return Match(pattern, clear_readings, more, changed or pattern.reading)


def _read_oracle(pattern: Pattern, against: Against) -> list[Reading | None]:
    """On oracle passages against the starting points; the run's own against the run on oracle passages."""
    oracle = against.oracle
    if oracle is None:
        return [None]
    oracle_readings = [
        read_against_point(name, target_level, oracle.summaries, "oracle")
        for name, target_level in pattern.oracle.items()
    ]
    own_readings = [
        read_against_run(name, target_level, oracle.gaps, oracle.name, ORACLE)
        for name, target_level in pattern.when.items()
    ]
    return [*oracle_readings, *own_readings]
