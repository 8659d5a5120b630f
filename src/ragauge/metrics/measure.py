"""Metrics on one example, and the bounds that missing verdicts leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from math import prod
from typing import Any, Literal

from ragauge.core.facts import Claim, Rating, ReferenceClaim, SimilarityFacts
from ragauge.core.messages import format_count
from ragauge.metrics.base import Failed, Metric, MetricResult, Needs, NotApplicable, NotRead
from ragauge.metrics.facts import Facts, build_blank, build_system_failure, resolve_fact
from ragauge.metrics.reasons import VERDICTS_MISSING

MAX_TRIED = 64  # completions tried one by one where a search gives the same bounds
MAX_COMPLETIONS = 2_000  # and where it does not
MAX_SWEEPS = 3

BITS = (False, True)
ENDS = (0.0, 1.0)
SCALARS: Mapping[str, tuple[Any, ...]] = {
    "verify_answer.refuse": BITS,
    "verify_answer.claimed": BITS,
    "verify_answer.address": ("no", "partly", "fully"),
    "verify_answer.addressed": ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)),
    "similarity.cosine": (SimilarityFacts(-1.0), SimilarityFacts(1.0)),
}
MARKS: Mapping[str, tuple[Any, ...]] = {  # facts with one mark an item: what a None among them could have been
    "verify_answer.used": BITS,
    "verify_reference.useful": BITS,
    "rate_passages.relevant": BITS,
    "rate_sentences.relevant": BITS,
    "rate_passages.chance": ENDS,
    "rate_sentences.chance": ENDS,
    "rate_answer.chance": ENDS,
    "agree.answer": ("agrees", "contradicts", "absent"),
    "agree.reference": BITS,
    "agree.agrees": ENDS,
    "agree.states": ENDS,
    "cover_aspects.met": BITS,
    "cover_criteria.met": BITS,
    "guess_questions.cosines": (-1.0, 1.0),
}
ITEMS = frozenset(
    {"verify_answer.support", "verify_reference.claims", "rate_passages.ratings", "rate_sentences.ratings"}
)
# facts about the same items, in the same order: their gaps are filled together
ABOUT: Mapping[str, str] = {
    "verify_answer.support": "claim",
    "agree.answer": "claim",
    "agree.agrees": "claim",
    "verify_reference.claims": "reference claim",
    "agree.reference": "reference claim",
    "agree.states": "reference claim",
    "verify_answer.used": "passage",
    "verify_reference.useful": "passage",
    "rate_passages.relevant": "passage",
    "rate_passages.chance": "passage",
}


@dataclass(frozen=True, slots=True)
class Gap:
    """Missing verdicts about one item: (argument, index) of each, and all that they could have been."""

    places: tuple[tuple[str, int | None], ...]
    options: tuple[tuple[Any, ...], ...]


def has_gap(fact: str, value: Any) -> bool:
    """Whether a resolved fact lacks a verdict."""
    if fact in MARKS:
        return None in value
    return fact in ITEMS and any(is_gap(item) for item in value)


def compute_bounds(metric: Metric, values: Mapping[str, Any], facts: Facts) -> MetricResult:
    """The metric's result where a fact failed or lacks verdicts: scored if they cannot matter, else bounded."""
    needs, known_values, reason = metric.needs, dict(values), ""
    for argument, value in values.items():
        if isinstance(value, Failed):
            reason = reason or value.reason
            known_values[argument] = None if needs[argument] in SCALARS else build_blank(needs[argument], facts)
            if known_values[argument] is None and needs[argument] not in SCALARS:
                return MetricResult.failed(reason, metric.range)
    n_passages = len(facts.response.passages or ())
    gaps = _find_gaps(needs, known_values, n_passages, every_subset=not metric.separable)
    if not reason:
        reason = VERDICTS_MISSING.build_reason(format_count(sum(len(gap.places) for gap in gaps), "verdict"))
    completion = _Completion(metric, known_values, gaps)
    if not gaps:
        return completion.at(())
    size = prod(len(gap.options) for gap in gaps)
    if 0 < size <= (MAX_TRIED if metric.separable else MAX_COMPLETIONS):
        choices = product(*(range(len(gap.options)) for gap in gaps))
        return _combine_results([completion.at(choice) for choice in choices], metric, reason)
    if metric.separable:
        return _combine_results(list(_search_bounds(completion)), metric, reason, all_tried=False)
    return MetricResult.failed(reason, metric.range)


