"""What test sets cost: checking and comparing 10,000 examples, linking 10,000 passages, calls a question kept.

python bench/test_sets.py [--examples 10000] [--only check diff linking calls]

Seconds are of the clock, and of the processor of this process beside it: other programs make the first longer. The
corpus is 10,000 pages of five sentences of made-up words. Of the examples a tenth stands in pages that were renamed, a
tenth in pages with a sentence more at their beginning, and every hundredth has a page beside it that repeats its fact.
The set is checked with its label holes by the local judge, and without. Calls are counted by a model server that
follows a script (tests/testsets/writing_server.py): good questions, and questions of which every third is copied.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ragauge as rg
from ragauge.core.document import Document
from ragauge.testsets.corpus_view import CorpusView
from ragauge.testsets.generate.draft import PassageSampler

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.loopback.server import FaultyServer
from tests.testsets.writing_server import corpus as scripted
from tests.testsets.writing_server import writing

SYLLABLES = [f"{a}{b}" for a in "bcdfghjklmnprstvz" for b in ("a", "en", "ir", "ol", "ut", "ade", "ine", "osk", "um")]
WORDS = [f"{a}{b}" for a in SYLLABLES for b in ("ra", "li", "to", "ven", "mi", "du")]
PAGES = 10_000


def timed(name: str, asked: str, work: Callable[[], Any]) -> Any:
    """Runs it and prints how long it took, beside what was asked for."""
    clock, processor = time.perf_counter(), time.process_time()
    found = work()
    took = time.perf_counter() - clock, time.process_time() - processor
    print(f"{name:<52} {took[0]:6.1f} s of the clock, {took[1]:6.1f} s of the processor; asked {asked}", flush=True)
    return found


def pages(n: int, seed: int = 5) -> dict[str, str]:
    """Texts by id; neighbours share the name of their keeper."""
    rng = random.Random(seed)
    found = {}
    for k in range(n):
        sentences = [f"{' '.join(rng.choices(WORDS, k=14)).capitalize()}." for _ in range(4)]
        found[f"d{k}"] = " ".join([*sentences, f"Its keeper is Ingrid Tarn{k // 3}."])
    return found


def example(texts: dict[str, str], k: int) -> dict[str, Any]:
    """A question about the second sentence of a page."""
    doc_id = f"d{k % len(texts)}"
    start = texts[doc_id].index(". ") + 2
    end = texts[doc_id].index(". ", start) + 1
    quote = texts[doc_id][start:end]
    return {
        "query_id": f"q{k}",
        "query": f"Which {quote.split()[2]} has {quote.split()[5]} of {k}?",
        "reference_answer": quote,
        "relevant": {doc_id: 1},
        "gold_spans": [{"doc_id": doc_id, "start": start, "end": end}],
        "meta": {
            "state": "draft",
            "origin": {"method": "model", "type": "single"},
            "anchors": [{"doc_id": doc_id, "start": start, "end": end, "quote": quote}],
        },
    }


def written(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def checks(folder: Path, n: int, only: Sequence[str]) -> None:
    """Freeze, check and diff."""
    texts = pages(PAGES)
    rows = [example(texts, k) for k in range(n)]
    path = written(folder / "set.jsonl", rows)
    if "diff" in only:
        changed = [row | {"query": f"{row['query']} Now?"} if k % 10 == 0 else row for k, row in enumerate(rows)]
        other = written(folder / "other.jsonl", changed[: n - n // 20])
        found = timed(f"diff of {n:,} examples", "3 s", lambda: rg.diff_sets(path, other)).found
        assert (len(found.removed), len(found.changed)) == (n // 20, len(range(0, n - n // 20, 10)))
    if "check" not in only:
        return
    rg.freeze_set(path, corpus=texts)
    now = {(f"new{k}" if k % 10 == 1 else f"d{k}"): text for k, text in enumerate(texts.values())}
    now |= {name: f"New in May. {text}" for k, (name, text) in enumerate(now.items()) if k % 10 == 2}
    now |= {f"copy{k}": f"In short: {example(texts, k)['reference_answer']}" for k in range(0, PAGES, 100)}
    plain = timed(f"check of {n:,} examples", "30 s", lambda: rg.check_set(path, corpus=now, judge="none"))
    holes = timed(f"check of {n:,} examples, holes by the local judge", "30 s", lambda: rg.check_set(path, corpus=now))
    print(f"{'':<52} {dict(plain.counts)}; {len(holes.holes.holes):,} holes of {len(range(0, n, 100)):,} planted")


def linking() -> None:
    """Which documents belong together, of 10,000."""
    view = CorpusView([Document(doc_id, "", text) for doc_id, text in pages(PAGES).items()])
    found = timed(
        f"linking of {PAGES:,} passages, embedding included", "60 s", lambda: PassageSampler(view, 7).linked_documents
    )
    print(f"{'':<52} {sum(map(bool, found.values())):,} of them linked")


def calls(folder: Path) -> None:
    """Calls before the first question is written, and for each that is kept."""

    def copied(item: dict[str, Any], passages: Sequence[str]) -> dict[str, Any]:
        return item | {"question": passages[0].partition(". ")[0] + "?"}

    texts = {one.doc_id: one.text for one in scripted(90)}
    for name, script in (("good questions", writing()), ("a third copied", writing(copied, 3))):
        with FaultyServer(reply=script) as server:
            store = f"sqlite:///{folder}/{name.replace(' ', '')}.db"
            found = rg.generate_set(
                texts,
                output=folder / "made.jsonl",
                n=60,
                types="single=1",
                store=store,
                model=f"openai-chat:any@{server.url}",
            )
            kept, made = found.to_dict()["examples"], len(server.requests)
            first = next(n for n, one in enumerate(server.requests) if "write questions that people" in str(one.body))
        told = f"calls a single-passage question kept, {name}"
        print(f"{told:<52} {made / kept:6.2f} ({made} for {kept}), {first} before the first; asked 2, 0")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--only", nargs="+", default=["diff", "check", "linking", "calls"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        checks(Path(work), given.examples, given.only)
        if "linking" in given.only:
            linking()
        if "calls" in given.only:
            calls(Path(work))
