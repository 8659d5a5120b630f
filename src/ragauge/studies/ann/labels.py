"""Retrieval by the labels of a set: what exact search finds beside what an index finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.core.example import EvalSet
from ragauge.core.response import Passage, Response
from ragauge.core.study import Measurement
from ragauge.metrics.base import Measured, Undefined
from ragauge.metrics.retrieval.ranks import of_responses
from ragauge.metrics.retrieval.recall import Recall
from ragauge.scores.estimation import ScoreSample, interval_of_difference, interval_of_mean
from ragauge.studies.ann.compute import BY_LABELS, LOST

if TYPE_CHECKING:
    from ragauge.studies.ann.exact import Mask


@dataclass(frozen=True, slots=True)
class SearchedCorpus:
    """Documents and questions whose vectors an index is built and asked with.

    Attributes:
        doc_ids: one a row of the vectors.
        eval_set: the questions, one a row of the queries.
        about: for the record of the study, such as the embedder.
    """

    doc_ids: tuple[str, ...]
    eval_set: EvalSet
    about: Mapping[str, Any]

    @property
    def labelled(self) -> bool:
        """Whether a question has a relevant document."""
        return any(one.grade > 0 for example in self.eval_set.examples for one in example.relevant or ())

    def named(self, found: Iterable[Iterable[int]]) -> list[list[str]]:
        """Rows as documents, for every question; -1 is none."""
        return [[self.doc_ids[n] for n in rows if n >= 0] for rows in found]

    def recalls(self, found: Iterable[Iterable[int]], k: int, known: Mask) -> list[Measured]:
        """Recall at k of every question by its labels.

        Args:
            found: rows, for every question.
            k: how many documents are looked at.
            known: shape (questions,), whether a question has a vector that points anywhere.
        """
        metric, examples = Recall(k=k), self.eval_set.examples
        responses = (Response("", passages=tuple(Passage(one, one) for one in mine)) for mine in self.named(found))
        rankings = of_responses(list(zip(examples, responses, strict=True)))
        return [
            Measured("not_applicable", reason="no relevant labels")
            if ranking is None
            else Measured.of(metric.value(ranking) if there else Undefined("a vector of zeros has no direction"))
            for ranking, there in zip(rankings, known, strict=True)
        ]

    def beside_exact(self, found: Sequence[Measured], exact: Sequence[Measured], k: int) -> Iterable[Measurement]:
        """Recall by the labels of exact search, and what the index loses of it, paired by question, with intervals."""
        import numpy as np

        pairs = [
            (one.value, other.value, example.cluster or f"\0{n}")
            for n, (one, other, example) in enumerate(zip(found, exact, self.eval_set.examples, strict=True))
            if one.value is not None and other.value is not None
        ]
        if not pairs:
            return
        index, whole = (np.array(side, dtype=np.float64) for side in list(zip(*pairs, strict=True))[:2])
        clusters = np.array([pair[2] for pair in pairs]) if any(one.cluster for one in self.eval_set.examples) else None
        best, mine = ScoreSample.pair(Recall(k=k), whole, index, None, clusters)
        for name, value, ends in (
            (BY_LABELS, float(whole.mean()), interval_of_mean(best)),
            (LOST, float((whole - index).mean()), interval_of_difference(best, mine)),
        ):
            low, high = (ends.low, ends.high) if ends is not None else (None, None)
            yield Measurement(name, value, "", low, high, len(pairs))
