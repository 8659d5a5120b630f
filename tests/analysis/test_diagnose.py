"""The diagnosis: which pattern and which causes are named, from constructed summaries and causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from ragauge.diagnosis.causes.attribution import ROWS, ROWS_BY_NAME
from ragauge.diagnosis.findings.cause_texts import WORDS_BY_CAUSE, Concentration, find_concentrations
from ragauge.diagnosis.findings.diagnosis_builder import SegmentView, diagnose, rate_confidence
from ragauge.diagnosis.findings.pattern_matches import Match, find_matches
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.indicators import STARTING_POINTS, describe_reading, find_level, list_measured, read_against_point
from ragauge.scores.results.scorecard import Cause, Finding, Summary
from ragauge.scores.segments import Segments, tidy_segments
from ragauge.scores.summarize import build_cause_frame
from ragauge.stats.textbook_tests import fisher_greater
from ragauge.stats.weighted import Interval

NAMES = {"recall": "recall@5"}


def summary(name: str, mean: float | None, half: float = 0.03, n: int = 200, **changes: object) -> Summary:
    """A summary with an interval of that half-width; measures, direction and kind as the metric has them."""
    name = NAMES.get(name, name)
    metric = parse_metric(name)
    interval = None if mean is None else Interval(max(0.0, mean - half), min(1.0, mean + half), "t")
    named = (name, metric.measures, metric.direction, metric.scale)
    made = Summary(*named, n, n, 0, 0, 0, mean, interval, low=mean, high=mean)
    return replace(made, **changes)  # type: ignore[arg-type]     # fields of any type, by name


def summaries(**means: float) -> tuple[Summary, ...]:
    return tuple(summary(name.replace("__", ":"), mean) for name, mean in means.items())


def causes(counts: Mapping[str, int], basis: str = "labels") -> pl.DataFrame:
    """So many failed examples of each cause, q0, q1 ... in order."""
    names = [name for name, count in counts.items() for _ in range(count)]
    return build_cause_frame(
        (f"q{i}", 0, Cause(name, f"numbers of {name}", basis=basis, lacking=("candidates not recorded",)))
        for i, name in enumerate(names)
    )


def found(counts: Mapping[str, int], n: int = 200, **means: float) -> tuple[Finding, ...]:
    return diagnose(summaries(**means), causes(counts), n)


def said(what: Match | Finding) -> str:
    """The numbers of a pattern or a finding, in words."""
    return ", ".join(map(describe_reading, what.readings))


def names(findings: Sequence[Finding]) -> list[str]:
    return [finding.cause for finding in findings]


# metrics -> the pattern that must hold; every metric not named lies in the unclear middle of its starting point
READINGS: list[tuple[str, dict[str, float]]] = [
    ("systemic", {"faithfulness": 0.60, "context_recall": 0.50}),
    ("systemic", {"faithfulness": 0.60, "recall": 0.50}),
    ("retrieval_ceiling", {"faithfulness": 0.95, "context_recall": 0.50}),
    ("grounding", {"faithfulness": 0.60, "context_recall": 0.95}),
    ("noise", {"context_precision": 0.10, "context_recall": 0.95}),
    ("narrow", {"context_precision": 0.95, "context_recall": 0.50}),
    ("coverage", {"context_precision": 0.10, "context_recall": 0.50}),
    ("faithful_to_noise", {"faithfulness": 0.95, "context_precision": 0.10}),
    ("from_memory", {"answer_relevance": 0.95, "faithfulness": 0.60}),
    ("evasive", {"faithfulness": 0.95, "answer_relevance": 0.50}),
    ("half", {"faithfulness": 0.95, "answer_relevance": 0.95, "completeness": 0.50}),
    ("wrong_source", {"faithfulness": 0.95, "answer_correctness": 0.50}),
    ("ranking_disagreement", {"ignored_top_ranked": 0.45}),
    ("distracted", {"noise_sensitivity__source=irrelevant": 0.30}),
    ("source_conflict", {"source_conflict": 0.30}),
    ("misattributed", {"faithfulness": 0.95, "citation_precision": 0.50}),
    ("invented_citations", {"invented_citations": 0.20}),
    ("empty_retrieval", {"empty_result_rate": 0.20}),
    ("working", {"faithfulness": 0.95, "context_recall": 0.95}),
]


@pytest.mark.parametrize(("name", "means"), READINGS)
def test_pattern_holds(name: str, means: dict[str, float]) -> None:
    """Exactly the pattern that the numbers are built for holds."""
    held = find_matches(summaries(**means))
    assert [match.pattern.name for match in held] == [name]
    for part in means:
        assert NAMES.get(part, part).replace("__", ":") in said(held[0])
    assert "default threshold (" in said(held[0])


@pytest.mark.parametrize(("name", "means"), READINGS)
def test_pattern_needs_data(name: str, means: dict[str, float]) -> None:
    """The same means with intervals over the starting point, with one value, or with many failures say nothing."""
    named = {part.replace("__", ":"): mean for part, mean in means.items()}
    assert find_matches([summary(part, mean, half=0.6) for part, mean in named.items()]) == []
    assert find_matches([replace(summary(part, mean), interval=None) for part, mean in named.items()]) == []
    assert find_matches([summary(part, mean, low=0.0, high=1.0) for part, mean in named.items()]) == []
    assert find_matches([summary(part, None) for part in named]) == []


def test_starting_points_are_labelled() -> None:
    """The five values of A1 are those of the article, precision by sentence as there; all others are called ours."""
    theirs = {name: point.value for name, point in STARTING_POINTS.items() if point.source == "BEE-30050"}
    assert theirs == {
        "faithfulness": 0.85,
        "answer_relevance": 0.75,
        "context_recall": 0.80,
        "context_precision:unit=sentence": 0.70,
        "ignored_top_ranked": 0.30,
    }


def test_level_by_interval() -> None:
    """Low is wholly below, high wholly above; the point itself within the interval is unclear."""
    point = STARTING_POINTS["faithfulness"]
    assert find_level(summary("faithfulness", 0.80), point) == "low"
    assert find_level(summary("faithfulness", 0.90), point) == "high"
    assert find_level(summary("faithfulness", 0.83), point) == "unclear"
    assert find_level(summary("faithfulness", 0.80, high=0.9), point) == "unclear"
    assert find_level(summary("faithfulness", 0.90, low=0.8), point) == "unclear"


@pytest.mark.parametrize(
    ("name", "mean", "said"),
    [
        ("context_precision", 0.40, None),
        ("context_precision", 0.10, 0.20),
        ("context_precision:unit=sentence", 0.40, 0.70),
        ("context_precision:unit=sentence", 0.90, None),
    ],
)
def test_precision_by_passage_and_by_sentence_have_points_of_their_own(
    name: str, mean: float, said: float | None
) -> None:
    """0.40 is low of sentences and not of passages: each is held against its own point, which the reading names."""
    reading = read_against_point("context_precision", "low", [summary(name, mean)])
    assert (None if reading is None else (reading.metric, reading.point)) == (None if said is None else (name, said))


def test_precision_by_passage_is_read_before_that_by_sentence() -> None:
    """Where both are clear the passages decide; where theirs is unclear, the sentences; no judge's error swaps them."""
    sentences = summary("context_precision:unit=sentence", 0.40)
    assert read_against_point("context_precision", "low", [sentences, summary("context_precision", 0.60)]) is None
    unclear = summary("context_precision", 0.21)
    reading = read_against_point("context_precision", "low", [unclear, sentences])
    assert reading is not None
    assert reading.metric == "context_precision:unit=sentence"
    judged = replace(summary("context_precision", 0.60), judged=Interval(0.5, 0.7, "t"))
    assert read_against_point("context_precision", "low", [sentences, judged]) is None


