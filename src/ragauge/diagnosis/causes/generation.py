"""Causes that lie in writing the answer."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.core.facts import Claim
from ragauge.core.label import NOT_SUPPORTED
from ragauge.diagnosis.causes import evidence
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.cause_rule import Basis, CauseRow, Lack, Verdict, Why, counted, numbers
from ragauge.diagnosis.causes.evidence import SUPPORT, UNTOLD, in_the_dark, misread
from ragauge.diagnosis.causes.labeled import WRONG
from ragauge.diagnosis.causes.remedied import Counterfactual

AGAINST = "whether the passages contradict the answer"
EVIDENCE = "relevance labels or a reference answer: whether retrieval should have brought the evidence"


def _missed_refusal(seen: CauseContext) -> Verdict:
    """The corpus does not hold the answer, and the system answered.

    Applies when the question is labelled unanswerable and the answer does not decline.
    """
    if seen.is_answerable or seen.refuse:
        return None
    if seen.is_answerable is None:
        return Lack("whether the question is answerable")
    if seen.refuse is None:
        return Lack(seen.lack("verify_answer.refuse"))
    return Why(
        "the question is labelled unanswerable, yet the system answered", "labels", Counterfactual(everything=True)
    )


def _wrong_refusal(seen: CauseContext) -> Verdict:
    """The system declined although the answer was before its eyes.

    Applies when the answer declines, the question is not labelled unanswerable, and no row above says that evidence is
    missing: of labelled documents, of a reference, or by a verdict on each passage. Where nothing tells whether the
    passages hold the answer, it is unclear.
    """
    if seen.is_answerable is False or seen.refuse is False:
        return None
    if seen.refuse is None:
        return Lack(seen.lack("verify_answer.refuse"))
    if in_the_dark(seen):
        return Lack(UNTOLD)
    known = "the question is answerable" if seen.is_answerable else "nothing says it is unanswerable"
    basis: Basis = "labels" if seen.is_answerable else "judge"
    return Why(f"the system declined to answer, but {known}", basis, Counterfactual(everything=True))


def _off_topic(seen: CauseContext) -> Verdict:
    """The answer is about something else.

    Applies when the answer neither addresses the question nor declines.
    """
    if seen.address in ("fully", "partly") or seen.refuse:
        return None
    if seen.address is None or seen.refuse is None:
        return Lack(seen.lack("verify_answer.address" if seen.address is None else "verify_answer.refuse"))
    return Why(
        "the answer does not address the question", "judge", Counterfactual(answer=True), p=evidence.addresses(seen)[2]
    )


def _contradicted(seen: CauseContext) -> Verdict:
    """A claim says otherwise than the passages.

    Applies when a passage contradicts a claim and none supports it.
    """
    if seen.against:
        first = seen.against[0]
        text = f"{_share(seen, seen.against)} contradicted by the passages"
        mends = Counterfactual(claims=frozenset(claim.n for claim in seen.against), usage=True)
        text = f"{text} (claim {first.n} by {counted('passage', first.contradicting)})"
        return Why(text, "judge", mends, p=evidence.unsupported(seen.against))
    if not seen.claims_whole:
        return Lack(seen.lack("verify_answer.support"))
    return Lack(AGAINST) if any(claim.contradicting for claim in seen.open_support) else None


def _ignored(seen: CauseContext) -> Verdict:
    """Evidence was there, and the answer takes nothing from the passages.

    Applies when the answer makes claims, no passage supports any or is cited for one, and some hold the evidence.
    """
    if seen.used or seen.mended.usage or (seen.claims_whole and not seen.unsupported):
        return None
    if _unread(seen):
        return Lack(seen.lack("verify_answer.refuse"))  # a refusal uses no passage
    if seen.reference is None and seen.likely_only:
        return None  # a passage on the topic is no evidence yet
    if not seen.claims_whole:
        return Lack(seen.lack("verify_answer.support"))
    if not all(seen.is_supported(claim) == "no" for claim in seen.claims or ()):
        return Lack(SUPPORT)
    if seen.evidence:
        held = counted("passage", seen.evidence)
        text = f"the answer uses none of the {seen.n} passages, though the evidence is in {held}"
        mends = Counterfactual(claims=frozenset(claim.n for claim in seen.bare), answer=True)
        return Why(text, "judge", mends, p=1 - max((claim.chance for claim in seen.claims or ()), default=0.0))
    return None if seen.evidence_whole else Lack("which passages hold the evidence")


def _hallucinated(seen: CauseContext) -> Verdict:
    """A claim stands in no passage, be it true or not.

    Applies when no passage supports or contradicts a claim. It is a guess where nothing but probabilities, or nothing
    at all, says whether the evidence was there: no labels, no reference, no plain ratings.
    """
    if _unread(seen):
        return Lack(seen.lack("verify_answer.refuse"))  # a refusal stands in no passage
    if bare := seen.bare:
        numbered = [claim.n for claim in bare]
        vague = any(claim.reason == NOT_SUPPORTED for claim in bare)
        how = "not supported, by labels that do not say whether contradicted" if vague else "in no passage"
        text = f"{_share(seen, bare)} {how} ({counted('claim', numbered)})"
        known = seen.missed is not None or seen.reference is not None or seen.rated_plainly
        mends, p = Counterfactual(claims=frozenset(numbered)), evidence.unsupported(bare)
        return Why(text, "judge" if known else "guess", mends, "" if known else EVIDENCE, p)
    if any(not claim.contradicting for claim in seen.open_support):
        return Lack(SUPPORT)
    return None if seen.claims_whole else Lack(seen.lack("verify_answer.support"))


def _misattributed(seen: CauseContext) -> Verdict:
    """A claim cites passages, but not those that support it.

    Applies when a supported claim cites passages and none of those that support it. A wrong citation alone does not
    make an answer fail: something else has to be amiss as well.
    """
    if seen.response.citations is None or seen.claims == ():
        return None
    if seen.claims is None:
        return Lack(seen.lack("verify_answer.support"))
    for claim in seen.claims:
        if claim.supporting:
            cited = seen.cited(claim)
            if cited and cited.isdisjoint(claim.supporting):
                text = f"claim {claim.n} cites {counted('passage', cited)}"
                return Why(f"{text} but stands in {numbers(claim.supporting)}", "judge", p=claim.chance)
    return None


def _wrong_answer(seen: CauseContext) -> Verdict:
    """The answer is another one than the reference.

    Applies when the answer does not decline, and a person labeled it wrong, or it states none of the reference claims,
    or it makes a claim that a passage supports and that contradicts the reference. Where it follows a passage that also
    holds the evidence, it misread it.
    """
    if seen.facts.labels.right is False and not (seen.refuse or seen.mended.answer):
        return Why(WRONG, "judge", Counterfactual(answer=True))
    if seen.agreement is None:
        return Lack(seen.lack("agree.reference"))
    of, against = len(seen.agreement.reference), [claim for claim in seen.wrong if claim.supporting]
    none = bool(seen.unstated) and len(seen.unstated) == of
    if seen.refuse or not (none or against):
        return None
    if _unread(seen):
        return Lack(seen.lack("verify_answer.refuse"))
    verb = "contradicts" if len(against) == 1 else "contradict"
    text = f"{counted('claim', [claim.n for claim in against])} {verb} the reference"
    if none:
        text = f"the answer states none of the {of} reference claims:" if of > 1 else "the answer does not state"
        text = f"{text} {_quoted(seen, seen.unstated)}"
    followed = frozenset(n for claim in against for n in claim.supporting) or seen.used
    if held := misread(seen, followed):
        text = f"{text}; {'it' if none else 'the answer'} {held}"
    p = max(evidence.none_stated(seen) if none else 0.0, evidence.disagrees(seen, against) if against else 0.0)
    return Why(text, "judge", Counterfactual(answer=True, claims=frozenset(claim.n for claim in against)), p=p)


def _incomplete(seen: CauseContext) -> Verdict:
    """The answer leaves out a part.

    Applies when the answer addresses the question partly, or states some of the reference claims and not all.
    """
    of = len(seen.agreement.reference) if seen.agreement else 0
    if seen.address == "partly":
        left = f": it leaves out {_quoted(seen, seen.unstated)}" if 0 < len(seen.unstated) < of else ""
        return Why(f"the answer addresses only part of the question{left}", "judge", p=1 - evidence.addresses(seen)[0])
    if 0 < len(seen.unstated) < of:
        text = f"the answer states {of - len(seen.unstated)} of {of} reference claims and leaves out"
        return Why(f"{text} {_quoted(seen, seen.unstated)}", "judge", p=evidence.unstated(seen))
    if seen.address is None:
        return Lack(seen.lack("verify_answer.address"))
    return Lack(seen.lack("agree.reference")) if seen.agreement is None else None


def _unread(seen: CauseContext) -> bool:
    """Whether the answer may decline in a language that the judge cannot tell it in."""
    return seen.answer is not None and seen.answer.refuse is None and bool(seen.answer.unread)


def _quoted(seen: CauseContext, left: Sequence[int], most: int = 120) -> str:
    """The first of these reference claims in its own words, and how many more there are."""
    text = seen.reference_text(left[0])
    short = f"{text[:most].rstrip()}…" if len(text) > most else text
    first = f"“{short}”" if text else f"reference claim {left[0]}"
    return f"{first} and {len(left) - 1} more" if len(left) > 1 else first


def _share(seen: CauseContext, claims: Sequence[Claim]) -> str:
    total = len(seen.answer.claims) if seen.answer else 0
    return f"{len(claims)} of {total} claim{'' if total == 1 else 's'}"


MISSED_REFUSAL = CauseRow(
    "missed_refusal",
    "generation",
    "Give the prompt a way out: say so when the passages do not hold the answer.",
    _missed_refusal,
)
WRONG_REFUSAL = CauseRow(
    "wrong_refusal",
    "generation",
    "Make the prompt less cautious: answer whenever the passages hold the answer.",
    _wrong_refusal,
)
OFF_TOPIC = CauseRow(
    "off_topic",
    "generation",
    "Repeat the question in the prompt after the passages; check query rewriting.",
    _off_topic,
)
CONTRADICTED = CauseRow(
    "contradicted",
    "generation",
    "Tell the model to copy facts from the passages exactly; try a stronger model.",
    _contradicted,
)
IGNORED = CauseRow(
    "ignored",
    "generation",
    "Demand answers from the passages; put the best passage first or last; smaller chunks.",
    _ignored,
)
HALLUCINATED = CauseRow(
    "hallucinated",
    "generation",
    "Write 'answer only from the context' into the prompt, validate the output, or try another model.",
    _hallucinated,
)
MISATTRIBUTED = CauseRow(
    "misattributed", "generation", "Number the passages in the prompt and fix the format of citations.", _misattributed
)
WRONG_ANSWER = CauseRow(
    "wrong_answer",
    "generation",
    "Hold it beside the reference: where it is right too, add it as an accepted answer; else try a stronger model.",
    _wrong_answer,
)
INCOMPLETE = CauseRow(
    "incomplete",
    "generation",
    "Ask for every part of the question; check that retrieval brings all of the evidence.",
    _incomplete,
)
