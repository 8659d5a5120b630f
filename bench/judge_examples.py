"""Examples for benches of model judges: every text differs, so that nothing comes from stored replies."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "src/ragauge/evaluation/demo/corpus"
PASSAGES, LENGTH = 5, 400  # passages an example, characters a passage


def examples(n: int, seed: int = 20250301) -> Iterator[dict[str, Any]]:
    """Questions with five passages of about 400 characters, an answer of three sentences and a reference of two."""
    draw = random.Random(seed)
    pages = [page.read_text().split("---\n", 2)[2] for page in sorted(CORPUS.glob("*.md"))]
    blocks = [block.replace("\n", " ") for page in pages for block in page.split("\n\n") if len(block) > 120]
    sentences = [part.strip().rstrip(".") + "." for block in blocks for part in block.split(". ") if len(part) > 30]
    questions = [json.loads(line)["query"] for line in (CORPUS.parent / "golden.jsonl").read_text().splitlines()]
    for number in range(n):
        texts = [_passage(draw, sentences, f"Unit {number}.{place}.") for place in range(PASSAGES)]
        stated = [text.split(". ")[1].rstrip(".") + "." for text in texts]
        yield {
            "query_id": f"q{number}",
            "query": f"{draw.choice(questions)} (unit {number})",
            "answer": f"{stated[0]} {stated[1]} Unit {number} weighs {draw.randint(10, 99)} kg.",
            "references": [f"{stated[0]} {draw.choice(sentences)}"],
            "passages": [{"doc_id": f"d{number}-{place}", "text": text} for place, text in enumerate(texts)],
        }


def _passage(draw: random.Random, sentences: list[str], first: str) -> str:
    parts = [first]
    while sum(map(len, parts)) < LENGTH - 50:
        parts.append(draw.choice(sentences))
    return " ".join(parts)


def write_examples(path: Path, n: int, release: str = "") -> None:
    """The examples as a file, one a line; a release makes another run of them, in which a judge sees the same."""
    more = {"segments": {"release": release}} if release else {}
    with path.open("w") as file:
        file.writelines(json.dumps(row | more) + "\n" for row in examples(n))
