"""Carrying out a plan, in this process and in others."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.engine.tiny_judge import DIE, LOG, RAISE, SLOW, SPEC, TinyJudge, judged, notes, records

from ragauge.core.errors import JudgeError, UsageError
from ragauge.core.example import Example
from ragauge.core.facts import AnswerFacts, Claim, Evidence
from ragauge.core.identity import hash_json
from ragauge.core.response import Passage, Response, Run
from ragauge.engine import execute as execute_module
from ragauge.engine import pool as pool_module
from ragauge.engine.execute import EvaluationOutcome, Progress, execute_plan
from ragauge.engine.judges import build_judge
from ragauge.engine.plan import build_plan
from ragauge.engine.pool import InProcessPool, TimedResult
from ragauge.judges.inputs import Inputs, VerifyAnswer, build_evidence_key
from ragauge.judges.judge import AskGenerator, Judge
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse_metric
from ragauge.store.spool import Record
from ragauge.store.store_access import Store, open_store

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("recall@5", "mrr", "context_recall", "context_precision", "faithfulness", "answer_correctness")
METRICS = [parse_metric(name) for name in NAMES]


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are started for 20 responses already, so that the tests that need them stay small."""
    monkeypatch.setattr(execute_module, "MIN_RESPONSES_ASKING", 20)


def imported(store: Store, pairs: Sequence[Record], name: str = "r") -> str:
    return store.runs.import_run(Run("", name, config={"name": name}), pairs).run_id


def evaluate(
    store: Store,
    run_id: str,
    judge: Judge | None,
    *,
    metrics: Sequence[Metric] = METRICS,
    workers: int | None = 1,
    limit: int | None = None,
) -> EvaluationOutcome:
    return asyncio.run(execute_plan(build_plan(store, run_id, metrics, judge), store, workers=workers, limit=limit))


def table(store: Store, run_id: str, judge_id: str = "tiny@1") -> pl.DataFrame:
    return store.scores.load_frame(run_id, judge_id).sort("query_id", "repeat", "metric")


def test_everything_is_scored_once(store: Store) -> None:
    """Every response has every score; evaluating again does nothing, and nothing is asked."""
    run_id = imported(store, list(records(60)))
    first = evaluate(store, run_id, TinyJudge())
    assert (first.done, first.pending, first.failed, first.workers) == (60, 0, 0, 1)
    assert first.n_asked + first.reused == 60 * 4
    frame = table(store, run_id)
    assert frame.height == 60 * len(METRICS)
    assert frame["status"].unique().to_list() == ["scored"]
    assert not store.causes.load_frame(run_id, "tiny@1").is_empty()
    again = evaluate(store, run_id, TinyJudge())
    assert (again.done, again.pending, again.n_asked, again.reused) == (0, 0, 0, 0)


def test_processes_find_the_same(store: Store) -> None:
    """Two worker processes give the same scores, causes and evidence as this process, in the same order."""
    pairs = list(records(40))
    here, there = imported(store, pairs, "here"), imported(store, pairs, "there")
    with_workers = evaluate(store, there, build_judge(SPEC), workers=2)
    assert (with_workers.workers, with_workers.done, with_workers.notes) == (2, 40, ())
    reused = evaluate(store, here, TinyJudge())
    assert (reused.n_asked, reused.reused) == (0, with_workers.n_asked + with_workers.reused)
    assert_frame_equal(store.scores.load_frame(here, "tiny@1"), store.scores.load_frame(there, "tiny@1"))
    assert_frame_equal(store.causes.load_frame(here, "tiny@1"), store.causes.load_frame(there, "tiny@1"))
    assert list(store.evidence.iter_for_run(here, "tiny@1")) == list(store.evidence.iter_for_run(there, "tiny@1"))


@pytest.mark.prove
def test_read_back_in_example_order(store: Store) -> None:
    """Batches are drawn at random and finish in any order; scores are read in the order of the file (case 44)."""
    pairs = list(records(40))
    pairs[7] = (pairs[7][0], replace(pairs[7][1], answer=RAISE))
    run_id = imported(store, pairs)
    evaluate(store, run_id, build_judge(SPEC), workers=2)
    for metric in NAMES:
        ids = store.scores.load_frame(run_id, "tiny@1").filter(metric=metric)["query_id"].to_list()
        assert ids == [f"q{i}" for i in range(40)]


