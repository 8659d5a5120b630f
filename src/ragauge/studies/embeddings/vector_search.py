"""Texts embedded through the store, and exact search over their vectors."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.class_lookup import load_object
from ragauge.core.errors import DataError, UnknownName, UsageError
from ragauge.core.providers import EMBEDDERS
from ragauge.engine.caller import Caller, Purpose
from ragauge.engine.models import CallOptions
from ragauge.engine.reply_writer import ReplyWriter
from ragauge.engine.retrievers import DECIMALS, build_local_embedder, parse_model_name
from ragauge.store.calls import Call
from ragauge.store.store_access import Store
from ragauge.store.vectors import EmbeddingEffort, VectorSpace
from ragauge.studies.ann.exact import exact_neighbours

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Rows = npt.NDArray[np.float32]

LOCAL, LEXICAL = "local", "bm25"
NAME_HINT = "Use local, provider:model (such as openai:text-embedding-3-small), or module:name for your own function."
Embed = Callable[[list[str]], Any]  # texts to a vector each, as the library gives them


@dataclass(frozen=True)
class NamedEmbedder:
    """An embedder that is found, and nothing of it called."""

    name: str  #: as it was typed.
    identity: str  #: whose vectors are in the cache: the name, and a digest of the file that a function stands in.
    documents: Embed | None  #: embeds texts to be found; None = the model is asked.
    queries: Embed | None = None  #: embeds questions, where that is another call; None = as documents.
    model: ModelName | None = None  #: a provider's model, asked through `llm`; None = none.
    prefixes: tuple[str, str] = ("", "")  #: what stands before each question, and before each document.

    @property
    def priced_model(self) -> ModelName | None:
        """What its price is known by; None = it costs nothing."""
        if self.name == LOCAL:
            return None
        provider, _, model = self.name.partition(":")
        return self.model or ModelName(provider, model)


def find_embedder(name: str, objects: Mapping[str, Any], prefixes: tuple[str, str] = ("", "")) -> NamedEmbedder:
    """An embedder by its name.

    Args:
        name: local, provider:model, module:name, or the name of an object that is given.
        objects: name -> function or object, for those that have no module.
        prefixes: what stands before each question, and before each document.

    Raises:
        UnknownName: no such module or name.
        UsageError: what is found embeds nothing.
    """
    if name in objects:
        documents, queries = _find_calls(name, objects[name])
        return NamedEmbedder(
            name, f"object {name} {_hash_source(objects[name])}".strip(), documents, queries, None, prefixes
        )
    if name == LOCAL:
        local_model = build_local_embedder()
        return NamedEmbedder(name, local_model.name, local_model.embed, None, None, prefixes)
    provider, sign, model = name.partition(":")
    if provider in EMBEDDERS:
        spec = parse_model_name(name)
        return NamedEmbedder(name, str(spec), None, None, spec, prefixes)
    if not sign or not model:
        raise UnknownName(
            "embedder", name, [LOCAL, *(f"{provider}:MODEL" for provider in EMBEDDERS), "module:name"], NAME_HINT
        )
    thing = load_object(name)
    documents, queries = _find_calls(name, thing)
    return NamedEmbedder(name, f"{name} {_hash_source(thing)}".strip(), documents, queries, None, prefixes)


def _find_calls(name: str, thing: Any) -> tuple[Embed, Embed | None]:
    """How a thing embeds documents, and questions where that is another call.

    sentence-transformers have encode, LangChain's embeddings embed_documents and embed_query, LlamaIndex's
    get_text_embedding_batch and get_query_embedding; a function takes texts. A class is made first, without arguments.
    """
    thing = thing() if isinstance(thing, type) else thing
    if hasattr(thing, "embed_documents"):
        return thing.embed_documents, lambda texts: [thing.embed_query(text) for text in texts]
    if hasattr(thing, "get_text_embedding_batch"):
        return thing.get_text_embedding_batch, lambda texts: [thing.get_query_embedding(text) for text in texts]
    if hasattr(thing, "encode_query") and hasattr(thing, "encode_document"):
        return thing.encode_document, thing.encode_query
    if hasattr(thing, "encode"):
        return thing.encode, None
    if not callable(thing):
        raise UsageError(f"{name}: expected a function or an embeddings object, got {type(thing).__name__}.")
    return thing, None


def _hash_source(thing: Any) -> str:
    """A digest of the file that a thing is written in; "" where there is none: another text is another embedder."""
    where = thing if inspect.isclass(thing) or inspect.isroutine(thing) else type(thing)
    try:
        path = inspect.getsourcefile(where)
        return sha256(Path(path).read_bytes()).hexdigest()[:12] if path else ""
    except (OSError, TypeError):
        return ""


def call_embedder(embed: Embed, texts: Sequence[str]) -> Any:
    """What a function gives, awaited where it is a coroutine."""
    vectors = embed(list(texts))
    return asyncio.run(_await_vectors(vectors)) if inspect.isawaitable(vectors) else vectors


async def _await_vectors(awaitable: Any) -> Any:
    return await awaitable


Precision = Literal["float32", "int8", "binary", "binary_rescored"]
CANDIDATES_PER_PLACE = 4  # candidates for each place, where bits are rescored
N_STEPS = 255


def scale_to_unit(rows: Rows, dimensions: int | None = None) -> Rows:
    """The first numbers of each row, scaled to length 1; a row of zeros stays.

    Raises:
        UsageError: fewer numbers than that.
    """
    import numpy as np

    if dimensions is not None and not 1 <= dimensions <= rows.shape[1]:
        raise UsageError(f"dimensions={dimensions}: the vectors have {rows.shape[1]}.")
    short = rows[:, :dimensions].astype(np.float64)
    lengths = np.linalg.norm(short, axis=1, keepdims=True)
    scaled: Rows = np.divide(short, lengths, out=np.zeros_like(short), where=lengths > 0).astype(np.float32)
    return scaled


class VectorIndex:
    """Documents by vector, ranked by every question exactly.

    int8 keeps each number as one of 256 steps between the least and the greatest of its dimension over the documents;
    binary keeps its sign. Questions keep full precision with int8. With binary they are signs too, so that the order
    is that of Hamming distance; binary_rescored takes 4 k candidates so, and orders them by the product of the full
    question with the documents' signs.

    Args:
        ids: one a row.
        rows: shape (documents, dimensions), of length 1 or 0.
        precision: how documents are kept.
    """

    def __init__(self, ids: Sequence[str], rows: Rows, precision: Precision = "float32") -> None:
        self._ids, self._precision = tuple(ids), precision
        self._there = rows.any(axis=1)
        self._rows = (
            _quantize_int8(rows) if precision == "int8" else _take_signs(rows) if "binary" in precision else rows
        )

    @property
    def n_bytes(self) -> int:
        """What the vectors take: 4 bytes a number, 1 with int8, a bit with binary; ids and ranges not counted."""
        documents, dimensions = self._rows.shape
        per = {"float32": 4 * dimensions, "int8": dimensions}.get(self._precision, (dimensions + 7) // 8)
        return int(documents * per)

    def search(self, queries: Rows, k: int) -> Iterator[list[str]]:
        """The ids of the k nearest documents, for each question; of equal scores the smaller id first.

        A question of zeros finds nothing, and a document of zeros is never found.
        """
        import numpy as np

        nonzero = sorted(np.flatnonzero(self._there).tolist(), key=self._ids.__getitem__)
        rows, ids = self._rows[nonzero], [self._ids[n] for n in nonzero]
        searched_queries = _take_signs(queries) if "binary" in self._precision else queries
        rescored = self._precision == "binary_rescored"
        hits, _ = exact_neighbours(rows, searched_queries, CANDIDATES_PER_PLACE * k if rescored else k, "ip")
        for query, near in zip(queries, hits, strict=True):
            if rescored:
                again = np.round(rows[near] @ query.astype(np.float64), DECIMALS)
                near = near[np.lexsort((near, -again))][:k]  # noqa: PLW2901 - the same documents in another order
            yield [ids[n] for n in near] if query.any() else []


def _quantize_int8(rows: Rows) -> Rows:
    """Rows as int8 gives them back."""
    import numpy as np

    low, high = rows.min(axis=0), rows.max(axis=0)
    step = np.where(high > low, (high - low) / N_STEPS, 1.0)
    rounded: Rows = (low + np.round((rows - low) / step) * step).astype(np.float32)
    return rounded


def _take_signs(rows: Rows) -> Rows:
    import numpy as np

    signs: Rows = np.where(rows > 0, 1.0, -1.0).astype(np.float32)
    return signs


BATCH_SIZE_TEXTS = 256  # texts between two commits, and in one request
QUESTION = "embed_texts"  # what calls are recorded under
MakeCalling = Callable[[], CallOptions]


@dataclass(frozen=True, slots=True)
class EmbeddedTexts:
    """Vectors of texts, and what is known of how they came about."""

    rows: Rows  #: shape (texts, dimensions), as the embedder gave them; zeros for a blank text, which is never sent.
    embedded: int  #: texts that were not in the store.
    effort: EmbeddingEffort  #: all that this embedder was ever asked under this prefix.


class _PaidCalls(ReplyWriter):
    """Records calls; their vectors stand in the cache, and not a second time among the replies."""

    async def get(self, key: str) -> Reply | None:  # noqa: ARG002 - nothing is looked for here
        """None: the cache was asked before."""
        return None

    async def put(self, name: ModelName, ask: Ask, reply: Reply, call: Call) -> Reply:  # noqa: ARG002 - kept by call
        """The reply itself."""
        self.record_call(call)
        return reply


def embed_texts(
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
    embed_function = embedder.queries if queries and embedder.queries is not None else embedder.documents
    role = " (queries)" if queries and embedder.queries is not None else ""
    space = VectorSpace(f"{embedder.identity}{role}", prefix)
    hashes = {name: sha256(text.encode("utf-8", "surrogatepass")).digest() for name, text in texts.items()}
    cached = store.vectors.get(space, {hashes[name] for name, text in texts.items() if text.strip()})
    lacking = {hashes[name]: name for name, text in texts.items() if text.strip() and hashes[name] not in cached}
    names = list(lacking.values())
    batches = [names[start : start + BATCH_SIZE_TEXTS] for start in range(0, len(names), BATCH_SIZE_TEXTS)]
    lengths = {len(vector) for vector in cached.values()}

    def save_batch(batch: Sequence[str], vectors: Any, seconds: float, tokens: int) -> None:
        rows = _check_vectors(embedder.name, batch, vectors, lengths)
        new = {hashes[name]: row for name, row in zip(batch, rows, strict=True)}
        store.vectors.put(space, new, EmbeddingEffort(len(new), seconds, tokens))
        cached.update(new)

    prefixed = {name: f"{prefix}{texts[name]}" for name in names}
    if embed_function is not None:
        _embed_with_function(embed_function, batches, prefixed, save_batch)
    elif batches and embedder.model is not None:
        asyncio.run(_embed_with_model(store, embedder.model, batches, prefixed, save_batch, calling()))
    width = max((len(vector) for vector in cached.values()), default=1)
    blank = np.zeros(width, dtype=np.float32)
    rows = np.stack([cached.get(hashes[name], blank) if text.strip() else blank for name, text in texts.items()])
    return EmbeddedTexts(rows, len(names), store.vectors.load_effort(space))


Keep = Callable[[Sequence[str], Any, float, int], None]


def _embed_with_function(
    embed_function: Embed, batches: Sequence[Sequence[str]], texts: Mapping[str, str], save_batch: Keep
) -> None:
    for batch in batches:
        started = perf_counter()
        vectors = call_embedder(embed_function, [texts[name] for name in batch])
        save_batch(batch, vectors, perf_counter() - started, 0)


async def _embed_with_model(
    store: Store,
    model: ModelName,
    batches: Sequence[Sequence[str]],
    texts: Mapping[str, str],
    save_batch: Keep,
    calling: CallOptions,
) -> None:
    """Batches asked at once, as many as may be in flight, each kept when it arrives; the clock is shared out."""
    ledger = _PaidCalls(store)
    caller: Caller = calling.build_caller(ledger)
    last = perf_counter()

    async def embed_batch(batch: Sequence[str]) -> None:
        nonlocal last
        ask = Ask("embed", QUESTION, 1, tuple(("text", texts[name]) for name in batch))
        (reply,) = await caller.answer([(model, ask)], Purpose())
        if reply.status != "ok":
            raise DataError(f"{model} returned no vectors for {batch[0]} and {len(batch) - 1} more: {reply.reason}")
        finished = perf_counter()
        save_batch(batch, reply.vectors, finished - last, reply.usage.input_tokens if reply.usage else 0)
        last = finished

    tasks = [asyncio.ensure_future(embed_batch(batch)) for batch in batches]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await caller.close()
        await ledger.close()
        await calling.close()


def _check_vectors(embedder: str, batch: Sequence[str], vectors: Any, lengths: set[int]) -> Rows:
    """What an embedder gave for a batch as rows; `lengths` holds the length of all before."""
    import numpy as np

    rows = list(vectors)
    if len(rows) != len(batch):
        raise DataError(f"expected one vector for each of {len(batch)} texts, got {len(rows)}.", source=embedder)
    made = []
    for name, row in zip(batch, rows, strict=True):
        try:
            with np.errstate(over="ignore"):  # infinite is told below
                vector = np.asarray(row, dtype=np.float32)
        except (TypeError, ValueError):
            raise DataError(f"vector of {name} is not a list of numbers: {str(row)[:60]}.", source=embedder) from None
        lengths = lengths or {vector.size}
        if vector.ndim != 1 or vector.size not in lengths or not vector.size:
            problem = f"has shape {vector.shape}, expected ({min(lengths)},) as before"
            raise DataError(f"the vector of {name} {problem}.", source=embedder)
        if not np.isfinite(vector).all():
            position = int(np.flatnonzero(~np.isfinite(vector))[0])
            raise DataError(f"the vector of {name} has {vector[position]} at position {position}.", source=embedder)
        made.append(vector)
    return np.stack(made)
