"""A trial of `ragauge component embeddings` beside bare embedding and product, on Vaswani's 11,429 documents.

Bare is what a script without measuring does: embed all texts, one product, the 50 best of each question. A trial adds
the vector cache, exact order, every metric at every cutoff, responses and scores in the store. The embedder is the one
in the package, the fastest there is: beside any other, what a trial adds is a smaller share.

    python bench/embeddings.py
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

import ragauge as rg
from ragauge.engine.retrievers import build_local_embedder

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "vaswani"
TIMES = 3


def main() -> None:
    """Prints seconds and ratios."""
    documents, questions = read()
    asked = [one.query for one in questions]
    embed = build_local_embedder().embed
    bare = least(lambda _: near(embed([*documents.values()]), embed(asked)))

    def study(folder: str, name: str) -> None:
        rg.embeddings(questions, documents, "local", name=name, store=f"sqlite:///{folder}/store.db")

    def lexical(folder: str) -> None:
        rg.embeddings(questions, documents, "bm25", store=f"sqlite:///{folder}/store.db")

    beside = least(lexical)  # BM25 runs in every study, so that its trial is taken off
    first = least(lambda folder: study(folder, "first")) - beside
    with tempfile.TemporaryDirectory() as folder:
        study(folder, "first")
        again = least(
            lambda _: rg.embeddings(
                questions,
                documents,
                "local",
                name="again",
                fresh=False,
                dimensions=[128, 64],
                store=f"sqlite:///{folder}/store.db",
            )
        )
    print(f"texts {len(documents):,} and {len(asked)}; the least of {TIMES}, seconds")
    print(f"bare embedding, product, 50 best     {bare:6.2f}")
    print(f"BM25's trial                         {beside:6.2f}")
    print(f"a trial, every text embedded         {first:6.2f}   {first / bare:.2f} x bare")
    print(f"a complete study of three read again {again:6.2f}")


def read() -> tuple[dict[str, str], rg.EvalSet]:
    """Documents and labelled questions."""
    text, asked = (DATA / "doc-text.trec").read_text(), (DATA / "query-text.trec").read_text()
    documents = {
        one[1]: " ".join(one[2].split()) for one in re.finditer(r"<DOCNO>(\d+)</DOCNO>(.*?)</DOC>", text, re.S)
    }
    relevant: dict[str, list[rg.Relevant]] = {}
    for query, _, doc_id, grade in (line.split() for line in (DATA / "qrels").read_text().splitlines() if line.strip()):
        if int(grade) > 0:
            relevant.setdefault(query, []).append(rg.Relevant((doc_id,)))
    found = re.finditer(r"<num>(\d+)</num><title>(.*?)</title>", asked, re.S)
    return documents, rg.EvalSet(
        "vaswani",
        tuple(
            rg.Example(one[1], " ".join(one[2].split()).capitalize(), relevant=tuple(relevant[one[1]])) for one in found
        ),
    )


def near(documents: np.ndarray, questions: np.ndarray) -> np.ndarray:
    """The 50 best of each question by cosine."""
    rows, asked = (each / np.linalg.norm(each, axis=1, keepdims=True).clip(1e-9) for each in (documents, questions))
    products = asked @ rows.T
    some = np.argpartition(-products, 50, axis=1)[:, :50]
    return np.take_along_axis(some, np.argsort(-np.take_along_axis(products, some, 1), axis=1), 1)


def least(work: Callable[[str], object]) -> float:
    """Seconds of the quickest of several times, each with a folder of its own."""
    took = []
    for _ in range(TIMES):
        with tempfile.TemporaryDirectory() as folder:
            began = perf_counter()
            work(folder)
            took.append(perf_counter() - began)
    return min(took)


if __name__ == "__main__":
    main()
