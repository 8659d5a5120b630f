"""What an evaluation has to do."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.tiny_judge import SPEC, TinyJudge, records

from ragauge.core.errors import JudgeError, UnknownName, UsageError
from ragauge.core.example import Example
from ragauge.core.response import Response, Run
from ragauge.engine.judges import build_judge
from ragauge.engine.plan import Plan, Selection, build_plan
from ragauge.metrics.base import MetricResult
from ragauge.metrics.catalogue import parse_metric
from ragauge.store.scores import Column
from ragauge.store.store_access import Store

RECALL, FAITHFUL, CORRECT = parse_metric("recall@5"), parse_metric("faithfulness"), parse_metric("answer_correctness")
SCORED, FAILED = MetricResult("scored", 1.0, low=1.0, high=1.0), MetricResult("failed", reason="r")


def with_run(store: Store, n: int = 10) -> str:
    return store.runs.import_run(Run("", "r"), records(n)).run_id


def score(store: Store, found: Plan, numbers: Sequence[int], result: MetricResult = SCORED) -> None:
    store.scores.write(found.run_id, found.columns, [(n, [result] * len(found.columns)) for n in numbers])


def test_plan_of_a_new_run(store: Store) -> None:
    """Everything is to be done; only the questions that the metrics need are asked, agree after verify_answer."""
    found = build_plan(store, with_run(store), [CORRECT, RECALL], TinyJudge())
    assert (found.total, found.done, found.pending) == (10, 0, 10)
    assert found.questions == ("verify_answer", "agree")
    assert found.judge_id == "tiny@1"
    assert found.columns == (
        Column("answer_correctness", CORRECT.version, "tiny@1"),
        Column("recall@5", RECALL.version),
    )


def test_plan_only_reads(store: Store) -> None:
    """Planning twice gives equal plans and leaves no judge, no score and no metric behind."""
    run_id = with_run(store)
    before = store.runs.find(run_id)
    assert build_plan(store, run_id, [CORRECT], TinyJudge()) == build_plan(store, run_id, [CORRECT], TinyJudge())
    assert store.scores.judges(run_id) == []
    assert store.runs.find(run_id) == before


def test_metrics_from_labels_ask_nobody(store: Store) -> None:
    """Without a question no judge is named, so the scores are the same whichever judge is given."""
    found = build_plan(store, with_run(store), [RECALL], TinyJudge())
    assert (found.questions, found.judge_id, found.judge) == ((), None, None)


def test_no_judge_asks_nothing(store: Store) -> None:
    """Without a judge nothing is asked, and the scores are nobody's."""
    found = build_plan(store, with_run(store), [FAITHFUL], None)
    assert (found.questions, found.columns[0].judge_id) == ((), None)


def test_question_that_the_judge_cannot_answer_is_not_asked(store: Store) -> None:
    """A judge is asked only what it answers; the scores are its scores all the same."""
    found = build_plan(store, with_run(store), [parse_metric("context_precision:unit=sentence"), FAITHFUL], TinyJudge())
    assert found.questions == ("verify_answer",)
    assert {column.judge_id for column in found.columns} == {"tiny@1"}


def test_done_has_every_score(store: Store) -> None:
    """A response is done with a score of every metric in its version by this judge; anything less is pending."""
    run_id = with_run(store)
    both = build_plan(store, run_id, [RECALL, FAITHFUL], TinyJudge())
    score(store, both, both.numbers[:4])
    score(store, build_plan(store, run_id, [RECALL], None), both.numbers[4:6])
    again = build_plan(store, run_id, [RECALL, FAITHFUL], TinyJudge())
    assert (again.total, again.done, again.numbers) == (10, 4, both.numbers[4:])
    assert build_plan(store, run_id, [RECALL], TinyJudge()).done == 6
    assert build_plan(store, run_id, [RECALL, FAITHFUL, CORRECT], TinyJudge()).done == 0
    assert build_plan(store, run_id, [FAITHFUL], TinyJudge(), judge_repeat=1).done == 0


