"""What one row of the cause table is, and what it can say about an example.

Numbers, passages and documents in words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from ragauge.core.example import Relevant
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.labeled_context import NOTHING, Counterfactual

Basis = Literal["record", "labels", "judge", "guess"]
Component = Literal["retrieval", "generation", "system", "data", "unclear"]


class CauseMatch(NamedTuple):
    """The row applies."""

    text: str  #: the facts that decided, in words with numbers.
    #: the run's own record, the eval set's labels, a judge's verdicts, or a guess: verdicts of a judge that allow
    #: another reading too.
    basis: Basis
    mends: Counterfactual = NOTHING  #: what would be right without this cause; see `attribute` on second opinions.
    lacking: str = ""  #: what would have told more.
    p: float = 1.0  #: probability that these facts are so; 1 for a record, a label, or a judge without probabilities.
    elsewhere: bool = False  #: these facts lay the fault where the row's `other` says, not in the row's own component.


class MissingFact(NamedTuple):
    """The row cannot be decided: a fact is lacking. A row that known facts rule out says None instead."""

    what: str


Verdict = CauseMatch | MissingFact | None


class Remedy(NamedTuple):
    """Where a cause is to be mended, and how."""

    component: Component  #: where.
    fix: str  #: what to try.
    when: str = ""  #: which facts lay it there, in words; "" for the row's own component.


class CauseRow(NamedTuple):
    """One row of the cause table."""

    name: str  #: of the cause, the same everywhere.
    component: Component  #: where to fix it.
    fix: str  #: what to try.
    decide: Callable[[CauseContext], Verdict]  #: whether it applies.
    other: Remedy | None = None  #: where else it is to be mended, by the facts of an example; None = never elsewhere.

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
