"""The kinds of studies that a store may hold."""

from __future__ import annotations

from collections.abc import Mapping

from ragauge.analysis.studies.ann import ANN
from ragauge.analysis.studies.chunking import CHUNKING
from ragauge.analysis.studies.embeddings import EMBEDDINGS
from ragauge.analysis.studies.figures import StudyKind
from ragauge.analysis.studies.sweep import SWEEP
from ragauge.errors import UnknownName

KINDS: Mapping[str, StudyKind] = {kind.name: kind for kind in (CHUNKING, EMBEDDINGS, SWEEP, ANN)}


def kind_of(name: str) -> StudyKind:
    """A kind by its name.

    Raises:
        UnknownName: none of this name is declared.
    """
    if name not in KINDS:
        raise UnknownName("kind of study", name, KINDS, "The study was made by another version of ragauge.")
    return KINDS[name]
