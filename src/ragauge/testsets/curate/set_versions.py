"""Test sets as a store knows them: versions, what their examples have, and which runs are over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ragauge.core.example import EvalSet, Example
from ragauge.testsets.stats.detectable_difference import SetReach


@dataclass(frozen=True, slots=True)
class SetVersion:
    """One version of a set.

    Attributes:
        name: of the set.
        version: content hash of the examples.
        n: how many examples.
        created_at: when it was stored first, ISO 8601.
        runs: how many runs are over it, trials of studies aside.
        newest: run_id of the newest of these; "" for none.
        newest_name: what people call it.
    """

    name: str
    version: str
    n: int
    created_at: str
    runs: int
    newest: str
    newest_name: str = ""


@dataclass(frozen=True, slots=True)
class SetRun:
    """A run over a set.

    Attributes:
        run_id: of the run.
        name: what people call it.
        created_at: when it began, ISO 8601.
        state: in flight, stopped, finished or failed.
        means: printed name of a layer's first metric -> mean; None where nothing is scored.
    """

    run_id: str
    name: str
    created_at: str
    state: str
    means: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class SetCounts:
    """What the examples of a set have.

    Attributes:
        labels: label -> examples with it; labels that none has are left out.
        segments: column -> value -> examples, the most frequent first.
        tags: tag -> examples, likewise.
    """

    labels: Mapping[str, int]
    segments: Mapping[str, Mapping[str, int]]
    tags: Mapping[str, int]

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
    """A version of a set.

    Attributes:
        about: name, version, how many examples and runs.
        counts: of labels, segments and tags.
        versions: all of this name, the newest first.
        runs: the newest runs over it.
        run: run_id of the newest of these that holds a response to every example and was evaluated; "" without one.
        reach: the change that the set can show, by that run; None without one.
        first: how many examples stand before those that are listed.
        examples: a page of them, in the order of the set.
    """

    about: SetVersion
    counts: SetCounts
    versions: tuple[SetVersion, ...]
    runs: tuple[SetRun, ...]
    run: str
    reach: SetReach | None
    first: int
    examples: tuple[Example, ...]
