"""The level that serves, on planted data and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.outcomes import OutcomeValue, choose_outcome, mark_values
from ragauge.evaluation.thresholds.compute import ByOutcome, compute_by_outcome, compute_reached
from ragauge.stats.intervals import wilson_interval

STEPS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


def planted(n: int, rates: list[float], seed: int = 7) -> tuple[Any, list[bool]]:
    """So many responses at each of five scores, turned out well at the rates given."""
    generator = np.random.default_rng(seed)
    values = np.repeat(STEPS, n)
    good = generator.random(values.size) < np.repeat(rates, n)
    return values, good.tolist()


def test_planted_level_is_found() -> None:
    """Where answers turn out well from 0.75 on, and seldom below, 0.75 is the level that serves."""
    found = compute_by_outcome(*planted(120, [0.3, 0.3, 0.4, 0.93, 0.93]), "higher")
    assert (found.verdict, found.level) == ("serves", 0.75)
    assert [level.serves for level in found.levels] == [False, False, False, True, True]
    assert found.trend == "rises"
    assert found.p_value is not None
    assert found.p_value < 1e-9


def test_planted_level_of_a_metric_that_should_be_low() -> None:
    """Of a metric that should be low the level is the greatest score that still serves."""
    values, good = planted(120, [0.93, 0.93, 0.4, 0.3, 0.3])
    found = compute_by_outcome(values, good, "lower")
    assert (found.verdict, found.level) == ("serves", 0.25)
    assert [(level.low, level.high) for level in found.levels] == [(v, v) for v in STEPS[::-1]]


def test_planted_level_among_many_scores() -> None:
    """Of scores that are all different the planted level is found to within one level."""
    generator = np.random.default_rng(3)
    values = generator.random(900)
    good = generator.random(900) < np.where(values >= 0.6, 0.95, 0.3)
    found = compute_by_outcome(values, good.tolist(), "higher")
    assert len(found.levels) == 10
    assert [level.n for level in found.levels] == [90] * 10
    assert found.verdict == "serves"
    assert found.level is not None
    assert 0.5 < found.level < 0.7


def test_very_good_answers_do_not_hide_a_bad_level() -> None:
    """A level that lies clearly below the target does not serve, though all from there on reach it together."""
    values = np.concatenate([np.full(20, 0.5), np.full(400, 1.0)])
    good = [False] * 14 + [True] * 6 + [True] * 396 + [False] * 4
    found = compute_by_outcome(values, good, "higher")
    bad, best = found.levels
    assert bad.from_interval is not None
    assert bad.from_interval.low > 0.8
    assert (bad.serves, best.serves, found.level) == (False, True, 1.0)


@pytest.mark.parametrize("right", [0, 4, 8])
def test_eight_examples_are_not_enough(right: int) -> None:
    """Eight responses say nothing, whatever became of them."""
    found = compute_by_outcome(np.linspace(0, 1, 8), [i < right for i in range(8)], "higher")
    assert (found.verdict, found.level) == ("not enough data", None)


def test_none_does_and_not_enough_differ() -> None:
    """Where every interval lies below the target none serves; where one still holds it, there is too little data."""
    none = compute_by_outcome(*planted(100, [0.2, 0.2, 0.3, 0.3, 0.4]), "higher")
    assert (none.verdict, none.level, none.needed) == ("none does", None, None)
    few = compute_by_outcome(np.repeat([0.0, 1.0], 20), [False] * 20 + [True] * 18 + [False] * 2, "higher")
    assert few.verdict == "not enough data"
    assert few.needed is not None
    enough, short = (
        wilson_interval(0.9 * few.needed, few.needed),
        wilson_interval(0.9 * (few.needed - 1), few.needed - 1),
    )
    assert enough is not None
    assert short is not None
    assert short.low < 0.8 <= enough.low


def test_shares_by_hand() -> None:
    """Shares are counts over counts, and their intervals Wilson's."""
    values = np.repeat([0.0, 0.5, 1.0], [10, 20, 30])
    good = [True] * 2 + [False] * 8 + [True] * 10 + [False] * 10 + [True] * 27 + [False] * 3
    found = compute_by_outcome(values, good, "higher")
    counted = [(level.n, level.rate, level.from_n) for level in found.levels]
    assert counted == [(10, 0.2, 60), (20, 0.5, 50), (30, 0.9, 30)]
    assert [level.from_rate for level in found.levels] == pytest.approx([39 / 60, 37 / 50, 0.9])
    for level, (hits, n) in zip(found.levels, [(2, 10), (10, 20), (27, 30)], strict=True):
        assert level.interval == wilson_interval(hits, n)
    assert found.rate == pytest.approx(39 / 60)


