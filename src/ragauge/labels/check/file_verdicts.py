"""Judges that were asked elsewhere: their verdicts stand in the labelled file."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.core.human_labels import Labelled, RecordedVerdict
from ragauge.scores.judge_check import RECORDED, JudgeAnswers, PartVerdict

LACKING = "the file has no verdict"


def recorded_answers(rows: Sequence[Labelled], columns: Sequence[str]) -> tuple[JudgeAnswers, ...]:
    """What each column of verdicts says of the rows, as if its judge had been asked.

    A column whose numbers are all 0 or 1 holds labels; of one with any other number all are probabilities.

    Args:
        rows: read with these columns.
        columns: in their order.
    """
    return tuple(_answers(rows, place, column) for place, column in enumerate(columns))


def _answers(rows: Sequence[Labelled], place: int, column: str) -> JudgeAnswers:
    said = [part.recorded[place].p for row in rows for part in row.parts]
    sure = any(p is not None and 0 < p < 1 for p in said)
    verdicts = tuple(tuple(_verdict(part.recorded[place], sure) for part in row.parts) for row in rows)
    return JudgeAnswers(column, "", f"{RECORDED}{column}", verdicts)


def _verdict(found: RecordedVerdict, sure: bool) -> PartVerdict:
    if found.label is None:
        return PartVerdict(None, LACKING)
    return PartVerdict(found.label, p=found.p if sure else None)
