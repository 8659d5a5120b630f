"""The frozen demo corpus and its eval set, read as plain files."""

from __future__ import annotations

import datetime
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

DEMO = Path(__file__).resolve().parents[2] / "src" / "ragauge" / "evaluation" / "demo"
TYPES = {"single_document", "multi_hop", "temporal", "comparison", "unanswerable", "retrieval_boundary"}
KINDS = {"manual", "policy", "release_notes"}
NUMBER_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

# Numbers that stand in a reference and are computed from its evidence instead of quoted.
COMPUTED: dict[str, dict[str, str]] = {
    "q032": {"4": "(12 TB - 10 TB) / 500 GB blocks", "32": "4 blocks of 8 euros"},
    "q036": {"6": "12 euros less 50 percent"},
    "q075": {"120": "180 days - 60 days"},
    "q081": {"3": "12 euros - 9 euros"},
}


@dataclass(frozen=True)
class Page:
    meta: dict[str, Any]
    body: str


def read_page(path: Path) -> Page:
    opening, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    assert opening == ""
    return Page(meta=yaml.safe_load(front), body=body.strip())


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    return {path.stem: read_page(path) for path in sorted((DEMO / "corpus").glob("*.md"))}


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    lines = (DEMO / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def answerable(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [question for question in questions if question["answerable"]]


def starts_sentence(body: str, start: int) -> bool:
    before = body[:start].removesuffix("- ")
    return before == "" or before.endswith("\n") or re.search(r"[.!?]\s$", before) is not None


def ends_sentence(body: str, end: int) -> bool:
    return body[end - 1] in ".!?" and (end == len(body) or body[end].isspace())


def numbers(text: str) -> set[str]:
    """The numbers of a text, thousands separators removed, number words from two to twelve included."""
    digits = {number.replace(",", "") for number in re.findall(r"\d+(?:[.,]\d+)*", text)}
    words = set(re.findall(r"[a-z]+", text.lower()))
    return digits | {str(value) for value, word in enumerate(NUMBER_WORDS, start=2) if word in words}


def quotes(question: dict[str, Any], pages: dict[str, Page]) -> str:
    return " ".join(pages[span["doc_id"]].body[span["start"] : span["end"]] for span in question["gold_spans"])


def test_size(pages: dict[str, Page], questions: list[dict[str, Any]]) -> None:
    """There are at least 40 pages and 80 questions."""
    assert len(pages) >= 40
    assert len(questions) >= 80


def test_front_matter(pages: dict[str, Page]) -> None:
    """Every page states a unique title, a known kind and a date, and no key that is not documented."""
    for doc_id, page in pages.items():
        assert {"title", "kind", "updated_at"} <= set(page.meta), doc_id
        assert set(page.meta) <= {"title", "kind", "updated_at", "version", "superseded_by"}, doc_id
        assert page.meta["kind"] in KINDS, doc_id
        assert isinstance(page.meta["updated_at"], datetime.date), doc_id
    assert len({page.meta["title"] for page in pages.values()}) == len(pages)


def test_page_length(pages: dict[str, Page]) -> None:
    """Every page has between 180 and 380 words."""
    assert [doc_id for doc_id, page in pages.items() if not 180 <= len(page.body.split()) <= 380] == []


def test_unique_ids(questions: list[dict[str, Any]]) -> None:
    """No two questions share an id or a wording."""
    assert len({question["query_id"] for question in questions}) == len(questions)
    assert len({question["query"].casefold() for question in questions}) == len(questions)


def test_documents_exist(pages: dict[str, Page], questions: list[dict[str, Any]]) -> None:
    """Every relevant document and every document of a gold span is a page of the corpus."""
    for question in questions:
        named = set(question["relevant"]) | {span["doc_id"] for span in question["gold_spans"]}
        assert named <= set(pages), question["query_id"]


def test_labels_name_what_is_needed(questions: list[dict[str, Any]]) -> None:
    """Every labelled page is needed for the answer; one that only helps is no label, so missing it is no failure."""
    assert {grade for question in questions for grade in question["relevant"].values()} == {1}


def test_spans_lie_inside(pages: dict[str, Page], questions: list[dict[str, Any]]) -> None:
    """Every gold span lies inside the body of its document."""
    for question in questions:
        for span in question["gold_spans"]:
            assert 0 <= span["start"] < span["end"] <= len(pages[span["doc_id"]].body), question["query_id"]


def test_spans_are_sentences(pages: dict[str, Page], questions: list[dict[str, Any]]) -> None:
    """Every gold span starts and ends on sentence boundaries."""
    for question in questions:
        for span in question["gold_spans"]:
            body = pages[span["doc_id"]].body
            assert starts_sentence(body, span["start"]), (question["query_id"], span)
            assert ends_sentence(body, span["end"]), (question["query_id"], span)


def test_spans_and_needed_documents_agree(questions: list[dict[str, Any]]) -> None:
    """The documents of the gold spans are exactly the labelled documents."""
    for question in questions:
        needed = set(question["relevant"])
        assert {span["doc_id"] for span in question["gold_spans"]} == needed, question["query_id"]


def test_unanswerable(questions: list[dict[str, Any]]) -> None:
    """Unanswerable questions are those of that type, and have no relevant document, span, reference or claim."""
    for question in questions:
        assert question["answerable"] == (question["segments"]["type"] != "unanswerable"), question["query_id"]
        if not question["answerable"]:
            evidence = [question[key] for key in ("relevant", "gold_spans", "references", "reference_claims")]
            assert not any(evidence), question["query_id"]


def test_answerable(answerable: list[dict[str, Any]]) -> None:
    """Answerable questions have one or two references, one to four claims and at least one span."""
    for question in answerable:
        assert 1 <= len(question["references"]) <= 2, question["query_id"]
        assert 1 <= len(question["reference_claims"]) <= 4, question["query_id"]
        assert question["gold_spans"], question["query_id"]


def test_multi_hop(questions: list[dict[str, Any]]) -> None:
    """Every multi-hop question needs at least two documents."""
    for question in questions:
        if question["segments"]["type"] == "multi_hop":
            assert len(question["relevant"]) >= 2, question["query_id"]


def test_segments(questions: list[dict[str, Any]]) -> None:
    """Every question type has at least 10 questions, and every area is a kind of page."""
    counts = Counter(question["segments"]["type"] for question in questions)
    assert set(counts) == TYPES
    assert min(counts.values()) >= 10
    assert {question["segments"]["area"] for question in questions} == KINDS


def test_tags(questions: list[dict[str, Any]]) -> None:
    """Every question is golden, and some answerable ones are regression questions as well."""
    assert all("golden" in question["tags"] for question in questions)
    regression = [question for question in questions if "regression" in question["tags"]]
    assert len(regression) >= 5
    assert all(question["answerable"] for question in regression)


def test_superseded(pages: dict[str, Page]) -> None:
    """At least four pages are superseded, each by an existing page that is newer."""
    superseded = {doc_id: page for doc_id, page in pages.items() if "superseded_by" in page.meta}
    assert len(superseded) >= 4
    for doc_id, page in superseded.items():
        newer = pages[page.meta["superseded_by"]]
        assert newer.meta["updated_at"] > page.meta["updated_at"], doc_id


def test_numbers_are_evidenced(pages: dict[str, Page], answerable: list[dict[str, Any]]) -> None:
    """Every number in a reference or claim is in its gold spans, in the question, or listed as computed."""
    for question in answerable:
        known = numbers(question["query"]) | numbers(quotes(question, pages))
        known |= set(COMPUTED.get(question["query_id"], {}))
        stated = numbers(" ".join(question["references"] + question["reference_claims"]))
        assert stated <= known, (question["query_id"], stated - known)


def test_computed_numbers_are_needed(pages: dict[str, Page], answerable: list[dict[str, Any]]) -> None:
    """Every number listed as computed occurs in its reference and in none of its gold spans."""
    by_id = {question["query_id"]: question for question in answerable}
    for query_id, computed in COMPUTED.items():
        question = by_id[query_id]
        assert set(computed) <= numbers(" ".join(question["references"])), query_id
        assert not set(computed) & numbers(quotes(question, pages)), query_id
