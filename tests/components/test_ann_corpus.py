"""An index over a corpus by an embedder: recall by the labels of exact search beside that of the index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ragauge as rg
from ragauge.cli.main import main
from ragauge.core.errors import DataError, UsageError
from ragauge.studies.ann.compute import BY_LABELS, LOST

COUNT, WIDTH = 600, 16
RNG = np.random.default_rng(3)
ROWS = RNG.standard_normal((COUNT, WIDTH))
TEXTS = {f"d{n}": f"text {n}" for n in range(COUNT)}
ASKED = RNG.permutation(COUNT)[:80]
SET = rg.EvalSet(
    "numbers",
    tuple(
        rg.Example(f"q{n}", f"query {n}", relevant=(rg.Relevant((f"d{n}",)), rg.Relevant((f"d{(n + 1) % COUNT}",))))
        for n in ASKED.tolist()
    ),
)


class Table:
    """Embeds by a table, questions near their documents, and counts texts."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, texts: list[str]) -> Any:
        self.asked += len(texts)
        near = np.random.default_rng(4).standard_normal((COUNT, WIDTH))
        kinds = [(one.split()[0], int(one.split()[1])) for one in texts]
        return [ROWS[n] + (0.7 * near[n] if kind == "query" else 0) for kind, n in kinds]


def study(tmp_path: Path, embedder: Any, index: Any = ("faiss-ivf:nlist=40:nprobe=1,40",), **how: Any) -> Any:
    store = f"sqlite:///{tmp_path / 's.db'}"
    return rg.ann(SET, index, corpus=TEXTS, embedder=embedder, store=store, rounds=1, **how)


def test_recall_by_labels_is_that_of_direct_search_and_its_loss_is_paired(tmp_path: Path) -> None:
    """Exact search's recall is that of numpy; all lists lose nothing; one list loses what its run's scores say."""
    table = Table()
    found = study(tmp_path, {"table": table})
    assert table.asked == COUNT + len(ASKED)
    few, whole = found.study.trials
    queries = np.stack(Table()([one.query for one in SET.examples]))
    lengths = np.linalg.norm(ROWS, axis=1)
    near = np.argsort(-(queries @ ROWS.T) / lengths, axis=1, kind="stable")[:, :10]
    wanted = [len({n, (n + 1) % COUNT} & set(ids)) / 2 for n, ids in zip(ASKED.tolist(), near.tolist(), strict=True)]
    assert whole.find_measurement_value(BY_LABELS) == pytest.approx(np.mean(wanted))
    assert whole.find_measurement_value(LOST) == 0
    by_name = {(one.trial, one.metric): one.mean for one in found.means}
    lost = next(one for one in few.measurements if one.name == LOST)
    assert lost.value == pytest.approx(np.mean(wanted) - by_name[few.name, "recall@10"])
    assert lost.value > 0.1
    assert lost.low is not None
    assert lost.high is not None
    assert lost.low < lost.value < lost.high
    assert lost.n == len(ASKED)
    page = found.to_markdown()
    assert "Retrieval against the labels" in page
    assert "paired by question (80)" in page
    assert "points of recall@10" in page
    again = study(tmp_path, {"table": table}, name="other")
    assert table.asked == COUNT + len(ASKED)  # the vectors were kept
    assert again.study.fixed["embedder"] == "table"


def test_a_set_without_labels_has_recall_against_exact_search_alone(tmp_path: Path) -> None:
    """The questions are asked all the same; no retrieval recall is told."""
    plain = rg.EvalSet("plain", tuple(rg.Example(one.query_id, one.query) for one in SET.examples))
    store = f"sqlite:///{tmp_path / 's.db'}"
    found = rg.ann(plain, "faiss-sq", corpus=TEXTS, embedder={"table": Table()}, store=store, rounds=1)
    assert {mean.metric for mean in found.means} == {"ann_recall@10", "filled@10"}
    assert "Retrieval against the labels" not in found.to_markdown()


