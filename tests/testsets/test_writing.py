"""Sets written by a model: the whole path over a model server that follows a script."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.docs.pages import taken
from tests.loopback.server import FaultyServer
from tests.testsets.writing_server import corpus, writing

import ragauge as rg
from ragauge.core.document import Document
from ragauge.core.errors import DataError, UnknownName, UsageError
from ragauge.testsets.corpus_view import CorpusView
from ragauge.testsets.generate.plan import parse_pools, read_plan, sample_manners, select_pool
from ragauge.testsets.set_writers import check_rejections_file

pytestmark = pytest.mark.server
(PLAN,) = taken("docs/test-sets.md", "yaml")


@pytest.fixture
def texts() -> dict[str, str]:
    return {one.doc_id: one.text for one in corpus()}


def _generate(server: FaultyServer, texts: dict[str, str], folder: Path, **more: Any) -> Any:
    given: dict[str, Any] = {"n": 12, "types": "single=1", "store": f"sqlite:///{folder}/store.db"} | more
    return rg.generate_set(texts, output=folder / "set.jsonl", model=f"openai-chat:any@{server.url}", **given)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_questions_have_answers_and_gold_spans_and_take_few_calls(texts: dict[str, str], tmp_path: Path) -> None:
    """Each question has its answer, and a span whose characters are its quote; at most two calls a question kept.

    The same again asks nothing and writes the same bytes.
    """
    with FaultyServer(reply=writing()) as server:
        found = _generate(server, texts, tmp_path, n=30)
        calls = len(server.requests)
        before = (tmp_path / "set.jsonl").read_bytes()
        again = _generate(server, texts, tmp_path, n=30)
        assert len(server.requests) == calls
    assert found.exit_code == again.exit_code == 0
    assert (tmp_path / "set.jsonl").read_bytes() == before
    rows = _rows(tmp_path / "set.jsonl")
    assert len(rows) == 30
    assert calls <= 2 * 30
    for row in rows:
        (span,), (anchor,) = row["gold_spans"], row["meta"]["anchors"]
        assert texts[span["doc_id"]][span["start"] : span["end"]] == anchor["quote"]
        assert row["relevant"] == {span["doc_id"]: 1.0}
        assert row["meta"]["state"] == "draft"
        assert row["meta"]["origin"]["method"] == "model"
        assert row["segments"]["difficulty"] in ("easy", "medium", "hard")
    assert len({row["query"] for row in rows}) == 30


def test_each_type_keeps_its_contract(texts: dict[str, str], tmp_path: Path) -> None:
    """Gold documents, answerable and criteria are those that each type promises; a reader takes the set as it is."""
    shares = {"single": 1, "multi_hop": 1, "comparison": 1, "temporal": 1, "unanswerable": 1, "false_premise": 1}
    with FaultyServer(reply=writing()) as server:
        found = _generate(server, texts, tmp_path, n=18, types=shares)
    assert found.exit_code == 0, found
    by_type: dict[str, list[rg.Example]] = {}
    for example in rg.read_set(tmp_path / "set.jsonl"):
        by_type.setdefault(example.segments["type"], []).append(example)
    assert {name: len(part) for name, part in by_type.items()} == dict.fromkeys(shares, 3)
    for name, part in by_type.items():
        documents = {len(example.relevant or ()) for example in part}
        assert documents == {2 if name in ("multi_hop", "comparison") else 0 if name == "unanswerable" else 1}
        assert {example.answerable for example in part} == {
            False if name == "unanswerable" else None if name == "false_premise" else True
        }
        assert all(bool(example.criteria) is (name == "false_premise") for example in part)
        assert all(bool(example.references) is (name != "unanswerable") for example in part)


def test_nothing_new_ends_a_type_with_its_reason(texts: dict[str, str], tmp_path: Path) -> None:
    """Three calls in a row of which nothing is kept end a type; what came is in the file of the rejected; exit 4."""

    def copies(item: dict[str, Any], _passages: Any) -> dict[str, Any]:
        return item | {"evidence": [{"passage": 1, "quote": "Nothing of the sort stands in any page here."}]}

    with FaultyServer(reply=writing(copies)) as server:
        found = _generate(server, texts, tmp_path, n=30, rejected=tmp_path / "rejected.jsonl")
        assert len(server.requests) == 3
    assert found.exit_code == 4
    value = found.to_dict()["types"]["single"]
    assert value["ended"].startswith("3 calls in a row gave nothing new")
    assert value["rejected"] == {"quote": 9}
    rejected = _rows(tmp_path / "rejected.jsonl")
    assert Counter(row["meta"]["note"].partition(":")[0] for row in rejected) == {"quote": 9}
    assert {row["meta"]["state"] for row in rejected} == {"rejected"}


def test_passages_that_allow_no_question_do_not_end_a_type(texts: dict[str, str], tmp_path: Path) -> None:
    """A model that declines most passages is asked about others, about none twice; the summary tells of it apart.

    One that declines all is asked about each document once, or thirty in a row, and the type ends with that reason.
    """
    asked: list[str] = []

    def seldom(item: dict[str, Any], passages: Any) -> dict[str, Any]:
        asked.append(passages[0])
        kept = int(passages[0].partition("opened in ")[2][:4]) % 7 == 0
        return item if kept else {"question": "", "answer": "", "evidence": []}

    with FaultyServer(reply=writing(seldom)) as server:
        found = _generate(server, texts, tmp_path, n=9, rejected=tmp_path / "rejected.jsonl")
    told = found.to_dict()["types"]["single"]
    assert (found.exit_code, told["kept"], told["ended"], told["rejected"]) == (0, 9, "", {})
    assert told["unwritten"] == {"declined": told["unwritten"]["declined"]}
    assert told["unwritten"]["declined"] > 9
    assert max(Counter(asked).values()) <= 3  # the questions of one call
    assert "| declined |" in found.to_markdown()
    notes = Counter(row["meta"]["note"].partition(":")[0] for row in _rows(tmp_path / "rejected.jsonl"))
    assert notes == told["unwritten"]
    assert "in 30 calls in a row" in _all_declined(texts, tmp_path)["ended"]
    few = dict(list(texts.items())[:5])
    assert _all_declined(few, tmp_path)["ended"] == "there are no more documents that allow such a question"


def _all_declined(texts: dict[str, str], folder: Path) -> Any:
    """What becomes of a type whose every passage the model declines."""
    declined = writing(lambda _item, _passages: {"question": "", "answer": "", "evidence": []})
    with FaultyServer(reply=declined) as server:
        found = _generate(server, texts, folder, n=30, store=f"sqlite:///{folder}/{len(texts)}.db")
        assert len(server.requests) == min(30, len(texts))
    return found.to_dict()["types"]["single"]


def test_replies_that_cannot_be_read_are_no_rejected_questions(texts: dict[str, str], tmp_path: Path) -> None:
    """They and failed calls are counted by names of their own; the reply as it came is in the summary and the file."""
    with FaultyServer(reply=lambda *_: {"sorry": "I would <b>rather</b> not"}) as server:
        found = _generate(server, texts, tmp_path, n=30, rejected=tmp_path / "rejected.jsonl")
    told = found.to_dict()["types"]["single"]
    assert (told["rejected"], told["unwritten"]) == ({}, {"unreadable": 9})
    assert told["ended"] == "3 calls in a row gave nothing new (rejected so far: unreadable 9)"
    notes = {row["meta"]["note"] for row in _rows(tmp_path / "rejected.jsonl")}
    assert {note.partition(":")[0] for note in notes} == {"unreadable"}
    assert all("I would <b>rather</b> not" in note for note in notes)
    assert "I would &lt;b&gt;rather&lt;/b&gt; not" in found.to_markdown()


def test_a_curated_set_survives_the_making_of_another(texts: dict[str, str], tmp_path: Path) -> None:
    """A marked example, another seed, a hand at a reference: refused, no byte changed; in vain: the file stays."""

    def copies(item: dict[str, Any], _passages: Any) -> dict[str, Any]:
        return item | {"evidence": [{"passage": 1, "quote": "Nothing of the sort stands in any page here."}]}

    path = tmp_path / "set.jsonl"
    with FaultyServer(reply=writing()) as server:
        _generate(server, texts, tmp_path, n=6)
        drafts = path.read_bytes()
        with pytest.raises(UsageError, match=r"did not write.*--existing"):
            _generate(server, texts, tmp_path, n=6, seed=8)
        calls = len(server.requests)
        rg.mark_set(path, to="golden", by="Ann", ids=_rows(path)[0]["query_id"])
        golden = path.read_bytes()
        with pytest.raises(UsageError, match="It was not changed"):
            _generate(server, texts, tmp_path, n=6)
        with pytest.raises(UsageError, match="contains other data than rejected"):
            _generate(server, texts, tmp_path / "new", n=6, rejected=path)
        blank = tmp_path / "blank.jsonl"  # of a question that the schema rejected; it may be written over
        meta = {"state": "rejected", "origin": {"method": "model"}}
        blank.write_text(json.dumps({"query_id": "q", "query": "", "meta": meta}) + "\n", encoding="utf-8")
        check_rejections_file(blank)
        assert path.read_bytes() == golden
        assert len(server.requests) == calls
        path.write_bytes(drafts.replace(b"merchants", b"traders"))
        with pytest.raises(UsageError, match="this run did not create"):
            _generate(server, texts, tmp_path, n=6)
        assert path.read_bytes() == drafts.replace(b"merchants", b"traders")
    path.write_bytes(drafts)
    with FaultyServer(reply=writing(copies)) as server:
        found = _generate(server, texts, tmp_path, n=30, store=f"sqlite:///{tmp_path}/other.db")
    assert (found.exit_code, found.data.lines, path.read_bytes()) == (4, (), drafts)


def test_questions_of_an_existing_set_are_not_written_again(texts: dict[str, str], tmp_path: Path) -> None:
    """With the same questions in another set, each is a duplicate."""
    with FaultyServer(reply=writing()) as server:
        _generate(server, texts, tmp_path, n=6)
        (tmp_path / "old.jsonl").write_bytes((tmp_path / "set.jsonl").read_bytes())
        (tmp_path / "set.jsonl").unlink()
        found = _generate(server, texts, tmp_path, n=6, existing=tmp_path / "old.jsonl")
    old = {row["query"] for row in _rows(tmp_path / "old.jsonl")}
    assert not old & {row["query"] for row in _rows(tmp_path / "set.jsonl")}
    assert found.to_dict()["types"]["single"]["rejected"] == {"duplicate": 6}


def test_a_corpus_that_changes_ends_the_writing(tmp_path: Path) -> None:
    """A document that changes between two calls is named, with what to do; no file is written, no later call made.

    A file written anew with the same text does no harm; a document that is added or taken away does.
    """
    folder = tmp_path / "docs"
    folder.mkdir()
    for page in corpus():
        folder.joinpath(f"{page.doc_id}.md").write_text(page.text, encoding="utf-8")
    wanted: dict[str, Any] = {"n": 30, "output": tmp_path / "set.jsonl", "types": "single=1"}

    def made(change: Callable[[], object], store: str) -> int:
        """Calls made of a set whose corpus changes with the first reply."""
        script = writing()

        def reply(system: str, user: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
            change()
            return script(system, user, schema)

        with FaultyServer(reply=reply) as server:
            model, url = f"openai-chat:any@{server.url}", f"sqlite:///{tmp_path}/{store}.db"
            try:
                rg.generate_set(folder, model=model, store=url, **wanted)
            finally:
                calls.append(len(server.requests))
        return calls[-1]

    calls: list[int] = []
    same = folder / "d3.md"
    text = same.read_bytes()
    whole = made(lambda: same.write_bytes(text), "same")
    assert (tmp_path / "set.jsonl").exists()
    (tmp_path / "set.jsonl").unlink()
    with pytest.raises(DataError, match=r"changed during generation: d3 changed\..*No set was written") as told:
        made(lambda: same.write_bytes(text + b" Closed."), "changed")
    assert str(folder) in str(told.value)
    with pytest.raises(DataError, match="generation: d3 was removed"):
        made(lambda: same.unlink(missing_ok=True), "gone")
    with pytest.raises(DataError, match="generation: d99 was added"):
        made(lambda: (folder / "d99.md").write_text("A new page."), "added")
    assert not (tmp_path / "set.jsonl").exists()
    assert max(calls[1:]) < whole
    with pytest.raises(DataError, match=r"can no longer be read: .*doc_id"):
        made(lambda: (folder / "d1.txt").write_text("Another."), "twice")


def test_gold_spans_are_counted_in_files(tmp_path: Path) -> None:
    """Front matter and blank lines before the text count: a span stands where it says in the file, a check finds it."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for page in corpus(20):
        path = folder / f"{page.doc_id}.md"
        path.write_text(f"---\ntitle: A page\n---\n\n{page.text}\n", encoding="utf-8")
    folder.joinpath("latin.md").write_bytes(b"\xe9t\xe9")
    with FaultyServer(reply=writing()) as server:
        rg.generate_set(
            folder,
            output=tmp_path / "set.jsonl",
            n=6,
            types="single=1",
            store=f"sqlite:///{tmp_path}/s.db",
            model=f"openai-chat:any@{server.url}",
        )
    folder.joinpath("latin.md").unlink()
    for row in _rows(tmp_path / "set.jsonl"):
        (span,), (anchor,) = row["gold_spans"], row["meta"]["anchors"]
        text = folder.joinpath(f"{span['doc_id']}.md").read_text(encoding="utf-8")
        assert text[span["start"] : span["end"]] == anchor["quote"]
        assert (anchor["start"], anchor["end"]) == (span["start"], span["end"])
    assert rg.check_set(tmp_path / "set.jsonl", corpus=folder, judge="none").counts == {"intact": 6}


