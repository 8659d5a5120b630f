"""What judging took, in words and numbers, the same in every report."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.core.messages import end_sentence, format_count, format_three_digits
from ragauge.scores.results.judge_usage import CallTotals, JudgeUse


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
