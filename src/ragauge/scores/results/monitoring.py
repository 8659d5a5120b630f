"""Traces of production and scheduled jobs, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ragauge.core.verdict import VerdictCounts


@dataclass(frozen=True, slots=True)
class TraceStory:
    """What became of one trace."""

    trace_id: str  #: of the trace.
    outcome: str  #: a word of the ledger; "waiting" where it was not read yet.
    reason: str  #: why; "" where the outcome says it.
    project: str  #: whose traffic it is; "" = not known yet.
    day: str  #: UTC date of its arrival.
    run_id: str  #: of the run that holds its response; "" = none does.
    run_name: str  #: of that run; "" where it was deleted.
    query_ids: tuple[str, ...]  #: of its responses in the run.
    weight: float  #: how many requests it stands for, by the SDK's own sampler.
    chance: float  #: that it was drawn for the judge, whose scores of it stand for weight / chance requests.
    batches: int  #: raw ones that are kept of it.
    first: str  #: when its first part came, ISO time.
    due: str  #: when it is read, ISO time; "" = it was.
    people: tuple[str, ...] = ()  #: what became of what people said of it, and in it of others, a line each.


@dataclass(frozen=True, slots=True)
class TrafficDay:
    """What became of the traces of one project and day."""

    day: str  #: UTC date.
    project: str  #: whose traffic; "" of traces that were not looked into.
    outcomes: dict[str, int]  #: word of the ledger -> how many traces.
    run_id: str  #: of the run that holds their responses; "" = none.
    verdicts: VerdictCounts | None = None  #: counts of the verdicts on these; None where there is no such run.


@dataclass(frozen=True, slots=True)
class JobLine:
    """One occurrence of what is done at certain times."""

    name: str  #: of the schedule.
    due: str  #: when it should begin, ISO time.
    state: JobState  #: as of `Job`.
    seconds: float  #: that it has taken.
    quiet: float  #: seconds since the last sign of life of whoever does it; 0 where it is over.
    attempts: int  #: how often it was taken up.
    run_id: str  #: of the run that it made; "" = none.
    said: str  #: what came of it; one line or more.
    why: str = ""  #: what made it due, such as "corpus changed"; "" = its time.


@dataclass(frozen=True, slots=True)
class TrafficStatus:
    """What came in, what waits, and what became of the rest."""

    batches: int  #: raw batches that are kept.
    bytes: int  #: that they take.
    oldest: str  #: when the oldest of them came, ISO time; "" without any.
    traces: int  #: known ones.
    waiting: int  #: traces that are to be read, now or when nothing more came for a while.
    behind: float  #: seconds that the longest waiting one is overdue; 0 where none is.
    late: int  #: spans that came a day after their trace began, and are ignored.
    days: tuple[TrafficDay, ...]  #: the newest first.
    jobs: tuple[JobLine, ...] = ()  #: what is done at certain times: the last three of each, the newest first.
    judged: int = 0  #: traces of which people said something.
    unlabelled: int = 0  #: those of them of which something makes no label.
    unlabelled_trace: str = ""  #: one of these.
    #: since when (ISO time) a server runs that was started with another section monitor; "" = none does.
    outdated: str = ""


@dataclass(frozen=True, slots=True)
class TraceRow:
    """A line of the ledger."""

    trace_id: str  #: of the trace.
    outcome: str  #: a word of the ledger.
    reason: str  #: why; "" where the outcome says it.
    project: str  #: whose traffic it is.
    day: str  #: UTC date of its arrival.
    run_id: str  #: of the run that holds its response; "" = none does.
    query_id: str  #: of its first response there; "" = none is.
    weight: float  #: how many requests it stands for.
    at: str  #: when its first part came, ISO time; "" = that is no longer kept.
    query: str  #: the question of that response; "" = there is none.


@dataclass(frozen=True, slots=True)
class TraceList:
    """A page of the ledger."""

    rows: tuple[TraceRow, ...]  #: the newest first.
    matching: int  #: how many lines the filters leave.
    outcomes: dict[str, int]  #: word of the ledger -> how many traces became that, whatever the filters.


JobState = Literal["noted", "running", "pass", "fail", "not_enough_data", "done", "error"]


@dataclass(frozen=True, slots=True)
class Job:
    """One occurrence of a job."""

    name: str  #: of the job, such as nightly.
    due: float  #: when it should begin, seconds since 1970; with the name it says which occurrence is meant.
    #: noted: the job became known then, nothing was run; running; the gate's verdict; done: it ended and no gate was
    #: asked; error: it could not be done.
    state: JobState
    began: float  #: when it was last taken up, seconds since 1970.
    beat: float  #: when whoever does it last said so.
    ended: float | None = None  #: when it was over; None = it is not.
    attempts: int = 1  #: how often it was taken up; more than 1 where whoever did it was killed.
    why: str = ""  #: what made it due, such as "corpus changed"; "" = its time.
    run_id: str = ""  #: of the run that it made; "" = none.
    said: str = ""  #: the outcome in one sentence.
