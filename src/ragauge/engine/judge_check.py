"""Asks judges about a labelled file: the same question, prompts and store as an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from ragauge.analysis.judge_check import Said, Took, verdicts_of
from ragauge.data.ask import Ask, Reply, reply_key
from ragauge.data.facts import AnswerFacts, FactsOf
from ragauge.data.labelled import Labelled
from ragauge.engine.answering import Answering
from ragauge.engine.caller import Caller, Purpose
from ragauge.engine.estimate import Estimate, first_to_a_model
from ragauge.engine.execute import Progress
from ragauge.engine.judge_batch import told
from ragauge.engine.judges import build_judge
from ragauge.engine.ledger import Ledger
from ragauge.engine.many import Many
from ragauge.engine.models import CallCounts, Calling, asks_models, counts_of
from ragauge.engine.routing import Answers, asked_of
from ragauge.judging.inputs import VerifyAnswer
from ragauge.judging.judge import Judge
from ragauge.llm.prices import price
from ragauge.store.open import Store

MODES = ("fused", "per_claim")
Progressed = Callable[[Progress], None]
OFFLINE = 4     # rows in work at once where nothing is called


@dataclass(frozen=True, slots=True)
class Way:
    """One judge in one way of asking."""

    name: str
    mode: str
    judge: Judge


class Outcome(NamedTuple):
    """What was said, why it ended early ("" when it did not), and the calls made now."""

    said: tuple[Said, ...]
    stopped: str
    calling: CallCounts | None


class _Row(NamedTuple):
    """The facts of one row, why there are none, and the replies of models that they rest on."""

    facts: FactsOf | None
    reason: str
    replies: tuple[Reply, ...]


def ways(specs: Sequence[str], modes: Sequence[str] = MODES) -> tuple[Way, ...]:
    """The judges of some specs; a language model in each mode, unless its spec names one.

    Raises:
        UnknownName: no such judge, provider or setting.
        UsageError: a spec that cannot be read.
    """
    found: dict[str, Way] = {}
    for spec in specs:
        judge = build_judge(spec)
        if not asks_models(judge):
            found.setdefault(judge.judge_id, Way(spec, "", judge))
            continue
        named = next((part.partition("=")[2] for part in spec.split(",")[1:] if part.startswith("mode=")), "")
        for mode in (named,) if named else modes:
            one = judge if named or mode == "fused" else build_judge(f"{spec},mode={mode}")
            found.setdefault(one.judge_id, Way(spec, mode, one))
    return tuple(found.values())


def expected(rows: Sequence[Labelled], asked: Sequence[Way], store: Store) -> dict[str, Estimate]:
    """What checking would ask of models, by judge and mode: first calls that no stored reply answers."""
    found: dict[str, Estimate] = {}
    local = Answering()
    for way in asked:
        one = found.setdefault(f"{way.name} {way.mode}".strip(), Estimate())
        wanted = {}
        for row in rows if asks_models(way.judge) else ():
            asking = way.judge.ask(_inputs(row))
            for ask in first_to_a_model(asking, way.judge, local):
                name = asked_of(way.judge, ask)
                if name is not None:
                    wanted[reply_key(name, ask)] = name, ask
        stored = store.replies.get(wanted)
        for key, (name, ask) in wanted.items():
            if key not in stored:
                one.add(name, ask, price)
    return found


async def check(
    rows: Sequence[Labelled],
    asked: Sequence[Way],
    store: Store,
    calling: Calling | None,
    progress: Progressed | None = None,
) -> Outcome:
    """What every judge says of every row, one judge after another; replies are durable as they arrive.

    Args:
        rows: of the labelled file.
        asked: the judges.
        store: where replies are kept: the same again pays nothing.
        calling: how models are called; None where no judge asks one.
        progress: called as rows are done, and every second.

    Raises:
        JudgeError: a model cannot be asked at all.
    """
    if calling is None:
        offline = [await _judged(rows, way, None, None, progress) for way in asked]
        return Outcome(tuple(said for said, _ in offline), "", None)
    ledger = Ledger(store)
    caller = calling.caller(ledger)
    said, stopped = [], ""
    try:
        for way in asked:
            one, stopped = await _judged(rows, way, caller, calling, progress, stopped)
            said.append(one)
    finally:
        try:
            await caller.close(drain=bool(stopped))
        finally:
            await ledger.close()
            await calling.close()
    return Outcome(tuple(said), stopped, counts_of(caller, calling))


async def _judged(
    rows: Sequence[Labelled],
    way: Way,
    caller: Caller | None,
    calling: Calling | None,
    progress: Progressed | None,
    stopped: str = "",
) -> tuple[Said, str]:
    answers = Answers(way.judge, caller)
    purpose = Purpose(judge_id=way.judge.judge_id)
    counts = (lambda: counts_of(caller, calling)) if caller and calling else (lambda: None)
    work: Many[_Row] = Many(
        [partial(_asking, way.judge, row) for row in rows], lambda asks: answers(asks, purpose),
        calling.concurrency if calling else OFFLINE, progress, counts,
    )     # fmt: skip
    if not stopped or not asks_models(way.judge):
        await work.run()
    stopped = work.stopped or stopped
    none = _Row(None, "not asked: what may be spent was spent", ())
    found = [work.found.get(n, none) for n in range(len(rows))]
    verdicts = tuple(
        verdicts_of(row, one.facts if isinstance(one.facts, AnswerFacts) else None, one.reason)
        for row, one in zip(rows, found, strict=True)
    )
    return Said(way.name, way.mode, way.judge.judge_id, verdicts, _took(found)), stopped


def _inputs(row: Labelled) -> VerifyAnswer:
    return VerifyAnswer(row.query, row.passages, row.answer)


def _asking(judge: Judge, row: Labelled) -> Generator[list[Ask], list[Reply], _Row]:
    """A judge's question about a row; one that raises has no facts, and its reason."""
    replies: list[Reply] = []
    try:
        asking = judge.ask(_inputs(row))
        asks = next(asking)
        while True:
            got = yield asks
            replies += [reply for ask, reply in zip(asks, got, strict=True) if asked_of(judge, ask) is not None]
            asks = asking.send(got)
    except StopIteration as done:
        return _Row(done.value, "", tuple(replies))
    except Exception as error:
        return _Row(None, told(error), tuple(replies))


def _took(found: Sequence[_Row]) -> Took:
    every = [reply for one in found for reply in one.replies]
    used = [reply.usage for reply in every if reply.usage is not None]
    costs = [reply.cost for reply in every]
    return Took(
        len(every), sum(one.input_tokens for one in used), sum(one.output_tokens for one in used),
        None if None in costs else sum(cost for cost in costs if cost is not None),
    )  # fmt: skip
