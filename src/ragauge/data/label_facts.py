"""What people's labels say of one response, in the form in which a judge's findings come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragauge.data.facts import FactsOf


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """What people labeled of one response.

    Attributes:
        facts: question of a judge (verify_answer, rate_passages) -> what the labels say of it; a question that nobody
            labeled is absent.
        right: whether they call the answer right; None = nobody said, or they are split.
    """

    facts: Mapping[str, FactsOf] = field(default_factory=dict)
    right: bool | None = None


NO_LABELS = LabelFacts()
