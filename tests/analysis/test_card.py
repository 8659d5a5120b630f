"""The scorecard from examples to findings, its warnings, and which examples are shown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.building import answer_facts, claim, evidence, example, passage, passed_but, reference_facts, response

from ragauge.core.example import Example, Relevant
from ragauge.core.identity import to_json_value
from ragauge.core.response import Response, Run, Variant
from ragauge.core.score import Score
from ragauge.diagnosis.causes.attribution import attribute_failure
from ragauge.evaluation.scorecard.compute import (
    EvaluatedRun,
    ExampleOutcomes,
    ScorecardTables,
    build_scorecard,
    list_warnings,
    read_metrics,
)
from ragauge.metrics.base import Metric, MetricResult
from ragauge.metrics.catalogue import parse_metric, select_metrics
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_all
from ragauge.scores.arrays import ScoreArrays
from ragauge.scores.failures import FailedResponses
from ragauge.scores.gather import Visit, run_gatherers
from ragauge.scores.id_match import MAX_SHOWN, MAX_WAITING, IdGatherer, IdMatch
from ragauge.scores.quality import QualityScores, pick_worst
from ragauge.scores.results.scorecard import Cause, JudgeNote, ScorecardData, Summary
from ragauge.scores.segments import derive_segments
from ragauge.scores.summarize import build_cause_frame, build_score_frame
from ragauge.stats.weighted import Interval

METRICS = select_metrics(
    ["faithfulness", "context_recall", "ignored_top_ranked", "refusal_correctness", "answer_relevance"]
)
JUDGE = JudgeNote("local-1", "By overlap.")


def score(query_id: str, metric: str, result: MetricResult, repeat: int = 0) -> Score:
    return Score("r", query_id, repeat, metric, 1, None, 0, **asdict(result))


RUN = Run("r1", "k=5")
NOTHING: Mapping[str, Any] = {}


def card_of(every: Sequence[Facts], run: Run = RUN, about: Mapping[str, Any] = NOTHING, **more: Any) -> ScorecardData:
    """Everything that an evaluation does after the judge."""
    measured = [measure_all(METRICS, facts) for facts in every]
    scores = [
        score(facts.example.query_id, str(metric), result)
        for facts, row in zip(every, measured, strict=True)
        for metric, result in zip(METRICS, row, strict=True)
    ]
    index = ScoreArrays.of(build_score_frame(scores)).index
    place = {query_id: place for place, query_id in enumerate(index.query_ids)}
    causes = ((place[facts.example.query_id], attribute_failure(facts)) for facts in every)
    failed = FailedResponses.from_causes(
        index, ((at, cause) for at, cause in causes if cause is not None), lambda places: dict.fromkeys(places, "so")
    )
    tables = tables_of(scores, (facts.example for facts in every))
    evaluated, verdicts = EvaluatedRun(run, METRICS, len(every), **about), passed_but(failed)
    return build_scorecard(evaluated, JUDGE, tables, ExampleOutcomes(verdicts, failed), **more)


def none_failed(tables: ScorecardTables) -> ExampleOutcomes:
    failed = FailedResponses.of(build_cause_frame([]))
    return ExampleOutcomes(passed_but(failed), failed)


def tables_of(
    scores: Sequence[Score], examples: Iterable[Example], metrics: Sequence[Metric] = METRICS
) -> ScorecardTables:
    arrays = ScoreArrays.of(build_score_frame(scores))
    tables = ScorecardTables(arrays.index, derive_segments(examples))
    read_metrics(arrays, metrics, [tables])
    return tables


def asked(n: int, **labels: Any) -> Example:
    return example("One.", "Two.", query_id=f"q{n}", query="What is the refund policy for yearly plans?", **labels)


def good(n: int, **labels: Any) -> Facts:
    """Found, used and answered."""
    found = evidence(answer_facts(claim(1), claim(2)), reference_facts([1], [2]))
    return Facts(asked(n, answerable=True, **labels), response(3, query_id=f"q{n}"), found)


def missed(n: int, **labels: Any) -> Facts:
    """Half of the evidence was found, and nothing made up."""
    found = evidence(answer_facts(claim(1)), reference_facts([1], []))
    return Facts(asked(n, answerable=True, **labels), response(3, query_id=f"q{n}"), found)


def ignoring(n: int) -> Facts:
    """Answered without the passage ranked first."""
    found = evidence(answer_facts(claim(2), claim(3)), reference_facts([2], [3]))
    return Facts(asked(n, answerable=True), response(3, query_id=f"q{n}"), found)


def refused(n: int, *claims: Any) -> Facts:
    """Rightly declined: the corpus does not hold the answer."""
    found = evidence(answer_facts(*claims, address="no", refuse=True), reference_facts([], []))
    return Facts(asked(n, answerable=False), response(3, query_id=f"q{n}"), found)


def test_card_of_a_run() -> None:
    """Counts, causes, segments and findings of 60 examples belong together."""
    every = [good(n, segments={"type": "single"}) for n in range(40)]
    every += [missed(n, segments={"type": "multi_hop"}) for n in range(40, 60)]
    card = card_of(every, about={"took": {"seconds": 1.0}, "warnings": ["from the caller"]})
    assert (card.n, card.failed_examples, dict(card.causes)) == (60, 20, {"retrieval_miss": 20})
    recall = next(summary for summary in card.summaries if summary.metric == "context_recall")
    assert recall.mean == pytest.approx((40 * 1 + 20 * 0.5) / 60)
    assert list(card.segments) == ["type"]
    assert list(card.segments["type"]) == ["multi_hop", "single"]
    first = card.findings[0]
    assert (first.cause, first.segment, first.explains) == ("retrieval_miss", "type=multi_hop", 20)
    assert first.headline.startswith("retrieval misses evidence for multi_hop questions (context_recall 0.50")
    assert first.confidence == "medium"  # 20 verdicts of the local judge
    assert card.warnings[0] == "from the caller"
    assert card.definitions["faithfulness"][1].startswith("faithfulness =")
    assert card.took == {"seconds": 1.0}
    json.dumps(to_json_value(card), allow_nan=False)


@pytest.mark.parametrize("variant", ["closed_book", "oracle"])
def test_retrieval_is_not_blamed_for_passages_that_were_handed(variant: Variant) -> None:
    """Where passages were handed to the system on purpose, no finding and no warning tells to mend its retrieval."""
    found = evidence(answer_facts(claim(1)), reference_facts([], []))
    bare = [Facts(asked(n, answerable=True), response(0, query_id=f"q{n}"), found) for n in range(40)]
    match = IdMatch(40, 0, "d1", "1")
    own, handed = (card_of(bare, run=Run("r1", "x", variant=of), matches=[match]) for of in ("own", variant))
    assert "empty_retrieval" in [one.cause for one in own.findings]
    assert any("are among those retrieved" in text for text in own.warnings)
    assert not [one for one in handed.findings if one.cause == "empty_retrieval"]
    assert not any("are among those retrieved" in text for text in handed.warnings)
    assert "do not describe the system's own retrieval" in handed.warnings[0]
    assert (handed.causes, handed.summaries) == (own.causes, own.summaries)


def test_nothing_evaluated_yet() -> None:
    """A run with everything pending has an empty card that renders."""
    tables = tables_of([], [])
    empty = build_scorecard(EvaluatedRun(Run("r", "n"), METRICS, 0, 9), JUDGE, tables, none_failed(tables))
    assert (empty.n, empty.pending, empty.failed_examples, empty.findings) == (0, 9, 0, ())
    assert [summary.n for summary in empty.summaries] == [0] * len(METRICS)
    assert empty.warnings == ()


def names(card: ScorecardData) -> list[str]:
    return [finding.cause for finding in card.findings]


def test_correct_refusals_never_raise_the_flag() -> None:
    """100 correct refusals beside 60 answers that use the first passage: neither failures nor a 30 % flag (case 25)."""
    every = [good(n) for n in range(60)] + [refused(n) for n in range(60, 160)]
    card = card_of(every)
    ignored = next(summary for summary in card.summaries if summary.metric == "ignored_top_ranked")
    assert (ignored.scored, ignored.undefined, ignored.mean) == (60, 100, 0.0)
    assert card.failed_examples == 0
    assert "ranking_disagreement" not in names(card)


def test_refusals_that_claim_something_do_not_raise_the_flag_either() -> None:
    """Correct refusals that quote a passage on the way are left out of the mean as of the flag (case 25)."""
    every = [good(n) for n in range(60)] + [refused(n, claim(2)) for n in range(60, 160)]
    card = card_of(every)
    ignored = next(summary for summary in card.summaries if summary.metric == "ignored_top_ranked")
    assert (ignored.scored, ignored.mean) == (60, 0.0)
    assert card.failed_examples == 0
    assert "ranking_disagreement" not in names(card)


def test_answers_raise_the_flag() -> None:
    """If half of the answers make no use of the first passage, the flag is raised whatever was refused (case 25)."""
    every = [good(n) for n in range(40)] + [ignoring(n) for n in range(40, 80)] + [refused(n) for n in range(80, 280)]
    assert "ranking_disagreement" in names(card_of(every))


def test_pending_examples_are_in_no_segment() -> None:
    """Segments count evaluated examples only."""
    every = [good(n, segments={"type": "ab"[n % 2]}) for n in range(20)]
    scores = [score(f.example.query_id, "faithfulness", measure_all(METRICS, f)[0]) for f in every[:12]]
    tables = tables_of(scores, (facts.example for facts in every), METRICS[:1])
    card = build_scorecard(EvaluatedRun(Run("r", "n"), METRICS[:1], 12, 8), JUDGE, tables, none_failed(tables))
    assert [value[0].n for value in card.segments["type"].values()] == [6, 6]


def summary(metric: str, n: int = 100, **changes: Any) -> Summary:
    interval = Interval(0.7, 0.9, "t")
    made = Summary(metric, "generation", "higher", "mean", n, n, 0, 0, 0, 0.8, interval, low=0.8, high=0.8)
    return replace(made, **changes)


def test_warning_of_few_examples() -> None:
    """Fewer than 30 examples are called few; 30 are not."""
    assert any("Only 29 examples" in line for line in list_warnings([], JUDGE, 29))
    assert not list(list_warnings([summary("faithfulness")], JUDGE, 30))


def test_warning_of_ids_that_do_not_match() -> None:
    """Labelled ids of which under half were ever retrieved are shown beside retrieved ones, where there are such."""
    odd = IdMatch(10, 4, "doc-7", "7")
    (line,) = list_warnings([], JUDGE, 100, [odd])
    assert "Only 4 of 10 labeled document ids" in line
    assert "'doc-7'" in line
    assert "'7'" in line
    assert not list(list_warnings([], JUDGE, 100, [IdMatch(10, 5)]))
    assert not list(list_warnings([], JUDGE, 100, [IdMatch(0, 0)]))
    assert not list(list_warnings([], JUDGE, 100, [IdMatch(10, 0, "doc-7")]))  # nothing was retrieved


def id_match(pairs: Sequence[tuple[Example, Response]]) -> IdMatch:
    found = IdGatherer()
    run_gatherers((Visit(place, place, *pair, {}) for place, pair in enumerate(pairs)), [found])
    return found.found()


def test_ids_of_which_some_are_spelled_otherwise() -> None:
    """A few ids under another spelling are told, of documents and of chunks, with counts and both spellings."""
    pairs = [
        (
            replace(example(relevant={f"page {n}": 1}), relevant_chunks=(Relevant((f"page {n}#1",)),)),
            response([passage(f"page {n}" if n % 4 else f"Page-{n}", passage_id=f"page {n}{'#' if n % 5 else '-'}1")]),
        )
        for n in range(1, 41)
    ]
    visits = [Visit(place, place, *pair, {}) for place, pair in enumerate(pairs)]
    documents, chunks = IdGatherer("document"), IdGatherer("chunk")
    run_gatherers(iter(visits), [documents, chunks])
    of_documents, of_chunks = list_warnings([], JUDGE, 100, [documents.found(), chunks.found()])
    assert of_documents.startswith(
        "10 of 40 labeled document ids are retrieved only under another spelling "
        "(labeled 'page 12', retrieved 'Page-12'): 30 match exactly"
    )
    assert of_chunks.startswith("8 of 40 labeled chunk ids")
    assert "(labeled 'page 10#1', retrieved 'page 10-1'): 32 match" in of_chunks
    alike = [(example(relevant={f"page {n}": 1}), response([f"page {n}" if n % 4 else "other"])) for n in range(1, 41)]
    assert not list(list_warnings([], JUDGE, 100, [id_match(alike)]))


def test_id_match_counts_documents() -> None:
    """Grades of 0 do not count as labelled; candidates count as retrieved."""
    pairs: list[tuple[Example, Response]] = [
        (example(relevant={"a": 1, "b": 2, "z": 0}), response(["a", "x"])),
        (example(relevant=["c"]), response(["y"], candidates=(passage("c"),))),
    ]
    assert id_match(pairs) == IdMatch(3, 2, "b", "x")
    assert id_match([]) == IdMatch(0, 0)


def test_id_match_of_more_ids_than_are_kept_as_text() -> None:
    """Counts stay exact beyond what is kept as text, and the first id of the alphabet is shown."""
    n = 8_000
    labels = [example(relevant=[f"x{i:06}" for i in range(at, at + 10)]) for at in range(0, n, 10)]
    found = [response([f"x{i % n:06}" for i in range(at, at + 100)]) for at in range(5, 10 * n, 100)]
    pairs = [(labels[at % len(labels)], one) for at, one in enumerate(found)]
    assert len(pairs) * 100 > MAX_WAITING
    assert n > 4 * MAX_SHOWN
    assert id_match(pairs) == IdMatch(n, n)
    odd = [(example(relevant=["a", "z"]), response(["b"])), *pairs]
    assert id_match(odd) == IdMatch(n + 2, n, "a", "b")


def test_warning_of_failures() -> None:
    """More than 2 % failed is said, with what the mean may be; 2 % is not."""
    lost = summary("faithfulness", scored=90, failed=10, low=0.72, high=0.82, failure="time-out")
    (line,) = list_warnings([lost, summary("recall@5")], JUDGE, 100)
    assert line == (
        "More than 2% of the examples failed on faithfulness: faithfulness on 10 of 100, so its mean lies between "
        "0.72 and 0.82. Most common reason: time-out."
    )
    assert not list(list_warnings([replace(lost, scored=98, failed=2)], JUDGE, 100))


def test_warning_of_an_uncertain_judge() -> None:
    """A large uncertain middle is said."""
    unsure = replace(JUDGE, uncertain=0.4)
    assert any("unsure about 40%" in line for line in list_warnings([], unsure, 100))
    assert not list(list_warnings([], replace(JUDGE, uncertain=0.1), 100))


def test_warning_of_missing_references() -> None:
    """Metrics that most examples lack an input for are named together; those that apply nowhere are left to reports."""
    part = {"scored": 20, "not_applicable": 75, "undefined": 5}
    why = {"no reference answer": 75, "the answer makes no claims": 5}
    (line,) = list_warnings(
        [summary("context_recall", **part, reasons=why), summary("answer_recall", **part, reasons=why)], JUDGE, 100
    )
    assert line == "75 of 100 examples are excluded from context_recall, answer_recall: no reference answer."
    assert not list(list_warnings([summary("context_recall", scored=0, not_applicable=100, reasons=why)], JUDGE, 100))
    undefined = summary(
        "faithfulness",
        scored=20,
        undefined=60,
        not_applicable=30,
        reasons={"the answer makes no claims": 60, "answer not recorded": 30},
    )
    assert "answer not recorded" in next(iter(list_warnings([undefined], JUDGE, 100)))


def scored(value: float) -> MetricResult:
    return MetricResult("scored", value, low=value, high=value)


def quality(scores: pl.DataFrame) -> QualityScores:
    arrays = ScoreArrays.of(scores)
    found = QualityScores(arrays.index)
    for name, columns in arrays.columns.items():
        found.read(parse_metric(name), columns)
    return found


def test_worst_are_spread_over_the_causes() -> None:
    """One of each cause in turn, the most frequent first, the lowest score first; then what merely scored low."""
    rows = [("a", "noise"), ("b", "noise"), ("c", "noise"), ("d", "ignored"), ("e", "system_failed")]
    values = {"a": 0.9, "b": 0.1, "c": 0.5, "d": 0.3, "f": 0.4, "g": 1.0, "h": 0.2}
    unscored = score("e", "faithfulness", MetricResult("undefined"))
    scores = quality(build_score_frame([*(score(q, "faithfulness", scored(v)) for q, v in values.items()), unscored]))
    failed, nothing = (
        FailedResponses.from_causes(
            scores.index, ((scores.index.query_ids.index(q), Cause(name)) for q, name in of), lambda _: {}
        )
        for of in (rows, [])
    )
    assert pick_worst(failed, scores.values(), 99) == [
        ("b", 0),
        ("d", 0),
        ("e", 0),
        ("c", 0),
        ("a", 0),
        ("h", 0),
        ("f", 0),
    ]
    assert pick_worst(failed, scores.values(), 2) == [("b", 0), ("d", 0)]
    assert pick_worst(nothing, scores.values(), 2) == [("b", 0), ("h", 0)]
    assert pick_worst(FailedResponses.of(build_cause_frame([])), quality(build_score_frame([])).values()) == []


def test_quality_turns_every_score_so_that_1_is_best() -> None:
    """Lower-is-better metrics are turned, other ranges rescaled, amounts and failures left out."""
    rows = [
        score("a", "faithfulness", scored(0.8)),
        score("a", "unsupported", scored(0.4)),  # turned: 0.6
        score("a", "answer_relevance:method=questions", scored(0.0)),  # of [-1, 1]: 0.5
        score("a", "recall@5", MetricResult("failed", low=0.0, high=1.0)),
        score("b", "self_knowledge", scored(0.4)),
    ]
    found = quality(build_score_frame(rows)).values()
    assert found[0] == pytest.approx((0.8 + 0.6 + 0.5) / 3)
    assert (parse_metric("self_knowledge").direction == "neither") == bool(np.isnan(found[1]))