def test_recall_stands_in_only_where_needed() -> None:
    """Label recall is read for context_recall where that was not measured or is unclear, never against it."""
    both = [summary("recall", 0.9), summary("context_recall", 0.5)]
    assert [spoke.metric for spoke in list_measured("context_recall", both)] == ["context_recall", "recall@5"]
    assert list_measured("context_recall", [summary("mrr", 0.9), summary("recall", None)]) == []
    erring = [both[0], replace(both[1], judged=Interval(0.1, 0.9, "t, including judge error"))]
    assert [spoke.metric for spoke in list_measured("context_recall", erring)] == ["recall@5", "context_recall"]

    def held(**means: float) -> list[str]:
        return [match.pattern.name for match in find_matches(summaries(faithfulness=0.60, **means))]

    assert held(recall=0.95) == ["grounding"]
    assert held(recall=0.95, context_recall=0.81) == ["grounding"]
    assert held(recall=0.95, context_recall=0.50) == ["systemic"]


def test_every_cause_has_words() -> None:
    """Each row of the cause table has its words, and the metrics in them exist."""
    assert {*WORDS_BY_CAUSE, "unclear"} == {row.name for row in ROWS}
    for row in WORDS_BY_CAUSE.values():
        for metric in row.metrics:
            assert str(parse_metric(metric)) == metric


