"""Texts to vectors through the store: what it holds is read, what it lacks is embedded and kept batch by batch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.errors import DataError
from ragauge.engine.caller import Caller, Purpose
from ragauge.engine.models import Calling
from ragauge.engine.reply_writer import ReplyWriter
from ragauge.store.calls import Call
from ragauge.store.store_access import Store
from ragauge.store.vectors import EmbeddingEffort, VectorSpace
from ragauge.studies.embeddings.embedders import Embed, NamedEmbedder, called

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Rows = npt.NDArray[np.float32]

BATCH = 256  # texts between two commits, and in one request
QUESTION = "embed_texts"  # what calls are recorded under
MakeCalling = Callable[[], Calling]


@dataclass(frozen=True, slots=True)
class EmbeddedTexts:
    """Vectors of texts, and what is known of how they came about.

    Attributes:
        rows: shape (texts, dimensions), as the embedder gave them; zeros for a blank text, which is never sent.
        embedded: texts that were not in the store.
        effort: all that this embedder was ever asked under this prefix.
    """

    rows: Rows
    embedded: int
    effort: EmbeddingEffort


class _PaidCalls(ReplyWriter):
    """Records calls; their vectors stand in the cache, and not a second time among the replies."""

    async def get(self, key: str) -> Reply | None:  # noqa: ARG002 - nothing is looked for here
        """None: the cache was asked before."""
        return None

    async def put(self, name: ModelName, ask: Ask, reply: Reply, call: Call) -> Reply:  # noqa: ARG002 - kept by call
        """The reply itself."""
        self.record(call)
        return reply


def embedded(
    store: Store, embedder: NamedEmbedder, texts: Mapping[str, str], *, queries: bool, calling: MakeCalling
) -> EmbeddedTexts:
    """The vectors of texts, from the store where it has them.

    Args:
        store: where vectors are kept.
        embedder: whose.
        texts: what each is called, such as "document d7", and the text.
        queries: whether they are questions, which may have a prefix and a call of their own.
        calling: makes the means by which a provider's model is called.

    Raises:
        DataError: another number of vectors than of texts, vectors of several lengths, or NaN, with the place.
        JudgeError: a provider's model cannot be asked.
        Exception: whatever the embedder raises.
    """
    import numpy as np

    prefix = embedder.prefixes[0 if queries else 1]
    own = embedder.queries if queries and embedder.queries is not None else embedder.documents
    role = " (queries)" if queries and embedder.queries is not None else ""
    space = VectorSpace(f"{embedder.identity}{role}", prefix)
    hashes = {name: sha256(text.encode("utf-8", "surrogatepass")).digest() for name, text in texts.items()}
    kept = store.vectors.get(space, {hashes[name] for name, text in texts.items() if text.strip()})
    lacking = {hashes[name]: name for name, text in texts.items() if text.strip() and hashes[name] not in kept}
    names = list(lacking.values())
    parts = [names[start : start + BATCH] for start in range(0, len(names), BATCH)]
    lengths = {len(vector) for vector in kept.values()}

    def keep(part: Sequence[str], vectors: Any, seconds: float, tokens: int) -> None:
        rows = _checked(embedder.name, part, vectors, lengths)
        new = {hashes[name]: row for name, row in zip(part, rows, strict=True)}
        store.vectors.put(space, new, EmbeddingEffort(len(new), seconds, tokens))
        kept.update(new)

    prefixed = {name: f"{prefix}{texts[name]}" for name in names}
    if own is not None:
        _by_function(own, parts, prefixed, keep)
    elif parts and embedder.model is not None:
        asyncio.run(_by_model(store, embedder.model, parts, prefixed, keep, calling()))
    width = max((len(vector) for vector in kept.values()), default=1)
    blank = np.zeros(width, dtype=np.float32)
    rows = np.stack([kept.get(hashes[name], blank) if text.strip() else blank for name, text in texts.items()])
    return EmbeddedTexts(rows, len(names), store.vectors.effort(space))


Keep = Callable[[Sequence[str], Any, float, int], None]


def _by_function(own: Embed, parts: Sequence[Sequence[str]], texts: Mapping[str, str], keep: Keep) -> None:
    for part in parts:
        started = perf_counter()
        vectors = called(own, [texts[name] for name in part])
        keep(part, vectors, perf_counter() - started, 0)


async def _by_model(
    store: Store,
    model: ModelName,
    parts: Sequence[Sequence[str]],
    texts: Mapping[str, str],
    keep: Keep,
    calling: Calling,
) -> None:
    """Batches asked at once, as many as may be in flight, each kept when it arrives; the clock is shared out."""
    ledger = _PaidCalls(store)
    caller: Caller = calling.caller(ledger)
    last = perf_counter()

    async def one(part: Sequence[str]) -> None:
        nonlocal last
        ask = Ask("embed", QUESTION, 1, tuple(("text", texts[name]) for name in part))
        (reply,) = await caller.answer([(model, ask)], Purpose())
        if reply.status != "ok":
            raise DataError(f"{model} gave no vectors for {part[0]} and {len(part) - 1} more: {reply.reason}")
        now = perf_counter()
        keep(part, reply.vectors, now - last, reply.usage.input_tokens if reply.usage else 0)
        last = now

    tasks = [asyncio.ensure_future(one(part)) for part in parts]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await caller.close()
        await ledger.close()
        await calling.close()


def _checked(embedder: str, part: Sequence[str], vectors: Any, lengths: set[int]) -> Rows:
    """What an embedder gave for a batch as rows; `lengths` holds the length of all before."""
    import numpy as np

    rows = list(vectors)
    if len(rows) != len(part):
        raise DataError(f"expected a vector for each of {len(part)} texts, got {len(rows)}.", source=embedder)
    made = []
    for name, row in zip(part, rows, strict=True):
        try:
            with np.errstate(over="ignore"):  # infinite is told below
                vector = np.asarray(row, dtype=np.float32)
        except (TypeError, ValueError):
            raise DataError(f"the vector of {name} is no list of numbers: {str(row)[:60]}.", source=embedder) from None
        lengths = lengths or {vector.size}
        if vector.ndim != 1 or vector.size not in lengths or not vector.size:
            told = f"has shape {vector.shape}, expected ({min(lengths)},) as before"
            raise DataError(f"the vector of {name} {told}.", source=embedder)
        if not np.isfinite(vector).all():
            at = int(np.flatnonzero(~np.isfinite(vector))[0])
            raise DataError(f"the vector of {name} holds {vector[at]} at place {at}.", source=embedder)
        made.append(vector)
    return np.stack(made)
