"""What judging a run cost, from the store: after the run, over all evaluations, and split up."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.engine.model_rows import METRICS, rows
from tests.loopback.answers import answer
from tests.loopback.server import FaultyServer

import ragauge as rg
from ragauge.core.json_keys import encode
from ragauge.evaluation.evaluate.verb import preview_evaluation
from ragauge.verbs.evaluate_options import EvaluateOptions

pytestmark = pytest.mark.server


@pytest.fixture
def store(tmp_path: Path) -> str:
    """The URL of a store that is not there yet."""
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture
def priced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of prices: a dollar for a thousand tokens in, two for a thousand out."""
    (tmp_path / "prices.yaml").write_text("openai-chat:any: {input: 1000, output: 2000}\n")
    monkeypatch.setenv("RAGAUGE_PRICES", str(tmp_path / "prices.yaml"))


def evaluated(server: FaultyServer, store: str, spec: str = "", **more: Any) -> Any:
    given: dict[str, Any] = {"metrics": METRICS, "name": "m", "timeout": 5.0} | more
    return rg.evaluate(rows(6), judge=f"openai-chat:any@{server.url}{spec}", store=store, **given)


def as_counted(server: FaultyServer) -> tuple[int, int]:
    """Tokens in and out as the server counted them: a quarter of the characters."""
    tokens_in = tokens_out = 0
    for request in server.requests:
        system, user = (message["content"] for message in request.body["messages"])
        schema = request.body["response_format"]["json_schema"]["schema"]
        tokens_in += (len(system) + len(user)) // 4
        tokens_out += len(json.dumps(answer(system, user, schema), ensure_ascii=False)) // 4 + 1
    return tokens_in, tokens_out


@pytest.mark.prove
@pytest.mark.usefixtures("priced")
def test_a_stored_run_keeps_its_cost(store: str) -> None:
    """The report of a stored run has the calls, tokens and cost of all its evaluations; took has those of now."""
    with FaultyServer() as server:
        first = evaluated(server, store, limit=2).to_dict()
        assert first["calls"] == first["took"]["calls"] == len(server.requests) == 6
        whole = evaluated(server, store).to_dict()
        assert whole["calls"] == len(server.requests) == 18
        assert whole["took"]["calls"] == 12
        tokens_in, tokens_out = as_counted(server)
    stored = rg.open_run("m", store=store).scorecard().to_dict()
    assert stored["took"] == {}
    assert (stored["calls"], stored["cost"]) == (18, pytest.approx(tokens_in / 1_000 + 2 * tokens_out / 1_000))
    judging = stored["judging"]
    assert (judging["input_tokens"], judging["output_tokens"]) == (tokens_in, tokens_out)
    assert (judging["replies"], judging["replies_reused"], judging["questions"]) == (18, 0, 18)
    assert {one["question"]: one["calls"] for one in judging["by_question"]} == {
        "verify_answer": 6,
        "verify_reference": 6,
        "rate_passages": 6,
    }


@pytest.mark.prove
def test_an_unknown_price_is_null(store: str) -> None:
    """Without a price the cost is null in JSON and said in words, never 0; calls and tokens are known all the same."""
    with FaultyServer() as server:
        card = evaluated(server, store)
    found = card.to_dict()
    assert found["cost"] is None
    assert found["took"]["cost"] is None
    assert found["judging"]["calls_without_price"] == 18
    assert found["judging"]["input_tokens"] > 0
    for report in (str(card), card.to_markdown(), card.to_html()):
        assert "18 calls" in report
        assert "price unknown" in report


def test_nobody_asked_costs_nothing(store: str) -> None:
    """The local judge makes no call and costs 0; without a judge there is no judging at all."""
    local = rg.evaluate(rows(2), metrics="faithfulness", store=store, name="l").to_dict()
    assert (local["calls"], local["cost"], local["judging"]["questions"]) == (0, 0.0, 2)
    nobody = rg.evaluate("l", metrics="answer_tokens", judge=None, store=store).to_dict()
    assert (nobody["calls"], nobody["cost"], nobody["judging"]) == (0, 0.0, None)


