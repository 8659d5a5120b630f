"""A Python function, class or object as a system; what comes in pieces, as from generators, is put together."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Literal, get_args

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.response import Passage, Response
from ragauge.systems.base import (
    ALL_VARIANTS,
    OWN_ONLY,
    Question,
    System,
    Threads,
    check_setting_names,
    parse_citation_setting,
    read_mapping,
)
from ragauge.systems.response_parser import read_passages, response_of
from ragauge.text.citation_marks import add_answer_citations, add_citations_if_cited

Form = Literal["text", "dict", "passage"]
SETTINGS = ("name", "config", "arguments", "passages_as", "citations")
PASSAGE_PARAMS = ("passages", "contexts", "context", "documents", "docs")  # what a parameter for passages is called
METHODS = ("query", "retrieve", "generate")


class CallableSystem(System):
    """Calls a function, or the methods of an object.

    Own retrieval: `query(question)` or the object's call; else `retrieve(question)`, then `generate(question, what
    retrieve returned)`; else `retrieve` alone. Passages that are handed in go to `generate(question, passages)`, or to
    a function's parameter called passages, contexts, context, documents or docs. A parameter `history` gets the earlier
    turns as [{role, content}]. Functions that block run in threads, coroutines on the loop. Generators are read to
    their end: texts joined are the answer.

    Args:
        target: the function or object.
        name: of the system.
        config: its settings, for the record.
        passages_as: how handed passages look: text, dict or passage; None = by the annotation of the parameter:
            list[str] means texts, a mention of Passage our Passage, anything else dictionaries with doc_id,
            passage_id, text and score.
        numbered: every answer cites by number or not at all; otherwise only an answer that holds a number is known to.

    Raises:
        UsageError: it can be called in no such way.
    """

    implement = "methods retrieve(query) and generate(query, passages), or a parameter `passages`"

    def __init__(
        self,
        target: Any,
        name: str,
        config: Mapping[str, Any] | None = None,
        passages_as: Form | None = None,
        *,
        numbered: bool = False,
    ) -> None:
        self._query = _Call.of(_find_method(target, "query") or _find_call(target), name, takes=1)
        self._retrieve = _Call.of(_find_method(target, "retrieve"), f"{name}.retrieve", takes=1)
        self._generate = _Call.of(_find_method(target, "generate"), f"{name}.generate", takes=2)
        if self._query is None and self._retrieve is None:
            kind, members = type(target).__name__, [member for member in dir(target) if not member.startswith("_")]
            raise UsageError(
                f"{name} is a {kind} that cannot be called as a system (found: "
                f"{', '.join(members[:15]) or 'nothing'}). Give it a "
                "method query(question), or retrieve(question) and generate(question, passages)."
            )
        self._given = self._generate or (self._query if self._query is not None and self._query.handed else None)
        super().__init__(name, config, ALL_VARIANTS if self._given is not None else OWN_ONLY)
        self._form, self._numbered = passages_as, numbered

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The response to a question; see `System.respond`."""
        if passages is not None:
            response = await self._answer_from(question, passages)
        elif self._query is not None:
            response = response_of(await self._query(self._threads, question), question)
        else:
            response = await self._retrieve_and_generate(question)
        return add_answer_citations(response) if self._numbered else response

    async def _answer_from(self, question: Question, passages: Sequence[Passage]) -> Response:
        call = self._given
        if call is None:
            self.check_variant("replayed")
            raise UsageError(f"{self.name} takes no passages.")
        handed = _format_passages(passages, self._form or call.form)
        return response_of(await call(self._threads, question, handed), question, passages=passages)

    async def _retrieve_and_generate(self, question: Question) -> Response:
        if self._retrieve is None:
            raise UsageError(f"{self.name} cannot retrieve.")
        started = perf_counter()
        returned = await self._retrieve(self._threads, question)
        retrieval = (perf_counter() - started) * 1_000
        passages, missing = read_passages(returned)
        if self._generate is None:
            response = Response(question.query_id, question.repeat, passages, missing={"answer": "retrieval only"})
            return replace(response, latency_ms={"retrieval": retrieval}, missing={**response.missing, **missing})
        started = perf_counter()
        generated = await self._generate(self._threads, question, returned)
        generation = (perf_counter() - started) * 1_000
        response = response_of(generated, question)
        if response.passages is None:  # what generate says it used counts before what it was handed
            lacking = {name: reason for name, reason in response.missing.items() if name != "passages"}
            response = add_citations_if_cited(replace(response, passages=passages, missing={**lacking, **missing}))
        return replace(response, latency_ms={"retrieval": retrieval, "generation": generation, **response.latency_ms})


class _Call:
    """A function with what it can be given."""

    def __init__(self, function: Callable[..., Any], name: str, takes: int) -> None:
        self._function = function
        self._waits = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - an object whose call is a coroutine
        )
        self._history, self._keyword, self.handed, self.form = False, "", "", "dict"
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):  # built in: it says nothing of itself
            return
        self._read_signature(signature, name, takes)

    @staticmethod
    def of(function: Callable[..., Any] | None, name: str, takes: int) -> _Call | None:
        """The call of a function; None of none."""
        return None if function is None else _Call(function, name, takes)

    def _read_signature(self, signature: inspect.Signature, name: str, takes: int) -> None:
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        every = list(signature.parameters.values())
        by_position = [param for param in every if param.kind in positional]
        has_varargs = any(param.kind is inspect.Parameter.VAR_POSITIONAL for param in every)
        self._history = any(param.name == "history" for param in every)
        if takes > 1:
            self.form = _infer_form(by_position[1].annotation) if len(by_position) > 1 else "dict"
        else:
            handed = next((param for param in every[1:] if param.name in PASSAGE_PARAMS), None)
            self.handed = handed.name if handed is not None else ""
            self.form = _infer_form(handed.annotation) if handed is not None else "dict"
        first = by_position[:takes]
        needed = [
            param.name
            for param in every
            if param not in first
            and param.default is param.empty
            and param.name != "history"
            and param.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        ]
        if takes == 1 and not by_position and not has_varargs and len(needed) == 1:  # def answer(*, question)
            self._keyword = needed[0]
            return
        if (len(by_position) < takes and not has_varargs) or needed:
            expected = "the question" if takes == 1 else "the question and the passages"
            optional = f" Give a default to: {', '.join(needed)}." if needed else ""
            raise UsageError(f"{name}{signature} must be callable with only {expected}.{optional}")

    async def __call__(self, threads: Threads, question: Question, *handed: Any) -> Any:
        kwargs: dict[str, Any] = {}
        if self._history:
            kwargs["history"] = [{"role": turn.role, "content": turn.text} for turn in question.history]
        if handed and self.handed:
            kwargs[self.handed], handed = handed[0], ()
        args: tuple[Any, ...] = (question.query, *handed)
        if self._keyword:
            kwargs[self._keyword], args = question.query, ()
        if self._waits:
            return await collect_async_iterator(await self._function(*args, **kwargs))
        returned = await threads.call_in_thread(lambda: collect_iterator(self._function(*args, **kwargs)))
        return await collect_async_iterator(await returned if inspect.isawaitable(returned) else returned)


def collect_iterator(returned: Any) -> Any:
    """What an iterator gives, put together; anything else as it is. It blocks as long as the iterator does."""
    return join_pieces(list(returned)) if isinstance(returned, Iterator) else returned


async def collect_async_iterator(returned: Any) -> Any:
    """What an async iterator gives, put together; anything else as it is."""
    return join_pieces([element async for element in returned]) if isinstance(returned, AsyncIterator) else returned


def join_pieces(pieces: Sequence[Any]) -> Any:
    """Texts joined are the answer, and dictionaries among them say the rest; without any text, a list.

    >>> (join_pieces(["Two ", "pounds."]), join_pieces(["Two.", {"passages": ["It weighs two."]}]),
    ...     join_pieces([{"doc_id": "d1"}]))
    ('Two pounds.', {'passages': ['It weighs two.'], 'answer': 'Two.'}, [{'doc_id': 'd1'}])
    """
    texts = [element for element in pieces if isinstance(element, str)]
    mappings = [element for element in pieces if isinstance(element, Mapping)]
    if not texts or len(texts) + len(mappings) < len(pieces):
        return list(pieces)
    answer = "".join(texts)
    return (
        {**{key: value for mapping in mappings for key, value in mapping.items()}, "answer": answer}
        if mappings
        else answer
    )


def _find_method(target: Any, name: str) -> Callable[..., Any] | None:
    method = getattr(target, name, None)
    return method if callable(method) else None


def _find_call(target: Any) -> Callable[..., Any] | None:
    return target if callable(target) else None


def _infer_form(annotation: Any) -> Form:
    type_text = annotation if isinstance(annotation, str) else repr(annotation)
    if "Passage" in type_text:
        return "passage"
    return "text" if "str" in type_text and "dict" not in type_text.lower() and "Mapping" not in type_text else "dict"


def _format_passages(passages: Sequence[Passage], form: str) -> list[Any]:
    if form == "passage":
        return list(passages)
    if form == "text":
        return [passage.text or "" for passage in passages]
    return [
        {"doc_id": handed.doc_id, "passage_id": handed.passage_id, "text": handed.text or "", "score": handed.score}
        for handed in passages
    ]


def takes(target: object) -> bool:
    """Whether this adapter can call an object: the last one to be asked."""
    return callable(target) or any(_find_method(target, name) for name in METHODS)


def adapt(target: Any, name: str, settings: Mapping[str, Any]) -> System:
    """The system behind a function, class or object.

    Args:
        target: a class is called for its object, with the setting `arguments`.
        name: what it was named by; the setting `name` wins.
        settings: name, config, arguments (of a class), passages_as (text, dict or passage), citations
            ("numbered": answers cite as [1] or not at all).

    Raises:
        UsageError: a setting that is not known, or an object that cannot be asked.
    """
    check_setting_names(settings, SETTINGS, "a Python system")
    form: Form | None = settings.get("passages_as")
    if form is not None and form not in get_args(Form):
        raise UnknownName("passages_as", str(form), get_args(Form))
    arguments = read_mapping(settings, "arguments")
    if inspect.isclass(target):
        target = _build_instance(target, name, arguments)
    elif arguments:
        raise UsageError(f"arguments need a class, but {name} is a {type(target).__name__}. Remove them.")
    config = {**read_mapping(settings, "config"), **({"arguments": dict(arguments)} if arguments else {})}
    numbered = parse_citation_setting(settings.get("citations"))
    return CallableSystem(target, str(settings.get("name") or name), config, form, numbered=numbered)


def _build_instance(target: type[Any], name: str, arguments: Mapping[str, Any]) -> Any:
    try:
        return target(**arguments)
    except Exception as error:
        hint = "" if arguments else " Set its arguments under `arguments:` in the --system-config file."
        raise UsageError(f"{name} could not be created: {type(error).__name__}: {error}.{hint}") from error
