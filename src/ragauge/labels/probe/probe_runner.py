"""Probes judges: asks about examples as they are, twice, and as probes change them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol, TypeGuard

from ragauge.core.ask import Ask, Reply
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.facts import AnswerFacts
from ragauge.core.human_labels import TWO_LABELS, AnswerPair, LabeledAnswer, Preference
from ragauge.engine.caller import CallCounts
from ragauge.engine.estimate import CostEstimate, estimate_asks
from ragauge.engine.judge_facts import FactsOutcome, ask_facts
from ragauge.engine.models import CallOptions
from ragauge.engine.session import ProgressCallback, Session, Todo
from ragauge.judges.judge import Judge, can_ask_models, reword_judge
from ragauge.judges.model.verdicts import interleave
from ragauge.labels.probe.catalogue import PROBES, build_position_cases
from ragauge.labels.probe.change import Change, ExaminedRow, Need, Probe, ProbePool
from ragauge.labels.probe.compute import ProbeCase
from ragauge.scores.annotators import find_majority, map_to_scale
from ragauge.scores.judge_check import list_part_verdicts
from ragauge.store.store_access import Store

Cases = dict[str, list[ProbeCase]]
NO_ANSWERS = "no example has an answer with passages"
NOT_ASKED = Preference(None, None, "not asked: the budget was spent")
ALL_PARTS = ""  # all parts of the examples, whatever the probes are
REPEATS = (0, 1)  # repeats of the question about the unchanged text


class ComparingJudge(Judge, Protocol):
    """A judge that can say which of two answers is better."""

    def prefer(self, pair: AnswerPair, judge_repeat: int = 0) -> Generator[list[Ask], list[Reply], Preference]:
        """Both verdicts on a pair."""


@dataclass(frozen=True, slots=True)
class ProbeMaterial:
    """A user's own examples."""

    #: answers with what they are held against; parts with labels, or their sentences without.
    rows: Sequence[LabeledAnswer] = ()
    pairs: Sequence[AnswerPair] = ()  #: two answers to one question each.
    family: str = ""  #: the column that says who wrote an answer; "" = none is named.


class ProbeOutcome(NamedTuple):
    """What was found.

    cases: name of a probe -> its cases; preferences: of each pair; parts: looked at, and those without a verdict;
    reasons: why a judge said nothing -> of how many examples; stopped: why it ended early, "" when it did not.
    """

    cases: Cases
    preferences: tuple[Preference, ...]
    parts: int
    failed: int
    reasons: Mapping[str, int]
    stopped: str
    calling: CallCounts | None


@dataclass
class ProbedRow:
    """The cases of one example, and why there are none."""

    cases: Cases = field(default_factory=dict)
    reason: str = ""


def can_compare_answers(judge: Judge) -> TypeGuard[ComparingJudge]:
    """Whether a judge compares two answers."""
    return hasattr(judge, "prefer")


def find_missing_needs(material: ProbeMaterial, judge: Judge) -> dict[str, str]:
    """Name of a probe -> why it cannot be made of these examples and this judge."""
    rows, labeled_rows = material.rows, [row for row in material.rows if any(row_part.labels for row_part in row.parts)]
    families = {row.segments.get(material.family, "") for row in labeled_rows} - {""}
    pool = ProbePool(rows)
    reasons_by_need: dict[Need, str] = {}
    if not rows:
        reasons_by_need |= dict.fromkeys(("answers", "passages", "others", "labels", "family"), NO_ANSWERS)
    else:
        if all(row.passages == row.passages[::-1] for row in rows):
            reasons_by_need["passages"] = "no answer has two or more passages"
        if not any(pool.others(index) for index in range(len(rows))):
            reasons_by_need["others"] = "no two questions have different passages"
        if not labeled_rows:
            reasons_by_need["labels"] = "these answers have no human labels"
        if not material.family:
            reasons_by_need["family"] = "no column says who wrote an answer: add --family COLUMN"
        elif len(families) < len(REPEATS):
            reasons_by_need["family"] = f"column {material.family} has fewer than two values among labeled answers"
    if not material.pairs:
        reasons_by_need["pairs"] = "no question has two answers"
    if not can_compare_answers(judge):
        reasons_by_need["prefers"] = "this judge does not compare two answers"
    if reword_judge(judge, {}) is None:
        reasons_by_need["wording"] = "this judge has no instruction, or one of your own that no paraphrase covers"
    missing_by_probe = {
        name: [reasons_by_need[need] for need in probe.needs if need in reasons_by_need]
        for name, probe in PROBES.items()
    }
    return {name: reasons[0] for name, reasons in missing_by_probe.items() if reasons}


