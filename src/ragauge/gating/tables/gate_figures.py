"""The numbers of a gate as text: estimates, limits, intervals, differences."""

from __future__ import annotations

from math import isinf

from ragauge.core.messages import UNITS, format_three_digits
from ragauge.gating.result import Check
from ragauge.stats.weighted import Interval


def format_figure(value: float | None, scale: str = "mean") -> str:
    """A number of a gate: three decimals for scores, since limits are small; three digits or more for amounts.

    >>> format_figure(0.0244), format_figure(2150.4, "amount"), format_figure(0.00042, "amount"), format_figure(None)
    ('0.024', '2,150', '0.00042', '–')
    """
    if value is None:
        return "–"
    if isinf(value):
        return "∞" if value > 0 else "−∞"
    text = (
        f"{abs(value):.3f}"
        if scale != "amount"
        else f"{abs(value):,.0f}"
        if abs(value) >= 100
        else (format_three_digits(abs(value)))
    )
    return f"−{text}" if value < 0 and any(digit in text for digit in "123456789") else text


def format_signed(value: float | None, scale: str = "mean") -> str:
    """A difference with its sign.

    >>> format_signed(0.011), format_signed(-0.0244), format_signed(0.0)
    ('+0.011', '−0.024', '0.000')
    """
    text = format_figure(value, scale)
    rose = value is not None and value > 0 and any(digit in text for digit in "123456789")
    return f"+{text}" if rose else text


def format_level(interval: Interval) -> str:
    """An interval's level: 90 %, 99.2 %.

    >>> format_level(Interval(0, 1, "t", 0.9)), format_level(Interval(0, 1, "t", 0.99167))
    ('90 %', '99.2 %')
    """
    share = f"{100 * interval.level:.2f}" if interval.level > 0.999 else f"{100 * interval.level:.1f}"
    return f"{share.removesuffix('.0')} %"


def format_interval(interval: Interval | None, check: Check) -> str:
    """An interval in brackets; of a difference with signs."""
    if interval is None:
        return "no interval"
    write = format_signed if check.kind == "max_drop" else format_figure
    return f"[{write(interval.low, check.scale)}, {write(interval.high, check.scale)}]"


def format_limit(check: Check) -> str:
    """What the estimate is held against: at least −0.024, at most 2,000."""
    if check.kind == "must_pass":
        return "all"
    if check.kind == "max_failed":
        return f"at most {100 * check.amount:g} %"
    return f"at {'least' if check.higher else 'most'} {format_with_unit(check.limit, check)}"


def format_estimate(check: Check) -> str:
    """The estimate with its 90 % interval; where no score changed, that, since no interval decided."""
    if check.kind == "must_pass":
        return f"{len(check.examples)} of {check.n} failed" if check.examples else f"0 of {check.n} failed"
    if check.kind == "max_failed":
        return f"{check.failed} of {check.n}"
    text = format_with_unit(check.estimate, check)
    if check.because == "itself":
        return "nothing compared"
    if check.because == "unchanged":
        return f"{text}, no score changed"
    return f"{text} {format_interval(check.interval, check)}" if check.interval is not None else text


def format_with_unit(value: float | None, check: Check) -> str:
    """A number with the unit of the metric; of a difference with its sign."""
    return _add_unit((format_signed if check.kind == "max_drop" else format_figure)(value, check.scale), check)


def format_mean(value: float | None, check: Check) -> str:
    """The mean of one run, with the unit of the metric."""
    return _add_unit(format_figure(value, check.scale), check)


def _add_unit(text: str, check: Check) -> str:
    """A number as written, with the unit of the metric between its sign and itself, and behind it."""
    prefix, suffix = UNITS.get(check.metric.partition(":")[0], ("", ""))
    sign = text[0] if text[:1] in ("+", "−") else ""
    return (
        text
        if not any(digit in text for digit in "0123456789")
        else (f"{sign}{prefix}{text.removeprefix(sign)}{suffix}")
    )


def format_change(check: Check) -> str:
    """Baseline → run; of a level nothing."""
    if check.base is None or check.kind != "max_drop":
        return ""
    return f"{format_figure(check.base, check.scale)} → {format_figure(check.new, check.scale)}"


def format_example_count(check: Check) -> str:
    """How many examples: 240, or 236 + 4 failed, or 40 + 200 not judged; of two samples 240 vs 310."""
    n = f"{check.n:,}" if check.n_base is None else f"{check.n:,} vs {check.n_base:,}"
    if not check.failed or check.kind not in LIMITS:
        return n
    unjudged = 0 if check.lost is None else check.lost.unjudged
    failed, more = check.failed - unjudged, f" + {unjudged:,} not judged" if unjudged else ""
    return n + (f" + {failed:,} failed" if failed else "") + more


LIMITS, SETTLED_ELSEWHERE = ("max_drop", "min", "max"), ("failed", "examples", "itself", "not_read", "unanswered")
