"""Examples of a run on their way into a set: those that it lacks, with where they come from."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragauge.core.curation import Curation, Origin, State
from ragauge.core.errors import UsageError
from ragauge.core.example import LABELS, Example
from ragauge.core.identity import folded
from ragauge.testsets.set_file import SetFile, SetLine, new_line
from ragauge.testsets.stratified_sample import StratumDraw

METHOD = "run"


@dataclass(frozen=True)
class TakenExample:
    """An example of a run.

    Attributes:
        example: the question and what is known about it.
        told: what the run found, such as its cause; "" = nothing.
        weight: how many answers of the run it stands for; None = it was not drawn.
        known: its `meta` in the set that the run was over, which the store does not keep; None = not found.
    """

    example: Example
    told: str = ""
    weight: float | None = None
    known: Curation | None = None


@dataclass(frozen=True)
class TakenFrom:
    """Where they come from, and what all of them get.

    Attributes:
        run_id: of the run.
        run: its name.
        tags: that each example gets.
        by: who adds them.
        at: when, ISO time; now by default.
    """

    run_id: str
    run: str
    tags: frozenset[str] = frozenset()
    by: str = ""
    at: str = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"))


@dataclass(frozen=True)
class AddedExamples:
    """What a set gets of a run.

    Attributes:
        run_id: of the run.
        run: its name.
        lines: those added, in the order of the run.
        there: query_id in the run -> query_id in the set, of questions that the set asks already.
        untagged: of those in the set, who lack a tag that was wanted.
        strata: of a sample, value of the segment -> what it has and gave.
        states: query_id -> its state in the set that the run was over, of those added that were found there.
    """

    run_id: str
    run: str
    lines: tuple[SetLine, ...]
    there: Mapping[str, str]
    untagged: tuple[str, ...] = ()
    strata: Mapping[str, StratumDraw] = field(default_factory=dict)
    states: Mapping[str, State] = field(default_factory=dict)

    @property
    def unquoted(self) -> list[str]:
        """query_ids of those added with gold spans, but without the quotes that stand there."""
        return [one.example.query_id for one in self.lines if one.example.gold_spans and not one.curation.anchors]

    @property
    def unlabelled(self) -> list[str]:
        """query_ids of those added of whose answer nothing is known: nothing but judges can score them."""
        lines = (one.example for one in self.lines)
        return [one.query_id for one in lines if all(getattr(one, label) in (None, ()) for label in LABELS)]


def added(found: SetFile, taken: Sequence[TakenExample], source: TakenFrom) -> AddedExamples:
    """Which examples a set lacks, as its lines: drafts whose meta says which run they come from.

    One that the set asks already is left as it stands, under whatever id and in whatever state.

    Args:
        found: the set; without a line for one that is not there yet.
        taken: examples of one run, each once.
        source: the run.

    Raises:
        UsageError: a query_id that the set has for another question.
    """
    asked = {_asked(line.example): line.example for line in found.lines}
    lines, there, states = [], {}, {}
    for one in taken:
        query_id = one.example.query_id
        if (same := asked.get(_asked(one.example))) is not None:
            there[query_id] = same.query_id
        elif (other := found.by_id.get(query_id)) is not None:
            told = f"the set asks {other.example.query[:80]!r} under the query_id {query_id!r}, the run "
            hint = "Nothing was added. Give one of them another query_id."
            raise UsageError(f"{found.name}: {told}{one.example.query[:80]!r}. {hint}")
        else:
            lines.append(_line(one, source))
            if one.known is not None:
                states[query_id] = one.known.state
    untagged = tuple(name for name in there.values() if not source.tags <= found.by_id[name].example.tags)
    return AddedExamples(source.run_id, source.run, tuple(lines), there, untagged, states=states)


def known_in(found: SetFile, examples: Collection[Example]) -> dict[str, Curation]:
    """query_id -> `meta` of the examples that a set has with the same question and the same labels.

    Args:
        found: the set that a run was over.
        examples: of the run.
    """
    pairs = ((one, found.by_id.get(one.query_id)) for one in examples)
    return {
        one.query_id: line.curation
        for one, line in pairs
        if line is not None and _labelled(line.example) == _labelled(one)
    }


def _labelled(example: Example) -> object:
    """What its quotes hang on."""
    return _asked(example), example.gold_spans, example.relevant


def _asked(example: Example) -> object:
    """What tells a question from another: its words, and what was said before."""
    return folded(example.query), example.history


def _line(one: TakenExample, source: TakenFrom) -> SetLine:
    known = one.known or Curation()
    written = known.origin or Origin(METHOD, type=one.example.segments.get("type", ""))
    origin = replace(written, method=METHOD, run=source.run_id, weight=one.weight)
    note = f"run {source.run}: {one.told}" if one.told else f"run {source.run}"
    example = replace(one.example, tags=one.example.tags | source.tags)
    return new_line(example, Curation(by=source.by, at=source.at, note=note, origin=origin, anchors=known.anchors))
