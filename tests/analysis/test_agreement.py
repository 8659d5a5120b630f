"""Agreement statistics: golden values of other implementations, and arithmetic by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from math import sqrt
from typing import Any

import pytest

from ragauge.core.facts import AnswerFacts, Claim
from ragauge.core.human_labels import LabeledAnswer, LabeledPart
from ragauge.scores.agreement import (
    AgreementFigure,
    compare_accuracy,
    compute_agreement,
    compute_fleiss_kappa,
    compute_kappa,
)
from ragauge.scores.judge_check import JudgeAnswers, PartVerdict, build_report, list_part_verdicts

Table = list[list[int]]


def pairs(table: Table) -> tuple[list[int], list[int]]:
    """Two lists of labels that have this table."""
    cells = [(a, b) for a, row in enumerate(table) for b, count in enumerate(row) for _ in range(count)]
    return [a for a, _ in cells], [b for _, b in cells]


# scikit-learn 1.9.1: cohen_kappa_score, accuracy_score, balanced_accuracy_score; statsmodels 0.15.0:
# cohens_kappa(table).kappa_low and .kappa_upp, which are not clipped
GOLDEN = [
    ([[20, 5], [10, 15]], 0.4, 0.7, 0.7, 0.151092290476661, 0.6489077095233389),
    (
        [[45, 3, 2], [4, 20, 6], [8, 5, 27]],
        0.6390977443609023,
        0.7666666666666667,
        0.7472222222222222,
        0.524205900448891,
        0.7539895882729137,
    ),
    ([[9, 0], [1, 90]], 0.9418604651162791, 0.99, 0.9945054945054945, 0.8286720456030531, 1.0),
    ([[0, 6], [4, 0]], -0.9230769230769229, 0.0, 0.0, -1.0, -0.4739107768467473),
]


@pytest.mark.parametrize(("table", "value", "accuracy", "balanced", "low", "high"), GOLDEN)
def test_equals_other_implementations(
    table: Table, value: float, accuracy: float, balanced: float, low: float, high: float
) -> None:
    """Kappa with its interval, accuracy and balanced accuracy are those of scikit-learn and statsmodels."""
    human, judge = pairs(table)
    names = "abc"[: len(table)]
    found = compute_agreement([names[n] for n in human], [names[n] for n in judge], names)
    assert found.table == tuple(map(tuple, table))
    assert found.kappa.value == pytest.approx(value, abs=1e-12)
    assert found.accuracy.value == pytest.approx(accuracy, abs=1e-12)
    assert found.balanced_accuracy.value == pytest.approx(balanced, abs=1e-12)
    assert found.kappa.interval is not None
    assert (found.kappa.interval.low, found.kappa.interval.high) == pytest.approx((low, high), abs=1e-9)
    assert found.balanced_accuracy.interval is not None
    assert found.balanced_accuracy.interval.low < found.balanced_accuracy.interval.high


def test_kappa_interval_covers() -> None:
    """Over 1,500 seeded samples of 80 pairs the 95 % interval holds the true kappa in 93 to 97 % of them."""
    shares = [0.5, 0.1, 0.1, 0.3]  # table [[.5, .1], [.1, .3]]: po .8, pe .6² + .4² = .52, kappa .28 / .48
    true, draw = 0.28 / 0.48, random.Random(5)
    hits = 0
    for _ in range(1_500):
        cells = draw.choices(range(4), shares, k=80)
        found = compute_kappa([cell // 2 for cell in cells], [cell % 2 for cell in cells], 2).interval
        assert found is not None
        hits += found.low <= true <= found.high
    assert 0.93 <= hits / 1_500 <= 0.97


def test_clusters_widen_the_interval() -> None:
    """The same pairs four times over, said to be of one answer each, carry the interval of the pairs once."""
    human, judge = pairs([[20, 5], [10, 15]])
    once = compute_kappa(human, judge, 2).interval
    groups = [n for n in range(50) for _ in range(4)]
    four = compute_kappa([human[n] for n in groups], [judge[n] for n in groups], 2, groups).interval
    alone = compute_kappa([human[n] for n in groups], [judge[n] for n in groups], 2).interval
    assert once is not None
    assert four is not None
    assert alone is not None
    assert (four.low, four.high) == pytest.approx((once.low, once.high))
    assert alone.high - alone.low == pytest.approx((once.high - once.low) / 2)


def test_full_agreement_has_a_width() -> None:
    """All alike: kappa 1, and up from the least that labels allow; one rare item of 100 tells little, not less than 0.

    By hand, n = 20 of two even labels: 20 (0.5 (1 - k) + 0.25 (1 - k)² / (0.5 + 0.5 k)) = 10 (1 - k) · 2 / (1 + k) =
    1.96² = 3.8415, so k = (20 - 3.8415) / (20 + 3.8415) = 0.6777.
    """
    found = compute_kappa([0, 1] * 10, [0, 1] * 10, 2)
    assert found.value == 1.0
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((0.6777, 1.0), abs=1e-4)
    lows = []
    for rare in (1, 3, 10):
        ends = compute_kappa([0] * rare + [1] * (100 - rare), [0] * rare + [1] * (100 - rare), 2).interval
        assert ends is not None
        lows.append(ends.low)
    assert lows == pytest.approx([0.237, 0.535, 0.808], abs=1e-3)
    apart = compute_kappa([0, 1] * 10, [1, 0] * 10, 2)
    assert apart.interval is not None
    assert apart.interval.low == -1.0 < apart.interval.high


def test_full_agreement_counts_clusters() -> None:
    """Twenty parts of ten answers tell what ten do; of one question with its passages there is no interval, and why."""
    even, groups = [0, 1] * 10, [n // 2 for n in range(20)]
    assert compute_kappa(even, even, 2, groups).interval == compute_kappa([0, 1] * 5, [0, 1] * 5, 2).interval
    alone = compute_kappa(even, even, 2, [0] * 20)
    assert (alone.value, alone.interval, alone.reason) == (1.0, None, "all items share one question and its passages")


@pytest.mark.parametrize(("n", "rare", "true"), [(20, 0.2, 0.8), (50, 0.1, 0.9), (100, 0.05, 0.9), (100, 0.05, 0.95)])
def test_intervals_cover_where_most_agree_on_all(n: int, rare: float, true: float) -> None:
    """Of 400 seeded samples with a defined kappa 95 % or more hold it, where more than 10 % are full agreements."""
    draw = random.Random(n)
    room = rare * (1 - rare)
    shares = [rare**2 + true * room, (1 - true) * room, (1 - true) * room, (1 - rare) ** 2 + true * room]
    hits, full, defined = 0, 0, 0
    for _ in range(400):
        cells = draw.choices(range(4), shares, k=n)
        found = compute_kappa([cell // 2 for cell in cells], [cell % 2 for cell in cells], 2)
        if found.interval is not None:
            defined += 1
            full += found.value == 1.0
            hits += found.interval.low <= true <= found.interval.high
    assert full / defined > 0.1
    assert hits / defined >= 0.95


@pytest.mark.parametrize(("human", "judge"), [([], []), ([1, 1, 1], [1, 1, 1])])
def test_kappa_is_undefined_where_chance_explains_all(human: list[int], judge: list[int]) -> None:
    """Nothing, or one label only on both sides, has no kappa and says why; it is neither 0 nor 1."""
    found = compute_kappa(human, judge, 2)
    assert found.value is None
    assert found.reason


def test_fleiss_equals_statsmodels() -> None:
    """Fleiss' kappa of 14 annotators an item is statsmodels 0.15.0's fleiss_kappa."""
    table = [[0, 0, 14], [0, 2, 12], [5, 5, 4], [1, 13, 0], [7, 7, 0], [3, 9, 2]]
    assert compute_fleiss_kappa(table).value == pytest.approx(0.4173076923076923, abs=1e-12)
    assert compute_fleiss_kappa([*table, [1, 0, 0]]).value == pytest.approx(0.4173076923076923)
    assert compute_fleiss_kappa([[1, 0], [0, 1]]).value is None


def test_difference_is_paired() -> None:
    """Two judges right on 8 and 6 of 10 items differ by 0.2; the interval is that of the pairs that changed."""
    human = ["y"] * 10
    new, base = ["y"] * 8 + ["n"] * 2, ["y"] * 6 + ["n"] * 4
    found = compare_accuracy(human, new, base)
    assert found.value == pytest.approx(0.2)
    # Agresti and Min: (2.5 - 0.5) / 12 = 1/6, half width 1.96 sqrt((3/12 - 1/36) / 12)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(1 / 6 - 1.959964 * sqrt((3 / 12 - 1 / 36) / 12), abs=1e-6)


def labelled(*labels: Any, line: int = 1, **segments: str) -> LabeledAnswer:
    """A row of claims of ten characters each, with the labels of its annotators."""
    parts = tuple(LabeledPart(11 * n, 11 * n + 10, one) for n, one in enumerate(labels))
    return LabeledAnswer(
        f"q{line}", "Q?", ("A passage.",), "\n".join(["One claim."] * len(labels)), parts, segments, line
    )


def said(*verdicts: tuple[PartVerdict, ...], name: str = "local") -> JudgeAnswers:
    """What a judge said of some rows."""
    return JudgeAnswers(name, "", f"{name}:1", verdicts)


def test_a_part_has_the_worst_label_of_its_claims() -> None:
    """Contradicted before not in context before supported; a claim without a verdict leaves none, no claim neither."""
    claims = (
        Claim(1, "a", 0, 10, supporting=(1,)),
        Claim(2, "b", 0, 10, p=0.2),
        Claim(3, "c", 11, 21, contradicting=(1,)),
        Claim(4, "d", 11, 21),
        Claim(5, "e", 22, 32, supporting=(1,)),
        Claim(6, "f", 22, 32, status="failed", reason="x"),
    )
    row = labelled(*[("supported",)] * 4)
    found = list_part_verdicts(row, AnswerFacts(claims, "fully", False))
    assert [one.label for one in found] == ["not_in_context", "contradicted", None, None]
    assert [one.reason for one in found[2:]] == ["x", "it finds nothing to check"]
    assert (found[0].claim, found[0].p) == ("b", 0.2)
    assert {one.reason for one in list_part_verdicts(row, None, "no reply")} == {"no reply"}


def test_annotators_count_by_majority() -> None:
    """Two of three decide; one against one is left out and counted; Fleiss' kappa is over those with two or more."""
    rows = [
        labelled(("supported", "supported", "not_supported")),
        labelled(("supported", "not_supported"), line=2),
        labelled(("not_supported",), line=3),
    ]
    yes, no = PartVerdict("supported"), PartVerdict("contradicted")
    found = build_report(rows, [said((yes,), (yes,), (no,))])
    assert (found.labels, found.split, found.human) == (
        ("supported", "not_supported"),
        1,
        {"supported": 1, "not_supported": 1},
    )
    assert found.judges[0].whole.n == 2
    assert found.judges[0].whole.accuracy.value == 1.0
    # items (2, 1) and (1, 1): P = (1/3 + 0) / 2, shares 3/5 and 2/5, E = 13/25
    assert found.annotators is not None
    assert found.annotators.value == pytest.approx((1 / 6 - 13 / 25) / (12 / 25))


