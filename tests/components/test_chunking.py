"""Chunkers: where their chunks stand, what they cut, and how a study of them reads."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import ragauge as rg
from ragauge.cli.main import main
from ragauge.core.errors import DataError, MissingExtra, UnknownName, UsageError
from ragauge.readers.chroma import locate_quotes, read_chroma, read_texts
from ragauge.studies.chunking.alignment import ReturnedChunk, align_chunks
from ragauge.studies.chunking.chunkers import TokenizedDocument, make_chunker, parse_grid
from ragauge.studies.chunking.maker import ChunkingMaker, ChunkingSettings
from ragauge.studies.figures import StudyTable
from ragauge.text.tokens import count_tokens

TEXT = "The hub is grey.\n\nIt pairs with 60 devices; naïve users — 東京 — pair one. " * 6 + "The end 🎉 is near."
CHROMA = Path(__file__).resolve().parents[3] / "shared/data/chroma_chunking"
CORPORA = ("chatlogs", "finance", "pubmed", "state_of_the_union", "wikitexts")


def test_token_belongs_to_the_span_of_its_last_character() -> None:
    """Tokens are as many as are counted, and neighbouring spans share them out, every token once, in any script."""
    document = TokenizedDocument("d", TEXT)
    assert len(document) == count_tokens(TEXT)
    rng = Random(1)
    for _ in range(50):
        edges = [0, *sorted(rng.sample(range(1, len(TEXT)), 4)), len(TEXT)]
        spans = [document.to_token_span(a, b) for a, b in pairwise(edges)]
        assert [one.end for one in spans[:-1]] == [one.start for one in spans[1:]]
        assert (spans[0].start, spans[-1].end) == (0, len(document))


@pytest.mark.parametrize("name", ["token", "sentence", "recursive"])
@pytest.mark.parametrize("overlap", [0, 10])
def test_own_chunkers_hold_the_text(name: str, overlap: int) -> None:
    """Every chunk stands where it says, holds at most its size, and together they hold all that is not white space."""
    document = TokenizedDocument("d", TEXT)
    pieces = make_chunker({"chunker": name, "size": 30, "overlap": overlap})(document)
    found = align_chunks("d", TEXT, pieces)
    assert (found.found, found.empty, len(found.spans)) == (0, 0, len(pieces))
    held = {n for start, end, _ in found.spans for n in range(start, end)}
    assert {n for n, sign in enumerate(TEXT) if not sign.isspace()} <= held
    assert max(count_tokens(TEXT[start:end]) for start, end, _ in found.spans) <= 33  # joined parts may take a few more
    if overlap and name == "token":  # others repeat whole parts alone, where these are short enough
        assert sum(end - start for start, end, _ in found.spans) > len(TEXT)


def test_offsets_are_verified_and_mended() -> None:
    """Right offsets stay; wrong or missing ones are found in order, white space ignored, and ambiguous ones counted."""
    text = "alpha beta. alpha  beta. gamma alpha beta."
    given = [
        ReturnedChunk("alpha beta.", 0),
        ReturnedChunk("alpha beta.", 3),
        ReturnedChunk("gamma"),
        ReturnedChunk("alpha\nbeta."),
        ReturnedChunk("  "),
    ]
    found = align_chunks("d", text, given)
    assert [(start, end) for start, end, _ in found.spans] == [(0, 11), (12, 24), (25, 30), (31, 42)]
    assert (found.found, found.empty) == (3, 1)
    later = align_chunks(
        "d", text, [ReturnedChunk("alpha"), ReturnedChunk("beta.", 35), ReturnedChunk("gamma", 25)]
    )  # a copy behind what follows
    assert [start for start, *_ in later.spans] == [0, 6, 25]
    nested = [
        ReturnedChunk("alpha beta. alpha", 0),
        ReturnedChunk("gamma alpha", 25),
        ReturnedChunk("alpha"),
        ReturnedChunk("gamma", 25),
    ]
    parents = align_chunks("d", text, nested)
    assert [start for start, *_ in parents.spans] == [0, 25, 31, 25]
    with pytest.raises(DataError, match=r"chunk 2 of d: the text is not in the document.*--allow-changed"):
        align_chunks("d", text, [ReturnedChunk("alpha"), ReturnedChunk("delta")])
    assert align_chunks("d", text, [ReturnedChunk("alpha"), ReturnedChunk("delta")], allow_changed=True).changed == 1


def test_lists_multiply() -> None:
    """Lists of values multiply to a grid; a name that means nothing is an error with the nearest."""
    assert len(parse_grid("recursive:size=200,400,800:overlap=0,50")) == 6
    assert parse_grid("llamaindex:SentenceSplitter:chunk_size=64")[0]["chunker"] == "llamaindex:SentenceSplitter"
    with pytest.raises(UsageError, match="is not a chunker"):
        parse_grid("token:size=4:oops")
    with pytest.raises(UnknownName, match="nearest: token"):
        make_chunker({"chunker": "tokens"})
    with pytest.raises(UnknownName, match="no parameter of semantic-text-splitter 'size'; nearest: capacity"):
        make_chunker({"chunker": "semantic-text-splitter", "size": 100})
    with pytest.raises(UnknownName, match="no parameter of token 'sise'; nearest: size"):
        make_chunker({"chunker": "token", "sise": 4})
    with pytest.raises(UnknownName, match="no class of langchain_text_splitters 'CharacterSplitter'; nearest: "):
        make_chunker({"chunker": "langchain:CharacterSplitter"})
    with pytest.raises(UsageError, match="langchain: length must be token or char, got word"):
        make_chunker({"chunker": "langchain:CharacterTextSplitter", "length": "word"})


def test_missing_library_names_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library the error holds the pip line."""
    monkeypatch.setattr("ragauge.core.class_lookup.is_importable", lambda module: module != "chonkie")
    with pytest.raises(MissingExtra, match=r"TokenChunker needs chonkie\. .*pip install .*\[chunking\]'"):
        make_chunker({"chunker": "chonkie:TokenChunker"})


