"""Whether known-item queries order retrievers as questions by people do.

    python bench/known_items.py [xquad clapnq pubmedqa]

22 retrievers: BM25, embeddings of 256, 64 and 24 dimensions and BM25 fused with the embeddings, over chunks of 24, 64
and 128 tokens and whole documents; BM25 and embeddings over first sentences. MRR of the gold document, by the
questions of people and by 1,000 known-item queries of each of five seeds. Of each pair of retrievers: the mean paired
difference of reciprocal ranks and its p (Student's t).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from ragauge.core.document import Document
from ragauge.engine.retrievers import Bm25, build_local_embedder
from ragauge.studies.chunking.chunkers import TokenizedDocument, make_chunker
from ragauge.testsets.corpus_view import CorpusView
from ragauge.testsets.generate.set_generation import sample_known_items
from ragauge.text.sentences import split_sentences

DATA = Path(__file__).parents[2] / "shared" / "data"
SIZES = (24, 64, 128, 0)  # tokens of a chunk; 0 = whole
DIMENSIONS = (256, 64, 24)
SEEDS = range(7, 12)
FUSED = 60
DEPTH = 100  # pieces of a ranking that are fused
Questions = list[tuple[str, str]]


def xquad() -> tuple[dict[str, str], Questions]:
    """Paragraphs, and the questions about each."""
    articles = json.loads(DATA.joinpath("xquad", "xquad.en.json").read_text(encoding="utf-8"))["data"]
    paragraphs = [one for article in articles for one in article["paragraphs"]]
    texts = {f"p{n}": one["context"] for n, one in enumerate(paragraphs)}
    return texts, [(f"p{n}", q["question"]) for n, one in enumerate(paragraphs) for q in one["qas"]]


def clapnq() -> tuple[dict[str, str], Questions]:
    """Passages of all questions; questions that a passage answers."""
    texts: dict[str, str] = {}
    asked: Questions = []
    for kind in ("answerable", "unanswerable"):
        for line in DATA.joinpath("clapnq", f"clapnq_dev_{kind}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            text = row["passages"][0]["text"]
            doc_id = next((name for name, known in texts.items() if known == text), f"d{len(texts)}")
            texts[doc_id] = text
            if kind == "answerable":
                asked.append((doc_id, row["input"]))
    return texts, asked


def pubmedqa() -> tuple[dict[str, str], Questions]:
    """Abstracts, and the question of each."""
    rows = json.loads(DATA.joinpath("pubmedqa", "ori_pqal.json").read_text(encoding="utf-8"))
    return {name: " ".join(row["CONTEXTS"]) for name, row in rows.items()}, [
        (name, row["QUESTION"]) for name, row in rows.items()
    ]


def units(texts: Mapping[str, str], size: int) -> Iterator[tuple[str, str]]:
    """(doc_id, text) of what is indexed: chunks of so many tokens, whole documents (0), first sentences (-1)."""
    documents = {name: TokenizedDocument(name, text) for name, text in texts.items()}
    cut = make_chunker({"chunker": "token", "size": size, "overlap": 0}, documents) if size > 0 else None
    for name, text in texts.items():
        if size == -1:
            yield name, next((one.text for one in split_sentences(text)), "")
        elif cut is None:
            yield name, text
        else:
            yield from ((name, piece.text) for piece in cut(documents[name]))


def ranked(scores: np.ndarray[Any, Any], owners: np.ndarray[Any, Any], n: int) -> np.ndarray[Any, Any]:
    """Best score of each document, a row a query."""
    best = np.full((len(scores), n), -np.inf)
    for row, values in zip(best, scores, strict=True):
        np.maximum.at(row, owners, values)
    return best


def reciprocal(best: np.ndarray[Any, Any], gold: Sequence[int]) -> np.ndarray[Any, Any]:
    """1 / rank of the gold document; 0 where nothing of it was found."""
    own = best[np.arange(len(gold)), gold]
    rank = 1 + (best > own[:, None]).sum(axis=1)
    return np.where(np.isfinite(own), 1 / rank, 0.0)


def fused(*found: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Reciprocal rank fusion of the first 100 pieces of each ranking, as the reference system does it."""
    total = np.zeros_like(found[0])
    for scores in found:
        order = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
        total = np.where(np.isfinite(total), total, 0.0) + np.where(
            np.isfinite(scores) & (order < DEPTH), 1 / (FUSED + 1 + order), 0.0
        )
    return np.where(total > 0, total, -np.inf)


