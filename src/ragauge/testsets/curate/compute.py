"""States of examples, versions of a set as a store knows them, and what differs between two of them."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ragauge.core.curation import META, STATES, SetVersion, State
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.example import EvalSet, Example
from ragauge.core.jsonl_files import example_to_dict
from ragauge.readers.aliases import plan_columns
from ragauge.testsets.set_file import SetFile, SetLine
from ragauge.testsets.stats.set_power import SetReach


@dataclass(frozen=True)
class ReviewMark:
    """What examples are marked as.

    Raises:
        UsageError: an unknown state, or reviewed, golden or rejected by nobody.
    """

    state: State  #: draft, reviewed, golden or rejected.
    by: str = ""  #: who looked.
    note: str = ""  #: why; "" = the note stays.
    at: str = ""  #: when; now by default.

    def __post_init__(self) -> None:
        if self.state not in STATES:
            raise UsageError(f"mark: expected one of {', '.join(STATES)}, got {self.state!r}.")
        if self.state != "draft" and not self.by.strip():
            raise UsageError(f"mark: name the annotator who marks the examples as {self.state}: --by NAME.")
        if not self.at:
            timestamp = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            object.__setattr__(self, "at", timestamp)


def mark_examples(set_file: SetFile, mark: ReviewMark, ids: Collection[str] | None) -> tuple[SetFile, int]:
    """The set with examples marked, and how many were; those that are in that state by that person stay as they are.

    Args:
        set_file: the set.
        mark: as what.
        ids: query_ids; None = every example.

    Raises:
        UnknownName: an id that the set does not have.
    """
    for query_id in ids or ():
        if query_id not in set_file.by_id:
            raise UnknownName("query_id", query_id, set_file.by_id)

    def mark_line(line: SetLine) -> SetLine:
        curation = line.curation
        if (ids is not None and line.example.query_id not in ids) or (curation.state, curation.by) == (
            mark.state,
            mark.by,
        ):
            return line
        return line.with_curation(
            replace(curation, state=mark.state, by=mark.by, at=mark.at, note=mark.note or curation.note)
        )

    changed = set_file.map_lines(mark_line)
    return changed, sum(a is not b for a, b in zip(set_file.lines, changed.lines, strict=True))


@dataclass(frozen=True)
class FieldChange:
    """A field of an example, before and after; None = it was, or is, not there."""

    query_id: str
    query: str
    field: str
    old: Any
    new: Any


@dataclass(frozen=True)
class SetDifference:
    """What differs between two versions of a set."""

    old: str  #: name of the older file.
    new: str  #: name of the newer file.
    old_version: str  #: hash of its content.
    new_version: str  #: likewise.
    added: Mapping[str, str]  #: query_id -> question, of examples that only the newer has.
    removed: Mapping[str, str]  #: query_id -> question, of examples that only the older has.
    #: fields of examples in both, in the order of the newer; `meta` too, though it makes no version.
    changed: tuple[FieldChange, ...]
    same: int  #: examples in both without a change.

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def compare_set_files(old: SetFile, new: SetFile) -> SetDifference:
    """What was added, removed and changed, by field."""
    both = [line for line in new.lines if line.example.query_id in old.by_id]
    changes = tuple(change for line in both for change in _list_field_changes(old, line))
    touched = {change.query_id for change in changes}
    return SetDifference(
        old.name,
        new.name,
        old.eval_set.version,
        new.eval_set.version,
        {name: line.example.query for name, line in new.by_id.items() if name not in old.by_id},
        {name: line.example.query for name, line in old.by_id.items() if name not in new.by_id},
        changes,
        sum(name in old.by_id and name not in touched for name in new.by_id),
    )


def _list_field_changes(old: SetFile, line: SetLine) -> Iterator[FieldChange]:
    old_line = old.by_id[line.example.query_id]
    if old_line.text and old_line.text == line.text:
        return
    old_fields, new_fields = dict(old_line.fields), dict(line.fields)
    metas = old_fields.pop(META, None) or {}, new_fields.pop(META, None) or {}
    if not _has_same_columns(old_fields, new_fields):  # two forms, of which one may have no place for `meta`
        old_fields, new_fields, metas = example_to_dict(old_line.example), example_to_dict(line.example), ({}, {})
    if old_line.example == line.example:  # what stands in one of them alone has another name in the other
        both = old_fields.keys() & new_fields.keys()
        old_fields, new_fields = (
            {name: value for name, value in fields.items() if name in both} for fields in (old_fields, new_fields)
        )
    for prefix, a, b in (("", old_fields, new_fields), (f"{META}.", *metas)):
        for name in dict.fromkeys([*a, *b]):
            if a.get(name) != b.get(name):
                example = line.example
                yield FieldChange(example.query_id, example.query, f"{prefix}{name}", a.get(name), b.get(name))


def _has_same_columns(old_names: Iterable[str], new_names: Iterable[str]) -> bool:
    """Whether two lines have the same columns for the fields that both hold."""
    first, second = (plan_columns(names, {}).columns for names in (old_names, new_names))
    return all(first[field] == second[field] for field in first.keys() & second.keys())


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
