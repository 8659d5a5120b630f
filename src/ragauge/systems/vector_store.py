"""Any vector store as a retriever: what it must have is two methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.object_lookup import load_object
from ragauge.core.response import Passage, Response
from ragauge.systems.base import Question, System, check_setting_names
from ragauge.systems.response_parser import (
    RETRIEVED_ONLY,
    build_passage_item,
    list_base_names,
    parse_score,
    read_passages,
)

SETTINGS = ("name", "config", "k", "embed", "score", "id_key")
WITH_SCORE = "similarity_search_with_score"
Score = Literal["similarity", "distance"]
PAIR, K = 2, 10


class VectorStoreSystem(System):
    """Searches a vector store; there are passages and no answer.

    Args:
        target: has `search(vector or text, k)`, which gives the k nearest, best first, as passages in any form or pairs
            (passage, score), and perhaps `embed(text)`, without which `search` gets the question's text; or LangChain's
            `similarity_search_with_score(query, k)`.
        name: of the system.
        config: its settings, for the record.
        k: how many passages.
        embed: text -> vector; in place of the store's own.
        score: "distance" where a smaller number is nearer: it is negated, so that higher is better.
        id_key: a key of the metadata that names the document.

    Raises:
        UsageError: k below 1.
    """

    implement = "a class with retrieve(query) and generate(query, passages): a vector store does not generate answers"

    def __init__(
        self,
        target: Any,
        name: str,
        config: Mapping[str, Any] | None = None,
        *,
        k: int = K,
        embed: Callable[[str], Any] | None = None,
        score: Score = "similarity",
        id_key: str | None = None,
    ) -> None:
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise UsageError(f"{name}: k must be an integer of at least 1, got {k!r}.")
        super().__init__(name, {**(config or {}), "k": k, "score": _describe_score(score)})
        self._k, self._negated, self._id_key = k, score == "distance", id_key
        self._with_score = getattr(target, WITH_SCORE, None)
        self._search = getattr(target, "search", None)
        self._embed = embed or getattr(target, "embed", None)

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The nearest passages to a question; see `System.respond`."""
        if passages is not None:
            self.check_variant("replayed")
        hits = await self._threads.call_in_thread(lambda: self._search_nearest(question.query))
        nearest, missing = read_passages([self._build_item(hit) for hit in hits])
        return Response(question.query_id, question.repeat, nearest, missing={**RETRIEVED_ONLY, **missing})

    def _search_nearest(self, query: str) -> Sequence[Any]:
        if self._with_score is not None:
            return list(self._with_score(query, k=self._k))
        if self._search is None:
            raise UsageError(f"{self.name} has no method search.")
        return list(self._search(query if self._embed is None else self._embed(query), self._k))

    def _build_item(self, hit: Any) -> Any:
        """A passage as `returned` reads it, with the score in our direction."""
        scored = isinstance(hit, tuple | list) and len(hit) == PAIR
        passage, score = hit if scored else (hit, None)
        score = parse_score(score)
        if self._negated and score is not None:
            score = -score + 0.0  # a distance of 0 is 0, not -0
        if list_base_names(passage, "langchain_core"):
            metadata = passage.metadata or {}
            return build_passage_item(passage.page_content, [passage.id], metadata, score, key=self._id_key)
        if (
            self._negated
            and isinstance(passage, Mapping)
            and (own_score := parse_score(passage.get("score"))) is not None
        ):
            passage = {**passage, "score": -own_score + 0.0}
        if isinstance(passage, Mapping) and self._id_key and passage.get(self._id_key) is not None:
            passage = {**passage, "doc_id": passage[self._id_key]}
        return passage if score is None else (passage, score)


def _describe_score(score: Score) -> str:
    return "negated distance" if score == "distance" else score


def takes(target: object) -> bool:
    """Whether it has the methods of a vector store, and none that answers questions."""
    if isinstance(target, type):
        return False
    has_answer_methods = any(callable(getattr(target, name, None)) for name in ("query", "retrieve", "generate"))
    has_search_methods = any(callable(getattr(target, name, None)) for name in (WITH_SCORE, "search"))
    return has_search_methods and (hasattr(target, WITH_SCORE) or not (has_answer_methods or callable(target)))


def adapt(target: Any, name: str, settings: Mapping[str, Any]) -> System:
    """The system behind a vector store; see `VectorStoreSystem`."""
    check_setting_names(settings, SETTINGS, "a vector store")
    score = settings.get("score", "similarity")
    if score not in get_args(Score):
        raise UnknownName("kind of score", str(score), get_args(Score))
    embed = settings.get("embed")
    recorded = {"embed": embed} if isinstance(embed, str) else {}
    config = {"kind": type(target).__name__, **recorded, **(settings.get("config") or {})}
    return VectorStoreSystem(
        target,
        str(settings.get("name") or name),
        config,
        k=settings.get("k", K),
        score=score,
        embed=load_object(embed) if isinstance(embed, str) else embed,
        id_key=settings.get("id_key"),
    )
