"""Near-copies in which one thing differs."""

from __future__ import annotations

import pytest

from ragauge.judges.local.checks import OpposedSpan, check_claim
from ragauge.judges.local.differences import Difference
from ragauge.judges.local.index import build_index
from ragauge.judges.local.overlap import prepare_claim


def against(claim: str, passage: str) -> Difference | None:
    """In what a claim differs from a passage that has a near-copy of it."""
    found = check_claim(claim, prepare_claim(claim, "words"), passage, build_index(passage, "words"), "words")
    return found.difference if isinstance(found, OpposedSpan) else None


@pytest.mark.parametrize(
    ("claim", "passage", "found"),
    [
        ("The trial lasts 30 days.", "The trial lasts 14 days.", ("30", "14")),
        ("The bridge opened in 1932.", "The bridge opened in 1936.", ("1932", "1936")),
        ("The bridge opened on 3 May 1932.", "The bridge opened on 4 May 1932.", ("3 May 1932", "4 May 1932")),
        ("Growth was 12% in Spain.", "Growth was 21% in Spain.", ("12%", "21%")),
        ("The plan costs $49 a month.", "The plan costs $59 a month.", ("$49", "$59")),
        ("The box holds five bottles of oil.", "The box holds six bottles of oil.", ("five", "six")),
    ],
)
def test_another_number_in_the_same_place(claim: str, passage: str, found: tuple[str, str]) -> None:
    """A number, date or percentage in whose place the near-copy has another is a conflict."""
    said = against(claim, passage)
    assert said is not None
    assert (said.claim.lstrip("$"), said.passage.lstrip("$")) == (found[0].lstrip("$"), found[1].lstrip("$"))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The trial lasts 14 days.", "The trial lasts 14 days."),
        ("Sales were about 5 million euros.", "Sales were 5.1 million euros."),
        ("The bridge opened in 1932.", "The bridge opened on 3 May 1932."),
        ("The bridge opened in May 1932.", "The bridge opened on 3 May 1932."),
        ("The town has 14,000 inhabitants in Kent.", "The town has 14,212 inhabitants in Kent."),
        ("The trial lasts 30 days.", "Deliveries take 14 days."),
        ("The trial lasts 30 days.", "The trial lasts some days and has 3 parts."),
        ("The trial lasts 30 days.", "The trial of 2 products lasts 30 days."),
        ("The trial lasts long.", "The trial lasts 14 days."),
        ("Hub 3 restores a share within 72 hours.", "Hub 2 restores a share within 24 hours."),
        ("Hub 3 restores a share within 72 hours.", "Hub 2 restores a share within 72 hours."),
        ("The trial of version 5.1 lasts 30 days.", "The trial of version 4.2 lasts 30 days."),
        ("Ruth is 20 years old and Ola is 24.", "Ola is the oldest of the three and 24 years old."),
    ],
)
def test_what_may_both_be_true_is_no_conflict(claim: str, passage: str) -> None:
    """Equal values, rounded ones, less exact dates, other subjects and other units do not conflict."""
    assert against(claim, passage) is None
