"""A trial of `ragauge component chunking` beside its bare splitting and ranking, on Chroma's 472 questions with BM25.

Bare is what a script without measuring does: cut each document, index the chunks, rank them once for each question as
deep as the largest budget needs. A trial adds alignment, every metric at every cutoff and budget, the store. Both find
the tokens of the documents, which the chunkers count by, once; the last column leaves that out on both sides, as in the
second trial of a study.

    python bench/chunking.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter

from ragauge.engine.retrievers import build_retriever
from ragauge.readers.chroma import read_chroma, read_texts
from ragauge.studies.chunking.chunkers import TokenizedDocument, format_name, make_chunker
from ragauge.studies.chunking.maker import ChunkingMaker, ChunkingSettings
from ragauge.studies.verb import run_study

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "chroma_chunking"
CORPORA = ("chatlogs", "finance", "pubmed", "state_of_the_union", "wikitexts")
CHUNKERS = (
    {"chunker": "token", "size": 200, "overlap": 0},
    {"chunker": "token", "size": 800, "overlap": 400},
    {"chunker": "recursive", "size": 200, "overlap": 0},
    {"chunker": "recursive", "size": 800, "overlap": 400},
)
LIMIT = 4.0


def main() -> None:
    """Prints seconds and ratios."""
    questions = read_chroma(DATA / "questions_df.csv")
    texts = {name: text for name, text in read_texts(DATA).items() if name in CORPORA}
    settings = ChunkingSettings()
    took = []
    for _ in range(4):  # the first reads the vocabulary
        began = perf_counter()
        documents = {name: TokenizedDocument(name, text) for name, text in texts.items()}
        took.append(perf_counter() - began)
    tokenising = min(took)
    print(f"tokens of the documents: {tokenising:.2f} s")
    print("chunker                          bare s   trial s   ratio   tokens given")
    for parameters in CHUNKERS:
        bare = tokenising + min(_bare(parameters, documents, [one.query for one in questions]) for _ in range(3))
        took = []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as folder:
                maker = ChunkingMaker(texts, settings, questions)
                began = perf_counter()
                run_study("bench", maker, questions, [parameters], store=f"sqlite:///{folder}/store.db")
                took.append(perf_counter() - began)
        ratio, given = min(took) / bare, (min(took) - tokenising) / (bare - tokenising)
        mark = "" if max(ratio, given) <= LIMIT else f"  above {LIMIT:g}"
        print(f"{format_name(parameters):32} {bare:6.2f}   {min(took):7.2f}   {ratio:5.2f}   {given:12.2f}{mark}")


def _bare(parameters: dict[str, object], documents: dict[str, TokenizedDocument], queries: list[str]) -> float:
    began = perf_counter()
    cut = make_chunker(parameters)
    chunks = {
        f"{doc_id}#{n}": piece.text for doc_id, document in documents.items() for n, piece in enumerate(cut(document))
    }
    ranked = build_retriever("bm25", list(chunks), list(chunks.values()))
    tokens = sum(map(len, documents.values()))
    depth = int(1.5 * 4096 / (tokens / len(chunks))) + 5
    for query in queries:
        ranked.search(query, min(depth, len(chunks)))
    return perf_counter() - began


if __name__ == "__main__":
    main()
