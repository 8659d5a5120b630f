"""Every row of the table "over a run" of the metrics reference, written down here again, fires where it should."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pytest
from tests.analysis.test_diagnose import causes, said, summary
from tests.building import metric_change

from ragauge.core.response import Run
from ragauge.diagnosis.causes.attribution import ROWS as CAUSE_ROWS
from ragauge.diagnosis.findings.diagnosis_builder import diagnose, rate_pattern_confidence
from ragauge.diagnosis.findings.pattern_matches import PATTERNS, Match, find_matches
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.indicators import Against, OracleRun
from ragauge.scores.results.comparison import Matched, MetricChange, RunComparison
from ragauge.scores.results.overview import MeanEstimate
from ragauge.scores.results.scorecard import Summary
from ragauge.stats.weighted import Interval

# starting points as the reference prints them, A1's first; the others are ours
POINT = {
    "faithfulness": 0.85,
    "answer_relevance": 0.75,
    "context_recall": 0.80,
    "context_precision": 0.20,
    "ignored_top_ranked": 0.30,
    "completeness": 0.75,
    "answer_correctness": 0.75,
    "citation_precision": 0.70,
    "source_conflict": 0.10,
    "noise_sensitivity:source=irrelevant": 0.10,
    "empty_result_rate": 0.05,
    "invented_citations": 0.05,
}
LOWER = {
    "ignored_top_ranked",
    "source_conflict",
    "noise_sensitivity:source=irrelevant",
    "empty_result_rate",
    "no_retrieval_rate:min_score=0.5",
    "invented_citations",
}
IRRELEVANT = "noise_sensitivity:source=irrelevant"


@dataclass(frozen=True)
class Row:
    """A row of the reference: what is low and high, which causes it names, words of its fix."""

    when: Mapping[str, str]
    causes: frozenset[str] = frozenset()
    says: str = ""


def row(says: str, *named: str, **when: str) -> Row:
    return Row({name.replace("__", ":"): level for name, level in when.items()}, frozenset(named), says)


# rows that are read with and without a baseline, in the order of the reference
TABLE = [
    row(
        "prompt, until recall improves",
        "retrieval_miss",
        "ranked_low",
        "lost_before_prompt",
        faithfulness="high",
        context_recall="low",
    ),
    row("", "hallucinated", "contradicted", "ignored", faithfulness="low", context_recall="high"),
    row("", "compound", faithfulness="low", context_recall="low"),
    row("monitor", faithfulness="high", context_recall="high"),
    row("", "noise", context_precision="low", context_recall="high"),
    row("hybrid search", "ranked_low", "span_cut", context_precision="high", context_recall="low"),
    row("index", "retrieval_miss", context_precision="low", context_recall="low"),
    row("retrieval", faithfulness="high", context_precision="low"),
    row("self_knowledge", "hallucinated", answer_relevance="high", faithfulness="low"),
    row("over_refusal", "off_topic", "wrong_refusal", faithfulness="high", answer_relevance="low"),
    row("recall", "incomplete", faithfulness="high", answer_relevance="high", completeness="low"),
    row("corpus", "stale_source", "noise", faithfulness="high", answer_correctness="low"),
    row("", "noise", **{IRRELEVANT: "high"}),
    row("duplicates", source_conflict="high"),
    row("", "misattributed", faithfulness="high", citation_precision="low"),
    row("Number the passages", invented_citations="high"),
    row("", "empty_retrieval", empty_result_rate="high"),
]


def name_of(row: Row) -> str:
    return ", ".join(f"{name} {level}" for name, level in row.when.items())


def planted(when: Mapping[str, str]) -> list[Summary]:
    """Summaries on the wanted side of their starting points; "on" lies upon it."""
    shift = {"low": -0.10, "high": 0.10, "on": 0.0}
    return [
        summary(name, max(0.0, POINT[name] + shift[level]), half=0.04) if level != "absent" else summary(name, None)
        for name, level in when.items()
    ]


def change(name: str, shift: float, half: float = 0.03, base: float = 0.5, n: int = 200) -> MetricChange:
    """A change by `shift` with an interval of that half-width; half 0 = no interval."""
    interval = Interval(shift - half, shift + half, "paired t") if half else None
    lower = name in LOWER
    clear = interval is not None and (interval.low > 0 or interval.high < 0)
    said = ("better" if (shift < 0) == lower else "worse") if clear else "no change seen" if half else "not enough data"
    found = MeanEstimate(shift, interval, n)
    return metric_change(name, base, base + shift, found, said, direction="lower" if lower else "higher")


def changed(when: Mapping[str, str]) -> list[MetricChange]:
    """Changes as wanted: low = fell and high = did not; of what should be low, high = rose and low = did not."""
    found = []
    for name, level in when.items():
        bad = "high" if name in LOWER else "low"
        if level == "absent":
            found.append(change(name, 0.0, half=0.0))
        else:
            found.append(change(name, (0.1 if name in LOWER else -0.1) if level == bad else 0.005))
    return found


def against(changes: Sequence[MetricChange], **more: object) -> Against:
    baseline = RunComparison(Run("b1", "main"), Run("r1", "new"), Matched(200, 0, 0), tuple(changes))
    return replace(Against(baseline), **more)  # type: ignore[arg-type]     # fields of any type, by name


def fires(held: Sequence[Match], row: Row) -> list[Match]:
    """The matches that rest on just the metrics and levels of a row."""
    return [match for match in held if {reading.metric: reading.level for reading in match.readings} == dict(row.when)]


def beside(row: Row, steps: Mapping[str, str]) -> list[dict[str, str]]:
    """The row with each of its metrics one step off: on the other side, unclear, or not measured."""
    other = {"low": "high", "high": "low"}
    found = [{**row.when, name: other[level]} for name, level in row.when.items()]
    return found + [{**row.when, name: step} for name in row.when for step in steps]


@pytest.mark.parametrize("row", TABLE, ids=name_of)
def test_row_fires_against_starting_points(row: Row) -> None:
    """A row fires where all its metrics lie as it says, names its causes, and says so; one step beside it does not."""
    (match,) = fires(find_matches(planted(row.when)), row)
    assert row.causes <= set(match.pattern.causes)
    assert row.says in " ".join([match.reading, match.pattern.fix, match.pattern.leave, match.pattern.again])
    assert match.against == "starting points"
    assert said(match).count("default threshold (") == len(row.when)
    for step in beside(row, {"on": "", "absent": ""}):
        assert not fires(find_matches(planted(step)), row), step


@pytest.mark.parametrize("row", TABLE, ids=name_of)
def test_row_fires_against_a_baseline(row: Row) -> None:
    """The same row is read as change where there is a baseline, and starting points then count for nothing."""
    contrary = planted({name: {"low": "high", "high": "low"}[level] for name, level in row.when.items()})
    (match,) = fires(find_matches(contrary, against=against(changed(row.when))), row)
    assert row.causes <= set(match.pattern.causes)
    assert match.against == "baseline"
    assert match.reading == match.pattern.changed
    assert "default threshold" not in said(match)
    for step in beside(row, {"absent": ""}):
        assert not fires(find_matches(planted(row.when), against=against(changed(step))), row), step


@pytest.mark.parametrize(("metric", "name"), [("answer_relevance", "evasive"), ("answer_correctness", "wrong_source")])
def test_lost_evidence_is_blamed_on_nothing_behind_it(metric: str, name: str) -> None:
    """Answers got worse though still supported: not the prompt's or the corpus's doing where less evidence is found."""
    fell = [change("faithfulness", 0.0), change(metric, -0.1)]
    for recall, told in ((-0.1, False), (0.0, True), (0.1, True)):
        for evidence in ("context_recall", "recall@5"):
            held = find_matches((), against=against([*fell, change(evidence, recall)]))
            assert (name in [match.pattern.name for match in held]) is told, (recall, evidence)


def test_top_ranked_is_read_by_its_share_alone() -> None:
    """More than 30 % ignored fires with and without a baseline; 30 % within the interval, or a rise below it, not."""
    (row,) = [Row({"ignored_top_ranked": "high"})]
    rose = against(changed({"ignored_top_ranked": "high"}))
    same = against(changed({"ignored_top_ranked": "low"}))
    for held in (None, rose, same):
        (match,) = fires(find_matches(planted(row.when), against=held), row)
        assert "chunk size" in match.pattern.fix
        assert "reranker" in match.pattern.fix
        assert match.against == "starting points"
        assert not fires(find_matches(planted({"ignored_top_ranked": "on"}), against=held), row)
        assert not fires(find_matches(planted({"ignored_top_ranked": "low"}), against=held), row)


def test_top_ranked_is_read_over_answerable_examples() -> None:
    """Over all examples 40 % ignore the first passage, over the answerable ones 20 %: no flag. And the other way."""
    many, few = planted({"ignored_top_ranked": "high"}), planted({"ignored_top_ranked": "low"})
    assert find_matches(many, few) == []
    assert [match.pattern.name for match in find_matches(few, many)] == ["ranking_disagreement"]


ORACLE_ROWS = [
    # on oracle passages, own against it -> the pattern
    ("low", "fell", "generator_limit"),
    ("low", "same", "generator_limit"),
    ("high", "fell", "retrieval_gap"),
    ("high", "same", None),
    ("high", "unknown", None),
    ("on", "fell", None),
]


@pytest.mark.parametrize("metric", ["answer_correctness", "faithfulness"])
@pytest.mark.parametrize(("there", "own", "name"), ORACLE_ROWS)
def test_oracle_passages(metric: str, there: str, own: str, name: str | None) -> None:
    """Poor on oracle passages is the prompt or model; good there and poor on own is retrieval; else nothing."""
    gap = {"fell": change(metric, -0.1), "same": change(metric, 0.0), "unknown": change(metric, -0.1, half=0.0)}[own]
    held = find_matches([], against=Against(oracle=OracleRun("perfect", tuple(planted({metric: there})), (gap,))))
    assert [match.pattern.name for match in held] == ([name] if name else [])
    if held:
        fix = f"{held[0].reading} {held[0].pattern.fix}"
        assert ("prompt" in fix and "model" in fix) if there == "low" else "retrieval" in fix
        assert held[0].against == ("starting points" if there == "low" else "oracle passages")
        assert f"{metric} on oracle passages {planted({metric: there})[0].mean:.2f}" in said(held[0])


def test_oracle_passages_are_read_by_the_first_clear_metric() -> None:
    """Correctness decides; where it is unclear faithfulness does; both together never say two things."""
    poor, good = (planted({"answer_correctness": level, "faithfulness": "high"}) for level in ("low", "on"))
    gaps = (change("answer_correctness", -0.1), change("faithfulness", -0.1))
    assert [m.pattern.name for m in find_matches([], against=Against(oracle=OracleRun("p", tuple(poor), gaps)))] == [
        "generator_limit"
    ]
    (match,) = find_matches([], against=Against(oracle=OracleRun("p", tuple(good), gaps)))
    assert (match.pattern.name, match.readings[0].metric) == ("retrieval_gap", "faithfulness")


def test_oracle_given_as_baseline_is_no_earlier_run() -> None:
    """Held against a run on oracle passages, only the oracle patterns speak of the difference."""
    gap = change("answer_correctness", -0.1)
    oracle = OracleRun("perfect", tuple(planted({"answer_correctness": "high"})), (gap,), given=True)
    changes = [change("answer_correctness", -0.1), change("faithfulness", 0.0), change("context_recall", -0.3)]
    held = find_matches(
        planted({"faithfulness": "high", "context_recall": "low"}), against=against(changes, oracle=oracle)
    )
    assert [match.pattern.name for match in held] == ["retrieval_ceiling", "retrieval_gap"]
    assert held[0].against == "starting points"


MORE_ROWS = [
    # what changed beside faithfulness, how k went -> whether it fires
    ({"recall@10": 0.1}, "", True),
    ({"context_recall": 0.1}, "", True),
    ({"context_tokens": 400.0}, "", True),
    ({}, "k went from 5 to 10", True),
    ({"recall@10": 0.1}, "k went from 5 to 10", True),
    ({"recall@10": 0.01}, "", False),
    ({"recall@10": -0.1}, "", False),
    ({}, "", False),
]


@pytest.mark.parametrize(("shifts", "k", "held"), MORE_ROWS)
def test_more_context_confuses(shifts: dict[str, float], k: str, held: bool) -> None:
    """Faithfulness that falls while k, recall or the context grows is noise; without growth, or no fall, it is not."""
    beside = [change(name, shift, half=30.0 if shift > 1 else 0.03) for name, shift in shifts.items()]
    for fall, expected in ((-0.1, held), (0.0, False)):
        found = find_matches([], against=against([change("faithfulness", fall), *beside], more=k))
        named = [match for match in found if match.pattern.name == "more_confuses"]
        assert bool(named) == expected
        if named:
            assert named[0].pattern.causes == ("noise",)
            assert named[0].more == k
            assert all(name in said(named[0]) for name in shifts)


PRODUCTION = [
    ("context_precision", "low", ("outdated", "questions changed", "Re-index", "recent")),
    ("faithfulness", "low", ("context is too long", "smaller context", "ingested")),
    ("no_retrieval_rate:min_score=0.5", "high", ("made up", "fallback")),
]


@pytest.mark.parametrize(("metric", "level", "says"), PRODUCTION)
def test_production(metric: str, level: str, says: tuple[str, ...]) -> None:
    """The rows on production fire on traffic that got worse; not on a set, without a baseline, or without a change."""
    row = Row({metric: level})
    (match,) = fires(find_matches([], against=against(changed(row.when), traffic=True)), row)
    for part in says:
        assert part in f"{match.reading} {match.pattern.fix}"
    assert not fires(find_matches([], against=against(changed(row.when))), row)
    assert not fires(find_matches([], against=Against(traffic=True)), row)
    same = {metric: {"low": "high", "high": "low"}[level]}
    assert not [m for m in find_matches([], against=against(changed(same), traffic=True)) if m.pattern.traffic]


def test_table_is_whole() -> None:
    """Every pattern there is comes from a row above; every cause it names exists."""
    rows = [dict(row.when) for row in TABLE]
    special = {
        "ranking_disagreement",
        "generator_limit",
        "retrieval_gap",
        "more_confuses",
        "traffic_shifted",
        "traffic_ungrounded",
        "traffic_unanswered",
    }
    for pattern in PATTERNS:
        assert pattern.name in special or dict(pattern.when) in rows, pattern.name
        assert set(pattern.causes) <= {row.name for row in CAUSE_ROWS}
        assert pattern.reading or pattern.change
        assert pattern.changed or pattern.absolute or pattern.oracle
        assert pattern.fix
        assert pattern.again
        for metric in pattern.when:
            parse_metric(metric if metric != "no_retrieval_rate" else f"{metric}:min_score=0.5")
    assert {pattern.name for pattern in PATTERNS if dict(pattern.when) not in rows} <= special
    assert len({pattern.name for pattern in PATTERNS}) == len(TABLE) + len(special)


@pytest.mark.parametrize(("half", "told"), [(0.10, True), (0.14, True), (0.20, False), (1.0, False)])
def test_did_not_fall_has_to_be_shown(half: float, told: bool) -> None:
    """Of a metric whose interval reaches a fall by 0.15 nobody says that it did not fall, nor that all is well."""
    held = against([change(name, 0.0, half=half) for name in ("faithfulness", "context_recall")])
    found = diagnose([], causes({}), 200, against=held)
    assert [one.cause for one in found if one.against == "baseline"] == (["working"] if told else [])


def test_findings_carry_what_they_rest_on() -> None:
    """A finding keeps its readings and what they were read against, with what to fix, leave and measure again."""
    held = against([change("faithfulness", 0.0), change("context_recall", -0.2, base=0.9)])
    (finding,) = diagnose([], causes({"retrieval_miss": 20}), 200, against=held)
    assert finding.against == "baseline"
    assert [(r.metric, r.level, r.difference) for r in finding.readings] == [
        ("faithfulness", "high", 0.0),
        ("context_recall", "low", -0.2),
    ]
    assert "In main, it caused 0 of 0 failures." in finding.evidence
    assert "retrieval got worse." in finding.evidence
    assert said(finding) == (
        "faithfulness did not fall, 0.50 → 0.50, 0.00 [−0.03, +0.03], "
        "context_recall fell, 0.90 → 0.70, −0.20 [−0.23, −0.17]"
    )
    assert finding.leave
    assert finding.measure_again
    alone = diagnose([], causes({}), 200, against=held)
    assert [(one.cause, one.against, one.explains) for one in alone] == [("retrieval_miss", "baseline", 0)]
    counted = diagnose([], causes({"noise": 4}), 200)
    assert (counted[0].against, counted[0].readings) == ("", ())


def test_empty_retrieval_is_read_over_answerable_questions() -> None:
    """Questions labelled unanswerable that rightly find nothing make no gap in the index; others still do."""
    high, low = planted({"empty_result_rate": "high"}), planted({"empty_result_rate": "low"})
    assert [match.pattern.name for match in find_matches(high)] == ["empty_retrieval"]
    assert find_matches(high, answerable=low) == []
    assert [match.pattern.name for match in find_matches(low, answerable=high)] == ["empty_retrieval"]


def test_an_incomplete_run_is_never_called_a_baseline() -> None:
    """The finding that all is well, which a part of a run can have too, keeps a complete run alone."""
    (finding,) = diagnose(planted({"faithfulness": "high", "context_recall": "high"}), causes({}), 200)
    assert "use this run as the baseline" in finding.fix


def test_confidence_in_a_pattern() -> None:
    """Sure where labels decide; less sure by the local judge, with few examples, or where a fall may hide."""
    found = against([change("faithfulness", 0.0, half=0.02), change("recall@5", -0.2)])
    (match,) = find_matches([], against=found)
    assert rate_pattern_confidence(match, "openai:x") == "high"
    assert rate_pattern_confidence(match, "local:x") == "medium"
    wide = against([change("faithfulness", 0.0, half=0.10), change("recall@5", -0.2)])
    assert rate_pattern_confidence(find_matches([], against=wide)[0], "openai:x") == "medium"
    few = against([change("faithfulness", 0.0, half=0.10, n=20), change("recall@5", -0.2, n=20)])
    assert rate_pattern_confidence(find_matches([], against=few)[0], "local:x") == "low"
    labels = planted({"empty_result_rate": "high"})
    assert rate_pattern_confidence(find_matches(labels)[0], "local:x") == "high"
