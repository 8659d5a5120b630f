"""What one row of the cause table is, and what it can say about an example.

Numbers, passages and documents in words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from ragauge.core.example import Relevant
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.remedied import NOTHING, Counterfactual

Basis = Literal["record", "labels", "judge", "guess"]
Component = Literal["retrieval", "generation", "system", "data", "unclear"]


class CauseMatch(NamedTuple):
    """The row applies.

    Attributes:
        text: the facts that decided, in words with numbers.
        basis: the run's own record, the eval set's labels, a judge's verdicts, or a guess: verdicts of a judge that
            allow another reading too.
        mends: what would be right without this cause; see `attribute` on second opinions.
        lacking: what would have told more.
        p: probability that these facts are so; 1 for a record, a label, or a judge without probabilities.
        elsewhere: these facts lay the fault where the row's `other` says, not in the row's own component.
    """

    text: str
    basis: Basis
    mends: Counterfactual = NOTHING
    lacking: str = ""
    p: float = 1.0
    elsewhere: bool = False


class MissingFact(NamedTuple):
    """The row cannot be decided: a fact is lacking. A row that known facts rule out says None instead."""

    what: str


Verdict = CauseMatch | MissingFact | None


class Remedy(NamedTuple):
    """Where a cause is to be mended, and how.

    Attributes:
        component: where.
        fix: what to try.
        when: which facts lay it there, in words; "" for the row's own component.
    """

    component: Component
    fix: str
    when: str = ""


class CauseRow(NamedTuple):
    """One row of the cause table.

    Attributes:
        name: of the cause, the same everywhere.
        component: where to fix it.
        fix: what to try.
        decide: whether it applies.
        other: where else it is to be mended, by the facts of an example; None = never elsewhere.
    """

    name: str
    component: Component
    fix: str
    decide: Callable[[CauseContext], Verdict]
    other: Remedy | None = None

    def find_remedy(self, match: CauseMatch) -> Remedy:
        """Where these facts lay the fault, and what to try."""
        return self.other if match.elsewhere and self.other is not None else Remedy(self.component, self.fix)

    def at(self, component: str) -> Remedy:
        """The same by the name of the component; the row's own for any that it does not know."""
        other = self.other
        return other if other is not None and other.component == component else Remedy(self.component, self.fix)


def format_numbers(values: Iterable[int]) -> str:
    """Numbers in words: 2; 2 and 5; 2, 5 and 7."""
    texts = [str(value) for value in values]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}" if texts else "none"


def format_numbered_noun(noun: str, values: Collection[int]) -> str:
    """A noun with its numbers: passage 2; passages 2 and 5."""
    return f"{noun}{'s' if len(values) > 1 else ''} {format_numbers(sorted(values))}"


def format_documents(items: Sequence[Relevant], max_n: int = 3) -> str:
    """Documents in words, the first few: gold document d1; gold documents d1, d2 or d3 (any one), and 4 more."""
    names = [item.doc_ids[0] if len(item.doc_ids) == 1 else " or ".join(item.doc_ids[:max_n]) for item in items[:max_n]]
    more = f" and {len(items) - max_n} more" if len(items) > max_n else ""
    return f"gold document{'s' if len(items) > 1 else ''} {', '.join(names)}{more}"


def collect_members(items: Iterable[Relevant]) -> frozenset[tuple[str, ...]]:
    """Labelled items as `Counterfactual` names them."""
    return frozenset(item.doc_ids for item in items)