def test_headline_of_the_largest_cause() -> None:
    """The largest cause comes first, with its metric, its count and an example that shows it."""
    first, second = found({"noise": 20, "retrieval_miss": 62}, recall=0.78, faithfulness=0.84)
    assert first.cause == "retrieval_miss"
    assert first.headline == "retrieval misses evidence (recall@5 0.78 [0.75, 0.81], 62 of 82 failures)"
    assert "62 of 82 failures (76%), 31% of all examples" in first.evidence
    assert "For example, q20: numbers of retrieval_miss." in first.evidence
    assert (first.explains, first.failures, first.segment, first.confidence) == (62, 82, "", "high")
    assert "recall" in first.measure_again
    assert first.leave
    assert first.fix
    assert second.cause == "noise"


def test_small_causes_are_left_out() -> None:
    """A cause needs 3 failures or 10 % of them."""
    assert names(found({"noise": 50, "ignored": 2, "off_topic": 3})) == ["noise", "off_topic"]
    assert names(found({"noise": 8, "ignored": 1})) == ["noise", "ignored"]
    assert found({}) == ()


def test_pattern_joins_its_cause() -> None:
    """A pattern adds its reading to the finding of its cause instead of a second finding."""
    held = found({"retrieval_miss": 30, "hallucinated": 5}, faithfulness=0.95, context_recall=0.50)
    assert names(held) == ["retrieval_miss", "hallucinated"]
    assert "retrieval is the bottleneck" in held[0].evidence
    assert "default threshold (BEE-30050)" in said(held[0])
    assert held[0].leave == "the prompt, until recall improves"


def test_pattern_joins_the_most_frequent_of_its_causes() -> None:
    """Of several causes that a pattern goes with, it joins the one that explains most."""
    held = found({"contradicted": 30, "hallucinated": 5}, faithfulness=0.60, context_recall=0.95)
    assert "generation is the problem" in held[0].evidence
    assert held[0].cause == "contradicted"
    assert "generation is the problem" not in held[1].evidence


def test_findings_stand_in_the_order_of_what_their_fix_settles() -> None:
    """A pattern's fix settles all its causes: the finding that carries it is placed by these, each other by its own."""
    counts = {"incomplete": 14, "hallucinated": 13, "noise": 12, "contradicted": 10, "ignored": 3}
    held = found(counts, faithfulness=0.60, context_recall=0.95)
    assert names(held) == ["hallucinated", "incomplete", "noise", "contradicted", "ignored"]
    assert "generation is the problem" in held[0].evidence
    assert names(found(counts)) == ["incomplete", "hallucinated", "noise", "contradicted", "ignored"]


def test_of_as_many_failures_the_surer_finding_comes_first() -> None:
    """Of two causes that explain as many, that which labels decided stands before that which a judge did."""
    for order in (("hallucinated", "retrieval_miss"), ("retrieval_miss", "hallucinated")):
        frame = causes(dict.fromkeys(order, 6))
        basis = pl.when(pl.col("cause") == "retrieval_miss").then(pl.lit("labels")).otherwise(pl.lit("guess"))
        held = diagnose(summaries(), frame.with_columns(basis.alias("basis")), 40)
        assert names(held)[:2] == ["retrieval_miss", "hallucinated"]


