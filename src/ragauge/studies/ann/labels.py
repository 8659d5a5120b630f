"""Retrieval by the labels of a set: what exact search finds beside what an index finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.core.example import EvalSet
from ragauge.core.response import Passage, Response
from ragauge.core.study import Measurement
from ragauge.metrics.base import MetricResult, Undefined
from ragauge.metrics.retrieval.ranks import rank_responses
from ragauge.metrics.retrieval.recall import Recall
from ragauge.scores.estimation import ScoreSample, compute_difference_interval, compute_mean_interval
from ragauge.studies.ann.compute import BY_LABELS, LOST

if TYPE_CHECKING:
    from ragauge.studies.ann.exact import Mask


@dataclass(frozen=True, slots=True)
class SearchedCorpus:
    """Documents and questions whose vectors an index is built and asked with."""

    doc_ids: tuple[str, ...]  #: one a row of the vectors.
    eval_set: EvalSet  #: the questions, one a row of the queries.
    about: Mapping[str, Any]  #: for the record of the study, such as the embedder.

    @property
    def labelled(self) -> bool:
        """Whether a question has a relevant document."""
        return any(label.grade > 0 for example in self.eval_set.examples for label in example.relevant or ())

    def named(self, rows_by_question: Iterable[Iterable[int]]) -> list[list[str]]:
        """Rows as documents, for every question; -1 is none."""
        return [[self.doc_ids[n] for n in rows if n >= 0] for rows in rows_by_question]

    def compute_recalls(
        self, rows_by_question: Iterable[Iterable[int]], k: int, has_direction: Mask
    ) -> list[MetricResult]:
        """Recall at k of every question by its labels.

        Args:
            rows_by_question: rows, for every question.
            k: how many documents are looked at.
            has_direction: shape (questions,), whether a question has a vector that points anywhere.
        """
        metric, examples = Recall(k=k), self.eval_set.examples
        responses = (
            Response("", passages=tuple(Passage(doc_id, doc_id) for doc_id in doc_ids))
            for doc_ids in self.named(rows_by_question)
        )
        rankings = rank_responses(list(zip(examples, responses, strict=True)))
        return [
            MetricResult("not_applicable", reason="no relevant labels")
            if ranking is None
            else MetricResult.of(metric.value(ranking) if is_known else Undefined("a zero vector has no direction"))
            for ranking, is_known in zip(rankings, has_direction, strict=True)
        ]

    def compare_with_exact(
        self, index_recalls: Sequence[MetricResult], exact: Sequence[MetricResult], k: int
    ) -> Iterable[Measurement]:
        """Recall by the labels of exact search, and what the index loses of it, paired by question, with intervals."""
        import numpy as np

        pairs = [
            (entry.value, other.value, example.cluster or f"\0{n}")
            for n, (entry, other, example) in enumerate(zip(index_recalls, exact, self.eval_set.examples, strict=True))
            if entry.value is not None and other.value is not None
        ]
        if not pairs:
            return
        index, exact_values = (np.array(column, dtype=np.float64) for column in list(zip(*pairs, strict=True))[:2])
        clusters = (
            np.array([pair[2] for pair in pairs]) if any(entry.cluster for entry in self.eval_set.examples) else None
        )
        best, index_sample = ScoreSample.from_pairs(Recall(k=k), exact_values, index, None, clusters)
        for name, value, interval in (
            (BY_LABELS, float(exact_values.mean()), compute_mean_interval(best)),
            (LOST, float((exact_values - index).mean()), compute_difference_interval(best, index_sample)),
        ):
            low, high = (interval.low, interval.high) if interval is not None else (None, None)
            yield Measurement(name, value, "", low, high, len(pairs))
