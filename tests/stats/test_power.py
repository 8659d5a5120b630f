"""Power, detectable effects and sample sizes: against statsmodels, by enumeration, and as inverses of each other."""

from __future__ import annotations

from itertools import product
from typing import Any, Literal

import numpy as np
import pytest

from ragauge.core.errors import UsageError
from ragauge.stats.detectable_difference import compute_detectable_difference, count_pairs_to_detect
from ragauge.stats.difference import paired_test
from ragauge.stats.power import (
    design_effect_of,
    detectable_mean,
    detectable_rate,
    pairs_for_mean,
    pairs_for_rate,
    power_of_mean,
    power_of_rate,
)
from ragauge.stats.textbook_tests import mcnemar_test

# statsmodels 0.15.0, TTestPower().power(effect, n, alpha, alternative="two-sided" or "larger")
THEIRS = [
    (0.25, 128, 0.05, 2, 0.801507136372667),
    (0.5, 8, 0.05, 2, 0.23207700463899142),
    (1.2, 4, 0.01, 2, 0.10849546370763348),
    (0.1, 500, 0.05, 1, 0.7217947929173102),
    (0.3, 20, 0.05, 1, 0.3627796488464272),
    (0.02, 5_000, 0.05, 2, 0.292895920099223),
]


@pytest.mark.parametrize(("effect", "n", "alpha", "sides", "wanted"), THEIRS)
def test_power_of_means_is_statsmodels(effect: float, n: int, alpha: float, sides: Any, wanted: float) -> None:
    """The power of the t test is that of statsmodels, for few pairs too, whatever the unit and the sign."""
    assert power_of_mean(effect, 1.0, n, alpha=alpha, sides=sides) == pytest.approx(wanted, abs=1e-9)
    assert power_of_mean(-7 * effect, 7.0, n, alpha=alpha, sides=sides) == pytest.approx(wanted, abs=1e-9)


def test_sample_sizes_are_statsmodels_rounded_up() -> None:
    """Required pairs and detectable effects are what statsmodels 0.15.0 solves for (TTestPower().solve_power)."""
    assert pairs_for_mean(0.25, 1.0) == 128  # 127.5158
    assert pairs_for_mean(-0.8, 1.0, power=0.9) == 19  # 18.4462
    assert pairs_for_mean(0.1, 1.0, sides=1) == 620  # 619.6107
    assert pairs_for_mean(2.0, 1.0) == 5  # 4.2207; the normal shortcut would say 2
    assert detectable_mean(1.0, 20) == pytest.approx(0.6604416544380312, abs=1e-6)
    assert detectable_mean(1.0, 200, power=0.9) == pytest.approx(0.23032364369160402, abs=1e-6)
    assert detectable_mean(3.0, 5) == pytest.approx(3 * 1.6819970833232674, abs=1e-5)


def rejected(gained: int, lost: int, n: int, sides: int) -> bool:
    found = mcnemar_test(gained, lost, n, "two-sided" if sides == 2 else "greater")
    assert found is not None
    return found.p_value <= 0.05


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize(("n", "up", "down"), [(12, 0.5, 0.1), (25, 0.3, 0.05), (40, 0.1, 0.1)])
def test_power_of_rates_is_the_sum_over_all_outcomes(n: int, up: float, down: float, sides: Any) -> None:
    """Power of McNemar's test is the chance of all tables that it rejects, added up one by one."""
    from scipy.stats import multinomial

    whole = sum(
        float(multinomial.pmf((gained, lost, n - gained - lost), n, (up, down, 1 - up - down)))
        for gained, lost in product(range(n + 1), repeat=2)
        if gained + lost <= n and gained + lost > 0 and rejected(gained, lost, n, sides)
    )
    assert power_of_rate(up, down, n, sides=sides) == pytest.approx(whole, abs=1e-9)


def test_power_of_rates_for_many_pairs() -> None:
    """For a million pairs power goes to that of the normal test (gained − lost over its standard error)."""
    from scipy.stats import norm

    n, up, down = 1_000_000, 0.0503, 0.0497
    shift = (up - down) * np.sqrt(n / (up + down))
    wanted = norm.sf(1.959964 - shift) + norm.cdf(-1.959964 - shift)
    assert power_of_rate(up, down, n) == pytest.approx(wanted, abs=0.002)


