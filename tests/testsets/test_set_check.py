"""What a check of a set finds beside stale evidence: holes in its labels, and types that are not what they promise."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.loopback.server import FaultyServer
from tests.testsets.writing_server import corpus, subject

import ragauge as rg
from ragauge.core.curation import Curation, Origin
from ragauge.core.example import Example, Relevant, Span
from ragauge.testsets.check.contracts import find_broken_contracts
from ragauge.testsets.generate.draft import TYPES, QuestionType
from ragauge.testsets.set_file import SetFile, build_line

PLANTED, NEAR = 8, 8


@pytest.fixture
def texts() -> dict[str, str]:
    """Forty pages; eight more repeat a fact of one of them, eight tell another year of the same thing."""
    found = {one.doc_id: one.text for one in corpus()}
    for n in range(PLANTED):
        name = subject(found[f"d{n}"])
        found[f"hole{n}"] = f"Guide to the coast. Merchants opened the {name} in {1801 + n}. Bring warm clothes."
    for n in range(PLANTED, PLANTED + NEAR):
        name = subject(found[f"d{n}"])
        found[f"near{n}"] = f"Guide to the coast. Merchants opened the {name} again in {1901 + n}. Bring warm clothes."
    return found


@pytest.fixture
def path(texts: dict[str, str], tmp_path: Path) -> Path:
    """A question about each page, with its reference and its page as label."""
    rows = []
    for n in range(40):
        name = subject(texts[f"d{n}"])
        sentence = texts[f"d{n}"].partition(". ")[0] + "."
        rows.append(
            {
                "query_id": f"q{n}",
                "query": f"When was the {name} opened?",
                "reference_answer": sentence,
                "relevant": {f"d{n}": 1},
                "gold_spans": [{"doc_id": f"d{n}", "start": 0, "end": len(sentence)}],
            }
        )
    file = tmp_path / "set.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_planted_holes_are_found_by_the_local_judge_and_no_others(path: Path, texts: dict[str, str]) -> None:
    """Each document that repeats a fact is offered with its sentence and as one that will do; near misses are not.

    Once a label takes it in, or says that it is not relevant, it is no hole. No file is written.
    """
    before = sorted(path.parent.iterdir())
    found = rg.check_set(path, corpus=texts)
    value = found.to_dict()["label_holes"]
    assert value["judge"].startswith("local")
    assert value["examples"] == 40
    holes = {one["query_id"]: one for one in value["holes"]}
    stating = {name: [text["doc_id"] for text in one["passages"]] for name, one in holes.items()}
    assert stating == {f"q{n}": [f"hole{n}"] for n in range(PLANTED)}
    for n in range(PLANTED):
        one, (text,) = holes[f"q{n}"], holes[f"q{n}"]["passages"]
        assert text["quote"] == f"Merchants opened the {subject(texts[f'd{n}'])} in {1801 + n}."
        assert text["quote"] in texts[text["doc_id"]][text["start"] : text["end"]]
        assert one["relevant"] == [{"doc_ids": [f"d{n}", f"hole{n}"], "grade": 1}]
    assert "hole3" in found.to_markdown()
    assert found.exit_code == 0
    assert sorted(path.parent.iterdir()) == before
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows[:4]:
        row["relevant"] = holes[row["query_id"]]["relevant"]
    rows[4]["relevant"] = {"d4": 1, "hole4": 0}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    left = rg.check_set(path, corpus=texts).to_dict()["label_holes"]["holes"]
    assert [one["query_id"] for one in left] == ["q5", "q6", "q7"]
    assert rg.check_set(path, corpus=texts, judge="none").to_dict()["label_holes"] is None


def test_a_short_reference_has_to_stand_in_one_sentence(tmp_path: Path) -> None:
    """A page that holds a year and the question's words apart is not offered; one that says them in one breath is."""
    texts = {
        "gold": "The inventor Adrik Vell died on 7 January 1943 in his hotel.",
        "apart": "Adrik Vell was an inventor. In 1943 a court restored his patents. The court said who died.",
        "hole": "Quite a life. As a paper wrote, the inventor Adrik Vell died in 1943. His hotel is gone.",
    }
    row = {
        "query_id": "q",
        "query": "When did inventor Adrik Vell die?",
        "reference_answer": "1943",
        "relevant": {"gold": 1},
    }
    file = tmp_path / "set.jsonl"
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (hole,) = rg.check_set(file, corpus=texts).to_dict()["label_holes"]["holes"]
    assert [one["doc_id"] for one in hole["passages"]] == ["hole"]


