"""src grows in no room beyond its budget, and budgets follow what became smaller."""

from __future__ import annotations

from functools import cache

import pytest
from tests.house.measure import BUDGETS, measure, read_budgets

SLACK = 0.02  # of a budget that may be free, and 40 lines
ROOMS = read_budgets()


@cache
def numbers() -> dict[str, dict[str, int]]:
    return measure()


@pytest.mark.parametrize(("part", "name"), [(part, name) for part, of in ROOMS.items() for name in of])
def test_budgets_hold(part: str, name: str) -> None:
    """No number is above its budget (of docstrings below), nor so far under it that the budget says nothing."""
    number, budget = numbers()[part].get(name, 0), ROOMS[part][name]
    over = budget - number if name == "docstrings" else number - budget
    why = f"{part}.{name} is {number:,}, its budget {budget:,}."
    assert over <= 0, f"{why} Make it smaller, or raise the line in {BUDGETS.name} with a reason in the same commit."
    assert -over <= 40 + SLACK * budget, f"{why} Lower it: python -m tests.house.measure --lower"


def test_every_room_has_a_budget() -> None:
    """A new folder has a line of its own."""
    assert {part: set(of) for part, of in numbers().items()} == {part: set(of) for part, of in ROOMS.items()}