def _combine_results(
    results: Sequence[MetricResult], metric: Metric, reason: str, *, all_tried: bool = True
) -> MetricResult:
    """One result of all completions: the common one, or the bounds."""
    scored = [result.value for result in results if result.value is not None]
    if len({result.status for result in results}) == 1 and (not scored or min(scored) == max(scored)):
        return results[0]
    if not scored or (len(scored) < len(results) and not all_tried):
        return MetricResult.failed(reason, metric.range)
    return MetricResult("failed", low=min(scored), high=max(scored), reason=reason)


class _Completion:
    """Computes the metric with its gaps filled in some way."""

    def __init__(self, metric: Metric, known_values: Mapping[str, Any], gaps: Sequence[Gap]) -> None:
        open_arguments = {argument for gap in gaps for argument, index in gap.places if index is not None}
        self.metric, self.gaps = metric, gaps
        self.known = {name: list(value) if name in open_arguments else value for name, value in known_values.items()}
        self.open = open_arguments

    def at(self, choice: Sequence[int]) -> MetricResult:
        """The result with each gap filled by its option of that number."""
        filled = self.known
        for gap, number in zip(self.gaps, choice, strict=True):
            for (argument, index), option in zip(gap.places, gap.options[number], strict=True):
                if index is None:
                    filled[argument] = option
                else:
                    filled[argument][index] = option
        arguments = {name: tuple(value) if name in self.open else value for name, value in filled.items()}
        return MetricResult.of(self.metric.value(**arguments))


def _search_bounds(completion: _Completion) -> Iterator[MetricResult]:
    """Results among which are the least and the greatest of a separable metric."""
    last = [len(gap.options) - 1 for gap in completion.gaps]
    size = len(last)
    starts = {
        tuple(last[i] if (i < cut) is from_top else 0 for i in range(size))
        for cut in range(size + 1)
        for from_top in (True, False)
    }
    measured = {start: completion.at(start) for start in sorted(starts)}
    yield from measured.values()
    if any(result.value is None for result in measured.values()):
        return
    for sign in (1.0, -1.0):
        best = max(measured, key=lambda start: sign * (measured[start].value or 0.0))
        yield from _climb_gaps(completion, list(best), sign)


def _climb_gaps(completion: _Completion, choice: list[int], sign: float) -> Iterator[MetricResult]:
    """Improves one gap after another until nothing helps."""
    current = completion.at(choice)
    for _ in range(MAX_SWEEPS):
        previous = current.value
        for i, gap in enumerate(completion.gaps):
            best_number = choice[i]
            for number in range(len(gap.options)):
                choice[i] = number
                result = completion.at(choice)
                if result.value is None or current.value is None:
                    yield result
                    return
                if sign * result.value > sign * current.value:
                    current, best_number = result, number
            choice[i] = best_number
        if current.value == previous:
            break
    yield current


def is_gap(item: Any) -> bool:
    """Whether an item lacks a verdict."""
    match item:
        case Claim():
            return item.status == "failed"
        case ReferenceClaim():
            return item.supporting is None
        case Rating():
            return item.relevant is None
    return item is None


def fill_gap(fact: str, item: Any) -> Any:
    """The last that an item without verdict could have been: it applies, or is supported."""
    return (MARKS[fact] if fact in MARKS else _list_options(item, 1, every_subset=False))[-1]


def _find_gaps(needs: Needs, known_values: Mapping[str, Any], n_passages: int, *, every_subset: bool) -> list[Gap]:
    """The gaps of all facts: those about one item together, lists in their order, single facts last."""
    parts_by_item: dict[tuple[str, int], list[tuple[tuple[str, int | None], Sequence[Any]]]] = {}
    singles: list[Gap] = []
    for argument, fact in needs.items():
        if fact in SCALARS and known_values[argument] is None:
            singles.append(Gap(((argument, None),), tuple((option,) for option in SCALARS[fact])))
        if fact not in MARKS and fact not in ITEMS:
            continue
        for index, item in enumerate(known_values[argument]):
            if is_gap(item):
                options = MARKS[fact] if fact in MARKS else _list_options(item, n_passages, every_subset)
                parts_by_item.setdefault((ABOUT.get(fact, fact), index), []).append(((argument, index), options))
    together = [
        Gap(tuple(index for index, _ in parts), tuple(product(*(options for _, options in parts))))
        for parts in parts_by_item.values()
    ]
    return together + singles


