"""All kinds of variation, by name."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.core.document import Document
from ragauge.core.errors import UnknownName, UsageError
from ragauge.testsets.vary.base import Variation
from ragauge.testsets.vary.case import Case
from ragauge.testsets.vary.entity import Entity
from ragauge.testsets.vary.keywords import Keywords
from ragauge.testsets.vary.typos import Typos

KINDS: dict[str, type[Variation]] = {kind.name: kind for kind in (Typos, Keywords, Case, Entity)}


def build_variations(names: Sequence[str], documents: Sequence[Document] | None = None) -> tuple[Variation, ...]:
    """The kinds of some names.

    Args:
        names: of kinds; () = all, without a corpus all that keep the labels.
        documents: the corpus, which `entity` draws from.

    Raises:
        UnknownName: no such kind.
        UsageError: entity without a corpus.
    """
    for name in names:
        if name not in KINDS:
            raise UnknownName("kind of variation", name, KINDS)
    if Entity.name in names and documents is None:
        raise UsageError("testset vary: entity needs the documents, none of which may answer it: --corpus CORPUS.")
    selected = names or [name for name in KINDS if name != Entity.name or documents is not None]
    made: list[Variation] = []
    for name in dict.fromkeys(selected):
        kind = KINDS[name]
        made.append(Entity(documents or ()) if kind is Entity else kind())
    return tuple(made)
