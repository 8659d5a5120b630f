"""What the components of a Haystack pipeline are to a question: read from the graph, or named."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragauge.core.errors import UnknownName, UsageError

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
