"""What judging a run took, and how firm the verdicts are.

What judging a run has cost: by judge, model, question, metric and example.

Where it comes from how far a judge errs, and what to do where it is not known, in words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ragauge.core.facts import (
    AgreementFacts,
    AnswerFacts,
    CoverFacts,
    CriteriaFacts,
    Evidence,
    GuessedFacts,
    JudgeFacts,
    ReferenceFacts,
    RelevanceFacts,
    SimilarityFacts,
)
from ragauge.core.json_keys import Key, json_keys, key
from ragauge.core.response import Run
from ragauge.metrics.reasons import read_call_reason
from ragauge.scores.gather import Visit
from ragauge.scores.label_scores import LABEL_MAPPINGS
from ragauge.scores.results.judge_usage import AskedOf, CallTotals, JudgeSpread, JudgeUse, add_calls
from ragauge.scores.results.summary import Summary
from ragauge.stats.judge_error import JudgeMeanError


@dataclass(slots=True)
class JudgeUseGatherer:
    """Counts questions, verdicts and replies of the responses that pass by."""

    hybrid: bool = False  #: whether the verdicts are a hybrid judge's.
    questions: int = 0
    lacking: int = 0
    replies: int = 0
    verdicts: int = 0
    local: int = 0
    spared: int = 0
    parted: int = 0
    both: int = 0
    same: int = 0
    empty: int = 0
    unnamed: int = 0

    def add(self, visit: Visit) -> None:
        """Counts what was found about a response."""
        for evidence in visit.evidence.values():
            self.questions += 1
            if is_incomplete(evidence):
                self.lacking += 1
                self.empty += evidence.facts is None or not _has_verdict(evidence.facts)
            self.replies += len(evidence.reply_keys)
            self.parted += _count_split_claims(evidence.facts)
            if isinstance(evidence.facts, AnswerFacts | ReferenceFacts):
                self.unnamed += evidence.facts.unnamed
            if self.hybrid and evidence.facts is not None:
                self._count_hybrid(evidence, evidence.facts)

    def _count_hybrid(self, evidence: Evidence, facts: JudgeFacts) -> None:
        sure = _list_probabilities(facts)
        self.verdicts += len(sure)
        self.local += sum(p is not None for p in sure)  # the model gives no probabilities
        self.spared += bool(sure) and not evidence.reply_keys
        if isinstance(facts, AnswerFacts | ReferenceFacts | RelevanceFacts):
            self.both += facts.both
            self.same += facts.same

    def found(
        self, question_costs: tuple[AskedOf, ...], spread: tuple[JudgeSpread, ...] = (), more_replies: int = 0
    ) -> JudgeUse:
        """What was counted, with what was paid, and with the replies of further repeats."""
        verdicts = self.verdicts if self.hybrid else None
        replies = self.replies + more_replies
        return JudgeUse(
            question_costs,
            self.questions,
            self.lacking,
            replies,
            verdicts,
            self.local,
            self.spared,
            spread,
            self.parted,
            self.both,
            self.same,
            self.empty,
            self.unnamed,
        )


VARIABLE_TEXT = re.compile(r"\d[\d,.]*|\".*", re.DOTALL)  # of reasons that are the same otherwise


def find_commonest_reason(summaries: Iterable[Summary]) -> str:
    """Why most scores lack verdicts, as it first stands; "" where none says.

    Of a metric that lacks values for other reasons too, only those count that name a missing verdict.
    """
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for summary in summaries:
        failed_alone = summary.failed and not (summary.undefined or summary.not_applicable or summary.not_read)
        for text, count in summary.reasons.items():
            call_reason = read_call_reason(text)
            if call_reason is not None or failed_alone:
                reason = call_reason or text
                pattern = VARIABLE_TEXT.sub("", reason)
                counts[pattern] += count
                first.setdefault(pattern, reason)
    return first[counts.most_common(1)[0][0]] if counts else ""


def is_incomplete(evidence: Evidence) -> bool:
    """Whether a verdict that was asked for is missing."""
    return evidence.status != "ok" or evidence.facts is None or has_missing_verdict(evidence.facts)


def _has_verdict(facts: JudgeFacts) -> bool:
    """Whether there is any verdict at all."""
    match facts:
        case AnswerFacts():
            has_direct_verdict = facts.address is not None or facts.refuse is not None
            return has_direct_verdict or any(claim.status == "ok" for claim in facts.claims)
        case ReferenceFacts():
            return any(claim.supporting is not None for claim in facts.claims)
        case RelevanceFacts():
            return any(rating.relevant is not None for rating in facts.ratings)
        case AgreementFacts():
            return any(verdict is not None for verdict in (*facts.answer, *facts.reference))
        case CoverFacts():
            return any(verdict_met is not None for verdict_met in facts.met)
        case CriteriaFacts():
            return any(verdict.met is not None for verdict in facts.verdicts)
        case GuessedFacts():
            return any(cosine is not None for cosine in facts.cosines)
        case SimilarityFacts():
            return facts.cosine is not None


def has_missing_verdict(facts: JudgeFacts) -> bool:
    """Whether facts lack a verdict."""
    match facts:
        case AnswerFacts():
            failed = any(claim.status == "failed" for claim in facts.claims)
            present = {"address": facts.address is not None, "refuse": facts.refuse is not None or bool(facts.unread)}
            return failed or not all(is_present or name in facts.unasked for name, is_present in present.items())
        case ReferenceFacts():
            return any(claim.supporting is None for claim in facts.claims)
        case RelevanceFacts():
            return any(rating.relevant is None for rating in facts.ratings)
        case AgreementFacts():
            return None in facts.answer or None in facts.reference
        case CoverFacts():
            return None in facts.met
        case CriteriaFacts():
            return any(verdict.met is None for verdict in facts.verdicts)
        case GuessedFacts():
            return None in facts.cosines
        case SimilarityFacts():
            return facts.cosine is None and not facts.blank


def _count_split_claims(facts: JudgeFacts | None) -> int:
    """Claims without support whose passages went out in several calls; a hybrid judge's own half saw all at once."""
    if isinstance(facts, AnswerFacts) and facts.parts > 1:
        return sum(claim.status == "ok" and claim.p is None and not claim.supporting for claim in facts.claims)
    if isinstance(facts, ReferenceFacts) and facts.parts > 1:
        return sum(claim.p is None and claim.supporting == () for claim in facts.claims)
    return 0