def test_judge_that_dies_on_the_worst(store: Store) -> None:
    """The judge raises on 5 of 10: 5 are scored, 5 are failed with its words, never 0 and never NaN (case 41)."""
    pairs = [(e, replace(r, answer=f"{RAISE} {i}" if i < 5 else r.answer)) for i, (e, r) in enumerate(records(10))]
    run_id = imported(store, pairs)
    outcome = evaluate(store, run_id, TinyJudge(), metrics=[parse_metric("faithfulness")])
    assert (outcome.done, outcome.failed) == (10, 5)
    frame = store.scores.load_frame(run_id, "tiny@1")
    assert frame["status"].to_list() == ["failed"] * 5 + ["scored"] * 5
    assert frame["value"].to_list()[:5] == [None] * 5
    assert frame["reason"].to_list()[:5] == [f"ValueError: cannot read '{RAISE} {i}'" for i in range(5)]
    assert frame.select("low", "high").rows()[:5] == [(0.0, 1.0)] * 5


def test_everything_failed_has_no_value(store: Store) -> None:
    """When every judgement fails there is no value anywhere: null, not 0 and not NaN (case 43)."""
    run_id = imported(store, [(e, replace(r, answer=RAISE)) for e, r in records(5)])
    evaluate(store, run_id, TinyJudge(), metrics=[parse_metric("faithfulness"), parse_metric("answer_correctness")])
    frame = store.scores.load_frame(run_id, "tiny@1")
    assert frame["status"].to_list() == ["failed"] * 10
    assert frame["value"].null_count() == 10
    assert frame["value"].mean() is None


def test_new_metric_version_asks_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A metric of a new version is scored again from the stored evidence: nothing is asked (case 50)."""
    run_id = imported(store, list(records(30)))
    evaluate(store, run_id, TinyJudge())
    before = table(store, run_id)
    monkeypatch.setattr(type(parse_metric("faithfulness")), "version", 99)
    outcome = evaluate(store, run_id, TinyJudge())
    assert (outcome.done, outcome.n_asked) == (30, 0)
    assert store.scores.load_for_response(run_id, "q3", 0, "tiny@1")["faithfulness"].metric_version == 99
    assert_frame_equal(table(store, run_id), before)


def test_changed_answers_are_asked_about_answers_only(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run with the same passages and new answers asks verify_answer and agree; the rest is reused (case 96)."""
    log = tmp_path / "log"
    pairs = list(records(20))
    first = imported(store, pairs, "first")
    evaluate(store, first, TinyJudge())
    monkeypatch.setenv(LOG, str(log))
    second = imported(store, [(e, replace(r, answer=f"unheard of {r.query_id}.")) for e, r in pairs], "second")
    evaluate(store, second, TinyJudge())
    assert {line.split()[0] for line in notes(log)} == {"verify_answer", "agree"}
    assert len(notes(log)) == 40
    same = pl.col("metric").is_in(["context_recall", "context_precision", "recall@5", "mrr"])
    assert_frame_equal(table(store, second).filter(same), table(store, first).filter(same))


