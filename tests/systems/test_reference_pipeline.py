"""The reference system as a whole."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from ragauge.core.document import Document
from ragauge.core.errors import DataError, UnknownName, UsageError
from ragauge.core.example import Example, Relevant
from ragauge.core.response import Passage, Response
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.systems.reference.extractive import REFUSAL
from ragauge.systems.reference.pipeline import ReferenceConfig, ReferenceRag, RetrieverName
from ragauge.text.tokens import count_tokens

embed = WordLlamaEmbedder().embed
LAMPS = "# Lamps\n\nThe desk lamp weighs 3 kg. The floor lamp weighs 9 kg."
DOCUMENTS = (
    Document("lamps", "Lamps", LAMPS, "2024-01-02", "lamps-2"),
    Document("lamps-2", "Lamps, edition 2", "The desk lamp weighs 4 kg since the new foot.", "2025-01-02"),
    Document("chairs", "Chairs", "A chair carries up to 120 kg.\n\n## Delivery\n\nChairs arrive within 14 days."),
    Document("blank", "Blank", ""),
)
SMALL = ReferenceConfig(chunk_tokens=16, k=2, n_candidates=4)


@pytest.mark.parametrize("retriever", ["bm25", "dense", "hybrid"])
def test_capitals_change_nothing(retriever: RetrieverName) -> None:
    """A question all in capitals finds what it finds in small letters."""
    rag = ReferenceRag(replace(SMALL, retriever=retriever), DOCUMENTS, embed)
    query = "how much does the desk lamp weigh?"
    assert rag.retrieve(query.upper()) == rag.retrieve(query)


def without_times(response: Response) -> Response:
    return replace(response, latency_ms={})


def test_response_is_complete() -> None:
    """Passages are the head of the candidates, with text, span, score, date and successor; times and tokens add up."""
    response = ReferenceRag(SMALL, DOCUMENTS, embed).respond(Example("q", "How much does the desk lamp weigh?"))
    assert response.passages is not None
    assert response.candidates is not None
    assert response.query_id == "q"
    assert (len(response.passages), len(response.candidates)) == (2, 4)
    assert response.candidates[:2] == response.passages
    old = next(passage for passage in response.candidates if passage.passage_id == "lamps#1")
    assert (old.doc_id, old.updated_at, old.superseded_by) == ("lamps", "2024-01-02", "lamps-2")
    scores = [passage.score or 0 for passage in response.candidates]
    assert scores == sorted(scores, reverse=True)
    assert set(response.latency_ms) == {"retrieval", "generation", "total"}
    assert all(value > 0 for value in response.latency_ms.values())
    assert response.latency_ms["total"] == response.latency_ms["retrieval"] + response.latency_ms["generation"]
    seen = sum(count_tokens(passage.text or "") for passage in response.passages)
    query, answer = count_tokens("How much does the desk lamp weigh?"), count_tokens(response.answer or "")
    assert response.tokens == {"input": query + seen, "output": answer}


def test_spans_and_titles_of_passages() -> None:
    """Every passage ends with the document's text at its span, and opens with the document's title."""
    texts = {document.doc_id: document for document in DOCUMENTS}
    for passage in ReferenceRag(SMALL, DOCUMENTS, embed).retrieve("lamp chair delivery", 10):
        assert passage.text is not None
        assert passage.span is not None
        document = texts[passage.span.doc_id]
        assert passage.text.endswith(document.text[passage.span.start : passage.span.end])
        assert passage.text.startswith(f"# {document.title}")


@pytest.mark.parametrize("retriever", ["bm25", "dense", "hybrid"])
def test_two_builds_are_equal(retriever: RetrieverName) -> None:
    """Two systems of the same settings give equal responses but for the times, in any order of asking."""
    config = replace(SMALL, retriever=retriever)
    examples = [Example(str(n), query) for n, query in enumerate(("heavy desk lamp", "chair delivery", "kg", "zebra"))]
    one, other = (ReferenceRag(config, DOCUMENTS, embed) for _ in range(2))
    first = [without_times(one.respond(example)) for example in examples]
    second = [without_times(other.respond(example)) for example in reversed(examples)]
    assert first == second[::-1]


def test_labels_are_not_seen() -> None:
    """The same question with and without labels, reference and segments gets the same response."""
    rag = ReferenceRag(SMALL, DOCUMENTS, embed)
    bare = Example("q", "How fast is a chair delivered?")
    labels = {"references": ("Within 14 days.",), "relevant": (Relevant(("lamps",)),), "segments": {"type": "x"}}
    labelled = replace(bare, answerable=False, **labels)  # type: ignore[arg-type]
    assert without_times(rag.respond(bare)) == without_times(rag.respond(labelled))


def test_answer_from_given_passages() -> None:
    """With passages handed in, the generator answers from the first k of them, whatever the index holds."""
    rag = ReferenceRag(SMALL, DOCUMENTS, embed)
    texts = ("The sofa weighs 80 kg.", "It is blue.", "It is red.")
    given = [Passage(f"x#{n}", "x", text) for n, text in enumerate(texts)]
    response = rag.respond_from(Example("q", "How much does the sofa weigh?"), given, retrieval_ms=2.5)
    assert response.passages == tuple(given[:2])
    assert response.candidates == tuple(given)
    assert "80 kg" in (response.answer or "")
    assert response.latency_ms["retrieval"] == 2.5


def test_nothing_found_is_a_refusal() -> None:
    """A lexical search that finds nothing hands on no passage and is refused."""
    rag = ReferenceRag(replace(SMALL, retriever="bm25"), DOCUMENTS, embed)
    response = rag.respond(Example("q", "zebra crossing"))
    assert (response.passages, response.candidates, response.answer, response.citations) == ((), (), REFUSAL, ())


def test_chunk_size_matters() -> None:
    """A larger budget gives fewer passages."""
    few = ReferenceRag(replace(SMALL, chunk_tokens=64), DOCUMENTS, embed).retrieve("lamp", 99)
    assert len(few) < len(ReferenceRag(SMALL, DOCUMENTS, embed).retrieve("lamp", 99))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"k": 0}, "k must be at least 1, got 0"),
        ({"k": 9, "n_candidates": 8}, "n_candidates must be at least 9, got 8. Set it to k or more"),
        ({"chunk_tokens": 0}, "chunk_tokens must be at least 1, got 0"),
        ({"overlap": -1}, "overlap must be at least 0, got -1"),
        ({"max_sentences": 0}, "max_sentences must be at least 1, got 0"),
    ],
)
def test_wrong_settings(values: dict[str, int], message: str) -> None:
    """A setting out of its range is refused when it is made."""
    with pytest.raises(UsageError, match=message):
        ReferenceConfig(**values)  # type: ignore[arg-type]


def test_unknown_retriever() -> None:
    """A wrong retriever is answered with the nearest."""
    with pytest.raises(UnknownName, match="no retriever 'bm52'; nearest: bm25"):
        ReferenceConfig(retriever="bm52")  # type: ignore[arg-type]


def test_documents_that_cannot_be_indexed() -> None:
    """Two documents of one id, and documents without any text, are refused."""
    with pytest.raises(DataError, match="more than one document has the doc_id 'lamps'"):
        ReferenceRag(SMALL, [*DOCUMENTS, DOCUMENTS[0]], embed)
    with pytest.raises(DataError, match="none of the 1 documents has text to index"):
        ReferenceRag(SMALL, DOCUMENTS[3:], embed)


def test_import_loads_no_heavy_library() -> None:
    """Importing the demo's systems loads no numpy, bm25s, polars or splitter model."""
    code = (
        "import sys, ragauge.evaluation.demo.demo_systems\n"
        "print([name for name in ('numpy', 'bm25s', 'polars', 'nupunkt', 'yaml', 'tokenizers') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"
