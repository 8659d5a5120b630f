"""What a judge says when it is asked outside a run: the facts, or why there are none."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import JudgeFacts
from ragauge.engine.ask_router import find_model
from ragauge.engine.metric_values import format_error
from ragauge.judges.inputs import Inputs
from ragauge.judges.judge import Judge


class FactsOutcome(NamedTuple):
    """The facts, why there are none, and the replies of models that they rest on."""

    facts: JudgeFacts | None
    reason: str
    replies: tuple[Reply, ...]


NOT_ASKED = FactsOutcome(None, "not asked: the budget was spent", ())


def ask_facts(judge: Judge, inputs: Inputs, judge_repeat: int = 0) -> Generator[list[Ask], list[Reply], FactsOutcome]:
    """A judge's question; one that raises has no facts, and its reason.

    Args:
        judge: who is asked.
        inputs: what it sees.
        judge_repeat: which time it is asked the same, from 0.
    """
    replies: list[Reply] = []
    try:
        asking = judge.ask(inputs, judge_repeat)
        asks = next(asking)
        while True:
            got = yield asks
            replies += [reply for ask, reply in zip(asks, got, strict=True) if find_model(judge, ask) is not None]
            asks = asking.send(got)
    except StopIteration as done:
        return FactsOutcome(done.value, "", tuple(replies))
    except Exception as error:
        return FactsOutcome(None, format_error(error), tuple(replies))