def test_evidence_that_moved_is_no_hole(path: Path, texts: dict[str, str]) -> None:
    """A gold document under another name is moved evidence, by its lock, and not offered beside itself."""
    rg.freeze_set(path, corpus=texts)
    renamed = {f"new-{name}" if name == "d30" else name: text for name, text in texts.items()}
    found = rg.check_set(path, corpus=renamed)
    assert found.counts["moved"] == 1
    assert len(found.to_dict()["label_holes"]["holes"]) == PLANTED


@pytest.mark.server
def test_a_model_looks_for_holes_once(path: Path, texts: dict[str, str], tmp_path: Path) -> None:
    """A model judge is asked about the examples with a passage that might state the reference; again costs nothing."""
    with FaultyServer() as server:
        wanted: dict[str, Any] = {"judge": f"openai-chat:any@{server.url}", "store": f"sqlite:///{tmp_path}/s.db"}
        value = rg.check_set(path, corpus=texts, **wanted).to_dict()["label_holes"]
        calls = len(server.requests)
        again = rg.check_set(path, corpus=texts, **wanted).to_dict()["label_holes"]
        assert len(server.requests) == calls
    assert calls == value["calls"] == value["judged"] < 20
    assert {f"hole{n}" for n in range(PLANTED)} <= {
        text["doc_id"] for one in value["holes"] for text in one["passages"]
    }
    assert again["holes"] == value["holes"]


def test_a_hole_stands_for_every_document_that_an_answer_needs(texts: dict[str, str], tmp_path: Path) -> None:
    """A document that states alone what two were needed for is offered in place of each."""
    sentences = [texts[f"d{n}"].partition(". ")[0] + "." for n in (20, 21)]
    row = {
        "query_id": "q",
        "query": "When were both opened?",
        "reference_answer": " ".join(sentences),
        "relevant": {"d20": 1, "d21": 1},
    }
    file = tmp_path / "set.jsonl"
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (hole,) = rg.check_set(file, corpus=texts | {"both": " ".join(sentences)}).to_dict()["label_holes"]["holes"]
    assert [one["doc_ids"] for one in hole["relevant"]] == [["d20", "both"], ["d21", "both"]]


def test_two_holes_of_one_example_are_one_entry(path: Path, texts: dict[str, str]) -> None:
    """Two documents that state one reference stand in one entry, whose labels take in both; it is counted once."""
    more = texts | {"again": f"A walk. {texts['hole0'].partition('. ')[2]}"}
    found = rg.check_set(path, corpus=more)
    holes = found.to_dict()["label_holes"]["holes"]
    assert [one["query_id"] for one in holes] == [f"q{n}" for n in range(PLANTED)]
    assert sorted(text["doc_id"] for text in holes[0]["passages"]) == ["again", "hole0"]
    (group,) = holes[0]["relevant"]
    assert sorted(group["doc_ids"]) == ["again", "d0", "hole0"]
    assert f"{PLANTED} with missing labels" in found.to_markdown()
    assert found.to_markdown().count("| q0 |") == 1


