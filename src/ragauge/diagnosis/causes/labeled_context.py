"""What labels and the record say of one example: the labelled documents and spans, their ranks and versions."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.core.example import Relevant, Span
from ragauge.core.ranking import has_uncovered_gap
from ragauge.core.response import Passage
from ragauge.diagnosis.causes.cached_attribute import Lazy
from ragauge.diagnosis.causes.remedied import Counterfactual
from ragauge.metrics.facts import Facts


class LabeledContext:
    """What no judge is asked for. Nothing is computed before it is asked for; None is not known.

    Attributes:
        example: the question and its labels.
        response: what the system returned.
        passages: handed on; None when not recorded.
        n: passages handed on; 0 when not recorded too.
        mended: what is taken to be right, whatever the facts say.
    """

    def __init__(self, facts: Facts, mended: Counterfactual) -> None:
        self.example, self.response, self.mended = facts.example, facts.response, mended
        self.passages: Sequence[Passage] | None = facts.response.passages
        self.n = len(self.passages or ())

    @Lazy
    def relevant(self) -> tuple[Relevant, ...]:
        """Documents that hold the answer: labelled with a grade of at least 1, else those of the gold spans."""
        if self.example.relevant:
            return tuple(item for item in self.example.relevant if item.grade >= 1)
        return tuple(Relevant((doc_id,)) for doc_id in dict.fromkeys(span.doc_id for span in self.gold_spans))

    @property
    def gold_spans(self) -> tuple[Span, ...]:
        """Where the evidence stands in the documents."""
        return self.example.gold_spans or ()

    @Lazy
    def missed(self) -> tuple[Relevant, ...] | None:
        """Labelled documents none of whose members was handed on; None without labels or recorded passages."""
        if not self.relevant or self.passages is None:
            return None
        passed_doc_ids = {passage.doc_id for passage in self.passages}
        excused = self.mended.documents
        return tuple(i for i in self.relevant if i.doc_ids not in excused and passed_doc_ids.isdisjoint(i.doc_ids))

    @Lazy
    def ranks(self) -> dict[str, int] | None:
        """Document -> its first rank among the candidates; None when they are not recorded."""
        if self.response.candidates is None:
            return None
        first_ranks: dict[str, int] = {}
        for rank, passage in enumerate(self.response.candidates, 1):
            first_ranks.setdefault(passage.doc_id, rank)
        return first_ranks

    def rank(self, item: Relevant) -> int | None:
        """The best rank of an item among the candidates."""
        ranks = self.ranks or {}
        return min((ranks[doc_id] for doc_id in item.doc_ids if doc_id in ranks), default=None)

    @Lazy
    def cut_spans(self) -> tuple[Span, ...]:
        """Gold spans that lack characters although their document was handed on."""
        if self.mended.evidence:
            return ()
        return tuple(
            span
            for span in self.gold_spans
            if self._list_passage_bounds(span) and has_uncovered_gap(span, self._list_passage_bounds(span))
        )

    @Lazy
    def low_ranked_spans(self) -> tuple[tuple[Span, int], ...]:
        """Of `cut_spans`, those that one candidate beyond the passages handed on holds whole, with its rank from 1."""
        later = list(enumerate(self.response.candidates or (), 1))[self.n :]
        reached = []
        for span in self.cut_spans:
            for rank, passage in later:
                passage_span = passage.span if passage.doc_id == span.doc_id else None
                if passage_span is not None and not has_uncovered_gap(span, [(passage_span.start, passage_span.end)]):
                    reached.append((span, rank))
                    break
        return tuple(reached)

    @Lazy
    def has_span_positions(self) -> bool:
        """Whether every passage of the gold documents says where it stands in them."""
        docs = {span.doc_id for span in self.gold_spans}
        return all(passage.span is not None for passage in self.passages or () if passage.doc_id in docs)

    @Lazy
    def has_all_spans(self) -> bool:
        """Whether labels say that all of the evidence was handed on: every gold span, from end to end."""
        return (
            bool(self.gold_spans)
            and self.has_span_positions
            and all(
                self._list_passage_bounds(span) and not has_uncovered_gap(span, self._list_passage_bounds(span))
                for span in self.gold_spans
            )
        )

    def _list_passage_bounds(self, span: Span) -> list[tuple[int, int]]:
        passage_spans = [passage.span for passage in self.passages or () if passage.doc_id == span.doc_id]
        return (
            []
            if None in passage_spans
            else sorted(
                (passage_span.start, passage_span.end) for passage_span in passage_spans if passage_span is not None
            )
        )

    # ---- versions ----

    @Lazy
    def has_dates(self) -> bool:
        """Whether some passage says how old it is."""
        return any(passage.superseded_by or passage.updated_at for passage in self.passages or ())

    @Lazy
    def outdated_passages(self) -> frozenset[int]:
        """Numbers of the passages older than the newest version of their document, candidates included."""
        newest: dict[str, str] = {}
        for passage in (*(self.passages or ()), *(self.response.candidates or ())):
            if passage.updated_at:
                newest[passage.doc_id] = max(passage.updated_at, newest.get(passage.doc_id, ""))
        return frozenset(
            n
            for n, passage in enumerate(self.passages or (), 1)
            if passage.updated_at and _is_older(passage.updated_at, newest[passage.doc_id])
        )

    @Lazy
    def stale(self) -> frozenset[int]:
        """Numbers of the passages that are outdated or superseded by another document."""
        return self.outdated_passages | {n for n, passage in enumerate(self.passages or (), 1) if passage.superseded_by}

    def split_by_version(self, item: Relevant) -> tuple[list[int], list[int]]:
        """Numbers of a labelled item's passages: current ones, and outdated ones or of documents that it replaces.

        A document that is labelled counts as current even where another supersedes it: the label says that it holds
        the answer.
        """
        current: list[int] = []
        old: list[int] = []
        for n, passage in enumerate(self.passages or (), 1):
            if passage.doc_id in item.doc_ids:
                (old if n in self.outdated_passages else current).append(n)
            elif passage.superseded_by in item.doc_ids:
                old.append(n)
        return current, old


def _is_older(date: str, newest: str) -> bool:
    """Whether an ISO date lies before another one, at the precision that both have."""
    return date[: len(newest)] < newest[: len(date)]
