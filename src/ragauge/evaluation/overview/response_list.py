"""The responses that reports list, so that the marks of charts can point at them.

Everything of a scorecard beyond means, gathered in the two passes over a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.verdict import OPEN_VERDICTS, Verdict
from ragauge.evaluation.overview.alignment import AlignmentGatherer, UsedPassages
from ragauge.evaluation.overview.run_counts import count_causes_by_segment
from ragauge.evaluation.overview.stages import StageGatherer
from ragauge.evaluation.overview.timings import (
    TOTAL,
    LengthGatherer,
    SpendingGatherer,
    TimingGatherer,
    build_distributions,
    build_length_bands,
)
from ragauge.scores.categories import CategoryColumn
from ragauge.scores.failures import FailedResponses
from ragauge.scores.gather import Visit
from ragauge.scores.quality import build_sort_key, select_worst
from ragauge.scores.results.overview import ListedResponse, Overview
from ragauge.scores.segments import Segments, name_missing_values
from ragauge.scores.values import MetricValues
from ragauge.scores.verdicts import ResponseVerdicts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

ALIGNMENT_METRIC = "ignored_top_ranked"  # the metric that alignment must agree with
MAX_LISTED = 1_000  # a page of more does not open at once
MAX_QUERY_CHARS = 200  # characters of a question


class ListedExtras(NamedTuple):
    """What a listed response has beside its scores, so that marks lead to it; place -> value, absent = not known."""

    used: Mapping[int, tuple[int, ...]] = {}  #: ranks of the passages that its answer uses.
    relevant: Mapping[int, tuple[int, ...]] = {}  #: ranks of its relevant passages, of those that count for alignment.
    handed: Mapping[int, int] = {}  #: passages handed on.
    kept: Mapping[int, Mapping[str, float]] = {}  #: stage of retrieval -> share of the labelled documents still there.
    timings: Mapping[int, Mapping[str, float]] = {}  #: stage -> milliseconds.
    #: name -> place -> value, where no metric of that name was measured.
    numbers: Mapping[str, Mapping[int, float]] = {}


class ChosenResponse(NamedTuple):
    """A response to list."""

    place: int  #: in the index.
    query_id: str  #: the example that it answers.
    repeat: int  #: which answer.
    cause: str  #: why it failed; "" where it did not.
    verdict: Verdict  #: whether it failed.
    reason: str  #: why it is unclear or not judged; "" where it failed or passed.
    quality: float | None  #: None where there is none.
    decided_by: str  #: what the cause rests on.


def choose_responses(
    verdicts: ResponseVerdicts, failed: FailedResponses, quality: Floats, max_n: int = MAX_LISTED
) -> tuple[ChosenResponse, ...]:
    """The responses to list: all failed ones, then the others; in each part the lowest quality first.

    Where more failed than can be listed, every cause keeps its worst: they are taken from each cause in turn.

    Args:
        verdicts: of the responses.
        failed: the failed ones.
        quality: shape (responses,), NaN = none: such a failed response is the worst, another one the last.
        max_n: how many at most.
    """
    import numpy as np

    index, is_missing = failed.index, np.isnan(quality)
    order, order_of_others = np.where(is_missing, -1.0, quality), np.where(is_missing, 2.0, quality)
    turns = sorted(
        (turn, build_sort_key(index, row, order), row, cause)
        for cause in failed.cause.values
        for turn, row in enumerate(select_worst(index, failed.select_cause(cause).place, order, max_n))
    )
    causes = {row: cause for _, _, row, cause in sorted(turns[:max_n], key=lambda turn: turn[1])}
    others = np.ones(len(index), dtype=bool)
    others[failed.place] = False
    remaining = select_worst(index, np.flatnonzero(others), order_of_others, max_n - len(causes))
    indices, decided_by = [*causes, *remaining], failed.decided_by(list(causes))
    return tuple(
        ChosenResponse(
            position,
            index.query_ids[index.query[position]],
            int(index.repeat[position]),
            causes.get(position, ""),
            (verdict := verdicts.at(position)).verdict,
            verdict.reason if verdict.verdict in OPEN_VERDICTS else "",
            None if is_missing[position] else float(quality[position]),
            decided_by.get(position, ""),
        )
        for position in map(int, indices)
    )


def build_listed_responses(
    selected: Sequence[ChosenResponse],
    values: MetricValues,
    segments: Segments,
    questions: Mapping[int, str],
    extras: ListedExtras,
) -> tuple[ListedResponse, ...]:
    """A row a response, in the order chosen.

    Args:
        selected: as `choose_responses` gives them.
        values: every metric's values.
        segments: the columns shown.
        questions: place -> question.
        extras: what there is beside the scores.
    """
    index = values.index
    columns = segments.align_columns(index.query_ids)
    return tuple(
        ListedResponse(
            query_id=response.query_id,
            repeat=response.repeat,
            query=shorten_query(questions.get(response.place, "")),
            verdict=response.verdict,
            cause=response.cause,
            decided_by=response.decided_by,
            quality=response.quality,
            values=_select_numbers(values, extras.numbers, response.place),
            segments=_select_labels(columns, int(index.query[response.place])),
            used=extras.used.get(response.place),
            relevant=extras.relevant.get(response.place),
            handed=extras.handed.get(response.place, 0),
            kept=extras.kept.get(response.place, {}),
            timings=extras.timings.get(response.place, {}),
            reason=response.reason,
        )
        for response in selected
    )


def shorten_query(query: str, max_chars: int = MAX_QUERY_CHARS) -> str:
    """A question, cut when long.

    >>> shorten_query("How long is the warranty?", 8)
    'How long …'
    """
    return query if len(query) <= max_chars else f"{query[:max_chars].rstrip()} …"


def _select_labels(columns: Mapping[str, CategoryColumn[str | None]], query: int) -> dict[str, str]:
    labels = ((name, column[query]) for name, column in columns.items())
    return {name: value for name, value in labels if value is not None}


def _select_numbers(values: MetricValues, others: Mapping[str, Mapping[int, float]], index: int) -> dict[str, float]:
    row = values.at(index)
    extra = {
        name: values_by_index[index]
        for name, values_by_index in others.items()
        if name not in values and index in values_by_index
    }
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
        use = UsedPassages.of(visit)
        self._alignment.add(use)
        self._stages.add(use)
        self._timings.add(visit)
        self._spending.add(visit)
        self._lengths.add(visit)
        if visit.place < MAX_LISTED:
            self.questions[visit.place] = shorten_query(visit.example.query)

    def overview(
        self,
        values: MetricValues,
        selected: Sequence[ChosenResponse],
        questions: Mapping[int, str],
        failed: FailedResponses,
        segments: Segments,
        shown_segments: Mapping[str, Mapping[str, object]],
        level: float = 0.95,
    ) -> Overview:
        """The overview.

        Args:
            values: every metric's values, after they were read.
            selected: the responses to list, as `listing.choose` gives them.
            questions: place -> question of those that are not among `questions` here.
            failed: the failed responses.
            segments: tidy, with the columns of `shown_segments`; None there is "(none)".
            shown_segments: the scorecard's segments: column -> value -> anything.
            level: of the intervals.
        """
        import numpy as np

        index, indices = values.index, [response.place for response in selected]
        lengths = self._lengths.lengths(values)
        own_lengths = {index: float(lengths.of[index]) for index in indices if np.isfinite(lengths.of[index])}
        numbers = {lengths.name: own_lengths, LATENCY: self._timings.of(TOTAL, indices)}
        extras = ListedExtras(
            self._alignment.used(indices),
            self._alignment.relevant(indices),
            self._alignment.count_passages(indices),
            self._stages.find_kept_shares(indices),
            self._timings.find_stage_times(indices),
            numbers,
        )
        scored = np.isfinite(values.of(ALIGNMENT_METRIC)) if ALIGNMENT_METRIC in values else None
        columns = Segments(
            segments.query_ids, {name: name_missing_values(segments.columns[name]) for name in shown_segments}
        )
        return Overview(
            listed=build_listed_responses(selected, values, columns, self.questions | dict(questions), extras),
            listed_of=len(index),
            causes_by_segment=count_causes_by_segment(failed, columns, shown_segments),
            distributions=build_distributions(values),
            alignment=self._alignment.alignment(index, level, scored),
            lengths=build_length_bands(values, lengths, level),
            stages=self._stages.stages(index, level),
            timings=self._timings.timings(index),
            spending=self._spending.spending(),
        )
