"""What judging took and how firm it is, in words and numbers, the same in every report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ragauge.core.messages import as_sentence, number, plural, three_digits
from ragauge.scores.results.judge_usage import JudgeSpread, JudgeUse, Paid

SPREAD = "Means of several repeats of the judge"
SPREAD_SAYS = (
    "Each repeat is over the same responses; the first is the one that is scored. Intervals do not include this spread."
)


def money(cost: float | None) -> str:
    """US dollars as people write them; a price that is not known is said, never 0.

    >>> money(12.345), money(0.01234), money(0.0), money(None)
    ('$12.35', '$0.0123', '$0', 'price unknown')
    """
    if cost is None:
        return "price unknown"
    return f"${cost:,.2f}" if cost >= 1 else f"${three_digits(cost)}"


def paid_words(paid: Paid) -> str:
    """Calls, tokens and cost in one line.

    >>> paid_words(Paid(3, 1, 2, 1200, 80, cost=0.5))
    '3 calls (1 failed), 1,200 tokens in, 80 out, $0.5'
    """
    vain = f" ({paid.failed:,} failed)" if paid.failed else ""
    part = f" for the rest ({plural(paid.unpriced, 'call')} without a price)" if paid.unpriced and paid.cost else ""
    cost = f"{money(paid.cost)}{part}" if part else money(paid.known_cost)
    return f"{plural(paid.calls, 'call')}{vain}, {paid.input_tokens:,} tokens in, {paid.output_tokens:,} out, {cost}"


def sentences(use: JudgeUse | None) -> Iterator[str]:
    """What judging took; nothing where no model was asked and nothing is lacking."""
    if use is None:
        return
    paid = use.paid
    if paid.calls:
        unknown = " RAGAUGE_PRICES names a file with prices of your own." if paid.unpriced else ""
        reused = f" {use.reused:,} more replies were stored already." if use.reused else ""
        yield f"Judging this run took {paid_words(paid)}.{unknown}{reused}"
    elif use.replies:
        yield f"Judging this run took no call to a model: all {use.replies:,} replies were stored already."
    if use.lacking or use.replies:
        share = f" ({use.lacking / use.questions:.1%})" if use.lacking else ""
        why = f" The commonest reason: {as_sentence(use.reason)}" if use.reason else ""
        yield f"{use.lacking:,} of {use.questions:,} questions about responses lack a verdict{share}.{why}"
    if use.unnamed:
        yield (
            f"{plural(use.unnamed, 'verdict')} named no sentence of the passages and "
            f"{'was' if use.unnamed == 1 else 'were'} asked for again."
        )
    if use.parted:
        yield (
            f"{use.parted:,} claims without support were judged on contexts too long for one call: support that is "
            "spread over several calls would not be seen. The judge's setting pack=CHARACTERS makes calls longer."
        )


class SpreadRow(NamedTuple):
    """One metric between several repeats, as text."""

    metric: str
    means: tuple[str, ...]
    width: str
    deviation: str
    changed: str


def spread_rows(use: JudgeUse | None) -> list[SpreadRow]:
    """The metrics between several repeats; [] where the judge was asked once."""
    return [_row(spread) for spread in use.spread] if use is not None else []


def _row(spread: JudgeSpread) -> SpreadRow:
    width, deviation = (f"{value:.3f}" if value is not None else "–" for value in (spread.width, spread.deviation))
    return SpreadRow(
        spread.metric, tuple(map(number, spread.means)), width, deviation, f"{spread.changed:,} of {spread.n:,}"
    )


def spread_heads(rows: list[SpreadRow]) -> tuple[str, ...]:
    """The heads of their columns."""
    repeats = [f"repeat {n}" for n in range(1, len(rows[0].means) + 1)] if rows else []
    return ("metric", *repeats, "range", "std. dev.", "responses that changed")
