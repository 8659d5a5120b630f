"""The verdicts that a run's judges gave already, of what people labelled of it: nothing is asked and nothing kept."""

from __future__ import annotations

from collections.abc import Mapping

from ragauge.core.facts import AnswerFacts
from ragauge.core.human_labels import Labelled
from ragauge.engine.people import is_people, labelled_responses
from ragauge.scores.judge_check import JudgeAnswers, JudgeCheck, report, verdicts_of
from ragauge.store.store_access import Store

QUESTION = "verify_answer"
NOT_JUDGED = "not judged in this run"


def stored_agreement(store: Store, run_id: str, guideline: str) -> JudgeCheck:
    """How far the judges of a run agree with people, by the evidence that the store has.

    The labels are those that `judge check RUN` reads, and the verdicts those that the run's scores rest on.

    Args:
        store: where run, labels and evidence are.
        run_id: the run.
        guideline: hash of the instructions.

    Raises:
        UsageError: nobody labelled the support of an answer of this run by these instructions.
    """
    rows = labelled_responses(store, run_id, guideline)
    judges = [one for one in store.scores.judges(run_id) if not is_people(one)]
    said = [found for one in judges if (found := _said(store, one, rows)) is not None]
    return report(list(rows.values()), said)


def _said(store: Store, judge_id: str, rows: Mapping[int, Labelled]) -> JudgeAnswers | None:
    """What a judge said of each row; None where it was asked about none."""
    linked = store.evidence.linked(rows, judge_id)
    facts: dict[int, AnswerFacts | None] = {}
    reasons: dict[int, str] = {}
    for number, packed in linked.items():
        for one in packed:
            if one.question == QUESTION:
                evidence = one.evidence()
                facts[number] = evidence.facts if isinstance(evidence.facts, AnswerFacts) else None
                reasons[number] = evidence.reason
    if not facts:
        return None
    verdicts = tuple(
        verdicts_of(row, facts.get(number), reasons.get(number, NOT_JUDGED)) for number, row in rows.items()
    )
    return JudgeAnswers(judge_id.partition("#")[0], "", judge_id, verdicts)
