"""max_drop between two runs on different examples: a difference of two samples, its false alarms and its segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.gating.scores import columns, pairs
from tests.gating.test_checking import ASKED, RANGES, TYPES, _failing, _lost, _values, found, rules

from ragauge.gating.compute.decision import CheckCell
from ragauge.gating.compute.sample import MeanDifference, MetricLevel
from ragauge.gating.compute.slices import Slices, combine_slices
from ragauge.gating.compute.unpaired_samples import UnpairedDifference, UnpairedRuns
from ragauge.gating.kinds.mean_rule import ScoreSource
from ragauge.gating.result import Check
from ragauge.gating.rules import Rules, check_conditions, decide_verdict
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import Columns
from ragauge.stats.judge_error import JudgeMeanError

Values = Sequence[float] | npt.NDArray[np.float64]
MRR, HIT = parse_metric("mrr"), parse_metric("hit@5")


def slices(n: int, **of: Sequence[str | None]) -> Slices:
    ids = [f"q{i}" for i in range(n)]
    frame = pl.DataFrame({"query_id": ids, **(of or {"type": [TYPES[i % 4] for i in range(n)]})})
    return Slices(ids, frame, {"golden": frozenset(ids[::2])})


def checks(
    asked: Rules, new: Mapping[str, Columns], base: Mapping[str, Columns], mine: Slices, theirs: Slices
) -> list[Check]:
    named = {name for one in asked.conditions for name in one.segments or ()}
    apart = UnpairedRuns(
        lambda m: (new[str(m)], base[str(m)]), combine_slices(mine, theirs, named), len(mine.query_ids)
    )
    source = ScoreSource(lambda m: new[str(m)], lambda m: pytest.fail(f"{m} is paired"), mine, apart=apart)
    return check_conditions(asked.conditions, source)[0]


def sample(new: Values, base: Values, metric: Any = MRR, **more: Any) -> UnpairedDifference:
    return UnpairedDifference(MetricLevel.of(metric, columns(new)), MetricLevel.of(metric, columns(base)), **more)


def test_by_hand() -> None:
    """0.7 of 4 against 0.5 of 6: +0.2; Newcombe's interval of 3 of 4 against 2 of 4 agrees with his formula."""
    made = sample([0.6, 0.8, 0.6, 0.8], [0.5] * 6)
    assert (made.scored, made.base.scored, made.size) == (4, 6, 4)
    assert made.estimate == pytest.approx(0.2)
    rate = sample([1, 1, 1, 0], [1, 1, 0, 0], HIT).interval(0.95)
    # Wilson 95 %: 3 of 4 in [0.30064, 0.95441], 2 of 4 in [0.15004, 0.84996]; 0.25 − sqrt(0.44936² + 0.34996²), …
    assert rate is not None
    assert rate.low == pytest.approx(-0.31956, abs=1e-4)
    assert rate.high == pytest.approx(0.65528, abs=1e-4)
    assert rate.method.startswith("unpaired")


@pytest.mark.parametrize("metric", [MRR, HIT], ids=str)
def test_nothing_got_worse(metric: Any) -> None:
    """A/A over samples of 90 and 140: max_drop: 0 fails in about 5 % of draws, and passes in about 5 %."""
    generator = np.random.default_rng(11)
    draws, failed, passed = 400, 0, 0
    for _ in range(draws):
        sides = [_values(generator, str(metric), n, 0.0) for n in (90, 140)]
        cell = CheckCell(sample(sides[0], sides[1], metric), 0.0, True, 10)
        failed, passed = failed + cell.fails(), passed + cell.passes()
    assert 0.02 <= failed / draws <= 0.075
    assert 0.02 <= passed / draws <= 0.085


def test_wider_than_pairs() -> None:
    """The same scores as pairs have a far shorter interval: what the questions share drops out of pairs alone."""
    generator = np.random.default_rng(3)
    base = generator.uniform(0.1, 0.9, 100)
    new = np.clip(base - 0.05 + generator.normal(0, 0.02, 100), 0, 1)
    paired = MeanDifference(pairs(MRR, columns(new), columns(base))).interval(0.9)
    apart = sample(new, base).interval(0.9)
    assert paired is not None
    assert apart is not None
    assert apart.high - apart.low > 5 * (paired.high - paired.low)
    assert CheckCell(MeanDifference(pairs(MRR, columns(new), columns(base))), -0.02, True, 10).verdict()[0] == "fail"
    assert CheckCell(sample(new, base), -0.02, True, 10).verdict() == ("not_enough_data", "interval")


def test_equal_samples_are_not_unchanged() -> None:
    """Two samples of the same values are not one run twice: no drop of 0 passes, since other questions might differ."""
    values = [0.5, 0.7, 0.9] * 10
    assert CheckCell(sample(values, values), 0.0, True, 10).verdict() == ("not_enough_data", "interval")


