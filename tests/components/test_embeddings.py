"""Embedders: what they may be, how their vectors are kept and shortened, and how a study of them reads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ragauge as rg
from ragauge.cli.main import main
from ragauge.core.errors import DataError, UnknownName, UsageError
from ragauge.studies.embeddings.compute import decide_price
from ragauge.studies.embeddings.vector_search import VectorIndex, scale_to_unit
from ragauge.studies.tables import build_study_sections

WORDS = ("hub", "lamp", "socket", "sensor", "camera", "door", "window", "valve", "pump", "clock", "fan", "siren")
TEXTS = {f"d{n}": f"the {word} has {n} parts" for n, word in enumerate(WORDS)}
SET = rg.EvalSet(
    "parts",
    tuple(
        rg.Example(f"q{n}", f"how many parts has the {text.split()[1]}", relevant=(rg.Relevant((name,)),))
        for n, (name, text) in enumerate(TEXTS.items())
    ),
)


class Letters:
    """Counts letters, and how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, texts: list[str]) -> list[list[float]]:
        self.asked += len(texts)
        return [[float(text.count(chr(97 + n))) for n in range(26)] for text in texts]


def study(store: Path, embedder: Any, **how: Any) -> Any:
    return rg.embeddings(SET, TEXTS, embedder, store=f"sqlite:///{store / 's.db'}", **how)


def test_second_run_embeds_nothing(tmp_path: Path) -> None:
    """All texts are embedded once: another study asks for none, a changed prefix for those behind it."""
    letters = Letters()
    found = study(tmp_path, {"letters": letters}, dimensions=[8], quantize=["int8", "binary"])
    assert len(found.trials) == 1 + 2 * 4
    assert letters.asked == 24
    again = study(tmp_path, {"letters": letters}, name="other")
    assert letters.asked == 24
    assert again.trials.filter(trial="letters")["texts_embedded_now"].to_list() == [0.0]
    study(tmp_path, {"letters": letters}, name="third", query_prefix="query: ")
    assert letters.asked == 36
    study(tmp_path, {"letters": letters}, fresh=True)
    assert letters.asked == 60


def test_scores_are_those_of_retrieval(tmp_path: Path) -> None:
    """Every number equals what `ragauge retrieval` says of the same rankings, and the order is that of exact cosine."""
    from ragauge.evaluation.retrieval.compute import evaluate_retrieval
    from ragauge.metrics.catalogue import parse_metric

    found = study(tmp_path, {"letters": Letters()})
    run = rg.open_run(found.trials.filter(trial="letters")["run_id"][0], store=found.url)
    qrels, rows = [], []
    for example in SET:
        (relevant,) = example.relevant or ()
        qrels.append({"query_id": example.query_id, "item": 0, "doc_id": relevant.doc_ids[0], "grade": 1.0})
    vectors = scale_to_unit(np.array(Letters()(list(TEXTS.values())), dtype=np.float32)).astype(float)
    for example in SET:
        (query,) = scale_to_unit(np.array(Letters()([example.query]), dtype=np.float32)).astype(float)
        order = sorted(zip(TEXTS, np.round(vectors @ query, 6), strict=True), key=lambda one: (-one[1], one[0]))
        rows += [{"query_id": example.query_id, "doc_id": name, "rank": n} for n, (name, _) in enumerate(order, 1)]
    import polars as pl

    names = ["ndcg@3", "ndcg@10", "recall@1", "recall@5", "recall@50"]
    report = evaluate_retrieval(pl.DataFrame(qrels), pl.DataFrame(rows), [parse_metric(name) for name in names])
    row = found.trials.filter(trial="letters").to_dicts()[0]
    assert {name: row[name] for name in names} == pytest.approx({name: report[name].mean for name in names}, abs=1e-12)
    assert run.scorecard()["ndcg@10"].mean == pytest.approx(report["ndcg@10"].mean, abs=1e-12)


