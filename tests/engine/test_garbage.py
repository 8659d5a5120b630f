"""The garbage collector comes rarely during a run, and as before after it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from ragauge.engine.garbage import APART, none_collected, rarely_collected, set_apart


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


def test_what_is_loaded_is_left_out_of_later_passes_until_the_last_block_ends() -> None:
    """Nothing is collected while a library is loaded; its objects are set apart, and come back when the block ends."""
    before = gc.get_freeze_count()
    with rarely_collected():
        with none_collected():
            assert not gc.isenabled()
        assert gc.isenabled()
        assert before or gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == before


@pytest.mark.parametrize("enabled", [True, False])
def test_loading_outside_a_run_leaves_the_collector_as_it_was(enabled: bool) -> None:
    """Without a run nothing is set apart; a collector that was off stays off, after an error too."""
    before = gc.get_freeze_count()
    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(ImportError), none_collected():
            raise ImportError("no such library")
        assert gc.isenabled() is enabled
        assert gc.get_freeze_count() == before
    finally:
        gc.enable()


def test_what_is_there_is_set_apart_for_a_block() -> None:
    """Inside a block the collector passes over what was there before, and after it not, an error in it or not."""
    assert gc.get_freeze_count() == 0
    with set_apart():
        assert gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == 0
    with pytest.raises(ValueError, match="inside"), set_apart():
        raise ValueError("inside")
    assert gc.get_freeze_count() == 0


def test_who_set_something_apart_keeps_it() -> None:
    """What a caller froze stays frozen behind the block; with the collector off, nothing is frozen."""
    gc.freeze()
    try:
        with set_apart():
            pass
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
    gc.disable()
    try:
        with set_apart():
            assert gc.get_freeze_count() == 0
    finally:
        gc.enable()
