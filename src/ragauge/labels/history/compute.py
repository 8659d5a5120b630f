"""Checks of judges over time: what each found, and which judges agree less with people than at the check before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ragauge.core.human_labels import CheckedPart, CheckRecord, Labelled
from ragauge.core.identity import digest
from ragauge.scores.agreement import LEVEL, AgreementFigure, gain, mean_one, share_alike
from ragauge.scores.estimation import ScoreSample, interval_of_difference
from ragauge.scores.judge_check import RECORDED, CheckedJudge
from ragauge.scores.label_scores import example_of
from ragauge.stats.weighted import Interval

LEAST_SAME = 30  # parts of both checks that are compared one by one; with fewer, all of both as two samples
NO_CHANGE = AgreementFigure(None)
SHORT = 16  # hex digits of a part's hash: none is alike by chance among billions


@dataclass(frozen=True, slots=True)
class CheckStep:
    """One check of a judge, beside the one before.

    Attributes:
        name: of the judge.
        judge_id: its id; another one than before is another judge under the same name.
        at: when, ISO 8601.
        file: what its labels are called.
        n: parts with a label and a verdict.
        accuracy: share of them on which judge and people say the same of supported or not.
        kappa: Cohen's.
        compared: parts that both checks have, with the same label; all of this check where they have too few.
        pairs: "same" = part by part, "other" = as two samples of other parts, "" = there is no check before.
        change: accuracy now less before.
        judge_changed: its id is another.
        reweighted: parts and verdicts are those of the check before, and only weights differ.
        forgotten: its labels were taken back since, and no interval rests on them.
    """

    name: str
    judge_id: str
    at: str
    file: str
    n: int
    accuracy: AgreementFigure
    kappa: AgreementFigure
    compared: int = 0
    pairs: Literal["", "same", "other"] = ""
    change: AgreementFigure = NO_CHANGE
    judge_changed: bool = False
    reweighted: bool = False
    forgotten: bool = False

    @property
    def fell(self) -> bool:
        """Whether the whole interval of the change lies below 0."""
        return self.change.interval is not None and self.change.interval.high < 0


def record_of(name: str, checked: CheckedJudge, rows: Sequence[Labelled], file: tuple[bytes, str]) -> CheckRecord:
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
        parts.append(CheckedPart(part_keys(row)[m], example_of(row).hex()[:SHORT], right, row.weight))
    kappa = checked.supported.kappa
    ends = kappa.interval
    known = None if kappa.value is None or ends is None else (kappa.value, ends.low, ends.high)
    return CheckRecord(name, checked.said.judge_id, *file, known, tuple(parts))


def part_keys(row: Labelled) -> list[str]:
    """A hash of each part of a row, of all that is seen, and of what people say of it."""
    text = [row.query, list(row.passages), row.answer or row.query_id]
    return [digest([text, part.start, part.end, sorted(part.labels)])[:SHORT] for part in row.parts]


def steps(records: Iterable[CheckRecord], kept: Collection[tuple[str, bytes]] | None = None) -> tuple[CheckStep, ...]:
    """Every check beside the one before of the same name, judges in the order of their first check.

    Args:
        records: in the order in which they ended.
        kept: judge id and file of every check whose labels are still kept; None = not asked.
    """
    by_name: dict[str, list[CheckRecord]] = {}
    for record in records:
        by_name.setdefault(record.name, []).append(record)
    return tuple(
        replace(_step(record, before), forgotten=_forgotten(record, kept))
        for mine in by_name.values()
        for before, record in zip([None, *mine[:-1]], mine, strict=True)
    )


def _forgotten(record: CheckRecord, kept: Collection[tuple[str, bytes]] | None) -> bool:
    """Whether labels of a check were kept and are no more; of recorded verdicts none are ever kept."""
    if kept is None or not record.parts or record.judge_id.startswith(RECORDED):
        return False
    return (record.judge_id, record.file) not in kept


def _step(record: CheckRecord, before: CheckRecord | None) -> CheckStep:
    kappa = AgreementFigure(None)
    if record.kappa is not None:
        value, low, high = record.kappa
        kappa = AgreementFigure(value, Interval(low, high, "Fleiss-Cohen-Everitt", LEVEL))
    parts = record.parts
    right, groups, weights = _columns(parts)
    accuracy = share_alike(right, [1.0] * len(parts), groups, weights)
    first = record.name, record.judge_id, record.at, record.file_name, len(parts), accuracy, kappa
    if before is None:
        return CheckStep(*first)
    changed = before.judge_id != record.judge_id
    then = {part.part: part for part in before.parts}
    same = [part for part in parts if part.part in then]
    if len(same) >= LEAST_SAME:
        right, groups, weights = _columns(same)
        change = gain(right, [float(then[part.part].right) for part in same], groups, weights)
        return CheckStep(*first, len(same), "same", change, changed, _reweighted(parts, before.parts))
    return CheckStep(*first, len(parts), "other", _apart(parts, before.parts), changed)


def _reweighted(new: Sequence[CheckedPart], base: Sequence[CheckedPart]) -> bool:
    """Whether the same parts are right, and their weights, as shares, are others."""
    sides = []
    for parts in (new, base):
        total = sum(one.weight for one in parts)
        sides.append(sorted((one.part, one.right, round(one.weight / total, 12)) for one in parts))
    return sides[0] != sides[1] and [one[:2] for one in sides[0]] == [one[:2] for one in sides[1]]


def _columns(parts: Sequence[CheckedPart]) -> tuple[list[float], list[str] | None, list[float] | None]:
    """Whether each is right, what it depends on, and its weight; None where all are independent, or alike."""
    groups, weights = [part.group for part in parts], [part.weight for part in parts]
    return (
        [float(part.right) for part in parts],
        groups if len(set(groups)) < len(groups) else None,
        weights if len(set(weights)) > 1 else None,
    )


def _apart(new: Sequence[CheckedPart], base: Sequence[CheckedPart]) -> AgreementFigure:
    """Accuracy of one sample of parts less that of another."""
    if not new or not base:
        return AgreementFigure(None, reason="nothing to compare")
    samples, means = [], []
    for side in (new, base):
        right, groups, weights = _columns(side)
        w = mean_one(weights, len(side))
        samples.append(ScoreSample(right, "rate", weights=None if weights is None else w, clusters=groups))
        means.append(float((w * right).mean()))
    return AgreementFigure(means[0] - means[1], interval_of_difference(samples[0], samples[1], LEVEL, paired=False))
