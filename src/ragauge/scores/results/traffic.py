"""What is said of traces of production: one of them, and all that came in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragauge.core.verdict import VerdictCounts
    from ragauge.scores.results.jobs import JobState


@dataclass(frozen=True, slots=True)
class TraceStory:
    """What became of one trace.

    Attributes:
        trace_id: of the trace.
        outcome: a word of the ledger; "waiting" where it was not read yet.
        reason: why; "" where the outcome says it.
        project: whose traffic it is; "" = not known yet.
        day: UTC date of its arrival.
        run_id: of the run that holds its response; "" = none does.
        run_name: of that run; "" where it was deleted.
        query_ids: of its responses in the run.
        weight: how many requests it stands for, by the SDK's own sampler.
        chance: that it was drawn for the judge, whose scores of it stand for weight / chance requests.
        batches: raw ones that are kept of it.
        first: when its first part came, ISO time.
        due: when it is read, ISO time; "" = it was.
        people: what became of what people said of it, and in it of others, a line each.
    """

    trace_id: str
    outcome: str
    reason: str
    project: str
    day: str
    run_id: str
    run_name: str
    query_ids: tuple[str, ...]
    weight: float
    chance: float
    batches: int
    first: str
    due: str
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrafficDay:
    """What became of the traces of one project and day.

    Attributes:
        day: UTC date.
        project: whose traffic; "" of traces that were not looked into.
        outcomes: word of the ledger -> how many traces.
        run_id: of the run that holds their responses; "" = none.
        verdicts: counts of the verdicts on these; None where there is no such run.
    """

    day: str
    project: str
    outcomes: dict[str, int]
    run_id: str
    verdicts: VerdictCounts | None = None


@dataclass(frozen=True, slots=True)
class JobLine:
    """One occurrence of what is done at certain times.

    Attributes:
        name: of the schedule.
        due: when it should begin, ISO time.
        state: as of `Job`.
        seconds: that it has taken.
        quiet: seconds since the last sign of life of whoever does it; 0 where it is over.
        attempts: how often it was taken up.
        run_id: of the run that it made; "" = none.
        said: what came of it; one line or more.
        why: what made it due, such as "corpus changed"; "" = its time.
    """

    name: str
    due: str
    state: JobState
    seconds: float
    quiet: float
    attempts: int
    run_id: str
    said: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class TrafficStatus:
    """What came in, what waits, and what became of the rest.

    Attributes:
        batches: raw batches that are kept.
        bytes: that they take.
        oldest: when the oldest of them came, ISO time; "" without any.
        traces: known ones.
        waiting: traces that are to be read, now or when nothing more came for a while.
        behind: seconds that the longest waiting one is overdue; 0 where none is.
        late: spans that came a day after their trace began, and are ignored.
        days: the newest first.
        jobs: what is done at certain times: the last three of each, the newest first.
        judged: traces of which people said something.
        unlabelled: those of them of which something makes no label.
        unlabelled_trace: one of these.
        outdated: since when (ISO time) a server runs that was started with another section monitor; "" = none does.
    """

    batches: int
    bytes: int
    oldest: str
    traces: int
    waiting: int
    behind: float
    late: int
    days: tuple[TrafficDay, ...]
    jobs: tuple[JobLine, ...] = ()
    judged: int = 0
    unlabelled: int = 0
    unlabelled_trace: str = ""
    outdated: str = ""


@dataclass(frozen=True, slots=True)
class TraceRow:
    """A line of the ledger.

    Attributes:
        trace_id: of the trace.
        outcome: a word of the ledger.
        reason: why; "" where the outcome says it.
        project: whose traffic it is.
        day: UTC date of its arrival.
        run_id: of the run that holds its response; "" = none does.
        query_id: of its first response there; "" = none is.
        weight: how many requests it stands for.
        at: when its first part came, ISO time; "" = that is no longer kept.
        query: the question of that response; "" = there is none.
    """

    trace_id: str
    outcome: str
    reason: str
    project: str
    day: str
    run_id: str
    query_id: str
    weight: float
    at: str
    query: str


@dataclass(frozen=True, slots=True)
class TraceList:
    """A page of the ledger.

    Attributes:
        rows: the newest first.
        matching: how many lines the filters leave.
        outcomes: word of the ledger -> how many traces became that, whatever the filters.
    """

    rows: tuple[TraceRow, ...]
    matching: int
    outcomes: dict[str, int]