def test_pattern_alone() -> None:
    """A pattern without such a cause is a finding of its own, once for each subject, after what explains more."""
    held = found({"noise": 30}, ignored_top_ranked=0.45, source_conflict=0.30)
    assert names(held) == ["noise", "ranking_disagreement", "source_conflict"]
    assert held[1].explains == 0
    assert held[1].evidence == ""
    assert said(held[1]) == "ignored_top_ranked 0.45 [0.42, 0.48] is above 0.30, the default threshold (BEE-30050)"
    twice = found({}, context_precision=0.10, context_recall=0.50, faithfulness=0.95)
    assert names(twice).count("retrieval_miss") == 1
    assert len(names(twice)) == len(set(names(twice)))


def test_refusals_that_nobody_can_judge_are_not_called_evasive() -> None:
    """Where most failures are unclear, low relevance is not put down to the prompt; where they are decided, it is."""
    means: dict[str, Any] = {"faithfulness": 0.95, "answer_relevance": 0.50}
    (dark,) = found({"": 40, "ignored": 1}, **means)
    assert (dark.cause, dark.readings) == ("", ())
    known = found({"": 10, "wrong_refusal": 30}, **means)
    assert names(known)[0] == "wrong_refusal"
    assert "do not answer the questions" in known[0].evidence
    assert names(found({"ignored": 30}, **means)) == ["ignored", "off_topic"]


def test_no_cause_is_named_twice() -> None:
    """Whatever holds, each subject has one finding."""
    everything = {part: mean for _, means in READINGS for part, mean in means.items()}
    for _, means in READINGS:
        held = diagnose(summaries(**{**everything, **means}), causes(dict.fromkeys(WORDS_BY_CAUSE, 5) | {"": 5}), 200)
        assert len(names(held)) == len(set(names(held)))


def test_working_comes_last() -> None:
    """Both high is said too, after what still fails."""
    held = found({"misattributed": 4}, faithfulness=0.95, context_recall=0.95)
    assert names(held) == ["misattributed", "working"]
    assert "keep monitoring" in held[-1].headline


def test_unexplained_failures_say_what_is_missing() -> None:
    """Failures without a cause come after the causes unless they are most of them, and name what to record."""
    assert names(found({"": 4, "noise": 6})) == ["noise", ""]
    held = found({"": 6, "noise": 4})
    assert names(held) == ["", "noise"]
    unclear = "unclear whether retrieval or generation is at fault (6 of 10 failures):"
    assert held[0].headline == f"{unclear} 60 labels would resolve it"
    assert "Candidates not recorded (6 examples)." in held[0].evidence
    assert held[0].confidence == "low"
    assert "gold documents" not in held[0].fix  # none is missing
    lacking = ("gold documents (relevant), 60 labels",)
    unlabeled = [(f"q{i}", 0, Cause("", "unclear", lacking=lacking)) for i in range(6)]
    (asking,) = diagnose((), build_cause_frame(unlabeled), 10)
    assert asking.headline.endswith("gold documents or 10 labels would resolve it")
    assert "label the gold documents of these examples" in asking.fix


def concentrated_in(cause: str, ids: Sequence[str], frame: pl.DataFrame) -> Concentration | None:
    """In which segment of a frame a cause is concentrated that these examples have."""
    segments = Segments.of(frame)
    places = find_concentrations(cause, segments.mark_examples(ids, np.arange(len(ids))), segments)
    return places[0] if places else None


def segments(**columns: Sequence[str]) -> pl.DataFrame:
    n = len(next(iter(columns.values())))
    return pl.DataFrame({"query_id": [f"q{i}" for i in range(n)], **columns})


def test_concentrated_segment() -> None:
    """A cause in 45 of 60 multi_hop and 17 of 140 other examples is said to be concentrated, with its own numbers."""
    # q0 .. q61 failed: 45 of them are multi_hop, with 15 more that did not fail
    kind = ["multi_hop"] * 45 + ["single"] * 17 + ["multi_hop"] * 15 + ["single"] * 123
    of_segment = {"type": {"multi_hop": summaries(recall=0.41), "single": summaries(recall=0.9)}}
    (finding,) = diagnose(
        summaries(recall=0.78),
        causes({"retrieval_miss": 62}),
        200,
        within=SegmentView(Segments.of(segments(type=kind)), of_segment),
    )
    assert finding.segment == "type=multi_hop"
    assert finding.headline == (
        "retrieval misses evidence for multi_hop questions "
        "(recall@5 0.41 [0.38, 0.44], 45 of 60 examples in this segment; 62 of 62 failures overall)"
    )
    assert (
        "It affects 45 of 60 examples with type=multi_hop (75%) and 17 of 140 others (12%; p < 0.0001"
        in finding.evidence
    )
    tenant = diagnose(
        summaries(recall=0.78),
        causes({"retrieval_miss": 62}),
        200,
        within=SegmentView(Segments.of(segments(tenant=kind))),
    )[0]
    said_so = "where tenant is multi_hop (recall@5 0.78 [0.75, 0.81] overall, 45 of 60"  # not the segment's number
    assert said_so in tenant.headline