@pytest.mark.prove
def test_equal_inputs_in_several_batches_are_asked_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Examples that differ only in the reference travel together, so no batch asks what another asks (case 95)."""
    log = tmp_path / "log"
    monkeypatch.setenv(LOG, str(log))
    pairs: list[Record] = []
    for copy in range(3):
        for example, response in records(20):
            name = f"{example.query_id}-{copy}"
            labelled = replace(example, query_id=name, references=(str(copy),), reference_claims=(f"claim {copy}",))
            pairs.append((labelled, replace(response, query_id=name)))
    outcome = evaluate(store, imported(store, pairs), build_judge(SPEC), workers=2)
    asked = notes(log)
    assert (outcome.done, outcome.workers) == (60, 2)
    assert len(asked) == len(set(asked)) == outcome.n_asked
    assert sum(line.startswith("verify_answer") for line in asked) == 20
    assert sum(line.startswith("verify_reference") for line in asked) == 60


def test_limit_stops_and_the_next_goes_on(store: Store) -> None:
    """Stopped at 40 of 100, 60 are pending; going on evaluates those and no other (case 100)."""
    run_id = imported(store, list(records(100)))
    first = evaluate(store, run_id, TinyJudge(), limit=40)
    assert (first.done, first.pending) == (40, 60)
    done = set(table(store, run_id)["query_id"])
    assert len(done) == 40
    second = evaluate(store, run_id, TinyJudge())
    assert (second.done, second.pending) == (60, 0)
    assert second.n_asked + second.reused == 60 * 4
    assert table(store, run_id).height == 100 * len(METRICS)


def test_progress_counts_up_to_the_total(store: Store) -> None:
    """Progress starts after what was done before and ends at the total, with rate and time left."""
    run_id = imported(store, list(records(100)))
    evaluate(store, run_id, TinyJudge(), limit=30)
    seen: list[Progress] = []
    found = build_plan(store, run_id, METRICS, TinyJudge())
    asyncio.run(execute_plan(found, store, workers=1, progress=seen.append))
    counts = [progress.done for progress in seen]
    assert counts == sorted(counts)
    assert counts[0] > 30
    assert (seen[-1].done, seen[-1].total, seen[-1].seconds_left) == (100, 100, 0.0)
    assert all(progress.rate > 0 for progress in seen)
    assert seen[-1].asked + seen[-1].reused == 70 * 4


def test_no_judge(store: Store) -> None:
    """Without a judge, metrics from labels are scored and the others are not applicable, asking nobody."""
    run_id = imported(store, list(records(5)))
    outcome = evaluate(store, run_id, None, metrics=[parse_metric("recall@5"), parse_metric("faithfulness")])
    assert (outcome.done, outcome.n_asked) == (5, 0)
    counts = store.scores.load_frame(run_id, None).group_by("metric", "status").len().sort("metric").rows()
    assert counts == [("faithfulness", "not_applicable", 5), ("recall@5", "scored", 5)]


def test_absent_response_is_an_empty_retrieval(store: Store) -> None:
    """An example that the run holds nothing for scores 0 on labels and has no answer to judge (case 11)."""
    pairs: list[Record] = [*records(2), (replace(next(iter(records(1)))[0], query_id="gone"), None)]
    run_id = imported(store, pairs)
    evaluate(store, run_id, TinyJudge())
    scores = store.scores.load_for_response(run_id, "gone", 0, "tiny@1")
    assert (scores["recall@5"].status, scores["recall@5"].value) == ("scored", 0.0)
    assert scores["faithfulness"].status == "not_applicable"
    assert scores["faithfulness"].reason == "answer not recorded: no response in the run"


def test_two_judges_are_apart(store: Store) -> None:
    """Two judges on one run have two sets of verdicts and scores (case 46)."""
    run_id = imported(store, list(records(10)))
    evaluate(store, run_id, TinyJudge())
    other = evaluate(store, run_id, build_judge(SLOW))
    assert other.n_asked > 0
    assert set(store.scores.judges(run_id)) == {"tiny@1", "slow@1"}


class Fickle(TinyJudge):
    """Another process stores other evidence while this judge thinks."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
        yield from ()
        if isinstance(inputs, VerifyAnswer) and "3" in inputs.query:
            key = build_evidence_key(self.judge_id, 1, inputs, judge_repeat)
            facts = AnswerFacts((Claim(1, "first", supporting=()),), "no", False)
            self.store.evidence.put(Evidence(key, "verify_answer", 1, self.judge_id, "ok", facts))
        return judged(inputs)


def test_loser_of_a_key_is_scored_from_the_winner(store: Store) -> None:
    """Evidence that another process stored first is read back, and the scores are computed from it."""
    run_id = imported(store, list(records(5)))
    evaluate(store, run_id, Fickle(store))
    found = {q: found for q, _, found in store.evidence.iter_for_run(run_id, "tiny@1")}
    facts = found["q3"]["verify_answer"].facts
    assert isinstance(facts, AnswerFacts)
    assert facts.claims[0].text == "first"
    assert store.scores.load_for_response(run_id, "q3", 0, "tiny@1")["faithfulness"].value == 0.0
    assert store.scores.load_for_response(run_id, "q1", 0, "tiny@1")["faithfulness"].value == 1.0


