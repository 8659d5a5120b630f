"""Scorecards that are kept: the same as a computed one in every form, and never given out when something changed."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event
from tests.api.test_baseline import METRICS, evaluated, rows
from tests.building import evidence, relevance_facts
from tests.engine.tiny_judge import SPEC

import ragauge as rg
from ragauge.comparison.verb import build_comparison_state
from ragauge.core.ask import ModelName
from ragauge.core.document import IndexListing
from ragauge.core.label import Label
from ragauge.core.response import Run
from ragauge.core.verdict import ExampleVerdict
from ragauge.evaluation.scorecard import cards
from ragauge.evaluation.scorecard.card_builder import CardBuilder
from ragauge.evaluation.scorecard.card_parts import PartCache
from ragauge.metrics.base import MetricResult
from ragauge.scores.results.scorecard import Cause
from ragauge.scores.results.scorecard import ScorecardData as Card
from ragauge.store.calls import Call
from ragauge.store.evidence import PackedEvidence
from ragauge.store.judges import LabelFile, TextScore
from ragauge.store.labels import LabelDraw
from ragauge.store.run_log import Note, Pointer
from ragauge.store.scores import Column
from ragauge.store.store_access import Store, open_store

MOST_STATEMENTS = 25
# what a scorecard is computed from; `store.cards` counts writes to each, or it is never changed
READ = {
    "verdicts",
    "controls",
    "baselines",
    "calls",
    "causes",
    "check_scores",
    "checks",
    "draws",
    "evidence",
    "example_groups",
    "examples",
    "judges",
    "labels",
    "listings",
    "metrics",
    "models",
    "reasons",
    "responses",
    "run_evidence",
    "run_judges",
    "verdict_counts",
    "run_names",
    "run_notes",
    "runs",
    "scores",
    "studies",
    "summaries",
    "texts",
    "trials",
    "own_metrics",  # a declaration that is read instead of another counts as a write of every run
}
OWN = {"cards", "summary_values", "ragauge_version", "sqlite_master"}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs over one set, one on labelled passages, and one that puts nothing to the test."""
    path = tmp_path_factory.mktemp("kept") / "kept.db"
    evaluated(f"sqlite:///{path}", "main", invented=3)
    evaluated(f"sqlite:///{path}", "changed", missed=10, invented=20, segments=())
    evaluated(f"sqlite:///{path}", "given", variant="oracle")
    return path


@pytest.fixture
def store(file: Path, tmp_path: Path) -> str:
    """A copy that a test may write to."""
    return f"sqlite:///{shutil.copy(file, tmp_path)}"


def forms(card: rg.Scorecard) -> tuple[str, ...]:
    return card.to_json(), card.to_markdown(), repr(card), card.to_html(), repr(card.failures), repr(card.to_polars())


