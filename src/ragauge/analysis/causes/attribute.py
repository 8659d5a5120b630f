"""Why one example failed."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from ragauge.analysis.causes.cause_context import CauseContext
from ragauge.analysis.causes.row import CauseRow, Lack, Why
from ragauge.analysis.causes.table import ROWS, UNDECIDED
from ragauge.analysis.causes.undecided import DECIDED
from ragauge.analysis.results.scorecard import Cause
from ragauge.metrics.base import Measured, Metric
from ragauge.metrics.facts import Facts

Sign = tuple[str, str]     # in words, and what shows it: record, labels or judge

SHOWING = ("labels", "verify_answer", "verify_reference", "agree")     # the facts that signs are read off
NO_SIGN: Sign = ("", "")


def attribute(
    facts: Facts, measured: Mapping[str, Measured] | None = None, *, indexed: Container[str] | None = None
) -> Cause | None:
    """The cause of one example's failure: the first row of the cause table that applies.

    It depends on the facts alone, not on which metrics were asked for. Rows whose facts are lacking are skipped and
    named in `lacking`; rows that known facts rule out are not, nor are those that are less likely than not.

    Two causes tie when both apply and neither explains the other: with the first mended, a later row would still
    decide. That row is the second opinion. A document that is not in the index cannot be a retrieval miss too, and a
    refusal for want of evidence is no refusal of its own; a second document that ranked low, or a claim that
    contradicts the passages, would be left, and is named.

    Args:
        facts: the example, what was returned, and the evidence.
        measured: the metrics' results; where no row applies, those that failed are named in `lacking` too.
        indexed: ids of the documents in the index, where a listing is known.

    Returns:
        None when the example did not fail (see `failure`); a Cause with an empty name when no row applies.
    """
    seen = CauseContext(facts, indexed)
    sign, shown_by = _first_sign(seen)
    if not sign:
        return None
    lacking: dict[str, None] = {}
    rows = iter(ROWS)
    for row in rows:
        verdict = row.decide(seen)
        if isinstance(verdict, Lack):
            lacking[verdict.what] = None
        elif verdict is not None and (verdict.p >= DECIDED or row is UNDECIDED):
            if verdict.lacking:
                lacking[verdict.lacking] = None
            second, second_by = _tied(rows, CauseContext(facts, indexed, verdict.mends))
            more, fault = (tuple(lacking), verdict.basis, second_by), row.fault(verdict)
            return Cause(
                row.name, verdict.text, fault.fix, fault.component, second, *more, p=round(verdict.p, 3),
                shown_by=shown_by,
            )     # fmt: skip
    for name, result in (measured or {}).items():
        if result.status == "failed":
            lacking[f"{name}: {result.reason}"] = None
    return Cause("", sign, lacking=tuple(lacking), shown_by=shown_by)


def _tied(later: Iterator[CauseRow], mended: CauseContext) -> tuple[str, str]:
    """The first later row that applies once the cause is mended, and what decides it; "" and "" for none."""
    if not mended.mended.everything:
        for row in later:
            verdict = row.decide(mended)
            if isinstance(verdict, Why) and verdict.p >= DECIDED:
                return row.name, verdict.text
    return "", ""


def can_show(metric: Metric) -> bool:
    """Whether a metric rests on facts by which `failure` can be seen; of the others no score says that nothing failed.

    >>> from ragauge.metrics.catalogue import parse
    >>> can_show(parse("faithfulness")), can_show(parse("recall@5")), can_show(parse("token_f1"))
    (True, True, False)
    """
    return any(fact.partition(".")[0] in SHOWING for fact in metric.needs.values())


def failure(seen: CauseContext) -> str:
    """The first sign that an example failed, in words; "" when there is none.

    It failed when the system gave an error; a labelled document, a gold span or a reference claim is missing from the
    passages; a claim is unsupported or contradicted; the answer leaves out or contradicts a reference claim, or does
    not fully address the question; or it refused an answerable question or answered an unanswerable one. A correct
    refusal never fails.

    No sign is no proof that nothing failed: what was not judged shows none.
    """
    return _first_sign(seen)[0]


def _first_sign(seen: CauseContext) -> Sign:
    if seen.response.error is not None:
        return "the system failed", "record"
    if seen.example.answerable is False and seen.refuse:
        return NO_SIGN
    return next(_signs(seen), NO_SIGN)


def _signs(seen: CauseContext) -> Iterator[Sign]:
    """Every sign and what shows it, those of labels first, then those that rest on a label and the judge."""
    if seen.missed:
        yield f"{len(seen.missed)} of {len(seen.relevant)} gold documents missed", "labels"
    if seen.cut_spans:
        yield "a gold span is not covered by the passages", "labels"
    known = seen.example.answerable
    if known is not None and seen.refuse is known:
        did = "declined to answer an answerable question" if known else "answered an unanswerable question"
        yield f"the system {did}", "label and judge"
    yield from ((sign, "judge") for sign in _judged_signs(seen))


def _judged_signs(seen: CauseContext) -> Iterator[str]:
    if seen.unmet:
        yield f"{len(seen.unmet)} of {len(seen.reference or ())} reference claims in no passage"
    if seen.bare or seen.against:
        yield f"{len(seen.bare) + len(seen.against)} claims without support"
    if seen.refuse:
        yield "the system declined to answer"
    if seen.address in ("partly", "no"):
        yield "the answer does not fully address the question"
    if seen.unstated or seen.wrong:
        yield "the answer leaves out or contradicts the reference"
