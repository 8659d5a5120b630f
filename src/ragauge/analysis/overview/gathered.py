"""Everything of a scorecard beyond means, gathered in the two passes over a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragauge.analysis.overview.alignment import AlignmentGatherer
from ragauge.analysis.overview.cause_segments import causes_by_segment
from ragauge.analysis.overview.context_length import LengthGatherer, length_bands
from ragauge.analysis.overview.distributions import distributions
from ragauge.analysis.overview.listing import MOST_LISTED, ChosenResponse, ListedExtras, cut, listed
from ragauge.analysis.overview.stages import StageGatherer
from ragauge.analysis.overview.timings import TOTAL, SpendingGatherer, TimingGatherer
from ragauge.analysis.overview.use import Use
from ragauge.analysis.results.overview import Overview
from ragauge.analysis.scores.failed import FailedResponses
from ragauge.analysis.scores.gather import Visit
from ragauge.analysis.scores.segments import Segments, without_gaps
from ragauge.analysis.scores.values import Values

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
            self._alignment.used(places), self._alignment.relevant(places), self._alignment.handed(places),
            self._stages.kept(places), self._timings.stages_of(places), numbers,
        )     # fmt: skip
        columns = Segments(segments.query_ids, {name: without_gaps(segments.columns[name]) for name in shown})
        return Overview(
            listed=listed(chosen, values, columns, self.questions | dict(questions), beside),
            listed_of=len(index),
            causes_by_segment=causes_by_segment(failed, columns, shown),
            distributions=distributions(values),
            alignment=self._alignment.alignment(index, level),
            lengths=length_bands(values, lengths, level),
            stages=self._stages.stages(index, level),
            timings=self._timings.timings(index),
            spending=self._spending.spending(),
        )
