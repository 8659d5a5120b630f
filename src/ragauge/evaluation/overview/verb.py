"""The newest run of each set, compared with its default baseline."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragauge.comparison.baselines.verb import BaselineFinder, describe_name_clash
from ragauge.core.errors import UsageError
from ragauge.evaluation.runs.run_rows import RunRow, build_row_without_verdict
from ragauge.verbs.columns import renew_means
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from ragauge.core.response import Run
    from ragauge.evaluation.runs.verb import OpenRun
    from ragauge.evaluation.scorecard.result import Scorecard
    from ragauge.store.run_facts import RunFacts
    from ragauge.store.store_access import Store


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run beside another one."""

    row: RunRow  #: the run as lists show it, without its verdict.
    shown: Scorecard  #: its scorecard, with the comparison where there is one.
    base: Run | None  #: the run that it is held against; None for none.
    why: str  #: it is that one; "" for none, and for one that was named.


def compare_with_default(
    run: Run, judge: str | None = None, *, baseline: str = "", store: str | None = None
) -> ComparedRun:
    """A run beside the first other one that it can be compared with; alone where there is none.

    Args:
        run: stored and evaluated.
        judge: whose verdicts, by id or its beginning; None = the last judge's.
        baseline: id or name of the run to hold it against; "" = the first that it can be compared with.
        store: URL of the store.

    Raises:
        UsageError: the run has not been evaluated, or the baseline that was named otherwise.
        UnknownName: no judge of this run has such an id.
    """
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        return find_default_comparison(opened_store, run, judge, baseline)


def open_baseline_run(which: str, *, store: str | None = None) -> OpenRun:
    """The run that others are to be held against: by a baseline's name or tag, else by its id or name, or "latest".

    Raises:
        UnknownName: no such baseline or run; the nearest names and all baselines are in the text.
        UsageError: no name.
    """
    from ragauge.comparison.baselines.baseline import find_baseline_run
    from ragauge.evaluation.runs.verb import OpenRun
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        base_run = find_baseline_run(which, opened_store)
        if base_run is None:
            raise UsageError("which run should the others be compared with? Name a baseline or a run, such as main.")
        return OpenRun(base_run, opened_store.url)


def find_default_comparison(
    store: Store,
    run: Run,
    judge: str | None = None,
    baseline: str = "",
    run_facts: tuple[RunFacts, BaselineFinder] | None = None,
) -> ComparedRun:
    """As `compare_with_default`, in a store that is open.

    `run_facts` is what lists show of the run, where it was read already.
    """
    from ragauge.comparison.baselines.baseline import find_baseline_run
    from ragauge.comparison.baselines.verb import BaselineFinder
    from ragauge.evaluation.runs.run_rows import build_row_without_verdict
    from ragauge.evaluation.scorecard.card_parts import PartCache, is_compared
    from ragauge.evaluation.scorecard.cards import load_card, resolve_judge, resolve_scored_judge

    facts, bases = run_facts or (store.run_list.facts([run.run_id])[run.run_id], BaselineFinder(store))
    row, evaluated = build_row_without_verdict(run, facts), False
    if baseline:
        base = find_baseline_run(baseline, store)
        return ComparedRun(row, load_card(store, run, judge, base), base, "")
    judge_id = resolve_judge(store, run, judge)
    for choice in bases.of(run, facts):
        other = store.runs.find(choice.run_id)
        card = PartCache(store, run, judge_id, other).read_card()
        if card is None:
            if not evaluated:  # what is wrong with the run itself is told, not passed over
                resolve_scored_judge(store, run, judge)
                evaluated = True
            card = _build_comparison_card(store, run, judge_id, other)
        if card is not None and is_compared(card.card.baseline):
            return ComparedRun(row, card, other, choice.why)
    return ComparedRun(row, load_card(store, run, judge), None, "")


def _build_comparison_card(store: Store, run: Run, judge_id: str | None, base: Run) -> Scorecard | None:
    """The scorecard of a run beside another one, computed; None where they cannot be compared, which is kept too."""
    from ragauge.evaluation.scorecard.cards import load_card
    from ragauge.store.cards import NO_VERDICT, CardKey

    key = CardKey(run.run_id, judge_id, base.run_id)
    state = store.cards.state(key, "comparison", extra_state=describe_name_clash(store, base))
    try:
        return load_card(store, run, judge_id, base)
    except UsageError:  # it was judged otherwise, or has no example in common
        store.cards.save(key, "comparison", state, b"", NO_VERDICT)
        return None


def add_verdicts(rows: Sequence[RunRow], *, store: str | None = None, seconds: float | None = None) -> list[RunRow]:
    """A list of runs, each with the verdict that its page says; what has none that holds is computed, and kept.

    Args:
        rows: as `runs` gives them.
        store: URL of the store.
        seconds: after so many no further one is begun; None = all are computed.
    """
    from ragauge.store.store_access import open_store

    until = None if seconds is None else time.monotonic() + seconds
    updated: list[RunRow] = []
    with open_store(resolve_store_url(store)) as opened_store:
        for row in rows:
            is_settled = bool(row.verdict) or row.state != "finished" or not row.means or not row.against
            late = until is not None and time.monotonic() > until
            updated.append(row if is_settled or late else _add_verdict(opened_store, row))
    return updated


def _add_verdict(store: Store, row: RunRow) -> RunRow:
    comparison = find_default_comparison(store, store.runs.find(row.run_id))
    baseline = comparison.shown.card.baseline
    if baseline is None or comparison.base is None:
        return replace(row, against="")  # it can be compared with none of them
    return replace(row, verdict=baseline.verdict, baseline=comparison.base.name, against=comparison.base.run_id)


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
