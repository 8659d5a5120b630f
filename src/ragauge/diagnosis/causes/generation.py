"""Causes that lie in writing the answer."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.core.facts import Claim, CriteriaFacts, CriterionVerdict
from ragauge.core.label import NOT_SUPPORTED
from ragauge.diagnosis.causes import evidence
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.cause_rule import Basis, CauseMatch, CauseRow, MissingFact, Verdict, format_numbered_noun
from ragauge.diagnosis.causes.evidence import (
    EVIDENCE_QUESTION,
    SUPPORT_QUESTION,
    describe_misreading,
    is_unclear_refusal,
)
from ragauge.diagnosis.causes.labeled_context import LABELED_WRONG, Counterfactual

CONTRADICTION_QUESTION = "whether the passages contradict the answer"
MISSING_EVIDENCE_LABELS = (
    "relevance labels or a reference answer, to show whether retrieval should have found the evidence"
)


def _decide_missed_refusal(context: CauseContext) -> Verdict:
    """The corpus does not contain the answer, but the system answered.

    Applies when the question is labeled unanswerable and the answer does not decline.
    """
    if context.is_answerable or context.is_refusal:
        return None
    if context.is_answerable is None:
        return MissingFact("whether the question is answerable")
    if context.is_refusal is None:
        return MissingFact(context.describe_missing_fact("verify_answer.refuse"))
    return CauseMatch(
        "the question is labeled unanswerable, but the system answered it", "labels", Counterfactual(everything=True)
    )


def _decide_wrong_refusal(context: CauseContext) -> Verdict:
    """The system declined to answer although the passages contain the answer.

    Applies when the answer declines, the question is not labeled unanswerable, and no row above found that evidence is
    missing. Where nothing shows whether the passages contain the answer, it is unclear.
    """
    if context.is_answerable is False or context.is_refusal is False:
        return None
    if context.is_refusal is None:
        return MissingFact(context.describe_missing_fact("verify_answer.refuse"))
    if is_unclear_refusal(context):
        return MissingFact(EVIDENCE_QUESTION)
    answerable_note = (
        "the question is answerable" if context.is_answerable else "nothing indicates that the question is unanswerable"
    )
    basis: Basis = "labels" if context.is_answerable else "judge"
    return CauseMatch(f"the system declined to answer, but {answerable_note}", basis, Counterfactual(everything=True))


def _decide_off_topic(context: CauseContext) -> Verdict:
    """The answer is about something else.

    Applies when the answer neither addresses the question nor declines.
    """
    if context.address_level in ("fully", "partly") or context.is_refusal:
        return None
    if context.address_level is None or context.is_refusal is None:
        return MissingFact(
            context.describe_missing_fact(
                "verify_answer.address" if context.address_level is None else "verify_answer.refuse"
            )
        )
    return CauseMatch(
        "the answer does not address the question",
        "judge",
        Counterfactual(answer=True),
        p=evidence.compute_address_probabilities(context)[2],
    )


def _decide_contradicted(context: CauseContext) -> Verdict:
    """A claim contradicts the passages.

    Applies when a passage contradicts a claim and none supports it.
    """
    if context.against:
        first = context.against[0]
        text = f"{_format_claim_share(context, context.against)} contradicted by the passages"
        remedy = Counterfactual(claims=frozenset(claim.n for claim in context.against), usage=True)
        text = f"{text} (claim {first.n} by {format_numbered_noun('passage', first.contradicting)})"
        return CauseMatch(text, "judge", remedy, p=evidence.compute_unsupported_probability(context.against))
    if not context.has_all_claim_verdicts:
        return MissingFact(context.describe_missing_fact("verify_answer.support"))
    return MissingFact(CONTRADICTION_QUESTION) if any(claim.contradicting for claim in context.unclear_claims) else None


def _decide_ignored(context: CauseContext) -> Verdict:
    """The passages contain the evidence, but the answer uses none of it.

    Applies when the answer makes claims, no passage supports or is cited for any of them, and some contain the
    evidence.
    """
    if context.used or context.mended.usage or (context.has_all_claim_verdicts and not context.unsupported_claims):
        return None
    if _is_unread_refusal(context):
        return MissingFact(context.describe_missing_fact("verify_answer.refuse"))  # a refusal uses no passage
    if context.reference is None and context.has_relevance_probabilities:
        return None  # a passage on the topic is no evidence yet
    if not context.has_all_claim_verdicts:
        return MissingFact(context.describe_missing_fact("verify_answer.support"))
    if not all(context.is_supported(claim) == "no" for claim in context.claims or ()):
        return MissingFact(SUPPORT_QUESTION)
    if context.evidence:
        evidence_text = format_numbered_noun("passage", context.evidence)
        text = f"the answer uses none of the {context.n} passages, though the evidence is in {evidence_text}"
        remedy = Counterfactual(claims=frozenset(claim.n for claim in context.bare), answer=True)
        return CauseMatch(
            text, "judge", remedy, p=1 - max((claim.chance for claim in context.claims or ()), default=0.0)
        )
    return None if context.has_all_evidence_verdicts else MissingFact("which passages contain the evidence")


def _decide_hallucinated(context: CauseContext) -> Verdict:
    """No passage supports a claim, whether it is true or not.

    Applies when no passage supports or contradicts a claim. It is a guess where there are no labels, no
    reference and no plain ratings to show whether the evidence was there.
    """
    if _is_unread_refusal(context):
        return MissingFact(context.describe_missing_fact("verify_answer.refuse"))  # a refusal stands in no passage
    if unsupported := context.bare:
        numbered = [claim.n for claim in unsupported]
        is_vague = any(claim.reason == NOT_SUPPORTED for claim in unsupported)
        support_text = "labeled as not supported" if is_vague else "in no passage"
        text = f"{_format_claim_share(context, unsupported)} {support_text} ({format_numbered_noun('claim', numbered)})"
        is_certain = context.missed is not None or context.reference is not None or context.has_plain_ratings
        remedy, p = Counterfactual(claims=frozenset(numbered)), evidence.compute_unsupported_probability(unsupported)
        return CauseMatch(
            text, "judge" if is_certain else "guess", remedy, "" if is_certain else MISSING_EVIDENCE_LABELS, p
        )
    if any(not claim.contradicting for claim in context.unclear_claims):
        return MissingFact(SUPPORT_QUESTION)
    return (
        None if context.has_all_claim_verdicts else MissingFact(context.describe_missing_fact("verify_answer.support"))
    )


def _decide_misattributed(context: CauseContext) -> Verdict:
    """A claim cites passages, but not those that support it.

    Applies when a supported claim cites passages, but none of those that support it. A wrong citation alone does not
    make an answer fail: something else must be wrong as well.
    """
    if context.response.citations is None or context.claims == ():
        return None
    if context.claims is None:
        return MissingFact(context.describe_missing_fact("verify_answer.support"))
    for claim in context.claims:
        if claim.supporting:
            cited = context.cited(claim)
            if cited and cited.isdisjoint(claim.supporting):
                text = f"claim {claim.n} cites {format_numbered_noun('passage', cited)}"
                return CauseMatch(
                    f"{text} but is supported by {format_numbered_noun('passage', claim.supporting)}",
                    "judge",
                    p=claim.chance,
                )
    return None


def _decide_wrong_answer(context: CauseContext) -> Verdict:
    """The answer differs from the reference.

    Applies when the answer does not decline, and a person labeled it wrong, or it states none of the reference claims,
    or it makes a claim that a passage supports and that contradicts the reference. If it is based on a passage that
    also contains the evidence, it misread that passage.
    """
    if context.facts.labels.right is False and not (context.is_refusal or context.mended.answer):
        return CauseMatch(LABELED_WRONG, "judge", Counterfactual(answer=True))
    if context.agreement is None:
        return MissingFact(context.describe_missing_fact("agree.reference"))
    n_reference_claims, contradicting = (
        len(context.agreement.reference),
        [claim for claim in context.wrong if claim.supporting],
    )
    states_none = bool(context.unstated_claim_numbers) and len(context.unstated_claim_numbers) == n_reference_claims
    if context.is_refusal or not (states_none or contradicting):
        return None
    if _is_unread_refusal(context):
        return MissingFact(context.describe_missing_fact("verify_answer.refuse"))
    verb = "contradicts" if len(contradicting) == 1 else "contradict"
    text = f"{format_numbered_noun('claim', [claim.n for claim in contradicting])} {verb} the reference"
    if states_none:
        text = (
            f"the answer states none of the {n_reference_claims} reference claims:"
            if n_reference_claims > 1
            else "the answer does not state"
        )
        text = f"{text} {_quote_reference_claims(context, context.unstated_claim_numbers)}"
    followed = frozenset(n for claim in contradicting for n in claim.supporting) or context.used
    if misreading := describe_misreading(context, followed):
        text = f"{text}; {'it' if states_none else 'the answer'} {misreading}"
    p = max(
        evidence.compute_none_stated_probability(context) if states_none else 0.0,
        evidence.compute_disagreement_probability(context, contradicting) if contradicting else 0.0,
    )
    return CauseMatch(
        text, "judge", Counterfactual(answer=True, claims=frozenset(claim.n for claim in contradicting)), p=p
    )


def _decide_incomplete(context: CauseContext) -> Verdict:
    """The answer is incomplete.

    Applies when the answer addresses only part of the question, or states some but not all reference claims.
    """
    n_reference_claims = len(context.agreement.reference) if context.agreement else 0
    if context.address_level == "partly":
        omission = (
            f": it leaves out {_quote_reference_claims(context, context.unstated_claim_numbers)}"
            if 0 < len(context.unstated_claim_numbers) < n_reference_claims
            else ""
        )
        return CauseMatch(
            f"the answer addresses only part of the question{omission}",
            "judge",
            p=1 - evidence.compute_address_probabilities(context)[0],
        )
    if 0 < len(context.unstated_claim_numbers) < n_reference_claims:
        text = (
            f"the answer states {n_reference_claims - len(context.unstated_claim_numbers)} of {n_reference_claims} "
            "reference claims and leaves out"
        )
        return CauseMatch(
            f"{text} {_quote_reference_claims(context, context.unstated_claim_numbers)}",
            "judge",
            p=evidence.compute_unstated_probability(context),
        )
    if context.address_level is None:
        return MissingFact(context.describe_missing_fact("verify_answer.address"))
    return MissingFact(context.describe_missing_fact("agree.reference")) if context.agreement is None else None


def _is_unread_refusal(context: CauseContext) -> bool:
    """Whether the answer may decline in a language that the judge cannot tell it in."""
    return context.answer is not None and context.answer.refuse is None and bool(context.answer.unread)


def _quote_reference_claims(context: CauseContext, unstated_numbers: Sequence[int], max_chars: int = 120) -> str:
    """The first of these reference claims in its own words, and how many more there are."""
    text = context.find_reference_text(unstated_numbers[0])
    short = f"{text[:max_chars].rstrip()}…" if len(text) > max_chars else text
    first = f"“{short}”" if text else f"reference claim {unstated_numbers[0]}"
    return f"{first} and {len(unstated_numbers) - 1} more" if len(unstated_numbers) > 1 else first


def _format_claim_share(context: CauseContext, claims: Sequence[Claim]) -> str:
    total = len(context.answer.claims) if context.answer else 0
    return f"{len(claims)} of {total} claim{'' if total == 1 else 's'}"


MISSED_REFUSAL = CauseRow(
    "missed_refusal",
    "generation",
    "Tell the model to say so when the passages do not contain the answer.",
    _decide_missed_refusal,
)
WRONG_REFUSAL = CauseRow(
    "wrong_refusal",
    "generation",
    "Make the prompt less cautious: answer whenever the passages contain the answer.",
    _decide_wrong_refusal,
)
OFF_TOPIC = CauseRow(
    "off_topic",
    "generation",
    "Repeat the question in the prompt after the passages; check query rewriting.",
    _decide_off_topic,
)
CONTRADICTED = CauseRow(
    "contradicted",
    "generation",
    "Tell the model to copy facts from the passages exactly; try a stronger model.",
    _decide_contradicted,
)
IGNORED = CauseRow(
    "ignored",
    "generation",
    "Tell the model to answer from the passages; put the best passage first or last; use smaller chunks.",
    _decide_ignored,
)
HALLUCINATED = CauseRow(
    "hallucinated",
    "generation",
    "Write 'answer only from the context' into the prompt, validate the output, or try another model.",
    _decide_hallucinated,
)
MISATTRIBUTED = CauseRow(
    "misattributed",
    "generation",
    "Number the passages in the prompt and specify the citation format.",
    _decide_misattributed,
)
WRONG_ANSWER = CauseRow(
    "wrong_answer",
    "generation",
    "Compare it with the reference: if both are right, add it as an accepted answer; otherwise try a stronger model.",
    _decide_wrong_answer,
)
INCOMPLETE = CauseRow(
    "incomplete",
    "generation",
    "Tell the model to answer every part of the question; check that retrieval finds all of the evidence.",
    _decide_incomplete,
)


# ---- required criteria ----

CRITERION_PREFIX = "criterion:"  # how the name of the cause begins that a required criterion is


def required_criteria(context: CauseContext) -> tuple[CriterionVerdict, ...]:
    """What was said of the criteria of the run that a right answer meets."""
    facts = context.asked("meet_criteria")
    verdicts = facts.verdicts if isinstance(facts, CriteriaFacts) and not context.mended.criteria else ()
    return tuple(verdict for verdict in verdicts if verdict.required)


def build_criterion_row(name: str, text: str) -> CauseRow:
    """The row of a required criterion.

    Args:
        name: of the criterion.
        text: its statement; "" = it is not known any more.
    """

    def decide_criterion(context: CauseContext) -> Verdict:
        """The answer does not meet a required criterion."""
        criterion_verdict = next((verdict for verdict in required_criteria(context) if verdict.name == name), None)
        if criterion_verdict is None or criterion_verdict.met:
            return None
        if criterion_verdict.met is None:
            return MissingFact(f"whether the criterion {name} is met")
        level = (
            f" (level {criterion_verdict.level} of {criterion_verdict.n_levels})"
            if criterion_verdict.level is not None
            else ""
        )
        return CauseMatch(
            f"{criterion_verdict.reason.rstrip('.') or f'{name} is not met'}{level}",
            "judge",
            Counterfactual(criteria=True),
        )

    fix = f"Ask for it in the prompt: {text}" if text else f"Add the criterion {name} to the prompt."
    return CauseRow(f"{CRITERION_PREFIX}{name}", "generation", fix, decide_criterion)
