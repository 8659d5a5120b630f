"""What one row of the cause table is, and what it can say about an example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from ragauge.analysis.causes.seen import NOTHING, Mended, Seen

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
    """

    text: str
    basis: Basis
    mends: Mended = NOTHING
    lacking: str = ""
    p: float = 1.0


class Lack(NamedTuple):
    """The row cannot be decided: a fact is lacking. A row that known facts rule out says None instead."""

    what: str


Verdict = Why | Lack | None


class Row(NamedTuple):
    """One row of the cause table.

    Attributes:
        name: of the cause, the same everywhere.
        component: where to fix it.
        fix: what to try.
        decide: whether it applies.
    """

    name: str
    component: Component
    fix: str
    decide: Callable[[Seen], Verdict]
