"""Examples of a run on their way into a set: those that it lacks, with where they come from."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragauge.core.curation import Curation, Origin, State
from ragauge.core.errors import UsageError
from ragauge.core.example import LABELS, Example
from ragauge.core.identity import normalize_text
from ragauge.testsets.set_file import SetFile, SetLine, build_line
from ragauge.testsets.stratified_sample import StratumSample

METHOD = "run"


@dataclass(frozen=True)
class SelectedExample:
    """An example of a run."""

    example: Example  #: the question and what is known about it.
    finding: str = ""  #: what the run found, such as its cause; "" = nothing.
    weight: float | None = None  #: how many answers of the run it stands for; None = it was not drawn.
    #: its `meta` in the set that the run was over, which the store does not keep; None = not found.
    known: Curation | None = None


@dataclass(frozen=True)
class RunSource:
    """Where they come from, and what all of them get."""

    run_id: str  #: of the run.
    run: str  #: its name.
    tags: frozenset[str] = frozenset()  #: that each example gets.
    by: str = ""  #: who adds them.
    #: when, ISO time; now by default.
    at: str = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"))


@dataclass(frozen=True)
class AddedExamples:
    """What a set gets of a run."""

    run_id: str  #: of the run.
    run: str  #: its name.
    lines: tuple[SetLine, ...]  #: those added, in the order of the run.
    there: Mapping[str, str]  #: query_id in the run -> query_id in the set, of questions that the set asks already.
    untagged: tuple[str, ...] = ()  #: of those in the set, who lack a tag that was wanted.
    #: of a sample, value of the segment -> what it has and gave.
    strata: Mapping[str, StratumSample] = field(default_factory=dict)
    #: query_id -> its state in the set that the run was over, of those added that were found there.
    states: Mapping[str, State] = field(default_factory=dict)

    @property
    def unquoted_ids(self) -> list[str]:
        """query_ids of those added with gold spans, but without the quotes that stand there."""
        return [line.example.query_id for line in self.lines if line.example.gold_spans and not line.curation.anchors]

    @property
    def unlabeled_ids(self) -> list[str]:
        """query_ids of those added of whose answer nothing is known: nothing but judges can score them."""
        examples = (entry.example for entry in self.lines)
        return [entry.query_id for entry in examples if all(getattr(entry, label) in (None, ()) for label in LABELS)]


def find_additions(set_file: SetFile, taken: Sequence[SelectedExample], source: RunSource) -> AddedExamples:
    """Which examples a set lacks, as its lines: drafts whose meta says which run they come from.

    One that the set asks already is left as it stands, under whatever id and in whatever state.

    Args:
        set_file: the set; without a line for one that is not there yet.
        taken: examples of one run, each once.
        source: the run.

    Raises:
        UsageError: a query_id that the set has for another question.
    """
    by_question = {_build_question_key(line.example): line.example for line in set_file.lines}
    lines, existing_ids, states = [], {}, {}
    for selected in taken:
        query_id = selected.example.query_id
        if (same := by_question.get(_build_question_key(selected.example))) is not None:
            existing_ids[query_id] = same.query_id
        elif (other := set_file.by_id.get(query_id)) is not None:
            message = f"{query_id!r} asks {other.example.query[:80]!r} in the set, but in the run "
            hint = "Nothing was added. Change one of the two query_ids."
            raise UsageError(f"{set_file.name}: {message}{selected.example.query[:80]!r}. {hint}")
        else:
            lines.append(_build_line(selected, source))
            if selected.known is not None:
                states[query_id] = selected.known.state
    untagged = tuple(name for name in existing_ids.values() if not source.tags <= set_file.by_id[name].example.tags)
    return AddedExamples(source.run_id, source.run, tuple(lines), existing_ids, untagged, states=states)


def find_curations(set_file: SetFile, examples: Collection[Example]) -> dict[str, Curation]:
    """query_id -> `meta` of the examples that a set has with the same question and the same labels.

    Args:
        set_file: the set that a run was over.
        examples: of the run.
    """
    pairs = ((example, set_file.by_id.get(example.query_id)) for example in examples)
    return {
        example.query_id: line.curation
        for example, line in pairs
        if line is not None and _build_label_key(line.example) == _build_label_key(example)
    }


def _build_label_key(example: Example) -> object:
    """What its quotes hang on."""
    return _build_question_key(example), example.gold_spans, example.relevant


def _build_question_key(example: Example) -> object:
    """What tells a question from another: its words, and what was said before."""
    return normalize_text(example.query), example.history


def _build_line(selected: SelectedExample, source: RunSource) -> SetLine:
    curation = selected.known or Curation()
    written = curation.origin or Origin(METHOD, type=selected.example.segments.get("type", ""))
    origin = replace(written, method=METHOD, run=source.run_id, weight=selected.weight)
    note = f"run {source.run}: {selected.finding}" if selected.finding else f"run {source.run}"
    example = replace(selected.example, tags=selected.example.tags | source.tags)
    return build_line(example, Curation(by=source.by, at=source.at, note=note, origin=origin, anchors=curation.anchors))
