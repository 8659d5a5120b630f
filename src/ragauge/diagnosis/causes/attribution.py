"""Why one example failed, and what is not known of it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from ragauge.core.messages import format_count
from ragauge.core.verdict import ExampleVerdict
from ragauge.diagnosis.causes import evidence
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.cause_rule import CauseMatch, CauseRow, MissingFact, Verdict
from ragauge.diagnosis.causes.evidence import EVIDENCE_QUESTION, is_unclear_refusal
from ragauge.diagnosis.causes.generation import (
    CONTRADICTED,
    CRITERION_PREFIX,
    HALLUCINATED,
    IGNORED,
    INCOMPLETE,
    MISATTRIBUTED,
    MISSED_REFUSAL,
    OFF_TOPIC,
    WRONG_ANSWER,
    WRONG_REFUSAL,
    build_criterion_row,
    required_criteria,
)
from ragauge.diagnosis.causes.labeled_context import Counterfactual
from ragauge.diagnosis.causes.retrieval import (
    COMPOUND,
    EMPTY_RETRIEVAL,
    LOST_BEFORE_PROMPT,
    NOISE,
    RANKED_LOW,
    RETRIEVAL_MISS,
    SPAN_CUT,
)
from ragauge.diagnosis.causes.system import NOT_IN_INDEX, STALE_SOURCE, SYSTEM_FAILED
from ragauge.diagnosis.causes.verdicts import decide_verdict, find_label_failure
from ragauge.metrics.base import Metric, MetricResult
from ragauge.metrics.catalogue import list_classes
from ragauge.metrics.facts import Facts
from ragauge.metrics.reasons import NO_REFERENCE, NOT_EVALUATED
from ragauge.metrics.topics import is_task
from ragauge.scores.results.scorecard import Cause

MIN_DECISIVE_P = 0.5  # from here on a component is more likely at fault than all else together
CERTAIN_BASES = ("record", "labels")
OVERLOOKED_NOTE = "the judge may have overlooked it: known false pairs score lower"
LABELS = "gold documents (relevant)"
REFERENCE = "a reference answer"
SPANS = "gold spans (the location of the evidence in the documents)"
RESOLUTION_OPTIONS = "your own labels (ragauge label draw), a model judge (--judge), or an experiment (ragauge confirm)"


class ComponentOdds(NamedTuple):
    """How likely each component is at fault, as far as the facts tell."""

    retrieval: float  #: probability that evidence is missing from the passages, R.
    blamed: float  #: the same as far as a row of retrieval applies; less than R where the judge may have overlooked it.
    #: (1 - R) G: that it is there, and the answer is at fault all the same, G being the probability of the likeliest
    #: fault of the answer.
    generation: float
    named: tuple[str, ...]  #: the likeliest cause of each component that applies, in the order of the table.


def weigh_components(context: CauseContext, rows: Sequence[CauseRow]) -> ComponentOdds:
    """Weighs retrieval against generation by all rows of the table that apply.

    Where labels say which documents hold the evidence, they decide whether it is missing. Otherwise R is the
    probability that some reference claim is in no passage, or without a reference that no passage is relevant; it
    counts against generation also where it is too small for a row of retrieval to apply.
    """
    matches = list(_find_applying_rows(context, rows))
    retrieval_matches = [match for row, match in matches if row.find_remedy(match).component in ("retrieval", "data")]
    generation_matches = [match for row, match in matches if row.find_remedy(match).component == "generation"]
    blamed = missing = max((match.p for match in retrieval_matches), default=0.0)
    if context.missed is None:
        gap = (
            evidence.compute_missing_probability(context)
            if context.reference is not None
            else evidence.compute_irrelevant_probability(context)
        )
        missing = max(gap, blamed)
    fault = max((match.p for match in generation_matches), default=0.0)
    first_causes: dict[str, str] = {}
    for row, match in matches:
        component = row.find_remedy(match).component
        first_causes.setdefault("retrieval" if component == "data" else component, row.name)
    return ComponentOdds(missing, blamed, (1 - missing) * fault, tuple(first_causes.values()))


def _find_applying_rows(context: CauseContext, rows: Sequence[CauseRow]) -> Iterator[tuple[CauseRow, CauseMatch]]:
    for row in rows:
        verdict = _decide_row(context, row)
        if isinstance(verdict, CauseMatch):
            yield row, verdict


def _decide_row(context: CauseContext, row: CauseRow) -> Verdict:
    """What a row says of an example; asked once."""
    if row.name not in context.decided:
        context.decided[row.name] = row.decide(context)
    verdict: Verdict = context.decided[row.name]
    return verdict


def _has_only_plain_verdicts(context: CauseContext) -> bool:
    """Whether no verdict is but a probability: then one component is at fault for certain, if any row applies."""
    answer, agreement = context.answer, context.agreement
    if answer is not None and (answer.address_p is not None or any(claim.p is not None for claim in answer.claims)):
        return False
    if agreement is not None and (agreement.answer_p or agreement.reference_p):
        return False
    return not context.has_relevance_probabilities and all(claim.p is None for claim in context.reference or ())


def build_unclear_row(rows: Sequence[CauseRow]) -> CauseRow:
    """The row of the examples whose cause lies in retrieval or in generation, and nothing tells which.

    Args:
        rows: all others, in the order of decision.
    """

    def decide_unclear(context: CauseContext) -> Verdict:
        """The answer failed, and it is unclear whether retrieval or generation is at fault.

        Applies when the first row that fits rests on a judge's verdicts, no row of retrieval applies with a probability
        of 0.5 or more, and the probability of a generation fault does not reach 0.5 either; or when the answer
        declines, and no label, reference or verdict shows whether the passages contain the answer. A score below 0.5
        shows that evidence is missing only if it is among the judge's scores of known false pairs: otherwise the judge
        may have overlooked it.
        """
        is_dark = is_unclear_refusal(context)
        if _has_only_plain_verdicts(context) and not is_dark:
            return None
        first = next(_find_applying_rows(context, rows), None)
        if first is not None and first[1].basis in CERTAIN_BASES:
            return None
        if is_dark:
            return _decide_unclear_refusal(context, rows)
        if first is None:
            return None
        component_odds = weigh_components(context, rows)
        unread = evidence.is_evidence_unread(context)
        if component_odds.blamed >= MIN_DECISIVE_P or (component_odds.generation >= MIN_DECISIVE_P and not unread):
            return None
        text = _describe_unclear(context, component_odds, unread)
        labels = SPANS if context.relevant else LABELS
        resolution = RESOLUTION_OPTIONS if is_task(context.facts.readability) else f"{labels}, {RESOLUTION_OPTIONS}"
        return CauseMatch(
            text,
            "judge",
            Counterfactual(everything=True),
            resolution,
            1 - component_odds.retrieval - component_odds.generation,
        )

    resolution_fix = f"Resolve this first with {LABELS} or {REFERENCE} if there are none, {RESOLUTION_OPTIONS}."
    return CauseRow("unclear", "unclear", resolution_fix, decide_unclear)


def _describe_unclear(context: CauseContext, odds: ComponentOdds, unread: bool) -> str:
    """Why neither component is more likely at fault, with the causes that may apply."""
    text = f"retrieval {odds.retrieval:.2f}, generation {odds.generation:.2f}: neither reaches {MIN_DECISIVE_P:g}"
    if is_task(context.facts.readability):
        text = f"the request names no topic, and nothing else shows {EVIDENCE_QUESTION}"
    elif unread:
        text = f"the judge cannot tell {EVIDENCE_QUESTION}"
    elif odds.retrieval >= MIN_DECISIVE_P:
        text = f"evidence is missing with a probability of {odds.retrieval:.2f}, but {OVERLOOKED_NOTE}"
    return f"{text} ({' or '.join(odds.named)})" if odds.named else text


def _decide_unclear_refusal(context: CauseContext, rows: Sequence[CauseRow]) -> Verdict:
    """A refusal that may be right by its passages; none where it is likelier than not that evidence is missing."""
    likely_rows = ((row, match) for row, match in _find_applying_rows(context, rows) if match.p >= MIN_DECISIVE_P)
    if any(row.find_remedy(match).component in ("retrieval", "data") for row, match in likely_rows):
        return None
    answerable_note = ", though the question is answerable" if context.is_answerable else ""
    topic_note = "; being on topic is not evidence" if context.has_relevance_probabilities else ""
    text = (
        f"the system declined to answer{answerable_note}, and nothing shows {EVIDENCE_QUESTION}{topic_note} "
        "(retrieval_miss or wrong_refusal)"
    )
    resolution = f"{REFERENCE}, {LABELS}, {RESOLUTION_OPTIONS}"
    return CauseMatch(
        text, "judge", Counterfactual(everything=True), resolution, 1 - weigh_components(context, rows).retrieval
    )


DECISION_ROWS: tuple[CauseRow, ...] = (
    MISSED_REFUSAL,
    EMPTY_RETRIEVAL,
    STALE_SOURCE,
    COMPOUND,
    NOT_IN_INDEX,
    RETRIEVAL_MISS,
    RANKED_LOW,
    LOST_BEFORE_PROMPT,
    SPAN_CUT,
    WRONG_REFUSAL,
    OFF_TOPIC,
    CONTRADICTED,
    NOISE,
    IGNORED,
    HALLUCINATED,
    WRONG_ANSWER,
    MISATTRIBUTED,
    INCOMPLETE,
)
UNCLEAR = build_unclear_row(DECISION_ROWS)
ROWS: tuple[CauseRow, ...] = (SYSTEM_FAILED, UNCLEAR, *DECISION_ROWS)
ROWS_BY_NAME: Mapping[str, CauseRow] = {row.name: row for row in ROWS}


FACTS_SHOWING_FAILURE = (
    "labels",
    "verify_answer",
    "verify_reference",
    "agree",
    "meet_criteria",
)  # the facts that show a failure
FACT_SHOWING_NOTHING = "meet_criteria.verdicts"  # of criteria that no answer has to meet


def attribute_failure(
    facts: Facts, measured: Mapping[str, MetricResult] | None = None, *, indexed: Container[str] | None = None
) -> Cause | None:
    """The cause of one example's failure; None when it did not fail. See `judge_example`."""
    return judge_example(facts, measured, indexed=indexed)[1]


