"""Questions with their gold evidence, and passages that rank high for them without holding it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from judge_data import DATA, Bm25, lines

DISTRACTORS = 3  # passages of other questions beside the gold ones, or in their place


class Asked(NamedTuple):
    """A question whose evidence is known.

    Attributes:
        source: the data set.
        query_id: within it.
        query: the question.
        answer: the right answer, as a system would say it.
        reference: the reference answer.
        gold: passages that together hold the evidence.
        others: passages that rank high for the question by BM25, and do not hold it.
    """

    source: str
    query_id: str
    query: str
    answer: str
    reference: str
    gold: tuple[str, ...]
    others: tuple[str, ...]


Row = tuple[str, str, str, tuple[str, ...]]  # query_id, query, reference, gold


def clapnq() -> Iterator[Row]:
    """Long answers that people wrote from one passage."""
    for row in lines("clapnq", "clapnq_dev_answerable.jsonl"):
        gold = tuple(f"{one['title']}\n{one['text']}" for one in row["passages"])
        yield row["id"], row["input"], row["output"][0]["answer"], gold


def pubmedqa() -> Iterator[Row]:
    """Conclusions of abstracts beside the abstracts without them."""
    text = DATA.joinpath("pubmedqa", "ori_pqal.json").read_text(encoding="utf-8")
    for query_id, row in json.loads(text).items():
        yield query_id, row["QUESTION"], row["LONG_ANSWER"], ("\n".join(row["CONTEXTS"]),)


def xquad(language: str = "en") -> Iterator[Row]:
    """Spans of paragraphs."""
    data = json.loads(DATA.joinpath("xquad", f"xquad.{language}.json").read_text(encoding="utf-8"))["data"]
    for article in data:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                yield asked["id"], asked["question"], asked["answers"][0]["text"], (paragraph["context"],)


def tatqa() -> Iterator[Row]:
    """Cells, amounts that follow from cells, and spans, beside the table and its paragraphs."""
    for row in lines("tatqa", "questions.jsonl"):
        gold = (row["table"], *row["paragraphs"])
        yield row["query_id"], row["query"], written(row["answer"], row["scale"]), gold


def written(answer: Any, scale: str) -> str:
    """A labelled answer of TAT-QA as one would write it: its list joined, its scale beside it."""
    if isinstance(answer, list):
        return ", ".join(str(one) for one in answer)
    if not scale:
        return str(answer)
    return f"{answer}%" if scale == "percent" else f"{answer} {scale}"


SETS: dict[str, Callable[[], Iterator[Row]]] = {"CLAPNQ": clapnq, "PubMedQA": pubmedqa, "XQuAD": xquad, "TAT-QA": tatqa}


def asked(source: str, most: int, seed: int = 0) -> list[Asked]:
    """Up to so many questions of a set, drawn at random, each with the passages that are hardest to tell from gold."""
    return beside_hardest(source, list(SETS[source]()), most, seed)


def beside_hardest(source: str, rows: Sequence[Row], most: int, seed: int = 0) -> list[Asked]:
    """Up to so many of the questions of a source, drawn at random, with the passages that are hardest to tell apart."""
    pool = list(dict.fromkeys(text for *_, gold in rows for text in gold))
    index = Bm25(pool)
    drawn = Random(seed).sample(rows, min(most, len(rows)))
    return [
        Asked(source, query_id, query, reference, reference, gold, _others(query, reference, gold, index, pool))
        for query_id, query, reference, gold in drawn
    ]


def _others(query: str, reference: str, gold: Sequence[str], index: Bm25, pool: Sequence[str]) -> tuple[str, ...]:
    """The hardest passages of other questions; one that holds the reference word for word is no wrong passage."""
    ranked = (pool[n] for n in index.ranked(query))
    plain = reference.casefold()
    found = [text for text in ranked if text not in gold and plain not in text.casefold()]
    return tuple(found[:DISTRACTORS])
