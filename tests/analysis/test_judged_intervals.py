"""What rests on a judge's means knows how far the judge errs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from ragauge.comparison.changes import compute_change
from ragauge.comparison.pairs import Join, Pairs, pair_scores
from ragauge.core.codec import from_json_value
from ragauge.core.identity import to_json_value
from ragauge.core.json_keys import encode
from ragauge.diagnosis.explain.means import explain_mean
from ragauge.engine.judge_error import find_judge_errors
from ragauge.engine.judges import build_judge_note
from ragauge.evaluation.scorecard.tables import build_score_bar, build_sections
from ragauge.gating.compute.slices import Slices
from ragauge.gating.kinds.mean_rule import ScoreSource
from ragauge.gating.result import FAIL, PASS, UNKNOWN, Check
from ragauge.gating.rules import check_conditions, read_rules
from ragauge.gating.tables import texts as gate_words
from ragauge.judges.local.judge import LocalJudge
from ragauge.metrics.catalogue import parse_metric
from ragauge.rendering.words import estimate as said
from ragauge.rendering.writers.terminal import draw_bar as drawn
from ragauge.scores.arrays import SCORED, Columns
from ragauge.scores.indicators import STARTING_POINTS, find_level, format_estimate
from ragauge.scores.results.comparison import SAME, WORSE
from ragauge.scores.results.summary import Summary
from ragauge.scores.summarize import summarize_metric
from ragauge.stats.judge_error import JudgeMeanError

FAITHFULNESS = parse_metric("faithfulness")
ERROR = JudgeMeanError((0.3, 0.7), (-0.05, -0.05, 0.05), (0.07, 0.1, 0.07), 0.02, 0.04, 9, "9 sources")
N = 200


def columns(values: np.ndarray | list[float]) -> Columns:
    value = np.asarray(values, dtype=float)
    at, nothing = np.arange(value.size), np.full(value.size, np.nan)
    return Columns(
        at,
        at,
        np.full(value.size, SCORED),
        value,
        nothing,
        nothing,
        value,
        value,
        np.zeros(value.size, dtype=np.int64),
        None,
        None,
        ("",),
    )


def scores(mean: float, spread: float = 0.1, seed: int = 1) -> np.ndarray:
    found = np.random.default_rng(seed).normal(0, spread, N)
    return np.asarray(np.clip(mean + found - found.mean(), 0, 1))


def of(mean: float, error: JudgeMeanError | None = ERROR) -> Summary:
    return summarize_metric(FAITHFULNESS, columns(scores(mean)), error=error)


def test_a_summary_has_the_wide_interval_where_the_error_is_known() -> None:
    """The wide interval holds the sampling one; without a known error there is none; it survives the store."""
    known, unknown = of(0.6), of(0.6, None)
    assert known.judged is not None
    assert known.interval is not None
    assert known.judged.low < known.interval.low
    assert known.judged.high > known.interval.high
    assert known.interval == unknown.interval
    assert (unknown.judged, unknown.widest_interval) == (None, unknown.interval)
    assert from_json_value(Summary, to_json_value(known)) == known


def test_a_starting_point_is_missed_only_where_the_judge_can_tell() -> None:
    """0.75 lies below 0.85 by sampling, but not including judge error; 0.3 does with both."""
    point = STARTING_POINTS["faithfulness"]
    assert find_level(of(0.75, None), point) == "low"
    assert find_level(of(0.75), point) == "unclear"
    assert find_level(of(0.3), point) == "low"
    assert "including judge error [" in format_estimate(of(0.75))
    assert "judge" not in format_estimate(of(0.75, None))


def test_words_show_both_intervals() -> None:
    """The mean, the sampling interval and the wide one, in words, as JSON, and as a thinner line."""
    found = of(0.6)
    assert found.interval is not None
    assert found.judged is not None
    ends, wide = ([one.low, one.high] for one in (found.interval, found.judged))
    assert said(found) == (
        f"0.60, sampling [{ends[0]:.2f}, {ends[1]:.2f}], including judge error [{wide[0]:.2f}, {wide[1]:.2f}]"
    )
    assert encode(found)["ci"] == ends
    assert encode(found)["judged_ci"] == wide
    assert "judged_ci" not in encode(of(0.6, None))
    wide_bar, narrow_bar = build_score_bar(found), build_score_bar(of(0.6, None))
    assert wide_bar is not None
    assert narrow_bar is not None
    assert "─" in drawn(wide_bar)
    assert "─" not in drawn(narrow_bar)


def test_explain_says_how_the_wide_interval_was_made() -> None:
    """One line with how far people's mean lies, on what that rests, and t; nothing where the error is not known."""
    worked = explain_mean(FAITHFULNESS, columns(scores(0.6)), error=ERROR)
    for part in (" ± 0.0", "from the judge's", "9 sources", "t = 2.36 of 7 degrees of freedom"):
        assert part in worked.judged
    assert explain_mean(FAITHFULNESS, columns(scores(0.6))).judged == ""


def pairs(new: np.ndarray, base: np.ndarray) -> Pairs:
    ids = [f"q{n}" for n in range(new.size)]
    return pair_scores(FAITHFULNESS, columns(new), columns(base), Join(ids, ids))


def test_a_change_that_the_judge_may_see_where_there_is_none_is_no_change() -> None:
    """A fall of 0.03 on every example is worse by sampling, not by a judge that errs by 0.02 between systems."""
    base = scores(0.6)
    small, large = pairs(base - 0.03 + scores(0.0, 0.02, 2), base), pairs(base - 0.15, base)
    assert compute_change(small, 0.95).verdict == WORSE
    assert compute_change(small, 0.95, error=ERROR).verdict == SAME
    assert compute_change(large, 0.95, error=ERROR).verdict == WORSE
    assert compute_change(small, 0.95, error=replace(ERROR, paired=0.0)).verdict == WORSE


