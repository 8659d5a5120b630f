"""What would have to happen if a cause were right: which passages to hand over instead, and how to read the answer.

Which failed examples are experimented on, and how often each cause was confirmed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest

from ragauge.core.response import REDACTED, Passage
from ragauge.diagnosis.causes.attribution import ROWS_BY_NAME, UNCLEAR, find_row
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.cause_rule import MissingFact
from ragauge.diagnosis.causes.evidence import find_judged_evidence
from ragauge.scores.results.experiments import (
    AnswerQuality,
    CauseTally,
    Experiment,
    ExperimentOutcome,
    ExperimentRule,
    Verdict,
)

GoldPassages = tuple[Passage, ...] | None  # the labelled passages from a corpus; None where there is none
PassageChoice = tuple[Passage, ...] | MissingFact

CHANGED_REPEAT, UNCHANGED_REPEAT = 0, 1  # the repeats under which a run keeps the new answers and the controls
WRONG, PARTLY, RIGHT = 0, 1, 2
NO_GOLD = "the gold passages are not available: pass the corpus"
NO_TEXTS = "the passages' texts were not recorded"
SAME_PASSAGES = "the change would pass the same passages again"
ALREADY_RIGHT = "the answer was already right"
UNREADABLE = "no verdict on the answer"
NO_EXPERIMENT = "changing the passages cannot test this cause"
NOT_REPEATABLE = "also right with the unchanged passages: the failure does not recur"


# ---- which passages to hand over ----


def find_gold_passages(context: CauseContext, gold: GoldPassages) -> tuple[Passage, ...]:
    """The passages that hold the evidence; () where they are not at hand.

    From the corpus, where it has them. Else the recorded passages and candidates of the labelled documents, if there
    is one of each; without labels, those that support the reference claims, if each claim has one.
    """
    if gold:
        return gold
    if not context.relevant:
        return (
            ()
            if context.missing_reference_claims or not context.has_all_evidence_verdicts
            else _select_passages(context, find_judged_evidence(context))
        )
    recorded = (*(context.passages or ()), *(context.response.candidates or ()))
    readable = [passage for passage in recorded if passage.text and passage.text != REDACTED]
    if not all(any(passage.doc_id in item.doc_ids for passage in readable) for item in context.relevant):
        return ()
    gold_doc_ids = {doc_id for item in context.relevant for doc_id in item.doc_ids}
    return tuple({passage.passage_id: passage for passage in readable if passage.doc_id in gold_doc_ids}.values())


def _swap_in_gold(context: CauseContext, gold: GoldPassages) -> PassageChoice:
    """The labelled passages first, then those that were handed on, as many as before."""
    return _fill_with_gold(context, gold, context.passages or ())


def _replace_stale(context: CauseContext, gold: GoldPassages) -> PassageChoice:
    """The same without the passages that are outdated."""
    if not gold:
        return MissingFact(NO_GOLD)  # what was recorded of the document may be the outdated version itself
    return _fill_with_gold(
        context, gold, [passage for n, passage in enumerate(context.passages or (), 1) if n not in context.stale]
    )


def _fill_with_gold(context: CauseContext, gold: GoldPassages, others: Sequence[Passage]) -> PassageChoice:
    evidence = find_gold_passages(context, gold)
    if not evidence:
        return MissingFact(NO_GOLD)
    if not context.response.has_passage_texts:
        return MissingFact(NO_TEXTS)
    evidence_ids = {passage.passage_id for passage in evidence}
    others_left = [passage for passage in others if passage.passage_id not in evidence_ids]
    return (*evidence, *others_left)[: max(len(evidence), context.n)]


def _select_gold_only(context: CauseContext, gold: GoldPassages) -> PassageChoice:
    """Nothing but the labelled passages."""
    return find_gold_passages(context, gold) or MissingFact(NO_GOLD)


def _select_evidence_only(context: CauseContext, _: GoldPassages) -> PassageChoice:
    """Of what was handed on, the passages of labelled documents and those that a reference claim rests on."""
    numbers = _find_evidence_numbers(context)
    if not numbers:
        return MissingFact("no passage is known to contain evidence")
    return _select_passages(context, numbers) if context.response.has_passage_texts else MissingFact(NO_TEXTS)


def _move_evidence_first(context: CauseContext, _: GoldPassages) -> PassageChoice:
    """The same passages, those that hold the evidence first."""
    evidence_numbers = _find_evidence_numbers(context)
    if not evidence_numbers:
        return MissingFact("no passage is known to contain evidence")
    remaining = [n for n in range(1, context.n + 1) if n not in evidence_numbers]
    return (
        _select_passages(context, [*sorted(evidence_numbers), *remaining])
        if context.response.has_passage_texts
        else MissingFact(NO_TEXTS)
    )


def _find_evidence_numbers(context: CauseContext) -> set[int]:
    gold_doc_ids = {doc_id for item in context.relevant for doc_id in item.doc_ids}
    gold_numbers = {n for n, passage in enumerate(context.passages or (), 1) if passage.doc_id in gold_doc_ids}
    return gold_numbers | find_judged_evidence(context)


def _select_passages(context: CauseContext, numbers: Sequence[int] | set[int] | frozenset[int]) -> tuple[Passage, ...]:
    ordered = sorted(numbers) if isinstance(numbers, set | frozenset) else numbers
    return tuple((context.passages or ())[n - 1] for n in ordered)


SWAP_IN = ExperimentRule(
    "swap in",
    "the gold passages first, in place of the last ones",
    "right",
    "the answer is right",
    "the answer is no better",
)
RENEW = ExperimentRule(
    "renew",
    "the gold passages in place of the outdated ones",
    "right",
    "the answer is right",
    "the answer is no better",
)
DROP = ExperimentRule(
    "drop", "only the passages that contain evidence", "right", "the answer is right", "the answer is no better"
)
MOVE_FIRST = ExperimentRule(
    "move first", "the same passages, with the evidence first", "right or open", "the answer is right", ""
)
GOLD_ONLY = ExperimentRule(
    "labelled only",
    "only the gold passages",
    "still wrong",
    "the answer is no better",
    "the answer is right: the other passages are to blame",
)
RESOLVE = ExperimentRule(
    "settle",
    "the gold passages first, in place of the last ones",
    "right",
    "the answer is right: evidence was missing",
    "the answer is no better: generation is at fault",
)
PASSAGE_SELECTORS: Mapping[ExperimentRule, Callable[[CauseContext, GoldPassages], PassageChoice]] = {
    SWAP_IN: _swap_in_gold,
    RESOLVE: _swap_in_gold,
    RENEW: _replace_stale,
    DROP: _select_evidence_only,
    MOVE_FIRST: _move_evidence_first,
    GOLD_ONLY: _select_gold_only,
}
RULES_BY_CAUSE: Mapping[str, ExperimentRule] = {
    UNCLEAR.name: RESOLVE,
    "empty_retrieval": SWAP_IN,
    "stale_source": RENEW,
    "compound": SWAP_IN,
    "not_in_index": SWAP_IN,
    "retrieval_miss": SWAP_IN,
    "ranked_low": SWAP_IN,
    "lost_before_prompt": SWAP_IN,
    "span_cut": SWAP_IN,
    "wrong_refusal": GOLD_ONLY,
    "off_topic": GOLD_ONLY,
    "contradicted": GOLD_ONLY,
    "noise": DROP,
    "ignored": MOVE_FIRST,
    "hallucinated": GOLD_ONLY,
    "wrong_answer": GOLD_ONLY,
    "incomplete": GOLD_ONLY,
}


def plan_experiment(context: CauseContext, cause: str, answer_no: int, gold: GoldPassages) -> Experiment | str:
    """The experiment that tells whether a cause is right, or why there is none.

    Args:
        context: the failed example.
        cause: that was inferred.
        answer_no: which of the system's answers it is.
        gold: the labelled passages, where a corpus was given.
    """
    rule = RULES_BY_CAUSE.get(cause or UNCLEAR.name)
    if rule is None:
        return NO_EXPERIMENT
    grade_before = grade_answer(context)
    if grade_before.grade is None:
        return UNREADABLE
    if grade_before.grade == RIGHT:
        return ALREADY_RIGHT
    passages = PASSAGE_SELECTORS[rule](context, gold)
    if isinstance(passages, MissingFact):
        return passages.what
    if [passage.text for passage in passages] == [passage.text for passage in context.passages or ()]:
        return SAME_PASSAGES
    return _build_experiment(context, cause, rule, answer_no, passages, grade_before)


def rebuild_experiment(
    context: CauseContext, cause: str, answer_no: int, passages: tuple[Passage, ...]
) -> Experiment | None:
    """An experiment that was made before, from the passages that it handed over; None for a cause that has none."""
    rule = RULES_BY_CAUSE.get(cause or UNCLEAR.name)
    return None if rule is None else _build_experiment(context, cause, rule, answer_no, passages, grade_answer(context))


def _build_experiment(
    context: CauseContext,
    cause: str,
    rule: ExperimentRule,
    answer_no: int,
    passages: tuple[Passage, ...],
    grade_before: AnswerQuality,
) -> Experiment:
    unchanged = context.response.passages if context.response.has_passage_texts else None
    answer = context.response.answer or ""
    return Experiment(context.example.query_id, answer_no, cause, rule, passages, unchanged, grade_before, answer)


# ---- how to read the answers ----


def grade_answer(context: CauseContext) -> AnswerQuality:
    """How good an answer is by itself: what was missed on the way to it does not count.

    Wrong: an error, a refusal, or an answer where a refusal is right; another subject, a claim that contradicts the
    reference, or not one reference claim stated. Partly: some reference claims or parts of the question left out, or
    claims without support. Right: none of these, every verdict being there.
    """
    if context.response.error is not None:
        return AnswerQuality(WRONG, f"the system failed: {context.response.error}")
    if context.answer is None:
        return AnswerQuality(None, UNREADABLE)
    if context.is_answerable is False and context.is_refusal is not None:
        return (
            AnswerQuality(RIGHT) if context.is_refusal else AnswerQuality(WRONG, "it answers an unanswerable question")
        )
    if context.is_refusal:
        return AnswerQuality(WRONG, "it declines to answer")
    if context.address_level == "no":
        return AnswerQuality(WRONG, "it does not address the question")
    if context.wrong:
        return AnswerQuality(WRONG, f"claim {context.wrong[0].n} contradicts the reference")
    n_reference_claims = len(context.agreement.reference) if context.agreement else 0
    if n_reference_claims and len(context.unstated_claim_numbers) == n_reference_claims:
        return AnswerQuality(WRONG, f"it states none of {n_reference_claims} reference claims")
    if context.unstated_claim_numbers:
        return AnswerQuality(
            PARTLY,
            f"it states {n_reference_claims - len(context.unstated_claim_numbers)} of {n_reference_claims} reference "
            "claims",
        )
    if context.bare or context.against:
        return AnswerQuality(PARTLY, f"{len(context.bare) + len(context.against)} of its claims are unsupported")
    if context.address_level == "partly":
        return AnswerQuality(PARTLY, "it addresses part of the question")
    return AnswerQuality(RIGHT) if _has_all_verdicts(context) else AnswerQuality(None, "verdicts are missing")


def _has_all_verdicts(context: CauseContext) -> bool:
    agreed = context.agreement is None or None not in (*context.agreement.reference, *context.agreement.answer)
    supported = context.has_all_claim_verdicts and not context.unclear_claims
    return supported and agreed and context.address_level is not None and context.is_refusal is not None


def decide_outcome(
    planned: Experiment, context: CauseContext | None, control: CauseContext | None = None
) -> ExperimentOutcome:
    """What an experiment says about its cause.

    Args:
        planned: the experiment.
        context: the new answer, judged as the first was; None where there is none yet.
        control: another answer from the passages that the failed one had, judged alike; None where none was asked for.
            Where it is right too, the failure does not repeat, and a right new answer says nothing about passages.
    """
    if context is None:
        return ExperimentOutcome(planned, "undecided", "not answered", AnswerQuality(None, "not answered"), "")
    grade_after = grade_answer(context)
    if context.response.error is not None:
        return ExperimentOutcome(planned, "undecided", grade_after.sign, grade_after, "")
    verdict, reason = _decide_from_grades(planned.rule, planned.before, grade_after)
    if grade_after.grade == RIGHT and control is not None and grade_answer(control).grade == RIGHT:
        verdict, reason = "undecided", NOT_REPEATABLE
    return ExperimentOutcome(planned, verdict, reason, grade_after, context.response.answer or "")


def _decide_from_grades(
    rule: ExperimentRule, grade_before: AnswerQuality, grade_after: AnswerQuality
) -> tuple[Verdict, str]:
    if grade_before.grade is None or grade_after.grade is None:
        return "undecided", grade_after.sign or grade_before.sign
    if grade_after.grade == RIGHT:
        better_text = "right with the changed passages"
        return ("refuted", better_text) if rule.expects == "still wrong" else ("confirmed", better_text)
    if grade_after.grade > grade_before.grade:
        return "undecided", f"better, but not right: {grade_after.sign}"
    unchanged_text = f"no better with the changed passages: {grade_after.sign}"
    match rule.expects:
        case "right":
            return "refuted", unchanged_text
        case "still wrong":
            return "confirmed", unchanged_text
    return "undecided", unchanged_text


def order_experiments(failed: Mapping[str, str], version: str, seed: int = 0) -> list[str]:
    """The failed examples in the order of their experiments: one of each cause in turn, each cause's at random.

    So a limit cuts every cause alike, within a cause the sample is random, and a higher limit only adds to it.

    Args:
        failed: query_id -> cause.
        version: of the eval set.
        seed: of the draw.
    """

    def compute_sort_key(query_id: str) -> bytes:
        return hashlib.sha256(f"{seed} {version} {query_id}".encode("utf-8", "surrogatepass")).digest()

    by_cause: dict[str, list[str]] = {name: [] for name in (*ROWS_BY_NAME, "")}
    for query_id in sorted(failed, key=compute_sort_key):
        by_cause.setdefault(failed[query_id], []).append(query_id)
    rounds = zip_longest(*by_cause.values())
    return [query_id for query_id in chain.from_iterable(rounds) if query_id is not None]


def tally_causes(
    failed: Mapping[str, str], skipped: Mapping[str, str], experiment_outcomes: Sequence[ExperimentOutcome]
) -> tuple[CauseTally, ...]:
    """Inferred and confirmed side by side, the most frequent cause first.

    Args:
        failed: query_id -> cause, of all failed examples.
        skipped: query_id -> why no experiment was made, of those looked at.
        experiment_outcomes: of the experiments.
    """
    cause_tallies = []
    for cause in dict.fromkeys(failed.values()):
        verdicts = [outcome.verdict for outcome in experiment_outcomes if outcome.experiment.cause == cause]
        reasons = [reason for query_id, reason in skipped.items() if failed[query_id] == cause]
        counts = verdicts.count("confirmed"), verdicts.count("refuted"), verdicts.count("undecided")
        row = find_row(cause or UNCLEAR.name)
        component = row.component if row is not None else ""
        reason_counts = {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}
        cause_tallies.append(CauseTally(cause, component, list(failed.values()).count(cause), *counts, reason_counts))
    return tuple(sorted(cause_tallies, key=lambda tally: (-tally.inferred, tally.cause)))
