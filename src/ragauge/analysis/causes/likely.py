"""How likely the facts behind a cause are so: certain by the verdict where the judge has no probabilities.

Several facts of one example stand or fall together more often than not, so their probabilities are not multiplied:
that one of them is so is as likely as the likeliest.
"""

from __future__ import annotations

from collections.abc import Iterable

from ragauge.analysis.causes.cause_context import CauseContext
from ragauge.data.facts import Claim, RelevanceFacts


def unsupported(claims: Iterable[Claim]) -> float:
    """Probability that one of these claims has no support."""
    return max((1 - claim.chance for claim in claims), default=1.0)


def unmet(seen: CauseContext) -> float:
    """Probability that some reference claim is in no passage; 0 where none has a verdict."""
    if seen.mended.evidence:
        return 0.0
    return max((1 - claim.chance for claim in seen.doubtful), default=0.0)


def irrelevant(seen: CauseContext) -> float:
    """Probability that no passage is relevant to the question; 0 where a rating is missing."""
    found = seen.asked("rate_passages")
    if not isinstance(found, RelevanceFacts) or found.unit != "passage" or not seen.n:
        return 0.0
    known = [one.chance for one in found.ratings if one.chance is not None]
    return 1 - max(known) if len(known) == seen.n else 0.0


def disagrees(seen: CauseContext, claims: Iterable[Claim]) -> float:
    """Probability that one of these claims does not agree with the reference."""
    known = seen.agreement.answer_p if seen.agreement is not None else ()
    found = [known[claim.n - 1] if claim.n <= len(known) else None for claim in claims]
    return max((1.0 if p is None else 1 - p for p in found), default=1.0)


def unstated(seen: CauseContext) -> float:
    """Probability that the answer leaves out one of the reference claims that it does not state."""
    known = seen.agreement.reference_p if seen.agreement is not None else ()
    found = [known[n - 1] if n <= len(known) else None for n in seen.unstated]
    return max((1.0 if p is None else 1 - p for p in found), default=1.0)


def none_stated(seen: CauseContext) -> float:
    """Probability that the answer states none of the reference claims."""
    known = seen.agreement.reference_p if seen.agreement is not None else ()
    return min((1 - p for p in known if p is not None), default=1.0)


def addresses(seen: CauseContext) -> tuple[float, float, float]:
    """Probabilities that the answer addresses the question fully, partly, and not."""
    known = seen.answer.address_p if seen.answer is not None else None
    return known or (float(seen.address == "fully"), float(seen.address == "partly"), float(seen.address == "no"))
