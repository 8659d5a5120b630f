"""Haystack: a pipeline, or a retriever that takes the question as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ragauge.core.errors import UsageError
from ragauge.core.response import Passage, Response
from ragauge.systems.base import (
    ALL_VARIANTS,
    OWN_ONLY,
    Question,
    System,
    Threads,
    check_setting_names,
    parse_citation_setting,
)
from ragauge.systems.haystack_graph import PipelineParts, find_parts, replace_component
from ragauge.systems.response_parser import (
    RETRIEVED_ONLY,
    build_metadata,
    build_passage_item,
    is_candidate_ranking,
    list_base_names,
    response_of,
    sum_token_counts,
)
from ragauge.text.citation_marks import add_answer_citations

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
        "a pipeline in which one component passes the documents to the prompt; or a class with retrieve(query) and "
        "generate(query, passages)"
    )

    def __init__(
        self, target: Any, name: str, config: Mapping[str, Any] | None = None, settings: Mapping[str, Any] | None = None
    ) -> None:
        options = settings or {}
        self._target = target
        self._parts: PipelineParts | None = None
        if "PipelineBase" in list_base_names(target, PACKAGE):
            self._parts = find_parts(target, name, options)
        else:
            _check_retriever(target, name)
        bypassed = self._parts is not None and self._parts.answer and self._parts.documents
        super().__init__(name, config, ALL_VARIANTS if bypassed else OWN_ONLY)
        self._id_key: str | None = options.get("id_key")
        self._numbered = parse_citation_setting(options.get("citations")) or (
            self._parts is not None and self._parts.numbered
        )
        self._threads = Threads()

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The response to a question; see `System.respond`."""
        if passages is not None:
            self.check_variant("replayed")
        response = response_of(
            await self._threads.call_in_thread(lambda: self._run_pipeline(question.query, passages)),
            question,
            passages=passages,
        )
        return add_answer_citations(response) if self._numbered else response

    async def close(self) -> None:
        """Ends the idle threads."""
        self._threads.close()

    def _run_pipeline(self, query: str, passages: Sequence[Passage] | None) -> dict[str, Any]:
        parts = self._parts
        if parts is None:
            retrieved = self._target.run(query=query)
            return {"passages": self._build_items(retrieved.get("documents")), "missing": RETRIEVED_ONLY}
        pipeline, bypassed = self._target, set()
        if passages is not None and parts.documents is not None:
            given_documents = _get_given_documents_class()(parts.documents[1], passages)
            pipeline = replace_component(pipeline, parts.documents, given_documents)
            bypassed = {parts.documents[0]}  # it has no inputs now: a ranker in its place takes no question
        inputs = parts.fill_inputs(query, set(pipeline.graph.nodes) - bypassed)
        outputs = pipeline.run(inputs, include_outputs_from=parts.wanted & set(pipeline.graph.nodes))
        return self._read_outputs(outputs, parts)

    def _read_outputs(self, outputs: Mapping[str, Any], parts: PipelineParts) -> dict[str, Any]:
        """What `response_of` takes."""
        out: dict[str, Any] = {}
        documents = _find_output(outputs, parts.documents)
        if documents is not None:
            out["passages"] = self._build_items(documents)
        ranking = _find_output(outputs, parts.candidates)
        if ranking is not None and documents is not None:
            candidates = self._build_items(ranking)
            out |= {"candidates": candidates} if is_candidate_ranking(candidates, out["passages"]) else {}
        if parts.answer is None:
            return {**out, "missing": RETRIEVED_ONLY}
        replies = _find_output(outputs, parts.answer)
        if replies:  # several replies: the first is the one that is shown
            answer = replies[0] if isinstance(replies, list | tuple) else replies
            out["answer"] = _read_text(answer)
            if documents is None and getattr(answer, "documents", None):
                out["passages"] = self._build_items(answer.documents)
        elif documents is None:
            return {"error": f"{parts.answer[0]} returned no {parts.answer[1]}"}
        tokens = sum_token_counts(*(usage for name in parts.generators for usage in _list_usages(outputs.get(name))))
        return {**out, "tokens": tokens} if tokens else out

    def _build_items(self, documents: Sequence[Any] | None) -> list[dict[str, Any]]:
        return [_build_item(doc, self._id_key) for doc in documents or ()]


@cache
def _get_given_documents_class() -> Any:
    """The class of a component that gives documents which are handed in."""
    from haystack import Document, component

    @component
    class GivenDocumentsComponent:
        def __init__(self, output: str, passages: Sequence[Passage]) -> None:
            component.set_output_types(self, **{output: list[Document]})
            documents = (
                Document(id=doc.passage_id, content=doc.text or "", score=doc.score, meta=build_metadata(doc))
                for doc in passages
            )
            self._outputs = {output: list(documents)}

        def run(self) -> Mapping[str, Any]:
            return self._outputs

    return GivenDocumentsComponent


def _find_output(outputs: Mapping[str, Any], socket: tuple[str, str] | None) -> Any:
    return None if socket is None else (outputs.get(socket[0]) or {}).get(socket[1])


def _read_text(answer: Any) -> str | None:
    """The text of a reply: a text, a ChatMessage, or an Answer with data."""
    if isinstance(answer, str) or answer is None:
        return answer
    for name in ("text", "data"):
        value = getattr(answer, name, None)
        if isinstance(value, str):
            return value
    return None


def _list_usages(output: Mapping[str, Any] | None) -> list[Any]:
    """The token counts of a generator: of its chat replies, or in its `meta`."""
    fields = output or {}
    own_meta = fields.get("meta")
    metas = [getattr(reply, "meta", None) for reply in fields.get("replies") or ()]
    metas += own_meta if isinstance(own_meta, list) else []
    return [meta.get("usage") for meta in metas if isinstance(meta, Mapping)]


def _build_item(doc: Any, id_key: str | None) -> dict[str, Any]:
    meta = doc.meta or {}
    parent = meta.get("source_id")  # a splitter's word for the document that it cut
    return build_passage_item(
        doc.content,
        [None if parent is None else str(parent), doc.id],
        meta,
        doc.score,
        key=id_key,
        start=meta.get("split_idx_start"),
    )


def _check_retriever(target: Any, name: str) -> None:
    inputs = list(getattr(target.__haystack_input__, "_sockets_dict", {}))
    outputs = list(getattr(target.__haystack_output__, "_sockets_dict", {}))
    if "query" not in inputs or "documents" not in outputs:
        by_vector = "query_embedding" in inputs
        hint = "Give the pipeline of the text embedder and the retriever." if by_vector else "Give a Pipeline."
        raise UsageError(
            f"{name} is a component that takes {', '.join(inputs)} and returns {', '.join(outputs)}; expected "
            f"query and documents. {hint}"
        )


def takes(target: object) -> bool:
    """Whether it is a Haystack pipeline or component."""
    if isinstance(target, type):
        return False
    return "PipelineBase" in list_base_names(target, PACKAGE) or hasattr(target, "__haystack_input__")


def adapt(target: Any, name: str, settings: Mapping[str, Any]) -> System:
    """The system behind a Haystack object; see `HaystackSystem`."""
    check_setting_names(settings, SETTINGS, "a Haystack system")
    config = {"framework": "haystack", "kind": type(target).__name__, **(settings.get("config") or {})}
    return HaystackSystem(target, str(settings.get("name") or name), config, settings)
