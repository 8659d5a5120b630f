"""Entity recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.response import Passage
from ragauge.metrics.base import Metric, NotApplicable, Ratio
from ragauge.text.specifics import Haystack, find_specifics, is_found_in


@dataclass(frozen=True, slots=True)
class EntityRecall(Metric):
    """Share of the names, numbers and dates of the reference answer that stand in the passages.

    entity_recall = #{e in E : e stands in a passage} / #E

    E  distinct names, numbers, dates and percentages of the main reference, each in its normal form

    0 when nothing was retrieved. Not applicable when there is no reference, it holds none of these, or the passages'
    texts were not recorded.
    Source: context entities recall of ragas, https://docs.ragas.io; ours compares Unicode-folded whole words, ragas two
    lists of a model.

    >>> EntityRecall().value(["ACME Corp. paid 1,000 euros."], [Passage("a#1", "a", "It cost 1000.")])
    Ratio(numerator=1, denominator=2)
    """

    aliases: ClassVar = {"context_entities_recall": {}, "context_entity_recall": {}}
    measures: ClassVar = "retrieval"
    needs: ClassVar = {"references": "set.references", "passages": "response.texts"}
    separable: ClassVar = True

    def value(self, references: Sequence[str], passages: Sequence[Passage]) -> Ratio | NotApplicable:
        specifics = find_specifics(references[0], ("name", "number", "date", "percent"))
        entities = {(specific.kind, specific.normal, specific.unit): specific for specific in specifics}
        if not entities:
            return NotApplicable("the reference has no name, number or date")
        haystack = Haystack.of(passage.text or "" for passage in passages)
        return Ratio.count_items([is_found_in(entity, haystack) for entity in entities.values()])