def test_broken_embedders_fail_alone(tmp_path: Path) -> None:
    """An embedder that raises, gives NaN, too few or unequal vectors fails with the place; the others are complete."""

    def raising(texts: list[str]) -> list[list[float]]:
        raise RuntimeError("out of memory")

    bad = {
        "raising": raising,
        "nan": lambda texts: [[1.0, float("nan")] for _ in texts],
        "few": lambda texts: [[1.0]],
        "mixed": lambda texts: [[1.0] * (1 + n % 2) for n, _ in enumerate(texts)],
        "words": lambda texts: [["a"] for _ in texts],
        "letters": Letters(),
    }
    reasons = dict(study(tmp_path, bad, dimensions=[99]).trials.select("trial", "reason").iter_rows())
    assert reasons["raising"] == "RuntimeError: out of memory"
    assert "the vector of document d0 has nan at position 1" in reasons["nan"]
    assert "one vector for each of 12 texts, got 1" in reasons["few"]
    assert "the vector of document d1 has shape (2,), expected (1,)" in reasons["mixed"]
    assert "vector of document d0 is not a list of numbers" in reasons["words"]
    assert reasons["letters:99"] == "dimensions=99: the vectors have 26."
    assert (reasons["bm25"], reasons["letters"]) == ("", "")


def test_blank_and_zero_are_undefined(tmp_path: Path) -> None:
    """A blank question and one whose vector is zeros are undefined and counted; blank documents are never sent."""
    examples = (
        *SET.examples,
        rg.Example("blank", " ", relevant=(rg.Relevant(("d1",)),)),
        rg.Example("digits", "42", relevant=(rg.Relevant(("d1",)),)),
    )
    letters = Letters()
    url = f"sqlite:///{tmp_path / 's.db'}"
    found = rg.embeddings(rg.EvalSet("s", examples), {**TEXTS, "empty": " "}, {"letters": letters}, store=url)
    row = found.trials.filter(trial="letters").to_dicts()[0]
    assert letters.asked == 12 + 13
    assert (row["scored"], row["undefined"], row["documents_empty"]) == (12, 2, 1)
    assert (row["zero_vectors"], row["zero_query_vectors"]) == (1, 2)
    lexical = found.trials.filter(trial="bm25").to_dicts()[0]
    assert (lexical["scored"], lexical["undefined"]) == (13, 1)


def test_labels_must_be_in_the_corpus(tmp_path: Path) -> None:
    """A relevant document that the corpus has not is an error that names example and nearest ids; so are no labels."""
    wrong = rg.EvalSet("s", (rg.Example("q7", "what?", relevant=(rg.Relevant(("d99",)),)),))
    url = f"sqlite:///{tmp_path / 's.db'}"
    with pytest.raises(DataError, match=r"example q7: the relevant document 'd99' is not in the corpus, which has d9"):
        rg.embeddings(wrong, TEXTS, "local", store=url)
    with pytest.raises(DataError, match="no example has a relevant document"):
        rg.embeddings(rg.EvalSet("s", (rg.Example("q", "what?"),)), TEXTS, "local", store=url)
    with pytest.raises(UnknownName, match=r"locl.*nearest: local"):
        rg.embeddings(SET, TEXTS, "locl", store=url)
    with pytest.raises(UnknownName, match="int4"):
        rg.embeddings(SET, TEXTS, "local", quantize=["int4"], store=url)
    with pytest.raises(UsageError, match="dimensions must be at least 1"):
        rg.embeddings(SET, TEXTS, "local", dimensions=[0], store=url)


class LangChainLike:
    """The two methods of LangChain's Embeddings."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return Letters()(texts)

    def embed_query(self, text: str) -> list[float]:
        return Letters()([text])[0]


class LlamaIndexLike:
    """The two methods of LlamaIndex's BaseEmbedding."""

    def get_text_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        return Letters()(texts)

    def get_query_embedding(self, text: str) -> list[float]:
        return Letters()([text])[0]


class SentenceTransformerLike:
    """encode of sentence-transformers."""

    def encode(self, texts: list[str]) -> Any:
        return np.array(Letters()(texts))


async def awaited(texts: list[str]) -> list[list[float]]:
    return Letters()(texts)


def test_objects_of_libraries_embed_alike(tmp_path: Path) -> None:
    """Objects, classes, functions and coroutine functions of one model have one score."""
    kinds = {
        "function": Letters(),
        "lc": LangChainLike(),
        "li": LlamaIndexLike(),
        "st": SentenceTransformerLike,
        "awaited": awaited,
    }
    found = study(tmp_path, kinds)
    means = dict(found.trials.select("trial", "ndcg@10").iter_rows())
    assert len({means[name] for name in kinds}) == 1


