"""The log of evaluations, in Python."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest
from tests.api.test_baseline import OTHER
from tests.engine.tiny_judge import SPEC

import ragauge as rg
from ragauge.core.verdict import RULE_VERSION
from ragauge.evaluation.runs.run_rows import build_runs_table
from ragauge.rendering.verdict_texts import count_words
from ragauge.scores.results.history_rows import HistoryRow
from ragauge.store.store_access import open_store

METRICS = "recall@5,mrr,faithfulness,latency"


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/log.db"


def evaluated(
    store: str, name: str, config: dict[str, Any], *, n: int = 6, wrong: int = 0, **more: Any
) -> rg.Scorecard:
    """A run over n questions, `wrong` of them answered with what no passage says."""
    rows = [
        {
            "query_id": f"q{i}",
            "query": f"what is {i}",
            "relevant": {f"d{i}": 1},
            "answer": "something unheard." if i < wrong else f"it is {i}.",
            "passages": [{"doc_id": f"d{i}", "text": f"it is {i}"}],
        }
        for i in range(n)
    ]
    asked = {"metrics": METRICS, "judge": SPEC, "workers": 1, "store": store, "name": name, "config": config}
    return rg.evaluate(rows, **{**asked, **more})


def numbers(text: str) -> float | None:
    return float(text) if text else None


@pytest.mark.prove
def test_ten_runs_as_csv_read_back_equal(store: str, tmp_path: Path) -> None:
    """A log of ten runs written as CSV holds every number, note and setting that the log holds."""
    for k in range(10):
        evaluated(store, f"k={k}", {"retriever": {"k": k}, "name": 'comma, "quote"\nline'}, wrong=k % 5)
        rg.note(f"k={k}", f"tried {k}, 'quoted'\nand more", store=store)
    rg.set_baseline("k=3", name="main", store=store)
    found = rg.log(store=store)
    assert len(found) == 10
    with found.save(tmp_path / "folder/log.csv").open(newline="", encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    assert [row["name"] for row in read] == [f"k={k}" for k in range(9, -1, -1)]
    for row, of in zip(read, found.history.rows, strict=True):
        assert (row["run_id"], row["note"], int(row["n"]), int(row["series"])) == (of.run.run_id, of.note, of.n, 1)
        assert (row["judge"], row["set"]) == ("tiny@1", "table")
        assert row["baselines"] == ("main" if row["name"] == "k=3" else "")
        for name in ("recall@5", "mrr", "faithfulness"):
            summary = of.metrics[name]
            assert summary.interval is not None
            assert numbers(row[name]) == summary.mean
            assert (numbers(row[f"{name} low"]), numbers(row[f"{name} high"])) == (
                summary.interval.low,
                summary.interval.high,
            )
            assert int(row[f"{name} scored"]) == summary.scored
    assert read[-1]["changed"] == "first run of this set"
    assert read[0]["changed"] == "retriever.k: 8 → 9"
    assert "latency" not in read[0]


def test_json_says_the_same(store: str, tmp_path: Path) -> None:
    """The JSON file holds the rows of the log with settings as values, and is valid JSON."""
    evaluated(store, "a", {"k": 5, "rerank": None})
    evaluated(store, "b", {"k": 8, "chunks": [1, 2]})
    found = rg.log(store=store)
    written = json.loads(found.save(tmp_path / "log.json").read_text())
    assert written == found.to_dict()
    assert written["rows"][0]["changed"] == [
        {"path": "k", "how": "changed", "base": 5, "new": 8},
        {"path": "chunks", "how": "added", "base": None, "new": [1, 2]},
        {"path": "rerank", "how": "removed", "base": None, "new": None},
    ]
    assert written["rows"][1]["changed"] == []
    with pytest.raises(rg.UsageError, match=r"expected \.csv, \.md, \.json, got \.txt"):
        found.save(tmp_path / "log.txt")


def test_a_set_is_its_own_log(store: str) -> None:
    """A run is held against the last one of its own set; --set leaves the others out; an unknown set is refused."""
    evaluated(store, "a", {"k": 1}, set=None)
    path = Path(store.removeprefix("sqlite:///")).with_name("golden.jsonl")
    row = {"query_id": "q", "query": "?", "answer": "it is.", "relevant": {"d": 1}, "passages": ["it is"]}
    path.write_text(json.dumps(row))
    rg.evaluate(path, metrics=METRICS, judge=SPEC, workers=1, store=store, config={"k": 7})
    evaluated(store, "b", {"k": 2})
    rows = rg.log(store=store).history.rows
    assert [row.run.name for row in rows] == ["b", "golden", "a"]
    assert [row.before and row.before.name for row in rows] == ["a", None, None]
    assert [row.run.name for row in rg.log("golden", store=store).history.rows] == ["golden"]
    with pytest.raises(rg.UnknownName, match="nearest: golden"):
        rg.log("goldn", store=store)


def files(store: str, *runs: tuple[str, int, int, int]) -> list[HistoryRow]:
    """The log after evaluating one file each with questions and answers: name, first and last question, its corpus."""
    folder = Path(store.removeprefix("sqlite:///")).parent
    for name, start, end, corpus in runs:
        rows = [
            {
                "query_id": f"q{i}",
                "query": f"what is {i} of {corpus}",
                "relevant": {f"d{i}": 1},
                "passages": [{"doc_id": f"d{i if i else name}", "text": f"{name} {i}"}],
            }
            for i in range(start, end)
        ]
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        rg.evaluate(path, metrics="recall@5", judge=None, workers=1, store=store)
    return list(rg.log(store=store).history.rows)


@pytest.mark.prove
def test_files_with_the_same_questions_are_one_log(store: str, tmp_path: Path) -> None:
    """Runs of files that hold questions and answers stand in one table, named by the first, and say what changed."""
    rows = files(store, ("base", 0, 6, 1), ("k8", 0, 6, 1), ("other", 0, 6, 2), ("k9", 0, 6, 1))
    assert [(row.run.name, row.listed) for row in rows] == [
        ("k9", "base"),
        ("other", "other"),
        ("k8", "base"),
        ("base", "base"),
    ]
    assert [row.before and row.before.name for row in rows] == ["k8", None, "base", None]
    assert [row.changed[0].new for row in rows if row.changed] == [["k9"], ["k8"]]
    assert {row.series for row in rows if row.listed == "base"} == {1}
    for name in ("base", "k8"):  # by any name that the set had
        assert [row.run.name for row in rg.log(name, store=store).history.rows] == ["k9", "k8", "base"]
    with rg.log(store=store).save(tmp_path / "log.csv").open(newline="", encoding="utf-8") as file:
        assert [row["set"] for row in csv.DictReader(file)] == ["base", "other", "base", "base"]
    history = rg.open_run("k9", store=store).scorecard().card.history
    assert history is not None
    assert [row.run.name for row in history.rows] == ["k9", "k8", "base"]


@pytest.mark.prove
def test_a_set_that_grew_under_another_name_is_the_same_set(store: str) -> None:
    """A set is known by half of its examples, in whatever file; ids alone, or a few questions, make no set."""
    growing = [("v1", 0, 10, 1), ("v2", 0, 18, 1), ("smoke", 0, 4, 1), ("numbered", 0, 18, 2), ("v3", 4, 24, 1)]
    rows = files(store, *growing)
    assert {row.run.name: row.listed for row in rows} == {
        "v1": "v1",
        "v2": "v1",
        "smoke": "smoke",
        "numbered": "numbered",
        "v3": "v1",
    }
    (grown,) = (row for row in rows if row.run.name == "v2")
    assert grown.before is not None
    assert grown.before.name == "v1"
    assert grown.apart[0].startswith("different version of the set (")


@pytest.mark.prove
def test_rows_measured_otherwise_are_a_series_of_their_own(store: str) -> None:
    """Another judge, or another version of the set, opens a series and says so; going back goes back to the first."""
    evaluated(store, "a", {"is": "a"})
    evaluated(store, "b", {"is": "b"}, judge=OTHER)
    evaluated(store, "c", {"is": "c"})
    evaluated(store, "d", {"is": "d"}, n=7)
    evaluated(store, "e", {"is": "e"}, n=7, metrics="recall@5", judge=None)
    rows = {row.run.name: row for row in rg.log(store=store).history.rows}
    assert [rows[name].series for name in "abcde"] == [1, 2, 1, 3, 3]
    assert rows["a"].apart == rows["e"].apart == ()
    assert rows["b"].apart == ("different judge (tiny@1 → other@1)",)
    assert rows["c"].apart == ("different judge (other@1 → tiny@1)",)
    (why,) = rows["d"].apart
    assert why.startswith("different version of the set (")
    shown = repr(rg.log(store=store))
    assert "series 2" in shown
    assert "not comparable with the row below" in shown


def test_whose_verdicts(store: str) -> None:
    """Of a run with two judges the last one's scores are shown, or those of the judge asked for."""
    evaluated(store, "a", {"is": "a"})
    rg.evaluate("a", metrics=METRICS, judge=OTHER, workers=1, store=store)
    assert [row.judge_id for row in rg.log(store=store).history.rows] == ["other@1"]
    assert [row.judge_id for row in rg.log(judge="tiny", store=store).history.rows] == ["tiny@1"]
    with pytest.raises(rg.UnknownName, match="judge"):
        rg.log(judge="nobody", store=store)


