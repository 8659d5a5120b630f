"""The labelled data that the local judge is trained and measured on, read from the folder beside the repository."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any, NamedTuple

from ragauge.judges.local.index import has_content, split_units

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


SYSTEMS = ("chatgpt", "fid", "gpt35", "gpt4", "newbing")  # whose answers EVOUNA has
FEWEST = 2  # texts of other questions that stand beside a question's own


class Labelled(NamedTuple):
    """A claim, its evidence, and whether people called it supported."""

    source: str
    claim: str
    passages: tuple[str, ...]
    supported: int


class Answered(NamedTuple):
    """A question with its accepted answers, what each system answered, and whether people called that right."""

    query: str
    accepted: tuple[str, ...]
    answers: dict[str, str]
    right: dict[str, bool]


class Pair(NamedTuple):
    """A question, a text, and whether the text belongs to the question."""

    source: str
    query: str
    text: str
    own: int


def lines(*parts: str) -> Iterator[dict[str, Any]]:
    """The records of a JSON lines file of the data folder."""
    with DATA.joinpath(*parts).open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def claims() -> list[Labelled]:
    """AttributionBench dev (four sources) and WiCE dev.

    WiCE has a third label, partially supported: a claim of which a part is not borne out counts as not supported.
    """
    rows = [
        Labelled(
            row["src_dataset"], row["claim"], tuple(row["references"]), int(row["attribution_label"] == "attributable")
        )
        for row in lines("attributionbench", "dev_all_subset_balanced.jsonl")
    ]
    return rows + [
        Labelled("WiCE", row["claim"], ("\n".join(row["evidence"]),), int(row["label"] == "supported"))
        for row in lines("wice", "dev.jsonl")
    ]


def questions_and_references() -> list[Pair]:
    """Per question its own references, and as many that rank highest by BM25 of those of other questions."""
    by_source: dict[str, dict[str, list[str]]] = {}
    for row in lines("attributionbench", "dev_all_subset_balanced.jsonl"):
        own = by_source.setdefault(row["src_dataset"], {}).setdefault(row["question"], [])
        own.extend(text for text in (r.strip() for r in row["references"]) if text and text not in own)
    return [pair for source, asked in sorted(by_source.items()) for pair in _with_hardest(source, asked)]


def human_answers() -> dict[str, list[tuple[str, str]]]:
    """Questions with answers that people wrote: what a refusal or an answer off the topic must not be found in."""
    clapnq = [(row["input"], row["output"][0]["answer"]) for row in lines("clapnq", "clapnq_dev_answerable.jsonl")]
    text = DATA.joinpath("pubmedqa", "ori_pqal.json").read_text(encoding="utf-8")
    pubmed = [(row["QUESTION"], row["LONG_ANSWER"]) for row in json.loads(text).values()]
    return {"CLAPNQ": clapnq, "PubMedQA": pubmed}


def accepted_answers() -> list[Answered]:
    """Every proper question of EVOUNA's TriviaQA half; accepted answers are divided by "/" there."""
    rows = json.loads(DATA.joinpath("qa_eval_evouna", "TQ.json").read_text(encoding="utf-8"))
    return [
        Answered(
            row["question"],
            tuple(text.strip() for text in str(row["golden_answer"]).split("/") if text.strip()),
            {system: row[f"answer_{system}"] for system in SYSTEMS},
            {system: row[f"judge_{system}"] for system in SYSTEMS},
        )
        for row in rows
        if not row["improper"]
    ]


def _with_hardest(source: str, asked: dict[str, list[str]]) -> Iterator[Pair]:
    texts = [(query, text) for query, own in asked.items() for text in own]
    index = Bm25([text for _, text in texts])
    for query, own in asked.items():
        for text in own:
            yield Pair(source, query, text, 1)
        wanted = max(FEWEST, len(own))
        others = [n for n in index.ranked(query) if texts[n][0] != query and texts[n][1] not in own]
        for n in others[:wanted]:
            yield Pair(source, query, texts[n][1], 0)


class Bm25:
    """BM25 over a few hundred texts, to find the ones that are hardest to tell from the right one."""

    def __init__(self, texts: list[str]) -> None:
        self.counts = [Counter(content(text)) for text in texts]
        self.lengths = [sum(count.values()) for count in self.counts]
        self.mean = sum(self.lengths) / max(1, len(texts))
        self.frequency = Counter(unit for count in self.counts for unit in count)

    def ranked(self, query: str) -> list[int]:
        """Numbers of the texts, best first, ties in their order."""
        n = len(self.counts)
        scores = [0.0] * n
        for unit in dict.fromkeys(content(query)):
            weight = log(1 + (n - self.frequency[unit] + 0.5) / (self.frequency[unit] + 0.5))
            for k, count in enumerate(self.counts):
                if count[unit]:
                    norm = 1.2 * (0.25 + 0.75 * self.lengths[k] / self.mean)
                    scores[k] += weight * count[unit] * 2.2 / (count[unit] + norm)
        return sorted(range(n), key=lambda k: (-scores[k], k))


def content(text: str) -> list[str]:
    """The units of a text that carry content."""
    return [unit for unit in split_units(text, "words") if has_content(unit, "words")]