def test_int8_and_binary_by_hand() -> None:
    """int8 errs by at most half a step of its dimension; binary ranks by Hamming distance; rescoring mends its ties."""
    rng = np.random.default_rng(3)
    rows = scale_to_unit(rng.normal(size=(300, 32)).astype(np.float32))
    queries = scale_to_unit(rng.normal(size=(20, 32)).astype(np.float32))
    ids = [f"{n:03}" for n in range(300)]
    near = VectorIndex(ids, rows, "int8")
    step = (rows.max(axis=0) - rows.min(axis=0)) / 255
    assert (np.abs(near._rows - rows) <= step / 2 + 1e-6).all()
    assert [VectorIndex(ids, rows, one).n_bytes for one in ("float32", "int8", "binary")] == [38400, 9600, 1200]
    for query, found in zip(queries, VectorIndex(ids, rows, "binary").search(queries, 10), strict=True):
        hamming = ((rows > 0) != (query > 0)).sum(axis=1)
        assert found == [ids[n] for n in sorted(range(300), key=lambda n: (hamming[n], ids[n]))[:10]]
    for query, found in zip(queries, VectorIndex(ids, rows, "binary_rescored").search(queries, 5), strict=True):
        hamming = ((rows > 0) != (query > 0)).sum(axis=1)
        candidates = sorted(range(300), key=lambda n: (hamming[n], ids[n]))[:20]
        product = np.round(np.where(rows > 0, 1.0, -1.0) @ query.astype(float), 6)
        assert found == [ids[n] for n in sorted(candidates, key=lambda n: (-product[n], ids[n]))[:5]]
    assert np.allclose(np.linalg.norm(scale_to_unit(rows, 8), axis=1), 1)


def test_command_shows_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command prints trials, prices and depths, takes a module's function, and writes a page with the chart."""
    rows = [{"query_id": one.query_id, "query": one.query, "relevant": {f"d{n}": 1}} for n, one in enumerate(SET)]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps({"_id": k, "text": t}) + "\n" for k, t in TEXTS.items()))
    (tmp_path / "own_letters.py").write_text(
        "def embed(texts):\n    return [[float(t.count(chr(97 + n))) for n in range(26)] for t in texts]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(
        sys,
        "argv",
        [
            "ragauge",
            "component",
            "embeddings",
            "set.jsonl",
            "--corpus",
            "corpus.jsonl",
            "--embedder",
            "local",
            "--embedder",
            "own_letters:embed",
            "--query-prefix",
            "own_letters:embed=find ",
            "-o",
            "study.html",
        ],
    )
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    printed = capsys.readouterr().out
    for said in ("Worth its price", "By depth", "own_letters:embed:query_prefix=find", "bm25", "ndcg@10"):
        assert said in printed
    page = (tmp_path / "study.html").read_text()
    assert "nDCG by k" in page
    assert "<svg" in page


def test_kill_loses_the_batch_in_flight(tmp_path: Path) -> None:
    """After kill -9 in the middle, all batches that came before are kept, and only the rest is embedded."""
    (tmp_path / "slow.py").write_text(
        "import os, time\ndef embed(texts):\n    with open('log', 'a+') as log:\n"
        "        log.write(f'{len(texts)}\\n')\n        log.seek(0)\n        count = len(log.readlines())\n"
        "    time.sleep(600 * (count == 4))     # until it is killed\n"
        "    return [[1.0 + len(t), float(t.count('1'))] for t in texts]\n"
    )
    script = (
        "import ragauge as rg\n"
        "texts = {f'd{n}': f'text {n}' for n in range(2000)}\n"
        "asked = rg.EvalSet('s', (rg.Example('q', 'text 1', relevant=(rg.Relevant(('d1',)),)),))\n"
        "rg.embeddings(asked, texts, 'slow:embed', store='sqlite:///s.db')\n"
    )
    first = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    log = tmp_path / "log"
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline and not (log.exists() and len(log.read_text().splitlines()) >= 4):
        time.sleep(0.01)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    before = [int(line) for line in log.read_text().splitlines()]
    assert len(before) == 4
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    every = [int(line) for line in log.read_text().splitlines()]
    assert sum(every) - 2001 <= 256  # what was asked twice
    assert sum(every) >= 2001


