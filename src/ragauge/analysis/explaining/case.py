"""One example as formulas see it: its facts by name, each resolved once."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from functools import cached_property
from typing import Any, TypeVar

from ragauge.analysis.causes.cause_context import CauseContext
from ragauge.analysis.causes.decided_facts import EVEN
from ragauge.data.facts import Claim, ReferenceClaim
from ragauge.metrics.base import Measured, Metric
from ragauge.metrics.catalogue import parse
from ragauge.metrics.facts import Absent, Facts, resolve
from ragauge.metrics.measure import measure

T = TypeVar("T")

MOST = 12          # entries of a list that are written out
LONGEST = 90       # characters of a text that are shown


class ExampleCase:
    """What is known about one example.

    Attributes:
        facts: the example, what was returned, and the evidence.
        seen: the same as the cause table asks for it.
    """

    def __init__(self, facts: Facts, indexed: Container[str] | None = None) -> None:
        self.facts = facts
        self.seen = CauseContext(facts, indexed)
        self._known: dict[str, Any] = {}

    def fact(self, name: str) -> Any:
        """A fact's value, or NotApplicable or Failed."""
        if name not in self._known:
            self._known[name] = resolve(name, self.facts)
        return self._known[name]

    def known(self, name: str) -> bool:
        """Whether a fact could be had."""
        return not isinstance(self.fact(name), Absent)

    def result(self, metric: str | Metric) -> Measured:
        """A metric's value, computed from the facts."""
        return measure(parse(metric) if isinstance(metric, str) else metric, self.facts)

    @cached_property
    def titles(self) -> list[str]:
        """What to call each passage: its document, or its own id where a document has several."""
        passages = self.facts.response.passages or ()
        docs = [passage.doc_id for passage in passages]
        return [p.doc_id if docs.count(p.doc_id) == 1 else p.passage_id for p in passages]


def count_found(claims: Iterable[Claim | ReferenceClaim], whose: str) -> str:
    """How many claims the passages hold, and beside it the share that a judge with probabilities expects; "" for none.

    >>> count_found([Claim(1, "a", supporting=(1,), p=0.9), Claim(2, "b", p=0.1)], "claims")
    '1 of 2 claims found in the passages; expected share 0.50'
    >>> count_found([ReferenceClaim(1, "a", (2,)), ReferenceClaim(2, "b", None)], "reference claims")
    '1 of 1 reference claims found in the passages'
    """
    known = [claim for claim in claims if claim.supporting is not None and getattr(claim, "status", "ok") == "ok"]
    if not known:
        return ""
    expected = "" if all(claim.p is None for claim in known) else (
        f"; expected share {sum(claim.chance for claim in known) / len(known):.2f}"
    )     # fmt: skip
    return f"{sum(bool(claim.supporting) for claim in known)} of {len(known)} {whose} found in the passages{expected}"


def cut(text: str, most: int = LONGEST) -> str:
    """Text on one line, cut when long."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def braces(numbers: Iterable[Any]) -> str:
    """A set: {1, 3}.

    >>> braces([3, 1]), braces([])
    ('{1, 3}', '{}')
    """
    return "{" + ", ".join(map(str, sorted(numbers))) + "}"


def holding(claim: ReferenceClaim) -> str:
    """T of a reference claim: the passages that support it; where only a probability says that some does, so.

    >>> [holding(ReferenceClaim(1, "a", supporting)) for supporting in ((2,), (), None)]
    ['{2}', '{}', '?']
    >>> holding(ReferenceClaim(1, "a", (), p=0.85)), holding(ReferenceClaim(1, "a", (), p=0.2))
    ('none named', '{}')
    """
    if claim.supporting is None:
        return "?"
    return "none named" if claim.supporting == () and claim.chance >= EVEN else braces(claim.supporting)


def each(symbol: str, items: Iterable[T], value: Callable[[T], str]) -> str:
    """An indexed symbol written out: S[1] = {2}, S[2] = {}."""
    written = [f"{symbol}[{n}] = {value(item)}" for n, item in enumerate(items, 1)]
    more = f" … and {len(written) - MOST} more" if len(written) > MOST else ""
    return ", ".join(written[:MOST]) + more if written else "none"


def listed(words: Iterable[str]) -> str:
    """A list, the first few: a, b … and 3 more; none."""
    every = list(words)
    more = f" … and {len(every) - MOST} more" if len(every) > MOST else ""
    return ", ".join(every[:MOST]) + more if every else "none"


def mark(value: float | None) -> str:
    """1, 0 or a probability; ? where the verdict is missing."""
    return "?" if value is None else number(float(value))


def number(value: float) -> str:
    """A number as arithmetic needs it: three significant digits and no more than four decimals; whole ones whole.

    >>> number(3.0), number(0.66667), number(1234.5), number(0.00042)
    ('3', '0.667', '1,234.5', '0.00042')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}" if abs(value) >= 100 else f"{value:.3g}"
