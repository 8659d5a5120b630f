"""Numbers in the answers of functions and services are citations."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ragauge.core.errors import UnknownName
from ragauge.core.response import Response
from ragauge.systems.base import Question
from ragauge.systems.callable import adapt
from ragauge.systems.http import HttpSystem
from ragauge.systems.response_parser import response_of

PASSAGES = ["The mast is 330 metres tall.", "It was raised in 1889."]
ASKED = Question("q1", "How tall is it?")


def cited(response: Response) -> list[str] | None:
    ids = {passage.passage_id: str(n) for n, passage in enumerate(response.passages or (), 1)}
    found = response.citations
    return None if found is None else [ids.get(one.target, one.target) for one in found]


def answered(answer: str, **settings: Any) -> Response:
    return asyncio.run(adapt(lambda _: (answer, PASSAGES), "rag", settings).respond(ASKED))


def test_a_function_that_cites() -> None:
    """What the passages do not have is kept as written, an invented citation; without numbers nothing is known."""
    assert cited(answered("It is tall [1]. It is old [2, 3].")) == ["1", "2", "[3]"]
    assert cited(answered("It is tall.")) is None


def test_a_function_that_is_said_to_cite() -> None:
    """citations: numbered says that an answer without a number cites nothing; another word is refused."""
    assert cited(answered("It is tall.", citations="numbered")) == []
    with pytest.raises(UnknownName, match="numbered"):
        answered("It is tall.", citations="lettered")


def test_retrieve_and_generate() -> None:
    """The numbers of a generator's answer name what the retriever returned."""

    class Rag:
        def retrieve(self, query: str) -> list[str]:
            return PASSAGES if query else []

        def generate(self, query: str, passages: list[str]) -> str:
            return f"{query} {len(passages)} [2]"

    assert cited(asyncio.run(adapt(Rag(), "rag", {}).respond(ASKED))) == ["2"]


def test_a_reply_of_a_service() -> None:
    """The same holds of a reply; a service may say where its citations are, or that they are numbers."""
    assert cited(response_of({"answer": "It is tall [2].", "contexts": PASSAGES}, ASKED)) == ["2"]
    system = HttpSystem("http://host/ask", {"citations": "numbered", "answer": "$.text", "passages": "$.hits"})
    assert "citations" not in system._mapped.fields