@pytest.mark.prove
def test_each_judge_has_its_own_cost(store: str) -> None:
    """A run judged twice tells what each judge took; its cost is that of both."""
    with FaultyServer() as server:
        fused = evaluated(server, store).to_dict()
        one_by_one = evaluated(server, store, ",mode=per_claim").to_dict()
        asked = len(server.requests)
    assert fused["calls"] == 18
    assert one_by_one["calls"] == asked - 18
    cost = rg.open_run("m", store=store).cost()
    assert cost.paid.calls == asked
    assert sorted(judge.paid.calls for judge in cost.judges) == sorted([18, asked - 18])


@pytest.mark.prove
def test_replies_of_another_run_are_reused(store: str) -> None:
    """A run of the same texts pays nothing: its replies are said to be reused."""
    changed = [row | {"segments": {"a": "b"}} for row in rows(6)]
    with FaultyServer() as server:
        evaluated(server, store)
        found = rg.evaluate(
            [row | {"answer": row["answer"] + " It is light."} for row in changed],
            judge=f"openai-chat:any@{server.url}",
            metrics=METRICS,
            store=store,
            name="n",
        ).to_dict()
    # rate_passages and verify_reference do not see the answer: their evidence is that of the first run
    assert (found["calls"], found["judging"]["replies"], found["judging"]["replies_reused"]) == (6, 18, 12)


@pytest.mark.usefixtures("priced")
def test_cost_by_everything(store: str) -> None:
    """By question, model, metric and example the parts are what the server was asked; questions add up to the run."""
    with FaultyServer() as server:
        evaluated(server, store, metrics="faithfulness,not_in_context,context_recall")
        texts = [request.body["messages"][1]["content"] for request in server.requests]
    found = encode(rg.open_run("m", store=store).cost())
    (judge,) = found["by_judge"]
    assert sum(one["cost"] for one in judge["by_question"]) == pytest.approx(found["cost"])
    assert list(found["by_model"].values()) == [{key: found[key] for key in judge["by_question"][0] if key in found}]
    metrics = judge["by_metric"]
    assert metrics["faithfulness"]["calls"] == metrics["not_in_context"]["calls"] == 6
    assert metrics["faithfulness"]["shared_with"] == ["not_in_context"]
    assert metrics["faithfulness"]["alone"]["calls"] == 0
    assert metrics["context_recall"]["alone"]["calls"] == 6
    by_example = {one["query_id"]: one["calls"] for one in found["by_example"]}
    assert by_example == {f"q{n}": sum(f"thing {n}?" in text for text in texts) for n in range(6)}
    costs = [one["cost"] for one in found["by_example"]]
    assert costs == sorted(costs, reverse=True)
    assert sum(costs) == pytest.approx(found["cost"])


def test_case_56_calls_in_vain_are_counted(store: str) -> None:
    """Attempts that brought nothing are calls too; where nothing at all came, the verdicts are said to be lacking."""
    with FaultyServer({"rate_limited": 0.5}, once=True) as server:
        found = evaluated(server, store).to_dict()["judging"]
        assert (found["calls"], found["calls_in_vain"]) == (len(server.requests), server.met["rate_limited"])
        assert found["calls_in_vain"] > 0
        assert found["questions_lacking"] == 0


