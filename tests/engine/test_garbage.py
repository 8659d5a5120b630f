"""The garbage collector comes rarely during a run, and as before after it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from ragauge.engine.garbage import APART, rarely_collected


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    """Leaves the collector as it was."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_it_comes_rarely_and_then_as_before() -> None:
    """Inside a block the first threshold is raised; after it, and after an error in it, all are what they were."""
    gc.set_threshold(701, 11, 12)
    with rarely_collected():
        assert gc.get_threshold() == (APART, 11, 12)
    assert gc.get_threshold() == (701, 11, 12)
    with pytest.raises(ValueError, match="inside"), rarely_collected():
        raise ValueError("inside")
    assert gc.get_threshold() == (701, 11, 12)


def test_the_last_of_overlapping_blocks_ends_it() -> None:
    """Two runs that overlap without one inside the other leave the thresholds as they were, once both have ended."""
    gc.set_threshold(701, 11, 12)
    first, second = ExitStack(), ExitStack()
    first.enter_context(rarely_collected())
    second.enter_context(rarely_collected())
    first.close()
    assert gc.get_threshold() == (APART, 11, 12)
    second.close()
    assert gc.get_threshold() == (701, 11, 12)


@pytest.mark.parametrize("own", [(0, 10, 10), (2 * APART, 10, 10)])
def test_who_turned_it_off_is_left_alone(own: tuple[int, int, int]) -> None:
    """A collector that is off, or comes more rarely, is not touched."""
    gc.set_threshold(*own)
    with rarely_collected():
        assert gc.get_threshold() == own
    assert gc.get_threshold() == own
