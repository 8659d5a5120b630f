"""Whether one example failed: two verdicts, right and grounded, and both together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from ragauge.core.facts import Claim
from ragauge.core.verdict import ExampleVerdict, Verdict, combine
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.criteria import required_criteria
from ragauge.diagnosis.causes.decided_facts import is_surely
from ragauge.diagnosis.causes.evidence import addresses, none_relevant
from ragauge.diagnosis.causes.labeled import (
    OFF_QUESTION,
    WRONG,
    find_labeled_failure,
    find_unsupported,
    is_off_question,
)
from ragauge.diagnosis.causes.score_bands import DOUBTFUL_P, ScoreBand, read_bands
from ragauge.text.table_rows import layout_of

CERTAIN_P = 0.2  # a claim this unlikely that a passage contradicts, or that has made-up specifics, fails alone
CLEAR_P = 0.9  # an answer this likely to address the question in part or not at all is in doubt
LABEL = "a label of your own (ragauge label)"
MODEL = "a model judge (--judge)"
REFERENCE = "a reference answer"
WORKED_OUT = "the answer agrees with the reference, but the judge does not find it in the tables passed"
NOTHING_SAYS = "nothing says what is right (a reference, labels, required criteria)"
ANSWERABLE = "whether it can be answered (answerable), or its gold documents (relevant)"


class SideVerdict(NamedTuple):
    """One of the two verdicts, why, and what would settle it where it is unclear."""

    verdict: Verdict
    reason: str = ""
    settled_by: tuple[str, ...] = ()


NOT_JUDGED = SideVerdict("not_judged")
PASSED = SideVerdict("passed")


def decide_verdict(context: CauseContext, bands: Mapping[str, ScoreBand] | None = None) -> ExampleVerdict:
    """What is known of whether an example failed.

    It failed where the system gave an error, a label shows a failure (see `find_label_failure`), or the answer is not
    right or not grounded; people's labels of the answer decide both before any score of a judge does. A correct refusal
    never fails, unless a person labeled it wrong, or it does not meet a required criterion.

    Args:
        context: the example's facts.
        bands: thresholds by verdict; None = the shipped ones.
    """
    bands = bands or read_bands()
    if context.response.error is not None:
        return ExampleVerdict("failed", reason="the system failed")
    labeled_right = context.facts.labels.right
    if context.is_answerable is False and context.refuse and labeled_right is not False:
        refused = PASSED if labeled_right else _require_criteria(context, PASSED)
        return ExampleVerdict(refused.verdict, refused.verdict, "not_judged", refused.reason, refused.settled_by)
    right = _decide_right(context, bands["right"])
    grounded = _decide_grounded(context, bands["grounded"])
    if grounded.verdict == "failed" and right.verdict == "passed" and _may_be_worked_out(context):
        grounded = SideVerdict("unclear", WORKED_OUT, (LABEL, MODEL))
    verdicts = right.verdict, grounded.verdict
    labeled, _ = find_label_failure(context)
    if labeled:
        return ExampleVerdict("failed", *verdicts, labeled)
    for finding in (grounded, right):
        if finding.verdict == "failed":
            return ExampleVerdict("failed", *verdicts, finding.reason)
    unmet = [claim for claim in context.unmet if claim.p is None]
    if unmet and not labeled_right:
        of = len(context.reference or ())
        return ExampleVerdict("failed", *verdicts, f"{len(unmet)} of {of} reference claims in no passage")
    return _without_failure(context, right, grounded)


def _may_be_worked_out(context: CauseContext) -> bool:
    """Whether a table that is not off the question is among the passages: sums of its cells may be overlooked."""
    likely = all(claim.p is not None for claim in context.claims or ()) and not none_relevant(context)
    return likely and any(layout_of(passage.text) != "prose" for passage in context.response.passages or ())


def _without_failure(context: CauseContext, right: SideVerdict, grounded: SideVerdict) -> ExampleVerdict:
    verdicts = right.verdict, grounded.verdict
    both = combine(*verdicts)
    for finding in (right, grounded):
        if finding.verdict == "unclear" or (both == "passed" and finding.settled_by):  # the latter: not read
            return ExampleVerdict("unclear", *verdicts, finding.reason, finding.settled_by)
    reasons = (evidence.reason for evidence in context.facts.evidence.values() if evidence.status == "failed")
    broken = next(reasons, None)
    if broken is not None:
        verdict: Verdict = "unclear" if both == "passed" else both
        return ExampleVerdict(verdict, *verdicts, f"a judge call failed: {broken}", ("the same command again",))
    if both == "not_judged":
        if context.missed is not None and context.response.answer is None:
            return ExampleVerdict("passed")  # retrieval alone, and labels say that it found everything
        why = (finding.reason for finding in (right, grounded) if finding.reason)
        return ExampleVerdict("not_judged", *verdicts, next(why, "") or _name_unjudged(context))
    return ExampleVerdict(both, *verdicts)


def _name_unjudged(context: CauseContext) -> str:
    """What nobody judged of an example, neither whether it is right nor whether it is grounded."""
    if context.response.answer is None:
        return "no answer was recorded, and no label says which documents hold it"
    compared = "it was not compared with its reference" if context.example.references else NOTHING_SAYS
    if context.passages is None:
        return f"{compared}, and its passages were not recorded"
    checked = "its claims were not checked against the passages"
    return f"{compared}, and {checked if context.claims is None else 'it claims nothing that could be checked'}"


def find_label_failure(context: CauseContext) -> tuple[str, str]:
    """A failure that the record or a label shows, in words, and what shows it; two empty texts for none.

    What shows it is "record", "people", "labels" or "label and judge". An answer that people labeled wrong, off its
    question or not supported, a labelled document or a gold span that is missing from the passages, a refusal of an
    answerable question and an answer to an unanswerable one are failures.
    """
    if context.response.error is not None:
        return "the system failed", "record"
    if labeled := find_labeled_failure(context.facts):
        return labeled, "people"
    if context.missed:
        return f"{len(context.missed)} of {len(context.relevant)} gold documents missed", "labels"
    if context.cut_spans:
        return "a gold span is not covered by the passages", "labels"
    refusal = find_refusal_failure(context)
    return (refusal, "label and judge") if refusal else ("", "")


def find_refusal_failure(context: CauseContext) -> str:
    """A refusal of an answerable question, or an answer to one that is not; "" for neither."""
    known = context.is_answerable
    if known is None or context.refuse is not known or context.facts.labels.right:
        return ""
    return f"the system {'declined to answer an answerable' if known else 'answered an unanswerable'} question"


# ---- right ----


def _decide_right(context: CauseContext, band: ScoreBand) -> SideVerdict:
    """Whether the answer is right, by labels, else by required criteria and what else shows it."""
    labeled_right = context.facts.labels.right
    if labeled_right is not None:
        return PASSED if labeled_right else SideVerdict("failed", WRONG)
    return _require_criteria(context, _decide_answer(context, band))


def _require_criteria(context: CauseContext, otherwise: SideVerdict) -> SideVerdict:
    """The verdict with that of required criteria: one that is not met fails, one without a verdict leaves it unclear.

    Args:
        context: the example's facts.
        otherwise: what all else says.
    """
    required = required_criteria(context)
    if not required or otherwise.verdict == "failed":
        return otherwise
    decisive: tuple[tuple[bool | None, Verdict], ...] = ((False, "failed"), (None, "unclear"))
    for met, verdict in decisive:
        for criterion in required:
            if criterion.met is met:
                how = "is not met" if met is False else "has no verdict"
                text = f"required criterion {criterion.name} {how}: {criterion.reason.rstrip('.') or 'no reason given'}"
                return SideVerdict(verdict, text, () if met is False else (MODEL, LABEL))
    return PASSED if otherwise.verdict == "not_judged" else otherwise


def _decide_answer(context: CauseContext, band: ScoreBand) -> SideVerdict:
    """Whether the answer is right by the reference, or as far as it addresses the question at all."""
    if is_off_question(context.facts):
        return SideVerdict("failed", OFF_QUESTION)
    known = context.is_answerable
    if known is not None and context.refuse is known:
        return SideVerdict("failed", find_refusal_failure(context))
    if context.refuse:
        return _decide_refusal(context)
    if context.answer is not None and context.refuse is None and (known is False or context.answer.unread):
        return SideVerdict("unclear", context.lack("verify_answer.refuse"), (LABEL, MODEL))
    if known is False:
        return NOT_JUDGED
    if context.agreement is not None and context.agreement.reference:
        return _compare_to_reference(context, band)
    address = _decide_address(context)
    return _unread(context, "agree") if address == NOT_JUDGED else address


def _unread(context: CauseContext, fact: str) -> SideVerdict:
    """Not judged, with the reason where the judge was asked and cannot read the texts."""
    if fact.partition(".")[0] not in context.facts.evidence or context.reads(fact):
        return NOT_JUDGED
    return SideVerdict("not_judged", context.lack(fact), (LABEL, MODEL))


def _decide_refusal(context: CauseContext) -> SideVerdict:
    """A refusal of a question of which no label says whether it can be answered.

    It fails where something tells what the passages hold: explicit ratings of them, or that there are none; the fault
    is retrieval's or the prompt's then.
    """
    rated = not context.likely_only and context.marks is not None
    decided = rated and (context.evidence_whole or bool(context.evidence))
    if decided or context.passages == ():
        return SideVerdict("failed", "the system declined to answer")
    reason = "the system declined to answer, and nothing tells whether it should have"
    return SideVerdict("unclear", reason, (ANSWERABLE,))


def _compare_to_reference(context: CauseContext, band: ScoreBand) -> SideVerdict:
    agreement = context.agreement
    if agreement is None:
        return NOT_JUDGED
    known = [p for p in agreement.reference_p if p is not None]
    if not known:
        if context.unstated or context.wrong or context.address in ("partly", "no"):
            return SideVerdict("failed", "the answer leaves out or contradicts the reference")
        whole = None not in agreement.reference and None not in agreement.answer
        return PASSED if whole else SideVerdict("unclear", "a verdict on the reference is missing", (MODEL, LABEL))
    stated = _read_scores(known, band, "the answer leaves out the reference", "the answer may leave out the reference")
    if stated.verdict == "passed" and context.wrong:
        return SideVerdict("unclear", "the answer may contradict the reference", (LABEL, MODEL))
    return stated


def _read_scores(
    scores: Sequence[float], band: ScoreBand, failed: str, unclear: str, disputed: bool = False
) -> SideVerdict:
    """The verdict on the scores of claims, with the words for one that failed and for one that is unclear."""
    verdict, at = band.verdict_of(scores, disputed), f"expected share {fmean(scores):.2f}"
    if verdict == "passed":
        return PASSED
    if verdict == "failed":
        return SideVerdict(verdict, f"{failed} ({at})")
    low = sum(score < band.fail_below for score in scores)
    doubt = f"{low} of {len(scores)} claims doubtful, {at}" if low and len(scores) > 1 else at
    return SideVerdict(verdict, f"{unclear} ({doubt})", (LABEL, MODEL))


def _decide_address(context: CauseContext) -> SideVerdict:
    """Without a reference, an answer to something else or to half of the question is not right; none is by its topic.

    A probability leaves it open, since right answers in other words than the question's may seem off it. An answer
    beside passages that are all off the question is unclear, unless it addresses the question more surely than answers
    to other questions do; so is one that nobody can tell to be on the question.
    """
    plain = context.answer is not None and context.answer.address_p is None
    if context.address not in (None, "fully") and plain:
        return SideVerdict("failed", "the answer does not fully address the question")
    fully, *less = addresses(context)
    unread = [fact for fact in ("rate_passages", "verify_answer.address") if _unread(context, fact).reason]
    is_off_topic = bool(context.n) and none_relevant(context)
    sure = is_surely(fully, "address", context.facts.readability)
    if (is_off_topic or "rate_passages" in unread) and not sure:
        reason = "no passage is about the question" if is_off_topic else context.lack(unread[0])
        return SideVerdict("unclear", reason, (LABEL, MODEL, REFERENCE))
    if unread and not sure:
        return _unread(context, "verify_answer.address")
    marks = context.marks or {}
    in_doubt = bool(marks) and not any(marks.values()) and fully < sum(less)
    if context.address not in (None, "fully") and (max(less) >= CLEAR_P or in_doubt):
        reason = "it seems that the answer does not fully address the question"
        return SideVerdict("unclear", reason, (LABEL, MODEL, REFERENCE))
    return NOT_JUDGED


# ---- grounded ----


def _decide_grounded(context: CauseContext, band: ScoreBand) -> SideVerdict:
    """Whether the passages support the answer; not judged of a refusal, or of an answer that claims nothing."""
    answer, claims = context.answer, context.claims
    if answer is None or claims is None or (context.refuse and not context.facts.labels.is_support_labeled):
        return NOT_JUDGED if context.refuse else _unread(context, "verify_answer.support")
    if not answer.claims:
        return SideVerdict("not_judged", "the answer claims nothing that could be checked")
    if answer.refuse is None and answer.unread and not any(claim.contradicting for claim in claims):  # no refusal is
        return SideVerdict("unclear", context.lack("verify_answer.refuse"), (LABEL, MODEL))
    unsupported = context.unsupported  # without claims in the words of a reference that is there
    if any(not claim.p for claim in unsupported):  # a plain verdict, or people who all agree
        return SideVerdict("failed", find_unsupported(context.facts) or f"{len(unsupported)} claims without support")
    if conflict := _find_conflict(claims, CERTAIN_P):
        return SideVerdict("failed", conflict)
    if any(claim.p is not None for claim in claims):
        chances = [claim.chance if claim in unsupported or claim.supporting else 1.0 for claim in claims]
        conflict = _find_conflict(claims, DOUBTFUL_P)
        failed, unclear = "most of the answer is in no passage", "the passages may not support the whole answer"
        weighed = _read_scores(chances, band, conflict or failed, unclear, bool(conflict))
        if weighed.verdict != "passed":
            return weighed
    if not context.claims_whole:
        reasons = (claim.reason for claim in answer.claims if claim.status == "failed" and claim.reason)
        return SideVerdict("unclear", next(reasons, "a verdict on a claim is missing"), (MODEL, LABEL))
    return PASSED


def _find_conflict(claims: Sequence[Claim], max_p: float) -> str:
    """What speaks against a claim that is at most this likely, other than few shared words; "" for nothing."""
    for claim in claims:
        if claim.p is None or claim.chance > max_p:
            continue
        if claim.contradicting:
            return f"a passage contradicts claim {claim.n}"
        if claim.window is not None and claim.window.missing:
            return f"no passage has {claim.window.missing[0]} of claim {claim.n}"
    return ""
