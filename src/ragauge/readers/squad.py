"""SQuAD's JSON, versions 1.1 and 2.0, which many data sets of other languages and fields share.

{"data": [{"title", "paragraphs": [{"context", "qas": [{"id", "question", "answers": [{"text", "answer_start"}],
"is_impossible"}]}]}]}. Each paragraph is a document, TITLE/0 and so on; the same file is the set and its corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragauge.readers.lines import Row

MARKS = ('"paragraphs"', '"qas"', '"context"')  # of a file that may be one


def is_squad(articles: Sequence[Any]) -> bool:
    """Whether the objects are SQuAD's articles."""
    first = articles[0] if articles else None
    paragraphs = first.get("paragraphs") if isinstance(first, Mapping) else None
    return isinstance(paragraphs, list) and all(
        isinstance(paragraph, Mapping) and "context" in paragraph for paragraph in paragraphs[:3]
    )


def read_questions(articles: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """A row a question: its paragraph is the relevant document, its answers are references and gold spans.

    An answer that does not stand where SQuAD says has no span; one that is impossible makes it unanswerable.
    """
    for article, doc_id, paragraph in _list_paragraphs(articles):
        context = paragraph["context"]
        for question in paragraph.get("qas") or ():
            answers = question.get("answers") or ()
            texts = list(dict.fromkeys(answer["text"] for answer in answers))
            row: dict[str, Any] = {"query_id": str(question["id"]), "query": question["question"]}
            if question.get("is_impossible"):
                yield {**row, "answerable": False, "segments": _build_segments(article)}
                continue
            starts = {(answer.get("answer_start", -1), answer["text"]) for answer in answers}
            spans = [
                {"doc_id": doc_id, "start": start, "end": start + len(text)}
                for start, text in sorted(starts)
                if start >= 0 and context[start : start + len(text)] == text
            ]
            yield {
                **row,
                "references": texts,
                "relevant": {doc_id: 1},
                **({"gold_spans": spans} if spans else {}),
                "segments": _build_segments(article),
            }


def read_documents(articles: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """A row a paragraph: doc_id, title and text."""
    for article, doc_id, paragraph in _list_paragraphs(articles):
        yield {"doc_id": doc_id, "title": str(article.get("title") or ""), "text": paragraph["context"]}


def _list_paragraphs(
    articles: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[Mapping[str, Any], str, Mapping[str, Any]]]:
    for n, article in enumerate(articles):
        title = str(article.get("title") or n)
        for k, paragraph in enumerate(article["paragraphs"]):
            yield article, f"{title}/{k}", paragraph


def _build_segments(article: Mapping[str, Any]) -> dict[str, str]:
    return {"article": str(article["title"])} if article.get("title") else {}
