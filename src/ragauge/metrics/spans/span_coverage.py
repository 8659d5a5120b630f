"""How much of the gold spans some chunks hold, and which chunks a cutoff or a budget leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragauge.core.errors import UsageError
from ragauge.core.example import Span
from ragauge.core.ranking import GoldOverlap

Fill = Literal["cut", "whole"]
Unit = Literal["token", "char"]
MAX_TRIED_CHUNKS = 12  # touching chunks of which every choice is tried


def merge_spans(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The same places without overlaps: in order of document and start, spans that touch made one, empty ones gone.

    >>> [(span.start, span.end) for span in merge_spans([Span("d", 4, 9), Span("d", 0, 5), Span("d", 12, 12)])]
    [(0, 9)]
    """
    joined: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.doc_id, span.start)):
        if span.end <= span.start:
            continue
        last = joined[-1] if joined else None
        if last is not None and last.doc_id == span.doc_id and span.start <= last.end:
            joined[-1] = Span(span.doc_id, last.start, max(last.end, span.end))
        else:
            joined.append(span)
    return tuple(joined)


def count_units(spans: Sequence[Span]) -> int:
    """Units of all spans together; what stands in two counts twice."""
    return sum(span.end - span.start for span in spans)


def count_covered(gold: Sequence[Span], spans: Sequence[Span]) -> int:
    """Units of the gold spans that stand in at least one of the spans; `gold` is merged."""
    return build_mask(gold, spans).bit_count()


def build_mask(gold: Sequence[Span], spans: Sequence[Span]) -> int:
    """The gold units that stand in the spans, one bit a unit."""
    mask = offset = 0
    for gold_span in gold:
        for span in spans:
            start, end = max(gold_span.start, span.start), min(gold_span.end, span.end)
            if span.doc_id == gold_span.doc_id and start < end:
                mask |= ((1 << (end - start)) - 1) << (offset + start - gold_span.start)
        offset += gold_span.end - gold_span.start
    return mask


def take_first(spans: Sequence[Span], k: int | None, budget: int | None, fill: Fill) -> Sequence[Span]:
    """The first k spans, or the first that fill a budget: `cut` shortens the last one, `whole` leaves it out.

    >>> chunks = [Span("d", 0, 6), Span("d", 8, 14)]
    >>> ([span.end for span in take_first(chunks, None, 9, "cut")],
    ...     [span.end for span in take_first(chunks, None, 9, "whole")])
    ([6, 11], [6])
    """
    if budget is None:
        return spans if k is None else spans[:k]
    selected: list[Span] = []
    remaining = budget
    for span in spans:
        length = span.end - span.start
        if length > remaining:
            if fill == "cut" and remaining:
                selected.append(Span(span.doc_id, span.start, span.start + remaining))
            break
        selected.append(span)
        remaining -= length
    return selected


def compute_attainable(overlap: GoldOverlap, k: int | None, budget: int | None, fill: Fill) -> tuple[int, bool]:
    """The most gold units that any choice of chunks holds under a cutoff or a budget, and whether that is exact.

    Up to 12 touching chunks every choice is tried. Of more, the chunk that adds most is taken until nothing fits, and
    what was retrieved counts where it holds more: a lower bound.
    """
    chunks = overlap.touching or ()
    max_chunks, room = (len(chunks) if k is None else k), (count_units(chunks) if budget is None else budget)
    if len(chunks) <= max_chunks and count_units(chunks) <= room:
        return count_covered(overlap.gold, chunks), True
    if len(chunks) <= MAX_TRIED_CHUNKS:
        return _find_best_choice(overlap.gold, chunks, max_chunks, room, fill), True
    selected: list[Span] = []
    for _ in range(min(max_chunks, len(chunks))):
        remaining = room - count_units(selected)
        cuts = [take_first([chunk], None, remaining, fill) for chunk in chunks]
        best = max(cuts, key=lambda cut: count_covered(overlap.gold, [*selected, *cut]))
        if count_covered(overlap.gold, [*selected, *best]) == count_covered(overlap.gold, selected):
            break
        selected += best
    returned = take_first(overlap.retrieved, k, budget, fill)
    return max(count_covered(overlap.gold, selected), count_covered(overlap.gold, returned)), False


def _find_best_choice(gold: Sequence[Span], chunks: Sequence[Span], max_chunks: int, room: int, fill: Fill) -> int:
    """Over every choice of whole chunks that fits, and one more cut to what is left."""
    masks, best = [build_mask(gold, [chunk]) for chunk in chunks], 0
    stack = [(0, 0, 0, room)]  # next chunk, how many taken, what they hold, what is left
    while stack:
        next_index, taken, mask, remaining = stack.pop()
        best = max(best, mask.bit_count())
        if taken == max_chunks:
            continue
        for index in range(len(chunks) if fill == "cut" else 0):
            cut = take_first([chunks[index]], None, remaining, "cut")
            best = max(best, (mask | build_mask(gold, cut)).bit_count())
        for following in range(next_index, len(chunks)):
            length = chunks[following].end - chunks[following].start
            if length <= remaining:
                stack.append((following + 1, taken + 1, mask | masks[following], remaining - length))
    return best


def check_parameters(name: str, unit: Unit, k: int | None, budget: int | None, fill: Fill) -> None:
    """UsageError where parameters do not go together."""
    if k is not None and budget is not None:
        raise UsageError(f"{name}: a cutoff and a budget cannot be combined. Write {name}@5 or {name}:budget=1024.")
    if budget is not None and unit == "char":
        raise UsageError(f"{name}: a budget counts tokens. Write {name}:budget=1024, or {name}:unit=char@5.")
    if fill != "cut" and budget is None:
        raise UsageError(f"{name}: fill={fill} needs a budget. Write {name}:budget=1024:fill={fill}.")
