"""Sets written by a model: the whole path over a model server that follows a script."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.docs.pages import taken
from tests.loopback.server import FaultyServer
from tests.testsets.writing_server import corpus, writing

import ragauge as rg
from ragauge.data.document import Document
from ragauge.errors import DataError, UnknownName, UsageError
from ragauge.testsets.corpus_view import CorpusView
from ragauge.testsets.writing.plan import manners, pool, pools_of, read_plan

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


def test_questions_of_an_existing_set_are_not_written_again(texts: dict[str, str], tmp_path: Path) -> None:
    """With the same questions in another set, each is a duplicate."""
    with FaultyServer(reply=writing()) as server:
        _generate(server, texts, tmp_path, n=6)
        (tmp_path / "old.jsonl").write_bytes((tmp_path / "set.jsonl").read_bytes())
        found = _generate(server, texts, tmp_path, n=6, existing=tmp_path / "old.jsonl")
    old = {row["query"] for row in _rows(tmp_path / "old.jsonl")}
    assert not old & {row["query"] for row in _rows(tmp_path / "set.jsonl")}
    assert found.to_dict()["types"]["single"]["rejected"] == {"duplicate": 6}


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
    drawn = manners(read_plan(plan), "7")
    keywords = sum(next(drawn)["style"] == "keywords" for _ in range(2_000))
    assert 0.21 < keywords / 2_000 < 0.29


def test_pools_are_the_newest_documents_and_the_smallest_topics(tmp_path: Path) -> None:
    """Recent are those of the latest dates; wrong plans and pools are named with what was expected."""
    dated = [Document(f"d{n}", "", f"Page {n} is about ships.", f"2026-01-{n + 1:02d}") for n in range(20)]
    assert pool("recent", CorpusView(dated)) == frozenset({"d19", "d18"})
    niche = pool("niche", CorpusView(corpus(100)))
    assert niche is not None
    assert 10 <= len(niche) < 60
    with pytest.raises(UsageError, match="none has one"):
        pool("recent", CorpusView(corpus(5)))
    with pytest.raises(UsageError, match="more than the 10 in all"):
        pools_of("recent=11", 10)
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.text, encoding="utf-8")
    assert read_plan(path)["style"] == {"a full question": 3.0, "keywords": 1.0}
    assert list(read_plan(path)) == ["persona", "style", "length", "language"]
    with pytest.raises(UnknownName, match="persona"):
        read_plan({"persona": {"a": 1}})
    with pytest.raises(DataError, match="styles: expected wordings with shares above 0"):
        read_plan({"styles": ["short"]})