def test_trend_is_spearmans() -> None:
    """The correlation is SciPy's; its p-value is that of rho times the root of n − 1."""
    values, good = planted(30, [0.3, 0.4, 0.5, 0.5, 0.6], seed=1)
    found = compute_by_outcome(values, good, "higher")
    expected = stats.spearmanr(values, good)
    assert found.correlation == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(expected.statistic) * np.sqrt(149)))
    turned = compute_by_outcome(values, good, "lower")
    assert turned.correlation == pytest.approx(-expected.statistic)
    assert turned.trend == "falls"


def test_dependent_responses_widen_the_intervals() -> None:
    """Responses of one cluster count as what they are worth: the same data in clusters gives a wider interval."""
    values, good = planted(60, [0.3, 0.3, 0.4, 0.9, 0.9])
    alone, together = (
        compute_by_outcome(values, sorted(good), "higher", clusters=clusters)
        for clusters in (None, np.arange(values.size) // 20)
    )
    assert _width(together) > 1.5 * _width(alone)
    assert together.p_value is None


def _width(found: ByOutcome) -> float:
    assert found.interval is not None
    return found.interval.high - found.interval.low


def test_false_alarms_are_rare() -> None:
    """Where every level is just at the target, one is said to serve by chance in 1 to 6 of 100 runs, not in more."""
    generator = np.random.default_rng(11)
    values = generator.random(300)
    said = sum(
        compute_by_outcome(values, (generator.random(300) < 0.8).tolist(), "higher").verdict == "serves"
        for _ in range(300)
    )
    assert 0.01 * 300 <= said <= 0.06 * 300


def test_what_most_examples_reach() -> None:
    """At least the share reaches the value, and not so many reach the next better one."""
    values = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    (high,) = compute_reached(values, "higher", [0.9])
    (low,) = compute_reached(values, "lower", [0.9])
    assert (high.value, low.value) == (0.2, 0.9)  # 9 of 10 score 0.2 or more; 9 of 10 score 0.9 or less
    assert high.interval is None
    many = np.arange(200) / 200
    for share in (0.5, 0.75, 0.9, 0.95):
        (found,) = compute_reached(many, "higher", [share])
        assert (many >= found.value).mean() >= share
        assert (many > found.value).mean() < share
        assert found.interval is not None
        assert found.interval.low <= found.value <= found.interval.high
    assert compute_reached(np.array([]), "higher") == ()


@pytest.mark.parametrize(
    ("values", "good", "expected"),
    [
        ([True, False, None], "", [True, False, None]),
        ([1, 0, 1.0], "", [True, False, True]),
        ([1, -1], "", [True, False]),
        (["Thumbs Up", "thumbs_down", "👍"], "", [True, False, True]),
        (["solved", "escalated"], "", [True, False]),
        ([5, 4, 3.5], ">=4", [True, True, False]),
        (["love", "meh"], "love, like", [True, False]),
        (["4", "2"], ">3", [True, False]),
    ],
)
def test_what_is_good(values: list[Any], good: str, expected: list[bool | None]) -> None:
    """Booleans, 0 and 1, −1 and 1 and the usual words are read; of others the user says what is good."""
    assert mark_values(values, "o", good)[0] == expected


@pytest.mark.parametrize(
    ("values", "good", "said"),
    [
        ([5, 3], "", "Say which are good"),
        (["love"], "", r"unknown meaning \(love\)"),
        (["x"], ">3", "not a number"),
        ([1, 0, -1], "", "Say which are good"),
    ],
)
def test_what_must_be_told(values: list[Any], good: str, said: str) -> None:
    """Ratings and words that could mean anything are not guessed at."""
    with pytest.raises(UsageError, match=said):
        mark_values(values, "o", good)


def test_which_outcome() -> None:
    """The outcome recorded most often is meant, the others are named; an unknown one is refused."""
    one: dict[str, OutcomeValue] = {"solved": True}
    recorded: list[dict[str, OutcomeValue]] = [{"thumbs": 1.0}, one, {"solved": False, "thumbs": 0.0}, one, {}]
    assert choose_outcome(recorded) == ("solved", ("thumbs",))
    assert choose_outcome(recorded, "thumbs") == ("thumbs", ("solved",))
    assert choose_outcome([{}]) == ("", ())
    with pytest.raises(UnknownName, match="nearest: solved"):
        choose_outcome(recorded, "solvd")


@pytest.mark.parametrize(("target", "direction"), [(0.0, "higher"), (1.0, "higher"), (0.8, "neither")])
def test_refused(target: float, direction: str) -> None:
    """A target that is no share, and a metric without a better side, are usage errors."""
    with pytest.raises(UsageError):
        compute_by_outcome(np.array([0.5]), [True], direction, target=target)
