"""Chunks against gold spans, by hand and against sets."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from tests.building import example, passage, response

from ragauge.core.errors import UsageError
from ragauge.core.example import Span
from ragauge.core.ranking import GoldOverlap
from ragauge.metrics.base import MetricResult, Ratio
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric
from ragauge.metrics.spans.span_coverage import compute_attainable, merge_spans, take_first


def places(spans: tuple[Span, ...] | list[Span]) -> set[tuple[str, int]]:
    return {(span.doc_id, n) for span in spans for n in range(span.start, span.end)}


def drawn(rng: Random, chunks: int = 6) -> GoldOverlap:
    def span() -> Span:
        start = rng.randint(0, 30)
        return Span(rng.choice("ab"), start, start + rng.randint(1, 12))

    gold = merge_spans([span() for _ in range(rng.randint(1, 3))])
    index = [span() for _ in range(chunks)]
    touching = tuple(one for one in index if places([one]) & places(gold))
    return GoldOverlap(gold, tuple(rng.sample(index, len(index))), touching)


def value(name: str, found: GoldOverlap) -> float | None:
    return MetricResult.of(parse_metric(name).value(found)).value


@pytest.mark.parametrize("seed", range(40))
def test_values_are_those_of_sets(seed: int) -> None:
    """Every span metric at cutoffs and budgets equals its definition over sets of tokens, counted one by one."""
    found = drawn(Random(seed))
    gold = places(found.gold)
    for tail, chunks in (
        ("", found.retrieved),
        ("@2", found.retrieved[:2]),
        (":budget=9", take_first(found.retrieved, None, 9, "cut")),
    ):
        name, at = (tail, "") if tail.startswith(":") else ("", tail)
        held, length = gold & places(list(chunks)), sum(one.end - one.start for one in chunks)
        assert value(f"token_recall{name}{at}", found) == len(held) / len(gold)
        assert value(f"token_precision{name}{at}", found) == len(held) / length
        assert value(f"token_precision:overlap=merge{name}{at}", found) == len(held) / len(places(list(chunks)))
        assert value(f"token_iou{name}{at}", found) == len(held) / (length + len(gold - held))
    union = places(found.touching or ())
    assert value("precision_omega", found) == len(gold & union) / len(gold | union)


@pytest.mark.parametrize("seed", range(40))
def test_attainable_is_the_best_of_all_choices(seed: int) -> None:
    """Attainable recall is the best over every choice of chunks, is never below recall, and says when it is a bound."""
    rng = Random(seed)
    found = drawn(rng)
    chunks, gold = found.touching or (), places(found.gold)
    choices = [list(one) for n in range(len(chunks) + 1) for one in combinations(chunks, n)]
    for k in (1, 2):
        reached = max(len(gold & places(one)) for one in choices if len(one) <= k)
        assert compute_attainable(found, k, None, "cut") == (reached, True)
    whole = max(len(gold & places(one)) for one in choices if sum(c.end - c.start for c in one) <= 9)
    assert compute_attainable(found, None, 9, "whole") == (whole, True)
    many = drawn(rng, chunks=40)
    for name in ("@3", ":budget=15", ":budget=15:fill=whole"):
        assert (value(f"attainable_recall{name}", many) or 0) >= (value(f"token_recall{name}", many) or 0)
    assert compute_attainable(many, 2, None, "cut")[1] is (len(many.touching or ()) <= 12)


def test_fill_cuts_or_leaves_out() -> None:
    """A budget cuts the last chunk to equal lengths, or leaves it out; what is too long for it gives nothing."""
    chunks = [Span("d", 0, 6), Span("d", 8, 14), Span("d", 20, 22)]
    assert take_first(chunks, None, 9, "cut") == [Span("d", 0, 6), Span("d", 8, 11)]
    assert take_first(chunks, None, 9, "whole") == [Span("d", 0, 6)]
    assert take_first(chunks, None, 3, "whole") == []
    found = GoldOverlap((Span("d", 0, 4),), tuple(chunks))
    assert parse_metric("token_precision:budget=3:fill=whole").value(found) == Ratio(0, 0)
    assert parse_metric("token_iou:budget=3:fill=whole").value(found) == Ratio(0, 4)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("token_recall:budget=9@5", "cannot be combined"),
        ("token_recall:unit=char:budget=9", "a budget counts tokens"),
        ("token_iou:fill=whole", "needs a budget"),
    ],
)
def test_parameters_that_do_not_go_together(name: str, told: str) -> None:
    """A cutoff with a budget, a budget of characters, and a way to fill no budget are errors that say so."""
    with pytest.raises(UsageError, match=told):
        parse_metric(name)


def test_ordinary_responses_are_counted_in_characters() -> None:
    """Characters are read from the passages' spans; without spans, gold or tokens the reason is told."""
    asked = replace(example("A fact."), gold_spans=(Span("d1", 5, 15), Span("d1", 10, 20)))
    with_spans = response([passage("d1", "x", span=Span("d1", 0, 10)), passage("d1", "y", span=Span("d1", 30, 40))])

    def found(name: str, facts: Facts) -> tuple[str, float | None, str]:
        result = measure_metric(parse_metric(name), facts)
        return result.status, result.value, result.reason

    assert found("token_recall:unit=char@1", Facts(asked, with_spans)) == ("scored", 5 / 15, "")
    assert "token counts of the documents are not available" in found("token_recall@1", Facts(asked, with_spans))[2]
    assert "index are not available" in found("precision_omega:unit=char", Facts(asked, with_spans))[2]
    without = Facts(asked, response([passage("d1", "x")]))
    assert "are not recorded (span)" in found("token_iou:unit=char", without)[2]
    assert found("token_iou:unit=char", Facts(example("A fact."), with_spans))[0] == "not_applicable"
    failed = Facts(asked, replace(with_spans, error="boom"))
    assert found("token_recall:unit=char", failed) == ("failed", None, "the system failed: boom")
