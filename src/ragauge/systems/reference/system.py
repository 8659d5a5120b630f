"""The reference pipeline as a system that can be run: `reference:FOLDER`, over the text files of a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ragauge.data.canonical import plain
from ragauge.data.example import Example
from ragauge.data.response import Passage, Response
from ragauge.errors import UsageError
from ragauge.systems.base import EVERY, Question, System, known_settings
from ragauge.systems.reference.corpus import load_folder
from ragauge.systems.reference.pipeline import ReferenceConfig, ReferenceRag
from ragauge.systems.threads import Threads

if TYPE_CHECKING:
    from ragauge.systems.reference.ranking import Embed

PREFIX = "reference:"


class ReferenceSystem(System):
    """Answers from the documents of a folder with the reference pipeline: what a system of your own has to beat.

    Args:
        rag: the pipeline.
        name: of the system.
    """

    def __init__(self, rag: ReferenceRag, name: str) -> None:
        super().__init__(name, plain(rag.config), EVERY)
        self._rag, self._threads = rag, Threads()

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The response; from passages that are handed in, the generator answers or refuses as from its own."""
        example = Example(question.query_id, question.query)
        if passages is None:
            return await self._threads.call(lambda: self._rag.respond(example))
        return await self._threads.call(lambda: self._rag.respond_from(example, passages, every=True))

    async def close(self) -> None:
        """Ends its threads."""
        self._threads.close()


def adapt(target: str, settings: Mapping[str, Any], embed: Embed) -> ReferenceSystem:
    """The system behind `reference:FOLDER`.

    Args:
        target: the folder after the prefix.
        settings: those of `ReferenceConfig`, such as retriever and k.
        embed: texts to an array of shape (texts, dimensions), rows of length 1.

    Raises:
        UsageError: a setting that is not known or out of its range.
        DataError: a folder without text files.
    """
    known_settings(settings, [field.name for field in fields(ReferenceConfig)], "the reference system")
    try:
        config = ReferenceConfig(**settings)
    except TypeError as error:
        raise UsageError(f"{target}: {error}. docs/systems.md lists its settings.") from None
    folder = target.removeprefix(PREFIX) or "."
    return ReferenceSystem(ReferenceRag(config, load_folder(folder), embed), target)