def test_copies_of_gold_documents_are_offered_as_equivalents(path: Path, texts: dict[str, str]) -> None:
    """A copy and a near copy that hold the evidence are named with the labels that take them in; no hole beside.

    A near copy that tells the fact otherwise is none, nor is one that a label names; a renamed gold document is found.
    """
    filler = " ".join(f"Sentence {n} tells of ships and of tides at noon." for n in range(12))
    texts = {name: f"{text} {filler} {name}." for name, text in texts.items()}
    rg.freeze_set(path, corpus=texts)
    same, near, other = texts["d20"], texts["d21"].replace("at noon", "at dawn", 1), texts["d22"]
    more = texts | {"copy": f"  {same}\n", "near": near, "other": other.replace("1823", "1950")}
    more["new-d23"] = more.pop("d23")
    more["twin"] = more["new-d23"]
    found = rg.check_set(path, corpus=more)
    copies = {one["query_id"]: one for one in found.to_dict()["label_copies"]}
    assert {name: [(one["doc_id"], one["of"]) for one in row["copies"]] for name, row in copies.items()} == {
        "q20": [("copy", "d20")],
        "q21": [("near", "d21")],
        "q23": [("twin", "new-d23")],
    }
    assert copies["q20"]["copies"][0]["alike"] == 1
    assert 0.8 <= copies["q21"]["copies"][0]["alike"] < 1
    assert copies["q20"]["relevant"] == [{"doc_ids": ["d20", "copy"], "grade": 1}]
    assert "| d20 | copy | 100% | 1 |" in found.to_markdown()
    offered = {text["doc_id"] for one in found.to_dict()["label_holes"]["holes"] for text in one["passages"]}
    assert not offered & {"copy", "near", "other", "twin"}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows[20:22]:
        row["relevant"] = copies[row["query_id"]]["relevant"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    left = rg.check_set(path, corpus=more, judge="none")
    assert [one["query_id"] for one in left.to_dict()["label_copies"]] == ["q23"]
    assert "Copies of gold documents" not in rg.check_set(path, corpus=texts, judge="none").to_markdown()


TEXT = "The pier was opened in 1850. " + " ".join(f"Sentence {n} tells of ships and tides." for n in range(60))
GOOD = Example("q", "Which?", references=("In 1850.",), relevant=(Relevant(("a",)),), answerable=True)
EDGE = TEXT.index("Sentence 20"), TEXT.index("Sentence 45")  # 256 tokens end between them


def _of(kind: QuestionType) -> Example:
    """An example that keeps what its type promises."""
    two = (Relevant(("a",)), Relevant(("b", "c")))
    return {
        "single": GOOD,
        "temporal": GOOD,
        "boundary": replace(GOOD, gold_spans=(Span("a", *EDGE),)),
        "multi_hop": replace(GOOD, relevant=two),
        "comparison": replace(GOOD, relevant=two),
        "unanswerable": replace(GOOD, references=(), relevant=(), answerable=False),
        "false_premise": replace(GOOD, answerable=None, criteria=("Corrects it.",)),
        "ambiguous": replace(GOOD, criteria=("Asks back.",)),
    }[kind]


BREAKS: dict[QuestionType, tuple[Example, str]] = {
    "single": (replace(GOOD, relevant=(Relevant(("a",)), Relevant(("b",)))), "2 gold documents, expected 1"),
    "temporal": (replace(GOOD, references=("Early.",)), "neither the question nor the answer has a date"),
    "boundary": (
        replace(GOOD, gold_spans=(Span("a", 0, 28),)),
        "neither late in a long document nor at the start or end",
    ),
    "multi_hop": (GOOD, "1 gold document, expected 2 to 3"),
    "comparison": (replace(GOOD, relevant=()), "0 gold documents, expected 2 to 3"),
    "unanswerable": (replace(GOOD, relevant=(), answerable=True), "it is answerable, expected not answerable"),
    "false_premise": (replace(GOOD, answerable=None), "no criterion such as 'Corrects the false premise"),
    "ambiguous": (replace(GOOD, criteria=()), "no criterion such as 'Asks which reading"),
}


@pytest.mark.parametrize("kind", TYPES)
def test_a_type_that_is_not_kept_is_named(kind: QuestionType) -> None:
    """An example of each type passes; one change that breaks its promise is named; rejected ones are passed by."""
    meta = Curation(origin=Origin("model", type=kind))
    good, (bad, told) = _of(kind), BREAKS[kind]
    lines = [build_line(replace(good, query_id="good"), meta), build_line(replace(bad, query_id="bad"), meta)]
    lines.append(build_line(replace(bad, query_id="no"), replace(meta, state="rejected")))
    lines.append(build_line(replace(bad, query_id="other"), Curation(origin=Origin("mine", type="my own type"))))
    (found,) = find_broken_contracts(SetFile("set", tuple(lines)), {"a": TEXT})
    assert (found.query_id, found.type) == ("bad", kind)
    assert told in found.problem