def judge_example(
    facts: Facts, measured: Mapping[str, MetricResult] | None = None, *, indexed: Container[str] | None = None
) -> tuple[ExampleVerdict, Cause | None]:
    """Whether an example failed, and the cause of its failure: the first row of the cause table that applies.

    Both depend on the facts alone, not on which metrics were asked for. Rows whose facts are lacking are skipped and
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
        The verdict, and None unless it is failed; a Cause with an empty name and the component "unclear" when no row
        applies, or when nothing tells retrieval from generation.
    """
    context = CauseContext(facts, indexed)
    verdict = decide_verdict(context)
    if verdict.verdict != "failed":
        return verdict, None
    shown_by = find_label_failure(context)[1] or "judge"
    return verdict, replace(_find_cause(context, verdict.reason, measured or {}), shown_by=shown_by)


def _find_cause(context: CauseContext, reason: str, measured: Mapping[str, MetricResult]) -> Cause:
    """The cause of an example that failed for this reason."""
    lacking: dict[str, None] = {}
    rows = iter(list_cause_rows(context))
    for row in rows:
        verdict = _decide_row(context, row)
        if isinstance(verdict, MissingFact):
            lacking[verdict.what] = None
        elif verdict is not None and (verdict.p >= MIN_DECISIVE_P or row is UNCLEAR):
            if verdict.lacking:
                lacking[verdict.lacking] = None
            second, second_by = _find_tied_cause(rows, CauseContext(context.facts, context.indexed, verdict.mends))
            more, fault = (tuple(lacking), verdict.basis, second_by), row.find_remedy(verdict)
            name = "" if row is UNCLEAR else row.name
            return Cause(name, verdict.text, fault.fix, fault.component, second, *more, p=round(verdict.p, 3))
    for name, result in measured.items():
        if result.status == "failed":
            lacking[f"{name}: {result.reason}"] = None
    return Cause("", reason, UNCLEAR.fix, UNCLEAR.component, lacking=tuple(lacking))