def _list_options(item: Any, n_passages: int, every_subset: bool) -> list[Any]:
    """What a missing verdict could have been, nothing supported first, everything supported last.

    A separable metric tells sets of passages apart by what a single passage or all of them show; any other metric
    is given every set, or none at all where that would be too many.
    """
    every = tuple(range(1, n_passages + 1))
    if isinstance(item, Rating):
        return [replace(item, relevant=False, p=None), replace(item, relevant=True, p=None)]
    if every_subset and (4 if isinstance(item, Claim) else 2) ** n_passages > MAX_COMPLETIONS:
        return []
    sets: list[tuple[int, ...]] = [(n,) for n in every] + ([every] if n_passages > 1 else [])
    if every_subset:
        sets = list(chain.from_iterable(combinations(every, size) for size in range(1, n_passages + 1)))
    if isinstance(item, ReferenceClaim):
        return [replace(item, supporting=numbers, p=None) for numbers in [(), *sets]]
    against = [(), *sets] if every_subset else [(), every[:1]] if every else [()]
    claim = replace(item, status="ok", supporting=(), contradicting=(), strength=None, joint=False, p=None)
    options = [replace(claim, contradicting=numbers) for numbers in against]
    for numbers in sets:
        wholly = every_subset or numbers == every
        for strength in ("implied", "direct") if wholly else ("direct",):
            supported = replace(claim, supporting=numbers, strength=strength)
            if every_subset and len(numbers) > 1:
                options += [replace(supported, joint=True, contradicting=others) for others in against]
            options += [replace(supported, contradicting=others) for others in (against[::-1] if wholly else [()])]
    return options


State = Literal["whole", "open", "absent", "unread"]
KnownFacts = dict[str, tuple[Any, State]]

# facts that functions of users get in plain types -> the fact that they are made of
PLAIN_FACTS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "response.plain_texts": ("response.texts", lambda passages: [passage.text or "" for passage in passages]),
    "set.reference": ("set.references", lambda texts: next(text for text in texts if text.strip())),
    "set.messages": ("set.history", lambda turns: [{"role": turn.role, "content": turn.text} for turn in turns]),
}


def measure_metric(metric: Metric, facts: Facts) -> MetricResult:
    """The metric's value for one example, or why there is none.

    not_applicable comes before failed, since no retry would help; a missing verdict that cannot change the value
    leaves it scored, otherwise low and high bound it. What a failed call took may be recorded in part: a stage, or a
    kind of tokens, that is not there is not known, so that failed.
    """
    return _measure_metric(metric, facts, {})


def measure_all(metrics: Sequence[Metric], facts: Facts) -> list[MetricResult]:
    """Every metric's value for one example, in order: as `measure_metric`, each fact resolved once for all of them."""
    facts_by_name: KnownFacts = {}
    return [_measure_metric(metric, facts, facts_by_name) for metric in metrics]


def _measure_metric(metric: Metric, facts: Facts, facts_by_name: KnownFacts) -> MetricResult:
    values, is_complete = find_values(metric, facts, facts_by_name)
    if isinstance(values, MetricResult):
        return values
    if not hasattr(metric, "value"):  # known by its scores
        return MetricResult.failed("the code that computes it is not loaded", metric.range)
    if not is_complete:
        return compute_bounds(metric, values, facts)
    result = MetricResult.of(metric.value(**values))
    if result.status == "not_applicable" and facts.response.error is not None:
        return MetricResult.failed(build_system_failure(facts).reason, metric.range)
    return result


def find_values(metric: Metric, facts: Facts, facts_by_name: KnownFacts) -> tuple[dict[str, Any] | MetricResult, bool]:
    """Argument -> its fact, and whether no verdict is missing among them; else why there is no value.

    Args:
        metric: to be computed.
        facts: about the example.
        facts_by_name: facts that are resolved already, by name; others are added.
    """
    values, is_complete = {}, True
    for argument, fact in metric.needs.items():
        evidence = facts_by_name.get(fact)
        if evidence is None:
            evidence = facts_by_name[fact] = _find_fact(fact, facts)
        values[argument], state = evidence
        if state == "absent" and argument in metric.optional:
            values[argument] = metric.optional[argument]
        elif state == "absent":
            return MetricResult("not_applicable", reason=values[argument].reason), True
        elif state == "unread":
            return MetricResult("not_read", reason=values[argument].reason), True
        elif state == "open":
            is_complete = False
    return values, is_complete


def _find_fact(fact: str, facts: Facts) -> tuple[Any, State]:
    source, read = PLAIN_FACTS.get(fact, (fact, None))
    value = resolve_fact(source, facts)
    if isinstance(value, NotApplicable):
        return value, "absent"
    if isinstance(value, NotRead):
        return value, "unread"
    if isinstance(value, Failed) or has_gap(fact, value):
        return value, "open"
    return value if read is None else read(value), "whole"
