"""Model judges over a real server on this machine that fails on purpose: sections C and E of the acceptance cases."""

from __future__ import annotations

import gc
import math
import os
import random
import signal
import socket
import sqlite3
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from polars.testing import assert_frame_equal
from tests.engine.model_rows import METRICS, Starter, rows
from tests.loopback.server import FAULTS, FaultyServer

import ragauge as rg
from ragauge.core.errors import JudgeError, RagaugeError
from ragauge.store.store_access import open_store

pytestmark = pytest.mark.server
NAMES = METRICS.split(",")


def judge(server: FaultyServer, more: str = "") -> str:
    """The spec of a judge at the server."""
    return f"openai-chat:any@{server.url}{more}"


def evaluated(server: FaultyServer, store: str, n: int = 12, **more: Any) -> Any:
    """The scorecard of n rows; metrics are the four main ones unless said."""
    given: dict[str, Any] = {"metrics": METRICS, "timeout": 30.0, "concurrency": 16} | more
    return rg.evaluate(rows(n), judge=judge(server, given.pop("spec", "")), store=store, name="m", **given)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """The URL of a store that is not there yet."""
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.mark.prove
def test_three_calls_an_answer(store: str) -> None:
    """Four metrics over reference and passages take three calls an answer, and other metrics of them none."""
    with FaultyServer() as server:
        card = evaluated(server, store)
        assert len(server.requests) == 3 * 12
        assert [card[name].scored for name in NAMES] == [12] * 4
        assert 0 < card["faithfulness"].mean < 1
        before = len(server.requests)
        names = "not_in_context,context_precision:by=answer,ignored_top_ranked,fabricated_specifics"
        more = evaluated(server, store, metrics=names)
        assert len(server.requests) == before
        assert more["not_in_context"].mean == pytest.approx(1 - card["faithfulness"].mean)


def test_cases_50_and_96_what_did_not_change_is_not_asked(store: str) -> None:
    """The same again asks nothing; a new answer to the same passages asks only what sees the answer."""
    with FaultyServer() as server:
        first = evaluated(server, store)
        evaluated(server, store)
        changed = [row | {"answer": f"{row['answer']} And it is light."} for row in rows(12)]
        asked = len(server.requests)
        second = rg.evaluate(changed, judge=judge(server), metrics=METRICS, store=store, name="n")
        schemas = Counter(
            tuple(request.body["response_format"]["json_schema"]["schema"]["properties"])
            for request in server.requests[asked:]
        )
    assert asked == 36
    assert schemas == {("sentences", "addresses", "refuses"): 12}
    for name in ("context_recall", "context_precision"):
        assert second[name].mean == first[name].mean


@pytest.mark.prove
def test_stored_replies_alone_give_the_same(store: str, tmp_path: Path) -> None:
    """With nothing left but the replies of 200 examples a new start asks nothing and finds the same, first to last."""
    with FaultyServer() as server:
        first = evaluated(server, store, n=200)
        asked = len(server.requests)
        with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
            connection.executescript("DELETE FROM scores; DELETE FROM run_evidence; DELETE FROM evidence")
        again = evaluated(server, store, n=200)
        assert len(server.requests) == asked == 600
    assert (again.card.took["calls"], again.card.took["replies_reused"]) == (0, 600)
    assert_frame_equal(again.to_polars(), first.to_polars())


@pytest.mark.prove
def test_the_last_judge_is_the_one_asked_for_last(store: str) -> None:
    """A judge that is asked for again is the one that reports mean, also where all it could say is stored already."""
    last = []
    with FaultyServer() as server:
        for spec in ("", ",mode=per_claim", ""):
            evaluated(server, store, n=2, spec=spec)
            last.append(rg.open_run("m", store=store).judges()[0])
    assert last[0] == last[2] != last[1]