LIBRARY_CHUNKERS = (
    "langchain:RecursiveCharacterTextSplitter:chunk_size=40:chunk_overlap=10:length=token",
    "langchain:RecursiveCharacterTextSplitter:chunk_size=90:chunk_overlap=20:add_start_index=true",
    "langchain:MarkdownHeaderTextSplitter:headers_to_split_on=h",
    "llamaindex:SentenceSplitter:chunk_size=40:chunk_overlap=5",
    "llamaindex:TokenTextSplitter:chunk_size=40:chunk_overlap=5:length=token",
    "chonkie:TokenChunker:chunk_size=120:chunk_overlap=20",
    "chonkie:RecursiveChunker:chunk_size=40:length=token",
    "chonkie:SentenceChunker:chunk_size=40:length=token",
    "semantic-text-splitter:capacity=40:length=token",
    "semantic-text-splitter:MarkdownSplitter:capacity=120:overlap=20",
)


@pytest.mark.parametrize("spec", LIBRARY_CHUNKERS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the libraries
def test_libraries_cut(spec: str) -> None:
    """Classes of four libraries cut a text in several scripts; every chunk stands where it was found, none is lost."""
    (parameters,) = parse_grid(spec)
    if "headers_to_split_on" in parameters:
        parameters["headers_to_split_on"] = [("#", "h")]
    part = "The hub {} is grey.\n\nIt pairs with {} devices; naïve users — 東京 — pair {}. "
    whole = "".join(part.format(n, n * n, n) for n in range(40))
    found = align_chunks("d", whole, make_chunker(parameters)(TokenizedDocument("d", whole)))
    assert len(found.spans) >= (1 if "Header" in spec else 30)
    assert all("".join(whole[a:b].split()) == "".join(text.split()) for a, b, text in found.spans)
    held = {n for start, end, _ in found.spans for n in range(start, end)}
    assert {n for n, sign in enumerate(whole) if not sign.isspace()} <= held
    if parameters.get("length") == "token":
        assert max(count_tokens(whole[start:end]) for start, end, _ in found.spans) <= 44


@pytest.mark.realdata
@pytest.mark.skipif(not CHROMA.is_dir(), reason="reads the public data beside the repository, which is not there")
def test_wrong_offsets_of_langchain_are_mended() -> None:
    """With a token length, add_start_index is missing or wrong for 399 of 1,408 chunks; all are found, in order.

    Of the others 140 stand at another copy of their text, nearly all in one document that repeats its sections.
    """
    name = "langchain:RecursiveCharacterTextSplitter"
    how = {"chunk_size": 400, "chunk_overlap": 200, "length": "token", "add_start_index": True}
    cut = make_chunker({"chunker": name, **how})
    chunks = wrong = mended = 0
    for doc_id, text in corpora().items():
        pieces = cut(TokenizedDocument(doc_id, text))
        bad = [one for one in pieces if not text.startswith(one.text, (len(text) if one.start is None else one.start))]
        found = align_chunks(doc_id, text, pieces)
        chunks, wrong, mended = chunks + len(pieces), wrong + len(bad), mended + found.found
        assert len(found.spans) == len(pieces)
        assert [start for start, *_ in found.spans] == sorted(start for start, *_ in found.spans)
        held = {n for start, end, _ in found.spans for n in range(start, end)}
        assert all(n in held or sign.isspace() for n, sign in enumerate(text))
    assert (chunks, wrong, mended) == (1408, 399, 539)


def test_other_chunkers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LlamaIndex's splitters, a function by name and a file of chunks all give chunks that stand in the text."""
    document = TokenizedDocument("d", TEXT)
    monkeypatch.chdir(tmp_path)
    code = "def lines(text, least=1):\n    return [one for one in text.split('. ') if len(one) > least]\n"
    (tmp_path / "my_cutter.py").write_text(code)
    (tmp_path / "chunks.jsonl").write_text(json.dumps({"doc_id": "d", "text": TEXT[5:40], "start": 5}) + "\n")
    llamaindex = {"chunker": "llamaindex:SentenceSplitter", "chunk_size": 40, "chunk_overlap": 0}
    function, file = {"chunker": "my_cutter:lines", "least": 2}, {"chunker": "chunks.jsonl"}
    for parameters, least in ((llamaindex, 3), (function, 7), (file, 1)):
        found = align_chunks("d", TEXT, make_chunker(parameters, {"d"})(document))
        assert len(found.spans) >= least, parameters
        assert all("".join(TEXT[a:b].split()) == "".join(text.split()) for a, b, text in found.spans)
    with pytest.raises(DataError, match=r"chunks\.jsonl line 1: 'd' is not a document of the corpus; nearest: d2"):
        make_chunker(file, {"d2"})
    with pytest.raises(DataError, match=r"none\.jsonl: the file of chunks does not exist"):
        make_chunker({"chunker": "none.jsonl"})
    (tmp_path / "my_whole.py").write_text("def whole(text):\n    return text\n")
    with pytest.raises(UsageError, match=r"my_whole:whole returned str\. A chunker must return a list"):
        make_chunker({"chunker": "my_whole:whole"})(document)


@pytest.fixture
def hubs(tmp_path: Path) -> tuple[Path, Path]:
    """A corpus of twelve pages, and a question on each with its gold span."""
    folder, rows = tmp_path / "docs", []
    folder.mkdir()
    for n in range(12):
        fact = f"The code of device{n} is {n * 7}. "
        text = f"Page {n}.\n\n" + "Filler stands here. " * n + fact + "More filler. " * 20
        (folder / f"page{n}.md").write_text(text)
        start = text.index("The code")
        rows.append(
            {
                "query_id": f"q{n}",
                "query": f"What is the code of device{n}?",
                "segments": {"half": str(n < 6)},
                "gold_spans": [{"doc_id": f"page{n}", "start": start, "end": text.index(".", start) + 1}],
            }
        )
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(json.dumps(row) for row in rows))
    return questions, folder


