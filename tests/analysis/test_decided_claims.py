"""What is said of one claim, and the verdict on the answer that it belongs to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.test_verdicts import likely

from ragauge.core.facts import Evidence, ReferenceClaim, ReferenceFacts
from ragauge.core.response import ControlScale, Readability
from ragauge.diagnosis.causes.attribution import judge_example
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.explain.causes import count_found, count_stated, count_supported

NO = tuple(n / 100 for n in range(30))  # known-no pairs score 0 to 0.29
SCALE = ControlScale(yes=(0.9,) * 30, no=NO)
READS = Readability("en", "prose", {"support": SCALE, "reference": SCALE, "agreement": SCALE, "address": SCALE})


@pytest.mark.parametrize("readability", [None, READS])
@given(st.lists(st.floats(0, 1), min_size=1, max_size=4).map(tuple), st.floats(0, 1), st.booleans())
def test_no_claim_is_denied_that_the_verdict_counts(
    readability: Readability | None, chances: tuple[float, ...], stated: float, contradicted: bool
) -> None:
    """Whatever the probabilities: no claim of a passed answer is called unsupported, contradicted or not stated."""
    facts = likely(chances, stated, readability=readability, contradicting=(1,) if contradicted else ())
    verdict, seen = judge_example(facts)[0], CauseContext(facts)
    assert seen.answer is not None
    if verdict.grounded == "passed":
        assert "no" not in [seen.is_supported(claim) for claim in seen.answer.claims]
    if verdict.right == "passed":
        assert seen.is_stated(1) != "no"


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (0.45, "0 of 1 {} surely {}, 1 unclear; expected share 0.45"),
        (0.89, "1 of 1 {} {}; expected share 0.89"),
        (0.05, "0 of 1 {} {}; expected share 0.05"),
    ],
)
def test_counts_say_what_the_probability_decides(p: float, said: str) -> None:
    """Claims are counted by one rule, whichever text they are of: found from 0.5, unclear above the known-no pairs."""
    facts = likely((p,), p, readability=READS)
    reference = ReferenceFacts((ReferenceClaim(1, "r", (), p),))
    found = {**facts.evidence, "verify_reference": Evidence("k", "verify_reference", 1, "j", "ok", reference)}
    seen = CauseContext(replace(facts, evidence=found))
    assert seen.answer is not None
    assert count_supported(seen.answer.claims, seen) == said.format("claims", "found in the passages")
    assert count_found(seen) == said.format("reference claims", "found in the passages")
    assert count_stated(seen) == said.format("reference claims", "stated by the answer")
