"""Haystack: a pipeline, or a retriever that takes the question as text.

What the components of a pipeline are to a question is read from its graph, or named.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.response import Passage
from ragauge.systems.base import ALL_VARIANTS, OWN_ONLY, Question
from ragauge.systems.response_parser import (
    RETRIEVED_ONLY,
    FrameworkSystem,
    build_metadata,
    build_passage_item,
    is_candidate_ranking,
    list_base_names,
    sum_token_counts,
)

PACKAGE = "haystack"
QUERY = "{query}"
QUERY_INPUTS = ("query", "question", "user_query")
DOCUMENTS, ANSWERS = "documents", ("answers", "replies")
Socket = tuple[str, str]  # a component, and one of its inputs or outputs


@dataclass(frozen=True, slots=True)
class PipelineParts:
    """The places in a pipeline that matter."""

    inputs: Mapping[str, Mapping[str, Any]]  #: component -> input -> "{query}" or a value.
    documents: Socket | None  #: gives the documents that the generator sees; None = no component does.
    candidates: Socket | None  #: gives the ranking behind them, before rankers and filters.
    answer: Socket | None  #: gives the answer; None in a pipeline that only retrieves.
    generators: tuple[str, ...]  #: components with `replies`, whose token counts are read.
    numbered: bool  #: whether an AnswerBuilder reads [1] as a reference.

    @property
    def wanted(self) -> set[str]:
        """The components whose outputs are to be kept."""
        sockets = (self.documents, self.candidates, self.answer)
        return {socket[0] for socket in sockets if socket is not None} | set(self.generators)

    def fill_inputs(self, query: str, present: set[str]) -> dict[str, dict[str, Any]]:
        """The inputs with the question in them, of the components that are there."""
        return {
            name: {
                key: value.replace(QUERY, query) if isinstance(value, str) else value for key, value in values.items()
            }
            for name, values in self.inputs.items()
            if name in present
        }


def find_parts(pipeline: Any, name: str, settings: Mapping[str, Any]) -> PipelineParts:
    """The parts of a pipeline.

    The question goes to every free input called query, question or user_query, and to `text` of what gives an
    embedding. The answer is the only `answers` of the graph's end, else the only `replies`. The documents are those of
    the component that hands them to one that gives none itself, such as a prompt builder; in a pipeline without an
    answer, those of its end. The candidates are what the first in the chain of components gave, that each rank or
    filter the documents of the one before; a join of several retrievers begins a chain.

    Args:
        pipeline: a Haystack pipeline.
        name: for errors.
        settings: inputs, documents, candidates, answer, where the graph does not tell.

    Raises:
        UsageError: which setting is needed, and what there is to choose from.
        UnknownName: a setting names no component, input or output.
    """
    graph = pipeline.graph
    answer = _read_socket(graph, settings, "answer", name) or _find_answer(graph, name)
    documents = _read_socket(graph, settings, "documents", name) or _find_documents(graph, name, answer)
    candidates = _read_socket(graph, settings, "candidates", name) or _find_chain_start(graph, documents)
    return PipelineParts(
        inputs=_collect_inputs(pipeline, name, settings.get("inputs") or {}),
        documents=documents,
        candidates=candidates if candidates != documents else None,
        answer=answer,
        generators=tuple(node for node, data in graph.nodes(data=True) if "replies" in data["output_sockets"]),
        numbered=any(getattr(data["instance"], "reference_pattern", None) for _, data in graph.nodes(data=True)),
    )


def replace_component(pipeline: Any, socket: Socket, replacement: Any) -> Any:
    """A pipeline of the same components with another in place of one; the user's own stays as it is.

    What only feeds the replaced component is left out.

    Args:
        pipeline: the user's.
        socket: what is replaced, and the output of it that counts.
        replacement: a component without inputs that has this output.
    """
    graph = pipeline.graph.copy()
    name = socket[0]
    feeding = _list_ancestors(graph, name)
    graph.remove_edges_from(list(graph.in_edges(name)))
    needed = {name}
    for end in [node for node in graph.nodes if graph.out_degree(node) == 0 and node not in feeding]:
        needed |= {end, *_list_ancestors(graph, end)}
    graph.remove_nodes_from([node for node in graph.nodes if node not in needed])
    graph.nodes[name].update(instance=replacement, input_sockets={})
    twin = copy.copy(pipeline)
    twin.graph = graph
    return twin


def _list_ancestors(graph: Any, node: str) -> set[str]:
    ancestors: set[str] = set()
    todo = [node]
    while todo:
        for predecessor in graph.predecessors(todo.pop()):
            if predecessor not in ancestors:
                ancestors.add(predecessor)
                todo.append(predecessor)
    return ancestors


def _read_socket(graph: Any, settings: Mapping[str, Any], setting: str, name: str) -> Socket | None:
    """The place that a setting names."""
    raw = settings.get(setting)
    if raw is None:
        return None
    component, _, output = str(raw).partition(".")
    if component not in graph.nodes:
        raise UnknownName(f"component of {name}", component, graph.nodes)
    outputs = graph.nodes[component]["output_sockets"]
    default = DOCUMENTS if setting != "answer" else next((answer for answer in ANSWERS if answer in outputs), "")
    if (output or default) not in outputs:
        raise UnknownName(f"output of {component}", output or default, outputs)
    return component, output or default


def _find_answer(graph: Any, name: str) -> Socket | None:
    for output in ANSWERS:
        sockets = [
            (node, output)
            for node, data in graph.nodes(data=True)
            if output in data["output_sockets"] and not _is_connected(graph, node, output)
        ]
        if len(sockets) > 1:
            raise _build_ambiguity_error(name, "answer", sockets)
        if sockets:
            return sockets[0]
    return None


def _is_connected(graph: Any, node: str, output: str) -> bool:
    return any(data["from_socket"].name == output for _, _, data in graph.out_edges(node, data=True))


def _find_documents(graph: Any, name: str, answer: Socket | None) -> Socket | None:
    giving = {node for node, data in graph.nodes(data=True) if DOCUMENTS in data["output_sockets"]}
    sockets = {
        (sender, DOCUMENTS)
        for sender, receiver, data in graph.edges(data=True)
        if sender in giving and data["from_socket"].name == DOCUMENTS and receiver not in giving
    }
    if not sockets and answer is None:
        sockets = {(node, DOCUMENTS) for node in giving if not _is_connected(graph, node, DOCUMENTS)}
    if len(sockets) > 1:
        raise _build_ambiguity_error(name, "documents", sorted(sockets))
    if not sockets and answer is None:
        have = ", ".join(graph.nodes) or "no component at all"
        raise UsageError(f"{name}: no component returns documents, answers or replies (found: {have}).")
    return next(iter(sockets), None)


def _find_chain_start(graph: Any, socket: Socket | None) -> Socket | None:
    """Back from ranker to ranker, while each has the documents of one component only."""
    node = socket[0] if socket is not None else None
    while node is not None:
        senders = {
            sender for sender, _, data in graph.in_edges(node, data=True) if data["from_socket"].name == DOCUMENTS
        }
        if len(senders) != 1:
            return node, DOCUMENTS
        node = senders.pop()
    return None


def _collect_inputs(pipeline: Any, name: str, configured: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    free = pipeline.inputs()
    out: dict[str, dict[str, Any]] = {}
    for address, value in configured.items():
        component, _, socket = str(address).partition(".")
        if socket not in free.get(component, {}):
            valid_names = [f"{node}.{key}" for node, sockets in free.items() for key in sockets]
            raise UnknownName(f"input of {name}", str(address), valid_names)
        out.setdefault(component, {})[socket] = value
    for component, sockets in free.items():
        embeds = "embedding" in pipeline.graph.nodes[component]["output_sockets"]
        for key in sockets:
            if key in QUERY_INPUTS or (key == "text" and embeds):
                out.setdefault(component, {}).setdefault(key, QUERY)
    needed = [
        f"{component}.{key}"
        for component, sockets in free.items()
        for key, socket in sockets.items()
        if socket["is_mandatory"] and key not in out.get(component, {})
    ]
    if needed:
        raise UsageError(
            f"{name} needs {', '.join(needed)}. Set what each one receives, as inputs: {{{needed[0]}: '{QUERY}'}} in "
            "the --system-config file."
        )
    if not any(QUERY in value for sockets in out.values() for value in sockets.values() if isinstance(value, str)):
        have = ", ".join(f"{component}.{key}" for component, sockets in free.items() for key in sockets)
        raise UsageError(f"{name}: no input takes the question (found: {have}). Set inputs: {{NAME: '{QUERY}'}}.")
    return out


def _build_ambiguity_error(name: str, setting: str, sockets: Sequence[Socket]) -> UsageError:
    addresses = [".".join(socket) for socket in sockets]
    return UsageError(
        f"{name}: more than one component returns {setting}: {', '.join(addresses)}. Set {setting}: {addresses[0]} (or "
        "another) in the --system-config file."
    )


class HaystackSystem(FrameworkSystem):
    """Runs a pipeline, with the outputs of the parts that matter.

    Which component gives the documents that the generator sees, which the longer ranking, which the answer, and which
    inputs take the question, is read from the pipeline's graph; see `find_parts`. Handed passages stand
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

    framework = "haystack"
    setting_names = (*FrameworkSystem.setting_names, "inputs", "documents", "candidates", "answer")
    implement = (
        "a pipeline in which one component passes the documents to the prompt; or a class with retrieve(query) and "
        "generate(query, passages)"
    )

    def __init__(
        self, target: Any, name: str, config: Mapping[str, Any] | None = None, settings: Mapping[str, Any] | None = None
    ) -> None:
        self._parts: PipelineParts | None = None
        if "PipelineBase" in list_base_names(target, PACKAGE):
            self._parts = find_parts(target, name, settings or {})
        else:
            _check_retriever(target, name)
        bypassed = self._parts is not None and self._parts.answer and self._parts.documents
        super().__init__(target, name, config, settings, ALL_VARIANTS if bypassed else OWN_ONLY)
        self._numbered = self._numbered or (self._parts is not None and self._parts.numbered)

    async def ask_target(self, question: Question, passages: Sequence[Passage] | None) -> Any:
        """The outputs of the parts that matter."""
        return await self._threads.call_in_thread(lambda: self._run_pipeline(question.query, passages))

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


adapt = HaystackSystem.adapt