def planted(seed: int, gain: float, n: int) -> tuple[Any, Any]:
    """ndcg@10 of n queries by two embedders, skewed, with zeros, correlated; the second better by `gain` on average."""
    rng = np.random.default_rng(seed)
    ease = rng.beta(1.2, 1.0, n)
    cheaper = np.clip(ease + rng.normal(0, 0.12, n), 0, 1) * (rng.random(n) > 0.1) * 0.85
    dearer = np.clip(ease + rng.normal(0, 0.12, n), 0, 1) * (rng.random(n) > 0.1) * 0.85 * (1 + gain)
    return cheaper, dearer


def wrong(seeds: int, gain: float, n: int) -> float:
    bad = "dearer" if gain < 0.03 else "cheaper"
    return float(np.mean([decide_price(*planted(seed, gain, n)).verdict == bad for seed in range(seeds)]))


@pytest.mark.parametrize("gain", [0.0, 0.08])
def test_verdicts_are_seldom_wrong(gain: float) -> None:
    """Fast cell: at gains of 0 and 8 % at most 5 % of verdicts are wrong; with many queries nearly all are right."""
    assert wrong(150, gain, 100) <= 0.05
    right = "cheaper" if gain == 0.0 else "dearer"
    assert np.mean([decide_price(*planted(seed, gain, 8_000)).verdict == right for seed in range(30)]) >= 0.8


@pytest.mark.prove
@pytest.mark.parametrize("n", [20, 50, 100, 200, 1_000])
@pytest.mark.parametrize("gain", [0.0, 0.08])
def test_verdicts_are_seldom_wrong_in_a_thousand(gain: float, n: int) -> None:
    """At gains of 0 and 8 %, with 20 to 1,000 queries, at most 5 % of 1,000 verdicts are wrong."""
    assert wrong(1_000, gain, n) <= 0.05


def test_verdict_says_how_many_queries() -> None:
    """What is not decided says how many queries would, and so many do; a gain between the limits no number decides."""
    one = decide_price(*planted(5, 0.0, 60))
    assert (one.verdict, one.n) == ("not decided", 60)
    level = np.full(50, 0.5)
    between = decide_price(level, level * 1.04 + np.resize([0.1, -0.1], 50))
    assert (between.verdict, between.queries) == ("not decided", None)
    assert decide_price(level, level * 1.10 + np.resize([0.2, -0.2], 50), decide="point").verdict == "dearer"
    assert decide_price(level * 0, level).gain is None
    few = decide_price(level[:8], np.full(8, 0.9))
    assert (few.verdict, few.low, few.high) == ("not decided", None, None)
    wide = decide_price(np.eye(12)[0], np.eye(12)[1])
    assert wide.low is None or wide.low >= -1
    open_one = decide_price(level, level + np.resize([0.08, -0.08], 50))
    assert open_one.queries is not None
    assert open_one.queries > 50
    m = open_one.queries + open_one.queries % 2
    assert decide_price(np.full(m, 0.5), 0.5 + np.resize([0.08, -0.08], m)).verdict == "cheaper"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"query_prefix": "lettres=query: "}, "no embedder with a prefix 'lettres'; nearest: letters"),
        ({"quantize": "binary_rescored"}, "no precision 'binary_rescored'.*It is made together with binary"),
    ],
)
def test_a_misspelt_prefix_or_precision_is_refused(how: dict[str, str], message: str, tmp_path: Path) -> None:
    """What stands before = and is a word names an embedder; binary_rescored says where it comes from."""
    with pytest.raises(UnknownName, match=message):
        study(tmp_path, {"letters": Letters()}, **how)


def test_known_items_carry_their_caution(tmp_path: Path) -> None:
    """Where most queries are drawn from documents the study says first what they do not settle; else it does not."""
    kind = {"type": "known_item"}
    marked = [rg.Example(one.query_id, one.query, relevant=one.relevant, segments=kind) for one in SET]
    for n, cautioned in ((8, True), (4, False)):
        mixed = rg.EvalSet("mixed", (*marked[:n], *SET.examples[n:]))
        found = rg.embeddings(mixed, TEXTS, {"letters": Letters()}, store=f"sqlite:///{tmp_path / f'{n}.db'}")
        told = [one for one in found.figures.contents if isinstance(one, str)]
        assert any("cannot decide between lexical and dense" in one for one in told) is cautioned
        lead = " ".join(map(str, next(iter(build_study_sections(found.figures))).lead))
        assert ("cannot decide between lexical and dense" in lead.partition("Use ")[0]) is cautioned


