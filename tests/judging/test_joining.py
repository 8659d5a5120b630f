"""Which passages may support a claim together."""

from __future__ import annotations

import random

from tests.conftest import OwnTime

from ragauge.judging.local.joining import MOST_PARTS, JointPart, joinable

ALL = 0b111111      # a claim of six units


def groups(*parts: tuple[int, int], named: bool = True) -> set[tuple[int, ...]]:
    """The groups of passages with these units and names."""
    return set(joinable([JointPart(n, *one) for n, one in enumerate(parts, 1)], ALL.bit_count(), named=named))


def test_two_that_share_a_name_and_hold_the_whole() -> None:
    """Two passages with a name in common join where they hold all, and each something that the other lacks."""
    assert groups((0b000111, 1), (0b111100, 1)) == {(1, 2)}
    assert groups((0b000111, 1), (0b011100, 1)) == set()        # a sixth is nowhere
    assert groups((0b000111, 1), (ALL, 1)) == set()             # the second does it alone
    assert groups((0b000111, 1), (0b111100, 2)) == set()        # the name of one, the fact of the other
    assert groups((0b000111, 1), (0b111100, 0)) == set()


def test_without_names_a_shared_word_ties() -> None:
    """Where the claim has no name, a unit that both hold ties them."""
    assert groups((0b000111, 0), (0b111100, 0), named=False) == {(1, 2)}
    assert groups((0b000111, 0), (0b111000, 0), named=False) == set()


def test_three_each_tied_to_the_others() -> None:
    """Three join where every two are tied and every one of them is needed."""
    assert groups((0b000011, 1), (0b001100, 1), (0b110000, 1)) == {(1, 2, 3)}
    assert groups((0b000011, 1), (0b001100, 1), (0b110000, 2)) == set()


def test_another_part_takes_no_group_away() -> None:
    """Law, 500 draws: with a part more there are all the groups that there were, of three members at most."""
    draw = random.Random(3)
    seen = 0
    for _ in range(500):
        parts = [JointPart(n, draw.randrange(64), draw.randrange(4)) for n in range(2, draw.randint(4, 12))]
        before = set(joinable(parts, 6, named=True))
        parts.insert(draw.randint(0, len(parts)), JointPart(1, draw.randrange(64), draw.randrange(4)))
        after = set(joinable(parts, 6, named=True))
        assert {tuple(sorted(one)) for one in before} <= {tuple(sorted(one)) for one in after}
        assert all(len(one) in (2, 3) for one in after)
        seen += len(before)
    assert seen > 500


def test_the_work_is_bounded(own_time: OwnTime) -> None:
    """Thousands of passages that could all join are looked at within a second: only the first of them are."""
    parts = [JointPart(n, 1 | 1 << n % 40, 1) for n in range(1, 5_000)]
    found = list(joinable(parts, 41, named=True))
    own_time.within(1, lambda: list(joinable(parts, 41, named=True)))
    assert all(number <= MOST_PARTS + 40 for one in found for number in one)
