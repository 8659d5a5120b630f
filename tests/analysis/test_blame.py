"""Which component an alert lies in, by the failures that came and by how relevant the first passages are."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragauge.monitoring.series.fault_attribution import UNCLEAR, BlamedRequest, assign_blame

GOOD = [BlamedRequest(1.0, 1.0, "", 0.9)] * 80 + [BlamedRequest(1.0, 0.2, UNCLEAR, 0.1)] * 20
POOR, REFUSED = BlamedRequest(1.0, 0.2, UNCLEAR, 0.1), BlamedRequest(1.0, 0.2, UNCLEAR, 0.9)
IGNORED, UNFOUND = BlamedRequest(1.0, 0.3, "", 0.9), BlamedRequest(1.0, 0.3, "", None)


@pytest.mark.parametrize(
    ("came", "component"),
    [
        (GOOD[:20] + [BlamedRequest(1.0, 0.0, "generation", 0.9)] * 20, "generation"),
        (GOOD[:20] + [BlamedRequest(1.0, 0.0, "data", 0.9)] * 20, "retrieval"),
        (GOOD[:20] + [BlamedRequest(1.0, 0.0, "system", None)] * 20, "system"),
        (GOOD[:20] + [POOR] * 20, "retrieval"),  # nobody can tell, and the passages are poorer
        (GOOD[:20] + [REFUSED] * 20, "generation"),  # nobody can tell, and they are as they were
        (GOOD[:12] + [POOR] * 8 + [IGNORED] * 20, "generation"),  # no more failed, and the passages are as they were
        (GOOD[:20] + [UNFOUND] * 20, "retrieval"),
    ],
)
def test_the_component_of_an_alert(came: Sequence[BlamedRequest], component: str) -> None:
    """Known causes name it; where none is known, that failures go with poorer passages, or do not."""
    assert assign_blame(GOOD, came).component == component


def test_what_cannot_be_told_is_not_told() -> None:
    """Where no passages were rated, or a side is empty, no component is named."""
    unrated = [one._replace(relevance=None) for one in GOOD]
    for before, now in ((unrated, unrated), (GOOD, []), ([], GOOD)):
        assert assign_blame(before, now) == ("", "")