def test_what_is_found_and_what_is_needed_agree() -> None:
    """Required pairs reach the power and one pair fewer does not; the detectable effect has the power asked for."""
    n = pairs_for_mean(0.03, 0.25, power=0.9)
    assert power_of_mean(0.03, 0.25, n) >= 0.9 > power_of_mean(0.03, 0.25, n - 1)
    assert power_of_mean(detectable_mean(0.25, 60), 0.25, 60) == pytest.approx(0.8)
    n = pairs_for_rate(0.06, 0.10)
    assert power_of_rate(0.06, 0.10, n) >= 0.8 > power_of_rate(0.06, 0.10, n - 5)
    effect = detectable_rate(0.16, n)
    assert effect == pytest.approx(0.04, abs=0.0005)
    assert detectable_rate(0.01, 100) is None  # one pair changes on average: no test sees that


def test_clusters_cost_pairs() -> None:
    """A design effect of 3 needs three times the pairs, give or take the rounding of small samples."""
    alone, grouped = pairs_for_mean(0.05, 0.3), pairs_for_mean(0.05, 0.3, design_effect=3.0)
    assert grouped == pytest.approx(3 * alone, abs=3)
    assert power_of_rate(0.05, 0.1, 900, design_effect=3.0) == power_of_rate(0.05, 0.1, 300)
    assert detectable_mean(0.3, 900, design_effect=3.0) == pytest.approx(detectable_mean(0.3, 300))
    # Kish: 1 + (m − 1) rho, with rho = 0.5 and clusters of 5
    g = np.random.default_rng(0)
    d = np.repeat(g.normal(0, 1, 4_000), 5) + g.normal(0, 1, 20_000)
    assert design_effect_of(d, np.repeat(np.arange(4_000), 5)) == pytest.approx(3, rel=0.05)
    assert design_effect_of([1.0, 2.0], ["a", "a"]) is None
    assert design_effect_of([1.0, 1.0], ["a", "b"]) is None


def test_detectable_after_a_run_takes_its_own_pairs() -> None:
    """From the pairs of a run: means as from their deviation, rates from what changed, clusters as clustered."""
    g = np.random.default_rng(1)
    base, new = g.random(80), g.random(80)
    d = new - base
    assert compute_detectable_difference(new, base, kind="mean") == pytest.approx(
        detectable_mean(float(d.std(ddof=1)), 80), rel=1e-6
    )
    zero, one = (g.random((2, 100)) < 0.7).astype(float)
    changed = float((zero != one).mean())
    assert compute_detectable_difference(one, zero, kind="rate") == detectable_rate(changed, 100)
    assert compute_detectable_difference(one, zero, kind="rate", weights=[2.0] * 100) == detectable_rate(changed, 100)
    one = np.where(np.arange(600) < 60, 1.0, 0.0)  # 30 won and 30 lost: too many to count out
    zero = np.where((np.arange(600) >= 30) & (np.arange(600) < 90), 1.0, 0.0)
    assert compute_detectable_difference(one, zero, kind="rate") == pytest.approx(detectable_rate(0.1, 600), rel=0.02)
    labels = np.arange(80) // 4
    copies = np.repeat(d[:20], 4)
    alone = compute_detectable_difference(d[:20], np.zeros(20), kind="mean")
    assert compute_detectable_difference(copies, np.zeros(80), kind="mean", clusters=labels) == pytest.approx(alone)


def test_nothing_to_go_by() -> None:
    """Fewer than two pairs or clusters, and runs that do not differ at all, have no detectable effect, never 0."""
    assert compute_detectable_difference([1.0], [0.0], kind="mean") is None
    assert compute_detectable_difference([1.0, 2.0], [1.0, 2.0], kind="mean") is None
    assert compute_detectable_difference([1.0, 2.0], [0.0, 0.0], kind="mean", clusters=["a", "a"]) is None
    assert compute_detectable_difference([1.0, 0.0, 1.0], [0.0, 0.0, 1.0], kind="rate") is None


