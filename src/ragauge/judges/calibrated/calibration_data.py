"""What a calibrated judge learns from: labelled parts of answers beside what its base says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ragauge.core.errors import NotEnoughData
from ragauge.core.facts import AnswerFacts
from ragauge.core.human_labels import TWO, Labelled
from ragauge.judges.calibrated.file import Base, CalibrationFile, LearnedFrom, Model
from ragauge.judges.calibrated.judge import text_key
from ragauge.judges.calibrated.label_groups import marks_of, together
from ragauge.judges.calibrated.lexical_features import MeasuredPassages, log_odds, trained_names, weakest
from ragauge.judges.inputs import inputs_of_row
from ragauge.judges.judge import Judge, asks_models
from ragauge.scores.annotators import majority, on
from ragauge.scores.calibration import CalibrationGain, LearnedFromLabels
from ragauge.stats.calibration import Calibrated, LabelledOdds, folds_of

LEAST, LEAST_RARER = 50, 10  # labels, and of those the ones of the rarer kind
SPLIT = "people are split"
NO_CLAIM = "the judge finds nothing to check"
NO_VERDICT = "the judge has no verdict"
NO_PASSAGES = "there are no passages"


@dataclass(frozen=True, slots=True)
class TrainingItem:
    """One labelled part.

    Attributes:
        key: of its text, as of `text_key`.
        marks: what its text is recognised by, see `marks_of`.
        group: alike for items that must not be parted, see `together`: the key of their first text.
        p: the base's probability of the weakest claim in it.
        features: of all claims in it, in the order of FEATURE_NAMES.
        supported: what most people say.
        sentences: how many sentences with claims it holds.
    """

    key: str
    marks: tuple[str, ...]
    group: str
    p: float
    features: tuple[float, ...]
    supported: bool
    sentences: int


@dataclass(frozen=True, slots=True)
class TrainingItems:
    """The labelled parts that can be learned from, and why others cannot: reason -> how many."""

    items: tuple[TrainingItem, ...]
    without: dict[str, int] = field(default_factory=dict)

    @property
    def by(self) -> str:
        """What the labels are of: whole answers where most parts hold several sentences."""
        several = sum(item.sentences > 1 for item in self.items)
        return "answer" if 2 * several > len(self.items) else "sentence"


def training_items(rows: Sequence[Labelled], facts: Sequence[AnswerFacts | None]) -> TrainingItems:
    """The labelled parts of some rows.

    Args:
        rows: what people said.
        facts: what the base found of each row's answer; None = it failed.
    """
    keys = [text_key(inputs_of_row(row)) for row in rows]
    groups = [keys[place] for place in together(rows)]
    known = [(key, tuple(marks_of(row)), group) for row, key, group in zip(rows, keys, groups, strict=True)]
    found = [one for row, its, said in zip(rows, known, facts, strict=True) for one in _of_row(row, its, said)]
    items = tuple(one for one in found if isinstance(one, TrainingItem))
    return TrainingItems(items, dict(Counter(one for one in found if isinstance(one, str))))


def _of_row(
    row: Labelled, known: tuple[str, tuple[str, ...], str], facts: AnswerFacts | None
) -> Iterator[TrainingItem | str]:
    """An item a part, or why there is none; known: key, marks and group of the row."""
    if facts is None or not row.passages:
        yield from [NO_VERDICT if facts is None else NO_PASSAGES] * len(row.parts)
        return
    measured = MeasuredPassages(row.passages, [claim.text or "" for claim in facts.claims])
    for part in row.parts:
        said = majority([on(label, TWO) for label in part.labels])
        claims = [claim for claim in facts.claims if claim.start < part.end and claim.end > part.start]
        if not said:
            yield SPLIT
        elif not claims:
            yield NO_CLAIM
        elif any(claim.label is None or not claim.text for claim in claims):
            yield NO_VERDICT
        else:
            sentences = {claim.within or (claim.start, claim.end) for claim in claims}
            yield TrainingItem(
                *known, weakest(claims).chance, measured.features(claims), said == TWO[0], len(sentences)
            )


def refuse_few(rows: Sequence[Labelled]) -> None:
    """Refuses before a judge is asked where even verdicts on all parts would leave too few labels.

    Raises:
        NotEnoughData: fewer than 50 labels, or fewer than 10 of the rarer kind.
    """
    said = [
        (majority([on(label, TWO) for label in part.labels]) or SPLIT) if row.passages else NO_PASSAGES
        for row in rows
        for part in row.parts
    ]
    counts = Counter(said)
    right, wrong = (counts.pop(label, 0) for label in TWO)
    _refuse_few(right, right + wrong, counts)


def _refuse_few(right: int, labels: int, without: Mapping[str, int]) -> None:
    """Refuses too few labels.

    Args:
        right: those that say supported.
        labels: all that can be learned from.
        without: why others cannot -> how many.
    """
    if labels < LEAST or min(right, labels - right) < LEAST_RARER:
        lost = "".join(f"; {count} left out: {why}" for why, count in without.items())
        raise NotEnoughData(
            f"calibrating takes at least {LEAST} labels, {LEAST_RARER} of the rarer kind; there are {labels}, "
            f"{right} supported and {labels - right} not{lost}. Label more: ragauge label draw latest -o page.html"
        )


def labelled_odds(found: TrainingItems, judge: Judge) -> LabelledOdds:
    """The items as arrays, in folds that no group is divided by.

    Raises:
        NotEnoughData: fewer than 50 labels, fewer than 10 of the rarer kind, or all of these in one group.
    """
    import numpy as np

    items = found.items
    _refuse_few(sum(item.supported for item in items), len(items), found.without)
    groups = [item.group for item in items]
    places = {group: n for n, group in enumerate(dict.fromkeys(groups))}
    labels, folds = np.array([float(item.supported) for item in items]), np.array(folds_of(groups))
    if any(np.unique(labels[folds != fold]).size < 2 for fold in np.unique(folds)):
        raise NotEnoughData(
            "the labels of one kind are all of one answer or question, or of one to which others are joined by the "
            "same question, or passages and answer. Label answers to more questions."
        )
    kept = len(trained_names(asks_models=asks_models(judge)))
    return LabelledOdds(
        np.array([item.p for item in items]),
        np.array([log_odds(item.p) for item in items]),
        np.array([item.features[:kept] for item in items]),
        labels,
        folds,
        np.array([places[group] for group in groups]),
    )


def file_of(
    found: TrainingItems,
    calibrated: Calibrated,
    base: Judge,
    spec: str,
    learned: LearnedFromLabels,
    gain: CalibrationGain,
) -> CalibrationFile:
    """The file of a judge.

    Args:
        found: what was learned from.
        calibrated: what was learned.
        base: the judge that is calibrated.
        spec: the text that it is built from.
        learned: what the file says of the labels.
        gain: what it says of before and after.
    """
    names = trained_names(asks_models=asks_models(base))
    folds: dict[str, set[int]] = {}
    for item, fold in zip(found.items, folds_of([item.group for item in found.items]), strict=True):
        for mark in item.marks:
            folds.setdefault(mark, set()).add(fold)
    return CalibrationFile(
        base=Base(spec=spec, judge_id=base.judge_id),
        by="answer" if learned.by == "answer" else "sentence",
        learned_from=LearnedFrom(
            labels=learned.labels,
            supported=learned.supported,
            answers=learned.answers,
            guideline=learned.guideline,
            source=learned.source,
        ),
        chosen=calibrated.chosen,
        model=Model.of(calibrated.model, names),
        folds=tuple(Model.of(one, names) for one in calibrated.folds),
        marks={mark: fold for mark, (fold, *others) in sorted(folds.items()) if not others},
        figures=gain.figures(),
    )