def list_cause_rows(context: CauseContext) -> tuple[CauseRow, ...]:
    """The cause table of an example: required criteria that it has verdicts on come last; first where all else passed.

    What lies behind another failure may be why a criterion is not met as well.
    """
    criterion_rows = tuple(build_criterion_row(verdict.name, verdict.text) for verdict in required_criteria(context))
    if not criterion_rows:
        return ROWS
    others = CauseContext(context.facts, context.indexed, Counterfactual(criteria=True))
    return (
        (*ROWS, *criterion_rows)
        if decide_verdict(others).verdict == "failed"
        else (ROWS[0], *criterion_rows, *ROWS[1:])
    )


def find_row(cause: str) -> CauseRow | None:
    """The row of a cause by its name; None where there is none."""
    if not cause.startswith(CRITERION_PREFIX):
        return ROWS_BY_NAME.get(cause)
    name = cause.removeprefix(CRITERION_PREFIX)
    metric = list_classes(("own",)).get(name)
    return build_criterion_row(name, metric.__doc__ or "" if metric is not None else "")


def _find_tied_cause(later: Iterator[CauseRow], mended: CauseContext) -> tuple[str, str]:
    """The first later row that applies once the cause is mended, and what decides it; "" and "" for none."""
    if not mended.mended.everything:
        for row in later:
            verdict = row.decide(mended)
            if isinstance(verdict, CauseMatch) and verdict.p >= MIN_DECISIVE_P:
                return row.name, verdict.text
    return "", ""


