"""The cause table on one example: each row in order, with why it did or did not apply."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping

from ragauge.core.messages import plural
from ragauge.diagnosis.causes.attribution import DECIDING, odds, rows_of
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.cause_rule import CauseRow, Lack, Why, counted, documents
from ragauge.diagnosis.causes.evidence import holding, misread
from ragauge.diagnosis.causes.verdicts import decide_verdict
from ragauge.diagnosis.explain.case import count_stated
from ragauge.metrics.facts import Facts
from ragauge.scores.results.explanation import RowWorked
from ragauge.scores.results.scorecard import Cause


def rows(facts: Facts, indexed: Container[str] | None, cause: Cause | None) -> tuple[RowWorked, ...]:
    """The whole table; () for an example that did not fail.

    Args:
        facts: the example, what was returned, and the evidence.
        indexed: ids of the documents in the index, where a listing is known.
        cause: what `attribute` decided.
    """
    if cause is None:
        return ()
    seen = CauseContext(facts, indexed)
    worked = []
    for row in rows_of(seen):
        rule = (row.decide.__doc__ or row.name).split("\n")[0]
        verdict = row.decide(seen)
        if isinstance(verdict, Lack):
            worked.append(RowWorked(row.name, rule, "unknown", f"not known: {verdict.what}"))
        elif isinstance(verdict, Why):
            decides = row.name == (cause.name or cause.component)
            state = "yes" if decides else "second" if row.name == cause.second else "also"
            worked.append(RowWorked(row.name, rule, state, cause.second_by if state == "second" else verdict.text))
        else:
            worked.append(RowWorked(row.name, rule, "no", _against(row, seen)))
    return tuple(worked)


def sign(facts: Facts, indexed: Container[str] | None) -> str:
    """What shows that the example failed; "" when nothing does."""
    verdict = decide_verdict(CauseContext(facts, indexed))
    return verdict.reason if verdict.verdict == "failed" else ""


def _against(row: CauseRow, seen: CauseContext) -> str:
    """The facts that rule a row out, in words; "" of a row that is not known here."""
    write = AGAINST.get(row.name)
    return write(seen) if write is not None else ""


def _yes(value: bool | None) -> str:
    return {True: "yes", False: "no", None: "not known"}[value]


def _missed(seen: CauseContext) -> str:
    if seen.missed is None:
        return "no labelled document to look for"
    if not seen.relevant:
        return "no labelled document"
    return "every gold document was handed on" if not seen.missed else f"missed: {documents(seen.missed)}"


def _refusal(seen: CauseContext) -> str:
    return f"answerable: {_yes(seen.is_answerable)}; the answer declines: {_yes(seen.refuse)}"


def _support(seen: CauseContext) -> str:
    if seen.answer is not None and not seen.answer.claims:
        return "the answer makes no claims"
    kinds = (seen.bare, "in no passage"), (seen.against, "contradicted"), (seen.open_support, "unclear")
    parts = [f"{counted('claim', [claim.n for claim in claims])} {how}" for claims, how in kinds if claims]
    return "; ".join(parts) or "every claim has support"


def _numbers(values: frozenset[int]) -> str:
    return counted("passage", values) if values else "no passage"


def _wrong(seen: CauseContext) -> str:
    wrong = [claim.n for claim in seen.wrong]
    return f"{counted('claim', wrong)} against the reference" if wrong else "no claim contradicts the reference"


def _stale(seen: CauseContext) -> str:
    return f"outdated: {_numbers(seen.stale)}; {_wrong(seen)}"


def _use(seen: CauseContext) -> str:
    followed = frozenset(n for claim in seen.wrong for n in claim.supporting)
    if followed and (held := misread(seen, followed)):
        return f"the answer {held}"
    there = holding(seen)
    known = f"the evidence is in {_numbers(there)}" if there or _is_known(seen) else ""
    where = known or "which passages hold the evidence is not known"
    return f"the answer uses {_numbers(seen.used)}; {where}"


def _is_known(seen: CauseContext) -> bool:
    """Whether anything was looked for in the passages: labelled documents, or reference claims."""
    whole = seen.reference is not None and seen.evidence_whole
    unnamed = any(not claim.supporting and seen.is_found(claim) != "no" for claim in seen.reference or ())
    return seen.missed is not None or (whole and not unnamed)


def _miss(seen: CauseContext) -> str:
    if seen.missed is not None:
        return _missed(seen) if seen.ranks is None else _ranks(seen)
    if seen.reference is not None:
        unclear = f", {len(seen.open_claims)} unclear" if seen.open_claims else ""
        return f"{len(seen.unmet)} of {len(seen.reference)} reference claims in no passage{unclear}"
    return f"relevant to the question: {_numbers(seen.evidence)}"


def _ranks(seen: CauseContext) -> str:
    if not seen.missed:
        return _missed(seen)
    ranked = [seen.rank(item) for item in seen.missed]
    where = ", ".join("not among the candidates" if rank is None else f"rank {rank}" for rank in ranked)
    return f"{documents(seen.missed)}: {where}; {seen.n} passages handed on"


def _cut(seen: CauseContext) -> str:
    if seen.missed:
        return _missed(seen)
    unmet = f"; {plural(len(seen.unmet), 'reference claim')} in no passage" if seen.reference is not None else ""
    return f"{_missed(seen)}; gold spans cut through: {len(seen.cut_spans) or 'none'}{unmet}"


def _cited(seen: CauseContext) -> str:
    if seen.response.citations is None:
        return "the system does not cite"
    return "no supported claim cites only other passages"


def _whole(seen: CauseContext) -> str:
    unstated = f"; {plural(len(seen.unstated), 'reference claim')} not stated" if seen.agreement is not None else ""
    return f"addresses the question: {seen.address or 'not known'}{unstated}"


def _stated(seen: CauseContext) -> str:
    return count_stated(seen) or "no reference"


def _odds(seen: CauseContext) -> str:
    chances = odds(seen, DECIDING)
    return f"retrieval {chances.retrieval:.2f}, generation {chances.generation:.2f}"


AGAINST: Mapping[str, Callable[[CauseContext], str]] = {
    "unclear": _odds,
    "system_failed": lambda _: "no error was recorded",
    "missed_refusal": _refusal,
    "empty_retrieval": lambda seen: f"{seen.n} passages were handed on",
    "stale_source": _stale,
    "compound": lambda seen: f"{_support(seen)}; {_missed(seen)}",
    "not_in_index": _missed,
    "retrieval_miss": _miss,
    "ranked_low": _ranks,
    "lost_before_prompt": _ranks,
    "span_cut": _cut,
    "wrong_refusal": _refusal,
    "off_topic": _whole,
    "contradicted": _support,
    "noise": lambda seen: f"{_wrong(seen)}; {_use(seen)}",
    "ignored": _use,
    "hallucinated": _support,
    "misattributed": _cited,
    "wrong_answer": _stated,
    "incomplete": _whole,
}
