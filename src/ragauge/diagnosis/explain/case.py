"""One example as formulas see it: its facts by name, each resolved once."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar

from ragauge.core.facts import Claim, ReferenceClaim
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.decided_facts import Decision
from ragauge.metrics.base import Metric, MetricResult
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Absent, Facts, resolve_fact
from ragauge.metrics.measure import measure_metric

T = TypeVar("T")

MAX_ENTRIES = 12  # entries of a list that are written out
MAX_TEXT_CHARS = 90  # characters of a text that are shown


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

    def read_fact(self, name: str) -> Any:
        """A fact's value, or NotApplicable or Failed."""
        if name not in self._known:
            self._known[name] = resolve_fact(name, self.facts)
        return self._known[name]

    def has_fact(self, name: str) -> bool:
        """Whether a fact could be had."""
        return not isinstance(self.read_fact(name), Absent)

    def compute_result(self, metric: str | Metric) -> MetricResult:
        """A metric's value, computed from the facts."""
        return measure_metric(parse_metric(metric) if isinstance(metric, str) else metric, self.facts)

    @cached_property
    def passage_titles(self) -> list[str]:
        """What to call each passage: its document, or its own id where a document has several."""
        passages = self.facts.response.passages or ()
        docs = [passage.doc_id for passage in passages]
        return [p.doc_id if docs.count(p.doc_id) == 1 else p.passage_id for p in passages]


def count_decided(decisions: Iterable[Decision | None], chances: Iterable[float | None], whose: str, how: str) -> str:
    """Of how many claims a judge says yes, and the share that one with probabilities expects; "" without a verdict.

    Args:
        decisions: what the judge's finding on each claim says; None = no verdict.
        chances: its probability of a yes; None = it has none.
        whose: what is counted, such as reference claims.
        how: what is so of them, such as "found in the passages".

    >>> count_decided(["yes", "no"], [0.9, 0.1], "claims", "found in the passages")
    '1 of 2 claims found in the passages; expected share 0.50'
    >>> count_decided(["open"], [0.45], "claims", "found in the passages")
    '0 of 1 claims surely found in the passages, 1 unclear; expected share 0.45'
    >>> count_decided(["yes", None], [None, None], "reference claims", "stated by the answer")
    '1 of 1 reference claims stated by the answer'
    """
    decided_pairs = [(decision, p) for decision, p in zip(decisions, chances, strict=True) if decision is not None]
    if not decided_pairs:
        return ""
    decisions_given = [decision for decision, _ in decided_pairs]
    n_open, n_yes = decisions_given.count("open"), decisions_given.count("yes")
    count_text = f"{n_yes} of {len(decided_pairs)} {whose} {f'surely {how}, {n_open} unclear' if n_open else how}"
    if all(p is None for _, p in decided_pairs):
        return count_text
    expected_share = sum(float(decision == "yes") if p is None else p for decision, p in decided_pairs) / len(
        decided_pairs
    )
    return f"{count_text}; expected share {expected_share:.2f}"


def count_supported(claims: Sequence[Claim], context: CauseContext) -> str:
    """How many claims of an answer the passages hold, as `count_decided` says it; "" where the judge cannot tell."""
    if context.claims is None:
        return ""
    decisions = [context.is_supported(claim) for claim in claims]
    return count_decided(decisions, [claim.p for claim in claims], "claims", "found in the passages")


def count_found(context: CauseContext) -> str:
    """How many reference claims the passages hold, as `count_decided` says it; "" where none is known."""
    claims = context.reference or ()
    decisions = [context.is_found(claim) for claim in claims]
    return count_decided(decisions, [claim.p for claim in claims], "reference claims", "found in the passages")


def count_stated(context: CauseContext) -> str:
    """How many reference claims the answer states, as `count_decided` says it; "" where none is known."""
    if context.agreement is None:
        return ""
    n = len(context.agreement.reference)
    chances = [*context.agreement.reference_p, *[None] * n][:n]
    decisions = [context.is_stated(number) for number in range(1, n + 1)]
    return count_decided(decisions, chances, "reference claims", "stated by the answer")


def shorten_text(text: str, max_chars: int = MAX_TEXT_CHARS) -> str:
    """Text on one line, cut when long."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def format_set(numbers: Iterable[Any]) -> str:
    """A set: {1, 3}.

    >>> format_set([3, 1]), format_set([])
    ('{1, 3}', '{}')
    """
    return "{" + ", ".join(map(str, sorted(numbers))) + "}"


def format_supporting(claim: ReferenceClaim, context: CauseContext) -> str:
    """T of a reference claim: the passages that support it; where only a probability says that some may, so."""
    if claim.supporting is None:
        return "?"
    return "none named" if claim.supporting == () and context.is_found(claim) != "no" else format_set(claim.supporting)


def format_indexed(symbol: str, items: Iterable[T], value: Callable[[T], str]) -> str:
    """An indexed symbol written out: S[1] = {2}, S[2] = {}."""
    entries = [f"{symbol}[{n}] = {value(item)}" for n, item in enumerate(items, 1)]
    more = f" … and {len(entries) - MAX_ENTRIES} more" if len(entries) > MAX_ENTRIES else ""
    return ", ".join(entries[:MAX_ENTRIES]) + more if entries else "none"


def format_list(words: Iterable[str]) -> str:
    """A list, the first few: a, b … and 3 more; none."""
    entries = list(words)
    more = f" … and {len(entries) - MAX_ENTRIES} more" if len(entries) > MAX_ENTRIES else ""
    return ", ".join(entries[:MAX_ENTRIES]) + more if entries else "none"


def format_mark(value: float | None) -> str:
    """1, 0 or a probability; ? where the verdict is missing."""
    return "?" if value is None else format_number(float(value))


def format_number(value: float) -> str:
    """A number as arithmetic needs it: three significant digits and no more than four decimals; whole ones whole.

    >>> format_number(3.0), format_number(0.66667), format_number(1234.5), format_number(0.00042)
    ('3', '0.667', '1,234.5', '0.00042')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}" if abs(value) >= 100 else f"{value:.3g}"
