"""States of examples, and what differs between two versions of a set."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ragauge.core.curation import META, STATES, State
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.jsonl_files import example_fields
from ragauge.readers.aliases import plan_for
from ragauge.testsets.set_file import SetFile, SetLine


@dataclass(frozen=True)
class ReviewMark:
    """What examples are marked as.

    Attributes:
        state: draft, reviewed, golden or rejected.
        by: who looked.
        note: why; "" = the note stays.
        at: when; now by default.

    Raises:
        UsageError: an unknown state, or reviewed, golden or rejected by nobody.
    """

    state: State
    by: str = ""
    note: str = ""
    at: str = ""

    def __post_init__(self) -> None:
        if self.state not in STATES:
            raise UsageError(f"mark: expected one of {', '.join(STATES)}, got {self.state!r}.")
        if self.state != "draft" and not self.by.strip():
            raise UsageError(f"mark: say who found the examples {self.state}: --by NAME.")
        if not self.at:
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            object.__setattr__(self, "at", now)


def marked(found: SetFile, mark: ReviewMark, ids: Collection[str] | None) -> tuple[SetFile, int]:
    """The set with examples marked, and how many were; those that are in that state by that person stay as they are.

    Args:
        found: the set.
        mark: as what.
        ids: query_ids; None = every example.

    Raises:
        UnknownName: an id that the set does not have.
    """
    for query_id in ids or ():
        if query_id not in found.by_id:
            raise UnknownName("query_id", query_id, found.by_id)

    def change(line: SetLine) -> SetLine:
        now = line.curation
        if (ids is not None and line.example.query_id not in ids) or (now.state, now.by) == (mark.state, mark.by):
            return line
        return line.curated(replace(now, state=mark.state, by=mark.by, at=mark.at, note=mark.note or now.note))

    changed = found.map(change)
    return changed, sum(a is not b for a, b in zip(found.lines, changed.lines, strict=True))


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
    """What differs between two versions of a set.

    Attributes:
        old: name of the older file.
        new: name of the newer file.
        old_version: hash of its content.
        new_version: likewise.
        added: query_id -> question, of examples that only the newer has.
        removed: query_id -> question, of examples that only the older has.
        changed: fields of examples in both, in the order of the newer; `meta` too, though it makes no version.
        same: examples in both without a change.
    """

    old: str
    new: str
    old_version: str
    new_version: str
    added: Mapping[str, str]
    removed: Mapping[str, str]
    changed: tuple[FieldChange, ...]
    same: int

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def difference(old: SetFile, new: SetFile) -> SetDifference:
    """What was added, removed and changed, by field."""
    both = [line for line in new.lines if line.example.query_id in old.by_id]
    changes = tuple(change for line in both for change in _changes(old, line))
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


def _changes(old: SetFile, line: SetLine) -> Iterator[FieldChange]:
    before = old.by_id[line.example.query_id]
    if before.text and before.text == line.text:
        return
    then, now = dict(before.fields), dict(line.fields)
    metas = then.pop(META, None) or {}, now.pop(META, None) or {}
    if not _named_alike(then, now):  # two forms, of which one may have no place for `meta`
        then, now, metas = example_fields(before.example), example_fields(line.example), ({}, {})
    if before.example == line.example:  # what stands in one of them alone has another name in the other
        both = then.keys() & now.keys()
        then, now = ({name: value for name, value in one.items() if name in both} for one in (then, now))
    for prefix, a, b in (("", then, now), (f"{META}.", *metas)):
        for name in dict.fromkeys([*a, *b]):
            if a.get(name) != b.get(name):
                example = line.example
                yield FieldChange(example.query_id, example.query, f"{prefix}{name}", a.get(name), b.get(name))


def _named_alike(then: Iterable[str], now: Iterable[str]) -> bool:
    """Whether two lines have the same columns for the fields that both hold."""
    first, second = (plan_for(names, {}).columns for names in (then, now))
    return all(first[field] == second[field] for field in first.keys() & second.keys())
