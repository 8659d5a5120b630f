"""Which ranks answers use, on cases counted by hand."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.building import answer_facts, claim, evidence, example, relevance_facts, response

from ragauge.core.facts import RelevanceFacts
from ragauge.evaluation.overview.alignment import AlignmentGatherer, UsedPassages
from ragauge.metrics.facts import Facts
from ragauge.scores.arrays import ResponseIndex
from ragauge.scores.gather import Visit
from ragauge.scores.results.overview import Alignment
from ragauge.stats.intervals import scaled_wilson, wilson_interval

IndexOf = Callable[[Sequence[Facts]], ResponseIndex]
VisitsOf = Callable[[Sequence[Facts]], list[Visit]]
Measure = Callable[[Sequence[Facts]], Alignment | None]


@pytest.fixture
def alignment(index_of: IndexOf, visits_of: VisitsOf) -> Measure:
    """What the gatherer finds in some responses."""

    def made(every: Sequence[Facts]) -> Alignment | None:
        gatherer = AlignmentGatherer()
        for visit in visits_of(every):
            gatherer.add(UsedPassages.of(visit))
        return gatherer.alignment(index_of(every))

    return made


def answered(
    n: int,
    passages: int,
    *claims: Any,
    refuse: bool = False,
    rated: RelevanceFacts | None = None,
    labels: dict[str, Any] | None = None,
    **more: Any,
) -> Facts:
    """Question n with that many passages and claims resting on some of them."""
    found = evidence(answer_facts(*claims, refuse=refuse), *([rated] if rated else []))
    asked = example(query_id=f"q{n}", **{"answerable": True, **(labels or {})})
    return Facts(asked, response(passages, query_id=f"q{n}", **more), found)


def known(found: Alignment | None) -> Alignment:
    assert found is not None
    return found


def test_ranks_by_hand(alignment: Measure) -> None:
    """Four answers: uses {1}, {2, 3}, {}, {1, 3} of 3, 3, 2 and 4 passages."""
    found = known(
        alignment(
            [
                answered(1, 3, claim(1)),
                answered(2, 3, claim(2), claim(3)),
                answered(3, 2, claim()),
                answered(4, 4, claim(1, 3)),
            ]
        )
    )
    # rank 1: there in all 4, used by answers 1 and 4; 2: in 4, used by answer 2; 3: in 3, used by 2 and 4; 4: in 1
    counts = [(r.rank, r.n, r.used, r.best) for r in found.ranks]
    assert counts == [(1, 4, 2, 2), (2, 4, 1, 1), (3, 3, 2, 0), (4, 1, 0, 0)]
    assert {r.relevant for r in found.ranks} == {None}
    # not used first: answers 2 and 3; used nothing: answer 3
    assert (found.answers, found.ignored_top, found.unused) == (4, 2, 1)
    assert found.ignored_share.mean == 0.5
    assert found.ignored_share.interval == wilson_interval(2, 4)
    assert not found.flagged  # Wilson's interval of 2 of 4 begins at 0.15
    theirs = scipy.stats.spearmanr([1, 2, 3, 1, 2, 3, 1, 2, 1, 2, 3, 4], [1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0])
    assert found.correlation == pytest.approx(theirs.statistic)


def test_passages_cited_count_as_used(alignment: Measure) -> None:
    """A passage cited for a claim is used, though it supports none."""
    found = known(alignment([answered(1, 3, claim(2), citations=[(0, 10, "d3")])]))
    assert [r.used for r in found.ranks] == [0, 1, 1]


def test_correct_refusals_never_count(alignment: Measure) -> None:
    """100 correct refusals, some of which quote a passage on the way, leave the share at 20 of 40 (case 25)."""
    answers = [answered(n, 3, claim(1 + n % 2)) for n in range(40)]
    refusals = [
        answered(n, 3, *([claim(2)] if n % 2 else []), refuse=True, labels={"answerable": False})
        for n in range(40, 140)
    ]
    found = known(alignment([*answers, *refusals]))
    assert (found.answers, found.ignored_top) == (40, 20)
    assert found.ignored_share.interval == wilson_interval(20, 40)
    assert found.flagged  # from 0.35


def test_flag_needs_the_whole_interval(alignment: Measure) -> None:
    """18 of 40 passed over: Wilson from 0.307, flagged; 17 of 40: from 0.285, not."""
    for ignoring, flagged in ((18, True), (17, False)):
        found = known(alignment([answered(n, 2, claim(2 if n < ignoring else 1)) for n in range(40)]))
        assert found.flagged is flagged


def test_nothing_relevant_is_no_disagreement(alignment: Measure) -> None:
    """40 answers that pass over the first of irrelevant passages are not flagged; where it is gold they are."""
    for gold, flagged in (({"d9": 1}, False), ({"d1": 1}, True)):
        found = known(alignment([answered(n, 2, claim(2), labels={"relevant": gold}) for n in range(40)]))
        assert found.ignored_share.mean == 1.0
        assert found.flagged is flagged
        assert found.has_little_relevant is not flagged


@pytest.mark.parametrize(
    "left_out",
    [
        answered(9, 0, claim()),  # nothing retrieved
        answered(9, 1, claim()),  # one passage, which nothing ranked
        answered(9, 3),  # no claims
        answered(9, 3, claim(2), claim(failed=True)),  # a claim that may rest on any
        answered(9, 3, claim(2), labels={"answerable": False}),  # not to be answered at all
        answered(9, 3, claim(2), refuse=True, labels={"answerable": None}),  # a refusal that may be correct
        answered(9, 3, claim(2), refuse=True),  # one that is not
        Facts(example(query_id="q9"), response(3, query_id="q9", error="down"), {}),
        Facts(example(query_id="q9"), response(3, query_id="q9"), evidence(verify_answer="no reply")),
        Facts(example(query_id="q9"), response(None, query_id="q9"), evidence(answer_facts(claim(2)))),
    ],
)
def test_what_does_not_count(alignment: Measure, left_out: Facts) -> None:
    """A response that cannot speak about ranks changes nothing, and alone there is nothing to show."""
    assert alignment([left_out]) is None
    counted = [answered(1, 2, claim(1)), answered(2, 2, claim(2))]
    alone, beside = alignment(counted), alignment([*counted, left_out])
    assert alone == beside


def test_relevance_is_the_judges_else_the_labels(alignment: Measure) -> None:
    """Ratings come first; where one is missing, the label of the document decides; without both it is not known."""
    labels = {"relevant": {"d1": 1, "d2": 0}}
    rated = relevance_facts(False, None, True)
    # d1 labelled but rated not relevant; d2 not rated and labelled 0; d3 rated relevant; used: 1 and 3
    first = known(alignment([answered(1, 3, claim(1, 3), rated=rated, labels=labels)]))
    assert [(r.relevant, r.relevant_used) for r in first.ranks] == [(0, 0), (0, 0), (1, 1)]
    second = known(alignment([answered(1, 3, claim(1, 3), labels=labels)]))
    assert [(r.relevant, r.relevant_used) for r in second.ranks] == [(1, 1), (0, 0), (0, 0)]
    third = known(alignment([answered(1, 3, claim(1, 3))]))
    assert [(r.relevant, r.relevant_used) for r in third.ranks] == [(None, None)] * 3


def test_positions_by_hand(alignment: Measure) -> None:
    """Of 4 passages the first is first, two are in the middle, the fourth is last; of 2 none is in the middle."""
    every = [
        answered(1, 4, claim(1), claim(2), rated=relevance_facts(True, True, True, True)),
        answered(2, 4, claim(1), rated=relevance_facts(True, False, True, True)),
        answered(3, 2, claim(2), rated=relevance_facts(True, True)),
        answered(4, 1, claim(1), rated=relevance_facts(True)),  # one passage has no position
    ]
    found = known(alignment(every)).positions
    # first: used in 1 and 2, not in 3; middle: passages 2 (used) and 3 of 1, 3 of 2; last: 4 of 1 and 2, 2 of 3 (used)
    assert [(name, part.n) for name, part in found.items()] == [("first", 3), ("middle", 3), ("last", 3)]
    assert [part.mean for part in found.values()] == pytest.approx([2 / 3, 1 / 3, 1 / 3])
    assert found["first"].interval == wilson_interval(2, 3)
    # two of the middle three come from one answer
    assert found["middle"].interval == scaled_wilson([1.0, 0.0, 0.0], clusters=[1, 1, 2])


def test_weights_and_clusters(alignment: Measure) -> None:
    """A sampled response counts as often as it stands for; responses of one document are not independent."""
    weighted = known(alignment([answered(1, 2, claim(1), weight=3.0), answered(2, 2, claim(2))]))
    assert weighted.ignored_share.mean == 0.25
    alike = [answered(n, 2, claim(1 + (n % 5 > 1)), labels={"cluster": f"doc{n // 4}"}) for n in range(40)]
    interval = known(alignment(alike)).ignored_share.interval
    assert interval is not None
    assert interval.method == "clustered scaled wilson"


def test_repeats_of_one_question_are_not_independent(alignment: Measure) -> None:
    """Ten answers to each of four questions are four clusters, not forty answers."""
    every = [answered(n % 4, 2, claim(1 + (n % 7 > 2)), repeat=n // 4) for n in range(40)]
    interval = known(alignment(every)).ignored_share.interval
    assert interval is not None
    assert interval.method == "clustered scaled wilson"


def random_answers(seed: int, count: int) -> list[Facts]:
    draw = random.Random(seed)
    every = []
    for n in range(count):
        passages = draw.randint(0, 6)
        claims = [
            claim(*sorted(draw.sample(range(1, passages + 1), draw.randint(0, min(2, passages)))))
            for _ in range(draw.randint(0, 3))
        ]
        rated = relevance_facts(*(draw.choice([True, False, None]) for _ in range(passages)))
        labels = {"answerable": draw.choice([True, None, False]), "relevant": draw.choice([None, ["d2"]])}
        every.append(answered(n, passages, *claims, refuse=draw.random() < 0.2, rated=rated, labels=labels))
    return every


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_counts_add_up(seed: int) -> None:
    """Answers = first passages = Σ best + unused; ignored = those whose best is not 1; used <= n; n never grows."""
    every = random_answers(seed, 40)
    gatherer = AlignmentGatherer()
    uses = [UsedPassages.of(Visit(n, n, f.example, f.response, f.evidence)) for n, f in enumerate(every)]
    for use in uses:
        gatherer.add(use)
    index = _plain_index(len(every))
    found = gatherer.alignment(index)
    counting = [use for use in uses if use.answers]
    assert (found is None) == (not counting)
    if found is None:
        return
    assert found.answers == len(counting) == found.ranks[0].n
    assert sum(rank.best for rank in found.ranks) + found.unused == found.answers
    assert found.ignored_top == found.answers - found.ranks[0].used == found.answers - found.ranks[0].best
    assert all(rank.best <= rank.used <= rank.n for rank in found.ranks)
    assert all(a.n >= b.n for a, b in zip(found.ranks, found.ranks[1:], strict=False))
    assert all((rank.relevant_used or 0) <= (rank.relevant or 0) <= rank.n for rank in found.ranks)
    used = gatherer.used(range(len(every)))
    assert sum(len(used[use.place]) for use in counting) == sum(rank.used for rank in found.ranks)


def _plain_index(count: int) -> ResponseIndex:
    numbers = np.arange(count)
    return ResponseIndex(numbers, numbers, numbers * 0, None, None, tuple(f"q{n}" for n in numbers))


def test_order_does_not_matter(alignment: Measure) -> None:
    """The same responses in any order give the same."""
    every = random_answers(1, 60)
    shuffled = random.Random(2).sample(every, len(every))
    one, other = known(alignment(every)), known(alignment(shuffled))
    assert (one.ranks, one.answers, one.ignored_share, one.unused) == (
        other.ranks,
        other.answers,
        other.ignored_share,
        other.unused,
    )
    assert one.correlation == pytest.approx(other.correlation)
    assert one.correlation_interval is not None
    assert other.correlation_interval is not None
    assert one.correlation_interval.low == pytest.approx(other.correlation_interval.low)
    for name, part in one.positions.items():
        assert part.mean == pytest.approx(other.positions[name].mean)
