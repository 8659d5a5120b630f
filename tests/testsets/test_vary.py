"""Laws of all kinds of variation, and what is said of entity alone: nothing in the corpus answers it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.core.document import Document
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.variation import parse_original_id
from ragauge.testsets.check.contracts import find_broken_contracts
from ragauge.testsets.set_file import SetFile, read_set_file
from ragauge.testsets.vary.kinds import KINDS, build_variations
from ragauge.testsets.vary.variant_set import Variation, build_varied_set
from ragauge.text.tokens import split_words

DOCUMENTS = [
    Document("t", "Tower", "The Eiffel Tower in Paris was opened in 1889. It was built by Gustave Eiffel."),
    Document("b", "Bridge", "The Tower Bridge in London was opened in 1894. It was drawn by Horace Jones."),
    Document("h", "Hub", "A hub can be returned within 30 days in Berlin, since Clara Weber wrote so in 1977."),
]
ROWS: list[dict[str, Any]] = [
    {
        "query_id": "q1",
        "query": "Who built the Eiffel Tower in Paris in 1889?",
        "reference_answer": "Gustave Eiffel",
        "relevant": {"t": 1},
        "gold_spans": [{"doc_id": "t", "start": 46, "end": 76}],
        "tags": ["golden"],
        "meta": {
            "state": "golden",
            "by": "Ann",
            "origin": {"method": "model", "type": "single"},
            "anchors": [{"doc_id": "t", "start": 46, "end": 76, "quote": "It was built by Gustave Eiffel"}],
        },
    },
    {
        "query_id": "q2",
        "query": "Which bridge was opened in London in 1894?",
        "cluster": "bridges",
        "criteria": ["names the bridge"],
        "answerable": True,
        "segments": {"type": "place"},
    },
    {"query_id": "q3", "query": "Why was the Tower Bridge painted in London?", "answerable": False, "relevant": {}},
    {"query_id": "q4", "query": "What did Clara Weber write in 1977?", "meta": {"state": "rejected"}},
]


def _set(folder: Path) -> SetFile:
    path = folder / "set.jsonl"
    path.write_text("".join(f" {json.dumps(row)} \n" for row in ROWS), encoding="utf-8")  # blanks: bytes to keep
    return read_set_file(path)


@cache
def _kind(name: str) -> Variation:
    return build_variations([name], DOCUMENTS)[0]


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Variation:
    """Every kind in turn."""
    return _kind(request.param)


@pytest.mark.parametrize("name", list(KINDS))
@given(query=st.text(max_size=80) | st.sampled_from([str(row["query"]) for row in ROWS]), seed=st.integers(0, 99))
def test_a_variant_differs_and_is_drawn_again_alike(name: str, query: str, seed: int) -> None:
    """Whatever the question, it comes back other than it was or not at all, and equal seeds give equal variants."""
    one = _kind(name)
    put = one.question(query, Random(seed))
    assert put != query
    assert put == one.question(query, Random(seed))


def test_labels_cluster_and_origin(tmp_path: Path, kind: Variation) -> None:
    """A variant has its original's cluster, its kind, and all labels, or none where it asks for something else."""
    lines = _set(tmp_path)
    found = build_varied_set(lines, [kind])
    made = [one for one in found.file.lines if one.example.query_id not in lines.by_id]
    assert made
    for one in made:
        example, origin = one.example, one.curation.origin
        was = found.file.by_id[parse_original_id(example.query_id, kind.name) or ""]
        assert example.cluster == was.example.cluster is not None
        asks_else = {} if kind.keeps_labels or "type" not in was.example.segments else {"type": "unanswerable"}
        assert example.segments == {**was.example.segments, **asks_else, "variation": kind.name}
        assert example.query != was.example.query
        assert (example.tags, one.curation.state, was.curation.state) == (frozenset(), "draft", was.curation.state)
        assert origin is not None
        assert (origin.method, origin.seed) == (f"vary:{kind.name}", 7)
        labels = ("references", "criteria", "relevant", "gold_spans", "answerable")
        if kind.keeps_labels:
            assert all(getattr(example, name) == getattr(was.example, name) for name in labels)
            assert one.curation.anchors == was.curation.anchors
        else:
            assert (example.references, example.criteria, example.gold_spans) == ((), None, ())
            assert (example.relevant, example.answerable, one.curation.anchors) == ((), False, ())
    (count,) = found.counts
    assert count.made == len(made)
    assert count.made + count.without == (3 if kind.keeps_labels else 2)  # none of q4; entity: none of q3


