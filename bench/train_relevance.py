"""Trains how relevance is told where texts are compared by pieces of words, and prints it for each language left out.

    python bench/train_relevance.py            # trains, prints the held-out tables, writes relevance_weights.json
    python bench/train_relevance.py --check    # the same, but compares with the committed file; exit 1 if it differs

Data: AttributionBench dev (English, read as pieces of words) and XQuAD in ten other languages, about as much of both.
Held out: each source, or language, is scored by a model and a calibration of the others. English is compared by words;
its scorer is trained by bench/train_overlap.py. Other forms of the cosine than the one that is used are shown too: as
it is, and none.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from judge_data import Pair, questions_and_references
from language_data import LANGUAGES, Paragraph, paragraphs
from train_overlap import TOLERANCE, Table, by_source

from ragauge.core.ask import Reply
from ragauge.judges.local import relevance
from ragauge.judges.local.weights import RELEVANCE_FILE
from ragauge.judges.similarity import compute_cosines, compute_standard_table, find_scale
from ragauge.models.embedders.base import WordLlamaEmbedder

QUESTIONS = 25  # of a language: 100 pairs, so that all languages together have the weight of AttributionBench
LOOKED_AT = 30  # paragraphs among which the one that shares most with the question is sought
SEED = 5
Form = Literal["standard", "raw", "none"]


def every_pair() -> list[tuple[str, Pair]]:
    """Language and pair: of English data, and per question of the others its paragraph and sentence and two others."""
    pairs = [("en", pair) for pair in questions_and_references()]
    for language in LANGUAGES[1:]:
        pairs += [(language, pair) for pair in _pairs(language)]
    return pairs


def _pairs(language: str) -> list[Pair]:
    draw, every, source = random.Random(f"{SEED} {language}"), paragraphs(language, "trained"), f"XQuAD {language}"
    found = []
    for own in draw.sample(every, QUESTIONS):
        others = [other for other in draw.sample(every, LOOKED_AT) if other.article != own.article]
        near = _nearest(own.query, others)
        found += [Pair(source, own.query, text, 1) for text in (own.text, own.answering)]
        found += [Pair(source, own.query, text, 0) for text in (near.text, others[0].answering)]
    return found


def _nearest(query: str, others: Sequence[Paragraph]) -> Paragraph:
    asked = relevance.PreparedQuestion(query, "grams")
    return max(others, key=lambda other: asked.compute_features(other.text, None)[0])


def table(pairs: Sequence[tuple[str, Pair]], form: Form) -> Table:
    """Features of every pair, compared by pieces of words."""
    rows = [features(language, pair.query, pair.text, form) for language, pair in pairs]
    names = relevance.LEXICAL if form == "none" else relevance.FEATURES
    return Table(names, rows, [pair.own for _, pair in pairs], [pair.source for _, pair in pairs])


def features(language: str, query: str, text: str, form: Form) -> tuple[float, ...]:
    """Features of one pair, with the cosine as the form has it."""
    angle = None
    if form != "none":
        embedder = WordLlamaEmbedder()
        reply = Reply("ok", vectors=embedder.embed([query, text[: relevance.MAX_EMBEDDED_CHARS]]))
        angle = (
            compute_cosines(reply, 1)[0]
            if form == "raw"
            else compute_standard_table(reply, 1, [find_scale(language)])[0][0]
        )
    return relevance.PreparedQuestion(query, "grams").compute_features(text, angle)


def train() -> dict[str, Any]:
    """Everything that is stored."""
    pairs = every_pair()
    scorers: dict[str, Any] = {}
    held_out: dict[str, Any] = {}
    for form in get_args(Form):
        found = table(pairs, form)
        p = found.held_out_p()
        name = {"standard": "relevance_grams", "none": "relevance_grams_lexical", "raw": "raw cosine"}[form]
        held_out[name] = {"sources": by_source(found, p, 0.5)}
        for source, row in held_out[name]["sources"].items():
            if source != "mean":
                mine = found.sources == source
                medians = (np.median(p[mine & (found.labels == own)]) for own in (1, 0))
                row["yes"], row["no"] = (round(float(value), 4) for value in medians)
        if form != "raw":
            scorers[name] = found.final(0.5)
    return {"about": "Written by bench/train_relevance.py; do not edit.", "scorers": scorers, "held_out": held_out}


def show(held_out: dict[str, Any]) -> None:
    """Prints the held-out figures."""
    for name, kept in held_out.items():
        print(f"{name}\n  {'source':20}{'n':>6}{'AUROC':>8}{'Brier':>8}{'yes':>8}{'no':>8}")
        for source, row in kept["sources"].items():
            cells = "".join(f"{row[key]:8.3f}" for key in ("auroc", "brier", "yes", "no") if key in row)
            print(f"  {source:20}{row['n']:6.0f}{cells}")


def main() -> None:
    """Trains and prints, and writes or checks."""
    found = train()
    show(found["held_out"])
    if "--check" not in sys.argv[1:]:
        RELEVANCE_FILE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        return
    kept = json.loads(RELEVANCE_FILE.read_text(encoding="utf-8"))["held_out"]
    wrong = [
        f"{name} {source}: {kept[name]['sources'][source]['auroc']} in the file, {row['auroc']} now"
        for name, part in found["held_out"].items()
        for source, row in part["sources"].items()
        if abs(kept[name]["sources"][source]["auroc"] - row["auroc"]) > TOLERANCE
    ]
    if wrong:
        sys.exit(f"{RELEVANCE_FILE.name} is not what this data and code give; run it anew: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