def test_five_that_vary_show_nothing() -> None:
    """Of pairs of which five differ no change is found, however small their spread, and so of one run's scores."""
    for varying, known in ((5, False), (6, True)):
        new = np.where(np.arange(200) < varying, 0.99, 1.0)
        for base in (np.ones(200), np.full(200, new.mean())):  # two runs; one run held against its mean
            found = compute_detectable_difference(new, base, kind="mean")
            assert (found is not None) == known
            assert found is None or found >= 6 * 0.01 / 200
            assert (count_pairs_to_detect(0.1, new, base, kind="mean") is not None) == known
        labels = np.where(np.arange(200) < varying, np.arange(200) // 2, np.arange(200))
        assert compute_detectable_difference(new, np.ones(200), kind="mean", clusters=labels) is None


@pytest.mark.prove
def test_power_is_what_simulation_finds() -> None:
    """Of 4,000 comparisons as many find the effect as the formulas say, within 2 points, by the tests that are used.

    Within 3 where so few pairs pay for the correction for skewness, which Student's t, the formula's, does not make.
    """
    g, times = np.random.default_rng(2), 4_000
    for n, effect, within in ((12, 0.9, 0.03), (60, 0.35, 0.02)):
        found: list[Any] = [paired_test(d, np.zeros(n), kind="mean") for d in g.normal(effect, 1, (times, n))]
        hits = sum(one.p_value <= 0.05 for one in found) / times
        assert hits == pytest.approx(power_of_mean(effect, 1.0, n), abs=within)
    for n in (60, 300):
        u = g.random((times, n))
        tables = zip((u < 0.16).sum(axis=1), (u > 0.94).sum(axis=1), strict=True)
        hits = sum(rejected(int(up), int(down), n, 2) for up, down in tables) / times
        assert hits == pytest.approx(power_of_rate(0.16, 0.06, n), abs=0.02)


@pytest.mark.parametrize(
    "call",
    [
        lambda: power_of_mean(0.1, 0.0, 10),
        lambda: power_of_mean(0.1, 1.0, 1),
        lambda: power_of_mean(0.1, 1.0, 10, alpha=0.0),
        lambda: power_of_mean(0.1, 1.0, 10, sides=3),  # type: ignore[arg-type]
        lambda: power_of_mean(0.1, 1.0, 10, design_effect=0.0),
        lambda: power_of_rate(0.7, 0.6, 10),
        lambda: pairs_for_mean(0.0, 1.0),
        lambda: pairs_for_mean(1e-9, 1.0),
        lambda: pairs_for_mean(0.1, 1.0, power=1.0),
        lambda: detectable_mean(1.0, 10, power=0.01),
        lambda: pairs_for_rate(0.1, 0.1),
        lambda: compute_detectable_difference([1.0], [1.0, 2.0], kind="mean"),
    ],
)
def test_wrong_arguments_are_named(call: Any) -> None:
    """Impossible deviations, sizes, levels, powers and shares are UsageErrors."""
    with pytest.raises(UsageError, match=r"must|differ in length"):
        call()


@pytest.mark.parametrize("n", [30, 400])
@pytest.mark.parametrize("kind", ["rate", "mean"])
def test_as_many_pairs_as_there_are_find_what_they_find(n: int, kind: Literal["rate", "mean"]) -> None:
    """The pairs needed for the detectable difference are those there are, for half of it four times as many."""
    rng = np.random.default_rng(n)
    base = (rng.random(n) < 0.6).astype(float) if kind == "rate" else rng.random(n)
    new = np.where(rng.random(n) < 0.4, 1 - base, base)
    found = compute_detectable_difference(new, base, kind=kind)
    assert found is not None
    needed = count_pairs_to_detect(found, new, base, kind=kind)
    assert needed == pytest.approx(n, rel=0.08)
    assert count_pairs_to_detect(found / 2, new, base, kind=kind) == pytest.approx(4 * n, rel=0.2)
    assert count_pairs_to_detect(found, base, base, kind=kind) is None


def test_clusters_ask_for_more_pairs() -> None:
    """Pairs of four alike need about four times as many pairs for one change as their clusters do."""
    rng = np.random.default_rng(8)
    d = rng.normal(size=60)
    four, of = np.repeat(d, 4), np.repeat(np.arange(60), 4)
    alone = count_pairs_to_detect(0.3, d, 0 * d, kind="mean")
    together = count_pairs_to_detect(0.3, four, 0 * four, kind="mean", clusters=of)
    assert alone is not None
    assert together == pytest.approx(4 * alone, rel=0.03)