def test_judge_error_widens() -> None:
    """What the judge sees between systems that are alike is added, as for pairs."""
    error = JudgeMeanError((0.5,), (0.0, 0.0), (0.0, 0.0), 0.05, 0.0, 9)
    generator = np.random.default_rng(5)
    sides = generator.uniform(0, 1, 80), generator.uniform(0, 1, 90)
    plain, judged = sample(*sides).interval(0.9), sample(*sides, error=error).interval(0.9)
    assert plain is not None
    assert judged is not None
    assert judged.low < plain.low
    assert judged.high > plain.high


def test_one_segment_falls_while_the_mean_rises() -> None:
    """A segment that falls by 0.3 fails the gate though the mean rose; both sides are counted everywhere."""
    generator = np.random.default_rng(8)
    mine, theirs = slices(400), slices(360)
    base = generator.uniform(0.5, 0.7, 360)
    new = generator.uniform(0.5, 0.7, 400) + np.where(np.arange(400) % 4 == 3, -0.3, 0.15)
    sides = {"mrr": columns(new)}, {"mrr": columns(base)}
    got = checks(rules({"metric": "mrr", "max_drop": "3%"}), *sides, mine, theirs)
    assert [(c.segment and c.segment[1], c.verdict, c.n, c.n_base) for c in got] == [
        (None, "pass", 400, 360),
        ("compare", "pass", 100, 90),
        ("howto", "pass", 100, 90),
        ("lookup", "pass", 100, 90),
        ("multi_hop", "fail", 100, 90),
    ]
    assert decide_verdict(got) == "fail"
    assert all(c.unpaired and not c.examples for c in got)


def test_segment_of_one_side_alone() -> None:
    """A value that only one run has is said to be too few, with 0 on the other side, and stops nothing."""
    mine, theirs = slices(60, type=["a", "b"] * 30), slices(40, type=["a", "c"] * 20)
    values = columns([0.8, 0.9] * 30), columns([0.8, 0.9] * 20)
    got = checks(rules({"metric": "mrr", "max_drop": "30%"}), {"mrr": values[0]}, {"mrr": values[1]}, mine, theirs)
    assert [(found(got, v).because, found(got, v).n, found(got, v).n_base, found(got, v).stops) for v in "bc"] == [
        ("few", 30, 0, False),
        ("few", 0, 20, False),
    ]
    assert found(got, "a").because == "interval"


def test_min_n_on_both_sides() -> None:
    """Two hundred examples against six are not enough data, whichever side has the six."""
    for sizes in ((200, 6), (6, 200)):
        made = sample(*([0.9, 0.1] * (n // 2) for n in sizes))
        assert CheckCell(made, -0.03, True, 10).verdict() == ("not_enough_data", "few")


def test_tag_keeps_examples_of_both() -> None:
    """A tag keeps its examples on both sides."""
    mine, theirs = slices(60), slices(40)
    values = {"mrr": columns([0.8, 0.9] * 30)}, {"mrr": columns([0.8, 0.9] * 20)}
    got = checks(rules({"metric": "mrr", "max_drop": "9%", "tag": "golden", "segments": "none"}), *values, mine, theirs)
    assert [(c.n, c.n_base) for c in got] == [(30, 20)]


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    which=st.sampled_from([0, 1, 3, 4, 5]),
    n=st.integers(12, 90),
    shift=st.sampled_from([-0.7, -0.5, -0.3]),
    lost=st.sampled_from([0.0, 0.02, 0.1, 0.4]),
    clustered=st.booleans(),
)
def test_a_failure_never_turns_fail_into_pass(
    seed: int, which: int, n: int, shift: float, lost: float, clustered: bool
) -> None:
    """Case 42 unpaired: whatever calls become failures, on either side, a gate that failed never passes."""
    generator = np.random.default_rng(seed)
    m = int(n * generator.uniform(0.6, 1.6))
    mine, theirs, new, base = slices(n), slices(m), {}, {}
    more: dict[str, Any] = {"cluster": generator.integers(0, max(2, n // 3), n)} if clustered else {}
    for name in sorted({str(metric) for metric in ASKED[which].metrics}):
        worse = (shift if name != "contradicted" else -shift) * RANGES[name]
        new[name] = columns(np.clip(_values(generator, name, n, 0.0) + worse, 0, RANGES[name]), **more)
        base[name] = columns(_values(generator, name, m, 0.0))
    if decide_verdict(checks(ASKED[which], new, base, mine, theirs)) != "fail":
        return
    for _ in range(3):
        broken = {k: _failing(generator, of, _lost(generator, n, lost), RANGES[k]) for k, of in new.items()}
        also = {k: _failing(generator, of, _lost(generator, m, lost), RANGES[k]) for k, of in base.items()}
        assert decide_verdict(checks(ASKED[which], broken, base, mine, theirs)) != "pass"
        assert decide_verdict(checks(ASKED[which], broken, also, mine, theirs)) != "pass"