def test_three_labels_where_people_used_three() -> None:
    """The table has three labels where people told contradicted from not in context, and two beside it."""
    rows = [labelled(("contradicted",)), labelled(("not_in_context",), line=2), labelled(("supported",), line=3)]
    found = build_report(
        rows, [said((PartVerdict("not_in_context"),), (PartVerdict("not_in_context"),), (PartVerdict("supported"),))]
    )
    assert found.labels == ("supported", "contradicted", "not_in_context")
    assert found.judges[0].whole.table == ((1, 0, 0), (0, 0, 1), (0, 0, 1))
    assert found.judges[0].whole.accuracy.value == pytest.approx(2 / 3)
    assert found.judges[0].supported.accuracy.value == 1.0


def test_worst_first_and_segments() -> None:
    """What people called unsupported and the judge let pass comes first, surest first; segments are counted apart."""
    rows = [
        labelled(("supported",), line=1, kind="a"),
        labelled(("not_supported",), line=2, kind="a"),
        labelled(("not_supported",), line=3, kind="b"),
        labelled(("supported",), line=4, kind="b"),
    ]
    passed = [PartVerdict("supported", p=0.6), PartVerdict("supported", p=0.9)]
    verdicts = [PartVerdict("contradicted", p=0.1), *passed, PartVerdict(None, "x")]
    found = build_report(rows, [said(*[(one,) for one in verdicts])]).judges[0]
    assert [one.row.line for one in found.differs] == [3, 2, 1]
    assert found.without == {"x": 1}
    assert {value: over.n for value, over in found.segments["kind"].items()} == {"a": 2}


