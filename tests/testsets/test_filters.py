"""Laws of all filters, and faults planted by a model, each rejected by its own filter."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.loopback.server import FaultyServer
from tests.testsets.writing_server import corpus, subject, writing, written

import ragauge as rg
from ragauge.core.curation import Anchor
from ragauge.core.document import Document
from ragauge.testsets.corpus_view import CorpusView
from ragauge.testsets.generate.draft import Draft, Quote, SourcePassage
from ragauge.testsets.generate.filters import FREE_TESTS, DraftContext, find_fault

PLANTED, OWN = 40, 0.95
Item = dict[str, Any]
Fault = Callable[[Item, Sequence[str]], Item]


def _first(passages: Sequence[str]) -> str:
    return passages[0].partition(". ")[0]


FAULTS: dict[str, tuple[str, Fault]] = {  # filter -> type of question, and what is done to a right one
    "schema": ("single", lambda item, _: item | {"answer": ""}),
    "quote": ("single", lambda item, p: item | {"evidence": [{"passage": 1, "quote": f"The {subject(p[0])} is old."}]}),
    "self_contained": ("single", lambda item, _: item | {"question": f"According to the passage, {item['question']}"}),
    "copied": ("single", lambda item, p: item | {"question": f"Who says {_first(p)}?"}),
    "leaks_answer": (
        "single",
        lambda item, p: item | {"question": f"Did merchants see the {subject(p[0])}?", "answer": "Merchants"},
    ),
    "duplicate": ("single", lambda item, _: item | {"question": "Who looks after the windmill of Oldenburg?"}),
    "type": ("temporal", lambda _, p: written(p, "", 1)),
    "unsupported": ("single", lambda item, _: item | {"answer": "A queen named Beatrice lost every coin in floods."}),
    "hop_not_needed": ("multi_hop", lambda item, p: item | {"answer": f"{_first(p)}."}),
    "answerable": (
        "unanswerable",
        lambda item, _: item | {"question": f"Who looks after, and {item['question'].lower()}"},
    ),
}


@pytest.mark.server
@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_rejected_by_their_own_filter(
    name: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Of 40 or more faults of a kind that a model plants between right questions, 95 % are rejected by their filter."""
    kind, fault = FAULTS[name]
    planted: list[tuple[str, str]] = []

    def plant(item: Item, passages: Sequence[str]) -> Item:
        made = fault(item, passages)
        planted.append((made["question"], made["answer"]))
        return made

    asked = {"query_id": "q", "query": "Who looks after the windmill of Oldenburg?"}
    (tmp_path / "old.jsonl").write_text(json.dumps(asked) + "\n", encoding="utf-8")
    texts = {one.doc_id: one.text for one in corpus(120)}
    with FaultyServer(reply=writing(plant, every=2)) as server:
        found = rg.generate_set(
            texts,
            output=tmp_path / "set.jsonl",
            n=50,
            rejected=tmp_path / "rejected.jsonl",
            types={kind: 1},
            existing=tmp_path / "old.jsonl",
            model=f"openai-chat:any@{server.url}",
            store=f"sqlite:///{tmp_path}/store.db",
        )
    rejected = found.to_dict()["types"][kind]["rejected"]
    rows = map(json.loads, (tmp_path / "rejected.jsonl").read_text("utf-8").splitlines())
    twice = [(row["query"], row.get("reference_answer", "")) for row in rows if "duplicate:" in row["meta"]["note"]]
    repeated = 0 if name == "duplicate" else sum(one in planted for one in twice)  # of the same pages before
    own = rejected.get(name, 0)
    record_property("figure", f"{name}: {own} of {len(planted)} planted, {repeated} of them asked before")
    assert own >= PLANTED
    assert own >= OWN * (len(planted) - repeated)
    assert set(rejected) <= {name, "duplicate"}


