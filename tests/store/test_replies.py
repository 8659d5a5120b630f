"""The contracts of replies and calls."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ragauge.core.ask import Ask, ModelName, Reply, Usage, build_reply_key
from ragauge.core.errors import DataError
from ragauge.core.example import Example
from ragauge.core.response import Response, Run
from ragauge.metrics.base import MetricResult
from ragauge.scores.results.judge_usage import CallTotals
from ragauge.store.calls import Call, ModelSpending
from ragauge.store.scores import Column
from ragauge.store.spool import Record
from ragauge.store.store_access import Store, open_store

MODEL = ModelName("openai-chat", "small", "http://127.0.0.1:8080/v1")
ELSEWHERE = replace(MODEL, endpoint="http://127.0.0.1:8081/v1")
ASK = Ask("chat", "agree", 1, (("system", "s \ud800"), ("user", "u")), {"type": "object"}, {"temperature": 0})
REPLY = Reply("ok", '{"a": 1}', finish="stop", served="small-1", usage=Usage(10, 2, 1), cost=0.25, latency_ms=12.5)
FAILED = Reply("failed", reason="the provider's filter", finish="content_filter")
KEY = build_reply_key(MODEL, ASK)


class RepliesContract:
    """What every store of replies does. A back end supplies `store`."""

    def test_reply_survives_reopening(self, store: Store) -> None:
        """A reply that was put is read back equal, with its key, by a store opened anew."""
        (kept,) = store.replies.put([(MODEL, ASK, REPLY)])
        assert kept == replace(REPLY, key=KEY)
        with open_store(store.url) as again:
            assert again.replies.get([KEY, "00" * 32]) == {KEY: kept}

    def test_first_insert_wins(self, store: Store) -> None:
        """A second reply under one key is dropped, and its writer is handed the first."""
        store.replies.put([(MODEL, ASK, REPLY)])
        (handed,) = store.replies.put([(MODEL, ASK, replace(REPLY, text="other"))])
        assert handed.text == REPLY.text
        first, second = store.replies.put([(ELSEWHERE, ASK, replace(REPLY, text=word)) for word in "ab"])
        assert first.text == second.text == "a"

    def test_failure_gives_way(self, store: Store) -> None:
        """A failed reply gives way to one that is not, never the other way round."""
        assert {one.status for one in store.replies.put([(ELSEWHERE, ASK, FAILED), (ELSEWHERE, ASK, REPLY)])} == {"ok"}
        assert store.replies.put([(MODEL, ASK, FAILED)])[0].status == "failed"
        assert store.replies.put([(MODEL, ASK, REPLY)])[0].status == "ok"
        assert store.replies.put([(MODEL, ASK, FAILED)])[0].text == REPLY.text

    @pytest.mark.parametrize(
        "other",
        [
            (ELSEWHERE, ASK),
            (replace(MODEL, model="large"), ASK),
            (replace(MODEL, provider="openai"), ASK),
            (MODEL, replace(ASK, attempt=2)),
            (MODEL, replace(ASK, judge_repeat=1)),
            (MODEL, replace(ASK, schema={"type": "array"})),
            (MODEL, replace(ASK, params={})),
            (MODEL, replace(ASK, messages=(("system", "s \ud800"), ("user", "u2")))),
        ],
    )
    def test_cases_46_47_97_a_key_names_all_that_is_asked(self, store: Store, other: tuple[ModelName, Ask]) -> None:
        """Another endpoint, model, provider, attempt, repeat, schema, parameter or message never reuses a reply."""
        store.replies.put([(MODEL, ASK, REPLY)])
        assert store.replies.get([build_reply_key(*other)]) == {}

    def test_case_47_a_question_of_another_name_is_the_same_ask(self) -> None:
        """What does not reach the model, such as the question's name and version, is no part of the key."""
        assert build_reply_key(MODEL, replace(ASK, question="cover", version=9)) == KEY

    def test_vectors_survive(self, store: Store) -> None:
        """Vectors come back as they were, to the last bit of a 32-bit float."""
        rows = np.random.default_rng(7).normal(size=(3, 5)).astype("float32")
        ask = Ask("embed", "similarity", 1, (("text", "a"), ("text", "b"), ("text", "c")))
        (kept,) = store.replies.put([(MODEL, ask, Reply("ok", vectors=rows))])
        assert np.array_equal(kept.vectors, rows)

    def test_export_and_import(self, store: Store, second: Store) -> None:
        """Exported as JSON lines and read in elsewhere, replies are the same; read in twice, nothing is added."""
        ask = Ask("embed", "similarity", 1, (("text", "a"),))
        found = [(MODEL, replace(ASK, attempt=n), replace(REPLY, text=str(n))) for n in range(1, 451)]
        store.replies.put([*found, (MODEL, ask, Reply("ok", vectors=np.ones((1, 4), "float32")))])
        lines = [json.dumps(line) for line in store.replies.iter_lines()]
        assert second.replies.add_lines(json.loads(line) for line in lines) == (451, 0)
        assert second.replies.add_lines(json.loads(line) for line in lines) == (0, 451)
        assert [json.dumps(line) for line in second.replies.iter_lines()] == lines

    @pytest.mark.parametrize("damage", ["ask", "key", "reply", "model"])
    def test_damaged_lines_change_nothing(self, store: Store, second: Store, damage: str) -> None:
        """A line that was altered or cut is refused by its number, and none of the file's replies is kept."""
        store.replies.put([(MODEL, replace(ASK, attempt=n), REPLY) for n in (1, 2)])
        good, bad = (dict(line) for line in store.replies.iter_lines())
        if damage == "ask":
            bad["ask"] = bad["ask"] | {"attempt": 7}
        else:
            del bad[damage]
        with pytest.raises(DataError, match="reply 2"):
            second.replies.add_lines([good, bad])
        assert second.replies.groups() == []

    def test_groups_and_prune(self, store: Store) -> None:
        """Replies are listed by model and question with their size, and removed by what is named only."""
        cover = replace(ASK, question="cover", messages=(("user", "c"),))
        store.replies.put([(MODEL, ASK, REPLY), (MODEL, cover, FAILED), (ELSEWHERE, ASK, REPLY)])
        rows = [(one.model, one.question, one.n, one.failed) for one in store.replies.groups()]
        assert sorted(rows, key=str) == sorted(
            [(MODEL, "agree", 1, 0), (MODEL, "cover", 1, 1), (ELSEWHERE, "agree", 1, 0)], key=str
        )
        assert all(one.bytes > 50 for one in store.replies.groups())
        assert store.replies.prune(before_time="2000-01-01") == store.replies.matching(before_time="2000-01-01") == 0
        assert store.replies.matching(model=str(MODEL)) == 2
        assert store.replies.matching(failed_only=True) == 1
        assert store.replies.prune(failed_only=True) == 1
        assert store.replies.prune(model=str(MODEL), question="agree") == 1
        assert [one.model for one in store.replies.groups()] == [ELSEWHERE]
        assert store.replies.prune() == 1


