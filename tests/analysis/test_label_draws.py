"""Drawing answers for people: how many, which, and with what chance."""

from __future__ import annotations

import pytest

from ragauge.core.errors import UnknownName, UsageError
from ragauge.scores.label_sample import SCHEMES, sample_answers

NAMES = {n: f"q{n} 0" for n in range(400)}
SCORES = {n: (0.0 if n % 20 == 0 else 0.5 if n % 20 == 1 else 1.0) for n in range(400)}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_as_many_as_asked_for(scheme: str) -> None:
    """So many are drawn, each has a chance in (0, 1], and the chances add up to how many are drawn."""
    for n in (1, 60, 150, 400, 500):
        found = sample_answers(NAMES, n, scheme, SCORES)
        assert len(set(found.drawn)) == len(found.drawn)
        assert abs(len(found.drawn) - min(n, 400)) <= (scheme == "uncertain")
        assert sum(found.inclusion.values()) == pytest.approx(min(n, 400))
        assert all(0 < chance <= 1 for chance in found.inclusion.values())
        assert set(found.drawn) <= set(found.inclusion)


def test_schemes_prefer_what_they_name() -> None:
    """By verdict all 20 wrong ones among 40 others; by doubt the uncertain likelier by the ratio of their sizes."""
    by_verdict = sample_answers(NAMES, 60, "verdict", SCORES)
    assert sum(SCORES[n] < 0.5 for n in by_verdict.drawn) == 20
    assert by_verdict.inclusion[0] == 1.0
    assert by_verdict.inclusion[2] == pytest.approx(40 / 380)
    by_doubt = sample_answers(NAMES, 60, "uncertain", SCORES)
    assert by_doubt.inclusion[1] / by_doubt.inclusion[2] == pytest.approx(0.5 / 0.1)


def test_same_examples_in_every_run() -> None:
    """The draw goes by names: other numbers, another order and a few other examples change little."""
    first = {NAMES[n] for n in sample_answers(NAMES, 100).drawn}
    other = {1000 - n: name for n, name in reversed(NAMES.items())}
    assert {other[n] for n in sample_answers(other, 100).drawn} == first
    fewer = {n: name for n, name in NAMES.items() if n >= 20}
    assert len({fewer[n] for n in sample_answers(fewer, 100).drawn} & first) > 85


@pytest.mark.parametrize("scheme", SCHEMES)
def test_chances_are_true(scheme: str) -> None:
    """Over 400 sets of other names each answer is drawn as often as its chance says."""
    small = {n: SCORES[n] for n in range(40)}
    counts = dict.fromkeys(small, 0)
    for seed in range(400):
        names = {n: f"{seed} {n}" for n in small}
        for n in sample_answers(names, 10, scheme, small).drawn:
            counts[n] += 1
    chances = sample_answers({n: str(n) for n in small}, 10, scheme, small).inclusion
    for n, chance in chances.items():
        assert abs(counts[n] / 400 - chance) < 4.5 * (chance * (1 - chance) / 400) ** 0.5 + 1e-9, (n, chance)


def test_wrong_draws_are_refused() -> None:
    """A scheme that does not exist is named with the nearest; nothing to draw and none wanted are errors."""
    with pytest.raises(UnknownName, match="nearest: random"):
        sample_answers(NAMES, 5, "randm")
    for names, n in ((NAMES, 0), ({}, 5)):
        with pytest.raises(UsageError, match="n must be at least 1"):
            sample_answers(names, n)
