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
from ragauge.core.human_labels import TWO, AnswerPair, Labelled, Preference
from ragauge.engine.caller import CallCounts
from ragauge.engine.estimate import CostEstimate, estimate_askings
from ragauge.engine.judge_facts import AskedFacts, asked_facts
from ragauge.engine.models import Calling
from ragauge.engine.session import Progressed, Session, Todo
from ragauge.judges.judge import Judge, asks_models, in_other_words
from ragauge.judges.model.verdicts import interleave
from ragauge.labels.probe.catalogue import PROBES
from ragauge.labels.probe.change import Change, ExaminedRow, Need, Probe, ProbePool
from ragauge.labels.probe.compute import ProbeCase
from ragauge.labels.probe.position import position_cases
from ragauge.scores.annotators import majority, on
from ragauge.scores.judge_check import verdicts_of
from ragauge.store.store_access import Store

Cases = dict[str, list[ProbeCase]]
NO_ANSWERS = "no example has an answer with passages"
NOT_ASKED = Preference(None, None, "not asked: what may be spent was spent")
EVERY = ""  # all parts of the examples, whatever the probes are
TWICE = (0, 1)  # repeats of the question about the unchanged text


class Prefers(Judge, Protocol):
    """A judge that can say which of two answers is better."""

    def prefer(self, pair: AnswerPair, judge_repeat: int = 0) -> Generator[list[Ask], list[Reply], Preference]:
        """Both verdicts on a pair."""


@dataclass(frozen=True, slots=True)
class ProbeMaterial:
    """A user's own examples.

    Attributes:
        rows: answers with what they are held against; parts with labels, or their sentences without.
        pairs: two answers to one question each.
        family: the column that says who wrote an answer; "" = none is named.
    """

    rows: Sequence[Labelled] = ()
    pairs: Sequence[AnswerPair] = ()
    family: str = ""


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


def prefers(judge: Judge) -> TypeGuard[Prefers]:
    """Whether a judge compares two answers."""
    return hasattr(judge, "prefer")


def lacking(material: ProbeMaterial, judge: Judge) -> dict[str, str]:
    """Name of a probe -> why it cannot be made of these examples and this judge."""
    rows, labelled = material.rows, [row for row in material.rows if any(part.labels for part in row.parts)]
    families = {row.segments.get(material.family, "") for row in labelled} - {""}
    pool = ProbePool(rows)
    why: dict[Need, str] = {}
    if not rows:
        why |= dict.fromkeys(("answers", "passages", "others", "labels", "family"), NO_ANSWERS)
    else:
        if all(row.passages == row.passages[::-1] for row in rows):
            why["passages"] = "no answer rests on two passages or more"
        if not any(pool.others(place) for place in range(len(rows))):
            why["others"] = "no two questions have passages of their own"
        if not labelled:
            why["labels"] = "nobody labelled these answers"
        if not material.family:
            why["family"] = "no column is named that says who wrote an answer: --family COLUMN"
        elif len(families) < len(TWICE):
            why["family"] = f"column {material.family} has fewer than two values among labelled answers"
    if not material.pairs:
        why["pairs"] = "no question has two answers"
    if not prefers(judge):
        why["prefers"] = "this judge compares no two answers"
    if in_other_words(judge, {}) is None:
        why["wording"] = "this judge has no instruction, or wording of your own, which no paraphrase says again"
    found = {name: [why[need] for need in probe.needs if need in why] for name, probe in PROBES.items()}
    return {name: reasons[0] for name, reasons in found.items() if reasons}


def chosen(asked: Sequence[str], material: ProbeMaterial, judge: Judge) -> tuple[list[Probe], dict[str, str]]:
    """The probes that are made, and why the others are not.

    Args:
        asked: their names; empty = all that can be made.
        material: the examples.
        judge: who is probed.

    Raises:
        UnknownName: no such probe.
        UsageError: one that was asked for cannot be made, or none can.
    """
    without = lacking(material, judge)
    for name in asked:
        if name not in PROBES:
            raise UnknownName("probe", name, PROBES)
        if name in without:
            raise UsageError(f"{name} cannot be made: {without[name]}. Leave --probes out for all that can.")
    made = [one for name, one in PROBES.items() if (name in asked if asked else name not in without)]
    if not made:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in without.items())
        raise UsageError(f"no probe can be made of these examples. {reasons}.")
    return made, {} if asked else without


def expected(material: ProbeMaterial, judge: Judge, probes: Sequence[Probe], store: Store) -> CostEstimate:
    """What probing would ask: first calls that no stored reply answers, as if the judge called everything supported."""
    if not asks_models(judge):
        return CostEstimate()
    return estimate_askings(judge, _askings(material, judge, probes), store)


def _askings(
    material: ProbeMaterial, judge: Judge, probes: Sequence[Probe]
) -> Iterator[Generator[list[Ask], list[Reply], object]]:
    pool = ProbePool(material.rows)
    if _of_rows(probes):
        for place, row in enumerate(material.rows):
            supported = ("supported",) * len(row.parts)
            seen = ExaminedRow(row, place, supported, supported, _people(row))
            yield from (judge.ask(seen.inputs, repeat) for repeat in TWICE)
            changes = (change for probe in probes for change in probe.changes(seen, pool))
            yield from (_worded(judge, change).ask(change.inputs) for change in changes)
    if _of_pairs(probes) and prefers(judge):
        yield from (judge.prefer(pair, repeat) for pair in material.pairs for repeat in TWICE)