def test_worker_that_dies_spoils_one_example(store: Store) -> None:
    """An example that kills its worker twice fails with how it ended; every other example is scored."""
    pairs = list(records(40))
    pairs[21] = (pairs[21][0], replace(pairs[21][1], answer=DIE))
    run_id = imported(store, pairs)
    outcome = evaluate(store, run_id, build_judge(SPEC), workers=2)
    assert (outcome.done, outcome.pending) == (40, 0)
    assert len(outcome.notes) == 1
    assert "signal SIGKILL" in outcome.notes[0]
    failed = store.scores.load_frame(run_id, "tiny@1").filter(status="failed")
    assert failed["query_id"].unique().to_list() == ["q21"]
    assert failed["reason"].unique().to_list() == ["the worker process ended twice on this response (signal SIGKILL)"]


def test_worker_that_is_killed_loses_nothing(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker killed from outside, once, costs its batch a second try; every example is scored."""
    monkeypatch.setenv(LOG, str(tmp_path / "log"))
    run_id = imported(store, list(records(80)))
    found = build_plan(store, run_id, METRICS, build_judge(SLOW))
    killed: list[int] = []

    def kill(now: Progress) -> None:
        mine = subprocess.run(["pgrep", "-P", str(os.getpid())], capture_output=True, text=True, check=False)
        if not killed and now.done > 10:
            workers = [int(pid) for pid in mine.stdout.split() if is_worker(int(pid))]
            os.kill(workers[0], 9)
            killed.append(workers[0])

    outcome = asyncio.run(execute_plan(found, store, workers=2, progress=kill))
    assert len(killed) == 1
    assert (outcome.done, outcome.failed) == (80, 0)
    assert store.scores.load_frame(run_id, "slow@1").height == 80 * len(METRICS)


def is_worker(pid: int) -> bool:
    try:
        return b"ragauge.engine.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.mark.prove
def test_worker_that_cannot_start_is_an_error(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that cannot be built in a worker stops the evaluation with its reason: nothing is stored as failed."""
    run_id = imported(store, list(records(30)))
    judge = build_judge(SPEC)
    monkeypatch.setattr("ragauge.engine.judges._SPECS", {"tiny@1": "tests.engine.no_such_module:Judge"})
    with pytest.raises(JudgeError, match="no_such_module"):
        evaluate(store, run_id, judge, workers=2)
    monkeypatch.setattr("ragauge.engine.judges._SPECS", {"tiny@1": SLOW})
    with pytest.raises(JudgeError, match="is slow@1 in a worker process, not tiny@1"):
        evaluate(store, run_id, judge, workers=2)
    assert store.scores.load_frame(run_id, "tiny@1").is_empty()


def test_worker_that_ends_before_it_is_ready_is_an_error(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter that ends at once is an error that says how, and how to go on without workers."""
    run_id = imported(store, list(records(30)))
    monkeypatch.setattr("ragauge.engine.pool.WORKER_COMMAND", "import sys; sys.exit(3)")
    with pytest.raises(JudgeError, match=r"before it was ready \(exit code 3\). Use workers=1"):
        evaluate(store, run_id, build_judge(SPEC), workers=2)


class Handmade(TinyJudge):
    """A judge that no spec builds."""

    judge_id = "handmade"


def test_judge_without_a_spec_works_here(store: Store) -> None:
    """A judge object that no spec builds is used in this process, whatever the number of workers."""
    run_id = imported(store, list(records(30)))
    outcome = evaluate(store, run_id, Handmade(), workers=2)
    assert (outcome.done, outcome.workers) == (30, 1)


def test_little_work_starts_no_process(store: Store) -> None:
    """A handful of responses is evaluated here: starting processes would take longer."""
    outcome = evaluate(store, imported(store, list(records(10))), build_judge(SPEC), workers=None)
    assert outcome.workers == 1


@pytest.mark.prove
def test_much_work_is_done_by_a_process_for_each_core(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody says how many, 64 responses are judged by as many processes as there are cores."""
    monkeypatch.setattr("ragauge.engine.execute.count_cores", lambda: 2)
    outcome = evaluate(store, imported(store, list(records(64))), build_judge(SPEC), workers=None)
    assert (outcome.done, outcome.workers) == (64, 2)


def test_workers_must_be_positive(store: Store) -> None:
    """workers=0 is a usage error."""
    with pytest.raises(UsageError, match="workers must be at least 1, got 0"):
        evaluate(store, imported(store, list(records(1))), None, workers=0)


@pytest.mark.parametrize("workers", [1, 2])
def test_cancelled_keeps_what_is_finished(store: Store, workers: int) -> None:
    """Cancelled in the middle, it ends soon, leaves no worker behind, and keeps whole batches; the rest goes on."""
    run_id = imported(store, list(records(120)))
    found = build_plan(store, run_id, METRICS, build_judge(SLOW))
    before = set(threading.enumerate())

    async def stopped() -> None:
        moved = asyncio.Event()
        task = asyncio.create_task(execute_plan(found, store, workers=workers, progress=lambda _: moved.set()))
        await moved.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stopped())
    assert not any(is_worker(int(p.name)) for p in children())
    left = set(threading.enumerate()) - before
    assert not [thread.name for thread in left if thread.name.startswith("ragauge-")]
    frame = store.scores.load_frame(run_id, "slow@1")
    assert 0 < frame.height < 120 * len(METRICS)
    assert set(frame.group_by("query_id").len()["len"]) == {len(METRICS)}
    rest = evaluate(store, run_id, build_judge(SLOW), workers=workers)
    assert rest.done == 120 - frame["query_id"].n_unique()
    assert store.scores.load_frame(run_id, "slow@1").height == 120 * len(METRICS)


def children() -> list[Path]:
    mine = subprocess.run(["pgrep", "-P", str(os.getpid())], capture_output=True, text=True, check=False)
    return [Path("/proc") / pid for pid in mine.stdout.split()]


def test_loop_is_free_while_it_works(store: Store) -> None:
    """Other coroutines of the caller's loop run meanwhile: judging and storing happen elsewhere."""
    run_id = imported(store, list(records(70)))
    found = build_plan(store, run_id, METRICS, build_judge(SLOW))
    gaps: list[float] = []

    async def both() -> None:
        task = asyncio.create_task(execute_plan(found, store, workers=1))
        while not task.done():
            started = time.perf_counter()
            await asyncio.sleep(0.01)
            gaps.append(time.perf_counter() - started)
        await task

    asyncio.run(both())
    assert len(gaps) > 20
    assert sorted(gaps)[len(gaps) // 2] < 0.2


def test_error_of_the_store_ends_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that cannot be written is an error of the evaluation, not of its examples."""
    run_id = imported(store, list(records(70)))

    def full(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(type(store.scores), "write", full)
    with pytest.raises(OSError, match="disk full"):
        evaluate(store, run_id, TinyJudge())
    assert store.evidence.get(hash_json("x")) is None
    assert next(iter(store.evidence.iter_for_run(run_id, "tiny@1")))[2] == {}


def test_write_that_fails_after_the_end_is_not_complained_of(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where an evaluation ends while a batch is being written, and that fails too, nobody reads of a lost exception."""
    begun, go = threading.Event(), threading.Event()

    def full(*_: object) -> None:
        begun.set()
        go.wait(60)
        raise OSError("disk full")

    monkeypatch.setattr(type(store.scores), "write", full)
    run_id = imported(store, list(records(70)))
    found = build_plan(store, run_id, METRICS, TinyJudge())

    async def stopped() -> None:
        task = asyncio.create_task(execute_plan(found, store))
        assert await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        threading.Timer(0.1, go.set).start()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.05)

    asyncio.run(stopped())
    gc.collect()
    assert "never retrieved" not in caplog.text


def test_several_batches_that_fail_at_once(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The first error ends the evaluation, and no other is complained of later as one that nobody looked at."""
    under_way: list[Future[TimedResult]] = []

    def judge(self: InProcessPool, numbers: Sequence[int]) -> Future[TimedResult]:
        under_way.append(Future())
        if len(under_way) == 1 + execute_module.BATCHES_AHEAD:
            for one in under_way:
                one.set_exception(JudgeError(f"batch of {len(numbers)}"))
        return under_way[-1]

    monkeypatch.setattr(InProcessPool, "judge", judge)
    run_id = imported(store, list(records(70)))
    with pytest.raises(JudgeError, match="batch of"):
        evaluate(store, run_id, TinyJudge())
    gc.collect()
    assert len(under_way) == 1 + execute_module.BATCHES_AHEAD
    assert "never retrieved" not in caplog.text


SCRIPT = """
import asyncio, sys
from ragauge.engine.execute import execute_plan
from ragauge.engine.judges import build_judge
from ragauge.engine.plan import build_plan
from ragauge.metrics.catalogue import parse_metric
from ragauge.store.store_access import open_store
print("script runs")
with open_store(sys.argv[1]) as store:
    found = build_plan(store, sys.argv[2], [parse_metric("faithfulness")], build_judge(sys.argv[3]))
    print(asyncio.run(execute_plan(found, store, workers=2)).workers)
"""


@pytest.mark.prove
def test_plain_script_without_a_guard(store: Store, tmp_path: Path) -> None:
    """A user's script that evaluates at its top level works with workers, and is run once."""
    run_id = imported(store, list(records(70)))
    script = tmp_path / "random.py"  # a name that shadows the standard library's, in the folder that it runs in
    script.write_text(SCRIPT)
    command = [sys.executable, "-P", str(script), store.url, run_id, SPEC]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["script runs", "2"]


@pytest.mark.prove
def test_talking_judge_does_not_disturb_the_line(store: Store) -> None:
    """What a judge prints in a worker goes to standard error and harms nothing."""
    run_id = imported(store, list(records(70)))
    outcome = evaluate(store, run_id, build_judge("tests.engine.tiny_judge:TalkingJudge"), workers=2)
    assert (outcome.done, outcome.failed, outcome.workers, outcome.notes) == (70, 0, 2, ())


@pytest.mark.prove
def test_odd_text_travels_to_workers_and_back(store: Store) -> None:
    """Lone surrogates and NUL in answers, passages and reasons pass through a worker unharmed."""
    pairs: list[Record] = [
        (
            Example(f"q{i}", f"\ud800 {i}"),
            Response(
                f"q{i}",
                answer=f"\x00\udfff {RAISE if i % 2 else ''}.",
                passages=(Passage("p", "d", f"\x00\udfff {i}"),),
            ),
        )
        for i in range(70)
    ]
    run_id = imported(store, pairs)
    outcome = evaluate(store, run_id, build_judge(SPEC), workers=2, metrics=[parse_metric("faithfulness")])
    assert (outcome.failed, outcome.workers) == (35, 2)
    score = store.scores.load_for_response(run_id, "q1", 0, "tiny@1")["faithfulness"]
    assert score.reason == f"ValueError: cannot read {pairs[1][1].answer!r}"  # type: ignore[union-attr]
    facts = store.evidence.load_for_response(run_id, "q2", 0, "tiny@1")["verify_answer"].facts
    assert isinstance(facts, AnswerFacts)
    assert facts.claims[0].text == "\x00\udfff"


def test_batches_follow_the_speed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fast judge gets large batches, a slow one small ones: a batch takes about a second."""
    sizes: list[int] = []
    original = execute_module._Execution._store_batch

    def write(self: execute_module._Execution, timed: TimedResult, again: bool) -> list[int]:
        sizes.append(len(timed.result.judged))
        return original(self, timed, again)

    monkeypatch.setattr(execute_module._Execution, "_store_batch", write)
    run_id = imported(store, list(records(150)))
    monkeypatch.setattr(pool_module, "BATCH_SECONDS", 0.02)
    evaluate(store, run_id, build_judge(SLOW))  # 4 questions of 2 ms: two answers in 0.02 s, so the least size
    assert sizes[-2] == pool_module.MIN_BATCH_RESPONSES
    monkeypatch.setattr(pool_module, "BATCH_SECONDS", 60.0)
    sizes.clear()
    evaluate(store, run_id, TinyJudge())
    assert max(sizes) > 40


def test_store_is_closed_by_its_owner(tmp_path: Path) -> None:
    """An evaluation leaves the store open for whoever opened it, and one that is opened again continues it."""
    url = f"sqlite:///{tmp_path / 'again.db'}"
    with open_store(url) as store:
        run_id = imported(store, list(records(30)))
        evaluate(store, run_id, TinyJudge(), limit=10)
        assert store.runs.count_responses(run_id) == 30
    with open_store(url) as store:
        assert evaluate(store, run_id, TinyJudge()).done == 20
