"""The kinds of studies that a store may hold."""

from __future__ import annotations

from collections.abc import Mapping

from ragauge.core.errors import UnknownName
from ragauge.studies.ann.compute import ANN
from ragauge.studies.chunking.compute import CHUNKING
from ragauge.studies.embeddings.compute import EMBEDDINGS
from ragauge.studies.figures import StudyKind
from ragauge.studies.sweep.compute import SWEEP

KINDS: Mapping[str, StudyKind] = {kind.name: kind for kind in (CHUNKING, EMBEDDINGS, SWEEP, ANN)}


def find_study_kind(name: str) -> StudyKind:
    """A kind by its name.

    Raises:
        UnknownName: none of this name is declared.
    """
    if name not in KINDS:
        raise UnknownName("kind of study", name, KINDS, "The study was made by another version of ragauge.")
    return KINDS[name]
