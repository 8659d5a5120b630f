"""Calibrates a judge by labels: asks it about what people labelled, learns from that, and writes its file."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from ragauge.core.errors import Interrupted, JudgeError, UsageError
from ragauge.core.facts import AnswerFacts
from ragauge.engine.caller import CallCounts
from ragauge.engine.judge_facts import ask_facts
from ragauge.engine.judges import build_judge
from ragauge.engine.models import CallOptions
from ragauge.engine.session import ProgressCallback, Session
from ragauge.judges.calibrated.calibration_data import (
    build_calibration_file,
    build_labeled_odds,
    build_training_items,
    check_label_counts,
)
from ragauge.judges.calibrated.file import CalibrationFile
from ragauge.judges.calibrated.judge import CalibratedJudge, build_calibrated_judge
from ragauge.judges.inputs import build_row_inputs
from ragauge.judges.judge import Judge
from ragauge.labels.check.runner import LabeledRows
from ragauge.scores.calibration import JudgeCalibration, LearnedFromLabels, compute_gain
from ragauge.scores.label_scores import QUESTION, find_labeled_metrics, hash_example, hash_row_text, score_row
from ragauge.stats.calibration import calibrate
from ragauge.store.judges import LabelFile, TextScore
from ragauge.store.store_access import Store

NON_BASE_PREFIXES = ("calibrated:", "people")


class BaseJudge(NamedTuple):
    """The judge that is calibrated, and the text that it is built from."""

    spec: str
    judge: Judge


def build_base(spec: str) -> BaseJudge:
    """The judge that is to be calibrated.

    Raises:
        UsageError: a judge that is calibrated already, people, or none.
    """
    if spec == "none" or spec.startswith(NON_BASE_PREFIXES):
        raise UsageError(
            f"--judge {spec}: calibrated needs a judge that gives its own verdicts. Use local, openai:MODEL "
            "or hybrid:openai:MODEL."
        )
    return BaseJudge(spec, build_judge(spec))


async def learn_calibration(
    source: LabeledRows,
    base: BaseJudge,
    store: Store,
    calling: CallOptions | None,
    progress: ProgressCallback | None = None,
) -> tuple[CalibrationFile, JudgeCalibration]:
    """Asks the base about every labelled text and fits what it says to the labels.

    Replies are stored, and what the calibrated judge makes of each labelled text by a fit without its label: from that
    follows how far its means err.

    Args:
        source: the labelled texts.
        base: who is calibrated.
        store: where replies are kept: the same again pays nothing.
        calling: how models are called; None where none is asked.
        progress: called as texts are done, and every second.

    Raises:
        NotEnoughData: fewer labels than it takes.
        JudgeError: a model cannot be asked at all.
        Interrupted: what may be spent was spent before all texts were judged.
    """
    check_label_counts(source.rows)
    todo = [partial(ask_facts, base.judge, build_row_inputs(row)) for row in source.rows]
    async with Session(store, calling, progress) as session:
        facts_by_row = await session.drive_all(base.judge, todo)
        counts = session.counts
    if session.stopped:
        raise Interrupted(
            f"{session.stopped} {len(facts_by_row):,} of {len(source.rows):,} texts were judged and are saved."
        )
    facts = [row.facts if isinstance(row.facts, AnswerFacts) else None for _, row in sorted(facts_by_row.items())]
    if facts and not any(facts):
        raise JudgeError(f"{base.spec} judged none of {len(facts):,} texts: {facts_by_row[0].reason or 'no verdict'}.")
    file, found_gain = _fit_calibration(source, base, facts, counts)
    _store_scores(store, source, build_calibrated_judge(file, base.judge, source.name), facts)
    return file, found_gain


def _store_scores(store: Store, source: LabeledRows, judge: CalibratedJudge, facts: list[AnswerFacts | None]) -> None:
    """Stores people's and the calibrated judge's scores of the labelled texts, as a check by these labels does."""
    metrics, scores = find_labeled_metrics(source.rows), []
    for row, answer_facts in zip(source.rows, facts, strict=True):
        inputs = build_row_inputs(row)
        recalibrated = None if answer_facts is None else judge.recalibrate(inputs, answer_facts)
        scores += [
            TextScore(score.metric, hash_row_text(row), hash_example(row), score.people, score.judge, score.labels)
            for score in score_row(row, recalibrated, metrics)
        ]
    file = LabelFile(judge.judge_id, QUESTION, judge.version(QUESTION), source.digest, source.name)
    if scores:
        store.checks.save_scores(file, scores)


def _fit_calibration(
    source: LabeledRows, base: BaseJudge, facts: list[AnswerFacts | None], counts: CallCounts | None
) -> tuple[CalibrationFile, JudgeCalibration]:
    training = build_training_items(source.rows, facts)
    odds = build_labeled_odds(training, base.judge)
    calibration, labels = calibrate(odds), len(training.items)
    learned = LearnedFromLabels(
        source.name,
        source.guideline,
        training.by,
        labels,
        sum(item.supported for item in training.items),
        len({item.key for item in training.items}),
        training.without,
    )
    gain = compute_gain(odds, calibration)
    file = build_calibration_file(training, calibration, base.judge, base.spec, learned, gain)
    judge_id = build_calibrated_judge(file, base.judge, source.name).judge_id
    calls = {} if counts is None else counts.to_json()
    return file, JudgeCalibration(
        base.spec, base.judge.judge_id, judge_id, "", learned, calibration.chosen, calibration.tried, gain, calls
    )
