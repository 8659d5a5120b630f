"""Runs beside what they are held against where nobody named it: a scorecard, and the verdicts of a list."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragauge.core.errors import UsageError
from ragauge.verbs.sources import store_url

if TYPE_CHECKING:
    from ragauge.comparison.baselines.baseline_choice import Bases
    from ragauge.core.response import Run
    from ragauge.evaluation.runs.run_rows import RunRow
    from ragauge.evaluation.runs.verb import OpenRun
    from ragauge.evaluation.scorecard.result import Scorecard
    from ragauge.store.run_list import RunFacts
    from ragauge.store.store_access import Store


@dataclass(frozen=True, slots=True)
class HeldRun:
    """A run beside another one.

    Attributes:
        row: the run as lists show it, without its verdict.
        shown: its scorecard, with the comparison where there is one.
        base: the run that it is held against; None for none.
        why: it is that one; "" for none, and for one that was named.
    """

    row: RunRow
    shown: Scorecard
    base: Run | None
    why: str


def held_run(run: Run, judge: str | None = None, *, baseline: str = "", store: str | None = None) -> HeldRun:
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

    with open_store(store_url(store)) as opened:
        return held_in(opened, run, judge, baseline)


def open_base(which: str, *, store: str | None = None) -> OpenRun:
    """The run that others are to be held against: by a baseline's name or tag, else by its id or name, or "latest".

    Raises:
        UnknownName: no such baseline or run; the nearest names and all baselines are in the text.
        UsageError: no name.
    """
    from ragauge.comparison.baselines.baseline import baseline_run
    from ragauge.evaluation.runs.verb import OpenRun
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        found = baseline_run(which, opened)
        if found is None:
            raise UsageError("which run are the others held against? Name a baseline or a run, such as main.")
        return OpenRun(found, opened.url)


def held_in(
    store: Store, run: Run, judge: str | None = None, baseline: str = "", known: tuple[RunFacts, Bases] | None = None
) -> HeldRun:
    """As `held_run`, in a store that is open; `known` where what lists say of the run was read already."""
    from ragauge.comparison.baselines.baseline import baseline_run
    from ragauge.comparison.baselines.baseline_choice import Bases
    from ragauge.evaluation.runs.run_rows import row_without_verdict
    from ragauge.evaluation.scorecard.card_cache import compared, kept_card
    from ragauge.evaluation.scorecard.cards import asked_for, judged, stored_card

    facts, bases = known or (store.run_list.facts([run.run_id])[run.run_id], Bases(store))
    row, evaluated = row_without_verdict(run, facts), False
    if baseline:
        base = baseline_run(baseline, store)
        return HeldRun(row, stored_card(store, run, judge, base), base, "")
    judge_id = asked_for(store, run, judge)
    for choice in bases.of(run, facts):
        other = store.runs.find(choice.run_id)
        shown = kept_card(store, run, judge_id, other)
        if shown is None:
            if not evaluated:  # what is wrong with the run itself is told, not passed over
                judged(store, run, judge)
                evaluated = True
            shown = _beside(store, run, judge_id, other)
        if shown is not None and compared(shown.card):
            return HeldRun(row, shown, other, choice.why)
    return HeldRun(row, stored_card(store, run, judge), None, "")


def _beside(store: Store, run: Run, judge_id: str | None, base: Run) -> Scorecard | None:
    """The scorecard of a run beside another one, computed; None where they cannot be compared, which is kept too."""
    from ragauge.evaluation.scorecard.card_cache import Incomparable
    from ragauge.evaluation.scorecard.cards import stored_card

    found = Incomparable(store, run, judge_id, base)
    try:
        return stored_card(store, run, judge_id, base)
    except UsageError:  # it was judged otherwise, or has no example in common
        found.keep()
        return None


def with_verdicts(rows: Sequence[RunRow], *, store: str | None = None, seconds: float | None = None) -> list[RunRow]:
    """A list of runs, each with the verdict that its page says; what has none that holds is computed, and kept.

    Args:
        rows: as `runs` gives them.
        store: URL of the store.
        seconds: after so many no further one is begun; None = all are computed.
    """
    from ragauge.store.store_access import open_store

    until = None if seconds is None else time.monotonic() + seconds
    found: list[RunRow] = []
    with open_store(store_url(store)) as opened:
        for row in rows:
            told = bool(row.verdict) or row.state != "finished" or not row.means or not row.against
            late = until is not None and time.monotonic() > until
            found.append(row if told or late else _with_verdict(opened, row))
    return found


def _with_verdict(store: Store, row: RunRow) -> RunRow:
    held = held_in(store, store.runs.find(row.run_id))
    told = held.shown.card.baseline
    if told is None or held.base is None:
        return replace(row, against="")  # it can be compared with none of them
    return replace(row, verdict=told.verdict, baseline=held.base.name, against=held.base.run_id)
