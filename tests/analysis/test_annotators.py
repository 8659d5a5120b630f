"""People among themselves, and a judge among them: weighted kappa, the ceiling, the alternative-annotator test."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ragauge.core.errors import GateFailed, NotEnoughData, UsageError
from ragauge.core.facts import SupportLabel
from ragauge.core.human_labels import TWO_LABELS, LabeledAnswer, LabeledPart
from ragauge.labels.check.verb import require_kappa
from ragauge.readers.label_rows import read_labeled_answers
from ragauge.scores.agreement import compute_kappa
from ragauge.scores.annotators import compute_alphas, compute_ceiling, list_annotator_labels, run_alternative_tests
from ragauge.scores.judge_check import JudgeAnswers, PartVerdict, build_report
from ragauge.stats.agreement import alternative_annotator, benjamini_yekutieli

SCALE: tuple[SupportLabel, ...] = ("supported", "contradicted", "not_in_context")


def labelled(
    items: int, annotators: int, right: float, seed: int = 0
) -> tuple[list[dict[str, SupportLabel]], list[SupportLabel]]:
    """Labels of people who each say what is true with a chance, else anything; and what is true."""
    draws = random.Random(seed)
    truth = [draws.choice(SCALE) for _ in range(items)]
    return [
        {f"a{n}": one if draws.random() < right else draws.choice(SCALE) for n in range(annotators)} for one in truth
    ], truth


def test_weighted_kappa_by_hand() -> None:
    """By hand po = (1 + 0.5 + 1 + 0.5)/4 = 0.75, pe = 0.5625, so kappa = 0.1875/0.4375; far misses cost more."""
    found = compute_kappa([0, 1, 2, 2], [0, 2, 2, 1], 3, in_order=True)
    assert found.value == pytest.approx(0.1875 / 0.4375)
    near, far = (compute_kappa([0, 1, 2] * 20, [one, 1, 2] * 20, 3, in_order=True) for one in (1, 2))
    assert near.value is not None
    assert far.value is not None
    assert near.value > far.value


def test_weighted_kappa_has_the_spread_of_resamples() -> None:
    """Its interval is as wide as the standard deviation over 400 resamples says, within a tenth."""
    draws = np.random.default_rng(3)
    a = draws.integers(0, 3, 300)
    b = np.where(draws.random(300) < 0.6, a, draws.integers(0, 3, 300))
    found = compute_kappa(a.tolist(), b.tolist(), 3, in_order=True)
    rows = draws.integers(0, 300, (400, 300))
    values = [compute_kappa(a[one].tolist(), b[one].tolist(), 3, in_order=True).value or 0.0 for one in rows]
    assert found.interval is not None
    assert (found.interval.high - found.interval.low) / 2 / 1.96 == pytest.approx(np.std(values), rel=0.1)


def test_the_alternative_annotator_test_is_weighted() -> None:
    """A judge that is right on 40 items and wrong on 60 may stand in where the 40 count 20 times as much, not else."""
    agreed = [{"a": "supported", "b": "supported", "c": "supported" if n % 7 else "contradicted"} for n in range(100)]
    verdicts = ["supported" if n < 40 else "contradicted" for n in range(100)]
    plain = run_alternative_tests(agreed, verdicts)
    weighted = run_alternative_tests(agreed, verdicts, [20.0] * 40 + [1.0] * 60)
    assert not any(test.passes for test in plain)
    assert weighted[-1].advantage > 0.9 > 0.6 > plain[-1].advantage
    assert weighted[-1].passes
    assert run_alternative_tests(agreed, verdicts, [3.0] * 100) == pytest.approx(plain)


def test_people_are_told_apart_by_name_not_by_place() -> None:
    """Labels of three people in an order that changes from row to row give what they give in one order, by their names.

    An object of names, a column beside the list, and null for a label that was not given say the same; places differ.
    """
    draws = np.random.default_rng(5)
    said = [
        {"ann": truth, "bob": truth if draws.random() < 0.9 else 1 - truth, "cem": int(draws.integers(0, 2))}
        for truth in map(int, draws.integers(0, 2, 60))
    ]
    verdicts = ["supported" if draws.random() < 0.4 or one["ann"] else "not_supported" for one in said]
    shuffled = [list(draws.permutation(list(one))) for one in said]

    def found_of(labels: Any, more: Any = lambda _: {}) -> Any:
        texts = [{"claim": f"Hub {n} is blue.", "passages": ["A hub."]} for n in range(len(said))]
        rows = [text | {"label": labels(n), **more(n)} for n, text in enumerate(texts)]
        people = list_annotator_labels(list(read_labeled_answers(rows)), TWO_LABELS)
        return run_alternative_tests(people, verdicts), compute_alphas(people, TWO_LABELS)

    wanted = found_of(lambda n: [said[n][name] for name in ("ann", "bob", "cem")])
    by_name = found_of(lambda n: {name: said[n][name] for name in shuffled[n]})
    beside = found_of(lambda n: [said[n][name] for name in shuffled[n]], lambda n: {"annotators": shuffled[n]})
    gaps = found_of(lambda n: [said[n].get(name) for name in ("ann", "nobody", "bob", "cem")])
    assert by_name == beside == gaps == wanted
    assert found_of(lambda n: [said[n][name] for name in shuffled[n]])[0] != wanted[0]


def test_alternative_annotator_as_by_scipy() -> None:
    """Winning rate and advantage equal those that SciPy's t test and Benjamini and Yekutieli's control give."""
    people, _ = labelled(80, 4, 0.7, 1)
    _, judge = labelled(80, 1, 1.0, 1)
    for epsilon in (0.1, 0.2):
        p_values, advantages = [], []
        for name in people[0]:
            d, better = [], []
            for said, verdict in zip(people, judge, strict=True):
                others = [label for other, label in said.items() if other != name]
                mine, its = others.count(said[name]), others.count(verdict)
                d.append(float(mine >= its) - float(its >= mine))
                better.append(its >= mine)
            p_values.append(float(stats.ttest_1samp(d, epsilon, alternative="less").pvalue))
            advantages.append(np.mean(better))
        found = alternative_annotator(people, judge, epsilon)
        assert found is not None
        rejected = stats.false_discovery_control(p_values, method="by") <= 0.05
        assert found.winning == pytest.approx(rejected.mean())
        assert found.advantage == pytest.approx(np.mean(advantages))
        assert (found.annotators, found.items) == (4, 80)
    assert benjamini_yekutieli(p_values) == pytest.approx(stats.false_discovery_control(p_values, method="by"))


def test_good_judge_stands_in_and_a_bad_one_does_not() -> None:
    """A judge that says the truth replaces people who are right in 70 %; one that guesses replaces nobody."""
    people, truth = labelled(120, 3, 0.7)
    guesses = [random.Random(n).choice(SCALE) for n in range(120)]
    assert all(test.passes for test in run_alternative_tests(people, truth))
    assert not any(test.passes or test.winning for test in run_alternative_tests(people, guesses))
    assert run_alternative_tests(people[:29], truth[:29]) == ()
    two, truth = labelled(120, 2, 0.7)
    assert run_alternative_tests(two, truth) == ()
    with pytest.raises(UsageError, match="differ in length: 120 and 119"):
        alternative_annotator(people, truth[:119], 0.1)


def test_ceiling_is_people_by_people() -> None:
    """Each label is held against what most others say: of (s, s, c) two of three agree; a tie of others is left out."""
    people = [{"a": "supported", "b": "supported", "c": "contradicted"}]
    found = compute_ceiling(people * 40, SCALE, list(range(40)))
    assert found is not None
    # a: others s, c are split; b likewise; c: others both say s, and c says contradicted
    assert (found.n, found.accuracy.value) == (40, 0.0)
    many, _ = labelled(300, 5, 0.8)
    agreed = compute_ceiling(many, SCALE, list(range(300)))
    assert agreed is not None
    assert agreed.accuracy.value == pytest.approx(0.86, abs=0.03)
    assert compute_ceiling([{"a": "supported"}], SCALE, [0]) is None


def checked(judge_right: float, items: int = 90) -> Any:
    """A judge's check on parts that three annotators labelled, one a row."""
    people, truth = labelled(items, 3, 0.9)
    draws = random.Random(5)
    rows = [
        LabeledAnswer(f"q{n}", f"q{n}", ("p",), "a", (LabeledPart(0, 1, tuple(said.values()), tuple(said)),))
        for n, said in enumerate(people)
    ]
    verdicts = [(PartVerdict(one if draws.random() < judge_right else draws.choice(SCALE)),) for one in truth]
    return build_report(rows, [JudgeAnswers("openai:m", "", "openai:m#1", tuple(verdicts))])


