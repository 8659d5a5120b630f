"""Probes judges: asks which of two answers is better, in both orders."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from typing import NamedTuple, Protocol, TypeGuard

from ragauge.data.ask import Ask, Reply
from ragauge.data.labelled import AnswerPair, Preference
from ragauge.engine.caller import CallCounts
from ragauge.engine.estimate import CostEstimate, estimate_askings
from ragauge.engine.judges import build_judge
from ragauge.engine.models import AsksModels, Calling, asks_models
from ragauge.engine.session import Progressed, Session
from ragauge.errors import UsageError
from ragauge.judging.judge import Judge
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
    calling: CallCounts | None


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


def expected(pairs: Sequence[AnswerPair], judge: Prefers, store: Store) -> CostEstimate:
    """What probing would ask: the first calls on every pair that no stored reply answers."""
    return estimate_askings(judge, (judge.prefer(pair) for pair in pairs), store)


async def probe(
    pairs: Sequence[AnswerPair],
    judge: Prefers,
    store: Store,
    calling: Calling,
    progress: Progressed | None = None,
) -> Probed:
    """Asks about every pair in both orders; replies are durable as they arrive, so that the same again pays nothing.

    Raises:
        JudgeError: the model cannot be asked at all.
    """
    async with Session(store, calling, progress) as session:
        found = await session.drive(judge, [partial(judge.prefer, pair) for pair in pairs])
    said = tuple(found.get(n, NOT_ASKED) for n in range(len(pairs)))
    return Probed(said, session.stopped, session.counts)
