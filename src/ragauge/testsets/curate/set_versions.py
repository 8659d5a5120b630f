"""Test sets as a store knows them: versions, what their examples have, and which runs are over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ragauge.core.example import EvalSet, Example
from ragauge.testsets.stats.detectable_difference import SetReach


@dataclass(frozen=True, slots=True)
class SetVersion:
    """One version of a set."""

    name: str  #: of the set.
    version: str  #: content hash of the examples.
    n: int  #: how many examples.
    created_at: str  #: when it was stored first, ISO 8601.
    runs: int  #: how many runs are over it, trials of studies aside.
    newest: str  #: run_id of the newest of these; "" for none.
    newest_name: str = ""  #: what people call it.


@dataclass(frozen=True, slots=True)
class SetRun:
    """A run over a set."""

    run_id: str  #: of the run.
    name: str  #: what people call it.
    created_at: str  #: when it began, ISO 8601.
    state: str  #: in flight, stopped, finished or failed.
    means: Mapping[str, float | None]  #: printed name of a layer's first metric -> mean; None where nothing is scored.


@dataclass(frozen=True, slots=True)
class SetCounts:
    """What the examples of a set have."""

    labels: Mapping[str, int]  #: label -> examples with it; labels that none has are left out.
    segments: Mapping[str, Mapping[str, int]]  #: column -> value -> examples, the most frequent first.
    tags: Mapping[str, int]  #: tag -> examples, likewise.

    @classmethod
    def of(cls, eval_set: EvalSet) -> SetCounts:
        """The counts of a set."""
        segments: dict[str, Counter[str]] = {}
        for example in eval_set:
            for column, value in example.segments.items():
                segments.setdefault(column, Counter())[value] += 1
        tags = Counter(tag for example in eval_set for tag in sorted(example.tags))
        by_column = {column: dict(values.most_common()) for column, values in segments.items()}
        return cls(eval_set.labels, by_column, dict(tags.most_common()))


@dataclass(frozen=True, slots=True)
class StoredSet:
    """A version of a set."""

    about: SetVersion  #: name, version, how many examples and runs.
    counts: SetCounts  #: of labels, segments and tags.
    versions: tuple[SetVersion, ...]  #: all of this name, the newest first.
    runs: tuple[SetRun, ...]  #: the newest runs over it.
    run: str  #: run_id of the newest of these that holds a response to every example and was evaluated; "" without one.
    reach: SetReach | None  #: the change that the set can show, by that run; None without one.
    first: int  #: how many examples stand before those that are listed.
    examples: tuple[Example, ...]  #: a page of them, in the order of the set.
