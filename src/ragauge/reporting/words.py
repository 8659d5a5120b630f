"""How numbers and counts are written, the same in every report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragauge.analysis.scorecard import Scorecard, Summary
from ragauge.data.score import STATUSES

LAYERS: Mapping[str, str] = {
    "retrieval": "Retrieval: was the evidence found?",
    "generation": "Generation: was it used faithfully?",
    "end_to_end": "End to end: is the answer right?",
}
ARROWS: Mapping[str, str] = {"higher": "", "lower": " ↓", "neither": ""}


CONTROL = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160)) if code not in (9, 10)}


def safe(text: str) -> str:
    r"""Text from data without control characters, so that it cannot move a terminal's cursor or colour it.

    >>> safe("a\x1b[31mb")
    'a�[31mb'
    """
    return text.translate(CONTROL)


def number(value: float | None, kind: str = "mean") -> str:
    """A value as people read it: two decimals for shares, three significant digits for amounts.

    >>> number(0.8333), number(None), number(1234.5, "amount"), number(0.00042, "amount")
    ('0.83', '–', '1,234', '0.00042')
    """
    if value is None:
        return "–"
    if kind == "amount":
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:.2f}"


def interval(summary: Summary) -> str:
    """The interval in brackets; "" where there is none."""
    if summary.interval is None:
        return ""
    return f"[{number(summary.interval.low, summary.kind)}, {number(summary.interval.high, summary.kind)}]"


def estimate(summary: Summary) -> str:
    """Mean and interval: 0.83 [0.78, 0.88]."""
    return f"{number(summary.mean, summary.kind)} {interval(summary)}".strip()


def counts(summary: Summary) -> str:
    """The counts of all four statuses; they sum to n. Zeros other than scored are left out."""
    found = {status: getattr(summary, status) for status in STATUSES}
    return " · ".join(f"{count} {status}" for status, count in found.items() if count or status == "scored")


def by_layer(summaries: Sequence[Summary]) -> list[tuple[str, list[Summary]]]:
    """Summaries with at least one example that they apply to, by layer, in the order asked."""
    shown = [summary for summary in summaries if summary.not_applicable < summary.n]
    groups = [(layer, [summary for summary in shown if summary.measures == layer]) for layer in LAYERS]
    return [(layer, group) for layer, group in groups if group]


def left_out(summaries: Sequence[Summary]) -> list[tuple[str, list[str]]]:
    """Metrics that apply to no example, by reason: (reason, names)."""
    out: dict[str, list[str]] = {}
    for summary in summaries:
        if summary.n and summary.not_applicable == summary.n:
            out.setdefault(next(iter(summary.reasons), "not applicable"), []).append(summary.metric)
    return list(out.items())


def verdict(card: Scorecard) -> str:
    """The outcome in a sentence."""
    if not card.n:
        return "Nothing was evaluated."
    if card.failed_examples == 0:
        return f"No failed example among {card.n:,}."
    head = f"{card.failed_examples:,} of {card.n:,} examples failed"
    if card.findings:
        return f"{head}. First: {card.findings[0].headline}"
    top = next(iter(card.causes), "")
    return f"{head}, most often by {top}." if top else f"{head}; the facts name no cause."


def opened(sentence: str) -> str:
    """A sentence with its first letter large.

    >>> opened("recall fell")
    'Recall fell'
    """
    return sentence[:1].upper() + sentence[1:]


def share(part: int, whole: int) -> str:
    """A count as a share of a whole: 62 of 120 (52 %)."""
    return f"{part:,} of {whole:,} ({part / whole:.0%})" if whole else "0 of 0"


def plural(count: int, noun: str) -> str:
    """A count with its noun: 1 example, 2 examples."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
