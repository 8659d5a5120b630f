"""Reasons that code reads back: whoever states one and whoever recognizes it cannot drift apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.building import answer_facts, claim, evidence, example, response

from ragauge.core.response import ControlScale, Passage, Readability, Response
from ragauge.diagnosis.causes.attribution import describe_missing
from ragauge.engine.metric_values import measure_facts
from ragauge.gating.compute.missing_scores import is_never_judged, is_system_failure
from ragauge.metrics import reasons
from ragauge.metrics.base import explain_unread
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric
from ragauge.metrics.reasons import CANNOT_WIN, NOT_JUDGED, SYSTEM_FAILED, UNREAD, ReasonTemplate
from ragauge.rendering.words import unreadable
from ragauge.scores.judge_usage import find_commonest_reason
from ragauge.scores.results.scorecard import ScorecardData
from ragauge.scores.results.summary import Summary
from ragauge.store.responses import StoredResponse
from ragauge.studies.sweep.compute import _parse_loser_reason
from ragauge.studies.sweep.race_runner import DroppedTrial

TEMPLATES = {name: value for name, value in vars(reasons).items() if isinstance(value, ReasonTemplate)}


def summary(status: str, reason: str) -> Summary:
    """Of four examples, all without a value for one reason."""
    empty = Summary("faithfulness", "generation", "higher", "mean", 4, 0, 0, 0, 0, None, None, reasons={reason: 4})
    counts: dict[str, Any] = {status: 4}
    return replace(empty, **counts)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_reads_what_it_writes(name: str) -> None:
    """Values come back from the sentence of today and from every wording that runs were stored with."""
    template = TEMPLATES[name]
    for wording in template.wordings:
        values = tuple(f"v{n}" for n in range(wording.count("{}")))
        assert template.parse_reason(wording.format(*values)) == values
        assert len(values) == template.text.count("{}")


def test_calls_that_brought_no_verdict_are_the_commonest_reason() -> None:
    """What a call said that left a verdict missing is read from the score that the evaluation makes of it."""
    judged = evidence(answer_facts(claim(1), claim(failed=True)))
    judged["verify_answer"] = replace(judged["verify_answer"], status="partial", reason="too_long: 9,000 tokens")
    metric = parse_metric("faithfulness")
    facts = Facts(example("r"), response(1), judged)
    (result,) = measure_facts([metric], facts, None, StoredResponse(0, facts.example, facts.response), {})
    assert result.status == "failed"
    stored = replace(summary("failed", result.reason), undefined=1)  # so that only missing verdicts count
    assert find_commonest_reason([stored]) == "too_long: 9,000 tokens"
    assert find_commonest_reason([replace(summary("failed", "RuntimeError: no (really)"), undefined=1)]) == ""


def test_failed_systems_are_recognized() -> None:
    """A score that failed with its response says so to the gate and to the summary."""
    failed = replace(response(1), error="time-out", passages=None, answer=None)
    result = measure_metric(parse_metric("faithfulness"), Facts(example("r"), failed))
    assert is_system_failure(result.reason)
    one_input_short = replace(summary("not_applicable", "no labels"), failed=1, n=5)
    one_input_short = replace(one_input_short, reasons={"no labels": 4, result.reason: 1})
    assert (one_input_short.is_inapplicable, one_input_short.missing_reason) == (True, "no labels")
    assert not is_system_failure("the system is slow")
    assert is_never_judged(NOT_JUDGED.build_reason("local-1"))


def test_questions_without_evidence_are_named() -> None:
    """A fact that no question was asked for is called a question of the judge; any other sentence stays."""
    result = measure_metric(parse_metric("faithfulness"), Facts(example("r"), response(1)))
    assert describe_missing([result.reason]) == "Judge question verify_answer was not evaluated."
    assert describe_missing(["support by the passages was not evaluated"]).startswith("Support by the passages")


@pytest.mark.parametrize(("pairs", "hint"), [((3, 4), True), ((30, 30), False)])
def test_few_control_pairs_get_the_hint_about_more_answers(
    whole: Callable[..., ScorecardData], pairs: tuple[int, int], hint: bool
) -> None:
    """More answers help where control pairs are few, not where the judge cannot tell them apart."""
    scale = ControlScale(yes=(0.5,) * pairs[0], no=(0.5,) * pairs[1])
    unread = explain_unread(
        "verify_answer.support",
        Readability("nl", "prose", {"support": scale}),
        Response("q", passages=(Passage("p", "d", "text"),)),
    )
    assert unread is not None
    assert UNREAD.parse_reason(unread.reason)
    card = whole(20)
    stated = replace(card.summaries[0], not_read=5, reasons={unread.reason: 5})
    assert ("more answers" in " ".join(unreadable(replace(card, summaries=(stated,))))) is hint


def test_dropped_trials_name_their_rival() -> None:
    """The rival and its lead come back from the reason of a dropped trial; a margin is recognized."""
    lost = DroppedTrial("k=1", 2, 45, "k=7: the best", 0.1234)
    assert _parse_loser_reason(lost.reason) == ("k=7: the best", "0.123")
    assert CANNOT_WIN.parse_reason(lost.reason) is None
    assert CANNOT_WIN.parse_reason(replace(lost, margin=0.05).reason)
    assert _parse_loser_reason("stopped by hand") == ("stopped by hand", "–")
    assert SYSTEM_FAILED.parse_reason(lost.reason) is None