@pytest.mark.prove
def test_limit_keeps_the_newest_and_what_changed(store: str) -> None:
    """With a limit the last row shown still says what changed since the run before it, and older rows are mentioned."""
    for k in range(4):
        evaluated(store, f"k={k}", {"k": k})
    found = rg.log(limit=2, store=store).history
    assert [row.run.name for row in found.rows] == ["k=3", "k=2"]
    assert found.rows[1].before is not None
    assert found.rows[1].before.name == "k=1"
    assert found.older
    assert not rg.log(limit=4, store=store).history.older


def test_more_columns(store: str) -> None:
    """Columns beyond the usual ones are added by name, and computed ones alone have values."""
    evaluated(store, "a", {"k": 1}, metrics="recall@5,ndcg@10")
    found = rg.log(metrics="ndcg@10", store=store).history
    assert found.columns == ("recall@5", "ndcg@10")
    with pytest.raises(rg.UnknownName, match="nearest: ndcg"):
        rg.log(metrics="ndgc", store=store)


@pytest.mark.parametrize("width", [56, 80, 140])
def test_no_name_is_broken_at_any_width(store: str, width: int) -> None:
    """Metrics stand whole in the head; where there is no room for intervals beside them these are left out."""
    from rich.console import Console

    evaluated(store, "a", {})
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(rg.log(store=store).to_terminal())
    said = out.getvalue()
    assert max(map(len, said.splitlines())) <= width
    assert "recall@5" in said
    assert "faithfulness" in said
    assert ("[" in said) == (width > 56)