def test_a_judge_beside_another_has_the_figures_of_its_own_check() -> None:
    """A judge that knows no kinds is read so alone: the other keeps three labels, and both what they have alone."""
    rows = [
        labelled((one, other), line=n)
        for n, (one, other) in enumerate(
            [
                ("supported",) * 2,
                ("contradicted",) * 2,
                ("not_in_context", "contradicted"),
                ("supported",) * 2,
                ("not_in_context",) * 2,
            ]
            * 6
        )
    ]
    kinds = said(*[(PartVerdict(row.parts[0].labels[0]),) for row in rows])
    plain = said(*[(PartVerdict("supported" if n % 4 else "not_supported"),) for n in range(len(rows))], name="plain")
    both = build_report(rows, [kinds, plain])
    assert both.judges == (build_report(rows, [kinds]).judges[0], build_report(rows, [plain]).judges[0])
    assert [len(judge.whole.labels) for judge in both.judges] == [3, 2]
    # annotators who differ on the kind are split among three labels, and say not supported together among two
    assert [judge.whole.n for judge in both.judges] == [24, 30]
    assert (both.labels, both.split) == (("supported", "contradicted", "not_in_context"), 6)
    assert len(both.pairs[0].agreement.labels) == 2


def test_parts_of_one_question_and_its_passages_are_one_cluster() -> None:
    """Rows of one claim each, ten to a question, have the interval of their questions, not that of a hundred rows."""
    rows = [
        LabeledAnswer(f"r{n}", f"Q{n // 10}?", ("P.",), f"Claim {n}.", (LabeledPart(0, 8, ("supported",)),))
        for n in range(100)
    ]
    verdicts = [(PartVerdict("supported" if n // 10 % 2 else "not_in_context"),) for n in range(100)]
    clustered, alone = (
        build_report(each, [said(*verdicts)]).judges[0].whole.accuracy.interval
        for each in (rows, [replace(row, query=row.query_id) for row in rows])
    )
    assert clustered is not None
    assert alone is not None
    assert clustered.high - clustered.low > 2 * (alone.high - alone.low)


def test_one_item_tells_nothing_of_chance() -> None:
    """Of one item neither kappa nor alpha is 0: neither is defined, and each says why."""
    from ragauge.scores.annotators import compute_unit_alphas

    assert compute_kappa([0], [1], 2) == AgreementFigure(None, reason="one item")
    assert compute_unit_alphas([[0.0, 1.0], [1.0]], ("nominal",)) == {
        "nominal": AgreementFigure(None, reason="one item")
    }
    assert compute_kappa([0, 1], [0, 1], 2).value == 1.0