def test_documents_of_gold_spans_are_relevant(tmp_path: Path) -> None:
    """A set with gold spans alone scores as one whose relevant documents are those that hold the spans."""
    spans = [rg.Example(one.query_id, one.query, gold_spans=(rg.Span(f"d{n}", 0, 3),)) for n, one in enumerate(SET)]
    (one, other) = (
        rg.embeddings(given, TEXTS, {"letters": Letters()}, store=f"sqlite:///{tmp_path / f'{n}.db'}")
        for n, given in enumerate((SET, rg.EvalSet("parts", tuple(spans))))
    )
    assert one.trials["ndcg@10"].to_list() == other.trials["ndcg@10"].to_list()
    quotes = [{"query": one.query, "gold_spans": [{"doc_id": f"d{n}", "quote": "the"}]} for n, one in enumerate(SET)]
    third = rg.embeddings(quotes, TEXTS, {"letters": Letters()}, store=f"sqlite:///{tmp_path / 'q.db'}")
    assert one.trials["ndcg@10"].to_list() == third.trials["ndcg@10"].to_list()


def priced(rows: dict[str, tuple[float, float | None, float]], n: int, *, spread: float = 0.1, **asked: Any) -> Any:
    """A study of embedders: name -> mean ndcg@10, price, bytes."""
    from tests.analysis.test_sweep_told import scores

    from ragauge.core.study import Measurement, Study, Trial
    from ragauge.studies.figures import StudySummary
    from ragauge.studies.verb import find_study_kind

    held, trials = {}, []
    noise = np.random.default_rng(4).normal(0, spread, n)
    for number, (name, (mean, price, size)) in enumerate(rows.items()):
        own = np.random.default_rng(number).normal(0, 0.01, n)
        held[name] = scores({"ndcg@10": np.clip(mean + noise + own - own.mean() - noise.mean(), 0, 1)}, range(n))
        costs = (Measurement("embedding_price", price, "USD"), Measurement("index_bytes", size, "bytes"))
        trials.append(Trial(name, {"embedder": name}, "complete", "", f"run {name}", costs))
    study = Study("e", "embeddings", trials=tuple(trials))
    return StudySummary(study, find_study_kind("embeddings"), held, ["ndcg@10"], {}).set_options(**asked)


@pytest.mark.parametrize(
    ("rows", "taken"),
    [
        ({"bm25": (0.8, 0.0, 100), "dear": (0.805, 9.0, 900)}, "bm25"),
        ({"bm25": (0.5, 0.0, 100), "dear": (0.8, 9.0, 900)}, "dear"),
        ({"dear": (0.8, 9.0, 900), "mid": (0.79, 2.0, 500), "bm25": (0.5, 0.0, 100)}, "mid"),
        ({"one": (0.70, 0.0, 500), "other": (0.72, 0.0, 500), "bm25": (0.4, 0.0, 100)}, "other"),
        ({"other": (0.72, 0.0, 505), "one": (0.70, 0.0, 500), "bm25": (0.4, 0.0, 100)}, "other"),
    ],
)
def test_headline_follows_the_rule_of_the_table(rows: dict[str, Any], taken: str) -> None:
    """What is taken is what no row of the table decides against, BM25 counted; of one price it is the better mean."""
    found = priced(rows, 400)
    assert found.reading.recommendation.trial == taken
    (table,) = (one for one in found.contents if getattr(one, "heading", "") == "Worth its price")
    for cheaper, dearer, _, _, verdict in table.rows:
        if taken in (cheaper, dearer):
            assert taken in verdict


@pytest.mark.parametrize("n", [12, 49, 50])
def test_few_queries_are_said(n: int) -> None:
    """Below 50 queries the headline and a sentence say so; what the table does not decide is not recommended."""
    found = priced({"bm25": (0.6, 0.0, 100), "dear": (0.62, 9.0, 900)}, n, spread=0.2)
    said = " ".join(one for one in found.contents if isinstance(one, str))
    assert (f"{n} queries are few" in said) is (n < 50)
    assert ("fewer than 50" in found.reading.recommendation.reason) is (n < 50)
    assert found.reading.recommendation.trial is None
    assert "not decided between bm25, dear" in found.reading.recommendation.reason