def test_notes(store: str) -> None:
    """A note is kept with who wrote it, replaced by the next and removed by an empty one."""
    card = evaluated(store, "a", {"k": 1})
    rg.note("a", "smaller chunks", store=store)
    assert rg.note(card, " larger chunks ", store=store)["note"] == "larger chunks"
    assert "larger chunks" in repr(rg.log(store=store))
    rg.note("latest", "", store=store)
    with open_store(store) as opened:
        assert opened.run_log.notes() == {}


@pytest.mark.prove
def test_a_runs_report_shows_those_before_it(store: str) -> None:
    """A report shows the last ten runs of its set up to its own, the newest first; the first run's has no history."""
    cards = [evaluated(store, f"k={k}", {"k": k}) for k in range(12)]
    assert cards[0].card.history is None
    assert "History" not in cards[0].to_html()
    assert cards[11].card.history is not None
    assert [row.run.name for row in cards[11].card.history.rows] == [f"k={k}" for k in range(11, 1, -1)]
    again = rg.open_run("k=3", store=store).scorecard()
    assert again.card.history is not None
    assert [row.run.name for row in again.card.history.rows] == ["k=3", "k=2", "k=1", "k=0"]
    page, text = again.to_html(), again.to_markdown()
    assert '<h2 id="history">History</h2>' in page
    assert "k: 2 → 3" in page
    assert "k: 2 → 3" in text
    assert "### History" in text


def test_lists_count_verdicts_as_the_scorecard(store: str) -> None:
    """The log, the list of runs and their tables count verdicts as the scorecard; older counts are named, not shown."""
    card = evaluated(store, "a", {}, wrong=2).card
    counts = (card.failed_examples, card.unclear_examples, card.passed_examples, card.not_judged_examples)
    (logged,), (listed,) = rg.log(store=store).history.rows, rg.runs(store=store)
    assert listed.counts == logged.counts
    assert (*counts, RULE_VERSION) == astuple(logged.counts)
    assert counts[0] == 2
    words = count_words(logged.counts)
    (row,) = csv.DictReader(io.StringIO(rg.log(store=store).to_csv()))
    assert [int(row[name]) for name in ("failed", "unclear", "passed", "not_judged")] == [*counts]
    assert words in rg.log(store=store).to_markdown()
    assert words in printed(build_runs_table(rg.runs(store=store)))
    with open_store(store) as opened:
        older = replace(logged.counts, rule_version=1)
        opened.summaries.write(card.run.run_id, card.judge.judge_id, card.summaries, counts=older)
    for text in (rg.log(store=store).to_markdown(), printed(build_runs_table(rg.runs(store=store)))):
        assert words not in text
        assert "older rule" in text
        assert "ragauge evaluate a" in text


def printed(shown: Any) -> str:
    """What a terminal of 160 columns shows."""
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=160, color_system=None).print(shown)
    return out.getvalue()
