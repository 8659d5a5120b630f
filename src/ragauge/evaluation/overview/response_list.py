"""The responses that reports list, so that the marks of charts can point at them.

Everything of a scorecard beyond means, gathered in the two passes over a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.verdict import OPEN_VERDICTS, Verdict
from ragauge.evaluation.overview.alignment import AlignmentGatherer, Use
from ragauge.evaluation.overview.bins import distributions
from ragauge.evaluation.overview.run_counts import causes_by_segment
from ragauge.evaluation.overview.stages import StageGatherer
from ragauge.evaluation.overview.timings import TOTAL, LengthGatherer, SpendingGatherer, TimingGatherer, length_bands
from ragauge.scores.categories import CategoryColumn
from ragauge.scores.failures import FailedResponses
from ragauge.scores.gather import Visit
from ragauge.scores.quality import rank, worst_first
from ragauge.scores.results.overview import ListedResponse, Overview
from ragauge.scores.segments import Segments, without_gaps
from ragauge.scores.values import Values
from ragauge.scores.verdicts import ResponseVerdicts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

FIRST_USE = "ignored_top_ranked"  # the metric that alignment must agree with
MOST_LISTED = 1_000  # a page of more does not open at once
MOST_QUERY = 200  # characters of a question


class ListedExtras(NamedTuple):
    """What a listed response has beside its scores, so that marks lead to it; place -> value, absent = not known.

    Attributes:
        used: ranks of the passages that its answer uses.
        relevant: ranks of its relevant passages, of those that count for alignment.
        handed: passages handed on.
        kept: stage of retrieval -> share of the labelled documents still there.
        timings: stage -> milliseconds.
        numbers: name -> place -> value, where no metric of that name was measured.
    """

    used: Mapping[int, tuple[int, ...]] = {}
    relevant: Mapping[int, tuple[int, ...]] = {}
    handed: Mapping[int, int] = {}
    kept: Mapping[int, Mapping[str, float]] = {}
    timings: Mapping[int, Mapping[str, float]] = {}
    numbers: Mapping[str, Mapping[int, float]] = {}


class ChosenResponse(NamedTuple):
    """A response to list.

    Attributes:
        place: in the index.
        query_id: the example that it answers.
        repeat: which answer.
        cause: why it failed; "" where it did not.
        verdict: whether it failed.
        reason: why it is unclear or not judged; "" where it failed or passed.
        quality: None where there is none.
        decided_by: what the cause rests on.
    """

    place: int
    query_id: str
    repeat: int
    cause: str
    verdict: Verdict
    reason: str
    quality: float | None
    decided_by: str


def choose(
    verdicts: ResponseVerdicts, failed: FailedResponses, quality: Floats, most: int = MOST_LISTED
) -> tuple[ChosenResponse, ...]:
    """The responses to list: all failed ones, then the others; in each part the lowest quality first.

    Where more failed than can be listed, every cause keeps its worst: they are taken from each cause in turn.

    Args:
        verdicts: of the responses.
        failed: the failed ones.
        quality: shape (responses,), NaN = none: such a failed response is the worst, another one the last.
        most: how many at most.
    """
    import numpy as np

    index, none = failed.index, np.isnan(quality)
    order, order_of_others = np.where(none, -1.0, quality), np.where(none, 2.0, quality)
    turns = sorted(
        (turn, rank(index, row, order), row, cause)
        for cause in failed.cause.values
        for turn, row in enumerate(worst_first(index, failed.of_cause(cause).place, order, most))
    )
    causes = {row: cause for _, _, row, cause in sorted(turns[:most], key=lambda turn: turn[1])}
    others = np.ones(len(index), dtype=bool)
    others[failed.place] = False
    rest = worst_first(index, np.flatnonzero(others), order_of_others, most - len(causes))
    places, decided_by = [*causes, *rest], failed.decided_by(list(causes))
    return tuple(
        ChosenResponse(
            at,
            index.query_ids[index.query[at]],
            int(index.repeat[at]),
            causes.get(at, ""),
            (verdict := verdicts.at(at)).verdict,
            verdict.reason if verdict.verdict in OPEN_VERDICTS else "",
            None if none[at] else float(quality[at]),
            decided_by.get(at, ""),
        )
        for at in map(int, places)
    )


def listed(
    chosen: Sequence[ChosenResponse],
    values: Values,
    segments: Segments,
    questions: Mapping[int, str],
    beside: ListedExtras,
) -> tuple[ListedResponse, ...]:
    """A row a response, in the order chosen.

    Args:
        chosen: as `choose` gives them.
        values: every metric's values.
        segments: the columns shown.
        questions: place -> question.
        beside: what there is beside the scores.
    """
    index = values.index
    columns = segments.by_number(index.query_ids)
    return tuple(
        ListedResponse(
            query_id=response.query_id,
            repeat=response.repeat,
            query=cut(questions.get(response.place, "")),
            verdict=response.verdict,
            cause=response.cause,
            decided_by=response.decided_by,
            quality=response.quality,
            values=_numbers(values, beside.numbers, response.place),
            segments=_labels(columns, int(index.query[response.place])),
            used=beside.used.get(response.place),
            relevant=beside.relevant.get(response.place),
            handed=beside.handed.get(response.place, 0),
            kept=beside.kept.get(response.place, {}),
            timings=beside.timings.get(response.place, {}),
            reason=response.reason,
        )
        for response in chosen
    )


def cut(query: str, most: int = MOST_QUERY) -> str:
    """A question, cut when long.

    >>> cut("How long is the warranty?", 8)
    'How long …'
    """
    return query if len(query) <= most else f"{query[:most].rstrip()} …"


def _labels(columns: Mapping[str, CategoryColumn[str | None]], query: int) -> dict[str, str]:
    labels = ((name, column[query]) for name, column in columns.items())
    return {name: value for name, value in labels if value is not None}


def _numbers(values: Values, others: Mapping[str, Mapping[int, float]], index: int) -> dict[str, float]:
    row = values.at(index)
    extra = {name: of[index] for name, of in others.items() if name not in values and index in of}
    return row | extra


LATENCY = "latency"


class OverviewGatherer:
    """Takes part in the pass over the responses, and puts the overview together after the pass over the metrics.

    It keeps about a hundred bytes a response, a few more where many passages were handed on; no text but the first
    questions, no object.

    Attributes:
        questions: place -> question, cut when long, of the first ones: in most runs all that are listed.
    """

    def __init__(self) -> None:
        self._alignment, self._stages = AlignmentGatherer(), StageGatherer()
        self._timings, self._spending = TimingGatherer(), SpendingGatherer()
        self._lengths = LengthGatherer()
        self.questions: dict[int, str] = {}

    def add(self, visit: Visit) -> None:
        """Takes in a response."""
        use = Use.of(visit)
        self._alignment.add(use)
        self._stages.add(use)
        self._timings.add(visit)
        self._spending.add(visit)
        self._lengths.add(visit)
        if visit.place < MOST_LISTED:
            self.questions[visit.place] = cut(visit.example.query)

    def overview(
        self,
        values: Values,
        chosen: Sequence[ChosenResponse],
        questions: Mapping[int, str],
        failed: FailedResponses,
        segments: Segments,
        shown: Mapping[str, Mapping[str, object]],
        level: float = 0.95,
    ) -> Overview:
        """The overview.

        Args:
            values: every metric's values, after they were read.
            chosen: the responses to list, as `listing.choose` gives them.
            questions: place -> question of those that are not among `questions` here.
            failed: the failed responses.
            segments: tidy, with the columns of `shown`; None there is "(none)".
            shown: the scorecard's segments: column -> value -> anything.
            level: of the intervals.
        """
        import numpy as np

        index, places = values.index, [response.place for response in chosen]
        lengths = self._lengths.lengths(values)
        numbers = {
            lengths.name: {index: float(lengths.of[index]) for index in places if np.isfinite(lengths.of[index])},
            LATENCY: self._timings.of(TOTAL, places),
        }
        beside = ListedExtras(
            self._alignment.used(places),
            self._alignment.relevant(places),
            self._alignment.handed(places),
            self._stages.kept(places),
            self._timings.stages_of(places),
            numbers,
        )
        scored = np.isfinite(values.of(FIRST_USE)) if FIRST_USE in values else None
        columns = Segments(segments.query_ids, {name: without_gaps(segments.columns[name]) for name in shown})
        return Overview(
            listed=listed(chosen, values, columns, self.questions | dict(questions), beside),
            listed_of=len(index),
            causes_by_segment=causes_by_segment(failed, columns, shown),
            distributions=distributions(values),
            alignment=self._alignment.alignment(index, level, scored),
            lengths=length_bands(values, lengths, level),
            stages=self._stages.stages(index, level),
            timings=self._timings.timings(index),
            spending=self._spending.spending(),
        )