class CallsContract:
    """What every record of attempts does. A back end supplies `store`."""

    def test_spending(self, store: Store) -> None:
        """Attempts add up by model, question and judge within their run; an unknown price is counted, never 0."""
        pairs: list[Record] = [(Example(q, "?"), Response(q, answer="a")) for q in ("q0", "q1")]
        run_id = store.runs.import_run(Run("", "r"), pairs).run_id
        (first, _), (second, _) = store.runs.load_order(run_id)

        def call(n: int, outcome: str = "ok", **more: Any) -> Call:
            return Call(KEY, "agree", MODEL, outcome, n, run_id, judge_id="j", **more)

        usage = Usage(100, 10, 5)
        store.calls.add(
            [
                call(first, usage=usage, cost=0.5),
                call(first, "rate_limited"),
                call(first, "failed", usage=usage, cost=0.25),
                call(second, usage=usage),
                Call(KEY, "agree", MODEL, "ok", usage=usage, cost=9.0),
            ]
        )
        on_first = CallTotals(3, 2, 2, 200, 20, 10, 0.75, 0)
        on_second = CallTotals(1, 0, 1, 100, 10, 5, 0.0, 1)
        assert store.calls.spent(run_id) == [ModelSpending(MODEL, "agree", "j", on_first + on_second)]
        assert store.calls.spent(run_id, "j") == store.calls.spent(run_id)
        assert store.calls.spent(run_id, "another") == []
        assert {(one.judge_id, one.paid.cost) for one in store.calls.spent()} == {("j", 0.75), ("", 9.0)}
        names = _ids(store, run_id, (first, second))
        assert store.calls.sum_by_response(run_id) == {(names[0], 0): on_first, (names[1], 0): on_second}
        assert store.calls.sum_by_response(run_id, "another") == {}
        assert (on_first.known_cost, on_second.known_cost) == (0.75, None)

    def test_nothing_spent(self, store: Store) -> None:
        """Where nothing was asked nothing is listed, and adding nothing does nothing."""
        store.calls.add([])
        assert store.calls.spent() == []

    def test_what_was_paid_outlives_its_run(self, store: Store) -> None:
        """Deleting a run leaves what was paid on record, and its replies to be reused."""
        run_id = store.runs.import_run(Run("", "r"), [(Example("q", "?"), Response("q", answer="a"))]).run_id
        store.calls.add(
            [Call(KEY, "agree", MODEL, "ok", store.runs.load_order(run_id)[0][0], run_id, Usage(1, 1), 1.0)]
        )
        store.replies.put([(MODEL, ASK, REPLY)])
        store.runs.delete(run_id)
        assert store.calls.spent()[0].paid.cost == 1.0
        assert store.replies.get([KEY])