def test_study_of_chunkers(hubs: tuple[Path, Path], tmp_path: Path) -> None:
    """A study reads as a table, a set that may be best and segments; failed trials keep their reason; it is saved."""
    store = f"sqlite:///{tmp_path / 'store.db'}"
    found = rg.chunking(*hubs, ["token:size=8,64", "token:size=4:overlap=9"], k=[1, 5], budget=[16, 64], store=store)
    assert found.trials["state"].to_list() == ["complete", "complete", "failed"]
    assert "overlap must be at least 0" in found.trials["reason"][2]
    assert found.metric == "token_recall:budget=16"
    assert set(found.best_set) | set(found.front) <= set(found.trials["trial"])
    assert found.segments["segment"].unique().to_list() != []
    row = {name: found.trials[name][1] for name in found.names}
    assert row["token_recall@5"] <= row["attainable_recall@5"] <= 1
    for ending in ("md", "html", "json", "csv"):
        assert "token:size=64" in found.save(tmp_path / f"study.{ending}").read_text()
    again = rg.open_study(found.study.name, base="token:size=8", store=store)
    assert again.study == found.study
    assert any(one.difference is not None for one in again.means)
    assert rg.runs(store=store) == []
    assert len(rg.runs(study=found.study.name, store=store)) == 2


