"""Questions with the paragraph and the sentence that answer each: XQuAD in eleven languages, or another such file."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from judge_data import DATA

from ragauge.text.sentences import split_sentences

LANGUAGES = ("en", "de", "es", "zh", "ru", "tr", "vi", "el", "ar", "hi", "th")
SHOWN = 60  # paragraphs that are only measured on, the same in each language of XQuAD
SEED = 0
SHORTEST = {"th": 60}  # characters: Thai marks no end of a sentence, so its pieces are joined
Part = Literal["trained", "shown"]


class Paragraph(NamedTuple):
    """The first answered question of a paragraph.

    Attributes:
        article: number of its article.
        query: the question.
        text: the paragraph.
        answering: the sentence that holds the answer.
        beside: the other sentences of the paragraph, without the answer.
    """

    article: int
    query: str
    text: str
    answering: str
    beside: tuple[str, ...]


@cache
def paragraphs(language: str, part: Part, file: Path | None = None) -> tuple[Paragraph, ...]:
    """The paragraphs that are only measured on, or all others, in their order; of XQuAD, or of a file of that form."""
    file = file or DATA.joinpath("xquad", f"xquad.{language}.json")
    articles = json.loads(file.read_text(encoding="utf-8"))["data"]
    every = [
        (n, paragraph)
        for n, article in enumerate(articles)
        for paragraph in article["paragraphs"]
        if any(asked["answers"] for asked in paragraph["qas"])
    ]
    shown = set(random.Random(SEED).sample(range(len(every)), SHOWN))
    chosen = [given for n, given in enumerate(every) if (n in shown) == (part == "shown")]
    return tuple(_read(n, paragraph, SHORTEST.get(language, 0)) for n, paragraph in chosen)


def _read(article: int, paragraph: dict[str, Any], shortest: int) -> Paragraph:
    text, first = paragraph["context"], next(asked for asked in paragraph["qas"] if asked["answers"])
    span = first["answers"][0]
    pieces: list[tuple[int, int]] = []
    for sentence in split_sentences(text):
        if pieces and pieces[-1][1] - pieces[-1][0] < shortest:
            pieces[-1] = (pieces[-1][0], sentence.end)
        else:
            pieces.append((sentence.start, sentence.end))
    at = next((n for n, (start, end) in enumerate(pieces) if start <= span["answer_start"] < end), 0)
    texts = [text[start:end] for start, end in pieces]
    beside = [other for n, other in enumerate(texts) if n != at and span["text"].lower() not in other.lower()]
    return Paragraph(article, first["question"], text, texts[at], tuple(beside))


def strangers(every: Sequence[Paragraph]) -> list[Paragraph]:
    """For each paragraph one of another article, drawn at random, the same places in every language of XQuAD."""
    draw = random.Random(SEED)
    return [draw.choice([other for other in every if other.article != own.article]) for own in every]
