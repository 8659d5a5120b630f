"""Haystack: a pipeline, or a retriever that takes the question as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragauge.core.errors import UsageError
from ragauge.core.response import Passage, Response
from ragauge.systems.base import EVERY, OWN, Question, System, Threads, checked, known_settings
from ragauge.systems.haystack_graph import PipelineParts, parts_of, with_given
from ragauge.systems.response_parser import RETRIEVED_ONLY, bases, counted, deeper, document, response_of
from ragauge.text.citation_marks import with_numbers

PACKAGE = "haystack"
SETTINGS = ("name", "config", "inputs", "documents", "candidates", "answer", "id_key", "citations")


class HaystackSystem(System):
    """Runs a pipeline, with the outputs of the parts that matter.

    Which component gives the documents that the generator sees, which the longer ranking, which the answer, and which
    inputs take the question, is read from the pipeline's graph; see `haystack_graph.parts_of`. Handed passages stand
    in for the component that gives the documents; what only feeds it does not run.

    Args:
        target: a Pipeline; or a component whose `run` takes `query` and gives `documents`: then there is no answer.
        name: of the system.
        config: its settings, for the record.
        settings: inputs ({component.input: "{query}" or a value}), documents, candidates and answer (component.output),
            id_key (a key of the meta that names the document), citations ("numbered": [1] in the answer).

    Raises:
        UsageError: the graph does not tell, and what to name.
    """

    implement = (
        "a pipeline in which one component gives the documents to the prompt; or a class with retrieve(query) and "
        "generate(query, passages)"
    )

    def __init__(
        self, target: Any, name: str, config: Mapping[str, Any] | None = None, settings: Mapping[str, Any] | None = None
    ) -> None:
        given = settings or {}
        self._target = target
        self._parts: PipelineParts | None = None
        if "PipelineBase" in bases(target, PACKAGE):
            self._parts = parts_of(target, name, given)
        else:
            _check_retriever(target, name)
        bypassed = self._parts is not None and self._parts.answer and self._parts.documents
        super().__init__(name, config, EVERY if bypassed else OWN)
        self._id_key: str | None = given.get("id_key")
        self._numbered = checked(given.get("citations")) or (self._parts is not None and self._parts.numbered)
        self._threads = Threads()

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The response to a question; see `System.respond`."""
        if passages is not None:
            self.check("replayed")
        found = response_of(
            await self._threads.call(lambda: self._run(question.query, passages)), question, passages=passages
        )
        return with_numbers(found) if self._numbered else found

    async def close(self) -> None:
        """Ends the idle threads."""
        self._threads.close()

    def _run(self, query: str, passages: Sequence[Passage] | None) -> dict[str, Any]:
        parts = self._parts
        if parts is None:
            found = self._target.run(query=query)
            return {"passages": self._items(found.get("documents")), "missing": RETRIEVED_ONLY}
        pipeline, bypassed = self._target, set()
        if passages is not None and parts.documents is not None:
            from ragauge.systems.haystack_documents import GivenDocumentsComponent

            pipeline = with_given(pipeline, parts.documents, GivenDocumentsComponent(parts.documents[1], passages))
            bypassed = {parts.documents[0]}  # it has no inputs now: a ranker in its place takes no question
        inputs = parts.filled(query, set(pipeline.graph.nodes) - bypassed)
        outputs = pipeline.run(inputs, include_outputs_from=parts.wanted & set(pipeline.graph.nodes))
        return self._read(outputs, parts)

    def _read(self, outputs: Mapping[str, Any], parts: PipelineParts) -> dict[str, Any]:
        """What `response_of` takes."""
        out: dict[str, Any] = {}
        shown = _at(outputs, parts.documents)
        if shown is not None:
            out["passages"] = self._items(shown)
        behind = _at(outputs, parts.candidates)
        if behind is not None and shown is not None:
            candidates = self._items(behind)
            out |= {"candidates": candidates} if deeper(candidates, out["passages"]) else {}
        if parts.answer is None:
            return {**out, "missing": RETRIEVED_ONLY}
        said = _at(outputs, parts.answer)
        if said:  # several replies: the first is the one that is shown
            answer = said[0] if isinstance(said, list | tuple) else said
            out["answer"] = _text(answer)
            if shown is None and getattr(answer, "documents", None):
                out["passages"] = self._items(answer.documents)
        elif shown is None:
            return {"error": f"{parts.answer[0]} gave no {parts.answer[1]}"}
        tokens = counted(*(usage for name in parts.generators for usage in _usages(outputs.get(name))))
        return {**out, "tokens": tokens} if tokens else out

    def _items(self, documents: Sequence[Any] | None) -> list[dict[str, Any]]:
        return [_item(one, self._id_key) for one in documents or ()]


def _at(outputs: Mapping[str, Any], place: tuple[str, str] | None) -> Any:
    return None if place is None else (outputs.get(place[0]) or {}).get(place[1])


def _text(answer: Any) -> str | None:
    """The text of a reply: a text, a ChatMessage, or an Answer with data."""
    if isinstance(answer, str) or answer is None:
        return answer
    for name in ("text", "data"):
        found = getattr(answer, name, None)
        if isinstance(found, str):
            return found
    return None


def _usages(output: Mapping[str, Any] | None) -> list[Any]:
    """The token counts of a generator: of its chat replies, or in its `meta`."""
    found = output or {}
    beside = found.get("meta")
    metas = [getattr(reply, "meta", None) for reply in found.get("replies") or ()]
    metas += beside if isinstance(beside, list) else []
    return [meta.get("usage") for meta in metas if isinstance(meta, Mapping)]


def _item(one: Any, id_key: str | None) -> dict[str, Any]:
    meta = one.meta or {}
    parent = meta.get("source_id")  # a splitter's word for the document that it cut
    return document(
        one.content,
        [None if parent is None else str(parent), one.id],
        meta,
        one.score,
        key=id_key,
        start=meta.get("split_idx_start"),
    )


def _check_retriever(target: Any, name: str) -> None:
    inputs = list(getattr(target.__haystack_input__, "_sockets_dict", {}))
    outputs = list(getattr(target.__haystack_output__, "_sockets_dict", {}))
    if "query" not in inputs or "documents" not in outputs:
        by_vector = "query_embedding" in inputs
        hint = "Give the pipeline of text embedder and retriever." if by_vector else "Give a Pipeline."
        raise UsageError(
            f"{name} is a component that takes {', '.join(inputs)} and gives {', '.join(outputs)}; expected query and "
            f"documents. {hint}"
        )


def takes(target: object) -> bool:
    """Whether it is a Haystack pipeline or component."""
    if isinstance(target, type):
        return False
    return "PipelineBase" in bases(target, PACKAGE) or hasattr(target, "__haystack_input__")


def adapt(target: Any, name: str, settings: Mapping[str, Any]) -> System:
    """The system behind a Haystack object; see `HaystackSystem`."""
    known_settings(settings, SETTINGS, "a Haystack system")
    config = {"framework": "haystack", "kind": type(target).__name__, **(settings.get("config") or {})}
    return HaystackSystem(target, str(settings.get("name") or name), config, settings)