def _list_probabilities(facts: JudgeFacts) -> list[float | None]:
    """The probability of each verdict on a claim or passage."""
    match facts:
        case AnswerFacts():
            return [claim.p for claim in facts.claims if claim.status == "ok"]
        case ReferenceFacts():
            return [claim.p for claim in facts.claims]
        case RelevanceFacts():
            return [rating.p for rating in facts.ratings]
    return []


@json_keys("questions paid alone shared_with")
@dataclass(frozen=True, slots=True)
class MetricCost:
    """What a metric's questions have cost."""

    metric: str  #: printed name.
    questions: tuple[str, ...]  #: what it needs to have asked.
    paid: CallTotals = field(metadata=key(spread=True))  #: the calls of these questions, whoever else needs them.
    #: the calls of those questions that no other metric of the run needs: what leaving it out would save.
    alone: CallTotals
    shared_with: tuple[str, ...]  #: other metrics that need one of its questions.


@json_keys("judge_id paid question_costs metrics", paid=Key(spread=True))
@dataclass(frozen=True, slots=True)
class JudgeCost:
    """What one judge has cost."""

    judge_id: str = field(metadata=key("judge"))  #: who; "" for calls that no judge made.
    question_costs: tuple[AskedOf, ...] = field(metadata=key("by_question"))  #: by question and model.
    #: by metric, in the order of the report; metrics that ask nothing are left out.
    metrics: tuple[MetricCost, ...] = field(metadata=key("by_metric", by="metric"))

    @property
    def paid(self) -> CallTotals:
        """All its calls."""
        return add_calls([question.paid for question in self.question_costs])


@dataclass(frozen=True, slots=True)
class ExampleCost:
    """What judging one response has cost."""

    query_id: str
    repeat: int
    paid: CallTotals = field(metadata=key(spread=True))


@json_keys("run paid by_model judges examples", paid=Key(spread=True), by_model="models")
@dataclass(frozen=True, slots=True)
class RunCost:
    """What judging a run has cost."""

    run: Run = field(metadata=key(at="run_id name"))  #: whose responses.
    judges: tuple[JudgeCost, ...] = field(metadata=key("by_judge"))  #: one a judge that has judged it.
    #: responses that calls were made for, the most expensive first; replies that others reuse stay with the response
    #: that paid.
    examples: tuple[ExampleCost, ...] = field(metadata=key("by_example"))

    @property
    def paid(self) -> CallTotals:
        """All calls of all judges."""
        return add_calls([judge.paid for judge in self.judges])

    @property
    def models(self) -> dict[str, CallTotals]:
        """By model."""
        by_model: dict[str, CallTotals] = {}
        for question in (question_cost for judge in self.judges for question_cost in judge.question_costs):
            by_model[question.model] = by_model.get(question.model, CallTotals()) + question.paid
        return by_model


