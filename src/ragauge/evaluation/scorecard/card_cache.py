"""Scorecards that are kept: read back while nothing that they were computed from has changed."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragauge.comparison.baselines.verb import describe_name_clash
from ragauge.core.codec import from_json_value
from ragauge.core.identity import to_json_value
from ragauge.core.messages import format_store_option
from ragauge.diagnosis.examples.example_filters import load_example_index
from ragauge.evaluation.scorecard.completeness import find_complete
from ragauge.evaluation.scorecard.result import Scorecard
from ragauge.scores.results.scorecard import ScorecardData as Card
from ragauge.store.cards import NO_VERDICT, CardKey
from ragauge.verbs.columns import list_card_metrics
from ragauge.verbs.example_views import ScoreTables

if TYPE_CHECKING:
    from ragauge.comparison.history.verb import SetFamily
    from ragauge.core.response import Run
    from ragauge.store.store_access import Store


DRAW_COMMAND_END = " -o page.html"  # how the commands in a card's texts end, before the store that they may name


def _encode_store_option() -> str:
    """The option of commands that names the store, as it stands in JSON."""
    return json.dumps(format_store_option(), ensure_ascii=False)[1:-1]


def read_cached_card(store: Store, run: Run, judge_id: str | None, base: Run | None) -> Scorecard | None:
    """The scorecard of everything that was computed for a run by one judge; None where none is kept that is fresh.

    Args:
        store: where it is.
        run: whose.
        judge_id: who judged; None = nobody.
        base: the run that it is held against; None = none.
    """
    key = _build_key(run, judge_id, base)
    stored = store.cards.read(key, _describe_baseline(store, base))
    if stored is None:
        return None
    card = from_json_value(
        Card, json.loads(stored.body.replace(DRAW_COMMAND_END, DRAW_COMMAND_END + _encode_store_option()))
    )
    return Scorecard(card, ScoreTables(store.url, run.run_id, judge_id, _list_metric_names(card)), (key, stored.state))


class IncomparablePair:
    """Keeps that two runs cannot be compared, unless something was written since it was found.

    Args:
        store: where both are.
        run: the run that is looked at.
        judge_id: who judged it; None = nobody.
        base: the run that it was to be held against.
    """

    def __init__(self, store: Store, run: Run, judge_id: str | None, base: Run) -> None:
        self._store, self._key = store, _build_key(run, judge_id, base)
        self._state = store.cards.state(self._key, (), _describe_baseline(store, base))

    def save_pair(self) -> None:
        """Keeps it."""
        self._store.cards.save(self._key, self._state, "", NO_VERDICT)


class CardCache:
    """Keeps a scorecard of all that is stored of a run, unless something was written while it was computed.

    Args:
        store: where.
        run: whose.
        judge_id: who judged; None = nobody.
        base: the run that it is held against; None = none.
        family: the set that the run is listed under.
    """

    def __init__(self, store: Store, run: Run, judge_id: str | None, base: Run | None, family: SetFamily) -> None:
        self._store, self._run, self._judge_id = store, run, judge_id
        self._key = _build_key(run, judge_id, base)
        self._state = store.cards.state(self._key, family.versions, _describe_baseline(store, base))

    def save_card(self, card: Card, numbers: array[int]) -> None:
        """Keeps the scorecard where it is that of all metrics and responses.

        Args:
            card: the scorecard.
            numbers: of the responses that it is over.
        """
        names, run_id = _list_metric_names(card), self._run.run_id
        if card.pending != self._count_pending(names) or list(names) != list_card_metrics(
            self._store, run_id, self._judge_id
        ):
            return
        if numbers != self._store.scores.evaluated(run_id, self._judge_id, names):
            return
        verdict = "" if card.baseline is None else card.baseline.verdict if is_compared(card) else NO_VERDICT
        body = json.dumps(to_json_value(replace(card, took={})), ensure_ascii=False).replace(
            DRAW_COMMAND_END + _encode_store_option(), DRAW_COMMAND_END
        )
        self._store.cards.save(self._key, self._state, body, verdict)
        load_example_index(self._store, run_id, self._judge_id)  # so that the first list of its examples opens at once

    def _count_pending(self, names: Sequence[str]) -> int:
        """Responses of the run without a score of every metric."""
        complete = find_complete(self._store, self._run, self._judge_id, names)
        return self._store.runs.count_responses(self._run.run_id) - len(complete)


def is_compared(card: Card) -> bool:
    """Whether it has an example in common with its baseline, or is held against it as another sample."""
    baseline = card.baseline
    return baseline is not None and (baseline.matched.n > 0 or not baseline.matched.paired)


def _list_metric_names(card: Card) -> tuple[str, ...]:
    return tuple(summary.metric for summary in card.summaries)


def _build_key(run: Run, judge_id: str | None, base: Run | None) -> CardKey:
    return CardKey(run.run_id, judge_id, base.run_id if base is not None else "")


def _describe_baseline(store: Store, base: Run | None) -> str:
    """What a scorecard says of its baseline beyond what is counted with it."""
    return describe_name_clash(store, base) if base is not None else ""
