"""A kind of study, declared once, and the tables that it adds under the trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragauge.core.study import Trial
from ragauge.scores.results.chart import ReportChart
from ragauge.studies.means import TrialMean
from ragauge.studies.trial_summary import StudyReading

if TYPE_CHECKING:
    from ragauge.studies.figures import StudySummary


@dataclass(frozen=True, slots=True)
class StudyTable:
    """A table that a kind adds under the trials."""

    heading: str  #: of its section.
    columns: tuple[str, ...]  #: their heads.
    rows: tuple[tuple[str, ...], ...]  #: cells as they are printed, as many as there are columns.
    numbers: tuple[str, ...] = ()  #: heads of the columns that stand to the right.
    lead: tuple[str, ...] = ()  #: sentences before it.
    notes: tuple[str, ...] = ()  #: how to read it.


StudyContent = str | StudyTable | ReportChart


def _build_no_sections(_: StudySummary) -> Iterable[StudyContent]:
    return ()


def _keep_reading(_: StudySummary, reading: StudyReading) -> StudyReading:
    return reading


def _keep_means(_: StudySummary, means: tuple[TrialMean, ...]) -> tuple[TrialMean, ...]:
    return means


def _get_no_stratum(_: Trial) -> str:
    return ""


def _is_always_rival(_: Trial) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class StudyKind:
    """A kind of study, declared once; named in `analysis.studies.kinds` so that stored studies find it."""

    name: str  #: such as chunking; kept with every study.
    #: what trials are held to: printed names of metrics, or of measurements with intervals for trials without scores,
    #: the first that every complete trial has; * stands for anything.
    decides: tuple[str, ...]
    #: measurements that say what a trial costs, smaller being better; the first decides unless another is asked for. A
    #: trial without one is left out of its front, never counted as 0.
    costs: tuple[str, ...]
    shown: tuple[str, ...] = ()  #: further measurements that are columns of the table of trials.
    #: sentences, tables and charts that the kind adds, in order.
    tells: Callable[[StudySummary], Iterable[StudyContent]] = field(default=_build_no_sections, compare=False)
    #: patterns of further metrics whose means are shown in a table of their own; * stands for anything, and those after
    #: a ! are left out.
    beside: tuple[str, ...] = ()
    #: whether tables have the best trial first, and charts call trials by what varies; else as they were made.
    ranked: bool = False
    #: what a trial was made under, such as a filter: only trials of one stratum are rivals. "" decides.
    stratum: Callable[[Trial], str] = field(default=_get_no_stratum, compare=False)
    #: whether a trial is one at all; what is not stands in tables alone.
    rival: Callable[[Trial], bool] = field(default=_is_always_rival, compare=False)
    #: what the kind decides by a rule of its own, in place of the general one.
    rules: Callable[[StudySummary, StudyReading], StudyReading] = field(default=_keep_reading, compare=False)
    #: the means of what decides with the kind's own tests of differences to the base.
    tests: Callable[[StudySummary, tuple[TrialMean, ...]], tuple[TrialMean, ...]] = field(
        default=_keep_means, compare=False
    )
    tested: str = "p is corrected by Holm over the trials."  #: what their p-values are.