@pytest.mark.parametrize(
    ("name", "baseline"),
    [
        pytest.param("main", None, marks=pytest.mark.prove),
        pytest.param("changed", None, marks=pytest.mark.prove),
        ("given", None),
        ("changed", "main"),
        pytest.param("main", "changed", marks=pytest.mark.prove),
        pytest.param("main", "main", marks=pytest.mark.prove),
    ],
)
def test_a_kept_scorecard_is_the_computed_one(
    store: str, name: str, baseline: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read back, a scorecard is equal to the computed one, in every form byte for byte; nothing is computed again."""
    run = rg.open_run(name, store=store)
    computed = run.scorecard(baseline=baseline)
    monkeypatch.setattr(cards, "build_card", None)
    kept = run.scorecard(baseline=baseline)
    assert kept.card == computed.card
    assert forms(kept) == forms(computed)
    assert list(kept.summaries) == list(computed.summaries)


def test_what_is_read_is_counted(store: str) -> None:
    """Scorecards with a baseline and comparisons are computed from no other tables than those whose writes count."""
    tables: set[str] = set()

    def connected(connection: Any, _: object) -> None:
        def allowed(action: int, table: str | None, *_: object) -> int:
            if action == sqlite3.SQLITE_READ and table:
                tables.add(table)
            return sqlite3.SQLITE_OK

        connection.set_authorizer(allowed)

    event.listen(Engine, "connect", connected)
    try:
        rg.open_run("changed", store=store).scorecard(baseline="main")
        rg.compare("main", "changed", store=store)
    finally:
        event.remove(Engine, "connect", connected)
    assert tables >= {"scores", "run_evidence", "causes", "baselines"}
    assert tables - OWN <= READ


def _first(store: Store, name: str) -> tuple[str, int]:
    run_id = store.runs.find(name).run_id
    return run_id, store.runs.load_order(run_id).numbers[0]


def _score(store: Store) -> None:
    run_id, number = _first(store, "changed")
    store.scores.write(run_id, [Column("mrr", 1)], [(number, [MetricResult("scored", 0.25, 1.0, 4.0)])])


def _score_of_the_baseline(store: Store) -> None:
    run_id, number = _first(store, "main")
    store.scores.write(run_id, [Column("mrr", 1)], [(number, [MetricResult("scored", 0.25, 1.0, 4.0)])])


def _cause(store: Store) -> None:
    run_id, number = _first(store, "changed")
    store.causes.write(run_id, store.scores.judges(run_id)[0], {number: Cause("hallucinated")})


def _verdict(store: Store) -> None:
    run_id, number = _first(store, "changed")
    store.verdicts.write(run_id, store.scores.judges(run_id)[0], {number: ExampleVerdict("unclear", reason="so")})


def _evidence(store: Store) -> None:
    run_id, number = _first(store, "changed")
    (found,) = evidence(relevance_facts(True)).values()
    mine = replace(found, key="ab" * 32, judge_id=store.scores.judges(run_id)[0])
    store.evidence.add([(number, PackedEvidence.of(mine))])


def _draw_and_label(store: Store) -> None:
    run_id, number = _first(store, "changed")
    store.draws.add(LabelDraw(run_id, "support", "", "random", "sentence", {number: 1.0}, frozenset({number})))
    store.labels.add([Label("ab" * 32, None, "support", "supported", "ann", "2026-01-02", "")])


def _check(store: Store) -> None:
    judge = store.scores.judges(store.runs.find("changed").run_id)[0]
    file = LabelFile(judge, "verify_answer", 1, b"f" * 32, "labels.jsonl")
    store.checks.save_scores(file, [TextScore("faithfulness", b"i" * 32, b"e" * 32, 1.0, 0.5, 1)])


def _oracle(store: Store) -> None:
    evaluated(store.url, "given again", variant="oracle", invented=9)


WRITES: dict[str, Callable[[Store], object]] = {
    "a score": _score,
    "a score of the baseline": _score_of_the_baseline,
    "a cause": _cause,
    "a verdict": _verdict,
    "evidence": _evidence,
    "a call": lambda store: store.calls.add(
        [Call("ab" * 32, "verify_answer", ModelName("p", "m"), "ok", run_id=_first(store, "changed")[0])]
    ),
    "a listing": lambda store: store.listings.write(_first(store, "changed")[0], IndexListing(3, frozenset({"d1"}))),
    "a note": lambda store: store.run_log.note(_first(store, "main")[0], Note("the first")),
    "a baseline": lambda store: store.baselines.set(Pointer("old", _first(store, "main")[0])),
    "a judge's spec": lambda store: store.judges.save_spec(store.scores.judges(_first(store, "main")[0])[0], "other"),
    "a check of the judge": _check,
    "a label of a draw": _draw_and_label,
    "a state": lambda store: store.collecting.mark_state(_first(store, "changed")[0], "interrupted"),
    "a heartbeat": lambda store: store.runs.import_run(
        store.runs.find("changed"), store.runs.pairs(_first(store, "changed")[0])
    ),
    "another run on labelled passages": _oracle,
    "an earlier run that is gone": lambda store: store.runs.delete(_first(store, "main")[0]),
}


CHECKED = ("a score", "a baseline", "a listing", "a label of a draw", "an earlier run that is gone")


@pytest.mark.parametrize(
    "what", [what if what in CHECKED else pytest.param(what, marks=pytest.mark.prove) for what in WRITES]
)
def test_nothing_stale_is_given_out(store: str, what: str) -> None:
    """After each kind of write, a scorecard is no longer given out as it was kept."""
    gone = what.endswith("is gone")
    with open_store(store) as opened:
        base = None if gone else opened.runs.find("main")
        run = opened.runs.find("changed")
        rg.open_run("changed", store=store).scorecard(baseline=base)
        assert _read_kept(opened, run, base) is not None
        WRITES[what](opened)
        assert _read_kept(opened, run, base) is None


def _read_kept(store: Store, run: Run, base: Run | None = None) -> Card | None:
    kept = PartCache(store, run, store.scores.judges(run.run_id)[0], base).read_card()
    return None if kept is None else kept.card


@pytest.mark.prove
def test_no_stale_comparison_is_given_out(store: str) -> None:
    """After each kind of write, what says that a comparison is the same is another, and then stays."""
    with open_store(store) as opened:
        base, run = opened.runs.find("main"), opened.runs.find("changed")
        for what, write in WRITES.items():
            before = build_comparison_state(base, [run], store=store)
            if not what.endswith("is gone"):  # a page of a run that is gone is none
                write(opened)
                assert build_comparison_state(base, [run], store=store) != before, what
            assert build_comparison_state(base, [run], store=store) == build_comparison_state(base, [run], store=store)


KINDS = [what for what in WRITES if not what.endswith("is gone")]


@pytest.mark.parametrize(
    "what",
    [what if what == "a score of the baseline" else pytest.param(what, marks=pytest.mark.prove) for what in KINDS],
)
def test_after_a_write_the_scorecard_is_that_of_a_store_without_any(store: str, what: str) -> None:
    """What is shown after a write equals what is computed where no scorecard was ever kept."""
    run = rg.open_run("changed", store=store)
    run.scorecard(baseline="main")
    with open_store(store) as opened:
        WRITES[what](opened)
    run = rg.open_run("changed", store=store)
    again = run.scorecard(baseline="main").to_json()
    with sqlite3.connect(store.removeprefix("sqlite:///")) as raw:
        raw.execute("DELETE FROM cards")
    raw.close()
    assert again == run.scorecard(baseline="main").to_json()


@pytest.mark.prove
@pytest.mark.parametrize("what", ["a score of the baseline", "a note", "a baseline"])
def test_a_write_elsewhere_leaves_the_report_of_a_run(store: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written of the baseline renews the comparison and the history; the run's own numbers are not computed."""
    run = rg.open_run("changed", store=store)
    run.scorecard(baseline="main")
    with open_store(store) as opened:
        WRITES[what](opened)
    monkeypatch.setattr(CardBuilder, "_gathered", None)
    renewed = run.scorecard(baseline="main")
    monkeypatch.undo()
    with sqlite3.connect(store.removeprefix("sqlite:///")) as raw:
        raw.execute("DELETE FROM cards")
    raw.close()
    assert forms(renewed) == forms(run.scorecard(baseline="main"))


@pytest.mark.prove
def test_other_runs_leave_a_scorecard_fresh(store: str) -> None:
    """A newer run, of this set or another, changes no scorecard: pages stay quick while something is evaluated."""
    with open_store(store) as opened:
        run = opened.runs.find("changed")
        rg.open_run("changed", store=store).scorecard()
        evaluated(store, "newer", invented=5)
        rg.evaluate(rows(3, prefix="x"), metrics=METRICS, judge=SPEC, store=store, name="elsewhere", workers=1)
        assert _read_kept(opened, run) is not None


def test_other_judges_leave_a_scorecard_fresh(store: str) -> None:
    """What is kept of a judge that did not judge the run changes neither its scorecard nor its verdict in lists."""
    with open_store(store) as opened:
        base, run = opened.runs.find("main"), opened.runs.find("changed")
        rg.open_run("changed", store=store).scorecard(baseline="main")
        kept, told = _read_kept(opened, run, base), opened.cards.verdicts([run.run_id])
        opened.judges.save_spec("stranger@1", "stranger")
        file = LabelFile("stranger@1", "verify_answer", 1, b"f" * 32, "labels.jsonl")
        opened.checks.save_scores(file, [TextScore("faithfulness", b"i" * 32, b"e" * 32, 1.0, 0.5, 1)])
        assert kept is not None
        assert told[run.run_id]
        assert (_read_kept(opened, run, base), opened.cards.verdicts([run.run_id])) == (kept, told)


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements that are executed meanwhile."""
    statements: list[str] = []

    def executed(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith(("BEGIN", "PRAGMA")):
            statements.append(statement)

    event.listen(Engine, "before_cursor_execute", executed)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", executed)


@pytest.mark.parametrize("baseline", [None, "main"])
def test_a_kept_scorecard_takes_few_statements(store: str, baseline: str | None) -> None:
    """A scorecard that is kept is read in at most 25 statements, with the run looked up; none lists all runs."""
    rg.open_run("changed", store=store).scorecard(baseline=baseline)
    with counted() as statements:
        rg.open_run("changed", store=store).scorecard(baseline=baseline)
    assert len(statements) <= MOST_STATEMENTS
    assert not [one for one in statements if "FROM runs" in one and "WHERE" not in one]


def test_a_list_of_runs_takes_few_statements(store: str) -> None:
    """A page of runs takes as many statements for three runs as for two, the one with a verdict among them."""
    counts = []
    for limit in (2, 3):
        with counted() as statements:
            assert len(rg.runs(limit=limit, store=store)) == limit
        counts.append(len(statements))
    assert counts[0] == counts[1] <= MOST_STATEMENTS


def test_a_run_says_how_it_compares(store: str) -> None:
    """The verdict of a comparison that was made stands in the list, until one of its runs is scored again."""
    rg.open_run("changed", store=store).scorecard(baseline="main")
    listed = {run.name: (run.verdict, run.baseline) for run in rg.runs(store=store)}
    assert listed == {"given": ("", ""), "changed": ("worse", "main"), "main": ("", "")}
    with open_store(store) as opened:
        _score_of_the_baseline(opened)
    assert {run.verdict for run in rg.runs(store=store)} == {""}
