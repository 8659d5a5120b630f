"""Which examples lack a question that others were asked: what was not judged is neither failed nor passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.diagnosis.causes.attribution import FACTS_SHOWING_FAILURE, can_show
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import list_questions
from ragauge.metrics.reasons import NOT_JUDGED
from ragauge.scores import verdicts
from ragauge.scores.arrays import FAILED, Columns, ResponseIndex
from ragauge.scores.failures import FailedResponses
from ragauge.scores.verdicts import ResponseVerdicts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]

# a judge's question in words, of an example that it was not asked about
NOT_ASKED_REASONS: Mapping[str, str] = {
    "verify_answer": "its answer was not checked",
    "verify_reference": "its reference was not looked for in the passages",
    "agree": "its answer was not compared with its reference",
    "meet_criteria": "its required criteria were not checked",
}


class ShownQuestions(NamedTuple):
    """What a metric's scores show of what was asked; metrics that are alike in it may be read as one."""

    has_judge: bool  #: a judge was asked.
    questions: frozenset[str]  #: those by which a failure can be seen.

    @classmethod
    def of(cls, metric: Metric) -> ShownQuestions:
        """What a metric shows."""
        judge_questions = list_questions([metric])
        return cls(
            bool(judge_questions),
            frozenset(judge_questions).intersection(FACTS_SHOWING_FAILURE) if can_show(metric) else frozenset(),
        )


class JudgedCoverage:
    """Takes in one metric's scores after another, and then says which examples lack a question that others were asked.

    The questions that count are those by which a failure is seen (`attribute.SHOWING`), among the metrics that are
    read: an example that lacks one of them could have failed by it, so it has not passed.

    Args:
        index: the responses.
    """

    def __init__(self, index: ResponseIndex) -> None:
        import numpy as np

        self._index, self._judged = index, np.zeros(len(index), dtype=bool)
        self._asked: dict[str, Mask] = {}

    def read(self, metric: Metric, responses: Columns | None) -> None:
        """Takes in a metric's scores, one entry a response; None where none of these responses has one."""
        self.mark_scored(ShownQuestions.of(metric), None if responses is None else responses.place)

    def mark_scored(self, shows: ShownQuestions, positions: npt.NDArray[np.int64] | None) -> None:
        """Takes in which responses have scores of metrics that show the same; None where none has."""
        import numpy as np

        for question in shows.questions:
            self._asked.setdefault(question, np.zeros(len(self._index), dtype=bool))
        if positions is None:
            return
        if shows.has_judge:
            self._judged[positions] = True
        for question in shows.questions:
            self._asked[question][positions] = True

    def verdicts(self, stored: ResponseVerdicts, failed: FailedResponses, judge_id: str | None) -> ResponseVerdicts:
        """The verdict on every response, after every metric was read.

        Args:
            stored: the verdict on each response, by what it was asked itself.
            failed: the failed responses, of this index.
            judge_id: whose verdicts were read; None or "" = nobody's.
        """
        import numpy as np

        unasked = [
            (NOT_ASKED_REASONS.get(name, f"{name} was not asked"), ~asked_mask)
            for name, asked_mask in self._asked.items()
        ]
        if self._asked:
            unasked.append((NOT_JUDGED.build_reason(judge_id or "anybody"), ~self._judged))  # said before the others
        verdict, reason, reasons = stored.verdict.copy(), stored.reason.copy(), list(stored.reasons)
        for text, mask in unasked:
            unjudged = mask & np.isin(stored.verdict, (verdicts.PASSED, verdicts.NOT_JUDGED))
            verdict[unjudged], reason[unjudged] = verdicts.NOT_JUDGED, len(reasons)
            reasons.append(text)
        verdict[failed.place] = verdicts.FAILED
        return replace(stored, verdict=verdict, reason=reason, reasons=tuple(reasons))

    @property
    def is_label_only(self) -> bool:
        """Whether nobody was asked anything by which a failure could be seen."""
        return not self._asked


def add_unjudged(columns: Columns, index: ResponseIndex, judge_id: str | None) -> Columns:
    """A metric's scores, one entry a response, with a failed score for every response that has none.

    So whoever asks for a mean over all of them is told how far those that were never judged could move it. One that
    was not drawn for the judge has none and needs none: the drawn ones stand for it.
    """
    import numpy as np

    absent = ~index.left_out() if columns.sampled else np.ones(len(index), dtype=bool)
    absent[columns.place] = False
    missing = absent.nonzero()[0]
    if not missing.size:
        return columns
    positions = np.concatenate([columns.place, missing])

    def append_value(values: npt.NDArray[Any], value: float) -> npt.NDArray[Any]:
        return np.concatenate([values, np.full(missing.size, value)])

    filled = Columns(
        place=positions,
        query=index.query[positions],
        status=append_value(columns.status, FAILED),
        value=append_value(columns.value, np.nan),
        numerator=append_value(columns.numerator, np.nan),
        denominator=append_value(columns.denominator, np.nan),
        low=append_value(columns.low, np.nan),
        high=append_value(columns.high, np.nan),
        reason=append_value(columns.reason, len(columns.reasons)),
        weight=index.select_weights(positions, sampled=columns.sampled),
        cluster=None if index.cluster is None else index.cluster[positions],
        reasons=(*columns.reasons, NOT_JUDGED.build_reason(judge_id or "anybody")),
        sampled=columns.sampled,
    )
    return filled.take(np.argsort(positions, kind="stable"))