def test_cases_46_47_97_another_judge_asks_anew(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another model, endpoint or parameter reuses no verdict; another time-out, concurrency or key does."""
    with FaultyServer() as server, FaultyServer() as other:
        evaluated(server, store, n=4)
        for spec in (",temperature=none", ",mode=per_claim"):
            before = len(server.requests)
            evaluated(server, store, n=4, spec=spec)
            assert len(server.requests) > before
        evaluated(other, store, n=4)
        assert len(other.requests) == 12
        before = len(server.requests)
        monkeypatch.setenv("OPENAI_API_KEY", "another")
        evaluated(server, store, n=4, timeout=9.0, concurrency=2)
        assert len(server.requests) == before
        rg.evaluate(rows(4), judge=f"openai-chat:other@{server.url}", metrics=METRICS, store=store, name="m")
        assert len(server.requests) == before + 12


@pytest.mark.prove
def test_case_34_refused_parameters_are_learned_once(store: str) -> None:
    """A model that refuses temperature is asked without it from then on; what was sent stands beside the reply."""
    with FaultyServer(refuses=("temperature",)) as server:
        evaluated(server, store, n=8, concurrency=1)
        assert sum("temperature" in request.body for request in server.requests) == 1
    with open_store(store) as opened:
        replies = [line["reply"] for line in opened.replies.iter_lines()]
    assert len(replies) == 24
    assert not any("temperature" in reply["sent"] for reply in replies)


@pytest.mark.parametrize("mode", ["tool", pytest.param("prompted", marks=pytest.mark.prove)])
def test_schemas_are_given_as_the_model_takes_them(store: str, mode: str) -> None:
    """A server without native schemas is asked with a tool, one without tools in the prompt; scores are the same."""
    with FaultyServer(schema_modes=(mode,)) as server:
        card = evaluated(server, store, n=6)
    with FaultyServer() as plain:
        expected = evaluated(plain, store, n=6)
    assert [card[name].mean for name in NAMES] == [expected[name].mean for name in NAMES]
    with open_store(store) as opened:
        assert mode in {line["reply"]["sent"]["schema"] for line in opened.replies.iter_lines()}


@pytest.mark.prove
def test_case_54_too_many_requests_lower_concurrency(store: str) -> None:
    """A server that bears four calls at a time is not asked much more; nothing is lost and no 429 is a reply."""
    with FaultyServer(limit=4, latency=0.02) as server:
        card = evaluated(server, store, n=30, concurrency=32)
        assert server.met["rate_limited"] > 0
        assert server.met["rate_limited"] < 90
    assert [card[name].scored for name in NAMES] == [30] * 4
    with open_store(store) as opened:
        refused = sum(spent.paid.failed for spent in opened.calls.spent())
        assert refused >= server.met["rate_limited"]  # on a busy machine a call may fail otherwise too
        assert all(line["reply"]["status"] == "ok" for line in opened.replies.iter_lines())


@pytest.mark.parametrize("fault", ["hang", "drip", "server", "broken_connection"])
def test_cases_53_and_55_no_reply_is_no_verdict(store: str, fault: str) -> None:
    """A call that never ends or breaks has a deadline; it fails, is not stored, and the next start asks it again."""
    from ragauge.engine.caller import RetryPolicy
    from ragauge.engine.models import CallOptions

    quick = RetryPolicy(call=0.3, total=1.0, attempts=2)
    keep = CallOptions.__dataclass_fields__["patience"].default_factory
    assert keep is RetryPolicy
    with FaultyServer({fault: 1.0}) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragauge.engine.models.RetryPolicy", lambda **_: quick)
        began = time.monotonic()
        with pytest.raises(JudgeError, match="gave no verdict on any of 6 questions"):
            evaluated(server, store, n=2)
        assert time.monotonic() - began < 100  # without a deadline it would never end
    card = rg.open_run("m", store=store).scorecard()
    assert [card[name].failed for name in NAMES] == [2] * 4
    assert card["faithfulness"].mean is None
    with open_store(store) as opened:
        assert opened.replies.groups() == []


@pytest.mark.prove
def test_support_that_may_be_lost_between_calls_is_reported(store: str, tmp_path: Path) -> None:
    """Claims without support on contexts too long for one call are counted in the report; shorter contexts are not."""
    passage = f"The tower is tall. {'It says little of use. ' * 60}"
    row = {
        "query": "How tall?",
        "answer": "The moon is green cheese.",
        "passages": [passage] * 3,
        "reference_answer": "Nobody has ever measured it.",
    }
    told = {}
    with FaultyServer() as server:
        for pack in (1_000, 90_000):
            card = rg.evaluate([row], judge=judge(server, f",pack={pack}"), metrics=METRICS, store=store)
            told[pack] = card.save(tmp_path / f"{pack}.md").read_text()
    assert (
        "2 claims without support were judged in several calls, because the context was too long for one" in told[1_000]
    )
    assert "too long for one" not in told[90_000]


def test_nobody_at_the_place_ends_the_run(
    store: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where no connection can be made the run stops with the reason, and marks no example as failed."""
    monkeypatch.setattr("ragauge.engine.caller.RETRY_WAITS_S", (0.01,))
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # nobody listens there, and nobody else comes to
        gone = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        with pytest.raises(JudgeError, match=r"cannot be reached: .*Check that the server is running"):
            rg.evaluate(rows(20), judge=f"openai-chat:any@{gone}", metrics=METRICS, store=store)
    gc.collect()
    assert "never retrieved" not in caplog.text  # of the other calls that failed at the same time
    with open_store(store) as opened:
        assert opened.replies.groups() == []


@pytest.mark.prove
def test_a_server_that_goes_away_for_good_ends_the_run_and_pays_for_nothing_twice(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that stops half-way is no reason to fail the rest; when it is back the same call goes on."""
    monkeypatch.setattr("ragauge.engine.caller.RETRY_WAITS_S", (0.01,))
    server = FaultyServer(latency=0.05).__enter__()

    def end() -> None:
        while len(server.requests) < 20:  # an event, not a time: a slow machine begins late
            time.sleep(0.005)
        server.__exit__(None, None, None)

    ending = threading.Thread(target=end)
    ending.start()
    with pytest.raises(JudgeError, match="cannot be reached"):
        evaluated(server, store, n=40, concurrency=2, max_concurrency=2)
    ending.join()
    answered = len(server.requests)
    assert 0 < answered < 120
    with FaultyServer(port=server.port) as again:
        card = evaluated(again, store, n=40)
        assert len(again.requests) <= 120 - answered + 2
    assert [card[name].scored for name in NAMES] == [40] * 4


@pytest.mark.prove
def test_failures_are_done_again_when_asked(store: str) -> None:
    """What failed because calls failed is evaluated again on request, at the price of what is missing."""
    with FaultyServer({"server": 0.4}, once=True) as server, pytest.MonkeyPatch.context() as patch:
        from ragauge.engine.caller import RetryPolicy

        quick = RetryPolicy(call=30.0, total=30.0, attempts=1)
        patch.setattr("ragauge.engine.models.RetryPolicy", lambda **_: quick)
        first = evaluated(server, store)
        assert first["faithfulness"].failed > 0
        answered = server.met[""]
        again = evaluated(server, store, retry_failed=True)
        assert [again[name].failed for name in NAMES] == [0] * 4
        assert server.met[""] - answered == 36 - answered


def test_a_wrong_key_ends_the_run_at_once(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key nothing is called, and the message says which variable to set."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(JudgeError, match="OPENAI_API_KEY"):
        rg.evaluate(rows(2), judge="openai:gpt-5-mini", metrics=METRICS, store=store)


def test_keys_are_in_no_store(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key travels to the server, and stands in no byte of the store."""
    key = "sk-test-0123456789abcdef0123"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with FaultyServer({"server": 0.2}, once=True) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)  # else its key goes to OpenAI alone
        evaluated(server, store, n=4)
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {key}"}
    for file in tmp_path.iterdir():
        assert key.encode() not in file.read_bytes()


def test_case_56_cost_is_a_hard_stop(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run stops before the bound, never beyond; what was paid is kept, and the next run pays only for the rest."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("openai-chat:any: {input: 1000, output: 1000}\n")
    monkeypatch.setenv("RAGAUGE_PRICES", str(prices))
    with FaultyServer() as server:
        card = evaluated(server, store, n=30, max_cost=20.0, concurrency=4)
        paid = card.card.took["cost"]
        assert 0 < paid <= 20.0
        assert "max-cost" in card.card.took["stopped"]
        assert card.card.pending > 0
        whole = evaluated(server, store, n=30)
        assert len(server.requests) == 90
        assert whole.card.pending == 0
    with open_store(store) as opened:
        spent = opened.calls.spent()
        assert sum(one.paid.cost for one in spent) == pytest.approx(paid + whole.card.took["cost"])
        assert all(one.paid.input_tokens > 0 for one in spent)


@pytest.mark.parametrize("known", ["max_tokens", "none"])
def test_case_56_a_bound_is_kept_or_refused(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: str
) -> None:
    """A server that knows the bound on tokens by its older name keeps to it; with one that knows none the run ends."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("openai-chat:any: {input: 1, output: 1}\n")
    monkeypatch.setenv("RAGAUGE_PRICES", str(prices))
    refuses = {"max_tokens": ("max_completion_tokens",), "none": ("max_completion_tokens", "max_tokens")}
    with FaultyServer(refuses=refuses[known]) as server:
        if known == "none":
            with pytest.raises(JudgeError, match="--max-cost cannot be enforced"):
                evaluated(server, store, n=4, max_cost=1.0, concurrency=1)
            assert len(server.requests) < 6
            return
        card = evaluated(server, store, n=4, max_cost=1.0)
        bounded = [request for request in server.requests if "max_tokens" in request.body]
    assert len(bounded) == 12
    assert [card[name].scored for name in NAMES] == [4] * 4


def test_case_56_calls_that_say_no_tokens_count_at_their_most(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that says no tokens does not void the bound: what each of its calls may cost is set aside for good."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("openai-chat:any: {input: 100, output: 100}\n")
    monkeypatch.setenv("RAGAUGE_PRICES", str(prices))
    monkeypatch.setattr("ragauge.models.chat._read_usage", lambda _: None)
    with FaultyServer() as server:
        card = evaluated(server, store, n=30, max_cost=5.0, concurrency=2)
        assert 0 < len(server.requests) < 30
    assert "did not report tokens" in card.card.took["stopped"]


def test_a_bound_needs_a_price(store: str) -> None:
    """A bound on cost for a model whose price is unknown is refused before anything is asked."""
    with FaultyServer() as server, pytest.raises(RagaugeError, match="RAGAUGE_PRICES"):
        evaluated(server, store, max_cost=1.0)
    assert server.requests == []


def test_faults_never_raise_a_mean(store: str, tmp_path: Path) -> None:
    """With 30 % faults of every kind every example is accounted for, and no bound lies beyond what is true."""
    share = {fault: 0.3 / len(FAULTS) for fault in FAULTS if fault not in ("hang", "drip")}
    with FaultyServer() as plain:
        true = evaluated(plain, f"sqlite:///{tmp_path / 'plain.db'}", n=60)
    with FaultyServer(share, seed=5) as server:
        card = evaluated(server, store, n=60)
        assert sum(server.met[fault] for fault in share) > 30
    for name in NAMES:
        found, known = card[name], true[name]
        assert found.scored + found.undefined + found.not_applicable + found.failed == 60
        assert found.low is None or found.low <= known.mean + 1e-9
        assert found.high is None or found.high >= known.mean - 1e-9
    failed = {row["query_id"] for row in card.to_polars().filter(status="failed").iter_rows(named=True)}
    scores = card.to_polars().filter(status="scored", metric="faithfulness")
    same = true.to_polars().filter(status="scored", metric="faithfulness")
    both = scores.join(same, on="query_id", suffix="_true")
    assert both.height >= 60 - len(failed)
    assert both["value"].to_list() == both["value_true"].to_list()


@pytest.mark.prove
@pytest.mark.parametrize("n", [100, pytest.param(500, marks=pytest.mark.prove)])
def test_many_examples_with_30_percent_faults(store: str, n: int) -> None:
    """A run of many examples under 30 % faults, hangs and drips among them, ends with every example accounted for."""
    share = {fault: 0.3 / len(FAULTS) for fault in FAULTS}
    with FaultyServer(share, seed=1) as server:
        card = evaluated(server, store, n=n, concurrency=64, timeout=3.0)
    for name in NAMES:
        found = card[name]
        assert found.scored + found.undefined + found.not_applicable + found.failed == n
        assert found.failed < 0.15 * n
        assert not math.isnan(found.mean)


@pytest.mark.prove
@pytest.mark.parametrize(("n", "kills"), [(60, 2), pytest.param(500, 20, marks=pytest.mark.prove)])
def test_case_51_killed_at_random_moments(store: str, tmp_path: Path, n: int, kills: int) -> None:
    """Killed at random moments a run pays again only for what was in flight, and ends with equal scores."""
    concurrency = 16
    draw = random.Random(51)
    with FaultyServer(latency=0.02) as server, Starter() as starter:
        for moment in sorted(draw.randrange(1, 3 * n * 9 // 10) for _ in range(kills)):
            process = starter.start(n, judge(server), store)
            while starter.running() and len(server.requests) < moment:
                time.sleep(0.005)
            os.kill(process, signal.SIGKILL)
            assert starter.ended() == -signal.SIGKILL
        starter.start(n, judge(server), store)
        assert starter.ended() == 0
        texts = Counter(str(request.body["messages"]) for request in server.requests)
        assert len(texts) == 3 * n
        assert sum(texts.values()) - len(texts) <= kills * concurrency
    with FaultyServer() as plain:
        whole = evaluated(plain, f"sqlite:///{tmp_path / 'whole.db'}", n=n, concurrency=64)
    key = ["query_id", "metric", "status", "value", "numerator", "denominator"]
    both = rg.open_run("m", store=store).scorecard(), whole
    found, expected = (card.to_polars().select(key).sort("query_id", "metric") for card in both)
    assert_frame_equal(found, expected)
