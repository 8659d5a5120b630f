"""Asks judges about a labelled file: the same question, prompts and store as an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from ragauge.analysis.judges.check import Said, Took, verdicts_of
from ragauge.data.ask import Ask, Reply
from ragauge.data.facts import AnswerFacts, FactsOf
from ragauge.data.labelled import Labelled
from ragauge.engine.estimate import Estimate, estimate_askings
from ragauge.engine.judge_batch import told
from ragauge.engine.judges import build_judge
from ragauge.engine.many import Progressed, Session
from ragauge.engine.models import CallCounts, Calling, asks_models
from ragauge.engine.routing import asked_of
from ragauge.judging.inputs import VerifyAnswer
from ragauge.judging.judge import Judge
from ragauge.store.open import Store

MODES = ("fused", "per_claim")


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


NOT_ASKED = _Row(None, "not asked: what may be spent was spent", ())


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
    return {
        f"{way.name} {way.mode}".strip(): estimate_askings(
            way.judge, (way.judge.ask(_inputs(row)) for row in rows) if asks_models(way.judge) else (), store
        )
        for way in asked
    }


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
    async with Session(store, calling, progress) as session:
        said = [_said(rows, way, await session.drive(way.judge, _todo(rows, way))) for way in asked]
    return Outcome(tuple(said), session.stopped, session.counts)


def _todo(rows: Sequence[Labelled], way: Way) -> list[Callable[[], Generator[list[Ask], list[Reply], _Row]]]:
    return [partial(_asking, way.judge, row) for row in rows]


def _said(rows: Sequence[Labelled], way: Way, found: Mapping[int, _Row]) -> Said:
    every = [found.get(n, NOT_ASKED) for n in range(len(rows))]
    verdicts = tuple(
        verdicts_of(row, one.facts if isinstance(one.facts, AnswerFacts) else None, one.reason)
        for row, one in zip(rows, every, strict=True)
    )
    return Said(way.name, way.mode, way.judge.judge_id, verdicts, _took(every))


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
