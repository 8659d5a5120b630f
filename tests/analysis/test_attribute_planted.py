"""Attribution on cases whose cause is known because it was planted."""

from __future__ import annotations

import pytest
from tests.planted.cases import planted_cases

from ragauge.diagnosis.causes.attribution import ROWS, attribute_failure
from ragauge.diagnosis.causes.cause_rule import CauseRow
from ragauge.metrics.facts import Facts


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.prove) for seed in (1, 2))])
def test_right_cause_with_perfect_evidence(seed: int) -> None:
    """With the verdicts of a judge without error, every planted cause is named, in 100 % of the cases."""
    wrong = [
        (case.example.query_id, cause and cause.name)
        for case in planted_cases(seed=seed)
        for cause in [attribute_failure(Facts(case.example, case.response, case.evidence), indexed=case.listing)]
        if cause is None or cause.name != case.cause
    ]
    assert wrong == []


def test_without_the_fault_nothing_failed() -> None:
    """The same answers without the planted fault are no failures."""
    for case in planted_cases():
        assert attribute_failure(Facts(case.example, case.sound, case.sound_evidence)) is None, case.example.query_id


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_what_decided_is_told(row: CauseRow) -> None:
    """Every case says in words what decided it; a second opinion has words of its own and names another cause."""
    for case in (case for case in planted_cases() if case.cause == row.name):
        cause = attribute_failure(Facts(case.example, case.response, case.evidence), indexed=case.listing)
        assert cause is not None
        fault = row.at(cause.component)
        assert (cause.component, cause.fix) == (fault.component, fault.fix)
        assert cause.decided_by
        assert bool(cause.second) == bool(cause.second_by)
        assert cause.second != row.name