def _of_rows(probes: Sequence[Probe]) -> bool:
    return any("answers" in probe.needs for probe in probes)


def _of_pairs(probes: Sequence[Probe]) -> bool:
    return any("pairs" in probe.needs for probe in probes)


async def probe(
    material: ProbeMaterial,
    judge: Judge,
    probes: Sequence[Probe],
    store: Store,
    calling: Calling | None,
    progress: Progressed | None = None,
) -> ProbeOutcome:
    """Makes probes; replies are durable as they arrive, so that the same again pays nothing and goes on.

    Examples come in a random order, always the same, so that those of a probe that was stopped are a sample.

    Args:
        material: the examples.
        judge: who is probed.
        probes: none that `lacking` names.
        store: where replies are kept.
        calling: how models are called; None where the judge asks none.
        progress: called as examples are done, and every second.

    Raises:
        JudgeError: the model cannot be asked at all.
    """
    rows, pool = material.rows if _of_rows(probes) else (), ProbePool(material.rows)
    order = random.Random(0).sample(range(len(rows)), len(rows))  # noqa: S311 - an order
    rows_todo: Todo[ProbedRow] = [partial(examine, judge, place, probes, pool, material.family) for place in order]
    pairs: Sequence[AnswerPair] = ()
    pairs_todo: Todo[list[Preference]] = ()
    if _of_pairs(probes) and prefers(judge):
        pairs = material.pairs
        pairs_todo = [partial(_preferences, judge, pair) for pair in pairs]
    async with Session(store, calling, progress) as session:
        found = await session.drive(judge, rows_todo)
        preferred = await session.drive(judge, pairs_todo) if pairs_todo else {}
    cases: Cases = {name: [] for name in (EVERY, *(one.name for one in probes))}
    for place in sorted(found, key=lambda at: order[at]):
        for name, more in found[place].cases.items():
            cases[name] += more
    for n, said in sorted(preferred.items()):
        cases["position"] += position_cases(pairs[n], *said)
    first = tuple(preferred[n][0] if n in preferred else NOT_ASKED for n in range(len(pairs)))
    parts = cases.pop(EVERY)
    reasons = Counter(one.reason for one in found.values() if one.reason)
    return ProbeOutcome(
        cases, first, len(parts), sum(not one.base for one in parts), dict(reasons), session.stopped, session.counts
    )


def examine(
    judge: Judge, place: int, probes: Sequence[Probe], pool: ProbePool, family: str = ""
) -> Generator[list[Ask], list[Reply], ProbedRow]:
    """Asks about one example: as it is, twice; then as each probe changes it.

    Args:
        judge: who is asked.
        place: of the example in the pool.
        probes: which.
        pool: all examples.
        family: the column that says who wrote an answer.
    """
    row = pool.rows[place]
    seen = ExaminedRow(row, place, (), (), _people(row))
    first, second = yield from interleave([asked_facts(judge, seen.inputs, repeat) for repeat in TWICE])
    seen = ExaminedRow(row, place, _labels(row, first), _labels(row, second), seen.people)
    changes = [(probe, change) for probe in probes for change in probe.changes(seen, pool)]
    answers = yield from interleave([asked_facts(_worded(judge, change), change.inputs) for _, change in changes])
    who = row.segments.get(family, "")
    plain = [
        ProbeCase(row.query_id, seen.text(n), base, seen.again[n], base, human=seen.people[n], family=who)
        for n, base in enumerate(seen.base)
    ]
    found = ProbedRow({EVERY: plain}, first.reason or second.reason)
    for one in probes:
        if not changing(one):
            found.cases[one.name] = plain
    for (one, change), answer in zip(changes, answers, strict=True):
        found.cases.setdefault(one.name, []).extend(_changed(seen, change, answer))
        found.reason = found.reason or answer.reason
    return found


def changing(one: Probe) -> bool:
    """Whether a probe shows the judge something else than the examples as they are."""
    return one.rule.compares not in ("again", "people", "families")


def _changed(seen: ExaminedRow, change: Change, answer: AskedFacts) -> Iterator[ProbeCase]:
    labels = _labels(change.as_row(seen.row), answer)
    for n, label in zip(change.parts, labels, strict=True):
        yield ProbeCase(
            seen.row.query_id,
            seen.text(n),
            seen.base[n],
            seen.again[n],
            label,
            change.kind,
            change.shown.get(n, ""),
            seen.people[n],
        )


def _labels(row: Labelled, answer: AskedFacts) -> tuple[str, ...]:
    facts = answer.facts if isinstance(answer.facts, AnswerFacts) else None
    return tuple(verdict.label or "" for verdict in verdicts_of(row, facts, answer.reason))


def _people(row: Labelled) -> tuple[str, ...]:
    return tuple(majority([on(label, TWO) for label in part.labels]) if part.labels else "" for part in row.parts)


def _worded(judge: Judge, change: Change) -> Judge:
    return (in_other_words(judge, change.wording) if change.wording else None) or judge


def _preferences(judge: Prefers, pair: AnswerPair) -> Generator[list[Ask], list[Reply], list[Preference]]:
    """Both orders, twice."""
    return (yield from interleave([judge.prefer(pair, repeat) for repeat in TWICE]))
