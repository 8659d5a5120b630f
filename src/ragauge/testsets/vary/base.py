"""What every kind of variation has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from random import Random


class Variation(ABC):
    """A way to put a question otherwise, told by class facts."""

    name: ClassVar[str]  #: as it is typed, and as the segment `variation` of the variants.
    does: ClassVar[str]  #: what it does to a question.
    missing: ClassVar[str]  #: what a question lacks that has no such variant.
    keeps_labels: ClassVar[bool] = True  #: whether the variant asks for the same, so that the labels hold for it too.

    @abstractmethod
    def question(self, query: str, rng: Random) -> str | None:
        """The question put otherwise, other than `query`; None where it has no such variant.

        Args:
            query: the question.
            rng: what is drawn comes from here.
        """