def compute_metric_costs(
    needs: Mapping[str, Sequence[str]], question_costs: Sequence[AskedOf]
) -> tuple[MetricCost, ...]:
    """What each metric's questions have cost.

    Args:
        needs: printed name -> questions that it needs.
        question_costs: calls by question and model.
    """
    by_question: dict[str, CallTotals] = {}
    for cost in question_costs:
        by_question[cost.question] = by_question.get(cost.question, CallTotals()) + cost.paid
    costs = []
    for metric, questions in needs.items():
        others = {name: set(theirs) for name, theirs in needs.items() if name != metric}
        taken = set().union(*others.values())
        costs.append(
            MetricCost(
                metric,
                tuple(questions),
                add_calls([by_question.get(question, CallTotals()) for question in questions]),
                add_calls([by_question.get(question, CallTotals()) for question in questions if question not in taken]),
                tuple(name for name, theirs in others.items() if theirs & set(questions)),
            )
        )
    return tuple(costs)


OWN_PREFIX = "own:"
LABELED_METRICS = (*LABEL_MAPPINGS, "unsupported")  # metrics that labels of claims tell of


def describe_unchecked(spec: str = "") -> str:
    """That nothing is known, and how to know it.

    Args:
        spec: of the judge; "" where it is not known.
    """
    how = f"ragauge judge check FILE --judge {spec or 'JUDGE'}"
    if spec.startswith(OWN_PREFIX):
        how = f'rg.check_judge(FILE, judge=model, judge_name="{spec.removeprefix(OWN_PREFIX)}")'
    return (
        "This judge's error and its agreement with people on your data are unknown until you check it: "
        f"intervals cover sampling error only. Label 50 or more claims, then {how} compares its verdicts with "
        f"your labels, and intervals of {join_names(LABELED_METRICS)} include its error from then on."
    )


def describe_origins(errors: Mapping[str, JudgeMeanError], metrics: Sequence[str]) -> str:
    """Where the error comes from, of the metrics of which it is known; "" for none.

    >>> known = JudgeMeanError((), (0.0,), (0.0,), 0.0, 0.0, 0, "120 of your labels, checked 2026-11-20")
    >>> describe_origins({"faithfulness": known, "unsupported": known}, ["faithfulness", "recall@5", "unsupported"])
    'Judge error was estimated for faithfulness and unsupported from 120 of your labels, checked 2026-11-20.'
    """
    by_origin: dict[str, list[str]] = {}
    for metric in metrics:
        if metric in errors:
            by_origin.setdefault(errors[metric].origin, []).append(metric)
    if not by_origin:
        return ""
    sources = "; ".join(f"for {join_names(names)} from {origin}" for origin, names in by_origin.items())
    disagreement_texts = list_disagreements({metric: errors[metric] for metric in metrics if metric in errors})
    return " ".join((f"Judge error was estimated {sources}.", *disagreement_texts))


def list_disagreements(errors: Mapping[str, JudgeMeanError]) -> tuple[str, ...]:
    """That files of labels disagree, a sentence each, and what that means for the intervals."""
    return tuple(dict.fromkeys(error.disagreement for error in errors.values() if error.disagreement))


def describe_lacking(errors: Mapping[str, JudgeMeanError], metrics: Sequence[str]) -> str:
    """Of which metrics that a judge was asked for its error is not known, where it is of others; "" for none."""
    without = [metric for metric in metrics if metric not in errors]
    if not errors or not without:
        return ""
    words = f"The judge error for {', '.join(without)} is unknown: their intervals cover sampling error only."
    labeled = [metric for metric in without if metric in LABELED_METRICS]
    if not labeled:
        return words
    return (
        f"{words} Labels that say contradicted or not_in_context provide it for {join_names(labeled)}: "
        "ragauge judge check FILE."
    )


def join_names(names: Sequence[str]) -> str:
    """Names as a list in a sentence.

    >>> join_names(["a", "b", "c"]), join_names(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])
