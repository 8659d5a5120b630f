"""Prepares an eval set: reference claims and aspects of each example, asked of a model once."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol, TypeGuard

from ragauge.core.ask import Ask, Reply
from ragauge.core.example import Example, Turn, seen_turns
from ragauge.engine.caller import CallCounts
from ragauge.engine.estimate import CostEstimate, estimate_askings
from ragauge.engine.models import Calling
from ragauge.engine.session import Progressed, Session
from ragauge.judges.inputs import reference_claims
from ragauge.judges.judge import AsksModels, Judge, asks_models
from ragauge.judges.model.prepare import Prepared
from ragauge.store.store_access import Store


class Prepares(AsksModels, Protocol):
    """A judge that can prepare an eval set."""

    def prepare(
        self, query: str, reference: str, history: Sequence[Turn] = ()
    ) -> Generator[list[Ask], list[Reply], Prepared]:
        """Claims of a reference and aspects of a question."""


def prepares(judge: Judge) -> TypeGuard[Prepares]:
    """Whether a judge asks a model for claims and aspects."""
    return asks_models(judge) and hasattr(judge, "prepare")


@dataclass(frozen=True, slots=True)
class PreparedSet:
    """What became of the examples.

    Attributes:
        examples: all of them, in their order; those that could not be prepared as they were.
        done: how many were prepared now.
        there: how many had claims and aspects already.
        failed: query_id -> why it could not be prepared.
        stopped: why it ended early; "" when it did not. Then nothing but the stored replies is worth keeping.
        calling: calls to models; None where none were asked.
    """

    examples: tuple[Example, ...]
    done: int
    there: int
    failed: dict[str, str]
    stopped: str = ""
    calling: CallCounts | None = None


class Todo(NamedTuple):
    """One example to prepare, by its place."""

    place: int
    example: Example


def lacking(examples: Sequence[Example]) -> Iterator[Todo]:
    """The examples that lack aspects, or the claims of a reference that they have."""
    for place, example in enumerate(examples):
        if example.aspects is None or (example.reference_claims is None and example.references):
            yield Todo(place, example)


def by_sentences(examples: Sequence[Example]) -> PreparedSet:
    """The sentences of each main reference as its claims, at no call; aspects take reading, and stay as they are."""
    found = []
    done = 0
    for example in examples:
        wanted = example.reference_claims is None and bool(example.references)
        done += wanted
        found.append(replace(example, reference_claims=reference_claims(example)) if wanted else example)
    return PreparedSet(tuple(found), done, len(found) - done, {})


def expected(examples: Sequence[Example], judge: Prepares, store: Store) -> CostEstimate:
    """What preparing would ask: the first call of every example that no stored reply answers."""
    return estimate_askings(judge, (_asking(judge, todo) for todo in lacking(examples)), store)


async def prepare_examples(
    examples: Sequence[Example], judge: Prepares, store: Store, calling: Calling, progress: Progressed | None = None
) -> PreparedSet:
    """Asks about every example that lacks claims or aspects; replies are durable as they arrive.

    Args:
        examples: of the set.
        judge: whose model is asked.
        store: where replies are kept: the same again pays nothing.
        calling: how models are called.
        progress: called as examples are done, and every second.
    """
    todo = list(lacking(examples))
    async with Session(store, calling, progress) as session:
        said = await session.drive(judge, [partial(_asking, judge, one) for one in todo])
    found = list(examples)
    failed = {}
    for n, prepared in said.items():
        place = todo[n].place
        example = found[place]
        if prepared.aspects is None:
            failed[example.query_id] = prepared.reason
            continue
        claims = prepared.claims if example.reference_claims is None and example.references else None
        found[place] = replace(
            example, reference_claims=claims or example.reference_claims, aspects=example.aspects or prepared.aspects
        )
    done, there = len(said) - len(failed), len(examples) - len(todo)
    return PreparedSet(tuple(found), done, there, failed, session.stopped, session.counts)


def _asking(judge: Prepares, todo: Todo) -> Generator[list[Ask], list[Reply], Prepared]:
    example = todo.example
    return judge.prepare(example.query, "".join(example.references[:1]), seen_turns(example.history))
