"""A set with its varied questions beside their originals, and what every kind of variation shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar

from ragauge.core.curation import Curation, Origin
from ragauge.core.json_keys import json_keys
from ragauge.core.variation import SEGMENT, build_variant_id
from ragauge.testsets.generate.draft import QuestionType
from ragauge.testsets.set_file import SetFile, SetLine, build_line


class Variation(ABC):
    """A way to put a question otherwise, told by class facts."""

    name: ClassVar[str]  #: as it is typed, and as the segment `variation` of the variants.
    does: ClassVar[str]  #: what it does to a question.
    missing: ClassVar[str]  #: what a question lacks that has no such variant.
    keeps_labels: ClassVar[bool] = True  #: whether the variant asks for the same, so that the labels hold for it too.

    @abstractmethod
    def question(self, query: str, rng: Random) -> str | None:
        """The question put otherwise, other than `query`; None where it has no such variant.

        Args:
            query: the question.
            rng: what is drawn comes from here.
        """


METHOD = "vary:"  # and the kind: the method in the origin of a variant
UNANSWERABLE: QuestionType = "unanswerable"  # the type of a variant without its original's labels


@json_keys("made there without missing")
@dataclass(frozen=True)
class VariationCount:
    """What became of a kind."""

    name: str  #: the kind.
    does: str  #: what it does to a question.
    made: int  #: variants made now.
    there: int  #: that the set had already; they stay as they are.
    without: int  #: questions that were tried and have no such variant.
    missing: str  #: what those lack.
    shown: tuple[tuple[str, str], ...]  #: (question, variant) of the first few.


@dataclass(frozen=True)
class VariedSet:
    """A set with variants."""

    file: SetFile  #: the originals in their order, then the variants by kind.
    originals: int  #: examples that were there and are no variants; rejected ones count too.
    counts: tuple[VariationCount, ...]  #: one a kind.
    seed: int  #: of the drawing.


def build_varied_set(lines: SetFile, kinds: Sequence[Variation], n: int | None = None, seed: int = 7) -> VariedSet:
    """A set with variants of its questions.

    A variant is named by its original's query_id, "~" and the kind, has the original's cluster (an original without one
    gets its own query_id as cluster), the segment `variation`, no tags, and is a draft. Where the kind keeps labels, it
    has all labels of the original; else it is unanswerable without labels, and answerable questions alone are varied.
    Rejected examples and variants are not varied. What a question becomes depends on seed, kind and query_id alone.

    Args:
        lines: the set.
        kinds: the kinds of variation.
        n: variants of a kind, drawn from the originals; None = all that can be made. Those that the set has count.
        seed: of the drawing; equal seeds make equal variants.

    Returns:
        Lines whose examples do not change keep their bytes.
    """
    original_ids = {
        build_variant_id(line.example.query_id, kind.name): line.example.query_id
        for line in lines.lines
        for kind in kinds
    }
    originals = [line for line in lines.lines if SEGMENT not in line.example.segments]
    more: list[SetLine] = []
    counts: list[VariationCount] = []
    for kind in kinds:
        made, count = _vary_by_kind(kind, lines, originals, n, seed)
        more += made
        counts.append(count)
    used = {original_ids[line.example.query_id] for line in more}
    file = lines.map_lines(lambda line: line.with_own_cluster() if line.example.query_id in used else line)
    return VariedSet(file.add_lines(more), len(originals), tuple(counts), seed)


MAX_SAMPLES = 2


def _vary_by_kind(
    kind: Variation, lines: SetFile, originals: Sequence[SetLine], n: int | None, seed: int
) -> tuple[list[SetLine], VariationCount]:
    existing = [line for line in originals if build_variant_id(line.example.query_id, kind.name) in lines.by_id]
    fit = [
        line
        for line in originals
        if line.curation.state != "rejected" and (kind.keeps_labels or line.example.answerable is not False)
    ]
    order = list(range(len(fit)))
    if n is not None:
        Random(f"{seed} {kind.name}").shuffle(order)  # noqa: S311 - draws examples, no secret
    variants: dict[int, SetLine] = {}
    without = 0
    for index in order:
        if n is not None and len(variants) + len(existing) >= n:
            break
        example = fit[index].example
        if build_variant_id(example.query_id, kind.name) in lines.by_id:
            continue
        put = kind.question(example.query, Random(f"{seed} {kind.name} {example.query_id}"))  # noqa: S311 - likewise
        if put is None:
            without += 1
        else:
            variants[index] = _build_variant_line(kind, fit[index], put, seed)
    made = [variants[index] for index in sorted(variants)]
    samples = tuple(
        (fit[index].example.query, variants[index].example.query) for index in sorted(variants)[:MAX_SAMPLES]
    )
    return made, VariationCount(kind.name, kind.does, len(made), len(existing), without, kind.missing, samples)


def _build_variant_line(kind: Variation, original: SetLine, query: str, seed: int) -> SetLine:
    was, meta = original.example, original.curation
    put = replace(
        was,
        query_id=build_variant_id(was.query_id, kind.name),
        query=query,
        tags=frozenset(),
        segments={**was.segments, SEGMENT: kind.name},
        cluster=was.cluster or was.query_id,
    )
    if not kind.keeps_labels:
        segments = {name: value for name, value in put.segments.items() if name != "difficulty"}  # of its gold
        put = replace(
            put,
            segments={**segments, **({"type": UNANSWERABLE} if "type" in segments else {})},
            references=(),
            reference_claims=None,
            aspects=None,
            criteria=None,
            relevant=(),
            gold_spans=(),
            relevant_chunks=None,
            answerable=False,
        )
    written = meta.origin or Origin("")
    kept_type = written.type if kind.keeps_labels else UNANSWERABLE
    origin = replace(written, method=f"{METHOD}{kind.name}", type=kept_type, seed=seed)
    anchors = meta.anchors if kind.keeps_labels else ()
    return build_line(put, Curation(origin=origin, anchors=anchors))
