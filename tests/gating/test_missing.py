"""Why scores are missing: whose calls failed, what a metric does not apply to, and what is said to bring them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.gating.scores import columns, pairs, verdicts_by_id

from ragauge.core.config.config_loader import read_config
from ragauge.core.example import Example, Relevant
from ragauge.core.response import Response, Run
from ragauge.gating.compute.missing_scores import is_system_failure
from ragauge.gating.compute.slices import Slices
from ragauge.gating.kinds.mean_rule import ScoreSource
from ragauge.gating.kinds.single_examples import MaxFailed, MustPass, check_scores, check_verdicts
from ragauge.gating.result import Check, FailureCounts, Gated
from ragauge.gating.rules import check_conditions, decide_verdict, read_rules
from ragauge.gating.tables.gate import format_explanation
from ragauge.gating.tables.texts import advise_next, explain_verdict
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.catalogue_entries import list_samples
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric
from ragauge.scores.arrays import NOT_APPLICABLE, NOT_READ, Columns

SYSTEM, JUDGE, LABEL = "the system failed: time-out", "no verdict on verify_answer.claims", "no relevance labels"
FULL = (0.0, 1.0)
RETRIED = "ragauge evaluate pr --retry-failed"
RERUN = "repeat its ragauge run with --retry-failed"


def said(of: Columns, reasons: Mapping[int, str], absent: Sequence[int] = ()) -> Columns:
    """The same scores with reasons; to the absent ones the metric does not apply."""
    texts = ("", *dict.fromkeys(reasons.values()))
    number, status = of.reason.copy(), of.status.copy()
    status[list(absent)] = NOT_APPLICABLE
    for at, text in reasons.items():
        number[at] = texts.index(text)
    return replace(of, reason=number, status=status, reasons=texts)


def checks(rule: Mapping[str, Any], new: Columns, base: Columns | None = None, first: int = 0) -> list[Check]:
    """A rule's checks; the pairs are numbered from the run's example `first` on."""
    n = new.query.size
    frame = pl.DataFrame({"query_id": [f"q{i}" for i in range(n)], "type": ["ab"[i % 2] for i in range(n)]})
    slices = Slices(frame["query_id"].to_list(), frame, {})
    paired = Slices(frame["query_id"].to_list()[first:], frame, {})
    matched = None if base is None else pairs(parse_metric("mrr"), _from(new, first), _from(base, first))
    source = ScoreSource(lambda _: new, lambda _: matched, slices, paired)
    return check_conditions(read_rules(read_config({"gate": {"rules": [dict(rule)]}})).conditions, source)[0]


def _from(of: Columns, first: int) -> Columns:
    kept = of.take(np.arange(first, of.query.size))
    return replace(kept, place=kept.place - first, query=kept.query - first)


def gated(*found: Check, run: Run | None = None, base: bool = False) -> Gated:
    of = run or Run("1", "pr", system="rag:answer")
    return Gated(of, Run("2", "main") if base else None, "local", "ragauge.yaml", decide_verdict(found), found)


BETWEEN = {"metric": "mrr", "min": 0.5, "segments": "none"}
DROP = {"metric": "mrr", "max_drop": "3%", "segments": "none"}
POINT = {**DROP, "decide": "point"}


def lost(n: int, reasons: Mapping[int, str], value: float = 0.6) -> Columns:
    """Scores that are all alike but those that failed."""
    return said(columns([value] * n, failed=dict.fromkeys(reasons, FULL)), reasons)


@pytest.mark.parametrize("metric", list_samples(), ids=str)
def test_the_words_of_a_failed_system_are_those_of_the_metrics(metric: Any) -> None:
    """Every metric that fails since the response is an error says so in words that a gate knows the system by."""
    example = Example("q", "How tall?", references=("330 m",), relevant=(Relevant(("d",)),), answerable=True)
    found = measure_metric(metric, Facts(example, Response("q", error="time-out")))
    assert found.status != "failed" or is_system_failure(found.reason)


def test_no_judge_is_taken_for_the_system() -> None:
    """What a judge leaves without a verdict is not the system's failure."""
    assert [is_system_failure(text) for text in (SYSTEM, JUDGE, "verify_answer failed", "")] == [
        True,
        False,
        False,
        False,
    ]


def test_levels_tell_whose_calls_failed() -> None:
    """Failed scores of a level are counted by whose calls failed, in the whole run and in each segment."""
    found = checks({**BETWEEN, "segments": "all"}, lost(40, {0: SYSTEM, 2: SYSTEM, 3: JUDGE}))
    assert [check.lost for check in found] == [FailureCounts(2, 1), FailureCounts(2, 0), FailureCounts(0, 1)]
    assert checks(BETWEEN, columns([0.6] * 40))[0].lost is None


