"""What the user said about a source, and whom its warnings go to."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragauge.readers.aliases import EXAMPLE_FIELDS, ColumnGroup, list_columns

Warn = Callable[[str], None]
ID_FIELDS = ("query_id", "query")  # fields that a set and its responses both have


def warn_user(message: str) -> None:
    """A Python warning."""
    warnings.warn(message, UserWarning, stacklevel=2)


@dataclass(frozen=True, slots=True)
class Options:
    """What the user said about a source."""

    #: our field -> the source's column, or a list of columns whose values are read one after another; a dot reaches
    #: into an object (outputs.answer).
    columns: Mapping[str, str] = field(default_factory=dict)
    segments: Sequence[str] = ()  #: columns that examples are grouped by.
    system: str | None = None  #: which system's answers, where a file holds two.
    warn: Warn = warn_user  #: receives each warning once, when the source has been read.
    rejected: bool = False  #: whether examples are read that curation rejected.
    context_marker: str = ""  #: how questions are built that are whole prompts; "" = they are questions.
    #: name of an outcome -> the column that holds its numbers, which `columns` may put in place of another.
    scores: Mapping[str, str] = field(default_factory=dict)
    without_retrieval: bool = False  #: of traces, answers before which nothing was searched are read too.

    def __post_init__(self) -> None:
        """Lists of columns become names that hold several."""
        lists = {ours: theirs for ours, theirs in self.columns.items() if not isinstance(theirs, str)}
        if lists:
            several = {ours: ColumnGroup(theirs) for ours, theirs in lists.items()}
            object.__setattr__(self, "columns", {**self.columns, **several})

    @property
    def mapped_columns(self) -> tuple[str, ...]:
        """Columns that the user mapped to fields."""
        return tuple(name for theirs in self.columns.values() for name in list_columns(theirs) if name)

    def select_set_options(self) -> Options:
        """What is said of an eval set whose responses stand in another source."""
        columns = {ours: theirs for ours, theirs in self.columns.items() if ours in EXAMPLE_FIELDS}
        return replace(self, columns=columns, scores={}, context_marker="")

    def select_response_options(self) -> Options:
        """What is said of responses whose questions stand in another source, which they may name."""
        response_columns = {
            ours: theirs for ours, theirs in self.columns.items() if ours in ID_FIELDS or ours not in EXAMPLE_FIELDS
        }
        return replace(self, columns=response_columns, segments=())

    @property
    def scored(self) -> dict[str, str]:
        """Name of an outcome -> the source's column of its numbers."""
        return {name: self.columns.get(column, column) for name, column in self.scores.items()}

    @property
    def named(self) -> tuple[str, ...]:
        """Columns that the user named."""
        return (*self.mapped_columns, *self.segments, *self.scored.values())
