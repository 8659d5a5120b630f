"""Checks of judges over time: what each found, and which judges agree less with people than at the check before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ragauge.core.human_labels import CheckedPart, CheckRecord, LabeledAnswer
from ragauge.core.identity import hash_json
from ragauge.core.json_keys import json_keys, key
from ragauge.scores.agreement import LEVEL, AgreementFigure, compare_correctness, compute_equal_share, normalize_weights
from ragauge.scores.estimation import ScoreSample, compute_difference_interval
from ragauge.scores.judge_check import RECORDED_PREFIX, CheckedJudge
from ragauge.scores.label_scores import hash_example
from ragauge.stats.judge_error import JudgeMeanError
from ragauge.stats.weighted import Interval

MIN_SHARED_PARTS = 30  # parts of both checks that are compared one by one; with fewer, all of both as two samples
NO_CHANGE = AgreementFigure(None)
PART_HASH_DIGITS = 16  # hex digits of a part's hash: none is alike by chance among billions


@json_keys("name judge_id at file n accuracy kappa change compared pairs fell judge_changed reweighted forgotten")
@dataclass(frozen=True, slots=True)
class CheckStep:
    """One check of a judge, beside the one before."""

    name: str = field(metadata=key("judge"))  #: of the judge.
    judge_id: str  #: its id; another one than before is another judge under the same name.
    at: str  #: when, ISO 8601.
    file: str  #: what its labels are called.
    n: int  #: parts with a label and a verdict.
    accuracy: AgreementFigure  #: share of them on which judge and people say the same of supported or not.
    kappa: AgreementFigure  #: Cohen's.
    compared: int = 0  #: parts that both checks have, with the same label; all of this check where they have too few.
    #: "same" = part by part, "other" = as two samples of other parts, "" = there is no check before.
    pairs: Literal["", "same", "other"] = ""
    change: AgreementFigure = NO_CHANGE  #: accuracy now less before.
    judge_changed: bool = False  #: its id is another.
    reweighted: bool = False  #: parts and verdicts are those of the check before, and only weights differ.
    forgotten: bool = False  #: its labels were taken back since, and no interval rests on them.

    @property
    def fell(self) -> bool:
        """Whether the whole interval of the change lies below 0."""
        return self.change.interval is not None and self.change.interval.high < 0


def build_record(
    name: str, checked: CheckedJudge, rows: Sequence[LabeledAnswer], file: tuple[bytes, str]
) -> CheckRecord:
    """What is kept of a judge's check.

    Args:
        name: what the judge is called.
        checked: the check.
        rows: its rows.
        file: hash and name of their file.
    """
    parts = []
    for (n, m), right in checked.right.items():
        row = rows[n]
        parts.append(CheckedPart(hash_parts(row)[m], hash_example(row).hex()[:PART_HASH_DIGITS], right, row.weight))
    kappa = checked.supported.kappa
    kappa_interval = kappa.interval
    kappa_bounds = (
        None
        if kappa.value is None or kappa_interval is None
        else (kappa.value, kappa_interval.low, kappa_interval.high)
    )
    return CheckRecord(name, checked.answers.judge_id, *file, kappa_bounds, tuple(parts))


def hash_parts(row: LabeledAnswer) -> list[str]:
    """A hash of each part of a row, of all that is seen, and of what people say of it."""
    text = [row.query, list(row.passages), row.answer or row.query_id]
    return [hash_json([text, part.start, part.end, sorted(part.labels)])[:PART_HASH_DIGITS] for part in row.parts]


def build_steps(
    records: Iterable[CheckRecord], saved_checks: Collection[tuple[str, bytes]] | None = None
) -> tuple[CheckStep, ...]:
    """Every check beside the one before of the same name, judges in the order of their first check.

    Args:
        records: in the order in which they ended.
        saved_checks: judge id and file of every check whose labels are still kept; None = not asked.
    """
    by_name: dict[str, list[CheckRecord]] = {}
    for record in records:
        by_name.setdefault(record.name, []).append(record)
    return tuple(
        replace(_build_step(record, previous), forgotten=_is_forgotten(record, saved_checks))
        for judge_records in by_name.values()
        for previous, record in zip([None, *judge_records[:-1]], judge_records, strict=True)
    )


def _is_forgotten(record: CheckRecord, saved_checks: Collection[tuple[str, bytes]] | None) -> bool:
    """Whether labels of a check were kept and are no more; of recorded verdicts none are ever kept."""
    if saved_checks is None or not record.parts or record.judge_id.startswith(RECORDED_PREFIX):
        return False
    return (record.judge_id, record.file) not in saved_checks


def _build_step(record: CheckRecord, previous: CheckRecord | None) -> CheckStep:
    kappa = AgreementFigure(None)
    if record.kappa is not None:
        value, low, high = record.kappa
        kappa = AgreementFigure(value, Interval(low, high, "Fleiss-Cohen-Everitt", LEVEL))
    parts = record.parts
    right, groups, weights = _split_columns(parts)
    accuracy = compute_equal_share(right, [1.0] * len(parts), groups, weights)
    first = record.name, record.judge_id, record.at, record.file_name, len(parts), accuracy, kappa
    if previous is None:
        return CheckStep(*first)
    changed = previous.judge_id != record.judge_id
    previous_parts = {part.part: part for part in previous.parts}
    same = [part for part in parts if part.part in previous_parts]
    if len(same) >= MIN_SHARED_PARTS:
        right, groups, weights = _split_columns(same)
        change = compare_correctness(right, [float(previous_parts[part.part].right) for part in same], groups, weights)
        return CheckStep(*first, len(same), "same", change, changed, _is_reweighted(parts, previous.parts))
    return CheckStep(*first, len(parts), "other", _compare_samples(parts, previous.parts), changed)


def _is_reweighted(new: Sequence[CheckedPart], base: Sequence[CheckedPart]) -> bool:
    """Whether the same parts are right, and their weights, as shares, are others."""
    part_lists = []
    for parts in (new, base):
        total = sum(part.weight for part in parts)
        part_lists.append(sorted((part.part, part.right, round(part.weight / total, 12)) for part in parts))
    return part_lists[0] != part_lists[1] and [part[:2] for part in part_lists[0]] == [
        part[:2] for part in part_lists[1]
    ]


def _split_columns(parts: Sequence[CheckedPart]) -> tuple[list[float], list[str] | None, list[float] | None]:
    """Whether each is right, what it depends on, and its weight; None where all are independent, or alike."""
    groups, weights = [part.group for part in parts], [part.weight for part in parts]
    return (
        [float(part.right) for part in parts],
        groups if len(set(groups)) < len(groups) else None,
        weights if len(set(weights)) > 1 else None,
    )


def _compare_samples(new: Sequence[CheckedPart], base: Sequence[CheckedPart]) -> AgreementFigure:
    """Accuracy of one sample of parts less that of another."""
    if not new or not base:
        return AgreementFigure(None, reason="nothing to compare")
    samples, means = [], []
    for sample_parts in (new, base):
        right, groups, weights = _split_columns(sample_parts)
        w = normalize_weights(weights, len(sample_parts))
        samples.append(ScoreSample(right, "rate", weights=None if weights is None else w, clusters=groups))
        means.append(float((w * right).mean()))
    return AgreementFigure(
        means[0] - means[1], compute_difference_interval(samples[0], samples[1], LEVEL, paired=False)
    )


@dataclass(frozen=True, slots=True)
class KnownJudge:
    """A judge."""

    judge_id: str  #: names everything that changes its verdicts.
    spec: str  #: what it is built from; "" where that is not known.
    runs: int  #: how many it judged.
    last: CheckStep | None = None  #: its newest check against people; None where there was none.


@dataclass(frozen=True, slots=True)
class JudgeTrust:
    """What is known of how far a judge can be trusted."""

    judge: KnownJudge  #: which.
    #: printed name of a metric -> how far its mean errs; what is not there is not known.
    errors: Mapping[str, JudgeMeanError] = field(default_factory=dict)
    #: its checks against people, and those of other judges under the same names, the oldest first.
    steps: tuple[CheckStep, ...] = ()
    judged: tuple[tuple[str, str], ...] = ()  #: id and name of the newest runs that it judged.
    labels: int = 0  #: of people that the store has, of whatever run.
    #: number of the newest draw from these runs, and the run's id; None where there is none.
    drawn: tuple[int, str] | None = None
