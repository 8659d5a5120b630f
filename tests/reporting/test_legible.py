"""Numbers, bars and letters that a reader could take for something else, or could not see at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from ragauge.comparison.tables.notes import _is_hidden_by_judge_error
from ragauge.diagnosis.explain.tables import _explain_letters
from ragauge.rendering.charts.spread import MAX_BAR_WIDTH, MIN_BAR_WIDTH, _place_bars
from ragauge.rendering.words import difference
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.scores.results.comparison import ChangeEffect, MetricChange
from ragauge.scores.results.overview import Bin, MeanEstimate
from ragauge.stats.weighted import Interval
from ragauge.studies.charts import draw_study_chart


def changed(metric: str, mean: float, low: float, high: float) -> MetricChange:
    """A change with its interval."""
    found = MeanEstimate(mean, Interval(low, high, "t"), 20)
    return MetricChange(
        metric,
        measures="generation",
        direction="higher",
        kind="mean",
        base=0.5,
        new=0.5 + mean,
        difference=found,
        verdict="worse",
        p_value=0.01,
        test="paired t",
        effect=ChangeEffect("d", 0.3),
        wins=1,
        ties=1,
        losses=9,
        failed=0,
        alone="worse",
        corrected=0.2,
        discovery=0.1,
        moved=(),
    )


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-0.67, -0.003, "[−0.67, −0.003]"),
        (0.0042, 0.3, "[+0.004, +0.30]"),
        (-0.67, 0.003, "[−0.67, 0.00]"),
        (-0.2, 0.0, "[−0.20, 0.00]"),
        (-0.2, -1e-9, "[−0.20, −0.0001]"),
    ],
)
def test_an_interval_that_leaves_0_out_does_not_end_at_0(low: float, high: float, said: str) -> None:
    """The end nearest to 0 keeps a digit where the whole interval lies on one side, and is rounded as usual else."""
    assert difference(changed("faithfulness", (low + high) / 2, low, high)).partition(" ")[2] == said


def test_a_difference_of_an_amount_has_its_unit() -> None:
    """Milliseconds stand behind a difference of latency, dollars before one of cost, nothing beside a share."""
    assert difference(changed("latency:stage=retrieval", -3.0, -4.0, -2.0), "amount").startswith("−3 ms [")
    assert difference(changed("cost", 0.25, 0.1, 0.4), "amount").startswith("+$0.25 [")
    assert difference(changed("faithfulness", -0.25, -0.4, -0.1)) == "−0.25 [−0.40, −0.10]"


def test_values_that_differ_by_rounding_have_a_bar_each() -> None:
    """Two scores of 0.97, one of which is off by the last bit, are drawn so wide that they can be seen."""
    bins = [Bin(0.97, 0.97, 80), Bin(0.9700000000000001, 0.9700000000000001, 2)]
    for begins, ends in _place_bars(bins, "mean"):
        assert MIN_BAR_WIDTH <= ends - begins + 1e-9 <= MAX_BAR_WIDTH
        assert 0 <= begins < ends <= 1


def test_days_have_dates_on_their_axis() -> None:
    """A chart over days names each by its date, in its tooltips too."""
    points = tuple(ChartPoint(day, 0.5 + day / 10, "daily mean") for day in range(3))
    svg = draw_study_chart(ReportChart("c", "lines", "day", "faithfulness", points, since=date(2026, 11, 30)))
    assert all(f">{day}<" in svg for day in ("30 Nov", "1 Dec", "2 Dec"))
    assert ">30<" not in svg


def test_letters_are_told_where_they_stand() -> None:
    """Only the letters of a table are explained below it; one without letters has no such line."""
    (said,) = _explain_letters(["S = {1, 2} · X = {} · supported by passages 1 and 2, direct (p 0.97)"])
    assert said == (
        "S: passages that support the claim; X: passages that contradict the claim; "
        "p: the judge's probability for this."
    )
    assert _explain_letters(["fully · declines: no", "20 before the cutoff"]) == ()


@pytest.mark.parametrize(
    ("sampled", "judged", "verdict", "told"),
    [
        ((-0.3, -0.1), (-0.5, 0.1), "no change seen", True),
        ((-0.3, 0.1), (-0.5, 0.2), "no change seen", False),
        ((-0.3, -0.1), None, "no change seen", False),
        ((-0.3, -0.1), (-0.4, -0.05), "worse", False),
    ],
)
def test_what_the_judges_error_hides_is_told(
    sampled: tuple[float, float], judged: tuple[float, float] | None, verdict: str, told: bool
) -> None:
    """A change is hidden where it is more than chance by the corrected p, and the judge's error takes that back."""
    wide = None if judged is None else Interval(*judged, "t")
    one = replace(
        changed("faithfulness", -0.2, *sampled),
        verdict=verdict,
        corrected=0.02,
        difference=MeanEstimate(-0.2, Interval(*sampled, "t"), 20, wide),
    )
    assert _is_hidden_by_judge_error(one) is told
    assert not _is_hidden_by_judge_error(replace(one, corrected=0.08))