def test_report_holds_people_and_judge_together() -> None:
    """The report has the ceiling over the same parts, weighted kappa, and the test; names of annotators are kept."""
    found = checked(0.9)
    assert found.ceiling is not None
    assert found.judges[0].whole.weighted is not None
    assert [test.epsilon for test in found.judges[0].alternatives] == [0.1, 0.15, 0.2]
    named = LabeledPart(0, 1, ("supported", "contradicted"), ("x", "y"))
    rows = [LabeledAnswer("q", "q", (), "a", (named, LabeledPart(1, 2, ("supported",))))]
    assert list_annotator_labels(rows, SCALE) == [{"x": "supported", "y": "contradicted"}, {"1": "supported"}]


def test_least_kappa_decides() -> None:
    """Wholly below fails, an interval that holds it is not enough data, wholly above passes; 1 cannot be asked for."""
    require_kappa(checked(1.0), 0.5, is_named=True)
    with pytest.raises(GateFailed, match=r"kappa is below 0.5: openai:m \["):
        require_kappa(checked(0.0), 0.5, is_named=True)
    with pytest.raises(NotEnoughData, match=r"it is unclear whether kappa reaches 0.7"):
        require_kappa(checked(0.7, 30), 0.7, is_named=True)
    with pytest.raises(UsageError, match="between 0 and 1"):
        require_kappa(checked(1.0), 1.0, is_named=True)