def test_even_spread_names_no_segment() -> None:
    """A cause that is as frequent everywhere, or in too few examples to tell, names no segment."""
    even = segments(type=["a", "b"] * 100)
    assert diagnose((), causes({"noise": 60}), 200, within=SegmentView(Segments.of(even)))[0].segment == ""
    few = segments(type=["a"] * 3 + ["b"] * 197)
    assert diagnose((), causes({"noise": 2, "ignored": 1}), 200, within=SegmentView(Segments.of(few)))[0].segment == ""


def test_of_two_segments_alike_neither_is_named() -> None:
    """A cause in 70 of 100 examples of two types each and 45 of 300 others is in neither alone: the text names both.

    With 45 of 100 in the second, it is in the first, with counts of the first alone beside its name.
    """

    def finding(second: int) -> Finding:
        inside = ["typo"] * 70 + ["slang"] * second + ["plain"] * 45
        kind = inside + ["typo"] * 30 + ["slang"] * (100 - second) + ["plain"] * 255
        # a column that goes with the cause far less must not step into the place of the one that is tied
        frame = segments(kind=kind, tenant=["a"] * 100 + ["b"] * 85 + ["a"] * 100 + ["b"] * 215)
        (only,) = diagnose((), causes({"retrieval_miss": 115 + second}), 500, within=SegmentView(Segments.of(frame)))
        return only

    tied = finding(70)
    assert (tied.segment, tied.headline) == ("", "retrieval misses evidence (185 of 185 failures)")
    assert (
        "in kind=slang (70 of 100 examples, 70%), kind=typo (70 of 100 examples, 70%), with no clear difference"
        in tied.evidence
    )
    one = finding(45)
    assert one.segment == "kind=typo"
    assert one.headline == (
        "retrieval misses evidence for typo questions (70 of 100 examples in this segment; 160 of 160 failures overall)"
    )


def misled(above: int, below: int) -> Finding:
    """The finding on failures by noise, so many of them with the evidence above and below what misled."""
    parts = ["generation"] * above + ["retrieval"] * below
    rows = build_cause_frame(
        (f"q{n}", 0, Cause("noise", "facts", "fix", part, basis="judge")) for n, part in enumerate(parts)
    )
    (finding,) = diagnose((), rows, 200)
    return finding


def test_fix_of_noise_follows_the_ranks() -> None:
    """Where most failures have the evidence above what misled, the generator is to be mended and retrieval left."""
    low = misled(0, 30)
    assert (low.fix, low.leave) == (ROWS_BY_NAME["noise"].fix, "the prompt")
    assert "ranks above" not in low.evidence
    high = misled(30, 0)
    assert high.fix.startswith("Reranking cannot help")
    assert high.leave == "retrieval and ranking"
    assert "In all 30, the evidence already ranks above the misleading passages" in high.evidence
    mixed = misled(20, 10)
    assert mixed.fix == high.fix
    assert "In 20 of 30, the evidence already ranks above" in mixed.evidence
    assert f"For the others: {low.fix}" in mixed.evidence
    few = misled(10, 20)
    assert (few.fix, few.leave) == (low.fix, low.leave)
    assert "In 10 of 30" in few.evidence
    assert f"For these: {high.fix}" in few.evidence


def missing(
    count: int,
    n: int,
    *,
    cause: str = "retrieval_miss",
    lacking: str = "relevance labels",
    shown_by: str = "judge",
    judge_id: str = "local:1",
    basis: str = "judge",
    means: Mapping[str, float] | None = None,
) -> tuple[Finding, ...]:
    """The findings on so many failures of n examples by evidence that is missing, as the judge or the labels say."""
    rows = build_cause_frame(
        (f"q{i}", 0, Cause(cause, "facts", basis=basis, lacking=(lacking,), p=0.95, shown_by=shown_by))
        for i in range(count)
    )
    return diagnose(summaries(**(means or {})), rows, n, judge_id=judge_id)


