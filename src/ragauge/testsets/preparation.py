"""Prepares an eval set: reference claims and aspects of each example, asked of a model once."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol, TypeGuard

from ragauge.core.ask import Ask, Reply
from ragauge.core.example import Example, Turn, select_visible_turns
from ragauge.engine.caller import CallCounts
from ragauge.engine.estimate import CostEstimate, estimate_asks
from ragauge.engine.models import CallOptions
from ragauge.engine.session import ProgressCallback, Session
from ragauge.judges.inputs import list_reference_claims
from ragauge.judges.judge import AsksModels, Judge, can_ask_models
from ragauge.judges.model.prepare import PreparationResult
from ragauge.store.store_access import Store


class PreparingJudge(AsksModels, Protocol):
    """A judge that can prepare an eval set."""

    def prepare(
        self, query: str, reference: str, history: Sequence[Turn] = ()
    ) -> Generator[list[Ask], list[Reply], PreparationResult]:
        """Claims of a reference and aspects of a question."""


def can_prepare(judge: Judge) -> TypeGuard[PreparingJudge]:
    """Whether a judge asks a model for claims and aspects."""
    return can_ask_models(judge) and hasattr(judge, "prepare")


@dataclass(frozen=True, slots=True)
class PreparedSet:
    """What became of the examples."""

    examples: tuple[Example, ...]  #: all of them, in their order; those that could not be prepared as they were.
    done: int  #: how many were prepared now.
    there: int  #: how many had claims and aspects already.
    failed: dict[str, str]  #: query_id -> why it could not be prepared.
    stopped: str = ""  #: why it ended early; "" when it did not. Then nothing but the stored replies is worth keeping.
    calling: CallCounts | None = None  #: calls to models; None where none were asked.


class UnpreparedExample(NamedTuple):
    """One example to prepare, by its place."""

    place: int
    example: Example


def iter_unprepared(examples: Sequence[Example]) -> Iterator[UnpreparedExample]:
    """The examples that lack aspects, or the claims of a reference that they have."""
    for index, example in enumerate(examples):
        if example.aspects is None or (example.reference_claims is None and example.references):
            yield UnpreparedExample(index, example)


def split_references(examples: Sequence[Example]) -> PreparedSet:
    """The sentences of each main reference as its claims, at no call; aspects take reading, and stay as they are."""
    examples_out = []
    n_done = 0
    for example in examples:
        needs_claims = example.reference_claims is None and bool(example.references)
        n_done += needs_claims
        examples_out.append(
            replace(example, reference_claims=list_reference_claims(example)) if needs_claims else example
        )
    return PreparedSet(tuple(examples_out), n_done, len(examples_out) - n_done, {})


def estimate_preparation(examples: Sequence[Example], judge: PreparingJudge, store: Store) -> CostEstimate:
    """What preparing would ask: the first call of every example that no stored reply answers."""
    return estimate_asks(judge, (_ask_preparation(judge, todo) for todo in iter_unprepared(examples)), store)


async def prepare_examples(
    examples: Sequence[Example],
    judge: PreparingJudge,
    store: Store,
    calling: CallOptions,
    progress: ProgressCallback | None = None,
) -> PreparedSet:
    """Asks about every example that lacks claims or aspects; replies are durable as they arrive.

    Args:
        examples: of the set.
        judge: whose model is asked.
        store: where replies are kept: the same again pays nothing.
        calling: how models are called.
        progress: called as examples are done, and every second.
    """
    todo = list(iter_unprepared(examples))
    async with Session(store, calling, progress) as session:
        prepared_by_index = await session.drive_all(
            judge, [partial(_ask_preparation, judge, unprepared) for unprepared in todo]
        )
    examples_out = list(examples)
    failed = {}
    for n, prepared in prepared_by_index.items():
        index = todo[n].place
        example = examples_out[index]
        if prepared.aspects is None:
            failed[example.query_id] = prepared.reason
            continue
        claims = prepared.claims if example.reference_claims is None and example.references else None
        examples_out[index] = replace(
            example, reference_claims=claims or example.reference_claims, aspects=example.aspects or prepared.aspects
        )
    n_done, n_existing = len(prepared_by_index) - len(failed), len(examples) - len(todo)
    return PreparedSet(tuple(examples_out), n_done, n_existing, failed, session.stopped, session.counts)


def _ask_preparation(
    judge: PreparingJudge, todo: UnpreparedExample
) -> Generator[list[Ask], list[Reply], PreparationResult]:
    example = todo.example
    return judge.prepare(example.query, "".join(example.references[:1]), select_visible_turns(example.history))
