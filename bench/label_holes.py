"""How many planted holes in labels `testset check` finds by the local judge, and how many of those it offers are holes.

python bench/label_holes.py [xquad clapnq]

Of every twentieth question a page is added that repeats what its document says about it: the sentence of the answer and
those around it (CLAPNQ: the document), behind the first sentence of some other document. It has no label, so it is a
hole; of other questions too, where it holds the sentence that their answer stands in. What is offered beside these
pages was read by hand: what is a hole stands below, by number of the question and document.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.known_items import DATA, clapnq, xquad

import ragauge as rg
from ragauge.text.sentences import split_sentences

HOLES = {  # read by hand among all that was offered when one passage had to hold the words, not one sentence
    "xquad": {(809, "p156"), (812, "p155"), (880, "p171")},
    "clapnq": {(21, "d27"), (50, "d202"), (96, "d280"), (190, "d355"), (204, "d50"), (283, "d95")},
}
EVERY = 20


def of_xquad() -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Paragraphs; questions with their answers, and the sentence that each stands in."""
    texts, _ = xquad()
    articles = json.loads(DATA.joinpath("xquad", "xquad.en.json").read_text(encoding="utf-8"))["data"]
    rows = []
    for n, paragraph in enumerate(one for article in articles for one in article["paragraphs"]):
        for asked in paragraph["qas"]:
            (answer,) = asked["answers"]
            sentences = split_sentences(paragraph["context"])
            at = max(k for k, one in enumerate(sentences) if one.start <= answer["answer_start"])
            rows.append(
                {
                    "query": asked["question"],
                    "reference_answer": answer["text"],
                    "relevant": {f"p{n}": 1},
                    "said": sentences[at].text,
                    "page": " ".join(one.text for one in sentences[max(0, at - 1) : at + 2]),
                }
            )
    return texts, rows


def of_clapnq() -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Passages; questions with their answers."""
    texts, _ = clapnq()
    ids = {text: doc_id for doc_id, text in texts.items()}
    rows = []
    for line in DATA.joinpath("clapnq", "clapnq_dev_answerable.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text = row["passages"][0]["text"]
        rows.append(
            {
                "query": row["input"],
                "reference_answer": row["output"][0]["answer"],
                "relevant": {ids[text]: 1},
                "said": text,
                "page": text,
            }
        )
    return texts, rows


def planted(texts: dict[str, str], rows: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """(doc_id, text) of the added pages."""
    rng = random.Random(5)
    for n, row in enumerate(rows[::EVERY]):
        yield f"copy{n}", f"{split_sentences(texts[rng.choice(list(texts))])[0].text} {row['page']}"


def main() -> None:
    """Prints planted pages found, and offers by whether they are holes."""
    for name in sys.argv[1:] or ("xquad", "clapnq"):
        texts, rows = {"xquad": of_xquad, "clapnq": of_clapnq}[name]()
        pages = dict(planted(texts, rows))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "set.jsonl")
            named = [
                {"query_id": str(n)} | {key: row[key] for key in ("query", "reference_answer", "relevant")}
                for n, row in enumerate(rows)
            ]
            path.write_text("".join(json.dumps(row) + "\n" for row in named), encoding="utf-8")
            checked = rg.check_set(path, corpus=texts | pages).to_dict()
        offered = [(one["query_id"], text) for one in checked["label_holes"]["holes"] for text in one["passages"]]
        offered += [(one["query_id"], copy) for one in checked["label_copies"] for copy in one["copies"]]
        found = {(int(query_id), one["doc_id"]) for query_id, one in offered}
        repeated = {(n, page) for page, text in pages.items() for n, row in enumerate(rows) if row["said"] in text}
        own = {(n * EVERY, f"copy{n}") for n in range(len(pages))}
        others = {pair for pair in found if not pair[1].startswith("copy")}
        right = len(found & repeated) + len(others & HOLES[name])
        print(
            f"{name}: {len(own & found)} of {len(own)} planted pages found, {len(repeated & found)} of {len(repeated)} "
            f"holes that they make; {right} of {len(found)} offers are holes, {len(others & HOLES[name])} of "
            f"{len(others)} among the documents as they were"
        )
        print("  read by hand no hole:", sorted(others - HOLES[name]))
        print("  pages without the sentence:", sorted(found - repeated - others))


if __name__ == "__main__":
    main()