@pytest.mark.parametrize("first", [0, 1])
def test_differences_tell_whose_calls_failed(first: int) -> None:
    """Of pairs, failures of the run are told by whose calls failed, and those of the baseline alone apart."""
    new, base = lost(40, {1: SYSTEM, 3: SYSTEM, 5: JUDGE}), lost(40, {3: SYSTEM, 7: JUDGE})
    (check,) = checks(DROP, new, base, first)
    assert (check.failed, check.lost) == (4, FailureCounts(2, 1, 1))
    assert (
        "4 scores failed (2 without a system response, 1 with failed judge calls, 1 in the baseline), and their"
        in explain_verdict(replace(check, because="failed"))
    )


def test_a_system_that_failed_is_asked_again_not_judged_again() -> None:
    """Where the system gave no response, it has to answer again; judging again is not offered."""
    (check,) = checks(POINT, lost(40, {0: SYSTEM, 2: SYSTEM}), columns([0.6] * 40))
    assert check.because == "failed"
    assert (
        explain_verdict(check)
        == "2 scores failed (the system gave no response), and their values would decide the verdict."
    )
    told = advise_next(gated(check, base=True))
    assert RERUN in told
    assert "Judging again does not help" in told
    assert RETRIED not in told


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (Run("1", "pr", system="recorded"), "record its responses again and evaluate the new file"),
        (Run("1", "pr", kind="traffic", system="recorded"), "Traffic that already failed cannot be repaired"),
    ],
)
def test_what_was_recorded_is_not_run_again(run: Run, words: str) -> None:
    """A run that came from a file, or from traffic, has no `ragauge run` that could be repeated."""
    (check,) = checks(POINT, lost(40, {0: SYSTEM, 2: SYSTEM}), columns([0.6] * 40))
    told = advise_next(gated(check, run=run))
    assert words in told
    assert RERUN not in told


def test_failed_judge_calls_are_tried_again() -> None:
    """Where judge calls failed they are tried again, and the system need not be."""
    (check,) = checks(POINT, lost(40, {0: JUDGE, 2: JUDGE}), columns([0.6] * 40))
    assert explain_verdict(check) == "2 scores failed (judge calls failed), and their values would decide the verdict."
    told = advise_next(gated(check, base=True))
    assert RETRIED in told
    assert "system" not in told


def test_both_are_told_where_both_failed() -> None:
    """Where the system and a judge failed, and the baseline too, each has its remedy."""
    (check,) = checks(POINT, lost(40, {0: JUDGE, 2: SYSTEM}), lost(40, {4: JUDGE}))
    told = advise_next(gated(check, base=True))
    assert all(words in told for words in (RETRIED, RERUN, "ragauge show main"))


def test_the_share_tells_whose_calls_failed() -> None:
    """max_failed counts calls of the system and of a judge; a gate that it fails says whose, and what helps them."""
    check = MaxFailed(0, 2, "", "block", max_share=0.02).check_share(17, 17, 200)
    assert check.asks == "at most 2 % of the examples may have failed calls (system or judge)"
    assert (
        explain_verdict(check)
        == "17 of 200 examples have failed calls (the system gave no response); at most 2 % are allowed."
    )
    told = advise_next(gated(check))
    assert all(words in told for words in ("ragauge show pr", RERUN))
    assert RETRIED not in told
    both = MaxFailed(0, 2, "", "block", max_share=0.02).check_share(17, 10, 200)
    assert "(10 without a system response, 7 with failed judge calls); at most" in explain_verdict(both)
    assert all(words in advise_next(gated(both)) for words in (RERUN, RETRIED))
    assert (
        explain_verdict(MaxFailed(0, 2, "", "block", max_share=0.02).check_share(0, 0, 200))
        == "0 of 200 examples have failed calls; at most 2 % are allowed."
    )


def test_examples_that_must_pass_tell_whose_calls_failed() -> None:
    """Of examples that must pass, the remedy is of those whose calls failed; one without a value is named apart."""
    ids = ["a", "b", "c"]
    rule = MustPass(1, None, "regression", "block", parse_metric("mrr"), min=0.5)
    by_system = check_scores(rule, ids, ids, lost(3, {1: SYSTEM}))
    assert (by_system.lost, RETRIED in advise_next(gated(by_system))) == (FailureCounts(1, 0), False)
    by_judge = check_scores(rule, ids, ids, lost(3, {1: JUDGE}))
    assert (by_judge.lost, advise_next(gated(by_judge)).count(".")) == (FailureCounts(0, 1), 1)
    unlabelled = check_scores(rule, ids, ids, said(columns([1.0] * 3), {1: LABEL}, absent=[1]))
    assert unlabelled.lost == FailureCounts()
    assert advise_next(gated(unlabelled)).startswith("An example without a value cannot pass: label")
    verdicts = verdicts_by_id("a judge call failed: time-out", b="unclear")
    unsure = check_verdicts(replace(rule, metric=None, min=None), ids, {}, verdicts)
    assert RETRIED in advise_next(gated(unsure))


