"""Judges that were asked elsewhere: their verdicts stand in the labelled file."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.core.human_labels import LabeledAnswer, RecordedVerdict
from ragauge.scores.judge_check import RECORDED_PREFIX, JudgeAnswers, PartVerdict

NO_VERDICT_REASON = "the file has no verdict"


def read_recorded_answers(rows: Sequence[LabeledAnswer], columns: Sequence[str]) -> tuple[JudgeAnswers, ...]:
    """What each column of verdicts says of the rows, as if its judge had been asked.

    A column whose numbers are all 0 or 1 holds labels; of one with any other number all are probabilities.

    Args:
        rows: read with these columns.
        columns: in their order.
    """
    return tuple(_read_column(rows, index, column) for index, column in enumerate(columns))


def _read_column(rows: Sequence[LabeledAnswer], index: int, column: str) -> JudgeAnswers:
    probabilities = [part.recorded[index].p for row in rows for part in row.parts]
    sure = any(p is not None and 0 < p < 1 for p in probabilities)
    verdicts = tuple(tuple(_build_verdict(part.recorded[index], sure) for part in row.parts) for row in rows)
    return JudgeAnswers(column, "", f"{RECORDED_PREFIX}{column}", verdicts)


def _build_verdict(recorded: RecordedVerdict, sure: bool) -> PartVerdict:
    if recorded.label is None:
        return PartVerdict(None, NO_VERDICT_REASON)
    return PartVerdict(recorded.label, p=recorded.p if sure else None)
