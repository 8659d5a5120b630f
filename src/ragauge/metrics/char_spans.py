"""Spans of an ordinary response, where nothing is known but what it holds."""

from __future__ import annotations

from ragauge.core.example import Example
from ragauge.core.ranking import GoldOverlap
from ragauge.core.response import Response
from ragauge.metrics.base import Failed, NotApplicable
from ragauge.metrics.reasons import SYSTEM_FAILED


def find_char_spans(example: Example, response: Response) -> GoldOverlap | NotApplicable | Failed:
    """Characters of the gold spans and of the passages returned; which chunks the index holds is not known."""
    if not example.gold_spans:
        return NotApplicable("no gold spans")
    if response.error is not None:
        return Failed(SYSTEM_FAILED.build_reason(response.error))
    if response.passages is None:
        return NotApplicable("passages not recorded")
    spans = [passage.span for passage in response.passages]
    known_spans = [span for span in spans if span is not None]
    if len(known_spans) < len(spans):
        return NotApplicable("the positions of the passages in their documents are not recorded (span)")
    from ragauge.metrics.spans.span_coverage import merge_spans

    return GoldOverlap(merge_spans(example.gold_spans), tuple(known_spans))


def find_token_spans(example: Example) -> NotApplicable:
    """Tokens are counted over whole documents, which no response holds: `ragauge component chunking` scores them."""
    if not example.gold_spans:
        return NotApplicable("no gold spans")
    return NotApplicable(
        "token counts of the documents are not available: use ragauge component chunking, which counts them, or "
        "unit=char"
    )
