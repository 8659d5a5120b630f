"""The symbols of metrics that hold gold spans against chunks, with their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragauge.analysis.explaining.case import ExampleCase
from ragauge.data.ranking import GoldOverlap
from ragauge.metrics.base import Metric
from ragauge.metrics.spans.filling import covered, first, size
from ragauge.text.messages import plural

UNITS: Mapping[str, str] = {"token": "token", "char": "character"}


def of_spans(unit: str) -> Mapping[str, Callable[[ExampleCase, Metric], str]]:
    """The values of symbols over spans counted in tokens or in characters.

    Args:
        unit: "token" or "char".
    """
    fact = f"labels.{unit}_spans"

    def gold(case: ExampleCase, _: Metric) -> str:
        found: GoldOverlap = case.fact(fact)
        return f"{plural(size(found.gold), UNITS[unit])} in {plural(len(found.gold), 'span')}"

    def returned(case: ExampleCase, metric: Metric) -> str:
        found: GoldOverlap = case.fact(fact)
        chunks = first(found.retrieved, *(getattr(metric, name) for name in ("k", "budget", "fill")))
        held = f"{covered(found.gold, chunks):,} of them gold"
        return f"{plural(size(chunks), UNITS[unit])} in {plural(len(chunks), 'chunk')}, {held}"

    def touching(case: ExampleCase, _: Metric) -> str:
        found: GoldOverlap = case.fact(fact)
        if found.touching is None:
            return "not known: the chunks of the index"
        return f"{plural(len(found.touching), 'chunk')} that touch gold"

    def length(case: ExampleCase, metric: Metric) -> str:
        found: GoldOverlap = case.fact(fact)
        chunks = first(found.retrieved, *(getattr(metric, name) for name in ("k", "budget", "fill")))
        return plural(size(chunks), UNITS[unit])

    return {"G": gold, "R": returned, "C": touching, "len": length}
