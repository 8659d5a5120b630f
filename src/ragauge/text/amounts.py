"""Numbers as people read them: shares, amounts and their units."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

UNITS: Mapping[str, tuple[str, str]] = {"latency": ("", " ms"), "cost": ("$", "")}     # before and after a value
LEAST_WRITTEN = 1e-8     # amounts below it are written with an exponent


def number(value: float | None, kind: str = "mean") -> str:
    """A value as people read it: two decimals for shares, three significant digits for amounts.

    >>> number(0.8333), number(None), number(1234.5, "amount"), number(0.00042, "amount")
    ('0.83', '–', '1,234', '0.00042')
    """
    if value is None:
        return "–"
    if kind == "amount":
        return f"{value:,.0f}" if abs(value) >= 100 else three_digits(value)
    return f"{value:.2f}"


def three_digits(value: float) -> str:
    """Three significant digits without an exponent, as prices are written; one only where nobody would count the zeros.

    >>> three_digits(0.0000396), three_digits(5.376), three_digits(-0.5), three_digits(4e-12)
    ('0.0000396', '5.38', '-0.5', '4e-12')
    """
    shown = f"{value:.3g}"
    return format(Decimal(shown), "f") if abs(value) >= LEAST_WRITTEN else shown


def valued(value: float | None, metric: str, kind: str = "amount") -> str:
    """A value with the unit of its metric.

    >>> valued(840.2, "latency:stage=retrieval"), valued(0.0042, "cost"), valued(551.0, "tokens"), valued(None, "cost")
    ('840 ms', '$0.0042', '551', '–')
    """
    before, after = UNITS.get(metric.partition(":")[0], ("", ""))
    return "–" if value is None else f"{before}{number(value, kind)}{after}"


def signed(value: float | None, kind: str = "mean") -> str:
    """A difference with its sign.

    >>> signed(0.051), signed(-0.1), signed(0.0), signed(-1234.5, "amount"), signed(None)
    ('+0.05', '−0.10', '0.00', '−1,234', '–')
    """
    if value is None:
        return "–"
    shown = number(abs(value), kind)
    sign = "" if not any(digit in shown for digit in "123456789") else "+" if value > 0 else "−"
    return sign + shown
