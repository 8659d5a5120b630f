"""What a kind of study has to offer, so that one engine carries out all of them.

A kind is three things. `ragauge component chunking` is the example of each:

1. A `StudyKind`, declared once in `analysis/studies/<kind>.py` and named in `studies/kinds.py`: the metrics
   that decide, in order; the measurements that are costs, the first deciding; further measurements that are columns;
   and `tells`, a generator that reads the `StudyFigures` and yields sentences, `StudyTable`s and `ReportChart`s. They
   appear in terminal, Markdown, HTML and JSON without a line elsewhere. Means, intervals, the set that may be best,
   fronts, knee and recommendation are the same for all kinds. A stored study of a kind that is not named there is an
   error.
2. A `TrialMaker` in `components/<kind>/`: `name` and `open` of one trial. It raises what is wrong with one setting in
   `open` (the trial fails with that reason, the study goes on), and what is wrong with all in its constructor.
   Trials that share work, such as one index searched at several settings, are named as one group by `groups`: they are
   open at the same time, and `together` is called with them before any answers, to interleave timings. A kill costs
   the group under way.
3. An `OpenTrial`: `answers` gives scores an example, `measurements` numbers about the whole trial, each with unit,
   interval and n; what could not be had is None with its name. Queries without a labelled set are examples of a set
   that the maker makes (a query vector is Example("v17", "vector 17")), so that per-query scores have intervals and
   pairs. A trial that yields no answers has measurements alone and no run: then `decides` names a measurement.

The verb calls `conduct_study` and `open_study` of `studies/verb.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from ragauge.core.example import Example
from ragauge.core.response import Response
from ragauge.core.study import Measurement
from ragauge.metrics.base import Metric, MetricResult
from ragauge.studies.figures import StudyKind


class OpenTrial(Protocol):
    """A trial that is made ready: chunks are cut, vectors computed, an index built."""

    config: Mapping[str, Any]  #: the settings for the record of its run.
    metrics: Sequence[Metric]  #: what it scores; every answer has one result for each, in this order.

    def answers(self, examples: Sequence[Example]) -> Iterable[tuple[Response, Sequence[MetricResult]]]:
        """A response to every example, with its scores; nothing where the trial has measurements alone.

        Scores come with the responses, and not from the engine, since a component is scored by what no response holds:
        the tokens of whole documents, the true distances of all vectors. For metrics of ordinary facts call
        `ragauge.metrics.measure.measure_all`. Ids alone will do for passages.
        """

    def measurements(self) -> Sequence[Measurement]:
        """What was measured of the trial as a whole; asked for after the answers."""

    def close(self) -> None:
        """Gives back what the trial holds; called once, whatever became of it."""


class TrialMaker(ABC):
    """Makes the trials of one kind of study."""

    kind: StudyKind  #: what decides, costs and is told; two studies of one name must be of one kind.
    #: the settings that all trials share, as JSON types. They identify the study: with other ones a study of the same
    #: name is not continued.
    fixed: Mapping[str, Any]

    @abstractmethod
    def name(self, parameters: Mapping[str, Any]) -> str:
        """What a trial is called: unique for its parameters, such as token:overlap=0:size=400."""

    @abstractmethod
    def open(self, parameters: Mapping[str, Any]) -> OpenTrial:
        """Makes a trial ready. What it raises is kept as the reason why the trial failed; the study goes on."""

    def groups(self, grid: Sequence[Mapping[str, Any]]) -> Iterable[Sequence[Mapping[str, Any]]]:
        """The trials still to make, in the order and the groups in which they are open together; each alone here."""
        return ([parameters] for parameters in grid)

    def find_skip_reason(self, parameters: Mapping[str, Any]) -> str:
        """Why a trial need not be made, known from those before it; "" = it is needed. Asked before its group is open.

        Such a trial is kept as pruned, with this reason.
        """
        del parameters
        return ""

    def prepare_group(self, opened: Sequence[OpenTrial]) -> None:  # noqa: B027 - most kinds have nothing to do
        """Called once a group, when all of it is open; what it raises fails the whole group."""