def test_what_entity_asks_is_unanswerable_by_type(tmp_path: Path) -> None:
    """Whatever its original is, a variant of entity keeps the promise of the type that segment and origin name."""
    path = tmp_path / "set.jsonl"
    more = {"segments": {"type": "single", "difficulty": "easy"}, "answerable": True}
    path.write_text(json.dumps(ROWS[0] | more) + "\n", encoding="utf-8")
    found = build_varied_set(read_set_file(path), [_kind("entity")]).file
    (made,) = (one for one in found.lines if one.example.query_id == "q1~entity")
    assert made.example.segments == {"type": "unanswerable", "variation": "entity"}
    assert made.curation.origin is not None
    assert made.curation.origin.type == "unanswerable"
    assert not list(find_broken_contracts(found, {one.doc_id: one.text for one in DOCUMENTS}))


def test_originals_keep_their_bytes(tmp_path: Path, kind: Variation) -> None:
    """Only a line that gets a cluster changes, by that field alone; varied again, the whole file stays as it is."""
    lines = _set(tmp_path)
    path = tmp_path / "new.jsonl"
    build_varied_set(lines, [kind]).file.write(path)
    before, after = (one.read_text(encoding="utf-8").splitlines() for one in (tmp_path / "set.jsonl", path))
    for old, new in zip(before, after[: len(before)], strict=True):
        row = json.loads(old)
        used = any(json.loads(one)["query_id"] == f"{row['query_id']}~{kind.name}" for one in after)
        if used and "cluster" not in row:
            assert json.loads(new) == {**row, "cluster": row["query_id"]}
        else:
            assert new == old
    again = build_varied_set(read_set_file(path), [kind])
    again.file.write(tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == path.read_bytes()
    assert (again.counts[0].made, again.counts[0].there) == (0, len(after) - len(before))


def test_a_question_is_put_alike_whatever_stands_beside_it(tmp_path: Path, kind: Variation) -> None:
    """What one question becomes depends on seed, kind and query_id; of n variants each is one of all."""
    lines = _set(tmp_path)
    every = {one.example.query_id: one.example.query for one in build_varied_set(lines, [kind]).file.lines}
    some = build_varied_set(lines, [kind], n=1).file.lines
    assert len(some) == len(lines.lines) + 1
    assert all(every[one.example.query_id] == one.example.query for one in some)
    turned = SetFile(lines.name, lines.lines[::-1])
    assert {one.example.query_id: one.example.query for one in build_varied_set(turned, [kind]).file.lines} == every


def test_no_document_holds_what_was_swapped_in_beside_the_rest() -> None:
    """What entity puts in is of the corpus, and no document has it with half of the other words."""
    swap = _kind("entity")
    held = set(split_words(" ".join(f"{one.title} {one.text}" for one in DOCUMENTS)))
    for query in ("Who built the Eiffel Tower in Paris in 1889?", "Which bridge was opened in London in 1894?"):
        for seed in range(20):
            put = swap.question(query, Random(seed))
            assert put is not None
            new = set(split_words(put)) - set(split_words(query))
            rest = set(split_words(put)) & set(split_words(query)) - {"who", "which", "was", "the", "in"}
            assert new
            assert new <= held
            for document in DOCUMENTS:
                there = set(split_words(f"{document.title} {document.text}"))
                assert not (new <= there and len(rest & there) >= len(rest) / 2)


def test_what_stands_twice_is_swapped_twice_and_small_numbers_stay() -> None:
    """A name is replaced wherever it stands; "two days" has no variant, since a small number only counts."""
    swap = _kind("entity")
    put = swap.question("Was Gustave Eiffel or the brother of Gustave Eiffel an engineer?", Random(1))
    assert put is not None
    assert "Eiffel" not in put
    assert swap.question("Why are there 2 days or three bridges?", Random(1)) is None


def test_names_in_small_letters_are_known_by_the_corpus() -> None:
    """A question without capitals has its names of two words replaced too, and stays without capitals."""
    swap = _kind("entity")
    put = swap.question("who paid gustave eiffel in euros", Random(1))
    assert put is not None
    assert (put[:9], put[-9:]) == ("who paid ", " in euros")
    assert (put == put.lower(), "eiffel" in put) == (True, False)
    assert swap.question("who paid an eiffel in euros", Random(1)) is None


def test_unknown_kinds_and_a_missing_corpus_are_refused() -> None:
    """An unknown kind lists the known ones, entity without documents says what it needs; by default it is left out."""
    with pytest.raises(UnknownName, match="typos"):
        build_variations(["typo"])
    with pytest.raises(UsageError, match="--corpus"):
        build_variations(["entity"])
    assert [one.name for one in build_variations([])] == ["typos", "keywords", "case"]
    assert [one.name for one in build_variations([], DOCUMENTS)] == list(KINDS)
