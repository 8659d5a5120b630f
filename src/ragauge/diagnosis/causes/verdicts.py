"""Whether one example failed: two verdicts, right and grounded, and both together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from ragauge.core.facts import Claim
from ragauge.core.verdict import ExampleVerdict, Verdict, combine_verdicts
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.decided_facts import DOUBTFUL_P, ScoreBand, is_clear_yes, read_bands
from ragauge.diagnosis.causes.evidence import compute_address_probabilities, has_no_relevant_passage
from ragauge.diagnosis.causes.generation import required_criteria
from ragauge.diagnosis.causes.labeled_context import (
    LABELED_OFF_QUESTION,
    LABELED_WRONG,
    find_labeled_failure,
    find_unsupported,
    is_off_question,
)
from ragauge.text.table_rows import detect_layout

CERTAIN_P = 0.2  # a claim this unlikely that a passage contradicts, or that has made-up specifics, fails alone
CLEAR_P = 0.9  # an answer this likely to address the question in part or not at all is in doubt
LABEL_OPTION = "your own label (ragauge label)"
MODEL_OPTION = "a model judge (--judge)"
REFERENCE_OPTION = "a reference answer"
DERIVED_ANSWER = "the answer agrees with the reference, but the judge does not find it in the tables of the passages"
NO_CRITERION_NOTE = "there is no reference, label or required criterion"
ANSWERABLE_OPTION = "a label of whether it is answerable (answerable), or its gold documents (relevant)"


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
    if context.is_answerable is False and context.is_refusal and labeled_right is not False:
        refusal_verdict = PASSED if labeled_right else _require_criteria(context, PASSED)
        return ExampleVerdict(
            refusal_verdict.verdict,
            refusal_verdict.verdict,
            "not_judged",
            refusal_verdict.reason,
            refusal_verdict.settled_by,
        )
    right = _decide_right(context, bands["right"])
    grounded = _decide_grounded(context, bands["grounded"])
    if grounded.verdict == "failed" and right.verdict == "passed" and _can_be_derived(context):
        grounded = SideVerdict("unclear", DERIVED_ANSWER, (LABEL_OPTION, MODEL_OPTION))
    verdicts = right.verdict, grounded.verdict
    labeled, _ = find_label_failure(context)
    if labeled:
        return ExampleVerdict("failed", *verdicts, labeled)
    for finding in (grounded, right):
        if finding.verdict == "failed":
            return ExampleVerdict("failed", *verdicts, finding.reason)
    unmet = [claim for claim in context.missing_reference_claims if claim.p is None]
    if unmet and not labeled_right:
        n_reference_claims = len(context.reference or ())
        return ExampleVerdict(
            "failed", *verdicts, f"{len(unmet)} of {n_reference_claims} reference claims in no passage"
        )
    return _decide_without_failure(context, right, grounded)


def _can_be_derived(context: CauseContext) -> bool:
    """Whether a table that is not off the question is among the passages: sums of its cells may be overlooked."""
    likely = all(claim.p is not None for claim in context.claims or ()) and not has_no_relevant_passage(context)
    return likely and any(detect_layout(passage.text) != "prose" for passage in context.response.passages or ())


def _decide_without_failure(context: CauseContext, right: SideVerdict, grounded: SideVerdict) -> ExampleVerdict:
    verdicts = right.verdict, grounded.verdict
    both = combine_verdicts(*verdicts)
    for finding in (right, grounded):
        if finding.verdict == "unclear" or (both == "passed" and finding.settled_by):  # the latter: not read
            return ExampleVerdict("unclear", *verdicts, finding.reason, finding.settled_by)
    reasons = (evidence.reason for evidence in context.facts.evidence.values() if evidence.status == "failed")
    call_error = next(reasons, None)
    if call_error is not None:
        verdict: Verdict = "unclear" if both == "passed" else both
        return ExampleVerdict(
            verdict, *verdicts, f"a judge call failed: {call_error}", ("running the same command again",)
        )
    if both == "not_judged":
        if context.missed is not None and context.response.answer is None:
            return ExampleVerdict("passed")  # retrieval alone, and labels say that it found everything
        reasons_given = (finding.reason for finding in (right, grounded) if finding.reason)
        return ExampleVerdict("not_judged", *verdicts, next(reasons_given, "") or _describe_unjudged(context))
    return ExampleVerdict(both, *verdicts)


def _describe_unjudged(context: CauseContext) -> str:
    """What nobody judged of an example, neither whether it is right nor whether it is grounded."""
    if context.response.answer is None:
        return "no answer was recorded, and no label names the gold documents"
    compared = "it was not compared with the reference" if context.example.references else NO_CRITERION_NOTE
    if context.passages is None:
        return f"{compared}, and its passages were not recorded"
    checked = "its claims were not checked against the passages"
    return f"{compared}, and {checked if context.claims is None else 'it makes no checkable claims'}"


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
    answerable = context.is_answerable
    if answerable is None or context.is_refusal is not answerable or context.facts.labels.right:
        return ""
    return f"the system {'declined to answer an answerable' if answerable else 'answered an unanswerable'} question"


# ---- right ----


def _decide_right(context: CauseContext, band: ScoreBand) -> SideVerdict:
    """Whether the answer is right, by labels, else by required criteria and what else shows it."""
    labeled_right = context.facts.labels.right
    if labeled_right is not None:
        return PASSED if labeled_right else SideVerdict("failed", LABELED_WRONG)
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
    for met_state, verdict in decisive:
        for criterion in required:
            if criterion.met is met_state:
                how = "is not met" if met_state is False else "has no verdict"
                text = f"required criterion {criterion.name} {how}: {criterion.reason.rstrip('.') or 'no reason given'}"
                return SideVerdict(verdict, text, () if met_state is False else (MODEL_OPTION, LABEL_OPTION))
    return PASSED if otherwise.verdict == "not_judged" else otherwise


def _decide_answer(context: CauseContext, band: ScoreBand) -> SideVerdict:
    """Whether the answer is right by the reference, or as far as it addresses the question at all."""
    if is_off_question(context.facts):
        return SideVerdict("failed", LABELED_OFF_QUESTION)
    answerable = context.is_answerable
    if answerable is not None and context.is_refusal is answerable:
        return SideVerdict("failed", find_refusal_failure(context))
    if context.is_refusal:
        return _decide_refusal(context)
    if context.answer is not None and context.is_refusal is None and (answerable is False or context.answer.unread):
        return SideVerdict(
            "unclear", context.describe_missing_fact("verify_answer.refuse"), (LABEL_OPTION, MODEL_OPTION)
        )
    if answerable is False:
        return NOT_JUDGED
    if context.agreement is not None and context.agreement.reference:
        return _compare_to_reference(context, band)
    address = _decide_address(context)
    return _build_unread_verdict(context, "agree") if address == NOT_JUDGED else address


def _build_unread_verdict(context: CauseContext, fact: str) -> SideVerdict:
    """Not judged, with the reason where the judge was asked and cannot read the texts."""
    if fact.partition(".")[0] not in context.facts.evidence or context.can_read(fact):
        return NOT_JUDGED
    return SideVerdict("not_judged", context.describe_missing_fact(fact), (LABEL_OPTION, MODEL_OPTION))


def _decide_refusal(context: CauseContext) -> SideVerdict:
    """A refusal of a question of which no label says whether it can be answered.

    It fails where something tells what the passages hold: explicit ratings of them, or that there are none; the fault
    is retrieval's or the prompt's then.
    """
    rated = not context.has_relevance_probabilities and context.relevance_by_passage is not None
    decided = rated and (context.has_all_evidence_verdicts or bool(context.evidence))
    if decided or context.passages == ():
        return SideVerdict("failed", "the system declined to answer")
    reason = "the system declined to answer, and nothing shows whether it should have"
    return SideVerdict("unclear", reason, (ANSWERABLE_OPTION,))


def _compare_to_reference(context: CauseContext, band: ScoreBand) -> SideVerdict:
    agreement = context.agreement
    if agreement is None:
        return NOT_JUDGED
    stated_p = [p for p in agreement.reference_p if p is not None]
    if not stated_p:
        if context.unstated_claim_numbers or context.wrong or context.address_level in ("partly", "no"):
            return SideVerdict("failed", "the answer omits or contradicts part of the reference")
        is_complete = None not in agreement.reference and None not in agreement.answer
        return (
            PASSED
            if is_complete
            else SideVerdict("unclear", "a verdict on the reference is missing", (MODEL_OPTION, LABEL_OPTION))
        )
    stated = _read_scores(
        stated_p,
        band,
        "the answer does not state what the reference says",
        "the answer may not state what the reference says",
    )
    if stated.verdict == "passed" and context.wrong:
        return SideVerdict("unclear", "the answer may contradict the reference", (LABEL_OPTION, MODEL_OPTION))
    return stated


def _read_scores(
    scores: Sequence[float], band: ScoreBand, failed: str, unclear: str, disputed: bool = False
) -> SideVerdict:
    """The verdict on the scores of claims, with the words for one that failed and for one that is unclear."""
    verdict, share_text = band.decide_verdict(scores, disputed), f"expected share {fmean(scores):.2f}"
    if verdict == "passed":
        return PASSED
    if verdict == "failed":
        return SideVerdict(verdict, f"{failed} ({share_text})")
    n_low = sum(score < band.fail_below for score in scores)
    doubt = f"{n_low} of {len(scores)} claims doubtful, {share_text}" if n_low and len(scores) > 1 else share_text
    return SideVerdict(verdict, f"{unclear} ({doubt})", (LABEL_OPTION, MODEL_OPTION))


def _decide_address(context: CauseContext) -> SideVerdict:
    """Without a reference, an answer to something else or to half of the question is not right; none is by its topic.

    A probability leaves it open, since right answers in other words than the question's may seem off it. An answer
    beside passages that are all off the question is unclear, unless it addresses the question more surely than answers
    to other questions do; so is one that nobody can tell to be on the question.
    """
    is_plain = context.answer is not None and context.answer.address_p is None
    if context.address_level not in (None, "fully") and is_plain:
        return SideVerdict("failed", "the answer does not fully address the question")
    fully_p, *less_p = compute_address_probabilities(context)
    unread = [
        fact for fact in ("rate_passages", "verify_answer.address") if _build_unread_verdict(context, fact).reason
    ]
    is_off_topic = bool(context.n) and has_no_relevant_passage(context)
    is_sure = is_clear_yes(fully_p, "address", context.facts.readability)
    if (is_off_topic or "rate_passages" in unread) and not is_sure:
        reason = "no passage is about the question" if is_off_topic else context.describe_missing_fact(unread[0])
        return SideVerdict("unclear", reason, (LABEL_OPTION, MODEL_OPTION, REFERENCE_OPTION))
    if unread and not is_sure:
        return _build_unread_verdict(context, "verify_answer.address")
    marks = context.relevance_by_passage or {}
    in_doubt = bool(marks) and not any(marks.values()) and fully_p < sum(less_p)
    if context.address_level not in (None, "fully") and (max(less_p) >= CLEAR_P or in_doubt):
        reason = "the answer may not fully address the question"
        return SideVerdict("unclear", reason, (LABEL_OPTION, MODEL_OPTION, REFERENCE_OPTION))
    return NOT_JUDGED


# ---- grounded ----


def _decide_grounded(context: CauseContext, band: ScoreBand) -> SideVerdict:
    """Whether the passages support the answer; not judged of a refusal, or of an answer that claims nothing."""
    answer, claims = context.answer, context.claims
    if answer is None or claims is None or (context.is_refusal and not context.facts.labels.is_support_labeled):
        return NOT_JUDGED if context.is_refusal else _build_unread_verdict(context, "verify_answer.support")
    if not answer.claims:
        return SideVerdict("not_judged", "the answer makes no checkable claims")
    if answer.refuse is None and answer.unread and not any(claim.contradicting for claim in claims):  # no refusal is
        return SideVerdict(
            "unclear", context.describe_missing_fact("verify_answer.refuse"), (LABEL_OPTION, MODEL_OPTION)
        )
    unsupported = context.unsupported_claims  # without claims in the words of a reference that is there
    if any(not claim.p for claim in unsupported):  # a plain verdict, or people who all agree
        return SideVerdict("failed", find_unsupported(context.facts) or f"{len(unsupported)} claims are unsupported")
    if conflict := _find_conflict(claims, CERTAIN_P):
        return SideVerdict("failed", conflict)
    if any(claim.p is not None for claim in claims):
        chances = [claim.chance if claim in unsupported or claim.supporting else 1.0 for claim in claims]
        conflict = _find_conflict(claims, DOUBTFUL_P)
        failed, unclear = "no passage supports most of the answer", "the passages may not support the whole answer"
        score_verdict = _read_scores(chances, band, conflict or failed, unclear, bool(conflict))
        if score_verdict.verdict != "passed":
            return score_verdict
    if not context.has_all_claim_verdicts:
        reasons = (claim.reason for claim in answer.claims if claim.status == "failed" and claim.reason)
        return SideVerdict("unclear", next(reasons, "a verdict on a claim is missing"), (MODEL_OPTION, LABEL_OPTION))
    return PASSED


def _find_conflict(claims: Sequence[Claim], max_p: float) -> str:
    """What speaks against a claim that is at most this likely, other than few shared words; "" for nothing."""
    for claim in claims:
        if claim.p is None or claim.chance > max_p:
            continue
        if claim.contradicting:
            return f"a passage contradicts claim {claim.n}"
        if claim.window is not None and claim.window.missing:
            return f"no passage contains {claim.window.missing[0]} from claim {claim.n}"
    return ""