def retrievers(texts: Mapping[str, str], asked: Questions) -> dict[str, np.ndarray[Any, Any]]:
    """Name -> reciprocal rank of each question."""
    place = {name: n for n, name in enumerate(texts)}
    gold = [place[name] for name, _ in asked]
    embedder, found = build_local_embedder(), {}
    queries = embedder.embed([query for _, query in asked])
    for size in (*SIZES, -1):
        pieces = [one for one in units(texts, size) if one[1].strip()]
        owners = np.array([place[name] for name, _ in pieces])
        index = Bm25([str(n) for n in range(len(pieces))], [text for _, text in pieces])
        lexical = np.full((len(asked), len(pieces)), -np.inf)
        for row, (_, query) in zip(lexical, asked, strict=True):
            for hit in index.search(query, len(pieces)):
                row[int(hit.passage_id)] = hit.score
        by_terms = ranked(lexical, owners, len(texts))
        label = {0: "whole", -1: "first sentence"}.get(size, f"{size} tokens")
        found[f"bm25, {label}"] = reciprocal(by_terms, gold)
        vectors = embedder.embed([text for _, text in pieces])
        for dimensions in DIMENSIONS if size >= 0 else (256,):
            a, b = (
                (one[:, :dimensions] / np.maximum(np.linalg.norm(one[:, :dimensions], axis=1, keepdims=True), 1e-9))
                for one in (queries, vectors)
            )
            cosines = a @ b.T
            found[f"embeddings {dimensions}, {label}"] = reciprocal(ranked(cosines, owners, len(texts)), gold)
            if size >= 0 and dimensions == 256:
                found[f"hybrid, {label}"] = reciprocal(ranked(fused(lexical, cosines), owners, len(texts)), gold)
    return found


def agreement(by_people: Mapping[str, Any], by_terms: Mapping[str, Any]) -> tuple[float, float, int, float]:
    """Of pairs that people tell apart: the share ordered alike, the share reversed, both at p < 0.01; and MRR lost."""
    alike = turned = told = 0
    for a, b in combinations(by_people, 2):
        apart, other = by_people[a] - by_people[b], by_terms[a] - by_terms[b]
        if stats.ttest_1samp(apart, 0).pvalue >= 0.01:
            continue
        told += 1
        same = apart.mean() * other.mean() > 0
        alike += int(same)
        turned += int(not same and stats.ttest_1samp(other, 0).pvalue < 0.01)
    means = {name: values.mean() for name, values in by_people.items()}
    picked = max(by_terms, key=lambda name: by_terms[name].mean())
    return alike / told, turned / told, told, max(means.values()) - means[picked]


def drawn_queries(texts: Mapping[str, str], n: int = 1_000, seed: int = 7) -> Questions:
    """So many known-item queries, each with its document."""
    corpus = CorpusView([Document(doc_id, "", text) for doc_id, text in texts.items()])
    made = [one.example for one in sample_known_items(corpus, n, seed)]
    return [(example.relevant[0].doc_ids[0], example.query) for example in made if example.relevant]


def main() -> None:
    """Prints a table a data set with the queries of the first seed, and the agreement over all seeds."""
    for name in sys.argv[1:] or ("xquad", "clapnq", "pubmedqa"):
        texts, asked = {"xquad": xquad, "clapnq": clapnq, "pubmedqa": pubmedqa}[name]()
        by_people = retrievers(texts, asked)
        found: list[tuple[float, float, int, float]] = []
        for seed in SEEDS:
            drawn = drawn_queries(texts, seed=seed)
            by_terms = retrievers(texts, drawn)
            if not found:
                print(f"\n{name}: {len(texts)} documents, {len(asked)} questions, {len(drawn)} known-item queries")
                for retriever, values in sorted(by_people.items(), key=lambda one: -one[1].mean()):
                    print(f"  {retriever:32} {values.mean():.3f} {by_terms[retriever].mean():.3f}")
            found.append(agreement(by_people, by_terms))
        alike, turned, _, lost = np.array(found).T
        print(
            f"  of {found[0][2]} pairs told apart, over {len(found)} seeds: {alike.mean():.1%} ordered alike "
            f"({alike.min():.1%} to {alike.max():.1%}), {turned.mean():.1%} reversed; MRR lost {lost.mean():.3f} "
            f"({lost.min():.3f} to {lost.max():.3f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