class JudgesContract:
    """What every store knows about judges. A back end supplies `store`."""

    def test_specs(self, store: Store) -> None:
        """A judge's spec is kept, the last one given; of a judge that is not known there is none."""
        assert store.judges.find_spec("j#1") is None
        for spec in ("openai:a", "openai:b\x1b"):
            store.judges.save_spec("j#1", spec)
        assert store.judges.find_spec("j#1") == "openai:b\x1b"
        assert store.judges.find_spec("j#2") is None

    def test_repeats(self, store: Store) -> None:
        """The askings of a judge that scored a run are listed, each once; another judge's are not."""
        run_id = store.runs.import_run(Run("", "r"), [(Example("q", "?"), Response("q", answer="a"))]).run_id
        number = store.runs.load_order(run_id)[0][0]
        scored = MetricResult.of(1.0)
        for judge, repeat in (("j", 2), ("j", 0), ("k", 1), ("j", 2)):
            store.scores.write(run_id, [Column("faithfulness", 1, judge, repeat)], [(number, [scored])])
        assert store.judges.list_repeats(run_id, "j") == [0, 2]
        assert store.judges.list_repeats(run_id, "nobody") == []

    def test_list_and_runs(self, store: Store) -> None:
        """Every judge is listed, the newest first, with how many runs it scored; its runs come the newest first."""
        ids = []
        for name, judges in (("first", ("j", "k", None)), ("second", ("j",))):
            run = store.runs.import_run(Run("", name), [(Example(name, "?"), Response(name, answer="a"))]).run_id
            number = store.runs.load_order(run)[0][0]
            for judge in judges:
                column = Column("faithfulness", 1, judge, 0)
                store.scores.write(run, [column], [(number, [MetricResult.of(1.0)])])
            ids.append(run)
        store.judges.save_spec("asked", "openai:a")
        assert store.judges.list() == [("asked", "openai:a", 0), ("k", None, 1), ("j", None, 2)]
        assert store.judges.runs("j", 10) == [(ids[1], "second"), (ids[0], "first")]
        assert store.judges.runs("j", 1) == [(ids[1], "second")]
        assert store.judges.runs("nobody", 10) == []


def _ids(store: Store, run_id: str, numbers: tuple[int, ...]) -> list[str]:
    return [loaded.example.query_id for loaded in store.runs.load(numbers)]


class TestSqliteReplies(RepliesContract):
    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store

    @pytest.fixture
    def second(self, tmp_path: Any) -> Any:
        with open_store(f"sqlite:///{tmp_path / 'second.db'}") as store:
            yield store


class TestSqliteCalls(CallsContract):
    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store


class TestSqliteJudges(JudgesContract):
    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store