@pytest.mark.parametrize("cause", ["retrieval_miss", "compound"])
def test_nearly_everything_missing_by_the_judge_alone_is_doubted(cause: str) -> None:
    """With 80 % of 50 examples blamed on retrieval by the judge alone, it is as suspect as the retriever."""
    (finding,) = missing(40, 50, cause=cause)
    assert finding.confidence == "low"
    assert "finds evidence missing in 40 of 50 examples (80%)" in finding.evidence
    assert "The judge may not recognize the evidence" in finding.evidence
    assert finding.fix.startswith("First check whether the evidence is really missing: open q0, q1, q2 (ragauge show")
    assert "label the gold documents of 20 examples" in finding.fix
    assert "--judge" in finding.fix
    assert finding.fix.endswith(f"If it is missing: {ROWS_BY_NAME[cause].fix}")
    (less,) = missing(39, 50, cause=cause)
    assert (less.confidence, less.fix) == ("medium", ROWS_BY_NAME[cause].fix)
    (few,) = missing(19, 19, cause=cause)
    assert few.fix == ROWS_BY_NAME[cause].fix


def test_no_relevant_passage_for_most_questions_is_doubted_too() -> None:
    """Where questions alone were held against passages, as of a dialogue, half of the examples are enough."""
    alone = "relevance labels or a reference answer"
    (finding,) = missing(50, 100, lacking=alone)
    assert finding.confidence == "low"
    assert "questions that belong to a dialogue" in finding.evidence
    (less,) = missing(49, 100, lacking=alone)
    assert less.confidence == "medium"


@pytest.mark.parametrize(
    ("changes", "sure"), [({"shown_by": "labels", "basis": "labels"}, "high"), ({"judge_id": "openai:a-model"}, "high")]
)
def test_labels_and_a_model_judge_end_the_doubt(changes: dict[str, Any], sure: str) -> None:
    """What labels show, or a model that reads, is believed however much of it there is."""
    (finding,) = missing(50, 50, **changes)
    assert (finding.confidence, finding.fix) == (sure, ROWS_BY_NAME["retrieval_miss"].fix)


def test_a_pattern_on_doubted_evidence_is_doubted() -> None:
    """A pattern of its own that reads low context recall is no surer than the causes that the same verdicts gave."""
    low = {"context_recall": 0.05, "faithfulness": 0.1}
    doubted = {one.cause: one for one in missing(45, 50, means=low)}
    assert doubted["compound"].confidence == "low"
    assert doubted["compound"].evidence.startswith("The judge alone")
    believed = {one.cause: one for one in missing(45, 50, judge_id="openai:a-model", means=low)}
    assert believed["compound"].confidence == "high"


@pytest.mark.parametrize(
    ("means", "held"),
    [
        ({}, True),
        ({"context_precision": 0.05}, False),
        ({"context_precision": 0.05, "context_recall": 0.05}, False),
        ({"context_precision": 0.05, "recall": 0.9}, True),
        ({"context_precision": 0.30}, True),
        ({"context_recall": 0.05}, False),
        ({"context_precision": 0.05, "context_recall": 0.4}, True),
    ],
)
def test_disagreement_needs_something_relevant(means: dict[str, float], held: bool) -> None:
    """Nobody disagrees over passages of which hardly any is relevant; a few relevant ones among many are enough."""
    found_names = [match.pattern.name for match in find_matches(summaries(ignored_top_ranked=0.9, **means))]
    assert ("ranking_disagreement" in found_names) is held


def test_answerable_is_never_the_segment() -> None:
    """Only unanswerable questions can have missed refusals: that is no concentration."""
    labels = segments(answerable=["no"] * 50 + ["yes"] * 150)
    assert concentrated_in("missed_refusal", [f"q{i}" for i in range(50)], labels) is None


