"""Probes judges: asks which of two answers is better, in both orders."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol, TypeGuard

from ragauge.data.ask import Ask, Reply, reply_key
from ragauge.data.preference import AnswerPair, Preference
from ragauge.engine.caller import Purpose
from ragauge.engine.estimate import Estimate
from ragauge.engine.execute import Progress
from ragauge.engine.judges import build_judge
from ragauge.engine.ledger import Ledger
from ragauge.engine.many import Many
from ragauge.engine.models import AsksModels, CallCounts, Calling, asks_models, counts_of
from ragauge.errors import UsageError
from ragauge.judging.judge import Judge
from ragauge.llm.prices import price
from ragauge.store.open import Store

NOT_ASKED = Preference(None, None, "not asked: what may be spent was spent")


class Prefers(AsksModels, Protocol):
    """A judge that can say which of two answers is better."""

    def prefer(self, pair: AnswerPair, judge_repeat: int = 0) -> Generator[list[Ask], list[Reply], Preference]:
        """Both verdicts on a pair."""


class Probed(NamedTuple):
    """What was said of each pair, why it ended early ("" when it did not), and the calls made now."""

    said: tuple[Preference, ...]
    stopped: str
    calling: CallCounts


def prefers(judge: Judge) -> TypeGuard[Prefers]:
    """Whether a judge asks a model for preferences."""
    return asks_models(judge) and hasattr(judge, "prefer")


def build_prober(spec: str) -> Prefers:
    """The judge that a spec names.

    Raises:
        UsageError: it compares no answers: the local judge and hybrid judges do not.
    """
    judge = build_judge(spec)
    if not prefers(judge):
        raise UsageError(f"{spec} compares no two answers, so their order cannot matter. Name a model: openai:MODEL.")
    return judge


def expected(pairs: Sequence[AnswerPair], judge: Prefers, store: Store) -> Estimate:
    """What probing would ask: the first calls on every pair that no stored reply answers."""
    wanted: dict[str, Ask] = {}
    for pair in pairs:
        asking = judge.prefer(pair)
        wanted |= {reply_key(judge.model_of(ask), ask): ask for ask in next(asking)}
        asking.close()
    stored: Mapping[str, object] = store.replies.get(wanted)
    found = Estimate()
    for key, ask in wanted.items():
        if key not in stored:
            found.add(judge.model_of(ask), ask, price)
    return found


async def probe(
    pairs: Sequence[AnswerPair],
    judge: Prefers,
    store: Store,
    calling: Calling,
    progress: Callable[[Progress], None] | None = None,
) -> Probed:
    """Asks about every pair in both orders; replies are durable as they arrive, so that the same again pays nothing.

    Raises:
        JudgeError: the model cannot be asked at all.
    """
    ledger = Ledger(store)
    caller = calling.caller(ledger)
    purpose = Purpose(judge_id=judge.judge_id)

    async def answer(asks: Sequence[Ask]) -> list[Reply]:
        return await caller.answer([(judge.model_of(ask), ask) for ask in asks], purpose)

    work = Many(
        [partial(judge.prefer, pair) for pair in pairs], answer, calling.concurrency, progress,
        lambda: counts_of(caller, calling),
    )     # fmt: skip
    try:
        await work.run()
    finally:
        try:
            await caller.close(drain=bool(work.stopped))     # what is under way then is paid for
        finally:
            await ledger.close()
            await calling.close()
    said = tuple(work.found.get(n, NOT_ASKED) for n in range(len(pairs)))
    return Probed(said, work.stopped, counts_of(caller, calling))