def test_the_error_counts_for_what_changed_alone() -> None:
    """The same fall in a tenth of the examples is seen: the others have the same error in both runs."""
    base = scores(0.6)
    new = base.copy()
    new[::10] -= 0.4
    found = compute_change(pairs(new, base), 0.95, error=ERROR)
    assert found.verdict == WORSE
    assert found.difference.judged is not None
    assert found.difference.interval is not None
    assert found.difference.judged.low < found.difference.interval.low


def test_what_would_be_seen_holds_the_judges_error() -> None:
    """A change that the judge's error hides is smaller than the least that is said to be seen, at every size."""
    base = scores(0.6)
    sampled = compute_change(pairs(base - 0.03 + scores(0.0, 0.02, 2), base), 0.95, sized=True).detectable
    assert sampled is not None
    for fall in (0.0, 0.01, 0.02, 0.03, 0.05, 0.08):
        found = compute_change(pairs(base - fall + scores(0.0, 0.02, 2), base), 0.95, sized=True, error=ERROR)
        assert found.detectable is not None
        assert found.detectable > 2 * sampled
        assert found.verdict == WORSE or found.detectable > abs(found.difference.mean or 0.0)


def checked(rule: Mapping[str, object], new: np.ndarray, base: np.ndarray, error: JudgeMeanError | None) -> Check:
    import polars as pl

    ids = [f"q{n}" for n in range(N)]
    slices = Slices(ids, pl.DataFrame({"query_id": ids}), {})
    errors = {} if error is None else {"faithfulness": error}
    source = ScoreSource(
        lambda _: columns(new), lambda _: pairs(new, base), slices, slices, errors=errors, pair_errors=errors
    )
    from ragauge.core.config.config_loader import read_config

    return check_conditions(read_rules(read_config({"gate": {"rules": [dict(rule)]}})).conditions, source)[0][0]


def test_a_gate_decides_nothing_that_the_judge_cannot_tell() -> None:
    """min: 0.7 passes a mean of 0.76 by sampling; including judge error it is not known, and the reason says so."""
    rule: dict[str, object] = {"metric": "faithfulness", "min": 0.7}
    new = scores(0.72)
    assert checked(rule, new, new, None).verdict == PASS
    found = checked(rule, new, new, ERROR)
    assert (found.verdict, found.because) == (UNKNOWN, "judge")
    reason = gate_words.explain_verdict(found)
    assert "including judge error" in reason
    assert "ragauge judge check" in reason
    assert "max_drop" in reason
    assert checked(rule, scores(0.2), new, ERROR).verdict == FAIL
    point = checked({**rule, "decide": "point"}, new, new, ERROR)
    assert (point.verdict, point.because) == (PASS, "point")


def test_a_gate_on_a_drop_has_the_much_smaller_error_of_pairs() -> None:
    """A drop of nothing passes max_drop where the errors drop out; one just beyond the limit is not told."""
    base, rule = scores(0.6), {"metric": "faithfulness", "max_drop": "5 points"}
    noise = scores(0.0, 0.01, 3)
    assert checked(rule, base + noise - noise.mean(), base, ERROR).verdict == PASS
    assert checked(rule, base - 0.07 + noise, base, None).verdict == FAIL
    found = checked(rule, base - 0.07 + noise, base, ERROR)
    assert (found.verdict, found.because) == (UNKNOWN, "judge")
    assert "larger change" in gate_words.explain_verdict(found)
    assert checked(rule, base - 0.2, base, ERROR).verdict == FAIL


def test_the_error_is_known_of_the_local_judge_alone() -> None:
    """Of the local judge it is known per metric, mirrored for unsupported; of nobody, models and others it is not."""
    known = find_judge_errors(LocalJudge().judge_id)
    assert {"faithfulness", "context_recall", "context_precision", "answer_relevance"} <= set(known)
    assert known["unsupported"] == known["faithfulness"].mirror()
    assert all(len(one.spreads) == len(one.edges) + 1 and one.sources >= 3 for one in known.values())
    for judge_id in (None, "openai:gpt-5-mini#12345678", "hybrid:openai:gpt-5-mini#1", "mine-1"):
        assert find_judge_errors(judge_id) == {}
    assert build_judge_note(LocalJudge().judge_id, None).errors == known
    said_of_model = " ".join(build_judge_note("openai:gpt-5-mini#12345678", None).limits)
    assert "This judge's error" in said_of_model
    assert "ragauge judge check FILE" in said_of_model


@pytest.mark.parametrize("width", [80, 130])
def test_the_terminal_names_the_wide_interval_at_every_width(width: int) -> None:
    """In a column where there is room, else in a line under the table."""
    from ragauge.core.response import Run
    from ragauge.rendering.writers.terminal import render_terminal
    from ragauge.scores.results.scorecard import JudgeNote, ScorecardData

    card = ScorecardData(
        Run("r1", "r"),
        JudgeNote("local:x", "It judged.", errors={"faithfulness": ERROR}),
        N,
        0,
        (of(0.6),),
        {},
        (),
        {},
        0,
        (),
    )
    console = Console(width=width)
    with console.capture() as got:
        console.print(render_terminal(build_sections(card)))
    wide = of(0.6).judged
    assert wide is not None
    assert f"[{wide.low:.2f}, {wide.high:.2f}]" in got.get()
    assert "ncluding judge error" in got.get()