def choose_probes(
    requested: Sequence[str], material: ProbeMaterial, judge: Judge
) -> tuple[list[Probe], dict[str, str]]:
    """The probes that are made, and why the others are not.

    Args:
        requested: their names; empty = all that can be made.
        material: the examples.
        judge: who is probed.

    Raises:
        UnknownName: no such probe.
        UsageError: one that was asked for cannot be made, or none can.
    """
    unavailable = find_missing_needs(material, judge)
    for name in requested:
        if name not in PROBES:
            raise UnknownName("probe", name, PROBES)
        if name in unavailable:
            raise UsageError(f"{name} is not possible: {unavailable[name]}. Omit --probes to run all that are.")
    probes = [
        candidate for name, candidate in PROBES.items() if (name in requested if requested else name not in unavailable)
    ]
    if not probes:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in unavailable.items())
        raise UsageError(f"no probe can be run on these examples. {reasons}.")
    return probes, {} if requested else unavailable


def estimate_probing(material: ProbeMaterial, judge: Judge, probes: Sequence[Probe], store: Store) -> CostEstimate:
    """What probing would ask: first calls that no stored reply answers, as if the judge called everything supported."""
    if not can_ask_models(judge):
        return CostEstimate()
    return estimate_asks(judge, _iter_asks(material, judge, probes), store)


def _iter_asks(
    material: ProbeMaterial, judge: Judge, probes: Sequence[Probe]
) -> Iterator[Generator[list[Ask], list[Reply], object]]:
    pool = ProbePool(material.rows)
    if _needs_answers(probes):
        for index, row in enumerate(material.rows):
            supported = ("supported",) * len(row.parts)
            examined = ExaminedRow(row, index, supported, supported, _find_majority_labels(row))
            yield from (judge.ask(examined.inputs, repeat) for repeat in REPEATS)
            changes = (change for probe in probes for change in probe.changes(examined, pool))
            yield from (_apply_wording(judge, change).ask(change.inputs) for change in changes)
    if _needs_pairs(probes) and can_compare_answers(judge):
        yield from (judge.prefer(pair, repeat) for pair in material.pairs for repeat in REPEATS)


def _needs_answers(probes: Sequence[Probe]) -> bool:
    return any("answers" in probe.needs for probe in probes)


def _needs_pairs(probes: Sequence[Probe]) -> bool:
    return any("pairs" in probe.needs for probe in probes)


async def ask_probes(
    material: ProbeMaterial,
    judge: Judge,
    probes: Sequence[Probe],
    store: Store,
    calling: CallOptions | None,
    progress: ProgressCallback | None = None,
) -> ProbeOutcome:
    """Makes probes in a fixed random order; replies are stored as they arrive, so running again resumes for free.

    Args:
        material: the examples.
        judge: who is probed.
        probes: none that `find_missing_needs` names.
        store: where replies are kept.
        calling: how models are called; None where the judge asks none.
        progress: called as examples are done, and every second.

    Raises:
        JudgeError: the model cannot be asked at all.
    """
    rows, pool = material.rows if _needs_answers(probes) else (), ProbePool(material.rows)
    order = random.Random(0).sample(range(len(rows)), len(rows))  # noqa: S311 - an order
    rows_todo: Todo[ProbedRow] = [partial(examine_row, judge, index, probes, pool, material.family) for index in order]
    pairs: Sequence[AnswerPair] = ()
    pairs_todo: Todo[list[Preference]] = ()
    if _needs_pairs(probes) and can_compare_answers(judge):
        pairs = material.pairs
        pairs_todo = [partial(_ask_preferences, judge, pair) for pair in pairs]
    async with Session(store, calling, progress) as session:
        rows_by_index = await session.drive_all(judge, rows_todo)
        preferences_by_pair = await session.drive_all(judge, pairs_todo) if pairs_todo else {}
    cases: Cases = {name: [] for name in (ALL_PARTS, *(item.name for item in probes))}
    for index in sorted(rows_by_index, key=lambda index_key: order[index_key]):
        for name, row_cases in rows_by_index[index].cases.items():
            cases[name] += row_cases
    for n, row_preferences in sorted(preferences_by_pair.items()):
        cases["position"] += build_position_cases(pairs[n], *row_preferences)
    first = tuple(preferences_by_pair[n][0] if n in preferences_by_pair else NOT_ASKED for n in range(len(pairs)))
    all_parts = cases.pop(ALL_PARTS)
    reasons = Counter(item.reason for item in rows_by_index.values() if item.reason)
    return ProbeOutcome(
        cases,
        first,
        len(all_parts),
        sum(not item.base for item in all_parts),
        dict(reasons),
        session.stopped,
        session.counts,
    )


