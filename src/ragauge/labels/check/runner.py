"""Asks judges about a labelled file: the same question, prompts and store as an evaluation."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import NamedTuple, Self

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import AnswerFacts, FactsOf
from ragauge.core.human_labels import Labelled
from ragauge.engine.caller import CallCounts
from ragauge.engine.estimate import CostEstimate, estimate_askings, members_of
from ragauge.engine.judge_facts import NOT_ASKED, AskedFacts, asked_facts
from ragauge.engine.judges import CALIBRATED, build_judge
from ragauge.engine.models import Calling
from ragauge.engine.session import Progressed, Session
from ragauge.judges.inputs import VerifyAnswer, inputs_of_row
from ragauge.judges.judge import Judge, asks_models
from ragauge.scores.judge_check import JudgeAnswers, Took, verdicts_of
from ragauge.scores.label_scores import QUESTION, example_of, scores_of, text_of, told_by
from ragauge.store.judges import LabelFile, TextScore
from ragauge.store.store_access import Store

MODES = ("fused", "per_claim")
TOGETHER, WAIT = 64, 0.25  # texts in one transaction, and seconds between two, at the most


@dataclass(frozen=True, slots=True)
class Way:
    """One judge in one way of asking."""

    name: str
    mode: str
    judge: Judge


class CheckOutcome(NamedTuple):
    """What was said, why it ended early ("" when it did not), and the calls made now."""

    said: tuple[JudgeAnswers, ...]
    stopped: str
    calling: CallCounts | None


def ways(specs: Sequence[str], modes: Sequence[str] = MODES) -> tuple[Way, ...]:
    """The judges of some specs; a language model in each mode, unless its spec names one.

    Raises:
        UnknownName: no such judge, provider or setting.
        UsageError: a spec that cannot be read.
    """
    found: dict[str, Way] = {}
    for spec in specs:
        judge = build_judge(spec)
        # a jury's members are asked as their specs say, a calibrated judge as its file does
        if not asks_models(judge) or members_of(judge) != (judge,) or spec.startswith(CALIBRATED):
            found.setdefault(judge.judge_id, Way(spec, "", judge))
            continue
        named = next((part.partition("=")[2] for part in spec.split(",")[1:] if part.startswith("mode=")), "")
        for mode in (named,) if named else modes:
            one = judge if named or mode == "fused" else build_judge(f"{spec},mode={mode}")
            found.setdefault(one.judge_id, Way(spec, mode, one))
    return tuple(found.values())


def expected(rows: Sequence[Labelled], asked: Sequence[Way], store: Store) -> dict[str, CostEstimate]:
    """What checking would ask of models, by judge and mode: first calls that no stored reply answers."""
    return {f"{way.name} {way.mode}".strip(): _expected(rows, way.judge, store) for way in asked}


def _expected(rows: Sequence[Labelled], judge: Judge, store: Store) -> CostEstimate:
    """Of one judge: the calls of all members of a jury."""
    whole = CostEstimate()
    for member in members_of(judge):
        if asks_models(member):
            whole.join(estimate_askings(member, (member.ask(_inputs(row)) for row in rows), store))
    return whole


class LabelledRows(NamedTuple):
    """Rows of a labelled file to ask about, each text once, and the file: its name, and a hash of all it says.

    repeated: how many rows are left out, since a later one labels the same text. guideline: hash of the instructions
    that the labels of a run follow, all of them; "" = not known. run_id: of that run; "" = it is a file.
    """

    rows: Sequence[Labelled]
    name: str
    digest: bytes
    repeated: int = 0
    guideline: str = ""
    run_id: str = ""


def cross_fitted(judge: Judge, rows: Sequence[Labelled]) -> int:
    """How many of the rows a judge was calibrated by; on each of them it answers as it is without its labels."""
    trained: Callable[[VerifyAnswer], bool] | None = getattr(judge, "trained_on", None)
    return 0 if trained is None else sum(trained(_inputs(row)) for row in rows)


async def check(
    source: LabelledRows,
    asked: Sequence[Way],
    store: Store,
    calling: Calling | None,
    progress: Progressed | None = None,
) -> CheckOutcome:
    """What every judge says of every row, one judge after another; replies and scores are durable as they arrive.

    Rows are asked about in a random order, always the same, so that those of a check that was stopped are a sample of
    the file, and what is kept of them tells of the whole.

    Args:
        source: the labelled file.
        asked: the judges.
        store: where replies are kept: the same again pays nothing.
        calling: how models are called; None where no judge asks one.
        progress: called as rows are done, and every second.

    Raises:
        JudgeError: a model cannot be asked at all.
    """
    order = random.Random(0).sample(range(len(source.rows)), len(source.rows))  # noqa: S311 - an order
    said = []
    async with Session(store, calling, progress) as session:
        for way in asked:
            with _Keeping(store, way.judge, source) as keeping:
                todo = [partial(_kept, way.judge, source.rows[n], keeping) for n in order]
                found = await session.drive(way.judge, todo)
            said.append(_said(source.rows, way, {order[place]: row for place, row in found.items()}))
    return CheckOutcome(tuple(said), session.stopped, session.counts)


class _Keeping:
    """Keeps what a judge says of labelled texts, soon after it says it; used as a context manager, all of it."""

    def __init__(self, store: Store, judge: Judge, source: LabelledRows) -> None:
        self._store, self._metrics = store, told_by(source.rows)
        version = judge.version(QUESTION)
        self._file = LabelFile(judge.judge_id, QUESTION, version, source.digest, source.name)
        self._waiting: list[TextScore] = []
        self._written = time.monotonic()

    def add(self, row: Labelled, facts: FactsOf | None) -> None:
        """Takes in what the judge found of a row."""
        if not isinstance(facts, AnswerFacts):
            return
        item, example = text_of(row), example_of(row)
        self._waiting += [
            TextScore(one.metric, item, example, one.people, one.judge, one.labels)
            for one in scores_of(row, facts, self._metrics)
        ]
        if len(self._waiting) >= TOGETHER or time.monotonic() - self._written >= WAIT:
            self._write()

    def _write(self) -> None:
        if self._waiting:
            self._store.checks.keep(self._file, self._waiting)
        self._waiting, self._written = [], time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write()


def _kept(judge: Judge, row: Labelled, keeping: _Keeping) -> Generator[list[Ask], list[Reply], AskedFacts]:
    """A judge's question about a row, kept when it is answered."""
    found = yield from asked_facts(judge, _inputs(row))
    keeping.add(row, found.facts)
    return found


def _said(rows: Sequence[Labelled], way: Way, found: Mapping[int, AskedFacts]) -> JudgeAnswers:
    every = [found.get(n, NOT_ASKED) for n in range(len(rows))]
    verdicts = tuple(
        verdicts_of(row, one.facts if isinstance(one.facts, AnswerFacts) else None, one.reason)
        for row, one in zip(rows, every, strict=True)
    )
    return JudgeAnswers(way.name, way.mode, way.judge.judge_id, verdicts, _took(every))


def _inputs(row: Labelled) -> VerifyAnswer:
    return inputs_of_row(row)


def _took(found: Sequence[AskedFacts]) -> Took:
    every = [reply for one in found for reply in one.replies]
    used = [reply.usage for reply in every if reply.usage is not None]
    costs = [reply.cost for reply in every]
    return Took(
        len(every),
        sum(one.input_tokens for one in used),
        sum(one.output_tokens for one in used),
        None if None in costs else sum(cost for cost in costs if cost is not None),
    )