def test_only_examples_that_can_have_the_cause_are_compared() -> None:
    """Missed refusals are compared among unanswerable questions, other causes among the rest."""
    # 20 unanswerable questions, all of type "none", 10 of them of tenant a; the 10 of a and 2 of b were answered
    kind, labels = ["none"] * 20 + ["single"] * 180, ["no"] * 20 + ["yes"] * 180
    tenant = ["a"] * 10 + ["b"] * 10 + ["a", "b"] * 90
    frame = segments(type=kind, tenant=tenant, answerable=labels)
    hits = [f"q{i}" for i in range(12)]
    found = concentrated_in("missed_refusal", hits, frame)
    assert found is not None
    assert (found.column, found.value, found.hits, found.n, found.other_hits, found.other_n) == (
        "tenant",
        "a",
        10,
        10,
        2,
        10,
    )
    other = concentrated_in("noise", [f"q{i}" for i in range(20, 80)], frame)  # even among the answerable
    assert other is None
    without_labels = concentrated_in("missed_refusal", hits, frame.drop("answerable"))
    assert without_labels is not None
    assert without_labels.value == "none"


def test_values_without_a_name_are_never_the_segment() -> None:
    """Examples without a value, or of many small values, are compared with but not named."""
    frame = tidy_segments(segments(type=["x", "y"] * 2 + ["z"] * 6 + ["long"] * 90))
    assert set(frame["type"]) == {"(other)", "z", "long"}
    assert concentrated_in("noise", [f"q{i}" for i in range(4)], frame) is None


def test_the_clearest_example_is_shown() -> None:
    """The example in the evidence is the one about which least is unknown."""
    rows = [("q1", 0, Cause("noise", "vague", lacking=("a", "b"))), ("q2", 0, Cause("noise", "clear", lacking=("a",)))]
    (finding,) = diagnose((), build_cause_frame(rows), 10)
    assert "For example, q2: clear." in finding.evidence


def test_concentration_is_corrected() -> None:
    """A p-value that is small alone is not significant among twenty segments."""
    hits = [f"q{i}" for i in range(20)]  # of 100; 8 of them among the 20 of "a"
    kind = ["a"] * 8 + ["b"] * 12 + ["a"] * 12 + ["b"] * 68
    alone = fisher_greater(8, 20, 12, 80)
    assert 0.005 < alone < 0.05
    found_alone = concentrated_in("noise", hits, segments(type=kind))
    assert found_alone is not None
    assert found_alone.p == pytest.approx(min(1.0, 2 * alone))  # two values are two looks
    even = {f"column{i}": ["x", "y"] * 50 for i in range(10)}
    assert concentrated_in("noise", hits, segments(type=kind, **even)) is None


def test_false_alarms_of_concentration() -> None:
    """With causes spread at random over 12 segment values, at most 5 % of runs name a segment."""
    rng, alarms = np.random.default_rng(3), 0
    for _ in range(100):
        frame = tidy_segments(segments(**{f"c{i}": rng.choice(list("abc"), 120).tolist() for i in range(4)}))
        hit = rng.choice(120, 30, replace=False)
        alarms += concentrated_in("noise", [f"q{i}" for i in hit], frame) is not None
    assert alarms / 100 <= 0.05


@pytest.mark.parametrize(
    ("bases", "judge_id", "level"),
    [
        (["record"] * 2, "local-1", "high"),
        (["labels"] * 5, "local-1", "high"),
        (["labels"] * 4, "", "medium"),
        (["labels"] * 3 + ["judge"], "local-1", "medium"),
        (["judge"] * 19, "local-1", "low"),
        (["judge"] * 20, "local-1", "medium"),
        (["judge"] * 4, "openai:gpt-5", "low"),
        (["judge"] * 5, "openai:gpt-5", "medium"),
        (["judge"] * 20, "openai:gpt-5", "high"),
        (["guess"] * 20 + ["judge"] * 5, "openai:gpt-5", "low"),
    ],
)
def test_confidence(bases: list[str], judge_id: str, level: str) -> None:
    """Confidence follows the number of failures and what decided them."""
    assert rate_confidence(bases, judge_id) == level


def test_repeats_are_one_failure() -> None:
    """An example that failed three times counts once."""
    rows = [(f"q{i}", repeat, Cause("noise", "x", basis="judge")) for i in range(4) for repeat in range(3)]
    (finding,) = diagnose((), build_cause_frame(rows), 10)
    assert (finding.explains, finding.failures) == (4, 4)
