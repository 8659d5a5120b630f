"""The verdict on one example: whether its answer is right, whether it is grounded, and both together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Verdict = Literal["passed", "unclear", "failed", "not_judged"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
OPEN_VERDICTS: frozenset[Verdict] = frozenset({"unclear", "not_judged"})     # neither failed nor passed
RULE_VERSION = 2     # raised when the rule changes: counts of two versions are never compared


@dataclass(frozen=True, slots=True)
class ExampleVerdict:
    """What is known of whether an example failed.

    Attributes:
        verdict: failed, where the system failed, a label shows a failure, or one of the two below failed; passed, where
            all that was asked passed; else unclear; not_judged, where nothing was asked that could show a failure.
        right: whether the answer is right, by references, labels or required criteria.
        grounded: whether the passages support the answer.
        reason: why it is unclear, not judged, or failed, in words; "" where it passed.
        settled_by: what would settle an unclear verdict: the cheapest first; () where it is settled.
    """

    verdict: Verdict
    right: Verdict = "not_judged"
    grounded: Verdict = "not_judged"
    reason: str = ""
    settled_by: tuple[str, ...] = ()


NOTHING_JUDGED = ExampleVerdict("not_judged")


def combine(right: Verdict, grounded: Verdict) -> Verdict:
    """The verdict of an example of which nothing but these two is known.

    >>> combine("passed", "unclear"), combine("not_judged", "passed"), combine("unclear", "failed")
    ('unclear', 'passed', 'failed')
    """
    for verdict in ("failed", "unclear", "passed"):
        if verdict in (right, grounded):
            return verdict
    return "not_judged"