def test_documents_of_no_use_are_named_and_counted(tmp_path: Path) -> None:
    """Empty, repeated, huge and undecoded documents are told with their number, and no question is made of them."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for page in corpus(20):
        folder.joinpath(f"{page.doc_id}.md").write_text(page.text, encoding="utf-8")
    folder.joinpath("empty.md").write_text(" \n", encoding="utf-8")
    folder.joinpath("copy.md").write_text(folder.joinpath("d0.md").read_text() + "\n", encoding="utf-8")
    folder.joinpath("huge.md").write_text("harbour crane " * 150_000, encoding="utf-8")
    folder.joinpath("latin.md").write_bytes("Größe und Übersicht".encode("latin-1"))
    found = rg.generate_set(folder, output=tmp_path / "set.jsonl", n=100)
    told = found.to_dict()["corpus"]
    assert told == {
        "documents": 23,
        "empty": ["empty"],
        "copies": {"d0": "copy"},
        "huge": ["huge"],
        "not_utf8": ["latin.md"],
        "of_use": 20,
    }
    markdown = found.to_markdown()
    for sentence in (
        "1 of 23 documents have no text: empty",
        "1 of 23 documents repeat another: d0",
        "1 of 23 documents are too long: huge",
        "1 text file not in UTF-8, skipped: latin.md",
    ):
        assert sentence in markdown
    named = {doc_id for row in _rows(tmp_path / "set.jsonl") for doc_id in row["relevant"]}
    assert not named & {"empty", "d0", "huge", "latin"}
    only = tmp_path / "only"
    only.mkdir()
    only.joinpath("latin.md").write_bytes(b"\xe9t\xe9")
    with pytest.raises(DataError, match=r"none of its documents has text; not UTF-8: latin\.md"):
        rg.generate_set(only, output=tmp_path / "set.jsonl", n=3)


def test_a_plan_says_how_questions_are_put(texts: dict[str, str], tmp_path: Path) -> None:
    """What is drawn from a plan stands in the request and is a segment of the question; shares hold in many draws."""
    plan = {"styles": {"keywords": 1, "a full question": 3}, "personas": {"a visitor": 1}}
    with FaultyServer(reply=writing()) as server:
        found = _generate(server, texts, tmp_path, n=12, plan=plan, documents="niche=6")
        sent = "".join(str(request.body) for request in server.requests)
    assert "persona: a visitor" in sent
    assert "style: keywords" in sent
    rows = _rows(tmp_path / "set.jsonl")
    assert {row["segments"]["persona"] for row in rows} == {"a visitor"}
    assert {row["meta"]["origin"]["persona"] for row in rows} == {"a visitor"}
    assert found.to_dict()["types"].keys() == {"single", "single niche"}
    drawn = sample_manners(read_plan(plan), "7")
    keywords = sum(next(drawn)["style"] == "keywords" for _ in range(2_000))
    assert 0.21 < keywords / 2_000 < 0.29


def test_pools_are_the_newest_documents_and_the_smallest_topics(tmp_path: Path) -> None:
    """Recent are those of the latest dates; wrong plans and pools are named with what was expected."""
    dated = [Document(f"d{n}", "", f"Page {n} is about ships.", f"2026-01-{n + 1:02d}") for n in range(20)]
    assert select_pool("recent", CorpusView(dated)) == frozenset({"d19", "d18"})
    niche = select_pool("niche", CorpusView(corpus(100)))
    assert niche is not None
    assert 10 <= len(niche) < 60
    with pytest.raises(UsageError, match="no document has one"):
        select_pool("recent", CorpusView(corpus(5)))
    with pytest.raises(UsageError, match="more than the 10 in total"):
        parse_pools("recent=11", 10)
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.text, encoding="utf-8")
    assert read_plan(path)["style"] == {"a full question": 3.0, "keywords": 1.0}
    assert list(read_plan(path)) == ["persona", "style", "length", "language"]
    with pytest.raises(UnknownName, match="persona"):
        read_plan({"persona": {"a": 1}})
    with pytest.raises(DataError, match="styles: expected texts with shares above 0"):
        read_plan({"styles": ["short"]})
