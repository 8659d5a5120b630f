"""The cause table on one example: each row in order, with why it did or did not apply."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping

from ragauge.core.messages import format_count
from ragauge.diagnosis.causes.attribution import DECISION_ROWS, list_cause_rows, weigh_components
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.cause_rule import (
    CauseMatch,
    CauseRow,
    MissingFact,
    format_documents,
    format_numbered_noun,
)
from ragauge.diagnosis.causes.evidence import describe_misreading, find_evidence_passages
from ragauge.diagnosis.causes.verdicts import decide_verdict
from ragauge.diagnosis.explain.case import count_stated
from ragauge.metrics.facts import Facts
from ragauge.scores.results.explanation import RowWorked
from ragauge.scores.results.scorecard import Cause


def explain_rows(facts: Facts, indexed: Container[str] | None, cause: Cause | None) -> tuple[RowWorked, ...]:
    """The whole table; () for an example that did not fail.

    Args:
        facts: the example, what was returned, and the evidence.
        indexed: ids of the documents in the index, where a listing is known.
        cause: what `attribute` decided.
    """
    if cause is None:
        return ()
    context = CauseContext(facts, indexed)
    row_explanations = []
    for row in list_cause_rows(context):
        rule = (row.decide.__doc__ or row.name).split("\n")[0]
        verdict = row.decide(context)
        if isinstance(verdict, MissingFact):
            row_explanations.append(RowWorked(row.name, rule, "unknown", f"unknown: {verdict.what}"))
        elif isinstance(verdict, CauseMatch):
            is_cause = row.name == (cause.name or cause.component)
            state = "yes" if is_cause else "second" if row.name == cause.second else "also"
            row_explanations.append(
                RowWorked(row.name, rule, state, cause.second_by if state == "second" else verdict.text)
            )
        else:
            row_explanations.append(RowWorked(row.name, rule, "no", _describe_contrary_facts(row, context)))
    return tuple(row_explanations)


def find_failure_sign(facts: Facts, indexed: Container[str] | None) -> str:
    """What shows that the example failed; "" when nothing does."""
    verdict = decide_verdict(CauseContext(facts, indexed))
    return verdict.reason if verdict.verdict == "failed" else ""


def _describe_contrary_facts(row: CauseRow, context: CauseContext) -> str:
    """The facts that rule a row out, in words; "" of a row that is not known here."""
    write = CONTRARY_FACTS.get(row.name)
    return write(context) if write is not None else ""


def _format_answer(value: bool | None) -> str:
    return {True: "yes", False: "no", None: "unknown"}[value]


def _describe_missed(context: CauseContext) -> str:
    if context.missed is None:
        return "no gold documents are labeled"
    if not context.relevant:
        return "there is no gold document"
    return "every gold document was retrieved" if not context.missed else f"missed: {format_documents(context.missed)}"


def _describe_refusal(context: CauseContext) -> str:
    return (
        f"answerable: {_format_answer(context.is_answerable)}; the answer declines: "
        f"{_format_answer(context.is_refusal)}"
    )


def _describe_support(context: CauseContext) -> str:
    if context.answer is not None and not context.answer.claims:
        return "the answer makes no claims"
    kinds = (context.bare, "in no passage"), (context.against, "contradicted"), (context.unclear_claims, "unclear")
    phrases = [
        f"{format_numbered_noun('claim', [claim.n for claim in claims])} {how}" for claims, how in kinds if claims
    ]
    return "; ".join(phrases) or "every claim is supported"


def _format_passages(values: frozenset[int]) -> str:
    return format_numbered_noun("passage", values) if values else "no passage"


def _describe_wrong_claims(context: CauseContext) -> str:
    claim_numbers = [claim.n for claim in context.wrong]
    return (
        f"{format_numbered_noun('claim', claim_numbers)} against the reference"
        if claim_numbers
        else "no claim contradicts the reference"
    )


def _describe_stale(context: CauseContext) -> str:
    return f"outdated: {_format_passages(context.stale)}; {_describe_wrong_claims(context)}"


def _describe_use(context: CauseContext) -> str:
    followed = frozenset(n for claim in context.wrong for n in claim.supporting)
    if followed and (misreading := describe_misreading(context, followed)):
        return f"the answer {misreading}"
    evidence_numbers = find_evidence_passages(context)
    evidence_text = (
        f"the evidence is in {_format_passages(evidence_numbers)}"
        if evidence_numbers or _is_evidence_known(context)
        else ""
    )
    place_text = evidence_text or "it is unclear which passages contain the evidence"
    return f"the answer uses {_format_passages(context.used)}; {place_text}"


def _is_evidence_known(context: CauseContext) -> bool:
    """Whether anything was looked for in the passages: labelled documents, or reference claims."""
    is_complete = context.reference is not None and context.has_all_evidence_verdicts
    unnamed = any(not claim.supporting and context.is_found(claim) != "no" for claim in context.reference or ())
    return context.missed is not None or (is_complete and not unnamed)


def _describe_miss(context: CauseContext) -> str:
    if context.missed is not None:
        return _describe_missed(context) if context.ranks is None else _describe_ranks(context)
    if context.reference is not None:
        unclear = f", {len(context.unclear_reference_claims)} unclear" if context.unclear_reference_claims else ""
        return (
            f"{len(context.missing_reference_claims)} of {len(context.reference)} reference claims in no "
            f"passage{unclear}"
        )
    return f"relevant to the question: {_format_passages(context.evidence)}"


def _describe_ranks(context: CauseContext) -> str:
    if not context.missed:
        return _describe_missed(context)
    best_ranks = [context.rank(item) for item in context.missed]
    where = ", ".join("not among the candidates" if rank is None else f"rank {rank}" for rank in best_ranks)
    return f"{format_documents(context.missed)}: {where}; {context.n} passages passed to the generator"


def _describe_cut(context: CauseContext) -> str:
    if context.missed:
        return _describe_missed(context)
    unmet = (
        f"; {format_count(len(context.missing_reference_claims), 'reference claim')} in no passage"
        if context.reference is not None
        else ""
    )
    return f"{_describe_missed(context)}; gold spans only partly retrieved: {len(context.cut_spans) or 'none'}{unmet}"


def _describe_citations(context: CauseContext) -> str:
    if context.response.citations is None:
        return "the system does not cite"
    return "every supported claim that cites passages cites a supporting one"


def _describe_completeness(context: CauseContext) -> str:
    unstated = (
        f"; {format_count(len(context.unstated_claim_numbers), 'reference claim')} not stated"
        if context.agreement is not None
        else ""
    )
    return f"addresses the question: {context.address_level or 'unknown'}{unstated}"


def _describe_stated(context: CauseContext) -> str:
    return count_stated(context) or "no reference"


def _describe_odds(context: CauseContext) -> str:
    component_odds = weigh_components(context, DECISION_ROWS)
    return f"retrieval {component_odds.retrieval:.2f}, generation {component_odds.generation:.2f}"


CONTRARY_FACTS: Mapping[str, Callable[[CauseContext], str]] = {
    "unclear": _describe_odds,
    "system_failed": lambda _: "no error was recorded",
    "missed_refusal": _describe_refusal,
    "empty_retrieval": lambda seen: f"{seen.n} passages were retrieved",
    "stale_source": _describe_stale,
    "compound": lambda seen: f"{_describe_support(seen)}; {_describe_missed(seen)}",
    "not_in_index": _describe_missed,
    "retrieval_miss": _describe_miss,
    "ranked_low": _describe_ranks,
    "lost_before_prompt": _describe_ranks,
    "span_cut": _describe_cut,
    "wrong_refusal": _describe_refusal,
    "off_topic": _describe_completeness,
    "contradicted": _describe_support,
    "noise": lambda seen: f"{_describe_wrong_claims(seen)}; {_describe_use(seen)}",
    "ignored": _describe_use,
    "hallucinated": _describe_support,
    "misattributed": _describe_citations,
    "wrong_answer": _describe_stated,
    "incomplete": _describe_completeness,
}
