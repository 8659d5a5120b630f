"""What a model judge costs, as the command line tells it: `--dry-run`, `--max-cost` and `show --cost`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.judge_examples import write_examples
from tests.cli.conftest import Cli
from tests.cli.test_run_commands import validator
from tests.loopback.caching import PrefixCache
from tests.loopback.server import FaultyServer

pytestmark = pytest.mark.server


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """A model server without faults."""
    with FaultyServer() as running:
        yield running


@pytest.fixture
def judge(server: FaultyServer) -> str:
    """A judge at the server."""
    return f"openai-chat:any@{server.url}"


@pytest.fixture
def priced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of prices."""
    (tmp_path / "prices.yaml").write_text("openai-chat:any: {input: 1000, output: 2000}\n")
    monkeypatch.setenv("RAGAUGE_PRICES", str(tmp_path / "prices.yaml"))


def test_json_of_a_model_judge_has_its_schema(cli: Cli, small: Path, judge: str) -> None:
    """JSON of a run that a model or a hybrid judge has judged, once or twice, has the scorecard's schema."""
    check = validator("scorecard.schema.json")
    for words in (["--judge", judge], ["--judge", judge, "--judge-repeats", "2"], ["--judge", f"hybrid:{judge}"]):
        check.validate(cli("evaluate", small, "-q", *words, "--json").json())
        check.validate(cli("report", "--json").json())
    assert cli("report", "--json").json()["judging"]["verdicts"] > 0


@pytest.mark.usefixtures("priced")
def test_show_cost(cli: Cli, small: Path, judge: str, server: FaultyServer) -> None:
    """`show --cost` prints calls, tokens and dollars by question, metric and example; JSON has all of it."""
    cli("evaluate", small, "-q", "-m", "faithfulness,contradicted,context_recall", "--judge", judge)
    found = cli("show", "latest", "--cost", "--json").json()
    assert found["calls"] == len(server.requests) == sum(one["calls"] for one in found["by_example"])
    assert found["cost"] > 0
    shown = cli("show", "latest", "--cost").out
    for part in (f"{found['calls']} calls", "verify_answer", "context_recall", "1 metric", "alone", "q10", "$"):
        assert part in shown
    assert "price unknown" not in shown


def test_show_cost_without_price_or_calls(cli: Cli, small: Path, judge: str) -> None:
    """An unknown price is said, and so is that nothing was called; a single example has no --cost."""
    cli("evaluate", small, "-q", "-m", "faithfulness", "--judge", judge)
    shown = cli("show", "latest", "--cost").out
    assert "price unknown" in shown
    assert "RAGAUGE_PRICES" in shown
    cli("evaluate", small, "-q", "-m", "faithfulness", "--store", "other.db")
    assert "No model was called" in cli("show", "latest", "--cost", "--store", "other.db").out
    assert cli("show", "latest", "--cost", "--store", "other.db", "--json").json()["cost"] == 0
    refused = cli("show", "latest", "q1", "--cost")
    assert (refused.code, "--cost applies to a whole run" in refused.err) == (2, True)


@pytest.mark.usefixtures("priced")
def test_dry_run_counts_what_is_asked(cli: Cli, small: Path, judge: str, server: FaultyServer) -> None:
    """A dry run calls nothing, and its calls are those that the run then makes, several askings included."""
    words = ["evaluate", str(small), "-q", "-m", "faithfulness,context_recall", "--judge", judge]
    for more in ([], ["--judge-repeats", "3"]):
        before = len(server.requests)
        planned = cli(*words, *more, "--dry-run", "--json").json()
        assert len(server.requests) == before
        told = cli(*words, *more, "--dry-run").out
        assert f"{planned['calls']} calls to a model" in told
        assert "$" in told
        cli(*words, *more)
        assert len(server.requests) - before == planned["calls"] > 0
    assert cli(*words, "--dry-run", "--json").json()["calls"] == 0


@pytest.mark.usefixtures("priced")
def test_controls_of_a_model_are_as_many_as_requested(cli: Cli, small: Path, judge: str, server: FaultyServer) -> None:
    """A model judge is asked about exactly so many pairs of each kind, which a dry run counts and prices; else none."""
    words = ["evaluate", str(small), "-q", "-m", "faithfulness", "--judge", judge]
    alone, controlled = (cli(*words, *more, "--dry-run", "--json").json() for more in ([], ["--controls", "6"]))
    assert controlled["calls"] - alone["calls"] == 2 * 6  # beside passages, and alone
    assert controlled["cost"] > alone["cost"]
    assert not server.requests
    cli(*words)
    assert len(server.requests) == alone["calls"]
    cli(*words, "--controls", "6")
    assert len(server.requests) == controlled["calls"]
    cli(*words, "--controls", "6")
    assert len(server.requests) == controlled["calls"]


