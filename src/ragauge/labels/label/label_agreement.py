"""The verdicts that a run's judges gave already, of what people labelled of it: nothing is asked and nothing kept."""

from __future__ import annotations

from collections.abc import Mapping

from ragauge.core.facts import AnswerFacts
from ragauge.core.human_labels import LabeledAnswer
from ragauge.engine.people import is_people_judge, load_labeled_responses
from ragauge.scores.judge_check import JudgeAnswers, JudgeCheck, build_report, list_part_verdicts
from ragauge.store.store_access import Store

QUESTION = "verify_answer"
NOT_JUDGED = "not judged in this run"


def build_stored_agreement(store: Store, run_id: str, guideline: str) -> JudgeCheck:
    """How far the judges of a run agree with people, by the evidence that the store has.

    The labels are those that `judge check RUN` reads, and the verdicts those that the run's scores rest on.

    Args:
        store: where run, labels and evidence are.
        run_id: the run.
        guideline: hash of the instructions.

    Raises:
        UsageError: nobody labelled the support of an answer of this run by these instructions.
    """
    rows = load_labeled_responses(store, run_id, guideline)
    judges = [judge_id for judge_id in store.scores.judges(run_id) if not is_people_judge(judge_id)]
    answers = [
        judge_answers for judge_id in judges if (judge_answers := _load_answers(store, judge_id, rows)) is not None
    ]
    return build_report(list(rows.values()), answers)


def _load_answers(store: Store, judge_id: str, rows: Mapping[int, LabeledAnswer]) -> JudgeAnswers | None:
    """What a judge said of each row; None where it was asked about none."""
    linked = store.evidence.load_linked(rows, judge_id)
    facts: dict[int, AnswerFacts | None] = {}
    reasons: dict[int, str] = {}
    for number, packed in linked.items():
        for packed_evidence in packed:
            if packed_evidence.question == QUESTION:
                evidence = packed_evidence.evidence()
                facts[number] = evidence.facts if isinstance(evidence.facts, AnswerFacts) else None
                reasons[number] = evidence.reason
    if not facts:
        return None
    verdicts = tuple(
        list_part_verdicts(row, facts.get(number), reasons.get(number, NOT_JUDGED)) for number, row in rows.items()
    )
    return JudgeAnswers(judge_id.partition("#")[0], "", judge_id, verdicts)