def test_under_a_filter_exact_search_is_that_among_those_that_pass(tmp_path: Path) -> None:
    """All lists under a filter of half the documents lose nothing of what exact search over that half finds."""
    found = study(tmp_path, {"table": Table()}, "faiss-ivf:nlist=40:nprobe=40", selectivity=(1, 0.5))
    filtered = [trial for trial in found.study.trials if "selectivity" in trial.parameters]
    inside = next(trial for trial in filtered if "oversample" not in trial.parameters)
    assert "Retrieval against the labels" in found.to_markdown()
    assert inside.find_measurement_value(LOST) == 0
    assert 0 < (inside.find_measurement_value(BY_LABELS) or 0) < 0.7  # half of the relevant documents do not pass


def test_what_does_not_fit_is_told_before_anything_is_embedded(tmp_path: Path) -> None:
    """Vectors with a corpus, an embedder without one, two kinds of queries, BM25 and unknown labels are errors."""
    table = Table()
    with pytest.raises(UsageError, match=r"VECTORS must be an eval set such as golden\.jsonl, got v\.npy"):
        rg.ann("v.npy", "null", corpus=TEXTS)
    with pytest.raises(UsageError, match="got an array"):
        rg.ann(ROWS, "null", corpus=TEXTS)
    with pytest.raises(UsageError, match="an embedder needs texts"):
        rg.ann(ROWS, "null", holdout=5, embedder="openai:text-embedding-3-small")
    with pytest.raises(UsageError, match="Remove queries and holdout"):
        study(tmp_path, {"table": table}, holdout=5)
    with pytest.raises(UsageError, match="no embedder 'bm25'"):
        study(tmp_path, "bm25")
    with pytest.raises(DataError, match="is not in the corpus"):
        rg.ann(SET, "null", corpus={"d1": "text 1"}, embedder={"table": table}, store=f"sqlite:///{tmp_path / 's.db'}")
    assert table.asked == 0

    def uneven(texts: list[str]) -> Any:
        return [[1.0] * (3 if one.startswith("query") else 2) for one in texts]

    with pytest.raises(DataError, match="returned vectors of 3 numbers, the stored ones have 2"):
        study(tmp_path, {"uneven": uneven})


def test_on_the_command_line_a_set_and_a_folder_are_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the embedder in the package: a set with labels, a corpus file, an index."""
    words = ("hub", "lamp", "socket", "sensor", "camera", "door", "window", "valve", "pump", "clock", "fan", "siren")
    corpus = [{"id": f"d{n}", "text": f"how to mount the {word}"} for n, word in enumerate(words)]
    golden = [{"query_id": f"q{n}", "query": f"a {word}", "relevant": {f"d{n}": 1}} for n, word in enumerate(words)]
    for name, rows in (("corpus", corpus), ("golden", golden)):
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "sys.argv",
        [
            "ragauge",
            "component",
            "ann",
            "golden.jsonl",
            "--corpus",
            "corpus.jsonl",
            "--index",
            "faiss-sq:bits=float16",
            "-k",
            "3",
        ],
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    said = capsys.readouterr().out
    assert "faiss-sq loses 0.0 points of recall@3" in said
    assert "Retrieval against the labels" in said


def test_labels_may_name_files(tmp_path: Path) -> None:
    """A label with the ending of a file means the document without it, as for embedders."""
    asked = rg.EvalSet("s", (rg.Example("q", "how to begin", relevant=(rg.Relevant(("start.md",)),)),))
    for name, text in (("start", "How to begin at once."), ("other", "Of fish and wine.")):
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    store = f"sqlite:///{tmp_path / 's.db'}"
    found = rg.ann(
        asked, "faiss-sq", corpus=tmp_path, embedder={"n": lambda texts: np.eye(3)[: len(texts)]}, store=store, rounds=1
    )
    assert {one.mean for one in found.means if one.metric == "recall@10"} == {1}


def test_a_vector_too_large_for_float32_is_told_without_a_warning(tmp_path: Path) -> None:
    """An embedder's 1e300 is infinite in float32: an error with the text, no warning of numpy."""
    with pytest.raises(DataError, match="has inf at position 0"):
        study(tmp_path, {"huge": lambda texts: [[1e300, 1.0]] * len(texts)})
