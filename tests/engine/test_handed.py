"""The passages that a system is handed: labelled ones, none, another run's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import EvalSet, Example, Relevant, Span
from ragauge.core.response import Passage, Response, Run
from ragauge.engine.systems import build_system, find_variant_passages, read_settings
from ragauge.store.store_access import Store

CORPUS = {"d1": "First document. It has two sentences.", "d2": "Second document.", "d3": "Third document."}


def golden(*examples: Example) -> EvalSet:
    return EvalSet("golden", examples)


@pytest.mark.parametrize(
    ("labels", "passages"),
    [
        ({"relevant": (Relevant(("d2",)),)}, (Passage("d2", "d2", CORPUS["d2"]),)),
        ({"relevant": (Relevant(("d2",)), Relevant(("d3",), 0))}, (Passage("d2", "d2", CORPUS["d2"]),)),
        ({"relevant": (Relevant(("dx", "d3", "d2")),)}, (Passage("d3", "d3", CORPUS["d3"]),)),
        ({"relevant": (Relevant(("d2",)), Relevant(("d2",)))}, (Passage("d2", "d2", CORPUS["d2"]),)),
        (
            {"relevant": (Relevant(("d1",)),), "gold_spans": (Span("d1", 16, 37),)},
            (Passage("d1:16-37", "d1", "It has two sentences.", span=Span("d1", 16, 37)),),
        ),
        ({"answerable": False}, ()),
        ({"relevant": ()}, ()),
        ({"relevant": (Relevant(("d2",)), Relevant(("dx",)))}, None),
        ({"relevant": (Relevant(("d2",), 0),)}, None),
        ({"gold_spans": (Span("d1", 900, 950),)}, None),
        ({}, None),
    ],
)
def test_labelled_passages(store: Store, labels: dict[str, Any], passages: tuple[Passage, ...] | None) -> None:
    """Spans before documents, one document of a group, none where there is no answer; what is unknown is left out."""
    sure = Example("sure", "?", relevant=(Relevant(("d1",)),))
    found, said = find_variant_passages("oracle", golden(sure, Example("q", "?", **labels)), store, corpus=CORPUS)
    assert found is not None
    assert found.get("q") == passages
    assert bool(said) == (passages is None)
    if said:
        assert "1 of 2 questions are skipped" in said


@pytest.mark.parametrize("form", ["jsonl", "csv", "folder", "rows"])
def test_corpus_in_any_form(store: Store, tmp_path: Path, form: str) -> None:
    """A corpus is a file, a folder with corpus.jsonl, or rows in memory."""
    rows = [{"_id": "d0", "text": "Nothing."}, {"_id": "d1", "text": "One."}]
    lines = '{"_id": "d0", "text": "Nothing."}\n{"_id": "d1", "text": "One."}\n'
    (tmp_path / "corpus.jsonl").write_text(lines)
    (tmp_path / "corpus.csv").write_text("doc_id,text\nd0,Nothing.\nd1,One.\n")
    source: Any = {
        "jsonl": tmp_path / "corpus.jsonl",
        "csv": str(tmp_path / "corpus.csv"),
        "folder": tmp_path,
        "rows": rows,
    }[form]
    found, _ = find_variant_passages(
        "oracle", golden(Example("q", "?", relevant=(Relevant(("d1",)),))), store, corpus=source
    )
    assert found == {"q": (Passage("d1", "d1", "One."),)}


def test_corpus_is_the_folder_that_the_reference_system_reads(store: Store, tmp_path: Path) -> None:
    """A folder of text files serves as it is: paths without endings are the ids, front matter is no text."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "d1.md").write_text("---\ntitle: One\n---\nIt has two. Sentences.\n")
    (tmp_path / "d0.txt").write_text("Nothing.")
    label = Example("q", "?", gold_spans=(Span("in/d1", 0, 11),))
    found, _ = find_variant_passages("oracle", golden(label), store, corpus=str(tmp_path))
    assert found == {"q": (Passage("in/d1:0-11", "in/d1", "It has two.", span=Span("in/d1", 0, 11)),)}
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no text file"):
        find_variant_passages("oracle", golden(label), store, corpus=tmp_path / "empty")


def test_corpus_that_is_none(store: Store, tmp_path: Path) -> None:
    """A file without ids and texts, or that is not there, is an error with its name."""
    (tmp_path / "bad.jsonl").write_text('{"title": "x"}\n')
    asked = golden(Example("q", "?", relevant=(Relevant(("d1",)),)))
    for name, said in (("bad.jsonl", "line 1: no document with an id and text"), ("no.jsonl", "there is no such file")):
        with pytest.raises(DataError, match=said):
            find_variant_passages("oracle", asked, store, corpus=tmp_path / name)


def test_none_and_another_runs(store: Store) -> None:
    """Closed book hands nothing to every question; a replay the first answers' passages that have their texts."""
    examples = [Example(f"q{n}", f"question {n}") for n in range(4)]
    passage = Passage("p", "d", "text")
    responses = [
        Response("q0", 0, (passage,)),
        Response("q0", 1, ()),
        Response("q1", error="timeout: x"),
        Response("q2", 0, ()),
        Response("q3", 0, (Passage("p", "d"),)),
    ]
    by_id = {example.query_id: example for example in examples}
    run = store.runs.import_run(Run("", "r"), [(by_id[one.query_id], one) for one in responses])
    assert find_variant_passages("own", golden(*examples), store) == (None, "")
    assert find_variant_passages("closed_book", golden(*examples), store) == ({f"q{n}": () for n in range(4)}, "")
    found, said = find_variant_passages("replayed", golden(*examples), store, run_id=run.run_id)
    assert found == {"q0": (passage,), "q2": ()}
    assert "2 of 4 questions are skipped" in said
    with pytest.raises(UsageError, match="no question in common with the other run"):
        find_variant_passages("replayed", golden(Example("other", "?")), store, run_id=run.run_id)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("system:\n  config: {k: 8}\nmetrics: [recall]\n", {"config": {"k": 8}}),
        ("config: {k: 8}\n", {"config": {"k": 8}}),
        ("- a\n", "expected the settings of a system"),
        ("system: 7\n", "expected the settings of a system"),
        ("a: [\n", "not YAML"),
    ],
)
def test_settings_file(tmp_path: Path, text: str, found: Any) -> None:
    """The section system, or the whole where there is none; anything else is an error with the file's name."""
    path = tmp_path / "s.yaml"
    path.write_text(text)
    if isinstance(found, dict):
        assert read_settings(path) == found
        assert build_system(lambda query: query, path).config == {"k": 8}
        return
    with pytest.raises(DataError, match=f"s.yaml: {found}"):
        read_settings(path)
