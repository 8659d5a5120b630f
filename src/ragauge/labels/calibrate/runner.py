"""Calibrates a judge by labels: asks it about what people labelled, learns from that, and writes its file."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from ragauge.core.errors import Interrupted, JudgeError, UsageError
from ragauge.core.facts import AnswerFacts
from ragauge.engine.caller import CallCounts
from ragauge.engine.judge_facts import asked_facts
from ragauge.engine.judges import build_judge
from ragauge.engine.models import Calling
from ragauge.engine.session import Progressed, Session
from ragauge.judges.calibrated.calibration_data import file_of, labelled_odds, refuse_few, training_items
from ragauge.judges.calibrated.file import CalibrationFile
from ragauge.judges.calibrated.judge import CalibratedJudge, calibrated
from ragauge.judges.inputs import inputs_of_row
from ragauge.judges.judge import Judge
from ragauge.labels.check.runner import LabelledRows
from ragauge.scores.calibration import JudgeCalibration, LearnedFromLabels, gained
from ragauge.scores.label_scores import QUESTION, example_of, scores_of, text_of, told_by
from ragauge.stats.calibration import calibrate
from ragauge.store.judges import LabelFile, TextScore
from ragauge.store.store_access import Store

NOT_A_BASE = ("calibrated:", "people")


class BaseJudge(NamedTuple):
    """The judge that is calibrated, and the text that it is built from."""

    spec: str
    judge: Judge


def base_of(spec: str) -> BaseJudge:
    """The judge that is to be calibrated.

    Raises:
        UsageError: a judge that is calibrated already, people, or none.
    """
    if spec == "none" or spec.startswith(NOT_A_BASE):
        raise UsageError(
            f"--judge {spec}: calibrated is a judge that gives verdicts of its own. Name local, openai:MODEL or "
            "hybrid:openai:MODEL."
        )
    return BaseJudge(spec, build_judge(spec))


async def learn(
    source: LabelledRows, base: BaseJudge, store: Store, calling: Calling | None, progress: Progressed | None = None
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
    refuse_few(source.rows)
    todo = [partial(asked_facts, base.judge, inputs_of_row(row)) for row in source.rows]
    async with Session(store, calling, progress) as session:
        found = await session.drive(base.judge, todo)
        counts = session.counts
    if session.stopped:
        raise Interrupted(f"{session.stopped} {len(found):,} of {len(source.rows):,} texts are judged, and kept.")
    facts = [one.facts if isinstance(one.facts, AnswerFacts) else None for _, one in sorted(found.items())]
    if facts and not any(facts):
        raise JudgeError(f"{base.spec} judged none of {len(facts):,} texts: {found[0].reason or 'no verdict'}.")
    file, found_gain = _learned(source, base, facts, counts)
    _store_scores(store, source, calibrated(file, base.judge, source.name), facts)
    return file, found_gain


def _store_scores(store: Store, source: LabelledRows, judge: CalibratedJudge, facts: list[AnswerFacts | None]) -> None:
    """Stores people's and the calibrated judge's scores of the labelled texts, as a check by these labels does."""
    metrics, scores = told_by(source.rows), []
    for row, found in zip(source.rows, facts, strict=True):
        inputs = inputs_of_row(row)
        moved = None if found is None else judge.recalibrate(inputs, found)
        scores += [
            TextScore(one.metric, text_of(row), example_of(row), one.people, one.judge, one.labels)
            for one in scores_of(row, moved, metrics)
        ]
    file = LabelFile(judge.judge_id, QUESTION, judge.version(QUESTION), source.digest, source.name)
    if scores:
        store.checks.keep(file, scores)


def _learned(
    source: LabelledRows, base: BaseJudge, facts: list[AnswerFacts | None], counts: CallCounts | None
) -> tuple[CalibrationFile, JudgeCalibration]:
    training = training_items(source.rows, facts)
    odds = labelled_odds(training, base.judge)
    found, labels = calibrate(odds), len(training.items)
    learned = LearnedFromLabels(
        source.name,
        source.guideline,
        training.by,
        labels,
        sum(item.supported for item in training.items),
        len({item.key for item in training.items}),
        training.without,
    )
    gain = gained(odds, found)
    file = file_of(training, found, base.judge, base.spec, learned, gain)
    judge_id = calibrated(file, base.judge, source.name).judge_id
    calls = {} if counts is None else counts.plain()
    return file, JudgeCalibration(
        base.spec, base.judge.judge_id, judge_id, "", learned, found.chosen, found.tried, gain, calls
    )
