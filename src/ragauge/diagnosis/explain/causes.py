"""The cause table on one example, row by row, over the example's facts by name."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from ragauge.core.facts import Claim, ReferenceClaim
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
from ragauge.diagnosis.causes.decided_facts import Decision
from ragauge.diagnosis.causes.evidence import describe_misreading, find_evidence_passages
from ragauge.diagnosis.causes.verdicts import decide_verdict
from ragauge.metrics.base import Metric, MetricResult, Value, format_number
from ragauge.metrics.catalogue import is_own, is_stored, parse_metric
from ragauge.metrics.facts import Absent, Facts, resolve_fact
from ragauge.metrics.measure import ABOUT, fill_gap, has_gap, is_gap, measure_metric
from ragauge.metrics.own_class import has_own_code
from ragauge.metrics.specifics import Places, find_unfounded
from ragauge.scores.results.explanation import RowWorked
from ragauge.scores.results.scorecard import Cause

T = TypeVar("T")

MAX_ENTRIES = 12  # entries of a list that are written out
MAX_TEXT_CHARS = 90  # characters of a text that are shown


def can_run(metric: Metric) -> bool:
    """Whether an explanation computes a metric: the code of a user, which may do anything, it does not run."""
    return not (is_stored(type(metric)) or (is_own(metric) and has_own_code(metric)))


class ExampleCase:
    """What is known about one example.

    Attributes:
        facts: the example, what was returned, and the evidence.
        seen: the same as the cause table asks for it.
    """

    def __init__(self, facts: Facts, indexed: Container[str] | None = None) -> None:
        self.facts = facts
        self.seen = CauseContext(facts, indexed)
        self._known: dict[str, Any] = {}

    def read_fact(self, name: str) -> Any:
        """A fact's value, or NotApplicable or Failed."""
        if name not in self._known:
            self._known[name] = resolve_fact(name, self.facts)
        return self._known[name]

    def has_fact(self, name: str) -> bool:
        """Whether a fact could be had."""
        return not isinstance(self.read_fact(name), Absent)

    def compute_value(self, metric: Metric) -> tuple[Value | None, Mapping[str, Sequence[int]]]:
        """What the metric returns, and of each kind of item which lack a verdict, by numbers from 1.

        What is missing counts as its best option there. None where a fact is not known, or where `can_run` says no.
        """
        gaps: dict[str, list[int]] = {}
        if not can_run(metric) or not all(map(self.has_fact, metric.needs.values())):
            return None, gaps
        values = {}
        for argument, fact in metric.needs.items():
            values[argument] = self.read_fact(fact)
            if has_gap(fact, values[argument]):
                numbers = [n for n, item in enumerate(values[argument], 1) if is_gap(item)]
                gaps[ABOUT.get(fact, fact)] = [*gaps.get(ABOUT.get(fact, fact), ()), *numbers]
                values[argument] = tuple(fill_gap(fact, item) if is_gap(item) else item for item in values[argument])
        return metric.value(**values), gaps

    def compute_result(self, metric: str | Metric) -> MetricResult:
        """A metric's value, computed from the facts."""
        return measure_metric(parse_metric(metric) if isinstance(metric, str) else metric, self.facts)

    def find_unfounded(self, kind: str) -> tuple[tuple[Places, ...], tuple[Places, ...]]:
        """Specifics of the answer, and those of them that stand nowhere, as `metrics.specifics` finds them."""
        answer, query, passages = map(self.read_fact, ("response.answer", "set.turns", "response.texts"))
        return find_unfounded(answer, query, passages, kind)

    @cached_property
    def passage_titles(self) -> list[str]:
        """What to call each passage: its document, or its own id where a document has several."""
        passages = self.facts.response.passages or ()
        docs = [passage.doc_id for passage in passages]
        return [p.doc_id if docs.count(p.doc_id) == 1 else p.passage_id for p in passages]


