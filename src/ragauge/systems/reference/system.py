"""The reference pipeline as a system that can be run: `reference:FOLDER`, over a folder or file of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, get_args

from ragauge.data.canonical import plain
from ragauge.data.example import Example
from ragauge.data.readers.corpus import read_corpus
from ragauge.data.response import Passage, Response
from ragauge.errors import UnknownName, UsageError
from ragauge.systems.base import EVERY, Question, System, known_settings
from ragauge.systems.reference.modelled import ModelConfig, ModelGenerator, OpenModel
from ragauge.systems.reference.pipeline import ReferenceConfig, ReferenceRag
from ragauge.systems.threads import Threads

if TYPE_CHECKING:
    from ragauge.systems.reference.ranking import Embed

PREFIX = "reference:"
GeneratorName = Literal["extractive", "model"]
PIPELINE = tuple(field.name for field in fields(ReferenceConfig))
MODEL = tuple(field.name for field in fields(ModelConfig))
EXTRACTIVE = ("max_sentences", "refuse_below")     # settings that a model has no use for


class ReferenceSystem(System):
    """Answers from the documents of a folder with the reference pipeline: what a system of your own has to beat.

    Args:
        rag: the pipeline.
        name: of the system.
        generator: the language model that answers from what the pipeline retrieves; None = the pipeline's extractive
            generator.
    """

    def __init__(self, rag: ReferenceRag, name: str, generator: ModelGenerator | None = None) -> None:
        super().__init__(name, _config(rag, generator), EVERY)
        self._rag, self._generator, self._threads = rag, generator, Threads()

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The response; from passages that are handed in, the generator answers or refuses as from its own."""
        if self._generator is not None:
            return await self._generated(self._generator, question, passages)
        example = Example(question.query_id, question.query)
        if passages is None:
            return await self._threads.call(lambda: self._rag.respond(example))
        return await self._threads.call(lambda: self._rag.respond_from(example, passages, every=True))

    async def close(self) -> None:
        """Ends its threads and closes the model's connections."""
        self._threads.close()
        if self._generator is not None:
            await self._generator.close()

    async def _generated(
        self, generator: ModelGenerator, question: Question, handed: Sequence[Passage] | None
    ) -> Response:
        """The model's answer; passages are those that stood in the prompt."""
        candidates, seen = None, tuple(handed or ())
        spent = {"retrieval": 0.0}
        if handed is None:
            candidates, seen, spent = await self._threads.call(lambda: self._retrieved(question.query))
        found = await generator.generate(question.query, seen)
        spent["generation"] = found.milliseconds
        return Response(
            query_id=question.query_id,
            repeat=question.repeat,
            passages=found.passages,
            candidates=candidates,
            answer=found.answer,
            citations=found.citations,
            latency_ms={**spent, "total": sum(spent.values())},
            tokens=found.tokens,
            cost=found.cost,
            missing=found.missing,
        )

    def _retrieved(self, query: str) -> tuple[tuple[Passage, ...], tuple[Passage, ...], dict[str, float]]:
        """The longer ranking, its part for the generator, and the milliseconds of both steps."""
        began = perf_counter()
        candidates = self._rag.retrieve(query)
        found = perf_counter()
        seen = self._rag.chosen(query, candidates)
        spent = {"retrieval": (found - began) * 1_000}
        if self._rag.config.rerank != "none":
            spent["rerank"] = (perf_counter() - found) * 1_000
        return candidates, seen, spent


def adapt(target: str, settings: Mapping[str, Any], embed: Embed, open_model: OpenModel) -> ReferenceSystem:
    """The system behind `reference:FOLDER`.

    Args:
        target: after the prefix a corpus, as `read_corpus` reads it.
        settings: those of `ReferenceConfig`, such as retriever and k; generator: extractive or model; with model,
            those of `ModelConfig`.
        embed: texts to an array of shape (texts, dimensions), rows of length 1.
        open_model: the model of a configuration; called with generator: model alone.

    Raises:
        UsageError: a setting that is not known, out of its range, or of the other generator.
        DataError: no document there, or one that cannot be read.
    """
    known_settings(settings, [*PIPELINE, "generator", *MODEL], "the reference system")
    name = settings.get("generator", "extractive")
    if name not in get_args(GeneratorName):
        raise UnknownName("generator", str(name), get_args(GeneratorName))
    strange = [one for one in settings if one in (EXTRACTIVE if name == "model" else MODEL)]
    if strange:
        other = "extractive" if name == "model" else "model"
        raise UsageError(f"{target}: {', '.join(strange)} needs generator: {other}, got generator: {name}.")
    if name == "model" and "model" not in settings:
        raise UsageError(f"{target}: generator: model needs a model. Write model: provider:model[@base URL].")
    try:
        config = ReferenceConfig(**{key: value for key, value in settings.items() if key in PIPELINE})
        of_model = {key: value for key, value in settings.items() if key in MODEL}
        asked = ModelConfig(**of_model) if name == "model" else None
    except TypeError as error:
        raise UsageError(f"{target}: {error}. docs/reference-rag.md lists its settings.") from None
    rag = ReferenceRag(config, read_corpus(target.removeprefix(PREFIX) or "."), embed)
    return ReferenceSystem(rag, target, None if asked is None else ModelGenerator(asked, open_model(asked)))


def _config(rag: ReferenceRag, generator: ModelGenerator | None) -> dict[str, Any]:
    """The settings for the record; without those that nothing reads."""
    found: dict[str, Any] = dict(plain(rag.config))
    if generator is None:
        return found
    used = {key: value for key, value in found.items() if key not in EXTRACTIVE}
    return {**used, "generator": "model", **plain(generator.config)}
