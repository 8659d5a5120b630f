"""What judging took and how firm it is, in words and numbers, the same in every report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ragauge.core.messages import end_sentence, format_count, format_three_digits, format_value
from ragauge.scores.results.judge_usage import CallTotals, JudgeSpread, JudgeUse

SPREAD_HEADING = "Means of several repeats of the judge"
SPREAD_NOTE = "Every repeat judges the same responses; the first one is scored. Intervals do not include this spread."


def format_money(cost: float | None) -> str:
    """US dollars as people write them; a price that is not known is said, never 0.

    >>> format_money(12.345), format_money(0.01234), format_money(0.0), format_money(None)
    ('$12.35', '$0.0123', '$0', 'price unknown')
    """
    if cost is None:
        return "price unknown"
    return f"${cost:,.2f}" if cost >= 1 else f"${format_three_digits(cost)}"


def format_paid(paid: CallTotals) -> str:
    """Calls, tokens and cost in one line.

    >>> format_paid(CallTotals(3, 1, 2, 1200, 80, cost=0.5))
    '3 calls (1 failed), 1,200 tokens in, 80 out, $0.5'
    """
    vain = f" ({paid.failed:,} failed)" if paid.failed else ""
    unpriced_text = (
        f" for the rest ({format_count(paid.unpriced, 'call')} without a price)" if paid.unpriced and paid.cost else ""
    )
    cost = f"{format_money(paid.cost)}{unpriced_text}" if unpriced_text else format_money(paid.known_cost)
    return (
        f"{format_count(paid.calls, 'call')}{vain}, {paid.input_tokens:,} tokens in, {paid.output_tokens:,} out, {cost}"
    )


def describe_judging(use: JudgeUse | None) -> Iterator[str]:
    """What judging took; nothing where no model was asked and nothing is lacking."""
    if use is None:
        return
    paid = use.paid
    if paid.calls:
        unknown = " Set RAGAUGE_PRICES to a file with your own prices." if paid.unpriced else ""
        reused = f" {use.reused:,} more replies were already stored." if use.reused else ""
        yield f"Judging this run took {format_paid(paid)}.{unknown}{reused}"
    elif use.replies:
        yield f"Judging this run called no model: all {use.replies:,} replies were already stored."
    if use.lacking or use.replies:
        share = f" ({use.lacking / use.questions:.1%})" if use.lacking else ""
        reason_text = f" Most common reason: {end_sentence(use.reason)}" if use.reason else ""
        yield f"{use.lacking:,} of {use.questions:,} judge questions have no verdict{share}.{reason_text}"
    if use.unnamed:
        yield (
            f"{format_count(use.unnamed, 'verdict')} cited no sentence of the passages and "
            f"{'was' if use.unnamed == 1 else 'were'} asked for again."
        )
    if use.parted:
        yield (
            f"{use.parted:,} claims without support were judged in several calls, because the context was too long for "
            "one: support spread over several calls is missed. Set pack=CHARACTERS on the judge for longer calls."
        )


class SpreadRow(NamedTuple):
    """One metric between several repeats, as text."""

    metric: str
    means: tuple[str, ...]
    width: str
    deviation: str
    changed: str


def build_spread_rows(use: JudgeUse | None) -> list[SpreadRow]:
    """The metrics between several repeats; [] where the judge was asked once."""
    return [_build_spread_row(spread) for spread in use.spread] if use is not None else []


def _build_spread_row(spread: JudgeSpread) -> SpreadRow:
    width, deviation = (f"{value:.3f}" if value is not None else "–" for value in (spread.width, spread.deviation))
    return SpreadRow(
        spread.metric, tuple(map(format_value, spread.means)), width, deviation, f"{spread.changed:,} of {spread.n:,}"
    )


def build_spread_headers(rows: list[SpreadRow]) -> tuple[str, ...]:
    """The heads of their columns."""
    repeats = [f"repeat {n}" for n in range(1, len(rows[0].means) + 1)] if rows else []
    return ("metric", *repeats, "range", "std. dev.", "changed responses")