def test_a_metric_that_applies_to_nothing_is_named_with_the_reason() -> None:
    """Where a metric applies to no example, the gate says so, why, and what to do, not that more examples help."""
    absent = range(40)
    (check,) = checks(BETWEEN, said(columns([0.0] * 40), dict.fromkeys(absent, LABEL), absent))
    assert (check.verdict, check.stops, check.inapplicable) == ("not_enough_data", True, 40)
    assert explain_verdict(check) == "mrr applies to none of 40 examples: no relevance labels."
    told = advise_next(gated(check))
    assert told.startswith("Label or record what mrr needs (see ragauge metrics mrr, ragauge docs data), or drop rule")
    assert "More examples" not in told


@pytest.mark.parametrize("rule", [BETWEEN, DROP])
def test_a_metric_that_applies_to_few_says_to_how_many(rule: Mapping[str, Any]) -> None:
    """Where it applies to fewer than min_n, both numbers and the commonest reason why it does not apply are told."""
    reasons = dict.fromkeys(range(4, 40), LABEL) | {39: "passages not recorded"}
    new = said(columns([0.6] * 40), reasons, range(4, 40))
    (check,) = checks(rule, new, columns([0.7] * 40))
    assert explain_verdict(check) == (
        "mrr applies to 4 of 40 examples, fewer than min_n (10). It does not apply to the others: mostly: no relevance "
        "labels."
    )


def test_few_examples_are_few_examples() -> None:
    """Where a metric applies to every example, more of them help, and nothing is said of labels."""
    (check,) = checks(BETWEEN, columns([0.6] * 4))
    assert explain_verdict(check) == "4 examples are fewer than min_n (10)."
    assert advise_next(gated(check)).startswith("Add examples, or lower min_n")


@pytest.mark.parametrize(
    ("value", "failed", "answer", "because"),
    [
        (0.6, {0: SYSTEM, 2: SYSTEM}, "yes", "failed"),
        (0.6, {}, "yes", "point"),
        (0.4, {}, "no", "point"),
        (0.45, {0: SYSTEM, 1: SYSTEM, 2: SYSTEM, 3: SYSTEM, 4: SYSTEM}, "no", "failed"),
        (0.5 - 1e-13, {}, "yes", "point"),
    ],
)
def test_the_comparison_of_a_point_is_answered_truthfully(
    value: float, failed: dict[int, str], answer: str, because: str
) -> None:
    """`decide: point` says whether the estimate meets the limit, and then what decided where failed scores do."""
    (check,) = checks(
        {**BETWEEN, "min": 0.59 if failed and value > 0.5 else 0.5, "decide": "point"}, lost(40, failed, value)
    )
    assert check.because == because
    told = format_explanation(gated(check)).splitlines()
    asked = next(n for n, line in enumerate(told) if "passes when the estimate is ≥ the limit" in line)
    assert told[asked].endswith(f"? {answer}")
    assert ("scores failed (the system gave no response), and their values would decide" in told[asked + 1]) == (
        because == "failed"
    )


def test_the_arithmetic_has_units() -> None:
    """Limits on amounts are said with their unit, in the rule and in its arithmetic."""
    (check,) = checks({"metric": "latency", "max": 1500, "segments": "none", "decide": "point"}, columns([1200.0] * 40))
    assert check.asks == "p95 of latency must be at most 1,500 ms"
    assert "1,200 ms ≤ 1,500 ms? yes" in format_explanation(gated(check))
    (cost,) = checks({"metric": "cost", "max": 0.00004, "segments": "none"}, columns([0.00002] * 40))
    assert cost.asks == "cost must be at most $0.00004"


def test_an_empty_run_is_not_compared_with_the_share() -> None:
    """Of a run without an evaluated example no share is worked out: it fails since there is none."""
    told = format_explanation(gated(MaxFailed(0, 2, "", "block", max_share=0.02).check_share(0, 0, 0)))
    assert "FAIL: no example was evaluated." in told
    assert "≤ 2 %" not in told


def test_a_metric_that_the_judge_cannot_read_has_no_verdict() -> None:
    """Where most texts cannot be read the few others do not pass the gate, and it names what reads them."""
    why = "this judge cannot tell whether passages support a claim in such texts (prose, language ko)"
    unread = said(columns([0.9] * 40), dict.fromkeys(range(25), why))
    status = unread.status.copy()
    status[:25] = NOT_READ
    (check,) = checks(BETWEEN, replace(unread, status=status))
    assert (check.verdict, check.because, check.stops, check.not_read) == ("not_enough_data", "not_read", True, 25)
    assert explain_verdict(check) == f"the judge cannot score mrr on 25 of 40 examples: {why}."
    told = advise_next(gated(check))
    assert told.startswith("A model judge can read these texts: ragauge evaluate pr --judge openai:MODEL. Or label")
    assert "More examples" not in told
    status[:] = NOT_READ
    assert checks(BETWEEN, replace(unread, status=status))[0].because == "not_read"
    (read,) = checks(BETWEEN, columns([0.9] * 40))
    assert (read.verdict, read.not_read) == ("pass", 0)
