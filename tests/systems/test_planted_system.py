"""Faults planted in the reference system are blamed on the right part, and the page says how often."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXTRA = ("find_nothing", "ignore_passages", "change_number")  # the easy ones, or kin to another: not to lift a mean
pytestmark = pytest.mark.prove


def loaded() -> ModuleType:
    """The bench as a module; bench/ is no package."""
    spec = importlib.util.spec_from_file_location("planted_system", ROOT / "bench/planted_system.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


tool = loaded()


@pytest.fixture(scope="module")
def bench() -> Any:
    return tool.Bench()


@pytest.fixture(scope="module")
def planted(bench: Any) -> Any:
    return [bench.planted(fault) for fault in tool.faults()]


@pytest.fixture(scope="module")
def clean(bench: Any) -> Any:
    return {judge: bench.clean(judging) for judge, judging in bench.judges.items()}


def test_floors_with_the_scripted_judge(planted: Any, clean: Any) -> None:
    """Right component and cause in 90 % of the faults that changed the outcome; under 5 % false blame."""
    assert tool.problems(planted, clean) == []
    fewer = [one for one in planted if one.fault.name not in EXTRA]
    assert min(tool.rates(fewer, "scripted")) >= tool.LEAST


def test_floors_of_each_fault(planted: Any) -> None:
    """Each fault's component and cause are right in 90 %."""
    for one in planted:
        component, cause = tool.rates([one], "scripted")
        assert component >= tool.LEAST, one.fault.name
        assert cause >= tool.LEAST, one.fault.name


def test_enough_was_planted(planted: Any) -> None:
    """No share rests on a handful of cases: every fault changed the outcome of as many questions as it can strike."""
    for one in planted:
        least = {"answer_anyway": 9, "serve_superseded": 15}.get(one.fault.name, 30)
        assert least <= one.changed <= one.struck, one.fault.name
        assert one.whole <= one.changed


def test_local_judge_has_not_got_worse(planted: Any, clean: Any) -> None:
    """The local judge stays within a few points of what the page reports."""
    component, cause = tool.rates(planted, "local")
    assert component >= 0.88
    assert cause >= 0.86
    assert clean["local"].share <= 0.14


def test_page(bench: Any, planted: Any, clean: Any) -> None:
    """docs/planted-faults.md shows these figures."""
    shown = f"{tool.table(planted, clean)}\n\n{tool.reservations(bench)}"
    page = tool.PAGE.read_text(encoding="utf-8")
    inside = page.partition(tool.BEGIN)[2].partition(tool.END)[0].strip()
    assert inside
    assert not tool.stale(inside, shown)


def test_stale_page_is_noticed() -> None:
    """A figure that moved, a fault that came or went, and an empty page are noticed; rounding is not."""
    assert not tool.stale("drop_gold | 95 | 90%", "drop_gold | 95 | 92%")
    assert tool.stale("drop_gold | 95 | 90%", "drop_gold | 95 | 96%")
    assert tool.stale("drop_gold | 95 | 90%", "drop_gold | 60 | 90%")
    assert tool.stale("drop_gold | 95 | 90%", "find_nothing | 95 | 90%")
    assert tool.stale("", "drop_gold | 95 | 90%")


def test_floors_are_felt(planted: Any, clean: Any) -> None:
    """Where the causes named are not the planted ones, the bench fails."""
    named = tool.Named("q", "noise", "", right_cause=False, right_component=False)
    wrong = [tool.Planted(one.fault, named={"scripted": [named] * one.changed}) for one in planted]
    blamed = {"scripted": tool.Clean(100, 5, (named,) * 5)}
    assert len(tool.problems(wrong, clean)) == 2
    assert len(tool.problems(wrong, blamed)) == 3