def test_values_may_be_numpys_and_of_several_types(hubs: tuple[Path, Path], tmp_path: Path) -> None:
    """Numbers of numpy are numbers; a parameter that is a number here and a text there is a column of texts."""
    store = f"sqlite:///{tmp_path / 'store.db'}"
    chunkers: list[dict[str, Any]] = [{"chunker": "token", "size": np.int64(8)}, {"chunker": "token", "size": "few"}]
    found = rg.chunking(*hubs, chunkers, k=[1], budget=[16], store=store)
    assert found.trials["state"].to_list() == ["complete", "failed"]
    assert found.trials["size"].to_list() == ["8", "few"]
    (listed,) = rg.runs(study=found.study.name, store=store)
    assert next(iter(listed.means)) == found.metric
    assert listed.means[found.metric] == pytest.approx(found.trials[found.metric][0])


def test_commands(
    hubs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command prints the study, and study list, show, report, export and delete find it."""
    questions, folder = map(str, hubs)
    monkeypatch.setenv("RAGAUGE_STORE", f"sqlite:///{tmp_path / 'store.db'}")

    def said(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["ragauge", *words])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 0, words
        return capsys.readouterr().out

    cut = ("--chunker", "recursive:size=16,64", "--name", "codes", "--budget", "32", "-k", "1")
    assert "May be best by" in said("component", "chunking", questions, "--corpus", folder, *cut)
    assert "codes" in said("study", "list")
    assert "recursive:size=16" in said("study", "show", "codes", "--base", "recursive:size=64")
    said("study", "report", "codes", "-o", str(tmp_path / "report.html"))
    said("study", "export", "codes", "-o", str(tmp_path / "trials.csv"))
    assert said("runs") == "The only runs are trials of studies. List them with: ragauge runs --study codes\n"
    said("study", "delete", "codes", "--yes")
    assert "No studies yet" in said("study", "list")


def test_verbs_work_on_trials(
    hubs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trial is an ordinary run: show, report, compare, gate and explain read its scores as the study does."""
    store = f"sqlite:///{tmp_path / 'store.db'}"
    monkeypatch.setenv("RAGAUGE_STORE", store)
    found = rg.chunking(*hubs, "token:size=8,64", k=[1], budget=[16], store=store)
    small, large = found.trials["run_id"].to_list()
    mean = found.trials["token_recall@1"].to_list()
    rules = tmp_path / "gate.yaml"
    both = ("{metric: token_recall@1, min: 0.01}", "{metric: token_recall@1, max_drop: 99 points}")
    rules.write_text("gate:\n  rules:\n" + "".join(f"  - {one}\n" for one in both))

    def said(*words: str, code: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["ragauge", *words])
        with pytest.raises(SystemExit) as end:
            main()
        told = capsys.readouterr()
        assert end.value.code == code, told
        return told.out

    assert f"{mean[1]:.2f}" in next(one for one in said("show", large).splitlines() if "token_recall@1" in one)
    assert "page1" in said("show", large, "q1")
    report = tmp_path / "report.html"
    said("report", large, "-o", str(report))
    assert "token_recall" in report.read_text()
    compared = json.loads(said("compare", small, large, "--json"))
    change = compared["comparisons"][0]["metrics"]["token_recall@1"]
    assert change["difference"] == pytest.approx(mean[1] - mean[0])
    assert "token_recall@1" in said("gate", large, "--config", str(rules), "--baseline", small)
    rules.write_text("gate:\n  rules:\n  - {metric: token_recall@1, min: 0.99}\n")
    said("gate", small, "--config", str(rules), code=3)
    assert "token_recall@1" in said("explain", large, "q1")


def test_study_without_a_complete_trial_fails(
    hubs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where every trial failed the command ends with 1 and their reasons; --allow-changed is held constant."""
    questions, folder = map(str, hubs)
    monkeypatch.setenv("RAGAUGE_STORE", f"sqlite:///{tmp_path / 'store.db'}")
    monkeypatch.chdir(tmp_path)
    Path("chunks.jsonl").write_text(json.dumps({"doc_id": "page1", "text": "Not a word of it."}) + "\n")
    words = [
        "ragauge",
        "component",
        "chunking",
        questions,
        "--corpus",
        folder,
        "--chunker",
        "chunks.jsonl",
        "--name",
        "s",
    ]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert "chunk 1 of page1: the text is not in the document" in " ".join(capsys.readouterr().out.split())
    monkeypatch.setattr(sys, "argv", [*words, "--allow-changed"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert "allow_changed was False, now True" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("span", "message"),
    [
        (
            rg.Span("nowhere", 0, 5),
            r"example q1: the gold span \[0, 5\) of 'nowhere' names a document that is not in the corpus",
        ),
        (rg.Span("d", 5, len(TEXT) + 1), rf"example q1: .* is outside the document, which has {len(TEXT)} characters"),
        (rg.Span("d", 5, 5), r"example q1: the gold span \[5, 5\) of 'd' is empty\. The end must be after the start"),
    ],
)
def test_gold_outside_the_corpus_is_named(span: rg.Span, message: str) -> None:
    """A gold span of an unknown document, or beyond a document's end, is an error before the first trial."""
    with pytest.raises(DataError, match=message):
        ChunkingMaker({"d": TEXT}, ChunkingSettings(), [rg.Example("q1", "Where?", gold_spans=(span,))])


def test_overlapping_gold_and_empty_chunks_count_once(tmp_path: Path) -> None:
    """Overlapping gold spans are one, empty chunks and documents are counted, and k beyond the chunks takes all."""
    gold = (rg.Span("d", 0, 12), rg.Span("d", 8, 20), rg.Span("d", 9, 11))
    asked = rg.EvalSet("s", (rg.Example("q", "grey hub", gold_spans=gold),))
    chunks = tmp_path / "chunks.jsonl"
    rows = [{"doc_id": "d", "text": text} for text in (TEXT[:10], " ", "", TEXT[10:40])]
    chunks.write_text("\n".join(map(json.dumps, rows)))
    store = f"sqlite:///{tmp_path / 'store.db'}"
    found = rg.chunking(asked, {"d": TEXT, "blank": " "}, str(chunks), k=[9], budget=[], store=store, price_of="")
    (row,) = found.trials.iter_rows(named=True)
    assert (row["chunks"], row["chunks_empty"], row["documents_empty"], row["gold_spans_cut"]) == (2, 2, 1, 1)
    assert (row["token_recall@9"], row["token_recall:unit=char@9"]) == (1.0, 1.0)
    assert row["token_precision:unit=char@9"] == pytest.approx(20 / 40)
    assert "embedding_price" not in row


def test_a_span_inside_a_token_is_undefined_with_the_reason(tmp_path: Path) -> None:
    """`hel` of `hello` holds no token's last character: token metrics say so, and characters are still counted."""
    asked = rg.Example("q", "hello", gold_spans=(rg.Span("d", 0, 3),))
    settings = ChunkingSettings(k=(5,), budgets=(16,))
    trial = ChunkingMaker({"d": "hello world"}, settings, [asked]).open({"chunker": "token", "size": 8})
    ((_, scores),) = trial.answers([asked])
    by = dict(zip(map(str, settings.metrics), scores, strict=True))
    reason = "its gold spans contain no complete token"
    assert (by["token_recall@5"].status, by["token_recall@5"].reason) == ("undefined", reason)
    assert by["token_recall:unit=char@5"].value == 1.0


def test_losses_are_split_and_marked(tmp_path: Path) -> None:
    """Recall and both losses add up to 1; where more than 12 chunks touch the evidence the split is marked."""
    gold = (rg.Span("d", 0, len(TEXT)),)
    asked = rg.EvalSet("s", tuple(rg.Example(f"q{n}", "Which hub is grey?", gold_spans=gold) for n in range(2)))
    found = rg.chunking(
        asked,
        {"d": TEXT},
        ["token:size=4", "token:size=40"],
        k=[],
        budget=[20],
        base="token:size=40",
        store=f"sqlite:///{tmp_path / 'store.db'}",
    )
    (table,) = [one for one in found.figures.contents if isinstance(one, StudyTable)]
    (small, *losses), (large, *other) = ([row[0], *row[1:]] for row in table.rows)
    assert (small, large) == ("token:size=4", "token:size=40")
    assert (losses[1][:2], losses[2][:2], other[1][0].isdigit()) == ("≤ ", "≥ ", True)
    assert sum(float(one.lstrip("≤≥ ")) for one in losses) == pytest.approx(1, abs=0.015)
    assert "12 chunks" in table.notes[0]
    tokens = found.trials["index_tokens"][0]
    assert found.trials["embedding_price"][0] == pytest.approx(0.02e-6 * tokens)
    with pytest.raises(UsageError, match=r"the price of embedding with 'mine:model' is unknown"):
        ChunkingSettings(price_of="mine:model")


def test_report_draws_and_target_decides(hubs: tuple[Path, Path], tmp_path: Path) -> None:
    """HTML has IoU bars, recall by budget and by k and the front; a target says which trial, or how many examples."""
    found = rg.chunking(
        *hubs,
        "token:size=8,32,64",
        k=[1, 3, 5],
        budget=[16, 64],
        target="token_recall@5=0.01",
        store=f"sqlite:///{tmp_path / 'store.db'}",
    )
    assert found.metric == "token_recall@5"
    assert found.recommendation.trial == "token:size=8"
    assert "token_iou@5 by chunker" in found.to_html()
    again = rg.open_study(found.study.name, store=found.url, target=0.999)
    assert again.metric == "token_recall:budget=16"
    page = again.to_html()
    for title in ("token_iou:budget=16 by chunker", "Recall by budget", "Recall by k", "vs index_tokens"):
        assert title in page
    assert page.count('<div class="chart"><svg') == 4
    assert "<script" not in page
    assert "srcdoc" in again._repr_html_()
    assert again.recommendation.trial is None
    charts = again.to_dict()["charts"]
    assert {len(one["points"]) for one in charts} == {3, 6, 9}
    with pytest.raises(UnknownName, match="metric of this study 'recall@7'"):
        rg.open_study(found.study.name, store=found.url, target="recall@7=0.5")
    with pytest.raises(UnknownName, match="measurement of this study 'price'"):
        rg.open_study(found.study.name, store=found.url, cost="price")


def corpora() -> dict[str, str]:
    """Chroma's five documents."""
    return {name: text for name, text in read_texts(CHROMA).items() if name in CORPORA}


def published(placed: list[tuple[int, int]], spans: list[tuple[int, int]]) -> float:
    """precision_omega as Chroma's report counts it: a chunk's first place in the text, and touching ends count."""
    gold = {n for start, end in spans for n in range(start, end)}
    held = {n for a, b in placed if any(a <= end and start <= b for start, end in spans) for n in range(a, b)}
    return len(gold & held) / len(gold | held)


@pytest.mark.realdata
@pytest.mark.skipif(not CHROMA.is_dir(), reason="reads the public data beside the repository, which is not there")
@pytest.mark.parametrize(
    ("chunker", "size", "overlap", "mean", "spread"),
    [
        ("recursive", 800, 400, 6.7, 5.2),
        ("token", 800, 400, 4.7, 3.1),
        ("recursive", 400, 200, 13.9, 10.4),
        ("token", 400, 200, 8.4, 5.1),
        ("recursive", 400, 0, 17.7, 14.0),
        ("token", 400, 0, 12.5, 8.1),
        ("recursive", 200, 0, 29.9, 18.4),
        ("token", 200, 0, 21.0, 11.9),
    ],
)
def test_published_precision_omega(chunker: str, size: int, overlap: int, mean: float, spread: float) -> None:
    """Under the published rule every published mean and standard deviation comes out within 0.1 points."""
    questions = read_chroma(CHROMA / "questions_df.csv")
    cut = make_chunker({"chunker": chunker, "size": size, "overlap": overlap})
    texts = corpora()
    placed = {
        name: [(at, at + len(one.text)) for one in cut(TokenizedDocument(name, text)) for at in [text.find(one.text)]]
        for name, text in texts.items()
    }
    values = []
    for asked in questions:
        spans = asked.gold_spans or ()
        values.append(100 * published(placed[spans[0].doc_id], [(one.start, one.end) for one in spans]))
    assert (np.mean(values), np.std(values)) == pytest.approx((mean, spread), abs=0.1)


@pytest.mark.realdata
@pytest.mark.skipif(not CHROMA.is_dir(), reason="reads the public data beside the repository, which is not there")
def test_cutoff_and_budget_disagree(tmp_path: Path) -> None:
    """With BM25, k=5 prefers recursive 800/400 by 8 to 12 points of recall, and 1,024 tokens 200/0 by 5 to 9."""
    texts = corpora()
    found = rg.chunking(
        CHROMA / "questions_df.csv",
        texts,
        ["recursive:size=800:overlap=400", "recursive:size=200:overlap=0"],
        k=[5],
        budget=[1024],
        base="recursive:overlap=0:size=200",
        store=f"sqlite:///{tmp_path / 'store.db'}",
    )
    gained = {one.metric: one for one in found.means if one.difference is not None}
    at_k, at_budget = gained["token_recall@5"], gained["token_recall:budget=1024"]
    assert at_k.difference is not None
    assert at_budget.difference is not None
    assert 0.08 <= at_k.difference <= 0.12
    assert -0.09 <= at_budget.difference <= -0.05
    assert at_k.difference_interval is not None
    assert at_budget.difference_interval is not None
    assert at_k.difference_interval.low > 0 > at_budget.difference_interval.high
    assert any("the budget decides" in note for note in found.notes)


def test_parameters_in_python_may_be_lists(hubs: tuple[Path, Path], tmp_path: Path) -> None:
    """A mapping is one trial whose values may be lists; one without a chunker is refused."""
    how = {"chunk_size": 80, "chunk_overlap": 0, "separators": [". ", " "]}
    given = {"chunker": "langchain:RecursiveCharacterTextSplitter", **how}
    store = f"sqlite:///{tmp_path / 'store.db'}"
    found = rg.chunking(*hubs, [given, "token:size=8"], k=[1], budget=[16], store=store)
    assert found.trials["state"].to_list() == ["complete", "complete"]
    assert found.study.trials[0].parameters["separators"] == [". ", " "]
    assert "separators" in found.save(tmp_path / "study.csv").read_text()
    assert rg.chunking(*hubs, given, k=[1], budget=[16], store=store).study == found.study
    with pytest.raises(UsageError, match="do not name a chunker"):
        rg.chunking(*hubs, {"size": 8}, store=store)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"metric": "token_recall@7"}, r"no metric of this study 'token_recall@7'.*Add the cutoff to -k"),
        ({"target": "token_recall@1=much"}, r"expected METRIC=x, such as recall@5=0\.8, got 'token_recall@1=much'"),
    ],
)
def test_what_decides_is_checked_first(
    how: dict[str, str], message: str, hubs: tuple[Path, Path], tmp_path: Path
) -> None:
    """A metric that is not scored and a target that is no number are errors before the first trial."""
    store = f"sqlite:///{tmp_path / 'store.db'}"
    with pytest.raises(UsageError, match=message):
        rg.chunking(*hubs, "token:size=8", k=[1], budget=[16], store=store, **how)  # type: ignore[arg-type]     # wrong on purpose
    with pytest.raises(UnknownName, match="no study"):
        rg.open_study("chunking-questions", store=store)