def examine_row(
    judge: Judge, index: int, probes: Sequence[Probe], pool: ProbePool, family: str = ""
) -> Generator[list[Ask], list[Reply], ProbedRow]:
    """Asks about one example: as it is, twice; then as each probe changes it.

    Args:
        judge: who is asked.
        index: of the example in the pool.
        probes: which.
        pool: all examples.
        family: the column that says who wrote an answer.
    """
    row = pool.rows[index]
    examined = ExaminedRow(row, index, (), (), _find_majority_labels(row))
    first, second = yield from interleave([ask_facts(judge, examined.inputs, repeat) for repeat in REPEATS])
    examined = ExaminedRow(row, index, _extract_labels(row, first), _extract_labels(row, second), examined.people)
    changes = [(probe, change) for probe in probes for change in probe.changes(examined, pool)]
    answers = yield from interleave([ask_facts(_apply_wording(judge, change), change.inputs) for _, change in changes])
    author_family = row.segments.get(family, "")
    unchanged_cases = [
        ProbeCase(
            row.query_id,
            examined.text(n),
            base,
            examined.again[n],
            base,
            human=examined.people[n],
            family=author_family,
        )
        for n, base in enumerate(examined.base)
    ]
    probed = ProbedRow({ALL_PARTS: unchanged_cases}, first.reason or second.reason)
    for candidate in probes:
        if candidate.rule.compares in ("again", "people", "families"):  # it shows the examples as they are
            probed.cases[candidate.name] = unchanged_cases
    for (candidate, change), answer in zip(changes, answers, strict=True):
        probed.cases.setdefault(candidate.name, []).extend(_iter_changed_cases(examined, change, answer))
        probed.reason = probed.reason or answer.reason
    return probed


def _iter_changed_cases(examined: ExaminedRow, change: Change, answer: FactsOutcome) -> Iterator[ProbeCase]:
    labels = _extract_labels(change.to_row(examined.row), answer)
    for n, label in zip(change.parts, labels, strict=True):
        yield ProbeCase(
            examined.row.query_id,
            examined.text(n),
            examined.base[n],
            examined.again[n],
            label,
            change.kind,
            change.shown.get(n, ""),
            examined.people[n],
        )


def _extract_labels(row: LabeledAnswer, answer: FactsOutcome) -> tuple[str, ...]:
    facts = answer.facts if isinstance(answer.facts, AnswerFacts) else None
    return tuple(verdict.label or "" for verdict in list_part_verdicts(row, facts, answer.reason))


def _find_majority_labels(row: LabeledAnswer) -> tuple[str, ...]:
    return tuple(
        find_majority([map_to_scale(label, TWO_LABELS) for label in row_part.labels]) if row_part.labels else ""
        for row_part in row.parts
    )


def _apply_wording(judge: Judge, change: Change) -> Judge:
    return (reword_judge(judge, change.wording) if change.wording else None) or judge


def _ask_preferences(judge: ComparingJudge, pair: AnswerPair) -> Generator[list[Ask], list[Reply], list[Preference]]:
    """Both orders, twice."""
    return (yield from interleave([judge.prefer(pair, repeat) for repeat in REPEATS]))
