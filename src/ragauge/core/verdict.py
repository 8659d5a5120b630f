"""The verdict on one example: whether its answer is right, whether it is grounded, and both together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self, get_args

from ragauge.core.json_keys import json_keys

Verdict = Literal["passed", "unclear", "failed", "not_judged"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
OPEN_VERDICTS: frozenset[Verdict] = frozenset({"unclear", "not_judged"})  # neither failed nor passed
RULE_VERSION = 4  # raised when the rule changes: counts of two versions are never compared


@json_keys("right grounded", view="verdict_pair")
@dataclass(frozen=True, slots=True)
class ExampleVerdict:
    """What is known of whether an example failed."""

    #: failed, where the system failed, a label shows a failure, or one of the two below failed; passed, where all that
    #: was asked passed; else unclear; not_judged, where nothing was asked that could show a failure.
    verdict: Verdict
    right: Verdict = "not_judged"  #: whether the answer is right, by references, labels or required criteria.
    grounded: Verdict = "not_judged"  #: whether the passages support the answer.
    reason: str = ""  #: why it is unclear, not judged, or failed, in words; "" where it passed.
    #: what would settle an unclear verdict: the cheapest first; () where it is settled.
    settled_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """How many examples have which verdict."""

    failed: int = 0  #: examples that failed.
    unclear: int = 0  #: that were judged, of which it is unclear whether they failed.
    passed: int = 0  #: that passed.
    not_judged: int = 0  #: of which nothing was judged that could show a failure.
    #: of the rule by which they were decided, the oldest; 0 = some have no stored verdict.
    rule_version: int = RULE_VERSION

    @classmethod
    def from_verdicts(cls, verdicts: Iterable[Verdict], rule_version: int = RULE_VERSION) -> Self:
        """The counts of some verdicts.

        >>> VerdictCounts.from_verdicts(["passed", "unclear", "passed"])
        VerdictCounts(failed=0, unclear=1, passed=2, not_judged=0, rule_version=4)
        """
        return cls(**Counter[str](verdicts), rule_version=rule_version)

    @property
    def n(self) -> int:
        """Examples counted."""
        return self.failed + self.unclear + self.passed + self.not_judged

    @property
    def is_current(self) -> bool:
        """Whether the present rule decided all of them: counts of two rules are never compared."""
        return self.rule_version == RULE_VERSION


NOT_COUNTED = VerdictCounts(rule_version=0)  # of what was evaluated before counts were kept
NOTHING_JUDGED = ExampleVerdict("not_judged")


def combine_verdicts(right: Verdict, grounded: Verdict) -> Verdict:
    """The verdict of an example of which nothing but these two is known.

    >>> (combine_verdicts("passed", "unclear"), combine_verdicts("not_judged", "passed"),
    ...     combine_verdicts("unclear", "failed"))
    ('unclear', 'passed', 'failed')
    """
    for verdict in ("failed", "unclear", "passed"):
        if verdict in (right, grounded):
            return verdict
    return "not_judged"