def flipping() -> Any:
    """Answers whose verdicts on even things change from asking to asking of the same text."""
    seen: Counter[str] = Counter()

    def reply(system: str, user: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        found = dict(answer(system, user, schema))
        seen[user] += 1
        if "addresses" in found and any(f"thing {n}?" in user for n in (0, 2, 4)) and seen[user] % 2 == 0:
            for sentence in found["sentences"]:
                for claim in sentence["claims"]:
                    claim |= {"verdict": "supported", "by": ["1.1"]}
        return found

    return reply


@pytest.mark.prove
def test_cases_48_and_49_repeats_of_a_judge(store: str) -> None:
    """Three repeats are three calls and three kept replies; the first is scored, and the spread is told."""
    with FaultyServer(reply=flipping()) as server:
        card = evaluated(server, store, metrics="faithfulness,answer_tokens", judge_repeats=3, concurrency=1)
        assert len(server.requests) == 18
        again = evaluated(server, store, metrics="faithfulness,answer_tokens", judge_repeats=3)
        assert len(server.requests) == 18
    with FaultyServer() as steady:
        alone = evaluated(steady, f"{store}2", metrics="faithfulness")
    found = card.to_dict()
    assert found["metrics"]["faithfulness"]["mean"] == alone["faithfulness"].mean
    assert again.to_dict() | {"took": {}} == found | {"took": {}}
    assert (found["judging"]["replies"], found["judging"]["replies_reused"]) == (18, 0)
    (metric, told) = next(iter(found["judging"]["askings"].items()))
    assert (metric, len(found["judging"]["askings"])) == ("faithfulness", 1)
    first, second, third = told["means"]
    assert first == third == found["metrics"]["faithfulness"]["mean"]
    assert second > first
    assert told["range"] == pytest.approx(second - first)
    assert (told["changed"], told["n"]) == (2, 6)  # things 2 and 4: the answer about thing 0 was supported before
    for report in (str(card), card.to_markdown(), card.to_html(), str(rg.open_run("m", store=store).scorecard())):
        assert "repeat 3" in report
        assert "2 of 6" in report


def test_repeats_need_something_to_ask(store: str) -> None:
    """Several repeats without a metric that asks a judge, or fewer than one, are refused before anything is read."""
    wrong: list[dict[str, Any]] = [{"judge_repeats": 0}, {"judge_repeats": 2, "metrics": "answer_tokens"}]
    for more in wrong:
        with pytest.raises(rg.UsageError, match="judge_repeats must be 1"):
            rg.evaluate(rows(2), store=store, **more)
    assert rg.runs(store=store) == []


def test_unknown_options_of_calls_are_refused() -> None:
    """A misspelled keyword is a TypeError that names the verb and the word."""
    with pytest.raises(TypeError, match=r"evaluate\(\) got an unexpected keyword argument 'concurency'"):
        rg.evaluate(rows(1), concurency=3)  # type: ignore[call-arg]


def expected(server: FaultyServer, store: str, n: int) -> Mapping[str, Any]:
    """What a dry run says of n examples."""
    judge = f"openai-chat:any@{server.url}"
    found: Any = asyncio.run(
        preview_evaluation(EvaluateOptions(rows(n), judge=judge, metrics=METRICS, name=f"m{n}", store=store))
    )
    return dict(found)


def used(server: FaultyServer, store: str) -> int:
    """The output tokens that an evaluation of six examples takes."""
    return int(evaluated(server, store).to_dict()["took"]["output_tokens"])


@pytest.mark.prove
def test_dry_run_expects_what_replies_need(store: str) -> None:
    """A dry run's output tokens are within a factor of two of those used; with replies of the judge, within a tenth."""

    def wordy(system: str, user: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """As a model that explains itself at length in every field it may."""
        return {**answer(system, user, schema), "note": "Since the passages say so, and nothing else. " * 20}

    with FaultyServer() as server:
        first = expected(server, store, 6)["output_tokens"]
        spent = used(server, store)
        assert spent / 2 <= first <= spent * 2
    with FaultyServer(reply=wordy) as server:
        other = f"{store.removesuffix('.db')}2.db"
        before = expected(server, other, 6)["output_tokens"]
        spent = used(server, other)
        assert before < spent / 2  # nobody could know
        learned = expected(server, other, 12)["output_tokens"]  # of which half is stored, and costs nothing
        assert learned == pytest.approx(spent, rel=0.1)