def count_decided(decisions: Iterable[Decision | None], chances: Iterable[float | None], whose: str, how: str) -> str:
    """Of how many claims a judge says yes, and the share that one with probabilities expects; "" without a verdict.

    Args:
        decisions: what the judge's finding on each claim says; None = no verdict.
        chances: its probability of a yes; None = it has none.
        whose: what is counted, such as reference claims.
        how: what is so of them, such as "found in the passages".

    >>> count_decided(["yes", "no"], [0.9, 0.1], "claims", "found in the passages")
    '1 of 2 claims found in the passages; expected share 0.50'
    >>> count_decided(["open"], [0.45], "claims", "found in the passages")
    '0 of 1 claims surely found in the passages, 1 unclear; expected share 0.45'
    >>> count_decided(["yes", None], [None, None], "reference claims", "stated by the answer")
    '1 of 1 reference claims stated by the answer'
    """
    decided_pairs = [(decision, p) for decision, p in zip(decisions, chances, strict=True) if decision is not None]
    if not decided_pairs:
        return ""
    decisions_given = [decision for decision, _ in decided_pairs]
    n_open, n_yes = decisions_given.count("open"), decisions_given.count("yes")
    count_text = f"{n_yes} of {len(decided_pairs)} {whose} {f'surely {how}, {n_open} unclear' if n_open else how}"
    if all(p is None for _, p in decided_pairs):
        return count_text
    expected_share = sum(float(decision == "yes") if p is None else p for decision, p in decided_pairs) / len(
        decided_pairs
    )
    return f"{count_text}; expected share {expected_share:.2f}"


def count_supported(claims: Sequence[Claim], context: CauseContext) -> str:
    """How many claims of an answer the passages hold, as `count_decided` says it; "" where the judge cannot tell."""
    if context.claims is None:
        return ""
    decisions = [context.is_supported(claim) for claim in claims]
    return count_decided(decisions, [claim.p for claim in claims], "claims", "found in the passages")


def count_found(context: CauseContext) -> str:
    """How many reference claims the passages hold, as `count_decided` says it; "" where none is known."""
    claims = context.reference or ()
    decisions = [context.is_found(claim) for claim in claims]
    return count_decided(decisions, [claim.p for claim in claims], "reference claims", "found in the passages")


def count_stated(context: CauseContext) -> str:
    """How many reference claims the answer states, as `count_decided` says it; "" where none is known."""
    if context.agreement is None:
        return ""
    n = len(context.agreement.reference)
    chances = [*context.agreement.reference_p, *[None] * n][:n]
    decisions = [context.is_stated(number) for number in range(1, n + 1)]
    return count_decided(decisions, chances, "reference claims", "stated by the answer")


def shorten_text(text: str, max_chars: int = MAX_TEXT_CHARS) -> str:
    """Text on one line, cut when long."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def format_set(numbers: Iterable[Any]) -> str:
    """A set: {1, 3}.

    >>> format_set([3, 1]), format_set([])
    ('{1, 3}', '{}')
    """
    return "{" + ", ".join(map(str, sorted(numbers))) + "}"


def format_supporting(claim: ReferenceClaim, context: CauseContext) -> str:
    """T of a reference claim: the passages that support it; where only a probability says that some may, so."""
    if claim.supporting is None:
        return "?"
    return "none named" if claim.supporting == () and context.is_found(claim) != "no" else format_set(claim.supporting)


def format_indexed(symbol: str, items: Iterable[T], value: Callable[[T], str]) -> str:
    """An indexed symbol written out: S[1] = {2}, S[2] = {}."""
    entries = [f"{symbol}[{n}] = {value(item)}" for n, item in enumerate(items, 1)]
    more = f" … and {len(entries) - MAX_ENTRIES} more" if len(entries) > MAX_ENTRIES else ""
    return ", ".join(entries[:MAX_ENTRIES]) + more if entries else "none"


def format_list(words: Iterable[str]) -> str:
    """A list, the first few: a, b … and 3 more; none."""
    entries = list(words)
    more = f" … and {len(entries) - MAX_ENTRIES} more" if len(entries) > MAX_ENTRIES else ""
    return ", ".join(entries[:MAX_ENTRIES]) + more if entries else "none"


def format_mark(value: float | None) -> str:
    """1, 0 or a probability; ? where the verdict is missing."""
    return "?" if value is None else format_number(float(value))


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
