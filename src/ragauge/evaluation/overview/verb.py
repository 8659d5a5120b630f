"""What somebody who opens the dashboard wants to know first: how the newest run of each set turned out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.comparison.baselines.baseline_choice import BaselineFinder
from ragauge.evaluation.overview.default_comparison import find_default_comparison
from ragauge.evaluation.runs.run_rows import RunRow, build_row_without_verdict
from ragauge.verbs.sources import resolve_store_url
from ragauge.verbs.summary_refresh import renew_means

if TYPE_CHECKING:
    from ragauge.core.response import Run
    from ragauge.store.run_facts import RunFacts
    from ragauge.store.store_access import Store

MAX_SETS = 6
MAX_SCANNED_RUNS = 200  # runs, the newest


@dataclass(frozen=True, slots=True)
class NewestRun:
    """The newest evaluated run of a set."""

    row: RunRow  #: as lists show it, without its verdict.
    against: str  #: id of the run that it is held against; "" for none.
    why: str  #: it is that one.
    verdict: str  #: what came of it, in a sentence.
    change: str  #: what changed since that run, in a sentence; "" without one.
    first: str  #: the first thing to do; "" for nothing.
    #: (column, value, cause) of the segment where the first finding is most frequent; () for none. The cause is ""
    #: where the finding is no cause of single failures.
    worst_segment: tuple[str, ...]

    def where(self) -> dict[str, str]:
        """The filter of the examples that the first finding counts in that segment, the worst first."""
        if not self.worst_segment:
            return {}
        column, value, cause = self.worst_segment
        cause_filter = {"cause": cause} if cause else {}
        return {f"segment.{column}": value, **cause_filter, "status": "failed", "sort": "quality"}


@dataclass(frozen=True, slots=True)
class StoreOverview:
    """What the first page shows."""

    newest: tuple[NewestRun, ...]  #: per set, the set that moved last first; traffic apart.
    unfinished: tuple[RunRow, ...]  #: runs in flight, and those that stopped before their end.
    runs: bool  #: whether there is any run at all.


def build_overview(*, store: str | None = None) -> StoreOverview:
    """The newest evaluated run of each set, each held against another, and runs in flight.

    A run is held against the baseline of its set, else what it was last evaluated against, else the run before it.

    Args:
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
    """
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        renew_means(opened_store)
        newest_runs, bases = opened_store.runs.list(MAX_SCANNED_RUNS), BaselineFinder(opened_store)
        facts = opened_store.run_list.facts([run.run_id for run in newest_runs])
        rows = [(run, build_row_without_verdict(run, facts[run.run_id])) for run in newest_runs if run.run_id in facts]
        by_set: dict[tuple[str, str], tuple[Run, RunRow]] = {}  # traffic is of no set
        for run, row in rows:
            if row.headline and row.state == "finished":
                by_set.setdefault((row.kind, row.set), (run, row))
        selected = [*by_set.values()][:MAX_SETS]
        newest = tuple(_build_newest(opened_store, run, row, (facts[run.run_id], bases)) for run, row in selected)
    unfinished = tuple(row for _, row in rows if row.state in ("in flight", "stopped"))
    return StoreOverview(newest, unfinished, bool(rows))


def _build_newest(store: Store, run: Run, row: RunRow, run_facts: tuple[RunFacts, BaselineFinder]) -> NewestRun:
    """A run beside what it is held against."""
    from ragauge.comparison.tables.words import describe_against_baseline
    from ragauge.rendering.verdict_texts import first_thing, verdict

    comparison = find_default_comparison(store, run, run_facts=run_facts)
    card = comparison.shown.card
    first = card.findings[0] if card.findings else None
    column, _, value = first.segment.partition("=") if first is not None else ("", "", "")
    cause = first.cause if first is not None and first.cause in card.causes else ""
    return NewestRun(
        row,
        comparison.base.run_id if comparison.base is not None else "",
        comparison.why,
        verdict(card),
        describe_against_baseline(card),
        first_thing(card),
        (column, value, cause) if column else (),
    )
