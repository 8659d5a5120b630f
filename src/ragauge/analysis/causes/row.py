"""What one row of the cause table is, and what it can say about an example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from ragauge.analysis.causes.cause_context import NOTHING, CauseContext, Counterfactual

Basis = Literal["record", "labels", "judge", "guess"]
Component = Literal["retrieval", "generation", "system", "data", "undecided"]


class Why(NamedTuple):
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


class Lack(NamedTuple):
    """The row cannot be decided: a fact is lacking. A row that known facts rule out says None instead."""

    what: str


Verdict = Why | Lack | None


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

    def fault(self, why: Why) -> Remedy:
        """Where these facts lay the fault, and what to try."""
        return self.other if why.elsewhere and self.other is not None else Remedy(self.component, self.fix)

    def at(self, component: str) -> Remedy:
        """The same by the name of the component; the row's own for any that it does not know."""
        other = self.other
        return other if other is not None and other.component == component else Remedy(self.component, self.fix)
