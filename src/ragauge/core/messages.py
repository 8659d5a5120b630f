"""How numbers, counts and commands are written in messages and reports."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal

from ragauge.core.errors import without_password

UNITS: Mapping[str, tuple[str, str]] = {"latency": ("", " ms"), "cost": ("$", "")}  # before and after a value
LEAST_WRITTEN = 1e-8  # amounts below it are written with an exponent


def number(value: float | None, kind: str = "mean") -> str:
    """A value as people read it: two decimals for shares, three significant digits for amounts.

    >>> number(0.8333), number(None), number(1234.5, "amount"), number(0.00042, "amount")
    ('0.83', '–', '1,234', '0.00042')
    """
    if value is None:
        return "–"
    if kind == "amount":
        return f"{value:,.0f}" if abs(value) >= 100 else three_digits(value)
    return f"{value:z.2f}"  # z: what is rounded to 0 has no sign


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


def plural(count: int, noun: str, many: str = "") -> str:
    """A count with its noun.

    >>> plural(1, "example"), plural(2_000, "example"), plural(2, "reply", "replies")
    ('1 example', '2,000 examples', '2 replies')
    """
    return f"{count:,} {noun if count == 1 else many or f'{noun}s'}"


_STORE: ContextVar[str] = ContextVar("store of commands", default="")
STORELESS = frozenset(
    {  # commands that read and write no store
        ("docs",),
        ("metrics",),
        ("retrieval",),
        ("validate",),
        ("testset", "diff"),
        ("testset", "export"),
        ("testset", "freeze"),
        ("testset", "mark"),
        ("testset", "vary"),
    }
)


def as_sentence(text: str) -> str:
    """A text that ends as a sentence does, be it within quotes.

    >>> as_sentence("it failed"), as_sentence('it said "Yes."')
    ('it failed.', 'it said "Yes."')
    """
    text = text.strip()
    return text if text.rstrip("\"'”»)").endswith((".", "!", "?", "…")) else f"{text}."


def clock(seconds: float) -> str:
    """Time left as people say it.

    >>> clock(5), clock(125), clock(7300)
    ('5 s', '2 min 5 s', '2 h 1 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def command(*words: str) -> str:
    """A command line of ragauge.

    Args:
        words: what follows `ragauge`; each is quoted where a shell would read it otherwise.

    >>> command("show", "k = 8")
    "ragauge show 'k = 8'"
    """
    takes = STORELESS.isdisjoint((words[:1], words[:2]))
    return shlex.join(("ragauge", *words)) + (store_option() if takes else "")


def store_option() -> str:
    """What commands end with where they name a store, with the blank before it; "" where they name none."""
    url = _STORE.get()
    return f" {shlex.join(('--store', without_password(url)))}" if url else ""


def speak_of(store: str) -> None:
    """Every command from now on names this store; "" = none, since it is the one that commands take by themselves."""
    _STORE.set(store)


@contextmanager
def speaking_of(store: str) -> Iterator[None]:
    """Commands within name this store; "" = as without."""
    token = _STORE.set(store or _STORE.get())
    try:
        yield
    finally:
        _STORE.reset(token)
