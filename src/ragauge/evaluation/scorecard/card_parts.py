"""The parts that a scorecard is kept in: each is read back while nothing that it was computed from has changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from ragauge.comparison.baselines.verb import describe_name_clash
from ragauge.core.codec import from_json_value
from ragauge.core.identity import to_json_value
from ragauge.core.messages import format_store_option
from ragauge.evaluation.scorecard.result import Scorecard
from ragauge.scores.id_match import IdMatch
from ragauge.scores.results.comparison import RunComparison
from ragauge.scores.results.history_rows import History
from ragauge.scores.results.scorecard import Finding, Summary
from ragauge.scores.results.scorecard import ScorecardData as Card
from ragauge.store.cards import NO_VERDICT, CachedPart, CardKey, Part
from ragauge.verbs.example_views import ScoreTables

if TYPE_CHECKING:
    from ragauge.core.response import Run
    from ragauge.scores.segments import Segments
    from ragauge.store.store_access import Store

T = TypeVar("T")
DRAW_COMMAND_END = " -o page.html"  # how the commands in a card's texts end, before the store that they may name


@dataclass(frozen=True, slots=True)
class SegmentsPart:
    """What a diagnosis needs of every example, whatever the run is compared with."""

    columns: Mapping[str, tuple[tuple[str | None, ...], tuple[int, ...]]]  #: segment -> its values, one a example.
    matches: tuple[IdMatch, ...]  #: of labelled with retrieved ids, of documents and of chunks.
    answerable: tuple[Summary, ...] | None  #: over the examples that are not labelled unanswerable; None: none is.
    n_run_warnings: int  #: warnings of the report that stand before those about a baseline.

    def build_segments(self, query_ids: Sequence[str]) -> Segments:
        """The segments of the examples that they were read of."""
        import numpy as np

        from ragauge.scores.categories import CategoryColumn, narrow_codes
        from ragauge.scores.segments import Segments

        columns = {
            name: CategoryColumn(values, narrow_codes(np.array(codes, dtype=np.int64), len(values)))
            for name, (values, codes) in self.columns.items()
        }
        return Segments(query_ids, columns)


@dataclass(frozen=True, slots=True)
class HistoryPart:
    """The evaluations of the same set up to the run."""

    history: History | None  #: None where it is the first.


@dataclass(frozen=True, slots=True)
class ComparisonPart:
    """What of a scorecard is otherwise beside a baseline."""

    baseline: RunComparison | None
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    label_first: str

    @property
    def verdict(self) -> str:
        """On the baseline, as lists show it."""
        baseline = self.baseline
        return "" if baseline is None else baseline.verdict if is_compared(baseline) else NO_VERDICT

    def add_to(self, card: Card) -> Card:
        """The scorecard of the run, beside the baseline."""
        return replace(
            card, baseline=self.baseline, findings=self.findings, warnings=self.warnings, label_first=self.label_first
        )


class PartCache:
    """The parts of a run's scorecard that the store keeps, as they are when this is made.

    What is saved is what was true then: where something was written since, nothing is saved.

    Args:
        store: where.
        run: whose.
        judge_id: who judged; None = nobody.
        base: the run that it is compared with; None = none.
        parts: those that are read or saved beside the comparison.
    """

    def __init__(
        self,
        store: Store,
        run: Run,
        judge_id: str | None,
        base: Run | None,
        parts: Sequence[Part] = ("report", "history"),
    ) -> None:
        self._store, self._run, self._judge_id, self._base = store, run, judge_id, base
        self._key = CardKey(run.run_id, judge_id, "" if base is None else base.run_id)
        name_clash = "" if base is None else describe_name_clash(store, base)
        shown: Sequence[Part] = parts if base is None else (*parts, "comparison")
        self._parts = store.cards.read(self._key, shown, name_clash)

    @property
    def kept_as(self) -> Hashable:
        """What every other reading of the same parts from this store has too."""
        shown = sorted((part, cached.state) for part, cached in self._parts.items() if part != "segments")
        return (self._key, *shown)

    def set_versions(self, versions: Sequence[str]) -> None:
        """The sets whose earlier runs a history shows that is computed anew, as content hashes."""
        if self._parts["history"].body is None:
            self._parts["history"] = CachedPart(self._store.cards.state(self._key, "history", versions), None)

    def read(self, part: Part, kind: type[T]) -> T | None:
        """A part; None where none is kept that is fresh."""
        body = self._parts[part].body
        if body is None:
            return None
        text = body.decode("utf-8", "surrogatepass").replace(
            DRAW_COMMAND_END, DRAW_COMMAND_END + _encode_store_option()
        )
        value: T = from_json_value(kind, json.loads(text))
        return value

    def get_or_compute(self, part: Part, kind: type[T], compute: Callable[[], T]) -> T:
        """A part that is kept; computed and saved where none is that is fresh."""
        cached = self.read(part, kind)
        if cached is not None:
            return cached
        value = compute()
        text = json.dumps(to_json_value(value), ensure_ascii=False)
        text = text.replace(DRAW_COMMAND_END + _encode_store_option(), DRAW_COMMAND_END)
        verdict = value.verdict if isinstance(value, ComparisonPart) else ""
        state = self._parts[part].state
        self._store.cards.save(self._key, part, state, text.encode("utf-8", "surrogatepass"), verdict)
        return value

    def read_card(self) -> Scorecard | None:
        """The scorecard of everything that was computed; None where a part of it is not kept, or not fresh."""
        if any(cached.body is None for cached in self._parts.values()):
            return None
        card, history = self.read("report", Card), self.read("history", HistoryPart)
        if card is None or history is None:
            return None
        card = replace(card, history=history.history)
        comparison = self.read("comparison", ComparisonPart) if self._base is not None else None
        if comparison is not None:
            card = comparison.add_to(card)
        names = tuple(summary.metric for summary in card.summaries)
        tables = ScoreTables(self._store.url, self._run.run_id, self._judge_id, names)
        return Scorecard(card, tables, self.kept_as)


def is_compared(baseline: RunComparison | None) -> bool:
    """Whether a run has an example in common with its baseline, or is compared with it as another sample."""
    return baseline is not None and (baseline.matched.n > 0 or not baseline.matched.paired)


def _encode_store_option() -> str:
    """The option of commands that names the store, as it stands in JSON."""
    return json.dumps(format_store_option(), ensure_ascii=False)[1:-1]