def test_gold_that_no_retriever_finds_is_unreachable() -> None:
    """A question in the words of 150 other documents has its gold beyond the first hundred of both rankings."""
    music = [Document(f"m{n}", "", f"The violin sonata number {n} has an orchestra, a slow tempo.") for n in range(150)]
    ships = [Document(f"s{n}", "", f"Crane {n} lifts anchors of vessels.") for n in range(40)]
    view = CorpusView([*music, *ships])
    drafts = [_draft(one, f"Which tempo has the orchestra of violin sonata {n + 60}?") for n, one in enumerate(ships)]
    ranks = view.ranks([one.question for one in drafts], [one.gold for one in drafts])
    known = DraftContext(view, {one.question: found for one, found in zip(drafts, ranks, strict=True)})
    found = [find_fault(one, known) for one in drafts]
    assert sum(fault is not None and fault[0] == "unreachable" for fault in found) >= OWN * len(drafts)


def _draft(document: Document, question: str, kind: Any = "single") -> Draft:
    text = document.text
    source, anchor = SourcePassage(document.doc_id, 0, text), Anchor(document.doc_id, 0, len(text), text)
    return Draft(kind, question, "It does so in spring.", (source,), (Quote(1, text),), (anchor,))


@pytest.mark.parametrize("name", FREE_TESTS)
def test_each_filter_passes_a_right_question_and_says_the_same_again(name: str) -> None:
    """A filter says nothing of a right question, in English or not, and the same of a wrong one however often."""
    document = Document("d", "", "The ferry to Brennick leaves from the northern pier every spring.")
    known = DraftContext(CorpusView([document, Document("e", "", "Nothing else.")]))
    for question in ("Where can people board a boat for Brennick?", "Wo legt die Fähre nach Brennick ab?"):
        assert FREE_TESTS[name](_draft(document, question), known) == ""
    known.add("Where can people board?", ())
    wrong = Draft("boundary", "Where did he stand in this passage?", "", (SourcePassage("d", 0, document.text),))
    assert FREE_TESTS[name](wrong, known) == FREE_TESTS[name](wrong, known)


def test_frequent_words_of_an_answer_tell_something() -> None:
    """The text "It is used by default" is not told by a question about a default; "The default" is."""
    known = DraftContext(CorpusView([Document("d", "", "It is used by default.")]))
    question = "What is the default value of this setting?"
    leaks = {
        text: FREE_TESTS["leaks_answer"](Draft("single", question, text, ()), known)
        for text in ("It is used by default.", "The default.")
    }
    assert [bool(told) for told in leaks.values()] == [False, True]


def test_every_filter_has_a_planted_fault_and_stands_in_the_docs() -> None:
    """No filter without a fault that it must find, and none that the page on sets does not name."""
    names = {*FREE_TESTS, "unsupported", "hop_not_needed", "answerable"}
    assert names == {*FAULTS, "unreachable"}
    page = (Path(__file__).parents[2] / "docs" / "test-sets.md").read_text(encoding="utf-8")
    assert not [name for name in names if f"`{name}` | " not in page]


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("What does the Apple 10-K say about suppliers?", True),
        ("What does the document 'Apple 10-K' say about suppliers?", True),
        ("In the section Returns Policy, how long is the period?", True),
        ("What does the article Why Birds Sing state about robins?", True),
        ("According to the report Annual Review 2023, who left the board?", True),
        ("What does the passage titled house rules say about dogs?", True),
        ("What does it say in the Basel III Accord about liquidity?", True),
        ("What does the passage say about Apple?", False),
        ("According to the document, what did Apple earn?", False),
        ("What does the text state about the 10-K of Apple?", False),
        ("What does it say about liquidity?", False),
        ("What does this article say about Robins?", False),
    ],
)
def test_a_question_may_point_at_a_document_by_its_name(question: str, right: bool) -> None:
    """A document that is named can be searched for; one that is only pointed at cannot."""
    document = Document("d", "", "The ferry to Brennick leaves from the northern pier every spring.")
    assert (
        FREE_TESTS["self_contained"](_draft(document, question), DraftContext(CorpusView([document]))) == ""
    ) is right
