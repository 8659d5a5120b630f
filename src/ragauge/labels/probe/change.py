"""What a probe is: a pure change of what a judge sees, and what must hold then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ragauge.core.human_labels import LabeledAnswer, LabeledPart
from ragauge.judges.inputs import VerifyAnswer, build_row_inputs
from ragauge.labels.probe.compute import ProbeRule
from ragauge.scores.verdict_pairs import SUPPORTED

Need = Literal["answers", "passages", "others", "pairs", "labels", "family", "prefers", "wording"]


@dataclass(frozen=True, slots=True)
class ExaminedRow:
    """An example, and what the judge said of it as it is, twice."""

    row: LabeledAnswer  #: its parts are what is looked at: what people labelled, else the sentences.
    place: int  #: of the row among all, from 0: what is drawn or takes turns goes by it.
    base: tuple[str, ...]  #: verdict of each part; "" = none.
    again: tuple[str, ...]  #: the same when asked a second time.
    people: tuple[str, ...]  #: what people say of each part: supported or not_supported; "" = nothing.

    @property
    def inputs(self) -> VerifyAnswer:
        """What the judge saw."""
        return build_row_inputs(self.row)

    def text(self, index: int) -> str:
        """Of a part."""
        part = self.row.parts[index]
        return self.row.answer[part.start : part.end]

    @property
    def spans(self) -> dict[int, tuple[int, int]]:
        """Place of every part -> where it stands in the answer."""
        return {index: (part.start, part.end) for index, part in enumerate(self.row.parts)}

    @property
    def supported(self) -> tuple[int, ...]:
        """Places of the parts that the judge calls supported, and people do not call otherwise."""
        return tuple(
            index
            for index, (verdict, human) in enumerate(zip(self.base, self.people, strict=True))
            if verdict == SUPPORTED and human in ("", SUPPORTED)
        )


@dataclass(frozen=True, slots=True)
class Change:
    """What a judge is shown instead, and where to look in it."""

    kind: str  #: of the change, such as number.
    inputs: VerifyAnswer  #: what it sees.
    #: place of a part of the example -> where what stands for it is in the changed answer.
    parts: Mapping[int, tuple[int, int]]
    #: templates that the question is put by; empty = as always.
    wording: Mapping[str, str] = field(default_factory=dict)
    #: place of a part -> its text with what was changed; {} = the part is as it was.
    shown: Mapping[int, str] = field(default_factory=dict)

    def to_row(self, row: LabeledAnswer) -> LabeledAnswer:
        """The example as the judge sees it now, its parts in the order of `parts`."""
        spans = tuple(LabeledPart(start, end, ()) for start, end in self.parts.values())
        inputs = self.inputs
        return replace(row, passages=inputs.passages or (), answer=inputs.answer, parts=spans, history=inputs.history)


class ProbePool:
    """All examples, where a probe takes what it puts in from."""

    def __init__(self, rows: Sequence[LabeledAnswer]) -> None:
        self.rows = rows

    def others(self, index: int) -> list[LabeledAnswer]:
        """The examples after this one, in a ring, that ask another question and share no passage with it."""
        row = self.rows[index]
        texts = set(row.passages)
        ring = [*self.rows[index + 1 :], *self.rows[:index]]
        return [
            other
            for other in ring
            if other.passages
            and not texts & set(other.passages)
            and (other.query, other.answer)[not other.query] != (row.query, row.answer)[not row.query]
        ]


Changes = Callable[[ExaminedRow, ProbePool], Sequence[Change]]


def leave_unchanged(_: ExaminedRow, __: ProbePool) -> Sequence[Change]:
    """Nothing is changed: the verdicts that are there already tell."""
    return ()


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe."""

    rule: ProbeRule  #: what must hold, and how it is measured.
    needs: tuple[Need, ...]  #: what it cannot do without.
    changes: Changes = leave_unchanged  #: what the judge is shown instead of an example; a pure function.

    @property
    def name(self) -> str:
        """As it is typed."""
        return self.rule.name
