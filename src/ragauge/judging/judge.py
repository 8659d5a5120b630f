"""What a judge is: it yields asks, receives replies, and returns facts. It never calls anything."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Protocol

from ragauge.data.ask import Ask, Reply
from ragauge.data.facts import FactsOf
from ragauge.judging.inputs import Inputs

Asking = Generator[list[Ask], list[Reply], FactsOf]


class Judge(Protocol):
    """Answers questions about one response at a time."""

    @property
    def judge_id(self) -> str:
        """Names the judge and everything that changes its verdicts: in every key and every row."""

    def version(self, question: str) -> int:
        """Version of the question as this judge asks it."""

    def answers(self, question: str) -> bool:
        """Whether this judge can answer the question at all."""

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> Asking:
        """A generator that yields lists of asks (a list may run concurrently) and returns the facts.

        A failed call is sent in as a failed Reply, in the order of the asks.
        """


def drive(asking: Asking, answer: Callable[[Sequence[Ask]], list[Reply]]) -> FactsOf:
    """Runs a generator to its end, answering its asks with a plain function."""
    try:
        asks = next(asking)
        while True:
            asks = asking.send(answer(asks))
    except StopIteration as done:
        facts: FactsOf = done.value
        return facts