def can_show(metric: Metric) -> bool:
    """Whether a metric rests on facts that show a failure; of the others no score says that nothing failed.

    >>> from ragauge.metrics.catalogue import parse_metric
    >>> can_show(parse_metric("faithfulness")), can_show(parse_metric("recall@5")), can_show(parse_metric("token_f1"))
    (True, True, False)
    """
    return any(
        fact.partition(".")[0] in FACTS_SHOWING_FAILURE and fact != FACT_SHOWING_NOTHING
        for fact in metric.needs.values()
    )


QUESTION_STARTS = ("whether ", "which ", "where ", "what ")  # how an open question begins
STATEMENT_SIGNS = (" not ", " cannot ", " no ", " failed", " missing")  # in what is a sentence of its own
NO_COUNTS: Mapping[str, int] = MappingProxyType({})


def describe_missing(facts: Iterable[str], counts: Mapping[str, int] = NO_COUNTS, max_n: int = 3) -> str:
    """The facts that would have told more, in sentences; "" for none.

    Args:
        facts: in words, the most important first.
        counts: fact -> examples that lack it; without any, of one example.
        max_n: facts of each kind that are named.

    >>> describe_missing(["whether it can be answered", "no reference answer", "dates not recorded"])
    'It is unclear whether it can be answered. This would help: a reference answer. Dates not recorded.'
    """
    questions: list[str] = []
    facts_named: list[str] = []
    statements: list[str] = []
    for fact in facts:
        words = "a reference answer" if fact == NO_REFERENCE else fact.removeprefix("no ")
        question = NOT_EVALUATED.parse_reason(words)
        words = f"judge question {words}" if question and " " not in question[0] else words
        kind = (
            questions
            if fact.startswith(QUESTION_STARTS)
            else statements
            if any(sign in words for sign in STATEMENT_SIGNS)
            else facts_named
        )
        words += f" ({format_count(counts[fact], 'example')})" if fact in counts else ""
        if words not in kind and len(kind) < max_n:
            kind.append(words)
    sentences = [f"It is unclear {_join_clauses(questions)}."] if questions else []
    sentences += [f"This would help: {'; '.join(facts_named)}."] if facts_named else []
    return " ".join([*sentences, *(f"{fact[:1].upper()}{fact[1:]}." for fact in statements)])


def _join_clauses(clauses: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(clauses[:-1]), clauses[-1])))
