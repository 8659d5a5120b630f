"""What a calibrated judge learns from: labels beside its base's verdicts, grouped so that none leaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ragauge.core.errors import NotEnoughData
from ragauge.core.facts import AnswerFacts
from ragauge.core.human_labels import TWO_LABELS, LabeledAnswer
from ragauge.judges.calibrated.file import CalibrationBase, CalibrationFile, LearnedFrom, Model
from ragauge.judges.calibrated.judge import build_text_key, compute_marks, normalize_for_match
from ragauge.judges.calibrated.lexical_features import (
    MeasuredPassages,
    compute_log_odds,
    find_weakest_claim,
    list_trained_names,
)
from ragauge.judges.inputs import build_row_inputs
from ragauge.judges.judge import Judge, can_ask_models
from ragauge.scores.annotators import find_majority, map_to_scale
from ragauge.scores.calibration import CalibrationGain, LearnedFromLabels
from ragauge.stats.calibration import CalibrationChoice, LabeledOdds, assign_folds
from ragauge.text.sentences import split_sentences

COMMON_ROWS, COMMON_SHARE = 10, 0.1  # in more texts than both: an instruction, such as "Summarize this.", or a phrase


def compute_row_marks(row: LabeledAnswer) -> list[str]:
    """What a labelled text is recognised by: of its whole answer, then of its sentences and labelled parts."""
    part_texts = (row.answer[part.start : part.end] for part in row.parts)
    return compute_marks(
        row.passages,
        [row.answer, *dict.fromkeys([*(sentence.text for sentence in split_sentences(row.answer)), *part_texts])],
    )


def group_rows(rows: Sequence[LabeledAnswer]) -> list[int]:
    """The group of each row, a number that the rows of one group share: the place of its first row.

    Rows belong together that share passages and answer, passages and a sentence or labelled part, or the question, and
    so do all that are joined by others. Case, punctuation and white space do not tell texts apart, nor does the order
    of passages. A question, sentence or part in more than 10 rows and in more than a tenth of all joins none: it is an
    instruction, or said of anything.

    Args:
        rows: what people labelled.
    """
    max_count = max(COMMON_ROWS, COMMON_SHARE * len(rows))
    answer_marks, others = [], []
    for row in rows:
        answer_mark, *part_marks = compute_row_marks(row)
        answer_marks.append(answer_mark)
        # beside the whole, which always joins; a question cannot be mistaken for the hash of a mark
        others.append({*part_marks, *([f"? {normalize_for_match(row.query)}"] if row.query.strip() else [])})
    counts = Counter(key for keys in others for key in keys)
    parents = list(range(len(rows)))

    def find_root(n: int) -> int:
        while parents[n] != n:
            parents[n] = parents[parents[n]]
            n = parents[n]
        return n

    first_rows: dict[str, int] = {}
    for n, keys in enumerate(others):
        for key in (answer_marks[n], *(key for key in keys if counts[key] <= max_count)):
            root, other = sorted((find_root(n), find_root(first_rows.setdefault(key, n))))
            parents[other] = root
    return [find_root(n) for n in range(len(rows))]


MIN_LABELS, MIN_RARER_LABELS = 50, 10  # labels, and of those the ones of the rarer kind
SPLIT = "annotators disagree"
NO_CLAIM = "the judge finds nothing to check"
NO_VERDICT = "the judge gives no verdict"
NO_PASSAGES = "there are no passages"


@dataclass(frozen=True, slots=True)
class TrainingItem:
    """One labelled part."""

    key: str  #: of its text, as of `build_text_key`.
    marks: tuple[str, ...]  #: what its text is recognised by, see `compute_row_marks`.
    group: str  #: alike for items that must not be parted, see `group_rows`: the key of their first text.
    p: float  #: the base's probability of the weakest claim in it.
    features: tuple[float, ...]  #: of all claims in it, in the order of FEATURE_NAMES.
    supported: bool  #: what most people say.
    sentences: int  #: how many sentences with claims it holds.


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


def build_training_items(rows: Sequence[LabeledAnswer], facts: Sequence[AnswerFacts | None]) -> TrainingItems:
    """The labelled parts of some rows.

    Args:
        rows: what people said.
        facts: what the base found of each row's answer; None = it failed.
    """
    keys = [build_text_key(build_row_inputs(row)) for row in rows]
    groups = [keys[index] for index in group_rows(rows)]
    row_keys = [(key, tuple(compute_row_marks(row)), group) for row, key, group in zip(rows, keys, groups, strict=True)]
    results = [
        result
        for row, its, answer_facts in zip(rows, row_keys, facts, strict=True)
        for result in _build_row_items(row, its, answer_facts)
    ]
    items = tuple(result for result in results if isinstance(result, TrainingItem))
    return TrainingItems(items, dict(Counter(result for result in results if isinstance(result, str))))


def _build_row_items(
    row: LabeledAnswer, row_key: tuple[str, tuple[str, ...], str], facts: AnswerFacts | None
) -> Iterator[TrainingItem | str]:
    """An item a part, or why there is none; known: key, marks and group of the row."""
    if facts is None or not row.passages:
        yield from [NO_VERDICT if facts is None else NO_PASSAGES] * len(row.parts)
        return
    measured = MeasuredPassages(row.passages, [claim.text or "" for claim in facts.claims])
    for part in row.parts:
        majority_label = find_majority([map_to_scale(label, TWO_LABELS) for label in part.labels])
        claims = [claim for claim in facts.claims if claim.start < part.end and claim.end > part.start]
        if not majority_label:
            yield SPLIT
        elif not claims:
            yield NO_CLAIM
        elif any(claim.label is None or not claim.text for claim in claims):
            yield NO_VERDICT
        else:
            sentences = {claim.within or (claim.start, claim.end) for claim in claims}
            yield TrainingItem(
                *row_key,
                find_weakest_claim(claims).chance,
                measured.compute_features(claims),
                majority_label == TWO_LABELS[0],
                len(sentences),
            )


def check_label_counts(rows: Sequence[LabeledAnswer]) -> None:
    """Refuses before a judge is asked where even verdicts on all parts would leave too few labels.

    Raises:
        NotEnoughData: fewer than 50 labels, or fewer than 10 of the rarer kind.
    """
    outcomes = [
        (find_majority([map_to_scale(label, TWO_LABELS) for label in part.labels]) or SPLIT)
        if row.passages
        else NO_PASSAGES
        for row in rows
        for part in row.parts
    ]
    counts = Counter(outcomes)
    right, wrong = (counts.pop(label, 0) for label in TWO_LABELS)
    _check_counts(right, right + wrong, counts)


def _check_counts(right: int, labels: int, without: Mapping[str, int]) -> None:
    """Refuses too few labels.

    Args:
        right: those that say supported.
        labels: all that can be learned from.
        without: why others cannot -> how many.
    """
    if labels < MIN_LABELS or min(right, labels - right) < MIN_RARER_LABELS:
        left_out = "".join(f"; {count} skipped: {reason}" for reason, count in without.items())
        raise NotEnoughData(
            f"calibration needs at least {MIN_LABELS} labels, with {MIN_RARER_LABELS} of the rarer kind; there are "
            f"{labels}, {right} supported and {labels - right} not{left_out}. Label more: ragauge label draw latest -o "
            "page.html"
        )


def build_labeled_odds(training: TrainingItems, judge: Judge) -> LabeledOdds:
    """The items as arrays, in folds that no group is divided by.

    Raises:
        NotEnoughData: fewer than 50 labels, fewer than 10 of the rarer kind, or all of these in one group.
    """
    import numpy as np

    items = training.items
    _check_counts(sum(item.supported for item in items), len(items), training.without)
    groups = [item.group for item in items]
    group_numbers = {group: n for n, group in enumerate(dict.fromkeys(groups))}
    labels, folds = np.array([float(item.supported) for item in items]), np.array(assign_folds(groups))
    if any(np.unique(labels[folds != fold]).size < 2 for fold in np.unique(folds)):
        raise NotEnoughData(
            "all labels of one kind belong to one answer or question, or to answers linked by the same "
            "question, or by the same passages and answer. Label answers to more questions."
        )
    n_features = len(list_trained_names(asks_models=can_ask_models(judge)))
    return LabeledOdds(
        np.array([item.p for item in items]),
        np.array([compute_log_odds(item.p) for item in items]),
        np.array([item.features[:n_features] for item in items]),
        labels,
        folds,
        np.array([group_numbers[group] for group in groups]),
    )


def build_calibration_file(
    training: TrainingItems,
    calibrated: CalibrationChoice,
    base: Judge,
    spec: str,
    learned: LearnedFromLabels,
    gain: CalibrationGain,
) -> CalibrationFile:
    """The file of a judge.

    Args:
        training: what was learned from.
        calibrated: what was learned.
        base: the judge that is calibrated.
        spec: the text that it is built from.
        learned: what the file says of the labels.
        gain: what it says of before and after.
    """
    names = list_trained_names(asks_models=can_ask_models(base))
    folds: dict[str, set[int]] = {}
    for item, fold in zip(training.items, assign_folds([item.group for item in training.items]), strict=True):
        for mark in item.marks:
            folds.setdefault(mark, set()).add(fold)
    return CalibrationFile(
        base=CalibrationBase(spec=spec, judge_id=base.judge_id),
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
        folds=tuple(Model.of(model, names) for model in calibrated.folds),
        marks={mark: fold for mark, (fold, *others) in sorted(folds.items()) if not others},
        figures=gain.to_dict(),
    )