def test_dry_run_says_what_a_cache_is_expected_to_serve(cli: Cli, tmp_path: Path) -> None:
    """What is expected, the passages in two of three calls, is what a server that caches then serves."""
    write_examples(tmp_path / "answers.jsonl", 5)
    metrics = "faithfulness,context_precision,context_recall"
    with FaultyServer(cache=PrefixCache(), latency=0.1) as caching:
        words = ["evaluate", "answers.jsonl", "-q", "-m", metrics, "--judge", f"openai-chat:any@{caching.url}"]
        planned = cli(*words, "--dry-run", "--json").json()
        told = f"({planned['cached_tokens']:,} of them expected to come from the provider's cache)"
        assert told in cli(*words, "--dry-run").out
        cli(*words)
    spent = cli("show", "latest", "--cost", "--json").json()
    assert planned["cached_tokens"] == pytest.approx(spent["cached_tokens"], rel=0.05)
    assert planned["input_tokens"] == pytest.approx(spent["input_tokens"], rel=0.05)


@pytest.mark.usefixtures("priced")
def test_case_56_a_bound_on_cost_is_resumable(cli: Cli, small: Path, judge: str, server: FaultyServer) -> None:
    """Stopped by --max-cost a command ends with 130 and says how to go on; nothing is paid for twice."""
    words = ["evaluate", str(small), "-q", "-m", "faithfulness", "--judge", judge, "--concurrency", "1"]
    stopped = cli(*words, "--max-cost", "5", "--json")
    assert stopped.code == 130
    assert stopped.json()["took"]["cost"] <= 5
    assert stopped.json()["pending"] > 0
    assert "To resume: ragauge evaluate" in stopped.err
    whole = cli(*words, "--json").json()
    assert (whole["pending"], whole["calls"], len(server.requests)) == (0, 10, 10)


@pytest.mark.usefixtures("priced")
def test_a_bound_of_a_run_that_is_evaluated_at_once(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judge: str
) -> None:
    """The command that goes on judges the answers that are there: it asks the system nothing again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "echoing.py").write_text("def answer(query):\n    return {'answer': query, 'passages': [query]}\n")
    (tmp_path / "asked.jsonl").write_text("".join(f'{{"query": "What is {n}?"}}\n' for n in range(5)))
    stopped = cli(
        "run",
        "echoing:answer",
        "asked.jsonl",
        "--fresh",
        "--evaluate",
        "-m",
        "faithfulness",
        "-q",
        "--judge",
        judge,
        "--max-cost",
        "3",
        "--concurrency",
        "1",
    )
    run_id = cli("runs", "--json").json()[0]["run_id"]
    resume = f"ragauge evaluate {run_id} --metrics faithfulness --judge {judge} --max-cost 3.0"
    assert stopped.code == 130
    assert stopped.err.splitlines()[-1] == f"To resume: {resume}"
    assert cli("evaluate", run_id, "-m", "faithfulness", "--judge", judge, "-q", "--json").json()["pending"] == 0
    assert len(cli("runs", "--json").json()) == 1


def test_a_bound_needs_a_price_before_anything_is_read(cli: Cli, small: Path, judge: str) -> None:
    """A bound without a known price is one line that says what to do, and leaves no run."""
    done = cli("evaluate", small, "-q", "--judge", judge, "--max-cost", "1")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "RAGAUGE_PRICES" in done.err
    assert cli("runs", "--json").json() == []


def test_case_98_another_judge_is_not_compared(cli: Cli, small: Path, judge: str) -> None:
    """A run judged by a model is not held against one judged locally; the command that is printed makes them alike."""
    cli("evaluate", small, "-q", "-m", "faithfulness", "--name", "old one")
    more = small.with_name("new.jsonl")
    more.write_text(small.read_text().replace("330 metres", "three metres"))
    words = ["evaluate", "new.jsonl", "-q", "-m", "faithfulness", "--judge", judge, "--baseline", "old one"]
    refused = cli(*words)
    assert refused.code == 2
    assert refused.out == ""
    command = f"ragauge evaluate 'old one' -m faithfulness --judge {judge}"
    assert refused.err.rstrip().endswith(command)
    assert cli(*shlex.split(command)[1:], "-q").code == 0
    assert cli(*words).code == 0


def test_a_model_that_talks_ends_with_1(cli: Cli, small: Path) -> None:
    """Where every call brought prose, evaluate exits with 1 and shows it; what came is kept, and is not asked again."""
    with FaultyServer({"prose": 1.0}) as talking:
        words = ["evaluate", small, "-q", "-m", "faithfulness", "--judge", f"openai-chat:any@{talking.url}"]
        first, calls = cli(*words), len(talking.requests)
        second = cli(*words)
        assert calls == len(talking.requests)
    for found in (first, second):
        assert found.code == 1
        assert 'answered with prose: "I can only say that most of it' in " ".join(found.err.split())
        assert "--retry-failed" in found.err
    assert "faithfulness" in cli("report", "latest").out
