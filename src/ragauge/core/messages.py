"""How numbers, counts and commands are written in messages and reports."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal

from ragauge.core.errors import mask_secrets

UNITS: Mapping[str, tuple[str, str]] = {"latency": ("", " ms"), "cost": ("$", "")}  # before and after a value
MIN_PLAIN_AMOUNT = 1e-8  # amounts below it are written with an exponent


def format_value(value: float | None, kind: str = "mean") -> str:
    """A value as people read it: two decimals for shares, three significant digits for amounts.

    >>> format_value(0.8333), format_value(None), format_value(1234.5, "amount"), format_value(0.00042, "amount")
    ('0.83', '–', '1,234', '0.00042')
    """
    if value is None:
        return "–"
    if kind == "amount":
        return f"{value:,.0f}" if abs(value) >= 100 else format_three_digits(value)
    return f"{value:z.2f}"  # z: what is rounded to 0 has no sign


def format_three_digits(value: float) -> str:
    """Three significant digits without an exponent, as prices are written; one only where nobody would count the zeros.

    >>> (format_three_digits(0.0000396), format_three_digits(5.376), format_three_digits(-0.5),
    ...     format_three_digits(4e-12))
    ('0.0000396', '5.38', '-0.5', '4e-12')
    """
    text = f"{value:.3g}"
    return format(Decimal(text), "f") if abs(value) >= MIN_PLAIN_AMOUNT else text


def format_metric_value(value: float | None, metric: str, kind: str = "amount") -> str:
    """A value with the unit of its metric.

    >>> (format_metric_value(840.2, "latency:stage=retrieval"), format_metric_value(0.0042, "cost"),
    ...     format_metric_value(551.0, "tokens"), format_metric_value(None, "cost"))
    ('840 ms', '$0.0042', '551', '–')
    """
    prefix, suffix = UNITS.get(metric.partition(":")[0], ("", ""))
    return "–" if value is None else f"{prefix}{format_value(value, kind)}{suffix}"


def format_signed(value: float | None, kind: str = "mean") -> str:
    """A difference with its sign.

    >>> (format_signed(0.051), format_signed(-0.1), format_signed(0.0), format_signed(-1234.5, "amount"),
    ...     format_signed(None))
    ('+0.05', '−0.10', '0.00', '−1,234', '–')
    """
    if value is None:
        return "–"
    text = format_value(abs(value), kind)
    sign = "" if not any(digit in text for digit in "123456789") else "+" if value > 0 else "−"
    return sign + text


def format_count(count: int, noun: str, many: str = "") -> str:
    """A count with its noun.

    >>> format_count(1, "example"), format_count(2_000, "example"), format_count(2, "reply", "replies")
    ('1 example', '2,000 examples', '2 replies')
    """
    return f"{count:,} {noun if count == 1 else many or f'{noun}s'}"


_STORE: ContextVar[str] = ContextVar("store of commands", default="")
STORELESS_COMMANDS = frozenset(
    {  # commands that read and write no store
        ("docs",),
        ("metrics",),
        ("retrieval",),
        ("testset", "diff"),
        ("testset", "export"),
        ("testset", "freeze"),
        ("testset", "mark"),
        ("testset", "vary"),
    }
)


def end_sentence(text: str) -> str:
    """A text that ends as a sentence does, be it within quotes.

    >>> end_sentence("it failed"), end_sentence('it said "Yes."')
    ('it failed.', 'it said "Yes."')
    """
    text = text.strip()
    return text if text.rstrip("\"'”»)").endswith((".", "!", "?", "…")) else f"{text}."


def format_duration(seconds: float) -> str:
    """Time left as people say it.

    >>> format_duration(5), format_duration(125), format_duration(7300)
    ('5 s', '2 min 5 s', '2 h 1 min')
    """
    minutes, seconds_left = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    return (
        f"{hours} h {minutes_left} min"
        if hours
        else f"{minutes} min {seconds_left} s"
        if minutes
        else f"{seconds_left} s"
    )


def format_command(*words: str) -> str:
    """A command line of ragauge.

    Args:
        words: what follows `ragauge`; each is quoted where a shell would read it otherwise.

    >>> format_command("show", "k = 8")
    "ragauge show 'k = 8'"
    """
    takes = STORELESS_COMMANDS.isdisjoint((words[:1], words[:2]))
    return shlex.join(("ragauge", *words)) + (format_store_option() if takes else "")


def format_store_option() -> str:
    """What commands end with where they name a store, with the blank before it; "" where they name none."""
    url = _STORE.get()
    return f" {shlex.join(('--store', mask_secrets(url)))}" if url else ""


def set_named_store(store: str) -> None:
    """Every command from now on names this store; "" = none, since it is the one that commands take by themselves."""
    _STORE.set(store)


@contextmanager
def name_store(store: str) -> Iterator[None]:
    """Commands within name this store; "" = as without."""
    token = _STORE.set(store or _STORE.get())
    try:
        yield
    finally:
        _STORE.reset(token)