@pytest.mark.filterwarnings("default::UserWarning")
def test_labels_by_file_name_and_a_warning_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Gold spans may name a text file with its ending; a column that is not read is warned of in one line."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("The hub is grey. It can be returned within 30 days.", encoding="utf-8")
    line = {"question": "Which colour?", "gold_spans": [{"doc_id": "a.md", "start": 0, "end": 16}], "colour": "x"}
    (tmp_path / "set.jsonl").write_text(json.dumps(line), encoding="utf-8")
    command = [
        "ragauge",
        "component",
        "chunking",
        "set.jsonl",
        "--corpus",
        "docs",
        "--chunker",
        "token:size=8",
        "--store",
        "s.db",
    ]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    assert ended.value.code == 0
    assert "1 scored" in printed.out
    warned = [line for line in printed.err.splitlines() if "colour" in line]
    assert len(warned) == 1
    assert warned[0].startswith("warning: set.jsonl: columns not read: colour")


def test_gold_spans_may_be_quotes(tmp_path: Path) -> None:
    """A quote is found exactly, else white space aside; the first of several, counted; none is an error."""
    texts = {"a.b": "The hub is grey.\nIt is small. It is small."}
    rows = [
        {"query_id": "q1", "query": "grey hub", "gold_spans": [{"doc_id": "a.b", "quote": "grey. It  is"}]},
        {"query_id": "q2", "query": "How big?", "gold_spans": [{"doc_id": "a.b", "text": "It is small."}]},
        {"query_id": "q3", "query": "Hub?", "gold_spans": [{"doc_id": "a.b", "start": 0, "end": 7}]},
    ]
    with pytest.warns(UserWarning, match="1 quote of gold spans stands more than once in the document"):
        placed = locate_quotes(rows, texts)
    assert placed is not None
    spans = [(row["gold_spans"][0]["start"], row["gold_spans"][0]["end"]) for row in placed]
    assert spans == [(11, 22), (17, 29), (0, 7)]
    assert locate_quotes(rows[2:], texts) is None
    (tmp_path / "set.jsonl").write_text(json.dumps(rows[0]), encoding="utf-8")
    store = f"sqlite:///{tmp_path / 's.db'}"
    found = rg.chunking(tmp_path / "set.jsonl", texts, "token:size=32", k=[1], budget=[16], store=store)
    assert (found.study.name, found.trials["token_recall@1"].to_list()) == ("chunking-set", [1.0])
    rows[0]["gold_spans"] = [{"doc_id": "a.b", "quote": "is blue"}]
    with pytest.raises(DataError, match=r"example q1: the gold quote 'is blue' is not in the document 'a\.b'"):
        locate_quotes(rows, texts)