def test_new_metric_version_is_pending(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of an older version of a metric do not count (case 50)."""
    run_id = with_run(store)
    found = build_plan(store, run_id, [FAITHFUL], TinyJudge())
    score(store, found, found.numbers)
    assert build_plan(store, run_id, [FAITHFUL], TinyJudge()).pending == 0
    monkeypatch.setattr(type(FAITHFUL), "version", FAITHFUL.version + 1)
    assert build_plan(store, run_id, [FAITHFUL], TinyJudge()).pending == 10


def test_failed_is_done_unless_tried_again(store: Store) -> None:
    """A failed score is a result; retry_failed makes it pending."""
    run_id = with_run(store)
    found = build_plan(store, run_id, [FAITHFUL], TinyJudge())
    score(store, found, found.numbers[:7])
    score(store, found, found.numbers[7:], FAILED)
    assert build_plan(store, run_id, [FAITHFUL], TinyJudge()).pending == 0
    assert build_plan(store, run_id, [FAITHFUL], TinyJudge(), Selection(retry_failed=True)).numbers == found.numbers[7:]


def test_limit_is_the_same_draw_every_time(store: Store) -> None:
    """A limit takes the first of the run's order, those done included: repeated it does nothing, raised it goes on."""
    run_id = with_run(store)
    everything = build_plan(store, run_id, [FAITHFUL], TinyJudge())
    four = build_plan(store, run_id, [FAITHFUL], TinyJudge(), Selection(limit=4))
    assert (four.total, four.numbers) == (4, everything.numbers[:4])
    score(store, four, four.numbers)
    again = build_plan(store, run_id, [FAITHFUL], TinyJudge(), Selection(limit=4))
    assert (again.total, again.done, again.pending) == (4, 4, 0)
    assert build_plan(store, run_id, [FAITHFUL], TinyJudge(), Selection(limit=6)).numbers == everything.numbers[4:6]
    assert build_plan(store, run_id, [FAITHFUL], TinyJudge(), Selection(limit=99)).total == 10
    with pytest.raises(UsageError, match="limit must be at least 1, got 0"):
        build_plan(store, run_id, [FAITHFUL], TinyJudge(), Selection(limit=0))


def test_keep_leaves_what_matches(store: Store) -> None:
    """Only examples of the segment are planned; nothing matching, or a misspelt value, is a usage error (case 77)."""
    run_id = with_run(store)
    first = build_plan(store, run_id, [FAITHFUL], TinyJudge(), Selection(keep={"half": "first"}))
    names = {item.example.query_id for item in store.runs.load(first.numbers)}
    assert names == {"q0", "q1", "q2", "q3", "q4"}
    with pytest.raises(UnknownName, match="nearest: first"):
        build_plan(store, run_id, [FAITHFUL], TinyJudge(), Selection(keep={"half": "fisrt"}))


def test_keep_that_nothing_matches_is_refused(store: Store) -> None:
    """Two filters that no example meets together are a usage error that repeats them."""
    pairs = [(Example("a", "?", segments={"x": "1"}), None), (Example("b", "?", segments={"y": "2"}), None)]
    run_id = store.runs.import_run(Run("", "r"), pairs).run_id
    with pytest.raises(UsageError, match="no example matches all of x=1, y=2"):
        build_plan(store, run_id, [FAITHFUL], TinyJudge(), Selection(keep={"x": "1", "y": "2"}))


def test_unknown_run_is_named(store: Store) -> None:
    """A run that is not there is an error with the nearest."""
    with_run(store)
    with pytest.raises(UnknownName, match="no run 'nobody'"):
        build_plan(store, "nobody", [FAITHFUL], TinyJudge())


def test_responses_to_one_question_stand_together(store: Store) -> None:
    """Repeats, and examples of one text, are neighbours in the order, whatever the rest of it."""
    pairs = [
        (Example(f"q{i}{copy}", f"question {i}", references=(copy,)), Response(f"q{i}{copy}", answer="a"))
        for copy in "abc"
        for i in range(20)
    ]
    run_id = store.runs.import_run(Run("", "r"), pairs).run_id
    found = build_plan(store, run_id, [FAITHFUL], TinyJudge())
    queries = [item.example.query for item in store.runs.load(found.numbers)]
    assert all(len(set(queries[i : i + 3])) == 1 for i in range(0, 60, 3))
    assert len(set(queries[::3])) == 20


@pytest.mark.prove
def test_order_is_a_seeded_draw(store: Store) -> None:
    """Stopped at 40 of 100 over a file sorted by difficulty, 200 runs centre on the full mean (case 100).

    Positions 0..99 have mean 49.5 and standard deviation 28.87; the mean of 40 drawn without replacement has standard
    error 28.87 / sqrt(40) * sqrt(60 / 99) = 3.55, that of 200 such means 0.25. The first 40 lines would give 19.5.
    """
    means, orders = [], set()
    for seed in range(200):
        run = Run(f"run{seed}", "r", config={"seed": seed})
        pairs = [(Example(f"q{i}", str(i)), None) for i in range(100)]
        run_id = store.runs.import_run(run, pairs).run_id
        places = {number: i for i, (number, _) in enumerate(store.runs.load_order(run_id))}
        found = build_plan(store, run_id, [RECALL], None)
        assert found.numbers == build_plan(store, run_id, [RECALL], None).numbers
        draw = [places[number] for number in found.numbers[:40]]
        means.append(statistics.mean(draw))
        orders.add(tuple(draw))
    assert abs(statistics.mean(means) - 49.5) < 4 * 0.25
    assert 3.55 * 0.8 < statistics.stdev(means) < 3.55 * 1.2
    assert len(orders) == 200


def test_judges_by_spec() -> None:
    """A judge of one's own is built from MODULE:NAME; what cannot be built is an error that says why."""
    assert build_judge(SPEC).judge_id == "tiny@1"
    with pytest.raises(UnknownName, match="no judge 'locl'; nearest: local"):
        build_judge("locl")
    with pytest.raises(UnknownName, match="no name in builtins 'dictt'; nearest: dict"):
        build_judge("builtins:dictt")
    with pytest.raises(JudgeError, match=r"must return the spec of a judge, .* got dict"):
        build_judge("builtins:dict")
    with pytest.raises(JudgeError, match=r"json:dumps cannot be built: TypeError"):
        build_judge("json:dumps")


@pytest.mark.parametrize("spec", ["acme:x", "acme:x,embed=local", "no.such.module:judge", ":x"])
def test_unknown_provider(spec: str) -> None:
    """Neither a provider nor a module: it is told so, and how every kind of judge is written."""
    with pytest.raises(UnknownName) as caught:
        build_judge(spec)
    said = str(caught.value)
    assert said.startswith(f"no provider or module '{spec.partition(':')[0]}'")
    assert "A judge is local, PROVIDER:MODEL, " in said
    assert "MODULE:NAME" in said
    assert "openai-chat:MODEL@https://HOST/v1" in said


def test_misspelt_provider() -> None:
    """A provider that is misspelt is told with the nearest one; one of embeddings likewise."""
    for misspelt, meant in {"opnai": "openai", "coheer": "cohere", "antropic": "anthropic"}.items():
        with pytest.raises(UnknownName, match=f"no provider or module '{misspelt}'; nearest: {meant}"):
            build_judge(f"{misspelt}:x")
    with pytest.raises(UnknownName, match="no provider of embeddings 'opnai'; nearest: openai"):
        build_judge("openai:x,embed=opnai:y")


@pytest.mark.parametrize("spec", ["local:x", "none:x"])
def test_judge_that_takes_nothing(spec: str) -> None:
    """What follows a judge that takes nothing is refused with what to write."""
    head = spec.partition(":")[0]
    with pytest.raises(UsageError, match=f"{head} takes no options, got .{spec}.. Write --judge {head}"):
        build_judge(spec)


def test_judge_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge of one's own is found in the working directory, as a system is, however the command was started."""
    source = "from tests.engine.tiny_judge import TinyJudge\n\ndef made():\n    return TinyJudge()\n"
    (tmp_path / "my_judges_here.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [path for path in sys.path if path])
    assert build_judge("my_judges_here:made").judge_id == "tiny@1"


def test_plans_are_values(store: Store) -> None:
    """Plans compare by what is to be done, not by the judge object."""
    run_id = with_run(store)
    found = build_plan(store, run_id, [FAITHFUL], TinyJudge())
    assert found == replace(found, judge=None)
